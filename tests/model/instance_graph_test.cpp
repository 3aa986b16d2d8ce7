#include "pgexplainer/model/instance_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_dataset.h"
#include "tests/support/random_model.h"

namespace pgexplainer {
namespace {

std::vector<float> random_mask(EdgeId edges, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test);
  std::vector<float> mask(at(edges));
  for (float& m : mask) m = static_cast<float>(random.uniform());
  return mask;
}

// The fast path: logits, mask gradient and feature gradient of one node from its computation graph
// alone, against the whole graph. The rows that cannot reach the target are not even there.
RC_GTEST_PROP(InstanceGraph, AgreesWithTheWholeGraph, ()) {
  const Dataset dataset = random_node_dataset(14, 40);
  const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const auto model =
      std::make_shared<NativeGnn<float>>(random_model_spec(Task::node), "random", seed);
  const DatasetNorms<float> norms(dataset, model->reads_gcn_norm());
  const std::unique_ptr<Gnn> gnn = make_gnn(model);
  InstanceCutter cutter(dataset, norms, gnn->task(), gnn->num_hops());
  InstanceGraph graph;
  const auto whole_run = gnn->new_run();
  const auto cut_run = gnn->new_run();
  const std::vector<float> mask = random_mask(dataset.graph.num_edges(), seed);

  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto node = *rc::gen::inRange<NodeId>(0, dataset.graph.num_nodes());
    cutter.cut({node}, graph);
    std::vector<float> local_mask(at(graph.num_edges()));
    for (std::size_t e = 0; e < local_mask.size(); ++e) local_mask[e] = mask[at(graph.edges[e])];

    const Matrix<float> whole = whole_run->forward(whole_input(dataset, norms), mask);
    const Matrix<float> local = cut_run->forward(graph.input(), local_mask);
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
    for (std::size_t e = 0; e < dlocal.size(); ++e) inside[at(graph.edges[e])] = dlocal[e];
    for (std::size_t e = 0; e < mask.size(); ++e)  // outside the cut the gradient is zero
      RC_ASSERT(std::abs(inside[e] - dmask[e]) <= 1e-4F * scale);
    Matrix<float> dx_inside = Matrix<float>::Zero(dx.rows(), dx.cols());
    for (NodeId i = 0; i < graph.num_nodes(); ++i)
      dx_inside.row(graph.nodes[at(i)]) = dlocal_x.row(i);
    RC_ASSERT((dx_inside - dx).cwiseAbs().maxCoeff() <=
              1e-4F * std::max(1.0F, dx.cwiseAbs().maxCoeff()));
  }
}

TEST(InstanceGraph, ComputesOnlyTheRowsThatReachTheTarget) {
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
  InstanceCutter cutter(dataset, norms, Task::node, 2);
  InstanceGraph graph;
  cutter.cut({2}, graph);
  NativeGnn<float>::Workspace workspace;
  model.forward(graph.input(), {}, {}, workspace);
  EXPECT_EQ(workspace.blocks[0][0].out.rows(), 3);  // nodes 2, 1, 3
  EXPECT_EQ(workspace.blocks[1][0].out.rows(), 1);  // node 2
}

// One graph of a dataset: its logits alone are those of its row of the union, and its parts point
// to the dataset's.
RC_GTEST_PROP(InstanceGraph, OfAGraphAgreesWithTheUnion, ()) {
  Dataset dataset = random_dataset(Task::graph);
  dataset.edge_attr.resize(0, 0);
  ModelSpec spec;
  spec.task = Task::graph;
  spec.in_channels = dataset.x.cols();
  spec.num_classes = 2;
  spec.readout = {Aggregation::sum, Aggregation::max};
  for (const char* name : {"a", "b"})
    spec.blocks.push_back({{{"type", "GCNConv"}, {"name", name}, {"out_channels", 3}}});
  spec.classifier = {{{"type", "Linear"}, {"name", "lin"}, {"out_channels", 2}}};
  for (float& w : dataset.edge_weight) w = std::abs(w);
  const auto gnn = make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", 3));
  const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
  const Matrix<float> all = gnn->predict(whole_input(dataset, norms));
  InstanceCutter cutter(dataset, norms, Task::graph, gnn->num_hops());
  InstanceGraph graph;
  for (std::int64_t g = 0; g < dataset.num_graphs(); ++g) {
    cutter.cut({g}, graph);
    const Matrix<float> one = gnn->predict(graph.input());
    RC_ASSERT((one.row(0) - all.row(g)).norm() <= 1e-4F * (1 + all.row(g).norm()));
  }
}

