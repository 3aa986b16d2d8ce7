#include "pgexplainer/model/link_gnn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/model/instance_graph.h"
#include "pgexplainer/nn/softmax_cross_entropy.h"
#include "tests/support/random_model.h"

namespace pgexplainer {
namespace {

std::vector<float> random_mask(EdgeId edges, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test);
  std::vector<float> mask(at(edges));
  for (float& m : mask) m = static_cast<float>(0.2 + 0.8 * random.uniform());
  return mask;
}

// Two GCN layers without a kink.
std::shared_ptr<const Gnn> smooth_encoder(Index features, std::uint64_t seed) {
  ModelSpec spec;
  spec.in_channels = features;
  spec.num_classes = 4;
  spec.blocks.push_back(
      {{{"type", "GCNConv"}, {"name", "a"}, {"out_channels", 5}}, {{"type", "Tanh"}}});
  spec.blocks.push_back({{{"type", "GCNConv"}, {"name", "b"}, {"out_channels", 4}}});
  return make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", seed));
}

struct Problem {
  Dataset dataset;
  std::shared_ptr<const Gnn> encoder;
  std::unique_ptr<Gnn> links;
  DatasetNorms<float> norms;

  Problem(Dataset data, const std::shared_ptr<const Gnn>& network)
      : dataset(std::move(data)),
        encoder(network),
        links(make_link_gnn(network)),
        norms(dataset, links->reads_gcn_norm()) {}

