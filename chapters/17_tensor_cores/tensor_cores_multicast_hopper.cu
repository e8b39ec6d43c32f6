// The rung of chapter 17 that needs clusters of blocks. It registers itself.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "hopper.cuh"
#include "lab/lab.h"
#include "launcher.h"
#include "tensor_cores.h"

// ## 11. Clusters
//
// Blocks of a {term}`cluster <thread block cluster>` run at the same time on neighbouring SMs, and reach each other's shared
// memory. Two blocks, one below the other, need the same boxes of B. Each requests half of them with {term}`multicast`: the
// TMA reads a box once from L2 and writes it to the same place in both blocks, and its bytes count at the
// barrier of each. A stage then takes 32 KiB from L2 for a block instead of 48.
//= 32 KiB: (128 * 64 + 64 * 128) * 2 / 1024
//= 48: 49152 / 1024
//
// A stage may be refilled when *both* blocks have read it, so consumers arrive at the empty barriers of both. How they
// do so decides. `mbarrier.arrive.release.cluster` makes visible what the thread has written, and nvcc puts a fence for
// the whole GPU before it, `MEMBAR.ALL.GPU`. Here a consumer has written nothing that the other block reads: it has only
// read, and `wgmma.wait_group` has told it that the reads are complete. So this kernel says `relaxed`.
//
// The memory model of PTX does not promise that: it orders reads before somebody else's later writes through a release, too. The
// kernel relies on the hardware, which has nothing left to delay. CUTLASS relies on the same: its arrival has
// neither word, which by default releases to the own block alone, and nvcc 13.0 makes the same instruction of both.
//
//? fence: What does the fence cost at 4096, in each of 64 steps?
//? choices: nothing that is seen | some per cent | more than a quarter of the speed
//? answer: {"nothing that is seen": ms("multicast/arrive=release") / ms("multicast/arrive=relaxed") < 1.01,
//?   "some per cent": 1.01 < ms("multicast/arrive=release") / ms("multicast/arrive=relaxed") < 1.15,
//?   "more than a quarter of the speed": ms("multicast/arrive=release") / ms("multicast/arrive=relaxed") > 1.33}

// [hide] The instructions of a cluster
/// The number of this block in its cluster.
__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the cluster meet. Nothing that they have written is made visible.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}

/// The same for all blocks of the cluster whose bit is set: to the same place, and the same barrier, of each of them.
__device__ __forceinline__ void load_box(void* to, const CUtensorMap& map, int row, int col,
                                         std::uint64_t* full, std::uint16_t blocks) {
  const std::int32_t corner[] = {col, row};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, corner, full, blocks);
}

/// Arrives at the barrier that lies at the same place in another block of the cluster. RELEASES: makes what this thread has
/// written visible to the cluster first.
template <bool RELEASES>
__device__ __forceinline__ void arrive_at(std::uint64_t* barrier, unsigned block) {
  std::uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(address_of(barrier)), "r"(block));
  if constexpr (RELEASES) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
                 : "memory");
  } else {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
                 : "memory");
  }
}
// [/hide]

/// What a block does with the others of its cluster of SIZE. RELEASES: it makes visible what it has written when it
/// releases a stage.
template <int SIZE, bool RELEASES>
struct Cluster {
  static __device__ __forceinline__ int rank() { return static_cast<int>(rank_in_cluster()); }
  static __device__ __forceinline__ void meet() { cluster_barrier(); }
  static __device__ __forceinline__ void load(void* to, const CUtensorMap& map, int row, int col,
                                              std::uint64_t* full) {
    load_box(to, map, row, col, full, (1 << SIZE) - 1);
  }
  static __device__ __forceinline__ void release(std::uint64_t* empty, int me) {
    if (me < SIZE) arrive_at<RELEASES>(empty, static_cast<unsigned>(me));
  }
  static __device__ __forceinline__ void leave() { cluster_barrier(); }
};

/// The same in clusters of two blocks, one below the other, which load the boxes of B for each other.
///
/// Launch: as persistent, in clusters of two.
/// Requires: as box_stores.
template <bool RELEASES>
__global__ void __launch_bounds__(specialized_threads, 1)
    multicast(Product g, const __grid_constant__ CUtensorMap map_a,
              const __grid_constant__ CUtensorMap map_b,
              const __grid_constant__ CUtensorMap map_c) {
  specialized<How{true, true, 2}, Cluster<2, RELEASES>>(g, map_a, map_b, map_c);
}

