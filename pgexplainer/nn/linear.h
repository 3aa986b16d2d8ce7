// y = x W^T + b, PyTorch's Linear, and the dense kernels every layer is made of.
#pragma once

#include <string>

#include "pgexplainer/core/option_fields.h"
#include "pgexplainer/nn/layer.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

/// out = x W^T + b for the first `rows` rows of x. W is (out, in); b may be null. Rows are shared
/// by the threads of the pool, if there is one.
template <class T>
void linear_forward(const Matrix<T>& x, Index rows, ConstMatrixView<T> weight, const T* bias,
                    Matrix<T>& out, ThreadPool* pool = nullptr);

/// The adjoint: dx (rows x in) = dout W, or += if accumulate; dW += dout^T x; db += column sums of
/// dout. Null pointers are not computed. dx must have at least as many rows as dout.
template <class T>
void linear_backward(const Matrix<T>& x, ConstMatrixView<T> weight, const Matrix<T>& dout,
                     Matrix<T>* dx, bool accumulate_dx, T* dweight, T* dbias);

/// out = A times the first `columns` columns of B.
template <class T>
void multiply_columns(const Matrix<T>& a, const Matrix<T>& b, Index columns, Matrix<T>& out,
                      ThreadPool* pool = nullptr);
/// c (a.cols x b.cols) += A^T B over the first rows.
template <class T>
void add_transposed_product(const Matrix<T>& a, const Matrix<T>& b, Index rows, T* c);

/// sum[c] += the sum of column c, added row by row: Eigen's order of additions depends on where
/// `sum` lies in memory.
template <class T>
void add_column_sums(const Matrix<T>& rows, T* sum) {
  for_each_strip<T>(rows.cols(), [&]<class S>(Index c) {
    S total = S::load(sum + c);
    for (Index r = 0; r < rows.rows(); ++r) total.add(S::load(rows.data() + r * rows.cols() + c));
    total.store(sum + c);
  });
}

/// The same with the slots of a weight and an optional bias inside theta.
struct LinearSlots {
  Slot weight, bias;

  static LinearSlots add(ParameterLayout& layout, const std::string& name, Index in, Index out,
                         bool bias);
  template <class T>
  void forward(const T* theta, const Matrix<T>& x, Index rows, Matrix<T>& out,
               ThreadPool* pool = nullptr) const {
    linear_forward(x, rows, weight.in(theta), bias.exists() ? theta + bias.offset : nullptr, out,
                   pool);
  }
  template <class T>
  void backward(const T* theta, const Matrix<T>& x, const Matrix<T>& dout, Matrix<T>* dx,
                bool accumulate_dx, T* dtheta) const {
    linear_backward(x, weight.in(theta), dout, dx, accumulate_dx,
                    dtheta ? dtheta + weight.offset : nullptr,
                    dtheta && bias.exists() ? dtheta + bias.offset : nullptr);
  }
};

struct LinearOptions {
  std::int64_t out_channels = 0;
  bool bias = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &LinearOptions::out_channels, Bounds{1, 65536}, "width of the output");
    field("bias", &LinearOptions::bias, Bounds{}, "add a learned constant");
  }
};

template <class T>
class Linear final : public Layer<T> {
 public:
  Linear(const LinearOptions& options, const std::string& name, Index in, ParameterLayout& layout)
      : slots_(LinearSlots::add(layout, name + ".", in, options.out_channels, options.bias)) {}

  [[nodiscard]] Index out_channels() const override { return slots_.weight.rows; }
  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>&) const override {
    slots_.forward(theta, x, x.rows(), out, context.pool);
  }
  void backward(const T* theta, const LayerContext<T>&, const Matrix<T>& x, const Matrix<T>&,
                const Matrix<T>& dout, Saved<T>&,
                const LayerGradients<T>& gradient) const override {
    if (gradient.x) gradient.x->resize(x.rows(), x.cols());
    slots_.backward(theta, x, dout, gradient.x, false, gradient.theta);
  }

 private:
  LinearSlots slots_;
};

}  // namespace pgexplainer
