// # Steps and work
//
// Kind: predict
// Level: 1
// Minutes: 6
//
// A block of 1024 threads scans 1024 elements in shared memory. `steps` is one step of Hillis and
// Steele's scan, `tree` one level of Blelloch's up-sweep, both at distance d. Each active lane
// loads two words.
//
// Predict how many load requests to shared memory all warps make together, and in how many
// wavefronts they are served. A request is one warp instruction in which at least one lane is
// active.

#include <cuda_runtime.h>

#ifdef SOLUTION
constexpr int kStepsAtDistance1 = 64;  // load requests of `steps` at d = 1
constexpr int kTreeAtDistance1 = 32;   // load requests of `tree` at d = 1
constexpr int kTreeAtDistance64 = 2;   // and at d = 64
constexpr int kWavefronts8 = 64;       // wavefronts of all loads of `tree` at d = 8
#else
constexpr int kStepsAtDistance1 = -1;  // TODO: load requests of `steps` at d = 1
constexpr int kTreeAtDistance1 = -1;   // TODO: load requests of `tree` at d = 1
constexpr int kTreeAtDistance64 = -1;  // TODO: and at d = 64
constexpr int kWavefronts8 = -1;       // TODO: wavefronts of all loads of `tree` at d = 8
#endif

__global__ void steps(int* sums, int d) {
  __shared__ int rows[2][1024];
  const int t = threadIdx.x;
  rows[0][t] = sums[t];
  __syncthreads();
  int sum = rows[0][t];
  if (t >= d) sum += rows[0][t - d];
  sums[t] = sum;
}

__global__ void tree(int* sums, int d) {
  __shared__ int nodes[1024];
  const int t = threadIdx.x;
  nodes[t] = sums[t];
  __syncthreads();
  if (t < 1024 / (2 * d)) {
    const int right = (t + 1) * 2 * d - 1;
    sums[t] = nodes[right] + nodes[right - d];
  }
}
