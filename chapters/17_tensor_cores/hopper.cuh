// What the rungs of chapter 17 for Hopper share: the instructions, the first of the kernels, and the body of the others.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cuda/ptx>
#include <type_traits>

#include "lab/lab.h"
#include "tensor_cores.h"

// ## 6. Hopper: matrices straight from shared memory
//
// Up to here all of A and B passes through registers on its way to the tensor cores, and every warp loads fragments that its
// neighbours load, too. Hopper's `wgmma` reads both operands from shared memory. A {term}`warpgroup`, four warps, issues
// it together: `m64n256k16` computes 64 x 256 sums, 128 in each thread, 128 times as many FMAs as `mma.sync`.
//= 128 times: 64 * 256 * 16 / (16 * 8 * 16)
//
// A {term}`matrix descriptor` of 64 bits tells it where a matrix lies: its address, two strides and its swizzle. The
// swizzle is that of section 4, `chunk ^ (row % 8)` for rows of 128 bytes, built into the hardware: a {term}`TMA
// <tensor memory accelerator>` box that is loaded with `CU_TENSOR_MAP_SWIZZLE_128B` arrives in this order, and `wgmma` reads
// it in this order. No thread computes it.
//
// - A has K along its rows. A box of 64 columns is one strip of 128 bytes; eight rows are 1,024 bytes, the second stride.
// - B has N along its rows, so it is *transposed* for the instruction, as with `.trans` before: a bit of `wgmma` says so. 256
//   columns are four boxes, one behind the other; the first stride leads from box to box.
//
// `wgmma` is asynchronous. A group of them is committed and waited for like `cp.async`; until then neither the sums nor the
// tiles may be touched. And it reads through another path than loads and stores, the {term}`async proxy`: what
// threads have written to shared memory, it sees only after `fence.proxy.async`. What the TMA has written, it sees.
//
// `one_box`, `one_wgmma` and `one_store` are these instructions, each in a small kernel of its own, and `one_ldmatrix` is that of section 3.
//
//? boxes: How many bytes does a stage of 128 x 64 of A and 64 x 256 of B have?
//? choices: 24,576 | 49,152 | 98,304
//? answer: 2 * (128 * 64 + 64 * 256)
//
// 49,152, so four stages take 192 KiB of the 227 that a block may have. One thread requests them with five instructions.
//= 49,152: 2 * (128 * 64 + 64 * 256)
//= 192 KiB of the 227: (4 * 49152 / 1024, 227)
namespace ptx = cuda::ptx;

constexpr int BM = 128, BN = 256, BK = 64;  // of a block's tile; BK elements are 128 bytes
constexpr int STAGES = 4;                   // of the ring
constexpr int box_columns = 64,
              box_rows = 64;  // of a box of B or C: 128 bytes wide, for the swizzle
constexpr unsigned box_bytes = sizeof(bf16) * box_rows * box_columns;
constexpr unsigned a_bytes = sizeof(bf16) * BM * BK, b_bytes = sizeof(bf16) * BN * BK;
constexpr unsigned stage_bytes = a_bytes + b_bytes;
constexpr unsigned alignment = 1024;  // of what is swizzled: eight rows of 128 bytes
constexpr unsigned ring_bytes = STAGES * stage_bytes + alignment;

// [hide] The instructions, and how a warpgroup's sums are stored
/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint64_t* barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// Starts to copy a box whose first element is (row, col); its bytes arrive at `full`.
__device__ __forceinline__ void load_box(void* to, const CUtensorMap& map, int row, int col,
                                         std::uint64_t* full) {
  const std::int32_t corner[] = {col, row};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, corner, full);
}

/// Whether B lies transposed in shared memory: `wgmma` transposes elements of 16 bits alone.
template <class T>
constexpr bool is_transposed = sizeof(T) == 4;

