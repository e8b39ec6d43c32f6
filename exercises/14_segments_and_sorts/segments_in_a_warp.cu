// # Segments in a warp
//
// Kind: fill in
// Level: 3
// Minutes: 15
//
// `segments` computes inclusive sums that start anew at each head, within each run of 32 elements:
// out[i] is the sum from the last head at or before i (or from the start of the run) to i. heads[i]
// is 1 where a segment begins, else 0.
//
// Each lane has a pair (sum, head). Fill in the step that joins it with the pair d lanes below.
// Bars for n = 4096: at most 256 load requests to global memory, of 4 sectors each, and no store to
// shared memory.

#include <cuda_runtime.h>

__global__ void segments(int* out, const int* in, const int* heads, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int sum = i < n ? in[i] : 0;
  int head = i < n ? heads[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int left_sum = __shfl_up_sync(0xFFFFFFFF, sum, d);
    const int left_head = __shfl_up_sync(0xFFFFFFFF, head, d);
#ifdef SOLUTION
    if (lane >= d) {
      if (head == 0) sum += left_sum;
      head |= left_head;
    }
#else
    // TODO: (left_sum, left_head) stands before (sum, head).
    (void)lane, (void)left_sum, (void)left_head;
#endif
  }
  if (i < n) out[i] = sum;
}
