// The keep-and-remove objective with whole edges: kept or gone, nothing between.
//
// Half an edge is not half of what the edge does. A network may answer to a weight of 1/2 as to 1,
// or even with more confidence, and so masks in between can rank edges upside down. Here edges are
// drawn, each with the probability that ranking_objective.h gives it as a mask,
//
//   B_e ~ Bernoulli(sigmoid(phi_e)),  phi_e = (omega_e + b) / tau,  b such that the mean is r
//   loss = -E[P_c(G with the edges of B)] + E[P_c(G without the edges of B')]
//
// and the gradient needs the network's answers only, not its slopes: B and its antithetic twin B~
// (from 1 - u where B is from u) share one estimate without bias and of little variance,
//
//   dloss/dphi_e = 1/2 (f(B) - f(B~)) (-1)^(B~_e) [B_e != B~_e] sigmoid(|phi_e|)
//
// Source: Dong, Mnih and Tucker, "DisARM: An Antithetic Gradient Estimator for Binary Latent
// Variables", NeurIPS 2020. It moves in small steps and cannot see what edges do together until it
// draws them together, so it begins where the soft masks have led.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/ranking_objective.h"

namespace pgexplainer {

/// domega from dphi, through phi and through the shift.
template <class T>
void shift_backward(std::span<const T> p, double tau, std::span<const T> dphi,
                    std::vector<T>& domega) {
  double slope_sum = 0, sum = 0;
  for (std::size_t e = 0; e < p.size(); ++e) {
    slope_sum += static_cast<double>(p[e]) * (1.0 - static_cast<double>(p[e]));
    sum += static_cast<double>(dphi[e]);
  }
  const double mean = slope_sum > 0 ? sum / slope_sum : 0.0;
  domega.resize(p.size());
  for (std::size_t e = 0; e < p.size(); ++e)
    domega[e] =
        static_cast<T>((static_cast<double>(dphi[e]) -
                        static_cast<double>(p[e]) * (1.0 - static_cast<double>(p[e])) * mean) /
                       tau);
}

/// The objective for one instance, one draw of each term: the loss, and domega += its gradient.
/// `network` as in ranking_objective.h, without backward(); `uniform` has two numbers per pair.
template <class T, class Network>
double sampled_ranking_loss(const EdgePairs& pairs, std::span<const T> omega,
                            std::span<const T> uniform, const RankingTerms& terms, std::size_t c,
                            T scale, Network& network, std::span<T> domega) {
  if (pairs.count() == 0) return 0;
  const std::size_t count = at(pairs.count());
  std::vector<T> value, p, drawn(count), twin(count), mask, dphi(count), dpair;
  pairs.mean<T>(omega, value);
  double loss = 0;
  for (const bool keep : {true, false}) {
    const std::span<const T> u = uniform.subspan(keep ? 0 : count, count);
    shifted_mask<T>(value, terms.tau, keep ? terms.keep_share : terms.remove_share, p);
    for (std::size_t e = 0; e < count; ++e) {
      drawn[e] = u[e] < p[e] ? T(1) : T(0);
      twin[e] = T(1) - u[e] < p[e] ? T(1) : T(0);
    }
    const auto effect = [&](std::span<const T> chosen) {
      pairs.spread<T>(chosen, mask);
      if (!keep)
        for (T& m : mask) m = T(1) - m;
      const double left = probability(network.forward(mask), c);
      return keep ? -left : left;
    };
    const double f = effect(drawn), f_twin = effect(twin);
    for (std::size_t e = 0; e < count; ++e) {
      const double sign = drawn[e] == twin[e] ? 0.0 : twin[e] > T(0) ? -1.0 : 1.0;
      dphi[e] = scale * static_cast<T>(0.5 * (f - f_twin) * sign) * std::max(p[e], T(1) - p[e]);
    }
    shift_backward<T>(p, terms.tau, dphi, dpair);
    pairs.mean_backward<T>(dpair, domega);
    loss += static_cast<double>(scale) * 0.5 * (f + f_twin);
  }
  return loss;
}

}  // namespace pgexplainer
