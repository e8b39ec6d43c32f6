/// \file
/// Floats of 8 bits: E4M3 (to 448, no infinity) and E5M2 (to 57344), as storage and conversions. Rounding is to the nearest, ties
/// to even.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
/// What becomes of numbers that are too large: infinity or a NaN, or the largest finite one.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace simt::detail {

struct Fp8Format {
  int mantissa, bias;
  float largest;
  bool has_infinity;
};
SIMT_INLINE constexpr Fp8Format fp8_format(__nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? Fp8Format{3, 7, 448.0f, false} : Fp8Format{2, 15, 57344.0f, true};
}
SIMT_INLINE unsigned char to_fp8(float x, __nv_saturation_t saturation,
                                 __nv_fp8_interpretation_t kind) {
  const Fp8Format format = fp8_format(kind);
  const unsigned sign = __builtin_signbit(x) ? 0x80u : 0;
  const float magnitude = __builtin_fabsf(x);
  if (magnitude != magnitude)
    return static_cast<unsigned char>(format.has_infinity ? 0x7e | sign : 0x7f);
  if (magnitude == 0) return static_cast<unsigned char>(sign);
  const unsigned above = format.has_infinity ? 0x7c : 0x7f;
  const unsigned largest = format.has_infinity ? 0x7b : 0x7e;
  int exponent = 128;  // of an infinity
  if (!__builtin_isinf(magnitude)) __builtin_frexpf(magnitude, &exponent), --exponent;
  if (exponent < 1 - format.bias) exponent = 1 - format.bias;
  if (exponent > 16)
    return static_cast<unsigned char>(sign | (saturation == __NV_SATFINITE ? largest : above));
  // In units of the last place, where an implicit bit stands at 2^mantissa.
  const float units = __builtin_nearbyintf(__builtin_ldexpf(magnitude, format.mantissa - exponent));
  if (__builtin_ldexpf(units, exponent - format.mantissa) > format.largest)
    return static_cast<unsigned char>(sign | (saturation == __NV_SATFINITE ? largest : above));
  // A carry out of the mantissa goes on into the exponent.
  const int code = static_cast<int>(units) + ((exponent + format.bias - 1) << format.mantissa);
  return static_cast<unsigned char>(sign | static_cast<unsigned>(code));
}
SIMT_INLINE float from_fp8(unsigned char bits, __nv_fp8_interpretation_t kind) {
  const Fp8Format format = fp8_format(kind);
  const int magnitude = bits & 0x7f, exponent = magnitude >> format.mantissa;
  const int mantissa = magnitude & ((1 << format.mantissa) - 1);
  float value;
  if (format.has_infinity ? exponent == 31 : magnitude == 0x7f) {
    value = format.has_infinity && mantissa == 0 ? __builtin_inff() : __builtin_nanf("");
  } else if (exponent == 0) {
    value = __builtin_ldexpf(static_cast<float>(mantissa), 1 - format.bias - format.mantissa);
  } else {
    value = __builtin_ldexpf(static_cast<float>(mantissa + (1 << format.mantissa)),
                             exponent - format.bias - format.mantissa);
  }
  return bits & 0x80 ? -value : value;
}

}  // namespace simt::detail

SIMT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
  return simt::detail::to_fp8(x, saturation, kind);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
  return simt::detail::to_fp8(static_cast<float>(x), saturation, kind);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(simt::detail::to_fp8(x.x, saturation, kind) |
                                           simt::detail::to_fp8(x.y, saturation, kind) << 8);
}

#define SIMT_FP8(suffix, kind)                                                                     \
  struct __nv_fp8_##suffix {                                                                       \
    __nv_fp8_storage_t __x;                                                                        \
    __nv_fp8_##suffix() = default;                                                                 \
    SIMT_INLINE explicit __nv_fp8_##suffix(float x)                                                \
        : __x(simt::detail::to_fp8(x, __NV_SATFINITE, kind)) {}                                    \
    SIMT_INLINE explicit __nv_fp8_##suffix(double x) : __nv_fp8_##suffix(static_cast<float>(x)) {} \
    SIMT_INLINE explicit __nv_fp8_##suffix(int x) : __nv_fp8_##suffix(static_cast<float>(x)) {}    \
    SIMT_INLINE explicit __nv_fp8_##suffix(__half x) : __nv_fp8_##suffix(__half2float(x)) {}       \
    SIMT_INLINE explicit operator float() const { return simt::detail::from_fp8(__x, kind); }      \
    SIMT_INLINE explicit operator double() const { return simt::detail::from_fp8(__x, kind); }     \
    SIMT_INLINE explicit operator __half() const {                                                 \
      return __float2half(simt::detail::from_fp8(__x, kind));                                      \
    }                                                                                              \
    SIMT_INLINE explicit operator bool() const { return (__x & 0x7f) != 0; }                       \
  };                                                                                               \
  struct alignas(2) __nv_fp8x2_##suffix {                                                          \
    __nv_fp8x2_storage_t __x;                                                                      \
    __nv_fp8x2_##suffix() = default;                                                               \
    SIMT_INLINE explicit __nv_fp8x2_##suffix(float2 x)                                             \
        : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kind)) {}                                \
    SIMT_INLINE explicit operator float2() const {                                                 \
      return make_float2(simt::detail::from_fp8(static_cast<unsigned char>(__x), kind),            \
                         simt::detail::from_fp8(static_cast<unsigned char>(__x >> 8), kind));      \
    }                                                                                              \
  };                                                                                               \
  struct alignas(4) __nv_fp8x4_##suffix {                                                          \
    __nv_fp8x4_storage_t __x;                                                                      \
    __nv_fp8x4_##suffix() = default;                                                               \
    SIMT_INLINE explicit __nv_fp8x4_##suffix(float4 x)                                             \
        : __x(__nv_cvt_float2_to_fp8x2(make_float2(x.x, x.y), __NV_SATFINITE, kind) |              \
              static_cast<unsigned>(                                                               \
                  __nv_cvt_float2_to_fp8x2(make_float2(x.z, x.w), __NV_SATFINITE, kind))           \
                  << 16) {}                                                                        \
    SIMT_INLINE explicit operator float4() const {                                                 \
      return make_float4(simt::detail::from_fp8(static_cast<unsigned char>(__x), kind),            \
                         simt::detail::from_fp8(static_cast<unsigned char>(__x >> 8), kind),       \
                         simt::detail::from_fp8(static_cast<unsigned char>(__x >> 16), kind),      \
                         simt::detail::from_fp8(static_cast<unsigned char>(__x >> 24), kind));     \
    }                                                                                              \
  };
SIMT_FP8(e4m3, __NV_E4M3)
SIMT_FP8(e5m2, __NV_E5M2)
#undef SIMT_FP8
