// Dropout (Srivastava et al., JMLR 2014), in training only: each entry is kept with probability 1 -
// p and divided by it. The noise is counter-based, keyed by (seed, epoch, piece), so the adjoint
// recomputes nothing and threads do not matter.
#pragma once

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/core/random.h"
#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

struct DropoutOptions {
  double p = 0.5;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("p", &DropoutOptions::p, Bounds{0, 0.999}, "probability that an entry is dropped");
  }
};

template <class T>
class Dropout final : public Layer<T> {
 public:
  /// `position` tells several dropout layers of one network apart.
  Dropout(const DropoutOptions& options, std::uint32_t position, Index channels)
      : p_(options.p), position_(position), channels_(channels) {}

  [[nodiscard]] Index out_channels() const override { return channels_; }

  void forward(const T*, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override {
    if (!context.training) {
      out = x;
      return;
    }
    Matrix<T>& scale = saved.matrix[0];
    scale.resize(x.rows(), x.cols());
    RandomStream random(context.dropout_seed + position_, RandomPurpose::dropout,
                        context.dropout_key[0], context.dropout_key[1]);
    const auto threshold = static_cast<std::uint32_t>(p_ * 4294967296.0);
    const T keep = static_cast<T>(1.0 / (1.0 - p_));
    for (Index i = 0; i < scale.size(); ++i) scale.data()[i] = random() < threshold ? T(0) : keep;
    out = x.cwiseProduct(scale);
  }

  void backward(const T*, const LayerContext<T>& context, const Matrix<T>&, const Matrix<T>&,
                const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    if (!gradient.x) return;
    if (context.training)
      *gradient.x = dout.cwiseProduct(saved.matrix[0]);
    else
      *gradient.x = dout;
  }

 private:
  double p_;
  std::uint32_t position_;
  Index channels_;
};

}  // namespace pgexplainer
