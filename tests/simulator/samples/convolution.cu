// A separable convolution: rows, then columns, with the filter in constant memory and halos in shared memory.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kRadius = 4, kTile = 32, kRows = 8;
__constant__ float filter[2 * kRadius + 1];

__global__ void convolve_rows(int rows, int columns, const float* in, float* out) {
  __shared__ float line[kRows][kTile + 2 * kRadius];
  const int row = blockIdx.y * kRows + threadIdx.y, left = blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile + 2 * kRadius; i += kTile) {
    const int column = left + i - kRadius;
    const bool is_in = row < rows && column >= 0 && column < columns;
    line[threadIdx.y][i] = is_in ? in[row * columns + column] : 0;
  }
  __syncthreads();
  if (row >= rows || left + static_cast<int>(threadIdx.x) >= columns) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= 2 * kRadius; ++i) sum += filter[i] * line[threadIdx.y][threadIdx.x + i];
  out[row * columns + left + threadIdx.x] = sum;
}

__global__ void convolve_columns(int rows, int columns, const float* in, float* out) {
  __shared__ float tile[kRows + 2 * kRadius][kTile];
  const int column = blockIdx.x * kTile + threadIdx.x, top = blockIdx.y * kRows;
  for (int i = threadIdx.y; i < kRows + 2 * kRadius; i += kRows) {
    const int row = top + i - kRadius;
    const bool is_in = column < columns && row >= 0 && row < rows;
    tile[i][threadIdx.x] = is_in ? in[row * columns + column] : 0;
  }
  __syncthreads();
  if (column >= columns || top + static_cast<int>(threadIdx.y) >= rows) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= 2 * kRadius; ++i) sum += filter[i] * tile[threadIdx.y + i][threadIdx.x];
  out[(top + threadIdx.y) * columns + column] = sum;
}

int main() {
  constexpr int rows = 53, columns = 75;
  float weights[2 * kRadius + 1];
  for (int i = 0; i <= 2 * kRadius; ++i) weights[i] = 1.0f / (1 + (i * 5) % 7);  // not symmetric
  std::vector<float> image(rows * columns), result(rows * columns);
  for (int i = 0; i < rows * columns; ++i) image[i] = std::sin(0.7f * i);
  float *in, *between, *out;
  const size_t bytes = image.size() * sizeof(float);
  cudaMalloc(&in, bytes);
  cudaMalloc(&between, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, image.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(filter, weights, sizeof(weights));
  const dim3 block(kTile, kRows), grid((columns + kTile - 1) / kTile, (rows + kRows - 1) / kRows);
  convolve_rows<<<grid, block>>>(rows, columns, in, between);
  convolve_columns<<<grid, block>>>(rows, columns, between, out);
  cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int i = -kRadius; i <= kRadius; ++i) {
        for (int j = -kRadius; j <= kRadius; ++j) {
          if (row + i < 0 || row + i >= rows || column + j < 0 || column + j >= columns) continue;
          sum += static_cast<double>(weights[kRadius + i]) * weights[kRadius + j] *
                 image[(row + i) * columns + column + j];
        }
      }
      wrong += !(std::fabs(result[row * columns + column] - sum) <= 1e-5);
    }
  }
  std::printf("convolution: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(in);
  cudaFree(between);
  cudaFree(out);
  return wrong != 0;
}
