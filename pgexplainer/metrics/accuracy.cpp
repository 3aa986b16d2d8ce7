#include "pgexplainer/metrics/accuracy.h"

#include <limits>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {

double accuracy(const Matrix<float>& logits, std::span<const std::int64_t> label,
                std::span<const std::uint8_t> chosen) {
  if (at(logits.rows()) != label.size() || label.size() != chosen.size())
    throw_bad_input("accuracy needs as many logits ({}) as labels ({}) and choices ({})",
                    logits.rows(), label.size(), chosen.size());
  std::int64_t correct = 0;
  std::int64_t count = 0;
  for (Index row = 0; row < logits.rows(); ++row) {
    if (!chosen[at(row)]) continue;
    Index best = 0;
    logits.row(row).maxCoeff(&best);
    correct += best == label[at(row)] ? 1 : 0;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(correct) / static_cast<double>(count);
}

SplitAccuracy split_accuracy(const Matrix<float>& logits, const Dataset& dataset) {
  return {accuracy(logits, dataset.y, dataset.train_mask),
          accuracy(logits, dataset.y, dataset.val_mask),
          accuracy(logits, dataset.y, dataset.test_mask)};
}

}  // namespace pgexplainer
