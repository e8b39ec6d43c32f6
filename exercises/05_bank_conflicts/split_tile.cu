// # The unsplit tile
//
// Kind: optimise
// Level: 6
// Minutes: 20
//
// A warp stands as 4 x 8 threads over its part of C, and each thread needs 8 columns of B: 64 in
// all. `fragments` shows that read alone: per step along K, lane x (0 to 7) of each row of lanes
// reads two `float4` of `b`, and adds them up. Lane x has columns 8 x to 8 x + 7, side by side, so
// eight lanes read every second `float4`: two lanes meet in each bank.
//
// Give the lanes other columns: each still has two groups of four and reads two `float4` per step;
// all 64 columns must be covered, and the sums must go to the right place. `sums[c]` is the sum of
// column c.
//
// Bars: no bank conflicts, two shared load requests per step and warp

#include <cuda_runtime.h>

constexpr int kSteps = 16, kColumns = 64;

__global__ void fragments(const float* from, float* sums) {
  __shared__ alignas(16) float b[kSteps][kColumns];
  for (int i = threadIdx.x; i < kSteps * kColumns; i += 32) b[i / kColumns][i % kColumns] = from[i];
  __syncwarp();
  const int x = threadIdx.x % 8;
#ifdef SOLUTION
  const int low = 4 * x, high = 32 + 4 * x;
#else
  const int low = 8 * x, high = 8 * x + 4;  // TODO: the first columns of the two groups
#endif
  float4 left = make_float4(0, 0, 0, 0), right = left;
  for (int k = 0; k < kSteps; ++k) {
    const float4 p = *reinterpret_cast<const float4*>(&b[k][low]);
    const float4 q = *reinterpret_cast<const float4*>(&b[k][high]);
    left = make_float4(left.x + p.x, left.y + p.y, left.z + p.z, left.w + p.w);
    right = make_float4(right.x + q.x, right.y + q.y, right.z + q.z, right.w + q.w);
  }
  if (threadIdx.x < 8) {
    *reinterpret_cast<float4*>(&sums[low]) = left;
    *reinterpret_cast<float4*>(&sums[high]) = right;
  }
}
