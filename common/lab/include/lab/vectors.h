/// \file
/// Four floats at a time in a kernel: a matrix whose rows may begin anywhere and end anywhere.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace lab {

/// Whether every row of a matrix starts at a multiple of 16 bytes, as a float4 has to.
/// \param matrix its first element
/// \param ld floats from a row to the next
__host__ __device__ inline bool aligned16(const float* matrix, int ld) {
  return (reinterpret_cast<std::uintptr_t>(matrix) | (static_cast<unsigned>(ld) * sizeof(float))) %
             sizeof(float4) ==
         0;
}

/// Four neighbours of a row of which the first `there` exist; zeros for the others. One 128-bit load where all
/// four exist and `aligned` holds, 32-bit loads otherwise.
/// \param from the first of the four; not followed where `there` is 0 or less
/// \param there elements from there to the end of the row
/// \param aligned whether `from` is a multiple of 16 bytes, e.g. `aligned16(a, lda)`
__device__ inline float4 load4(const float* from, int there, bool aligned) {
  if (aligned && there >= 4) return *reinterpret_cast<const float4*>(from);
  float4 four = make_float4(0, 0, 0, 0);
  if (there > 0) four.x = from[0];
  if (there > 1) four.y = from[1];
  if (there > 2) four.z = from[2];
  if (there > 3) four.w = from[3];
  return four;
}

/// The like for a store: of the four neighbours the first `there` exist, and are written.
__device__ inline void store4(float* to, int there, bool aligned, float4 four) {
  if (aligned && there >= 4) {
    *reinterpret_cast<float4*>(to) = four;
    return;
  }
  if (there > 0) to[0] = four.x;
  if (there > 1) to[1] = four.y;
  if (there > 2) to[2] = four.z;
  if (there > 3) to[3] = four.w;
}

/// Four neighbours of a row of C become alpha sum + beta C, as far as they exist; C is not read where beta is 0.
///
/// Its form, like that of `aligned16`, is one for which nvcc 13.0 leaves the loops of large kernels their registers:
/// what stands behind a loop changes the allocation inside.
__device__ __forceinline__ void update4(float* c, int there, bool aligned, float alpha, float4 sum,
                                        float beta) {
  sum = make_float4(alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w);
  if (aligned && there >= 4) {
    float4* const to = reinterpret_cast<float4*>(c);
    if (beta != 0) {
      const float4 old = *to;
      sum = make_float4(sum.x + beta * old.x, sum.y + beta * old.y, sum.z + beta * old.z,
                        sum.w + beta * old.w);
    }
    *to = sum;
    return;
  }
  if (there > 0) c[0] = beta == 0 ? sum.x : sum.x + beta * c[0];
  if (there > 1) c[1] = beta == 0 ? sum.y : sum.y + beta * c[1];
  if (there > 2) c[2] = beta == 0 ? sum.z : sum.z + beta * c[2];
  if (there > 3) c[3] = beta == 0 ? sum.w : sum.w + beta * c[3];
}

}  // namespace lab
