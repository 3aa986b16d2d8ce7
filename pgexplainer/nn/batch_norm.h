// BatchNorm (Ioffe and Szegedy, ICML 2015): y = (x - mean) / sqrt(var + eps) * weight + bias, per
// column.
//
// In training, mean and (biased) variance are those of the rows at hand, and the running statistics
// move towards them; in evaluation the running statistics are used. With fixed_statistics they are
// never touched: mean 0 and variance 1, an affine map, which is what the batch norm of the paper's
// released networks amounts to.
#pragma once

#include <string>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool fixed_statistics = false;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("eps", &BatchNormOptions::eps, Bounds{0, 1}, "added to the variance");
    field("momentum", &BatchNormOptions::momentum, Bounds{0, 1}, "of the running statistics");
    field("fixed_statistics", &BatchNormOptions::fixed_statistics, Bounds{},
          "never use or learn batch statistics: an affine map");
  }
};

template <class T>
class BatchNorm final : public Layer<T> {
 public:
  BatchNorm(const BatchNormOptions& options, const std::string& name, Index channels,
            ParameterLayout& layout)
      : options_(options),
        weight_(layout.add(name + ".weight", {channels}, Init::constant(1))),
        bias_(layout.add(name + ".bias", {channels}, Init::constant(0))),
        running_mean_(layout.add(name + ".running_mean", {channels}, Init::constant(0), false)),
        running_var_(layout.add(name + ".running_var", {channels}, Init::constant(1), false)) {}

  [[nodiscard]] Index out_channels() const override { return weight_.cols; }
  [[nodiscard]] bool mixes_all_rows(bool training) const override {
    return training && !options_.fixed_statistics;
  }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override {
    Matrix<T>& normalized = saved.matrix[kNormalized];
    Matrix<T>& mean = saved.matrix[kMean];
    Matrix<T>& variance = saved.matrix[kVariance];
    Matrix<T>& inverse = saved.matrix[kInverse];
    if (mixes_all_rows(context.training) && x.rows() > 0) {
      mean = x.colwise().mean();
      variance = (x.rowwise() - mean.row(0)).array().square().colwise().mean();
    } else {
      mean = running_mean_.in(theta);
      variance = running_var_.in(theta);
    }
    inverse = (variance.array() + static_cast<T>(options_.eps)).rsqrt();
    normalized.resize(x.rows(), x.cols());
    out.resize(x.rows(), x.cols());
    const Index cols = x.cols();
    const T* weight = theta + weight_.offset;
    const T* bias = theta + bias_.offset;
    for (Index r = 0; r < x.rows(); ++r)
      for (Index c = 0; c < cols; ++c) {
        const T n = (x(r, c) - mean(0, c)) * inverse(0, c);
        normalized(r, c) = n;
        out(r, c) = n * weight[c] + bias[c];
      }
  }

  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>&, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    const Matrix<T>& normalized = saved.matrix[kNormalized];
    const Matrix<T>& inverse = saved.matrix[kInverse];
    if (gradient.theta) {
      T* dweight = gradient.theta + weight_.offset;
      for (Index r = 0; r < dout.rows(); ++r)
        for (Index c = 0; c < dout.cols(); ++c) dweight[c] += dout(r, c) * normalized(r, c);
      add_column_sums(dout, gradient.theta + bias_.offset);
    }
    if (!gradient.x) return;
    Matrix<T>& dx = *gradient.x;
    dx = dout.array().rowwise() * weight_.in(theta).row(0).array();
    if (mixes_all_rows(context.training) && x.rows() > 0) {
      const Matrix<T> mean_d = dx.colwise().mean();
      const Matrix<T> mean_dn = dx.cwiseProduct(normalized).colwise().mean();
      dx.rowwise() -= mean_d.row(0);
      dx.array() -= normalized.array().rowwise() * mean_dn.row(0).array();
    }
    dx.array().rowwise() *= inverse.row(0).array();
  }

  /// PyTorch keeps the unbiased variance.
  void update_buffers(const Saved<T>& saved, T* theta) const override {
    if (options_.fixed_statistics) return;
    const T rate = static_cast<T>(options_.momentum);
    const auto rows = static_cast<T>(saved.matrix[kNormalized].rows());
    const T unbiased = rows > T(1) ? rows / (rows - T(1)) : T(1);
    auto mean = running_mean_.in(theta);
    auto variance = running_var_.in(theta);
    mean = (T(1) - rate) * mean + rate * saved.matrix[kMean];
    variance = (T(1) - rate) * variance + rate * unbiased * saved.matrix[kVariance];
  }

 private:
  enum { kNormalized, kMean, kVariance, kInverse };
  BatchNormOptions options_;
  Slot weight_, bias_, running_mean_, running_var_;
};

}  // namespace pgexplainer
