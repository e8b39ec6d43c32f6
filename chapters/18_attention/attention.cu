// # Chapter 18: Attention
//
// Question: Attention is two matrix products with a softmax between them. Why does it pay to make one kernel of the three?
// Minutes: 30
// Afterwards: merge partial softmaxes, and write attention that never stores its scores
// Builds on: 07_reductions, 11_pipelines
// Kind: free
// Size gpu: 4096,64
// Size simulator: 75,2
// Run: ./learn run 18
//   ./learn run 18 --rung three_passes   softmax of rows: maximum, sum, quotient, a block a row
//   ./learn run 18 --rung online         the sum is corrected when the maximum grows: two passes
//   ./learn run 18 --rung no_maximum     exp(x) as it is: large elements overflow
//   ./learn run 18 --rung special_rows   -inf, +inf and NaN in rows, by a softmax and the norms
//   ./learn run 18 --rung warp_row       a warp keeps a row in registers: one pass
//   ./learn run 18 --rung block_row      a block keeps it
//   ./learn run 18 --rung cluster_row    the blocks of a cluster keep it together [needs sm_90]
//   ./learn run 18 --rung variance       the variance of rows, by two sums and by Welford's merge
//   ./learn run 18 --rung three_kernels  scores to memory, softmax, product with V
//   ./learn run 18 --rung query_a_warp   one kernel: a warp has a query and walks over the keys
//   ./learn run 18 --rung fused          one kernel: tiles of queries stay, tiles of keys stream
//   ./learn run 18 --rung loading_warps  four warps load, eight compute [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 18 --rung no_rescale     the output is not rescaled when the maximum grows
//   ./learn run 18 --rung late_mask      masked keys take part in the maximum
//   ./learn run 18 --rung early_exit     warps without a query return before the barrier [raises uninitialized-shared]
//   ./learn run 18 --rung fragments      BF16: weights stay in registers, as operands of the next product
//   ./learn run 18 --rung fragments_swizzled  tiles in shared memory in an order without bank conflicts
//   ./learn run 18 --rung fragments_ring  asynchronous copies into a ring
//   ./learn run 18 --rung fragments_reused  a warp has twice the queries, and multiplies each fragment twice
//   ./learn run 18 --rung early_fetch    a tile is overwritten before all have read it [raises shared-race]
//   ./learn run 18 --rung boxes          Hopper: boxes by the TMA, wgmma, one warpgroup that computes
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung two_groups     two of them share the tiles of keys and values
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung turns          they take turns: one's softmax behind the other's products
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung ahead          a softmax begins before the last products are complete
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung three_groups   three warpgroups, for heads of 64 columns
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung persistent     blocks stay, and take every 132nd item
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung dealt_items    each block gets as much to do
//                                        [needs sm_90a, cuda 12.9]
//   ./learn run 18 --rung decode         one query a head: the keys are split among blocks
//   ./learn run 18 --rung paged          the same, with a cache in pages

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bf16.h"
#include "fp32.h"
#include "lab/lab.h"
#include "rows.h"

using std::size_t;

// Attention is the part of a language model in which positions exchange information. Each position of a text has a *query*,
// a *key* and a *value*, rows of D numbers. A query is multiplied with all keys, a softmax turns these scores into weights
// that add up to 1, and the output is the sum of the values with these weights:
//
// ```text
// scores = Q K^T / sqrt(D)      weights = softmax(scores)      out = weights V
// ```
//
// For S positions there are S x S scores. If they go to memory between the three steps, most of the bytes that
// move are theirs. The chapter ends with kernels that never store them. What makes that possible is a softmax that can be
// computed piece by piece, so it begins with rows.
//
// Counts are for the simulator's default, sequences of 75 positions with two heads. Times are those of an NVIDIA H200, for
// 4096 positions with 64 heads of 128 columns, or 128 heads of 64. Rows come in four lengths there: 65536 rows of 128
// elements (`tiny`), and 8192 of 1024 (`short`), 4096 (`middle`) and 32768 (`long`). Their peer is a `cudaMemcpy` of
// as many elements.

// ## 1. Softmax of a row
//
// The {term}`softmax` of a row is exp(x) over the sum of all exp(x). In floats, exp(x) is infinite from x = 88.8 on. So the
// largest element is subtracted from all: numerator and denominator get the same factor, and no exponent is above 0.
// Written down like that it takes three passes: for the maximum, for the sum, and for the quotients.
//
//? three_reads: How many load requests does `three_passes` make for a row of 600 elements, with its 8 warps?
//? answer: count("three_passes/softmax,long", "global_load_requests") / 150
//? unit: requests
//? near: exact

constexpr int BLOCK = 256;  ///< threads of a block where nothing else is said

/// The largest value, or the sum, over all threads of a block; each thread gets it.
template <bool MAX>
__device__ float over_block(float value) {
  __shared__ float part[32];
  const auto combine = [](float a, float b) { return MAX ? fmaxf(a, b) : a + b; };
  for (int far = 16; far > 0; far /= 2) value = combine(value, __shfl_xor_sync(ALL, value, far));
  __syncthreads();  // nobody reads what an earlier call left
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w) value = combine(value, part[w]);
  return value;
}

/// out = softmax of each row of in: one pass for the maximum, one for the sum, one to write.
///
/// Launch: a block of a multiple of 32 threads for each row.
__global__ void three_passes(float* __restrict__ out, const float* __restrict__ in, int cols) {
  const float* const row = in + size_t{blockIdx.x} * cols;
  float max = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) max = fmaxf(max, row[c]);
  max = finite(over_block<true>(max));

  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c] - max);
  sum = over_block<false>(sum);

  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[size_t{blockIdx.x} * cols + c] = expf(row[c] - max) / sum;
  }
}

// 57: a pass takes 19, as the last of 19 warps' shares has 24 elements, and there are three passes.
//= 57: count("three_passes/softmax,long", "global_load_requests") / 150
//= takes 19: count("three_passes/softmax,long", "global_load_requests") / 150 / 3
//
// What if the first pass is left out? The rung `no_maximum` has six rows; in every second one the elements reach
// 200.
//
//? overflow: What does `no_maximum` return for the rows whose elements reach 200?
//? choices: the right result | zeros | NaN and zeros
//? answer: "NaN and zeros"

/// What `three_passes` does without its first pass: exp(x) overflows from 88.8 on.
///
/// Launch: as `three_passes`.
__global__ void no_maximum(float* __restrict__ out, const float* __restrict__ in, int cols) {
  const float* const row = in + size_t{blockIdx.x} * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c]);
  sum = over_block<false>(sum);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[size_t{blockIdx.x} * cols + c] = expf(row[c]) / sum;
  }
}

// An infinite exp(x) makes the sum infinite. A finite number over infinity is 0, infinity over infinity is NaN. The rung
// passes if exactly these rows are wrong. Such elements are common in attention, where a score is a sum of 128
// products.

// ## 2. The online softmax
//
// Can maximum and sum be found in one pass? Say that m is the largest of the elements so far, and s the sum of their
// exp(x - m). Now comes an element x that is larger. Each term of s was computed with the wrong maximum, but all of them are
// wrong by the same factor:
//
// ```text
// exp(x_i - x) = exp(x_i - m) exp(m - x)      so      s becomes  s exp(m - x) + 1
// ```
//
// This is the {term}`online softmax`. Nothing is special about a single element: two *parts* of a row, with (m_a, s_a) and
// (m_b, s_b), are merged in the same way.
//
// ```text
// m = max(m_a, m_b)      s = s_a exp(m_a - m) + s_b exp(m_b - m)
// ```
//
// ```{drawing} merge
// ```
//
// The operator is associative and commutative, and (-infinity, 0) is its neutral element. So everything that chapters 07
// and 08 did with sums works with it: lanes merge by shuffles, warps through shared memory, blocks through global memory.
// In code it is `Softmax::merge` in `rows.h`. There exp(x) is 2^(x log2 e), as the hardware computes powers of two.

/// Merges the states of all threads of a block; each gets the result. Where ALIKE, all have the same number of elements.
template <class Op, int WARPS, bool ALIKE = false>
__device__ typename Op::State merged_by_block(typename Op::State state) {
  __shared__ typename Op::State part[WARPS];
  state = merged_by_warp<Op, ALIKE>(state);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = state;
  __syncthreads();
  return merged_by_warp<Op, ALIKE, WARPS>(part[threadIdx.x % WARPS]);
}

/// out = softmax of each row of in: maximum and sum in one pass, one pass to write.
///
/// Launch: a block of BLOCK threads for each row.
/// Source of the idea: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018.
__global__ void __launch_bounds__(BLOCK)
    online(float* __restrict__ out, const float* __restrict__ in, int cols) {
  const float* const row = in + size_t{blockIdx.x} * cols;
  float max = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float x = row[c], now = fmaxf(max, x);
    sum = sum * expf(max - finite(now)) + expf(x - finite(now));  // the old sum had the old maximum
    max = now;
  }
  const Softmax::State all = merged_by_block<Softmax, BLOCK / 32>({max, sum});
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[size_t{blockIdx.x} * cols + c] = expf(row[c] - finite(all.max)) / all.sum;
  }
}

// A copy moves each element twice, `three_passes` four times, and `online` three times. If all of that crossed to memory, at a copy's
// rate, they would reach 0.50 and 0.67 of it. For rows of 32768 elements they reach 0.32 and 0.52. For rows of 4096 `online` reaches
// 0.74, more than that bound. How much of a row's later reads the caches serve, and what else holds the long rows back, is not measured.
//= 0.50 and 0.67: (2 / 4, 2 / 3)
//= reach 0.32 and 0.52: (ratio("three_passes/softmax,long"), ratio("online/softmax,long"))
//= 0.74, more: ratio("online/softmax,middle")

// ## 3. One pass: who can keep a row?
//
// A row that is kept on the chip is read once. Registers are the largest memory there, 256 KiB on each SM. A warp keeps a
// short row: each lane loads its float4s, reduces them to a state, and merges it with those of the other lanes. Then it maps
// what it still has.
//
//? warp_row_share: Which part of the rate of a copy does `warp_row` reach for rows of 1024?
//? answer: ratio("warp_row/softmax,short")
//? unit: of the rate
//? near: 10 %

constexpr int WARP_ROWS = 4;  ///< rows of a block of `warp_row`, a warp each

/// Each row by one warp, which keeps it in registers: reduce to a state, merge the lanes' states, map.
///
/// Launch: a block of 32 * WARP_ROWS threads for each WARP_ROWS rows; cols <= 128 * N. Where WIDE, cols is a multiple of 4.
template <class Op, bool WIDE, int N>
__global__ void __launch_bounds__(32 * WARP_ROWS)
    warp_row(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ gamma,
             const float* __restrict__ beta, int rows, int cols) {
  const int row = blockIdx.x * WARP_ROWS + threadIdx.x / 32, first = threadIdx.x % 32 * 4;
  if (row >= rows) return;
  float4 x[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    x[i] = load_float4<WIDE>(in + size_t(row) * cols, first + 128 * i, cols, Op::pad);
  }
  const auto own = Op::template of<WIDE>(x, first, 128, cols);
  const auto all = cols == 128 * N ? merged_by_warp<Op, true>(own) : merged_by_warp<Op>(own);
  write_mapped<Op, WIDE>(out + size_t(row) * cols, x, all, gamma, beta, first, 128, cols);
}

// 1.01: a softmax costs what a copy costs. For 128 elements, one float4 a lane, it is 0.98.
//= 1.01: ratio("warp_row/softmax,short")
//= is 0.98: ratio("warp_row/softmax,tiny")
//
// Rows may have elements that are not finite. A masked score is -inf: its exp is 0, as if the element were not there. If all
// elements are -inf, there is no softmax: 0 / 0 is NaN, as in PyTorch. But a maximum of -inf must not be subtracted, since -inf - -inf
// makes NaN of a mere *part* of the row, so `finite()` puts a 0 in its place. An element that is NaN has to reach the whole row. `fmaxf`
// ignores it, but the sum does not. The rung `special_rows` has such rows, for the kernels of this section and the norms of section 4.
//
// A longer row needs a block: its warps merge through shared memory. 32768 elements are 16 float4s for each of 512
// threads, half of an SM's registers.

/// The same by a block of THREADS threads.
///
/// Launch: a block of THREADS threads for each row; cols <= 4 * THREADS * N. Where WIDE, cols is a multiple of 4; where ALIKE,
/// cols = 4 * THREADS * N.
template <class Op, bool WIDE, int N, int THREADS, bool ALIKE = false>
__global__ void __launch_bounds__(THREADS)
    block_row(float* __restrict__ out, const float* __restrict__ in,
              const float* __restrict__ gamma, const float* __restrict__ beta, int cols) {
  const int first = threadIdx.x * 4;
  const float* const row = in + size_t{blockIdx.x} * cols;
  float4 x[N];
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = load_float4<WIDE>(row, first + 4 * THREADS * i, cols, Op::pad);
  const auto own = Op::template of<WIDE>(x, first, 4 * THREADS, cols);
  const auto all = merged_by_block<Op, THREADS / 32, ALIKE>(own);
  write_mapped<Op, WIDE>(out + size_t{blockIdx.x} * cols, x, all, gamma, beta, first, 4 * THREADS,
                         cols);
}

//? long_rows: Only one such block fits on an SM: while it waits for its row, nothing computes, and while it computes, nothing
//?   is loaded. Which part of a copy does `block_row` reach for rows of 32768?
//? choices: below 0.7 | 0.7 to 0.9 | above 0.9
//? answer: {"below 0.7": ratio("block_row/softmax,long") < 0.7,
//?   "0.7 to 0.9": 0.7 <= ratio("block_row/softmax,long") < 0.9,
//?   "above 0.9": ratio("block_row/softmax,long") >= 0.9}
//
// 0.98. The middle rows, which leave room for four blocks on an SM, reach 0.99. Hopper's clusters can share a long row
// among several SMs, as the second reading on clusters shows. For a softmax that is a loss here, with 0.85.
//= 0.98. The: ratio("block_row/softmax,long")
//= reach 0.99: ratio("block_row/softmax,middle")
//= here, with 0.85: ratio("cluster_row/softmax,long")

// ## 4. Norms
//
// Layer norm subtracts the mean of a row and divides by its standard deviation; RMS norm divides by the root of the mean
// square. Both then multiply with weights. They have the form of the softmax: a state, a merge, a map. So `warp_row` and
// `block_row` take the operation as a template parameter, and only the state is new.
//
// For the variance there is a short way: add up x and x^2, and subtract the square of the mean from the mean of the squares.
// The other way is {term}`Welford's algorithm <Welford’s algorithm>`: a part has its number of elements, their mean, and the sum of the squares
// of their distances *from that mean*. When two parts are merged, the distance of their means contributes:
//
// ```text
// n = n_a + n_b      d = mean_b - mean_a
// mean = mean_a + d n_b / n      squares = squares_a + squares_b + d^2 n_a n_b / n
// ```
//
// The rung `variance` has rows with a mean near 1000 and a variance of 0.27.
//
//? two_sums_error: How wrong is the variance by two sums?
//? answer: error("variance/by=two_sums")
//? unit: in the same unit as the variance
//? near: factor 4

