/// \file
/// The last rungs of chapter 05: warps that only load, warps that only compute, an even share of the work
/// for every SM, and a tile that suits the product. They need compute capability 9.0;
/// bank_conflicts_sm90_stub.cu stands in on the simulator.

#include <cuda.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cuda/ptx>
#include <memory>
#include <type_traits>

#include "lab/gemm.h"
#include "lab/lab.h"

// The last three rungs need what the Hopper generation has, compute capability 9.0. The simulator has no part
// of it, so there are no counts from here on, only the clock.
//
// ## 14. Warps that only load
//
// In `grouped_tiles` each warp does everything: it works out addresses, starts copies, waits for them, meets
// the other warps at a barrier, reads fragments, multiplies. Each instruction that is no multiply-add takes a
// place in a scheduler, and each wait is one for all warps: the slowest decides. Two things can be seen in a
// profile. Reads of fragments queue up behind the warp's own copies, and between two slices the
// multiply-adders stand still.
//
// So the work is divided. Of 12 warps in a block, 8 *compute* and do nothing else, and 4 *load*. Each of the
// four schedulers has two of the former and one of the latter. Between them lies a ring of eight stages in
// shared memory, each a slice of A and one of B. The loading warps go round and fill them, the computing warps
// go round and use them up. `__syncthreads()` would bring back all that we want to get rid of, since it makes
// everybody wait for everybody. What is needed here is less:
//
// - a computing warp must not read a stage before its copies have arrived, *all* of them;
// - a loading warp must not fill a stage again before *all* computing warps have left it.
//
// That is what an *mbarrier* is for, a barrier that lies in shared memory as 8 bytes. It knows how many are
// to arrive. To arrive does not mean to wait, and who waits need not arrive. When all have arrived, the
// barrier's *phase* is complete and the next one begins, in which again as many have to arrive. Who waits
// asks whether a phase is complete, and names it by its *parity*, 0 for the first phase, 1 for the second, 0 for
// the third: that is enough, since nobody can be two phases behind. So each stage has two barriers:
//
// - `full` waits for 128 arrivals, one of each loading thread. The thread does not arrive by itself, it
//   lets the hardware do that as soon as all its copies have landed (`cp_async_mbarrier_arrive_noinc`).
//   It can also wait for a number of *bytes*, and we shall need that.
// - `empty` waits for 256 arrivals, one of each computing thread. (One of each warp would do, by its first lane,
//   after a `__syncwarp()`. It took two instructions more and was no faster, and the race checker of
//   compute-sanitizer does not follow it: what 31 lanes had read counted as not ordered.)
//
// Each side goes round the ring with a parity of its own, which changes with every turn. The loading side
// begins with parity 1: it asks for the phase *before* the first one, which counts as complete. So the eight
// stages are empty in the beginning, without anybody having to say so.
//
// **Predict** what can be gained. Of the instructions in the loop of `grouped_tiles` 90 % are multiply-adds, and 84
// of a hundred cycles issue an instruction. If the loop loses half of what is no multiply-add, and nobody has to
// wait, all hundred cycles issue and 95 of them multiply-adds: a quarter more.

namespace {

namespace ptx = cuda::ptx;

constexpr int BK = 16;  // of a slice along K
constexpr int computing_warps = 8, loading_warps = 4;
constexpr int computing_threads = 32 * computing_warps;
constexpr int block_threads = 32 * (computing_warps + loading_warps);
constexpr int stages = 8;  // slices in shared memory
constexpr int group = 8;   // rows of tiles that are computed side by side, for L2
constexpr int loading_registers = 40, computing_registers = 232;  // of a thread

/// The tile of a block, where a thread computes `rows` x 8 elements. With 16 it is 128 x 256. With 8 it is 128 x 128,
/// which only the last section needs.
template <int rows>
struct TileOf {
  static constexpr int TM = rows, TN = 8;               // of a thread
  static constexpr int WM = 4 * TM, WN = 8 * TN;        // of a warp
  static constexpr int BM = 128, warps_down = BM / WM;  // of a block
  static constexpr int BN = computing_warps / warps_down * WN;
  static constexpr int lda_shared = BM + 8;  // A lies transposed, (BK, BM), padded
  static constexpr unsigned a_bytes = 4 * BK * lda_shared, b_bytes = 4 * BK * BN;
  static constexpr unsigned stage_bytes = a_bytes + b_bytes;
  static constexpr unsigned shared_bytes = stages * (stage_bytes + 2 * sizeof(std::uint64_t));
};

/// The tile of 128 x 256. column() and four_rows() are the order in which a thread computes its columns and groups of
/// four rows; the cycles are what an H200 takes for a slice, and to add the sums of a piece.
struct Large : TileOf<16> {
  static constexpr int cycles_of_slice = 4950, cycles_of_piece = 5300;
  static __device__ constexpr int column(int j) {
    constexpr int order[] = {3, 0, 5, 7, 1, 6, 2, 4};
    return order[j];
  }
  static __device__ constexpr int four_rows(int i) {
    constexpr int order[] = {0, 4, 12, 8};
    return order[i];
  }
};

/// The tile of 128 x 128, with the same of its own.
struct Small : TileOf<8> {
  static constexpr int cycles_of_slice = 2600, cycles_of_piece = 2600;
  static __device__ constexpr int column(int j) {
    constexpr int order[] = {3, 5, 6, 1, 0, 4, 7, 2};
    return order[j];
  }
  static __device__ constexpr int four_rows(int i) {
    constexpr int order[] = {4, 0};
    return order[i];
  }
};

// [hide] Addresses in shared memory, barriers and copies
/// What lies at an address of shared memory.
template <class T>
__device__ __forceinline__ T* in_shared(std::uint32_t address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}

/// Hides from the compiler where a value comes from, or it would compute it anew for each slice rather
/// than keep it in a register.
__device__ __forceinline__ void hide(std::uint32_t& value) { asm volatile("" : "+r"(value)); }

/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(in_shared<std::uint64_t>(barrier), parity)) {
  }
}

