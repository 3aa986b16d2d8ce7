// A strip of V full vectors, H half vectors and S single numbers of one row, held in registers.
//
// GNN layers are narrow (20, 32, 64 columns): compile-time widths keep a whole row in registers,
// where a general matrix library spends its time packing. Uses the vector extensions of GCC and
// clang, no intrinsics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

/// f(0), f(1), ..., f(N-1) with compile-time arguments: the compiler keeps arrays in registers only
/// when every index is a constant from the start.
template <int N, class F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

template <class T, int V, int H, int S>
struct Strip {
  static constexpr int kLanes = 32 / static_cast<int>(sizeof(T));
  static constexpr int kHalf = kLanes / 2;
  static constexpr Index kCols = V * kLanes + H * kHalf + S;
  // NOLINTBEGIN(modernize-use-using): GCC drops the attribute from a dependent alias.
  typedef T Full __attribute__((vector_size(32)));
  typedef T Half __attribute__((vector_size(16)));
  // The same where they lie in memory: any address, any type around them.
  typedef T FullAt __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  typedef T HalfAt __attribute__((vector_size(16), aligned(alignof(T)), may_alias));
  // NOLINTEND(modernize-use-using)

  // Plain arrays: std::array loses the vector attribute. Unused parts keep one element that nothing
  // touches.
  Full v[std::max(V, 1)];
  Half h[std::max(H, 1)];
  T s[std::max(S, 1)];

