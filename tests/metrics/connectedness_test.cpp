#include "pgexplainer/metrics/connectedness.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {
namespace {

using Selection = std::vector<std::uint8_t>;

/// Labels spread along selected edges until nothing changes.
Connectedness by_spreading(const Graph& graph, const Selection& selected) {
  std::vector<NodeId> label(at(graph.num_nodes()));
  for (NodeId i = 0; i < graph.num_nodes(); ++i) label[at(i)] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (EdgeId e = 0; e < graph.num_edges(); ++e) {
      NodeId& a = label[at(graph.source(e))];
      NodeId& b = label[at(graph.target(e))];
      if (!selected[at(e)] || a == b) continue;
      a = b = std::min(a, b);
      changed = true;
    }
  }
  std::map<NodeId, double> edges;
  double total = 0.0;
  double largest = 0.0;
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    if (!selected[at(e)]) continue;
    total += 1.0;
    largest = std::max(largest, edges[label[at(graph.source(e))]] += 1.0);
  }
  return {largest / total, static_cast<std::int64_t>(edges.size())};
}

RC_GTEST_PROP(Connectedness, AgreesWithSpreadingLabels, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 15);
  const auto edges = *rc::gen::inRange<std::size_t>(0, 20);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  const Graph graph(nodes, *rc::gen::container<std::vector<NodeId>>(edges, end),
                    *rc::gen::container<std::vector<NodeId>>(edges, end));
  const auto selected = *rc::gen::container<Selection>(edges, rc::gen::element<std::uint8_t>(0, 1));
  const Connectedness expected = by_spreading(graph, selected);
  const Connectedness ours = connectedness(graph.adjacency(), selected);
  RC_ASSERT(ours.num_components == expected.num_components);
  if (expected.num_components > 0) RC_ASSERT(ours.largest_share == expected.largest_share);
}

TEST(Connectedness, IgnoresDirectionsAndUnselectedEdges) {
  const Graph graph(6, {0, 2, 2, 3, 4}, {1, 1, 3, 4, 5});
  const Connectedness result = connectedness(graph.adjacency(), Selection{1, 1, 0, 0, 1});
  EXPECT_EQ(result.num_components, 2);  // 0 -> 1 <- 2 and 4 -> 5; node 3 is none
  EXPECT_DOUBLE_EQ(result.largest_share, 2.0 / 3);
}

TEST(Connectedness, OfNothingIsUndefined) {
  const Graph graph(3, {0, 1}, {1, 2});
  const Connectedness none = connectedness(graph.adjacency(), Selection{0, 0});
  EXPECT_TRUE(std::isnan(none.largest_share));
  EXPECT_EQ(none.num_components, 0);
  EXPECT_EQ(connectedness(Graph().adjacency(), {}).num_components, 0);
  EXPECT_THROW(connectedness(graph.adjacency(), Selection{1}), Error);
}

}  // namespace
}  // namespace pgexplainer
