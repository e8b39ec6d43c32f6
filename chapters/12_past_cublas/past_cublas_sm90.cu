// The rungs of chapter 12 that need compute capability 9.0. They register themselves, and are SKIP in a build without
// this file.

#include <cuda.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/lab.h"

// ## 2. A copy engine for boxes
//
// The copies of chapter 11 cost instructions: an address, a `cp.async`, its guard, for every 16 bytes and thread.
// Hopper's {term}`tensor memory accelerator` (TMA) does that in hardware. *One* thread requests a box of a matrix. The
// unit computes the addresses, writes zeros where the box extends beyond the matrix, and tells an mbarrier how many
// bytes have arrived. A *tensor map*, a descriptor of 128 bytes that the host prepares, holds the matrix's address, its
// extents and its row pitch; rows have to start at multiples of 16 bytes.
//
// An mbarrier can count bytes as well as arrivals. `mbarrier_expect_tx` announces how many bytes belong to the phase,
// and the phase completes when all threads have arrived *and* all bytes have. From here on we use the instructions
// themselves, by their names in `cuda::ptx`, since `cuda::barrier` hides the addresses that the last kernels keep in
// registers.

namespace ptx = cuda::ptx;

/// Copies the box of 16 x 64 floats at (row, col) of a matrix to `out`, through shared memory. Elements outside of the
/// matrix are zeros.
///
/// Launch: one block of 128 threads.
/// Requires: compute capability 9.0; map describes boxes of (16, 64); col a multiple of 4, as a box begins at a multiple
/// of 16 bytes.
__global__ void tma_box(float* out, const __grid_constant__ CUtensorMap map, int row, int col) {
  __shared__ __align__(128) float box[16][64];  // (16, 64)
  __shared__ std::uint64_t arrived;             // an mbarrier
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);            // one arrival, by this thread
    ptx::fence_proxy_async(ptx::space_shared);  // the copy engine sees it initialized
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   sizeof(box));
    const std::int32_t corner[] = {col, row};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &box, &map, corner, &arrived);
  }
  __syncthreads();  // the barrier is initialized
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  for (unsigned i = threadIdx.x; i < 16 * 64; i += blockDim.x) out[i] = box[i / 64][i % 64];
}

// In the machine code, too, one instruction copies the box. `SYNCS` are the operations of an mbarrier: initialize it, arrive
// and announce the bytes, test its phase.
//
// ```{sass} tma_box only=SYNCS,UTMALDG,BAR
// 0130       SYNCS.EXCH.64      URZ, [UR9], UR4
// 01a0       SYNCS.ARRIVE.TRANS64 RZ, [UR9], R0
// 01e0       UTMALDG.2D         [UR8], [UR14]
// 0230       BAR.SYNC.DEFER_BLOCKING 0x0
// 0280       SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R0
// 03a0       SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R0
// ```
//
//? requests: In the product a box of B will have 16 rows of 256 floats. How many 16-byte `cp.async` of single threads
//?   does the one request replace?
//? choices: 64 | 256 | 1024 | 4096
//? answer: 16 * 256 * 4 / 16
//
// 1,024, with as many addresses. The price is flexibility: a box is copied as it is, with the dimension that is
// contiguous in memory contiguous in shared memory. The TMA cannot transpose, as A needs it.
//= 1,024: 16 * 256 * 4 / 16
//
//? outside: Eight columns of the box lie beyond the last column of the matrix. What is in shared memory there?
//? choices: zeros | the beginning of the next row | what was there before
//? answer: "zeros"
//
// Zeros, and they count as arrived bytes, too: the barrier expects the size of the box wherever it lies. So B needs no
// bounds checks.

// ## 3. Registers that change hands
//
// All threads of a kernel start with the same number of registers. A loading thread needs a few dozen, a computing
// thread with a 16 x 8 tile more than 180. `setmaxnreg` redistributes them while the kernel runs. A {term}`warpgroup`,
// four consecutive warps, executes it together: one gives registers back, another waits until it has more.

constexpr int floats_of_thread = 200;  // more than the 168 registers a thread begins with

/// Each thread of two warpgroups reads 200 floats and writes them in reverse order. in and out are (200, 256).
///
/// Launch: one block of 384 threads: 128 that give registers back, 256 that take them.
/// Requires: compute capability 9.0 (setmaxnreg).
__global__ void __launch_bounds__(384, 1) register_budget(float* out, const float* in) {
  if (threadIdx.x >= 256) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");  // 128 threads keep 40
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");  // 256 threads get 232
    float kept[floats_of_thread];
#pragma unroll
    for (int i = 0; i < floats_of_thread; ++i) kept[i] = in[i * 256 + threadIdx.x];
    asm volatile("" ::: "memory");  // all are read before the first is written
#pragma unroll
    for (int i = 0; i < floats_of_thread; ++i)
      out[(floats_of_thread - 1 - i) * 256 + threadIdx.x] = kept[i];
  }
}

//? budget: The block begins with 384 threads of 168 registers. 128 threads keep 40. How many can each of the other 256
//?   have?
//? choices: 200 | 216 | 232 | 240
//? answer: (384 * 168 - 128 * 40) / 256
//
// 232: 128 * 40 + 256 * 232 is 64,512 again, what the block began with. If they asked for 240 they would wait for
// registers that never come. nvcc uses what `setmaxnreg` grants: the 200 floats stay in registers, nothing is spilled.
//= 232: (384 * 168 - 128 * 40) / 256
//= 64,512: 384 * 168
//
// ```{sass} register_budget from=WARPSYNC lines=4
// 0050       WARPSYNC.ALL
// 0060       USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8
// 0070       PLOP3.LUT          P0, PT, PT, PT, UP0, 0x80, 0x0
// 0080  @!P0 BRA                0x50
// ```
//
// The wait is a loop: the warps ask for 232 registers (`0xe8`), again and again, until the block's pool has them.

// ## 4. The product with specialized warps
//
// Now put it together. Of 12 warps in a block, 8 compute and 4 load, one loading warp per scheduler. A ring of eight
// stages connects them, each a K-tile of A and one of B, with two mbarriers:
//
// - `full` expects 128 arrivals, one of each loading thread. The thread does not arrive itself; it has the hardware do
//   so when all its copies have landed (`cp_async_mbarrier_arrive_noinc`). One thread also announces the bytes of B.
// - `empty` expects 256 arrivals, one of each computing thread.
//
// The tile is that of `wide_tile`: 128 x 256 for the block, 16 x 8 for the thread.

