#include "pgexplainer/explain/integrated_gradients.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

// The axiom of completeness; edges outside the instance do not matter to it.
TEST(IntegratedGradients, SumsToWhatAllEdgesGain) {
  for (const Task task : {Task::node, Task::graph})
    for (const bool directed : {false, true}) {
      const EdgeList edges = directed ? triangle_with_tail() : undirected(triangle_with_tail());
      const SmallExplainedModel model(kSum, task, 6, edges);
      const std::int64_t id = task == Task::node ? 2 : 0;
      IntegratedGradients coarse({20}), fine({2000});
      const std::size_t c = largest(model.logits(id, model.all_edges()));
      const std::vector<double> none(model.all_edges().size(), 0.0);
      const double gain = softmax_of(model.logits(id, model.all_edges()), c) -
                          softmax_of(model.logits(id, none), c);
      const auto sum = [&](IntegratedGradients& method) {
        double total = 0;
        for (const double score : model.scores(method, id))
          if (!std::isnan(score)) total += score;
        return total;
      };
      EXPECT_GT(std::abs(gain), 1e-3);
      EXPECT_NEAR(sum(coarse), gain, 2e-3);
      EXPECT_NEAR(sum(fine), gain, 1e-5);
    }
}

// Along the line every edge alone, by differences of the probability in double.
TEST(IntegratedGradients, IsTheMeanSlopeAlongTheLine) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  IntegratedGradients method({4});
  const std::vector<double> score = model.scores(method, 2);
  const std::size_t c = largest(model.logits(2, model.all_edges()));
  for (std::size_t e = 0; e < score.size(); ++e) {
    if (std::isnan(score[e])) continue;
    double expected = 0;
    for (const double alpha : {0.125, 0.375, 0.625, 0.875}) {
      std::vector<double> mask(score.size(), alpha);
      mask[e] = alpha + 1e-5;
      const double above = softmax_of(model.logits(2, mask), c);
      mask[e] = alpha - 1e-5;
      expected += (above - softmax_of(model.logits(2, mask), c)) / 2e-5 / 4;
    }
    EXPECT_NEAR(score[e], expected, 1e-5) << e;
  }
}

TEST(IntegratedGradients, GivesAnIsolatedNodeNoScores) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  EXPECT_TRUE(
      IntegratedGradients({}).score(model.cut(5), *model.explained->gnn().new_run()).edge.empty());
}

}  // namespace
}  // namespace pgexplainer
