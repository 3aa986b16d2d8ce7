#include "pgexplainer/nn/linear.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/strip.h"
#include "pgexplainer/nn/transpose.h"

namespace pgexplainer {
namespace {

// A tile of C and the row of B that it is multiplied with stay in registers: 32 with AVX-512, else
// 16. A multiply-add takes four cycles and two start in each, so that 8 should be on the way.
constexpr int kMostVectors = kWidestBytes == 64 ? 4 : 3;
template <class S>
constexpr int kTileRows = S::kRegisters == 4                ? 6
                          : sizeof(typename S::Vector) < 64 ? 4
                                                            : 8;

/// A(r, k) = data[r * row_stride + k * inner_stride]: a matrix or its transpose.
template <class T>
struct Factor {
  const T* data;
  Index row_stride;
  Index inner_stride;
};

/// R rows of C, one strip of columns: C = (kAccumulate ? C : start) + A B, where start is a row or
/// null for zero.
template <class S, int R, bool kAccumulate, class T>
inline void tile(const Factor<T>& a, Index inner, const T* b, Index ldb, Index cols, const T* start,
                 T* c, Index ldc) {
  S sum[R];
  if constexpr (kAccumulate) {
    unroll<R>([&](auto r) { sum[r] = S::load(c + r * ldc, cols); });
  } else if (start) {
    unroll<R>([&](auto r) { sum[r] = S::load(start, cols); });
  } else {
    unroll<R>([&](auto r) { sum[r] = S::zero(); });
  }
  const T* column = a.data;
  const Index row_stride = a.row_stride;
  const Index inner_stride = a.inner_stride;
#pragma GCC unroll 4
  for (Index k = 0; k < inner; ++k) {
    const S row = S::load(b, cols);
    unroll<R>([&](auto r) { sum[r].add_scaled(column + r * row_stride, row); });
    b += ldb;
    column += inner_stride;
  }
  unroll<R>([&](auto r) { sum[r].store(c + r * ldc, cols); });
}

/// C (rows x cols) = start or C, + A (rows x inner) B (inner x cols).
template <bool kAccumulate, class T>
void multiply(const Factor<T>& a, Index rows, Index inner, const T* b, Index ldb, Index cols,
              const T* start, T* c, Index ldc) {
  for_each_wide_strip<T, kMostVectors>(cols, [&]<class S>(Index column, Index columns) {
    const T* first = start ? start + column : nullptr;
    Index r = 0;
    const auto next = [&]<int R>(std::integral_constant<int, R>) {
      tile<S, R, kAccumulate>({a.data + r * a.row_stride, a.row_stride, a.inner_stride}, inner,
                              b + column, ldb, columns, first, c + r * ldc + column, ldc);
      r += R;
    };
    while (r + kTileRows<S> <= rows) next(std::integral_constant<int, kTileRows<S>>{});
    if (r + 4 <= rows) next(std::integral_constant<int, 4>{});
    if (r + 2 <= rows) next(std::integral_constant<int, 2>{});
    if (r < rows) next(std::integral_constant<int, 1>{});
  });
}

template <class T>
void transpose_to_lines(ConstMatrixView<T> weight, Matrix<T>& result) {
  constexpr Index kLine = 64 / sizeof(T);
  result.resize(weight.cols(), (weight.rows() + kLine - 1) / kLine * kLine);
  transpose<false>(weight.data(), weight.cols(), weight.rows(), weight.cols(), result.data(),
                   result.cols());
}

constexpr std::size_t kMostKept = 32 * 1024;  // bytes of a weight

/// W^T, its rows on lines of the cache, valid until the next call of this thread. Of a small graph,
/// making it takes as long as the product: a thread keeps the last few small ones, and looks
/// whether the weights are still the same.
template <class T>
const Matrix<T>& transposed(ConstMatrixView<T> weight) {
  struct Kept {
    Matrix<T> weight, result;
  };
  thread_local std::array<Kept, 16> small;
  thread_local Matrix<T> large;
  const auto bytes = at(weight.size()) * sizeof(T);
  if (bytes > kMostKept) {
    transpose_to_lines(weight, large);
    return large;
  }
  // Weights of one network lie one after the other.
  Kept& kept = small[reinterpret_cast<std::uintptr_t>(weight.data()) / 1024 % small.size()];
  if (kept.weight.rows() != weight.rows() || kept.weight.cols() != weight.cols() ||
      (bytes > 0 && std::memcmp(kept.weight.data(), weight.data(), bytes) != 0)) {
    kept.weight = weight;
    transpose_to_lines(weight, kept.result);
  }
  return kept.result;
}

// Long sums are cut into blocks of this many rows: better accuracy in float, and the rows stay in
// the cache.
constexpr Index kBlock = 256;

}  // namespace

template <class T>
void multiply_columns(const Matrix<T>& a, const Matrix<T>& b, Index columns, Matrix<T>& out,
                      ThreadPool* pool) {
  out.resize(a.rows(), columns);
  for_each_block(pool, a.rows(), [&](Index begin, Index end) {
    multiply<false, T>({a.data() + begin * a.cols(), a.cols(), 1}, end - begin, a.cols(), b.data(),
                       b.cols(), columns, nullptr, out.data() + begin * out.cols(), out.cols());
  });
}

template <class T>
void add_transposed_product(const Matrix<T>& a, const Matrix<T>& b, Index rows, T* c) {
  for (Index begin = 0; begin < rows; begin += kBlock)
    multiply<true, T>({a.data() + begin * a.cols(), 1, a.cols()}, a.cols(),
                      std::min(kBlock, rows - begin), b.data() + begin * b.cols(), b.cols(),
                      b.cols(), nullptr, c, b.cols());
}

template <class T>
void linear_forward(const Matrix<T>& x, Index rows, ConstMatrixView<T> weight, const T* bias,
                    Matrix<T>& out, ThreadPool* pool) {
  out.resize(rows, weight.rows());
  if (weight.rows() <
      Strip<T, 1, 0, 0>::kCols) {  // a few classes: no vector to fill, but long rows to multiply
    for (Index r = 0; r < rows; ++r)
      for (Index o = 0; o < weight.rows(); ++o) out(r, o) = bias ? bias[o] : T(0);
    for_each_strip<T>(x.cols(), [&]<class S>(Index c) {
      for (Index r = 0; r < rows; ++r) {
        const S row = S::load(x.data() + r * x.cols() + c);
        for (Index o = 0; o < weight.rows(); ++o)
          out(r, o) += row.dot(S::load(weight.data() + o * x.cols() + c));
      }
    });
    return;
  }
  const Matrix<T>& columns = transposed(weight);
  for_each_block(pool, rows, [&](Index begin, Index end) {
    multiply<false, T>({x.data() + begin * x.cols(), x.cols(), 1}, end - begin, x.cols(),
                       columns.data(), columns.cols(), weight.rows(), bias,
                       out.data() + begin * out.cols(), out.cols());
  });
}

template <class T>
void linear_backward(const Matrix<T>& x, ConstMatrixView<T> weight, const Matrix<T>& dout,
                     Matrix<T>* dx, bool accumulate_dx, T* dweight, T* dbias) {
  const Index rows = dout.rows();
  const auto multiply_dout = [&]<bool kAccumulate>(std::bool_constant<kAccumulate>) {
    multiply<kAccumulate, T>({dout.data(), dout.cols(), 1}, rows, dout.cols(), weight.data(),
                             weight.cols(), weight.cols(), nullptr, dx->data(), dx->cols());
  };
  if (dx) accumulate_dx ? multiply_dout(std::true_type{}) : multiply_dout(std::false_type{});
  if (dweight && x.cols() >= dout.cols()) {
    add_transposed_product(dout, x, rows, dweight);
  } else if (dweight) {  // the wider factor fills the vectors
    Matrix<T> transposed = Matrix<T>::Zero(x.cols(), dout.cols());
    add_transposed_product(x, dout, rows, transposed.data());
    transpose<true>(transposed.data(), dout.cols(), x.cols(), dout.cols(), dweight, x.cols());
  }
  if (dbias) add_column_sums(dout, dbias);
}

LinearSlots LinearSlots::add(ParameterLayout& layout, const std::string& name, Index in, Index out,
                             bool bias) {
  LinearSlots slots;
  slots.weight = layout.add(name + "weight", {out, in}, Init::glorot());
  if (bias) slots.bias = layout.add(name + "bias", {out}, Init::constant(0));
  return slots;
}

template void multiply_columns(const Matrix<float>&, const Matrix<float>&, Index, Matrix<float>&,
                               ThreadPool*);
template void multiply_columns(const Matrix<double>&, const Matrix<double>&, Index, Matrix<double>&,
                               ThreadPool*);
template void add_transposed_product(const Matrix<float>&, const Matrix<float>&, Index, float*);
template void add_transposed_product(const Matrix<double>&, const Matrix<double>&, Index, double*);
template void linear_forward(const Matrix<float>&, Index, ConstMatrixView<float>, const float*,
                             Matrix<float>&, ThreadPool*);
template void linear_forward(const Matrix<double>&, Index, ConstMatrixView<double>, const double*,
                             Matrix<double>&, ThreadPool*);
template void linear_backward(const Matrix<float>&, ConstMatrixView<float>, const Matrix<float>&,
                              Matrix<float>*, bool, float*, float*);
template void linear_backward(const Matrix<double>&, ConstMatrixView<double>, const Matrix<double>&,
                              Matrix<double>*, bool, double*, double*);

}  // namespace pgexplainer
