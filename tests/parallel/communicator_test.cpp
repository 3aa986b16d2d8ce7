#include "pgexplainer/parallel/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "pgexplainer/core/error.h"
#include "pgexplainer/parallel/in_process_communicator.h"
#include "pgexplainer/parallel/mpi_communicator.h"
#include "pgexplainer/parallel/workers.h"
#include "tests/parallel/communicator_contract.h"
#include "tests/support/mpirun.h"

namespace pgexplainer {
namespace {

TEST(OneProcess, KeepsTheContract) {
  OneProcess alone;
  EXPECT_NO_THROW(check_contract(alone));
}

TEST(InProcessCommunicator, KeepsTheContract) {
  for (const int ranks : {1, 2, 3, 4, 9}) {
    std::atomic<int> count{0};
    EXPECT_NO_THROW(run_ranks(ranks, [&](Communicator& communicator) {
      check_contract(communicator);
      count += communicator.size() == ranks ? 1 : 0;
    }));
    EXPECT_EQ(count, ranks);
  }
}

TEST(InProcessCommunicator, AnExceptionEndsTheOtherRanksAndIsRethrown) {
  for (int failing = 0; failing < 3; ++failing) {
    std::atomic<int> told{0};
    EXPECT_THROW(run_ranks(3,
                           [&](Communicator& communicator) {
                             static_cast<void>(communicator.all_gather("fine"));
                             if (communicator.rank() == failing) throw std::domain_error("mine");
                             try {
                               static_cast<void>(communicator.gather("fine"));
                             } catch (const Error&) {
                               ++told;
                               throw;
                             }
                           }),
                 std::domain_error);
    EXPECT_EQ(told, 2);
  }
}

TEST(InProcessCommunicator, DoesNotWaitForARankThatHasEnded) {
  EXPECT_THROW(run_ranks(3,
                         [&](Communicator& communicator) {
                           if (!communicator.is_root())
                             static_cast<void>(communicator.all_gather("anybody?"));
                         }),
               Error);
}

TEST(MpiCommunicator, KeepsTheContractWithMessagesCutIntoParts) {
  if (!can_run_ranks()) GTEST_SKIP() << "built without MPI";
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const ToolResult result = mpirun(ranks, PGEXPLAINER_MPI_RANKS);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string expected;
    for (int rank = 0; rank < ranks; ++rank) expected += "[][][0]\n";
    EXPECT_EQ(result.out, expected) << result.err;
  }
}

TEST(MpiCommunicator, TellsAllRanksOfOneThatFails) {
  if (!can_run_ranks()) GTEST_SKIP() << "built without MPI";
  for (int failing = 0; failing < 3; ++failing) {
    const ToolResult result = mpirun(3, PGEXPLAINER_MPI_RANKS " " + std::to_string(failing));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3) << result.out;
    const auto count = [&](const std::string& words) {
      int times = 0;
      for (auto i = result.out.find(words); i != std::string::npos;
           i = result.out.find(words, i + 1))
        ++times;
      return times;
    };
    EXPECT_EQ(count("[it rains]"), failing == 0 ? 4 : 1) << result.out;
    EXPECT_EQ(count("[told: it rains"), 2) << result.out;
    EXPECT_EQ(count("][2]"), 3) << result.out;
    EXPECT_EQ(count("(rank " + std::to_string(failing) + " on "), failing == 0 ? 0 : 5)
        << result.out;
  }
}

TEST(MpiCommunicator, IsLeftAloneWithoutALauncher) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name) != nullptr) GTEST_SKIP() << "started by a launcher";
  EXPECT_EQ(join_job(), nullptr);
}

TEST(Workers, ShareThePiecesOfAllRanks) {
  for (const int ranks : {1, 2, 3, 4, 7})
    for (const std::size_t pieces : {0U, 1U, 2U, 5U, 64U})
      run_ranks(ranks, [&](Communicator& communicator) {
        ThreadPool pool(2);
        const Workers workers(pool, communicator);
        std::vector<double> values(3 * pieces, -1.0);
        std::atomic<int> done{0};
        workers.run(pieces, [&](std::size_t piece, int) {
          for (std::size_t k = 0; k < 3; ++k)
            values[3 * piece + k] = static_cast<double>(10 * piece + k);
          ++done;
        });
        std::size_t own = 0;
        for (std::size_t piece = 0; piece < pieces; ++piece) own += workers.does(piece) ? 1 : 0;
        EXPECT_EQ(at(done), own);
        EXPECT_LE(at(done), (pieces + at(ranks) - 1) / at(ranks));  // dealt evenly
        workers.share(std::span(values), pieces);
        for (std::size_t piece = 0; piece < pieces; ++piece)
          for (std::size_t k = 0; k < 3; ++k)
            EXPECT_EQ(values[3 * piece + k], static_cast<double>(10 * piece + k));
      });
}

TEST(Workers, SayYesOnlyTogether) {
  for (int against = 0; against < 4; ++against)
    run_ranks(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      EXPECT_EQ(Workers(pool, communicator).all_say(communicator.rank() != against), against == 3);
    });
  ThreadPool pool(1);
  EXPECT_TRUE(Workers(pool).all_say(true));
  EXPECT_FALSE(Workers(pool).all_say(false));
}

TEST(Workers, RefuseRanksThatDoOtherWork) {
  try {
    run_ranks(2, [](Communicator& communicator) {
      ThreadPool pool(1);
      std::vector<float> values(communicator.is_root() ? 6U : 8U);
      Workers(pool, communicator).share(std::span(values), 2);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bytes, expected more"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pgexplainer
