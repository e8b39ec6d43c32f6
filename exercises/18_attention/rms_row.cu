// # A row in registers
//
// Kind: optimise
// Level: 2
// Minutes: 8
//
// `rms_rows` computes `out = x / sqrt(mean of x^2 + 1e-5)` for each row of a matrix. A warp has a
// row, and a row has at most 256 elements. The kernel is right, but it loads every element twice:
// once for the mean and once for the quotient.
//
// Load each element once. A thread keeps its elements in registers, and an array stays in registers
// only where all of its indices are known when the kernel is compiled.
//
// Bar at 64 x 250: 8 load requests per row

#include <cuda_runtime.h>

constexpr int kMost = 256;  // elements of a row, at most

// A warp for each row, in blocks of 128 threads.
__global__ void rms_rows(const float* in, float* out, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  in += row * cols, out += row * cols;
#ifdef SOLUTION
  float x[kMost / 32], sum = 0;
#pragma unroll
  for (int i = 0; i < kMost / 32; ++i) {
    const int c = lane + 32 * i;
    x[i] = c < cols ? in[c] : 0;
    sum += x[i] * x[i];
  }
  for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  const float factor = rsqrtf(sum / cols + 1e-5f);
#pragma unroll
  for (int i = 0; i < kMost / 32; ++i) {
    const int c = lane + 32 * i;
    if (c < cols) out[c] = x[i] * factor;
  }
#else
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += in[c] * in[c];  // TODO: keep them
  for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  const float factor = rsqrtf(sum / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) out[c] = in[c] * factor;
#endif
}
