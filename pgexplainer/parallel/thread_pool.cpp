#include "pgexplainer/parallel/thread_pool.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <thread>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace pgexplainer {
namespace {

/// While it lives, this thread takes numbers below the normal range (1e-38 for float) for zero.
/// Gradients of saturated masks are such numbers, and each operation on one costs as much as a
/// hundred others. Pieces so do not depend on what the calling thread has set, either.
class FlushToZero {
 public:
#ifdef __SSE2__
  FlushToZero() { _mm_setcsr(before_ | kFlushResults | kFlushOperands); }
  ~FlushToZero() { _mm_setcsr(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  static constexpr unsigned kFlushResults = 0x8000, kFlushOperands = 0x0040;
  unsigned before_ = _mm_getcsr();
#endif
};

}  // namespace

struct ThreadPool::Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  tbb::global_control limit;  // without it TBB caps, and complains about, more threads than cores
  tbb::task_arena arena;
};

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? threads
                        : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
  if (size_ > 1) arena_ = std::make_unique<Arena>(size_);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(std::int64_t pieces, const std::function<void(std::int64_t, int)>& body) {
  if (!arena_ || pieces <= 1) {
    [[maybe_unused]] const FlushToZero mode;
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(piece, 0);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, pieces, 1),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          [[maybe_unused]] const FlushToZero mode;
          const int worker = tbb::this_task_arena::current_thread_index();
          for (std::int64_t piece = range.begin(); piece < range.end(); ++piece)
            body(piece, worker);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace pgexplainer
