// Which node representation Z an explanation network reads.
//
// The paper takes the last layer, its released code the concatenation of all layers for nodes and
// the last one for graphs, PyG the output of the last convolution before normalisation and
// activation. We take all layers, whatever the classifier reads: what tells a motif's edges from
// others is often gone from the last one. Rows of a layer that are longer than kLongestRow are
// shortened to that, for networks that do not normalise give rows of any length (GIN on BA-Shapes:
// 90 +- 130), from which an explanation network learns slowly; those of the paper's networks are
// about 1 long and stay. Source: our own measurements, docs/reliability.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "pgexplainer/core/index.h"
#include "pgexplainer/core/matrix.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

enum class Embedding { all_layers, classifier_input, last_layer, last_convolution };

inline constexpr double kLongestRow = 2;

/// all-layers, classifier-input, last-layer or last-convolution; throws otherwise, naming `what`.
Embedding parse_embedding(std::string_view what, std::string_view word);

/// Columns [column, column + layer.cols()) of z = the layer's first rows, those longer than
/// kLongestRow shortened. z may be the layer itself.
template <class T>
void copy_shortened(const Matrix<T>& layer, Matrix<T>& z, Index column) {
  constexpr Index kRows = 64;  // what the first loop reads is still in the cache
  constexpr T kLongest = kLongestRow;
  std::array<T, kRows> scale;
  for (Index begin = 0; begin < z.rows(); begin += kRows) {
    const Index rows = std::min(kRows, z.rows() - begin);
    const T* from = layer.data() + begin * layer.cols();
    T* to = z.data() + begin * z.cols() + column;
    row_dots(from, from, rows, layer.cols(), scale.data());
    for (Index i = 0; i < rows; ++i) {
      const T length = std::sqrt(scale[at(i)]);
      scale[at(i)] = length > kLongest ? kLongest / length : T(1);
    }
    for_each_strip<T>(layer.cols(), [&]<class S>(Index c) {
      for (Index i = 0; i < rows; ++i) {
        S row = S::load(from + i * layer.cols() + c);
        row.scale(scale[at(i)]);
        row.store(to + i * z.cols() + c);
      }
    });
  }
}

}  // namespace pgexplainer
