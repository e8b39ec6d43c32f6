// # Points, taken apart
//
// Kind: fill in
// Level: 1
// Minutes: 4
// Path: short
//
// `move` adds `step` to the x of every point. `n` points of three floats (component 0 is x, 1 is y,
// 2 is z) lie in one array of 3 n floats, and `place` says where: component c of point i is element
// `place(i, c, n)`. As it stands it is an array of structs, x y z x y z and so on: the x of 32
// neighbouring points are spread over 384 bytes, 12 sectors.
//
// Change `place` to a struct of arrays. The kernel and the check follow it.
//
// Bar: 4 sectors per load request and per store request, for n = 4096

#include <cuda_runtime.h>

__host__ __device__ int place(int point, int component, int n) {
#ifdef SOLUTION
  return component * n + point;  // first every x, then every y, then every z
#else
  (void)n;
  return 3 * point + component;  // TODO
#endif
}

__global__ void move(float* points, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) points[place(i, 0, n)] += step;
}