namespace {

constexpr int BK = 16;  // of a K-tile
constexpr int computing_warps = 8, loading_warps = 4;
constexpr int computing_threads = 32 * computing_warps;
constexpr int block_threads = 32 * (computing_warps + loading_warps);
constexpr int STAGES = 8;  // of the ring
constexpr int GROUP = 8;   // rows of tiles that are computed side by side, for L2
constexpr int loading_registers = 40, computing_registers = 232;  // of a thread

/// What `producer_warps` brings together, and `without` leaves out one at a time.
enum class Idea { tma, registers, tile_order, fma_order, wide_copies };

/// The tiles of a block whose threads compute `rows` x 8 elements: 128 x 256 where rows is 16, 128 x 128 where it is
/// 8, which only section 6 needs.
template <int rows>
struct TileOf {
  static constexpr int TM = rows, TN = 8;               // of a thread
  static constexpr int WM = 4 * TM, WN = 8 * TN;        // of a warp
  static constexpr int BM = 128, warps_down = BM / WM;  // of a block
  static constexpr int BN = computing_warps / warps_down * WN;
  static constexpr int lda_shared = BM + 8;  // A lies transposed, (BK, BM), padded
  static __device__ constexpr bool has(Idea) { return true; }
};

/// The tile of 128 x 256. four_rows() is the order in which a thread computes its groups of four rows; the cycles are what
/// an H200 takes for a K-tile, and to add the sums of a piece.
struct Large : TileOf<16> {
  static constexpr int cycles_of_k_tile = 4950, cycles_of_piece = 5300;
  static __device__ constexpr int four_rows(int i) {
    constexpr int order[] = {0, 4, 12, 8};
    return order[i];
  }
};

/// The tile of 128 x 256 in a kernel that lacks an idea; where that is `wide_copies`, it lacks the TMA, too.
template <Idea LEFT_OUT>
struct Without : Large {
  static __device__ constexpr bool has(Idea idea) {
    return idea != LEFT_OUT && !(idea == Idea::tma && LEFT_OUT == Idea::wide_copies);
  }
};

/// The tile of 128 x 128.
struct Small : TileOf<8> {
  // Fitted to trials: a piece of this tile is without the wait until it is written, one of the large tile with it.
  static constexpr int cycles_of_k_tile = 2600, cycles_of_piece = 2600;
  static __device__ constexpr int four_rows(int i) { return 4 * i; }
};

// This is what lies in a block's shared memory:

/// The stages of the ring, aligned for the TMA, and two mbarriers for each.
template <class Tile>
struct SharedStorage {
  struct Stage {
    float a[BK][Tile::lda_shared];  // (BK, BM), transposed and padded
    float b[BK][Tile::BN];          // (BK, BN)
  };
  alignas(128) Stage stages[STAGES];
  std::uint64_t full[STAGES], empty[STAGES];
};
static_assert(sizeof(SharedStorage<Large>) == 200'832 && sizeof(SharedStorage<Small>) == 135'296);

// [hide] Addresses in shared memory, barriers and copies, and positions in the ring
/// What lies at an address of shared memory.
template <class T>
__device__ __forceinline__ T* in_shared(std::uint32_t address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}

/// Hides from the compiler where a value comes from, so that it keeps it in a register instead of computing it again
/// for each K-tile.
__device__ __forceinline__ void keep_in_register(std::uint32_t& value) {
  asm volatile("" : "+r"(value));
}

/// Reads four floats from shared memory. ptxas leaves volatile reads where they stand; others it may move down, together,
/// until right before they are needed.
__device__ __forceinline__ void read_volatile(float* to, std::uint32_t from) {
  asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint64_t* barrier, std::uint32_t phase) {
  while (!ptx::mbarrier_try_wait_parity(barrier, phase)) {
  }
}

/// A flag in global memory that blocks raise for each other.
using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

/// Starts to copy `size` bytes to shared memory, of which the first `bytes` exist; zeros for the others.
template <int size>
__device__ __forceinline__ void copy(std::uint32_t to, const float* from, int bytes = size) {
  __pipeline_memcpy_async(in_shared<float>(to), from, size, size - bytes);
}

/// Where the ring lies, in addresses of 32 bits: pointers would occupy two registers each.
template <class Tile>
struct Ring {
  std::uint32_t stages;                   // the first one
  std::uint32_t full;                     // full[0]
  std::uint32_t end = full + 8 * STAGES;  // where the barriers full end
};

/// A position in the ring, as CuTe's PipelineState {index, phase}; instead of the index it holds an address, so that the
/// loops need not compute it.
struct PipelineState {
  std::uint32_t phase;    // its parity
  std::uint32_t barrier;  // the address of full[index]

  __device__ std::uint64_t* full() const { return in_shared<std::uint64_t>(barrier); }
  __device__ std::uint64_t* empty() const { return in_shared<std::uint64_t>(barrier + 8 * STAGES); }
  /// Goes on to the next stage, or from the last one to the first, in the next phase. `stage`, an address in the stage,
  /// goes along.
  template <class Tile>
  __device__ void advance(const Ring<Tile>& ring, std::uint32_t& stage) {
    stage += sizeof(typename SharedStorage<Tile>::Stage);
    barrier += 8;
    if (barrier == ring.end) {
      stage = ring.stages;
      barrier = ring.full;
      phase ^= 1;
    }
  }
};
// [/hide]

// ### Persistent blocks
//
// If each tile had a block of its own, each would pay for filling and draining the pipeline, and while it writes its sums
// the loading warps would have nothing to do. So launch one block per SM and let it compute one tile after the other: a
// {term}`persistent block`. While the computing warps store a tile in the epilogue, the loading warps have begun the
// next. Both sides compute for themselves which tile comes next; what all blocks have in common, the `Plan`, comes
// from the host. (`share` matters only from section 5 on.)

/// Which block computes what. The host makes it, which spares the blocks most divisions.
///
/// The tiles that fill whole waves are computed whole. Of the tiles that are left, if they are to be shared, each
/// block gets the same number of consecutive K-tiles: the end of one tile, the beginning of the next, both, or a part
/// from the middle. If not, the first blocks get one tile each.
/// Source of the idea: Osama et al., Stream-K, 2023 (its one-tile data-parallel hybrid).
struct Plan {
  int tiles_m, tiles_n, k_tiles;  // of the product
  int whole;                      // tiles that are not cut
  int workers;                    // blocks that have a share of the others
  int longer;                     // the first workers, which have one K-tile more than
  long long each;                 // this many

  Plan(const lab::Gemm& g, int BM, int BN, int blocks, bool share)
      : tiles_m((g.m - 1) / BM + 1), tiles_n((g.n - 1) / BN + 1), k_tiles((g.k - 1) / BK + 1) {
    const int tiles = tiles_m * tiles_n, cut = share ? tiles % blocks : 0;
    const long long left = static_cast<long long>(cut) * k_tiles;
    whole = tiles - cut;
    // Adding a piece takes about as long as computing a K-tile: as many pieces as make both equal.
    const int pieces = static_cast<int>(std::sqrt(static_cast<double>(k_tiles)));
    workers = static_cast<int>(std::clamp(1LL * cut * pieces, 1LL, 1LL * blocks));
    // As many pieces as a multiple of the tiles, if that leaves few blocks without any: they end where tiles end if that
    // multiple divides the K-tiles.
    const int even = cut > 0 ? workers - workers % cut : 0;
    if (even >= 2 * cut && 16 * even > 15 * workers) workers = even;
    longer = static_cast<int>(left % workers);
    each = left / workers;
  }
  /// The first K-tile of a worker, counted from tile `whole` on; for the worker after the last, their number.
  __device__ long long begin(int worker) const {
    return min(worker, workers) * each + min(worker, longer);
  }
};

/// A piece of the work: `count` K-tiles of a tile, from `first` on.
struct Piece {
  int tile, first, count;
};

/// Walks over a block's share of the product, piece by piece, the last piece first: what is not the end of a tile is
/// computed, and passed on, before anything that waits.
template <bool SHARE, class Tile>
struct Schedule {
  const Plan& plan;
  int whole_tile;        // the next whole tile of this block
  long long begin, end;  // what is left of its share of the others, K-tiles from Plan::whole on

