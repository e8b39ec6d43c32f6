// # The last block
//
// Kind: repair
// Level: 2
// Minutes: 4
// Path: short
//
// `add` computes `c[i] = a[i] + b[i]` for `n` elements. It gives the right sums for n = 256 and n =
// 4096. For n = 100 and n = 255 nothing is computed at all, and for n = 257 the last element is
// missing. Once the launch has enough blocks, the simulator reports accesses past the end.
//
// Repair the kernel and the launch: right for every n from 1 up, with blocks of 256 threads and no
// more blocks than needed.

#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// a, b and c are arrays of n floats on the device.
void launch_add(const float* a, const float* b, float* c, int n) {
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  add<<<blocks, threads>>>(a, b, c, n);
}