/// d += A B, or d = A B, by a warpgroup: A (64, 16) and B (16, 256) of BF16 or FP16 in shared memory, B with its rows
/// contiguous; or (64, 8) and (8, 256) floats, multiplied as TF32, B with its columns contiguous.
///
/// d: the thread's part of (64, 256): d[j][0..1] in row lane / 4 of its warp's 16, columns 8 j + lane % 4 * 2 and the
/// next; d[j][2..3] eight rows below. Not to be touched before the group is waited for, see `sums_are_ready`.
template <class T>
__device__ __forceinline__ void wgmma(float (&d)[32][4], std::uint64_t a, std::uint64_t b,
                                      bool add) {
#define WARP_FOUR(J) "+f"(d[J][0]), "+f"(d[J][1]), "+f"(d[J][2]), "+f"(d[J][3])
#define WARP_SUMS(J) WARP_FOUR(J), WARP_FOUR(J + 1), WARP_FOUR(J + 2), WARP_FOUR(J + 3)
#define WARP_WGMMA(SHAPE, TAIL)                                                                    \
  asm volatile(                                                                                    \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                                \
      "wgmma.mma_async.sync.aligned.m64n256" SHAPE                                                 \
      " {"                                                                                         \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "           \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "           \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "           \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "           \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
      "%111, "                                                                                     \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
      "%127}, "                                                                                    \
      "%128, %129, p, 1, 1" TAIL ";\n}"                                                            \
      : WARP_SUMS(0), WARP_SUMS(4), WARP_SUMS(8), WARP_SUMS(12), WARP_SUMS(16), WARP_SUMS(20),     \
        WARP_SUMS(24), WARP_SUMS(28)                                                               \
      : "l"(a), "l"(b), "r"(static_cast<int>(add)))
  if constexpr (std::is_same_v<T, bf16>)
    WARP_WGMMA("k16.f32.bf16.bf16", ", 0, 1");
  else if constexpr (std::is_same_v<T, __half>)
    WARP_WGMMA("k16.f32.f16.f16", ", 0, 1");
  else
    WARP_WGMMA("k8.f32.tf32.tf32", "");
#undef WARP_WGMMA
#undef WARP_SUMS
#undef WARP_FOUR
}

/// Before the first wgmma of a group: the registers and the shared memory that it reads are written.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most PENDING groups are not complete.
template <int PENDING>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/// Keeps the compiler from reading sums before the wait in front of this: to it, a wait writes no register. No instruction.
__device__ __forceinline__ void sums_are_ready(float (&d)[32][4]) {
#pragma unroll
  for (auto& four : d) {
#pragma unroll
    for ([[maybe_unused]] float& sum : four) asm volatile("" : "+f"(sum)::"memory");
  }
}

/// Stores the sums of a warpgroup, rows `row` to `row + 63` of C, from the registers.
template <class T>
__device__ __forceinline__ void store_sums(const lab::GemmOf<T>& g, const float (&d)[32][4],
                                           int row, int col) {
  const int t = static_cast<int>(threadIdx.x) % 128, lane = t % 32;
  const int r = row + t / 32 * 16 + lane / 4;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    const int c = col + 8 * j + lane % 4 * 2;
    store2(g, r, c, d[j][0], d[j][1]);
    store2(g, r + 8, c, d[j][2], d[j][3]);
  }
}
// [/hide]

/// How wgmma finds a matrix in shared memory: where it begins, and two strides in bytes.
///
/// \param strip from one strip of 128 bytes to the next; of no account where the matrix is one strip wide
/// \param rows8 from eight rows to the next eight
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address, unsigned strip,
                                                    unsigned rows8) {
  constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62;
  return (address & 0x3FFFF) >> 4 | std::uint64_t{strip >> 4} << 16 |
         std::uint64_t{rows8 >> 4} << 32 | swizzle_128;
}