// It costs 32 % of the speed: 542 TFLOP/s against 800. With it the cluster was slower than no cluster at all; nothing in
// the source says why, and the machine code does.
//= 32 %: 100 * (1 - ms("multicast/arrive=relaxed") / ms("multicast/arrive=release"))
//= 542 TFLOP/s against 800: (rate("multicast/arrive=release") / 1000, rate("multicast/arrive=relaxed") / 1000)
//
// | TFLOP/s | `copy_ring` | `tma_wgmma` | `producer_warp` | `box_stores` | `persistent` | `multicast` | cuBLAS | share of cuBLAS |
// |--:|--:|--:|--:|--:|--:|--:|--:|--:|
// | 2048 | 401 | 480 | 539 | 653 | 652 | 651 | 660 | 0.99 |
// | 4096 | 482 | 603 | 704 | 782 | 787 | 800 | 806 | 0.99 |
// | at MHz | 1980 | 1965 | 1965 | 1965 | 1965 | 1920 | 1980 | |
// | 8192 | 431 | 574 | 680 | 692 | 710 | 692 | 789 | 1.02 |
// | at MHz | 1680 | 1635 | 1590 | 1560 | 1560 | 1500 | 1980 | |
//= | 401 | 480 | 539 | 653 | 652 | 651 | 660 | 0.99 |: (rate("copy_ring", 2048) / 1000, rate("tma_wgmma", 2048) / 1000, rate("producer_warp", 2048) / 1000,
//=   rate("box_stores", 2048) / 1000, rate("persistent", 2048) / 1000, rate("multicast/arrive=relaxed", 2048) / 1000,
//=   rate("cublas", 2048) / 1000, ratio("multicast/arrive=relaxed", 2048))
//= | 482 | 603 | 704 | 782 | 787 | 800 | 806 | 0.99 |: (rate("copy_ring", 4096) / 1000, rate("tma_wgmma", 4096) / 1000, rate("producer_warp", 4096) / 1000,
//=   rate("box_stores", 4096) / 1000, rate("persistent", 4096) / 1000, rate("multicast/arrive=relaxed", 4096) / 1000,
//=   rate("cublas", 4096) / 1000, ratio("multicast/arrive=relaxed", 4096))
//= | 1980 | 1965 | 1965 | 1965 | 1965 | 1920 | 1980 |: (clock("copy_ring"), clock("tma_wgmma"), clock("producer_warp"), clock("box_stores"),
//=   clock("persistent"), clock("multicast/arrive=relaxed"), clock("cublas"))
//= | 1680 | 1635 | 1590 | 1560 | 1560 | 1500 | 1980 |: (clock("copy_ring", 8192), clock("tma_wgmma", 8192), clock("producer_warp", 8192),
//=   clock("box_stores", 8192), clock("persistent", 8192), clock("multicast/arrive=relaxed", 8192), clock("cublas", 8192))
//= | 431 | 574 | 680 | 692 | 710 | 692 | 789 | 1.02 |: (rate("copy_ring", 8192) / 1000, rate("tma_wgmma", 8192) / 1000, rate("producer_warp", 8192) / 1000,
//=   rate("box_stores", 8192) / 1000, rate("persistent", 8192) / 1000, rate("multicast/arrive=relaxed", 8192) / 1000,
//=   rate("cublas", 8192) / 1000, ratio("multicast/arrive=relaxed", 8192))
//
// At 8192 and 16384 all kernels whose sums leave in boxes pass cuBLAS: `box_stores` has 1.006 and 1.010 of it, `persistent` 1.022 and
// 1.017, `multicast` 1.019 and 1.018. So passing it takes no clusters. At 4096 they reach 0.991, at 2048 0.985, where
// `persistent` reaches 0.993. They gain most where rows have to be copied first: at 4001 they are 1.32 times as fast as `persistent`,
// and at 4096 x 4097 x 4099 they make 2.48 times what cuBLAS makes. Why is not measured.
//= has 1.006 and 1.010 of it, `persistent` 1.022 and 1.017, `multicast` 1.019 and 1.018: (ratio("box_stores", 8192), ratio("box_stores", 16384),
//=   ratio("persistent", 8192), ratio("persistent", 16384), ratio("multicast/arrive=relaxed", 8192), ratio("multicast/arrive=relaxed", 16384))
//= they reach 0.991: ratio("multicast/arrive=relaxed")
//= 2048 0.985: (2048, ratio("multicast/arrive=relaxed", 2048))
//= reaches 0.993: ratio("persistent", 2048)
//= 1.32 times as fast: ms("persistent", 4001) / ms("multicast/arrive=relaxed", 4001)
//= make 2.48 times: ratio("multicast/arrive=relaxed", "4096,4097,4099")
//
// The share is that of cuBLAS timed beside the rung; the cuBLAS of the column is a row of its own, timed first. The clock
// was 1,980 MHz for all at 2048, and at 4096 up to `copy_ring`. Where it is lower, the driver names the power cap, for cuBLAS beside
// the rung as well: another card, or a warmer one, gives other figures, and only times of one run can be compared. No power stands
// here: NVML's is a mean over the last second, and these rows took less (the notes).
//= 1,980 MHz for all: clock("multicast/arrive=relaxed", 2048)
//= because for all: min(clock("copy_ring", 2048), clock("tma_wgmma", 2048), clock("producer_warp", 2048), clock("box_stores", 2048),
//=   clock("persistent", 2048), clock("cublas", 2048), clock("wmma"), clock("mma_sync"), clock("ldmatrix"), clock("swizzled"),
//=   clock("copy_ring")) == clock("multicast/arrive=relaxed", 2048)
//
// The data matter, too: in a trial cuBLAS made 859 TFLOP/s at 4096 with zeros in A and B and 797 with random elements, the last
// kernel 863 and 797. Measure with the data that you will have.
//= 859 TFLOP/s: 2 * 4096 ** 3 / 0.1600e9
//= 797: 2 * 4096 ** 3 / 0.1725e9
//= 863: 2 * 4096 ** 3 / 0.1593e9

