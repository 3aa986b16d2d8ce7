#include "pgexplainer/explain/explained_row.h"

#include "pgexplainer/core/error.h"

namespace pgexplainer {

std::span<const float> ExplainedRow::forward(std::span<const float> mask) {
  return forward(mask, instance_->x);
}

std::span<const float> ExplainedRow::forward(std::span<const float> mask, const Matrix<float>& x) {
  input_.x = &x;
  const Matrix<float>& logits = run_->forward(input_, mask);
  num_rows_ = logits.rows();
  const std::span<const float> row(logits.data() + instance_->logit_row * logits.cols(),
                                   static_cast<std::size_t>(logits.cols()));
  for (const float value : row)
    if (!std::isfinite(value))
      throw_bad_input(
          "the network gives the logit {} for instance {}; expected finite numbers: check the "
          "features and the weights, or train again with a smaller learning rate",
          value, instance_->instance.id);
  return row;
}

void ExplainedRow::backward(std::span<const float> dlogits, std::span<float> dmask,
                            Matrix<float>* dx) {
  dlogits_.setZero(num_rows_, static_cast<Index>(dlogits.size()));
  std::copy(dlogits.begin(), dlogits.end(),
            dlogits_.data() + instance_->logit_row * dlogits_.cols());
  run_->backward(dlogits_, dmask, dx);
}

std::size_t predicted_class(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double probability(std::span<const float> logits, std::size_t c) {
  double total = 0;
  for (const float z : logits)
    total += std::exp(static_cast<double>(z) - static_cast<double>(logits[c]));
  return 1.0 / total;
}

RandomStream instance_stream(std::uint64_t seed, const Instance& instance) {
  return {seed, RandomPurpose::explain, static_cast<std::uint32_t>(instance.id),
          static_cast<std::uint32_t>(instance.second)};
}

}  // namespace pgexplainer