  __device__ Schedule(const Plan& of_all, int worker)
      : plan(of_all),
        whole_tile(worker),
        begin(SHARE ? plan.begin(worker) : 0),
        end(SHARE ? plan.begin(worker + 1) : 0) {}
  /// Whether there is another piece, and which.
  __device__ bool next(Piece& piece) {
    if (whole_tile < plan.whole) {
      piece = {whole_tile, 0, plan.k_tiles};
      whole_tile += static_cast<int>(gridDim.x);
      return true;
    }
    if (!SHARE || end <= begin) return false;
    const long long last = end - 1;
    const int until = static_cast<int>(last % plan.k_tiles) + 1;  // K-tiles of its tile before end
    piece.tile = plan.whole + static_cast<int>(last / plan.k_tiles);
    piece.count = static_cast<int>(min(static_cast<long long>(until), end - begin));
    piece.first = until - piece.count;
    end -= piece.count;
    return true;
  }
  /// The first row and column of a tile; tiles next to each other share rows of A or columns of B.
  __device__ int2 corner(int tile) const {
    constexpr int group_rows = Tile::has(Idea::tile_order) ? GROUP : 1;
    const int group_tiles = group_rows * plan.tiles_n, group = tile / group_tiles;
    const int rows = min(group_rows, plan.tiles_m - group * group_rows);
    return {(group * group_rows + tile % group_tiles % rows) * Tile::BM,
            tile % group_tiles / rows * Tile::BN};
  }
};

// ### The loading warps
//
// B's K-tile is one TMA request. A has to be transposed, so it is copied float by float as in chapter 11, in an order
// that takes few instructions. A lane copies from four rows the elements k, k + 4, k + 8 and k + 12. Their addresses
// differ by constants, for which the instruction has an immediate field, so four copies need one address in registers.
// A's rows in shared memory are 136 floats long: (k, row) lies in bank (8 k + row) mod 32, a different one for each lane.
//
// A computing warp reads ahead into the next stage before it knows whether there is one. So the loading warps append an
// empty stage, which spares a test in every iteration. (What that gains was not measured by itself.)

/// What a loading warp does: fills the ring of stages while there are K-tiles, and adds one empty stage.
///
/// Of A's K-tile (BM, BK) a lane copies the elements k = lane % 4 + 4 e of the rows 32 warp + lane / 4 + 8 i, with e
/// and i from 0 to 3. B's K-tile is requested by one lane of the first warp. Where rows of B are not aligned to 16 bytes,
/// each warp copies every fourth row of it float by float, with addresses that differ by constants, too.
///
/// ALIGNED: rows of B and of C start at multiples of 16 bytes; without it the kernel looks at each of the two itself.
/// map_b: B, in boxes of (BK, BN), if its rows are aligned. work: the block's share. base and full: addresses of the
/// SharedStorage and of its full[0]. warp: which of the loading warps this is.
template <class Tile, bool ALIGNED, class Work>
__device__ __forceinline__ void load(const lab::Gemm& g, const CUtensorMap& map_b, Work work,
                                     std::uint32_t base, std::uint32_t full, int warp) {
  using Stage = typename SharedStorage<Tile>::Stage;
  constexpr int BN = Tile::BN, lda_shared = Tile::lda_shared;
  constexpr std::uint32_t b_begin = offsetof(Stage, b), b_bytes = sizeof(Stage::b);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int k_of_lane = lane % 4, row_of_lane = 32 * warp + lane / 4;
  std::uint32_t a_offset = 4 * (k_of_lane * lda_shared + row_of_lane);
  keep_in_register(a_offset);
  constexpr bool WIDE = ALIGNED && !Tile::has(Idea::tma) && Tile::has(Idea::wide_copies);
  constexpr int WIDTH = WIDE ? 4 : 1;  // floats of a copy, where the threads copy B
  std::uint32_t b_offset = b_begin + 4 * (warp * BN + WIDTH * lane);
  if (!ALIGNED || !Tile::has(Idea::tma)) keep_in_register(b_offset);
  const bool aligned_b = Tile::has(Idea::tma) && (ALIGNED || lab::aligned16(g.b, g.ldb));
  const Ring<Tile> ring{base, full};
  PipelineState state{1, full};  // the phase before the first: all stages are empty
  std::uint32_t stage = ring.stages;
  Piece piece;
  while (work.next(piece)) {
    const auto [row, col] = work.corner(piece.tile);
    int k = piece.first * BK;
    const float* a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // Clamp to the last row: what is computed from it beyond the last row of C is not stored.
      const int r = min(row + row_of_lane + 8 * i, g.m - 1);
      a[i] = g.a + static_cast<std::size_t>(r) * g.lda + k + k_of_lane;
    }
    const float* b = g.b + static_cast<std::size_t>(k + warp) * g.ldb + col + WIDTH * lane;
    const int columns = g.n - col - WIDTH * lane;  // of B from this lane's first one on

    const auto fill = [&](auto whole) {  // whether the K-tile ends inside the matrix
      wait_for(state.empty(), state.phase);
      if (aligned_b) {
        if (warp == 0 && lane == 0) {
          ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, state.full(),
                                  b_bytes);
          const std::int32_t corner[2] = {col, k};
          ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                    in_shared<void>(stage + b_begin), &map_b, corner, state.full());
        }
      } else if (decltype(whole)::value && (!WIDE || col + BN <= g.n)) {
        const float* from = b;
#pragma unroll
        for (int r = 0; r < BK; r += loading_warps) {
#pragma unroll
          for (int c = 0; c < BN; c += 32 * WIDTH) {
            // What is left in place of a column that does not exist ends in a column of C that does not exist.
            if (WIDE || c < columns) copy<4 * WIDTH>(stage + b_offset + 4 * (r * BN + c), from + c);
          }
          from += static_cast<std::size_t>(loading_warps) * g.ldb;
        }
        b = from;
      } else {
#pragma unroll 1
        for (int x = 0; x < BK * BN / 128; ++x) {
          const int k_in_tile = x / (BN / 32) * 4 + warp, c = x % (BN / 32) * 32 + lane;
          const bool exists = k + k_in_tile < g.k && col + c < g.n;
          const float* from = g.b + static_cast<std::size_t>(k + k_in_tile) * g.ldb + col + c;
          copy<4>(stage + b_begin + 4 * (k_in_tile * BN + c), exists ? from : g.b, exists ? 4 : 0);
        }
      }
      if constexpr (decltype(whole)::value) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int e = 0; e < BK; e += 4)
            copy<4>(stage + a_offset + 4 * (8 * i + e * lda_shared), a[i] + e);
        }
      } else {
#pragma unroll 1
        for (int x = 0; x < 16; ++x) {
          const int e = x % 4 * 4, i = x / 4, r = min(row + row_of_lane + 8 * i, g.m - 1);
          const bool exists = k + k_of_lane + e < g.k;
          const float* from = g.a + static_cast<std::size_t>(r) * g.lda + k + k_of_lane + e;
          copy<4>(stage + a_offset + 4 * (8 * i + e * lda_shared), exists ? from : g.a,
                  exists ? 4 : 0);
        }
      }
      ptx::cp_async_mbarrier_arrive_noinc(state.full());
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] += BK;
      k += BK;
      state.advance(ring, stage);
    };

    const int stop = k + piece.count * BK, whole_until = min(stop, g.k / BK * BK);
#pragma unroll 1
    while (k < whole_until) fill(std::true_type{});
    if (k < stop) fill(std::false_type{});
  }
  wait_for(state.empty(), state.phase);
  ptx::cp_async_mbarrier_arrive_noinc(state.full());
}

// ### The computing warps
//
// The loop is that of `serpentine` without the copies: no addresses but those of the next stage, and instead of
// `__syncthreads` a wait at `full` and an arrival at `empty`. A K-tile takes 2165 instructions, of which 2048 are FMAs
// (95 %) and 96 read fragments. The four loading warps add 70 each, 1.6 % of what the computing warps issue.
//= 2165 instructions, of which 2048: (sass("producer_warps<true>", "instructions", "FFMA"), sass("producer_warps<true>",
//=   "FFMA", "FFMA"))
//= 95 %: 100 * sass("producer_warps<true>", "FFMA", "FFMA") / sass("producer_warps<true>", "instructions", "FFMA")
//= 96 read: sass("producer_warps<true>", "LDS.128", "FFMA")
//= 70 each, 1.6 %: (sass("producer_warps<true>", "instructions", "LDGSTS"), 100 * 4 * sass("producer_warps<true>",
//=   "instructions", "LDGSTS") / 8 / sass("producer_warps<true>", "instructions", "FFMA"))
//
// From here on it matters what the compiler makes of the loop, and four places of the source look odd because of it:
//
// - *The reads of fragments are volatile.* They stand a step ahead of their use. Without it ptxas may move them down again, in a
//   row right before the first FMA that needs them. Section 7 measures it.
// - *The order of the FMAs*: down one column and up the next, with the third and fourth group of four rows exchanged.
// - `keep_in_register` hides from the compiler how a value was computed. Otherwise nvcc saves a register and computes the
//   address of shared memory again for each K-tile.
// - *alpha is multiplied in before the float4 is formed.* A float4 store needs four registers in a row, starting at a
//   multiple of four. If the sums themselves were stored, that would also fix which registers hold them in the loop. In
//   a trial the loop was faster with the multiplication in between (the notes have it).

