/// \file
/// Arithmetic that rounds to nearest (`_rn`), and conversions that say how they round: integers also to zero (`_rz`), up (`_ru`)
/// or down (`_rd`).
#pragma once

#include <simt/launch.h>
#include <simt/qualifiers.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt::detail {

/// A whole number as an `I`, the nearest one where it does not fit. NaN becomes 0 if neither type is too wide for that: of a
/// double, and as a 64-bit integer, it is the highest bit alone.
template <class I, class F>
[[gnu::noinline]] SIMT_UNTRACED inline I to_integer(F value) {
  using Limits = std::numeric_limits<I>;
  if (value != value) {
    if (sizeof(F) < 8 && sizeof(I) < 8) return 0;
    return static_cast<I>(std::make_unsigned_t<I>{1} << (sizeof(I) * 8 - 1));
  }
  if (value <= static_cast<F>(Limits::min())) return Limits::min();
  if (value >= static_cast<F>(Limits::max())) return Limits::max();
  return static_cast<I>(value);
}

}  // namespace simt::detail

#define SIMT_INLINE [[gnu::always_inline]] inline

SIMT_INLINE float __fadd_rn(float x, float y) { return x + y; }
SIMT_INLINE float __fsub_rn(float x, float y) { return x - y; }
SIMT_INLINE float __fmul_rn(float x, float y) { return x * y; }
SIMT_INLINE float __fdiv_rn(float x, float y) { return x / y; }
SIMT_INLINE float __frcp_rn(float x) { return 1.0f / x; }
SIMT_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
SIMT_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
SIMT_INLINE double __dadd_rn(double x, double y) { return x + y; }
SIMT_INLINE double __dsub_rn(double x, double y) { return x - y; }
SIMT_INLINE double __dmul_rn(double x, double y) { return x * y; }
SIMT_INLINE double __ddiv_rn(double x, double y) { return x / y; }
SIMT_INLINE double __drcp_rn(double x) { return 1.0 / x; }
SIMT_INLINE double __dsqrt_rn(double x) { return sqrt(x); }
SIMT_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

#define SIMT_CONVERT(suffix, round)                                     \
  SIMT_INLINE int __float2int_##suffix(float x) {                       \
    return simt::detail::to_integer<int>(std::round(x));                \
  }                                                                     \
  SIMT_INLINE unsigned __float2uint_##suffix(float x) {                 \
    return simt::detail::to_integer<unsigned>(std::round(x));           \
  }                                                                     \
  SIMT_INLINE long long __float2ll_##suffix(float x) {                  \
    return simt::detail::to_integer<long long>(std::round(x));          \
  }                                                                     \
  SIMT_INLINE unsigned long long __float2ull_##suffix(float x) {        \
    return simt::detail::to_integer<unsigned long long>(std::round(x)); \
  }                                                                     \
  SIMT_INLINE int __double2int_##suffix(double x) {                     \
    return simt::detail::to_integer<int>(std::round(x));                \
  }                                                                     \
  SIMT_INLINE unsigned __double2uint_##suffix(double x) {               \
    return simt::detail::to_integer<unsigned>(std::round(x));           \
  }                                                                     \
  SIMT_INLINE long long __double2ll_##suffix(double x) {                \
    return simt::detail::to_integer<long long>(std::round(x));          \
  }                                                                     \
  SIMT_INLINE unsigned long long __double2ull_##suffix(double x) {      \
    return simt::detail::to_integer<unsigned long long>(std::round(x)); \
  }
SIMT_CONVERT(rn, rint)
SIMT_CONVERT(rz, trunc)
SIMT_CONVERT(ru, ceil)
SIMT_CONVERT(rd, floor)
#undef SIMT_CONVERT

SIMT_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }
SIMT_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
SIMT_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
SIMT_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
SIMT_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
SIMT_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
SIMT_INLINE double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
