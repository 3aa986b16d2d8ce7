#include "pgexplainer/metrics/truth_first.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pgexplainer/explain/random_scores.h"
#include "pgexplainer/explain/verdict.h"
#include "pgexplainer/metrics/evaluation.h"
#include "tests/explain/small_problem.h"
#include "tests/support/expect_error.h"

namespace pgexplainer {
namespace {

std::vector<Explanation> explained(const SmallProblem& p, std::int64_t instances,
                                   ThreadPool& pool) {
  RandomScores method(0);
  return explain(p.model, method, instances_between(0, instances), {}, pool);
}

/// The slow way: new scores, judged like any other explanations. Random scores are above 0, and a
/// power of two rounds none of them.
double gap_of_raised_truth(const SmallProblem& p, std::vector<Explanation> explanations,
                           ThreadPool& pool) {
  for (Explanation& one : explanations) {
    const std::vector<std::uint8_t> is_true = true_edges(p.dataset, one);
    for (std::size_t e = 0; e < is_true.size(); ++e)
      one.score[e] *= is_true[e] != 0 ? 0x1p40F : 1.0F;
  }
  return judge(p.model, explanations, pool).own.small_gap;
}

TEST(TruthFirst, IsTheGapOfTheSameOrderWithTheTrueEdgesRaised) {
  ThreadPool one(1), several(3);
  for (const SmallProblem& p :
       {SmallProblem(small_tree_cycles(1)), SmallProblem(small_ba_2motifs(1))}) {
    const std::vector<Explanation> explanations = explained(p, 10, one);
    const double gap = truth_first_gap(p.model, explanations, one);
    EXPECT_DOUBLE_EQ(gap, gap_of_raised_truth(p, explanations, one));
    EXPECT_NE(gap, judge(p.model, explanations, one).own.small_gap);
    EXPECT_EQ(gap, truth_first_gap(p.model, explanations, several));
  }
}

TEST(TruthFirst, IsUndefinedWithoutGroundTruthOrEdges) {
  ThreadPool pool(1);
  Dataset unknown = small_tree_cycles(1);
  unknown.edge_gt.clear();
  const SmallProblem no_truth(unknown);
  EXPECT_TRUE(std::isnan(truth_first_gap(no_truth.model, explained(no_truth, 4, pool), pool)));
  const SmallProblem p(small_tree_cycles(1));
  EXPECT_TRUE(std::isnan(truth_first_gap(p.model, {}, pool)));
}

TEST(TruthFirst, RefusesExplanationsThatLackEdges) {
  ThreadPool pool(1);
  const SmallProblem p(small_tree_cycles(1));
  std::vector<Explanation> explanations = explained(p, 1, pool);
  explanations[0].edges.pop_back();
  expect_bad_input([&] { truth_first_gap(p.model, explanations, pool); },
                   {"instance 0", "every edge"});
}

}  // namespace
}  // namespace pgexplainer