/// The variance of each row: by Welford's merge, or as the mean of the squares less the square of the mean.
///
/// Launch: a block of BLOCK threads for each row.
/// Source of the idea: Welford 1962; the merge is by Chan, Golub and LeVeque, 1979.
template <bool TWO_SUMS>
__global__ void variance(float* __restrict__ out, const float* __restrict__ in, int cols) {
  const float* const row = in + size_t{blockIdx.x} * cols;
  if constexpr (TWO_SUMS) {
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      sum += row[c];
      squares = fmaf(row[c], row[c], squares);
    }
    const float mean = over_block<false>(sum) / cols;
    squares = over_block<false>(squares) / cols;
    if (threadIdx.x == 0) out[blockIdx.x] = squares - mean * mean;  // of nearly equal numbers
  } else {
    LayerNorm::State own = LayerNorm::none();
    for (int c = threadIdx.x; c < cols; c += BLOCK) own = LayerNorm::merge(own, {1, row[c], 0});
    const auto all = merged_by_block<LayerNorm, BLOCK / 32>(own);
    if (threadIdx.x == 0) out[blockIdx.x] = all.squares / cols;
  }
}

// The error is of the size of the variance itself; a square root of a negative number has ended many a training run.
// A float near 10^6 has a spacing of 0.06, and the difference of two such numbers cannot be better. Welford's way is wrong by
// less than 0.00001.
//= 0.06: 2 ** -4
//= less than 0.00001: error("variance/by=welford")
//
// With the blocks of the softmax, of 512 threads, layer norm reaches 0.90 of the copy for rows of 4096 elements, and 0.85 for 32768. Other
// blocks are better: 256 threads with four float4s each reach 0.97 for the middle rows, and 1024 threads with eight each 0.96 for the
// long ones. If all threads have as many elements, a merge needs no division; with divisions the long rows reach 0.92. For rows of
// 128 and 1024 it is 0.95. RMS norm, with half as many weights and a simpler state, reaches 0.94 for
// the long rows with 512 threads. Why the number of threads matters so much is not measured.
//= reaches 0.90 of: ratio("block_row/layer_norm,middle,threads=512")
//= and 0.85 for: ratio("block_row/layer_norm,long,threads=512")
//= reach 0.97 for the middle: ratio("block_row/layer_norm,middle")
//= each 0.96 for: ratio("block_row/layer_norm,long")
//= rows reach 0.92: ratio("block_row/layer_norm,long,divisions")
//= is 0.95. RMS: ratio("warp_row/layer_norm,tiny")
//= is 0.95. RMS: ratio("block_row/layer_norm,short")
//= reaches 0.94 for: ratio("block_row/rms_norm,long")

// ## 5. Attention in three kernels
//
// Now the attention itself, first in three kernels: `scores_to_memory`, the softmax of section 3, and
// `weighted_sum`. The two products are those of chapters 05 and 11. A block has a tile of BM queries; tiles of BN keys, or
// values, stream through a ring in shared memory by `cp.async`. A thread has 8 x 8 scores, or 8 x 8 elements of the
// output. All that is new is that they are made of parts, which the next section puts together.

/// A tile of BM queries and one of BN keys, and how a block's threads divide them. A warp has whole rows, each LX lanes
/// wide; a thread has ROWS rows, KEYS keys of them, and COLS columns of the output.
template <int D_, int WARPS_, int LX_, int KEYS_, int STAGES_, bool IN_ORDER_ = false>
struct Tile {
  static constexpr int D = D_, WARPS = WARPS_, THREADS = 32 * WARPS;
  static constexpr int LX = LX_, LY = 32 / LX;                 // lanes along a row, rows of lanes
  static constexpr int ROWS = 8, KEYS = KEYS_, COLS = D / LX;  // of a thread
  static constexpr int BM = WARPS * LY * ROWS, BN = LX * KEYS;
  static constexpr int KD = 32;          // columns of K in a part of it
  static constexpr int PARTS = D / KD;   // of a tile of K, and of one of V
  static constexpr int VK = BN / PARTS;  // keys in a part of V
  // Rows in shared memory: padded so that the rows which lanes read at the same time lie in different banks.
  static constexpr int KS = KD + 4, QS = D + LX, PS = BN + LX;
  static constexpr int PLACE = BN * KS;        // floats that the ring has for a part
  static constexpr int STAGES = STAGES_;       // of the ring
  static constexpr bool IN_ORDER = IN_ORDER_;  // of the lanes, for comparison
  static constexpr int BYTES = 4 * (BM * (QS + PS) + STAGES * PLACE);
};

/// Brings K, V, or both in turn from global to shared memory, part by part, STAGES - 1 parts ahead of their use.
///
/// A part of K has all BN keys of a tile and KD columns, its rows KS floats long; one of V has VK keys and all D columns.
/// Keys that do not exist are zeros.
template <class T, bool OF_K, bool OF_V>
class Stream {
 public:
  __device__ __forceinline__ Stream(float* ring, const float* k, const float* v, int keys,
                                    int tiles)
      : ring_(ring),
        k_from_(k + size_t(k_row()) * T::D + threadIdx.x % (T::KD / 4) * 4),
        v_from_(v + size_t(threadIdx.x) * 4),
        keys_(keys),
        parts_(tiles * PARTS) {
#pragma unroll
    for (int s = 0; s < T::STAGES - 1; ++s) fetch();
  }
  /// Waits for the next part, starts to fetch another, and says where the part is. A barrier for the block: what it read
  /// of the part before, it has read.
  __device__ __forceinline__ const float* next() {
    __pipeline_wait_prior(T::STAGES - 2);
    __syncthreads();
    fetch();
    const float* const part = ring_ + place_ * T::PLACE;
    place_ = place_ + 1 == T::STAGES ? 0 : place_ + 1;
    return part;
  }

 private:
  static constexpr int K_PARTS = OF_K ? T::PARTS : 0, PARTS = K_PARTS + (OF_V ? T::PARTS : 0);
  static constexpr int COPIES =
      T::BN * T::KD / 4 / T::THREADS;  // of 16 bytes, for each thread and part
  static constexpr int K_STEP = T::THREADS / (T::KD / 4), V_STEP = T::THREADS / (T::D / 4);

  static __device__ __forceinline__ int k_row() { return threadIdx.x / (T::KD / 4); }
  static __device__ __forceinline__ int v_row() { return threadIdx.x / (T::D / 4); }

  __device__ __forceinline__ void fetch() {
    if (fetched_ < parts_) {
      const int key0 = fetched_ / PARTS * T::BN, part = fetched_ % PARTS;
      const bool whole = key0 + T::BN <= keys_;
      float* const to = ring_ + fetch_place_ * T::PLACE;
      if (OF_K && part < K_PARTS) {
        copy<K_STEP * T::KS, K_STEP * T::D, K_STEP>(
            to + k_row() * T::KS + threadIdx.x % (T::KD / 4) * 4,
            k_from_ + size_t(key0) * T::D + part * T::KD, whole, keys_ - key0 - k_row());
      } else {
        const int first = key0 + (part - K_PARTS) * T::VK;
        copy<V_STEP * T::D, V_STEP * T::D, V_STEP>(
            to + 4 * threadIdx.x, v_from_ + size_t(first) * T::D, whole, keys_ - first - v_row());
      }
    }
    __pipeline_commit();
    ++fetched_, fetch_place_ = fetch_place_ + 1 == T::STAGES ? 0 : fetch_place_ + 1;
  }
  /// A thread's copies of a part, each STEP rows after the one before; `left` keys are there from the first on.
  template <int TO, int FROM, int STEP>
  __device__ __forceinline__ void copy(float* to, const float* from, bool whole, int left) {
    if (whole) {
#pragma unroll
      for (int n = 0; n < COPIES; ++n) __pipeline_memcpy_async(to + n * TO, from + n * FROM, 16);
    } else {
#pragma unroll
      for (int n = 0; n < COPIES; ++n) {
        const bool there = n * STEP < left;
        __pipeline_memcpy_async(to + n * TO, there ? from + n * FROM : k_from_, 16, there ? 0 : 16);
      }
    }
  }

  float* const ring_;
  const float *const k_from_, *const v_from_;
  const int keys_, parts_;
  int fetched_ = 0, fetch_place_ = 0, place_ = 0;
};

/// A thread's place in its block's tiles.
///
/// Neighbouring lanes have different rows, and the same place along them: a 128-bit read is served for 16 lanes at a time
/// where each lane i reads the address of lane i ^ 1, or of lane i ^ 2.
template <class T>
struct Place {
  int lane = threadIdx.x % 32;
  int x = T::IN_ORDER ? lane % T::LX : lane / 2 % T::LX;  // along a row
  int y = T::IN_ORDER ? lane / T::LX : lane % 2 + lane / (2 * T::LX) * 2;
  int row = threadIdx.x / 32 * (T::LY * T::ROWS) + y;  // the thread's first row
  /// What the lane `far` places further along the row has.
  __device__ float shuffled_along(float value, int far) const {
    return __shfl_xor_sync(ALL, value, T::IN_ORDER ? far : 2 * far);
  }
  /// Row i of the thread.
  __device__ int row_of(int i) const { return row + i * T::LY; }
};

/// Adds the part's share of Q K^T: scores[i][j] is that of the thread's query i and its key x + LX j.
///
/// @param q  the block's queries, (BM, QS), from the part's first column on
/// @param k  the part of K, (BN, KS)
template <class T>
__device__ __forceinline__ void add_scores(float (&scores)[T::ROWS][T::KEYS], const float* q,
                                           const float* k, const Place<T>& at) {
  q += at.row * T::QS, k += at.x * T::KS;
#pragma unroll 4
  for (int d = 0; d < T::KD; d += 4) {
    float4 keys[T::KEYS];
#pragma unroll
    for (int j = 0; j < T::KEYS; ++j) {
      keys[j] = *reinterpret_cast<const float4*>(k + j * T::LX * T::KS + d);
    }
#pragma unroll
    for (int i = 0; i < T::ROWS; ++i) {
      const float4 query = *reinterpret_cast<const float4*>(q + i * T::LY * T::QS + d);
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) scores[i][j] = fmaf(query.x, keys[j].x, scores[i][j]);
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) scores[i][j] = fmaf(query.y, keys[j].y, scores[i][j]);
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) scores[i][j] = fmaf(query.z, keys[j].z, scores[i][j]);
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) scores[i][j] = fmaf(query.w, keys[j].w, scores[i][j]);
    }
  }
}

/// Adds the part's share of P V: column t of out[i] is column (t / 4 * LX + x) * 4 + t % 4 of the output.
///
/// @param p  the block's weights, (BM, PS), from the part's first key on
/// @param v  the part of V, (VK, D)
template <class T>
__device__ __forceinline__ void add_output(float (&out)[T::ROWS][T::COLS], const float* p,
                                           const float* v, const Place<T>& at) {
  p += at.row * T::PS, v += at.x * 4;
#pragma unroll 4
  for (int key = 0; key < T::VK; key += 4) {
    float weights[T::ROWS][4];
#pragma unroll
    for (int i = 0; i < T::ROWS; ++i) {
      *reinterpret_cast<float4*>(weights[i]) =
          *reinterpret_cast<const float4*>(p + i * T::LY * T::PS + key);
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      float values[T::COLS];
#pragma unroll
      for (int t = 0; t < T::COLS; t += 4) {
        *reinterpret_cast<float4*>(values + t) =
            *reinterpret_cast<const float4*>(v + (key + n) * T::D + t * T::LX);
      }
#pragma unroll
      for (int i = 0; i < T::ROWS; ++i) {
#pragma unroll
        for (int t = 0; t < T::COLS; ++t) out[i][t] = fmaf(weights[i][n], values[t], out[i][t]);
      }
    }
  }
}

/// Copies a block's queries to shared memory, (BM, QS), each times `scale`; zeros for those that do not exist.
template <class T>
__device__ __forceinline__ void load_queries(float* to, const float* q, int row0, int queries,
                                             float scale) {
  for (int i = threadIdx.x; i < T::BM * T::D / 4; i += T::THREADS) {
    const int row = i / (T::D / 4), col = i % (T::D / 4) * 4;
    float4 four = make_float4(0, 0, 0, 0);
    if (row0 + row < queries)
      four = *reinterpret_cast<const float4*>(q + size_t(row0 + row) * T::D + col);
    four.x *= scale, four.y *= scale, four.z *= scale, four.w *= scale;
    *reinterpret_cast<float4*>(to + row * T::QS + col) = four;
  }
}

/// Writes a thread's part of the output, its row i times factor[i].
template <class T>
__device__ __forceinline__ void store_output(float* to, const float (&out)[T::ROWS][T::COLS],
                                             const float (&factor)[T::ROWS], int row0, int queries,
                                             const Place<T>& at) {
#pragma unroll
  for (int i = 0; i < T::ROWS; ++i) {
    const int row = row0 + at.row_of(i);
    if (row >= queries) continue;
#pragma unroll
    for (int t = 0; t < T::COLS; t += 4) {
      *reinterpret_cast<float4*>(to + size_t(row) * T::D + t * T::LX + at.x * 4) =
          make_float4(out[i][t] * factor[i], out[i][t + 1] * factor[i], out[i][t + 2] * factor[i],
                      out[i][t + 3] * factor[i]);
    }
  }
}

/// s = scale Q K^T, (heads, queries, keys); -inf for keys that a query does not see.
///
/// Launch: T::THREADS threads with T::BYTES of dynamic shared memory; in x a block for each BM queries, in y for each head.
template <class T, bool CAUSAL>
__global__ void __launch_bounds__(T::THREADS)
    scores_to_memory(float* __restrict__ s, const float* __restrict__ q,
                     const float* __restrict__ k, Heads shape, float scale) {
  extern __shared__ float4 shared[];
  float* const queries = reinterpret_cast<float*>(shared);  // (BM, QS)
  const size_t head = blockIdx.y;
  const int row0 = blockIdx.x * T::BM;
  const float* const keys_of_head = k + head / shape.group * shape.keys * T::D;
  const Place<T> at;
  const int tiles = (shape.keys - 1) / T::BN + 1;
  Stream<T, true, false> stream(queries + T::BM * T::QS, keys_of_head, nullptr, shape.keys, tiles);
  load_queries<T>(queries, q + head * shape.queries * T::D, row0, shape.queries, scale);
  for (int tile = 0; tile < tiles; ++tile) {
    float scores[T::ROWS][T::KEYS] = {};
#pragma unroll 1
    for (int part = 0; part < T::PARTS; ++part) {
      const float* const keys = stream.next();
      add_scores<T>(scores, queries + part * T::KD, keys, at);
    }
#pragma unroll
    for (int i = 0; i < T::ROWS; ++i) {
      const int row = row0 + at.row_of(i);
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) {
        const int key = tile * T::BN + at.x + j * T::LX;
        if (row < shape.queries && key < shape.keys) {
          s[(head * shape.queries + row) * shape.keys + key] =
              CAUSAL && key >= shape.seen(row) ? -INFINITY : scores[i][j];
        }
      }
    }
  }
}

