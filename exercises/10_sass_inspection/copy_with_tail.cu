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

// TODO
__global__ void copy_floats(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

void copy(float* out, const float* in, int n) { copy_floats<<<(n + 255) / 256, 256>>>(out, in, n); }
