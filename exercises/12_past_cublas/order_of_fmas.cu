// # The order of the multiply-adds
//
// Kind: optimise
// Level: 5
// Minutes: 12
//
// A thread keeps a tile of ROWS x COLS sums. For each step along K it has ROWS values of A and COLS
// of B in registers, and does ROWS x COLS multiply-adds, `sums[row][col] += a[row] * b[col]`. In
// which order, `fma_at` says: number `i` works on row `fma_at(i, ROWS, COLS).row` and column
// `.col`.
//
// An FMA unit can keep an operand of the multiply-add before. What changed has to be read from the
// register file again, and every FMA reads its sum. Row by row, the 8 x 8 tile changes a value of B
// 63 times in each step, and one of A 7 times on top of that. Find an order in which no
// multiply-add changes both.
//
// Bars: each sum once per step, for every shape; 8 x 8 sums read no more than 129 operands per
// step, the sums included (136 now). On a GPU: no more than 1.05 times the time of the order row by
// row.

#include <cuda_runtime.h>

struct Place {
  int row, col;
};

__host__ __device__ Place fma_at(int i, int rows, int cols) {
  (void)rows;
#ifdef SOLUTION
  const int row = i / cols, along = i % cols;
  return {row, row % 2 == 0 ? along : cols - 1 - along};
#else
  return {i / cols, i % cols};  // TODO
#endif
}

// a: (steps, ROWS), b: (steps, COLS), c: (threads, ROWS, COLS). What the check launches.
template <int ROWS, int COLS>
__global__ void outer_products(const float* a, const float* b, float* c, int steps) {
  float sums[ROWS][COLS] = {};
  for (int k = 0; k < steps; ++k) {
    float a_now[ROWS], b_now[COLS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) a_now[row] = a[k * ROWS + row];
#pragma unroll
    for (int col = 0; col < COLS; ++col) b_now[col] = b[k * COLS + col];
#pragma unroll
    for (int i = 0; i < ROWS * COLS; ++i) {
      const Place at = fma_at(i, ROWS, COLS);
      sums[at.row][at.col] += a_now[at.row] * b_now[at.col];
    }
  }
  float* mine = c + (blockIdx.x * blockDim.x + threadIdx.x) * ROWS * COLS;
#pragma unroll
  for (int i = 0; i < ROWS * COLS; ++i) mine[i] = sums[i / COLS][i % COLS];
}

// The kernel for one of the shapes that are checked.
void launch(int rows, int cols, int blocks, int threads, const float* a, const float* b, float* c,
            int steps) {
  const auto kernel = rows == 5   ? outer_products<5, 1>
                      : rows == 2 ? outer_products<2, 3>
                                  : outer_products<8, 8>;
  kernel<<<blocks, threads>>>(a, b, c, steps);
}
