#include "pgexplainer/metrics/fidelity.h"

#include <cmath>
#include <limits>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

template <class T>
void check_logits(const Matrix<T>& full, const Matrix<T>& other, const char* name) {
  if (full.cols() == 0 || other.rows() != full.rows() || other.cols() != full.cols())
    throw_bad_input("the {} logits are {} x {}, the full ones {} x {}, expected one shape", name,
                    other.rows(), other.cols(), full.rows(), full.cols());
  for (Index row = 0; row < full.rows(); ++row)
    for (Index c = 0; c < full.cols(); ++c)
      if (!std::isfinite(full(row, c)) || !std::isfinite(other(row, c)))
        throw_bad_input("the full or {} logits of row {} are not finite", name, row);
}

template <class T>
Index predicted_class(const Matrix<T>& logits, Index row) {
  Index best = 0;
  for (Index c = 1; c < logits.cols(); ++c)
    if (logits(row, c) > logits(row, best)) best = c;
  return best;
}

/// log softmax(logits[row])[c], in double whatever T is.
template <class T>
double log_probability(const Matrix<T>& logits, Index row, Index c) {
  const auto largest = static_cast<double>(logits(row, predicted_class(logits, row)));
  double total = 0.0;
  for (Index k = 0; k < logits.cols(); ++k)
    total += std::exp(static_cast<double>(logits(row, k)) - largest);
  return static_cast<double>(logits(row, c)) - largest - std::log(total);
}

/// Fidelity whose plus and minus are the means over rows of loss(row, complement or masked).
template <class T, class Loss>
Fidelity mean_over_rows(const Predictions<T>& logits, Loss&& loss) {
  check_logits(logits.full, logits.masked, "masked");
  check_logits(logits.full, logits.complement, "complement");
  Fidelity sum{0.0, 0.0};
  for (Index row = 0; row < logits.full.rows(); ++row) {
    sum.plus += loss(row, logits.complement);
    sum.minus += loss(row, logits.masked);
  }
  const auto rows = static_cast<double>(logits.full.rows());
  return {sum.plus / rows, sum.minus / rows};  // 0 / 0 = NaN: no rows, no fidelity
}

template <class T>
void check_mask(const T* mask, std::size_t size, const char* name) {
  for (std::size_t i = 0; i < size; ++i)
    if (!(mask[i] >= T(0) && mask[i] <= T(1)))
      throw_bad_input("entry {} of the {} mask is {}, expected a number from 0 to 1", i, name,
                      mask[i]);
}

/// x times a mask of the same shape, of one row or of one column.
template <class T>
Matrix<T> mask_features(const Matrix<T>& x, const Matrix<T>& mask) {
  if ((mask.rows() != x.rows() && mask.rows() != 1) ||
      (mask.cols() != x.cols() && mask.cols() != 1))
    throw_bad_input("the node mask is {} x {}, expected {} x {}, or one row, or one column",
                    mask.rows(), mask.cols(), x.rows(), x.cols());
  Matrix<T> masked(x.rows(), x.cols());
  for (Index row = 0; row < x.rows(); ++row)
    for (Index c = 0; c < x.cols(); ++c)
      masked(row, c) = x(row, c) * mask(mask.rows() == 1 ? 0 : row, mask.cols() == 1 ? 0 : c);
  return masked;
}

}  // namespace

template <class T>
Fidelity fidelity_by_label(const Predictions<T>& logits) {
  return mean_over_rows(logits, [&](Index row, const Matrix<T>& changed) {
    return predicted_class(changed, row) == predicted_class(logits.full, row) ? 0.0 : 1.0;
  });
}

template <class T>
Fidelity fidelity_by_label(const Predictions<T>& logits, std::span<const std::int64_t> label) {
  if (label.size() != at(logits.full.rows()))
    throw_bad_input("got {} labels for {} rows of logits", label.size(), logits.full.rows());
  return mean_over_rows(logits, [&](Index row, const Matrix<T>& changed) {
    const bool before = predicted_class(logits.full, row) == label[at(row)];
    const bool after = predicted_class(changed, row) == label[at(row)];
    return before == after ? 0.0 : 1.0;
  });
}

template <class T>
Fidelity fidelity_by_probability(const Predictions<T>& logits) {
  return mean_over_rows(logits, [&](Index row, const Matrix<T>& changed) {
    const Index y = predicted_class(logits.full, row);
    return std::exp(log_probability(logits.full, row, y)) -
           std::exp(log_probability(changed, row, y));
  });
}

