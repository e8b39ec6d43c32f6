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

// ## 10. Clusters
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
// The memory model of PTX does not promise that: it orders reads before later writes through a release, too. The kernel relies on
// the hardware, as CUTLASS does: its arrival has neither word, of which nvcc 13.0 makes the same instruction.
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
template <bool RELEASES, class T = bf16>
__global__ void __launch_bounds__(specialized_threads, 1)
    multicast(lab::GemmOf<T> g, const __grid_constant__ CUtensorMap map_a,
              const __grid_constant__ CUtensorMap map_b,
              const __grid_constant__ CUtensorMap map_c) {
  specialized<How{true, true, 2}, Cluster<2, RELEASES>>(g, map_a, map_b, map_c);
}

// It costs 31 % of the speed: 541 TFLOP/s against 788. With it the cluster was slower than no cluster at all; nothing in
// the source says why, and the machine code does.
//= 31 %: 100 * (1 - ms("multicast/arrive=relaxed") / ms("multicast/arrive=release"))
//= 541 TFLOP/s against 788: (rate("multicast/arrive=release") / 1000, rate("multicast/arrive=relaxed") / 1000)
//
// ## 11. Fewer blocks
//
// At 4096 there are 512 tiles, for 256 clusters. 66 clusters compute them in four waves, and so do 64. `blocks=fewest` launches as few
// blocks as make as many waves; nothing else differs.
//= 512 tiles, for 256: (4096 / 128 * (4096 / 256), 4096 / 256 * (4096 / 256))
//
//? fewest: Four SMs of 132 then have nothing to do. What becomes of the share of cuBLAS at 4096?
//? choices: it falls by 3 % | it stays | it rises
//? answer: {"it falls by 3 %": ratio("multicast/blocks=fewest") / ratio("multicast/arrive=relaxed") < 0.98,
//?   "it stays": 0.98 < ratio("multicast/blocks=fewest") / ratio("multicast/arrive=relaxed") < 1.003,
//?   "it rises": ratio("multicast/blocks=fewest") / ratio("multicast/arrive=relaxed") > 1.003}
//
// It rises, from 0.988 to 0.996. Power decides. In a trial every block read the clock of its SM: with 66 clusters a block took
// 279,891 cycles at 1,593 MHz, with 64 it took 279,878 at 1,609. With zeros in A and B, which take less power, the clock was 1,793 MHz and
// the time the same, both with 66 and with 64. So what idle SMs do not take, the others turn into clock.
//= from 0.988 to 0.996: (ratio("multicast/arrive=relaxed"), ratio("multicast/blocks=fewest"))
//= 279,891 cycles at 1,593 MHz, with 64 it took 279,878 at 1,609: (279891, 1593.2, 66 - 2, 279878, 1608.7)
//= 1,793 MHz: 1792.8
//
// ## 12. Sums that wait for the next tile (second reading)
//
// Between two tiles of a block its tensor cores wait until the sums have left. `overlapped` only rounds them, to 64 registers a
// thread, and begins the next tile: one of four boxes leaves in each of its first four steps, beneath the `wgmma` of a stage.
//= 64 registers: 64 * 256 / 128 / 2
//
//? held: At 2048 a block has one tile. What does this do to the share of cuBLAS there, beside `multicast blocks=fewest`?
//? choices: it rises | it stays | it falls
//? answer: {"it rises": ratio("overlapped", 2048) / ratio("multicast/blocks=fewest", 2048) > 1.005,
//?   "it stays": 0.995 < ratio("overlapped", 2048) / ratio("multicast/blocks=fewest", 2048) < 1.005,
//?   "it falls": ratio("overlapped", 2048) / ratio("multicast/blocks=fewest", 2048) < 0.995}

/// The same, with sums that leave in boxes beneath the products of the next tile.
///
/// Launch, Requires: as multicast.
__global__ void __launch_bounds__(specialized_threads, 1)
    overlapped(Product g, const __grid_constant__ CUtensorMap map_a,
               const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c) {
  specialized<How{true, true, 2, true, true}, Cluster<2, false>>(g, map_a, map_b, map_c);
}