/// What the computing warps do: each computes WM x WN elements of C for each piece of the work.
///
/// ALIGNED: as for load(). partials: (workers, BM x BN) floats for the sums of pieces, and
/// ready: a flag for each worker, 0; both unused if no tile is cut. worker: the block's number. The others as for load().
template <class Tile, bool ALIGNED, class Work>
__device__ void compute(const lab::Gemm& g, Work work, std::uint32_t base, std::uint32_t full,
                        float* partials, int* ready, int worker) {
  constexpr int TM = Tile::TM, TN = Tile::TN, BM = Tile::BM, BN = Tile::BN;
  using Stage = typename SharedStorage<Tile>::Stage;
  constexpr std::uint32_t stage_bytes = sizeof(Stage);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // Lanes in pairs: 4 rows x 8 columns, bit 0 a column, bit 1 a row.
  const int lane_row = ((lane >> 1) & 1) | ((lane >> 3) & 2),
            lane_col = (lane & 1) | ((lane >> 1) & 6);
  const int row_in_tile = warp % Tile::warps_down * Tile::WM + lane_row * 4;
  const int col_in_tile = warp / Tile::warps_down * Tile::WN + lane_col * 4;
  const std::uint32_t a_start = base + 4 * row_in_tile;
  std::uint32_t a_to_b = offsetof(Stage, b) + 4 * (col_in_tile - row_in_tile);
  keep_in_register(a_to_b);
  const std::uint32_t last = full + 8 * (STAGES - 1);

  float a[2][TM], b[2][TN], acc[TM][TN];
  const auto read_fragments = [&](std::uint32_t from_a, std::uint32_t from_b, int which) {
#pragma unroll
    for (int i = 0; i < TM / 4; ++i) {
      read_volatile(&a[which][4 * i], from_a + 64 * i);
    }
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      read_volatile(&b[which][4 * j], from_b + 128 * j);
    }
  };

  PipelineState state{0, full};
  std::uint32_t at_a = a_start, at_b = at_a + a_to_b;
  wait_for(state.full(), state.phase);
  read_fragments(at_a, at_b, 0);
  Piece piece;
  while (work.next(piece)) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] = 0;
    }
#pragma unroll 1
    for (int k_tiles = piece.count; k_tiles > 0; --k_tiles) {
      // advance(), written out: nvcc makes other machine code of the call.
      const bool wrap = state.barrier == last;
      const PipelineState next{wrap ? state.phase ^ 1 : state.phase,
                               wrap ? full : state.barrier + 8};
      const std::uint32_t next_a = wrap ? a_start : at_a + stage_bytes, next_b = next_a + a_to_b;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        // The fragments of step k + 1 are read while step k computes; the last step reads ahead into the next stage.
        if (k == BK - 1) wait_for(next.full(), next.phase);
        read_fragments(k + 1 < BK ? at_a + (k + 1) * sizeof(Stage::a[0]) : next_a,
                       k + 1 < BK ? at_b + (k + 1) * sizeof(Stage::b[0]) : next_b, (k + 1) % 2);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {  // down one column of C, up the next
          const int down = x / TM % 2 == 0 ? x % TM : TM - 1 - x % TM;
          const bool turns = Tile::has(Idea::fma_order);  // else row by row
          const int i = turns ? Tile::four_rows(down / 4) + down % 4 : x / TN;
          const int j = turns ? x / TM : x % TN;
          acc[i][j] += a[k % 2][i] * b[k % 2][j];
        }
      }
      ptx::mbarrier_arrive(state.empty());
      state = next;
      at_a = next_a;
      at_b = next_b;
    }

    if (piece.first + piece.count < work.plan.k_tiles) {
      // Not the end of a tile: the sums go to the block that has it.
      float* sums = partials + static_cast<std::size_t>(worker) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) __stcg(sums + x * computing_threads, acc[x / TN][x % TN]);
      __barrier_sync_count(1, computing_threads);
      if (thread == 0)
        Flag(ready[worker]).store(1, cuda::memory_order_release);  // of all threads' sums
      continue;
    }
    // The end, but not all: the workers before this one have the rest, and computed it first.
    for (int missing = piece.first, other = worker - 1; missing > 0; --other) {
      if (thread == 0) {
        Flag flag(ready[other]);
        while (flag.load(cuda::memory_order_acquire) == 0) __nanosleep(64);
        flag.store(0, cuda::memory_order_relaxed);  // for the next launch
      }
      __barrier_sync_count(1, computing_threads);
      const float* sums = partials + static_cast<std::size_t>(other) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) acc[x / TN][x % TN] += __ldcg(sums + x * computing_threads);
      missing -= static_cast<int>(work.plan.begin(other + 1) - work.plan.begin(other));
    }

    const auto [tile_row, tile_col] = work.corner(piece.tile);
    const int row = tile_row + row_in_tile, col = tile_col + col_in_tile;
    const bool aligned_c = ALIGNED || lab::aligned16(g.c, g.ldc);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int r = row + i / 4 * 16 + i % 4;
      float* out = g.c + static_cast<std::size_t>(r) * g.ldc + col;
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        // A float4 store needs four registers in a row. These products are what is stored, so the sums may be anywhere.
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = g.alpha * acc[i][j + e];
        const int j_col = 8 * j, columns = r < g.m ? g.n - col - j_col : 0;  // inside of C
        if (aligned_c && columns >= 4) {
          float4* to = reinterpret_cast<float4*>(out + j_col);
          if (g.beta != 0) {
            const float4 old = *to;
            v[0] += g.beta * old.x;
            v[1] += g.beta * old.y;
            v[2] += g.beta * old.z;
            v[3] += g.beta * old.w;
          }
          *to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (e < columns) out[j_col + e] = v[e] + (g.beta != 0 ? g.beta * out[j_col + e] : 0);
          }
        }
      }
    }
  }
}

/// Sets up the ring of stages and splits the warps.
///
/// SHARE: whether tiles may be cut. Then ready has one more integer behind the flags, 0: the ticket. A block takes its
/// number from it when it starts, so that it never waits for one that has not started. The last one sets it to 0 again.
template <class Tile, bool ALIGNED, bool SHARE>
__device__ __forceinline__ void run(const lab::Gemm& g, const CUtensorMap& map_b, const Plan& plan,
                                    float* partials, int* ready) {
  extern __shared__ __align__(128) float4 memory[];
  std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  keep_in_register(base);
  using Storage = SharedStorage<Tile>;
  const std::uint32_t full = base + offsetof(Storage, full),
                      empty = base + offsetof(Storage, empty);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      ptx::mbarrier_init(in_shared<std::uint64_t>(full + 8 * s), 32 * loading_warps);
      ptx::mbarrier_init(in_shared<std::uint64_t>(empty + 8 * s), computing_threads);
    }
    // The copy engine sees them initialized.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  int worker = static_cast<int>(blockIdx.x);
  if constexpr (SHARE) {
    __shared__ unsigned number;
    if (threadIdx.x == 0)
      number = atomicInc(reinterpret_cast<unsigned*>(ready + gridDim.x), gridDim.x - 1);
    __syncthreads();
    worker = static_cast<int>(number);
  } else {
    __syncthreads();
  }
  const Schedule<SHARE, Tile> work(plan, worker);
  if (threadIdx.x >= computing_threads) {
    if constexpr (Tile::has(Idea::registers))
      asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    // From the first lane, so that the compiler knows the number to be the same for all lanes.
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0) - computing_warps;
    load<Tile, ALIGNED>(g, map_b, work, base, full, warp);
  } else {
    if constexpr (Tile::has(Idea::registers))
      asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(computing_registers));
    compute<Tile, ALIGNED>(g, work, base, full, partials, ready, worker);
  }
}

}  // namespace

