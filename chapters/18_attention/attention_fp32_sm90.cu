// ## Attention in float: warps that load (second reading)
//
// In `fused` all warps copy, all warps multiply, and each part of a tile has a barrier for all of them. The rung `loading_warps` has
// the plan of chapter 12 for its products:
//
// - Four warps load, eight compute. Between them is a ring of parts, with two barriers for each slot: it is full, it is empty.
//   Warps that compute do not wait for each other.
// - `setmaxnreg` gives the loading warps 40 registers a thread, and the others 232.
// - Q, K and the weights lie transposed. So a step of a product reads four float4s for a thread's 64 FMAs, and those of the next
//   step are read while these are multiplied.
// - The FMAs go down one column of the thread's sums and up the next, as chapter 12 has it: two in a row share an operand.
// - There is a block for each SM, and each has as many tiles of keys as any other. Where a share ends within an item (a head's BM
//   queries), the block that has its last tiles writes what it found to memory, and the one with the first tiles merges it.
//
//? loading_rate: For heads of 64 columns without a mask `fused` makes 40 TFLOP/s. What does `loading_warps` make?
//? answer: rate("loading_warps/d=64,full") / 1000
//? unit: TFLOP/s
//? near: 10 %

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "fp32.h"
#include "hopper.h"
#include "lab/lab.h"

using std::size_t;

/// A tile of BM queries and one of BN keys; eight warps compute, each with whole rows, LX lanes side by side, and a thread
/// with 8 x 8 scores and 8 x 8 elements of the output. Four warps load.
template <int D_, int LX_, int KD_, int SLOTS_>
struct Apart {
  static constexpr int D = D_, LX = LX_, LY = 32 / LX, SLOTS = SLOTS_;
  static constexpr int WARPS = 8, LOADING = 4, THREADS = 32 * (WARPS + LOADING);
  static constexpr int BM = WARPS * LY * 8, BN = LX * 8;
  static constexpr int KD = KD_;         // columns of K in a part of it
  static constexpr int PARTS = D / KD;   // of a tile of K, and of one of V
  static constexpr int VK = BN / PARTS;  // keys in a part of V
  // Q, K and the weights lie transposed. Rows in shared memory: of keys in a part of K, and of queries in the weights.
  static constexpr int KS = BN + 8, PS = BM + 4;
  // Each array has a row more, which is read for nothing.
  static constexpr int Q_FLOATS = (D + 1) * BM, P_FLOATS = (BN + 1) * PS, PLACE = (KD + 1) * KS;
  static constexpr int BYTES = 4 * (Q_FLOATS + P_FLOATS + SLOTS * PLACE);
  static_assert(D == 8 * LX && (VK + 1) * D <= PLACE);
};

/// Reads four floats from shared memory, where it stands (chapter 12, section 7).
__device__ __forceinline__ void read(float* to, std::uint32_t from) {
  asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

/// sums += A B for a thread's 8 x 8 sums. Both lie in shared memory with a row for each of COUNT steps, of AS and BS floats: A
/// is transposed. `a` and `b` are where the thread's first four elements of a step are; the other four lie 4 LY and 4 LX further.
///
/// The fragments of a step are read while those of the step before are multiplied; those behind the last one for nothing.
template <class T, int COUNT, int AS, int BS>
__device__ __forceinline__ void add_product(float (&sums)[8][8], std::uint32_t a, std::uint32_t b) {
  constexpr int STEPS = 8;  // of the loop's body, which has to fit into the instruction caches
  float left[2][8], right[2][8];
  const auto fetch = [&](int k) {
    read(left[k % 2], a + 4 * k * AS), read(right[k % 2], b + 4 * k * BS);
    read(left[k % 2] + 4, a + 4 * (k * AS + 4 * T::LY));
    read(right[k % 2] + 4, b + 4 * (k * BS + 4 * T::LX));
  };
  fetch(0);
#pragma unroll 1
  for (int k0 = 0; k0 < COUNT; k0 += STEPS) {
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      fetch(k + 1);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          const int i = j % 2 == 0 ? n : 7 - n;  // down one column, up the next
          sums[i][j] = fmaf(left[k % 2][i], right[k % 2][j], sums[i][j]);
        }
      }
    }
    a += 4 * STEPS * AS, b += 4 * STEPS * BS;
  }
}

/// Tiles of an item that a block computes: `tiles` of its `total` from `tile0` on.
struct Piece {
  int head, row0, tile0, tiles, total;
};

