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

#ifndef SOLUTION
// TODO
#endif
__global__ void twice_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOLUTION
  const int vectors = n / 4;
  if (i < vectors) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  } else if (4 * vectors + (i - vectors) < n) {
    const int j = 4 * vectors + (i - vectors);  // one of the last three
    y[j] = 2 * x[j];
  }
#else
  if (i < n) y[i] = 2 * x[i];
#endif
}

#ifdef SOLUTION
void twice(const float* x, float* y, int n) {
  const int threads = n / 4 + n % 4;
  twice_kernel<<<(threads + 127) / 128, 128>>>(x, y, n);
}
#else
void twice(const float* x, float* y, int n) { twice_kernel<<<(n + 127) / 128, 128>>>(x, y, n); }
#endif