/// Copies floats to shared memory past the registers, and zeros for those that do not exist.
/// @param bytes  how many of the `size` bytes exist
template <int size>
__device__ __forceinline__ void copy(std::uint32_t to, const float* from, int bytes = size) {
  __pipeline_memcpy_async(in_shared<float>(to), from, size, size - bytes);
}

// [/hide]

// **A block stays.** A block for each tile would begin with an empty ring and end with one that drains, and at
// its end the loading warps would have nothing to do while the sums are written. So there are only as many
// blocks as there are SMs, and each computes one tile after the other: these are *persistent* blocks. When the
// computing warps write out a tile, the loading warps have long begun with the next one. Which tile is when
// whose is a matter of arithmetic, which both sides do for themselves; what all blocks have in common, the `Plan`,
// comes from the host. Tile number t is where `grouped_tiles` has put it, in groups of 8 rows. (Where `share` is
// true we shall need it for the last two rungs only.)

/// How the tiles of a product are dealt out to the blocks. The host makes it and spares the blocks most divisions.
///
/// The tiles that make whole waves over all blocks are computed as a whole. Of the tiles that are left,
/// if they are to be shared, all blocks get the same number of slices along K, next to each other; a block
/// then may have the end of one tile and the beginning of the next. Else the first blocks get one each.
/// Source of the idea: Osama et al., Stream-K, 2023 (its data-parallel hybrid).
struct Plan {
  int tiles_m, tiles_n, slices;  // of the product
  int whole;                     // tiles that are not cut
  int workers;                   // blocks that have a share of the others
  int longer;                    // the first workers, which have one slice more than
  long long each;                // this many

  Plan(const lab::Gemm& g, int BM, int BN, int blocks, bool share)
      : tiles_m((g.m - 1) / BM + 1), tiles_n((g.n - 1) / BN + 1), slices((g.k - 1) / BK + 1) {
    const int tiles = tiles_m * tiles_n, cut = share ? tiles % blocks : 0;
    const long long left = static_cast<long long>(cut) * slices;
    whole = tiles - cut;
    // To add a piece takes as long as to compute a slice or so: so many pieces that both are the same.
    const int pieces = static_cast<int>(std::sqrt(static_cast<double>(slices)));
    workers = static_cast<int>(std::clamp(1LL * cut * pieces, 1LL, 1LL * blocks));
    // Pieces of one length, and as many of each tile, if that leaves hardly any block without one.
    const int even = cut > 0 ? workers - workers % cut : 0;
    if (even >= 2 * cut && 16 * even > 15 * workers) workers = even;
    longer = static_cast<int>(left % workers), each = left / workers;
  }
  /// The first slice that a worker has, counted from tile `whole` on; of the worker after the last one, their number.
  __device__ long long begin(int worker) const {
    return min(worker, workers) * each + min(worker, longer);
  }
};

/// The order in which a block takes on its share of the product.
template <bool kShare, class Tile>
struct Schedule {
  const Plan& plan;
  int tile;           // the next whole tile of this block
  long long at, end;  // its slices of the others, counted from tile `whole` on

  __device__ explicit Schedule(const Plan& of_all)
      : plan(of_all), tile(static_cast<int>(blockIdx.x)), at(0), end(0) {
    if (kShare) at = plan.begin(tile), end = plan.begin(tile + 1);
  }
  /// The next piece: `count` slices of tile `t` from `first` on.
  __device__ bool next(int& t, int& first, int& count) {
    if (tile < plan.whole) {
      t = tile, first = 0, count = plan.slices;
      tile += static_cast<int>(gridDim.x);
      return true;
    }
    if (!kShare || at >= end) return false;
    t = plan.whole + static_cast<int>(at / plan.slices), first = static_cast<int>(at % plan.slices);
    count = static_cast<int>(min(static_cast<long long>(plan.slices - first), end - at));
    at += count;
    return true;
  }
  /// The first row and column of tile `t`; tiles next to each other share rows of A or columns of B.
  __device__ void place(int t, int& row, int& col) const {
    const int in_group = group * plan.tiles_n, g = t / in_group;
    const int high = min(group, plan.tiles_m - g * group);
    row = (g * group + t % in_group % high) * Tile::BM, col = t % in_group / high * Tile::BN;
  }
};

