// # Four floats at a time, and the rest
//
// Kind: optimise
// Level: 3
// Minutes: 12
//
// `copy` copies n floats, one per thread. Let it move four at a time where it can: with `float4`
// where `in` and `out` both start at a multiple of 16 bytes, and float by float otherwise. n may be
// any number from 1 up; with `float4`, what is left over behind the last whole one is copied, too,
// and nothing behind it is touched. `copy` makes one launch.
//
// Bars at n = 4099, aligned: at most 33 load requests and 33 store requests (129 of each now)

#include <cuda_runtime.h>

#include <cstdint>

#ifndef SOLUTION
// TODO
#endif
__global__ void copy_floats(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

#ifdef SOLUTION
__global__ void copy_fours(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, whole = n / 4;
  if (i < whole) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  if (i < n - 4 * whole) out[4 * whole + i] = in[4 * whole + i];  // at most three
}

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

void copy(float* out, const float* in, int n) {
  if (aligned(in) && aligned(out)) {
    copy_fours<<<n / 4 / 256 + 1, 256>>>(out, in, n);
  } else {
    copy_floats<<<(n + 255) / 256, 256>>>(out, in, n);
  }
}
#else
void copy(float* out, const float* in, int n) { copy_floats<<<(n + 255) / 256, 256>>>(out, in, n); }
#endif
