// C = A * B in tiles of shared memory, with edges that are no multiple of the tile.
#include <cmath>
#include <cstdio>
#include <vector>

template <int TILE>
__global__ void multiply(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (int first = 0; first < k; first += TILE) {
    a_tile[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    b_tile[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
  constexpr int m = 61, n = 45, k = 70, tile = 16;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  unsigned state = 1;
  for (auto* matrix : {&a, &b}) {
    for (float& value : *matrix) value = (state = state * 1664525u + 1013904223u) / 4294967296.0f;
  }
  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 block(tile, tile), grid((n + tile - 1) / tile, (m + tile - 1) / tile);
  multiply<tile><<<grid, block>>>(m, n, k, da, db, dc);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += static_cast<double>(a[i * k + p]) * b[p * n + j];
      wrong += !(std::fabs(c[i * n + j] - sum) <= 1e-5 * k);
    }
  }
  std::printf("matrix_multiply: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