// **What a loading warp does.** B can be copied as it lies in memory, and for that Hopper has a unit of its own,
// the *tensor memory accelerator* (TMA). One instruction of one thread asks for a box of a matrix, here 16 rows of
// 256 floats. The unit works out the addresses, writes zeros where the box sticks out of the matrix, and tells
// the barrier how many bytes have come. So one thread of the first loading warp tells `full` how many bytes there
// will be, before it arrives as all others do. Where the matrix is and how long its rows are stands in a *tensor map*,
// 128 bytes that the host prepares; each row has to begin at a multiple of 16 bytes.
//
// A has to be transposed on the way, which the unit cannot do. Here it is still copies of 4 bytes, those of
// `async_copy`, in an order that costs few instructions. A lane takes four rows, and of each the elements k, k + 4, k +
// 8 and k + 12. Their addresses differ by constants, for which there is room in the instruction itself, so that four
// copies need one address in registers. A warp takes 4 neighbours along K of each of 8 rows at a time. (k, row) goes
// to bank (8 k + row) mod 32, since rows of the transposed slice are 136 floats apart, and that is another one
// for each lane.
//
// The computing warps will look at the stage after the last one before they know that it is the last. The loading
// warps hand them one more, with nothing in it: cheaper than a question in each turn of the loop.

/// What a loading warp does: fills the ring of stages, as long as there are slices, and adds an empty one.
///
/// A lane copies of A, in a slice (BM, BK), of the rows 32 warp + lane / 4 + 8 i the elements
/// k = lane % 4 + 4 e, with i and e from 0 to 3. Of B, one lane of the first warp has the whole slice
/// copied; where the rows of B are not aligned, all four warps copy it float by float.
///
/// @tparam Tile       Large or Small
/// @tparam kAligned   whether rows of B start at multiples of 16 bytes
/// @param  g          the product
/// @param  map_b      B, in boxes of (BK, BN)
/// @param  work       the block's share
/// @param  base, full addresses in shared memory: of the first stage, and of its barrier `full`. The others follow, and
///                    behind them the barriers `empty`.
/// @param  warp       which of the loading warps this is, from 0
template <class Tile, bool kAligned, class Work>
__device__ __forceinline__ void load(const lab::Gemm& g, const CUtensorMap& map_b, Work work,
                                     std::uint32_t base, std::uint32_t full, int warp) {
  constexpr int BN = Tile::BN, lda_shared = Tile::lda_shared;
  constexpr unsigned a_bytes = Tile::a_bytes, b_bytes = Tile::b_bytes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int k_of_lane = lane % 4, row_of_lane = 32 * warp + lane / 4;
  std::uint32_t a_to = 4 * (k_of_lane * lda_shared + row_of_lane);
  hide(a_to);
  const std::uint32_t end = full + 8 * stages;
  std::uint32_t barrier = full, to = base;
  std::uint32_t parity = 1;  // of a barrier that nobody has arrived at: the stages are empty
  int tile, first, count;
  while (work.next(tile, first, count)) {
    int row, col;
    work.place(tile, row, col);
    int k = first * BK;
    const float* a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // A row that does not exist is the last one once more: of C it is not stored.
      const int r = min(row + row_of_lane + 8 * i, g.m - 1);
      a[i] = g.a + static_cast<std::size_t>(r) * g.lda + k + k_of_lane;
    }

    const auto slice = [&](auto whole) {  // whether the slice ends inside of the matrix
      wait_for(barrier + 8 * stages, parity);
      if constexpr (kAligned) {
        if (warp == 0 && lane == 0) {
          auto* arrived = in_shared<std::uint64_t>(barrier);
          ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, arrived,
                                  std::uint32_t{b_bytes});
          const std::int32_t corner[2] = {col, k};
          ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                    in_shared<void>(to + a_bytes), &map_b, corner, arrived);
        }
      } else {
#pragma unroll 1
        for (int x = 0; x < BK * BN / 128; ++x) {
          const int in_slice = x / (BN / 32) * 4 + warp, c = x % (BN / 32) * 32 + lane;
          const bool exists = k + in_slice < g.k && col + c < g.n;
          const float* from = g.b + static_cast<std::size_t>(k + in_slice) * g.ldb + col + c;
          copy<4>(to + a_bytes + 4 * (in_slice * BN + c), exists ? from : g.b, exists ? 4 : 0);
        }
      }
      if constexpr (decltype(whole)::value) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int e = 0; e < BK; e += 4)
            copy<4>(to + a_to + 4 * (8 * i + e * lda_shared), a[i] + e);
        }
      } else {
#pragma unroll 1
        for (int x = 0; x < 16; ++x) {
          const int e = x % 4 * 4, i = x / 4, r = min(row + row_of_lane + 8 * i, g.m - 1);
          const bool exists = k + k_of_lane + e < g.k;
          const float* from = g.a + static_cast<std::size_t>(r) * g.lda + k + k_of_lane + e;
          copy<4>(to + a_to + 4 * (8 * i + e * lda_shared), exists ? from : g.a, exists ? 4 : 0);
        }
      }
      ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] += BK;
      k += BK, to += Tile::stage_bytes, barrier += 8;
      if (barrier == end) to = base, barrier = full, parity ^= 1;
    };

    const int stop = k + count * BK, whole_until = min(stop, g.k / BK * BK);
#pragma unroll 1
    while (k < whole_until) slice(std::true_type{});
    if (k < stop) slice(std::false_type{});
  }
  wait_for(barrier + 8 * stages, parity);
  ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
}

