// # A barrier in a branch
//
// Kind: repair
// Level: 2
// Minutes: 8
//
// `pair_sums` adds up the two halves of each block's 256 elements: `out[b * 128 + t] = x[b * 256 +
// t] + x[b * 256 + 128 + t]` for t below 128. n is a multiple of 256. The lower half of the threads
// reads what the upper half has put into shared memory, and each half waits for the other at a
// barrier of its own.
//
// On most GPUs that happens to work. It is wrong all the same: all threads of a block must come to
// the same `__syncthreads()`. Repair it; the halves still meet in shared memory.

#include <cuda_runtime.h>

__global__ void pair_sums(const float* x, float* out) {
  __shared__ float upper[128];
  const int t = threadIdx.x;
  const float mine = x[blockIdx.x * 256 + t];
#ifdef SOLUTION
  if (t >= 128) upper[t - 128] = mine;
  __syncthreads();
  if (t < 128) out[blockIdx.x * 128 + t] = mine + upper[t];
#else
  if (t >= 128) {
    upper[t - 128] = mine;
    __syncthreads();
  } else {
    __syncthreads();
    out[blockIdx.x * 128 + t] = mine + upper[t];
  }
#endif
}
