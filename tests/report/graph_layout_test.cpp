#include "pgexplainer/report/graph_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

struct Edges {
  std::vector<NodeId> source, target;
  void add(NodeId a, NodeId b) {
    source.push_back(a);
    target.push_back(b);
  }
};

Edges path(NodeId n) {
  Edges edges;
  for (NodeId i = 1; i < n; ++i) edges.add(i - 1, i);
  return edges;
}

Edges cycle(NodeId n) {
  Edges edges = path(n);
  edges.add(n - 1, 0);
  return edges;
}

Edges star(NodeId n) {
  Edges edges;
  for (NodeId i = 1; i < n; ++i) edges.add(0, i);
  return edges;
}

Edges complete(NodeId n) {
  Edges edges;
  for (NodeId i = 0; i < n; ++i)
    for (NodeId j = 0; j < i; ++j) edges.add(i, j);
  return edges;
}

Edges binary_tree(NodeId n) {
  Edges edges;
  for (NodeId i = 1; i < n; ++i) edges.add((i - 1) / 2, i);
  return edges;
}

Edges grid(NodeId side) {
  Edges edges;
  for (NodeId i = 0; i < side * side; ++i) {
    if (i % side > 0) edges.add(i, i - 1);
    if (i >= side) edges.add(i, i - side);
  }
  return edges;
}

double distance(const GraphLayout& layout, Index i, Index j) {
  return std::hypot(double(layout.position(i, 0)) - double(layout.position(j, 0)),
                    double(layout.position(i, 1)) - double(layout.position(j, 1)));
}

// All pairs, one after the other.
double slow_smallest_distance(const GraphLayout& layout) {
  double nearest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < layout.position.rows(); ++i)
    for (Index j = 0; j < i; ++j) nearest = std::min(nearest, distance(layout, i, j));
  return nearest;
}

int num_crossings(const GraphLayout& layout, const Edges& edges) {
  const auto side = [&](NodeId a, NodeId b, NodeId c) {
    const auto& p = layout.position;
    return (p(b, 0) - p(a, 0)) * (p(c, 1) - p(a, 1)) - (p(b, 1) - p(a, 1)) * (p(c, 0) - p(a, 0));
  };
  int count = 0;
  for (std::size_t e = 0; e < edges.source.size(); ++e)
    for (std::size_t f = 0; f < e; ++f) {
      const NodeId a = edges.source[e], b = edges.target[e], c = edges.source[f],
                   d = edges.target[f];
      if (a == c || a == d || b == c || b == d) continue;
      if (side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0) ++count;
    }
  return count;
}

void expect_sound(const GraphLayout& layout, NodeId num_nodes, double aspect) {
  ASSERT_EQ(layout.position.rows(), num_nodes);
  ASSERT_EQ(layout.position.cols(), 2);
  for (Index i = 0; i < num_nodes; ++i) {
    EXPECT_TRUE(layout.position(i, 0) >= 0 && layout.position(i, 0) <= aspect * (1 + 1e-6))
        << layout.position(i, 0);
    EXPECT_TRUE(layout.position(i, 1) >= 0 && layout.position(i, 1) <= 1) << layout.position(i, 1);
  }
  EXPECT_TRUE(std::isfinite(layout.node_distance));
  EXPECT_GT(layout.node_distance, 0);
  EXPECT_GE(slow_smallest_distance(layout), layout.node_distance * (1 - 1e-5));
}

GraphLayout layout(NodeId num_nodes, const Edges& edges, double aspect = 1) {
  LayoutOptions options;
  options.aspect = aspect;
  GraphLayout result = layout_graph(num_nodes, edges.source, edges.target, options);
  expect_sound(result, num_nodes, aspect);
  return result;
}

TEST(GraphLayout, EmptyGraphHasNoPosition) {
  EXPECT_EQ(layout_graph(0, {}, {}).position.rows(), 0);
}

TEST(GraphLayout, SingleNodeIsInTheMiddle) {
  const GraphLayout one = layout(1, {}, 2);
  EXPECT_FLOAT_EQ(one.position(0, 0), 1.0F);
  EXPECT_FLOAT_EQ(one.position(0, 1), 0.5F);
}

TEST(GraphLayout, PathIsStretchedOut) {
  for (const NodeId n : {2, 3, 10, 100, 300}) {
    const GraphLayout result = layout(n, path(n));
    EXPECT_GT(distance(result, 0, n - 1), 0.9);
    EXPECT_EQ(num_crossings(result, path(n)), 0);
    EXPECT_GT(result.node_distance, 0.3 / n);
  }
}

TEST(GraphLayout, CycleIsRound) {
  for (const NodeId n : {3, 5, 6, 40}) {
    const GraphLayout result = layout(n, cycle(n));
    EXPECT_EQ(num_crossings(result, cycle(n)), 0);
    std::vector<double> radius;
    const Eigen::RowVector2f centre = result.position.colwise().mean();
    for (Index i = 0; i < n; ++i) radius.push_back((result.position.row(i) - centre).norm());
    const auto [least, most] = std::minmax_element(radius.begin(), radius.end());
    EXPECT_LT(*most / *least, 1.15) << n;
  }
}

TEST(GraphLayout, PlanarGraphsHaveNoCrossing) {
  EXPECT_EQ(num_crossings(layout(12, star(12)), star(12)), 0);
  EXPECT_EQ(num_crossings(layout(15, binary_tree(15)), binary_tree(15)), 0);
  EXPECT_EQ(num_crossings(layout(63, binary_tree(63)), binary_tree(63)), 0);
  EXPECT_EQ(num_crossings(layout(9, grid(3)), grid(3)), 0);
  EXPECT_EQ(num_crossings(layout(64, grid(8)), grid(8)), 0);
}

