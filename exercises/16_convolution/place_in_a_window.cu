// # The place in a window
//
// Kind: fill in
// Level: 2
// Minutes: 10
//
// `convolve` is a product whose second operand is never stored: `element` says what stands in row t
// and column j of the matrix of windows. The layer has n images of c channels with h x w pixels,
// stride 1, and `pad` rows and columns of zeros around each image. A filter has r x s taps for each
// channel. Images are (n, c, h, w), filters (k, c, r, s), results (n, k, p, q).
//
// The rows are in the order of a filter's weights: channel, row and column of the tap. The columns
// are in the order of the images, and in an image in that of its results.
//
// Write `element`.

#include <cuda_runtime.h>

struct Layer {
  int n, c, h, w, k, r, s, pad;
  __host__ __device__ int p() const { return h + 2 * pad - r + 1; }
  __host__ __device__ int q() const { return w + 2 * pad - s + 1; }
};

__device__ float element(const float* in, Layer l, int t, int j) {
#ifdef SOLUTION
  const int c = t / (l.r * l.s), r = t / l.s % l.r, s = t % l.s;
  const int n = j / (l.p() * l.q()), p = j / l.q() % l.p(), q = j % l.q();
  const int y = p + r - l.pad, x = q + s - l.pad;
  if (y < 0 || y >= l.h || x < 0 || x >= l.w) return 0;
#else
  const int c = t, r = 0, s = 0;   // TODO
  const int n = j, p = 0, q = 0;   // TODO
  const int y = p + r, x = q + s;  // TODO
#endif
  return in[((n * l.c + c) * l.h + y) * l.w + x];
}

// Threads along x, one for each column; along y one row of blocks for each filter.
__global__ void convolve(const float* in, const float* filters, float* out, Layer l) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
  const int each = l.p() * l.q(), terms = l.c * l.r * l.s;
  if (j >= l.n * each) return;
  float sum = 0;
  for (int t = 0; t < terms; ++t) sum += filters[k * terms + t] * element(in, l, t, j);
  out[(j / each * l.k + k) * each + j % each] = sum;
}
