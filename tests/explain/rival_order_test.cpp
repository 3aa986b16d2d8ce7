#include "pgexplainer/explain/rival_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "pgexplainer/explain/gradient_saliency.h"
#include "pgexplainer/explain/keep_remove.h"
#include "pgexplainer/explain/node_gradient.h"
#include "pgexplainer/explain/occlusion.h"
#include "pgexplainer/explain/order_fit.h"
#include "pgexplainer/explain/refinement.h"
#include "pgexplainer/parallel/in_process_communicator.h"
#include "tests/explain/drawn_instance.h"

namespace pgexplainer {
namespace {

TEST(RivalOrder, IsTheMostFaithfulOfTheSimpleMethods) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  for (const SmallProblem* p : {&nodes, &graphs})
    for (std::int64_t id = 0; id < 8; ++id) {
      const DrawnInstance one(*p, id);
      const double best = std::max({one.gap_by(GradientSaliency({})), one.gap_by(NodeGradient({})),
                                    one.gap_by(Occlusion({}))});
      const WayToRival way(one.graph, one.pairs, one.c, *one.run, one.place);
      EXPECT_EQ(way.rival().gap, best);
      EXPECT_EQ(one.gap(way.rival().place), best);
    }
}

TEST(RivalOrder, IsBehindByNoMoreThanTheLead) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  int moved = 0;
  for (const SmallProblem* p : {&nodes, &graphs})
    for (std::int64_t id = 0; id < 8; ++id) {
      const DrawnInstance one(*p, id);
      WayToRival way(one.graph, one.pairs, one.c, *one.run, one.place);
      const double own = one.gap(one.place);
      for (const double lead : {2.0, 0.3, 0.1, 0.0}) {  // the same way, further and further
        const WayToRival::Order& order = way.first_within(lead);
        EXPECT_GE(order.gap, way.rival().gap - lead);
        EXPECT_EQ(order.gap, one.gap(order.place));
        EXPECT_EQ(order.place == one.place, own >= way.rival().gap - lead);
        EXPECT_EQ(give_way(one.graph, one.pairs, *one.run, lead, one.place), order.place);
        moved += order.place == one.place ? 0 : 1;
      }
    }
  EXPECT_GT(moved, 8);
}

TEST(RivalOrder, LeavesAloneWhatCannotBeRanked) {
  Dataset dataset = small_tree_cycles(1);
  dataset.graph = Graph(dataset.graph.num_nodes(), {0, 1}, {1, 0});  // one edge, else isolated
  dataset.edge_ptr = {0, 2};
  dataset.edge_gt.clear();
  const SmallProblem p(std::move(dataset));
  for (const std::int64_t id : {0, 5}) {
    const DrawnInstance one(p, id);
    EXPECT_EQ(give_way(one.graph, one.pairs, *one.run, 0, one.place), one.place);
  }
}

/// An explanation network that has learnt next to nothing is behind its rivals.
PGExplainerOptions behind() {
  PGExplainerOptions options = quick_options();
  options.embedding = "last-layer";
  options.epochs = 1;
  options.order_epochs = 0;
  options.holdout = 0;
  return options;
}

TEST(RivalOrder, IsTakenByFitsThatAreBehindAndLeftByRefineZero) {
  const SmallProblem p(small_ba_2motifs(1), {6, 6, 6}, 5);
  const std::vector<Instance> instances = instances_between(0, 12);
  PGExplainer explainer(behind(), 2);
  const FitReport report = fit(explainer, p.model, instances);
  ASSERT_TRUE(report.rival_lead);
  EXPECT_EQ(explainer.rival_lead(), report.rival_lead);
  EXPECT_NE(explainer.in_common_order(), nullptr);
  const auto given_way = explain(explainer, p.model, instances);
  explainer.set_refine(0);
  EXPECT_FALSE(explainer.rival_lead());
  EXPECT_EQ(explainer.in_common_order(), nullptr);
  const auto alone = explain(explainer, p.model, instances);
  int changed = 0;
  for (std::size_t i = 0; i < instances.size(); ++i)
    changed += given_way[i].score == alone[i].score ? 0 : 1;
  EXPECT_GT(changed, 0);
}

TEST(RivalOrder, HasTheSameBitsForAnyNumberOfThreadsAndRanks) {
  const SmallProblem p(small_ba_2motifs(1), {6, 6, 6}, 5);
  const std::vector<Instance> instances = instances_between(0, 12);
  PGExplainer alone(behind(), 2);
  fit(alone, p.model, instances);
  const auto expected = explain(alone, p.model, instances);
  for (const int ranks : {1, 2, 3})
    for (const int threads : {1, 2})
      run_ranks(ranks, [&](Communicator& communicator) {
        ThreadPool pool(threads);
        PGExplainer together(behind(), 2);
        together.fit(p.model, instances, Workers(pool, communicator), {});
        EXPECT_EQ(together.fitted().rival_lead, alone.fitted().rival_lead) << ranks;
        const auto explained = explain(together, p.model, instances, threads);
        for (std::size_t i = 0; i < instances.size(); ++i)
          EXPECT_EQ(explained[i].score, expected[i].score) << ranks;
      });
}

}  // namespace
}  // namespace pgexplainer
