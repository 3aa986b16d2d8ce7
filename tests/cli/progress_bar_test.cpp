#include "apps/cli/progress_bar.h"

#include <gtest/gtest.h>
#include <pty.h>

#include <csignal>

namespace pgexplainer::cli {
namespace {

using namespace std::chrono_literals;

TEST(ProgressLine, ShowsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_line("training", 0, 250, 1000, 10, "loss 0.5", 100),
            "training [#####...............] 25% 25/s, 0:30 left  loss 0.5");
  EXPECT_EQ(progress_line("training", 500, 600, 1000, 10, "", 100),  // resumed at 500
            "training [############........] 60% 10/s, 0:40 left");
  EXPECT_EQ(progress_line("download", 0, 1'500'000, 0, 1, "", 100), "download 1.5M 1.5M/s");
  EXPECT_EQ(progress_line("slow", 0, 1, 10001, 1, "", 100),
            "slow [....................] 0% 1/s, 2:46:40 left");
  EXPECT_EQ(progress_line("start", 0, 0, 10, 0, "", 100), "start [....................] 0%");
  EXPECT_EQ(progress_line("done", 0, 10, 10, 5, "", 100), "done [####################] 100% 2/s");
}

TEST(ProgressLine, NeverExceedsTheWidth) {
  EXPECT_EQ(progress_line("training", 0, 1, 10, 1, "a long message", 12), "training [##");
}

/// What a bar that is asked twice writes to a terminal.
std::string drawn(std::chrono::duration<double> delay) {
  int reader = -1, terminal = -1;
  EXPECT_EQ(openpty(&reader, &terminal, nullptr, nullptr, nullptr), 0);
  {
    ProgressBar bar("work", delay, terminal);
    const Progress progress = bar.callback();
    EXPECT_TRUE(progress(0, 4, ""));
    EXPECT_TRUE(progress(2, 4, ""));
  }
  EXPECT_EQ(write(terminal, "|", 1), 1);
  std::string text;
  char letter = 0;
  while (read(reader, &letter, 1) == 1 && letter != '|') text += letter;
  close(reader);
  close(terminal);
  return text;
}

TEST(ProgressBar, DrawsOnATerminalAfterTheDelayAndWipesItsLine) {
  int reader = -1, terminal = -1;
  if (openpty(&reader, &terminal, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "this machine offers no pseudo-terminals";
  close(reader);
  close(terminal);
  const std::string text = drawn(0s);
  EXPECT_EQ(text.rfind("\rwork [", 0), 0U) << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
  EXPECT_EQ(drawn(1h), "");
}

TEST(ProgressBar, DrawsNothingElsewhere) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ProgressBar bar("work", 0s, ends[1]);
    bar.callback()(1, 2, "");
  }
  close(ends[1]);
  char letter = 0;
  EXPECT_EQ(read(ends[0], &letter, 1), 0);
  close(ends[0]);
}

TEST(ProgressBarDeathTest, FirstInterruptStopsTheWorkSecondOneKills) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          ProgressBar bar("work");
          const Progress progress = bar.callback();
          const bool before = progress(0, 2, "");
          std::raise(signal);
          std::_Exit(before && !progress(1, 2, "") && interrupted() ? 7 : 8);
        },
        testing::ExitedWithCode(7), "");
    EXPECT_EXIT(
        {
          ProgressBar bar("work");
          std::raise(signal);
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "");
  }
}

}  // namespace
}  // namespace pgexplainer::cli
