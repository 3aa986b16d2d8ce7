#include "pgexplainer/graph/computation_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "pgexplainer/core/error.h"

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
  ComputationGraphBuilder builder(graph);
  const auto hops = *rc::gen::inRange(0, 4);
  for (int repeat = 0; repeat < 3; ++repeat) {  // the scratch is reused
    const auto first = *rc::gen::inRange<NodeId>(0, nodes);
    const bool pair = *rc::gen::arbitrary<bool>();
    const NodeId second = (first + 1) % nodes;
    const auto cut = pair ? builder.build_pair(first, second, hops) : builder.build(first, hops);
    const auto expected =
        hops_by_search(graph, pair ? std::vector{first, second} : std::vector{first}, hops);

    RC_ASSERT(cut.num_targets() == (pair ? 2 : 1));
    RC_ASSERT(cut.nodes()[0] == first);
    RC_ASSERT(static_cast<std::size_t>(cut.num_nodes()) == expected.size());
    for (NodeId local = 0; local < cut.num_nodes(); ++local) {
      const NodeId global = cut.nodes()[static_cast<std::size_t>(local)];
      RC_ASSERT(expected.at(global) == cut.hop(local));
      RC_ASSERT(cut.local_node(global) == local);
      RC_ASSERT(cut.hop(local) == 0 || cut.hop(local) >= cut.hop(local - 1));
    }
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

}  // namespace
}  // namespace pgexplainer
