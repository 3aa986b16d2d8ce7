#include "pgexplainer/explain/refinement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/least_change.h"
#include "tests/explain/small_problem.h"

namespace pgexplainer {
namespace {

std::vector<float> random_scores(std::size_t edges, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test);
  std::vector<float> score(edges);
  for (float& s : score) s = static_cast<float>(3 * random.normal() - 5);
  return score;
}

/// The scores, handed out again in the order that the steps find.
void refine_scores(const InstanceGraph& graph, GnnRun& run, std::int64_t steps,
                   std::vector<float>& score) {
  const EdgePairs pairs(graph.reverse);
  std::vector<float> of_pair;
  pairs.mean<float>(score, of_pair);
  std::vector<float> place = places_of(of_pair);
  refine_order(graph, pairs, run, steps, place);
  pairs.spread<float>(in_order_of(place, of_pair), score);
}

double gap_of(const InstanceGraph& graph, const std::vector<float>& score, GnnRun& run) {
  const EdgePairs pairs(graph.reverse);
  std::vector<float> pair_score;
  pairs.mean<float>(score, pair_score);
  const auto c = at(predict(graph, run, {}).predicted_class());
  return keep_and_remove(graph, pairs, pair_score, c, run).small_gap();
}

TEST(Refinement, MakesARankingMoreFaithful) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  for (const SmallProblem* p : {&nodes, &graphs}) {
    const auto run = p->gnn->new_run();
    int better = 0, worse = 0;
    for (std::int64_t id = 0; id < 12; ++id) {
      InstanceGraph graph;
      p->model.new_cutter().cut({id}, graph);
      std::vector<float> score = random_scores(graph.edges.size(), at(id));
      const double before = gap_of(graph, score, *run);
      refine_scores(graph, *run, 100, score);
      const double after = gap_of(graph, score, *run);
      better += after > before ? 1 : 0;
      worse += after < before ? 1 : 0;
    }
    EXPECT_GE(better, 10) << p->dataset.name;
    EXPECT_LE(worse, 1) << p->dataset.name;
  }
}

TEST(Refinement, HandsOutTheScoresOfThePairsInAnotherOrder) {
  const SmallProblem p(small_tree_cycles(1));
  const auto run = p.gnn->new_run();
  InstanceGraph graph;
  p.model.new_cutter().cut({5}, graph);
  const EdgePairs pairs(graph.reverse);
  std::vector<float> score = random_scores(graph.edges.size(), 1), before, after;
  pairs.mean<float>(score, before);
  refine_scores(graph, *run, 20, score);
  for (std::size_t e = 0; e < score.size(); ++e) EXPECT_EQ(score[e], score[at(graph.reverse[e])]);
  pairs.mean<float>(score, after);
  EXPECT_NE(after, before);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(after, before);
}

TEST(Refinement, LeavesFarApartWhatTheScoresHoldFarApart) {
  const SmallProblem p(small_tree_cycles(1));
  const auto run = p.gnn->new_run();
  InstanceGraph graph;
  p.model.new_cutter().cut({5}, graph);
  const EdgePairs pairs(graph.reverse);
  std::vector<float> above(at(pairs.count())), score, after;
  for (std::size_t k = 0; k < above.size(); ++k) above[k] = k % 2 == 0 ? 1.0F : -1.0F;
  pairs.spread<float>(above, score);
  refine_scores(graph, *run, 15, score);  // 15 steps of two moves of 0.03
  pairs.mean<float>(score, after);
  for (std::size_t k = 0; k < above.size(); ++k) EXPECT_NEAR(after[k], above[k], 1e-5);
}

TEST(Refinement, HasTheSameBitsInAUsedRun) {
  const SmallProblem p(small_ba_2motifs(1));
  const auto used = p.gnn->new_run();
  for (std::int64_t id = 0; id < 4; ++id) {
    InstanceGraph graph;
    p.model.new_cutter().cut({id}, graph);
    std::vector<float> one = random_scores(graph.edges.size(), at(id)), two = one;
    refine_scores(graph, *used, 10, one);
    refine_scores(graph, *p.gnn->new_run(), 10, two);
    EXPECT_EQ(one, two);
  }
}

