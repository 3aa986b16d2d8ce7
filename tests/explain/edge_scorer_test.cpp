#include "pgexplainer/explain/edge_scorer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pgexplainer/core/index.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

/// A scorer with random parameters on random embeddings and edges.
struct Problem {
  Index width;
  int num_targets;
  EdgeScorer<double> scorer;
  std::vector<double> theta;
  Matrix<double> z;
  std::vector<NodeId> source, target, targets;
  EdgeScorer<double>::Workspace workspace{};

  Problem(int explained, const std::vector<std::int64_t>& hidden, std::size_t edges,
          std::uint64_t seed)
      : width(3), num_targets(explained), scorer(width, explained, hidden) {
    RandomStream random(seed, RandomPurpose::test);
    theta.resize(scorer.layout().size());
    for (double& t : theta) t = random.normal();
    z = random_matrix(5, width, random);
    const auto node = [&] { return static_cast<NodeId>(random.below(5)); };
    for (std::size_t e = 0; e < edges; ++e) {
      source.push_back(node());
      target.push_back(node());
    }
    for (int k = 0; k < explained; ++k) targets.push_back(node());
  }

  std::vector<double> omega() {
    NodeProjections<double> projections;
    scorer.project(theta.data(), z, projections);
    const auto all =
        scorer.forward(theta.data(), z, projections, {source, target, targets}, workspace);
    return {all.begin(), all.end()};
  }

  /// The plain MLP on [z_i; z_j; z of the targets].
  [[nodiscard]] double slow_omega(std::size_t e) const {
    std::vector<double> in;
    std::vector<NodeId> rows = {source[e], target[e]};
    rows.insert(rows.end(), targets.begin(), targets.end());
    for (const NodeId row : rows)
      for (Index d = 0; d < width; ++d) in.push_back(z(row, d));
    const auto& parameters = scorer.layout().parameters();
    for (std::size_t p = 0; p < parameters.size(); p += 2) {
      const double* weight = theta.data() + parameters[p].offset;
      const double* bias = theta.data() + parameters[p + 1].offset;
      std::vector<double> out(parameters[p + 1].size);
      for (std::size_t o = 0; o < out.size(); ++o) {
        out[o] = bias[o];
        for (std::size_t i = 0; i < in.size(); ++i) out[o] += weight[o * in.size() + i] * in[i];
        if (p + 2 < parameters.size()) out[o] = std::max(out[o], 0.0);
      }
      in = out;
    }
    return in.at(0);
  }
};

Problem random_problem() {
  static const std::vector<std::vector<std::int64_t>> kHidden = {{}, {8}, {8, 4}};
  return {*rc::gen::inRange(0, 3), *rc::gen::elementOf(kHidden),
          *rc::gen::inRange<std::size_t>(0, 7), *rc::gen::inRange<std::uint64_t>(0, 1'000'000)};
}

RC_GTEST_PROP(EdgeScorer, IsTheMlpOfTheConcatenatedEmbeddings, ()) {
  Problem problem = random_problem();
  const std::vector<double> omega = problem.omega();
  RC_ASSERT(omega.size() == problem.source.size());
  for (std::size_t e = 0; e < omega.size(); ++e)
    RC_ASSERT(std::abs(omega[e] - problem.slow_omega(e)) < 1e-11);
}

RC_GTEST_PROP(EdgeScorer, GradientIsThatOfCentralDifferences, ()) {
  Problem problem = random_problem();
  const std::size_t edges = problem.source.size();
  RandomStream random(7, RandomPurpose::test);
  std::vector<double> weight(edges);
  for (double& w : weight) w = random.normal();
  const auto loss = [&] {
    const std::vector<double> omega = problem.omega();
    double sum = 0;
    for (std::size_t e = 0; e < edges; ++e) sum += weight[e] * omega[e];
    return sum;
  };
  loss();  // leaves the activations in the workspace
  const EdgeScorer<double>& scorer = problem.scorer;
  const Index first = scorer.layout().parameters().front().shape.at(0);
  NodeProjections<double> dlocal{Matrix<double>::Zero(5, first), Matrix<double>::Zero(5, first)};
  std::vector<double> dtheta(problem.theta.size(), 0.0);
  scorer.backward(problem.theta.data(), problem.z,
                  {problem.source, problem.target, problem.targets}, weight, problem.source,
                  problem.target, problem.workspace, dtheta.data(), dlocal);
  scorer.project_backward(problem.z, dlocal, dtheta.data());
  RC_ASSERT(gradient_error(loss, problem.theta.data(), dtheta.data(), dtheta.size()) < 1e-6);
}

TEST(EdgeScorer, ParametersAreNamedAndShapedAsInPyG) {
  const EdgeScorer<float> scorer(20, 1, {64});
  std::vector<std::string> names;
  for (const Parameter& p : scorer.layout().parameters()) names.push_back(p.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias"}));
  EXPECT_EQ(scorer.layout().find("mlp.0.weight")->shape, (std::vector<std::int64_t>{64, 60}));
  EXPECT_EQ(scorer.layout().find("mlp.2.weight")->shape, (std::vector<std::int64_t>{1, 64}));
  // PGExplainer sets this one, the last entry, to init_bias.
  EXPECT_EQ(scorer.layout().find("mlp.2.bias")->offset + 1, scorer.layout().size());
}

}  // namespace
}  // namespace pgexplainer
