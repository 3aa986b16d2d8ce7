// A strip of V full vectors, H half vectors and S single numbers of one row, held in registers.
//
// GNN layers are narrow (20, 32, 64 columns): compile-time widths keep a whole row in registers,
// where a general matrix library spends its time packing. Uses the vector extensions of GCC and
// clang, no intrinsics.
#pragma once

#include <cstring>

#include "pgexplainer/core/matrix.h"

namespace pgexplainer {

template <class T, int V, int H, int S>
struct Strip {
  static constexpr int kLanes = 32 / static_cast<int>(sizeof(T));
  static constexpr int kHalf = kLanes / 2;
  static constexpr Index kCols = V * kLanes + H * kHalf + S;
  typedef T Full __attribute__((vector_size(32)));
  typedef T Half __attribute__((vector_size(16)));

  // Plain arrays: std::array loses the vector attribute. Unused parts keep one element that nothing
  // touches.
  Full v[V > 0 ? V : 1];
  Half h[H > 0 ? H : 1];
  T s[S > 0 ? S : 1];

  static Strip zero() {
    Strip r;
    for (int i = 0; i < V; ++i) r.v[i] = Full{};
    for (int i = 0; i < H; ++i) r.h[i] = Half{};
    for (int i = 0; i < S; ++i) r.s[i] = T(0);
    return r;
  }
  static Strip load(const T* from) {
    Strip r;
    if constexpr (V > 0) std::memcpy(r.v, from, sizeof(r.v));
    if constexpr (H > 0) std::memcpy(r.h, from + V * kLanes, sizeof(r.h));
    if constexpr (S > 0) std::memcpy(r.s, from + V * kLanes + H * kHalf, sizeof(r.s));
    return r;
  }
  void store(T* to) const {
    if constexpr (V > 0) std::memcpy(to, v, sizeof(v));
    if constexpr (H > 0) std::memcpy(to + V * kLanes, h, sizeof(h));
    if constexpr (S > 0) std::memcpy(to + V * kLanes + H * kHalf, s, sizeof(s));
  }
  /// this += a * x
  void add_scaled(T a, const Strip& x) {
    for (int i = 0; i < V; ++i) v[i] += a * x.v[i];
    for (int i = 0; i < H; ++i) h[i] += a * x.h[i];
    for (int i = 0; i < S; ++i) s[i] += a * x.s[i];
  }
  void add(const Strip& x) {
    for (int i = 0; i < V; ++i) v[i] += x.v[i];
    for (int i = 0; i < H; ++i) h[i] += x.h[i];
    for (int i = 0; i < S; ++i) s[i] += x.s[i];
  }
  void scale(T a) {
    for (int i = 0; i < V; ++i) v[i] *= a;
    for (int i = 0; i < H; ++i) h[i] *= a;
    for (int i = 0; i < S; ++i) s[i] *= a;
  }
  [[nodiscard]] T dot(const Strip& x) const {
    Half product{};
    if constexpr (V > 0) {
      Full full = v[0] * x.v[0];
      for (int i = 1; i < V; ++i) full += v[i] * x.v[i];
      Half part[2];
      std::memcpy(part, &full, sizeof(full));
      product = part[0] + part[1];
    }
    if constexpr (H > 0) product += h[0] * x.h[0];
    T sum = product[0] + product[kHalf / 2];
    if constexpr (kHalf == 4) sum += product[1] + product[3];
    for (int i = 0; i < S; ++i) sum += s[i] * x.s[i];
    return sum;
  }
};

/// Covers columns 0 .. cols-1 by strips: calls f.template operator()<Strip<...>>(first_column) for
/// each.
template <class T, class F>
void for_each_strip(Index cols, F&& f) {
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

/// <a, b>, always added in the same order, wherever the rows lie in memory.
template <class T>
T row_dot(const T* a, const T* b, Index cols) {
  T sum(0);
  for_each_strip<T>(cols, [&]<class S>(Index c) { sum += S::load(a + c).dot(S::load(b + c)); });
  return sum;
}

}  // namespace pgexplainer
