#include "pgexplainer/explain/edge_scorer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "pgexplainer/core/index.h"
#include "tests/support/gradient_check.h"

namespace pgexplainer {
namespace {

/// A scorer with random parameters on random embeddings and edges.
template <class T>
struct Problem {
  Index width;
  EdgeScorer<T> scorer;
  std::vector<T> theta;
  Matrix<T> z, weight{}, projections{};
  std::vector<NodeId> source, target, targets, row;
  std::vector<NodeId> nodes_within{};  ///< of each level
  Matrix<T> local_z{}, local{};        ///< of the five nodes, at their levels
  typename EdgeScorer<T>::Workspace workspace{};

  Problem(int explained, const std::vector<std::int64_t>& hidden, std::size_t edges,
          std::uint64_t seed, Index levels = 0)
      : width(3), scorer(width, explained, hidden, levels) {
    RandomStream random(seed, RandomPurpose::test);
    theta.resize(scorer.layout().size());
    for (T& t : theta) t = static_cast<T>(random.normal());
    z = random_matrix(7, width, random).cast<T>();
    const auto node = [&] { return static_cast<NodeId>(random.below(5)); };
    for (std::size_t e = 0; e < edges; ++e) {
      source.push_back(node());
      target.push_back(node());
    }
    for (int k = 0; k < explained; ++k) targets.push_back(node());
    if (levels > 0 || random.below(2) == 1) row = {6, 0, 3, 2, 5};  // of the five nodes
    for (Index level = 0; level < levels; ++level)
      nodes_within.push_back(static_cast<NodeId>(random.below(6)));
    std::sort(nodes_within.begin(), nodes_within.end());
    if (levels > 0) nodes_within.back() = 5;
  }

  [[nodiscard]] bool has_levels() const { return !nodes_within.empty(); }
  [[nodiscard]] Index level_of(NodeId node) const {
    return std::upper_bound(nodes_within.begin(), nodes_within.end(), node) - nodes_within.begin();
  }

  [[nodiscard]] typename EdgeScorer<T>::Edges edges() const {
    return {source, target, targets, has_levels() ? std::span<const NodeId>() : row};
  }

  std::vector<T> omega() {
    scorer.transpose_first_weight(theta.data(), weight);
    scorer.project(weight, z, projections);
    if (has_levels()) {
      scorer.place(weight, projections, row, nodes_within, local);
      local_z.resize(5, width);
      for (Index k = 0; k < 5; ++k) local_z.row(k) = z.row(row[at(k)]);
    }
    const auto all = scorer.forward(theta.data(), weight, has_levels() ? local_z : z,
                                    has_levels() ? local : projections, edges(), workspace);
    return {all.begin(), all.end()};
  }

  /// After omega(): the gradient of sum_e factor_e omega_e.
  std::vector<T> gradient(const std::vector<T>& factor) {
    Matrix<T> dprojections = Matrix<T>::Zero(projections.rows(), projections.cols());
    std::vector<T> dtheta(theta.size(), T(0));
    if (has_levels()) {
      Matrix<T> dlocal = Matrix<T>::Zero(local.rows(), local.cols());
      scorer.backward(theta.data(), local_z, local, edges(), factor, workspace, dtheta.data(),
                      dlocal);
      scorer.place_backward(dlocal, row, nodes_within, dprojections, dtheta.data());
    } else {
      scorer.backward(theta.data(), z, projections, edges(), factor, workspace, dtheta.data(),
                      dprojections);
    }
    scorer.project_backward(z, dprojections, dtheta.data());
    return dtheta;
  }

