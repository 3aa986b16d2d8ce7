#include "pgexplainer/model/native_gnn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/model/gnn_input.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_model.h"

namespace pgexplainer {
namespace {

template <class T>
std::vector<T> random_mask(EdgeId edges, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test);
  std::vector<T> mask(at(edges));
  for (T& m : mask) m = static_cast<T>(random.uniform());
  return mask;
}

// Gradients of the whole network in double, to mask, features and parameters, for node and graph
// tasks.
RC_GTEST_PROP(NativeGnn, HasTheRightAdjointEndToEnd, ()) {
  const Dataset dataset = random_node_dataset(7, 14);
  const auto task = *rc::gen::element(Task::node, Task::graph);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  NativeGnn<double> model(random_model_spec(task), "random", seed);
  RandomStream values(seed, RandomPurpose::initialise);
  for (double& value : model.theta()) value = values.normal();  // a bias of 0 can sit on a kink
  Matrix<double> x = dataset.x.cast<double>();
  Matrix<double> attr = dataset.edge_attr.cast<double>();
  std::vector<double> weight(dataset.edge_weight.begin(), dataset.edge_weight.end());
  std::vector<double> mask = random_mask<double>(dataset.graph.num_edges(), seed);
  GnnInput<double> input;
  input.graph = dataset.graph.adjacency();
  input.x = &x;
  input.edge_attr = &attr;
  input.edge_weight = weight;
  const NodeId half = dataset.graph.num_nodes() / 2;
  const std::vector<NodeId> graph_ptr{0, half, dataset.graph.num_nodes()};
  if (task == Task::graph) input.graph_ptr = graph_ptr;

  NativeGnn<double>::Workspace workspace;
  RandomStream random(seed, RandomPurpose::test);
  const Matrix<double> out = model.forward(input, mask, {}, workspace);
  const Matrix<double> R = random_matrix(out.rows(), out.cols(), random);
  std::vector<double> dtheta(model.theta().size(), 0.0), dmask(mask.size(), 0.0),
      dweight(weight.size(), 0.0);
  Matrix<double> dx, dattr = Matrix<double>::Zero(attr.rows(), attr.cols());
  model.backward(input, R, workspace, {dtheta.data(), &dx, dweight, dmask, &dattr});
  const auto loss = [&] {
    NativeGnn<double>::Workspace scratch;
    return model.forward(input, mask, {}, scratch).cwiseProduct(R).sum();
  };
  constexpr double kTolerance = 2e-6;
  RC_ASSERT(gradient_error(loss, mask.data(), dmask.data(), mask.size()) < kTolerance);
  RC_ASSERT(gradient_error(loss, weight.data(), dweight.data(), weight.size()) < kTolerance);
  RC_ASSERT(gradient_error(loss, x.data(), dx.data(), at(x.size())) < kTolerance);
  RC_ASSERT(gradient_error(loss, attr.data(), dattr.data(), at(attr.size())) < kTolerance);
  for (const Parameter& p : model.layout().parameters())
    if (p.trainable)
      RC_ASSERT(gradient_error(loss, model.theta().data() + p.offset, dtheta.data() + p.offset,
                               p.size) < kTolerance);
}

// The fast path: logits, mask gradient and feature gradient of one node from its computation graph
// alone, against the whole graph. The rows that cannot reach the target are not even there.
RC_GTEST_PROP(NodeInstance, AgreesWithTheWholeGraph, ()) {
  const Dataset dataset = random_node_dataset(14, 40);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const auto model =
      std::make_shared<NativeGnn<float>>(random_model_spec(Task::node), "random", seed);
  const DatasetNorms<float> norms(dataset, model->reads_gcn_norm());
  const std::unique_ptr<Gnn> gnn = make_gnn(model);
  NodeInstance instance(dataset, norms, gnn->num_hops());
  const auto whole_run = gnn->new_run();
  const auto cut_run = gnn->new_run();
  const std::vector<float> mask = random_mask<float>(dataset.graph.num_edges(), seed);

  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto node = *rc::gen::inRange<NodeId>(0, dataset.graph.num_nodes());
    const GnnInput<float>& cut = instance.assemble(node);
    const ComputationGraph& graph = instance.graph();
    std::vector<float> local_mask(at(graph.num_edges()));
    for (std::size_t e = 0; e < local_mask.size(); ++e) local_mask[e] = mask[at(graph.edges()[e])];

    const Matrix<float> whole = whole_run->forward(whole_input(dataset, norms), mask);
    const Matrix<float> local = cut_run->forward(cut, local_mask);
    RC_ASSERT(local.rows() == 1);
    RC_ASSERT((local.row(0) - whole.row(node)).norm() <= 1e-5F * (1 + whole.row(node).norm()));

    Matrix<float> dlogits(1, 2), dwhole_logits = Matrix<float>::Zero(whole.rows(), 2);
    dlogits << 0.7F, -1.3F;
    dwhole_logits.row(node) = dlogits.row(0);
    std::vector<float> dmask(mask.size(), 0.0F), dlocal(local_mask.size(), 0.0F);
    Matrix<float> dx, dlocal_x;
    whole_run->backward(dwhole_logits, dmask, &dx);
    cut_run->backward(dlogits, dlocal, &dlocal_x);
    float scale = 1.0F;
    for (const float d : dmask) scale = std::max(scale, std::abs(d));
    std::vector<float> inside(mask.size(), 0.0F);
    for (std::size_t e = 0; e < dlocal.size(); ++e) inside[at(graph.edges()[e])] = dlocal[e];
    for (std::size_t e = 0; e < mask.size(); ++e)  // outside the cut the gradient is zero
      RC_ASSERT(std::abs(inside[e] - dmask[e]) <= 1e-4F * scale);
    Matrix<float> dx_inside = Matrix<float>::Zero(dx.rows(), dx.cols());
    for (NodeId i = 0; i < graph.num_nodes(); ++i)
      dx_inside.row(graph.nodes()[at(i)]) = dlocal_x.row(i);
    RC_ASSERT((dx_inside - dx).cwiseAbs().maxCoeff() <=
              1e-4F * std::max(1.0F, dx.cwiseAbs().maxCoeff()));
  }
}