// **What a computing warp does.** The loop over a slice is the one of `serpentine`, with less around it: no
// copies, no addresses but those of the next stage, no barrier but a look at `full` and an arrival at `empty`.
// Of its 2163 instructions 2048 are multiply-adds, 95 %; of `serpentine`'s 2274 it was 90 %. 96 of the others
// read fragments. That leaves 19. The loading warps add 73 each for a slice, to the 8 times 2163 of the computing
// warps: one in 59.
//
// At this point the compiler's choice of *registers* decides about everything, and there are three places
// where the source looks odd on its behalf:
//
// - The order of the multiply-adds. Down one column and up the next, as in `serpentine`, but the columns and the
//   groups of four rows are shuffled. Of 646 such orders of `even_shares` the slowest made 51.0 TFLOP/s at 4096, half of
//   them less than 53.5, the best 55.1, and that is the one here. `producer_warps` has it, too. There is no reason
//   in the source why it should be good; the notes say how the registers come into it.
// - `hide` makes a value look as if it came from nowhere. Otherwise the compiler saves a register
//   and computes the address of shared memory again for each slice.
// - The four elements of a float4 that is stored must be in four registers in a row, the first number divisible by
//   four. If the sums themselves were stored, this would bind them in the loop already, and with
//   them which bank each one is in. What is stored are their products by alpha, and the sums stay free. For
//   the same reason partial sums, in the next section, are stored one by one.

/// What the computing warps do: each computes WM x WN elements of C for each piece of the work.
///
/// @tparam Tile       Large or Small
/// @tparam kAligned   whether rows of C start at multiples of 16 bytes
/// @param  g, work, base, full  as for load()
/// @param  partials   (blocks, BM x BN) floats for sums of parts of a tile; not used if no tile is cut
/// @param  ready      a flag for each block, 0; not used if no tile is cut
template <class Tile, bool kAligned, class Work>
__device__ void compute(const lab::Gemm& g, Work work, std::uint32_t base, std::uint32_t full,
                        float* partials, int* ready) {
  constexpr int TM = Tile::TM, TN = Tile::TN, BM = Tile::BM, BN = Tile::BN;
  constexpr int lda_shared = Tile::lda_shared;
  constexpr unsigned a_bytes = Tile::a_bytes, stage_bytes = Tile::stage_bytes;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // Lanes in pairs: 4 rows x 8 columns, bit 0 a column, bit 1 a row.
  const int lane_row = ((lane >> 1) & 1) | ((lane >> 3) & 2),
            lane_col = (lane & 1) | ((lane >> 1) & 6);
  const int row_in_tile = warp % Tile::warps_down * Tile::WM + lane_row * 4;
  const int col_in_tile = warp / Tile::warps_down * Tile::WN + lane_col * 4;
  const std::uint32_t a_start = base + 4 * row_in_tile;
  std::uint32_t a_to_b = a_bytes + 4 * (col_in_tile - row_in_tile);
  hide(a_to_b);
  const std::uint32_t last = full + 8 * (stages - 1);

  float a[2][TM], b[2][TN], c[TM][TN];
  const auto fragments = [&](std::uint32_t from_a, std::uint32_t from_b, int which) {
#pragma unroll
    for (int i = 0; i < TM / 4; ++i) {
      *reinterpret_cast<float4*>(&a[which][4 * i]) = *in_shared<const float4>(from_a + 64 * i);
    }
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      *reinterpret_cast<float4*>(&b[which][4 * j]) = *in_shared<const float4>(from_b + 128 * j);
    }
  };

  std::uint32_t barrier = full, at_a = a_start, at_b = a_start + a_to_b, parity = 0;
  wait_for(full, 0);
  fragments(at_a, at_b, 0);
  int tile, first, count;
  while (work.next(tile, first, count)) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) c[i][j] = 0;
    }
