// The keep-and-remove objective: a ranking that decides at every sparsity.
//
// No size, entropy or connectivity weight. For a random share r, one shift b per instance makes the
// mean mask equal r. Keeping the mask of one share should keep the predicted class c; removing that
// of another share s should lose c:
//
//   m_e(r) = sigmoid((omega_e + n_e + b) / tau),   b such that mean_e m_e(r) = r,   n_e =
//   logit(epsilon) loss = -P_c(G with weights m(r)) - w log(1 - P_c(G with weights 1 - m(s)))
//
// b depends on omega; it is differentiated implicitly: db/domega_e = -s_e / sum s, s = m (1 - m).
// Detaching it instead breaks the method. The bounded first term and the logarithm in the second
// one keep hopeless sparsities from dominating. w is small: edges without which a prediction breaks
// are often not what it rests on. But a class that the network gives to a graph without edges is
// kept by any edges, so that only removing tells them apart: there w is at least `floor`,
//
//   w = necessity + max(floor - necessity, 0) P_c(G without edges)
//
// A graph is asked for its class beside a graph of another class (company.h), where the first term
// is -log P_c: there few shares are hopeless, and the logarithm learns from those that are far off.
//
// Source: our own measurements, docs/reliability.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "pgexplainer/explain/concrete.h"
#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {

/// Sums over m_e = sigmoid((value_e + shift) / tau) and over its slope m (1 - m).
struct MaskSums {
  double mask = 0, slope = 0;
};
template <class T>
MaskSums sum_mask(std::span<const T> value, double tau, double shift) {
  MaskSums sums;
  const T b = static_cast<T>(shift), scale = static_cast<T>(1.0 / tau);
  for_each_lanes<T>(value.size(), [&](std::size_t i, auto n) {
    const Lanes<T> m = logistic_of((load_lanes<T>(value.data() + i, n) + b) * scale);
    sums.mask += sum_lanes<T>(m, n);
    sums.slope += sum_lanes<T>(m * (1 - m), n);
  });
  return sums;
}

/// The shift b with mean_e sigmoid((value_e + b) / tau) = share: Newton's method, kept inside a
/// bracket by bisection; share in (0, 1), at least one value.
template <class T>
double solve_shift(std::span<const T> value, double tau, double share) {
  const auto [low_value, high_value] = std::minmax_element(value.begin(), value.end());
  const double edge = tau * logit(share);
  double low = edge - static_cast<double>(*high_value);  // mean <= share
  double high = edge - static_cast<double>(*low_value);  // mean >= share
  double shift = 0.5 * (low + high);
  constexpr double kTolerance = std::is_same_v<T, float> ? 1e-5 : 1e-9;
  for (int step = 0; step < 60 && high - low > kTolerance * (1.0 + std::abs(low)); ++step) {
    const MaskSums sums = sum_mask(value, tau, shift);
    const double excess = sums.mask - share * static_cast<double>(value.size());
    (excess < 0 ? low : high) = shift;
    const double newton = shift - excess * tau / sums.slope;
    const bool inside = newton > low && newton < high;  // false for a NaN, too
    const double next = inside ? newton : 0.5 * (low + high);
    if (inside && std::abs(next - shift) < kTolerance * (1.0 + std::abs(next))) return next;
    shift = next;
  }
  return shift;
}

/// m of the header, for noisy = omega + n.
template <class T>
void shifted_mask(std::span<const T> noisy, double tau, double share, std::vector<T>& m) {
  const T shift = static_cast<T>(solve_shift(noisy, tau, share));
  m.resize(noisy.size());
  for_each_lanes<T>(m.size(), [&](std::size_t i, auto n) {
    const Lanes<T> shifted = load_lanes<T>(noisy.data() + i, n) + shift;
    store_lanes<T>(logistic_of(shifted * static_cast<T>(1.0 / tau)), m.data() + i, n);
  });
}

/// The adjoint: domega from dm, through m and through the shift.
template <class T>
void shifted_mask_backward(std::span<const T> m, double tau, std::span<const T> dm,
                           std::vector<T>& domega) {
  double slope_sum = 0, weighted = 0;
  for (std::size_t e = 0; e < m.size(); ++e) {
    const double slope = static_cast<double>(m[e]) * (1.0 - static_cast<double>(m[e]));
    slope_sum += slope;
    weighted += slope * static_cast<double>(dm[e]);
  }
  const double mean = slope_sum > 0 ? weighted / slope_sum : 0.0;
  domega.resize(m.size());
  for (std::size_t e = 0; e < m.size(); ++e)
    domega[e] = static_cast<T>(static_cast<double>(m[e]) * (1.0 - static_cast<double>(m[e])) *
                               (static_cast<double>(dm[e]) - mean) / tau);
}

/// -P_c, and its gradient.
template <class T>
double keep_loss(std::span<const T> logits, std::size_t c, T scale, std::span<T> dlogits) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total(0);
  for (const T z : logits) total += std::exp(z - top);
  const T p = std::exp(logits[c] - top) / total;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    const T share = std::exp(logits[k] - top) / total;
    dlogits[k] += scale * p * (share - (k == c ? T(1) : T(0)));
  }
  return -static_cast<double>(scale * p);
}

