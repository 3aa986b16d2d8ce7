// Divides each row by its l2 norm: y = x / max(|x|, 1e-12), torch.nn.functional.normalize; a ReLU
// that follows joins the same pass over memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

inline constexpr double kSmallestNorm = 1e-12;
/// So many rows at a time: what the first loop reads is still in the cache for the second.
inline constexpr Index kNormRows = 64;

/// y may be x itself; norm becomes rows x 1.
template <class T>
void l2_norm_forward(const Matrix<T>& x, bool relu, Matrix<T>& y, Matrix<T>& norm,
                     ThreadPool* pool = nullptr) {
  norm.resize(x.rows(), 1);
  y.resize(x.rows(), x.cols());
  const auto some_rows = [&](Index begin, Index rows) {
    const T* in = x.data() + begin * x.cols();
    T* out = y.data() + begin * x.cols();
    row_dots(in, in, rows, x.cols(), norm.data() + begin);
    auto norms = norm.middleRows(begin, rows);
    // Not Eigen's sqrt, whose vectors round otherwise than its last few numbers.
    std::array<T, kNormRows> inverse;
    for (Index i = 0; i < rows; ++i) {
      norms(i) = std::max(std::sqrt(norms(i)), T(kSmallestNorm));
      inverse[at(i)] = T(1) / norms(i);
    }
    for_each_strip<T>(x.cols(), [&]<class S>(Index c) {
      for (Index i = 0; i < rows; ++i) {
        S row = S::load(in + i * x.cols() + c);
        row.scale(inverse[at(i)]);
        if (relu) row.relu();
        row.store(out + i * x.cols() + c);
      }
    });
  };
  for_each_block(pool, x.rows(), [&](Index first, Index last) {
    for (Index begin = first; begin < last; begin += kNormRows)
      some_rows(begin, std::min(kNormRows, last - begin));
  });
}

/// dx = (dy - u <u, dy>) / |x|, where u is the unit row; below the smallest norm the divisor is a
/// constant: dx = dy / 1e-12. y is what forward wrote. After a ReLU, dy is 0 where y is, so that
/// <u, dy> = <y, dy>, and u is made again from x; without one, u = y and x is not read.
template <class T>
void l2_norm_backward(const Matrix<T>& x, bool relu, const Matrix<T>& y, const Matrix<T>& norm,
                      const Matrix<T>& dy, Matrix<T>& dx) {
  dx.resize(y.rows(), y.cols());
  const Matrix<T>& direction = relu ? x : y;
  std::array<T, kNormRows> along, inverse;
  for (Index begin = 0; begin < y.rows(); begin += kNormRows) {
    const Index rows = std::min(kNormRows, y.rows() - begin);
    const Index first = begin * y.cols();
    row_dots(y.data() + first, dy.data() + first, rows, y.cols(), along.data());
    for (Index i = 0; i < rows; ++i) {
      const T n = norm(begin + i, 0);
      inverse[at(i)] = T(1) / n;
      const T to_unit = relu ? inverse[at(i)] : T(1);
      along[at(i)] *= n > T(kSmallestNorm) ? -to_unit : T(0);
    }
    for_each_strip<T>(y.cols(), [&]<class S>(Index c) {
      for (Index i = 0; i < rows; ++i) {
        const Index at_row = first + i * y.cols() + c;
        S d = S::load(dy.data() + at_row);
        if (relu) d.relu_backward(S::load(y.data() + at_row));
        d.add_scaled(S::broadcast(&along[at(i)]), S::load(direction.data() + at_row));
        d.scale(inverse[at(i)]);
        d.store(dx.data() + at_row);
      }
    });
  }
}

template <class T>
class L2Norm final : public Layer<T> {
 public:
  explicit L2Norm(Index channels) : channels_(channels) {}
  [[nodiscard]] Index out_channels() const override { return channels_; }
  [[nodiscard]] bool works_in_place() const override { return true; }
  bool take_relu() override { return !std::exchange(relu_, true); }
  void forward(const T*, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override {
    l2_norm_forward(x, relu_, out, saved.matrix[0], context.pool);
  }
  void backward(const T*, const LayerContext<T>&, const Matrix<T>& x, const Matrix<T>& out,
                const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override {
    if (gradient.x) l2_norm_backward(x, relu_, out, saved.matrix[0], dout, *gradient.x);
  }

 private:
  Index channels_;
  bool relu_ = false;
};

}  // namespace pgexplainer
