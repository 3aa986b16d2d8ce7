// A progress bar for long work, and Ctrl-C (or SIGTERM, of job schedulers) as a polite request to
// stop.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "pgexplainer/core/progress.h"

namespace pgexplainer::cli {

/// Draws one line on a terminal, with rate and time left, if the work takes longer than `delay`;
/// draws nothing elsewhere, and on ranks other than 0. The line is wiped at the end. While a bar
/// exists, the first Ctrl-C makes its callback return false; the second one kills the program as
/// usual.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title,
                       std::chrono::duration<double> delay = std::chrono::seconds(2),
                       int terminal = STDERR_FILENO);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Valid as long as the bar. For one thread at a time. The work counts from `before`, what an
  /// interrupted run has done.
  Progress callback(std::int64_t before = 0);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::int64_t done, std::int64_t total, std::string_view message);

  std::string title_;
  std::chrono::duration<double> delay_;
  int terminal_;
  bool visible_;
  bool drawn_ = false;
  std::int64_t first_ = -1;  // of the first call: work that is resumed does not start at 0
  Clock::time_point start_;
  Clock::time_point last_;
};

/// Whether Ctrl-C was pressed, or SIGTERM sent, while a bar existed.
bool interrupted();

/// The text of the bar. `seconds` have passed since `first` of `total` pieces were done; total 0 =
/// unknown. At most `width` characters.
std::string progress_line(std::string_view title, std::int64_t first, std::int64_t done,
                          std::int64_t total, double seconds, std::string_view message,
                          std::size_t width);

}  // namespace pgexplainer::cli
