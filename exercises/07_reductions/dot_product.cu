// # A dot product
//
// Kind: fill in
// Level: 5
// Minutes: 15
//
// `dot` adds the dot product of x and y, n ints each, to `*out`: the sum of all x[i] y[i]. n may be
// 0. x and y are aligned to 16 bytes, and the products and sums fit in an int.
//
// The grid is smaller than the arrays. Load four ints at a time, add up what is left over at the
// end as well, and let each block execute a single atomic.
//
// Bars at n = 4096 with 2 blocks: 64 load requests, 2 atomic requests, one launch

#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void dot(const int* x, const int* y, int* out, int n) {
  const int thread = blockIdx.x * kThreads + threadIdx.x;
  int sum = 0;
#ifdef SOLUTION
  for (int i = thread; i < n / 4; i += gridDim.x * kThreads) {
    const int4 a = reinterpret_cast<const int4*>(x)[i], b = reinterpret_cast<const int4*>(y)[i];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  const int rest = n / 4 * 4 + thread;
  if (rest < n) sum += x[rest] * y[rest];

  __shared__ int sums[kThreads / 32];  // (warp)
  const int t = threadIdx.x;
  sum = __reduce_add_sync(0xffffffff, sum);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = __reduce_add_sync(0xffffffff, t < kThreads / 32 ? sums[t] : 0);
  if (t == 0) atomicAdd(out, sum);
#else
  if (thread < n) sum = x[thread] * y[thread];  // TODO: all elements, four at a time
  atomicAdd(out, sum);                          // TODO: one for each block
#endif
}
