#include "pgexplainer/metrics/fidelity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pgexplainer/core/error.h"
#include "pgexplainer/graph/graph.h"
#include "tests/support/linear_gnn.h"

namespace pgexplainer {
namespace {

double sigmoid(double v) { return 1.0 / (1.0 + std::exp(-v)); }

Matrix<double> random_logits(Index rows, Index columns) {
  Matrix<double> logits(rows, columns);
  for (Index i = 0; i < logits.size(); ++i) logits.data()[i] = *rc::gen::inRange(-30, 30) / 10.0;
  return logits;
}

Predictions<double> random_predictions() {
  const auto rows = *rc::gen::inRange<Index>(1, 8);
  const auto columns = *rc::gen::inRange<Index>(1, 5);
  return {random_logits(rows, columns), random_logits(rows, columns), random_logits(rows, columns)};
}

/// Softmax as it is written in books.
double probability(const Matrix<double>& logits, Index row, Index c) {
  return std::exp(logits(row, c)) / logits.row(row).array().exp().sum();
}

Index argmax(const Matrix<double>& logits, Index row) {
  Index best = 0;
  logits.row(row).maxCoeff(&best);
  return best;
}

RC_GTEST_PROP(Fidelity, EqualsItsDefinition, ()) {
  const Predictions<double> p = random_predictions();
  const Index rows = p.full.rows();
  const auto label = *rc::gen::container<std::vector<std::int64_t>>(
      static_cast<std::size_t>(rows), rc::gen::inRange<std::int64_t>(0, p.full.cols()));
  double label_plus = 0, label_minus = 0, truth_plus = 0, truth_minus = 0, p_plus = 0, p_minus = 0;
  double divergence = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index y = argmax(p.full, i);
    const Index truth = label[static_cast<std::size_t>(i)];
    label_plus += argmax(p.complement, i) != y;
    label_minus += argmax(p.masked, i) != y;
    truth_plus += std::abs((y == truth) - (argmax(p.complement, i) == truth));
    truth_minus += std::abs((y == truth) - (argmax(p.masked, i) == truth));
    p_plus += probability(p.full, i, y) - probability(p.complement, i, y);
    p_minus += probability(p.full, i, y) - probability(p.masked, i, y);
    for (Index c = 0; c < p.full.cols(); ++c)
      divergence += probability(p.masked, i, c) *
                    std::log(probability(p.masked, i, c) / probability(p.full, i, c));
  }
  const auto n = static_cast<double>(rows);
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-12; };
  const Fidelity by_model = fidelity_by_label(p), by_truth = fidelity_by_label(p, label),
                 by_probability = fidelity_by_probability(p);
  RC_ASSERT(near(by_model.plus, label_plus / n) && near(by_model.minus, label_minus / n));
  RC_ASSERT(near(by_truth.plus, truth_plus / n) && near(by_truth.minus, truth_minus / n));
  RC_ASSERT(near(by_probability.plus, p_plus / n) && near(by_probability.minus, p_minus / n));
  RC_ASSERT(near(unfaithfulness(p.full, p.masked), 1 - std::exp(-divergence / n)));
}

TEST(Fidelity, SurvivesExtremeLogits) {
  Predictions<float> p{Matrix<float>(1, 2), Matrix<float>(1, 2), Matrix<float>(1, 2)};
  p.full << 3e38F, -3e38F;
  p.masked << 3e38F, -3e38F;
  p.complement << -3e38F, 3e38F;
  EXPECT_EQ(fidelity_by_probability(p).plus, 1.0);
  EXPECT_EQ(fidelity_by_probability(p).minus, 0.0);
  EXPECT_EQ(unfaithfulness(p.full, p.masked), 0.0);
  EXPECT_EQ(unfaithfulness(p.full, p.complement), 1.0);
}

TEST(Fidelity, OfNoInstancesIsUndefined) {
  const Predictions<double> none{Matrix<double>(0, 3), Matrix<double>(0, 3), Matrix<double>(0, 3)};
  EXPECT_TRUE(std::isnan(fidelity_by_label(none).plus));
  EXPECT_TRUE(std::isnan(fidelity_by_probability(none).minus));
  EXPECT_TRUE(std::isnan(unfaithfulness(none.full, none.masked)));
}

