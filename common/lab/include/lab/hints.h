/// \file
/// Loads with a hint for L2, for which CUDA C++ has no function. PTX has the hints from compute capability 8.0 on; below
/// it these are plain loads.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace lab {

namespace detail {

/// A load of 4 or 16 bytes whose sectors L2 evicts before all others, or after them. One of 4 bytes makes L2 fetch the
/// aligned 256 bytes around it, too.
template <bool FIRST, class T>
__device__ T load_with_policy(const T* from) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t policy = 0;
  if constexpr (FIRST) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
  }
  T value;
  if constexpr (sizeof(T) == 16) {
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(from), "l"(policy));
  } else {
    asm volatile("ld.global.L2::cache_hint.L2::256B.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(from), "l"(policy));
  }
  return value;
#else
  return *from;
#endif
}

}  // namespace detail

/// Loads a float or a float4, whose sectors L2 evicts before all others; with a float it fetches the aligned 256 bytes.
template <class T>
__device__ T load_evict_first(const T* from) {
  return detail::load_with_policy<true>(from);
}

/// The same for sectors that L2 evicts after all others.
template <class T>
__device__ T load_evict_last(const T* from) {
  return detail::load_with_policy<false>(from);
}

/// Loads a float and asks L2 to fetch the aligned 256 bytes around it.
__device__ inline float load_and_fetch_256(const float* from) {
#if __CUDA_ARCH__ >= 800
  float value;
  asm volatile("ld.global.L2::256B.f32 %0, [%1];" : "=f"(value) : "l"(from));
  return value;
#else
  return *from;
#endif
}

}  // namespace lab
