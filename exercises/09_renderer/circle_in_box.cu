// # Does the circle touch the box?
//
// Kind: fill in
// Level: 1
// Minutes: 8
//
// A box is made of the points with left <= x <= right and bottom <= y <= top. `touch_box` writes 1
// to `hits[i]` where circle i, with centre (x[i], y[i]) and radius r[i], has a point in common with
// the box, its rim included, and 0 elsewhere. Each thread has one circle.
//
// The bounding box of the circle is not enough: near a corner of the box it says yes to circles
// that do not touch it.

#include <cuda_runtime.h>

__global__ void touch_box(int* hits, const float* x, const float* y, const float* r, int n,
                          float left, float right, float bottom, float top) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef SOLUTION
  const float dx = x[i] - fminf(fmaxf(x[i], left), right);
  const float dy = y[i] - fminf(fmaxf(y[i], bottom), top);
  hits[i] = dx * dx + dy * dy <= r[i] * r[i];
#else
  // TODO: the distance to the nearest point of the box
  hits[i] =
      x[i] + r[i] >= left && x[i] - r[i] <= right && y[i] + r[i] >= bottom && y[i] - r[i] <= top;
#endif
}