TEST(NodeInstance, ComputesOnlyTheRowsThatReachTheTarget) {
  const Graph path(6, {0, 1, 2, 3, 4, 1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 0, 1, 2, 3, 4});
  Dataset dataset;
  dataset.graph = path;
  dataset.graph_ptr = {0, 6};
  dataset.edge_ptr = {0, 10};
  dataset.x = Matrix<float>::Ones(6, 3);
  ModelSpec spec;
  spec.in_channels = 3;
  spec.num_classes = 2;
  for (const char* name : {"a", "b"})
    spec.blocks.push_back({{{"type", "GCNConv"}, {"name", name}, {"out_channels", 2}}});
  NativeGnn<float> model(spec, "test", 1);
  const DatasetNorms<float> norms(dataset, model.reads_gcn_norm());
  NodeInstance instance(dataset, norms, 2);
  NativeGnn<float>::Workspace workspace;
  model.forward(instance.assemble(2), {}, {}, workspace);
  EXPECT_EQ(workspace.blocks[0][0].out.rows(), 3);  // nodes 2, 1, 3
  EXPECT_EQ(workspace.blocks[1][0].out.rows(), 1);  // node 2
}

// The fast path: one pass for both. The reference runs the layers of the description one by one.
TEST(NativeGnn, JoinsReluToTheNormalisationBeforeIt) {
  const Graph graph(4, {0, 1, 2, 3}, {1, 2, 3, 3});
  RandomStream random(1, RandomPurpose::test);
  const Matrix<double> x = random_matrix(4, 3, random);
  ModelSpec spec;
  spec.in_channels = 3;
  spec.num_classes = 5;
  spec.blocks = {{{{"type", "Linear"}, {"name", "a"}, {"out_channels", 5}},
                  {{"type", "ReLU"}},
                  {{"type", "L2Norm"}},
                  {{"type", "Tanh"}},
                  {{"type", "L2Norm"}},
                  {{"type", "ReLU"}},
                  {{"type", "ReLU"}}}};
  const NativeGnn<double> model(spec, "test", 1);
  GnnInput<double> input;
  input.graph = graph.adjacency();
  input.x = &x;
  NativeGnn<double>::Workspace workspace;
  const Matrix<double> out = model.forward(input, {}, {}, workspace);
  EXPECT_EQ(workspace.blocks[0].size(), 6U);  // only one of three ReLUs follows a normalisation

  Matrix<double> expected = x;
  ParameterLayout layout;
  for (const nlohmann::json& description : spec.blocks[0]) {
    Matrix<double> next;
    Saved<double> saved;
    make_layer<double>(description, "test", expected.cols(), 0, layout)
        ->forward(model.theta().data(), workspace.context, expected, next, saved);
    expected = next;
  }
  EXPECT_TRUE(out.isApprox(expected, 1e-12));
  EXPECT_EQ(out.minCoeff(), 0);
}

TEST(Gnn, RefusesInputThatDoesNotFit) {
  ModelSpec spec;
  spec.in_channels = 3;
  spec.num_classes = 2;
  spec.blocks.push_back(
      {{{"type", "GINEConv"}, {"name", "a"}, {"out_channels", 2}, {"edge_dim", 4}}});
  const auto gnn = make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", 1));
  const Graph graph(2, {0}, {1});
  const Matrix<float> narrow = Matrix<float>::Ones(2, 1), x = Matrix<float>::Ones(2, 3);
  const Matrix<float> attr = Matrix<float>::Ones(1, 4);
  GnnInput<float> input;
  input.graph = graph.adjacency();
  EXPECT_THROW(static_cast<void>(gnn->predict(input)), Error);  // no features
  input.x = &narrow;
  EXPECT_THROW(static_cast<void>(gnn->predict(input)), Error);
  input.x = &x;
  EXPECT_THROW(static_cast<void>(gnn->predict(input)), Error);  // no edge features
  input.edge_attr = &attr;
  EXPECT_NO_THROW(static_cast<void>(gnn->predict(input)));
}

TEST(Gnn, OffersEachKindOfEmbedding) {
  ModelSpec spec;
  spec.in_channels = 3;
  spec.num_classes = 2;
  spec.concatenate_blocks = true;
  for (const char* name : {"a", "b"})
    spec.blocks.push_back(
        {{{"type", "GCNConv"}, {"name", name}, {"out_channels", 4}}, {{"type", "ReLU"}}});
  spec.classifier = {{{"type", "Linear"}, {"name", "lin"}, {"out_channels", 2}}};
  const auto gnn = make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", 1));
  const Graph graph(3, {0, 1, 1, 2}, {1, 0, 2, 1});
  const Matrix<float> x = Matrix<float>::Random(3, 3);
  GnnInput<float> input;
  input.graph = graph.adjacency();
  input.x = &x;
  const Matrix<float> all = gnn->embed(input, Embedding::classifier_input);
  const Matrix<float> last = gnn->embed(input, Embedding::last_layer);
  const Matrix<float> raw = gnn->embed(input, Embedding::last_convolution);
  EXPECT_EQ(all.cols(), 8);
  EXPECT_EQ(all.rightCols(4), last);
  EXPECT_EQ(raw.cwiseMax(0.0F), last);
}

}  // namespace
}  // namespace pgexplainer