  [[gnu::always_inline]] static Strip load(const T* from) {
    Strip r;
    unroll<V>([&](auto i) { r.v[i] = *reinterpret_cast<const FullAt*>(from + i * kLanes); });
    from += V * kLanes;
    unroll<H>([&](auto i) { r.h[i] = *reinterpret_cast<const HalfAt*>(from + i * kHalf); });
    from += H * kHalf;
    unroll<S>([&](auto i) { r.s[i] = from[i]; });
    return r;
  }
  [[gnu::always_inline]] void store(T* to) const {
    unroll<V>([&](auto i) { *reinterpret_cast<FullAt*>(to + i * kLanes) = v[i]; });
    to += V * kLanes;
    unroll<H>([&](auto i) { *reinterpret_cast<HalfAt*>(to + i * kHalf) = h[i]; });
    to += H * kHalf;
    unroll<S>([&](auto i) { to[i] = s[i]; });
  }
  /// A number in every lane, straight from memory: one load, where copies of a scalar cost a
  /// shuffle each.
  [[gnu::always_inline]] static Full broadcast(const T* number) {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return Full{((void)I, *number)...}; }
    (std::make_integer_sequence<int, kLanes>{});
  }
  [[gnu::always_inline]] static Half lower_half(const Full& full) {
    if constexpr (kHalf == 4)
      return __builtin_shufflevector(full, full, 0, 1, 2, 3);
    else
      return __builtin_shufflevector(full, full, 0, 1);
  }
  /// this += a * x, a the same in every lane
  [[gnu::always_inline]] void add_scaled(const Full& a, const Strip& x) {
    unroll<V>([&](auto i) { v[i] += a * x.v[i]; });
    unroll<H>([&](auto i) { h[i] += lower_half(a) * x.h[i]; });
    unroll<S>([&](auto i) { s[i] += a[0] * x.s[i]; });
  }
  [[gnu::always_inline]] void add_scaled(T a, const Strip& x) { add_scaled(broadcast(&a), x); }
  [[gnu::always_inline]] void add(const Strip& x) {
    unroll<V>([&](auto i) { v[i] += x.v[i]; });
    unroll<H>([&](auto i) { h[i] += x.h[i]; });
    unroll<S>([&](auto i) { s[i] += x.s[i]; });
  }
  [[gnu::always_inline]] void subtract(const Strip& x) {
    unroll<V>([&](auto i) { v[i] -= x.v[i]; });
    unroll<H>([&](auto i) { h[i] -= x.h[i]; });
    unroll<S>([&](auto i) { s[i] -= x.s[i]; });
  }
  [[gnu::always_inline]] void multiply(const Strip& x) {
    unroll<V>([&](auto i) { v[i] *= x.v[i]; });
    unroll<H>([&](auto i) { h[i] *= x.h[i]; });
    unroll<S>([&](auto i) { s[i] *= x.s[i]; });
  }
  /// this += x * y, lane by lane
  [[gnu::always_inline]] void add_product(const Strip& x, const Strip& y) {
    unroll<V>([&](auto i) { v[i] += x.v[i] * y.v[i]; });
    unroll<H>([&](auto i) { h[i] += x.h[i] * y.h[i]; });
    unroll<S>([&](auto i) { s[i] += x.s[i] * y.s[i]; });
  }
  [[gnu::always_inline]] void scale(T a) {
    unroll<V>([&](auto i) { v[i] *= a; });
    unroll<H>([&](auto i) { h[i] *= a; });
    unroll<S>([&](auto i) { s[i] *= a; });
  }
  /// Negative numbers become 0; a NaN stays.
  [[gnu::always_inline]] void relu() {
    unroll<V>([&](auto i) { v[i] = v[i] < T(0) ? Full{} : v[i]; });
    unroll<H>([&](auto i) { h[i] = h[i] < T(0) ? Half{} : h[i]; });
    unroll<S>([&](auto i) { s[i] = s[i] < T(0) ? T(0) : s[i]; });
  }
  /// The adjoint: 0 where the output of relu() is not positive.
  [[gnu::always_inline]] void relu_backward(const Strip& out) {
    unroll<V>([&](auto i) { v[i] = out.v[i] > T(0) ? v[i] : Full{}; });
    unroll<H>([&](auto i) { h[i] = out.h[i] > T(0) ? h[i] : Half{}; });
    unroll<S>([&](auto i) { s[i] = out.s[i] > T(0) ? s[i] : T(0); });
  }
  [[nodiscard, gnu::always_inline]] T dot(const Strip& x) const {
    const Half product = products(x);
    T sum = product[0] + product[kHalf / 2];
    if constexpr (kHalf == 4) sum += product[1] + product[3];
    unroll<S>([&](auto i) { sum += s[i] * x.s[i]; });
    return sum;
  }
  /// How many pairs add_dots() takes; 1 = it has nothing to gain.
  static constexpr int kDots = S == 0 && kHalf == 4 ? kHalf : 1;
  /// sum[k] += dot(a[k], b[k]): the same bits, and fewer sums across lanes.
  [[gnu::always_inline]] static void add_dots(const Strip* a, const Strip* b, T* sum) {
    static_assert(kDots == 4);
    Half p[kDots];
    unroll<kDots>([&](auto k) { p[k] = a[k].products(b[k]); });
    const Half first = __builtin_shufflevector(p[0], p[1], 0, 1, 4, 5) +
                       __builtin_shufflevector(p[0], p[1], 2, 3, 6, 7);
    const Half second = __builtin_shufflevector(p[2], p[3], 0, 1, 4, 5) +
                        __builtin_shufflevector(p[2], p[3], 2, 3, 6, 7);
    *reinterpret_cast<HalfAt*>(sum) += __builtin_shufflevector(first, second, 0, 2, 4, 6) +
                                       __builtin_shufflevector(first, second, 1, 3, 5, 7);
  }

 private:
  /// Of the vectors, their lanes added to those of one half vector.
  [[nodiscard, gnu::always_inline]] Half products(const Strip& x) const {
    Half product{};
    if constexpr (V > 0) {
      Full full = v[0] * x.v[0];
      unroll<V - 1>([&](auto i) { full += v[i + 1] * x.v[i + 1]; });
      const auto* part = reinterpret_cast<const HalfAt*>(&full);
      product = part[0] + part[1];
    }
    unroll<H>([&](auto i) { product += h[i] * x.h[i]; });
    return product;
  }
};

/// Covers columns 0 .. cols-1 by strips: calls f.template operator()<Strip<...>>(first_column) for
/// each.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_strip(Index cols, F&& f) {
  constexpr Index kFull = Strip<T, 1, 0, 0>::kCols;
  constexpr Index kHalf = Strip<T, 0, 1, 0>::kCols;
  Index c = 0;
  for (; cols - c >= 3 * kFull; c += 3 * kFull) f.template operator()<Strip<T, 3, 0, 0>>(c);
  if (cols - c >= 2 * kFull + kHalf) {
    f.template operator()<Strip<T, 2, 1, 0>>(c);
    c += 2 * kFull + kHalf;
  } else if (cols - c >= 2 * kFull) {
    f.template operator()<Strip<T, 2, 0, 0>>(c);
    c += 2 * kFull;
  } else if (cols - c >= kFull + kHalf) {
    f.template operator()<Strip<T, 1, 1, 0>>(c);
    c += kFull + kHalf;
  } else if (cols - c >= kFull) {
    f.template operator()<Strip<T, 1, 0, 0>>(c);
    c += kFull;
  } else if (cols - c >= kHalf) {
    f.template operator()<Strip<T, 0, 1, 0>>(c);
    c += kHalf;
  }
  switch (cols - c) {
    case 3:
      f.template operator()<Strip<T, 0, 0, 3>>(c);
      break;
    case 2:
      f.template operator()<Strip<T, 0, 0, 2>>(c);
      break;
    case 1:
      f.template operator()<Strip<T, 0, 0, 1>>(c);
      break;
    default:
      break;
  }
}

