// exp, log and the logistic function, eight floats at a time.
//
// Method: reduce the argument to a small interval, then a polynomial (the single-precision
// coefficients of Cephes, S. Moshier); within 2 units in the last place of the true value on the
// domains below. A number's result does not depend on its place in the array. Other types go to the
// standard library, one by one.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace pgexplainer {

using FloatLanes = float __attribute__((vector_size(32)));
using IntLanes = std::int32_t __attribute__((vector_size(32)));

/// What is worked on at once: eight floats; of any other type, one number.
template <class T>
using Lanes = std::conditional_t<std::is_same_v<T, float>, FloatLanes, T>;
template <class T>
inline constexpr std::size_t kLanes = sizeof(Lanes<T>) / sizeof(T);

/// The first n <= kLanes numbers; the other lanes are 1, of which every function here is defined.
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_lanes(const T* from, std::size_t n) {
  Lanes<T> lanes = Lanes<T>{} + T(1);
  std::memcpy(&lanes, from, (n < kLanes<T> ? n : kLanes<T>)*sizeof(T));
  return lanes;
}
template <class T>
[[gnu::always_inline]] inline void store_lanes(const Lanes<T>& lanes, T* to, std::size_t n) {
  std::memcpy(to, &lanes, (n < kLanes<T> ? n : kLanes<T>)*sizeof(T));
}
/// The sum of the first n lanes, in double.
template <class T>
[[gnu::always_inline]] inline double sum_lanes(const Lanes<T>& lanes, std::size_t n) {
  double sum = 0;
  std::array<T, kLanes<T>> number;
  std::memcpy(&number, &lanes, sizeof lanes);
  for (std::size_t i = 0; i < kLanes<T>; ++i)
    if (i < n) sum += static_cast<double>(number[i]);
  return sum;
}

/// f(first, n) for [0, count) in steps of kLanes<T>; n is what is left, a constant inside.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_lanes(std::size_t count, F&& f) {
  std::size_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>)
    f(i, std::integral_constant<std::size_t, kLanes<T>>{});
  if (i < count) f(i, count - i);
}

/// exp(x); x is first clamped to [-87, 88], where neither result nor powers of two overflow.
[[gnu::always_inline]] inline FloatLanes exp_of(FloatLanes x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  x = x < -87.0F ? FloatLanes{} - 87.0F : x;
  x = x > 88.0F ? FloatLanes{} + 88.0F : x;
  const FloatLanes shifted = x * 1.44269504088896341F + kMagic;
  const FloatLanes n = shifted - kMagic;
  const FloatLanes r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  FloatLanes p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const IntLanes power = (__builtin_convertvector(n, IntLanes) + 127) << 23;
  FloatLanes scale;
  std::memcpy(&scale, &power, sizeof scale);
  return p * scale;
}

/// log(x) of a positive, normal number.
[[gnu::always_inline]] inline FloatLanes log_of(FloatLanes x) {
  constexpr std::int32_t kRootOfHalf = 0x3F3504F3;
  IntLanes bits;
  std::memcpy(&bits, &x, sizeof bits);
  const IntLanes exponent = (bits - kRootOfHalf) >> 23;
  const IntLanes reduced = bits - (exponent << 23);  // in [sqrt(1/2), sqrt(2))
  FloatLanes m;
  std::memcpy(&m, &reduced, sizeof m);
  const FloatLanes f = m - 1.0F;
  const FloatLanes e = __builtin_convertvector(exponent, FloatLanes);
  const FloatLanes z = f * f;
  FloatLanes p = f * 7.0376836292e-2F - 1.1514610310e-1F;
  p = p * f + 1.1676998740e-1F;
  p = p * f - 1.2420140846e-1F;
  p = p * f + 1.4249322787e-1F;
  p = p * f - 1.6668057665e-1F;
  p = p * f + 2.0000714765e-1F;
  p = p * f - 2.4999993993e-1F;
  p = p * f + 3.3333331174e-1F;
  const FloatLanes small = p * f * z - e * 2.12194440e-4F - 0.5F * z;
  return (f + small) + e * 0.693359375F;
}

inline double exp_of(double x) { return std::exp(x); }
inline double log_of(double x) { return std::log(x); }

/// 1 / (1 + exp(-x))
template <class L>
[[gnu::always_inline]] inline L logistic_of(L x) {
  return 1 / (1 + exp_of(-x));
}

}  // namespace pgexplainer
