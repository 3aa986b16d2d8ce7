#include "pgexplainer/model/regression_gnn.h"

#include <cmath>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/model/two_class_gnn.h"

namespace pgexplainer {
namespace {

constexpr float kFloor = 0.01F;  // of |y - y_0|^2 / scale^2: the logit stays finite

class RegressionRun final : public GnnRun {
 public:
  RegressionRun(const Gnn& network, float scale)
      : masked_(network.new_run()), whole_(network.new_run()), scale_(scale) {}

  /// The logits are (-log(floor + |y - y_0|^2 / scale^2), 0).
  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    difference_ = masked_->forward(input, edge_mask);
    difference_ -= whole_->forward(input, {});
    difference_ /= scale_;
    logits_.setZero(difference_.rows(), 2);
    for (Index i = 0; i < difference_.rows(); ++i)
      logits_(i, 0) = -std::log(kFloor + squared_distance(i));
    return logits_;
  }
  void backward(const Matrix<float>& dlogits, std::span<float> dmask, Matrix<float>* dx) override {
    dy_.resize(difference_.rows(), difference_.cols());
    for (Index i = 0; i < difference_.rows(); ++i)
      dy_.row(i) =
          difference_.row(i) * (-2 * dlogits(i, 0) / (scale_ * (kFloor + squared_distance(i))));
    masked_->backward(dy_, dmask, dx);
  }
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override {
    return masked_->embed(input, kind);
  }

 private:
  [[nodiscard]] float squared_distance(Index i) const {
    float sum = 0;
    for (Index j = 0; j < difference_.cols(); ++j) sum += difference_(i, j) * difference_(i, j);
    return sum;
  }

  std::unique_ptr<GnnRun> masked_, whole_;
  float scale_;
  Matrix<float> difference_;  // (y - y_0) / scale
  Matrix<float> dy_, logits_;
};

class RegressionGnn final : public TwoClassGnn {
 public:
  RegressionGnn(std::shared_ptr<const Gnn> numbers, float scale)
      : TwoClassGnn(std::move(numbers)), scale_(scale) {}

  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<RegressionRun>(network(), scale_);
  }

 private:
  float scale_;
};

}  // namespace

std::unique_ptr<Gnn> make_regression_gnn(std::shared_ptr<const Gnn> network, double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw_bad_input("the scale of the predicted numbers is {}, expected one above 0", scale);
  return std::make_unique<RegressionGnn>(std::move(network), static_cast<float>(scale));
}

}  // namespace pgexplainer
