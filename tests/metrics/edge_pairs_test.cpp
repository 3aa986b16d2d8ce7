#include "pgexplainer/metrics/edge_pairs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {
namespace {

RC_GTEST_PROP(EdgePairs, HoldEveryEdgeOnceAndAverageBothDirections, ()) {
  const auto nodes = *rc::gen::inRange<NodeId>(1, 8);
  const auto edges = *rc::gen::inRange<std::size_t>(0, 25);
  const auto end = rc::gen::inRange<NodeId>(0, nodes);
  const Graph graph(nodes, *rc::gen::container<std::vector<NodeId>>(edges, end),
                    *rc::gen::container<std::vector<NodeId>>(edges, end));
  std::vector<EdgeId> reverse;
  std::vector<float> score;
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    reverse.push_back(graph.reverse_edge(e));
    score.push_back(static_cast<float>(e));
  }
  const std::vector<EdgePair> pairs = edge_pairs(graph.adjacency(), reverse);
  const std::vector<float> mean = mean_of_directions(pairs, score);
  std::vector<int> seen(edges, 0);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [first, second] = pairs[i];
    ++seen[at(first)];
    if (second == kNoEdge) {
      RC_ASSERT(mean[i] == score[at(first)]);
      continue;
    }
    ++seen[at(second)];
    RC_ASSERT(graph.reverse_edge(first) == second);
    RC_ASSERT(mean[i] == (score[at(first)] + score[at(second)]) / 2);
  }
  RC_ASSERT(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(edges));
}

TEST(EdgePairs, StandAloneWithoutReverseEdges) {
  const Graph graph(2, {0, 1}, {1, 0});
  EXPECT_EQ(edge_pairs(graph.adjacency(), {}).size(), 2U);
  EXPECT_EQ(edge_pairs(graph.adjacency(), std::vector<EdgeId>{kNoEdge, kNoEdge}).size(), 2U);
}

TEST(EdgePairs, AverageWithoutOverflow) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<EdgePair> pair{{0, 1}};
  EXPECT_EQ(mean_of_directions(pair, std::vector<float>{huge, huge})[0], huge);
}

TEST(EdgePairs, RefuseReverseEdgesThatDoNotPointBack) {
  const Graph graph(3, {0, 1, 0}, {1, 0, 2});
  for (const std::vector<EdgeId>& reverse :
       {std::vector<EdgeId>{1, 0}, {1, 2, 0}, {1, 0, 3}, {1, 0, -2}, {-1, 0, -1}})
    EXPECT_THROW(edge_pairs(graph.adjacency(), reverse), Error);
  const std::vector<EdgePair> pair{{0, 1}};
  EXPECT_THROW(mean_of_directions(pair, std::vector<float>{1}), Error);
}

}  // namespace
}  // namespace pgexplainer