RC_GTEST_PROP(InstanceGraph, KnowsItsPlaceInTheDataset, ()) {
  const auto task = *rc::gen::element(Task::node, Task::graph);
  const int hops = task == Task::graph ? 2 : *rc::gen::element(Gnn::kWholeGraph, 0, 1, 2);
  const Dataset dataset = random_dataset(task);
  const DatasetNorms<float> norms(dataset, {false, false});
  InstanceCutter cutter(dataset, norms, task, hops);
  InstanceGraph graph;
  const auto id = *rc::gen::inRange<std::int64_t>(0, dataset.num_instances());
  cutter.cut({id}, graph);
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    const EdgeId global = graph.edges[at(e)];
    RC_ASSERT(graph.nodes[at(graph.source[at(e)])] == dataset.graph.source(global));
    RC_ASSERT(graph.nodes[at(graph.target[at(e)])] == dataset.graph.target(global));
    const EdgeId back = dataset.graph.reverse_edge(global);
    const EdgeId local = graph.reverse[at(e)];
    RC_ASSERT((back == kNoEdge) == (local == kNoEdge));
    if (local != kNoEdge) RC_ASSERT(graph.edges[at(local)] == back);
  }
  if (task == Task::node) RC_ASSERT(graph.nodes[at(graph.targets.at(0))] == id);
}

// Against a dataset in which the first two graphs are one.
RC_GTEST_PROP(InstanceGraph, OfTwoGraphsIsThatOfTheirUnion, ()) {
  Dataset dataset = random_dataset(Task::graph);
  if (dataset.num_graphs() < 2) return;
  for (float& w : dataset.edge_weight) w = std::abs(w);
  const DatasetNorms<float> norms(dataset, {true, true});
  InstanceCutter cutter(dataset, norms, Task::graph, 2);
  InstanceGraph first, second, both;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with memory to reuse
    cutter.cut({0}, first);
    cutter.cut({1}, second);
    unite(first, second, both);
  }
  Dataset merged = dataset;
  merged.graph_ptr.erase(merged.graph_ptr.begin() + 1);
  merged.edge_ptr.erase(merged.edge_ptr.begin() + 1);
  InstanceCutter merged_cutter(merged, norms, Task::graph, 2);
  InstanceGraph expected;
  merged_cutter.cut({0}, expected);
  RC_ASSERT(both.nodes == expected.nodes);
  RC_ASSERT(both.edges == expected.edges);
  RC_ASSERT(both.source == expected.source);
  RC_ASSERT(both.target == expected.target);
  RC_ASSERT(both.reverse == expected.reverse);
  RC_ASSERT(both.in_ptr == expected.in_ptr);
  RC_ASSERT(both.in_edge == expected.in_edge);
  RC_ASSERT(both.in_source == expected.in_source);
  RC_ASSERT(both.x == expected.x);
  RC_ASSERT(both.edge_attr.rows() == expected.edge_attr.rows());
  RC_ASSERT(both.edge_attr.cols() == expected.edge_attr.cols());
  RC_ASSERT(both.edge_attr == expected.edge_attr);
  RC_ASSERT(both.edge_weight == expected.edge_weight);
  for (const std::size_t loops : {0U, 1U}) {
    RC_ASSERT(both.norm[loops].edge == expected.norm[loops].edge);
    RC_ASSERT(both.norm[loops].loop == expected.norm[loops].loop);
  }
}