// It falls, from 0.952 to 0.945. No products follow, so nothing can be gained; what is lost is not measured.
//= from 0.952 to 0.945: (ratio("multicast/blocks=fewest", 2048), ratio("overlapped", 2048))
//
// | TFLOP/s | `tma_wgmma` | `producer_warp` | `box_stores` | `persistent` | `multicast` | `overlapped` | cuBLAS | share of cuBLAS |
// |--:|--:|--:|--:|--:|--:|--:|--:|--:|
// | 2048 | 465 | 524 | 629 | 631 | 626 | 619 | 658 | 0.95 |
// | 4096 | 606 | 699 | 773 | 784 | 794 | 797 | 799 | 1.01 |
// | at MHz | 1980 | 1980 | 1965 | 1965 | 1935 | 1905 | 1980 | |
// | 8192 | 631 | 686 | 718 | 684 | 733 | 687 | 811 | 1.03 |
// | at MHz | 1830 | 1590 | 1605 | 1470 | 1605 | 1710 | 1980 | |
//= 465 | 524 | 629 | 631 | 626 | 619 | 658 | 0.95: (rate("tma_wgmma", 2048) / 1000, rate("producer_warp", 2048) / 1000, rate("box_stores", 2048) / 1000,
//=   rate("persistent", 2048) / 1000, rate("multicast/blocks=fewest", 2048) / 1000, rate("overlapped", 2048) / 1000,
//=   rate("cublas", 2048) / 1000, ratio("overlapped", 2048))
//= 606 | 699 | 773 | 784 | 794 | 797 | 799 | 1.01: (rate("tma_wgmma") / 1000, rate("producer_warp") / 1000, rate("box_stores") / 1000,
//=   rate("persistent") / 1000, rate("multicast/blocks=fewest") / 1000, rate("overlapped") / 1000,
//=   rate("cublas") / 1000, ratio("overlapped"))
//= 1980 | 1980 | 1965 | 1965 | 1935 | 1905 | 1980: (clock("tma_wgmma"), clock("producer_warp"), clock("box_stores"),
//=   clock("persistent"), clock("multicast/blocks=fewest"), clock("overlapped"), clock("cublas"))
//= 631 | 686 | 718 | 684 | 733 | 687 | 811 | 1.03: (rate("tma_wgmma", 8192) / 1000, rate("producer_warp", 8192) / 1000, rate("box_stores", 8192) / 1000,
//=   rate("persistent", 8192) / 1000, rate("multicast/blocks=fewest", 8192) / 1000, rate("overlapped", 8192) / 1000,
//=   rate("cublas", 8192) / 1000, ratio("overlapped", 8192))
//= 1830 | 1590 | 1605 | 1470 | 1605 | 1710 | 1980: (clock("tma_wgmma", 8192), clock("producer_warp", 8192), clock("box_stores", 8192),
//=   clock("persistent", 8192), clock("multicast/blocks=fewest", 8192), clock("overlapped", 8192), clock("cublas", 8192))
//
// At 8192 and 16384 all kernels whose sums leave in boxes pass cuBLAS: `box_stores` has 1.003 and 1.009 of it, `persistent` 1.018 and
// 1.019, `overlapped` 1.028 and 1.011. So passing it takes no clusters there. At 4096 `persistent` has 0.982, `overlapped` 1.006.
//= has 1.003 and 1.009 of it, `persistent` 1.018 and: (ratio("box_stores", 8192), ratio("box_stores", 16384), ratio("persistent", 8192))
//= 1.019, `overlapped` 1.028 and 1.011: (ratio("persistent", 16384), ratio("overlapped", 8192), ratio("overlapped", 16384))
//= At 4096 `persistent` has 0.982, `overlapped` 1.006: (4096, ratio("persistent"), ratio("overlapped"))
//
// Clusters gain most where rows have to be copied first: at 4001 `overlapped` is 1.33 times as fast as `persistent`, and at
// 4096 x 4097 x 4099 it makes 2.64 times what cuBLAS makes. Why is not measured.
//= 1.33 times as fast: ms("persistent", 4001) / ms("overlapped", 4001)
//= makes 2.64 times: ratio("overlapped", "4096,4097,4099")
//
// The elements may be FP16 as well: `type=fp16` of `multicast` has 0.991 of cuBLAS with FP16. Those of TF32 have 32 bits, and `wgmma`
// transposes none of these, so `type=tf32` transposes B first, within its time: 0.90 of cuBLAS with TF32 at 4096, 0.96 at 8192.
//= has 0.991 of cuBLAS with FP16: ratio("multicast/type=fp16")
//= 0.90 of cuBLAS with TF32 at 4096, 0.96 at: (ratio("multicast/type=tf32"), 4096, ratio("multicast/type=tf32", 8192))
//
// The share is that of cuBLAS timed beside the rung; the cuBLAS of the column is a row of its own, timed first. The clock is the
// median of samples between the runs; within a kernel it is lower, as in section 11. Where it is below 1,980 MHz, the driver names
// the power cap, for cuBLAS beside the rung as well: another card, or a warmer one, gives other figures, and only times of one run can be
// compared.
//= below 1,980 MHz: limit("sm_clock_mhz")
//
// ## A second and a half, and zeros (second reading)
//
// NVML's power is the mean of the last second, and these rows took less. So each kernel was also launched again and again for 1.5 s, alone.
//
//? zeros: The GPU then runs at its power cap. What becomes of the rate of `overlapped` if A and B are full of zeros?
//? choices: it stays | it rises by some 5 % | it rises by some 20 %
//? answer: {"it stays": rate("overlapped", 4096, "h200_zeros") / rate("overlapped", 4096, "h200_sustained") < 1.02,
//?   "it rises by some 5 %": 1.02 < rate("overlapped", 4096, "h200_zeros") / rate("overlapped", 4096, "h200_sustained") < 1.1,
//?   "it rises by some 20 %": rate("overlapped", 4096, "h200_zeros") / rate("overlapped", 4096, "h200_sustained") > 1.15}
//
// | 1.5 s at 4096 | `tma_wgmma` | `producer_warp` | `box_stores` | `persistent` | `overlapped` | cuBLAS |
// |--:|--:|--:|--:|--:|--:|--:|
// | TFLOP/s | 555 | 628 | 679 | 678 | 699 | 719 |
// | MHz | 1755 | 1650 | 1605 | 1560 | 1575 | 1665 |
// | W | 695 | 693 | 692 | 692 | 693 | 692 |
// | zeros, TFLOP/s | 624 | 744 | 805 | 818 | 826 | 805 |
// | MHz | 1980 | 1980 | 1890 | 1860 | 1875 | 1860 |
// | W | 429 | 467 | 432 | 435 | 429 | 402 |
//= TFLOP/s | 555 | 628 | 679 | 678 | 699 | 719: (rate("tma_wgmma", 4096, "h200_sustained") / 1000, rate("producer_warp", 4096, "h200_sustained") / 1000,
//=   rate("box_stores", 4096, "h200_sustained") / 1000, rate("persistent", 4096, "h200_sustained") / 1000,
//=   rate("overlapped", 4096, "h200_sustained") / 1000, rate("cublas", 4096, "h200_sustained") / 1000)
//= MHz | 1755 | 1650 | 1605 | 1560 | 1575 | 1665: (clock("tma_wgmma", 4096, "h200_sustained"), clock("producer_warp", 4096, "h200_sustained"),
//=   clock("box_stores", 4096, "h200_sustained"), clock("persistent", 4096, "h200_sustained"),
//=   clock("overlapped", 4096, "h200_sustained"), clock("cublas", 4096, "h200_sustained"))
//= W | 695 | 693 | 692 | 692 | 693 | 692: (power("tma_wgmma", 4096, "h200_sustained"), power("producer_warp", 4096, "h200_sustained"),
//=   power("box_stores", 4096, "h200_sustained"), power("persistent", 4096, "h200_sustained"),
//=   power("overlapped", 4096, "h200_sustained"), power("cublas", 4096, "h200_sustained"))
//= zeros, TFLOP/s | 624 | 744 | 805 | 818 | 826 | 805: (rate("tma_wgmma", 4096, "h200_zeros") / 1000, rate("producer_warp", 4096, "h200_zeros") / 1000,
//=   rate("box_stores", 4096, "h200_zeros") / 1000, rate("persistent", 4096, "h200_zeros") / 1000,
//=   rate("overlapped", 4096, "h200_zeros") / 1000, rate("cublas", 4096, "h200_zeros") / 1000)
//= MHz | 1980 | 1980 | 1890 | 1860 | 1875 | 1860: (clock("tma_wgmma", 4096, "h200_zeros"), clock("producer_warp", 4096, "h200_zeros"),
//=   clock("box_stores", 4096, "h200_zeros"), clock("persistent", 4096, "h200_zeros"),
//=   clock("overlapped", 4096, "h200_zeros"), clock("cublas", 4096, "h200_zeros"))
//= W | 429 | 467 | 432 | 435 | 429 | 402: (power("tma_wgmma", 4096, "h200_zeros"), power("producer_warp", 4096, "h200_zeros"),
//=   power("box_stores", 4096, "h200_zeros"), power("persistent", 4096, "h200_zeros"),
//=   power("overlapped", 4096, "h200_zeros"), power("cublas", 4096, "h200_zeros"))
//
// It rises by 18 %. With random elements the clock falls until the power is that of the cap; zeros take 38 % less power, at a higher clock.
// The order of the kernels changes as well: cuBLAS, which `overlapped` passes in a short run, makes 1.03 times its rate over 1.5 s.
// Measure with the data that you will have, and for as long.
//= by 18 %: 100 * (rate("overlapped", 4096, "h200_zeros") / rate("overlapped", 4096, "h200_sustained") - 1)
//= 38 % less power: 100 * (1 - power("overlapped", 4096, "h200_zeros") / power("overlapped", 4096, "h200_sustained"))
//= because `overlapped` passes in a short run: ratio("overlapped") > 1
//= makes 1.03 times: rate("cublas", 4096, "h200_sustained") / rate("overlapped", 4096, "h200_sustained")

