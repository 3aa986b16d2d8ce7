// Divides each row by its l2 norm: y = x / max(|x|, 1e-12), torch.nn.functional.normalize.
#pragma once

#include <algorithm>
#include <cmath>

#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

inline constexpr double kSmallestNorm = 1e-12;

/// y may be x itself; norm becomes rows x 1.
template <class T>
void l2_norm_forward(const Matrix<T>& x, Matrix<T>& y, Matrix<T>& norm) {
  norm.resize(x.rows(), 1);
  y.resize(x.rows(), x.cols());
  const Index cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i)
    norm(i, 0) = row_dot(x.data() + i * cols, x.data() + i * cols, cols);
  norm = norm.array().sqrt().max(T(kSmallestNorm));
  for (Index i = 0; i < x.rows(); ++i) {
    const T scale = T(1) / norm(i, 0);
    for_each_strip<T>(cols, [&]<class S>(Index c) {
      S row = S::load(x.data() + i * cols + c);
      row.scale(scale);
      row.store(y.data() + i * cols + c);
    });
  }
}

/// dx = (dy - y <y, dy>) / |x|; below the smallest norm the divisor is a constant: dx = dy / 1e-12.
template <class T>
void l2_norm_backward(const Matrix<T>& y, const Matrix<T>& norm, const Matrix<T>& dy,
                      Matrix<T>& dx) {
  dx.resize(y.rows(), y.cols());
  for (Index i = 0; i < y.rows(); ++i) {
    const Index row = i * y.cols();
    const T along =
        norm(i, 0) > T(kSmallestNorm) ? row_dot(y.data() + row, dy.data() + row, y.cols()) : T(0);
    const T scale = T(1) / norm(i, 0);
    for_each_strip<T>(y.cols(), [&]<class S>(Index c) {
      S d = S::load(dy.data() + row + c);
      d.add_scaled(-along, S::load(y.data() + row + c));
      d.scale(scale);
      d.store(dx.data() + row + c);
    });
  }
}

template <class T>
class L2Norm final : public Layer<T> {
 public:
  explicit L2Norm(Index channels) : channels_(channels) {}
  [[nodiscard]] Index out_channels() const override { return channels_; }
  void forward(const T*, const LayerContext<T>&, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override {
    l2_norm_forward(x, out, saved.matrix[0]);
  }
  void backward(const T*, const LayerContext<T>&, const Matrix<T>&, const Matrix<T>& out,
                const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    if (gradient.x) l2_norm_backward(out, saved.matrix[0], dout, *gradient.x);
  }

 private:
  Index channels_;
};

}  // namespace pgexplainer
