#include "pgexplainer/nn/pooling.h"

#include "pgexplainer/core/index.h"

namespace pgexplainer {

template <class T>
void pool(Aggregation aggregation, std::span<const NodeId> graph_ptr, const Matrix<T>& x,
          Eigen::Ref<Matrix<T>> out) {
  for (std::size_t g = 0; g + 1 < graph_ptr.size(); ++g) {
    auto pooled = out.row(static_cast<Index>(g));
    pooled.setZero();
    for (NodeId i = graph_ptr[g]; i < graph_ptr[g + 1]; ++i) {
      if (aggregation != Aggregation::max)
        pooled += x.row(i);
      else if (i == graph_ptr[g])
        pooled = x.row(i);
      else
        pooled = pooled.cwiseMax(x.row(i));
    }
    const NodeId rows = graph_ptr[g + 1] - graph_ptr[g];
    if (aggregation == Aggregation::mean && rows > 0) pooled /= static_cast<T>(rows);
  }
}

template <class T>
void pool_backward(Aggregation aggregation, std::span<const NodeId> graph_ptr, const Matrix<T>& x,
                   const Eigen::Ref<const Matrix<T>>& out, const Eigen::Ref<const Matrix<T>>& dout,
                   Matrix<T>& dx) {
  Eigen::Array<T, 1, Eigen::Dynamic> share(x.cols());
  std::vector<T> ties;  // of each column's maximum, then the share of each
  for (std::size_t g = 0; g + 1 < graph_ptr.size(); ++g) {
    const auto row = static_cast<Index>(g);
    const NodeId begin = graph_ptr[g];
    const NodeId rows = graph_ptr[g + 1] - begin;
    if (rows == 0) continue;
    share = dout.row(row).array();
    if (aggregation == Aggregation::mean) share /= static_cast<T>(rows);
    if (aggregation != Aggregation::max) {
      dx.middleRows(begin, rows).rowwise() += share.matrix();
      continue;
    }
    const Index cols = x.cols();
    ties.assign(at(cols), T(0));
    const T* largest = out.data() + row * out.outerStride();
    T* __restrict tied = ties.data();
    for (NodeId i = begin; i < begin + rows; ++i) {
      const T* in = x.data() + i * cols;
      for (Index c = 0; c < cols; ++c) tied[c] += in[c] == largest[c] ? T(1) : T(0);
    }
    for (Index c = 0; c < cols; ++c) tied[c] = share(c) / tied[c];
    for (NodeId i = begin; i < begin + rows; ++i) {
      const T* in = x.data() + i * cols;
      T* __restrict d = dx.data() + i * cols;
      for (Index c = 0; c < cols; ++c) d[c] += in[c] == largest[c] ? tied[c] : T(0);
    }
  }
}

#define PGEXPLAINER_INSTANTIATE(T)                                                    \
  template void pool(Aggregation, std::span<const NodeId>, const Matrix<T>&,          \
                     Eigen::Ref<Matrix<T>>);                                          \
  template void pool_backward(Aggregation, std::span<const NodeId>, const Matrix<T>&, \
                              const Eigen::Ref<const Matrix<T>>&,                     \
                              const Eigen::Ref<const Matrix<T>>&, Matrix<T>&);
PGEXPLAINER_INSTANTIATE(float)
PGEXPLAINER_INSTANTIATE(double)
#undef PGEXPLAINER_INSTANTIATE

}  // namespace pgexplainer
