// A network so simple that every metric can be worked out by hand: two classes, logits
// (bias + sum of x_00 * weight_e * mask_e, 0), one row.
#pragma once

#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

class LinearRun final : public GnnRun {
 public:
  LinearRun(double bias, std::vector<double> weight) : bias_(bias), weight_(std::move(weight)) {}

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    ++num_forwards;
    double logit = bias_;
    const double x = input.x ? static_cast<double>((*input.x)(0, 0)) : 1.0;
    for (EdgeId slot = 0; slot < input.graph.num_edges(); ++slot) {
      const std::size_t e = at(input.graph.edge_of(slot));
      logit += x * weight_.at(e) * (edge_mask.empty() ? 1.0 : static_cast<double>(edge_mask[e]));
    }
    logits_.setZero(1, 2);
    logits_(0, 0) = static_cast<float>(logit);
    return logits_;
  }
  void backward(const Matrix<float>&, std::span<float>, Matrix<float>*) override {}
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding) override { return *input.x; }

  int num_forwards = 0;

 private:
  double bias_;
  std::vector<double> weight_;
  Matrix<float> logits_;
};

}  // namespace pgexplainer
