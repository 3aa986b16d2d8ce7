// Adam (Kingma and Ba, ICLR 2015) as torch.optim.Adam: bias-corrected moments, eps outside the
// square root, weight decay added to the gradient.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace pgexplainer {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
};

template <class T>
struct AdamState {
  std::int64_t step = 0;
  std::vector<T> m, v;  ///< first and second moment, one per parameter
};

/// One step on theta; entries with trainable[i] == 0 stay (empty = all move).
template <class T>
void adam_step(const AdamOptions& options, std::span<const T> gradient,
               std::span<const std::uint8_t> trainable, AdamState<T>& state, std::span<T> theta) {
  state.m.resize(theta.size(), T(0));
  state.v.resize(theta.size(), T(0));
  ++state.step;
  const auto t = static_cast<double>(state.step);
  const T rate = static_cast<T>(options.lr / (1.0 - std::pow(options.beta1, t)));
  const T correction = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, t)));
  const T beta1 = static_cast<T>(options.beta1);
  const T beta2 = static_cast<T>(options.beta2);
  const T eps = static_cast<T>(options.eps);
  const T decay = static_cast<T>(options.weight_decay);
  const auto move = [&](std::size_t i) {
    const T g = gradient[i] + decay * theta[i];
    state.m[i] += (T(1) - beta1) * (g - state.m[i]);
    state.v[i] = beta2 * state.v[i] + (T(1) - beta2) * g * g;
    theta[i] -= rate * state.m[i] / (std::sqrt(state.v[i]) * correction + eps);
  };
  if (trainable.empty())  // without a branch in the loop, whole vectors move
    for (std::size_t i = 0; i < theta.size(); ++i) move(i);
  else
    for (std::size_t i = 0; i < theta.size(); ++i)
      if (trainable[i]) move(i);
}

}  // namespace pgexplainer