//? producers: Of the instructions of the computing warps 95 % are FMAs now instead of 93 %, and each scheduler has a third
//?   warp, which loads. How much faster than `grouped_tiles` of chapter 11 is it at 4096?
//? choices: under 3 % | 3-12 % | over 20 %
//? answer: {"under 3 %": ms("11:grouped_tiles") / ms("producer_warps") < 1.03,
//?   "3-12 %": 1.03 < ms("11:grouped_tiles") / ms("producer_warps") < 1.12,
//?   "over 20 %": ms("11:grouped_tiles") / ms("producer_warps") > 1.2}

/// C = alpha A B + beta C, tile by tile, by 8 warps that compute and 4 that load.
///
/// The first eleven arguments are those of every product of this course: A is (m, k), B (k, n) and C (m, n),
/// row-major. map_b describes B in boxes of (16, 256) if its rows start at multiples of 16 bytes. ALIGNED: they do, and
/// those of C. plan: which block computes which tile, none of them cut.
///
/// Launch: a block of 384 threads for each SM, with a SharedStorage<Large>.
/// Requires: compute capability 9.0 (mbarrier, TMA, setmaxnreg); k at most 2^31 - 16.
template <bool ALIGNED>
__global__ void __launch_bounds__(block_threads, 1)
    producer_warps(int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                   int ldb, float beta, float* c, int ldc,
                   const __grid_constant__ CUtensorMap map_b, const __grid_constant__ Plan plan) {
  run<Large, ALIGNED, false>({m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, map_b, plan, nullptr,
                             nullptr);
}

// 7 %: 53.6 TFLOP/s at 4096, and past cuBLAS. With the loading warps, 93 % of all instructions are FMAs, as before. What
// changed is that 90 of 100 cycles issue an instruction instead of 84. Several things came together. The next section removes
// one at a time of those that can be removed; the split into warps cannot. The largest stall that is left, apart from waiting
// for a turn or, most likely, at an mbarrier (`long_scoreboard`: no load to registers is in the loop), is the dispatch stall
// of chapter 11.
//= 7 %: 100 * (ms("11:grouped_tiles") / ms("producer_warps") - 1)
//= 53.6 TFLOP/s: rate("producer_warps") / 1000
//= 93 % of: 100 * 8 * sass("producer_warps<true>", "FFMA", "FFMA") / (8 * sass("producer_warps<true>", "instructions",
//=   "FFMA") + 4 * sass("producer_warps<true>", "instructions", "LDGSTS"))
//= because The largest stall that is left: ncu("producer_warps", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") >
//=   max(ncu("producer_warps", "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"),
//=   ncu("producer_warps", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"),
//=   ncu("producer_warps", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"))
//= 90 of 100 cycles issue an instruction instead of 84: (ncu("producer_warps",
//=   "smsp__issue_active.avg.pct_of_peak_sustained_active"), 100, ncu("11:grouped_tiles",
//=   "smsp__issue_active.avg.pct_of_peak_sustained_active"))

// ### What each idea is worth
//
// Several ideas came together in this kernel. The rung `without` takes one of them away at a time.
//
//? worth: Which of them costs the most when it is missing?
//? choices: the TMA | setmaxnreg | persistent blocks | the order of tiles | the order of FMAs
//? answer: {"the TMA": ms("without/idea=tma") == max(ms("without/idea=tma"), ms("without/idea=registers"),
//?   ms("without/idea=persistence"), ms("without/idea=tile order"), ms("without/idea=FMA order")), "setmaxnreg":
//?   ms("without/idea=registers") == max(ms("without/idea=tma"), ms("without/idea=registers"),
//?   ms("without/idea=persistence"), ms("without/idea=tile order"), ms("without/idea=FMA order")),
//?   "persistent blocks": ms("without/idea=persistence") == max(ms("without/idea=tma"),
//?   ms("without/idea=registers"), ms("without/idea=persistence"), ms("without/idea=tile order"),
//?   ms("without/idea=FMA order")), "the order of tiles": ms("without/idea=tile order") ==
//?   max(ms("without/idea=tma"), ms("without/idea=registers"), ms("without/idea=persistence"),
//?   ms("without/idea=tile order"), ms("without/idea=FMA order")), "the order of FMAs":
//?   ms("without/idea=FMA order") == max(ms("without/idea=tma"), ms("without/idea=registers"),
//?   ms("without/idea=persistence"), ms("without/idea=tile order"), ms("without/idea=FMA order"))}

/// `producer_warps` without one of its ideas: four loading warps copy B, too, 16 bytes at a time or 4; all warps have as
/// many registers; tiles are computed row by row; or a thread's FMAs are.
///
/// Arguments, Launch, Requires: as `producer_warps`.
template <bool ALIGNED, Idea LEFT_OUT>
__global__ void __launch_bounds__(block_threads, 1)
    without(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
            float beta, float* c, int ldc, const __grid_constant__ CUtensorMap map_b,
            const __grid_constant__ Plan plan) {
  run<Without<LEFT_OUT>, ALIGNED, false>({m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, map_b,
                                         plan, nullptr, nullptr);
}

// | left out | what replaces it | TFLOP/s at 4096 | at 8192 |
// |---|---|--:|--:|
// | nothing | | 53.6 | 53.5 |
// | the TMA | the loading warps copy B 16 bytes at a time | 53.0 | 53.7 |
// | the TMA, and wide copies | the loading warps copy B float by float | 49.5 | 49.9 |
// | `setmaxnreg` | 168 registers for each thread | 29.3 | 29.4 |
// | persistent blocks | a block for each tile | 54.1 | 54.6 |
// | the order of the tiles | tiles row by row | 52.3 | 52.8 |
// | the order of the FMAs | FMAs row by row | 50.6 | 51.0 |
//= | 53.6 | 53.5 |: (rate("producer_warps") / 1000, rate("producer_warps", 8192) / 1000)
//= time | 53.0 | 53.7 |: (rate("without/idea=tma") / 1000, rate("without/idea=tma", 8192) / 1000)
//= float | 49.5 | 49.9 |: (rate("without/idea=tma, 4-byte copies") / 1000, rate("without/idea=tma, 4-byte copies", 8192) / 1000)
//= each thread | 29.3 | 29.4 |: (rate("without/idea=registers") / 1000, rate("without/idea=registers", 8192) / 1000)
//= each tile | 54.1 | 54.6 |: (rate("without/idea=persistence") / 1000, rate("without/idea=persistence", 8192) / 1000)
//= tiles row by row | 52.3 | 52.8 |: (rate("without/idea=tile order") / 1000, rate("without/idea=tile order", 8192) / 1000)
//= FMAs row by row | 50.6 | 51.0 |: (rate("without/idea=FMA order") / 1000, rate("without/idea=FMA order", 8192) / 1000)
//
// `setmaxnreg` decides whether the design works at all. With 168 registers the sums and fragments of a thread do not fit,
// and ptxas spills: 109 `LDL` stand in its code.
//= 109 `LDL`: sass("without<true, (Idea)1>", "LDL")
//
// Without the TMA, with copies of 16 bytes, the kernel takes 3 % more time at 1024 and 2048, 1 % at 4096 and none at 8192. With
// copies of 4, as it makes them where rows are not aligned, it takes 8 % more at 4096. So the width of the copies counts here,
// more than the TMA. The order of the FMAs is worth 6 %.
//= takes 3 % more: 100 * (ms("without/idea=tma", 1024) / ms("producer_warps", 1024) - 1)
//= takes 3 % more: 100 * (ms("without/idea=tma", 2048) / ms("producer_warps", 2048) - 1)
//= 1 % at 4096: (100 * (ms("without/idea=tma") / ms("producer_warps") - 1), 4096)
//= because none at 8192: ms("without/idea=tma", 8192) < ms("producer_warps", 8192)
//= takes 8 % more: 100 * (ms("without/idea=tma, 4-byte copies") / ms("producer_warps") - 1)
//= worth 6 %: 100 * (ms("without/idea=FMA order") / ms("producer_warps") - 1)
//
// Persistent blocks do not pay: with a block for each tile the kernel is even 1 % faster at 4096 and 2 % at 8192. Why the head
// start on the next tile does not show was not measured. Blocks that stay are what section 5 builds on.
//= 1 % faster at 4096: (100 * (ms("producer_warps") / ms("without/idea=persistence") - 1), 4096)
//= 2 % at 8192: (100 * (ms("producer_warps", 8192) / ms("without/idea=persistence", 8192) - 1), 8192)

// ## 5. An even share for every SM
//
// 4096 x 4096 elements are 512 tiles. 132 SMs compute them in {term}`waves <wave>`: three times 132, and in a fourth
// wave the 116 that are left.
//= 512 tiles: 4096 / 128 * 4096 / 256
//= the 116: 512 - 3 * 132
//
//? wave: What part of the SMs' time is used?
//? choices: 78 % | 88 % | 97 %
//? answer: 100 * 512 / 528
//
// 512 tiles take the time of 528: 97 %.
//= 97 %: 100 * 512 / 528
//
// At 1024 it is worse. There are 32 tiles, a quarter of the SMs have one, and `producer_warps` makes 12.8 TFLOP/s.
//= a quarter: 32 / 132
//= 12.8 TFLOP/s: rate("producer_warps", 1024) / 1000
//= because a quarter of the SMs have one: abs(rate("producer_warps", 1024) / rate("producer_warps") - 32 / 132) < 0.02

// ### Cut along K
//
// Smaller tiles would help, but they need more reads for each FMA. {term}`Stream-K` (Osama et al., 2023) keeps large
// tiles. A tile is a sum over K-tiles, and a sum can be split. So distribute K-tiles, not tiles. For 4096 the first three
// waves stay whole. The 116 tiles after them have 29,696 K-tiles, and each of 132 blocks gets 224 or 225 *in a row*:
// the end of one tile, the beginning of the next, both, or a part from the middle. For 1024, 128 blocks get 16 K-tiles each, four blocks for
// each tile.
//= 29,696 K-tiles: 116 * 4096 / 16
//= 224 or 225: (29696 // 132, 29696 // 132 + 1)
//= 128 blocks get 16: (32 * 4, 32 * 64 / 128)
//
// ```{drawing} waves
// ```
//
// The block with the *end* of a tile adds up its pieces. The others write their sums to global memory, 128 KiB
// each, and raise a flag; all of that fits in L2. The block waits for the flags and adds what is there: the *fix-up*, in
// `compute` above. Three questions:
//= 128 KiB: 128 * 256 * 4 / 1024
//
// ```{drawing} pieces
// ```
//
// - *Can it deadlock?* Chapter 01 has the rule that no block may wait for one that may not have started. So a block takes
//   its number from a counter when it starts, as in chapter 08, and waits only for blocks with lower numbers. It computes
//   its share from the back: the piece that others wait for comes first, before the block itself waits for anything.
// - *Is what it reads complete?* The threads write and meet at a barrier of the computing warps; then one raises the flag
//   with a *release*, which covers what the barrier has ordered before it. On the other side one thread reads the flag
//   with an *acquire*, then come a barrier and the reads. Partial sums go past L1 (`__stcg`, `__ldcg`).
// - *Is the result reproducible?* The pieces are added in a fixed order, from the last block to the first, not in that of their
//   arrival as with `atomicAdd`.
//
// Adding a piece takes about as long as computing a K-tile. A tile is therefore cut into about as many pieces as the
// square root of its number of K-tiles, where both take equally long. That suits this fix-up, in which one block adds
// all pieces one after the other. With few tiles it leaves SMs idle.

//? bits: Floating-point sums depend on their order. Do two runs of `even_shares` give the same bits?
//? choices: yes | no
//? answer: "yes"
//
// Yes: which pieces there are and in which order they are added depends only on the shape and the number of SMs.
//
//? shares: How many times as fast as `producer_warps` is `even_shares` at 1024? 32 SMs had a tile, 128 have a quarter
//?   of one now.
//? answer: ms("producer_warps", 1024) / ms("even_shares", 1024)
//? unit: times
//? near: 15 %

/// producer_warps with an even share of the K-tiles for each block where the tiles do not fill whole waves.
///
/// It needs more than the arguments of a product, which are one argument here, g: nvcc then addresses the rows of C in
/// the way that was measured. map_b, ALIGNED: as for producer_warps, with boxes of (16, Tile::BN). plan: who computes
/// what. partials: (blocks, BM x BN) floats for the sums of pieces. ready: a flag for each block and a ticket, 0, and 0
/// again afterwards. Not both for two launches at the same time.
///
/// Launch: a block of 384 threads for each SM, with a SharedStorage<Tile>; one has to fit on an SM.
/// Requires: compute capability 9.0 (mbarrier, TMA, setmaxnreg); k at most 2^31 - 16.
/// Source of the idea: Osama et al., Stream-K, 2023.
template <bool ALIGNED, class Tile>
__global__ void __launch_bounds__(block_threads, 1)
    even_shares(const lab::Gemm g, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ Plan plan, float* partials, int* ready) {
  run<Tile, ALIGNED, true>(g, map_b, plan, partials, ready);
}

// 2.8 times, not four. What a block does before its first K-tile arrives is not divided, the blocks also store their sums,
// and the sums of three are added to those of a fourth one after the other (section 6 has the cycles of each). In TFLOP/s:
//= 2.8 times: ms("producer_warps", 1024) / ms("even_shares", 1024)
//
// | M = N = K | `grouped_tiles` | `producer_warps` | `even_shares` | cuBLAS | `even_shares` to cuBLAS |
// |---|--:|--:|--:|--:|--:|
// | 1024 | 11.8 | 12.8 | 36.2 | 34.0 | 1.07 |
// | 2048 | 48.9 | 52.5 | 52.6 | 49.4 | 1.07 |
// | 4096 | 50.0 | 53.6 | 54.9 | 51.4 | 1.07 |
// | 8192 | 50.6 | 53.5 | 55.2 | 51.3 | 1.08 |
//= | 11.8 | 12.8 | 36.2 | 34.0 | 1.07 |: (rate("11:grouped_tiles", 1024) / 1000, rate("producer_warps", 1024) / 1000,
//=   rate("even_shares", 1024) / 1000, rate("even_shares", 1024) / ratio("even_shares", 1024) / 1000,
//=   ratio("even_shares", 1024))
//= | 48.9 | 52.5 | 52.6 | 49.4 | 1.07 |: (rate("11:grouped_tiles", 2048) / 1000, rate("producer_warps", 2048) / 1000,
//=   rate("even_shares", 2048) / 1000, rate("even_shares", 2048) / ratio("even_shares", 2048) / 1000,
//=   ratio("even_shares", 2048))
//= | 50.0 | 53.6 | 54.9 | 51.4 | 1.07 |: (rate("11:grouped_tiles", 4096) / 1000, rate("producer_warps", 4096) / 1000,
//=   rate("even_shares", 4096) / 1000, rate("even_shares", 4096) / ratio("even_shares", 4096) / 1000,
//=   ratio("even_shares", 4096))
//= | 50.6 | 53.5 | 55.2 | 51.3 | 1.08 |: (rate("11:grouped_tiles", 8192) / 1000, rate("producer_warps", 8192) / 1000,
//=   rate("even_shares", 8192) / 1000, rate("even_shares", 8192) / ratio("even_shares", 8192) / 1000,
//=   ratio("even_shares", 8192))
//
// At 4096 and 8192 the 3 % of the last wave are recovered; over a block for each tile the gain is 1.5 and 1.1 %. At 2048 nothing is gained: 128 tiles are fewer than 132, so
// all of them are cut to employ four more SMs, which could bring 3 % at best. The fix-up must cost about as much; it was not
// measured there. A better plan would not cut.
//= 3 %: 100 * (ms("producer_warps") / ms("even_shares") - 1)
//= is 1.5 and 1.1 %: (100 * (ms("without/idea=persistence") / ms("even_shares") - 1),
//=   100 * (ms("without/idea=persistence", 8192) / ms("even_shares", 8192) - 1))
//= 3 % at best: 100 * (132 / 128 - 1)

// ## 6. A tile for the shape
//
// Where does the time go at 1024? We instrumented each block of an earlier build, with another order of the FMAs, with
// `clock64()`; the notes have the table. The first K-tile arrived after 8,800 cycles; 16 K-tiles took 79,500; after 16,500
// more the block that adds up a tile had added the sums of the others. That last part is what a cut costs: 96 blocks
// write 128 KiB each, and 32 SMs read them while 100 idle.
//
// There would be twice as many tiles of 128 x 128, 64. Cut in two instead of four they are 128 equal shares as well, but
// only 64 blocks write, 64 KiB each: a third of the bytes. A thread then has 8 x 8 elements, 92 % of the loop's
// instructions are FMAs instead of 95 %, and the loading warps bring as much of A for half as many FMAs.
//= 64 KiB: 128 * 128 * 4 / 1024
//= a third: 64 * 64 / (96 * 128)
//= 92 %: 100 * sass("even_shares<true, Small>", "FFMA", "FFMA") / sass("even_shares<true, Small>", "instructions", "FFMA")
//= instead of 95: 100 * sass("even_shares<true, Large>", "FFMA", "FFMA") / sass("even_shares<true, Large>",
//=   "instructions", "FFMA")

// The kernel is `even_shares` with another `Tile`. The host estimates the time of both before the launch: the K-tiles
// of the longest share times the cycles of one, and the pieces that are added to a tile times the cycles of one. The
// constants are fitted to trials: the large tile's piece includes the wait until it is written, the small one's does
// not. There is no term for the start of a block, which costs the large tile 3,100 cycles more.
//= 3,100 cycles: 8800 - 5700

namespace {

/// An estimate of the cycles that a product takes from the first K-tile on, with Large or Small, in so many blocks.
template <class Tile>
long long cycles(const lab::Gemm& g, int blocks) {
  const Plan plan(g, Tile::BM, Tile::BN, blocks, true);
  const int cut = plan.tiles_m * plan.tiles_n - plan.whole;
  const long long k_tiles =
      static_cast<long long>(plan.whole / blocks) * plan.k_tiles + plan.each + (plan.longer > 0);
  const int added =
      cut > 0 ? (plan.workers - 1) / cut : 0;  // or one more, if shares straddle the tile
  return k_tiles * Tile::cycles_of_k_tile + added * Tile::cycles_of_piece;
}

// [hide] How the kernels are launched
/// The tensor map of a matrix (rows, columns) whose rows are aligned, for boxes of (box_rows, box_columns).
///
/// The function that makes it belongs to the driver; asking the runtime for its address spares the
/// program a second library.
CUtensorMap tensor_map(const float* matrix, int rows, int columns, int ld, int box_rows,
                       int box_columns) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                              cudaEnableDefault, &found));
  CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound);
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(ld) * sizeof(float)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  const CUresult made = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(matrix), size, pitch, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  CUDA_CHECK(made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

/// Launches one of two kernels, by whether the rows of B and C are aligned. `launch_one(kernel, map_b, plan)` does it.
template <class Tile, class Kernel, class Launch>
void launch(const lab::Gemm& g, bool share, Kernel if_aligned, Kernel otherwise,
            Launch launch_one) {
  const bool aligned_b = lab::aligned16(g.b, g.ldb);
  const bool aligned = aligned_b && lab::aligned16(g.c, g.ldc);
  const Kernel kernel = aligned ? if_aligned : otherwise;
  const CUtensorMap map_b =
      aligned_b ? tensor_map(g.b, g.k, g.n, g.ldb, BK, Tile::BN) : CUtensorMap{};
  const int blocks = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(SharedStorage<Tile>)));
  launch_one(kernel, blocks, map_b, Plan(g, Tile::BM, Tile::BN, blocks, share));
}

