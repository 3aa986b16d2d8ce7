#include "pgexplainer/model/native_gnn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/datasets/tree_cycles.h"
#include "pgexplainer/model/architecture.h"
#include "pgexplainer/model/gnn_input.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_model.h"

namespace pgexplainer {
namespace {

constexpr std::array kEmbeddings{Embedding::all_layers, Embedding::classifier_input,
                                 Embedding::last_layer, Embedding::last_convolution};

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
  spec.jumping_knowledge = JumpingKnowledge::cat;
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

RC_GTEST_PROP(NativeGnn, EmbedsAllLayersOfAForwardPassWithRowsOfBoundedLength, ()) {
  const Dataset dataset = random_node_dataset(7, 14);
  const NativeGnn<float> model(random_model_spec(*rc::gen::element(Task::node, Task::graph)),
                               "random", *rc::gen::inRange<std::uint64_t>(0, 1000));
  const Matrix<float> x = *rc::gen::element(0.1F, 1.0F, 100.0F) * dataset.x;
  const DatasetNorms<float> norms(dataset, model.reads_gcn_norm());
  GnnInput<float> input = whole_input(dataset, norms);
  input.x = &x;
  NativeGnn<float>::Workspace workspace;
  model.forward(input, {}, {}, workspace);
  const Matrix<float> z = model.embed(input, Embedding::all_layers);
  Index column = 0;
  for (const auto& block : workspace.blocks) {
    const Matrix<float>& layer = block.back().out;
    for (Index r = 0; r < layer.rows(); ++r) {
      const float length = layer.row(r).norm();
      const auto part = z.row(r).middleCols(column, layer.cols());
      const float longest = kLongestRow;
      RC_ASSERT(part.isApprox(layer.row(r) * std::min(1.0F, longest / length), 1e-4F));
      if (length < 0.999F * longest) RC_ASSERT(part == layer.row(r));
    }
    column += layer.cols();
  }
  RC_ASSERT(column == z.cols());
}

RC_GTEST_PROP(NativeGnn, EmbedsWithTheBitsOfAForwardPass, ()) {
  const Dataset dataset = random_node_dataset(7, 14);
  const NativeGnn<float> model(random_model_spec(*rc::gen::element(Task::node, Task::graph)),
                               "random", *rc::gen::inRange<std::uint64_t>(0, 1000));
  const DatasetNorms<float> norms(dataset, model.reads_gcn_norm());
  const GnnInput<float> input = whole_input(dataset, norms);
  NativeGnn<float>::Workspace workspace;
  for (const Embedding kind : kEmbeddings) {
    const Matrix<float>& expected = model.encode(input, {}, {}, kind, workspace);
    const Matrix<float> z = model.embed(input, kind);
    RC_ASSERT(z.rows() == expected.rows() && z.cols() == expected.cols());
    RC_ASSERT(z == expected);
  }
}

RC_GTEST_PROP(Gnn, EmbedsSomeNodesWithTheBitsOfAll, ()) {
  const Dataset dataset = random_node_dataset(7, 14);
  const auto gnn = make_gnn(std::make_shared<NativeGnn<float>>(
      random_model_spec(Task::node), "random", *rc::gen::inRange<std::uint64_t>(0, 1000)));
  const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
  const GnnInput<float> input = whole_input(dataset, norms);
  const auto nodes = *rc::gen::container<std::vector<NodeId>>(
      rc::gen::inRange<NodeId>(0, input.graph.num_nodes()));
  for (const Embedding kind : kEmbeddings) {
    const Matrix<float> all = gnn->embed(input, kind);
    const Matrix<float> some = gnn->embed_rows(input, kind, nodes);
    RC_ASSERT(some.rows() == static_cast<Index>(nodes.size()));
    for (Index i = 0; i < some.rows(); ++i) RC_ASSERT(some.row(i) == all.row(nodes[at(i)]));
  }
}

TEST(Gnn, EmbedsOneNodeOfALargerGraphWithTheBitsOfAll) {
  TreeCyclesOptions sizes;
  sizes.tree_levels = 6;
  sizes.num_motifs = 5;
  const Dataset dataset = generate_tree_cycles(sizes, 1);  // most rows are never read
  for (const char* arch : {"paper", "sum", "gcn", "sage"}) {
    ArchitectureOptions options;
    options.arch = arch;
    const auto gnn = make_gnn(
        std::make_shared<NativeGnn<float>>(make_architecture(options, dataset), "test", 1));
    const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
    const GnnInput<float> input = whole_input(dataset, norms);
    for (const Embedding kind : kEmbeddings) {
      const Matrix<float> all = gnn->embed(input, kind);
      for (NodeId i = 0; i < input.graph.num_nodes(); i += 7)
        EXPECT_EQ(gnn->embed_rows(input, kind, std::array{i}), all.row(i)) << arch << " " << i;
    }
  }
}

TEST(Gnn, EmbedsALargeGraphAlikeOnAnyNumberOfThreads) {
  TreeCyclesOptions sizes;
  sizes.tree_levels = 13;
  const Dataset dataset = generate_tree_cycles(sizes, 1);
  ASSERT_GT(dataset.graph.num_nodes(), 16000);  // several blocks of rows
  for (const char* arch : {"sum", "gcn", "sage", "gin"}) {
    ArchitectureOptions options;
    options.arch = arch;
    options.norm = "l2";
    const auto gnn = make_gnn(
        std::make_shared<NativeGnn<float>>(make_architecture(options, dataset), "test", 1));
    const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
    GnnInput<float> input = whole_input(dataset, norms);
    const Matrix<float> alone = gnn->embed(input, Embedding::classifier_input);
    ThreadPool pool(3);
    input.pool = &pool;
    EXPECT_EQ(gnn->embed(input, Embedding::classifier_input), alone) << arch;
  }
}

}  // namespace
}  // namespace pgexplainer
