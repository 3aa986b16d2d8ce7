// Fidelity: does the model predict the same without the explanation (fidelity+), and with the
// explanation alone (fidelity-)? With y = the model's class on the whole graph, over instances i:
//
//   by label        fid+ = 1 - mean [argmax complement_i = y_i]    fid- = 1 - mean [argmax masked_i
//   = y_i] by probability  fid+ = mean p_full_i[y] - p_complement_i[y]    fid- = mean p_full_i[y] -
//   p_masked_i[y]
//
// (Yuan et al., "Explainability in Graph Neural Networks: A Taxonomic Survey", 2022; PyG's
// explain.metric). A good explanation has a large fid+ and a small fid-.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

/// Logits of the same instances, one row each: the whole graph, messages times the mask, and
/// messages times 1 - mask.
template <class T>
struct Predictions {
  Matrix<T> full, masked, complement;
};

struct Fidelity {
  double plus, minus;
};

// All of these throw unless the logits are finite and of one shape, and give NaN for no rows. Of
// equal logits the first is the class.

/// Against the model's own classes (PyG: explanation type "model").
template <class T>
Fidelity fidelity_by_label(const Predictions<T>& logits);
/// Against the true labels (PyG: "phenomenon"): fid+ = mean |[y_i = label_i] - [argmax complement_i
/// = label_i]|, fid- likewise with masked.
template <class T>
Fidelity fidelity_by_label(const Predictions<T>& logits, std::span<const std::int64_t> label);
template <class T>
Fidelity fidelity_by_probability(const Predictions<T>& logits);

/// 1 - exp(-mean KL(p_masked || p_full)), in [0, 1], 0 is best (Agarwal et al., "Evaluating
/// Explainability for Graph Neural Networks", 2023). PyG's documentation prints KL(full || masked);
/// its code, followed here, computes the reverse.
template <class T>
double unfaithfulness(const Matrix<T>& full, const Matrix<T>& masked);

/// The weighted harmonic mean of fid+ and 1 - fid-, 1 / (w+ / fid+ + w- / (1 - fid-)); 0 if either
/// is 0 or less (Amara et al., "GraphFramEx", 2022). Throws unless the weights are shares of 1.
double characterization_score(double fidelity_plus, double fidelity_minus, double weight_plus = 0.5,
                              double weight_minus = 0.5);

/// The area under fid+ / (1 - fid-) over ascending x, by trapezoids. Throws if a fid- is 1, where
/// the curve has no value.
double fidelity_curve_auc(std::span<const double> fidelity_plus,
                          std::span<const double> fidelity_minus, std::span<const double> x);

/// How a network is evaluated: logits for an input and an edge mask.
template <class T>
using ForwardFunction =
    std::function<Matrix<T>(const GnnInput<T>& input, std::span<const T> edge_mask)>;

/// Runs the model three times. Masks are in [0, 1]; edge_mask is per edge id of the input, empty =
/// edges are left alone. node_mask, if given, multiplies the features: (nodes, features), (1,
/// features) or (nodes, 1).
template <class T>
Predictions<T> evaluate_masks(const ForwardFunction<T>& forward, const GnnInput<T>& input,
                              std::span<const T> edge_mask, const Matrix<T>* node_mask = nullptr);
Predictions<float> evaluate_masks(GnnRun& run, const GnnInput<float>& input,
                                  std::span<const float> edge_mask,
                                  const Matrix<float>* node_mask = nullptr);

}  // namespace pgexplainer