/// Deals the tiles of all items to blocks: where CUT, to each as many; else an item to each.
template <class T, bool CAUSAL, bool CUT>
class Share {
 public:
  __device__ __forceinline__ Share(Heads shape, int worker, int workers)
      : shape_(shape), rows_((shape.queries + T::BM - 1) / T::BM), workers_(workers) {
    for (int row = 0; row < rows_; ++row) of_head_ += tiles_of(row);
    at_ = begin(worker), end_ = begin(worker + 1);
  }
  /// The first tile of a worker, of those of all heads.
  __device__ __forceinline__ std::int64_t begin(int worker) const {
    if (CUT) return std::int64_t{of_head_} * shape_.heads * worker / workers_;
    std::int64_t first = std::int64_t{of_head_} * (worker / rows_);
    for (int n = 0; n < worker % rows_; ++n) first += tiles_of(row_of(n));
    return first;
  }
  /// The next piece, or false.
  __device__ __forceinline__ bool next(Piece& piece) {
    if (at_ >= end_) return false;
    int n = 0, rest = static_cast<int>(at_ % of_head_), total = tiles_of(row_of(n));
    while (rest >= total) rest -= total, total = tiles_of(row_of(++n));
    const int left = static_cast<int>(min(end_ - at_, std::int64_t{total - rest}));
    piece = {static_cast<int>(at_ / of_head_), row_of(n) * T::BM, rest, left, total};
    at_ += left;
    return true;
  }

 private:
  /// The n-th item of a head. Those with most tiles come first; where CUT, in turn with those with fewest, so that blocks with as
  /// many tiles have about as many items, too.
  __device__ __forceinline__ int row_of(int n) const {
    if (CUT) return n % 2 == 0 ? rows_ - 1 - n / 2 : n / 2;
    return rows_ - 1 - n;
  }
  /// Of an item; one for queries that see no key, which are written, too.
  __device__ __forceinline__ int tiles_of(int row) const {
    const int last = min((row + 1) * T::BM, shape_.queries) - 1;
    return max(1, ((CAUSAL ? shape_.seen(last) : shape_.keys) + T::BN - 1) / T::BN);
  }
  Heads shape_;
  int rows_, workers_, of_head_ = 0;
  std::int64_t at_, end_;
};

