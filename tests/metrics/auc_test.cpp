#include "pgexplainer/metrics/auc.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<float>;

double auc_of_all_pairs(const Labels& label, const Scores& score) {
  double won = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < label.size(); ++i)
    for (std::size_t j = 0; j < label.size(); ++j) {
      if (!label[i] || label[j]) continue;
      pairs += 1.0;
      won += score[i] > score[j] ? 1.0 : score[i] == score[j] ? 0.5 : 0.0;
    }
  return won / pairs;
}

/// Labels and scores of one length; few different scores, so that ties occur.
std::pair<Labels, Scores> random_ranking() {
  const auto size = *rc::gen::inRange<std::size_t>(0, 40);
  const auto label = *rc::gen::container<Labels>(size, rc::gen::element<std::uint8_t>(0, 1, 255));
  const auto raw = *rc::gen::container<std::vector<int>>(size, rc::gen::inRange(-6, 6));
  Scores score;
  for (const int r : raw) score.push_back(static_cast<float>(r) / 7.0F);
  return {label, score};
}

RC_GTEST_PROP(Auc, EqualsTheShareOfPairsWon, ()) {
  const auto [label, score] = random_ranking();
  const double expected = auc_of_all_pairs(label, score);
  const double ours = roc_auc(label, score);
  if (std::isnan(expected))
    RC_ASSERT(std::isnan(ours));
  else
    RC_ASSERT(std::abs(ours - expected) < 1e-14);
}

RC_GTEST_PROP(Auc, OfFlippedLabelsOrScoresIsTheRest, ()) {
  auto [label, score] = random_ranking();
  const double auc = roc_auc(label, score);
  RC_PRE(!std::isnan(auc));
  Labels flipped;
  for (const auto l : label) flipped.push_back(l ? 0 : 1);
  RC_ASSERT(std::abs(roc_auc(flipped, score) - (1.0 - auc)) < 1e-14);
  for (float& s : score) s = -s;
  RC_ASSERT(std::abs(roc_auc(label, score) - (1.0 - auc)) < 1e-14);
}

TEST(Auc, TiesCountHalf) {
  EXPECT_EQ(roc_auc(Labels{1, 0, 1, 0}, Scores{2, 2, 2, 2}), 0.5);
  EXPECT_EQ(roc_auc(Labels{1, 0, 0}, Scores{2, 2, 1}), 0.75);
}

TEST(Auc, TellsNeighbouringNumbersApart) {
  const float f = 0.1F;
  EXPECT_EQ(roc_auc(Labels{1, 0}, Scores{std::nextafter(f, 1.0F), f}), 1.0);
  const double d = 0.1;
  EXPECT_EQ(roc_auc(Labels{1, 0}, std::vector<double>{std::nextafter(d, 1.0), d}), 1.0);
}

TEST(Auc, AcceptsInfiniteScores) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(roc_auc(Labels{1, 0, 0}, Scores{inf, 0, -inf}), 1.0);
}

TEST(Auc, IsUndefinedForOneClass) {
  EXPECT_TRUE(std::isnan(roc_auc(Labels{1, 1}, Scores{1, 2})));
  EXPECT_TRUE(std::isnan(roc_auc(Labels{0, 0}, Scores{1, 2})));
  EXPECT_TRUE(std::isnan(roc_auc(Labels{}, Scores{})));
}

TEST(Auc, RefusesNanAndOtherLengths) {
  EXPECT_THROW(roc_auc(Labels{1, 0}, Scores{1, NAN}), Error);
  EXPECT_THROW(roc_auc(Labels{1, 0}, Scores{1}), Error);
}

TEST(Auc, KeepsItsExactnessWithManyPairs) {
  // 10^5 x 10^5 pairs, one of them lost: a sum of fractions would not see it.
  Labels label(200'000, 0);
  Scores score(200'000, 0.0F);
  for (std::size_t i = 0; i < 100'000; ++i) {
    label[i] = 1;
    score[i] = 2.0F;
  }
  score[0] = 0.5F;
  score[199'999] = 1.0F;
  EXPECT_DOUBLE_EQ(roc_auc(label, score), 1.0 - 1e-10);
}

TEST(MeanAuc, LeavesOutInstancesOfOneClass) {
  const Labels label{1, 0, 1, 1, 0, 1};
  const Scores score{2, 1, 3, 4, 5, 4};
  const std::vector<std::int64_t> ptr{0, 2, 4, 4, 6};
  const MeanAuc result = mean_auc_per_instance(label, score, ptr);
  EXPECT_EQ(result.mean, 0.5);  // 1 and 0
  EXPECT_EQ(result.num_instances, 2);
  EXPECT_EQ(result.num_left_out, 2);
  const MeanAuc none = mean_auc_per_instance({}, Scores{}, std::vector<std::int64_t>{0});
  EXPECT_TRUE(std::isnan(none.mean));
}

TEST(MeanAuc, RefusesPointersThatDoNotCoverTheScores) {
  const Labels label{1, 0};
  const Scores score{2, 1};
  for (const std::vector<std::int64_t>& ptr :
       {std::vector<std::int64_t>{}, {0, 1}, {1, 2}, {0, 3}, {0, 3, 2}})
    EXPECT_THROW(mean_auc_per_instance(label, score, ptr), Error);
}

}  // namespace
}  // namespace pgexplainer
