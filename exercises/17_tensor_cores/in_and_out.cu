// # In and out by the copy engine
//
// Kind: repair
// Level: 5
// Minutes: 10
//
// A block takes tiles of 256 floats in turn. One thread asks the copy engine for a tile, all
// threads wait at a barrier for its bytes and double them, and the engine takes the tile away.
//
// Two calls are missing or wrong. One lets the threads go on before the tile is there; the other
// lets the engine take away what was there before. Repair both. The tiles must go both ways by the
// copy engine: not a single load or store of global memory by the threads.

#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int kTile = 256;

// out = 2 in, both (tiles, kTile). Blocks of kTile threads, any number.
__global__ void twice(float* out, const float* in, int tiles) {
  __shared__ __align__(128) float tile[kTile];
  constexpr std::uint32_t kBytes = sizeof tile;
  __shared__ std::uint64_t arrived;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();

  std::uint32_t parity = 0;
  for (int i = static_cast<int>(blockIdx.x); i < tiles; i += static_cast<int>(gridDim.x)) {
    if (t == 0) {
#ifdef SOLUTION
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                     kBytes);
#else
      ptx::mbarrier_arrive(&arrived);
#endif
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + i * kTile, kBytes,
                         &arrived);
    }
    while (!ptx::mbarrier_try_wait_parity(&arrived, parity)) {
    }
    parity ^= 1;
    tile[t] *= 2;
#ifdef SOLUTION
    ptx::fence_proxy_async(ptx::space_shared);
#endif
    __syncthreads();
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * kTile, tile, kBytes);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});  // the tile may be written again
    }
  }
}