// [hide] How the rung is registered
namespace {

void add(lab::GemmLadderOf<bf16>& ladder) {
  Launcher<> launch;
  ladder.add("multicast", "arrive=release", [&](const Product& g) {
    launch(g, multicast<true>, {true, true, 2});
  });
  ladder.add("multicast", "arrive=relaxed", [&](const Product& g) {
    launch(g, multicast<false>, {true, true, 2});
  });
  ladder.add("multicast", "blocks=fewest", [&](const Product& g) {
    launch(g, multicast<false>, {true, true, 2, true});
  });
  ladder.add("overlapped", [&](const Product& g) { launch(g, overlapped, {true, true, 2, true}); });
  if (!ladder.ladder().wants("multicast")) return;
  Launcher<__half> launch_fp16;
  lab::GemmLadderOf<__half>(ladder.ladder(), {})
      .add("multicast", "type=fp16", [&](const lab::GemmOf<__half>& g) {
        launch_fp16(g, multicast<false, __half>, {true, true, 2, true});
      });
  Launcher<float> launch_tf32;
  lab::GemmLadder(ladder.ladder(), {.tf32 = true})
      .add("multicast", "type=tf32", [&](const lab::Gemm& g) {
        launch_tf32(g, multicast<false, float>, {true, true, 2, true});
      });
}

const lab::Rungs here(add);

}  // namespace
// [/hide]

