// Checks a layer's adjoint against central differences of L = sum(out * R), in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "pgexplainer/core/random.h"
#include "pgexplainer/graph/graph.h"
#include "pgexplainer/nn/layer_factory.h"

namespace pgexplainer {

inline Matrix<double> random_matrix(Index rows, Index cols, RandomStream& random) {
  Matrix<double> m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = random.normal();
  return m;
}

/// The largest error of `analytic` against central differences of `loss` in each entry of `values`,
/// relative to the largest gradient (or 1). A step across a kink (ReLU, max) is repeated with much
/// smaller steps: of a thousand runs of all adjoints, one comes nearer to a kink than 1e-7.
inline double gradient_error(const std::function<double()>& loss, double* values,
                             const double* analytic, std::size_t count) {
  double worst = 0.0;
  double scale = 1.0;
  for (std::size_t i = 0; i < count; ++i) scale = std::max(scale, std::abs(analytic[i]));
  for (std::size_t i = 0; i < count; ++i) {
    double error = 0.0;
    for (const double step : {1e-5, 1e-7, 1e-9}) {
      const double kept = values[i];
      values[i] = kept + step;
      const double above = loss();
      values[i] = kept - step;
      const double below = loss();
      values[i] = kept;
      error = std::abs((above - below) / (2 * step) - analytic[i]) / scale;
      if (error < 1e-6) break;
    }
    worst = std::max(worst, error);
  }
  return worst;
}

struct GradientErrors {
  double x = 0, theta = 0, edge_weight = 0, edge_mask = 0, edge_attr = 0;
  [[nodiscard]] double worst() const {
    return std::max({x, theta, edge_weight, edge_mask, edge_attr});
  }
};

struct LayerProblem {
  nlohmann::json description;
  const Graph* graph = nullptr;
  Index in_channels = 3;
  Index edge_channels = 0;  ///< 0: no edge features
  NodeId num_rows = -1;     ///< -1: all
  bool weights = false;
  bool mask = true;
  bool training = false;
  std::vector<NodeId> graph_ptr = {};
};

inline GradientErrors check_layer(const LayerProblem& problem, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test);
  ParameterLayout layout;
  const auto layer =
      make_layer<double>(problem.description, "test", problem.in_channels, 0, layout);
  std::vector<double> theta = initial_values<double>(layout, seed);
  for (const Parameter& p : layout.parameters())
    for (std::size_t i = 0; i < p.size; ++i)
      theta[p.offset + i] =
          p.name.ends_with("running_var") ? 0.5 + random.uniform() : random.normal();

  const Graph& graph = *problem.graph;
  const auto edges = static_cast<std::size_t>(graph.num_edges());
  Matrix<double> x = random_matrix(graph.num_nodes(), problem.in_channels, random);
  Matrix<double> attr = random_matrix(graph.num_edges(), problem.edge_channels, random);
  std::vector<double> weight(problem.weights ? edges : 0), mask(problem.mask ? edges : 0);
  for (double& w : weight) w = 0.2 + random.uniform();
  for (double& m : mask) m = random.uniform();

  LayerContext<double> context;
  context.graph = graph.adjacency();
  context.num_rows = problem.num_rows < 0 ? graph.num_nodes() : problem.num_rows;
  context.edge_weight = weight;
  context.edge_mask = mask;
  context.graph_ptr = problem.graph_ptr;
  context.training = problem.training;
  if (problem.edge_channels > 0) context.edge_attr = &attr;

  Matrix<double> out;
  Saved<double> saved;
  layer->forward(theta.data(), context, x, out, saved);
  const Matrix<double> R = random_matrix(out.rows(), out.cols(), random);
  std::vector<double> dtheta(theta.size(), 0.0), dweight(weight.size(), 0.0),
      dmask(mask.size(), 0.0);
  Matrix<double> dx, dattr = Matrix<double>::Zero(attr.rows(), attr.cols());
  LayerGradients<double> gradient{dtheta.data(), &dx, dweight, dmask,
                                  problem.edge_channels > 0 ? &dattr : nullptr};
  layer->backward(theta.data(), context, x, out, R, saved, gradient);

  const auto loss = [&] {
    Matrix<double> again;
    Saved<double> scratch;
    layer->forward(theta.data(), context, x, again, scratch);
    return again.cwiseProduct(R).sum();
  };
  GradientErrors errors;
  errors.x = gradient_error(loss, x.data(), dx.data(), static_cast<std::size_t>(x.size()));
  for (const Parameter& p : layout.parameters())
    if (p.trainable)
      errors.theta = std::max(errors.theta, gradient_error(loss, theta.data() + p.offset,
                                                           dtheta.data() + p.offset, p.size));
  errors.edge_weight = gradient_error(loss, weight.data(), dweight.data(), weight.size());
  errors.edge_mask = gradient_error(loss, mask.data(), dmask.data(), mask.size());
  errors.edge_attr =
      gradient_error(loss, attr.data(), dattr.data(), static_cast<std::size_t>(attr.size()));
  return errors;
}

}  // namespace pgexplainer
