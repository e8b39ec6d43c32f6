// # Chapter 06: The form of a chapter
//
// Question: Does a chapter with a map run as its header says?
// Builds on: nothing
// Kind: map
// Size gpu: 1024,1500
// Size simulator: 45,70
// Run: ./learn run 06
//   ./learn run 06 --rung naive        rows in, columns out
//   ./learn run 06 --rung tiled        rows in, rows out, turned in shared memory
//   ./learn run 06 --rung sum_of_both  a map of two arrays
//   ./learn run 06 --rung as_halves    another type comes out, in blocks of several sizes
//   ./learn run 06 --rung no_barrier   reads before the tile is full  [raises shared-race]
//   ./learn run 06 --rung other_file   stands in a file of its own    [needs gpu]
//   ./learn run 06 --rung nowhere      nothing registers it           [needs gpu, sm_90a, cuda 99.9]

#include <cuda_runtime.h>

#include "lab/lab.h"

constexpr unsigned TILE = 32, ROWS = 8;  // (TILE, ROWS) threads move TILE x TILE floats

/// out(col, row) = in(row, col).
__global__ void naive(float* out, const float* in, unsigned rows, unsigned cols) {
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    const unsigned row = blockIdx.y * TILE + i;
    if (row < rows && col < cols) out[size_t{col} * rows + row] = in[size_t{row} * cols + col];
  }
}

/// The same through shared memory; `BARRIER` says whether a thread waits for the others.
template <unsigned PAD, bool BARRIER = true>
__global__ void tiled(float* out, const float* in, unsigned rows, unsigned cols) {
  __shared__ float tile[TILE][TILE + PAD];  // (row, col) of in
  const unsigned row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, x = threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (row0 + i < rows && col0 + x < cols) tile[i][x] = in[size_t{row0 + i} * cols + col0 + x];
  }
  if (BARRIER) __syncthreads();
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (col0 + i < cols && row0 + x < rows) out[size_t{col0 + i} * rows + row0 + x] = tile[x][i];
  }
}

/// out = a + b.
__global__ void sum_of_both(float* out, const float* a, const float* b, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

/// out = in / 2, as double.
__global__ void as_halves(double* out, const int* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / 2.0;
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t rows, size_t cols) {
    const auto n = static_cast<unsigned>(rows * cols);
    lab::Map<float> map(ladder, n);
    lab::Map<int, double> halves(ladder, n);
    const dim3 grid = lab::tiles(cols, rows, TILE), block(TILE, ROWS);
    const auto x = map.in;
    const auto whole = halves.in;
    const auto turned = [=] __host__ __device__(size_t i) { return x[i % rows * cols + i / rows]; };

    // Not in the order of the header: the results are.
    halves.sweep(
        "as_halves", "block", {64u, 256u},
        [=] __host__ __device__(size_t i) { return whole[i] / 2.0; },
        [&](auto* out, auto* in, unsigned threads) {
          as_halves<<<lab::tiles(n, threads), threads>>>(out, in, n);
        });
    map.add("naive", turned,
            [&](auto* out, auto* in) { naive<<<grid, block>>>(out, in, rows, cols); });
    map.sweep(
        "tiled", turned,
        {{"pad=0", [&](auto* out, auto* in) { tiled<0><<<grid, block>>>(out, in, rows, cols); }},
         {"pad=1", [&](auto* out, auto* in) { tiled<1><<<grid, block>>>(out, in, rows, cols); }}});
    const auto y = map.in2();
    map.add(
        "sum_of_both", [=] __host__ __device__(size_t i) { return x[i] + y[i]; },
        lab::launcher(sum_of_both, lab::tiles(n, 256), 256, n));
    map.demonstrate("no_barrier", [&](auto* out, auto* in) {
      tiled<1, false><<<grid, block>>>(out, in, rows, cols);
    });
    lab::add_others(map);
  });
}