TEST(Refinement, LeavesAloneWhatCannotBeRanked) {
  Dataset dataset = small_tree_cycles(1);
  dataset.graph = Graph(dataset.graph.num_nodes(), {0, 1}, {1, 0});  // one edge, else isolated
  dataset.edge_ptr = {0, 2};
  dataset.edge_gt.clear();
  const SmallProblem p(std::move(dataset));
  const auto run = p.gnn->new_run();
  for (const std::int64_t id : {0, 5}) {
    InstanceGraph graph;
    p.model.new_cutter().cut({id}, graph);
    const EdgePairs pairs(graph.reverse);
    std::vector<float> place = places_of(std::vector<float>(at(pairs.count()), 2.0F));
    const std::vector<float> before = place;
    refine_order(graph, pairs, *run, 5, place);
    EXPECT_EQ(place, before);
    EXPECT_EQ(search_order(graph, pairs, *run, place), before);
  }
}

TEST(Refinement, SearchIsAsFaithfulAsStepsThatCostAsMuch) {
  const SmallProblem p(small_ba_2motifs(1));
  const auto run = p.gnn->new_run();
  double searched = 0, refined = 0;
  for (std::int64_t id = 0; id < 12; ++id) {
    InstanceGraph graph;
    p.model.new_cutter().cut({id}, graph);
    const EdgePairs pairs(graph.reverse);
    std::vector<float> of_pair;
    pairs.mean<float>(random_scores(graph.edges.size(), at(id)), of_pair);
    const auto c = at(predict(graph, *run, {}).predicted_class());
    const auto gap = [&](const std::vector<float>& place) {
      return keep_and_remove(graph, pairs, place, c, *run).small_gap();
    };
    std::vector<float> place = places_of(of_pair);
    searched += gap(search_order(graph, pairs, *run, place));
    refine_order(graph, pairs, *run, 100, place);
    refined += gap(place);
  }
  EXPECT_GE(searched, refined);
}

TEST(Refinement, ManagesEqualScores) {
  const SmallProblem p(small_tree_cycles(1));
  const auto run = p.gnn->new_run();
  InstanceGraph graph;
  p.model.new_cutter().cut({5}, graph);
  std::vector<float> score(graph.edges.size(), -7.0F);
  const double before = gap_of(graph, score, *run);
  refine_scores(graph, *run, 100, score);
  for (const float s : score) EXPECT_NEAR(s, -7.0F, 1e-3);
  EXPECT_GT(gap_of(graph, score, *run), before);
}

TEST(Refinement, IsWhatTheOptionDoes) {
  const SmallProblem p(small_tree_cycles(1));
  const std::vector<Instance> instances = instances_between(0, 10);
  PGExplainerOptions fast = quick_options();
  fast.order_epochs = 0;
  fast.refine = 0;
  PGExplainer explainer(fast, 0);
  fit(explainer, p.model, instances);
  ThreadPool pool(1);
  ExplainOptions options;
  options.merge_directions = false;
  const auto plain = explain(p.model, explainer, instances, options, pool);
  explainer.set_refine(7);
  const auto refined = explain(p.model, explainer, instances, options, pool);
  const auto run = p.gnn->new_run();
  for (std::size_t i = 0; i < instances.size(); ++i) {
    InstanceGraph graph;
    p.model.new_cutter().cut(instances[i], graph);
    const EdgePairs pairs(graph.reverse);
    std::vector<float> of_pair, expected;
    pairs.mean<float>(plain[i].score, of_pair);
    const std::vector<float> common = places_of(of_pair);
    std::vector<float> place = common;
    refine_order(graph, pairs, *run, 7, place);
    place = least_change(graph, pairs, *run, common, place);
    pairs.spread<float>(in_order_of(place, of_pair), expected);
    EXPECT_EQ(refined[i].score, expected);
  }
  EXPECT_THROW(explainer.set_refine(-2), Error);
}

}  // namespace
}  // namespace pgexplainer