/// The products of a stage: 64 rows of A from `a` on, all of B, by a warpgroup. Committed as a group.
template <class T = bf16>
__device__ __forceinline__ void multiply_stage(float (&d)[32][4], std::uint32_t a, std::uint32_t b,
                                               bool add) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    // 32 bytes further in a row of A, and of a transposed B; or 16 rows of 128 bytes of B.
    const std::uint64_t of_b = is_transposed<T> ? descriptor(b + 32 * k, 16, 1024)
                                                : descriptor(b + 2048 * k, box_bytes, 1024);
    wgmma<T>(d, descriptor(a + 32 * k, 16, 1024), of_b, add || k > 0);
  }
  wgmma_commit();
}

/// C = alpha A B + beta C.
///
/// \tparam DEPTH stages of the ring
///
/// Launch: a block of 256 threads for each 128 x 256 elements of C; ring_bytes, if DEPTH is STAGES.
/// Requires: K >= 1, as the first step of K clears the sums; compute capability 9.0a; maps of A for boxes of (BM, BK), of B
/// for boxes of (BK, 64), both swizzled by 128 bytes.
template <int DEPTH>
__global__ void __launch_bounds__(256, 1)
    tma_wgmma(Product g, const __grid_constant__ CUtensorMap map_a,
              const __grid_constant__ CUtensorMap map_b) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t full[DEPTH];
  char* const ring = memory + (alignment - address_of(memory) % alignment) % alignment;
  const int t = static_cast<int>(threadIdx.x), group = t / 128;
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  const int steps = (g.k + BK - 1) / BK;
  if (t == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();

  const auto load = [&](int step) {
    if (t != 0 || step >= steps) return;
    char* const a = ring + step % DEPTH * stage_bytes;
    std::uint64_t* const barrier = &full[step % DEPTH];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                   std::uint32_t{stage_bytes});
    load_box(a, map_a, row, step * BK, barrier);
#pragma unroll
    for (int j = 0; j < BN / box_columns; ++j) {
      load_box(a + a_bytes + j * box_bytes, map_b, step * BK, col + j * box_columns, barrier);
    }
  };
  for (int step = 0; step < DEPTH - 1; ++step) load(step);

  float d[32][4];
  for (int step = 0; step < steps; ++step) {
    load(step + DEPTH - 1);
    wait_for(&full[step % DEPTH], step / DEPTH % 2);
    const std::uint32_t a = address_of(ring + step % DEPTH * stage_bytes);
    multiply_stage(d, a + group * 64 * 128, a + a_bytes, step > 0);
    wgmma_wait<0>();
    __syncthreads();  // both warpgroups have read the stage
  }
  sums_are_ready(d);
  store_sums(g, d, row + 64 * group, col);
}

// 606 TFLOP/s. The loop has four `wgmma` and hardly anything else, yet each iteration ends with two waits: for the
// products, and at the barrier for the other warpgroup. What each of the two costs is not measured.
//= 606 TFLOP/s: rate("tma_wgmma") / 1000
//
// ## 7. Producer and consumers
//
// The cure is that of chapter 12, {term}`warp specialization`: a thread that only requests boxes, two warpgroups that only
// multiply, and two mbarriers for each stage between them. No warpgroup waits for the other one any more. Each keeps one group
// of `wgmma` in flight, too: it issues those of a stage, then waits for those of the stage before, and only then says that
// *that* stage is empty. That second part made no difference in a trial: the last kernel of this chapter made 798 TFLOP/s
// without a group in flight, 797 with one.
//= 798 TFLOP/s: 2 * 4096 ** 3 / 0.1722e9
//= 797 with one: 2 * 4096 ** 3 / 0.1725e9
//
// ```{drawing} hopper
// ```
//
// The next three rungs add one thing each, so they share the code. `HOW` says what a rung has.

constexpr int specialized_threads = 384;  // a warpgroup that loads, two that multiply
constexpr int GROUP = 16;                 // rows of tiles that are computed side by side, for L2
constexpr unsigned c_bytes = 2 * 2 * box_bytes;  // two boxes of C for each of two warpgroups