/// What the loading warps do: each part of K, transposed, and each of V, as soon as its slot is empty. Keys that do not exist
/// are zeros.
///
/// @param warp  of the loading ones
template <class T, class Share>
__device__ __forceinline__ void load_parts(float* ring, const float* all_k, const float* all_v,
                                           Heads shape, Share share, int warp, std::uint64_t* full,
                                           std::uint64_t* empty) {
  constexpr int COLUMNS = T::D / 4, V_ROWS = 32 * T::LOADING / COLUMNS;
  const int lane = threadIdx.x % 32, t = 32 * warp + lane, keys = shape.keys;
  const int key = 8 * warp + lane / 4, v_key = t / COLUMNS;  // a lane's first of a part
  Slot<T::SLOTS> slot;
  for (Piece piece; share.next(piece);) {
    const size_t of_keys = size_t(piece.head / shape.group) * keys * T::D;
    const float *const k = all_k + of_keys, *const v = all_v + of_keys;
    for (int part = 0; part < piece.tiles * 2 * T::PARTS; ++part) {
      wait_for(&empty[slot.at], slot.parity ^ 1);  // in the first round they are empty
      const int key0 = (piece.tile0 + part / (2 * T::PARTS)) * T::BN;
      const int of_tile = part % (2 * T::PARTS);
      float* const to = ring + slot.at * T::PLACE;
      if (of_tile < T::PARTS) {
#pragma unroll 1
        for (int n = key; n < T::BN; n += 8 * T::LOADING) {
          const bool there = key0 + n < keys;
          const float* const from =
              there ? k + size_t(key0 + n) * T::D + of_tile * T::KD + lane % 4 : k;
#pragma unroll
          for (int d = 0; d < T::KD; d += 4) {
            __pipeline_memcpy_async(to + (d + lane % 4) * T::KS + n, from + d, 4, there ? 0 : 4);
          }
        }
      } else {
        const int first = key0 + (of_tile - T::PARTS) * T::VK;
#pragma unroll
        for (int n = v_key; n < T::VK; n += V_ROWS) {
          const bool there = first + n < keys;
          __pipeline_memcpy_async(to + n * T::D + t % COLUMNS * 4,
                                  there ? v + size_t(first + n) * T::D + t % COLUMNS * 4 : v, 16,
                                  there ? 0 : 16);
        }
      }
      arrive_when_copied(&full[slot.at]);
      slot.advance();
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);  // a warp may not end before its copies
}

/// What `fused` computes, with warps that load and warps that compute. The ring and the order of the FMAs are those of chapter 12.
///
/// @param found  where CUT, room for 8 (8 + 2) floats of each computing thread of each block
/// @param ready  a flag for each block: zeros before and after
///
/// Launch: T::THREADS threads with T::BYTES of dynamic shared memory; where CUT as many blocks as SMs, else one for each BM queries
/// of each head.
/// Requires: compute capability 9.0a (setmaxnreg).
template <class T, bool CAUSAL, bool CUT>
__global__ void __launch_bounds__(T::THREADS, 1)
    loading_warps(float* __restrict__ out, const float* __restrict__ q, const float* __restrict__ k,
                  const float* __restrict__ v, Heads shape, float scale, float* found, int* ready) {
  extern __shared__ float4 shared[];
  float* const queries = reinterpret_cast<float*>(shared);  // (D, BM)
  float* const weights = queries + T::Q_FLOATS;             // (BN, PS)
  float* const ring = weights + T::P_FLOATS;                // (SLOTS, PLACE)
  __shared__ std::uint64_t full[T::SLOTS], empty[T::SLOTS];
  // By the shuffle the compiler knows that a warp's threads agree: its loops are counted in uniform registers.
  const int lane = threadIdx.x % 32, warp = __shfl_sync(ALL, threadIdx.x / 32, 0);
  // A block may wait for the next worker's: one that was started before it, or runs beside it.
  const int worker = CUT ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  Share<T, CAUSAL, CUT> share(shape, worker, gridDim.x);
  if (threadIdx.x == 0) {
    for (auto& barrier : full) initialize(&barrier, 32 * T::LOADING);
    for (auto& barrier : empty) initialize(&barrier, 32 * T::WARPS);
  }
  __syncthreads();
  if (warp >= T::WARPS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    load_parts<T>(ring, k, v, shape, share, warp - T::WARPS, full, empty);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

  // A thread has four neighbouring rows and keys, and four more.
  const int x = lane / 2 % T::LX, y = lane % 2 + lane / (2 * T::LX) * 2;
  // With a causal mask the last rows have most to do: a scheduler's two warps get the first and the last, or two in the middle.
  constexpr int OF_WARP = T::LY * 8;  // rows
  const int row_of_warp = (CAUSAL && warp >= 4 ? 11 - warp : warp) * OF_WARP;
  const int row = row_of_warp + y * 4;
  const auto row_of = [&](int i) { return row + i % 4 + i / 4 * (4 * T::LY); };
  const auto key_of = [&](int j) { return x * 4 + j % 4 + j / 4 * (4 * T::LX); };
  const std::uint32_t of_queries = address_of(queries + row),
                      of_weights = address_of(weights + row), of_ring = address_of(ring + 4 * x);
  Slot<T::SLOTS> slot;
  const auto await = [&] {
    wait_for(&full[slot.at], slot.parity);
    return of_ring + 4 * slot.at * T::PLACE;
  };
  const auto release = [&] {
    arrive(&empty[slot.at]);
    slot.advance();
  };
#pragma unroll 1
  for (Piece piece; share.next(piece);) {
    const int row0 = piece.row0, until = piece.tile0 + piece.tiles;
    __syncwarp();  // the warp's queries of the piece before have been read
#pragma unroll 4
    for (int i = lane; i < OF_WARP * T::D / 4; i += 32) {
      const int of_block = row_of_warp + i % OF_WARP, col = i / OF_WARP * 4;
      float4 four = make_float4(0, 0, 0, 0);
      if (row0 + of_block < shape.queries) {
        four = *reinterpret_cast<const float4*>(
            q + (size_t(piece.head) * shape.queries + row0 + of_block) * T::D + col);
      }
      float* const to = queries + col * T::BM + of_block;
      to[0] = scale * four.x, to[T::BM] = scale * four.y;
      to[2 * T::BM] = scale * four.z, to[3 * T::BM] = scale * four.w;
    }
    __syncwarp();
    const int first_sees = CAUSAL ? shape.seen(row0 + row_of_warp) : shape.keys;
    const int last_sees = CAUSAL ? shape.seen(row0 + row_of_warp + OF_WARP - 1) : shape.keys;
    float sums[8][8] = {}, max[8], sum[8] = {};
#pragma unroll
    for (float& m : max) m = -INFINITY;
#pragma unroll 1
    for (int tile = piece.tile0; tile < until; ++tile) {
      if (CAUSAL && tile * T::BN >= last_sees) {  // no row of the warp sees the tile
#pragma unroll 1
        for (int part = 0; part < 2 * T::PARTS; ++part) await(), release();
        continue;
      }
      float scores[8][8] = {};
#pragma unroll 1
      for (int part = 0; part < T::PARTS; ++part) {
        const std::uint32_t keys = await();
        add_product<T, T::KD, T::BM, T::KS>(scores, of_queries + 4 * part * T::KD * T::BM, keys);
        release();
      }
      if (tile * T::BN + T::BN > first_sees) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int last = CAUSAL ? shape.seen(row0 + row_of(i)) : shape.keys;
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            if (tile * T::BN + key_of(j) >= last) scores[i][j] = -INFINITY;
          }
        }
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float now = max[i];
#pragma unroll
        for (int j = 0; j < 8; ++j) now = fmaxf(now, scores[i][j]);
#pragma unroll
        for (int far = T::LX; far > 1; far /= 2) now = fmaxf(now, __shfl_xor_sync(ALL, now, far));
        const float by = finite(now), shrink = exp2_fast(max[i] - by);
        max[i] = now, sum[i] *= shrink;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          scores[i][j] = exp2_fast(scores[i][j] - by);
          sum[i] += scores[i][j], sums[i][j] *= shrink;
        }
      }
      __syncwarp();  // the warp's rows of the weights have been read
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int i = 0; i < 8; i += 4) {
          *reinterpret_cast<float4*>(weights + key_of(j) * T::PS + row_of(i)) =
              make_float4(scores[i][j], scores[i + 1][j], scores[i + 2][j], scores[i + 3][j]);
        }
      }
      __syncwarp();
