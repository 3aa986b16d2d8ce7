// mpirun -n R mpi_ranks: the contract of communicators over MPI, with messages cut into small
// parts. With a number: that rank fails when the others exchange; all must be told.
#include <fmt/format.h>

#include <cstdlib>

#include "pgexplainer/core/error.h"
#include "pgexplainer/parallel/mpi_communicator.h"
#include "tests/parallel/communicator_contract.h"

int main(int argc, char** argv) {
  using namespace pgexplainer;
  const auto job = join_job(100);
  if (!job) {
    fmt::print(stderr, "start me with mpirun\n");
    return 3;
  }
  Ending ending;
  try {
    check_contract(*job);
    if (argc > 1 && job->rank() == std::atoi(argv[1])) throw_bad_input("it rains");
    if (argc > 1) {
      static_cast<void>(job->gather("sunny here"));
      ending = {3, "an exchange without all ranks succeeded"};
    }
  } catch (const Error& error) {
    const bool mine = argc > 1 && job->rank() == std::atoi(argv[1]);
    ending = {2, mine ? error.what() : fmt::format("told: {}", error.what())};
  } catch (const std::exception& error) {
    ending = {3, error.what()};
  }
  const Ending all = job->end(ending);
  // Every rank says what it was told and how the job ended.
  fmt::print("[{}][{}][{}]\n", ending.message, all.message, all.exit_code);
  return 0;
}
