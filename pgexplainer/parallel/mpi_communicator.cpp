#include "pgexplainer/parallel/mpi_communicator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

#ifdef PGEXPLAINER_WITH_MPI
#include <mpi.h>
#endif

namespace pgexplainer {
namespace {

/// The first of these variables of the environment that is set; empty = none.
std::string_view first_set(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return value;
  return {};
}

/// Of this process, as its launcher calls it: mpirun of OpenMPI, srun --mpi=pmix, srun --mpi=pmi2
/// or mpiexec of MPICH. Plain srun starts processes that know nothing of each other.
std::string_view launched_rank() {
  return first_set({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
}

#ifdef PGEXPLAINER_WITH_MPI

class MpiCommunicator final : public JobCommunicator {
 public:
  explicit MpiCommunicator(std::size_t most_bytes) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
      throw_failed("this MPI library does not allow threads; build it with thread support");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    chunk_ = std::max<std::size_t>(1, most_bytes / at(size_));
  }
  ~MpiCommunicator() override { MPI_Finalize(); }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view mine) override {
    return transfer(mine, meet_to_exchange(mine), true);
  }
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine) override {
    return transfer(mine, meet_to_exchange(mine), false);
  }
  Ending end(const Ending& mine) override {
    // All ranks may fail alike, and then rank 0 tells; if others do, say who.
    const std::string message = mine.message + (rank_ > 0 ? whereabouts() : std::string());
    if (!ended_) static_cast<void>(meet(Purpose::end, mine.exit_code, message));
    return ending_;
  }

 private:
  enum class Purpose : std::int64_t { exchange, end };
  /// Every call of any rank begins with the exchange of these, so that a rank that fails is
  /// understood whatever the others are about to do.
  struct Header {
    Purpose purpose;
    std::int64_t exit_code;
    std::uint64_t size;
  };

  [[nodiscard]] std::string whereabouts() const {
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    return fmt::format(" (rank {} on {})", rank_, host.data());
  }

  /// The headers of all ranks; or the end of the job, in ending_.
  std::vector<Header> meet(Purpose purpose, int exit_code, std::string_view mine) {
    const Header header{purpose, exit_code, mine.size()};
    std::vector<Header> headers(at(size_));
    MPI_Allgather(&header, sizeof(Header), MPI_BYTE, headers.data(), sizeof(Header), MPI_BYTE,
                  MPI_COMM_WORLD);
    bool agree = true;
    for (int rank = 0; rank < size_; ++rank) {
      const Header& theirs = headers[at(rank)];
      agree = agree && theirs.purpose == headers.front().purpose;
      if (theirs.exit_code == 0) continue;
      ending_ = {static_cast<int>(theirs.exit_code),
                 rank == rank_ ? std::string(mine) : std::string(theirs.size, ' ')};
      MPI_Bcast(ending_.message.data(), static_cast<int>(theirs.size), MPI_BYTE, rank,
                MPI_COMM_WORLD);
      ended_ = true;
      return headers;
    }
    if (!agree) ending_ = {1, "some processes of the job have ended and others have not"};
    ended_ = !agree || purpose == Purpose::end;
    return headers;
  }
  std::vector<Header> meet_to_exchange(std::string_view mine) {
    std::vector<Header> headers = meet(Purpose::exchange, 0, mine);
    if (ended_)
      throw Error(ending_.exit_code == 2 ? Error::Kind::bad_input : Error::Kind::failed,
                  ending_.message);
    return headers;
  }

  /// What all ranks gave, here or on rank 0 alone. An exception (no memory) would leave the other
  /// ranks waiting: it ends the process, and with it the job.
  std::vector<std::string> transfer(std::string_view mine, const std::vector<Header>& headers,
                                    bool everywhere) const noexcept {
    const bool receives = everywhere || rank_ == 0;
    std::vector<std::string> all(receives ? headers.size() : 0);
    for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank].reserve(headers[rank].size);
    std::size_t longest = 0;
    for (const Header& header : headers) longest = std::max(longest, header.size);
    std::vector<int> counts(headers.size()), offsets(headers.size());
    std::string received;
    for (std::size_t begin = 0; begin < longest; begin += chunk_) {
      int total = 0;
      for (std::size_t rank = 0; rank < headers.size(); ++rank) {
        const std::size_t size = headers[rank].size;
        counts[rank] = static_cast<int>(std::min(chunk_, size - std::min(size, begin)));
        offsets[rank] = total;
        total += counts[rank];
      }
      if (receives) received.resize(at(total));
      const char* part = mine.data() + std::min(begin, mine.size());
      if (everywhere)
        MPI_Allgatherv(part, counts[at(rank_)], MPI_BYTE, received.data(), counts.data(),
                       offsets.data(), MPI_BYTE, MPI_COMM_WORLD);
      else
        MPI_Gatherv(part, counts[at(rank_)], MPI_BYTE, received.data(), counts.data(),
                    offsets.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        all[rank].append(received, at(offsets[rank]), at(counts[rank]));
    }
    return all;
  }

  int rank_ = 0, size_ = 1;
  std::size_t chunk_;  // of one rank's message that travel at once
  bool ended_ = false;
  Ending ending_;
};

#endif

}  // namespace

#ifdef PGEXPLAINER_WITH_MPI

std::unique_ptr<JobCommunicator> join_job(std::size_t most_bytes) {
  if (launched_rank().empty()) return nullptr;
  return std::make_unique<MpiCommunicator>(most_bytes);
}

#else

std::unique_ptr<JobCommunicator> join_job(std::size_t) {
  const std::string_view size =
      first_set({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  if (launched_rank().empty() || size == "1") return nullptr;
  // One of them says so for all.
  throw Error(Error::Kind::bad_input,
              launched_rank() != "0"
                  ? ""
                  : "several processes were started, but this build knows no MPI; run one, or "
                    "build with -DPGEXPLAINER_WITH_MPI=ON");
}

#endif

}  // namespace pgexplainer
