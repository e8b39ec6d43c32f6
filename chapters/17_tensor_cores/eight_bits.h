/// \file
/// The products of chapter 17 whose elements have 8 bits: signed bytes, and FP8.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lab/lab.h"

/// FP8 with 4 bits of exponent and 3 of significand, which `cuda_fp8.h` has as `__nv_fp8_e4m3`: 448 is the largest.
struct E4m3 {
  std::uint8_t bits;
};

/// Its value. The bits stand where a float has them, with an exponent that is 120 too small.
__host__ __device__ inline float value_of(E4m3 x) {
  const std::uint32_t bits = (x.bits & 0x7Fu) << 20 | (x.bits & 0x80u) << 24;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value * 0x1p120f;
}

/// The nearest one, of two that are as near the even one. |x| is at most 448.
__host__ __device__ inline E4m3 to_e4m3(float x) {
  const float small = x * 0x1p-120f;
  std::uint32_t bits;
  std::memcpy(&bits, &small, sizeof bits);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t rounded = (magnitude + 0x7FFFFu + (magnitude >> 20 & 1)) >> 20;
  return {static_cast<std::uint8_t>(rounded | bits >> 31 << 7)};
}

/// Bytes from a row of k elements to the next: rows begin at multiples of 16 bytes.
inline std::size_t pitch_of(std::size_t k) { return lab::ceil_div(k, std::size_t{16}) * 16; }

/// A matrix (rows, k) in rows of `pitch` bytes; zeros behind each row.
template <class T>
struct ByRows {
  std::uint64_t seed;
  std::size_t k, pitch;

  __host__ __device__ T operator()(std::size_t at) const {
    if (at % pitch >= k) return T{};
    const std::size_t i = at / pitch * k + at % pitch;
    if constexpr (sizeof(T) == 1 && !std::is_integral_v<T>)
      return to_e4m3(lab::random_float(seed, i));
    else
      return static_cast<T>(lab::random_bits(seed, i) >> 56);
  }
};
