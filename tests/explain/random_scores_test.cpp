#include "pgexplainer/explain/random_scores.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

TEST(RandomScores, DependOnSeedAndInstanceAlone) {
  EdgeList path;
  for (NodeId i = 0; i + 1 < 200; ++i) path.emplace_back(i, i + 1);
  const SmallExplainedModel model(kSum, Task::graph, 200, undirected(path));
  const auto run = model.explained->gnn().new_run();
  InstanceGraph graph = model.cut(0);
  const std::vector<float> scores = RandomScores(1).score(graph, *run).edge;
  EXPECT_EQ(scores, RandomScores(1).score(graph, *run).edge);
  EXPECT_NE(scores, RandomScores(2).score(graph, *run).edge);
  graph.instance.id = 1;
  EXPECT_NE(scores, RandomScores(1).score(graph, *run).edge);
  float sum = 0.0F;
  for (const float score : scores) {
    EXPECT_GT(score, 0.0F);
    EXPECT_LE(score, 1.0F);
    sum += score;
  }
  EXPECT_NEAR(sum / static_cast<float>(scores.size()), 0.5F, 0.06F);  // 4 standard deviations
}

}  // namespace
}  // namespace pgexplainer
