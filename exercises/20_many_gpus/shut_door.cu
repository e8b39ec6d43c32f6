// # The door that stays shut
//
// Kind: repair
// Level: 1
// Minutes: 5
//
// `add_theirs` adds an array of GPU 1 to one of GPU 0, in a kernel of GPU 0 that reads both. The
// kernel fails: something was forgotten before its launch. Repair `add_theirs`: nothing is to be
// copied.

#include <cuda_runtime.h>

// sum[i] += theirs[i]
__global__ void add(float* sum, const float* theirs, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) sum[i] += theirs[i];
}

// sum: n floats of GPU 0. theirs: n floats of GPU 1. Waits until the sums are there.
void add_theirs(float* sum, const float* theirs, int n) {
  cudaSetDevice(0);
#ifdef SOLUTION
  cudaDeviceEnablePeerAccess(1, 0);
#endif
  add<<<(n + 127) / 128, 128>>>(sum, theirs, n);
  cudaDeviceSynchronize();
}
