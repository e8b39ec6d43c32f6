/// \file
/// bfloat16: __nv_bfloat16, pairs of them, conversions and intrinsics.
///
/// What both formats of 16 bits share (arithmetic, comparison, functions such as __hfma and __hadd2)
/// is in simt/narrow_float.h. Every result is computed in double and rounded to nearest even; hexp and its
/// like may differ from the hardware's in the last bit.
/// Of the atomic operations there is atomicAdd.
#pragma once

#include <simt/narrow_float.h>

/// The bits of a number, and of a pair.
struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

/// A number of 16 bits: sign, 8 bits of exponent, 7 of fraction.
struct __nv_bfloat16 : simt::detail::NarrowFloat<__nv_bfloat16, 7> {
  __nv_bfloat16() = default;
  SIMT_INLINE __nv_bfloat16(float value)
      : bits(simt::detail::narrow<7>(value, simt::detail::Rounding::nearest)) {}
  /// From double and the integers, rounded once.
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>
  SIMT_INLINE __nv_bfloat16(A value)
      : bits(simt::detail::narrow<7>(simt::detail::sticky_double(value),
                                     simt::detail::Rounding::nearest)) {}
  SIMT_INLINE __nv_bfloat16(const __nv_bfloat16_raw& raw) : bits(raw.x) {}
  SIMT_INLINE operator __nv_bfloat16_raw() const { return {bits}; }

  uint16_t bits;
};
static_assert(sizeof(__nv_bfloat16) == 2 && std::is_trivially_copyable_v<__nv_bfloat16>);

/// Two numbers that are loaded and stored together.
struct alignas(4) __nv_bfloat162 : simt::detail::NarrowPair<__nv_bfloat162, __nv_bfloat16> {
  union {
    __nv_bfloat16 x;
    volatile uint16_t whole_;  // keeps a copy whole: see vector_types.h
  };
  __nv_bfloat16 y;
  __nv_bfloat162() = default;
  SIMT_INLINE __nv_bfloat162(__nv_bfloat16 x_, __nv_bfloat16 y_) : x(x_), y(y_) {}
};
static_assert(sizeof(__nv_bfloat162) == 4 && std::is_trivially_copyable_v<__nv_bfloat162>);

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// ---- conversions; the suffix says how they round

SIMT_INLINE float __bfloat162float(__nv_bfloat16 a) { return a; }
SIMT_INLINE __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
SIMT_INLINE __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
SIMT_INLINE short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.bits); }
SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16::from(a); }
SIMT_INLINE __nv_bfloat16 __short_as_bfloat16(short a) {
  return __nv_bfloat16::from(static_cast<uint16_t>(a));
}

#define SIMT_CONVERSIONS(suffix, rounding, round)                           \
  SIMT_INLINE __nv_bfloat16 __float2bfloat16_##suffix(float a) {            \
    return __nv_bfloat16::rounded(a, simt::detail::Rounding::rounding);     \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __int2bfloat16_##suffix(int a) {                \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE int __bfloat162int_##suffix(__nv_bfloat16 a) {                \
    return simt::detail::saturated_integer<int>(                            \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __uint2bfloat16_##suffix(unsigned a) {          \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE unsigned __bfloat162uint_##suffix(__nv_bfloat16 a) {          \
    return simt::detail::saturated_integer<unsigned>(                       \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __short2bfloat16_##suffix(short a) {            \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE short __bfloat162short_##suffix(__nv_bfloat16 a) {            \
    return simt::detail::saturated_integer<short>(                          \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __ushort2bfloat16_##suffix(unsigned short a) {  \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE unsigned short __bfloat162ushort_##suffix(__nv_bfloat16 a) {  \
    return simt::detail::saturated_integer<unsigned short>(                 \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __ll2bfloat16_##suffix(long long a) {           \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE long long __bfloat162ll_##suffix(__nv_bfloat16 a) {           \
    return simt::detail::saturated_integer<long long>(                      \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }                                                                         \
  SIMT_INLINE __nv_bfloat16 __ull2bfloat16_##suffix(unsigned long long a) { \
    return __nv_bfloat16::rounded(simt::detail::sticky_double(a),           \
                                  simt::detail::Rounding::rounding);        \
  }                                                                         \
  SIMT_INLINE unsigned long long __bfloat162ull_##suffix(__nv_bfloat16 a) { \
    return simt::detail::saturated_integer<unsigned long long>(             \
        std::round(static_cast<double>(static_cast<float>(a))));            \
  }
SIMT_CONVERSIONS(rn, nearest, rint)
SIMT_CONVERSIONS(rz, zero, trunc)
SIMT_CONVERSIONS(rd, down, floor)
SIMT_CONVERSIONS(ru, up, ceil)
#undef SIMT_CONVERSIONS

// ---- pairs

SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float a) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a));
}
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return __nv_bfloat162(__nv_bfloat16(a.x), __nv_bfloat16(a.y));
}
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(a.x, a.y); }
SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
SIMT_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
SIMT_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }

// ---- constants

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
