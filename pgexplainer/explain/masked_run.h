// One instance's network as the objectives see it: a mask goes in, the explained row of logits
// comes out, and its gradient goes back to the mask.
#pragma once

#include <algorithm>
#include <span>

#include "pgexplainer/model/gnn.h"
#include "pgexplainer/model/instance_graph.h"

namespace pgexplainer {

/// The instance must stay where it is.
class MaskedRun {
 public:
  MaskedRun(const InstanceGraph& instance, GnnRun& run)
      : run_(&run), input_(instance.input()), row_(instance.logit_row) {}

  /// Valid until the next call.
  std::span<const float> logits(std::span<const float> mask) {
    const Matrix<float>& all = run_->forward(input_, mask);
    dlogits_.setZero(all.rows(), all.cols());
    return {all.data() + row_ * all.cols(), static_cast<std::size_t>(all.cols())};
  }
  /// For the last mask: dmask += .
  void backward(std::span<const float> dlogits, std::span<float> dmask) {
    std::copy(dlogits.begin(), dlogits.end(), dlogits_.data() + row_ * dlogits_.cols());
    run_->backward(dlogits_, dmask, nullptr);
  }

 private:
  GnnRun* run_;
  GnnInput<float> input_;
  Index row_;
  Matrix<float> dlogits_;
};

}  // namespace pgexplainer
