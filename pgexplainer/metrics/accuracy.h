// Accuracy = share of the chosen instances whose largest logit is their label (the first of several
// equal ones).
#pragma once

#include <cstdint>
#include <span>

#include "pgexplainer/core/matrix.h"
#include "pgexplainer/datasets/dataset.h"

namespace pgexplainer {

/// Over the rows with chosen[row] != 0; NaN if there are none.
double accuracy(const Matrix<float>& logits, std::span<const std::int64_t> label,
                std::span<const std::uint8_t> chosen);

struct SplitAccuracy {
  double train, val, test;
};

/// Logits of every instance of the dataset.
SplitAccuracy split_accuracy(const Matrix<float>& logits, const Dataset& dataset);

}  // namespace pgexplainer