/// The widest vectors of the machine.
#ifdef __AVX512F__
inline constexpr int kWidestBytes = 64;
#else
inline constexpr int kWidestBytes = 32;
#endif

/// Columns for work that is done lane by lane: N vectors of `Bytes` and, where they do not cover
/// the columns, one of `LastBytes` that ends with them. It may overlap the one before: those lanes
/// are computed twice, with the same result. One pass covers any width, and any width of vectors
/// gives the same bits. (Sums across lanes need Strip, whose order of additions is fixed.)
template <class T, int Bytes, int N, int LastBytes>
struct WideStrip {
  // NOLINTBEGIN(modernize-use-using): GCC drops the attribute from a dependent alias.
  typedef T Vector __attribute__((vector_size(Bytes)));
  typedef T VectorAt __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
  static constexpr int kLastBytes = std::max<int>(LastBytes, sizeof(T));
  typedef T Last __attribute__((vector_size(kLastBytes)));
  typedef T LastAt __attribute__((vector_size(kLastBytes), aligned(alignof(T)), may_alias));
  // NOLINTEND(modernize-use-using)
  static constexpr bool kHasLast = LastBytes > 0;
  static constexpr int kLanes = Bytes / static_cast<int>(sizeof(T));
  static constexpr int kLastLanes = kLastBytes / static_cast<int>(sizeof(T));
  static constexpr int kRegisters = N + (kHasLast ? 1 : 0);

  Vector v[N];
  Last last;

  [[gnu::always_inline]] static WideStrip zero() {
    WideStrip r;
    unroll<N>([&](auto i) { r.v[i] = Vector{}; });
    if constexpr (kHasLast) r.last = Last{};
    return r;
  }
  [[gnu::always_inline]] static WideStrip load(const T* from, Index cols) {
    WideStrip r;
    unroll<N>([&](auto i) { r.v[i] = *reinterpret_cast<const VectorAt*>(from + i * kLanes); });
    if constexpr (kHasLast) r.last = *reinterpret_cast<const LastAt*>(from + cols - kLastLanes);
    return r;
  }
  [[gnu::always_inline]] void store(T* to, Index cols) const {
    unroll<N>([&](auto i) { *reinterpret_cast<VectorAt*>(to + i * kLanes) = v[i]; });
    if constexpr (kHasLast) *reinterpret_cast<LastAt*>(to + cols - kLastLanes) = last;
  }
  /// this += a * x
  [[gnu::always_inline]] void add_scaled(const T* a, const WideStrip& x) {
    const Vector in_every_lane = [&]<int... I>(std::integer_sequence<int, I...>) {
      return Vector{((void)I, *a)...};
    }
    (std::make_integer_sequence<int, kLanes>{});
    unroll<N>([&](auto i) { v[i] += in_every_lane * x.v[i]; });
    if constexpr (kHasLast) [&]<int... I>(std::integer_sequence<int, I...>) {
        last += __builtin_shufflevector(in_every_lane, in_every_lane, I...) * x.last;
      }
    (std::make_integer_sequence<int, kLastLanes>{});
  }
  [[gnu::always_inline]] void add(const WideStrip& x) {
    unroll<N>([&](auto i) { v[i] += x.v[i]; });
    if constexpr (kHasLast) last += x.last;
  }
  [[gnu::always_inline]] void scale(T a) {
    unroll<N>([&](auto i) { v[i] *= a; });
    if constexpr (kHasLast) last *= a;
  }
};

