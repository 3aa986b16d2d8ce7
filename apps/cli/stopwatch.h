// Seconds since it was made: processor time of this thread, which other programs do not stretch and
// which is the time on the wall of an idle machine; or, for work of several threads, time on the
// wall.
#pragma once

#include <ctime>

namespace pgexplainer::cli {

class Stopwatch {
 public:
  explicit Stopwatch(bool one_thread = true)
      : clock_(one_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC), start_(now()) {}
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  [[nodiscard]] double now() const {
    timespec t{};
    clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  clockid_t clock_;
  double start_;
};

}  // namespace pgexplainer::cli