/// Launches even_shares with one of the tiles.
template <class Tile>
void launch_shares(const lab::Gemm& g, float* partials, int* ready) {
  launch<Tile>(
      g, true, even_shares<true, Tile>, even_shares<false, Tile>,
      [&](auto kernel, int blocks, const CUtensorMap& map_b, const Plan& plan) {
        kernel<<<static_cast<unsigned>(blocks), block_threads, sizeof(SharedStorage<Tile>)>>>(
            g, map_b, plan, partials, ready);
      });
}
// [/hide]

}  // namespace

//? small_tile: By how many per cent is the time at 1024 shorter with the small tile?
//? answer: 100 * (1 - ms("tile_by_shape", 1024) / ms("even_shares", 1024))
//? unit: per cent
//? near: factor 2

/// C = alpha A B + beta C by even_shares, with the tile that is estimated to be faster.
///
/// partials: (SMs, 128 x 256) floats; ready: a flag for each SM and a ticket, 0, and 0 again afterwards.
void tile_by_shape(const lab::Gemm& g, float* partials, int* ready) {
  const int blocks = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  if (cycles<Small>(g, blocks) < cycles<Large>(g, blocks)) {
    launch_shares<Small>(g, partials, ready);
  } else {
    launch_shares<Large>(g, partials, ready);
  }
}

