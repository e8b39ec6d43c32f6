// # A grid that is too small
//
// Kind: fill in
// Level: 3
// Minutes: 6
//
// `saxpy` computes `y[i] = a * x[i] + y[i]` for n elements, but the grid is fixed: never more than
// 4 blocks of 128 threads, however large n is. So a thread must work on more than one element.
//
// Write the loop, so that the result is right for every n and the lanes of a warp still read
// neighbours.
//
// Bar: 4 sectors per load request, and no more load requests than two for each 32 elements, at n =
// 4096

#include <cuda_runtime.h>

__global__ void saxpy(float a, const float* x, float* y, int n) {
#ifdef SOLUTION
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
#else
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO: one element is not enough
  if (i < n) y[i] = a * x[i] + y[i];
#endif
}
