// ReLU, ELU, LeakyReLU and tanh. Each derivative is written in terms of the output, which is kept
// anyway.
#pragma once

#include <cmath>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/nn/layer.h"

namespace pgexplainer {

struct ActivationOptions {
  double negative_slope = 0.01;
  double alpha = 1.0;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("negative_slope", &ActivationOptions::negative_slope, Bounds{0, 1}, "of LeakyReLU");
    field("alpha", &ActivationOptions::alpha, Bounds{1e-6, 1e6}, "of ELU");
  }
};

enum class ActivationKind { relu, elu, leaky_relu, tanh };

template <class T>
void relu_backward(const T* out, const T* dout, T* dx, Index count) {
  for (Index i = 0; i < count; ++i) dx[i] = out[i] > T(0) ? dout[i] : T(0);
}

template <class T>
class Activation final : public Layer<T> {
 public:
  Activation(ActivationKind kind, const ActivationOptions& options, Index channels)
      : kind_(kind),
        slope_(static_cast<T>(options.negative_slope)),
        alpha_(static_cast<T>(options.alpha)),
        channels_(channels) {}

  [[nodiscard]] ActivationKind kind() const { return kind_; }
  [[nodiscard]] Index out_channels() const override { return channels_; }

  void forward(const T*, const LayerContext<T>&, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>&) const override {
    switch (kind_) {
      case ActivationKind::relu:
        out = x.cwiseMax(T(0));
        break;
      case ActivationKind::tanh:
        out = x.unaryExpr([](T v) { return std::tanh(v); });
        break;
      case ActivationKind::leaky_relu:
        out = x.cwiseMax(T(0)) + slope_ * x.cwiseMin(T(0));
        break;
      case ActivationKind::elu:
        out = x.unaryExpr([a = alpha_](T v) { return v > T(0) ? v : a * std::expm1(v); });
        break;
    }
  }

  void backward(const T*, const LayerContext<T>&, const Matrix<T>&, const Matrix<T>& out,
                const Matrix<T>& dout, Saved<T>&,
                const LayerGradients<T>& gradient) const override {
    if (!gradient.x) return;
    switch (kind_) {
      case ActivationKind::relu:
        gradient.x->resize(out.rows(), out.cols());
        relu_backward(out.data(), dout.data(), gradient.x->data(), out.size());
        break;
      case ActivationKind::tanh:
        *gradient.x = dout.array() * (T(1) - out.array().square());
        break;
      case ActivationKind::leaky_relu:
        *gradient.x = (out.array() > T(0)).select(dout, slope_ * dout);
        break;
      case ActivationKind::elu:
        *gradient.x =
            (out.array() > T(0)).select(dout.array(), dout.array() * (out.array() + alpha_));
        break;
    }
  }

 private:
  ActivationKind kind_;
  T slope_, alpha_;
  Index channels_;
};

}  // namespace pgexplainer
