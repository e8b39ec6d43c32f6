// # A scan in a block
//
// Kind: fill in
// Level: 1
// Minutes: 10
//
// `scan_block` computes the exclusive scan of n elements with a single block of 256 threads, n up
// to 256: out[i] = in[0] + ... + in[i - 1]. `scan_warp` is there. It returns, in each lane, the sum
// over the lanes of its warp up to it, itself included; all 32 lanes have to call it.
//
// Fill in the rest. Bars: at most 8 store requests to shared memory, no bank conflicts.

#include <cuda_runtime.h>

__device__ int scan_warp(int v) {
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(0xFFFFFFFF, v, d);
    if (threadIdx.x % 32 >= d) v += left;
  }
  return v;
}

__global__ void scan_block(int* out, const int* in, int n) {
  __shared__ int totals[8];
  const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int v = i < n ? in[i] : 0;
  const int inclusive = scan_warp(v);
#ifdef SOLUTION
  if (lane == 31) totals[warp] = inclusive;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp; ++w) before += totals[w];
#else
  // TODO: before becomes the sum of all warps before this one.
  const int before = 0;
  (void)&totals, (void)lane, (void)warp;
#endif
  if (i < n) out[i] = before + inclusive - v;
}