TEST(GraphLayout, HouseOnAPathHasNoCrossing) {
  Edges edges = path(8);
  for (const auto& [a, b] : std::vector<std::pair<NodeId, NodeId>>{
           {8, 9}, {9, 10}, {10, 11}, {11, 8}, {8, 12}, {9, 12}, {8, 7}})
    edges.add(a, b);
  EXPECT_EQ(num_crossings(layout(13, edges), edges), 0);
}

TEST(GraphLayout, CompleteAndStarGraphsKeepNodesApart) {
  for (const NodeId n : {2, 4, 20, 60})
    EXPECT_GT(layout(n, complete(n)).node_distance, 0.3 / std::sqrt(double(n))) << n;
  EXPECT_GT(layout(301, star(301)).node_distance, 0.3 / std::sqrt(301.0));
}

TEST(GraphLayout, ComponentsDoNotOverlap) {
  Edges edges = cycle(6);
  for (NodeId i = 6; i < 10; ++i) edges.add(i, i + 1);
  edges.add(11, 12);
  const GraphLayout result = layout(13, edges, 1.5);
  const auto box = [&](NodeId first, NodeId last) {
    const auto rows = result.position.middleRows(first, last - first + 1);
    return std::pair<Eigen::RowVector2f, Eigen::RowVector2f>(rows.colwise().minCoeff(),
                                                             rows.colwise().maxCoeff());
  };
  const std::vector boxes{box(0, 5), box(6, 10), box(11, 12)};
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE((boxes[i].first.array() > boxes[j].second.array()).any() ||
                  (boxes[j].first.array() > boxes[i].second.array()).any())
          << i << " " << j;
}

TEST(GraphLayout, IsolatedNodesAreBelowTheRest) {
  const GraphLayout result = layout(11, cycle(4));
  const float lowest = result.position.topRows(4).col(1).maxCoeff();
  for (Index i = 4; i < 11; ++i) EXPECT_GT(result.position(i, 1), lowest);
  const GraphLayout only = layout(25, {});
  EXPECT_NEAR(only.node_distance * 2, 0.25, 0.02);  // a square of five by five
}

TEST(GraphLayout, LoopsDirectionsAndParallelEdgesDoNotMatter) {
  const Edges plain = cycle(5);
  Edges other;
  for (std::size_t e = 0; e < 5; ++e) {
    other.add(plain.target[e], plain.source[e]);
    other.add(plain.source[e], plain.target[e]);
    other.add(plain.source[e], plain.source[e]);
  }
  EXPECT_EQ(layout(5, plain).position, layout(5, other).position);
}

TEST(GraphLayout, LargeComponentsUsePivots) {
  Edges edges = binary_tree(900);
  for (NodeId i = 0; i < 300; ++i) edges.add(i, (i * 37 + 11) % 900);
  const GraphLayout result = layout(900, edges);
  EXPECT_GT(result.node_distance, 0.15 / std::sqrt(900.0));
  // Neighbours are nearer than other pairs: the drawing shows the graph.
  double along = 0, all = 0;
  for (std::size_t e = 0; e < edges.source.size(); ++e)
    along += distance(result, edges.source[e], edges.target[e]) / double(edges.source.size());
  for (NodeId i = 0; i < 900; ++i) all += distance(result, i, (i * 7 + 450) % 900) / 900;
  EXPECT_LT(along, 0.5 * all);
}

RC_GTEST_PROP(GraphLayout, NodesNeverOverlapAndTheSameInputGivesTheSameBits, ()) {
  const auto n = static_cast<NodeId>(*rc::gen::inRange(1, 60));
  const auto m = *rc::gen::inRange(0, 120);
  Edges edges;
  for (int e = 0; e < m; ++e)
    edges.add(static_cast<NodeId>(*rc::gen::inRange(0, n)),
              static_cast<NodeId>(*rc::gen::inRange(0, n)));
  LayoutOptions options;
  options.aspect = *rc::gen::element(0.5, 1.0, 1.6);
  options.num_exact = *rc::gen::element(5, 400);
  options.num_pivots = 4;
  const GraphLayout first = layout_graph(n, edges.source, edges.target, options);
  expect_sound(first, n, options.aspect);
  RC_ASSERT_FALSE(::testing::Test::HasFailure());
  const GraphLayout second = layout_graph(n, edges.source, edges.target, options);
  RC_ASSERT(first.position == second.position);
  const double slow = slow_smallest_distance(first);
  RC_ASSERT(n < 2 || std::abs(double(smallest_distance(first.position)) - slow) <= 1e-6 * slow);
}

TEST(GraphLayout, RefusesBadInput) {
  const std::vector<NodeId> one{0}, two{0, 1}, outside{2}, negative{-1};
  EXPECT_THROW(layout_graph(2, one, two), Error);
  EXPECT_THROW(layout_graph(2, one, outside), Error);
  EXPECT_THROW(layout_graph(2, negative, one), Error);
  EXPECT_THROW(layout_graph(-1, {}, {}), Error);
  LayoutOptions options;
  options.aspect = 0;
  EXPECT_THROW(layout_graph(1, {}, {}, options), Error);
}

}  // namespace
}  // namespace pgexplainer
