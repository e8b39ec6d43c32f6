#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>
__global__ void reverse(float* out, const float* in) {
  __shared__ float tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = tile[255 - threadIdx.x];
}
__global__ void reverse4(float4* out, const float4* in) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = tile[255 - threadIdx.x];
}
int main() {
  const int n = 1 << 14;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i;
  float *a, *b;
  cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  reverse<<<n / 256, 256>>>(b, a);
  reverse4<<<n / 1024, 256>>>((float4*)b, (const float4*)a);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  cudaFree(a), cudaFree(b);
  std::printf("%g\n", h[0]);
}
