// Two kernels of which the second may begin before the first has ended (programmatic dependent launch).
#include <cstdio>
#include <vector>

// values: (n)
__global__ void fill(int* values, int n) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = i / 4;
}

// out: (n), the values in reverse
__global__ void reverse(const int* values, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int from = n - 1 - i;  // what can be done ahead of the wait
  cudaGridDependencySynchronize();
  if (i < n) out[i] = values[from];
}

int main() {
  constexpr int n = 1000, threads = 128;
  int *values, *out;
  cudaMalloc(&values, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = (n + threads - 1) / threads;
  config.blockDim = threads;
  config.stream = stream;
  fill<<<config.gridDim, threads, 0, stream>>>(values, n);
  config.attrs = &overlap;
  config.numAttrs = 1;
  const int* const filled = values;
  bool right = cudaLaunchKernelEx(&config, reverse, filled, out, n) == cudaSuccess;

  std::vector<int> back(n);
  cudaMemcpyAsync(back.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  right = right && cudaStreamSynchronize(stream) == cudaSuccess;
  for (int i = 0; i < n; ++i) right = right && back[i] == (n - 1 - i) / 4;
  std::printf("dependent_launch: %s\n", right ? "ok" : "FAILED");
  cudaStreamDestroy(stream);
  cudaFree(values);
  cudaFree(out);
  return right ? 0 : 1;
}