#pragma unroll 1
    for (int t = count; t > 0; --t) {
      const bool wrap = barrier == last;
      const std::uint32_t next = wrap ? full : barrier + 8;
      const std::uint32_t next_a = wrap ? a_start : at_a + stage_bytes, next_b = next_a + a_to_b;
      if (wrap) parity ^= 1;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        // The fragments of step k + 1 are read while step k computes; the last step reads ahead into
        // the next stage.
        if (k == BK - 1) wait_for(next, parity);
        fragments(k + 1 < BK ? at_a + (k + 1) * 4 * lda_shared : next_a,
                  k + 1 < BK ? at_b + (k + 1) * 4 * BN : next_b, (k + 1) % 2);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {  // down one column of C, up the next
          const int down = x / TM % 2 == 0 ? x % TM : TM - 1 - x % TM;
          const int i = Tile::four_rows(down / 4) + down % 4, j = Tile::column(x / TM);
          c[i][j] += a[k % 2][i] * b[k % 2][j];
        }
      }
      ptx::mbarrier_arrive(in_shared<std::uint64_t>(barrier + 8 * stages));
      barrier = next, at_a = next_a, at_b = next_b;
    }

    if (first > 0) {
      // Not the beginning of a tile: what is here goes to the block that has it.
      float* mine = partials + static_cast<std::size_t>(blockIdx.x) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) __stcg(mine + x * computing_threads, c[x / TN][x % TN]);
      __threadfence();
      __barrier_sync_count(1, computing_threads);
      if (thread == 0) atomicExch(ready + blockIdx.x, 1);
      continue;
    }
    // The beginning, but not all of it: the blocks after this one have the rest, and computed it first.
    for (int done = count, other = static_cast<int>(blockIdx.x) + 1; done < work.plan.slices;
         ++other) {
      if (thread == 0) {
        while (atomicCAS(ready + other, 1, 0) != 1) __nanosleep(64);
        __threadfence();
      }
      __barrier_sync_count(1, computing_threads);
      const float* theirs = partials + static_cast<std::size_t>(other) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) c[x / TN][x % TN] += __ldcg(theirs + x * computing_threads);
      done += static_cast<int>(work.plan.begin(other + 1) - work.plan.begin(other));
    }

    int row, col;
    work.place(tile, row, col);
    row += row_in_tile, col += col_in_tile;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int r = row + i / 4 * 16 + i % 4;
      float* out = g.c + static_cast<std::size_t>(r) * g.ldc + col;
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        // The products by alpha leave the compiler free in which registers it sums up: a float4 that
        // is stored needs four in a row.
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = g.alpha * c[i][j + e];
        const int c_to = 8 * j, exist = r < g.m ? g.n - col - c_to : 0;
        if (kAligned && exist >= 4) {
          float4* to = reinterpret_cast<float4*>(out + c_to);
          if (g.beta != 0) {
            const float4 was = *to;
            v[0] += g.beta * was.x, v[1] += g.beta * was.y;
            v[2] += g.beta * was.z, v[3] += g.beta * was.w;
          }
          *to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (e < exist) out[c_to + e] = v[e] + (g.beta != 0 ? g.beta * out[c_to + e] : 0);
          }
        }
      }
    }
  }
}

// **A budget of registers.** A kernel gives the same number of registers to each thread. Of 65,536, 384 threads get
// 168 each, or 64,512 in all. A loading thread needs far fewer, and a computing thread has 128 sums and
// 48 floats of fragments and cannot do with 168. `setmaxnreg` deals them out anew while the
// kernel runs: the loading warps give back all but 40, the computing warps take up to 232, and 128 * 40 + 256 *
// 232 is 64,512 again. If they asked for 240, they would wait for registers that never come. Four warps in
// a row have to execute it together, so that there cannot be fewer than four that load.

/// Sets up the ring of stages, and parts the warps.
/// @tparam kShare  whether tiles may be cut
template <class Tile, bool kAligned, bool kShare>
__device__ __forceinline__ void run(const lab::Gemm& g, const CUtensorMap& map_b, const Plan& plan,
                                    float* partials, int* ready) {
  extern __shared__ __align__(128) float4 memory[];
  std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  hide(base);
  const std::uint32_t full = base + stages * Tile::stage_bytes, empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(in_shared<std::uint64_t>(full + 8 * s), 32 * loading_warps);
      ptx::mbarrier_init(in_shared<std::uint64_t>(empty + 8 * s), computing_threads);
    }
  }
  __syncthreads();
  const Schedule<kShare, Tile> work(plan);
  if (threadIdx.x >= computing_threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    // The number of the warp from its first lane: so the compiler knows that all lanes go one way.
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0) - computing_warps;
    load<Tile, kAligned>(g, map_b, work, base, full, warp);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(computing_registers));
    compute<Tile, kAligned>(g, work, base, full, partials, ready);
  }
}

}  // namespace

/// C = alpha A B + beta C, tile by tile, by 8 warps that compute and 4 that load.
///
/// @tparam aligned  whether rows of B and C start at multiples of 16 bytes
/// @param g         the product
/// @param map_b     B, in boxes of 16 x 256; not looked at unless `aligned`
/// @param plan      who computes which tile, none of them cut
///
/// Launch: as many blocks of 384 threads as there are SMs, with Large::shared_bytes of shared memory.
/// Requires: compute capability 9.0 (mbarrier, TMA, setmaxnreg).
template <bool aligned>
__global__ void __launch_bounds__(block_threads, 1)
    producer_warps(const lab::Gemm g, const __grid_constant__ CUtensorMap map_b,
                   const __grid_constant__ Plan plan) {
  run<Large, aligned, false>(g, map_b, plan, nullptr, nullptr);
}

// **The clock.** 53.7 TFLOP/s at 4096, 7 % more, and past cuBLAS, but far from a quarter more. 90 of a hundred cycles
// issue an instruction, not all. Hardly anybody waits for shared memory: 0.13 warps for each instruction ("short
// scoreboard"), where it was 0.12. But 0.22 stand at a dispatch stall, where it was 0.15. What a dispatch stall
// is the notes have measured: a multiply-add that finds none of its three operands in the operand cache takes two cycles.
// That happens where a column begins and, as it seems from the profiles, each time that a scheduler goes from one
// warp to the other.

