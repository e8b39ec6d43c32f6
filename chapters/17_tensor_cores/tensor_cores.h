/// \file
/// What the files of chapter 17 have in common: the types, and how sums become elements of C.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lab/lab.h"

using bf16 = __nv_bfloat16;
using Product = lab::GemmOf<bf16>;  // C = alpha A B + beta C, row-major

/// The address of shared memory as instructions take it.
__device__ __forceinline__ std::uint32_t address_of(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Two elements in one register, the first one in the low half.
__device__ __forceinline__ std::uint32_t pair(bf16 low, bf16 high) {
  return static_cast<std::uint32_t>(__bfloat16_as_ushort(low)) |
         static_cast<std::uint32_t>(__bfloat16_as_ushort(high)) << 16;
}
__device__ __forceinline__ std::uint32_t pair(__half low, __half high) {
  return static_cast<std::uint32_t>(__half_as_ushort(low)) |
         static_cast<std::uint32_t>(__half_as_ushort(high)) << 16;
}

/// A float as the nearest T, BF16 or FP16.
template <class T>
__device__ __forceinline__ T rounded_to(float x) {
  if constexpr (std::is_same_v<T, bf16>)
    return __float2bfloat16(x);
  else
    return __float2half(x);
}

/// Stores two sums of a row as elements (row, col) and (row, col + 1) of C, those of them that exist.
template <class T>
__device__ __forceinline__ void store2(const lab::GemmOf<T>& g, int row, int col, float x,
                                       float y) {
  if (row >= g.m || col >= g.n) return;
  T* const c = g.c + static_cast<std::size_t>(row) * g.ldc + col;
  const bool two = col + 1 < g.n;
  x *= g.alpha;
  y *= g.alpha;
  if (g.beta != 0) {
    x += g.beta * static_cast<float>(c[0]);
    if (two) y += g.beta * static_cast<float>(c[1]);
  }
  const T low = rounded_to<T>(x), high = rounded_to<T>(y);
  if (two && reinterpret_cast<std::uintptr_t>(c) % 4 == 0) {
    *reinterpret_cast<std::uint32_t*>(c) = pair(low, high);
  } else {
    c[0] = low;
    if (two) c[1] = high;
  }
}
/// Whether a matrix has rows that all begin at multiples of 16 bytes.
template <class T>
__host__ __device__ bool aligned_rows(const T* matrix, int ld) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 && ld * sizeof(T) % 16 == 0;
}

/// Whether A and B have.
template <class T>
bool aligned_rows(const lab::GemmOf<T>& g) {
  return aligned_rows(g.a, g.lda) && aligned_rows(g.b, g.ldb);
}
