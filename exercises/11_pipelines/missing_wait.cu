// # The missing wait
//
// Kind: repair
// Level: 3
// Minutes: 12
//
// The same sums with `cp.async`: copies from global to shared memory that no register holds and no
// thread waits for, until it says so. `__pipeline_commit()` closes a group of copies;
// `__pipeline_wait_prior(n)` waits until all groups but the last n have arrived, for the copies of
// the calling thread alone.
//
// Somebody took the wait out to make it faster. It has become faster. Repair it: the next slice
// must stay on its way while the current one is worked on.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kSlice = 128;

__global__ void neighbour_sums(const float* x, float* out, int slices) {
  __shared__ float tiles[2][kSlice];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * slices * kSlice;
  float sum = 0;
  __pipeline_memcpy_async(&tiles[0][t], &row[t], sizeof(float));
  __pipeline_commit();
  for (int s = 0; s < slices; ++s) {
    if (s + 1 < slices) {
      __pipeline_memcpy_async(&tiles[(s + 1) % 2][t], &row[(s + 1) * kSlice + t], sizeof(float));
    }
    __pipeline_commit();  // a group for each iteration, though it may be empty
#ifdef SOLUTION
    __pipeline_wait_prior(1);
#endif
    __syncthreads();
    sum += tiles[s % 2][(t + 1) % kSlice];
    __syncthreads();
  }
  out[blockIdx.x * kSlice + t] = sum;
}
