#include "pgexplainer/graph/computation_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "tests/support/expect_error.h"

namespace pgexplainer {
namespace {

TEST(ComputationGraph, FollowsIncomingEdgesOnly) {
  const Graph path(4, {0, 1, 2}, {1, 2, 3});  // 0 -> 1 -> 2 -> 3
  ComputationGraphBuilder builder(path);
  const ComputationGraph cut = builder.build(2, 1);
  EXPECT_EQ(cut.num_nodes(), 2);
  EXPECT_EQ(cut.nodes()[0], 2);
  EXPECT_EQ(cut.nodes()[1], 1);
  EXPECT_EQ(cut.num_edges(), 1);
  EXPECT_EQ(cut.edges()[0], 1);
  EXPECT_EQ(cut.local_node(3), kNoNode);
}

TEST(ComputationGraph, OfAnIsolatedNodeIsTheNodeAlone) {
  const Graph graph(3, {}, {});
  ComputationGraphBuilder builder(graph);
  const ComputationGraph cut = builder.build(1, 3);
  EXPECT_EQ(cut.num_nodes(), 1);
  EXPECT_EQ(cut.num_edges(), 0);
  EXPECT_EQ(cut.num_hops(), 3);
}

TEST(ComputationGraph, RefusesUnknownTargetsAndPairsOfOne) {
  const Graph graph(3, {0}, {1});
  ComputationGraphBuilder builder(graph);
  EXPECT_THROW(builder.build(3, 1), Error);
  EXPECT_THROW(builder.build(-1, 1), Error);
  EXPECT_THROW(builder.build(0, -1), Error);
  EXPECT_THROW(builder.build_pair(1, 1, 1), Error);
}

// The slow reference: breadth-first search over the edge list, once per hop.
std::map<NodeId, int> hops_by_search(const Graph& graph, const std::vector<NodeId>& targets,
                                     int hops) {
  std::map<NodeId, int> distance;
  for (const NodeId t : targets) distance[t] = 0;
  for (int h = 1; h <= hops; ++h) {
    const auto before = distance;
    for (EdgeId e = 0; e < graph.num_edges(); ++e)
      if (before.count(graph.target(e))) distance.emplace(graph.source(e), h);
  }
  return distance;
}

RC_GTEST_PROP(ComputationGraph, IsTheInducedInNeighbourhood, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(2, 15);
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  const auto source =
      *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  const auto target =
      *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  const Graph graph(nodes, source, target);
  // Local numbers are looked up otherwise in large graphs; isolated nodes make a large one.
  const Graph large(1 << 15, source, target);
  ComputationGraph cut;
  const auto hops = *rc::gen::inRange(0, 4);
  for (int repeat = 0; repeat < 6; ++repeat) {  // the memory is reused
    const auto first = *rc::gen::inRange<NodeId>(0, nodes);
    const bool pair = *rc::gen::arbitrary<bool>();
    const NodeId second = (first + 1) % nodes;
    const auto targets = pair ? std::vector{first, second} : std::vector{first};
    ComputationGraphBuilder(*rc::gen::arbitrary<bool>() ? large : graph).build(targets, hops, cut);
    const auto expected = hops_by_search(graph, targets, hops);

    RC_ASSERT(cut.num_targets() == (pair ? 2 : 1));
    RC_ASSERT(cut.nodes()[0] == first);
    RC_ASSERT(static_cast<std::size_t>(cut.num_nodes()) == expected.size());
    for (NodeId local = 0; local < cut.num_nodes(); ++local) {
      const NodeId global = cut.nodes()[static_cast<std::size_t>(local)];
      RC_ASSERT(expected.at(global) == cut.hop(local));
      RC_ASSERT(cut.local_node(global) == local);
      RC_ASSERT(cut.hop(local) == 0 || cut.hop(local) >= cut.hop(local - 1));
    }
    for (NodeId node = 0; node <= nodes; ++node)
      RC_ASSERT((cut.local_node(node) == kNoNode) == (expected.count(node) == 0));
    std::set<EdgeId> induced;
    for (EdgeId e = 0; e < graph.num_edges(); ++e)
      if (expected.count(graph.source(e)) && expected.count(graph.target(e))) induced.insert(e);
    RC_ASSERT(std::set<EdgeId>(cut.edges().begin(), cut.edges().end()) == induced);
    RC_ASSERT(static_cast<std::size_t>(cut.num_edges()) == induced.size());
    const Adjacency adjacency = cut.adjacency();
    for (NodeId i = 0; i < cut.num_nodes(); ++i)
      for (EdgeId slot = adjacency.in_ptr[static_cast<std::size_t>(i)];
           slot < adjacency.in_ptr[static_cast<std::size_t>(i) + 1]; ++slot) {
        const EdgeId global = cut.edges()[static_cast<std::size_t>(slot)];
        RC_ASSERT(graph.target(global) == cut.nodes()[static_cast<std::size_t>(i)]);
        RC_ASSERT(graph.source(global) == cut.nodes()[static_cast<std::size_t>(cut.source(slot))]);
      }
  }
}

// Both directions between the hub 0 and each of `leaves`; then a path of two more nodes, so that
// the last one is two hops from the hub's first leaf and three from the hub.
Graph star(NodeId leaves) {
  std::vector<NodeId> source, target;
  const auto join = [&](NodeId a, NodeId b) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  };
  for (NodeId leaf = 1; leaf <= leaves; ++leaf) join(0, leaf);
  join(1, leaves + 1);
  join(leaves + 1, leaves + 2);
  return {leaves + 3, std::move(source), std::move(target)};
}

std::vector<EdgeId> edges_of(const ComputationGraph& cut) {
  return {cut.edges().begin(), cut.edges().end()};
}

TEST(ComputationGraph, OfAHubIsRefusedWithItsSizeAndWhatToDo) {
  const NodeId leaves = 1'000'000;
  const Graph graph = star(leaves);
  CutOptions options;
  options.max_edges = 1000;
  ComputationGraphBuilder builder(graph, options);
  expect_bad_input([&] { (void)builder.build(0, 2); },
                   {"node 0: its prediction depends on 1000000 edges or more, the "
                    "limit is 1000; give a higher --max-edges, or --num-neighbors 20,20"});
  expect_bad_input([&] { (void)builder.build(7, 2); },
                   {"node 7: its prediction depends on 1000001 edges"});  // by a leaf
  expect_bad_input([&] { (void)builder.build_pair(leaves + 2, 5, 2); }, {"link 1000002-5"});
  // The hub is the outermost node: its million edges come from elsewhere.
  EXPECT_EQ(builder.build(leaves + 1, 2).num_edges(), 6);
  EXPECT_EQ(builder.build(leaves + 2, 2).num_edges(), 4);
  // Exact without a limit in the way.
  ComputationGraphBuilder patient(graph);
  EXPECT_EQ(patient.build(0, 1).num_edges(), 2 * leaves);
  EXPECT_FALSE(patient.build(0, 1).sampled());
}

TEST(ComputationGraph, AtTheLimitIsExact) {
  const Graph graph = star(10);
  for (const NodeId target : {0, 1, 11, 12})
    for (int hops = 0; hops < 4; ++hops) {
      const ComputationGraph all = ComputationGraphBuilder(graph).build(target, hops);
      CutOptions options;
      options.max_edges = all.num_edges();
      EXPECT_EQ(edges_of(ComputationGraphBuilder(graph, options).build(target, hops)),
                edges_of(all));
      if (--options.max_edges >= 0) {
        ComputationGraphBuilder tight(graph, options);
        EXPECT_THROW(tight.build(target, hops), Error) << target << " " << hops;
      }
    }
}

TEST(ComputationGraph, OfAHubIsSampledWhenAsked) {
  const Graph graph = star(1'000'000);
  CutOptions options;
  options.max_edges = 1000;
  options.num_neighbors = {20, 5, 5};
  ComputationGraphBuilder builder(graph, options);
  const ComputationGraph hub = builder.build(0, 3);
  EXPECT_TRUE(hub.sampled());
  EXPECT_EQ(hub.nodes_within(1), 21);  // no leaf twice
  EXPECT_EQ(hub.num_edges(), 40);      // both directions
  const ComputationGraph leaf = builder.build(3, 3);
  EXPECT_TRUE(leaf.sampled());
  EXPECT_EQ(leaf.nodes_within(1), 2);
  EXPECT_FALSE(builder.build(1'000'002, 3).sampled());  // only what is too large
  options.seed = 1;
  EXPECT_NE(edges_of(ComputationGraphBuilder(graph, options).build(0, 3)), edges_of(hub));
}

TEST(ComputationGraph, RefusesBadNumbersOfNeighbours) {
  const Graph graph = star(100);
  CutOptions options;
  options.max_edges = 30;
  for (const auto& [numbers, complaint] :
       std::vector<std::pair<std::vector<std::int64_t>, std::string>>{
           {{5}, "--num-neighbors 5: expected 2 numbers"},
           {{5, 5, 5}, "expected 2 numbers"},
           {{5, 0}, "from 1 on"},
           {{90, 90}, "even the sample of --num-neighbors 90,90 has"}}) {
    options.num_neighbors = numbers;
    ComputationGraphBuilder builder(graph, options);
    expect_bad_input([&] { (void)builder.build(0, 2); }, {complaint});
  }
}

// What a sample promises, on any graph: part of the whole; numbered by hop, so that a node hears
// only from nodes one hop further at most; both directions of an edge or neither; as many senders
// as there are, up to what was asked for; the same whoever asks.
RC_GTEST_PROP(ComputationGraph, SampleIsAPartThatHoldsTogether, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(2, 12);
  const auto count = *rc::gen::inRange<std::size_t>(4, 60);
  auto source = *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  auto target = *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  for (std::size_t e = 0; e < count; e += 2) {  // some have a reverse
    source.push_back(target[e]);
    target.push_back(source[e]);
  }
  const Graph graph(nodes, source, target);
  CutOptions options;
  options.num_neighbors = {*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 4)};
  options.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const auto first = *rc::gen::inRange<NodeId>(0, nodes);
  const ComputationGraph all = ComputationGraphBuilder(graph).build(first, 2);
  RC_PRE(all.num_edges() > 0);
  options.max_edges = all.num_edges() - 1;
  ComputationGraphBuilder builder(graph, options);
  ComputationGraph cut;
  try {
    cut = builder.build(first, 2);
  } catch (const Error&) {
    RC_DISCARD("the sample is all there is");
  }
  RC_ASSERT(cut.sampled());
  const auto edges = edges_of(cut), exact = edges_of(all);
  const std::set<EdgeId> inside(edges.begin(), edges.end()), whole(exact.begin(), exact.end());
  RC_ASSERT(inside.size() == edges.size());
  const Adjacency adjacency = cut.adjacency();
  for (NodeId i = 0; i < cut.num_nodes(); ++i) {
    RC_ASSERT(cut.local_node(cut.nodes()[at(i)]) == i);
    const EdgeId begin = adjacency.in_ptr[at(i)], end = adjacency.in_ptr[at(i) + 1];
    RC_ASSERT(std::is_sorted(edges.begin() + begin, edges.begin() + end));
    if (i == 0) {
      const EdgeId asked = std::min(graph.in_degree(first), options.num_neighbors[0]);
      RC_ASSERT(end - begin == asked);
    }
    for (EdgeId slot = begin; slot < end; ++slot) {
      const EdgeId edge = edges[at(slot)];
      RC_ASSERT(whole.count(edge) == 1);
      RC_ASSERT(graph.target(edge) == cut.nodes()[at(i)]);
      RC_ASSERT(graph.source(edge) == cut.nodes()[at(cut.source(slot))]);
      RC_ASSERT(cut.hop(cut.source(slot)) <= cut.hop(i) + 1);
      const EdgeId reverse = graph.reverse_edge(edge);
      RC_ASSERT(reverse == kNoEdge || inside.count(reverse) == 1);
    }
  }
  RC_ASSERT(edges_of(builder.build(first, 2)) == edges);
  RC_ASSERT(edges_of(ComputationGraphBuilder(graph, options).build(first, 2)) == edges);
}

// Every leaf is drawn equally often.
TEST(ComputationGraph, SampleIsUniform) {
  const Graph graph = star(30);
  CutOptions options;
  options.max_edges = 12;
  options.num_neighbors = {5};
  std::vector<int> drawn(33, 0);
  const int repeats = 3000;
  for (int seed = 0; seed < repeats; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    const ComputationGraph cut = ComputationGraphBuilder(graph, options).build(0, 1);
    ASSERT_EQ(cut.num_nodes(), 6);
    for (const NodeId node : cut.nodes()) ++drawn[at(node)];
  }
  const double expected = repeats * 5 / 30.0;
  for (NodeId leaf = 1; leaf <= 30; ++leaf)
    EXPECT_NEAR(drawn[at(leaf)], expected, 6 * std::sqrt(expected)) << leaf;
}

}  // namespace
}  // namespace pgexplainer
