// Readout: the rows of each graph to one row, by sum, mean or maximum. A graph without nodes gives
// 0; the gradient of a maximum is shared equally among tied entries, as PyTorch does.
#pragma once

#include <span>

#include "pgexplainer/nn/aggregate.h"

namespace pgexplainer {

template <class T>
void pool(Aggregation aggregation, std::span<const NodeId> graph_ptr, const Matrix<T>& x,
          Eigen::Ref<Matrix<T>> out);
/// The adjoint: dx +=.
template <class T>
void pool_backward(Aggregation aggregation, std::span<const NodeId> graph_ptr, const Matrix<T>& x,
                   const Eigen::Ref<const Matrix<T>>& out, const Eigen::Ref<const Matrix<T>>& dout,
                   Matrix<T>& dx);

}  // namespace pgexplainer
