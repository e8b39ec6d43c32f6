// y = a x + y on the GPU: a whole CUDA program, from the allocation to the check.
//
// On the simulator, with what each line costs:   ./learn explain @FILE@
// On an NVIDIA GPU:   nvcc -std=c++17 -o @STEM@.out @FILE@ && ./@STEM@.out

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program if a CUDA call failed, and says which and why.
#define CUDA_CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(status));
  std::exit(1);
}

/// y[i] = a x[i] + y[i] for all i < n; one thread for each i.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // the element of this thread
  if (i < n) y[i] = a * x[i] + y[i];  // the last block has more threads than elements
}

int main() {
  const int n = 10007;  // no multiple of the block, so that a missing guard is found
  const float a = 2;
  const size_t bytes = n * sizeof(float);

  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i % 100;
    y[i] = i % 7;
  }

  // Memory on the device, and the inputs in it.
  float *d_x = nullptr, *d_y = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, bytes));
  CUDA_CHECK(cudaMalloc(&d_y, bytes));
  CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));

  // The launch: as many blocks as cover n elements.
  const int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  saxpy<<<blocks, threads>>>(n, a, d_x, d_y);
  CUDA_CHECK(cudaGetLastError());       // was the launch accepted?
  CUDA_CHECK(cudaDeviceSynchronize());  // did the kernel end well?

  // The result comes back; the device's memory is no longer needed.
  std::vector<float> result(n);
  CUDA_CHECK(cudaMemcpy(result.data(), d_y, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));

  // The check: the host computes the same. All numbers are small integers, so floats are exact.
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const float expected = a * x[i] + y[i];
    if (result[i] == expected) continue;
    if (wrong++ == 0) std::printf("y[%d] is %g, expected %g\n", i, result[i], expected);
  }
  std::printf("%s: %d of %d elements are right\n", wrong == 0 ? "PASS" : "FAIL", n - wrong, n);
  return wrong == 0 ? 0 : 1;
}
