// # Points through shared memory
//
// Kind: optimise
// Level: 5
// Minutes: 12
//
// `lengths` computes the squared length of n points of three floats, which lie in memory as x y z x
// y z and so on: `out[i] = x * x + y * y + z * z`. It is right, but the lanes of each load are 12
// bytes apart: 12 sectors per request.
//
// The layout has to stay. Let the block copy its 3 x 128 floats into shared memory first, every
// load of a warp 32 neighbouring floats; then each thread reads the three of its point there. The
// last block may have fewer points.
//
// Bars at n = 4096: 4 sectors per load request, 384 load requests, no bank conflicts

#include <cuda_runtime.h>

constexpr int kThreads = 128;

// One thread for each point, blocks of kThreads.
__global__ void lengths(const float* points, float* out, int n) {
#ifdef SOLUTION
  __shared__ float staged[3 * kThreads];
  const int t = threadIdx.x, first = blockIdx.x * 3 * kThreads;  // of the block's floats
  for (int j = t; j < 3 * kThreads; j += kThreads) {
    if (first + j < 3 * n) staged[j] = points[first + j];
  }
  __syncthreads();
  const int i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  const float x = staged[3 * t], y = staged[3 * t + 1], z = staged[3 * t + 2];
#else
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;  // TODO
  const float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
#endif
  out[i] = x * x + y * y + z * z;
}
