// The paper's objective for one sample of one instance: Eq. (9) with the regularisers of Section
// 4.4. Where the paper and its released code differ there is an option.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pgexplainer/explain/concrete.h"
#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/objective.h"

namespace pgexplainer {

/// Weights of the terms; a weight of 0 leaves a term out.
struct PaperWeights {
  enum class Size { sum, mean, omega };        ///< of the sampled mask, or ||Omega||_1
  enum class Entropy { mean, nodes_squared };  ///< over edges, or over all N^2 entries
  enum class Connectivity { mean, sum };       ///< over adjacent pairs

  double prediction = 1.0;
  double size = 0.0;
  Size size_term = Size::sum;
  double entropy = 0.0;
  Entropy entropy_term = Entropy::mean;
  double budget_weight = 0.0;
  double budget = 0.0;
  double connectivity = 0.0;
  Connectivity connectivity_term = Connectivity::mean;
  bool symmetric = true;  ///< the network sees (e_ij + e_ji) / 2 in both directions
};

/// What the terms read of an instance.
template <class T>
struct PaperInstance {
  std::span<const NodeId> source;
  NodeId num_nodes = 0;
  const EdgePairs* pairs = nullptr;
  std::span<const T> p;  ///< P(Y|G_o), or one-hot
};

/// The loss of one sample, and domega += its gradient; noise is logit(epsilon) per edge. `network`
/// as in ranking_loss.
template <class T, class Network>
double paper_loss(const PaperWeights& weights, const PaperInstance<T>& instance,
                  std::span<const T> omega, std::span<const T> noise, T tau, T scale,
                  Network& network, std::span<T> domega) {
  if (omega.empty()) return 0;
  std::vector<T> e(omega.size()), de(omega.size(), T(0));
  concrete_samples<T>(omega, tau, noise, e);
  const auto scaled = [&](double weight) { return scale * static_cast<T>(weight); };

  double loss = 0;
  if (weights.prediction != 0.0) {
    std::vector<T> mask = e, dmask(e.size(), T(0)), of_pair;
    if (weights.symmetric) {
      instance.pairs->template mean<T>(e, of_pair);
      instance.pairs->template spread<T>(of_pair, mask);
    }
    const std::span<const T> logits = network.forward(mask);
    std::vector<T> dlogits(logits.size(), T(0));
    loss += prediction_loss<T>(instance.p, logits, scaled(weights.prediction), dlogits);
    network.backward(dlogits, dmask);
    if (weights.symmetric) {
      instance.pairs->template mean<T>(dmask, of_pair);  // the map is its own adjoint
      instance.pairs->template spread<T>(of_pair, dmask);
    }
    for (std::size_t k = 0; k < e.size(); ++k) de[k] += dmask[k];
  }
  const auto edges = static_cast<double>(e.size());
  if (weights.size != 0.0) {
    if (weights.size_term == PaperWeights::Size::omega)
      loss += size_penalty<T>(omega, scaled(weights.size), domega);
    else
      loss += size_penalty<T>(
          e,
          scaled(weights.size_term == PaperWeights::Size::mean ? weights.size / edges
                                                               : weights.size),
          de);
  }
  if (weights.entropy != 0.0) {
    const auto nodes = static_cast<double>(instance.num_nodes);
    const double count =
        weights.entropy_term == PaperWeights::Entropy::mean ? edges : nodes * nodes;
    loss += entropy_penalty<T>(e, scaled(weights.entropy / count), de);
  }
  if (weights.budget_weight != 0.0)
    loss += budget_penalty<T>(e, weights.budget, scaled(weights.budget_weight), de);
  if (weights.connectivity != 0.0) {
    const std::int64_t pairs = num_adjacent_pairs(instance.source, instance.num_nodes);
    const double count = weights.connectivity_term == PaperWeights::Connectivity::mean
                             ? static_cast<double>(std::max<std::int64_t>(pairs, 1))
                             : 1.0;
    loss += connectivity_penalty<T>(instance.source, instance.num_nodes, e,
                                    scaled(weights.connectivity / count), de);
  }
  for (std::size_t k = 0; k < e.size(); ++k) domega[k] += de[k] * concrete_slope(e[k], tau);
  return loss;
}

}  // namespace pgexplainer