/// out = P V, with the weights P (heads, queries, keys) in memory.
///
/// Launch: as `scores_to_memory`.
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    weighted_sum(float* __restrict__ out, const float* __restrict__ p, const float* __restrict__ v,
                 Heads shape) {
  extern __shared__ float4 shared[];
  float* const weights = reinterpret_cast<float*>(shared);  // (BM, PS)
  const size_t head = blockIdx.y;
  const int row0 = blockIdx.x * T::BM;
  const Place<T> at;
  const int tiles = (shape.keys - 1) / T::BN + 1;
  Stream<T, false, true> stream(weights + T::BM * T::PS, nullptr,
                                v + head / shape.group * shape.keys * T::D, shape.keys, tiles);
  float sums[T::ROWS][T::COLS] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    __syncthreads();  // nobody reads the weights before
    for (int i = threadIdx.x; i < T::BM * T::BN; i += T::THREADS) {
      const int row = i / T::BN, key = tile * T::BN + i % T::BN;
      const bool there = row0 + row < shape.queries && key < shape.keys;
      weights[row * T::PS + i % T::BN] =
          there ? p[(head * shape.queries + row0 + row) * shape.keys + key] : 0;
    }
#pragma unroll 1
    for (int part = 0; part < T::PARTS; ++part) {
      const float* const values = stream.next();
      add_output<T>(sums, weights + part * T::VK, values, at);
    }
  }
  float one[T::ROWS];
#pragma unroll
  for (int i = 0; i < T::ROWS; ++i) one[i] = 1;
  store_output<T>(out + head * shape.queries * T::D, sums, one, row0, shape.queries, at);
}

// The scores of 64 heads with 4096 positions take 4.3 GB, which are written, read and written by the softmax, and read again. Q, K, V and the output are 0.54 GB together.
//= 4.3 GB: 64 * 4096 ** 2 * 4 / 1e9
//= are 0.54 GB: 4 * 64 * 4096 * 128 * 4 / 1e9
//
// The three kernels take 21 ms, which is 27 TFLOP/s.
//= take 21 ms: ms("three_kernels/d=128,full")
//= is 27 TFLOP/s: rate("three_kernels/d=128,full") / 1000

// ## 6. One kernel
//
// The output of a query is a sum with weights exp(score - m). When m grows, all of its terms are wrong by the same factor
// as those of the sum: so the output can be corrected in the same way. Its state is (m, s, o), and o / s is computed at the
// very end. A query can walk over the keys in one pass, and no score is ever stored.
//
// ```{drawing} rescaled
// ```
//
// The first kernel does just that: a warp has a query, and each of its lanes four of the 128 columns.
//
//? warp_query: It saves all traffic of the scores. Which way is faster?
//? choices: the one that stores them | the one that does not
//? answer: {"the one that stores them": ms("three_kernels/d=128,full") < ms("query_a_warp/d=128,full"),
//?   "the one that does not": ms("query_a_warp/d=128,full") < ms("three_kernels/d=128,full")}

/// out = softmax(scale Q K^T) V. A warp has one query: each lane D / 32 columns of it and of the output.
///
/// Launch: blocks of BLOCK threads; in x one for each BLOCK / 32 queries, in y for each head.
template <int D, bool CAUSAL>
__global__ void __launch_bounds__(BLOCK)
    query_a_warp(float* __restrict__ out, const float* __restrict__ q, const float* __restrict__ k,
                 const float* __restrict__ v, Heads shape, float scale) {
  constexpr int COLS = D / 32;
  const size_t head = blockIdx.y;
  const int row = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= shape.queries) return;
  const size_t of_keys = head / shape.group * shape.keys * D + lane;
  float query[COLS], sums[COLS] = {}, max = -INFINITY, sum = 0;
#pragma unroll
  for (int c = 0; c < COLS; ++c)
    query[c] = scale * q[(head * shape.queries + row) * D + lane + 32 * c];
  const int last = CAUSAL ? shape.seen(row) : shape.keys;
  for (int key = 0; key < last; ++key) {
    float score = 0;
#pragma unroll
    for (int c = 0; c < COLS; ++c)
      score = fmaf(query[c], k[of_keys + size_t(key) * D + 32 * c], score);
    for (int far = 16; far > 0; far /= 2) score += __shfl_xor_sync(ALL, score, far);
    const float now = fmaxf(max, score);
    const float shrink = exp2_fast(max - now), weight = exp2_fast(score - now);
    sum = fmaf(sum, shrink, weight), max = now;
#pragma unroll
    for (int c = 0; c < COLS; ++c) {
      sums[c] = fmaf(sums[c], shrink, weight * v[of_keys + size_t(key) * D + 32 * c]);
    }
  }
#pragma unroll
  for (int c = 0; c < COLS; ++c) {
    out[(head * shape.queries + row) * D + lane + 32 * c] = sum > 0 ? sums[c] / sum : 0;
  }
}

// The one that stores them: `query_a_warp` takes 3.6 times as long. Each warp loads all keys and values for a single query, 8 bytes for
// every two FMAs of a lane, and adds up each score by five shuffles; what either costs is not measured. Fusing does not make up for
// poor products.
//= takes 3.6 times: ms("query_a_warp/d=128,full") / ms("three_kernels/d=128,full")
//
// So keep the tiles of the three kernels. A block has its queries in shared memory and their outputs in registers, and
// alternates: parts of a tile of K are multiplied into scores; the online softmax of the tile makes weights of them, which go
// to shared memory; parts of a tile of V are multiplied with the weights into the outputs.
//
// ```{drawing} fused
// ```
//
// - A warp has whole rows of the tile. So the maximum of a row is found by shuffles. The weights need no barrier of their
//   own: `next()` has one, before the part of V that they are multiplied with.
// - A lane's sum of weights is that of its own keys. They are added up once, at the end.
// - With a {term}`causal mask` a query sees no later key. Tiles that no query of the block sees are not loaded, and indices
//   are compared only in tiles that some of them see in part. Blocks with most tiles start first.
//
//? fused_gain: Its products are those of `three_kernels`, and no score goes to memory. How many times as fast is `fused`?
//? answer: ms("three_kernels/d=128,full") / ms("fused/d=128,full")
//? unit: times
//? near: 10 %

/// What a kernel does wrong, for demonstrations.
enum class Mistake { none, no_rescale, late_mask, early_exit };

/// out = softmax(scale Q K^T) V, with nothing in memory between the two products.
///
/// A block keeps BM queries, in shared memory, and their outputs, in registers. Tiles of BN keys and values stream by.
/// `scale` contains LOG2E: scores are exponents of 2. A query that sees no key gets zeros.
///
/// Launch: T::THREADS threads with T::BYTES of dynamic shared memory; in x a block for each BM queries, in y for each head.
/// Source of the idea: Dao, Fu, Ermon, Rudra and Ré, FlashAttention, 2022; Rabe and Staats, 2021.
template <class T, bool CAUSAL, Mistake WRONG = Mistake::none>
__global__ void __launch_bounds__(T::THREADS)
    fused(float* __restrict__ out, const float* __restrict__ q, const float* __restrict__ k,
          const float* __restrict__ v, Heads shape, float scale) {
  extern __shared__ float4 shared[];
  float* const queries = reinterpret_cast<float*>(shared);  // (BM, QS)
  float* const weights = queries + T::BM * T::QS;           // (BM, PS)
  const size_t head = blockIdx.y, of_keys = head / shape.group * shape.keys * T::D;
  const int row0 = (gridDim.x - 1 - blockIdx.x) * T::BM;  // long rows first
  const Place<T> at;
  if (WRONG == Mistake::early_exit && row0 + at.row >= shape.queries) return;
  // No query of the tile sees the keys behind those of its last query.
  const int seen = CAUSAL ? shape.seen(min(row0 + T::BM, shape.queries) - 1) : shape.keys;
  const int tiles = (seen + T::BN - 1) / T::BN;
  Stream<T, true, true> stream(weights + T::BM * T::PS, k + of_keys, v + of_keys, shape.keys,
                               tiles);
  load_queries<T>(queries, q + head * shape.queries * T::D, row0, shape.queries, scale);

  float sums[T::ROWS][T::COLS] = {};      // the output, times `sum`
  float max[T::ROWS], sum[T::ROWS] = {};  // a thread's sum is that of its own keys
#pragma unroll
  for (int i = 0; i < T::ROWS; ++i) max[i] = -INFINITY;

  for (int tile = 0; tile < tiles; ++tile) {
    float scores[T::ROWS][T::KEYS] = {};
#pragma unroll 1
    for (int part = 0; part < T::PARTS; ++part) {
      const float* const keys = stream.next();
      add_scores<T>(scores, queries + part * T::KD, keys, at);
    }
    // Only the last tiles have keys that a query does not see, or that do not exist.
    const auto mask = [&] {
      if (tile * T::BN + T::BN <= (CAUSAL ? shape.seen(row0) : shape.keys)) return;
#pragma unroll
      for (int i = 0; i < T::ROWS; ++i) {
        const int last = CAUSAL ? shape.seen(row0 + at.row_of(i)) : shape.keys;
#pragma unroll
        for (int j = 0; j < T::KEYS; ++j) {
          if (tile * T::BN + at.x + j * T::LX >= last) scores[i][j] = -INFINITY;
        }
      }
    };
    if (WRONG != Mistake::late_mask) mask();
    float by[T::ROWS];  // what is subtracted
#pragma unroll
    for (int i = 0; i < T::ROWS; ++i) {
      float now = max[i];
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) now = fmaxf(now, scores[i][j]);
#pragma unroll
      for (int far = T::LX / 2; far > 0; far /= 2) now = fmaxf(now, at.shuffled_along(now, far));
      by[i] = finite(now);
      const float shrink = exp2_fast(max[i] - by[i]);  // 0 in the first tile
      max[i] = now;
      sum[i] *= shrink;
#pragma unroll
      for (int t = 0; t < T::COLS; ++t) {
        if (WRONG != Mistake::no_rescale) sums[i][t] *= shrink;
      }
    }
    if (WRONG == Mistake::late_mask) mask();
#pragma unroll
    for (int i = 0; i < T::ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < T::KEYS; ++j) {
        const float weight = exp2_fast(scores[i][j] - by[i]);
        sum[i] += weight;
        weights[at.row_of(i) * T::PS + at.x + j * T::LX] = weight;
      }
    }
#pragma unroll 1
    for (int part = 0; part < T::PARTS; ++part) {
      const float* const values = stream.next();
      add_output<T>(sums, weights + part * T::VK, values, at);
    }
  }
#pragma unroll
  for (int i = 0; i < T::ROWS; ++i) {
#pragma unroll
    for (int far = T::LX / 2; far > 0; far /= 2) sum[i] += at.shuffled_along(sum[i], far);
    sum[i] = sum[i] > 0 ? 1 / sum[i] : 0;
  }
  store_output<T>(out + head * shape.queries * T::D, sums, sum, row0, shape.queries, at);
}

// 1.6 times: it makes 42 TFLOP/s, which is 63 % of what the FMA units can do, and the three kernels made 27. A causal mask halves the
// work; the time falls from 13.0 to 7.2 ms.
//= makes 42 TFLOP/s: rate("fused/d=128,full") / 1000
//= 63 %: 100 * rate("fused/d=128,full") / limit("fma")
//= 1.6 times: ms("three_kernels/d=128,full") / ms("fused/d=128,full")
//= made 27: rate("three_kernels/d=128,full") / 1000
//= from 13.0 to 7.2 ms: (ms("fused/d=128,full"), ms("fused/d=128,causal"))
//
// The traffic of the scores is not all of that gain. Its four passes would take 4.0 ms at the rate of a copy, and `fused` takes 7.5 ms
// less. `weighted_sum` also brings the weights to shared memory float by float, through registers; the rest was not measured.
//= would take 4.0 ms: 4 * 64 * 4096 ** 2 * 4 / limit("copy") / 1e6
//= takes 7.5 ms: ms("three_kernels/d=128,full") - ms("fused/d=128,full")
//
// The memory-efficient kernel of PyTorch, timed in another run on the same kind of GPU, makes 46 TFLOP/s in floats for heads of 128
// columns, more than `fused`. For 64 columns it makes 35, and `fused` 40. With warps that only load, a second reading, ours makes 49.6
// and 49.8.
//= makes 46 TFLOP/s: rate("fused/d=128,full", "4096,64", "h200_pytorch") / 1000
//= it makes 35: rate("fused/d=64,full", "4096,64", "h200_pytorch") / 1000
//= and `fused` 40: rate("fused/d=64,full") / 1000
//= makes 49.6 and 49.8: (rate("loading_warps/d=128,full") / 1000, rate("loading_warps/d=64,full") / 1000)
//
// Three mistakes are easy to make here, and two of them are seen only with the right numbers.
//
// - `no_rescale` forgets to correct the output when the maximum grows. Queries whose largest score is in the first tile
//   are right, all others wrong.
// - `late_mask` masks the scores after their maximum was found. A masked score then is subtracted from those that count. That
//   is legal: any number may be subtracted. But if it is larger by 150 or more, all weights become 0. With ordinary inputs
//   nobody notices.
// - `early_exit` lets threads without a query return at once. The parts that they should have copied are missing, and the
//   simulator says where.
//
// Heads of Q can share one head of K and V, {term}`grouped queries`. For the kernel it is a division of the head's number, the
// variant `grouped`. `--attention HEADS,QUERIES,KEYS,D,GROUP` runs an attention of your own, with heads that are hard for a
// softmax: scores in the thousands, keys that are all alike, maxima that come late.

// ## 7. Decoding: one query, a long cache
//
// A model that writes text adds one position at a time. It has one query in each head, and the keys and values of all
// earlier positions in memory, the {term}`KV cache`. Each of their elements is used for one FMA, or for four where four heads
// share them. The bytes of the cache are what counts, and BF16 halves them.
//
// The trouble is parallelism. One sequence with eight heads in the cache gives eight blocks, for 132 SMs.
//
//? whole_cache: Which part of a copy's rate do eight blocks reach, one for each head, with 131072 keys?
//? answer: ratio("decode/one,long,whole")
//? unit: of the rate
//? near: factor 2
//
// The merge operator splits the work. Blocks take parts of the keys and find (m, s, o) for their part; whoever finishes
// last, by an atomic counter as in chapter 07, merges them.
//
// A warp takes eight keys at a time, four for each half of it; a lane loads 16 bytes of each of its four. So it has a share of the
// scores of 4 keys and 4 queries, 16 sums that 16 lanes have to add up. Instead of four shuffles for each of them, a lane gives half
// of its sums to its partner and keeps the other half: 8, 4, 2 and 1 shuffles, and in the end each lane has one score.

