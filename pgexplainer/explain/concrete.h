// The binary concrete distribution (Maddison et al., ICLR 2017): a smooth stand-in for "keep this
// edge or not". Eq. (4): epsilon ~ Uniform(0, 1), e = sigmoid((log epsilon - log(1 - epsilon) +
// omega) / tau).
#pragma once

#include <cmath>

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
T concrete_sample(T omega, T tau, T noise) {
  return sigmoid((noise + omega) / tau);
}

/// de/domega of a sample e.
template <class T>
T concrete_slope(T e, T tau) {
  return e * (T(1) - e) / tau;
}

}  // namespace pgexplainer