TEST(Fidelity, RefusesLogitsThatDoNotFit) {
  const Matrix<double> good = Matrix<double>::Zero(2, 2), narrow = Matrix<double>::Zero(2, 1);
  Matrix<double> broken = good;
  broken(1, 1) = NAN;
  EXPECT_THROW(fidelity_by_label(Predictions<double>{good, narrow, good}), Error);
  EXPECT_THROW(fidelity_by_probability(Predictions<double>{good, good, broken}), Error);
  EXPECT_THROW(unfaithfulness(good, broken), Error);
  EXPECT_THROW(
      fidelity_by_label(Predictions<double>{good, good, good}, std::vector<std::int64_t>{0}),
      Error);
}

TEST(CharacterizationScore, IsAHarmonicMean) {
  EXPECT_DOUBLE_EQ(characterization_score(0.5, 0.75), 1 / (0.5 / 0.5 + 0.5 / 0.25));
  EXPECT_DOUBLE_EQ(characterization_score(0.5, 0.75, 0.2, 0.8), 1 / (0.2 / 0.5 + 0.8 / 0.25));
  EXPECT_EQ(characterization_score(1, 0), 1.0);
  EXPECT_EQ(characterization_score(0, 0.3), 0.0);
  EXPECT_EQ(characterization_score(0.3, 1), 0.0);
  EXPECT_EQ(characterization_score(-0.1, 0.3), 0.0);
  EXPECT_TRUE(std::isnan(characterization_score(NAN, 0.3)));
  EXPECT_THROW(characterization_score(0.5, 0.5, 0.5, 0.6), Error);
  EXPECT_THROW(characterization_score(0.5, 0.5, -0.5, 1.5), Error);
}

TEST(FidelityCurve, AddsTrapezoids) {
  const std::vector<double> plus{0.5, 1, 0}, minus{0, 0.5, 0.9}, x{0, 1, 3};
  EXPECT_DOUBLE_EQ(fidelity_curve_auc(plus, minus, x), 0.5 * (0.5 + 2) + 0.5 * (2 + 0) * 2);
  EXPECT_EQ(fidelity_curve_auc({}, {}, {}), 0.0);
  EXPECT_THROW(fidelity_curve_auc(plus, minus, std::vector<double>{0, 2, 1}), Error);
  EXPECT_THROW(fidelity_curve_auc(plus, std::vector<double>{0, 1, 0}, x), Error);
  EXPECT_THROW(fidelity_curve_auc(plus, minus, std::vector<double>{0, 1}), Error);
}

class EvaluateMasks : public testing::Test {
 protected:
  Graph graph{3, {0, 1}, {1, 2}};
  Matrix<float> x = Matrix<float>::Constant(3, 2, 2.0F);
  LinearRun run{-1.0, {3.0, 1.0}};
  GnnInput<float> input;
  void SetUp() override {
    input.graph = graph.adjacency();
    input.x = &x;
  }
};

TEST_F(EvaluateMasks, RunsTheGraphTheMaskAndItsComplement) {
  const Predictions<float> p = evaluate_masks(run, input, std::vector<float>{1, 0.25F});
  EXPECT_FLOAT_EQ(p.full(0, 0), 7);
  EXPECT_FLOAT_EQ(p.masked(0, 0), 5.5F);
  EXPECT_FLOAT_EQ(p.complement(0, 0), 0.5F);
  EXPECT_NEAR(fidelity_by_probability(p).plus, sigmoid(7) - sigmoid(0.5), 1e-7);
}

TEST_F(EvaluateMasks, MasksFeaturesOfEachShape) {
  const std::vector<float> edges{1, 0.5F};
  for (const auto& [rows, columns] : {std::pair{3, 2}, {1, 2}, {3, 1}}) {
    const Matrix<float> mask = Matrix<float>::Constant(rows, columns, 0.25F);
    const Predictions<float> p = evaluate_masks(run, input, edges, &mask);
    EXPECT_FLOAT_EQ(p.full(0, 0), 7);
    EXPECT_FLOAT_EQ(p.masked(0, 0), -1 + 0.5F * 3.5F);
    EXPECT_FLOAT_EQ(p.complement(0, 0), -1 + 1.5F * 0.5F);
    const Predictions<float> features_only = evaluate_masks(run, input, {}, &mask);
    EXPECT_FLOAT_EQ(features_only.complement(0, 0), -1 + 1.5F * 4);
  }
  const Matrix<float> wrong = Matrix<float>::Ones(2, 2);
  EXPECT_THROW(evaluate_masks(run, input, edges, &wrong), Error);
}

TEST_F(EvaluateMasks, RefusesMasksOutsideZeroToOne) {
  for (const float bad : {-0.1F, 1.1F, NAN})
    EXPECT_THROW(evaluate_masks(run, input, std::vector<float>{bad, 1}), Error);
}

}  // namespace
}  // namespace pgexplainer
