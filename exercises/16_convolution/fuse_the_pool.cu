// # Fuse the pool
//
// Kind: optimise
// Level: 4
// Minutes: 12
//
// `layer` filters an image with 3 x 3 taps, with zeros around it, adds a bias, takes the larger of
// that and 0, and keeps the largest of each 2 x 2 results. The image has `rows` rows and `cols`
// columns, both even. Two kernels do it, and the first one writes every result for the second to
// read.
//
// Do it in one launch, and write only what is left. `sums` then goes unused.
//
// Bars at 64 x 64: 1 launch, 32 store requests

#include <cuda_runtime.h>

// The result at (y, x), without bias.
__device__ float filtered(const float* in, const float* filter, int rows, int cols, int y, int x) {
  float sum = 0;
  for (int r = -1; r <= 1; ++r) {
    for (int s = -1; s <= 1; ++s) {
      if (y + r < 0 || y + r >= rows || x + s < 0 || x + s >= cols) continue;
      sum += filter[(r + 1) * 3 + s + 1] * in[(y + r) * cols + x + s];
    }
  }
  return sum;
}

#ifdef SOLUTION
__global__ void convolve_and_pool(const float* in, const float* filter, float bias, float* out,
                                  int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows / 2 * (cols / 2)) return;
  const int y = i / (cols / 2) * 2, x = i % (cols / 2) * 2;
  float best = 0;
  for (int e = 0; e < 4; ++e) {
    const float sum = filtered(in, filter, rows, cols, y + e / 2, x + e % 2);
    best = fmaxf(best, sum + bias);
  }
  out[i] = best;
}
#else
__global__ void convolve(const float* in, const float* filter, float* sums, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) sums[i] = filtered(in, filter, rows, cols, i / cols, i % cols);
}

__global__ void pool(const float* sums, float bias, float* out, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows / 2 * (cols / 2)) return;
  const int y = i / (cols / 2) * 2, x = i % (cols / 2) * 2;
  float best = 0;
  for (int e = 0; e < 4; ++e) best = fmaxf(best, sums[(y + e / 2) * cols + x + e % 2] + bias);
  out[i] = best;
}
#endif

// sums: rows * cols floats, out: rows / 2 * cols / 2.
#ifdef SOLUTION
void layer(const float* in, const float* filter, float bias, float*, float* out, int rows,
           int cols) {
  convolve_and_pool<<<(rows * cols / 4 + 127) / 128, 128>>>(in, filter, bias, out, rows, cols);
}
#else
void layer(const float* in, const float* filter, float bias, float* sums, float* out, int rows,
           int cols) {
  // TODO
  convolve<<<(rows * cols + 127) / 128, 128>>>(in, filter, sums, rows, cols);
  pool<<<(rows * cols / 4 + 127) / 128, 128>>>(sums, bias, out, rows, cols);
}
#endif
