#include "pgexplainer/explain/explanation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <set>

#include "pgexplainer/core/index.h"
#include "tests/support/random_explanation.h"

namespace pgexplainer {
namespace {

using Flags = std::vector<std::uint8_t>;

/// Edges given as pairs of nodes; reverses are found.
Explanation make_explanation(const std::vector<std::pair<NodeId, NodeId>>& edges,
                             std::vector<float> score, std::vector<NodeId> targets = {}) {
  Explanation explanation;
  explanation.score = std::move(score);
  explanation.targets = std::move(targets);
  NodeId nodes = 0;
  for (const auto& [source, target] : edges) {
    explanation.source.push_back(source);
    explanation.target.push_back(target);
    nodes = std::max({nodes, source + 1, target + 1});
  }
  const Graph graph(nodes, explanation.source, explanation.target);
  for (EdgeId e = 0; e < graph.num_edges(); ++e) {
    explanation.edges.push_back(e);
    explanation.reverse.push_back(graph.reverse_edge(e));
  }
  return explanation;
}

/// 0-1 (mean 2), 1-2 (mean 3), the lone edge 2->3 (4), the self-loop 3 (1).
Explanation mixed() {
  return make_explanation({{0, 1}, {1, 2}, {1, 0}, {2, 1}, {2, 3}, {3, 3}},
                          {4.0F, 3.0F, 0.0F, 3.0F, 4.0F, 1.0F});
}

TEST(MergeDirections, GivesBothTheirMeanAndLeavesSingleEdgesAlone) {
  Explanation explanation = mixed();
  merge_directions(explanation);
  EXPECT_EQ(explanation.score, (std::vector<float>{2.0F, 3.0F, 2.0F, 3.0F, 4.0F, 1.0F}));
}

TEST(TopK, CountsBothDirectionsAsOneAndTakesThemTogether) {
  const Explanation explanation = mixed();
  EXPECT_EQ(top_k(explanation, 1), (Flags{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(top_k(explanation, 2), (Flags{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(top_k(explanation, 3), (Flags{1, 1, 1, 1, 1, 0}));
}

TEST(TopK, TakesNothingForZeroAndEverythingForTooMany) {
  const Explanation explanation = mixed();
  EXPECT_EQ(top_k(explanation, 0), Flags(6, 0));
  EXPECT_EQ(top_k(explanation, 4), Flags(6, 1));
  EXPECT_EQ(top_k(explanation, std::int64_t{1} << 40), Flags(6, 1));
  EXPECT_EQ(top_k(Explanation{}, 3), Flags{});
}

TEST(TopK, TakesTheEarlierOfEqualScores) {
  const Explanation explanation = make_explanation({{0, 1}, {1, 2}, {2, 3}}, {1.0F, 1.0F, 1.0F});
  EXPECT_EQ(top_k(explanation, 2), (Flags{1, 1, 0}));
}

TEST(AtLeast, ComparesTheMeanOfBothDirectionsAndIncludesTheThreshold) {
  const Explanation explanation = mixed();
  EXPECT_EQ(at_least(explanation, 3.0), (Flags{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(at_least(explanation, 3.5), (Flags{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(at_least(explanation, -1e300), Flags(6, 1));
  EXPECT_EQ(at_least(explanation, 1e300), Flags(6, 0));
}

TEST(WithinBudget, CountsEachDirectionAndNeverExceeds) {
  const Explanation explanation = mixed();
  EXPECT_EQ(within_budget(explanation, 0), Flags(6, 0));
  EXPECT_EQ(within_budget(explanation, 1), (Flags{0, 0, 0, 0, 1, 0}));
  // The next pair needs two; an edge that ranks lower does not jump the queue.
  EXPECT_EQ(within_budget(explanation, 2), (Flags{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(within_budget(explanation, 3), (Flags{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(within_budget(explanation, 6), Flags(6, 1));
  EXPECT_EQ(within_budget(explanation, 1000), Flags(6, 1));
}

TEST(Complement, IsAllOtherEdges) {
  EXPECT_EQ(complement(Flags{1, 0, 0, 1}), (Flags{0, 1, 1, 0}));
  EXPECT_EQ(complement(Flags{}), Flags{});
}

// 0-1-2 and 3-4-5-6; edge 6->7 not selected.
const std::vector<std::pair<NodeId, NodeId>> kTwoParts = {{0, 1}, {1, 2}, {3, 4},
                                                          {4, 5}, {5, 6}, {6, 7}};

TEST(ConnectedPart, KeepsWhatHangsTogetherWithTheTarget) {
  const Flags selected = {1, 1, 1, 1, 1, 0};
  const std::vector<float> score(6, 1.0F);
  EXPECT_EQ(connected_part(make_explanation(kTwoParts, score, {2}), selected),
            (Flags{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(connected_part(make_explanation(kTwoParts, score, {4}), selected),
            (Flags{0, 0, 1, 1, 1, 0}));
}

TEST(ConnectedPart, OfALinkKeepsThePartsOfBothEnds) {
  const std::vector<float> score(6, 1.0F);
  EXPECT_EQ(connected_part(make_explanation(kTwoParts, score, {0, 5}), Flags{1, 0, 1, 1, 1, 0}),
            (Flags{1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(connected_part(make_explanation(kTwoParts, score, {0, 1}), Flags{1, 0, 1, 1, 1, 0}),
            (Flags{1, 0, 0, 0, 0, 0}));
}

TEST(ConnectedPart, OfATargetWithoutASelectedEdgeIsEmpty) {
  const std::vector<float> score(6, 1.0F);
  EXPECT_EQ(connected_part(make_explanation(kTwoParts, score, {7}), Flags{1, 1, 1, 1, 1, 0}),
            Flags(6, 0));
}

TEST(ConnectedPart, OfAGraphIsTheLargestAndOfEqualOnesTheFirst) {
  const std::vector<float> score(6, 1.0F);
  const Explanation graph = make_explanation(kTwoParts, score);
  EXPECT_EQ(connected_part(graph, Flags{1, 1, 1, 1, 1, 0}), (Flags{0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(connected_part(graph, Flags{1, 1, 1, 1, 0, 0}), (Flags{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(connected_part(graph, Flags(6, 0)), Flags(6, 0));
}

/// Grows the part of `start` along selected edges until nothing is added.
std::set<NodeId> part_of(const Explanation& explanation, const Flags& selected, NodeId start) {
  std::set<NodeId> part = {start};
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t e = 0; e < selected.size(); ++e) {
      if (!selected[e]) continue;
      const NodeId a = explanation.source[e], b = explanation.target[e];
      if (part.contains(a) != part.contains(b)) {
        part.insert({a, b});
        grown = true;
      }
    }
  }
  return part;
}

RC_GTEST_PROP(ConnectedPart, IsWhatGrowsFromTheTarget, ()) {
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  const Explanation explanation = random_explanation(0, 2, 0, random);
  const Flags kept = connected_part(explanation, explanation.selected);
  Flags expected(kept.size(), 0);
  std::int64_t most = 0;
  const auto take = [&](NodeId start) {
    const std::set<NodeId> part = part_of(explanation, explanation.selected, start);
    Flags inside(kept.size(), 0);
    for (std::size_t e = 0; e < kept.size(); ++e)
      inside[e] = explanation.selected[e] && part.contains(explanation.source[e]) ? 1 : 0;
    return inside;
  };
  if (!explanation.targets.empty()) {
    expected = take(explanation.targets.front());
  } else {
    for (std::size_t e = 0; e < kept.size(); ++e) {
      if (!explanation.selected[e]) continue;
      const Flags inside = take(explanation.source[e]);
      const std::int64_t size = std::accumulate(inside.begin(), inside.end(), std::int64_t{0});
      if (size > most) expected = inside;
      most = std::max(most, size);
    }
  }
  RC_ASSERT(kept == expected);
}

RC_GTEST_PROP(Selections, NeverSplitTheDirectionsOfAnEdge, ()) {
  RandomStream random(*rc::gen::inRange<std::uint64_t>(0, 1'000'000), RandomPurpose::test);
  Explanation explanation = random_explanation(0, 2, 0, random);
  for (float& score : explanation.score) score = static_cast<float>(random.below(3));
  const auto k = *rc::gen::inRange<std::int64_t>(0, 15);
  const Flags within = within_budget(explanation, k);
  RC_ASSERT(std::accumulate(within.begin(), within.end(), std::int64_t{0}) <= k);
  for (const Flags& flags : {top_k(explanation, k), within, at_least(explanation, 1.0)})
    for (std::size_t e = 0; e < flags.size(); ++e)
      if (explanation.reverse[e] != kNoEdge)
        RC_ASSERT(flags[e] == flags[at(explanation.reverse[e])]);
}

TEST(SelectEdges, ThresholdComesBeforeBudgetBeforeTopK) {
  const Explanation explanation = mixed();
  SelectionOptions options;
  options.top_k = 3;
  EXPECT_EQ(select_edges(explanation, options), top_k(explanation, 3));
  options.max_selected = 1;
  EXPECT_EQ(select_edges(explanation, options), within_budget(explanation, 1));
  options.use_threshold = true;
  options.threshold = 3.0;
  EXPECT_EQ(select_edges(explanation, options), at_least(explanation, 3.0));
}

TEST(Prediction, ClassIsTheFirstOfTheLargest) {
  EXPECT_EQ((Prediction{{0.2F, 0.4F, 0.4F}}.predicted_class()), 1);
}

}  // namespace
}  // namespace pgexplainer
