// GNNExplainer (Ying et al., NeurIPS 2019): for each instance anew, gradient descent on logits of
// an edge mask M and of a feature mask F,
//
//   min  -log P_c(G with messages * m, X * f) + a sum m + b mean H(m) + c mean f + d mean H(f),
//   m = sigmoid(M), f = sigmoid(F), c the predicted class, H the element-wise entropy.
//
// The steps are PyG's: Adam; the first step has the prediction term alone, and only entries whose
// gradient is then not zero (that take part in the prediction) are regularised and scored.
// From the original code instead: the network sees (m_ij + m_ji) / 2 (`symmetric`), and features
// are masked in common for all nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "pgexplainer/explain/concrete.h"
#include "pgexplainer/explain/edge_pairs.h"
#include "pgexplainer/explain/explained_row.h"
#include "pgexplainer/explain/explainer.h"
#include "pgexplainer/nn/adam.h"
#include "pgexplainer/nn/vector_math.h"

namespace pgexplainer {

struct GnnExplainerOptions {
  std::int64_t epochs = 100;
  double lr = 0.01;
  double edge_size = 0.005;
  double edge_entropy = 1.0;
  double feature_size = 1.0;
  double feature_entropy = 0.1;
  std::string feature_mask = "common";
  bool symmetric = true;
  double start_mean = 0.0;

  template <class Visitor>
  static void fields(Visitor&& field) {
    using O = GnnExplainerOptions;
    field("epochs", &O::epochs, Bounds{1, 1e9}, "steps of Adam for each instance");
    field("lr", &O::lr, Bounds{0, 1e3}, "learning rate of Adam");
    field("edge_size", &O::edge_size, Bounds{0, 1e9}, "weight of the sum of the edge mask");
    field("edge_entropy", &O::edge_entropy, Bounds{0, 1e9},
          "weight of the edge mask's mean entropy");
    field("feature_size", &O::feature_size, Bounds{0, 1e9}, "weight of the feature mask's mean");
    field("feature_entropy", &O::feature_entropy, Bounds{0, 1e9},
          "weight of the feature mask's mean entropy");
    field("feature_mask", &O::feature_mask, Bounds{},
          "common: one per feature; attributes: one per node and feature; object: one per node; "
          "none");
    field("symmetric", &O::symmetric, Bounds{},
          "both directions of an edge act with the mean of their masks");
    field("start_mean", &O::start_mean, Bounds{-1e3, 1e3},
          "mean of the edge mask's first logits: 0 in PyG, 1 in the original code");
  }
};

/// The terms of the objective, weighted.
struct MaskLoss {
  double prediction = 0, edge_size = 0, edge_entropy = 0, feature_size = 0, feature_entropy = 0;

  [[nodiscard]] double total() const {
    return prediction + edge_size + edge_entropy + feature_size + feature_entropy;
  }
};

/// The masks of one instance and their descent. Legend: E edges, x (N x F) features, theta = edge
/// logits (E), then feature logits (N x F, 1 x F, N x 1 or none).
template <class T>
class MaskDescent {
 public:
  /// Throws if there is no such feature mask. `x` must outlive it.
  MaskDescent(const GnnExplainerOptions& options, const Matrix<T>& x,
              std::span<const EdgeId> reverse);

  std::span<T> edge_logits() { return std::span(theta_).first(num_edges()); }
  std::span<T> feature_logits() { return std::span(theta_).subspan(num_edges()); }
  [[nodiscard]] std::span<const T> gradient() const { return gradient_; }
  /// 1 for entries of theta that take part in the prediction, 0 for others; empty before the first
  /// step.
  [[nodiscard]] std::span<const T> hard() const { return hard_; }

  /// The objective and its gradient. `network` has forward(mask, x), the explained logits, and its
  /// adjoint backward(dlogits, dmask, dx), as ExplainedRow.
  template <class Network>
  MaskLoss evaluate(Network&& network, std::size_t target_class);
  /// One step of Adam along the last gradient.
  void step();

