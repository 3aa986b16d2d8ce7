#include "pgexplainer/metrics/robust_fidelity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/graph/graph.h"
#include "tests/support/linear_gnn.h"

namespace pgexplainer {
namespace {

double sigmoid(double v) { return 1.0 / (1.0 + std::exp(-v)); }

// Undirected 0 - 1 and 1 - 2, and one way 0 -> 2.
const Graph kGraph(3, {0, 1, 1, 2, 0}, {1, 0, 2, 1, 2});
const std::vector<EdgeId> kReverse{1, 0, 3, 2, kNoEdge};
const std::vector<double> kWeight{1.0, 0.5, 0.25, -2.0, 1.5};
const std::vector<std::uint8_t> kExplanation{1, 1, 0, 0, 0};

GnnInput<float> graph_input() {
  GnnInput<float> input;
  input.graph = kGraph.adjacency();
  return input;
}

TEST(RobustFidelity, RemovingAllIsTheUsualFidelity) {
  LinearRun run(0.3, kWeight);
  const RobustFidelity ours =
      robust_fidelity(run, graph_input(), kExplanation, kReverse, 1, 0, {1.0, 0.0, 3});
  const std::vector<float> mask{1, 1, 0, 0, 0};
  const Predictions<float> p = evaluate_masks(run, graph_input(), mask);
  EXPECT_DOUBLE_EQ(ours.probability.plus, fidelity_by_probability(p).plus);
  EXPECT_DOUBLE_EQ(ours.probability.minus, fidelity_by_probability(p).minus);
  EXPECT_DOUBLE_EQ(ours.label.plus, fidelity_by_label(p).plus);
  EXPECT_DOUBLE_EQ(ours.label.minus, fidelity_by_label(p).minus);
}

TEST(RobustFidelity, RemovingNothingIsZero) {
  LinearRun run(0.3, kWeight);
  const RobustFidelity ours =
      robust_fidelity(run, graph_input(), kExplanation, kReverse, 1, 0, {0.0, 1.0, 3});
  EXPECT_EQ(ours.probability.plus, 0.0);
  EXPECT_EQ(ours.probability.minus, 0.0);
  EXPECT_EQ(ours.label.plus, 0.0);
}

// The expectation by summing over every subset, both directions of an edge together.
TEST(RobustFidelity, ComesCloseToTheExpectation) {
  const double full = 0.3 + 1.25, p_full = sigmoid(full);
  const double alpha1 = 0.4, alpha2 = 0.7;
  const double plus = p_full - (alpha1 * sigmoid(full - 1.5) + (1 - alpha1) * p_full);
  double kept = 0.0;
  for (const bool pair : {false, true})
    for (const bool single : {false, true})
      kept += (pair ? alpha2 : 1 - alpha2) * (single ? alpha2 : 1 - alpha2) *
              sigmoid(0.3 + 1.5 + (pair ? -1.75 : 0.0) + (single ? 1.5 : 0.0));
  LinearRun run(0.3, kWeight);
  const RobustFidelity ours =
      robust_fidelity(run, graph_input(), kExplanation, kReverse, 7, 3, {alpha1, alpha2, 20'000});
  EXPECT_NEAR(ours.probability.plus, plus, 0.005);
  EXPECT_NEAR(ours.probability.minus, p_full - kept, 0.005);
}

TEST(RobustFidelity, DependsOnSeedAndInstanceOnly) {
  LinearRun run(0.3, kWeight);
  const auto plus = [&](std::uint64_t seed, std::uint32_t instance) {
    return robust_fidelity(run, graph_input(), kExplanation, kReverse, seed, instance,
                           {0.5, 0.5, 31})
        .probability.plus;
  };
  const double first = plus(1, 2);
  EXPECT_NE(first, plus(1, 3));
  EXPECT_NE(first, plus(2, 2));
  EXPECT_EQ(first, plus(1, 2));
}

TEST(RobustFidelity, TakesAnEdgeWithOneDirectionAsAWhole) {
  LinearRun run(0.3, kWeight);
  const auto value = [&](const std::vector<std::uint8_t>& explanation) {
    return robust_fidelity(run, graph_input(), explanation, kReverse, 1, 0).probability.minus;
  };
  EXPECT_EQ(value({1, 0, 0, 0, 0}), value({1, 1, 0, 0, 0}));
  EXPECT_EQ(value({0, 1, 0, 0, 0}), value({1, 1, 0, 0, 0}));
}

TEST(RobustFidelity, RefusesWhatDoesNotFit) {
  LinearRun run(0.3, kWeight);
  const auto call = [&](const std::vector<std::uint8_t>& explanation,
                        const std::vector<EdgeId>& reverse, const RobustFidelityOptions& options) {
    return robust_fidelity(run, graph_input(), explanation, reverse, 1, 0, options);
  };
  EXPECT_NO_THROW(call(kExplanation, {}, {}));
  EXPECT_THROW(call({1, 1}, kReverse, {}), Error);
  EXPECT_THROW(call(kExplanation, {1, 0}, {}), Error);
  EXPECT_THROW(call(kExplanation, {1, 2, 3, 0, -1}, {}), Error);
  EXPECT_THROW(call(kExplanation, {1, 0, 3, 2, 5}, {}), Error);
  EXPECT_THROW(call(kExplanation, kReverse, {1.1, 0.9, 5}), Error);
  EXPECT_THROW(call(kExplanation, kReverse, {0.1, NAN, 5}), Error);
  EXPECT_THROW(call(kExplanation, kReverse, {0.1, 0.9, 0}), Error);
}

}  // namespace
}  // namespace pgexplainer
