// # Load the halo
//
// Kind: fill in
// Level: 1
// Minutes: 8
//
// `spread` computes how far the values around each element are apart: `out[i]` is the largest of
// `in[i - 2]` to `in[i + 2]`, minus the smallest. Neighbours that do not exist are left out, which
// is the same as taking the first or the last element for them.
//
// The block's 128 elements are in the tile already. Load the two on each side as well, by the first
// threads of the block. n is any number.
//
// Bars at n = 4096: 6 load requests per block of 4 warps, no bank conflicts

#include <cuda_runtime.h>

constexpr int kThreads = 128, kRadius = 2;

// One thread for each element, blocks of kThreads.
__global__ void spread(const float* in, float* out, int n) {
  __shared__ float tile[kThreads + 2 * kRadius];
  const int i = blockIdx.x * kThreads + threadIdx.x, at = threadIdx.x + kRadius;
  tile[at] = in[min(i, n - 1)];
#ifdef SOLUTION
  if (threadIdx.x < kRadius) {
    tile[at - kRadius] = in[min(max(i - kRadius, 0), n - 1)];
    tile[at + kThreads] = in[min(i + kThreads, n - 1)];
  }
#else
  // TODO
#endif
  __syncthreads();
  if (i >= n) return;
  float low = tile[at], high = tile[at];
  for (int d = -kRadius; d <= kRadius; ++d) {
    low = fminf(low, tile[at + d]);
    high = fmaxf(high, tile[at + d]);
  }
  out[i] = high - low;
}
