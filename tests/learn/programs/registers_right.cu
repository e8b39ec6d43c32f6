#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

// 48 doubles of a thread stay in registers from loop to loop.
__global__ void rounds(const double* in, double* out, int n) {
  double r[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) r[i] = in[i];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 48; ++i) r[i] = r[i] * r[(i + 1) % 48] + 0.5;
  }
  double s = 0;
#pragma unroll
  for (int i = 0; i < 48; ++i) s += r[i];
  out[threadIdx.x] = s;
}

int main() {
  const int threads = 128;
  std::vector<double> host(48, 0.5), sums(threads);
  double *in, *out;
  cudaMalloc(&in, 48 * sizeof(double));
  cudaMalloc(&out, threads * sizeof(double));
  cudaMemcpy(in, host.data(), 48 * sizeof(double), cudaMemcpyHostToDevice);
  rounds<<<1, threads>>>(in, out, 10);
  cudaMemcpy(sums.data(), out, threads * sizeof(double), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (const double sum : sums) wrong += sum != sums[0];
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