constexpr int HEAD = 128;  ///< columns of a head in the cache
constexpr int STEP = 8;    ///< keys that a warp takes at a time: four for each half of it
constexpr int PAGE = 16;   ///< keys of a page, a multiple of STEP
constexpr int DECODING_WARPS = 8;
constexpr int MOST_PARTS = 132;  ///< blocks that share a head

/// What a part of the keys comes to, for four columns of a query's output: the sum of exp2(score - max) v, the largest score,
/// and the sum of the weights.
struct Partial {
  float4 out = {0, 0, 0, 0};
  float max = -INFINITY, sum = 0;
};

/// Where blocks leave what they found, for each head of the cache: (parts, queries, HEAD / 4), and (queries, parts) with maximum and
/// sum. `done`: blocks of a head that have finished; zeros before and after.
struct Found {
  float4* out;
  float2* facts;
  unsigned* done;
};

/// A cache of keys and values in BF16, of `sequences` sequences with `heads` heads.
///
/// Where PAGED, a page has PAGE keys of each head of a sequence, (heads, PAGE, HEAD), and `pages` says where it is,
/// (sequences, ceil(keys / PAGE)). Else k and v are (sequences, heads, keys, HEAD).
struct Cache {
  const uint4 *k, *v;  // eight numbers each
  const int* pages;
  int sequences, heads, keys;
};

/// Eight BF16 as floats: a BF16 is the first half of a float.
__device__ __forceinline__ void unpack(float (&to)[8], uint4 eight) {
  const unsigned pairs[] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[2 * i] = __uint_as_float(pairs[i] << 16);
    to[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
  }
}

/// Merges parts, each scaled to their common maximum, so that none waits for another.
template <int COUNT>
__device__ __forceinline__ Partial merged(const Partial (&parts)[COUNT]) {
  Partial all;
#pragma unroll
  for (const Partial& part : parts) all.max = fmaxf(all.max, part.max);
#pragma unroll
  for (const Partial& part : parts) {
    const float by = exp2_fast(part.max - finite(all.max));
    all.sum = fmaf(by, part.sum, all.sum);
    all.out.x = fmaf(by, part.out.x, all.out.x), all.out.y = fmaf(by, part.out.y, all.out.y);
    all.out.z = fmaf(by, part.out.z, all.out.z), all.out.w = fmaf(by, part.out.w, all.out.w);
  }
  return all;
}

/// out = softmax(scale q K^T) V for one query in each head, (sequences, heads, GROUP, HEAD). GROUP heads of q share one of
/// the cache. Blocks have `each` keys, and the last block of a head to finish merges what all of them found.
///
/// @param found  room for gridDim.x parts of each head
///
/// Requires: k and v of less than 2^32 uint4s, and where PAGED finite numbers in what a page has behind the last key.
/// Launch: blocks of 32 * DECODING_WARPS threads; in x one for each `each` keys, a multiple of PAGE, in y for each head of
/// the cache.
/// Source of the idea: Dao, Haziza, Massa and Sizov, Flash-Decoding, 2023; pages: Kwon et al., PagedAttention, 2023.
template <int GROUP, bool PAGED>
__global__ void __launch_bounds__(32 * DECODING_WARPS, 2)
    decode(float4* __restrict__ out, const float4* __restrict__ q, Cache cache, int each,
           Found found, float scale) {
  constexpr int KEYS = STEP / 2;    // of half a warp
  constexpr int LANES = 4 / GROUP;  // neighbouring lanes that hold the same score
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, half = lane / 16, l = lane % 16;
  const int head = blockIdx.y, first = blockIdx.x * each, last = min(cache.keys, first + each);
  // A lane has columns 8 l to 8 l + 7 of each key, an uint4.
  const unsigned of_head = (PAGED ? head % cache.heads * PAGE : head * cache.keys) * (HEAD / 8) + l;
  const unsigned pages = head / cache.heads * ((cache.keys - 1) / PAGE + 1);
  const auto place = [&](int key) {  // of a key, in uint4s
    const unsigned row =
        PAGED ? cache.pages[pages + key / PAGE] * cache.heads * PAGE + key % PAGE : key;
    return of_head + row * (HEAD / 8);
  };
  // The half's keys, of STEP from `key` on. Behind the last key it is the last once more: its score will be -inf.
  const auto load = [&](uint4(&to)[KEYS], const uint4* from, int key) {
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      const int ahead = PAGED ? 2 * j + half : min(2 * j + half, cache.keys - 1 - key);
      to[j] = __ldcs(from + ahead * (HEAD / 8));
    }
  };

  uint4 keys[KEYS], values[KEYS];
  int key0 = first + warp * STEP;
  if (key0 < last)
    load(keys, cache.k + place(key0), key0), load(values, cache.v + place(key0), key0);
  float query[GROUP][8], sums[GROUP][8] = {}, max = -INFINITY, sum = 0;
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
#pragma unroll
    for (int d = 0; d < 8; d += 4) {
      const float4 four = q[((size_t(head) * GROUP + g) * HEAD + 8 * l + d) / 4];
      query[g][d] = scale * four.x, query[g][d + 1] = scale * four.y;
      query[g][d + 2] = scale * four.z, query[g][d + 3] = scale * four.w;
    }
  }
  for (; key0 < last; key0 += DECODING_WARPS * STEP) {
    const int then = key0 + DECODING_WARPS * STEP;
    const unsigned next = then < last ? place(then) : 0;
    // Each lane's share of KEYS * GROUP scores; then the lanes of a half add up, and keep half of the scores each time.
    float score[KEYS * GROUP];
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      float key[8];
      unpack(key, keys[j]);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) {
        float dot = key[0] * query[g][0];
#pragma unroll
        for (int d = 1; d < 8; ++d) dot = fmaf(key[d], query[g][d], dot);
        score[j * GROUP + g] = dot;
      }
    }
    if (then < last) load(keys, cache.k + next, then);
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const int far = 8 >> step, kept = KEYS * GROUP >> (step + 1);  // of the scores, 0: add up
      if (kept == 0) score[0] += __shfl_xor_sync(ALL, score[0], far);
#pragma unroll
      for (int i = 0; i < KEYS * GROUP / 2; ++i) {
        if (i >= kept) continue;
        const bool upper = l & far;
        const float own = upper ? score[i + kept] : score[i];
        const float other = upper ? score[i] : score[i + kept];
        score[i] = own + __shfl_xor_sync(ALL, other, far);
      }
    }
    // Lane l now has the score of its half's key l / 4 and query l % 4 / LANES.
    if (key0 + l / 4 * 2 + half >= last) score[0] = -INFINITY;
    float now = fmaxf(max, score[0]);
#pragma unroll
    for (int far = 4; far < 32; far *= 2) now = fmaxf(now, __shfl_xor_sync(ALL, now, far));
    if (__any_sync(ALL, now > max)) {
      const float shrink = exp2_fast(max - now);
      sum *= shrink, max = now;
#pragma unroll
      for (int g = 0; g < GROUP; ++g) {
        const float factor = __shfl_sync(ALL, shrink, g * LANES);
#pragma unroll
        for (int d = 0; d < 8; ++d) sums[g][d] *= factor;
      }
    }
    const float weight = exp2_fast(score[0] - max);
    sum += weight;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) {
      float value[8];
      unpack(value, values[j]);
#pragma unroll
      for (int g = 0; g < GROUP; ++g) {
        const float w = __shfl_sync(ALL, weight, half * 16 + j * 4 + g * LANES);
#pragma unroll
        for (int d = 0; d < 8; ++d) sums[g][d] = fmaf(w, value[d], sums[g][d]);
      }
    }
    if (then < last) load(values, cache.v + next, then);
  }

  // The halves of a warp, the warps of a block, the blocks of a head. A thread has four columns; two have the same ones.
  constexpr int COLUMNS = GROUP * HEAD / 4, SHARES = 32 * DECODING_WARPS / COLUMNS;
  static_assert(SHARES <= DECODING_WARPS);
  __shared__ float4 outs[DECODING_WARPS][COLUMNS];
  __shared__ float2 facts[DECODING_WARPS][COLUMNS];
#pragma unroll
  for (int far = 4; far < 32; far *= 2) sum += __shfl_xor_sync(ALL, sum, far);
#pragma unroll
  for (int g = 0; g < GROUP; ++g) {
#pragma unroll
    for (int d = 0; d < 8; ++d) sums[g][d] += __shfl_xor_sync(ALL, sums[g][d], 16);
    if (half == 0) {
      float4* const to = &outs[warp][g * HEAD / 4 + 2 * l];
      to[0] = make_float4(sums[g][0], sums[g][1], sums[g][2], sums[g][3]);
      to[1] = make_float4(sums[g][4], sums[g][5], sums[g][6], sums[g][7]);
    }
  }
  if (lane < 4 && lane % LANES == 0) facts[warp][lane / LANES] = make_float2(max, sum);
  __syncthreads();
  const int column = threadIdx.x % COLUMNS, share = threadIdx.x / COLUMNS, g = column / (HEAD / 4);
  float4* const found_out = found.out + size_t(head) * gridDim.x * COLUMNS + column;
  float2* const found_facts = found.facts + (size_t(head) * GROUP + g) * gridDim.x;
  if (share == 0) {
    Partial parts[DECODING_WARPS];
#pragma unroll
    for (int w = 0; w < DECODING_WARPS; ++w) {
      parts[w] = {outs[w][column], facts[w][g].x, facts[w][g].y};
    }
    const Partial own = merged(parts);
    __stcg(found_out + blockIdx.x * COLUMNS, own.out);
    if (lane == 0) __stcg(found_facts + blockIdx.x, make_float2(own.max, own.sum));
  }
  __shared__ bool is_last;
  __syncthreads();  // all of the block's part is written
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(found.done + head, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) found.done[head] = 0;
  // What the parts have found is on its way while a warp for each query finds the factors of the parts.
  constexpr int AT_ONCE = 17;
  const int count = static_cast<int>(gridDim.x);
  float4 outs_of[AT_ONCE];
  const auto fetch = [&](int from) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const int part = from + i * SHARES;
      if (part < count) outs_of[i] = __ldcg(found_out + part * COLUMNS);
    }
  };
  fetch(share);
  __shared__ float factors[GROUP][MOST_PARTS];
  static_assert(GROUP <= DECODING_WARPS);
  if (warp < GROUP) {
    const float2* const of_query = found.facts + (size_t(head) * GROUP + warp) * count;
    constexpr int OF_LANE = (MOST_PARTS + 31) / 32;
    float2 fact[OF_LANE];
    float largest = -INFINITY, total = 0;
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i) {
      const int part = lane + 32 * i;
      fact[i] = part < count ? __ldcg(of_query + part) : make_float2(-INFINITY, 0);
      largest = fmaxf(largest, fact[i].x);
    }
    for (int far = 16; far > 0; far /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, far));
    }
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i) {
      fact[i].x = exp2_fast(fact[i].x - finite(largest));
      total = fmaf(fact[i].x, fact[i].y, total);
    }
    for (int far = 16; far > 0; far /= 2) total += __shfl_xor_sync(ALL, total, far);
    const float by = 1 / total;
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i) {
      if (lane + 32 * i < count) factors[warp][lane + 32 * i] = fact[i].x * by;
    }
  }
  __syncthreads();
  float4 all = {0, 0, 0, 0};
  const auto add = [&](float by, float4 one) {
    all.x = fmaf(by, one.x, all.x), all.y = fmaf(by, one.y, all.y);
    all.z = fmaf(by, one.z, all.z), all.w = fmaf(by, one.w, all.w);
  };
  for (int from = share; from < count; from += AT_ONCE * SHARES) {
    if (from > share) fetch(from);
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const int part = from + i * SHARES;
      if (part < count) add(factors[g][part], outs_of[i]);
    }
  }
  outs[share][column] = all;
  __syncthreads();
  if (share > 0) return;
#pragma unroll
  for (int i = 1; i < SHARES; ++i) add(1, outs[i][column]);
  out[head * COLUMNS + column] = all;
}

// Eight blocks reach 0.06 of a copy, split ones 0.96. With 64 sequences there are blocks enough: whole caches reach 1.02, split ones
// 1.02. A single sequence with 8192 keys is soon read: it takes 0.017 ms, which is 0.72 of a copy's rate, and 2, 4, 8 and 16 of them reach
// 0.78, 0.85, 0.90 and 0.96. What a launch costs that has hardly anything to read is in the laboratory notes; the rest was not measured.
//= 0.06 of: ratio("decode/one,long,whole")
//= ones 0.96: ratio("decode/one,long,split")
//= reach 1.02, split ones 1.02: (ratio("decode/many,short,whole"), ratio("decode/many,short,split"))
//= takes 0.017 ms: ms("decode/one,short,split")
//= is 0.72 of: ratio("decode/one,short,split")
//= 0.78, 0.85, 0.90 and 0.96: (ratio("decode/batch=2,short,split"), ratio("decode/batch=4,short,split"),
//=   ratio("decode/batch=8,short,split"), ratio("decode/batch=16,short,split"))
//
// A cache grows, and nobody knows how long a text becomes. So it is kept in pages of 16 keys, and a table says where each
// page is, as for a process's memory. The rung `paged` has its pages in a mixed order, and reaches 1.01.
//= reaches 1.01: ratio("paged/many,short")
//
// The last page of a sequence has room behind the last key. `decode` reads that room, too, and gives it the weight 0. That is no protection:
// 0 times NaN is NaN, and memory that nobody has written may hold one. So whoever hands out a page clears it.

