// ## BF16: weights that stay in registers (second reading)
//
// ```{drawing} operand
// ```
//
// Models keep Q, K and V in BF16, and tensor cores multiply them (chapter 17). What is fused about attention stays as it is in
// section 6: queries stay, tiles of keys and values stream, and each row carries (m, s, o). What changes is the path
// of the weights. In `fused` they go through shared memory, since one thread computes a weight and others multiply
// with it. With `mma.sync` that is not needed.
//
// A thread has, of a 16 x 8 tile of sums, two neighbours in each of two rows. Of a 16 x 16 left operand it has to have
// two neighbours in each of two rows, and the same eight columns further on. So two tiles of sums, rounded to BF16, *are*
// the operand, register by register.
//
// The maximum of a row is over four lanes, two shuffles. The sum of the weights stays with each lane until the end.
//
// `mma.sync` multiplies A with B, and B's two registers hold neighbours along the sum's index. For the scores that index
// runs along the rows of K, so `ldmatrix` loads K as it lies. For the outputs it runs along the keys, down the columns of V: that is
// `ldmatrix.trans`.
//
//? conflicts: Rows of K are 256 bytes apart. An `ldmatrix` of four 8 x 8 matrices takes 4 wavefronts at best. How many does
//?   it take in `fragments`?
//? answer: count("fragments/bf16,d=128,short,full", "shared_load_wavefronts") / count("fragments/bf16,d=128,short,full", "shared_load_requests")
//? unit: wavefronts
//? near: exact

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bf16.h"
#include "lab/lab.h"

/// A block's tiles. Each of WARPS warps has 16 M queries; SLOTS tiles of BN keys or values are in shared memory.
/// TOO_EARLY: a mistake, for a demonstration.
template <int D_, int BN_, int SLOTS_, bool SWIZZLED_, int M_ = 1, int WARPS_ = 8,
          bool TOO_EARLY_ = false>
struct Fragments {
  static constexpr int D = D_, BN = BN_, SLOTS = SLOTS_, M = M_, WARPS = WARPS_;
  static constexpr bool SWIZZLED = SWIZZLED_, TOO_EARLY = TOO_EARLY_;
  static constexpr int THREADS = 32 * WARPS, BM = 16 * M * WARPS;
  static constexpr unsigned SLOT_BYTES = 2 * BN * D, BYTES = 2 * BM * D + SLOTS * SLOT_BYTES;

  /// Where eight elements of a tile begin, in bytes: those from column 8 * chunk on. Where SWIZZLED, eight rows have them
  /// in eight different places of 128 bytes, as in chapter 17.
  static __device__ __forceinline__ unsigned at(int row, int chunk) {
    return row * (2 * D) + (chunk ^ (SWIZZLED ? row % 8 : 0)) * 16;
  }
};

/// d += a b for one 16 x 8 x 16 product, by one warp.
__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Loads four 8 x 8 matrices; lane l says where row l % 8 of matrix l / 8 is.
template <bool TRANSPOSED>
__device__ __forceinline__ void ldmatrix4(std::uint32_t (&f)[4], std::uint32_t row) {
  if constexpr (TRANSPOSED) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
  }
}

/// Starts to copy a tile of ROWS rows from `row` on; zeros for rows that do not exist.
template <class T, int ROWS>
__device__ __forceinline__ void copy_rows(std::uint32_t to, const bf16* from, int row, int rows) {
  constexpr int CHUNKS = T::D / 8;  // of a row
  static_assert(ROWS * CHUNKS % T::THREADS == 0 && T::THREADS % CHUNKS == 0);
  const int chunk = threadIdx.x % CHUNKS;
#pragma unroll
  for (int i = 0; i < ROWS * CHUNKS / T::THREADS; ++i) {
    const int r = threadIdx.x / CHUNKS + i * (T::THREADS / CHUNKS);
    const bool exists = row + r < rows;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + T::at(r, chunk)),
                 "l"(from + std::size_t(exists ? row + r : 0) * T::D + 8 * chunk),
                 "r"(exists ? 16 : 0)
                 : "memory");
  }
}