// ## What bounds each rung
//
// Which rung removes which bottleneck of a product on tensor cores at 4096, its gain over the rung above, and the largest share of its time
// that a resource needs alone; the page of measurements has the others. What a rung waits for beside that is not measured, unless the row
// says so.
// `overlapped` has 1.006 of cuBLAS; at 8192 and 16384 all kernels whose sums leave in boxes pass it.
//= `overlapped` has 1.006: ratio("overlapped")
//= because all kernels whose sums leave in boxes pass it: ratio("box_stores", 8192) > 1 and ratio("box_stores", 16384) > 1
//=   and ratio("persistent", 8192) > 1 and ratio("persistent", 16384) > 1 and ratio("multicast/blocks=fewest", 8192) > 1
//=   and ratio("multicast/blocks=fewest", 16384) > 1 and ratio("overlapped", 8192) > 1 and ratio("overlapped", 16384) > 1
//
// | rung | removes | TFLOP/s | gain | bound by |
// |---|---|--:|--:|---|
// | `wmma` | | 72 | | bank conflicts, shared memory 58 %; `rows=padded` makes 111 |
// | `mma_sync` | sums that pass through shared memory | 72 | 0.99 | shared memory 57 %: as many conflicts |
// | `ldmatrix` | four fifths of the load instructions | 68 | 0.94 | shared memory 54 %: as many wavefronts |
// | `swizzled` | bank conflicts | 119 | 1.76 | shared memory 22 % |
// | `copy_ring` | waits, a third of the loads, half sectors, all at once | 486 | 4.1 | shared memory 46 %, tensor cores 45 % |
// | `tma_wgmma` | fragments: operands stay in shared memory | 606 | 1.25 | tensor cores 56 %; two waits behind each K-tile |
// | `producer_warp` | one of these waits, that for the other warpgroup | 699 | 1.15 | tensor cores 65 % |
// | `box_stores` | stores of half sectors | 773 | 1.11 | tensor cores 72 % |
// | `persistent` | the wait for the first boxes of a tile | 784 | 1.01 | tensor cores 73 % |
// | `multicast` | a third of the bytes from L2; 128 of 132 SMs take part | 794 | 1.01 | tensor cores 76 %, and power: more SMs are slower |
// | `overlapped` | the wait until sums have left | 797 | 1.00 | tensor cores 77 % at 1905 MHz, and power |
// | `fp8` | half of the bits of each element | 1414 | 1.77 | tensor cores 67 % |
//= | 72 | | bank conflicts, shared memory 58 %: (rate("wmma") / 1000, 100 * alone("wmma", "shared memory") / ms("wmma"))
//= makes 111 |: rate("wmma/rows=padded") / 1000
//= | 72 | 0.99 | shared memory 57 %: (rate("mma_sync") / 1000, ms("wmma") / ms("mma_sync"),
//=   100 * alone("mma_sync", "shared memory") / ms("mma_sync"))
//= four fifths: 1 - count("ldmatrix", "shared_load_requests") / count("mma_sync", "shared_load_requests")
//= | 68 | 0.94 | shared memory 54 %: (rate("ldmatrix") / 1000, ms("mma_sync") / ms("ldmatrix"),
//=   100 * alone("ldmatrix", "shared memory") / ms("ldmatrix"))
//= | 119 | 1.76 | shared memory 22 %: (rate("swizzled") / 1000, ms("ldmatrix") / ms("swizzled"),
//=   100 * alone("swizzled", "shared memory") / ms("swizzled"))
//= a third of the loads: 1 - (64 + 64) / (64 * 64) / ((64 + 32) / (64 * 32))
//= | 486 | 4.1 | shared memory 46 %, tensor cores 45 %: (rate("copy_ring") / 1000, ms("swizzled") / ms("copy_ring"),
//=   100 * alone("copy_ring", "shared memory") / ms("copy_ring"), 100 * alone("copy_ring", "tensor cores") / ms("copy_ring"))
//= | 606 | 1.25 | tensor cores 56 %: (rate("tma_wgmma") / 1000, ms("copy_ring") / ms("tma_wgmma"),
//=   100 * alone("tma_wgmma", "tensor cores") / ms("tma_wgmma"))
//= | 699 | 1.15 | tensor cores 65 %: (rate("producer_warp") / 1000, ms("tma_wgmma") / ms("producer_warp"),
//=   100 * alone("producer_warp", "tensor cores") / ms("producer_warp"))
//= | 773 | 1.11 | tensor cores 72 %: (rate("box_stores") / 1000, ms("producer_warp") / ms("box_stores"),
//=   100 * alone("box_stores", "tensor cores") / ms("box_stores"))
//= | 784 | 1.01 | tensor cores 73 %: (rate("persistent") / 1000, ms("box_stores") / ms("persistent"),
//=   100 * alone("persistent", "tensor cores") / ms("persistent"))
//= | 794 | 1.01 | tensor cores 76 %: (rate("multicast/blocks=fewest") / 1000, ms("persistent") / ms("multicast/blocks=fewest"),
//=   100 * alone("multicast/blocks=fewest", "tensor cores") / ms("multicast/blocks=fewest"))
//= | 797 | 1.00 | tensor cores 77 % at 1905 MHz: (rate("overlapped") / 1000, ms("multicast/blocks=fewest") / ms("overlapped"),
//=   100 * alone("overlapped", "tensor cores") / ms("overlapped"), clock("overlapped"))
//= | 1414 | 1.77 | tensor cores 67 %: (rate("fp8/sums=inside") / 1000, ms("overlapped") / ms("fp8/sums=inside"),
//=   100 * alone("fp8/sums=inside", "tensor cores") / ms("fp8/sums=inside"))
//
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
