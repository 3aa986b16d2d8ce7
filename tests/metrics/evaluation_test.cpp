#include "pgexplainer/metrics/evaluation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

namespace pgexplainer {
namespace {

/// Two triangles, 0 1 2 and 4 5 6, which the path 2 3 4 joins; an edge of each direction.
struct TwoTriangles {
  Dataset dataset;
  Explanation explanation;

  TwoTriangles() {
    const std::vector<std::array<NodeId, 2>> pairs{{0, 1}, {0, 2}, {1, 2}, {2, 3},
                                                   {3, 4}, {4, 5}, {4, 6}, {5, 6}};
    for (const auto& [a, b] : pairs)
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        const auto e = static_cast<EdgeId>(explanation.edges.size());
        explanation.edges.push_back(e);
        explanation.reverse.push_back(e % 2 == 0 ? e + 1 : e - 1);
        explanation.source.push_back(from);
        explanation.target.push_back(to);
        dataset.edge_gt.push_back(a == 3 || b == 3 ? 0 : 1);
        // The triangle of 0 first, the other one last.
        explanation.score.push_back(b < 3 ? 3.0F : a < 4 ? 2.0F : 1.0F);
      }
  }
};

TEST(CompareWithGroundTruth, LeavesTheMotifsOfOthersOutOfTheOwnMotifsAuc) {
  TwoTriangles one;
  one.explanation.targets = {0};
  const GroundTruthAgreement found = compare_with_ground_truth(one.dataset, {&one.explanation, 1});
  EXPECT_DOUBLE_EQ(found.pooled_auc, 0.5);
  EXPECT_DOUBLE_EQ(found.own_motif_auc, 1.0);
  one.explanation.targets = {5};
  EXPECT_DOUBLE_EQ(compare_with_ground_truth(one.dataset, {&one.explanation, 1}).own_motif_auc,
                   0.0);
}

TEST(CompareWithGroundTruth, OfAGraphAllMotifsAreItsOwn) {
  const TwoTriangles one;
  const GroundTruthAgreement found = compare_with_ground_truth(one.dataset, {&one.explanation, 1});
  EXPECT_DOUBLE_EQ(found.own_motif_auc, found.pooled_auc);
}

TEST(CompareWithGroundTruth, KnowsNoOwnMotifWhereTheNodeIsInNone) {
  TwoTriangles one;
  one.explanation.targets = {3};
  const GroundTruthAgreement found = compare_with_ground_truth(one.dataset, {&one.explanation, 1});
  EXPECT_DOUBLE_EQ(found.pooled_auc, 0.5);
  EXPECT_TRUE(std::isnan(found.own_motif_auc));
  one.dataset.edge_gt.clear();
  EXPECT_TRUE(
      std::isnan(compare_with_ground_truth(one.dataset, {&one.explanation, 1}).own_motif_auc));
}

}  // namespace
}  // namespace pgexplainer
