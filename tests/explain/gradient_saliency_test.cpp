#include "pgexplainer/explain/gradient_saliency.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

void expect_finite_differences(const SmallExplainedModel& model, std::int64_t id) {
  GradientSaliency magnitude({}), with_sign({true});
  const std::vector<double> score = model.scores(magnitude, id);
  const std::vector<double> sign = model.scores(with_sign, id);
  std::vector<double> mask = model.all_edges();
  const std::size_t c = largest(model.logits(id, mask));
  const auto loss = [&] { return -std::log(softmax_of(model.logits(id, mask), c)); };
  for (std::size_t e = 0; e < mask.size(); ++e) {
    mask[e] = 1 + 1e-5;
    const double above = loss();
    mask[e] = 1 - 1e-5;
    const double slope = (above - loss()) / 2e-5;
    mask[e] = 1;
    if (std::isnan(score[e])) {  // not part of the instance
      EXPECT_NEAR(slope, 0, 1e-9) << e;
      continue;
    }
    EXPECT_NEAR(score[e], std::abs(slope), 1e-5) << e;
    EXPECT_NEAR(sign[e], -slope, 1e-5) << e;
  }
}

TEST(GradientSaliency, IsTheSlopeOfTheLossOfTheClass) {
  const EdgeList edges = undirected(triangle_with_tail());
  expect_finite_differences({kSum, Task::node, 6, edges}, 2);
  expect_finite_differences({kSum, Task::node, 6, edges}, 4);
  expect_finite_differences({kSum, Task::graph, 6, edges}, 0);
  expect_finite_differences({kGat, Task::node, 6, edges}, 0);
}

TEST(GradientSaliency, TakesEachDirectionOfADirectedGraphForItself) {
  expect_finite_differences({kSum, Task::node, 6, triangle_with_tail()}, 3);
  expect_finite_differences({kSum, Task::graph, 6, triangle_with_tail()}, 0);
}

TEST(GradientSaliency, RanksEdgesOfANetworkThatIsCertain) {
  const SmallExplainedModel model(kSum, Task::node, 2, undirected({{0, 1}}));
  const Parameter* bias = model.model->layout().find("lin.bias");
  ASSERT_NE(bias, nullptr);
  model.model->theta()[bias->offset] = 40.0F;  // in float, the probability is exactly 1
  GradientSaliency method({});
  EXPECT_GT(model.scores(method, 0)[1], 0.0);  // the edge into node 0
}

TEST(GradientSaliency, GivesAnIsolatedNodeNoScores) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  EXPECT_TRUE(
      GradientSaliency({}).score(model.cut(5), *model.explained->gnn().new_run()).edge.empty());
}

}  // namespace
}  // namespace pgexplainer
