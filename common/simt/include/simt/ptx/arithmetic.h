/// \file
/// Arithmetic of inline PTX. The names are the instructions'; what differs by a modifier has it behind its name.
///
/// What would take a branch is not traced: it is one instruction of the GPU.
#pragma once

#include <simt/math.h>
#include <simt/narrow_bits.h>
#include <simt/ptx/values.h>

#include <cmath>
#include <type_traits>

namespace simt::ptx {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

/// Twice as wide: what the whole product of two values is.
template <class T>
struct WideOf;
#define SIMT_WIDE(narrow, wide) \
  template <>                   \
  struct WideOf<narrow> {       \
    using Type = wide;          \
  };
SIMT_WIDE(u32, u64)
SIMT_WIDE(s32, s64)
#undef SIMT_WIDE
template <class T>
using Wide = typename WideOf<T>::Type;

template <class T>
SIMT_INLINE Wide<T> product(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
template <class T>
SIMT_INLINE T high_half(Wide<T> value) {
  return static_cast<T>(value >> (sizeof(T) * 8));
}
/// Sums and products modulo 2^bits.
template <class T>
SIMT_INLINE T wrapped(u64 value) {
  return static_cast<T>(value);
}

/// .ftz: a subnormal number is zero, of the same sign.
SIMT_INLINE float flushed(float value) {
  const u32 bits = __builtin_bit_cast(u32, value);
  const u32 keeps = -static_cast<u32>((bits & 0x7f800000u) != 0);
  return __builtin_bit_cast(float, bits&(keeps | 0x80000000u));
}
/// `operation` of floating-point numbers, to the nearest.
template <class T, bool flushes, class R, class Operation, class... Values>
SIMT_INLINE void compute(R&& target, Operation operation, Values... values) {
  if constexpr (flushes) ((values = flushed(values)), ...);
  T result = operation(values...);
  if constexpr (flushes) result = flushed(result);
  set(target, result);
}

#define SIMT_SUM(name, sign)                                                                 \
  template <class T, bool flushes = false, class R, class A, class B>                        \
  SIMT_INLINE void name(R&& target, A a, B b) {                                              \
    if constexpr (is_float<T>) {                                                             \
      compute<T, flushes>(                                                                   \
          target, [](T x, T y) { return x sign y; }, get<T>(a), get<T>(b));                  \
    } else {                                                                                 \
      set(target, wrapped<T>(static_cast<u64>(get<T>(a)) sign static_cast<u64>(get<T>(b)))); \
    }                                                                                        \
  }
SIMT_SUM(add, +)
SIMT_SUM(sub, -)
#undef SIMT_SUM

template <class T, bool flushes = false, class R, class A, class B>
SIMT_INLINE void mul(R&& target, A a, B b) {
  compute<T, flushes>(
      target, [](T x, T y) { return x * y; }, get<T>(a), get<T>(b));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_lo(R&& target, A a, B b) {
  set(target, wrapped<T>(static_cast<u64>(get<T>(a)) * static_cast<u64>(get<T>(b))));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_hi(R&& target, A a, B b) {
  set(target, high_half<T>(product(get<T>(a), get<T>(b))));
}
template <class T, class R, class A, class B>
SIMT_INLINE void mul_wide(R&& target, A a, B b) {
  set(target, product(get<T>(a), get<T>(b)));
}
template <class T, bool flushes = false, class R, class A, class B, class C>
SIMT_INLINE void fma(R&& target, A a, B b, C c) {
  compute<T, flushes>(
      target, [](T x, T y, T z) { return std::fma(x, y, z); }, get<T>(a), get<T>(b), get<T>(c));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_lo(R&& target, A a, B b, C c) {
  set(target, wrapped<T>(static_cast<u64>(get<T>(a)) * static_cast<u64>(get<T>(b)) +
                         static_cast<u64>(get<T>(c))));
}
template <class T, class R, class A, class B, class C>
SIMT_INLINE void mad_wide(R&& target, A a, B b, C c) {
  set(target, wrapped<Wide<T>>(static_cast<u64>(product(get<T>(a), get<T>(b))) +
                               static_cast<u64>(get<Wide<T>>(c))));
}

/// The smaller or the larger number; -0 is smaller than +0, and NaN is no number.
template <bool largest, class T>
[[gnu::noinline]] SIMT_UNTRACED inline T chosen(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  if (a == b) return std::signbit(a) == largest ? b : a;
  return (a < b) == largest ? b : a;
}
#define SIMT_CHOICE(name, largest, sign)                                     \
  template <class T, bool flushes = false, class R, class A, class B>        \
  SIMT_INLINE void name(R&& target, A a, B b) {                              \
    if constexpr (is_float<T>) {                                             \
      compute<T, flushes>(target, chosen<largest, T>, get<T>(a), get<T>(b)); \
    } else {                                                                 \
      const T x = get<T>(a), y = get<T>(b);                                  \
      set(target, x sign y ? x : y);                                         \
    }                                                                        \
  }
SIMT_CHOICE(min, false, <)
SIMT_CHOICE(max, true, >)
#undef SIMT_CHOICE

template <class T, bool flushes = false, class R, class A>
SIMT_INLINE void abs(R&& target, A a) {
  if constexpr (is_float<T>) {
    compute<T, flushes>(
        target, [](T x) { return std::fabs(x); }, get<T>(a));
  } else {
    const u64 value = static_cast<u64>(get<T>(a));
    const u64 sign = -(value >> 63);
    set(target, wrapped<T>((value ^ sign) - sign));
  }
}
template <class T, bool flushes = false, class R, class A>
SIMT_INLINE void neg(R&& target, A a) {
  if constexpr (is_float<T>) {
    compute<T, flushes>(
        target, [](T x) { return -x; }, get<T>(a));
  } else {
    set(target, wrapped<T>(-static_cast<u64>(get<T>(a))));
  }
}
// Approximations are computed at full precision, as the intrinsics are.
#define SIMT_FUNCTION(name, expression)                      \
  template <class T, bool flushes = false, class R, class A> \
  SIMT_INLINE void name(R&& target, A a) {                   \
    compute<T, flushes>(                                     \
        target, [](T x) { return expression; }, get<T>(a));  \
  }
SIMT_FUNCTION(rcp, T(1) / x)
SIMT_FUNCTION(sqrt, std::sqrt(x))
SIMT_FUNCTION(rsqrt, T(1) / std::sqrt(x))
SIMT_FUNCTION(sine, std::sin(x))
SIMT_FUNCTION(cosine, std::cos(x))
SIMT_FUNCTION(exp2, std::exp2(x))
SIMT_FUNCTION(log2, std::log2(x))
SIMT_FUNCTION(tanh, std::tanh(x))
#undef SIMT_FUNCTION

template <class To, class From, class R, class A>
SIMT_INLINE void convert(R&& target, A a) {
  set(target, static_cast<To>(get<From>(a)));
}
/// Two numbers of 16 bits with this many fraction bits, `high` in the upper half.
template <int fraction, class R, class A, class B>
SIMT_INLINE void convert_pair(R&& target, A high, B low) {
  const u32 upper = simt::detail::narrow<fraction>(get<f32>(high), simt::detail::Rounding::nearest);
  const u32 lower = simt::detail::narrow<fraction>(get<f32>(low), simt::detail::Rounding::nearest);
  set(target, upper << 16 | lower);
}

/// cvt.rna.tf32: to 10 bits of fraction, the nearest, ties away from zero.
template <class R, class A>
SIMT_INLINE void to_tf32(R&& target, A a) {
  const u32 bits = get<u32>(a);
  const bool is_number = (bits & 0x7fffffff) <= 0x7f800000;
  set(target, is_number ? (bits + 0x1000) & 0xffffe000 : 0x7fffffff);
}

}  // namespace simt::ptx
