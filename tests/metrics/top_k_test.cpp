#include "pgexplainer/metrics/top_k.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<float>;
using Ids = std::vector<std::int64_t>;

TEST(CompareMasks, PredictsAboveAndTruthFromTheThresholdOn) {
  // Edge 0 is at the threshold on both sides: true, not predicted.
  const MaskAgreement result =
      compare_masks(Scores{0.3F, 0.9F, 0.4F, 0.1F}, Scores{0.3F, 1, 0, 0}, 0.3F);
  EXPECT_DOUBLE_EQ(result.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(result.precision, 0.5);
  EXPECT_DOUBLE_EQ(result.recall, 0.5);
  EXPECT_DOUBLE_EQ(result.f1, 0.5);
  EXPECT_DOUBLE_EQ(result.auroc, 0.75);
}

TEST(CompareMasks, SharesOfNothingAreZero) {
  const MaskAgreement none = compare_masks(Scores{0, 0}, Scores{0, 0});
  EXPECT_EQ(none.accuracy, 1.0);
  EXPECT_EQ(none.precision, 0.0);
  EXPECT_EQ(none.recall, 0.0);
  EXPECT_EQ(none.f1, 0.0);
  EXPECT_TRUE(std::isnan(none.auroc));
  EXPECT_TRUE(std::isnan(compare_masks(Scores{}, Scores{}).accuracy));
}

TEST(CompareMasks, RefusesNanAndOtherLengths) {
  EXPECT_THROW(compare_masks(Scores{NAN, 1}, Scores{0, 1}), Error);
  EXPECT_THROW(compare_masks(Scores{0, 1}, Scores{NAN, 1}), Error);
  EXPECT_THROW(compare_masks(Scores{0, 1}, Scores{1}), Error);
}

TEST(TopK, TakesTheLowerIdOfEqualScores) {
  const Scores score{1, 3, 2, 3, 2};
  EXPECT_EQ(top_k(score, 0), Ids{});
  EXPECT_EQ(top_k(score, 3), (Ids{1, 3, 2}));
  EXPECT_EQ(top_k(score, 9), (Ids{1, 3, 2, 4, 0}));
  EXPECT_EQ(top_k(Scores{}, 2), Ids{});
}

TEST(TopK, RefusesNanAndNegativeK) {
  EXPECT_THROW(top_k(Scores{1, NAN}, 1), Error);
  EXPECT_THROW(top_k(Scores{1}, -1), Error);
}

RC_GTEST_PROP(TopK, IsThePrefixOfAStableSort, ()) {
  const auto raw = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
  const auto k = *rc::gen::inRange<std::int64_t>(0, 12);
  const Scores score(raw.begin(), raw.end());
  Ids order(score.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return raw[static_cast<std::size_t>(a)] > raw[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(k)));
  RC_ASSERT(top_k(score, k) == order);
}

TEST(TopKAgreement, CountsTheTakenEdges) {
  const Labels label{1, 0, 1, 0, 0};
  const Scores score{5, 4, 1, 3, 2};
  const TopKAgreement two = top_k_agreement(label, score, 2);
  EXPECT_DOUBLE_EQ(two.precision, 0.5);
  EXPECT_DOUBLE_EQ(two.recall, 0.5);
  EXPECT_DOUBLE_EQ(two.accuracy, 0.6);
  const TopKAgreement all = top_k_agreement(label, score, 100);
  EXPECT_DOUBLE_EQ(all.precision, 0.4);
  EXPECT_DOUBLE_EQ(all.recall, 1.0);
}

TEST(TopKAgreement, IsUndefinedWhereNothingIsCounted) {
  const TopKAgreement none = top_k_agreement(Labels{1, 0}, Scores{1, 2}, 0);
  EXPECT_TRUE(std::isnan(none.precision));
  EXPECT_EQ(none.recall, 0.0);
  EXPECT_EQ(none.accuracy, 0.5);
  EXPECT_TRUE(std::isnan(top_k_agreement(Labels{0, 0}, Scores{1, 2}, 1).recall));
  EXPECT_TRUE(std::isnan(top_k_agreement(Labels{}, Scores{}, 1).accuracy));
  EXPECT_THROW(top_k_agreement(Labels{1}, Scores{1, 2}, 1), Error);
}

TEST(KeepTopColumns, KeepsWholeColumnsOfLargestSum) {
  Matrix<float> mask(2, 3), expected(2, 3);
  mask << 0.9F, 0.5F, 0.5F, 0.0F, 0.5F, 0.5F;
  expected << 0, 1, 0, 0, 1, 0;  // of the two equal sums the first
  EXPECT_EQ(keep_top_columns(mask, 1), expected);
  EXPECT_EQ(keep_top_columns(mask, 0), (Matrix<float>::Zero(2, 3)));
  EXPECT_EQ(keep_top_columns(mask, 7), (Matrix<float>::Ones(2, 3)));
  EXPECT_THROW(keep_top_columns(mask, -1), Error);
}

}  // namespace
}  // namespace pgexplainer
