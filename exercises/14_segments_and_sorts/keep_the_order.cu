// # Keep the order
//
// Kind: optimise
// Level: 4
// Minutes: 20
//
// `keep_positive` writes the positive elements of `in` to `out` in their order, and how many there
// are to `*size`. One block of 256 threads goes through the array, 256 elements at a time. It is
// right, but every thread counts all flags to its left by itself.
//
// Use `__ballot_sync` and `__popc`: a warp knows its flags in one word. Bar for n = 4096: at most
// 1024 load requests to shared memory (there are 32,768 now).

#include <cuda_runtime.h>

__global__ void keep_positive(int* out, int* size, const int* in, int n) {
#ifdef SOLUTION
  __shared__ int totals[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#else
  __shared__ int flags[256];
#endif
  int kept = 0;  // by all elements so far
  for (int first = 0; first < n; first += 256) {
    const int i = first + threadIdx.x;
    const int v = i < n ? in[i] : 0;
#ifdef SOLUTION
    const unsigned flags = __ballot_sync(0xFFFFFFFF, v > 0);
    if (lane == 0) totals[warp] = __popc(flags);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 8; ++w) {
      if (w == warp) before = all;
      all += totals[w];
    }
    const int left = __popc(flags & ((1u << lane) - 1));
    if (v > 0) out[kept + before + left] = v;
#else
    flags[threadIdx.x] = v > 0;
    __syncthreads();
    // TODO: not every flag in shared memory
    int before = 0, all = 0;
    for (int t = 0; t < 256; ++t) {
      if (t == threadIdx.x) before = all;
      all += flags[t];
    }
    if (v > 0) out[kept + before] = v;
#endif
    kept += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) *size = kept;
}
