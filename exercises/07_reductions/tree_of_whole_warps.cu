// # A tree of whole warps
//
// Kind: optimise
// Level: 1
// Minutes: 8
// Path: short
//
// `block_sums` adds up the 256 elements of each block with a tree: sums[b] is the sum of elements
// 256 b to 256 b + 255; elements behind the end count as 0. It is right. But the threads that add
// are spread over all warps of the block, so that nearly every warp executes nearly every step.
//
// Change which threads add, and which elements they add, so that whole warps have nothing to do,
// and no two lanes meet in a bank.
//
// Bars at n = 4096: 400 shared load requests (25 for each block), no bank conflicts

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void block_sums(const int* in, int* sums, int n) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
#ifdef SOLUTION
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
#else
  for (int s = 1; s < kThreads; s *= 2) {          // TODO
    if (t % (2 * s) == 0) part[t] += part[t + s];  // TODO
    __syncthreads();
  }
#endif
  if (t == 0) sums[blockIdx.x] = part[0];
}
