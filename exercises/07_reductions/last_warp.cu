// # The last warp
//
// Kind: repair
// Level: 2
// Minutes: 8
//
// `block_sums` adds up the 512 elements of each block of 256 threads: sums[b] is the sum of
// elements 512 b to 512 b + 511; elements behind the end count as 0. When 64 partial sums are left,
// one warp adds them up by itself. This is how it was written for the GPUs of 2007, whose lanes
// executed every instruction together.
//
// Repair it for the GPUs of today. The last warp shall still need no `__syncthreads()`.
//
// Bar at n = 4096: no finding, and at most 8 x 19 shared load requests

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void block_sums(const int* in, int* sums, int n) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * 2 * kThreads + t;
  part[t] = (i < n ? in[i] : 0) + (i + kThreads < n ? in[i + kThreads] : 0);
  __syncthreads();
  for (int s = kThreads / 2; s > 32; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t >= 32) return;
#ifdef SOLUTION
  int sum = part[t];
  for (int s = 32; s > 0; s /= 2) {
    sum += part[t + s];
    __syncwarp();  // all lanes have read
    part[t] = sum;
    __syncwarp();  // all lanes have written
  }
  if (t == 0) sums[blockIdx.x] = sum;
#else
  volatile int* const last = part;
  for (int s = 32; s > 0; s /= 2) last[t] = last[t] + last[t + s];
  if (t == 0) sums[blockIdx.x] = last[0];
#endif
}
