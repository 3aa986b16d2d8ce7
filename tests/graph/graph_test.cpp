#include "pgexplainer/graph/graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

std::vector<EdgeId> list(std::span<const EdgeId> edges) { return {edges.begin(), edges.end()}; }

TEST(Graph, KeepsTheCallersEdgeIds) {
  const Graph graph(4, {2, 0, 1, 0}, {0, 1, 0, 2});
  EXPECT_EQ(list(graph.in_edges(0)), (std::vector<EdgeId>{0, 2}));
  EXPECT_EQ(graph.in_neighbors(0)[1], 1);
  EXPECT_EQ(graph.out_degree(0), 2);
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

using Ends = std::vector<std::pair<NodeId, NodeId>>;

/// Edge lists of every order that the constructor treats in a way of its own.
Ends some_edges(NodeId nodes) {
  const auto node = rc::gen::inRange<NodeId>(0, nodes);
  Ends ends =
      *rc::gen::container<Ends>(*rc::gen::inRange<std::size_t>(0, 40), rc::gen::pair(node, node));
  const auto by_target = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto kind = *rc::gen::element<std::string>("any order", "sorted by target", "sorted",
                                                   "coalesced", "coalesced and undirected");
  if (kind == "coalesced and undirected")
    for (std::size_t e = ends.size(); e-- > 0;) ends.emplace_back(ends[e].second, ends[e].first);
  if (kind == "sorted by target") std::stable_sort(ends.begin(), ends.end(), by_target);
  if (kind == "sorted" || kind.starts_with("coalesced")) std::sort(ends.begin(), ends.end());
  if (kind.starts_with("coalesced")) ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

Graph make_graph(NodeId nodes, const Ends& ends) {
  std::vector<NodeId> source, target;
  for (const auto& [from, to] : ends) {
    source.push_back(from);
    target.push_back(to);
  }
  return {nodes, source, target};
}

RC_GTEST_PROP(Graph, AgreesWithTheEdgeList, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 12);
  const Graph graph = make_graph(nodes, some_edges(nodes));
  EdgeId self_loops = 0;
  for (NodeId v = 0; v < nodes; ++v) {
    std::vector<EdgeId> in;
    std::vector<NodeId> senders;
    EdgeId out = 0;
    for (EdgeId e = 0; e < graph.num_edges(); ++e) {
      if (graph.target(e) == v) in.push_back(e);
      if (graph.target(e) == v) senders.push_back(graph.source(e));
      out += graph.source(e) == v ? 1 : 0;
      self_loops += graph.source(e) == v && graph.target(e) == v ? 1 : 0;
    }
    RC_ASSERT(list(graph.in_edges(v)) == in);
    RC_ASSERT(std::ranges::equal(graph.in_neighbors(v), senders));
    RC_ASSERT(graph.out_degree(v) == out);
  }
  RC_ASSERT(graph.num_self_loops() == self_loops);
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
  EdgeId distinct = 0;
  for (const auto& [ends, edges] : parallel) distinct += edges.empty() ? 0 : 1;
  RC_ASSERT(graph.num_duplicate_edges() == graph.num_edges() - distinct);
}

template <class T>
Array<T> copy_of(const Array<T>& values) {
  return std::vector<T>(values.begin(), values.end());
}

RC_GTEST_PROP(Graph, IsMadeOfKeptArrays, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 12);
  const Graph graph = make_graph(nodes, some_edges(nodes));
  Graph::Derived derived = graph.derived();
  if (*rc::gen::arbitrary<bool>())  // arrays that were shared no longer are
    derived = {copy_of(derived.in_ptr),  copy_of(derived.in_source), copy_of(derived.in_edge),
               copy_of(derived.out_ptr), copy_of(derived.reverse),   derived.num_duplicate_edges};
  const auto owned = [](std::span<const NodeId> ends) {
    return Array<NodeId>(std::vector<NodeId>(ends.begin(), ends.end()));
  };
  const Graph kept(nodes, owned(graph.sources()), owned(graph.targets()), derived);
  for (NodeId v = 0; v < nodes; ++v) {
    RC_ASSERT(list(kept.in_edges(v)) == list(graph.in_edges(v)));
    RC_ASSERT(std::ranges::equal(kept.in_neighbors(v), graph.in_neighbors(v)));
    RC_ASSERT(kept.out_degree(v) == graph.out_degree(v));
  }
  for (EdgeId e = 0; e < graph.num_edges(); ++e)
    RC_ASSERT(kept.reverse_edge(e) == graph.reverse_edge(e));
  RC_ASSERT(kept.is_undirected() == graph.is_undirected());
  RC_ASSERT(kept.num_self_loops() == graph.num_self_loops());
  RC_ASSERT(kept.num_duplicate_edges() == graph.num_duplicate_edges());
}