// [hide] What is launched, what has to come out, and the registration
namespace {

/// The kernel for rows whose float4s are aligned, or the other.
template <class Kernel>
Kernel for_cols(int cols, Kernel wide, Kernel any) {
  return cols % 4 == 0 ? wide : any;
}

/// Each row by a block as in `block_row`, but of any length: it is read twice, for the state and for the map.
///
/// Launch: a block of THREADS threads for each row. Where WIDE, cols is a multiple of 4.
template <class Op, bool WIDE, int THREADS>
__global__ void __launch_bounds__(THREADS)
    reread_row(float* __restrict__ out, const float* __restrict__ in,
               const float* __restrict__ gamma, const float* __restrict__ beta, int cols) {
  const float* const row = in + size_t{blockIdx.x} * cols;
  typename Op::State own = Op::none();
  for (int c = threadIdx.x * 4; c < cols; c += 4 * THREADS) {
    const float4 x[] = {load_float4<WIDE>(row, c, cols, Op::pad)};
    own = Op::merge(own, Op::template of<WIDE>(x, c, 4 * THREADS, cols));
  }
  const auto all = merged_by_block<Op, THREADS / 32>(own);
  for (int c = threadIdx.x * 4; c < cols; c += 4 * THREADS) {
    const float4 x[] = {load_float4<WIDE>(row, c, cols, Op::pad)};
    write_mapped<Op, WIDE>(out + size_t{blockIdx.x} * cols, x, all, gamma, beta, c, 4 * THREADS,
                           cols);
  }
}

/// Launches `reread_row`.
template <class Op, int THREADS>
void by_rereading(const Rows& r) {
  const auto kernel =
      for_cols(r.cols, reread_row<Op, true, THREADS>, reread_row<Op, false, THREADS>);
  kernel<<<r.rows, THREADS>>>(r.out, r.in, r.gamma, r.beta, r.cols);
}

/// Launches `warp_row`, or what takes rows that do not fit into a warp's registers.
template <class Op, int N>
void by_warps(const Rows& r) {
  if (r.cols > 128 * N) return by_rereading<Op, BLOCK>(r);
  const auto kernel = for_cols(r.cols, warp_row<Op, true, N>, warp_row<Op, false, N>);
  kernel<<<lab::ceil_div(r.rows, WARP_ROWS), 32 * WARP_ROWS>>>(r.out, r.in, r.gamma, r.beta, r.rows,
                                                               r.cols);
}

/// Launches `block_row`, or what takes rows that do not fit into a block's registers.
template <class Op, int N, int THREADS>
void by_blocks(const Rows& r) {
  if (r.cols > 4 * THREADS * N) return by_rereading<Op, THREADS>(r);
  const auto kernel =
      for_cols(r.cols, block_row<Op, true, N, THREADS>, block_row<Op, false, N, THREADS>);
  kernel<<<r.rows, THREADS>>>(r.out, r.in, r.gamma, r.beta, r.cols);
}

/// Launches `block_row` for layer norm of long rows: 1024 threads, where ALIKE without a division if all have 8 float4s. Rows
/// whose float4s are not aligned would need more registers than so many threads have.
template <bool ALIKE>
void long_layer_norm(const Rows& r) {
  constexpr int N = 8, THREADS = 1024;
  if (r.cols % 4 != 0 || r.cols > 4 * N * THREADS) {
    return by_blocks<LayerNorm, 2 * N, THREADS / 2>(r);
  }
  const auto kernel = ALIKE && r.cols == 4 * N * THREADS
                          ? block_row<LayerNorm, true, N, THREADS, true>
                          : block_row<LayerNorm, true, N, THREADS>;
  kernel<<<r.rows, THREADS>>>(r.out, r.in, r.gamma, r.beta, r.cols);
}

constexpr const char* LENGTHS[] = {"tiny", "short", "middle", "long"};

/// What this file launches on rows.
RowLaunches launches_of_rows() {
  RowLaunches all;
  for (size_t length = 0; length < 4; ++length) {
    all.push_back({"three_passes", "", length, 0,
                   [](const Rows& r) { three_passes<<<r.rows, BLOCK>>>(r.out, r.in, r.cols); }});
    all.push_back({"online", "", length, 0,
                   [](const Rows& r) { online<<<r.rows, BLOCK>>>(r.out, r.in, r.cols); }});
  }
  const auto add = [&]<class Op>(int operation, const Op&) {
    all.push_back({"warp_row", "", 0, operation, by_warps<Op, 1>});
    all.push_back({"warp_row", "", 1, operation, by_warps<Op, 8>});
    all.push_back({"block_row", "", 1, operation, by_blocks<Op, 2, 128>});
    // Layer norm has others of its own, and these beside them.
    const char* const variant = operation == 1 ? ",threads=512" : "";
    all.push_back({"block_row", variant, 2, operation, by_blocks<Op, 2, 512>});
    all.push_back({"block_row", variant, 3, operation, by_blocks<Op, 16, 512>});
  };
  add(0, Softmax()), add(1, LayerNorm()), add(2, RmsNorm());
  all.push_back({"block_row", "", 2, 1, by_blocks<LayerNorm, 4, 256>});
  all.push_back({"block_row", "", 3, 1, long_layer_norm<true>});
  all.push_back({"block_row", ",divisions", 3, 1, long_layer_norm<false>});
  return all;
}

/// What a row comes to, in double.
struct RowFacts {
  double max, sum, mean, variance, squares;
};

/// The facts of row `row` of a matrix.
struct FactsOf {
  lab::View<float> in;
  size_t cols;
  __host__ __device__ RowFacts operator()(size_t row) const {
    const float* const x = in.data() + row * cols;
    RowFacts facts{-INFINITY, 0, 0, 0, 0};
    for (size_t c = 0; c < cols; ++c) {
      facts.max = fmax(facts.max, double{x[c]});
      facts.mean += x[c], facts.squares += double{x[c]} * x[c];
    }
    facts.mean /= static_cast<double>(cols), facts.squares /= static_cast<double>(cols);
    for (size_t c = 0; c < cols; ++c) {
      facts.sum += exp(x[c] - facts.max);
      facts.variance += (x[c] - facts.mean) * (x[c] - facts.mean) / static_cast<double>(cols);
    }
    return facts;
  }
};

/// Rows, and what the operations on them have to leave.
class RowField {
 public:
  /// \param which  of the four lengths
  RowField(size_t which, size_t length, std::uint64_t seed)
      : which_(which),
        rows_(which == 0 && length > 1000 ? 16 * length : 2 * length),
        cols_(cols_of(which, length)),
        in_(rows_ * cols_, lab::RandomValue<float>{seed}),
        gamma_(cols_, lab::RandomValue<float>{seed + 1}, "gamma"),
        beta_(cols_, lab::RandomValue<float>{seed + 2}, "beta"),
        out_(rows_ * cols_, "out"),
        facts_(rows_) {
    lab::fill(facts_, FactsOf{in_.view(), cols_});
  }
  bool has(const RowLaunch& launch) const { return launch.length == which_; }
  lab::Rung rung(const RowLaunch& launch) {
    static const char* const operations[] = {"softmax", "layer_norm", "rms_norm"};
    const std::string length = LENGTHS[launch.length];
    const Rows r{out_.data(),
                 in_.data(),
                 gamma_.data(),
                 beta_.data(),
                 static_cast<int>(rows_),
                 static_cast<int>(cols_)};
    return {.name = launch.rung,
            .variant = std::string(operations[launch.operation]) + "," + length + launch.variant,
            .launch = [=] { launch.run(r); },
            .outputs = {expected(launch.operation)},
            .bytes = 8.0 * static_cast<double>(rows_ * cols_),
            .limit = lab::Limit::copy,
            .peer = copy(rows_ * cols_ * sizeof(float), length)};
  }
  /// A copy that moves as many bytes as it reads.
  static lab::Peer copy(size_t bytes, const std::string& name) {
    lab::Peer peer = lab::memcpy_peer(bytes, 1);
    peer.name += ", " + name;
    return peer;
  }

  /// What an operation has to leave.
  lab::Expectation expected(int operation) {
    const auto x = in_.view(), gamma = gamma_.view(), beta = beta_.view();
    const auto facts = facts_.view();
    const size_t cols = cols_;
    const auto right = [=] __host__ __device__(size_t i) -> double {
      const RowFacts& f = facts[i / cols];
      const size_t c = i % cols;
      if (operation == 0) return exp(x[i] - f.max) / f.sum;
      if (operation == 1) return (x[i] - f.mean) / sqrt(f.variance + EPSILON) * gamma[c] + beta[c];
      return x[i] / sqrt(f.squares + EPSILON) * gamma[c];
    };
    return lab::expect(out_, right,
                       {{1e-6 * (operation != 0), 4e-6, "some roundings of numbers near 1"}, cols});
  }

 private:
  static size_t cols_of(size_t which, size_t length) {
    const size_t cols[] = {std::max<size_t>(length / 32, 33), std::max<size_t>(length / 4, 67),
                           length, 8 * length};
    return cols[which];
  }
  size_t which_, rows_, cols_;
  const lab::Input<float> in_, gamma_, beta_;
  lab::DeviceBuffer<float> out_;
  lab::Reference<RowFacts> facts_;
};

/// Launches `fused`.
template <class T, bool CAUSAL, Mistake WRONG = Mistake::none>
void run_fused(const AttentionData& a) {
  const auto kernel = fused<T, CAUSAL, WRONG>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::BYTES));
  const dim3 grid(lab::ceil_div(a.shape.queries, T::BM), a.shape.heads);
  kernel<<<grid, T::THREADS, T::BYTES>>>(a.out, a.q, a.k, a.v, a.shape, scale_of(T::D));
}

}  // namespace

/// exp2 and not exp: the three kernels' softmax is that of section 3, so its scores are scaled without LOG2E.
template <class T, bool CAUSAL>
static void three_kernels(const AttentionData& a) {
  CUDA_CHECK(cudaFuncSetAttribute(scores_to_memory<T, CAUSAL>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, T::BYTES));
  CUDA_CHECK(
      cudaFuncSetAttribute(weighted_sum<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::BYTES));
  const dim3 grid(lab::ceil_div(a.shape.queries, T::BM), a.shape.heads);
  scores_to_memory<T, CAUSAL>
      <<<grid, T::THREADS, T::BYTES>>>(a.scores, a.q, a.k, a.shape, scale_of(T::D) / LOG2E);
  by_blocks<Softmax, 2, 512>(
      {a.scores, a.scores, nullptr, nullptr, a.shape.heads * a.shape.queries, a.shape.keys});
  weighted_sum<T><<<grid, T::THREADS, T::BYTES>>>(a.out, a.scores, a.v, a.shape);
}

namespace {

/// Launches `query_a_warp`.
template <class T, bool CAUSAL>
void run_query_a_warp(const AttentionData& a) {
  const dim3 grid(lab::ceil_div(a.shape.queries, BLOCK / 32), a.shape.heads);
  query_a_warp<T::D, CAUSAL><<<grid, BLOCK>>>(a.out, a.q, a.k, a.v, a.shape, scale_of(T::D));
}

using Tile64 = Tile<64, 8, 8, 8, 4>;
using Tile128 = Tile<128, 8, 16, 8, 4>;

/// What is launched for heads of T::D columns, with a mask or without.
template <class T, bool CAUSAL>
void add_launches(AttentionLaunches& all) {
  all.push_back({"three_kernels", T::D, CAUSAL, three_kernels<T, CAUSAL>});
  all.push_back({"query_a_warp", T::D, CAUSAL, run_query_a_warp<T, CAUSAL>});
  all.push_back({"fused", T::D, CAUSAL, run_fused<T, CAUSAL>});
}

/// What this file launches of attention in float.
AttentionLaunches launches_of_attention() {
  AttentionLaunches all;
  add_launches<Tile128, false>(all), add_launches<Tile128, true>(all);
  add_launches<Tile64, false>(all), add_launches<Tile64, true>(all);
  return all;
}

/// What attention has to leave: in double, and straight from its definition. `q`, `k` and `v` are functions of the index.
template <class Q, class K, class V>
std::shared_ptr<const lab::Reference<double>> attended(Heads h, int d, bool causal, Q q, K k, V v) {
  const size_t rows = size_t(h.heads) * h.queries, width = d, keys = h.keys;
  const auto out = std::make_shared<lab::Reference<double>>(rows * width, "attention");
  const size_t batch = std::clamp<size_t>((size_t{1} << 24) / keys, 1, rows);
  lab::Reference<double> weights(batch * keys, "weights"), sums(batch, "sums");
  double *const w = weights.data(), *const s = sums.data(), *const to = out->data();
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  for (size_t first = 0; first < rows; first += batch) {
    const size_t count = std::min(batch, rows - first);
    const auto kv_row = [=] __host__ __device__(size_t row) {
      return row / h.queries / h.group * keys;
    };
    lab::for_each(count * keys, [=] __host__ __device__(size_t i) {
      const size_t row = first + i / keys, key = i % keys;
      double dot = 0;
      for (size_t c = 0; c < width; ++c)
        dot += double{q(row * width + c)} * k((kv_row(row) + key) * width + c);
      const size_t last = causal ? h.seen(static_cast<int>(row % h.queries)) : keys;
      w[i] = key < last ? scale * dot : -INFINITY;
    });
    lab::for_each(count, [=] __host__ __device__(size_t i) {
      double max = -INFINITY, sum = 0;
      for (size_t key = 0; key < keys; ++key) max = fmax(max, w[i * keys + key]);
      for (size_t key = 0; key < keys && max > -INFINITY; ++key) {
        sum += w[i * keys + key] = exp(w[i * keys + key] - max);
      }
      s[i] = sum;
    });
    lab::for_each(count * width, [=] __host__ __device__(size_t i) {
      const size_t row = i / width, at = kv_row(first + row) * width + i % width;
      double sum = 0;
      for (size_t key = 0; key < keys && s[row] > 0; ++key)
        sum += w[row * keys + key] * v(at + key * width);
      to[first * width + i] = s[row] > 0 ? sum / s[row] : 0;
    });
  }
  return out;
}

/// A query's elements: so large that a few keys of many get most of the weight.
struct QueryValue {
  std::uint64_t seed;
  __host__ __device__ float operator()(size_t i) const {
    return 16 * (lab::random_float(seed, i) - 0.25f);
  }
};

/// A key's elements; those of one key are a hundred times as large.
struct KeyValue {
  std::uint64_t seed;
  size_t loud, after;
  __host__ __device__ float operator()(size_t i) const {
    return lab::random_float(seed, i) * (loud <= i && i < after ? 100 : 1);
  }
};

/// Heads that are hard for a softmax. Of each four heads of the cache the first is as `QueryValue` and `KeyValue` have it; the
/// second has scores of up to thousands, many of them equal; the third has keys that are all alike; in the last one the scores
/// grow up to the last key, by steps that bfloat16 has exactly.
struct HardHeads {
  std::uint64_t seed;
  bool of_keys;
  size_t of_head, d;  ///< elements of one head of keys, or of all queries that share one; columns
  __host__ __device__ float operator()(size_t i) const {
    const size_t row = i % of_head / d, kind = i / of_head % 4;
    if (of_keys) {
      if (kind == 1) return static_cast<float>(row % 3);
      if (kind == 2) return lab::random_float(seed, i % d);
      if (kind == 3) return static_cast<float>(row * 256 / (of_head / d)) / 256;
      return lab::random_float(seed, i);
    }
    if (kind == 1) return row % 2 == 1 ? -100 : 100;
    return kind == 3 ? 3 : QueryValue{seed}(i);
  }
};

/// What a sum of values may be off by: a score is a sum of up to 128 products and as large as 32, where each addition
/// rounds by up to 2e-6, and its weight is off by as much, relatively.
const lab::Tolerance ATTENDED{5e-5, 0, "up to 128 roundings of scores of up to 32"};

/// An attention to compute: heads of d columns. `hard`: a reader's own, with heads as in `HardHeads`.
struct Asked {
  int d;
  Heads heads;
  std::string name = "";
  bool hard = false;

