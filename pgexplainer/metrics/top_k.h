// An explanation cut to a set of edges, against the true set. With TP, FP, FN, TN counted over
// edges:
//
//   accuracy = (TP + TN) / all     precision = TP / (TP + FP)     recall = TP / (TP + FN)
//   F1 = 2 TP / (2 TP + FP + FN)
//
// The cut is a threshold (PyG's groundtruth_metrics) or the k largest scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

struct MaskAgreement {
  double accuracy, precision, recall, f1;  ///< as PyG, a share of nothing is 0
  double auroc;  ///< of the uncut prediction; NaN if the target has one class
};

/// Predicted is what is > threshold, true what is >= threshold; both are compared in float.
/// Accuracy of no edges is NaN.
MaskAgreement compare_masks(std::span<const float> prediction, std::span<const float> target,
                            float threshold = 0.5F);

/// The ids of the k largest scores, largest first; of equal scores the lower id. All ids if there
/// are fewer than k. Throws on NaN and on k < 0.
std::vector<std::int64_t> top_k(std::span<const float> score, std::int64_t k);

struct TopKAgreement {
  double precision;  ///< NaN if nothing is taken (k = 0 or no edges)
  double recall;     ///< NaN if no edge is true
  double accuracy;   ///< NaN if there are no edges
};

/// The k largest scores (or all, if there are fewer) taken as the explanation.
TopKAgreement top_k_agreement(std::span<const std::uint8_t> label, std::span<const float> score,
                              std::int64_t k);

/// A feature mask cut to whole features: 1 in the k columns of largest sum (of equal ones the
/// first), 0 elsewhere.
template <class T>
Matrix<T> keep_top_columns(const Matrix<T>& mask, Index k);

}  // namespace pgexplainer
