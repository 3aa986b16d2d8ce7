#include "pgexplainer/explain/keep_remove.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "pgexplainer/explain/explainer.h"
#include "tests/explain/small_problem.h"

namespace pgexplainer {
namespace {

struct Case {
  InstanceGraph graph;
  EdgePairs pairs;
  std::vector<float> score;
  std::size_t c = 0;

  Case(const SmallProblem& p, std::int64_t id, std::uint64_t seed) {
    p.model.new_cutter().cut({id}, graph);
    pairs = EdgePairs(graph.reverse);
    RandomStream random(seed, RandomPurpose::test);
    for (EdgeId k = 0; k < pairs.count(); ++k) score.push_back(static_cast<float>(random.normal()));
    c = at(predict(graph, *p.gnn->new_run(), {}).predicted_class());
  }
};

// Every size for itself, the best pairs found by looking for the largest score again and again.
TEST(KeepAndRemove, IsWhatMasksOfEachSizeGive) {
  const SmallProblem nodes(small_tree_cycles(1)), graphs(small_ba_2motifs(1));
  for (const SmallProblem* p : {&nodes, &graphs})
    for (const std::int64_t id : {3, 7, 11}) {
      const Case one(*p, id, 5);
      const auto run = p->gnn->new_run();
      const KeepRemove fast = keep_and_remove(one.graph, one.pairs, one.score, one.c, *run);
      EXPECT_EQ(small_gap_of(one.graph, one.pairs, one.score, one.c, *run), fast.small_gap());
      for (std::size_t i = 0; i < KeepRemove::kSizes; ++i) {
        const auto wanted = static_cast<std::size_t>(
            std::lround(0.05 * static_cast<double>(i + 1) * static_cast<double>(one.score.size())));
        std::set<std::size_t> best;
        while (best.size() < wanted) {
          std::size_t top = one.score.size();
          for (std::size_t k = 0; k < one.score.size(); ++k)
            if (!best.contains(k) && (top == one.score.size() || one.score[k] > one.score[top]))
              top = k;
          best.insert(top);
        }
        std::vector<float> kept(one.graph.edges.size(), 0.0F),
            removed(one.graph.edges.size(), 1.0F);
        for (const std::size_t k : best)
          for (const EdgeId e : {one.pairs.first[k], one.pairs.second[k]}) {
            kept[at(e)] = 1.0F;
            removed[at(e)] = 0.0F;
          }
        const Prediction with = predict(one.graph, *run, kept);
        const Prediction without = predict(one.graph, *run, removed);
        EXPECT_EQ(gap_of_best(wanted, one.graph, one.pairs, one.score, one.c, *run),
                  static_cast<double>(with.probability[one.c] - without.probability[one.c]));
        EXPECT_EQ(fast.kept[i], static_cast<double>(with.probability[one.c]));
        EXPECT_EQ(fast.removed[i], static_cast<double>(without.probability[one.c]));
        EXPECT_EQ(fast.held[i] == 1.0, at(with.predicted_class()) == one.c);
        EXPECT_EQ(fast.broken[i] == 1.0, at(without.predicted_class()) != one.c);
      }
    }
}

// Keeping the worst s of the edges is removing the best 1 - s.
TEST(KeepAndRemove, OfTheOppositeRankingIsTheMirrorImage) {
  const SmallProblem p(small_ba_2motifs(1));
  const auto run = p.gnn->new_run();
  for (const std::int64_t id : {0, 4, 8}) {
    const Case one(p, id, 9);
    std::vector<float> opposite = one.score;
    for (float& s : opposite) s = -s;
    const KeepRemove up = keep_and_remove(one.graph, one.pairs, one.score, one.c, *run);
    const KeepRemove down = keep_and_remove(one.graph, one.pairs, opposite, one.c, *run);
    const auto count = [&](std::size_t i) {
      return std::lround(KeepRemove::share(i) * static_cast<double>(one.score.size()));
    };
    int compared = 0;
    for (std::size_t i = 0; i < KeepRemove::kSizes; ++i) {
      const std::size_t j = KeepRemove::kSizes - 1 - i;
      if (count(i) + count(j) != static_cast<long>(one.score.size())) continue;  // halves round up
      ++compared;
      EXPECT_EQ(up.kept[i], down.removed[j]);
      EXPECT_EQ(up.removed[i], down.kept[j]);
    }
    EXPECT_GT(compared, 10);
  }
}

}  // namespace
}  // namespace pgexplainer
