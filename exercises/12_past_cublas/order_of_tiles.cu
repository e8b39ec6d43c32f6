// # In which order?
//
// Kind: optimise
// Level: 4
// Minutes: 20
//
// A GPU starts blocks in the order of their numbers, some 64 at a time here. C has `rows` x `cols`
// tiles, and block b computes tile `tile_of(b, rows, cols)`: x is its column, y its row. Blocks
// that run at the same time share what they read in L2: the tiles of a row share a row of A, those
// of a column a column of B. Row after row, as below, 64 blocks of a grid that is 64 wide read 1
// row of A and 64 columns of B.
//
// Find a better order. Every tile must be computed once, for any number of rows and columns.
//
// Bar: for 64 x 64 tiles, each 64 blocks in a row (0 to 63, 64 to 127, ...) read at most 20 rows
// and columns together; now 65

#include <cuda_runtime.h>

__host__ __device__ int2 tile_of(int b, int rows, int cols) {
#ifdef SOLUTION
  // Bands of 8 rows, one after the other; within a band column by column.
  const int band = b / (8 * cols), in_band = b % (8 * cols);
  const int height = rows - 8 * band < 8 ? rows - 8 * band : 8;  // the last band may be lower
  return make_int2(in_band / height, 8 * band + in_band % height);
#else
  // TODO
  (void)rows;
  return make_int2(b % cols, b / cols);
#endif
}

// What the check launches: every block notes its number at its tile.
__global__ void number_tiles(int* number, int rows, int cols) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= rows * cols) return;
  const int2 tile = tile_of(b, rows, cols);
  number[tile.y * cols + tile.x] = b;
}
