// What this machine can do at most: multiply-adds per second, and bytes per second read from the L2
// cache and from memory. Kernels are measured beside it in the same run, taking turns, so that a
// busy or throttled machine slows both.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "pgexplainer/parallel/thread_pool.h"

namespace pgexplainer::cli {

/// Work that is timed again and again in turns with other work; the fastest turn counts.
struct TimedWork {
  std::function<void()> body;
  bool one_thread = true;
  std::int64_t calls = 0;                                    ///< per turn; 0 = not yet known
  double seconds = std::numeric_limits<double>::infinity();  ///< per call
};

/// One turn for each; a turn lasts at least so long.
void take_turns(std::span<TimedWork* const> works, double seconds_per_turn);

/// The sizes of the L2 and L3 caches in bytes; usual ones where the system does not say.
std::int64_t l2_bytes();
std::int64_t l3_bytes();

class MachineLimits {
 public:
  /// `quick` reads less memory: enough for a test, not for a figure.
  explicit MachineLimits(bool quick);
  ~MachineLimits();
  /// For take_turns.
  std::vector<TimedWork*> works();

  [[nodiscard]] int cores() const { return pool_.size(); }
  [[nodiscard]] double flops_one() const;  ///< float32, a multiply-add counts as two
  [[nodiscard]] double flops_all() const;
  [[nodiscard]] double l2_one() const;  ///< bytes per second; half of L2, read again and again
  [[nodiscard]] double l2_all() const;
  [[nodiscard]] double memory_one() const;
  [[nodiscard]] double memory_all() const;

 private:
  struct Buffer;
  ThreadPool pool_;
  std::unique_ptr<Buffer> buffer_;
  TimedWork flops_one_, flops_all_, l2_one_, l2_all_, memory_one_, memory_all_;
};

}  // namespace pgexplainer::cli
