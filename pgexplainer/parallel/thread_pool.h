// The thread loop. Work is cut into pieces by the data, never by the number of threads, and partial
// sums are added in the order of the pieces, so that results have the same bits for any number of
// threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace pgexplainer {

class ThreadPool {
 public:
  /// threads = 0: one per core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return size_; }

  /// Calls body(piece, worker) once for every piece in [0, pieces); worker is in [0, size()) and no
  /// two pieces run on one worker at the same time. They are begun in order. The first exception is
  /// rethrown here.
  void run(std::int64_t pieces, const std::function<void(std::int64_t piece, int worker)>& body);

 private:
  struct Arena;
  int size_;
  std::unique_ptr<Arena> arena_;
};

/// sum[i] = parts[0][i] + parts[1][i] + ..., added in this order.
template <class Parts, class T>
void ordered_sum(const Parts& parts, std::span<T> sum) {
  std::fill(sum.begin(), sum.end(), T(0));
  for (const auto& part : parts)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
}

}  // namespace pgexplainer
