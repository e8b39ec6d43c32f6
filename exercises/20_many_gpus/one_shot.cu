// # One shot
//
// Kind: fill in
// Level: 4
// Minutes: 15
//
// An all-reduce of a short array in one kernel on each GPU: the kernel tells all GPUs that its own
// array is ready, waits until they have told it, and adds up all arrays. Write `ready` and `sums`.
//
// A flag of another GPU takes the scope of the system. It has to be released and acquired, so that
// who sees the flag also sees the array. The host launches the kernels one after the other and
// waits for none of them.

#include <cuda_runtime.h>

#include <cuda/atomic>

constexpr int kMost = 4;  // GPUs

// The same array on each GPU.
struct OnAll {
  float* of[kMost];
};
struct Flags {
  int* of[kMost];  // kMost flags on each GPU: flags.of[a][b] is where GPU b tells GPU a
};

using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

// Tells all GPUs that the array of GPU `me` is ready, and waits until they have told it.
__device__ void ready(Flags flags, int me, int gpus) {
#ifdef SOLUTION
  const int other = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (other < gpus) {
    Flag(flags.of[other][me]).store(1, cuda::memory_order_release);
    while (Flag(flags.of[me][other]).load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
#else
  // TODO
#endif
}

// Makes the array of GPU `me`, and then out[i] = the sum of element i over all GPUs.
//
// Launch: one block.
__global__ void sums(float* out, OnAll arrays, Flags flags, int me, int gpus, int n) {
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  for (int i = first; i < n; i += step) arrays.of[me][i] = static_cast<float>(i % 7 + me);
  ready(flags, me, gpus);
#ifdef SOLUTION
  for (int i = first; i < n; i += step) {
    float sum = 0;
    for (int g = 0; g < gpus; ++g) sum += arrays.of[g][i];
    out[i] = sum;
  }
#else
  // TODO
#endif
}
