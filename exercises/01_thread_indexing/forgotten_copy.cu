// # The copy that was forgotten
//
// Kind: repair
// Level: 2
// Minutes: 6
// Path: short
//
// `square_all` takes an array on the host and returns the squares of its elements, computed on the
// device. The kernel is right. The host's part is not: it has three mistakes.
//
// Repair `square_all`. It must leave `values` as it is, free what it allocates, and use one kernel
// launch.

#include <cuda_runtime.h>

#include <vector>

__global__ void square(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

std::vector<float> square_all(const std::vector<float>& values) {
  const int n = static_cast<int>(values.size());
#ifdef SOLUTION
  const size_t bytes = values.size() * sizeof(float);
#else
  const size_t bytes = values.size();
#endif
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
#ifdef SOLUTION
  cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice);
  square<<<(n + 255) / 256, 256>>>(in, out, n);
  std::vector<float> result(values.size());
  cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
#else
  square<<<(n + 255) / 256, 256>>>(in, out, n);
  std::vector<float> result(values.size());
  cudaMemcpy(result.data(), in, bytes, cudaMemcpyDeviceToHost);
#endif
  cudaFree(in);
  cudaFree(out);
  return result;
}
