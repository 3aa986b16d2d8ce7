#include "pgexplainer/parallel/thread_pool.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <thread>

#include "pgexplainer/parallel/flush_to_zero.h"

namespace pgexplainer {

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
  std::atomic<std::int64_t> next = 0;
  const auto work = [&](int) {
    [[maybe_unused]] const FlushToZero mode;
    const int worker = tbb::this_task_arena::current_thread_index();
    try {
      for (std::int64_t piece = next++; piece < pieces; piece = next++) body(piece, worker);
    } catch (...) {
      next = pieces;
      throw;
    }
  };
  arena_->arena.execute([&] { tbb::parallel_for(0, size_, work, tbb::simple_partitioner()); });
}

}  // namespace pgexplainer
