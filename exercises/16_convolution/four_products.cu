// # Four products for two results
//
// Kind: repair
// Level: 3
// Minutes: 10
//
// `filtered` computes `out[i] = w[0] * in[i] + w[1] * in[i + 1] + w[2] * in[i + 2]` by Winograd's
// F(2, 3): a thread has two neighbouring results, and should get by with four multiplications of a
// transformed weight and a transformed input. The filter (1, 0, 0) comes out right, most others
// do not.
//
// Repair the transforms; leave the four products as they are. n results need n + 2 inputs; n is any
// number.
//
// Bar at n = 4096: 4 load requests per warp for the inputs and 3 for the weights

#include <cuda_runtime.h>

// The values of w0 + w1 x + w2 x^2 at 0, 1, -1, each of the last two halved, and the leading
// weight.
__device__ void transform_filter(float (&u)[4], float w0, float w1, float w2) {
  u[0] = w0;
  u[1] = (w0 + w1 + w2) / 2;
#ifdef SOLUTION
  u[2] = (w0 - w1 + w2) / 2;
#else
  u[2] = (w0 - w1 - w2) / 2;
#endif
  u[3] = w2;
}

__device__ void transform_input(float (&v)[4], float d0, float d1, float d2, float d3) {
  v[0] = d0 - d2;
  v[1] = d1 + d2;
  v[2] = d2 - d1;
#ifdef SOLUTION
  v[3] = d3 - d1;
#else
  v[3] = d1 - d3;
#endif
}

// One thread for each two results.
__global__ void filtered(const float* in, const float* w, float* out, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float u[4], v[4], m[4];
  transform_filter(u, w[0], w[1], w[2]);
  transform_input(v, in[i], in[i + 1], in[i + 2], i + 3 < n + 2 ? in[i + 3] : 0);
  for (int e = 0; e < 4; ++e) m[e] = u[e] * v[e];
  out[i] = m[0] + m[1] + m[2];
  if (i + 1 < n) out[i + 1] = m[1] - m[2] + m[3];
}