// ## 15. An even share for every SM
//
// 4096 x 4096 elements are 512 tiles. 132 SMs compute them in *waves*: 132 at a time, three times, and in a
// fourth wave the 116 that are left. 16 SMs have nothing to do then. 512 tiles in the time of 528 are 97 %. For
// 2048 and for 8192 it is 97 % as well, by chance, and 3 % is more than we have gained in some of the sections
// above.
//
// For 1024 it is a disaster. 32 tiles are 32 busy SMs and 100 idle ones. **Predict** the rate of `producer_warps`: a
// quarter of what it is at 4096, if what counts is how many SMs are busy. It is 13.0 TFLOP/s.
//
// Smaller tiles would help, at the cost of all that large tiles are good for. *Stream-K* (Osama et al., 2023) does
// without. A tile is a sum over slices along K, 256 of them for 4096, and a sum can be cut. So what is
// dealt out are not tiles but slices. For 4096 the first three waves remain as they are, whole tiles without any
// extra work. The 116 tiles after them have 29,696 slices in all, and each of 132 blocks gets 224 or 225 *in a row*:
// the end of one tile, or the beginning of one, or both.
//
// For 1024 there are 32 tiles of 64 slices, 2,048 in all, which would be 15 or 16 for each block. Then many a
// block would have pieces of two tiles, and a tile pieces of five or six blocks. So here 128 blocks get 16
// slices each, four blocks a tile, and 4 SMs do nothing. In a trial that was 2 % faster, see the notes. As a rule,
// the number of blocks is rounded down to a multiple of the tiles that are to be cut, if this leaves two pieces
// of each at least, and less than one block in 16 without any.
//
// Somebody has to add up the pieces of a tile. That is the block which has its *beginning*. The others write their
// sums to global memory, 128 KiB each, which stay in the L2 cache, and raise a flag. It waits for the flags and adds
// what lies there to its own. This is the *fix-up*, in `compute` above. Three questions have to be asked about
// such a scheme:
//
// - *Can it wait for ever?* A block waits only for those after it, and only with the last piece of its share. The
//   piece that it waits for is the first of the other block's share, which is written without waiting for anyone.
//   So it ends, if all blocks are on the GPU at the same time: one for each SM, with nothing else running.
// - *Is what it reads complete?* The threads write, `__threadfence()`, and meet at a barrier of the computing warps;
//   then one of them raises the flag. On the other side one thread sees the flag, a fence, a barrier, then all read.
//   The partial sums go past L1 (`__stcg`, `__ldcg`), which would not notice that another SM has
//   written.
// - *Is the result always the same?* Floating-point sums depend on the order. Had each block added its piece
//   to C with `atomicAdd`, the order would be that of their arrival, another one in each run. Here the pieces are
//   added in the order of the blocks, and the same call gives the same bits.
//
// To add a piece takes a block about as long as to compute a slice. So a tile is cut into no more pieces than the square
// root of its slices, 8 with K = 1024: then both take the same time. A small product is cut for fewer blocks.

/// The same, with an even share of the slices along K for each block where the tiles do not make whole
/// waves.
///
/// @tparam aligned  whether rows of B and C start at multiples of 16 bytes
/// @tparam Tile     Large, or Small in the next section
/// @param g         the product
/// @param map_b     B, in boxes of 16 x BN; not looked at unless `aligned`
/// @param plan      who computes what
/// @param partials  (blocks, BM x BN) floats for sums of parts of a tile
/// @param ready     a flag for each block, 0; they are 0 again afterwards
///
/// Launch: as many blocks of 384 threads as there are SMs, and not more than fit at once, with
/// Tile::shared_bytes of shared memory.
/// Requires: compute capability 9.0 (mbarrier, TMA, setmaxnreg).
/// Source of the idea: Osama et al., Stream-K, 2023.
template <bool aligned, class Tile>
__global__ void __launch_bounds__(block_threads, 1)
    even_shares(const lab::Gemm g, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ Plan plan, float* partials, int* ready) {
  run<Tile, aligned, true>(g, map_b, plan, partials, ready);
}

// [hide] How the kernels are launched
namespace {

/// Whether each row of a matrix starts at a multiple of 16 bytes.
bool aligned(const float* matrix, int ld) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 && ld % 4 == 0;
}

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

int multiprocessors() {
  int count = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// Launches one of two kernels, by the alignment of the rows of B and C.
/// @param share  whether tiles may be cut
template <class Tile, class Kernel, class... Arguments>
void launch(const lab::Gemm& g, bool share, Kernel if_aligned, Kernel otherwise,
            Arguments... more) {
  const bool is_aligned = aligned(g.b, g.ldb) && aligned(g.c, g.ldc);
  const Kernel kernel = is_aligned ? if_aligned : otherwise;
  const CUtensorMap map_b =
      is_aligned ? tensor_map(g.b, g.k, g.n, g.ldb, BK, Tile::BN) : CUtensorMap{};
  const int blocks = multiprocessors();
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(Tile::shared_bytes)));
  kernel<<<static_cast<unsigned>(blocks), block_threads, Tile::shared_bytes>>>(
      g, map_b, Plan(g, Tile::BM, Tile::BN, blocks, share), more...);
}

}  // namespace
// [/hide]

// **The clock**, in TFLOP/s, each beside cuBLAS in the same run:
//
// | M = N = K | `grouped_tiles` | `producer_warps` | `even_shares` | cuBLAS | `even_shares` to cuBLAS |
// |---|--:|--:|--:|--:|--:|
// | 1024 | 11.8 | 13.0 | 36.3 | 33.8 | 1.07 |
// | 2048 | 49.0 | 52.6 | 52.5 | 49.4 | 1.06 |
// | 4096 | 50.0 | 53.7 | 55.3 | 51.4 | 1.08 |
// | 8192 | 50.6 | 53.9 | 55.8 | 51.4 | 1.09 |
//
// At 4096 and 8192 it is 3 %, what the last wave had lost. At 2048 nothing is won: all 128 tiles are fewer than 132, so
// every one of them is cut, for 4 SMs that would have had nothing to do otherwise, and the fix-up takes what
// they bring. At 1024 the rate is 2.8 times what it was, and not four times: the sums of three blocks, 128 KiB each,
// are added to those of a fourth one after the other.

