// The processes that a launcher (mpirun, srun) started together, over MPI. Nothing but
// mpi_communicator.cpp names MPI; without it (PGEXPLAINER_WITH_MPI=OFF) join_job() still compiles.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "pgexplainer/parallel/communicator.h"

namespace pgexplainer {

/// How a rank, or the whole job, ended.
struct Ending {
  int exit_code = 0;
  std::string message;  ///< of a failure
};

/// For one thread of each process. Several threads may compute, one of them exchanges.
class JobCommunicator : public Communicator {
 public:
  /// The last call of every rank. One that failed makes it at once; the exchange in which the
  /// others wait for it then throws. Returns how the job ended, the same on every rank: as the
  /// first rank that failed, if any did.
  virtual Ending end(const Ending& mine) = 0;
};

/// Null if this process was started by itself; MPI is then left alone, for it starts slowly. Throws
/// if several were started and the library was built without MPI. At most so many bytes travel at
/// once; longer messages are cut.
std::unique_ptr<JobCommunicator> join_job(std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace pgexplainer
