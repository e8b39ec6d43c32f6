// # Compaction in order
//
// Kind: fill in
// Level: 2
// Minutes: 15
//
// A block of 256 threads looks at a batch of 256 circles; `touches[i]` is not 0 where circle i
// touches the block's tile. `list_hits` writes the numbers of those circles to `list`, from place
// 256 * blockIdx.x on, **in ascending order**, and their number to `sizes[blockIdx.x]`. The last
// batch may be shorter.
//
// Each thread has to find out how many circles before its own touch the tile. Order matters: the
// circles of the list will be blended.

#include <cuda_runtime.h>

__global__ void list_hits(int* list, int* sizes, const int* touches, int n) {
  __shared__ int of_warps[8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool hit = i < n && touches[i] != 0;
  const unsigned flags = __ballot_sync(0xFFFFFFFF, hit);
  if (lane == 0) of_warps[warp] = __popc(flags);

#ifdef SOLUTION
  __syncthreads();
  int place = __popc(flags & ((1u << lane) - 1)), total = 0;
  for (int w = 0; w < 8; ++w) {
    if (w == warp) place += total;
    total += of_warps[w];
  }
#else
  int place = 0, total = 0;  // TODO
#endif

  if (hit) list[256 * blockIdx.x + place] = i;
  if (threadIdx.x == 0) sizes[blockIdx.x] = total;
}
