#include "pgexplainer/datasets/barabasi_albert.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace pgexplainer {
namespace {

Graph barabasi_albert(NodeId num_nodes, std::int64_t m, std::uint64_t seed) {
  UndirectedEdges edges;
  add_barabasi_albert(edges, 0, num_nodes, m, RandomStream(seed, RandomPurpose::test));
  return make_graph(num_nodes, edges);
}

RC_GTEST_PROP(BarabasiAlbert, EveryNewNodeJoinsMDistinctOlderOnes, ()) {
  const auto m = *rc::gen::inRange<NodeId>(1, 8);
  const auto num_nodes = *rc::gen::inRange<NodeId>(m + 1, 60);
  const Graph graph = barabasi_albert(num_nodes, m, *rc::gen::arbitrary<std::uint64_t>());
  RC_ASSERT(graph.num_edges() == 2 * EdgeId{m} * (num_nodes - m));
  RC_ASSERT(graph.num_duplicate_edges() == 0);
  RC_ASSERT(graph.num_self_loops() == 0);
  for (NodeId node = 0; node < num_nodes; ++node) {
    const auto neighbors = graph.in_neighbors(node);
    const auto older = std::count_if(neighbors.begin(), neighbors.end(),
                                     [&](NodeId other) { return other < node; });
    RC_ASSERT(older == (node < m ? 0 : m));
  }
}

TEST(BarabasiAlbert, DegreesFollowThePowerLaw) {
  // In the limit a share 2m(m+1) / (k(k+1)(k+2)) of the nodes has degree k; m = 1: 2/3 have one
  // edge, 1/6 two. Uniform attachment would give 1/2 and 1/4.
  const NodeId num_nodes = 100000;
  const Graph graph = barabasi_albert(num_nodes, 1, 3);
  std::vector<double> share(3, 0);
  EdgeId largest = 0;
  for (NodeId node = 0; node < num_nodes; ++node) {
    if (graph.out_degree(node) < 3)
      share[static_cast<std::size_t>(graph.out_degree(node))] += 1.0 / num_nodes;
    largest = std::max(largest, graph.out_degree(node));
  }
  EXPECT_NEAR(share[1], 2.0 / 3, 0.01);
  EXPECT_NEAR(share[2], 1.0 / 6, 0.01);
  EXPECT_GT(largest, 100);  // about sqrt(num_nodes)
}

}  // namespace
}  // namespace pgexplainer