template <class T>
double unfaithfulness(const Matrix<T>& full, const Matrix<T>& masked) {
  check_logits(full, masked, "masked");
  double divergence = 0.0;
  for (Index row = 0; row < full.rows(); ++row)
    for (Index c = 0; c < full.cols(); ++c) {
      const double log_p = log_probability(masked, row, c);
      divergence += std::exp(log_p) * (log_p - log_probability(full, row, c));
    }
  return -std::expm1(-divergence / static_cast<double>(full.rows()));
}

double characterization_score(double fidelity_plus, double fidelity_minus, double weight_plus,
                              double weight_minus) {
  if (!(weight_plus >= 0.0 && weight_minus >= 0.0) ||
      !(std::abs(weight_plus + weight_minus - 1.0) <= 1e-9))
    throw_bad_input("the weights are {} and {}, expected shares that add up to 1", weight_plus,
                    weight_minus);
  if (fidelity_plus <= 0.0 || fidelity_minus >= 1.0) return 0.0;
  return 1.0 / (weight_plus / fidelity_plus + weight_minus / (1.0 - fidelity_minus));
}

double fidelity_curve_auc(std::span<const double> fidelity_plus,
                          std::span<const double> fidelity_minus, std::span<const double> x) {
  if (fidelity_plus.size() != x.size() || fidelity_minus.size() != x.size())
    throw_bad_input("got {} fidelity+ and {} fidelity- for {} points", fidelity_plus.size(),
                    fidelity_minus.size(), x.size());
  double area = 0.0;
  double last = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (fidelity_minus[i] == 1.0)
      throw_bad_input("fidelity- is 1 at point {}, where fid+ / (1 - fid-) has no value", i);
    const double value = fidelity_plus[i] / (1.0 - fidelity_minus[i]);
    if (i > 0) {
      if (!(x[i] >= x[i - 1]))
        throw_bad_input("point {} of the curve lies at {}, before {}", i, x[i], x[i - 1]);
      area += 0.5 * (value + last) * (x[i] - x[i - 1]);
    }
    last = value;
  }
  return area;
}

template <class T>
Predictions<T> evaluate_masks(const ForwardFunction<T>& forward, const GnnInput<T>& input,
                              std::span<const T> edge_mask, const Matrix<T>* node_mask) {
  check_mask(edge_mask.data(), edge_mask.size(), "edge");
  Predictions<T> logits;
  logits.full = forward(input, {});
  GnnInput<T> changed = input;
  Matrix<T> x;
  if (node_mask) {
    if (!input.x) throw_bad_input("a node mask needs node features");
    check_mask(node_mask->data(), at(node_mask->size()), "node");
    x = mask_features<T>(*input.x, *node_mask);
    changed.x = &x;
  }
  logits.masked = forward(changed, edge_mask);

  std::vector<T> rest(edge_mask.begin(), edge_mask.end());
  for (T& m : rest) m = T(1) - m;
  if (node_mask) x = mask_features<T>(*input.x, (T(1) - node_mask->array()).matrix());
  logits.complement = forward(changed, rest);
  return logits;
}

Predictions<float> evaluate_masks(GnnRun& run, const GnnInput<float>& input,
                                  std::span<const float> edge_mask,
                                  const Matrix<float>* node_mask) {
  return evaluate_masks<float>(
      [&run](const GnnInput<float>& changed, std::span<const float> mask) {
        return run.forward(changed, mask);
      },
      input, edge_mask, node_mask);
}

#define PGEXPLAINER_INSTANTIATE(T)                                                           \
  template Fidelity fidelity_by_label(const Predictions<T>&);                                \
  template Fidelity fidelity_by_label(const Predictions<T>&, std::span<const std::int64_t>); \
  template Fidelity fidelity_by_probability(const Predictions<T>&);                          \
  template double unfaithfulness(const Matrix<T>&, const Matrix<T>&);                        \
  template Predictions<T> evaluate_masks(const ForwardFunction<T>&, const GnnInput<T>&,      \
                                         std::span<const T>, const Matrix<T>*);
PGEXPLAINER_INSTANTIATE(float)
PGEXPLAINER_INSTANTIATE(double)
#undef PGEXPLAINER_INSTANTIATE

}  // namespace pgexplainer
