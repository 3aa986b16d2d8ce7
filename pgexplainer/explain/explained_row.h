// The row of logits that is explained, as a function of an edge mask and of the features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pgexplainer/core/random.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// The instance and the run must outlive it.
class ExplainedRow {
 public:
  ExplainedRow(const InstanceGraph& instance, GnnRun& run)
      : instance_(&instance), run_(&run), input_(instance.input()) {}

  /// Logits for a mask (empty = every edge whole) and the instance's own features, or others.
  /// Throws if one is not finite. Valid until the next call.
  std::span<const float> forward(std::span<const float> mask);
  std::span<const float> forward(std::span<const float> mask, const Matrix<float>& x);
  /// The adjoint of the last forward(): adds to dmask (empty = not wanted), sets *dx (null = not
  /// wanted).
  void backward(std::span<const float> dlogits, std::span<float> dmask,
                Matrix<float>* dx = nullptr);

 private:
  const InstanceGraph* instance_;
  GnnRun* run_;
  GnnInput<float> input_;
  Matrix<float> dlogits_;
  Index num_rows_ = 0;
};

/// The first of the largest logits.
std::size_t predicted_class(std::span<const float> logits);
/// Softmax probability of class c.
double probability(std::span<const float> logits, std::size_t c);

/// -log P_c, and its gradient (overwritten): exact even where P_c rounds to one, so that a
/// confident network still ranks its edges.
template <class T>
double class_loss(std::span<const T> logits, std::size_t c, std::vector<T>& dlogits) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total(0), rest(0);
  for (const T z : logits) total += std::exp(z - top);
  dlogits.resize(logits.size());
  for (std::size_t k = 0; k < logits.size(); ++k) {
    dlogits[k] = std::exp(logits[k] - top) / total;
    if (k != c) rest += dlogits[k];
  }
  dlogits[c] = -rest;
  return static_cast<double>(std::log(total) - (logits[c] - top));
}

/// The random numbers of one instance, the same on any number of threads.
RandomStream instance_stream(std::uint64_t seed, const Instance& instance);

}  // namespace pgexplainer