/// What distinguishes the rungs that follow.
struct How {
  bool boxes;           // C leaves in boxes
  bool persistent;      // a block computes one tile after the other
  int cluster = 1;      // blocks, one below the other, that share the boxes of B
  bool fewest = false;  // as few blocks as make as many waves
  bool held = false;    // sums leave in boxes beneath the products of the next tile
};

/// Where the tile of a block begins. Blocks of a cluster lie below each other; GROUP rows of tiles are
/// gone through together, column by column.
struct Tile {
  int row, col;

  __device__ Tile(int m, int n, int number, int cluster, int rank) {
    const int down = ((m + BM - 1) / BM + cluster - 1) / cluster, across = (n + BN - 1) / BN;
    const int in_group = GROUP / cluster, together = in_group * across;
    const int first = number / together * in_group, rows = min(in_group, down - first);
    row = ((first + number % together % rows) * cluster + rank) * BM;
    col = number % together / rows * BN;
  }
};

/// What a block does with the others of its cluster: nothing, as it is alone. Section 10 has the other one.
struct Alone {
  static __device__ __forceinline__ int rank() { return 0; }
  /// The barriers of all its blocks are initialized.
  static __device__ __forceinline__ void meet() { __syncthreads(); }
  /// Starts to copy a box of B to all its blocks.
  static __device__ __forceinline__ void load(void* to, const CUtensorMap& map, int row, int col,
                                              std::uint64_t* full) {
    load_box(to, map, row, col, full);
  }
  /// Thread `me` of a consumer says that a stage may be filled anew, in all blocks that fill it.
  static __device__ __forceinline__ void release(std::uint64_t* empty, int me) {
    if (me == 0) ptx::mbarrier_arrive(empty);
  }
  /// Nobody writes to a block that has ended.
  static __device__ __forceinline__ void leave() {}
};

// [hide] Sums that leave in boxes
/// Has a tensor map fetched before it is used.
__device__ __forceinline__ void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// The threads of a warpgroup meet, at a barrier of theirs.
__device__ __forceinline__ void warpgroup_barrier(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
}

/// Two sums, rounded, in one register.
template <class T>
__device__ __forceinline__ std::uint32_t rounded(float x, float y) {
  return pair(rounded_to<T>(x), rounded_to<T>(y));
}

/// Writes four 8 x 8 matrices of BF16, as ldmatrix reads them, to shared memory.
__device__ __forceinline__ void stmatrix4(std::uint32_t row, std::uint32_t a, std::uint32_t b,
                                          std::uint32_t c, std::uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

/// Writes two floats to shared memory.
__device__ __forceinline__ void store_shared(std::uint32_t to, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x), "f"(y) : "memory");
}

/// d = alpha d + beta C, for the elements that exist.
template <class T>
__device__ __forceinline__ void scale(const lab::GemmOf<T>& g, float (&d)[32][4], int row,
                                      int col) {
  const int t = static_cast<int>(threadIdx.x) % 128, lane = t % 32;
  row += t / 32 * 16 + lane / 4;
  col += lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, c = col + 8 * j + e % 2;
      d[j][e] *= g.alpha;
      if (g.beta != 0 && r < g.m && c < g.n) {
        d[j][e] += g.beta * static_cast<float>(g.c[static_cast<std::size_t>(r) * g.ldc + c]);
      }
    }
  }
}
// [/hide]

