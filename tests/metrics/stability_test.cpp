#include "pgexplainer/metrics/stability.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

using Scores = std::vector<float>;

/// The rank of an entry is 1 + the number below + half the number of others that are equal.
double rank_by_counting(const Scores& score, std::size_t i) {
  double rank = 0.5;
  for (const float s : score) rank += s < score[i] ? 1.0 : s == score[i] ? 0.5 : 0.0;
  return rank;
}

RC_GTEST_PROP(AverageRanks, EqualTheCount, ()) {
  const auto raw = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
  const Scores score(raw.begin(), raw.end());
  const std::vector<double> rank = average_ranks(score);
  RC_ASSERT(rank.size() == score.size());
  for (std::size_t i = 0; i < score.size(); ++i) RC_ASSERT(rank[i] == rank_by_counting(score, i));
}

RC_GTEST_PROP(Spearman, IsThePearsonCorrelationOfRanks, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 20);
  const auto numbers = rc::gen::container<std::vector<int>>(n, rc::gen::inRange(0, 6));
  const std::vector<int> raw_a = *numbers, raw_b = *numbers;
  const Scores a(raw_a.begin(), raw_a.end()), b(raw_b.begin(), raw_b.end());
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = rank_by_counting(a, i), y = rank_by_counting(b, i);
    sa += x, sb += y, saa += x * x, sbb += y * y, sab += x * y;
  }
  const auto m = static_cast<double>(n);
  const double variances = (m * saa - sa * sa) * (m * sbb - sb * sb);
  const double ours = spearman(a, b);
  if (variances == 0.0)
    RC_ASSERT(std::isnan(ours));
  else
    RC_ASSERT(std::abs(ours - (m * sab - sa * sb) / std::sqrt(variances)) < 1e-12);
}

TEST(Spearman, SeesOnlyTheOrder) {
  EXPECT_DOUBLE_EQ(spearman(Scores{1, 2, 30}, Scores{-5, 0, 0.1F}), 1.0);
  EXPECT_DOUBLE_EQ(spearman(Scores{1, 2, 30}, Scores{3, 2, 1}), -1.0);
}

TEST(Spearman, IsUndefinedForConstantsAndRefusesNan) {
  EXPECT_TRUE(std::isnan(spearman(Scores{1, 1}, Scores{1, 2})));
  EXPECT_TRUE(std::isnan(spearman(Scores{1}, Scores{1})));
  EXPECT_TRUE(std::isnan(spearman(Scores{}, Scores{})));
  EXPECT_THROW(spearman(Scores{1, NAN}, Scores{1, 2}), Error);
  EXPECT_THROW(spearman(Scores{1, 2}, Scores{1}), Error);
}

TEST(TopKJaccard, SharesOfTheUnion) {
  EXPECT_DOUBLE_EQ(top_k_jaccard(Scores{4, 3, 2, 1}, Scores{4, 1, 2, 3}, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(top_k_jaccard(Scores{4, 3}, Scores{1, 2}, 5), 1.0);
  EXPECT_TRUE(std::isnan(top_k_jaccard(Scores{4, 3}, Scores{1, 2}, 0)));
  EXPECT_THROW(top_k_jaccard(Scores{4, 3}, Scores{1}, 1), Error);
}

TEST(Stability, IsTheMeanOverPairsOfRuns) {
  const std::vector<Scores> runs{{4, 3, 2, 1}, {4, 1, 2, 3}, {1, 2, 3, 4}, {7, 7, 7, 7}};
  const Stability result = stability(runs, 2);
  EXPECT_EQ(result.num_pairs, 6);
  EXPECT_EQ(result.num_undefined, 3);  // with the constant run
  const double spearman_sum =
      spearman(runs[0], runs[1]) + spearman(runs[0], runs[2]) + spearman(runs[1], runs[2]);
  EXPECT_DOUBLE_EQ(result.spearman, spearman_sum / 3);
  double jaccard_sum = 0.0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) jaccard_sum += top_k_jaccard(runs[i], runs[j], 2);
  EXPECT_DOUBLE_EQ(result.jaccard, jaccard_sum / 6);
}

TEST(Stability, OfOneRunIsUndefined) {
  const Stability one = stability(std::vector<Scores>{{1, 2}}, 1);
  EXPECT_EQ(one.num_pairs, 0);
  EXPECT_TRUE(std::isnan(one.spearman));
  EXPECT_TRUE(std::isnan(one.jaccard));
  EXPECT_THROW(stability(std::vector<Scores>{{1, 2}, {1}}, 1), Error);
}

}  // namespace
}  // namespace pgexplainer
