#include "pgexplainer/explain/node_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

void expect_finite_differences(const SmallExplainedModel& model, std::int64_t id,
                               const std::string& norm) {
  NodeGradientOptions options;
  options.norm = norm;
  NodeGradient method(options);
  const std::vector<double> score = model.scores(method, id);
  Matrix<double> x = model.dataset.x.cast<double>();
  const std::vector<double> mask = model.all_edges();
  const std::size_t c = largest(model.logits(id, mask, x));
  std::vector<double> importance(at(x.rows()), 0.0);
  for (Index n = 0; n < x.rows(); ++n) {
    for (Index f = 0; f < x.cols(); ++f) {
      const double kept = x(n, f);
      x(n, f) = kept + 1e-5;
      const double above = model.logits(id, mask, x)[c];
      x(n, f) = kept - 1e-5;
      const double slope = std::max((above - model.logits(id, mask, x)[c]) / 2e-5, 0.0);
      x(n, f) = kept;
      importance[at(n)] += norm == "l2" ? slope * slope : slope;
    }
    if (norm == "l2") importance[at(n)] = std::sqrt(importance[at(n)]);
  }
  for (std::size_t e = 0; e < score.size(); ++e) {
    if (std::isnan(score[e])) continue;
    const double mean = (importance[at(model.dataset.graph.sources()[e])] +
                         importance[at(model.dataset.graph.targets()[e])]) /
                        2;
    EXPECT_NEAR(score[e], mean, 1e-5) << e;
  }
}

TEST(NodeGradient, AveragesTheImportanceOfTheEnds) {
  for (const char* norm : {"l2", "l1"}) {
    expect_finite_differences({kSum, Task::node, 6, undirected(triangle_with_tail())}, 2, norm);
    expect_finite_differences({kSum, Task::graph, 6, undirected(triangle_with_tail())}, 0, norm);
    expect_finite_differences({kSum, Task::node, 6, triangle_with_tail()}, 3, norm);
    expect_finite_differences({kSum, Task::node, 2, {{0, 1}}}, 1, norm);
  }
}

TEST(NodeGradient, GivesAnIsolatedNodeNoScores) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  EXPECT_TRUE(NodeGradient({}).score(model.cut(5), *model.explained->gnn().new_run()).edge.empty());
}

TEST(NodeGradient, RefusesAnUnknownNorm) {
  NodeGradientOptions options;
  options.norm = "l3";
  EXPECT_THROW(NodeGradient{options}, Error);
}

}  // namespace
}  // namespace pgexplainer
