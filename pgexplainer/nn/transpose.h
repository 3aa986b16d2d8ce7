// Transposes small dense matrices, four by four numbers in registers.
#pragma once

#include <algorithm>

#include "pgexplainer/nn/strip.h"

namespace pgexplainer {

/// Four rows of four numbers, transposed in registers.
template <bool kAdd, class T>
[[gnu::always_inline]] inline void transpose_four(const T* from, Index ld_from, T* to,
                                                  Index ld_to) {
  using Row = WideStrip<T, 4 * sizeof(T), 1, 0>;
  typename Row::Vector row[4], half[4];
  unroll<4>([&](auto i) { row[i] = Row::load(from + i * ld_from, 4).v[0]; });
  half[0] = __builtin_shufflevector(row[0], row[2], 0, 4, 1, 5);
  half[1] = __builtin_shufflevector(row[1], row[3], 0, 4, 1, 5);
  half[2] = __builtin_shufflevector(row[0], row[2], 2, 6, 3, 7);
  half[3] = __builtin_shufflevector(row[1], row[3], 2, 6, 3, 7);
  const auto put = [&](Index i, typename Row::Vector column) {
    Row result{{column}, {}};
    if constexpr (kAdd) result.add(Row::load(to + i * ld_to, 4));
    result.store(to + i * ld_to, 4);
  };
  unroll<2>([&](auto i) {
    put(2 * i, __builtin_shufflevector(half[2 * i], half[2 * i + 1], 0, 4, 1, 5));
    put(2 * i + 1, __builtin_shufflevector(half[2 * i], half[2 * i + 1], 2, 6, 3, 7));
  });
}

/// to(c, r) = or += from(r, c), of so many rows and columns of `from`.
template <bool kAdd, class T>
void transpose(const T* from, Index ld_from, Index rows, Index cols, T* to, Index ld_to) {
  for (Index r = 0; r < rows; r += 4)
    for (Index c = 0; c < cols; c += 4) {
      const T* in = from + r * ld_from + c;
      T* out = to + c * ld_to + r;
      if (r + 4 <= rows && c + 4 <= cols) {
        transpose_four<kAdd>(in, ld_from, out, ld_to);
        continue;
      }
      for (Index i = 0; i < std::min<Index>(4, rows - r); ++i)
        for (Index j = 0; j < std::min<Index>(4, cols - c); ++j)
          out[j * ld_to + i] = in[i * ld_from + j] + (kAdd ? out[j * ld_to + i] : T(0));
    }
}

}  // namespace pgexplainer