/// Stores a box of 64 rows of 128 bytes of a warpgroup's sums, which begin at (row, col) of C, through one of two places in
/// shared memory.
///
/// \param places (2, 64, 128) bytes of this warpgroup; swizzled as the map says
/// \param group 1 or 2, the warpgroup
/// \param write writes the box to the place that it is given
template <class T, class Write>
__device__ __forceinline__ void store_box(const lab::GemmOf<T>& g, int box, int row, int col,
                                          std::uint32_t places, const CUtensorMap& map_c, int group,
                                          const Write& write) {
  const bool asks = threadIdx.x % 128 == 0;
  const std::uint32_t to = places + static_cast<unsigned>(box % 2) * box_bytes;
  col += box * static_cast<int>(128 / sizeof(T));
  if (asks) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  warpgroup_barrier(group);  // the box before the last has left this place
  write(to);
  ptx::fence_proxy_async(ptx::space_shared);  // the copy engine sees what this thread wrote
  warpgroup_barrier(group);
  if (asks) {
    if (row < g.m && col < g.n) {
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
              &map_c),
          "r"(col), "r"(row), "r"(to)
          : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

/// Writes a box of rounded sums; two(j, h): those in columns 8 j of the tile and the next, h for the rows eight below.
template <class Two>
__device__ __forceinline__ void write_box(std::uint32_t to, int box, const Two& two) {
  const int t = static_cast<int>(threadIdx.x) % 128, lane = t % 32, r = t / 32 * 16 + lane % 16;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const int j = 8 * box + 2 * p, chunk = 2 * p + lane / 16;
    stmatrix4(to + 128 * r + 16 * (chunk ^ (r % 8)), two(j, 0), two(j, 1), two(j + 1, 0),
              two(j + 1, 1));
  }
}

/// Writes a box of floats.
__device__ __forceinline__ void write_box(std::uint32_t to, int box, const float (&d)[32][4]) {
  const int t = static_cast<int>(threadIdx.x) % 128, lane = t % 32, r = t / 32 * 16 + lane / 4;
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const int j = 4 * box + p, chunk = 2 * p + lane % 4 / 2;
    const std::uint32_t at = to + 128 * r + 16 * (chunk ^ (r % 8)) + lane % 2 * 8;
    store_shared(at, d[j][0], d[j][1]);
    store_shared(at + 8 * 128, d[j][2], d[j][3]);
  }
}

/// Stores all sums of a warpgroup in boxes.
template <class T>
__device__ __forceinline__ void store_boxes(const lab::GemmOf<T>& g, float (&d)[32][4], int row,
                                            int col, std::uint32_t places, const CUtensorMap& map_c,
                                            int group) {
  scale(g, d, row, col);
#pragma unroll
  for (int box = 0; box < BN * static_cast<int>(sizeof(T)) / 128; ++box) {
    store_box(g, box, row, col, places, map_c, group, [&](std::uint32_t to) {
      if constexpr (sizeof(T) == 4)
        write_box(to, box, d);
      else
        write_box(to, box, [&](int j, int h) { return rounded<T>(d[j][2 * h], d[j][2 * h + 1]); });
    });
  }
}

