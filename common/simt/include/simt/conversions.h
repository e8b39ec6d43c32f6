/// \file
/// Arithmetic and conversions that say how they round: to nearest (`_rn`), to zero (`_rz`), up (`_ru`) or
/// down (`_rd`).
#pragma once

#include <simt/launch.h>
#include <simt/qualifiers.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt::detail {

/// Keeps the compiler from computing a value before or after this point.
template <class T>
[[gnu::always_inline]] inline void pin(T& value) {
#ifdef __x86_64__
  asm volatile("" : "+x"(value) : : "memory");
#else
  asm volatile("" : "+w"(value) : : "memory");
#endif
}

/// `operation` of the operands with the CPU's rounding set to `mode`.
template <class T, class Operation, class... Operands>
[[gnu::noinline]] SIMT_UNTRACED inline T rounded_with(int mode, Operation operation,
                                                      Operands... operands) {
  const int before = std::fegetround();
  std::fesetround(mode);
  (pin(operands), ...);
  T value = operation(operands...);
  pin(value);
  std::fesetround(before);
  return value;
}

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

template <class F, class I>
[[gnu::noinline]] SIMT_UNTRACED inline F from_integer(int mode, I value) {
  const int before = std::fegetround();
  std::fesetround(mode);
  asm volatile("" : "+r"(value) : : "memory");
  F result = static_cast<F>(value);
  pin(result);
  std::fesetround(before);
  return result;
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

#define SIMT_ROUNDED(suffix, mode)                                                 \
  SIMT_INLINE float __fadd_##suffix(float x, float y) {                            \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a, float b) { return a + b; }, x, y);                       \
  }                                                                                \
  SIMT_INLINE float __fsub_##suffix(float x, float y) {                            \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a, float b) { return a - b; }, x, y);                       \
  }                                                                                \
  SIMT_INLINE float __fmul_##suffix(float x, float y) {                            \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a, float b) { return a * b; }, x, y);                       \
  }                                                                                \
  SIMT_INLINE float __fdiv_##suffix(float x, float y) {                            \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a, float b) { return a / b; }, x, y);                       \
  }                                                                                \
  SIMT_INLINE float __frcp_##suffix(float x) { return __fdiv_##suffix(1.0f, x); }  \
  SIMT_INLINE float __fsqrt_##suffix(float x) {                                    \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a) { return sqrtf(a); }, x);                                \
  }                                                                                \
  SIMT_INLINE float __fmaf_##suffix(float x, float y, float z) {                   \
    return simt::detail::rounded_with<float>(                                      \
        mode, [](float a, float b, float c) { return fmaf(a, b, c); }, x, y, z);   \
  }                                                                                \
  SIMT_INLINE double __dadd_##suffix(double x, double y) {                         \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a, double b) { return a + b; }, x, y);                     \
  }                                                                                \
  SIMT_INLINE double __dsub_##suffix(double x, double y) {                         \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a, double b) { return a - b; }, x, y);                     \
  }                                                                                \
  SIMT_INLINE double __dmul_##suffix(double x, double y) {                         \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a, double b) { return a * b; }, x, y);                     \
  }                                                                                \
  SIMT_INLINE double __ddiv_##suffix(double x, double y) {                         \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a, double b) { return a / b; }, x, y);                     \
  }                                                                                \
  SIMT_INLINE double __drcp_##suffix(double x) { return __ddiv_##suffix(1.0, x); } \
  SIMT_INLINE double __dsqrt_##suffix(double x) {                                  \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a) { return sqrt(a); }, x);                                \
  }                                                                                \
  SIMT_INLINE double __fma_##suffix(double x, double y, double z) {                \
    return simt::detail::rounded_with<double>(                                     \
        mode, [](double a, double b, double c) { return fma(a, b, c); }, x, y, z); \
  }
SIMT_ROUNDED(rz, FE_TOWARDZERO)
SIMT_ROUNDED(ru, FE_UPWARD)
SIMT_ROUNDED(rd, FE_DOWNWARD)
#undef SIMT_ROUNDED

#define SIMT_CONVERT(suffix, mode, round)                               \
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
  }                                                                     \
  SIMT_INLINE float __double2float_##suffix(double x) {                 \
    return simt::detail::rounded_with<float>(                           \
        mode, [](double a) { return static_cast<float>(a); }, x);       \
  }                                                                     \
  SIMT_INLINE float __int2float_##suffix(int x) {                       \
    return simt::detail::from_integer<float>(mode, x);                  \
  }                                                                     \
  SIMT_INLINE float __uint2float_##suffix(unsigned x) {                 \
    return simt::detail::from_integer<float>(mode, x);                  \
  }                                                                     \
  SIMT_INLINE float __ll2float_##suffix(long long x) {                  \
    return simt::detail::from_integer<float>(mode, x);                  \
  }                                                                     \
  SIMT_INLINE float __ull2float_##suffix(unsigned long long x) {        \
    return simt::detail::from_integer<float>(mode, x);                  \
  }                                                                     \
  SIMT_INLINE double __ll2double_##suffix(long long x) {                \
    return simt::detail::from_integer<double>(mode, x);                 \
  }                                                                     \
  SIMT_INLINE double __ull2double_##suffix(unsigned long long x) {      \
    return simt::detail::from_integer<double>(mode, x);                 \
  }
SIMT_CONVERT(rn, FE_TONEAREST, rint)
SIMT_CONVERT(rz, FE_TOWARDZERO, trunc)
SIMT_CONVERT(ru, FE_UPWARD, ceil)
SIMT_CONVERT(rd, FE_DOWNWARD, floor)
#undef SIMT_CONVERT

SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
