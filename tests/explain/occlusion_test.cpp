#include "pgexplainer/explain/occlusion.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

/// Removes each edge, and its reverse if there is one, from the whole graph in double.
void expect_brute_force(const SmallExplainedModel& model, std::int64_t id, bool margin) {
  Occlusion method({margin});
  const std::vector<double> score = model.scores(method, id);
  const auto source = model.dataset.graph.sources();
  const auto target = model.dataset.graph.targets();
  const std::size_t c = largest(model.logits(id, model.all_edges()));
  const auto confidence = [&](const std::vector<double>& mask) {
    std::vector<double> logits = model.logits(id, mask);
    if (!margin) return softmax_of(logits, c);
    const double own = logits[c];
    logits[c] = -1e9;
    return own - logits[largest(logits)];
  };
  for (std::size_t e = 0; e < score.size(); ++e) {
    if (std::isnan(score[e])) continue;
    std::vector<double> mask = model.all_edges();
    for (std::size_t other = 0; other < mask.size(); ++other)
      if (other == e || (source[other] == target[e] && target[other] == source[e])) mask[other] = 0;
    EXPECT_NEAR(score[e], confidence(model.all_edges()) - confidence(mask), 1e-5) << e;
  }
}

TEST(Occlusion, IsWhatTheClassLosesWithoutTheEdge) {
  for (const bool margin : {false, true}) {
    expect_brute_force({kSum, Task::node, 6, undirected(triangle_with_tail())}, 2, margin);
    expect_brute_force({kSum, Task::node, 6, undirected(triangle_with_tail())}, 4, margin);
    expect_brute_force({kSum, Task::graph, 6, undirected(triangle_with_tail())}, 0, margin);
    expect_brute_force({kGat, Task::node, 6, undirected(triangle_with_tail())}, 1, margin);
    expect_brute_force({kSum, Task::node, 6, triangle_with_tail()}, 3, margin);
    expect_brute_force({kSum, Task::node, 2, {{0, 1}}}, 1, margin);
  }
}

TEST(Occlusion, GivesAnIsolatedNodeNoScores) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  EXPECT_TRUE(Occlusion({}).score(model.cut(5), *model.explained->gnn().new_run()).edge.empty());
}

}  // namespace
}  // namespace pgexplainer
