#include "pgexplainer/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace pgexplainer {
namespace {

TEST(Philox, MatchesThePublishedTestVectors) {
  // Known answers of Philox4x32-10 from the Random123 distribution.
  EXPECT_EQ(philox(0, {0, 0, 0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0xffffffffffffffffULL, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomStream, DependsOnEveryPartOfItsKey) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed : {1, 2})
    for (auto purpose : {RandomPurpose::shuffle, RandomPurpose::dropout})
      for (std::uint32_t a : {0U, 1U})
        for (std::uint32_t b : {0U, 1U}) first.insert(RandomStream(seed, purpose, a, b).next64());
  EXPECT_EQ(first.size(), 16U);
}

TEST(RandomStream, UniformAndNormalHaveTheirMoments) {
  RandomStream random(7, RandomPurpose::test);
  const int count = 200000;
  double sum = 0, normal_sum = 0, normal_square = 0;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    const double z = random.normal();
    normal_sum += z;
    normal_square += z * z;
  }
  EXPECT_NEAR(sum / count, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / count, 0.0, 0.01);
  EXPECT_NEAR(normal_square / count, 1.0, 0.02);
}

TEST(RandomStream, BelowIsUniformAndShuffleIsAPermutation) {
  RandomStream random(3, RandomPurpose::test);
  std::vector<int> count(7, 0);
  for (int i = 0; i < 70000; ++i) ++count[random.below(7)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 500);

  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  auto shuffled = items;
  random.shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace pgexplainer