  size_t elements_of_q() const { return size_t(heads.heads) * heads.queries * d; }
  size_t elements_of_k() const { return size_t(heads.heads / heads.group) * heads.keys * d; }
  HardHeads hard_queries(std::uint64_t seed) const {
    return {seed, false, size_t(heads.group) * heads.queries * d, size_t(d)};
  }
  HardHeads hard_keys(std::uint64_t seed) const {
    return {seed, true, size_t(heads.keys) * d, size_t(d)};
  }
};

/// An input of n elements that are values of one function or of the other.
template <class T, class F, class G>
lab::Input<T> one_or_other(bool one, size_t n, F f, G g, const char* name) {
  return one ? lab::Input<T>(n, f, name) : lab::Input<T>(n, g, name);
}

/// An attention in float.
class AttentionField {
 public:
  /// \param loud a key that is a hundred times as long as the others; none where it is no index
  AttentionField(const Asked& of, std::uint64_t seed, size_t loud = size_t{1} << 32)
      : shape_(of.heads),
        d_(of.d),
        name_(of.name),
        q_(one_or_other<float>(of.hard, of.elements_of_q(), of.hard_queries(seed), QueryValue{seed},
                               "q")),
        k_(one_or_other<float>(of.hard, of.elements_of_k(), of.hard_keys(seed + 1),
                               KeyValue{seed + 1, loud * of.d, (loud + 1) * of.d}, "k")),
        v_(k_.size(), lab::RandomValue<float>{seed + 2}, "v"),
        out_(q_.size(), "out"),
        found_(size_t{FOUND} * lab::multiprocessors(), "what blocks found"),
        ready_(lab::multiprocessors(), "flags") {
    CUDA_CHECK(cudaMemset(ready_.data(), 0, ready_.size_bytes()));
  }

  AttentionData data() {
    return {out_.data(),   q_.data(),     k_.data(), v_.data(), scores_ ? scores_->data() : nullptr,
            found_.data(), ready_.data(), shape_};
  }
  std::shared_ptr<const lab::Reference<double>> right(bool causal) {
    auto& known = right_[causal];
    if (!known) known = attended(shape_, d_, causal, q_.view(), k_.view(), v_.view());
    return known;
  }
  bool has(const AttentionLaunch& launch) const {
    // Weights of a query that sees no key are NaN where they are made before they are multiplied.
    if (launch.rung == std::string_view("three_kernels") && launch.causal &&
        shape_.queries > shape_.keys) {
      return false;
    }
    const bool grouped = launch.rung == std::string_view("fused") ||
                         launch.rung == std::string_view("loading_warps");
    return launch.d == d_ && ((grouped && launch.causal) || shape_.group == 1 || !name_.empty());
  }
  /// Products, both of them; where causal, half: those with a key that a query does not see need not be made.
  lab::Rung rung(const AttentionLaunch& launch) {
    const double pairs = static_cast<double>(shape_.heads) * shape_.queries * shape_.keys;
    const char* const mask = launch.causal ? "causal" : "full";
    const std::string which = !name_.empty()     ? name_ + "," + mask
                              : shape_.group > 1 ? "grouped"
                                                 : mask;
    if (!scores_ && launch.rung == std::string_view("three_kernels")) {
      scores_ = std::make_unique<lab::DeviceBuffer<float>>(static_cast<size_t>(pairs), "scores");
    }
    return {.name = launch.rung,
            .variant = lab::format("d=%d,%s%s", d_, which.c_str(), launch.variant),
            .launch = [=, this] { launch.run(data()); },
            .outputs = {lab::expect(out_, right(launch.causal), {ATTENDED, size_t(d_)})},
            .flops = 4 * d_ * pairs * (launch.causal ? 0.5 : 1),
            .limit = lab::Limit::fp32};
  }
  lab::DeviceBuffer<float>& out() { return out_; }
  const lab::Input<float>& q() const { return q_; }
  const lab::Input<float>& k() const { return k_; }

 private:
  Heads shape_;
  int d_;
  std::string name_;
  const lab::Input<float> q_, k_, v_;
  lab::DeviceBuffer<float> out_;
  lab::DeviceBuffer<float> found_;
  lab::DeviceBuffer<int> ready_;
  std::unique_ptr<lab::DeviceBuffer<float>> scores_;
  std::shared_ptr<const lab::Reference<double>> right_[2];  // without a mask, and with it
};

/// The bits of a number in BF16, rounded towards zero.
template <class Value>
struct BfloatBits {
  Value of;
  __host__ __device__ std::uint16_t operator()(size_t i) const {
    const float value = of(i);
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
  }
};
/// Such a number as a float.
struct BfloatValue {
  lab::View<std::uint16_t> bits;
  __host__ __device__ float operator()(size_t i) const {
    const std::uint32_t word = std::uint32_t{bits[i]} << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
  }
};

/// An element as BF16.
template <class Value>
struct AsBf16 {
  Value value;
  __host__ __device__ bf16 operator()(size_t i) const { return __float2bfloat16(value(i)); }
};
/// And back.
struct AsFloat {
  lab::View<bf16> elements;
  __host__ __device__ float operator()(size_t i) const { return __bfloat162float(elements[i]); }
};

/// An attention in BF16.
class Bf16Field {
 public:
  Bf16Field(const Asked& of, std::uint64_t seed)
      : shape_(of.heads),
        d_(of.d),
        name_(lab::format("bf16,d=%d,%s", of.d, of.name.c_str())),
        q_(one_or_other<bf16>(of.hard, of.elements_of_q(), AsBf16<HardHeads>{of.hard_queries(seed)},
                              AsBf16<QueryValue>{{seed}}, "q")),
        k_(one_or_other<bf16>(of.hard, of.elements_of_k(),
                              AsBf16<HardHeads>{of.hard_keys(seed + 1)},
                              AsBf16<lab::RandomValue<float>>{{seed + 1}}, "k")),
        v_(k_.size(), AsBf16<lab::RandomValue<float>>{{seed + 2}}, "v"),
        out_(q_.size(), "out") {}

  bool has(const Bf16Launch& launch) const { return launch.d == d_ && !launch.mistake; }
  /// Weights and outputs are rounded to 8 bits, so each is off by up to 2^-9 of a value of up to 1.
  lab::Rung rung(const Bf16Launch& launch) {
    auto& right = right_[launch.causal];
    if (!right) {
      right = attended(shape_, d_, launch.causal, AsFloat{q_.view()}, AsFloat{k_.view()},
                       AsFloat{v_.view()});
    }
    const lab::Tolerance may{4e-3, 0, "weights and outputs rounded to 8 bits"};
    const double pairs = static_cast<double>(shape_.heads) * shape_.queries * shape_.keys;
    return {.name = launch.rung,
            .variant = name_ + (launch.causal ? ",causal" : ",full") + launch.variant,
            .launch = launch.prepare(data()),
            .outputs = {lab::expect(out_, right, {may, size_t(d_)})},
            .flops = 4 * d_ * pairs * (launch.causal ? 0.5 : 1)};
  }
  Bf16Attention data() {
    return {out_.data(), q_.data(), k_.data(), v_.data(), shape_, scale_of(d_)};
  }

 private:
  Heads shape_;
  int d_;
  std::string name_;
  const lab::Input<bf16> q_, k_, v_;
  lab::DeviceBuffer<bf16> out_;
  std::shared_ptr<const lab::Reference<double>> right_[2];  // without a mask, and with it
};

/// Where a decoding is in memory, of four queries for each head of the cache; blocks have `each` keys.
struct DecodingData {
  float* out;
  const float* q;
  Cache cache;
  int each;
  Found found;
};

/// Launches `decode`.
template <bool PAGED>
void run_decode(const DecodingData& d) {
  const dim3 grid(lab::ceil_div(d.cache.keys, d.each), d.cache.sequences * d.cache.heads);
  decode<4, PAGED><<<grid, 32 * DECODING_WARPS>>>(reinterpret_cast<float4*>(d.out),
                                                  reinterpret_cast<const float4*>(d.q), d.cache,
                                                  d.each, d.found, scale_of(HEAD));
}

}  // namespace

/// Decoding, from a cache in pages.
static void paged(const DecodingData& d) { run_decode<true>(d); }

namespace {

/// One way to decode. `splits`: the blocks that share the keys of a head; 0: as many as give all SMs equal work.
struct DecodingLaunch {
  const char* rung;
  int splits;
  bool paged;
};
const std::initializer_list<DecodingLaunch> WAYS_TO_DECODE = {
    {"decode", 1, false}, {"decode", 0, false}, {"paged", 0, true}};

/// A cache, and one query in each head.
class Decoding {
 public:
  static constexpr int HEADS = 8, GROUP = 4;

  /// Whether an attention is the decoding of whole sequences.
  static bool takes(const Asked& of) {
    return of.d == HEAD && of.heads.queries == 1 && of.heads.group == GROUP &&
           of.heads.heads % (HEADS * GROUP) == 0;
  }

  Decoding(const Asked& of, std::uint64_t seed)
      : name_(of.name),
        shape_(of.heads),
        q_(one_or_other<float>(of.hard, of.elements_of_q(), of.hard_queries(seed), QueryValue{seed},
                               "q")),
        k_(one_or_other<std::uint16_t>(of.hard, of.elements_of_k(),
                                       BfloatBits<HardHeads>{of.hard_keys(seed + 1)},
                                       BfloatBits<lab::RandomValue<float>>{{seed + 1}}, "k")),
        v_(k_.size(), BfloatBits<lab::RandomValue<float>>{{seed + 2}}, "v"),
        out_(q_.size(), "out"),
        found_out_(out_.size() * MOST_PARTS / 4, "parts"),
        found_facts_(size_t(shape_.heads) * MOST_PARTS, "maxima and sums of parts"),
        done_(size_t(shape_.heads / GROUP), "done"),
        want_(attended(shape_, HEAD, false, q_.view(), BfloatValue{k_.view()},
                       BfloatValue{v_.view()})) {
    CUDA_CHECK(cudaMemset(done_.data(), 0, done_.size_bytes()));
  }
  /// Whole caches show what too few blocks cost, and what enough of them do.
  bool has(const DecodingLaunch& of) const {
    return of.splits != 1 || (name_ != "one,middle" && name_.rfind("batch", 0) != 0);
  }
  lab::Rung rung(const DecodingLaunch& of) {
    const int heads = shape_.heads / GROUP, keys = shape_.keys;
    const int each = of.splits > 0 ? lab::ceil_div(lab::ceil_div(keys, of.splits), PAGE) * PAGE
                                   : best_share(heads, keys);
    if (of.paged && !pages_) make_pages();
    return {.name = of.rung,
            .variant = name_ + (of.paged         ? ""
                                : of.splits == 1 ? ",whole"
                                                 : ",split"),
            .launch =
                [=, this] {
                  of.paged ? paged(data(each, true)) : run_decode<false>(data(each, false));
                },
            .outputs = {lab::expect(out_, want_, {ATTENDED, HEAD})},
            .bytes = 2.0 * static_cast<double>(k_.size_bytes()),
            .limit = lab::Limit::copy,
            .peer = RowField::copy(k_.size_bytes(), name_)};
  }

  /// Deals the keys to pages in a mixed order. What a page has behind the last key is 0, as `decode` requires.
  void make_pages() {
    const int sequences = shape_.heads / GROUP / HEADS, of_each = lab::ceil_div(shape_.keys, PAGE);
    const size_t count = size_t(sequences) * of_each;
    std::vector<int> order(count);
    const size_t stride = count % 7919 == 0 ? 7907 : 7919;  // both are prime
    for (size_t i = 0; i < count; ++i) order[i] = static_cast<int>((i * stride + 3) % count);
    const int keys = shape_.keys;
    const lab::Input<int> at(order);
    const auto page = at.view();
    const auto deal = [&](const lab::Input<std::uint16_t>& from) {
      lab::Reference<std::uint16_t> dealt(count * HEADS * PAGE * HEAD);
      lab::fill(dealt, [] __host__ __device__(size_t) { return std::uint16_t{0}; });
      const auto view = from.view();
      std::uint16_t* const to = dealt.data();
      lab::for_each(from.size(), [=] __host__ __device__(size_t i) {
        const size_t head = i / HEAD / keys, key = i / HEAD % keys;
        const size_t p = page[head / HEADS * of_each + key / PAGE];
        to[((p * HEADS + head % HEADS) * PAGE + key % PAGE) * HEAD + i % HEAD] = view[i];
      });
      return std::make_unique<lab::Input<std::uint16_t>>(dealt.size(), dealt.view(), "pages");
    };
    k_pages_ = deal(k_), v_pages_ = deal(v_);
    pages_ = std::make_unique<lab::Input<int>>(order, "page table");
  }

 private:
  /// The keys of a block for which the last wave of blocks is fullest.
  static int best_share(int heads, int keys) {
    const int slots = 2 * lab::multiprocessors();
    int best = 0;
    double least = INFINITY;
    for (int splits = 1; splits <= MOST_PARTS; ++splits) {
      const int each = lab::ceil_div(lab::ceil_div(keys, splits), PAGE) * PAGE;
      const int waves = lab::ceil_div(heads * lab::ceil_div(keys, each), slots);
      const double cost = static_cast<double>(waves) * (each + DECODING_WARPS * STEP) + 2 * splits;
      if (cost < least) least = cost, best = each;
    }
    return best;
  }
  DecodingData data(int each, bool paged) {
    const auto uint4s = [](const lab::Input<std::uint16_t>& of) {
      return reinterpret_cast<const uint4*>(of.data());
    };
    const Cache cache{uint4s(paged ? *k_pages_ : k_),
                      uint4s(paged ? *v_pages_ : v_),
                      paged ? pages_->data() : nullptr,
                      shape_.heads / GROUP / HEADS,
                      HEADS,
                      shape_.keys};
    return {out_.data(),
            q_.data(),
            cache,
            each,
            {found_out_.data(), found_facts_.data(), done_.data()}};
  }

