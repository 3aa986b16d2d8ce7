#include "pgexplainer/parallel/standing_thread.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace pgexplainer {
namespace {

TEST(StandingThread, DoesAllWorkOnOneThreadThatIsNotTheCaller) {
  StandingThread standing;
  std::vector<std::thread::id> seen;
  for (int call = 0; call < 3; ++call)
    standing.run([&] { seen.push_back(std::this_thread::get_id()); });
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_NE(seen[0], std::this_thread::get_id());
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(StandingThread, ThrowsWhatTheWorkThrowsAndGoesOn) {
  StandingThread standing;
  EXPECT_THROW(standing.run([] { throw std::runtime_error("no"); }), std::runtime_error);
  int done = 0;
  standing.run([&] { ++done; });
  EXPECT_EQ(done, 1);
}

TEST(StandingThread, EndsWithoutEverHavingWorked) { StandingThread standing; }

}  // namespace
}  // namespace pgexplainer
