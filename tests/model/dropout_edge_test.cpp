#include "pgexplainer/model/dropout_edge.h"

#include <gtest/gtest.h>

namespace pgexplainer {
namespace {

/// Nodes 0 .. n-1 in a ring, every edge in both directions, and a self-loop at each.
Graph ring_with_loops(NodeId n) {
  std::vector<NodeId> source, target;
  for (NodeId i = 0; i < n; ++i) {
    source.insert(source.end(), {i, i, (i + 1) % n});
    target.insert(target.end(), {i, (i + 1) % n, i});
  }
  return {n, source, target};
}

std::vector<float> mask_of(const Graph& graph, double p, std::uint64_t seed, std::uint32_t epoch) {
  std::vector<float> mask;
  draw_edge_mask(graph, p, seed, epoch, mask);
  return mask;
}

TEST(DropoutEdge, LeavesOutTheGivenShareInBothDirectionsAndNoSelfLoop) {
  constexpr NodeId kNodes = 20000;
  const Graph graph = ring_with_loops(kNodes);
  const std::vector<float> mask = mask_of(graph, 0.3, 5, 2);
  double kept = 0;
  for (std::size_t e = 0; e < mask.size(); e += 3) {
    ASSERT_EQ(mask[e], 1.0F);
    ASSERT_TRUE(mask[e + 1] == 0.0F || mask[e + 1] == 1.0F);
    ASSERT_EQ(mask[e + 1], mask[e + 2]);
    kept += mask[e + 1];
  }
  EXPECT_NEAR(kept / kNodes, 0.7, 0.02);  // six standard deviations
}

TEST(DropoutEdge, DrawsAnewForEverySeedAndEpoch) {
  const Graph graph = ring_with_loops(50);
  const std::vector<float> mask = mask_of(graph, 0.5, 5, 2);
  EXPECT_EQ(mask, mask_of(graph, 0.5, 5, 2));
  EXPECT_NE(mask, mask_of(graph, 0.5, 6, 2));
  EXPECT_NE(mask, mask_of(graph, 0.5, 5, 3));
}

TEST(DropoutEdge, TreatsAnEdgeWithoutReverseAndParallelEdgesAsEdgesOfTheirOwn) {
  // Edge 0 has no reverse; 1 and 2 are parallel, 3 and 4 their reverses in this order.
  const Graph graph(4, {0, 2, 2, 3, 3}, {1, 3, 3, 2, 2});
  bool apart = false, single = false;
  for (std::uint32_t epoch = 0; epoch < 50; ++epoch) {
    const std::vector<float> mask = mask_of(graph, 0.5, 1, epoch);
    EXPECT_EQ(mask[1], mask[3]);
    EXPECT_EQ(mask[2], mask[4]);
    apart |= mask[1] != mask[2];
    single |= mask[0] == 0.0F;
  }
  EXPECT_TRUE(apart);
  EXPECT_TRUE(single);
}

}  // namespace
}  // namespace pgexplainer