  /// The plain MLP on [z_i; z_j; z of the targets; level of i; level of j].
  [[nodiscard]] double slow_omega(std::size_t e) const {
    std::vector<double> in;
    std::vector<NodeId> nodes = {source[e], target[e]};
    nodes.insert(nodes.end(), targets.begin(), targets.end());
    for (const NodeId node : nodes)
      for (Index d = 0; d < width; ++d)
        in.push_back(static_cast<double>(z(row.empty() ? node : row[at(node)], d)));
    for (const NodeId node : {source[e], target[e]})
      for (Index level = 0; level < scorer.num_levels(); ++level)
        in.push_back(level == level_of(node) ? 1.0 : 0.0);
    const auto& parameters = scorer.layout().parameters();
    for (std::size_t p = 0; p < parameters.size(); p += 2) {
      const T* weights = theta.data() + parameters[p].offset;
      const T* bias = theta.data() + parameters[p + 1].offset;
      std::vector<double> out(parameters[p + 1].size);
      for (std::size_t o = 0; o < out.size(); ++o) {
        out[o] = static_cast<double>(bias[o]);
        for (std::size_t i = 0; i < in.size(); ++i)
          out[o] += static_cast<double>(weights[o * in.size() + i]) * in[i];
        if (p + 2 < parameters.size()) out[o] = std::max(out[o], 0.0);
      }
      in = out;
    }
    return in.at(0);
  }
};

/// As the constructor took them.
std::vector<std::int64_t> hidden_widths(const ParameterLayout& layout) {
  std::vector<std::int64_t> widths;
  for (const Parameter& p : layout.parameters())
    if (p.shape.size() == 2) widths.push_back(p.shape[0]);
  widths.pop_back();  // omega itself
  return widths;
}

template <class T>
Problem<T> random_problem() {
  // 16, 64 and 80 are whole vectors of floats.
  static const std::vector<std::vector<std::int64_t>> kHidden = {{}, {8}, {8, 4}, {16}, {64}, {80}};
  return {*rc::gen::inRange(0, 3), *rc::gen::elementOf(kHidden),
          *rc::gen::inRange<std::size_t>(0, 20), *rc::gen::inRange<std::uint64_t>(0, 1'000'000),
          *rc::gen::inRange<Index>(0, 4)};
}

RC_GTEST_PROP(EdgeScorer, IsTheMlpOfTheConcatenatedEmbeddings, ()) {
  Problem problem = random_problem<double>();
  const std::vector<double> omega = problem.omega();
  RC_ASSERT(omega.size() == problem.source.size());
  for (std::size_t e = 0; e < omega.size(); ++e)
    RC_ASSERT(std::abs(omega[e] - problem.slow_omega(e)) < 1e-11);
}

RC_GTEST_PROP(EdgeScorer, InFloatIsTheSameUpToRounding, ()) {
  Problem problem = random_problem<float>();
  const std::vector<float> omega = problem.omega();
  RC_ASSERT(omega.size() == problem.source.size());
  for (std::size_t e = 0; e < omega.size(); ++e)
    RC_ASSERT(std::abs(static_cast<double>(omega[e]) - problem.slow_omega(e)) < 2e-4);
}

std::vector<double> random_factors(std::size_t count) {
  RandomStream random(7, RandomPurpose::test);
  std::vector<double> factors(count);
  for (double& f : factors) f = random.normal();
  return factors;
}

RC_GTEST_PROP(EdgeScorer, GradientIsThatOfCentralDifferences, ()) {
  Problem problem = random_problem<double>();
  const std::vector<double> factor = random_factors(problem.source.size());
  const auto loss = [&] {
    const std::vector<double> omega = problem.omega();
    double sum = 0;
    for (std::size_t e = 0; e < omega.size(); ++e) sum += factor[e] * omega[e];
    return sum;
  };
  loss();  // leaves the activations in the workspace
  const std::vector<double> dtheta = problem.gradient(factor);
  RC_ASSERT(gradient_error(loss, problem.theta.data(), dtheta.data(), dtheta.size()) < 1e-6);
}

RC_GTEST_PROP(EdgeScorer, GradientInFloatIsTheSameUpToRounding, ()) {
  Problem problem = random_problem<float>();
  Problem<double> exact(problem.scorer.num_targets(), {}, 0, 0);
  exact.scorer =
      EdgeScorer<double>(problem.width, problem.scorer.num_targets(),
                         hidden_widths(problem.scorer.layout()), problem.scorer.num_levels());
  exact.theta.assign(problem.theta.begin(), problem.theta.end());
  exact.z = problem.z.cast<double>();
  exact.source = problem.source;
  exact.target = problem.target;
  exact.targets = problem.targets;
  exact.row = problem.row;
  exact.nodes_within = problem.nodes_within;
  const std::vector<double> factor = random_factors(problem.source.size());
  problem.omega();
  exact.omega();
  const std::vector<float> fast = problem.gradient({factor.begin(), factor.end()});
  const std::vector<double> slow = exact.gradient(factor);
  for (std::size_t k = 0; k < slow.size(); ++k)
    RC_ASSERT(std::abs(static_cast<double>(fast[k]) - slow[k]) < 5e-4 * (1.0 + std::abs(slow[k])));
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
