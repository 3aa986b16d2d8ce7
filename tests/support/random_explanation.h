// Small random explanations for property tests, and their comparison bit by bit.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/explain/explanation.h"
#include "pgexplainer/graph/graph.h"

namespace pgexplainer {

/// Any finite float: negative zero, denormals and the largest ones occur.
inline float any_finite_float(RandomStream& random) {
  static const std::vector<float> kSpecial{0.0F,     -0.0F, 1.0F, 1e-45F,      -1.1754942e-38F,
                                           3.4e+38F, 1e20F, 0.1F, 16777216.0F, -3.0F};
  if (random.below(4) == 0) return kSpecial[random.below(kSpecial.size())];
  while (true) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(1ULL << 32)));
    if (std::isfinite(value)) return value;
  }
}

inline std::vector<float> any_finite_floats(std::size_t count, RandomStream& random) {
  std::vector<float> values(count);
  for (float& value : values) value = any_finite_float(random);
  return values;
}

/// Some nodes of a random graph (self-loops and parallel edges occur) and all edges among them, in
/// any order. The number of classes and of explained features is the caller's.
inline Explanation random_explanation(std::int64_t id, std::size_t classes, std::size_t features,
                                      RandomStream& random) {
  const auto nodes = static_cast<NodeId>(1 + random.below(5));
  const std::size_t edges = random.below(14);
  std::vector<NodeId> source(edges), target(edges);
  for (NodeId& v : source) v = static_cast<NodeId>(random.below(static_cast<std::uint64_t>(nodes)));
  for (NodeId& v : target) v = static_cast<NodeId>(random.below(static_cast<std::uint64_t>(nodes)));
  const Graph graph(nodes, source, target);

  Explanation explanation;
  explanation.instance.id = id;
  if (random.below(3) == 0)
    explanation.instance.second = static_cast<std::int64_t>(random.below(9));
  for (NodeId v = 0; v < nodes; ++v)
    if (random.below(4) > 0) explanation.nodes.push_back(v);
  const auto inside = [&](NodeId v) {
    return std::count(explanation.nodes.begin(), explanation.nodes.end(), v) > 0;
  };
  if (!explanation.nodes.empty() && random.below(2) == 0)
    explanation.targets.push_back(explanation.nodes.front());
  for (EdgeId e = 0; e < graph.num_edges(); ++e)
    if (inside(graph.source(e)) && inside(graph.target(e))) explanation.edges.push_back(e);
  for (std::size_t e = explanation.edges.size(); e > 1; --e)
    std::swap(explanation.edges[e - 1], explanation.edges[random.below(e)]);
  for (const EdgeId e : explanation.edges) {
    explanation.source.push_back(graph.source(e));
    explanation.target.push_back(graph.target(e));
    const auto back =
        std::find(explanation.edges.begin(), explanation.edges.end(), graph.reverse_edge(e));
    explanation.reverse.push_back(
        back == explanation.edges.end() ? kNoEdge : back - explanation.edges.begin());
    explanation.selected.push_back(static_cast<std::uint8_t>(random.below(2)));
  }
  explanation.score = any_finite_floats(explanation.edges.size(), random);
  explanation.feature_score = any_finite_floats(features, random);
  for (Prediction* prediction :
       {&explanation.prediction, &explanation.prediction_kept, &explanation.prediction_removed})
    prediction->probability = any_finite_floats(classes, random);
  explanation.sampled = random.below(2) == 0;
  return explanation;
}

/// With the same bits, so that -0 is not 0.
inline bool same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float p, float q) {
    return std::bit_cast<std::uint32_t>(p) == std::bit_cast<std::uint32_t>(q);
  });
}

inline void expect_same_edges(const Explanation& a, const Explanation& b) {
  EXPECT_EQ(a.instance, b.instance);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.reverse, b.reverse);
  EXPECT_EQ(a.selected, b.selected);
  EXPECT_EQ(a.sampled, b.sampled);
  EXPECT_TRUE(same_floats(a.score, b.score));
}

inline void expect_same_explanation(const Explanation& a, const Explanation& b) {
  expect_same_edges(a, b);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_TRUE(same_floats(a.feature_score, b.feature_score));
  EXPECT_TRUE(same_floats(a.prediction.probability, b.prediction.probability));
  EXPECT_TRUE(same_floats(a.prediction_kept.probability, b.prediction_kept.probability));
  EXPECT_TRUE(same_floats(a.prediction_removed.probability, b.prediction_removed.probability));
}

}  // namespace pgexplainer