// ## 16. A tile for the shape
//
// At 1024 it is 36.3 TFLOP/s, where 4096 has 55.3. Where does the time go? In a trial each block wrote down the clock
// on its way through the kernel. The first slice was there after 8,800 cycles. The loop over 16 slices took 79,500. Then
// three of four blocks wrote their sums, and after 16,500 cycles the fourth had added them all to its own. That is the
// expensive part: 96 blocks write 128 KiB each, or 12 MiB, and *32* SMs read them again, while 100 have nothing to
// do.
//
// Tiles of 128 x 128 would be twice as many, 64. Cut in two instead of four, they are 128 equal shares as well, but
// only 64 blocks write, and 64 KiB each, 4 MiB. A thread then has 8 x 8 elements again. That has a price, and we know
// it: for a step along K it reads 16 elements for 64 multiply-adds, where it was 24 for 128, and the loading warps
// bring as much of A as before for half as many.
//
// **Predict** from the instructions: 1111 for a slice, of which 1024 are multiply-adds, 92 %, where the large tile has
// 95 %. At 4096, where nothing is to be won, it should be about 3 % slower. At 1024 the loop takes 3 % longer, or
// 2,400 cycles, and the fix-up a third of its time: 11,000 of 104,800 cycles are saved, or 8 % in all.

// The kernel is `even_shares` with another `Tile`, and nothing else. Which of the two it is to be, the host decides
// before it launches. It counts the slices of the longest share, and the pieces that are added to the first one of a
// tile. In the trial with the clock a slice took 4,950 cycles with the large tile and 2,600 with the small one, and a
// piece 5,300 and 2,600.

namespace {

/// An estimate of the cycles from the first slice on that a product takes.
///
/// @tparam Tile   Large or Small
/// @param g       the product
/// @param blocks  of the launch
template <class Tile>
long long cycles(const lab::Gemm& g, int blocks) {
  const Plan plan(g, Tile::BM, Tile::BN, blocks, true);
  const int cut = plan.tiles_m * plan.tiles_n - plan.whole;
  const long long slices =
      static_cast<long long>(plan.whole / blocks) * plan.slices + plan.each + (plan.longer > 0);
  const int added = cut > 0 ? (plan.workers - 1) / cut : 0;
  return slices * Tile::cycles_of_slice + added * Tile::cycles_of_piece;
}

}  // namespace

/// C = alpha A B + beta C with the tile that is estimated to be faster: by even_shares with the one or the other.
///
/// @param g         the product
/// @param partials  (SMs, 128 x 256) floats for sums of parts of a tile
/// @param ready     a flag for each SM, 0; they are 0 again afterwards
void tile_by_shape(const lab::Gemm& g, float* partials, int* ready) {
  const int blocks = multiprocessors();
  if (cycles<Small>(g, blocks) < cycles<Large>(g, blocks)) {
    launch<Small>(g, true, even_shares<true, Small>, even_shares<false, Small>, partials, ready);
  } else {
    launch<Large>(g, true, even_shares<true, Large>, even_shares<false, Large>, partials, ready);
  }
}

// **The clock.** 41.1 TFLOP/s at 1024, 1.21 of cuBLAS, in 12 % less time than `even_shares`, and not 8 %. The
// trial with the clock has some of the difference. The loop took 6 % longer, not 3. But the first slice, which has fewer
// bytes, was there after 5,700 cycles, and the sums were added up after 5,200: 95,100 cycles instead of 104,800. The
// rest must lie behind the last look at the clock, where C is stored, by 64 SMs now and not by 32.
//
// From 2048 on the large tiles are taken, and all is as in `even_shares`. In a trial with both tiles at 13 sizes from
// 1024 to 4096 the estimate picked the faster one at 12 of them, by up to 15 %; at 1792 they are equal. (At 4096 the small
// ones made 53.3 where the large ones made 55.3: 4 %, and 3 had been predicted.) The notes have the table, and the shapes
// for which neither is any good.

// [hide] How the rungs are registered
namespace {

/// What kernels that cut tiles need besides the matrices.
struct Workspace {
  Workspace()
      : partials(static_cast<std::size_t>(multiprocessors()) * Large::BM * Large::BN, "partials"),
        ready(static_cast<std::size_t>(multiprocessors()), "ready") {
    CUDA_CHECK(cudaMemset(ready.data(), 0, ready.size() * sizeof(int)));
  }
  lab::DeviceBuffer<float> partials;
  lab::DeviceBuffer<int> ready;
};

}  // namespace

