#include "pgexplainer/parallel/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace pgexplainer {
namespace {

TEST(ThreadPool, RunsEveryPieceOnceOnWorkersOfItsOwn) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> runs(1000, 0);
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
    std::atomic<bool> clash{false};
    pool.run(1000, [&](std::int64_t piece, int worker) {
      ASSERT_GE(worker, 0);
      ASSERT_LT(worker, threads);
      if (busy[static_cast<std::size_t>(worker)].fetch_add(1) != 0) clash = true;
      ++runs[static_cast<std::size_t>(piece)];
      busy[static_cast<std::size_t>(worker)].fetch_sub(1);
    });
    EXPECT_FALSE(clash);
    EXPECT_EQ(runs, std::vector<int>(1000, 1));
  }
}

TEST(ThreadPool, RethrowsAndGoesOnWorking) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    EXPECT_THROW(pool.run(10,
                          [](std::int64_t piece, int) {
                            if (piece == 7) throw std::runtime_error("piece 7");
                          }),
                 std::runtime_error);
    std::atomic<int> count{0};
    pool.run(5, [&](std::int64_t, int) { ++count; });
    EXPECT_EQ(count, 5);
    pool.run(0, [](std::int64_t, int) { FAIL(); });
  }
}

#ifdef __SSE2__
TEST(ThreadPool, TakesSubnormalNumbersForZeroInPiecesAlone) {
  volatile float subnormal = 1e-39F;
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    std::vector<float> product(8, 1.0F);
    pool.run(8, [&](std::int64_t piece, int) {
      product[static_cast<std::size_t>(piece)] = subnormal * 2.0F;
    });
    EXPECT_EQ(product, std::vector<float>(8, 0.0F));
    EXPECT_GT(subnormal * 2.0F, 0.0F);
  }
}
#endif

TEST(OrderedSum, AddsInTheOrderOfTheParts) {
  const std::vector<std::vector<float>> parts{{1e8F, 1}, {1, 2}, {-1e8F, 3}};
  std::vector<float> sum(2);
  ordered_sum(parts, std::span(sum));
  EXPECT_EQ(sum[0], (1e8F + 1) - 1e8F);
  EXPECT_EQ(sum[1], 6);
}

}  // namespace
}  // namespace pgexplainer
