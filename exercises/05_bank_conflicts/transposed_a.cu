// # A transposed in shared memory
//
// Kind: repair
// Level: 5
// Minutes: 15
//
// A block of 32 x 8 threads (x, y) brings a tile of A, 32 rows by 32 columns, into shared memory
// transposed, and each warp then reads rows of the transposed tile as `float4`, as the kernels of
// the chapter do. `column_sums` adds up the columns of the tile from there, to have something to
// show: `sums[c]` is the sum of column c.
//
// The rows are padded by one word. That takes away most conflicts of the stores, and breaks
// something else. Repair it with another padding: it must be right without findings, and the stores
// may have at most 4 wavefronts per request. The sums still come from 8 loads of `float4`, with 4
// wavefronts each.

#include <cuda_runtime.h>

constexpr int kTile = 32;
#ifdef SOLUTION
constexpr int kPadding = 4;
#else
constexpr int kPadding = 1;
#endif

__global__ void column_sums(const float* a, float* sums) {
  __shared__ alignas(16) float transposed[kTile][kTile + kPadding];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int row = y; row < kTile; row += 8) transposed[x][row] = a[row * kTile + x];
  __syncthreads();
  // Each warp takes four columns of A: rows of the transposed tile, eight lanes to a row.
  const int column = 4 * y + x / 8, group = x % 8;
  const float4 part = *reinterpret_cast<const float4*>(&transposed[column][4 * group]);
  float sum = part.x + part.y + part.z + part.w;
  for (int lanes = 4; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffff, sum, lanes, 8);
  if (group == 0) sums[column] = sum;
}
