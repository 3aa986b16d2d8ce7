// Dense row-major storage, the layout NumPy uses, so that arrays cross the border without a copy.
#pragma once

#include <Eigen/Core>

namespace pgexplainer {

using Index = Eigen::Index;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
using MatrixView = Eigen::Map<Matrix<T>>;

template <class T>
using ConstMatrixView = Eigen::Map<const Matrix<T>>;

}  // namespace pgexplainer
