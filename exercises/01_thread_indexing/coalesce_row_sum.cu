// # Coalesce a row sum
//
// Kind: optimise
// Level: 5
// Minutes: 20
//
// `row_sums` adds up each row of a row-major matrix: `sums[r]` is the sum of row r. It is right,
// and slow: one thread walks along one row, so the 32 lanes of a warp read 32 rows at once, a whole
// row apart.
//
// Make it read with at most 5 sectors per load request, for any shape. The result must stay right
// within rounding, and `sums` holds no zeros when the function is called. You may change the kernel
// and the launch.
//
// Bar: 5 sectors per load request, on 64 rows of 256 columns

#include <cuda_runtime.h>

__global__ void row_sum(const float* a, float* sums, int rows, int cols) {
#ifdef SOLUTION
  // One warp per row: the lanes read neighbouring columns, 32 at a time.
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int col = lane; col < cols; col += 32) sum += a[row * cols + col];

  // The 32 partial sums become one: each step halves their number.
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  if (lane == 0) sums[row] = sum;
#else
  // TODO: let the lanes of a warp read neighbouring columns of one row.
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int col = 0; col < cols; ++col) sum += a[row * cols + col];
  sums[row] = sum;
#endif
}

// a: rows x cols floats, sums: rows floats, both on the device.
void row_sums(const float* a, float* sums, int rows, int cols) {
  const int threads = 128;
#ifdef SOLUTION
  const int rows_per_block = threads / 32;
  row_sum<<<(rows + rows_per_block - 1) / rows_per_block, threads>>>(a, sums, rows, cols);
#else
  row_sum<<<(rows + threads - 1) / threads, threads>>>(a, sums, rows, cols);
#endif
}
