// # Who says that a stage is empty?
//
// Kind: repair
// Level: 3
// Minutes: 15
//
// One producer warp fills a ring of two stages, one consumer warp uses them: `out[t]` is the sum
// over all slices of element 31 - t of the slice. For each stage there are two barriers: `full`
// completes a phase when the producer's 32 lanes have arrived, `empty` when the consumer's 32 lanes
// have. Who waits names the parity of the phase: 0, 1, 0, ... The producer begins with the parity
// of the phase *before* the first, which counts as complete: both stages are empty.
//
// With one or two slices it works. With more it never ends. Repair it; a stage must not be
// overwritten while it may still be read, and each slice is loaded once.

#include <cuda_runtime.h>

#include <cuda/barrier>

constexpr int kStages = 2;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void ring_sums(const float* x, float* out, int slices) {
  __shared__ float stages[kStages][32];
  __shared__ __align__(16) char room[2][kStages * sizeof(Barrier)];  // shared: no constructors
  Barrier* const full = reinterpret_cast<Barrier*>(room[0]);         // (kStages)
  Barrier* const empty = reinterpret_cast<Barrier*>(room[1]);        // (kStages)
  if (threadIdx.x == 32) {
    init(&full[0], 32);
    init(&full[1], 32);
    init(&empty[0], 32);
    init(&empty[1], 32);
  }
  __syncthreads();

  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {  // producer
    bool parity = true;
    for (int i = 0; i < slices; ++i) {
      const int s = i % kStages;
      empty[s].wait_parity(parity);
      stages[s][lane] = x[32 * i + lane];
      static_cast<void>(full[s].arrive());
      if (s == kStages - 1) parity = !parity;
    }
  } else {  // consumer
    bool parity = false;
    float sum = 0;
    for (int i = 0; i < slices; ++i) {
      const int s = i % kStages;
      full[s].wait_parity(parity);
      sum += stages[s][31 - lane];
#ifdef SOLUTION
      static_cast<void>(empty[s].arrive());
#endif
      if (s == kStages - 1) parity = !parity;
    }
    out[lane] = sum;
  }
}