// 13 %: 41.7 TFLOP/s, 1.23 times as fast as cuBLAS. In the trial the loop took 6 % longer, but the first K-tile arrived
// 3,100 cycles earlier and the fix-up took 5,200 cycles instead of 16,500. At 2048, 4096 and 8192 the large tile is chosen. For
// 13 square products from 1024 to 4096 the estimate picked the faster tile 12 times; once both were equal. Below 1024 and for other shapes it has
// not been tested. The notes have the table, and shapes that neither tile suits.
//= 13 %: 100 * (1 - ms("tile_by_shape", 1024) / ms("even_shares", 1024))
//= 41.7 TFLOP/s: rate("tile_by_shape", 1024) / 1000
//= 1.23 times: ratio("tile_by_shape", 1024)
//= 6 % longer: 100 * ((89900 - 5700) / (88300 - 8800) - 1)
//= 3,100 cycles: 8800 - 5700
//= 5,200 cycles instead of 16,500: (95100 - 89900, 104800 - 88300)

// ## 7. Where the reads stand (second reading)
//
// The order of a thread's FMAs changes no bit of C, and it changes the time. `tools/measure/fma_orders/orders.py` compiles `even_shares`
// with 60 random orders, half of them down one column and up the next, each with the volatile reads of fragments and with plain ones, and
// times all in turn. At 4096, in TFLOP/s:
//
// | | slowest | median | best |
// |---|--:|--:|--:|
// | plain reads | 50.9 | 52.9 | 54.8 |
// | volatile reads | 50.3 | 53.6 | 54.8 |
// | the same, down the columns | 53.0 | 54.1 | 54.8 |
//= plain reads | 50.9 | 52.9 | 54.8 |: (orders("plain all: slowest"), orders("plain all: median"), orders("plain all: best"))
//= volatile reads | 50.3 | 53.6 | 54.8 |: (orders("volatile all: slowest"), orders("volatile all: median"), orders("volatile all: best"))
//= down the columns | 53.0 | 54.1 | 54.8 |: (orders("volatile columns: slowest"), orders("volatile columns: median"), orders("volatile columns: best"))
//
// **Plain reads move.** In 44 of the 60 orders ptxas has put some of the 96 `LDS.128` of a K-tile right behind another one, in one of
// them 63. It does not say why; a read that is issued later keeps fewer registers occupied. Of the orders down the columns one half has
// few such reads, the other half many, and these are slower: a correlation of 0.96. With volatile reads 2 orders have any, 7 at most.
// They are insurance, not a gain: the order of `Large` makes 55.1 TFLOP/s with plain reads, which ptxas leaves in place there.
//= makes 55.1 TFLOP/s: orders("plain chapter: tflops")
//= because leaves in place there: orders("plain chapter: close_reads") == 0
//= In 44 of the 60: (orders("plain all: with close_reads"), orders("plain all: orders"))
//= them 63: orders("plain all: most close_reads")
//= correlation of 0.96: orders("plain columns: close_reads")
//= reads 2 orders have any, 7: (orders("volatile all: with close_reads"), orders("volatile all: most close_reads"))
//= because these are slower: orders("plain columns: close_reads") > 0.9
//
// **What remains is the registers.** Each order makes ptxas choose others. By chapter 10's
// rules (*Register banks*) a K-tile takes a warp 2,180 to 2,420 cycles, and with volatile reads the time
// goes with them: a correlation of 0.92, of which most is between orders by rows, by columns and shuffled ones. (The number of FMAs that
// read three registers has 0.88.) Among the orders down the columns alone, which differ by 3 %, it is 0.35: what else these differ in
// is not known. The order of `Large` takes 2,178 cycles and made 54.8 TFLOP/s beside them; none of the 60 is faster by 1 %.
//= 2,180 to 2,420 cycles: (orders("volatile all: least cycles"), orders("volatile all: most cycles"))
//= correlation of 0.92: orders("volatile all: cycles")
//= registers has 0.88: orders("volatile all: three")
//= differ by 3 %: 100 * (orders("volatile columns: best") / orders("volatile columns: slowest") - 1)
//= it is 0.35: orders("volatile columns: cycles")
//= takes 2,178 cycles and made 54.8: (orders("volatile chapter: cycles"), orders("volatile chapter: tflops"))
//= because none of the 60 is faster: orders("volatile all: best") < 1.01 * orders("volatile chapter: tflops")

