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
  norm.setZero(x.rows(), 1);
  y.resize(x.rows(), x.cols());
  add_row_dots(x, x, norm);
  norm = norm.array().sqrt().max(T(kSmallestNorm));
  for_each_strip<T>(x.cols(), [&]<class S>(Index c) {
    for (Index i = 0; i < x.rows(); ++i) {
      S row = S::load(x.data() + i * x.cols() + c);
      row.scale(T(1) / norm(i, 0));
      row.store(y.data() + i * x.cols() + c);
    }
  });
}

/// dx = (dy - y <y, dy>) / |x|; below the smallest norm the divisor is a constant: dx = dy / 1e-12.
template <class T>
void l2_norm_backward(const Matrix<T>& y, const Matrix<T>& norm, const Matrix<T>& dy,
                      Matrix<T>& dx) {
  dx.resize(y.rows(), y.cols());
  Matrix<T> along = Matrix<T>::Zero(y.rows(), 1);
  add_row_dots(y, dy, along);
  along = (norm.array() > T(kSmallestNorm)).select(along, T(0));
  for_each_strip<T>(y.cols(), [&]<class S>(Index c) {
    for (Index i = 0; i < y.rows(); ++i) {
      const Index at_row = i * y.cols() + c;
      S d = S::load(dy.data() + at_row);
      d.add_scaled(-along(i, 0), S::load(y.data() + at_row));
      d.scale(T(1) / norm(i, 0));
      d.store(dx.data() + at_row);
    }
  });
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
