/// \file
/// Half precision: __half, pairs of them, conversions and intrinsics.
///
/// What both formats of 16 bits share (arithmetic, comparison, functions such as __hfma and __hadd2)
/// is in simt/narrow_float.h. Every result is computed in double and rounded to nearest even; hexp and its
/// like may differ from the hardware's in the last bit.
/// Of the atomic operations there is atomicAdd.
#pragma once

#include <simt/narrow_float.h>

/// The bits of a number, and of a pair.
struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

/// A number of 16 bits: sign, 5 bits of exponent, 10 of fraction.
struct __half : simt::detail::NarrowFloat<__half, 10> {
  __half() = default;
  SIMT_INLINE __half(float value)
      : bits(simt::detail::narrow<10>(value, simt::detail::Rounding::nearest)) {}
  /// From double and the integers, rounded once.
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>
  SIMT_INLINE __half(A value)
      : bits(simt::detail::narrow<10>(simt::detail::sticky_double(value),
                                      simt::detail::Rounding::nearest)) {}
  SIMT_INLINE __half(const __half_raw& raw) : bits(raw.x) {}
  SIMT_INLINE operator __half_raw() const { return {bits}; }

  uint16_t bits;
};
static_assert(sizeof(__half) == 2 && std::is_trivially_copyable_v<__half>);

/// Two numbers that are loaded and stored together.
struct alignas(4) __half2 : simt::detail::NarrowPair<__half2, __half> {
  union {
    __half x;
    volatile uint16_t whole_;  // keeps a copy whole: see vector_types.h
  };
  __half y;
  __half2() = default;
  SIMT_INLINE __half2(__half x_, __half y_) : x(x_), y(y_) {}
};
static_assert(sizeof(__half2) == 4 && std::is_trivially_copyable_v<__half2>);

using half = __half;
using half2 = __half2;

// ---- conversions; the suffix says how they round

SIMT_INLINE float __half2float(__half a) { return a; }
SIMT_INLINE __half __float2half(float a) { return __half(a); }
SIMT_INLINE __half __double2half(double a) { return __half(a); }
SIMT_INLINE unsigned short __half_as_ushort(__half a) { return a.bits; }
SIMT_INLINE short __half_as_short(__half a) { return static_cast<short>(a.bits); }
SIMT_INLINE __half __ushort_as_half(unsigned short a) { return __half::from(a); }
SIMT_INLINE __half __short_as_half(short a) { return __half::from(static_cast<uint16_t>(a)); }

#define SIMT_CONVERSIONS(suffix, rounding, round)                                             \
  SIMT_INLINE __half __float2half_##suffix(float a) {                                         \
    return __half::rounded(a, simt::detail::Rounding::rounding);                              \
  }                                                                                           \
  SIMT_INLINE __half __int2half_##suffix(int a) {                                             \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE int __half2int_##suffix(__half a) {                                             \
    return simt::detail::saturated_integer<int>(                                              \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }                                                                                           \
  SIMT_INLINE __half __uint2half_##suffix(unsigned a) {                                       \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE unsigned __half2uint_##suffix(__half a) {                                       \
    return simt::detail::saturated_integer<unsigned>(                                         \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }                                                                                           \
  SIMT_INLINE __half __short2half_##suffix(short a) {                                         \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE short __half2short_##suffix(__half a) {                                         \
    return simt::detail::saturated_integer<short>(                                            \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }                                                                                           \
  SIMT_INLINE __half __ushort2half_##suffix(unsigned short a) {                               \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE unsigned short __half2ushort_##suffix(__half a) {                               \
    return simt::detail::saturated_integer<unsigned short>(                                   \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }                                                                                           \
  SIMT_INLINE __half __ll2half_##suffix(long long a) {                                        \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE long long __half2ll_##suffix(__half a) {                                        \
    return simt::detail::saturated_integer<long long>(                                        \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }                                                                                           \
  SIMT_INLINE __half __ull2half_##suffix(unsigned long long a) {                              \
    return __half::rounded(simt::detail::sticky_double(a), simt::detail::Rounding::rounding); \
  }                                                                                           \
  SIMT_INLINE unsigned long long __half2ull_##suffix(__half a) {                              \
    return simt::detail::saturated_integer<unsigned long long>(                               \
        std::round(static_cast<double>(static_cast<float>(a))));                              \
  }
SIMT_CONVERSIONS(rn, nearest, rint)
SIMT_CONVERSIONS(rz, zero, trunc)
SIMT_CONVERSIONS(rd, down, floor)
SIMT_CONVERSIONS(ru, up, ceil)
#undef SIMT_CONVERSIONS

// ---- pairs

SIMT_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
SIMT_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
SIMT_INLINE __half2 __half2half2(__half a) { return __half2(a, a); }
SIMT_INLINE __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
SIMT_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
SIMT_INLINE __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
SIMT_INLINE float2 __half22float2(__half2 a) { return make_float2(a.x, a.y); }
SIMT_INLINE __half __low2half(__half2 a) { return a.x; }
SIMT_INLINE __half __high2half(__half2 a) { return a.y; }
SIMT_INLINE __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
SIMT_INLINE __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }

// ---- constants

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