void register_sm90(lab::GemmLadder& ladder) {
  ladder.add({.name = "producer_warps",
              .idea = "four warps load, eight compute; a block stays for many tiles",
              .launch =
                  [](const lab::Gemm& g) {
                    launch<Large>(g, false, producer_warps<true>, producer_warps<false>);
                  },
              .min_compute_capability = 90});
  const auto memory = std::make_shared<std::unique_ptr<Workspace>>();
  const auto workspace = [memory]() -> Workspace& {
    if (!*memory) *memory = std::make_unique<Workspace>();
    return **memory;
  };
  ladder.add({.name = "even_shares",
              .idea = "the tiles that make no whole wave are cut along K, evenly",
              .launch =
                  [workspace](const lab::Gemm& g) {
                    launch<Large>(g, true, even_shares<true, Large>, even_shares<false, Large>,
                                  workspace().partials.data(), workspace().ready.data());
                  },
              .min_compute_capability = 90});
  ladder.add({.name = "tile_by_shape",
              .idea = "smaller tiles where there are few of them",
              .launch =
                  [workspace](const lab::Gemm& g) {
                    tile_by_shape(g, workspace().partials.data(), workspace().ready.data());
                  },
              .min_compute_capability = 90});
}
// [/hide]

// ## What to take along
//
// - 32 banks, one word of each in a wavefront. Different words of one bank cost a wavefront each; the same
//   word costs nothing more.
// - 64 bits go by halves of a warp, 128 bits by quarters, and loads merge two of them where lanes agree with
//   their neighbours (i ^ 1), or with the next but one (i ^ 2).
// - Count wavefronts for a step along K, and compare them with the cycles that its multiply-adds take. No
//   conflicts is not yet few wavefronts.
// - A tile need not be in one piece. Four of 4 x 4 are as good as one of 8 x 8, and can be read without a
//   conflict.
// - Store what is stored once in the order in which it is read often. Pad for both.
// - Number the lanes so that those that read the same are those that the hardware compares.
// - When shared memory is quiet, what is left is waiting: ask earlier, into registers, then past them.
// - Then count instructions: what is no multiply-add takes the place of one. Larger tiles for the threads, other
//   warps for the rest.
// - Registers are in banks, too. Which ones the compiler takes can be worth more than an algorithm, and only
//   the clock knows.
// - Deal out equal *work*, not equal tiles, and add up what was cut in a fixed order.
// - No tile is the best for every shape. Estimate the time before the launch, from a few figures that were measured.
//
// ## What a library does further
//
// The kernel that cuBLAS takes at 4096 is, by its name, one of the generation before: tiles of 256 x 128 x 8, three
// stages of `cp.async`, 254 registers, no warps that only load. That is where the room came from. What a library
// does besides:
//
// - It has dozens of such kernels, for transposed operands, other types, small and narrow matrices, and picks one by
//   the shape from what has been measured beforehand. We have two, and even tiles of 128 x 128 are a waste for a
//   C of 130 x 130. (At 512 we reach 0.68 of cuBLAS, see the notes.)
// - Its kernels are written in the machine's own language, so that the registers are whichever the author wants. That
//   is what our three odd places are a substitute for.
// - It uses the tensor cores where it may, which multiply matrices of a shorter type many times as fast. FP32
//   products are then put together from several products of TF32 or BF16. This chapter stays with FP32 multiply-adds,
//   and so does the cuBLAS that it is compared with.
// - For tensor cores, which take their operands from shared memory in either order, the TMA brings both matrices. We
//   tried that, too. It cannot transpose, so A lies along K in shared memory, and its fragments cost more than the copies
//   had cost instructions: 42.0 to 48.7 TFLOP/s, see the notes.
//
// ## What comes next
//
// `even_shares` leaves 9 % of the cycles without an instruction, and 55 of the 63 TFLOP/s that a loop of multiply-adds
// alone makes in the same run are all it gets. Most of what is missing, as far as the profiles tell, goes to the
// registers: to multiply-adds that read three of them anew, where a column ends or where a scheduler goes from one warp
// to the other. Who can choose each register, in the machine's language, can have it. The product ends here:
// from a kernel that waited for DRAM through one that waited for shared memory to one that waits for its own
// multiply-adders. The chapters to come are about the opposite kind of problem, those that have hardly any
// arithmetic, and whose only question is how to move bytes. Banks, tiles and pieces that are added in a fixed
// order come back in all of them.
//
// ## Possibilities for extension
//
// 1. Give `padded_a` a padding of 1, 2, 8 and 16 instead of 4. Predict the conflicts of the stores first. Which
//    of them still allow float4?
// 2. Instead of padding, let row k of `as` begin at another place: element (k, row) at row ^ (k / 4 * 16). This is
//    a *swizzle*. Are there conflicts? What has happened to the unused 128 bytes?
// 3. What would a 16 x 2 warp cost, in rows and in pairs? Which different elements does it need?
// 4. Let the block of `async_copy` have 3 or 5 stages. When does the second block on the SM get lost?
// 5. Transpose A in global memory first, with a kernel of its own, and copy 16 bytes at a time. For which sizes
//    does it pay?
// 6. In `bank_conflicts_sm90.cu`, turn the order of the multiply-adds round: along rows instead of columns. Look at
//    `nvcc -Xptxas -v`, then measure. Can you tell from the one what the other will be?
// 7. Let the loading warps prefetch, for the first slice of the next tile, into L2. Does it matter which rows of A
//    they are?
// 8. `even_shares` deals out the slices of the last wave only. Deal out all of them, as the first version of Stream-K
//    does. What becomes of the L2 cache, and of 4096?