/// f.template operator()<WideStrip<...>>(cols) with as many vectors as fit into cols, at most N.
template <class T, int Bytes, int N, class F>
[[gnu::always_inline]] inline void with_wide_strip(Index cols, F&& f) {
  constexpr Index kLanes = Bytes / sizeof(T);
  if constexpr (N == 0) {
    if constexpr (Bytes > 16) with_wide_strip<T, Bytes / 2, 1>(cols, f);
  } else if (cols < N * kLanes) {
    with_wide_strip<T, Bytes, N - 1>(cols, f);
  } else if (cols == N * kLanes) {
    f.template operator()<WideStrip<T, Bytes, N, 0>>(cols);
  } else if (cols <= N * kLanes + static_cast<Index>(16 / sizeof(T))) {
    f.template operator()<WideStrip<T, Bytes, N, 16>>(cols);
  } else {
    f.template operator()<WideStrip<T, Bytes, N, Bytes>>(cols);
  }
}

/// Covers columns 0 .. cols-1: calls f.template operator()<WideStrip<...>>(first_column, columns)
/// with at most N of the widest vectors each.
template <class T, int N, class F>
[[gnu::always_inline]] inline void for_each_wide_strip(Index cols, F&& f) {
  using Most = WideStrip<T, kWidestBytes, N, 0>;
  Index c = 0;
  for (; cols - c >= N * Most::kLanes; c += N * Most::kLanes)
    f.template operator()<Most>(c, Index{N * Most::kLanes});
  const auto rest = [&]<class S>(Index columns) { f.template operator()<S>(c, columns); };
  if (cols - c > static_cast<Index>(32 / sizeof(T)))
    with_wide_strip<T, kWidestBytes, N - 1>(cols - c, rest);
  else if (cols - c >= static_cast<Index>(16 / sizeof(T)))
    with_wide_strip<T, 32, 3>(cols - c, rest);
  else
    for (; c < cols; ++c) f.template operator()<WideStrip<T, sizeof(T), 1, 0>>(c, Index{1});
}

// Strips outside, rows inside: the width is looked up once, not in every row. Sums are always added
// in the same order, wherever the rows lie in memory.

/// sum[i] = <row i of a, row i of b>, rows of `cols` numbers one after the other.
template <class T>
void row_dots(const T* a, const T* b, Index rows, Index cols, T* sum) {
  std::fill_n(sum, rows, T(0));
  for_each_strip<T>(cols, [&]<class S>(Index c) {
    Index i = 0;
    if constexpr (S::kDots > 1)
      for (; i + S::kDots <= rows; i += S::kDots) {
        S left[S::kDots], right[S::kDots];
        unroll<S::kDots>([&](auto k) {
          left[k] = S::load(a + (i + k) * cols + c);
          right[k] = S::load(b + (i + k) * cols + c);
        });
        S::add_dots(left, right, sum + i);
      }
    for (; i < rows; ++i) sum[i] += S::load(a + i * cols + c).dot(S::load(b + i * cols + c));
  });
}

/// Row i of `to` = row rows[i] of `from`.
template <class T>
void gather_rows(const Matrix<T>& from, std::span<const std::int32_t> rows, Matrix<T>& to) {
  const Index cols = from.cols();
  to.resize(static_cast<Index>(rows.size()), cols);
  for_each_strip<T>(cols, [&]<class S>(Index c) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      S::load(from.data() + rows[i] * cols + c).store(to.data() + static_cast<Index>(i) * cols + c);
  });
}

/// Columns [column, column + from.cols()) of the first rows of `to` = `from`.
template <class T>
void copy_columns(const Matrix<T>& from, Index rows, Matrix<T>& to, Index column) {
  for_each_strip<T>(from.cols(), [&]<class S>(Index c) {
    for (Index r = 0; r < rows; ++r)
      S::load(from.data() + r * from.cols() + c).store(to.data() + r * to.cols() + column + c);
  });
}

/// The adjoint: the first rows of `from` += those columns of `to`.
template <class T>
void add_columns(const Matrix<T>& to, Index column, Matrix<T>& from) {
  for_each_strip<T>(from.cols(), [&]<class S>(Index c) {
    for (Index r = 0; r < to.rows(); ++r) {
      T* sum = from.data() + r * from.cols() + c;
      S strip = S::load(sum);
      strip.add(S::load(to.data() + r * to.cols() + column + c));
      strip.store(sum);
    }
  });
}

}  // namespace pgexplainer