  /// sigmoid of the logits, 0 where not hard.
  [[nodiscard]] std::vector<T> edge_mask() const { return masks(0, num_edges()); }
  [[nodiscard]] std::vector<T> feature_mask() const {
    return masks(num_edges(), theta_.size() - num_edges());
  }

 private:
  [[nodiscard]] std::size_t num_edges() const { return pairs_.num_edges(); }
  [[nodiscard]] std::vector<T> masks(std::size_t begin, std::size_t count) const;
  void regularise(std::size_t begin, std::size_t count, T size_weight, T entropy_weight,
                  bool mean_size, double& size, double& entropy);
  /// The feature logit that masks x(n, f).
  [[nodiscard]] std::size_t feature_at(Index n, Index f) const {
    return num_edges() +
           static_cast<std::size_t>((rows_ > 1 ? n : 0) * cols_ + (cols_ > 1 ? f : 0));
  }

  const GnnExplainerOptions options_;
  const Matrix<T>* x_;
  EdgePairs pairs_;
  Index rows_ = 0, cols_ = 0;  // of the feature logits
  std::vector<T> theta_, sigmoid_, gradient_, hard_;
  AdamState<T> adam_;
  std::vector<T> mask_, dmask_, of_pair_, dlogits_;
  Matrix<T> masked_x_, dx_;
};

template <class T>
MaskDescent<T>::MaskDescent(const GnnExplainerOptions& options, const Matrix<T>& x,
                            std::span<const EdgeId> reverse)
    : options_(options), x_(&x), pairs_(reverse) {
  const std::string& kind = options.feature_mask;
  if (kind != "common" && kind != "attributes" && kind != "object" && kind != "none")
    throw_bad_input("option feature_mask is '{}', expected common, attributes, object or none",
                    kind);
  if (kind != "none") {
    rows_ = kind == "common" ? 1 : x.rows();
    cols_ = kind == "object" ? 1 : x.cols();
  }
  theta_.assign(num_edges() + static_cast<std::size_t>(rows_ * cols_), T(0));
}

template <class T>
template <class Network>
MaskLoss MaskDescent<T>::evaluate(Network&& network, std::size_t target_class) {
  sigmoid_.resize(theta_.size());
  for_each_lanes<T>(theta_.size(), [&](std::size_t i, auto n) {
    store_lanes<T>(logistic_of(load_lanes<T>(theta_.data() + i, n)), sigmoid_.data() + i, n);
  });
  mask_.assign(sigmoid_.begin(), sigmoid_.begin() + static_cast<std::ptrdiff_t>(num_edges()));
  if (options_.symmetric) {
    pairs_.mean<T>(mask_, of_pair_);
    pairs_.spread<T>(of_pair_, mask_);
  }
  const bool masks_features = rows_ > 0;
  if (masks_features) {
    masked_x_.resize(x_->rows(), x_->cols());
    for (Index n = 0; n < x_->rows(); ++n) {
      const T* mask = sigmoid_.data() + feature_at(n, 0);
      if (cols_ > 1)
        for (Index f = 0; f < x_->cols(); ++f) masked_x_(n, f) = (*x_)(n, f) * mask[f];
      else
        masked_x_.row(n) = mask[0] * x_->row(n);
    }
  }

  MaskLoss loss;
  const std::span<const T> logits = network.forward(mask_, masks_features ? masked_x_ : *x_);
  loss.prediction = class_loss(logits, target_class, dlogits_);
  dmask_.assign(num_edges(), T(0));
  network.backward(dlogits_, dmask_, masks_features ? &dx_ : nullptr);

  gradient_.assign(theta_.size(), T(0));
  if (options_.symmetric) {  // the adjoint of the mean
    pairs_.mean<T>(dmask_, of_pair_);
    pairs_.spread<T>(of_pair_, dmask_);
  }
  for (std::size_t e = 0; e < num_edges(); ++e) gradient_[e] = dmask_[e];
  if (masks_features)
    for (Index n = 0; n < x_->rows(); ++n) {
      T* gradient = gradient_.data() + feature_at(n, 0);
      for (Index f = 0; f < x_->cols(); ++f) gradient[cols_ > 1 ? f : 0] += dx_(n, f) * (*x_)(n, f);
    }
  for (std::size_t i = 0; i < theta_.size(); ++i)
    gradient_[i] *= sigmoid_[i] * (T(1) - sigmoid_[i]);

  if (!hard_.empty()) {
    regularise(0, num_edges(), static_cast<T>(options_.edge_size),
               static_cast<T>(options_.edge_entropy), false, loss.edge_size, loss.edge_entropy);
    regularise(num_edges(), theta_.size() - num_edges(), static_cast<T>(options_.feature_size),
               static_cast<T>(options_.feature_entropy), true, loss.feature_size,
               loss.feature_entropy);
  }
  return loss;
}

/// Size and entropy of the hard entries of sigmoid(theta), added to the gradient of theta.
template <class T>
void MaskDescent<T>::regularise(std::size_t begin, std::size_t count, T size_weight,
                                T entropy_weight, bool mean_size, double& size, double& entropy) {
  constexpr T kEps = T(1e-15);
  const auto num_hard =
      static_cast<T>(std::count(hard_.begin() + static_cast<std::ptrdiff_t>(begin),
                                hard_.begin() + static_cast<std::ptrdiff_t>(begin + count), T(1)));
  if (num_hard == T(0)) return;
  entropy_weight /= num_hard;
  if (mean_size) size_weight /= num_hard;
  for_each_lanes<T>(count, [&](std::size_t i, auto n) {
    const Lanes<T> v = load_lanes<T>(&sigmoid_[begin + i], n), rest = 1 - v;
    const Lanes<T> hard = load_lanes<T>(&hard_[begin + i], n);
    const Lanes<T> log_v = log_of(v + kEps), log_rest = log_of(rest + kEps);
    size += sum_lanes<T>(hard * size_weight * v, n);
    entropy -= sum_lanes<T>(hard * entropy_weight * (v * log_v + rest * log_rest), n);
    const Lanes<T> dentropy = log_rest - log_v + rest / (rest + kEps) - v / (v + kEps);
    const Lanes<T> d = hard * (size_weight + entropy_weight * dentropy) * v * rest;
    store_lanes<T>(load_lanes<T>(&gradient_[begin + i], n) + d, &gradient_[begin + i], n);
  });
}

template <class T>
void MaskDescent<T>::step() {
  if (hard_.empty()) {
    hard_.resize(theta_.size());
    for (std::size_t i = 0; i < theta_.size(); ++i) hard_[i] = gradient_[i] != T(0) ? T(1) : T(0);
  }
  AdamOptions adam;
  adam.lr = options_.lr;
  adam_step<T>(adam, gradient_, {}, adam_, theta_);
}

template <class T>
std::vector<T> MaskDescent<T>::masks(std::size_t begin, std::size_t count) const {
  std::vector<T> result(count, T(0));
  for (std::size_t i = 0; i < count; ++i)
    if (hard_.empty() || hard_[begin + i] != T(0)) result[i] = sigmoid(theta_[begin + i]);
  return result;
}

class GnnExplainer final : public Explainer {
 public:
  /// Throws if there is no such feature mask.
  GnnExplainer(const GnnExplainerOptions& options, std::uint64_t seed);

  [[nodiscard]] std::string_view method() const override { return "gnnexplainer"; }
  /// Edge logits start from a normal distribution with PyG's spread, sqrt(2) sqrt(2 / (2 N)) for N
  /// nodes; feature logits with 0.1.
  [[nodiscard]] Scores score(const InstanceGraph& instance, GnnRun& run) const override;

 private:
  GnnExplainerOptions options_;
  std::uint64_t seed_;
};

}  // namespace pgexplainer
