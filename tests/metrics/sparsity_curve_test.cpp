#include "pgexplainer/metrics/sparsity_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/graph/graph.h"
#include "tests/support/linear_gnn.h"

namespace pgexplainer {
namespace {

double sigmoid(double v) { return 1.0 / (1.0 + std::exp(-v)); }

// A path 0 - 1 - 2 - 3 - 4, both directions; edges 2k and 2k + 1 are one.
const Graph kPath(5, {0, 1, 1, 2, 2, 3, 3, 4}, {1, 0, 2, 1, 3, 2, 4, 3});
const std::vector<EdgeId> kReverse{1, 0, 3, 2, 5, 4, 7, 6};
const std::vector<double> kWeight{1, 1, 2, 2, -1, -1, 0.5, 0.5};

std::vector<SparsityPoint> curve_of(const std::vector<float>& score,
                                    const std::vector<double>& levels) {
  LinearRun run(-0.5, kWeight);
  GnnInput<float> input;
  input.graph = kPath.adjacency();
  return fidelity_by_sparsity(run, input, score, kReverse, levels);
}

TEST(SparsityCurve, KeepsTheBestUndirectedEdges) {
  // Means of both directions: 0.5, 0.6, 0.1, 0.6; edge 0 - 1 has the largest single score. Of the
  // equal ones 1 - 2 comes first.
  const std::vector<float> score{1, 0, 0.75F, 0.45F, 0.1F, 0.1F, 0.45F, 0.75F};
  const auto curve = curve_of(score, {0.0, 0.25, 0.5, 0.75, 1.0});
  const double full = 4.5;
  const std::vector<double> kept{full, 6.5, 4.5, 3.5, -0.5};
  const std::vector<double> rest{-0.5, -2.5, -0.5, 0.5, full};
  ASSERT_EQ(curve.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_NEAR(curve[i].probability.minus, sigmoid(full) - sigmoid(kept[i]), 1e-6) << i;
    EXPECT_NEAR(curve[i].probability.plus, sigmoid(full) - sigmoid(rest[i]), 1e-6) << i;
    EXPECT_EQ(curve[i].label.minus, kept[i] > 0 ? 0.0 : 1.0) << i;
    EXPECT_EQ(curve[i].label.plus, rest[i] > 0 ? 0.0 : 1.0) << i;
  }
}

TEST(SparsityCurve, RoundsTheNumberOfEdges) {
  const std::vector<float> score{4, 4, 3, 3, 2, 2, 1, 1};
  const auto curve = curve_of(score, {0.9, 0.8});  // 0.4 and 0.8 of an edge
  EXPECT_NEAR(curve[0].probability.minus, sigmoid(4.5) - sigmoid(-0.5), 1e-6);
  EXPECT_NEAR(curve[1].probability.minus, sigmoid(4.5) - sigmoid(1.5), 1e-6);
}

TEST(SparsityCurve, RunsTheWholeGraphOnce) {
  LinearRun run(-0.5, kWeight);
  GnnInput<float> input;
  input.graph = kPath.adjacency();
  const std::vector<double> levels = default_sparsity_levels();
  ASSERT_EQ(levels.size(), 9U);
  EXPECT_EQ(levels.front(), 0.1);
  EXPECT_EQ(levels.back(), 0.9);
  fidelity_by_sparsity(run, input, std::vector<float>(8, 0.5F), kReverse, levels);
  EXPECT_EQ(run.num_forwards, 19);
}

TEST(SparsityCurve, RefusesNanShortScoresAndOtherLevels) {
  EXPECT_THROW(curve_of(std::vector<float>(7, 0.0F), {0.5}), Error);
  EXPECT_THROW(curve_of({0, 0, 0, 0, 0, 0, 0, NAN}, {0.5}), Error);
  EXPECT_THROW(curve_of(std::vector<float>(8, 0.0F), {1.5}), Error);
  EXPECT_THROW(curve_of(std::vector<float>(8, 0.0F), {NAN}), Error);
}

TEST(MeanSparsityCurve, AveragesCurvesOfTheSameLevels) {
  MeanSparsityCurve mean;
  EXPECT_TRUE(mean.mean().empty());
  const std::vector<SparsityPoint> a{{0.5, {1, 0}, {0.5, 0.25}}}, b{{0.5, {0, 0}, {0.25, 0.5}}};
  mean.add(a);
  mean.add(b);
  ASSERT_EQ(mean.mean().size(), 1U);
  EXPECT_EQ(mean.num_instances(), 2);
  EXPECT_EQ(mean.mean()[0].sparsity, 0.5);
  EXPECT_EQ(mean.mean()[0].label.plus, 0.5);
  EXPECT_EQ(mean.mean()[0].probability.plus, 0.375);
  EXPECT_EQ(mean.mean()[0].probability.minus, 0.375);
  EXPECT_THROW(mean.add(std::vector<SparsityPoint>{{0.4, {1, 0}, {0.5, 0.25}}}), Error);
  EXPECT_THROW(mean.add({}), Error);
}

}  // namespace
}  // namespace pgexplainer
