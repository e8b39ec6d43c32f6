// # A ring that goes on
//
// Kind: repair
// Level: 4
// Minutes: 15
//
// A persistent block computes one tile after the other. One producer warp fills a ring of three
// stages, one consumer warp uses them; here a tile is `steps` slices of 32 floats, and its result
// is their sum, lane by lane. `full` and `empty` are barriers as in the chapter: who waits names
// the parity of the phase.
//
// With one tile it works, and with tiles of six steps as well. With others it ends in a hang or in
// a wrong result. Repair it. Each slice is loaded once.

#include <cuda_runtime.h>

#include <cuda/barrier>

constexpr int kStages = 3;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// in (tiles, steps, 32), out (tiles, 32). One block of 64 threads.
__global__ void tile_sums(const float* in, float* out, int tiles, int steps) {
  __shared__ float stages[kStages][32];
  __shared__ __align__(16) char room[2][kStages * sizeof(Barrier)];  // shared: no constructors
  Barrier* const full = reinterpret_cast<Barrier*>(room[0]);         // (kStages)
  Barrier* const empty = reinterpret_cast<Barrier*>(room[1]);        // (kStages)
  if (threadIdx.x < kStages) {
    init(&full[threadIdx.x], 32);
    init(&empty[threadIdx.x], 32);
  }
  __syncthreads();

  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {  // producer
    int s = 0;
    bool parity = true;
    for (int i = 0; i < tiles * steps; ++i) {
      empty[s].wait_parity(parity);
      stages[s][lane] = in[i * 32 + lane];
      static_cast<void>(full[s].arrive());
      if (++s == kStages) s = 0, parity = !parity;
    }
  } else {  // consumer
#ifdef SOLUTION
    int s = 0;
    bool parity = false;
#endif
    for (int tile = 0; tile < tiles; ++tile) {
#ifndef SOLUTION
      int s = 0;
      bool parity = false;
#endif
      float sum = 0;
      for (int i = 0; i < steps; ++i) {
        full[s].wait_parity(parity);
        sum += stages[s][31 - lane];
        static_cast<void>(empty[s].arrive());
        if (++s == kStages) s = 0, parity = !parity;
      }
      out[tile * 32 + lane] = sum;
    }
  }
}
