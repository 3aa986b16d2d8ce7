#include "pgexplainer/graph/graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

std::vector<EdgeId> list(std::span<const EdgeId> edges) { return {edges.begin(), edges.end()}; }

TEST(Graph, KeepsTheCallersEdgeIdsInBothDirections) {
  const Graph graph(4, {2, 0, 1, 0}, {0, 1, 0, 2});
  EXPECT_EQ(list(graph.in_edges(0)), (std::vector<EdgeId>{0, 2}));
  EXPECT_EQ(list(graph.out_edges(0)), (std::vector<EdgeId>{1, 3}));
  EXPECT_EQ(graph.in_neighbors(0)[1], 1);
  EXPECT_EQ(graph.out_neighbors(0)[1], 2);
  EXPECT_EQ(graph.reverse_edge(0), 3);
  EXPECT_EQ(graph.reverse_edge(1), 2);
  EXPECT_TRUE(graph.is_undirected());
  EXPECT_EQ(graph.in_degree(3), 0);  // isolated
}

TEST(Graph, KnowsDirectedEdgesSelfLoopsAndDuplicates) {
  const Graph graph(3, {0, 1, 1, 1, 2, 2}, {1, 0, 0, 1, 2, 0});
  EXPECT_EQ(graph.reverse_edge(0), 1);
  EXPECT_EQ(graph.reverse_edge(1), 0);
  EXPECT_EQ(graph.reverse_edge(2), kNoEdge);  // a second 1 -> 0 without a second 0 -> 1
  EXPECT_EQ(graph.reverse_edge(3), 3);
  EXPECT_EQ(graph.reverse_edge(5), kNoEdge);
  EXPECT_FALSE(graph.is_undirected());
  EXPECT_EQ(graph.num_self_loops(), 2);
  EXPECT_EQ(graph.num_duplicate_edges(), 1);
}

TEST(Graph, AcceptsNoEdgesAndNoNodes) {
  EXPECT_EQ(Graph().num_nodes(), 0);
  EXPECT_TRUE(Graph(5, {}, {}).is_undirected());
}

TEST(Graph, RefusesEndpointsOutsideTheGraph) {
  EXPECT_THROW(Graph(2, {0}, {2}), Error);
  EXPECT_THROW(Graph(2, {-1}, {0}), Error);
  EXPECT_THROW(Graph(2, {0, 1}, {1}), Error);
  EXPECT_THROW(Graph(-1, {}, {}), Error);
}

RC_GTEST_PROP(Graph, AgreesWithTheEdgeList, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 12);
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  const auto source =
      *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  const auto target =
      *rc::gen::container<std::vector<NodeId>>(count, rc::gen::inRange<NodeId>(0, nodes));
  const Graph graph(nodes, source, target);
  for (NodeId v = 0; v < nodes; ++v) {
    std::vector<EdgeId> in, out;
    for (EdgeId e = 0; e < graph.num_edges(); ++e) {
      if (graph.target(e) == v) in.push_back(e);
      if (graph.source(e) == v) out.push_back(e);
    }
    RC_ASSERT(list(graph.in_edges(v)) == in);
    RC_ASSERT(list(graph.out_edges(v)) == out);
  }
  // Reverse ids: k-th parallel edge with k-th reversed one.
  std::map<std::pair<NodeId, NodeId>, std::vector<EdgeId>> parallel;
  for (EdgeId e = 0; e < graph.num_edges(); ++e)
    parallel[{graph.source(e), graph.target(e)}].push_back(e);
  bool undirected = true;
  for (const auto& [ends, edges] : parallel)
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const auto& reversed = parallel[{ends.second, ends.first}];
      const EdgeId expected = k < reversed.size() ? reversed[k] : kNoEdge;
      RC_ASSERT(graph.reverse_edge(edges[k]) == expected);
      undirected = undirected && expected != kNoEdge;
    }
  RC_ASSERT(graph.is_undirected() == undirected);
}

}  // namespace
}  // namespace pgexplainer
