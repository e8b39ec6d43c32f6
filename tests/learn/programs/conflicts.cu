#include "run.h"

// out = in with rows and columns exchanged, in tiles of 32 x 32 with rows of 32 floats.
__global__ void transpose(float* out, const float* in, int size) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * size + x];
  __syncthreads();
  const int to_x = blockIdx.y * 32 + threadIdx.x, to_y = blockIdx.x * 32 + threadIdx.y;
  out[to_y * size + to_x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 65536;
  return run(
      n, n, some,
      [=](float* out, const float* in) { transpose<<<dim3(8, 8), dim3(32, 32)>>>(out, in, 256); },
      [=](const float* in, int i) { return in[i % 256 * 256 + i / 256]; });
}