/// out = softmax(scale Q K^T) V. A warp's queries stay in registers, and so do its weights; tiles of keys and of values take
/// turns in a ring. A query that sees no key gets zeros.
///
/// Launch: T::THREADS threads with T::BYTES of dynamic shared memory; in x a block for each BM queries, in y for each head.
/// Requires: compute capability 8.0.
/// Source of the idea: Dao, FlashAttention-2, 2023.
template <class T, bool CAUSAL>
__global__ void __launch_bounds__(T::THREADS)
    attention_by_fragments(bf16* __restrict__ out, const bf16* __restrict__ q,
                           const bf16* __restrict__ k, const bf16* __restrict__ v, Heads shape,
                           float scale) {
  extern __shared__ uint4 memory[];
  const std::uint32_t queries = address_of(memory), ring = queries + 2 * T::BM * T::D;
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16 * T::M;  // of the warp's rows
  const std::size_t head = blockIdx.y, of_keys = head / shape.group * shape.keys * T::D;
  const int row0 = (gridDim.x - 1 - blockIdx.x) * T::BM;  // long rows first
  const int seen = CAUSAL ? shape.seen(min(row0 + T::BM, shape.queries) - 1) : shape.keys;
  const int tiles = (seen + T::BN - 1) / T::BN;

  // Tiles of K and V in turn: number n is of K where n is even.
  int fetched = 0, used = 0;
  const auto fetch = [&] {
    if (fetched < 2 * tiles) {
      copy_rows<T, T::BN>(ring + fetched % T::SLOTS * T::SLOT_BYTES,
                          (fetched % 2 ? v : k) + of_keys, fetched / 2 * T::BN, shape.keys);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    ++fetched;
  };
  const auto next = [&] {  // waits for a tile; the one before has been read by all
    if (T::SLOTS == 1) __syncthreads();
    if (T::SLOTS == 1 || T::TOO_EARLY) fetch();
    asm volatile("cp.async.wait_group %0;" ::"n"(T::SLOTS < 2 ? 0 : T::SLOTS - 2) : "memory");
    __syncthreads();
    if (T::SLOTS > 1 && !T::TOO_EARLY) fetch();
    return ring + used++ % T::SLOTS * T::SLOT_BYTES;
  };
  copy_rows<T, T::BM>(queries, q + head * shape.queries * T::D, row0, shape.queries);
  for (int s = 0; s < T::SLOTS - 1; ++s) fetch();  // the first group has the queries as well

  float sums[T::M][T::D / 8][4] = {};
  TwoRows softmax[T::M];
  for (int tile = 0; tile < tiles; ++tile) {
    float scores[T::M][T::BN / 8][4] = {};
    const std::uint32_t keys = next();
#pragma unroll
    for (int d = 0; d < T::D; d += 16) {
      std::uint32_t query[T::M][4];
#pragma unroll
      for (int m = 0; m < T::M; ++m) {
        ldmatrix4<false>(query[m], queries + T::at(first + 16 * m + lane % 16, d / 8 + lane / 16));
      }
#pragma unroll
      for (int n = 0; n < T::BN; n += 16) {
        std::uint32_t key[4];
        ldmatrix4<false>(key, keys + T::at(n + lane % 8 + lane / 16 * 8, d / 8 + lane / 8 % 2));
#pragma unroll
        for (int m = 0; m < T::M; ++m) {
          mma(scores[m][n / 8], query[m], key[0], key[1]);
          mma(scores[m][n / 8 + 1], query[m], key[2], key[3]);
        }
      }
    }
    std::uint32_t weights[T::M][T::BN / 16][4];
#pragma unroll
    for (int m = 0; m < T::M; ++m) {
      const int row = row0 + first + 16 * m + lane / 4;  // the thread's first of two
      if (tile * T::BN + T::BN > (CAUSAL ? shape.seen(row0 + first) : shape.keys)) {
        const int last[] = {CAUSAL ? shape.seen(row) : shape.keys,
                            CAUSAL ? shape.seen(row + 8) : shape.keys};
        mask_scores(scores[m], tile * T::BN, last);
      }
      float shrink[2];
      softmax[m].add(scores[m], scale, shrink);
      multiply_rows(sums[m], shrink);
      to_operand(weights[m], scores[m]);
    }
    const std::uint32_t values = next();
#pragma unroll
    for (int n = 0; n < T::BN; n += 16) {
#pragma unroll
      for (int d = 0; d < T::D; d += 16) {
        std::uint32_t value[4];
        ldmatrix4<true>(value, values + T::at(n + lane % 16, d / 8 + lane / 16));
#pragma unroll
        for (int m = 0; m < T::M; ++m) {
          mma(sums[m][d / 8], weights[m][n / 16], value[0], value[1]);
          mma(sums[m][d / 8 + 1], weights[m][n / 16], value[2], value[3]);
        }
      }
    }
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");  // a block may not end before its copies
#pragma unroll
  for (int m = 0; m < T::M; ++m) {
    float factor[2];
    softmax[m].finish(factor);
    multiply_rows(sums[m], factor);
    store_rows(out + head * shape.queries * T::D, sums[m], row0 + first + 16 * m + lane / 4,
               shape.queries);
  }
}

// It takes 32. The eight rows of a matrix lie in the same four banks, so each of the four matrices takes 8 wavefronts.
//= takes 32: count("fragments/bf16,d=128,short,full", "shared_load_wavefronts") / count("fragments/bf16,d=128,short,full", "shared_load_requests")
//= takes 8 wavefronts: count("fragments/bf16,d=128,short,full", "shared_load_wavefronts") / count("fragments/bf16,d=128,short,full", "shared_load_requests") / 4
//
// ### Four rungs, one kernel
//
// Each rung changes one thing.
//
// - `fragments` has one slot and waits for each tile at once.
// - `fragments_swizzled` puts the chunks of eight rows in eight different places. Then an `ldmatrix` takes 4 wavefronts.
// - `fragments_ring` has four slots, so three tiles are on their way while one is used.
// - `fragments_reused` has half as many warps with twice as many queries each. A fragment of K or V that a warp has loaded is multiplied
//   twice, and shared memory serves 0.56 of the requests.
//= takes 4 wavefronts: count("fragments_swizzled/bf16,d=128,short,full", "shared_load_wavefronts") / count("fragments_swizzled/bf16,d=128,short,full", "shared_load_requests")
//= 0.56 of the requests: count("fragments_reused/bf16,d=128,short,full", "shared_load_requests") / count("fragments_ring/bf16,d=128,short,full", "shared_load_requests")
//
// In TFLOP/s, for 4096 positions and heads of 128 columns without a mask, these make 46, 203, 257 and 344. Bank conflicts
// cost most by far. What holds the last one back is not measured.
//= make 46, 203, 257 and 344: (rate("fragments/bf16,d=128,short,full") / 1000, rate("fragments_swizzled/bf16,d=128,short,full") / 1000,
//=   rate("fragments_ring/bf16,d=128,short,full") / 1000, rate("fragments_reused/bf16,d=128,short,full") / 1000)
//
// A ring has its own mistake, and results that are right for a long time. `early_fetch` starts to copy before the barrier, into the slot
// that was read last: other warps may still be reading there. The simulator names the race.

// [hide] How the rungs are launched and registered
/// A launch of attention_by_fragments.
template <class T, bool CAUSAL>
static std::function<void()> launch_of(const Bf16Attention& a) {
  const auto kernel = attention_by_fragments<T, CAUSAL>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(T::BYTES)));
  const dim3 grid(lab::ceil_div(a.shape.queries, T::BM), a.shape.heads);
  return [=] { kernel<<<grid, T::THREADS, T::BYTES>>>(a.out, a.q, a.k, a.v, a.shape, a.scale); };
}

