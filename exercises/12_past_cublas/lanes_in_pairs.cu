// # Lanes in pairs
//
// Kind: optimise
// Level: 5
// Minutes: 12
//
// A warp computes 16 x 32 elements of C. Its lanes stand in 4 rows and 8 columns, and each has
// 4 x 4 elements. For each step along K a lane reads one `float4` of A, that of its row, and one
// of B, that of its column. `row_of` and `col_of` say where a lane stands.
//
// A read of 16 bytes a lane takes four passes, one for each quarter of the warp. Passes join in
// pairs if every lane i reads the address that lane i ^ 1 reads, or if every lane i reads that of
// lane i ^ 2. With the lanes row by row, a read of A takes 2 wavefronts and one of B takes 4. Place
// the lanes so that both take 2.
//
// Bar: 2 wavefronts per shared load request (3 now)

#include <cuda_runtime.h>

constexpr int kSteps = 16, kRows = 4, kCols = 8;  // of lanes

#ifdef SOLUTION
// Bit 0 of the lane is one of the column, bit 1 one of the row.
__device__ int row_of(int lane) { return lane / 2 % 2 + lane / 16 * 2; }

__device__ int col_of(int lane) { return lane % 2 + lane / 4 % 4 * 2; }
#else
__device__ int row_of(int lane) { return lane / 8; }  // TODO

__device__ int col_of(int lane) { return lane % 8; }  // TODO
#endif

// a: (steps, 16), b: (steps, 32), c: (16, 32). One warp.
__global__ void product(float* c, const float* a, const float* b) {
  __shared__ float4 tile_a[kSteps][kRows], tile_b[kSteps][kCols];
  const int lane = threadIdx.x, row = row_of(lane), col = col_of(lane);
  for (int i = lane; i < kSteps * kRows; i += 32) {
    tile_a[i / kRows][i % kRows] = reinterpret_cast<const float4*>(a)[i];
  }
  for (int i = lane; i < kSteps * kCols; i += 32) {
    tile_b[i / kCols][i % kCols] = reinterpret_cast<const float4*>(b)[i];
  }
  __syncwarp();

  float sums[4][4] = {};
  for (int k = 0; k < kSteps; ++k) {
    const float4 mine = tile_a[k][row], other = tile_b[k][col];
    const float down[4] = {mine.x, mine.y, mine.z, mine.w};
    const float across[4] = {other.x, other.y, other.z, other.w};
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) sums[i][j] += down[i] * across[j];
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) c[(4 * row + i) * 4 * kCols + 4 * col + j] = sums[i][j];
  }
}
