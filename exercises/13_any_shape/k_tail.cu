// # The end of K
//
// Kind: fill in
// Level: 1
// Minutes: 8
//
// `dot_rows` computes for each of 32 rows of `a` its product with a vector: `out[row]` is the sum
// over l of `a[row * k + l] * x[l]`, one warp for all rows, K-tiles of 16. A lane copies its own
// row's 16 floats of a K-tile; lanes 0 to 15 copy a float of `x` each.
//
// It is right where k is a multiple of 16. Make it right for every k from 1 on. The loop over a
// K-tile stays as it is: what does not exist becomes zero in shared memory, and is not read.
//
// Bars: no read outside of `a` and `x`; the multiply loop always runs 16 steps.

#include <cuda_runtime.h>

constexpr int kTile = 16;

// One block of 32 threads. a is (32, k), x has k floats.
__global__ void dot_rows(const float* a, const float* x, float* out, int k) {
  __shared__ float a_tile[kTile][33];  // (step, row)
  __shared__ float x_tile[kTile];
  const int lane = threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
#ifdef SOLUTION
    for (int l = 0; l < kTile; ++l) a_tile[l][lane] = k0 + l < k ? a[lane * k + k0 + l] : 0;
    if (lane < kTile) x_tile[lane] = k0 + lane < k ? x[k0 + lane] : 0;
#else
    for (int l = 0; l < kTile; ++l) a_tile[l][lane] = a[lane * k + k0 + l];  // TODO
    if (lane < kTile) x_tile[lane] = x[k0 + lane];                           // TODO
#endif
    __syncwarp();
    for (int l = 0; l < kTile; ++l) sum += a_tile[l][lane] * x_tile[l];
    __syncwarp();
  }
  out[lane] = sum;
}
