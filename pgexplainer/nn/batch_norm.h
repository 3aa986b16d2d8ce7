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
#include "pgexplainer/nn/strip.h"

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
    Matrix<T>& mean = saved.matrix[kMean];
    Matrix<T>& variance = saved.matrix[kVariance];
    Matrix<T>& unbiased = saved.matrix[kUnbiased];
    if (mixes_all_rows(context.training) && x.rows() > 0) {
      mean = x.colwise().mean();
      variance = (x.rowwise() - mean.row(0)).array().square().colwise().mean();
      const auto rows = static_cast<T>(x.rows());
      unbiased = variance * (rows > T(1) ? rows / (rows - T(1)) : T(1));
    } else {
      mean = running_mean_.in(theta);
      unbiased = variance = running_var_.in(theta);
    }
    saved.matrix[kInverse] = (variance.array() + static_cast<T>(options_.eps)).rsqrt();
    out.resize(x.rows(), x.cols());
    for_each_strip<T>(x.cols(), [&]<class S>(Index c) {
      const auto normalized = normalized_rows<S>(x, saved, c);
      const S weight = S::load(theta + weight_.offset + c);
      const S bias = S::load(theta + bias_.offset + c);
      for (Index r = 0; r < x.rows(); ++r) {
        S y = bias;
        y.add_product(normalized(r), weight);
        y.store(out.data() + r * out.cols() + c);
      }
    });
  }

  // With n = (x - mean) / s and d = dL/dn: dx = d / s, and (d - mean(d) - n mean(d n)) / s where
  // mean and s are those of the rows.
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>&, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    if (gradient.theta) add_column_sums(dout, gradient.theta + bias_.offset);
    if (gradient.x) gradient.x->resize(x.rows(), x.cols());
    const Index rows = x.rows(), cols = x.cols();
    const T share = rows > 0 ? T(1) / static_cast<T>(rows) : T(0);
    for_each_strip<T>(cols, [&]<class S>(Index c) {
      const auto normalized = normalized_rows<S>(x, saved, c);
      const auto dout_row = [&](Index r) { return S::load(dout.data() + r * cols + c); };
      if (gradient.theta) {
        S sum = S::load(gradient.theta + weight_.offset + c);
        for (Index r = 0; r < rows; ++r) sum.add_product(dout_row(r), normalized(r));
        sum.store(gradient.theta + weight_.offset + c);
      }
      if (!gradient.x) return;
      const S weight = S::load(theta + weight_.offset + c);
      const S inverse = S::load(saved.matrix[kInverse].data() + c);
      const auto d_row = [&](Index r) {
        S d = dout_row(r);
        d.multiply(weight);
        return d;
      };
      const bool of_rows = mixes_all_rows(context.training);
      S mean_d{}, mean_dn{};
      for (Index r = 0; of_rows && r < rows; ++r) {
        const S d = d_row(r);
        mean_d.add(d);
        mean_dn.add_product(d, normalized(r));
      }
      mean_d.scale(share);
      mean_dn.scale(-share);
      for (Index r = 0; r < rows; ++r) {
        S d = d_row(r);
        if (of_rows) {
          d.subtract(mean_d);
          d.add_product(mean_dn, normalized(r));
        }
        d.multiply(inverse);
        d.store(gradient.x->data() + r * cols + c);
      }
    });
  }

  /// PyTorch keeps the unbiased variance.
  void update_buffers(const Saved<T>& saved, T* theta) const override {
    if (options_.fixed_statistics) return;
    const T rate = static_cast<T>(options_.momentum);
    auto mean = running_mean_.in(theta);
    auto variance = running_var_.in(theta);
    mean = (T(1) - rate) * mean + rate * saved.matrix[kMean];
    variance = (T(1) - rate) * variance + rate * saved.matrix[kUnbiased];
  }

 private:
  enum { kMean, kVariance, kUnbiased, kInverse };

  /// A function of the row: (x - mean) / sqrt(var + eps), one strip of its columns.
  template <class S>
  static auto normalized_rows(const Matrix<T>& x, const Saved<T>& saved, Index c) {
    const S mean = S::load(saved.matrix[kMean].data() + c);
    const S inverse = S::load(saved.matrix[kInverse].data() + c);
    return [&x, c, mean, inverse](Index r) {
      S row = S::load(x.data() + r * x.cols() + c);
      row.subtract(mean);
      row.multiply(inverse);
      return row;
    };
  }

  BatchNormOptions options_;
  Slot weight_, bias_, running_mean_, running_var_;
};

}  // namespace pgexplainer
