// The binary concrete distribution (Maddison et al., ICLR 2017): a smooth stand-in for "keep this
// edge or not". Eq. (4): epsilon ~ Uniform(0, 1), e = sigmoid((log epsilon - log(1 - epsilon) +
// omega) / tau).
#pragma once

#include <cmath>
#include <span>

#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {

template <class T>
T sigmoid(T x) {
  return x >= T(0) ? T(1) / (T(1) + std::exp(-x)) : std::exp(x) / (T(1) + std::exp(x));
}

/// log epsilon - log(1 - epsilon): the noise of Eq. (4).
template <class T>
T logit(T epsilon) {
  return std::log(epsilon) - std::log1p(-epsilon);
}

/// Eq. (4) for given noise logit(epsilon).
template <class T>
void concrete_samples(std::span<const T> omega, T tau, std::span<const T> noise, std::span<T> e) {
  for_each_lanes<T>(e.size(), [&](std::size_t k, auto n) {
    const Lanes<T> noisy = load_lanes<T>(omega.data() + k, n) + load_lanes<T>(noise.data() + k, n);
    store_lanes<T>(logistic_of(noisy / tau), e.data() + k, n);
  });
}

/// de/domega of a sample e.
template <class T>
T concrete_slope(T e, T tau) {
  return e * (T(1) - e) / tau;
}

}  // namespace pgexplainer