#pragma unroll 1
      for (int part = 0; part < T::PARTS; ++part) {
        const std::uint32_t values = await();
        if (!CAUSAL || tile * T::BN + part * T::VK < last_sees) {
          add_product<T, T::VK, T::PS, T::D>(sums, of_weights + 4 * part * T::VK * T::PS, values);
        }
        release();
      }
    }
    if constexpr (CUT) {
      constexpr int COMPUTING = 32 * T::WARPS, EACH = 8 * (8 + 2);
      const auto sync = [] { asm volatile("bar.sync 1, %0;" ::"n"(COMPUTING) : "memory"); };
      if (piece.tile0 > 0) {  // another worker has the first tiles, and merges
        float* const to = found + size_t(worker) * EACH * COMPUTING + threadIdx.x;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
          for (int j = 0; j < 8; ++j) __stcg(to + (10 * i + j) * COMPUTING, sums[i][j]);
          __stcg(to + (10 * i + 8) * COMPUTING, max[i]);
          __stcg(to + (10 * i + 9) * COMPUTING, sum[i]);
        }
        __threadfence();
        sync();
        if (threadIdx.x == 0) atomicExch(ready + worker, 1);
        continue;
      }
      int missing = piece.total - until;
      for (int other = worker + 1; missing > 0; ++other) {
        const std::int64_t of_other = share.begin(other + 1) - share.begin(other);
        if (of_other == 0) continue;
        if (threadIdx.x == 0) {
          while (atomicAdd(ready + other, 0) == 0) __nanosleep(64);
          __threadfence();
          ready[other] = 0;  // for the next launch
        }
        sync();
        const float* const from = found + size_t(other) * EACH * COMPUTING + threadIdx.x;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float its = __ldcg(from + (10 * i + 8) * COMPUTING), now = fmaxf(max[i], its);
          const float own = exp2_fast(max[i] - finite(now)), by = exp2_fast(its - finite(now));
          max[i] = now, sum[i] = fmaf(by, __ldcg(from + (10 * i + 9) * COMPUTING), own * sum[i]);
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            sums[i][j] = fmaf(by, __ldcg(from + (10 * i + j) * COMPUTING), own * sums[i][j]);
          }
        }
        missing -= static_cast<int>(min(of_other, std::int64_t{missing}));
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int far = T::LX; far > 1; far /= 2) sum[i] += __shfl_xor_sync(ALL, sum[i], far);
      const float factor = sum[i] > 0 ? 1 / sum[i] : 0;
      if (row0 + row_of(i) >= shape.queries) continue;
      float* const to =
          out + (size_t(piece.head) * shape.queries + row0 + row_of(i)) * T::D + 4 * x;
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        *reinterpret_cast<float4*>(to + j * T::LX) =
            make_float4(sums[i][j] * factor, sums[i][j + 1] * factor, sums[i][j + 2] * factor,
                        sums[i][j + 3] * factor);
      }
    }
  }
}