TEST(InstanceGraph, RefusesWhatTheDatasetDoesNotHave) {
  Dataset dataset;
  dataset.graph = Graph(3, {0, 1}, {1, 2});
  dataset.graph_ptr = {0, 3};
  dataset.edge_ptr = {0, 2};
  dataset.x = Matrix<float>::Ones(3, 1);
  const DatasetNorms<float> norms(dataset, {false, false});
  InstanceCutter cutter(dataset, norms, Task::node, 1);
  InstanceGraph graph;
  for (const Instance& bad : {Instance{-1}, Instance{3}, Instance{0, 3}, Instance{1, 1}})
    EXPECT_THROW(cutter.cut(bad, graph), Error);
  cutter.cut({0, 2}, graph);
  EXPECT_EQ(graph.targets.size(), 2U);
}

// A hub that hears from leaves which all say the same: its sampled sum, scaled, is the whole one.
TEST(InstanceGraph, SampledInstanceHearsAsMuchAsTheWholeOne) {
  const NodeId leaves = 500;
  std::vector<NodeId> source, target;
  for (NodeId leaf = 1; leaf <= leaves; ++leaf) {
    source.insert(source.end(), {0, leaf});
    target.insert(target.end(), {leaf, 0});
  }
  Dataset dataset;
  dataset.graph = Graph(leaves + 1, source, target);
  dataset.graph_ptr = {0, leaves + 1};
  dataset.edge_ptr = {0, 2 * leaves};
  dataset.x = Matrix<float>::Ones(leaves + 1, 3);
  ModelSpec spec;
  spec.in_channels = 3;
  spec.num_classes = 2;
  spec.blocks.push_back({{{"type", "GCNConv"}, {"name", "a"}, {"out_channels", 2}}});
  const auto gnn = make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", 1));
  const DatasetNorms<float> norms(dataset, gnn->reads_gcn_norm());
  CutOptions options;
  InstanceGraph exact, sample;
  InstanceCutter(dataset, norms, Task::node, 1, options).cut({0}, exact);
  options.max_edges = 100;
  options.num_neighbors = {10};
  InstanceCutter cutter(dataset, norms, Task::node, 1, options);
  cutter.cut({0}, sample);
  EXPECT_FALSE(exact.sampled);
  EXPECT_TRUE(sample.sampled);
  EXPECT_EQ(sample.num_edges(), 20);
  EXPECT_TRUE(gnn->predict(sample.input()).isApprox(gnn->predict(exact.input()), 1e-4F));
  for (EdgeId e = 0; e < sample.num_edges(); ++e)
    EXPECT_EQ(sample.reverse[at(sample.reverse[at(e)])], e);
  cutter.cut({3}, sample);
  EXPECT_FALSE(sample.sampled);
}

TEST(InstanceGraph, OfWholeGraphsKnowsTheLimitButNoSampling) {
  Dataset dataset;
  dataset.graph = Graph(3, {0, 1}, {1, 2});
  dataset.graph_ptr = {0, 3};
  dataset.edge_ptr = {0, 2};
  dataset.x = Matrix<float>::Ones(3, 1);
  const DatasetNorms<float> norms(dataset, {false, false});
  CutOptions options;
  options.max_edges = 1;
  InstanceGraph graph;
  for (const Task task : {Task::node, Task::graph}) {
    InstanceCutter cutter(dataset, norms, task, Gnn::kWholeGraph, options);
    expect_bad_input([&] { (void)cutter.cut({0}, graph); },
                     {"0: its prediction depends on 2 edges, the limit is 1"});
  }
  options.num_neighbors = {2, 2};
  expect_bad_input([&] { (void)InstanceCutter(dataset, norms, Task::graph, 2, options); },
                   {"whole graphs"});
}

}  // namespace
}  // namespace pgexplainer
