#include "pgexplainer/model/regression_gnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/model/native_gnn.h"

namespace pgexplainer {
namespace {

/// Two smooth layers that predict two numbers per node of a small graph.
struct Problem {
  Graph graph{4, {0, 1, 1, 2, 2, 3, 3}, {1, 0, 2, 1, 3, 2, 3}};
  Matrix<float> x = Matrix<float>::Random(4, 3);
  std::shared_ptr<const Gnn> network;
  std::vector<float> mask{0.9F, 0.2F, 0.6F, 0.5F, 0.1F, 0.8F, 0.4F};

  Problem() {
    ModelSpec spec;
    spec.in_channels = 3;
    spec.num_classes = 2;
    spec.blocks = {
        {{{"type", "GraphConv"}, {"name", "a"}, {"out_channels", 5}}, {{"type", "Tanh"}}},
        {{{"type", "GraphConv"}, {"name", "b"}, {"out_channels", 2}}}};
    network = make_gnn(std::make_shared<NativeGnn<float>>(spec, "test", 1));
  }
  [[nodiscard]] GnnInput<float> input() const {
    GnnInput<float> input;
    input.graph = graph.adjacency();
    input.x = &x;
    return input;
  }
};

double probability_of_staying(const Matrix<float>& logits, Index row) {
  return 1 / (1 + std::exp(logits(row, 1) - logits(row, 0)));
}

TEST(RegressionGnn, ProbabilityFallsWithTheDistanceFromTheWholeGraphsPrediction) {
  const Problem problem;
  constexpr double kScale = 0.7;
  const auto regression = make_regression_gnn(problem.network, kScale);
  ASSERT_EQ(regression->num_classes(), 2);
  const Matrix<float> whole = problem.network->predict(problem.input());
  const Matrix<float> masked = problem.network->predict(problem.input(), problem.mask);
  const Matrix<float> logits = regression->predict(problem.input(), problem.mask);
  ASSERT_EQ(logits.rows(), 4);
  for (Index i = 0; i < 4; ++i) {
    const double distance = (masked.row(i) - whole.row(i)).norm() / kScale;
    EXPECT_NEAR(probability_of_staying(logits, i), 1 / (1.01 + distance * distance), 1e-5);
    EXPECT_NEAR(probability_of_staying(regression->predict(problem.input()), i), 1 / 1.01, 1e-6);
  }
}

TEST(RegressionGnn, HasTheRightGradient) {
  Problem problem;
  const auto run = make_regression_gnn(problem.network, 0.7)->new_run();
  run->forward(problem.input(), problem.mask);
  Matrix<float> weights(4, 2);
  weights << 0.5F, 3.0F, -1.0F, 2.0F, 0.3F, -1.0F, 0.8F, 0.1F;  // the second logit is constant
  std::vector<float> dmask(problem.mask.size(), 0.0F);
  Matrix<float> dx;
  run->backward(weights, dmask, &dx);
  const auto loss = [&] {
    return static_cast<double>(
        run->forward(problem.input(), problem.mask).cwiseProduct(weights).sum());
  };
  const auto slope = [&](float& value) {
    constexpr float kStep = 2e-3F;
    const float before = value;
    value = before + kStep;
    const double above = loss();
    value = before - kStep;
    const double below = loss();
    value = before;
    return (above - below) / (2 * static_cast<double>(kStep));
  };
  for (std::size_t e = 0; e < dmask.size(); ++e)
    EXPECT_NEAR(dmask[e], slope(problem.mask[e]), 2e-3 * (1 + std::abs(dmask[e]))) << "edge " << e;
}

TEST(RegressionGnn, RefusesAScaleThatIsNone) {
  const Problem problem;
  for (const double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW((void)make_regression_gnn(problem.network, scale), Error) << scale;
}

}  // namespace
}  // namespace pgexplainer