/// -log P_c, and its gradient.
template <class T>
double keep_log_loss(std::span<const T> logits, std::size_t c, T scale, std::span<T> dlogits) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total(0);
  for (const T z : logits) total += std::exp(z - top);
  for (std::size_t k = 0; k < logits.size(); ++k)
    dlogits[k] += scale * (std::exp(logits[k] - top) / total - (k == c ? T(1) : T(0)));
  return static_cast<double>(scale * (std::log(total) - (logits[c] - top)));
}

/// -log(1 - P_c) = log-sum-exp of all logits minus that of the others, and its gradient: exact even
/// where P_c rounds to one. One class alone cannot be lost: 0.
template <class T>
double remove_loss(std::span<const T> logits, std::size_t c, T scale, std::span<T> dlogits) {
  if (logits.size() < 2) return 0;
  const T top = *std::max_element(logits.begin(), logits.end());
  T rest_top = -std::numeric_limits<T>::infinity();
  for (std::size_t k = 0; k < logits.size(); ++k)
    if (k != c) rest_top = std::max(rest_top, logits[k]);
  T total(0), rest(0);
  for (std::size_t k = 0; k < logits.size(); ++k) {
    total += std::exp(logits[k] - top);
    if (k != c) rest += std::exp(logits[k] - rest_top);
  }
  for (std::size_t k = 0; k < logits.size(); ++k) {
    dlogits[k] += scale * std::exp(logits[k] - top) / total;
    if (k != c) dlogits[k] -= scale * std::exp(logits[k] - rest_top) / rest;
  }
  return static_cast<double>(scale * ((top + std::log(total)) - (rest_top + std::log(rest))));
}

/// What is drawn and chosen for one evaluation of the objective.
struct RankingTerms {
  double tau = 1;           ///< temperature
  double keep_share = 0.5;  ///< r
  double remove_share = 0.5;
  double remove_weight = 1;  ///< w
  bool in_company = false;   ///< of a graph of another class
};

/// w of the header.
inline double remove_weight(double necessity, double floor, double probability_without_edges) {
  return necessity + std::max(floor - necessity, 0.0) * probability_without_edges;
}

/// The objective for one instance, one draw: the loss, and domega += its gradient.
///
/// `network` evaluates the GNN: std::span<const T> forward(std::span<const T> mask), and for the
/// last mask void backward(std::span<const T> dlogits, std::span<T> dmask), which adds. Both
/// directions of an edge share a mask entry, made from the mean of their omegas; `noise` is per
/// pair.
template <class T, class Network, class KeepNetwork>
double ranking_loss(const EdgePairs& pairs, std::span<const T> omega, std::span<const T> noise,
                    const RankingTerms& terms, std::size_t c, T scale, Network& network,
                    KeepNetwork& keep_network, std::span<T> domega) {
  if (pairs.count() == 0) return 0;
  std::vector<T> noisy, m, mask, dmask(omega.size(), T(0)), dm, dlogits, dpair;
  pairs.mean<T>(omega, noisy);
  for (std::size_t k = 0; k < noisy.size(); ++k) noisy[k] += noise[k];

  shifted_mask<T>(noisy, terms.tau, terms.keep_share, m);
  pairs.spread<T>(m, mask);
  std::span<const T> logits = keep_network.forward(mask);
  dlogits.assign(logits.size(), T(0));
  double loss = terms.in_company ? keep_log_loss<T>(logits, c, scale, dlogits)
                                 : keep_loss<T>(logits, c, scale, dlogits);
  keep_network.backward(dlogits, dmask);
  pairs.sum<T>(dmask, dm);
  shifted_mask_backward<T>(m, terms.tau, dm, dpair);
  pairs.mean_backward<T>(dpair, domega);
  if (terms.remove_weight == 0) return loss;

  shifted_mask<T>(noisy, terms.tau, terms.remove_share, m);
  pairs.spread<T>(m, mask);
  for (T& value : mask) value = T(1) - value;
  logits = network.forward(mask);
  std::fill(dlogits.begin(), dlogits.end(), T(0));
  loss += remove_loss<T>(logits, c, scale * static_cast<T>(terms.remove_weight), dlogits);
  std::fill(dmask.begin(), dmask.end(), T(0));
  network.backward(dlogits, dmask);
  pairs.sum<T>(dmask, dm);
  for (T& value : dm) value = -value;
  shifted_mask_backward<T>(m, terms.tau, dm, dpair);
  pairs.mean_backward<T>(dpair, domega);
  return loss;
}

/// The same network for both terms.
template <class T, class Network>
double ranking_loss(const EdgePairs& pairs, std::span<const T> omega, std::span<const T> noise,
                    const RankingTerms& terms, std::size_t c, T scale, Network& network,
                    std::span<T> domega) {
  return ranking_loss<T>(pairs, omega, noise, terms, c, scale, network, network, domega);
}

}  // namespace pgexplainer