  std::string name_;
  Heads shape_;
  const lab::Input<float> q_;
  const lab::Input<std::uint16_t> k_, v_;
  std::unique_ptr<lab::Input<std::uint16_t>> k_pages_, v_pages_;
  std::unique_ptr<lab::Input<int>> pages_;
  lab::DeviceBuffer<float> out_;
  lab::DeviceBuffer<float4> found_out_;
  lab::DeviceBuffer<float2> found_facts_;
  lab::DeviceBuffer<unsigned> done_;
  std::shared_ptr<const lab::Reference<double>> want_;
};

/// How wrong each row of an array is: the largest error of its elements, infinite for a NaN.
std::vector<double> errors_of_rows(const lab::DeviceBuffer<float>& got,
                                   const std::vector<double>& want, size_t cols) {
  const std::vector<float> values = got.download();
  std::vector<double> worst(want.size() / cols);
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(values[i] - want[i]);
    worst[i / cols] = std::max(worst[i / cols], error == error ? error : INFINITY);
  }
  return worst;
}

/// Whether those rows are wrong that a mistake spoils, and no other. `spoiled`: 1 it is, 0 it is not, -1 it may be.
lab::Comparison only_wrong(const std::vector<double>& errors, const std::vector<int>& spoiled) {
  size_t wrong = 0;
  for (size_t row = 0; row < errors.size(); ++row) {
    const bool is_wrong = !(errors[row] < 1e-3);
    wrong += is_wrong;
    if (spoiled[row] >= 0 && is_wrong != (spoiled[row] == 1)) {
      return lab::verdict(false, lab::format("row %zu is %s", row, is_wrong ? "wrong" : "right"));
    }
  }
  return lab::verdict(wrong > 0, lab::format("%zu of %zu rows are wrong, those that have to be",
                                             wrong, errors.size()));
}

/// Elements of rows, the odd ones 200 times as large.
struct LoudRows {
  std::uint64_t seed;
  size_t cols;
  __host__ __device__ float operator()(size_t i) const {
    return lab::random_float(seed, i) * (i / cols % 2 == 1 ? 200 : 1);
  }
};

/// Elements near 1000.
struct FarFromZero {
  std::uint64_t seed;
  __host__ __device__ float operator()(size_t i) const { return 1000 + lab::random_float(seed, i); }
};

/// Rows of which the odd ones are too large for an exp that nothing was subtracted from.
class Overflow {
 public:
  explicit Overflow(std::uint64_t seed)
      : in_(ROWS * COLS, LoudRows{seed, COLS}), out_(in_.size(), "out") {}
  void launch() { no_maximum<<<ROWS, BLOCK>>>(out_.data(), in_.data(), COLS); }
  std::vector<lab::Expectation> outputs() { return {lab::on_the_way(out_)}; }
  /// The odd rows are wrong, and no other.
  lab::Comparison verify() {
    const std::vector<float> x = in_.host();
    std::vector<double> want(x.size());
    std::vector<int> spoiled(ROWS);
    for (size_t row = 0; row < ROWS; ++row) {
      double sum = 0, max = -INFINITY;
      for (size_t c = 0; c < COLS; ++c) max = std::max(max, double{x[row * COLS + c]});
      for (size_t c = 0; c < COLS; ++c) sum += std::exp(x[row * COLS + c] - max);
      for (size_t c = 0; c < COLS; ++c)
        want[row * COLS + c] = std::exp(x[row * COLS + c] - max) / sum;
      spoiled[row] = row % 2 == 1;
    }
    return only_wrong(errors_of_rows(out_, want, COLS), spoiled);
  }

 private:
  static constexpr size_t ROWS = 6, COLS = 100;
  const lab::Input<float> in_;
  lab::DeviceBuffer<float> out_;
};

}  // namespace

/// Rows by all kernels, one result behind the other in `out`: five of a softmax, then three of each norm.
static void special_rows(Rows r) {
  const auto next = [&] {
    const Rows now = r;
    r.out += size_t(r.rows) * r.cols;
    return now;
  };
  three_passes<<<r.rows, BLOCK>>>(next().out, r.in, r.cols);
  online<<<r.rows, BLOCK>>>(next().out, r.in, r.cols);
  const auto kept_or_reread = [&]<class Op>(const Op&) {
    by_warps<Op, 4>(next()), by_blocks<Op, 2, 128>(next()), by_blocks<Op, 2, 32>(next());
  };
  kept_or_reread(Softmax()), kept_or_reread(LayerNorm()), kept_or_reread(RmsNorm());
}

namespace {

/// Rows that have elements which are no finite numbers. A warp and a block can keep them; the last kernel of an operation has
/// too few threads for that.
class SpecialRows {
 public:
  static constexpr int ROWS = 5, COLS = 300, KERNELS = 11;
  /// Row 1 has elements of -inf, row 2 nothing else; row 3 has a NaN, row 4 +inf.
  struct Special {
    std::uint64_t seed;
    __host__ __device__ float operator()(size_t i) const {
      const size_t row = i / COLS, col = i % COLS;
      if (row == 2 || (row == 1 && col % 3 == 0)) return -INFINITY;
      if (row > 2 && col == 71) return row == 3 ? NAN : INFINITY;
      return lab::random_float(seed, i);
    }
  };

  explicit SpecialRows(std::uint64_t seed)
      : in_(ROWS * COLS, Special{seed}),
        gamma_(COLS, lab::RandomValue<float>{seed + 1}),
        beta_(COLS, lab::RandomValue<float>{seed + 2}),
        out_(KERNELS * in_.size(), "out") {}
  void launch() {
    special_rows({out_.data(), in_.data(), gamma_.data(), beta_.data(), ROWS, COLS});
  }
  std::vector<lab::Expectation> outputs() { return {lab::on_the_way(out_)}; }
  /// The first two rows have a softmax, all elements of the others are NaN; of the norms, row 0 has one, and row 3 is NaN.
  lab::Comparison verify() {
    const std::vector<float> x = in_.host(), g = gamma_.host(), b = beta_.host(),
                             got = out_.download();
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t kernel = i / in_.size(), row = i / COLS % ROWS, col = i % COLS;
      const float* const of_row = x.data() + row * COLS;
      double exps = 0, mean = 0, squares = 0;
      for (size_t c = 0; c < COLS; ++c) {
        exps += std::exp(double{of_row[c]}), mean += of_row[c] / static_cast<double>(COLS);
        squares += double{of_row[c]} * of_row[c] / static_cast<double>(COLS);
      }
      const double one = of_row[col];
      const double want =
          kernel < 5   ? std::exp(one) / exps
          : kernel < 8 ? (one - mean) / std::sqrt(squares - mean * mean + EPSILON) * g[col] + b[col]
                       : one / std::sqrt(squares + EPSILON) * g[col];
      if (kernel >= 5 && row != 0 && row != 3) continue;
      const bool is_number = row == 0 || (row == 1 && kernel < 5);
      if (is_number ? !(std::fabs(got[i] - want) < 4e-6) : !std::isnan(got[i])) {
        return lab::verdict(false, lab::format("kernel %zu, row %zu, column %zu is %g", kernel, row,
                                               col, static_cast<double>(got[i])));
      }
    }
    return lab::verdict(true, "NaN where there is no result, and there alone");
  }

 private:
  const lab::Input<float> in_, gamma_, beta_;
  lab::DeviceBuffer<float> out_;
};

/// Rows far from zero, and their variances.
class Variances {
 public:
  Variances(size_t rows, size_t cols, std::uint64_t seed)
      : cols_(cols), in_(rows * cols, FarFromZero{seed}), out_(rows, "variances") {}
  /// Two sums may be as wrong as they are.
  lab::Rung rung(bool two_sums) {
    const FactsOf facts{in_.view(), cols_};
    const auto right = [=] __host__ __device__(size_t row) { return facts(row).variance; };
    const lab::Tolerance may{
        two_sums ? 4.0 : 2e-5, 0,
        two_sums ? "a small difference of large sums" : "distances of floats near 1000"};
    return {.name = "variance",
            .variant = two_sums ? "by=two_sums" : "by=welford",
            .launch = [=, this] { two_sums ? run<true>() : run<false>(); },
            .outputs = {lab::expect(out_, right, may)},
            .bytes = 4.0 * static_cast<double>(in_.size()),
            .limit = lab::Limit::copy};
  }

 private:
  template <bool TWO_SUMS>
  void run() {
    variance<TWO_SUMS><<<static_cast<unsigned>(out_.size()), BLOCK>>>(out_.data(), in_.data(),
                                                                      static_cast<int>(cols_));
  }
  size_t cols_;
  const lab::Input<float> in_;
  lab::DeviceBuffer<float> out_;
};

}  // namespace

/// The output is not rescaled.
static void no_rescale(const AttentionData& a) { run_fused<Tile64, true, Mistake::no_rescale>(a); }
/// Masked keys take part in the maximum.
static void late_mask(const AttentionData& a) { run_fused<Tile64, true, Mistake::late_mask>(a); }

namespace {

/// Attention by a kernel with a mistake, and which rows it spoils.
class Spoiled {
 public:
  /// One of the two mistakes that a verification sees.
  struct Launch {
    Spoiled& of;
    bool late;
    void launch() { late ? late_mask(of.field_.data()) : no_rescale(of.field_.data()); }
    std::vector<lab::Expectation> outputs() { return {lab::on_the_way(of.field_.out())}; }
    lab::Comparison verify() { return of.verify(late); }
  };
  explicit Spoiled(std::uint64_t seed)
      : field_({Tile64::D, {1, QUERIES, QUERIES, 1}}, seed, QUERIES - 1) {}
  Launch rung(bool late) { return {*this, late}; }
  /// More threads than queries, some of which return at once.
  void exit_early() { run_fused<Tile64, false, Mistake::early_exit>(field_.data()); }

 private:
  /// A late mask spoils the rows whose largest score is a masked one, so large that all weights underflow; a missing
  /// rescale those whose largest score is not in the first tile.
  lab::Comparison verify(bool late_mask) {
    const std::vector<float> q = field_.q().host(), k = field_.k().host();
    std::vector<int> spoiled(QUERIES);
    for (int row = 0; row < QUERIES; ++row) {
      double seen = -INFINITY, masked = -INFINITY, growth = 0;  // of the largest score
      for (int tile = 0; tile < QUERIES; tile += Tile64::BN) {
        double here = -INFINITY;
        for (int key = tile; key < std::min(tile + Tile64::BN, QUERIES); ++key) {
          double score = 0;
          for (int d = 0; d < Tile64::D; ++d)
            score += double{q[row * Tile64::D + d]} * k[key * Tile64::D + d];
          double& largest = key <= row ? here : masked;
          largest = std::max(largest, score * scale_of(Tile64::D));
        }
        if (tile > 0) growth = std::max(growth, here - seen);
        seen = std::max(seen, here);
      }
      const double off = late_mask ? masked - seen : growth;
      spoiled[row] = off > (late_mask ? 150 : 3) ? 1 : off > (late_mask ? 90 : 0) ? -1 : 0;
    }
    return only_wrong(errors_of_rows(field_.out(), field_.right(true)->host(), Tile64::D), spoiled);
  }
  static constexpr int QUERIES = 200;
  AttentionField field_;
};

const std::initializer_list<std::string_view> ON_ATTENTION = {
    "three_kernels", "query_a_warp", "fused",     "loading_warps",
    "no_rescale",    "late_mask",    "early_exit"};

/// Launches, and those of other files.
template <class Launches>
Launches with_others(Launches launches) {
  lab::add_others(launches);
  return launches;
}

/// Adds the rungs that a field has.
template <class Field, class Launches>
void add_all(lab::Ladder& ladder, Field&& field, const Launches& launches) {
  for (const auto& launch : launches) {
    if (field.has(launch) && ladder.wants(launch.rung)) ladder.add(field.rung(launch));
  }
}

/// Adds what works on rows.
void add_rows(lab::Ladder& ladder, size_t length) {
  const RowLaunches launches = with_others(launches_of_rows());
  for (size_t l = 0; l < 4; ++l) add_all(ladder, RowField(l, length, ladder.seed()), launches);
  ladder.add("no_maximum", Overflow(ladder.seed()), {.timed = false});
  ladder.add("special_rows", SpecialRows(ladder.seed()), {.timed = false});
  Variances variances(2 * length, length, ladder.seed());
  for (const bool two_sums : {false, true}) ladder.add(variances.rung(two_sums));
}

/// What is computed at a size, or the one attention that a reader asks for.
struct Problems {
  std::vector<Asked> in_float, in_bf16, decoding;

  /// In float; in BF16 as long, and four times as long, on the simulator twice; decoding of one sequence, and of as many as
  /// there are heads, twice and 32 times the length; of what lies between where there is room for it.
  Problems(int length, int heads) {
    in_float = {{128, {heads, length, length, 1}},
                {64, {2 * heads, length, length, 1}},
                {128, {4 * heads, length / 2 + 1, length, 4}}};
    const int more = (length > 1000 ? 4 : 2) * length;
    in_bf16 = {{128, {heads, length, length, 1}, "short"},
               {128, {std::max(1, heads / 4), more, more, 1}, "long"},
               {64, {2 * heads, length, length, 1}, "short"},
               {128, {2, length + 70, length, 2}, "grouped"}};
    constexpr int EACH = Decoding::HEADS * Decoding::GROUP;
    decoding = {{HEAD, {EACH, 1, 2 * length, Decoding::GROUP}, "one,short"},
                {HEAD, {EACH, 1, 32 * length, Decoding::GROUP}, "one,long"},
                {HEAD, {EACH * heads, 1, 2 * length, Decoding::GROUP}, "many,short"}};
    if (heads < 64) return;
    decoding.push_back({HEAD, {EACH, 1, 8 * length, Decoding::GROUP}, "one,middle"});
    for (int batch = 2; batch < heads; batch *= 2) {
      decoding.push_back({HEAD,
                          {EACH * batch, 1, 2 * length, Decoding::GROUP},
                          lab::format("batch=%d,short", batch)});
    }
  }
  explicit Problems(const Asked& given) : in_float{given}, in_bf16{given} {
    if (Decoding::takes(given)) decoding = {given};
  }
};

constexpr const char* ATTENTION_FORM = "HEADS,QUERIES,KEYS,D[,GROUP]";
constexpr const char* DECODING_FORM =
    "takes 32, 64, ... HEADS, 1 of QUERIES, a D of 128, a GROUP of 4";

/// Reads what ATTENTION_FORM spells.
/// \throws lab::BadInput where it is no attention that the kernels take
Asked parse_attention(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return lab::BadInput("--attention " + text + " " + why + ": it takes " + ATTENTION_FORM);
  };
  std::vector<int> values;
  const char *at = text.data(), *const end = at + text.size();
  while (at <= end) {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ',')) throw refuse("is no attention");
    values.push_back(value), at = next + 1;
  }
  if (values.size() == 4) values.push_back(1);
  if (values.size() != 5) {
    throw refuse(lab::format("has %zu numbers", values.size()));
  }
  const Asked asked{values[3], {values[0], values[1], values[2], values[4]}, "given", true};
  const auto& [heads, queries, keys, group] = asked.heads;
  if (*std::min_element(values.begin(), values.end()) < 1) throw refuse("has a number below 1");
  if (asked.d != 64 && asked.d != 128) {
    throw refuse(lab::format("has heads of %d columns, not of 64 or 128", asked.d));
  }
  if (heads % group != 0) throw refuse("has a GROUP that does not divide HEADS");
  if (heads > 65535 || std::max({queries, keys}) > 1 << 20 ||
      std::int64_t{heads} * queries * keys > std::int64_t{1} << 34) {
    throw refuse("is too large");
  }
  return asked;
}

