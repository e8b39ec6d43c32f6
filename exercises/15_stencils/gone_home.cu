// # The threads that went home
//
// Kind: repair
// Level: 2
// Minutes: 6
//
// `slopes` computes `out[i] = in[i + 1] - in[i - 1]` for the n elements of an array, and 0 for the
// first and the last one. For n = 128 and 256 it is right. For most other n the last block, whose
// threads are not all needed, takes values that nobody has loaded.
//
// Repair it, and leave the tile: the differences still come out of shared memory.
//
// Bars at n = 4096: 5 load requests per block of 4 warps, 2 shared-memory loads per warp

#include <cuda_runtime.h>

constexpr int kThreads = 128;

// One thread for each element, blocks of kThreads.
__global__ void slopes(const float* in, float* out, int n) {
  __shared__ float tile[kThreads + 2];  // element i of in at tile[threadIdx.x + 1]
  const int i = blockIdx.x * kThreads + threadIdx.x;
#ifdef SOLUTION
  if (i < n) tile[threadIdx.x + 1] = in[i];
  if (threadIdx.x == 0 && i > 0) tile[0] = in[i - 1];
  if (threadIdx.x == kThreads - 1 && i + 1 < n) tile[kThreads + 1] = in[i + 1];
  __syncthreads();
  if (i >= n) return;
  const bool edge = i == 0 || i == n - 1;
  out[i] = edge ? 0 : tile[threadIdx.x + 2] - tile[threadIdx.x];
#else
  if (i == 0 || i >= n - 1) {
    if (i < n) out[i] = 0;
    return;
  }
  tile[threadIdx.x + 1] = in[i];
  if (threadIdx.x == 0) tile[0] = in[i - 1];
  if (threadIdx.x == kThreads - 1) tile[kThreads + 1] = in[i + 1];
  __syncthreads();
  out[i] = tile[threadIdx.x + 2] - tile[threadIdx.x];
#endif
}
