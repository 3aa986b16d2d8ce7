// Area under the ROC curve, the paper's measure of an explanation against the planted motif:
//
//   AUC = P(score of a positive > score of a negative) + 1/2 P(equal scores)
//
// over all pairs (positive, negative). Exact: pairs are counted in integers after one sort.
#pragma once

#include <cstdint>
#include <span>

namespace pgexplainer {

/// label[i] != 0 marks a positive. NaN (undefined) unless both classes occur; throws on a NaN score
/// or on different lengths. Scores are only compared, so infinities are allowed.
double roc_auc(std::span<const std::uint8_t> label, std::span<const float> score);
double roc_auc(std::span<const std::uint8_t> label, std::span<const double> score);

struct MeanAuc {
  double mean = 0.0;  ///< NaN if no instance has both classes
  std::int64_t num_instances = 0;
  std::int64_t num_left_out = 0;  ///< instances of one class only, where the AUC is undefined
};

/// Instance i holds entries instance_ptr[i] .. instance_ptr[i+1]-1. The pooled AUC of the paper is
/// roc_auc of all entries at once.
MeanAuc mean_auc_per_instance(std::span<const std::uint8_t> label, std::span<const float> score,
                              std::span<const std::int64_t> instance_ptr);

}  // namespace pgexplainer