TEST(Graph, SharesTheArraysOfACoalescedUndirectedGraph) {
  const Graph::Derived derived = Graph(3, {0, 0, 1, 2}, {1, 2, 0, 0}).derived();
  EXPECT_EQ(derived.in_ptr.data(), derived.out_ptr.data());
  EXPECT_EQ(derived.in_edge.data(), derived.reverse.data());
}

TEST(Graph, RefusesKeptArraysThatLeadOutside) {
  const std::vector<NodeId> source{0, 1, 2, 0}, target{1, 0, 0, 2};
  const Graph graph(3, source, target);
  const auto message = [&](const std::function<void(Graph::Derived&)>& spoil) -> std::string {
    Graph::Derived derived = graph.derived();
    spoil(derived);
    try {
      const Graph kept(3, Array<NodeId>(std::vector(source)), Array<NodeId>(std::vector(target)),
                       derived);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  using Ids = std::vector<EdgeId>;
  using Nodes = std::vector<NodeId>;
  EXPECT_EQ(message([](Graph::Derived&) {}), "no error");
  EXPECT_EQ(message([](auto& d) {
              d.reverse = Ids{1, 0, 3, 4};
            }),
            "reverse[3] is 4, expected -1 to 3");
  EXPECT_EQ(message([](auto& d) {
              d.reverse = Ids{1, -2, 3, 2};
            }),
            "reverse[1] is -2, expected -1 to 3");
  EXPECT_EQ(message([](auto& d) {
              d.reverse = Ids{1, 0, 3};
            }),
            "reverse has 3 entries, expected 4");
  // What serves as edges into a node must all be edges.
  EXPECT_EQ(message([](auto& d) {
              d.in_edge = d.reverse = Ids{1, 0, 3, -1};
            }),
            "in_edge[3] is -1, expected 0 to 3");
  EXPECT_EQ(message([](auto& d) {
              d.in_edge = Ids{1, 0, 3, 1LL << 40};
            }),
            "in_edge[3] is 1099511627776, expected 0 to 3");
  EXPECT_EQ(message([](auto& d) {
              d.in_source = Nodes{0, 1, 3, 0};
            }),
            "in_source[2] is 3, expected 0 to 2");
  EXPECT_EQ(message([](auto& d) {
              d.in_ptr = Ids{0, 3, 2, 4};
            }),
            "in_ptr must start at 0, never fall and end at the number of edges (4)");
  EXPECT_EQ(message([](auto& d) { d.in_ptr = Ids{0, 4}; }), "in_ptr has 2 entries, expected 4");
  EXPECT_EQ(message([](auto& d) {
              d.out_ptr = Ids{0, 1, 2, 3};
            }),
            "out_ptr must start at 0, never fall and end at the number of edges (4)");
  EXPECT_EQ(message([](auto& d) { d.num_duplicate_edges = 5; }),
            "there cannot be 5 duplicates among 4 edges");
}

}  // namespace
}  // namespace pgexplainer
