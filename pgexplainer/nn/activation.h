// ReLU, ELU, LeakyReLU, tanh, sigmoid and softplus, whose derivatives are written in terms of the
// output, and GELU and SiLU (Hendrycks and Gimpel, 2016), which need the input: both are kept
// anyway.
#pragma once

#include <cmath>
#include <numbers>

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

enum class ActivationKind { relu, elu, leaky_relu, tanh, sigmoid, softplus, gelu, silu };

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
      case ActivationKind::sigmoid:
        out = x.unaryExpr(&logistic);
        break;
      case ActivationKind::softplus:
        out =
            x.unaryExpr([](T v) { return std::max(v, T(0)) + std::log1p(std::exp(-std::abs(v))); });
        break;
      case ActivationKind::gelu:
        out = x.unaryExpr([](T v) { return v * normal_cdf(v); });
        break;
      case ActivationKind::silu:
        out = x.unaryExpr([](T v) { return v * logistic(v); });
        break;
    }
  }

  void backward(const T*, const LayerContext<T>&, const Matrix<T>& x, const Matrix<T>& out,
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
      case ActivationKind::sigmoid:
        *gradient.x = dout.array() * out.array() * (T(1) - out.array());
        break;
      case ActivationKind::softplus:
        *gradient.x = dout.cwiseProduct(out.unaryExpr([](T v) { return -std::expm1(-v); }));
        break;
      case ActivationKind::gelu:
        *gradient.x = dout.cwiseProduct(
            x.unaryExpr([](T v) { return normal_cdf(v) + v * normal_density(v); }));
        break;
      case ActivationKind::silu:
        *gradient.x = dout.cwiseProduct(
            x.unaryExpr([](T v) { return logistic(v) * (T(1) + v * (T(1) - logistic(v))); }));
        break;
    }
  }

 private:
  static T logistic(T v) { return T(1) / (T(1) + std::exp(-v)); }
  static T normal_cdf(T v) { return std::erfc(-v / std::numbers::sqrt2_v<T>) / T(2); }
  static T normal_density(T v) {
    return std::exp(-v * v / T(2)) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  }

  ActivationKind kind_;
  T slope_, alpha_;
  Index channels_;
};

}  // namespace pgexplainer