// In TFLOP/s, beside PyTorch's memory-efficient kernel, which was timed in another run. In the second column a block has an item, as in
// `fused`, and of each head those with most tiles start first:
//
// | | `fused` | `loading_warps`, whole items | equal shares | PyTorch |
// |---|--:|--:|--:|--:|
// | 128 columns | 42 | 48 | 50 | 46 |
// | the same, causal | 38 | 44 | 48 | 44 |
// | 64 columns | 40 | 48 | 50 | 35 |
// | the same, causal | 36 | 45 | 48 | 33 |
//= | 42 | 48 | 50 | 46 |: (rate("fused/d=128,full") / 1000, rate("loading_warps/d=128,full,whole") / 1000,
//=   rate("loading_warps/d=128,full") / 1000, rate("fused/d=128,full", "4096,64", "h200_pytorch") / 1000)
//= | 38 | 44 | 48 | 44 |: (rate("fused/d=128,causal") / 1000, rate("loading_warps/d=128,causal,whole") / 1000,
//=   rate("loading_warps/d=128,causal") / 1000, rate("fused/d=128,causal", "4096,64", "h200_pytorch") / 1000)
//= | 40 | 48 | 50 | 35 |: (rate("fused/d=64,full") / 1000, rate("loading_warps/d=64,full,whole") / 1000,
//=   rate("loading_warps/d=64,full") / 1000, rate("fused/d=64,full", "4096,64", "h200_pytorch") / 1000)
//= | 36 | 45 | 48 | 33 |: (rate("fused/d=64,causal") / 1000, rate("loading_warps/d=64,causal,whole") / 1000,
//=   rate("loading_warps/d=64,causal") / 1000, rate("fused/d=64,causal", "4096,64", "h200_pytorch") / 1000)
//
// Equal shares gain 3.3 and 2.8 per cent without a mask: 2048 items are 15.5 for each of 132 SMs, so without them some SMs compute 16. With a
// causal mask, where long and short items come in turn, they gain 9 and 7 per cent. Which of the other changes gains how much is not measured.
//= gain 3.3 and 2.8 per cent: (100 * (ms("loading_warps/d=128,full,whole") / ms("loading_warps/d=128,full") - 1),
//=   100 * (ms("loading_warps/d=64,full,whole") / ms("loading_warps/d=64,full") - 1))
//= 2048 items are 15.5 for: (64 * 4096 / 128, 64 * 4096 / 128 / 132)
//= gain 9 and 7 per cent: (100 * (ms("loading_warps/d=128,causal,whole") / ms("loading_warps/d=128,causal") - 1),
//=   100 * (ms("loading_warps/d=64,causal,whole") / ms("loading_warps/d=64,causal") - 1))

// [hide] How it is launched and registered
namespace {

/// Launches `loading_warps`.
template <class T, bool CAUSAL, bool CUT>
void run_loading_warps(const AttentionData& a) {
  const auto kernel = loading_warps<T, CAUSAL, CUT>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::BYTES));
  const int blocks =
      CUT ? lab::multiprocessors() : lab::ceil_div(a.shape.queries, T::BM) * a.shape.heads;
  kernel<<<blocks, T::THREADS, T::BYTES>>>(a.out, a.q, a.k, a.v, a.shape, scale_of(T::D), a.found,
                                           a.ready);
}

using Apart128 = Apart<128, 16, 32, 4>;
using Apart64 = Apart<64, 8, 64, 5>;

template <class T, bool CAUSAL>
void add(AttentionLaunches& launches) {
  launches.push_back({"loading_warps", T::D, CAUSAL, run_loading_warps<T, CAUSAL, true>});
  launches.push_back(
      {"loading_warps", T::D, CAUSAL, run_loading_warps<T, CAUSAL, false>, ",whole"});
}

const lab::Rungs here([](AttentionLaunches& launches) {
  add<Apart128, false>(launches), add<Apart128, true>(launches);
  add<Apart64, false>(launches), add<Apart64, true>(launches);
});

}  // namespace
// [/hide]
