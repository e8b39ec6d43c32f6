// # A sum of registers
//
// Kind: fill in
// Level: 3
// Minutes: 10
// Path: short
//
// `block_sums` adds up the elements that the threads of each block meet in a grid-stride loop:
// sums[b] is the sum of block b. Complete the two functions that it needs.
//
// `warp_sum` returns the sum of `value` over the 32 lanes of the warp, with shuffles and nothing
// else. `block_sum` returns the sum over the 256 threads of the block to thread 0; what the others
// get does not matter.
//
// Bars at n = 4096 with 4 blocks: 8 shared store requests and 1 shared load request for each block

#include <cuda_runtime.h>

constexpr int kThreads = 256;

#ifdef SOLUTION
__device__ int warp_sum(int value) {
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
  return value;
}
#else
__device__ int warp_sum(int value) {
  return value;  // TODO
}
#endif

__device__ int block_sum(int value) {
#ifdef SOLUTION
  __shared__ int sums[kThreads / 32];  // (warp)
  const int t = threadIdx.x;
  value = warp_sum(value);
  if (t % 32 == 0) sums[t / 32] = value;
  __syncthreads();
  if (t >= 32) return 0;
  return warp_sum(t < kThreads / 32 ? sums[t] : 0);
#else
  return warp_sum(value);  // TODO: the warps have to meet somewhere
#endif
}

__global__ void block_sums(const int* in, int* sums, int n) {
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
