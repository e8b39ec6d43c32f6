// # float4, with a tail
//
// Kind: optimise
// Level: 2
// Minutes: 12
//
// `twice` writes `y[i] = 2 * x[i]` for n elements, one at a time. Both arrays begin at a multiple
// of 16 bytes. Let each thread move a `float4` wherever four whole elements are left; n need not be
// a multiple of 4, so up to three elements at the end go one by one.
//
// No access may be outside of the arrays, and each element is written once.
//
// Bars at n = 4096: 32 load requests and 32 store requests (128 of each now). At n = 4099 at most
// one more of each.

#include <cuda_runtime.h>

// TODO
__global__ void twice_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

void twice(const float* x, float* y, int n) { twice_kernel<<<(n + 127) / 128, 128>>>(x, y, n); }
