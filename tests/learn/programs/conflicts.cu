#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

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
  std::vector<float> h_in(n);
  for (int i = 0; i < n; ++i) h_in[i] = static_cast<float>(i % 1000);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  transpose<<<dim3(8, 8), dim3(32, 32)>>>(out, in, 256);
  std::vector<float> h_out(n);
  cudaMemcpy(h_out.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += std::fabs(h_out[i] - (h_in[i % 256 * 256 + i / 256])) >
             0.001f * std::fabs(h_in[i % 256 * 256 + i / 256]);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
