#include "pgexplainer/metrics/robust_fidelity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/graph/graph.h"
#include "pgexplainer/model/gnn_input.h"
#include "tests/support/linear_gnn.h"
#include "tests/support/random_model.h"

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

// With a real network, on one graph of several, whose edge ids do not begin at 0.
RC_GTEST_PROP(RobustFidelity, AgreesWithFidelityOnAGraphOfADataset, ()) {
  Dataset dataset = random_node_dataset(9, 20);
  const NodeId nodes = dataset.graph.num_nodes();
  const auto edges = static_cast<std::size_t>(dataset.graph.num_edges());
  std::vector<NodeId> source, target;
  for (const NodeId offset : {NodeId{0}, nodes})
    for (EdgeId e = 0; e < dataset.graph.num_edges(); ++e) {
      source.push_back(dataset.graph.source(e) + offset);
      target.push_back(dataset.graph.target(e) + offset);
    }
  dataset.task = Task::graph;
  dataset.graph = Graph(2 * nodes, source, target);
  dataset.graph_ptr = {0, nodes, 2 * nodes};
  dataset.edge_ptr.push_back(2 * dataset.edge_ptr.back());
  dataset.x = dataset.x.replicate(2, 1).eval();
  dataset.edge_attr = dataset.edge_attr.replicate(2, 1).eval();
  const std::vector<float> weight = dataset.edge_weight;
  dataset.edge_weight.insert(dataset.edge_weight.end(), weight.begin(), weight.end());

  const auto model = std::make_shared<NativeGnn<float>>(random_model_spec(Task::graph), "random",
                                                        *rc::gen::inRange<std::uint64_t>(0, 99));
  const DatasetNorms<float> norms(dataset, model->reads_gcn_norm());
  GraphBatch batch(dataset, norms);
  const GnnInput<float>& input = batch.assemble(std::vector<std::int64_t>{1});
  std::vector<EdgeId> reverse;
  std::vector<std::uint8_t> explanation(2 * edges, 0);
  std::vector<float> mask(2 * edges, 0.0F);
  for (EdgeId e = 0; e < dataset.graph.num_edges(); ++e)
    reverse.push_back(dataset.graph.reverse_edge(e));
  for (const EdgeId e : *rc::gen::container<std::vector<EdgeId>>(
           edges / 2,
           rc::gen::inRange<EdgeId>(0, static_cast<EdgeId>(std::max<std::size_t>(2 * edges, 1))))) {
    explanation[at(e)] = 1;
    mask[at(e)] = 1.0F;
    if (reverse[at(e)] != kNoEdge) mask[at(reverse[at(e)])] = 1.0F;
  }
  const auto run = make_gnn(model)->new_run();
  const Predictions<float> p = evaluate_masks(*run, input, mask);
  const RobustFidelity ours =
      robust_fidelity(*run, input, explanation, reverse, 1, 0, {1.0, 0.0, 2});
  RC_ASSERT(ours.probability.plus == fidelity_by_probability(p).plus);
  RC_ASSERT(ours.probability.minus == fidelity_by_probability(p).minus);
  RC_ASSERT(ours.label.plus == fidelity_by_label(p).plus);
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