/// What a block of producer_warp and its successors does.
/// Blocks: what it does with the others of its cluster.
template <How HOW, class Blocks = Alone, class T>
__device__ __forceinline__ void specialized(const lab::GemmOf<T>& g, const CUtensorMap& map_a,
                                            const CUtensorMap& map_b, const CUtensorMap& map_c) {
  constexpr int CLUSTER = HOW.cluster;
  extern __shared__ char memory[];
  __shared__ std::uint64_t full[STAGES], empty[STAGES];
  char* const ring = memory + (alignment - address_of(memory) % alignment) % alignment;
  const int t = static_cast<int>(threadIdx.x), group = t / 128;
  const int rank = Blocks::rank();
  if (t == 0) {
    for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    for (std::uint64_t& barrier : empty) ptx::mbarrier_init(&barrier, 2 * CLUSTER);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (t == 32) {
    prefetch(map_a);
    prefetch(map_b);
    if (HOW.boxes) prefetch(map_c);
  }
  Blocks::meet();  // the barriers are initialized

  const int down = ((g.m + BM - 1) / BM + CLUSTER - 1) / CLUSTER, across = (g.n + BN - 1) / BN;
  constexpr int K_TILE = 128 / sizeof(T);
  const int tiles = down * across, steps = (g.k + K_TILE - 1) / K_TILE;
  const int first = static_cast<int>(blockIdx.x) / CLUSTER;
  const int stride = HOW.persistent ? static_cast<int>(gridDim.x) / CLUSTER : tiles;
  int stage = 0;
  if (group == 0) {  // loads
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (t == 0) {
      std::uint32_t parity = 1;  // of the phase before the first: all stages are empty
      for (int number = first; number < tiles; number += stride) {
        const Tile tile(g.m, g.n, number, CLUSTER, rank);
        for (int step = 0; step < steps; ++step) {
          char* const a = ring + stage * stage_bytes;
          const int k = step * K_TILE;
          wait_for(&empty[stage], parity);
          ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &full[stage], std::uint32_t{stage_bytes});
          load_box(a, map_a, tile.row, k, &full[stage]);
          if constexpr (is_transposed<T>) {
            constexpr int rows = BN / CLUSTER;  // its share of B
            Blocks::load(a + a_bytes + rank * rows * 128, map_b, tile.col + rank * rows, k,
                         &full[stage]);
          } else {
#pragma unroll
            for (int j = 0; j < BN / box_columns / CLUSTER; ++j) {
              const int box =
                  rank * (BN / box_columns / CLUSTER) + j;  // its share of the boxes of B
              Blocks::load(a + a_bytes + box * box_bytes, map_b, k, tile.col + box * box_columns,
                           &full[stage]);
            }
          }
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
    }
  } else {  // multiplies
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int me = t % 128, own_row = 64 * (group - 1);
    const std::uint32_t places =
        address_of(ring + STAGES * stage_bytes + (group - 1) * 2 * box_bytes);
    std::uint32_t parity = 0;
    std::uint32_t held[32][2] = {};  // sums of the tile before, rounded, if HOW.held
    int held_row = 0, held_col = 0;
    const auto store_held = [&](int box) {
      store_box(g, box, held_row, held_col, places, map_c, group, [&](std::uint32_t to) {
        write_box(to, box, [&](int j, int h) { return held[j][h]; });
      });
    };
    for (int number = first; number < tiles; number += stride) {
      const Tile tile(g.m, g.n, number, CLUSTER, rank);
      float d[32][4];
      int before = 0;
      for (int step = 0; step < steps; ++step) {
        wait_for(&full[stage], parity);
        const std::uint32_t a = address_of(ring + stage * stage_bytes);
        multiply_stage<T>(d, a + (group - 1) * 64 * 128, a + a_bytes, step > 0);
        if constexpr (HOW.held) {
#pragma unroll
          for (int box = 0; box < 4; ++box)
            if (step == box && number != first) store_held(box);
        }
        wgmma_wait<1>();  // the stage before this one has been read
        if (step > 0) Blocks::release(&empty[before], me);
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      wgmma_wait<0>();
      sums_are_ready(d);
      Blocks::release(&empty[before], me);
      const int row = tile.row + own_row;
      if constexpr (HOW.held) {
#pragma unroll
        for (int box = 0; box < 4; ++box)
          if (box >= steps && number != first) store_held(box);
        scale(g, d, row, tile.col);
#pragma unroll
        for (int j = 0; j < 32; ++j) {
          held[j][0] = rounded<T>(d[j][0], d[j][1]);
          held[j][1] = rounded<T>(d[j][2], d[j][3]);
        }
        held_row = row, held_col = tile.col;
      } else if constexpr (HOW.boxes) {
        store_boxes(g, d, row, tile.col, places, map_c, group);
      } else {
        store_sums(g, d, row, tile.col);
      }
    }
    if constexpr (HOW.held) {
#pragma unroll
      for (int box = 0; box < 4; ++box) store_held(box);
    }
    if (HOW.boxes && me == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  Blocks::leave();
}