/// Adds a rung for both widths of a head, full and causal.
template <class Wide, class Narrow>
static void add(Bf16Launches& to, const char* rung) {
  to.push_back({rung, 128, false, launch_of<Wide, false>});
  to.push_back({rung, 128, true, launch_of<Wide, true>});
  to.push_back({rung, 64, false, launch_of<Narrow, false>});
  to.push_back({rung, 64, true, launch_of<Narrow, true>});
}

/// A tile is awaited at once; eight rows of it begin in the same bank.
static void fragments(Bf16Launches& to) {
  add<Fragments<128, 64, 1, false>, Fragments<64, 64, 1, false>>(to, "fragments");
}
/// Eight rows of a tile begin in eight places of 16 bytes.
static void fragments_swizzled(Bf16Launches& to) {
  add<Fragments<128, 64, 1, true>, Fragments<64, 64, 1, true>>(to, "fragments_swizzled");
}
/// Four slots: three tiles are on their way.
static void fragments_ring(Bf16Launches& to) {
  add<Fragments<128, 64, 4, true>, Fragments<64, 64, 4, true>>(to, "fragments_ring");
}
/// Four warps with 32 queries each, where the others have eight with 16.
static void fragments_reused(Bf16Launches& to) {
  add<Fragments<128, 64, 4, true, 2, 4>, Fragments<64, 64, 4, true, 2, 4>>(to, "fragments_reused");
}
/// A tile is overwritten before all warps have read it.
static void early_fetch(Bf16Launches& to) {
  to.push_back({.rung = "early_fetch",
                .d = 64,
                .causal = false,
                .prepare = launch_of<Fragments<64, 64, 4, true, 1, 8, true>, false>,
                .mistake = true});
}

static const lab::Rungs here([](Bf16Launches& to) {
  fragments(to), fragments_swizzled(to), fragments_ring(to), fragments_reused(to);
  early_fetch(to);
});

// [/hide]
