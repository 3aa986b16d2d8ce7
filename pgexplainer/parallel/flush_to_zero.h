// Numbers below the normal range (1e-38 for float) taken for zero. Gradients of saturated masks are
// such numbers, and each operation on one costs the processor as much as a hundred others.
#pragma once

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace pgexplainer {

/// While it lives, for this thread; whatever the thread had set comes back afterwards. Everything
/// that explainers compute runs under it, so that bits depend on neither.
class FlushToZero {
 public:
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
#ifdef __SSE2__
  FlushToZero() { _mm_setcsr(before_ | kFlushResults | kFlushOperands); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushResults = 0x8000, kFlushOperands = 0x0040;
  unsigned before_ = _mm_getcsr();
#else
  FlushToZero() = default;
#endif
};

}  // namespace pgexplainer
