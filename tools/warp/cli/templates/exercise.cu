// # @TITLE@
//
// Kind: fill in
// Level: @LEVEL@
// Minutes: 5
//
// FILL IN the task: what the code must compute, for which sizes, and the bar, so that it can be
// understood alone. In place of this, the code below has one: `twice` writes `y[i] = 2 * x[i]`
// for all `n` elements, one element per thread. Compute the index.
//
// Bar: 4 sectors per load request and per store request, for n = 4096

#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
#ifdef SOLUTION
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
  const int i = 0;  // TODO
#endif
  if (i < n) y[i] = 2 * x[i];
}
