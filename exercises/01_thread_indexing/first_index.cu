// # Which element is mine?
//
// Kind: fill in
// Level: 1
// Minutes: 2
// Path: short
//
// `twice` writes `y[i] = 2 * x[i]` for all `n` elements, one element per thread. The launch has
// enough threads: `(n + 127) / 128` blocks of 128. Every thread of the grid must work on an element
// of its own.
//
// Replace the index. The guard below it is right as it stands.
//
// Bar: 4 sectors per load request and per store request, for n = 4096

#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
#ifdef SOLUTION
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  const int i = 0;  // TODO: the number of this thread in the whole grid
#endif
  if (i < n) y[i] = 2 * x[i];
}
