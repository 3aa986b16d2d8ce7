// Softmax and the cross-entropy loss of labels: loss = -sum over chosen rows of log
// softmax(logits)[label], times scale.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

/// Row by row, in a way that does not overflow.
template <class T>
Matrix<T> softmax(const Matrix<T>& logits) {
  Matrix<T> p = (logits.colwise() - logits.rowwise().maxCoeff()).array().exp();
  p.array().colwise() /= p.rowwise().sum().array().eval();
  return p;
}

struct LossSum {
  double loss = 0.0;
  std::int64_t correct = 0;  ///< rows whose largest logit is the label
};

/// Loss over the rows with chosen[row] != 0 (all rows if empty), times scale; dlogits is
/// overwritten.
template <class T>
LossSum softmax_cross_entropy(const Matrix<T>& logits, std::span<const std::int64_t> label,
                              std::span<const std::uint8_t> chosen, double scale,
                              Matrix<T>& dlogits) {
  LossSum sum;
  dlogits.setZero(logits.rows(), logits.cols());
  for (Index row = 0; row < logits.rows(); ++row) {
    if (!chosen.empty() && !chosen[at(row)]) continue;
    const T* in = logits.data() + row * logits.cols();
    T* d = dlogits.data() + row * logits.cols();
    Index best = 0;
    for (Index c = 1; c < logits.cols(); ++c)
      if (in[c] > in[best]) best = c;
    T total(0);
    for (Index c = 0; c < logits.cols(); ++c) total += d[c] = std::exp(in[c] - in[best]);
    const Index target = label[at(row)];
    sum.loss += scale * static_cast<double>(std::log(total) - (in[target] - in[best]));
    sum.correct += best == target ? 1 : 0;
    const T share = static_cast<T>(scale) / total;
    for (Index c = 0; c < logits.cols(); ++c) d[c] *= share;
    d[target] -= static_cast<T>(scale);
  }
  return sum;
}

}  // namespace pgexplainer
