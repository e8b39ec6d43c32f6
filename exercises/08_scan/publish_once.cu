// # Publish once
//
// Kind: repair
// Level: 2
// Minutes: 12
//
// `chain` computes tile_start[t], the sum of all elements before tile t, for tiles of 32 elements;
// each block of 32 threads has one tile. A block waits until the block of the tile before has
// published the sum of everything up to its end. The counter, `sums` and `ready` are zeros at
// first.
//
// It has two mistakes. One makes it hang if blocks start in another order than one would think:
// here, the block with the highest number starts first. The other lets a block see a flag and not
// yet the sum. Repair both.

#include <cuda_runtime.h>

#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void chain(int* tile_start, const int* in, unsigned* counter, int* sums, int* ready) {
#ifdef SOLUTION
  __shared__ int taken;
  if (threadIdx.x == 0) taken = static_cast<int>(atomicAdd(counter, 1u));
  __syncthreads();
  const int tile = taken;
#else
  const int tile = gridDim.x - 1 - blockIdx.x;
#endif
  const int sum = __reduce_add_sync(0xFFFFFFFF, in[tile * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;

  int before = 0;
  if (tile > 0) {
    while (Flag(ready[tile - 1]).load(cuda::memory_order_relaxed) == 0) {
    }
#ifdef SOLUTION
    __threadfence();
#endif
    before = sums[tile - 1];
  }
  tile_start[tile] = before;
  sums[tile] = before + sum;
#ifdef SOLUTION
  __threadfence();
#endif
  Flag(ready[tile]).store(1, cuda::memory_order_relaxed);
}