  [[nodiscard]] InstanceCutter cutter() const {
    return {dataset, norms, links->task(), links->num_hops()};
  }
};

Dataset two_paths() {  // 0 - 1 - 2 and 3 - 4
  Dataset dataset;
  dataset.graph = Graph(5, {0, 1, 1, 2, 3, 4}, {1, 0, 2, 1, 4, 3});
  dataset.graph_ptr = {0, 5};
  dataset.edge_ptr = {0, 6};
  dataset.x.resize(5, 2);
  dataset.x << 1.0F, -0.5F, 0.3F, 2.0F, -1.0F, 0.7F, 0.2F, 0.9F, 1.5F, -0.4F;
  return dataset;
}

// On the computation graph of the pair alone: logits and both gradients are those of the dot
// product of two rows of the whole graph's output.
RC_GTEST_PROP(LinkGnn, AgreesWithTheDotProductOnTheWholeGraph, ()) {
  const Dataset dataset = random_node_dataset(12, 30);
  RC_PRE(dataset.graph.num_nodes() >= 2);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const Problem problem(dataset, make_gnn(std::make_shared<NativeGnn<float>>(
                                     random_model_spec(Task::node), "random", seed)));
  const NodeId u = *rc::gen::inRange<NodeId>(0, dataset.graph.num_nodes());
  const NodeId v = *rc::gen::suchThat(rc::gen::inRange<NodeId>(0, dataset.graph.num_nodes()),
                                      [&](NodeId node) { return node != u; });
  const std::vector<float> mask = random_mask(dataset.graph.num_edges(), seed);
  InstanceGraph graph;
  problem.cutter().cut({u, v}, graph);
  std::vector<float> local_mask(at(graph.num_edges()));
  for (std::size_t e = 0; e < local_mask.size(); ++e) local_mask[e] = mask[at(graph.edges[e])];

  const auto whole_run = problem.encoder->new_run();
  const Matrix<float> h = whole_run->forward(whole_input(problem.dataset, problem.norms), mask);
  const float expected = h.row(u).dot(h.row(v));
  const auto run = problem.links->new_run();
  const Matrix<float> logits = run->forward(graph.input(), local_mask);
  RC_ASSERT(logits.rows() == 1);
  RC_ASSERT(logits.cols() == 2);
  RC_ASSERT(logits(0, 0) == 0.0F);
  RC_ASSERT(std::abs(logits(0, 1) - expected) <= 1e-5F * (1 + h.row(u).norm() * h.row(v).norm()));

  Matrix<float> dlogits(1, 2), dh = Matrix<float>::Zero(h.rows(), h.cols());
  dlogits << 5.0F, -1.3F;  // the first logit is constant: its gradient goes nowhere
  dh.row(u) = -1.3F * h.row(v);
  dh.row(v) = -1.3F * h.row(u);
  std::vector<float> dmask(mask.size(), 0.0F), dlocal(local_mask.size(), 0.0F);
  Matrix<float> dx, dlocal_x;
  whole_run->backward(dh, dmask, &dx);
  run->backward(dlogits, dlocal, &dlocal_x);
  float scale = 1.0F;
  for (const float d : dmask) scale = std::max(scale, std::abs(d));
  for (std::size_t e = 0; e < dlocal.size(); ++e)
    RC_ASSERT(std::abs(dlocal[e] - dmask[at(graph.edges[e])]) <= 1e-4F * scale);
  for (NodeId i = 0; i < graph.num_nodes(); ++i)
    RC_ASSERT((dlocal_x.row(i) - dx.row(graph.nodes[at(i)])).norm() <=
              1e-4F * std::max(1.0F, dx.norm()));
}

RC_GTEST_PROP(LinkGnn, MaskGradientAgreesWithFiniteDifferences, ()) {
  Dataset dataset = random_node_dataset(8, 20);
  RC_PRE(dataset.graph.num_nodes() >= 2);
  dataset.edge_attr.resize(0, 0);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const Problem problem(dataset, smooth_encoder(3, seed));
  InstanceGraph graph;
  problem.cutter().cut({0, dataset.graph.num_nodes() - 1}, graph);
  std::vector<float> mask = random_mask(graph.num_edges(), seed);
  const auto run = problem.links->new_run();
  (void)run->forward(graph.input(), mask);
  Matrix<float> dlogits(1, 2);
  dlogits << 0.0F, 1.0F;
  std::vector<float> dmask(mask.size(), 0.0F);
  run->backward(dlogits, dmask, nullptr);
  float scale = 1.0F;
  for (const float d : dmask) scale = std::max(scale, std::abs(d));
  constexpr float kStep = 1e-2F;
  for (std::size_t e = 0; e < mask.size(); ++e) {
    const auto link_logit = [&](float value) {
      std::vector<float> moved = mask;
      moved[e] = value;
      return problem.links->predict(graph.input(), moved)(0, 1);
    };
    const float slope = (link_logit(mask[e] + kStep) - link_logit(mask[e] - kStep)) / (2 * kStep);
    RC_ASSERT(std::abs(slope - dmask[e]) <= 5e-3F * scale);
  }
}

TEST(LinkGnn, PredictsPresentAbsentAndSeparateLinks) {
  const Problem problem(two_paths(), smooth_encoder(2, 5));
  const Matrix<float> h = problem.encoder->predict(whole_input(problem.dataset, problem.norms));
  InstanceCutter cutter = problem.cutter();
  InstanceGraph graph;
  for (const Instance& pair : {Instance{0, 1}, Instance{0, 2}, Instance{1, 4}, Instance{4, 1}}) {
    cutter.cut(pair, graph);
    const Matrix<float> p = softmax(problem.links->predict(graph.input()));
    const float product = h.row(pair.id).dot(h.row(pair.second));
    EXPECT_NEAR(p(0, 1), 1 / (1 + std::exp(-product)), 1e-5) << pair.id << "-" << pair.second;
  }
}

TEST(LinkGnn, EdgesOfBothComponentsMatter) {
  const Problem problem(two_paths(), smooth_encoder(2, 5));
  InstanceCutter cutter = problem.cutter();
  InstanceGraph graph;
  cutter.cut({0, 3}, graph);
  ASSERT_EQ(graph.num_edges(), 6);
  const auto run = problem.links->new_run();
  (void)run->forward(graph.input(), {});
  Matrix<float> dlogits(1, 2);
  dlogits << 0.0F, 1.0F;
  std::vector<float> dmask(6, 0.0F);
  run->backward(dlogits, dmask, nullptr);
  for (std::size_t e = 0; e < 6; ++e) {
    // Two layers away from 0 lies node 2, whose messages arrive, but what it receives does not.
    const bool reaches = problem.dataset.graph.target(graph.edges[e]) != 2;
    EXPECT_EQ(dmask[e] != 0.0F, reaches) << "edge " << graph.edges[e];
  }
}

TEST(LinkGnn, SaysWhatTheEncoderSays) {
  const Problem problem(two_paths(), smooth_encoder(2, 5));
  EXPECT_EQ(problem.links->task(), Task::node);
  EXPECT_EQ(problem.links->num_classes(), 2);
  EXPECT_EQ(problem.links->num_hops(), 2);
  EXPECT_EQ(problem.links->num_features(), 2);
  EXPECT_EQ(problem.links->reads_gcn_norm(), problem.encoder->reads_gcn_norm());
  const GnnInput<float> whole = whole_input(problem.dataset, problem.norms);
  EXPECT_EQ(problem.links->embed(whole, Embedding::last_layer),
            problem.encoder->embed(whole, Embedding::last_layer));
}

TEST(LinkGnn, RefusesWhatIsNotAPair) {
  const Problem problem(two_paths(), smooth_encoder(2, 5));
  InstanceCutter cutter = problem.cutter();
  InstanceGraph graph;
  cutter.cut({1}, graph);
  const auto refused = [&](const GnnInput<float>& input) {
    try {
      (void)problem.links->predict(input);
    } catch (const Error& error) {
      return std::string(error.what()).find("link") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(graph.input()));
  EXPECT_TRUE(refused(whole_input(problem.dataset, problem.norms)));
}

TEST(LinkGnn, RefusesEncodersThatDoNotDescribeNodes) {
  ModelSpec spec;
  spec.in_channels = 2;
  spec.num_classes = 3;
  spec.blocks.push_back({{{"type", "GCNConv"}, {"name", "a"}, {"out_channels", 3}}});
  ModelSpec on_graphs = spec;
  on_graphs.task = Task::graph;
  on_graphs.readout = {Aggregation::mean};
  EXPECT_THROW(
      (void)make_link_gnn(make_gnn(std::make_shared<NativeGnn<float>>(on_graphs, "graphs", 1))),
      Error);
  ModelSpec mixing = spec;
  mixing.blocks[0].push_back({{"type", "LayerNorm"}, {"name", "n"}, {"mode", "graph"}});
  EXPECT_THROW(
      (void)make_link_gnn(make_gnn(std::make_shared<NativeGnn<float>>(mixing, "mixing", 1))),
      Error);
}

}  // namespace
}  // namespace pgexplainer