// [hide] How the rungs are registered
namespace {

/// Copies a box that sticks out below and to the right of a matrix of 40 x 100.
void launch_box(float* out, const float* in) {
  tma_box<<<1, 128>>>(out, tensor_map(in, 40, 100, 100, 16, 64), 30, 44);
}

/// The product by `producer_warps`, or by `without`: by as many blocks as SMs, or one for each tile.
template <class Kernel>
auto by_producers(Kernel if_aligned, Kernel otherwise, bool persistent = true) {
  return [=](const lab::Gemm& g) {
    launch<Large>(
        g, false, if_aligned, otherwise,
        [&](auto kernel, int blocks, const CUtensorMap& map_b, const Plan& plan) {
          const Plan of_all(g, Large::BM, Large::BN, plan.tiles_m * plan.tiles_n, false);
          if (!persistent) blocks = plan.tiles_m * plan.tiles_n;
          kernel<<<static_cast<unsigned>(blocks), block_threads, sizeof(SharedStorage<Large>)>>>(
              g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc, map_b,
              persistent ? plan : of_all);
        });
  };
}

/// The product by `without`.
template <Idea LEFT_OUT>
auto without_idea() {
  return by_producers(without<true, LEFT_OUT>, without<false, LEFT_OUT>);
}

/// The product by `producer_warps`, a block for each tile.
auto without_persistence() {
  return by_producers(producer_warps<true>, producer_warps<false>, false);
}

/// Adds the small kernels. Elements of their inputs are numbers of their own.
void add_small(lab::Ladder& ladder) {
  const auto number = [] __host__ __device__(size_t i) { return static_cast<float>(i); };
  const auto boxed = [] __host__ __device__(size_t i) {
    const size_t row = 30 + i / 64, col = 44 + i % 64;
    return row < 40 && col < 100 ? static_cast<float>(row * 100 + col) : 0.0f;
  };
  const auto reversed = [] __host__ __device__(size_t i) {  // the rows, in reverse order
    return static_cast<float>((floats_of_thread - 1 - i / 256) * 256 + i % 256);
  };
  const lab::Input<float> matrix(40 * 100, number), rows(floats_of_thread * 256, number);
  lab::DeviceBuffer<float> box(16 * 64, "out"), out(rows.size(), "out");
  ladder.add({.name = "tma_box",
              .launch = [&] { launch_box(box.data(), matrix.data()); },
              .outputs = {lab::expect(box, boxed)},
              .timed = false});
  ladder.add({.name = "register_budget",
              .launch = [&] { register_budget<<<1, 384>>>(out.data(), rows.data()); },
              .outputs = {lab::expect(out, reversed)},
              .timed = false});
}

const lab::Rungs here([](lab::GemmLadder& ladder) {
  ladder.add_with(add_small);
  ladder.add("producer_warps", by_producers(producer_warps<true>, producer_warps<false>));
  ladder.add("without", "idea=tma", without_idea<Idea::tma>());
  ladder.add("without", "idea=tma, 4-byte copies", without_idea<Idea::wide_copies>());
  ladder.add("without", "idea=registers", without_idea<Idea::registers>());
  ladder.add("without", "idea=persistence", without_persistence());
  ladder.add("without", "idea=tile order", without_idea<Idea::tile_order>());
  ladder.add("without", "idea=FMA order", without_idea<Idea::fma_order>());
  // What kernels that cut tiles need besides the matrices.
  lab::DeviceBuffer<float> partials(lab::multiprocessors() * Large::BM * Large::BN, "partials");
  lab::DeviceBuffer<int> ready(lab::multiprocessors() + 1, "ready");  // flags, and the ticket
  ready.zero();
  ladder.add("even_shares",
             [&](const lab::Gemm& g) { launch_shares<Large>(g, partials.data(), ready.data()); });
  ladder.add("tile_by_shape",
             [&](const lab::Gemm& g) { tile_by_shape(g, partials.data(), ready.data()); });
});

}  // namespace
// [/hide]

// ## What to remember
//
// - Warp specialization: some warps load, some compute. Each loop becomes shorter, and no wait stops both.
// - An mbarrier separates arriving from waiting. A ring needs two for each stage, full and empty, and a parity on each
//   side.
// - The TMA copies boxes at the request of one thread and handles the edges. It cannot transpose.
// - `setmaxnreg` gives registers to the warps that need them.
// - A persistent block loads its next tile while it stores the last. Here that gained nothing by itself; it is what equal
//   shares need.
// - Deal out equal *work*, not equal tiles, and add the pieces in a fixed order.
// - No tile is best for every shape. Estimate before the launch, from a few measured figures.
//
// ## What a library does further
//
// By its name, the kernel that cuBLAS uses at 4096 is of the generation before: tiles of 256 x 128 x 8, three stages
// of `cp.async`, no specialized warps. What a library does beyond this chapter:
//
// - It has dozens of such kernels, for transposed operands, other types, small and narrow matrices, and picks one from
//   what has been measured beforehand. We have two tiles, and at 512 we reach two thirds of cuBLAS. Where rows are not
//   aligned to 16 bytes, a trial was ahead of it at 1001 and 4001 and behind it at 2047; the notes have more shapes.
// - Its kernels may be written or tuned below CUDA C++, so that registers are where the author wants them. Our
//   workarounds approximate this in CUDA C++.
// - It uses tensor cores where it may. FP32 products can be put together from several products of TF32 or BF16. This
//   chapter stays with FP32 FMAs, and so does the cuBLAS that it is compared with.
//
// ## What comes next
//
// 10 % of the cycles issue no instruction; hand-written machine code might recover part of that. Chapter 13 makes the product
// fast for any shape. It began as a kernel that waited for its loads, then waited for shared memory, and now keeps the schedulers busy nine
// cycles out of ten.
//= 10 %: 100 - ncu("even_shares", "smsp__issue_active.avg.pct_of_peak_sustained_active")
//
// ## Possibilities for extension
//
// 1. In `producer_ring`, let one lane of each warp arrive at `empty`, after a `__syncwarp()`. Does the simulator
//    accept it?
// 2. Read the fragments with a plain `float4` again. In the machine code, how many `LDS.128` stand right behind another one?
//    Measure, then change the order of the FMAs in `Large` and look again.
// 3. Let the loading warps prefetch the first K-tile of the next tile into L2. Does it matter which rows of A they
//    take?
// 4. `even_shares` deals out only the K-tiles of the last wave. Deal out all of them, as the first version of Stream-K
//    did. What becomes of L2, and of 4096?
// 5. Launch `even_shares` with `cudaLaunchCooperativeKernel`. What does it cost at 1024?
