#include "pgexplainer/explain/gnn_explainer.h"

#include <gtest/gtest.h>

#include "tests/support/gradient_check.h"
#include "tests/support/small_explained_model.h"

namespace pgexplainer {
namespace {

/// What MaskDescent asks of a network, in double on a whole graph of one node task.
struct ExactNetwork {
  const SmallExplainedModel& small;
  Index row;
  NativeGnn<double> model;
  NativeGnn<double>::Workspace workspace{};
  GnnInput<double> input{};
  std::vector<double> logits{};

  ExactNetwork(const SmallExplainedModel& of, Index explained)
      : small(of), row(explained), model(of.model->spec(), "test", 0) {
    model.theta().assign(of.model->theta().begin(), of.model->theta().end());
    input.graph = of.dataset.graph.adjacency();
  }
  std::span<const double> forward(std::span<const double> mask, const Matrix<double>& x) {
    input.x = &x;
    const Matrix<double>& all = model.forward(input, mask, {}, workspace);
    logits.assign(all.data() + row * all.cols(), all.data() + (row + 1) * all.cols());
    return logits;
  }
  void backward(std::span<const double> dlogits, std::span<double> dmask, Matrix<double>* dx) {
    Matrix<double> d =
        Matrix<double>::Zero(small.dataset.graph.num_nodes(), static_cast<Index>(dlogits.size()));
    std::copy(dlogits.begin(), dlogits.end(), d.data() + row * d.cols());
    LayerGradients<double> gradient;
    gradient.x = dx;
    gradient.edge_mask = dmask;
    model.backward(input, d, workspace, gradient);
  }
};

class EveryMask : public testing::TestWithParam<std::tuple<const char*, bool>> {};

// Before the first step (prediction alone) and after it (with all regularisers).
TEST_P(EveryMask, GradientAgreesWithDifferences) {
  GnnExplainerOptions options;
  options.feature_mask = std::get<0>(GetParam());
  options.symmetric = std::get<1>(GetParam());
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  ExactNetwork network(small, 2);
  const Matrix<double> x = small.dataset.x.cast<double>();
  std::vector<EdgeId> reverse;
  for (EdgeId e = 0; e < 10; ++e) reverse.push_back(e ^ 1);
  MaskDescent<double> descent(options, x, reverse);
  RandomStream random(7, RandomPurpose::test);
  for (double& logit : descent.edge_logits()) logit = random.normal();
  for (double& logit : descent.feature_logits()) logit = random.normal();
  const auto loss = [&] { return descent.evaluate(network, 1).total(); };
  for (int step = 0; step < 2; ++step) {
    loss();
    const std::vector<double> gradient(descent.gradient().begin(), descent.gradient().end());
    EXPECT_LT(gradient_error(loss, descent.edge_logits().data(), gradient.data(), 10), 1e-6);
    const auto features = descent.feature_logits();
    EXPECT_LT(gradient_error(loss, features.data(), gradient.data() + 10, features.size()), 1e-6);
    descent.evaluate(network, 1);
    descent.step();
  }
}

INSTANTIATE_TEST_SUITE_P(GnnExplainer, EveryMask,
                         testing::Combine(testing::Values("common", "attributes", "object", "none"),
                                          testing::Bool()));

TEST(GnnExplainer, ScoresOnlyEdgesThatReachThePrediction) {
  // A directed ring: two layers carry 1 -> 0 and 2 -> 1 to node 0, and nothing else.
  const SmallExplainedModel model(kSum, Task::node, 4, {{1, 0}, {2, 1}, {3, 2}, {0, 3}});
  GnnExplainer method({}, 1);
  const std::vector<double> score = model.scores(method, 0);
  EXPECT_GT(score[0], 0.0);
  EXPECT_LT(score[0], 1.0);
  EXPECT_GT(score[1], 0.0);
  EXPECT_TRUE(std::isnan(score[2]) || score[2] == 0.0);
}

TEST(GnnExplainer, LowersItsObjective) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  ExactNetwork network(small, 2);
  const Matrix<double> x = small.dataset.x.cast<double>();
  MaskDescent<double> descent({}, x, std::vector<EdgeId>(10, kNoEdge));
  descent.evaluate(network, 0);
  descent.step();
  const double first = descent.evaluate(network, 0).total();
  for (int step = 0; step < 200; ++step) {
    descent.evaluate(network, 0);
    descent.step();
  }
  EXPECT_LT(descent.evaluate(network, 0).total(), 0.9 * first);
}

TEST(GnnExplainer, SymmetricMasksDescendTogether) {
  const SmallExplainedModel small(kSum, Task::node, 6, undirected(triangle_with_tail()));
  ExactNetwork network(small, 2);
  const Matrix<double> x = small.dataset.x.cast<double>();
  std::vector<EdgeId> reverse;
  for (EdgeId e = 0; e < 10; ++e) reverse.push_back(e ^ 1);
  MaskDescent<double> descent({}, x, reverse);
  for (int step = 0; step < 5; ++step) {
    descent.evaluate(network, 0);
    descent.step();
  }
  for (std::size_t e = 0; e < 10; e += 2)
    EXPECT_DOUBLE_EQ(descent.edge_logits()[e], descent.edge_logits()[e + 1]) << e;
}

TEST(GnnExplainer, ScoresFeaturesWhereItMasksThem) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const auto run = model.explained->gnn().new_run();
  for (const auto& [kind, features] :
       {std::pair{"common", 2}, {"attributes", 2}, {"object", 0}, {"none", 0}}) {
    GnnExplainerOptions options;
    options.feature_mask = kind;
    options.epochs = 3;
    const Scores scores = GnnExplainer(options, 1).score(model.cut(2), *run);
    ASSERT_EQ(scores.feature.size(), at(features)) << kind;
    for (const float score : scores.feature) {
      EXPECT_GT(score, 0.3F) << kind;
      EXPECT_LT(score, 0.7F) << kind;
    }
  }
}

TEST(GnnExplainer, GivesAnIsolatedNodeNoEdgeScores) {
  const SmallExplainedModel model(kSum, Task::node, 6, undirected(triangle_with_tail()));
  const auto run = model.explained->gnn().new_run();
  for (const char* kind : {"common", "none"}) {
    GnnExplainerOptions options;
    options.feature_mask = kind;
    EXPECT_TRUE(GnnExplainer(options, 1).score(model.cut(5), *run).edge.empty());
  }
}

TEST(GnnExplainer, RefusesAnUnknownFeatureMask) {
  GnnExplainerOptions options;
  options.feature_mask = "some";
  EXPECT_THROW(GnnExplainer(options, 1), Error);
}

}  // namespace
}  // namespace pgexplainer