// [hide] How the rung is registered
namespace {

void add(lab::GemmLadderOf<bf16>& ladder) {
  Launcher launch;
  ladder.add("multicast", "arrive=release", [&](const Product& g) {
    launch(g, multicast<true>, {true, true, 2});
  });
  ladder.add("multicast", "arrive=relaxed", [&](const Product& g) {
    launch(g, multicast<false>, {true, true, 2});
  });
}

const lab::Rungs here(add);

}  // namespace
// [/hide]

// ## What to remember
//
// - A tensor core multiplies fragments. Which lane holds which element is fixed, and the same pattern everywhere.
// - `ldmatrix` loads fragments, with `.trans` those of a matrix that lies the other way. Count wavefronts, not instructions.
// - A swizzle makes both rows and columns of chunks free of conflicts, without a pad. The TMA and `wgmma` know the same one.
// - `wgmma` reads shared memory. Sums, tiles and barriers each have a moment from which on they may be touched.
// - What threads write and the copy engine reads needs `fence.proxy.async`.
// - An arrival in another block that releases costs a fence of the whole GPU. Who leaves it out has to say what is relied on.
// - Say the clock beside a rate, and time the peer in the same run.
//
// ## What others reach
//
// The order of these rungs owes much to
// [fast.cu](https://github.com/pranjalssh/fast.cu), which reports 1.07 of cuBLAS at 4096 on an H100, and to the descriptors
// of [CUTLASS](https://github.com/NVIDIA/cutlass). We have measured neither.
//
// ## Possibilities for extension
//
// 1. Let the two warpgroups work on tiles of their own, so that one multiplies while the other stores. What must the
//    producer do? (The notes have our two trials, which reached 0.98 and 0.88 of cuBLAS at 4096.)
// 2. Replace `relaxed` by no qualifier at all in `arrive_at`. What does nvcc make of it?
// 3. Multiply `lo` of `tf32` by 2^11, as Ootomo and Yokota do, and its products by 2^-11. For which elements does it matter?
// 4. Order the tiles along a Hilbert curve. At which size can it matter?