/// Adds attention in float, and mistakes.
void add_attention(lab::Ladder& ladder, const std::vector<Asked>& problems) {
  const AttentionLaunches launches = with_others(launches_of_attention());
  if (!ladder.wants(ON_ATTENTION)) return;
  for (const Asked& of : problems) add_all(ladder, AttentionField(of, ladder.seed()), launches);
  Spoiled spoiled(ladder.seed());
  ladder.add("no_rescale", spoiled.rung(false), {.timed = false});
  ladder.add("late_mask", spoiled.rung(true), {.timed = false});
  ladder.demonstrate("early_exit", [&] { spoiled.exit_early(); });
}

/// Adds attention in BF16, and a mistake.
void add_bf16(lab::Ladder& ladder, const std::vector<Asked>& problems) {
  const auto launches = with_others(Bf16Launches());
  for (const Asked& of : problems) add_all(ladder, Bf16Field(of, ladder.seed()), launches);
  Bf16Field field({64, {1, 128, 200, 1}, "mistake"}, ladder.seed());
  for (const Bf16Launch& launch : launches) {
    if (launch.mistake) ladder.demonstrate(launch.rung, launch.prepare(field.data()));
  }
}

/// Adds decoding.
void add_decoding(lab::Ladder& ladder, const std::vector<Asked>& problems) {
  if (!ladder.wants({"decode", "paged"})) return;
  for (const Asked& of : problems) add_all(ladder, Decoding(of, ladder.seed()), WAYS_TO_DECODE);
}

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  std::optional<Asked> given;
  const lab::OwnOption own{"attention", ATTENTION_FORM, "this attention instead of the chapter's",
                           [&](const std::string& text) { given = parse_attention(text); }};
  const auto add = [&](lab::Ladder& ladder, size_t length, size_t heads) {
    ladder.require(length <= 4096 && heads <= 4096, "at most 4096 positions, and 4096 heads");
    const Problems all =
        given ? Problems(*given) : Problems(static_cast<int>(length), static_cast<int>(heads));
    add_rows(ladder, length);
    add_attention(ladder, all.in_float);
    add_bf16(ladder, all.in_bf16);
    add_decoding(ladder, all.decoding);
    if (!given) return;
    if (given->d == 128) ladder.skip("three_groups", "is for heads of 64 columns");
    if (!all.decoding.empty()) return;
    for (const char* const rung : {"decode", "paged"}) ladder.skip(rung, DECODING_FORM);
  };
  return lab::run(argc, argv, add, {own});
}

// ## What bounds each rung
//
// Which rung removes which bottleneck of attention, its gain over the rung above or the one named, and the largest share of its time that a resource needs alone. Rows
// have 32768 elements. Attention is that of 4096 positions and heads of 128 columns without a mask, in TFLOP/s. What a rung waits for
// beside that share is not measured, unless the row says so.
//
// | rung | removes | rate | gain | bound by |
// |---|---|--:|--:|---|
// | `three_passes` | | 0.32 of a copy | | DRAM 31 %: a row is read three times |
// | `online` | one of the three reads | 0.52 of a copy | 1.6 | DRAM 50 % |
// | `warp_row` | the second read of `online`, and barriers; rows of 1024 | 1.01 of a copy | 1.7 | what bounds the copy |
// | `block_row` | the second read of `online`: registers keep a row | 0.98 of a copy | 1.9 | DRAM 96 % |
// | `cluster_row` | the limit of one SM's registers, which no row here reaches | 0.85 of a copy | 0.87 | DRAM 83 % |
// | `three_kernels` | | 26.8 | | FP32 40 %; the scores' traffic would take 20 % at the rate of a copy |
// | `query_a_warp` | the scores' traffic, and the tiles with it | 7.5 | 0.28 | FP32 11 % |
// | `fused` | the scores' traffic of `three_kernels`, and keeps its tiles | 42.2 | 1.6 | FP32 63 % |
// | `loading_warps` | barriers for all warps, unequal shares | 49.6 | 1.18 | FP32 74 %; maxima, sums and loads need issue slots as well |
// | `fragments` | FP32 units and weights in shared memory: BF16 | 46.4 | | shared memory 78 %: bank conflicts |
// | `fragments_swizzled` | bank conflicts | 203 | 4.4 | shared memory 43 % |
// | `fragments_ring` | the wait for each tile | 257 | 1.27 | shared memory 54 % |
// | `fragments_reused` | every second load of a fragment of K and V | 344 | 1.34 | shared memory 40 %, tensor cores 32 % |
// | `boxes` | loads of K and V to registers | 439 | 1.28 | tensor cores 41 % |
// | `two_groups` | a softmax beside which nothing is multiplied | 605 | 1.38 | tensor cores 57 % |
// | `turns` | chance: two warpgroups take turns; 64 columns, 399 before | 440 | 1.10 | tensor cores and special functions 41 % |
// | `ahead` | the wait for the last products; 64 columns | 436 | 0.99 | tensor cores and special functions 41 % |
// | `three_groups` | idle tensor cores: a third warpgroup; 64 columns | 517 | 1.18 | tensor cores and special functions 48 % |
// | `persistent` | the start of a block for each item; `ahead` makes 615 | 654 | 1.06 | tensor cores 63 % |
// | `dealt_items` | unequal shares under a causal mask; 64 columns, 256 before | 456 | 1.78 | tensor cores and special functions 43 % |
// | `decode` | idle SMs: 131072 keys, in eight blocks 0.06 of a copy | 0.96 of a copy | 16 | DRAM 89 % |
// | `paged` | one piece of memory for each cache; 64 sequences | 1.01 of a copy | 0.99 | DRAM 94 % |
//= | 0.32 of a copy | | DRAM 31 %: (ratio("three_passes/softmax,long"), 100 * alone("three_passes/softmax,long", "DRAM") / ms("three_passes/softmax,long"))
//= | 0.52 of a copy | 1.6 | DRAM 50 %: (ratio("online/softmax,long"), ms("three_passes/softmax,long") / ms("online/softmax,long"),
//=   100 * alone("online/softmax,long", "DRAM") / ms("online/softmax,long"))
//= | 1.01 of a copy | 1.7: (ratio("warp_row/softmax,short"), ms("online/softmax,short") / ms("warp_row/softmax,short"))
//= | 0.85 of a copy | 0.87 | DRAM 83 %: (ratio("cluster_row/softmax,long"), ms("block_row/softmax,long") / ms("cluster_row/softmax,long"),
//=   100 * alone("cluster_row/softmax,long", "DRAM") / ms("cluster_row/softmax,long"))
//= | 0.98 of a copy | 1.9 | DRAM 96 %: (ratio("block_row/softmax,long"), ms("online/softmax,long") / ms("block_row/softmax,long"),
//=   100 * alone("block_row/softmax,long", "DRAM") / ms("block_row/softmax,long"))
//= | 26.8 | | FP32 40 %: (rate("three_kernels/d=128,full") / 1000,
//=   100 * alone("three_kernels/d=128,full", "FP32 instructions") / ms("three_kernels/d=128,full"))
//= would take 20 %: 100 * 4 * 64 * 4096 ** 2 * 4 / limit("copy") / 1e6 / ms("three_kernels/d=128,full")
//= | 7.5 | 0.28 | FP32 11 %: (rate("query_a_warp/d=128,full") / 1000, ms("three_kernels/d=128,full") / ms("query_a_warp/d=128,full"),
//=   100 * alone("query_a_warp/d=128,full", "FP32 instructions") / ms("query_a_warp/d=128,full"))
//= | 42.2 | 1.6 | FP32 63 %: (rate("fused/d=128,full") / 1000, ms("three_kernels/d=128,full") / ms("fused/d=128,full"),
//=   100 * alone("fused/d=128,full", "FP32 instructions") / ms("fused/d=128,full"))
//= | 49.6 | 1.18 | FP32 74 %: (rate("loading_warps/d=128,full") / 1000, ms("fused/d=128,full") / ms("loading_warps/d=128,full"),
//=   100 * alone("loading_warps/d=128,full", "FP32 instructions") / ms("loading_warps/d=128,full"))
//= | 46.4 | | shared memory 78 %: (rate("fragments/bf16,d=128,short,full") / 1000,
//=   100 * alone("fragments/bf16,d=128,short,full", "shared memory") / ms("fragments/bf16,d=128,short,full"))
//= | 203 | 4.4 | shared memory 43 %: (rate("fragments_swizzled/bf16,d=128,short,full") / 1000,
//=   ms("fragments/bf16,d=128,short,full") / ms("fragments_swizzled/bf16,d=128,short,full"),
//=   100 * alone("fragments_swizzled/bf16,d=128,short,full", "shared memory") / ms("fragments_swizzled/bf16,d=128,short,full"))
//= | 257 | 1.27 | shared memory 54 %: (rate("fragments_ring/bf16,d=128,short,full") / 1000,
//=   ms("fragments_swizzled/bf16,d=128,short,full") / ms("fragments_ring/bf16,d=128,short,full"),
//=   100 * alone("fragments_ring/bf16,d=128,short,full", "shared memory") / ms("fragments_ring/bf16,d=128,short,full"))
//= | 344 | 1.34 | shared memory 40 %, tensor cores 32 %: (rate("fragments_reused/bf16,d=128,short,full") / 1000,
//=   ms("fragments_ring/bf16,d=128,short,full") / ms("fragments_reused/bf16,d=128,short,full"),
//=   100 * alone("fragments_reused/bf16,d=128,short,full", "shared memory") / ms("fragments_reused/bf16,d=128,short,full"),
//=   100 * alone("fragments_reused/bf16,d=128,short,full", "tensor cores") / ms("fragments_reused/bf16,d=128,short,full"))
//= | 439 | 1.28 | tensor cores 41 %: (rate("boxes/bf16,d=128,short,full") / 1000,
//=   ms("fragments_reused/bf16,d=128,short,full") / ms("boxes/bf16,d=128,short,full"),
//=   100 * alone("boxes/bf16,d=128,short,full", "tensor cores") / ms("boxes/bf16,d=128,short,full"))
//= | 605 | 1.38 | tensor cores 57 %: (rate("two_groups/bf16,d=128,short,full") / 1000,
//=   ms("boxes/bf16,d=128,short,full") / ms("two_groups/bf16,d=128,short,full"),
//=   100 * alone("two_groups/bf16,d=128,short,full", "tensor cores") / ms("two_groups/bf16,d=128,short,full"))
//= 64 columns, 399 before | 440 | 1.10 | tensor cores and special functions 41 %: (64, rate("two_groups/bf16,d=64,short,full") / 1000,
//=   rate("turns/bf16,d=64,short,full") / 1000, ms("two_groups/bf16,d=64,short,full") / ms("turns/bf16,d=64,short,full"),
//=   100 * alone("turns/bf16,d=64,short,full", "special functions") / ms("turns/bf16,d=64,short,full"))
//= | 436 | 0.99 | tensor cores and special functions 41 %: (rate("ahead/bf16,d=64,short,full") / 1000,
//=   ms("turns/bf16,d=64,short,full") / ms("ahead/bf16,d=64,short,full"),
//=   100 * alone("ahead/bf16,d=64,short,full", "special functions") / ms("ahead/bf16,d=64,short,full"))
//= | 517 | 1.18 | tensor cores and special functions 48 %: (rate("three_groups/bf16,d=64,short,full") / 1000, ms("ahead/bf16,d=64,short,full") / ms("three_groups/bf16,d=64,short,full"),
//=   100 * alone("three_groups/bf16,d=64,short,full", "special functions") / ms("three_groups/bf16,d=64,short,full"))
//= `ahead` makes 615 | 654 | 1.06 | tensor cores 63 %: (rate("ahead/bf16,d=128,short,full") / 1000,
//=   rate("persistent/bf16,d=128,short,full") / 1000, ms("ahead/bf16,d=128,short,full") / ms("persistent/bf16,d=128,short,full"),
//=   100 * alone("persistent/bf16,d=128,short,full", "tensor cores") / ms("persistent/bf16,d=128,short,full"))
//= 256 before | 456 | 1.78 | tensor cores and special functions 43 %: (rate("persistent/bf16,d=64,short,causal") / 1000,
//=   rate("dealt_items/bf16,d=64,short,causal") / 1000, ms("persistent/bf16,d=64,short,causal") / ms("dealt_items/bf16,d=64,short,causal"),
//=   100 * alone("dealt_items/bf16,d=64,short,causal", "special functions") / ms("dealt_items/bf16,d=64,short,causal"))
//= 0.06 of a copy | 0.96 of a copy | 16 | DRAM 89 %: (ratio("decode/one,long,whole"), ratio("decode/one,long,split"),
//=   ms("decode/one,long,whole") / ms("decode/one,long,split"), 100 * alone("decode/one,long,split", "DRAM") / ms("decode/one,long,split"))
//= | 1.01 of a copy | 0.99 | DRAM 94 %: (ratio("paged/many,short"), ms("decode/many,short,split") / ms("paged/many,short"),
//=   100 * alone("paged/many,short", "DRAM") / ms("paged/many,short"))
//
// ## What to remember
//
// - A softmax needs of a part of its row the largest element and the sum that belongs to it. Two parts are merged by
//   correcting each sum for the common maximum; in any order, by lanes, warps or blocks.
// - A softmax of rows that are kept in registers costs what a copy costs, up to tens of thousands of elements.
// - A variance is a small difference of large sums, unless distances are taken from the mean of each part.
// - Fused attention carries (maximum, sum, output) along the keys, and stores no score. Its products have to be as good as those of
//   separate kernels.
// - One query against a long cache is a reduction: split the keys, and merge.
// - Test with large scores, with masked ones that are larger still, and with maxima that come late.
//
// ## Possibilities for extension
//
// 1. Write the backward pass of layer norm: two sums for each row, and one for each column over all rows.
// 2. Let `fused` leave the output as it is while no maximum of the warp grows. How often does that happen, and what does
//    the branch cost?
// 3. Give `decode` a cache in 8-bit integers, with a scale for each key. Where is the limit then?
// 4. Add a sliding window to the mask: a query sees the last 1024 keys. Which tiles are needed, from where to where?
// 5. Keep the keys of `decode` in shared memory by `cp.async`, a ring for each warp. Does it pay?
