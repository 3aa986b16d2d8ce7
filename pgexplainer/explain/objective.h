// The terms of the paper's objective, by name, each with its gradient beside it.
//
// What is minimised (Eq. 1-3, 5): the entropy of the prediction Y given a random subgraph G_s,
// whose edges are independent (Gilbert graph) with probabilities theta = sigmoid(omega). Relaxed
// with Eq. (4) and sampled, it is the cross-entropy of Eq. (6) and (9), plus the regularisers of
// Section 4.4.
//
// Legend: e (E) sampled edge weights of one instance, omega (E) their latent variables, p (C) the
// target distribution P(Y|G_o). Every gradient is added to its array.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/matrix.h"
#include "pgexplainer/graph/adjacency.h"
#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {

/// Eq. (6), one sample: -sum_c p_c log softmax(logits)_c, times scale.
template <class T>
double prediction_loss(std::span<const T> p, std::span<const T> logits, T scale,
                       std::span<T> dlogits) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total(0), mass(0);
  for (const T z : logits) total += std::exp(z - top);
  const T log_total = std::log(total);
  double loss = 0;
  for (std::size_t c = 0; c < p.size(); ++c) {
    mass += p[c];
    if (p[c] != T(0)) loss -= static_cast<double>(p[c] * (logits[c] - top - log_total));
  }
  for (std::size_t c = 0; c < p.size(); ++c)
    dlogits[c] += scale * (mass * std::exp(logits[c] - top) / total - p[c]);
  return static_cast<double>(scale) * loss;
}

/// scale * sum_e |value_e|: the l1 norm. The paper prints ||Omega||_1; its code sums the sampled
/// mask.
template <class T>
double size_penalty(std::span<const T> value, T scale, std::span<T> dvalue) {
  double sum = 0;
  for (std::size_t k = 0; k < value.size(); ++k) {
    sum += static_cast<double>(std::abs(value[k]));
    dvalue[k] += value[k] > T(0) ? scale : value[k] < T(0) ? -scale : T(0);
  }
  return static_cast<double>(scale) * sum;
}

/// scale * sum_e H(t_e), the element-wise entropy that makes masks discrete; t = 0.99 e + 0.005
/// keeps the slope finite at 0 and 1 (as released, and as PyG).
template <class T>
double entropy_penalty(std::span<const T> e, T scale, std::span<T> de) {
  double sum = 0;
  for_each_lanes<T>(e.size(), [&](std::size_t k, auto n) {
    const Lanes<T> t = T(0.99) * load_lanes<T>(e.data() + k, n) + T(0.005);
    const Lanes<T> log_t = log_of(t), log_rest = log_of(1 - t);
    sum -= sum_lanes<T>(t * log_t + (1 - t) * log_rest, n);
    const Lanes<T> d = load_lanes<T>(de.data() + k, n) + scale * T(0.99) * (log_rest - log_t);
    store_lanes<T>(d, de.data() + k, n);
  });
  return static_cast<double>(scale) * sum;
}

/// Eq. (12): scale * ReLU(sum_e e - B).
template <class T>
double budget_penalty(std::span<const T> e, double budget, T scale, std::span<T> de) {
  double sum = 0;
  for (const T value : e) sum += static_cast<double>(value);
  if (!(sum > budget)) return 0;
  for (T& d : de) d += scale;
  return static_cast<double>(scale) * (sum - budget);
}

/// Eq. (13) over all ordered pairs of different edges (i,j), (i,k) that leave the same node i:
/// scale * sum -[(1 - e_ij) log(1 - e_ik) + e_ij log e_ik].
///
/// Per node, sum_{j != k} f_j g_k = (sum f)(sum g) - sum f g, so all pairs cost as much as the
/// edges. The logarithms are floored where e leaves (floor, 1 - floor).

/// The number of ordered pairs of edges with the same source.
inline std::int64_t num_adjacent_pairs(std::span<const NodeId> source, NodeId num_nodes) {
  std::vector<std::int64_t> degree(at(num_nodes), 0);
  std::int64_t pairs = 0;
  for (const NodeId i : source) pairs += 2 * degree[at(i)]++;
  return pairs;
}

template <class T>
double connectivity_penalty(std::span<const NodeId> source, NodeId num_nodes, std::span<const T> e,
                            T scale, std::span<T> de) {
  constexpr T kFloor = T(1e-7);
  struct Sums {
    T kept{0}, dropped{0}, log_kept{0}, log_dropped{0};
  };
  std::vector<Sums> node(at(num_nodes));
  const auto floored = [&](T value) { return std::max(value, kFloor); };
  double loss = 0;
  for (std::size_t k = 0; k < e.size(); ++k) {
    Sums& sums = node[at(source[k])];
    const T log_kept = std::log(floored(e[k])), log_dropped = std::log(floored(T(1) - e[k]));
    sums.kept += e[k];
    sums.dropped += T(1) - e[k];
    sums.log_kept += log_kept;
    sums.log_dropped += log_dropped;
    loss += static_cast<double>(e[k] * log_kept + (T(1) - e[k]) * log_dropped);  // the pair (k, k)
  }
  for (const Sums& sums : node)
    loss -= static_cast<double>(sums.kept * sums.log_kept + sums.dropped * sums.log_dropped);
  for (std::size_t k = 0; k < e.size(); ++k) {
    const Sums& sums = node[at(source[k])];
    const T kept = floored(e[k]), dropped = floored(T(1) - e[k]);
    T d = (sums.log_kept - std::log(kept)) - (sums.log_dropped - std::log(dropped));
    if (e[k] > kFloor) d += (sums.kept - e[k]) / kept;
    if (T(1) - e[k] > kFloor) d -= (sums.dropped - (T(1) - e[k])) / dropped;
    de[k] -= scale * d;
  }
  return static_cast<double>(scale) * loss;
}

/// Appendix B: tau_t = tau_0 (tau_T / tau_0)^t, where t runs over [0, 1] as the released code has
/// it (`share`), or counts epochs as printed.
inline double temperature(double tau_0, double tau_T, double t) {
  return tau_0 * std::pow(tau_T / tau_0, t);
}

}  // namespace pgexplainer
