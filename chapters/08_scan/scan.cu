// # Chapter 08: Scan
//
// Question: Each output of a prefix sum needs the one before it. How can thousands of threads compute it at once?
// Builds on: 05_bank_conflicts, 07_reductions
// Minutes: 35
// Afterwards: scan an array of any size in one pass over the data
// Kind: map
// Size gpu: 268435456
// Size simulator: 50021
// Sizes measured: 268435456 16777216 1048576
// Run: ./learn run 08
//   ./learn run 08 --rung hillis_steele_launches  a launch for each step, over the whole array
//   ./learn run 08 --rung blelloch_launches       up a tree and down again, a launch for each level
//   ./learn run 08 --rung hillis_steele           the steps in shared memory: a block scans its own 1024 elements
//   ./learn run 08 --rung one_row                 reads and writes the same row in one step [raises shared-race]
//   ./learn run 08 --rung blelloch                the tree in shared memory, without and with padding
//   ./learn run 08 --rung in_chunks               1, 2 or 32 processors, each scans a chunk
//   ./learn run 08 --rung warp_scan               a warp scans 32 elements in registers
//   ./learn run 08 --rung block_scan              tiles of 4096, each alone
//   ./learn run 08 --rung three_kernels           tiles, then their sums, then the tiles again
//   ./learn run 08 --rung chained                 one kernel: each tile waits for the one before it
//   ./learn run 08 --rung later_first             blocks that wait for blocks with higher numbers [raises hang]
//   ./learn run 08 --rung look_back               one kernel: each tile looks at all that came before it
//   ./learn run 08 --rung torn_word               a flag beside its value instead of with it [raises global-race]
//   ./learn run 08 --rung look_ahead              warps with roles of their own [needs sm_90a, cuda 12.9]
//   ./learn run 08 --rung one_wave                a small array: all tiles at once, each adds up all that came before it

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/cub.h"
#include "lab/lab.h"
#include "scan.h"

using std::size_t;

// A **scan**, or prefix sum, replaces each element of a sequence by the sum of the elements up to it. The
// {term}`inclusive scan` counts the element itself, the {term}`exclusive scan` stops before it:
//
//     in         3   1   7   0   4   1   6   3
//     inclusive  3   4  11  11  15  16  22  25
//     exclusive  0   3   4  11  11  15  16  22
//
// The exclusive scan is the inclusive one shifted right by one, with 0 in front. Any associative operator with an
// identity can take the place of the sum: maxima, or the pairs of chapter 14.
//
// A scan answers the question *where does my result go?* Suppose that some elements of an array are to be kept.
// Write 1 for each of them and 0 for the others. The exclusive scan of these flags is the number of elements kept
// before each one: its place in the output. Sorting, compaction, sparse matrices and histograms are built on it.
//
//? compacted: The flags of eight elements are 1 0 1 1 0 0 1 0. Where in the output does the element with index 6
//?   go?
//? choices: place 2 | place 3 | place 6
//? answer: 1 + 0 + 1 + 1 + 0 + 0
//
// Three elements before it are kept. They take the places 0 to 2.
//
// A loop on a CPU needs n - 1 additions, each of which waits for the one before. This chapter shows how to
// break that chain, first within a block, then across the GPU, until the scan takes about as long as a copy.
//
// Counts are for 50,021 elements, the simulator's default. Elements are `unsigned`, so that sums are taken
// modulo 2^32 and every order of additions gives the same result. All rungs compute exclusive scans unless they
// say otherwise.

constexpr unsigned ALL = 0xFFFFFFFF;  ///< the mask of a whole warp
constexpr unsigned RUN = 1024;        ///< elements that a block scans in section 2

// ## 1. Steps and work
//
// ### One step, one launch
//
// Let every element add its left neighbour, at distance 1. Each now holds the sum of two elements. Let each add
// what stands at distance 2: sums of four. After the distances 1, 2, 4, ... up to n, each element holds the sum
// of all elements up to it. This is the scan of Hillis and Steele; as an adder it is Kogge and Stone's. Within a step
// all additions are independent.
//
// ```{drawing} steps
// ```

/// One step: out[i] = in[i] + in[i - d], or in[i] where there is no such element.
///
/// Launch: one thread per element, in blocks of one dimension.
/// Requires: out and in do not overlap.
__global__ void add_left(unsigned* out, const unsigned* in, size_t n, size_t d) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i < d ? in[i] : in[i] + in[i - d];
}

/// The inclusive scan of n elements, by a launch for each step.
///
/// @param spare  n more elements: the steps write into out and spare in turn
void hillis_steele_launches(unsigned* out, const unsigned* in, size_t n, unsigned* spare) {
  unsigned steps = 0;
  for (size_t d = 1; d < n; d *= 2) ++steps;
  // The last step has to write to out.
  unsigned* to = steps % 2 == 1 ? out : spare;
  if (steps == 0) CUDA_CHECK(cudaMemcpyAsync(out, in, n * 4, cudaMemcpyDeviceToDevice));
  for (size_t d = 1; d < n; d *= 2) {
    add_left<<<blocks_for(n, 256), 256>>>(to, in, n, d);
    in = to;
    to = to == out ? spare : out;
  }
}

// Why two arrays? In one, a thread could read its left neighbour after that neighbour has been changed in the
// same step. A launch waits for the one before it, but the blocks of one launch run in any order.
//
//? launches: How many launches do 50,021 elements need?
//? answer: count("hillis_steele_launches", "global_store_active_lanes") / 50021
//? unit: launches
//? near: exact
//
//? work: And how many additions, as a multiple of the n - 1 of a loop?
//? answer: (count("hillis_steele_launches", "global_load_active_lanes") - count("hillis_steele_launches",
//?   "global_store_active_lanes")) / 50020
//? unit: times as many
//? near: 15 %
//
// 16, since 2^15 < 50,021 <= 2^16. Each of them reads and writes all elements. The **steps** have become few,
// log n instead of n: they are the {term}`critical path`, which no number of threads can shorten. But the
// **work** has grown to about n log n additions, 14.7 times that of the loop. For a memory-bound problem the
// bytes matter most, and they have grown in the same way: a scan has to move 8 bytes for each element, and the
// 28 steps for 2^28 elements move 224 bytes, if a cache has each element's second read.
//= 16: count("hillis_steele_launches", "global_store_active_lanes") / 50021
//= 14.7 times: (count("hillis_steele_launches", "global_load_active_lanes") - count("hillis_steele_launches",
//=   "global_store_active_lanes")) / 50020
//= 224 bytes: 28 * 8
//
// ### Up a tree and down again
//
// Blelloch's scan does less work. (The adder of Brent and Kung is much the same tree.) Its **up-sweep** is a
// reduction: pairs are added, then pairs of pairs, and each sum takes the place of its right
// element. The last element ends as the total. The **down-sweep** puts 0 there and goes back down, so that each node gets
// the sum of all that lies left of its subtree: it hands its value to its left child, and its value plus the left
// child's old sum to the right one:
//
// ```{drawing} tree
// ```

// [hide] A level of each sweep
/// One level of the up-sweep: the right element of each pair, d apart, becomes the sum of both.
///
/// Launch: one thread for each of the p / (2 d) pairs, in blocks of one dimension.
/// Requires: p and d are powers of two, d < p.
__global__ void up_sweep(unsigned* tree, size_t p, size_t d) {
  const size_t pair = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pair >= p / (2 * d)) return;
  const size_t right = (pair + 1) * 2 * d - 1;
  tree[right] += tree[right - d];
}

/// One level of the down-sweep: left becomes right, right becomes the sum of both.
///
/// Launch, Requires: as `up_sweep`.
__global__ void down_sweep(unsigned* tree, size_t p, size_t d) {
  const size_t pair = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pair >= p / (2 * d)) return;
  const size_t right = (pair + 1) * 2 * d - 1;
  const unsigned left = tree[right - d], sum = tree[right];
  tree[right - d] = sum;
  tree[right] = left + sum;
}
// [/hide]

/// The exclusive scan of n elements, by a launch for each level.
///
/// @param tree  elements in a number that is a power of two, n at least: zeros take the places from n on
void blelloch_launches(unsigned* out, const unsigned* in, size_t n, unsigned* tree) {
  const size_t p = std::bit_ceil(n);
  CUDA_CHECK(cudaMemcpyAsync(tree, in, n * 4, cudaMemcpyDeviceToDevice));
  CUDA_CHECK(cudaMemsetAsync(tree + n, 0, (p - n) * 4));
  for (size_t d = 1; d < p; d *= 2) {
    up_sweep<<<blocks_for(p / (2 * d), 256), 256>>>(tree, p, d);
  }
  CUDA_CHECK(cudaMemsetAsync(tree + p - 1, 0, 4));
  for (size_t d = p / 2; d > 0; d /= 2) {
    down_sweep<<<blocks_for(p / (2 * d), 256), 256>>>(tree, p, d);
  }
  CUDA_CHECK(cudaMemcpyAsync(out, tree, n * 4, cudaMemcpyDeviceToDevice));
}

//? additions: For p elements, p a power of two, each sweep makes p - 1 additions. How many does
//?   `blelloch_launches` make for 50,021 elements, as a multiple of the n - 1 of a loop?
//? answer: (count("blelloch_launches", "global_store_active_lanes", "up_sweep") + count("blelloch_launches",
//?   "global_store_active_lanes", "down_sweep") / 2) / 50020
//? unit: times as many
//? near: 10 %
//
// 2.6, and it would be 2 without the padding to 2^16 elements. That is 5.6 times fewer than Hillis and
// Steele's, and within a constant factor of the loop's: the algorithm is *work-efficient*. Its price is twice
// the steps, 32 launches instead of 16.
//= 2.6: 2 * 65535 / 50020
//= 5.6 times: (count("hillis_steele_launches", "global_load_active_lanes") - count("hillis_steele_launches",
//=   "global_store_active_lanes")) / (2 * 65535)
//= 32 launches: 2 * 16
//
// The bytes do not fall as the additions do. At distance d, neighbouring lanes touch elements that are 2d
// apart. From d = 8 on, every element of a warp lies in a sector of its own (chapter 06), of which 4 bytes in
// 32 are used. And both kernels wait for a launch after each step, even at the top of the tree, where a single
// thread has work to do.
//
// **Timed.** For 2^28 elements the 28 steps take 24 ms, the two sweeps 8.3 ms. CUB takes 0.69 ms.
//= 24 ms: ms("hillis_steele_launches")
//= 8.3 ms: ms("blelloch_launches")
//= 0.69 ms: ms("look_ahead") * ratio("look_ahead")
//
// **So:** the steps belong inside a block, where a barrier costs less than a launch and the data can stay in shared
// memory.
//
// ## 2. The same in a block
//
// In sections 2 and 3, each block scans a part of its own, as if it were alone; section 4 puts the parts together.

/// The inclusive scan of each run of RUN elements; the last one may be shorter.
///
/// Launch: blocks of RUN threads, one for each run.
/// Source of the idea: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms", 1986.
__global__ void __launch_bounds__(RUN) hillis_steele(unsigned* out, const unsigned* in, size_t n) {
  __shared__ unsigned sums[2][RUN];
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * RUN + t;

  unsigned now = 0;  // the row that holds the sums
  sums[now][t] = i < n ? in[i] : 0;
  for (unsigned d = 1; d < RUN; d *= 2) {
    __syncthreads();  // the row is complete, and the other one may be overwritten
    sums[1 - now][t] = t < d ? sums[now][t] : sums[now][t] + sums[now][t - d];
    now = 1 - now;
  }
  if (i < n) out[i] = sums[now][t];
}

// Two rows play the part of the two arrays. One barrier for each step is enough: no thread can write into a row
// before all threads have passed the barrier that follows its last reads.
//
// ### One row instead of two (second reading)
//
// With a single row the same loop has a race.

/// `hillis_steele` with one row: a mistake on purpose.
///
/// Launch: as `hillis_steele`.
__global__ void __launch_bounds__(RUN) one_row(unsigned* out, const unsigned* in, size_t n) {
  __shared__ unsigned sums[RUN];
  const unsigned t = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * RUN + t;

  sums[t] = i < n ? in[i] : 0;
  for (unsigned d = 1; d < RUN; d *= 2) {
    __syncthreads();
    if (t >= d) sums[t] += sums[t - d];  // another warp may have written there in this step
  }
  if (i < n) out[i] = sums[t];
}

// ### The tree in shared memory
//
// Blelloch's tree needs no second row, because a thread touches only its own pair. It needs half as many
// threads, too. The kernel can leave words of shared memory unused, PAD behind every 32: it is launched with pad=0
// and with pad=1.
//
//? instructions: For 1024 elements, `hillis_steele` makes 9,217 additions and `blelloch` 2,046: 4.5 times
//?   fewer. How many times fewer load requests does it make to shared memory, on the simulator?
//? answer: count("hillis_steele", "shared_load_requests") / count("blelloch/pad=0", "shared_load_requests")
//? unit: times fewer
//? near: 20 %
//
//? worst: At distance 16, the 32 lanes of the first warp of `blelloch` with pad=0 have a pair each. How many
//?   wavefronts does the load of the right elements take?
//? choices: 1 | 2 | 16 | 32
//? answer: 32 / (32 / 32)
//
//? padding: How many wavefronts do all loads of `blelloch` with pad=0 take, as a multiple of those with pad=1?
//? answer: count("blelloch/pad=0", "shared_load_wavefronts") / count("blelloch/pad=1",
//?   "shared_load_wavefronts")
//? unit: times as many
//? near: factor 1.5

/// The exclusive scan of each run of RUN elements; the last one may be shorter.
///
/// @tparam PAD  unused words behind every 32 words of shared memory
///
/// Launch: blocks of RUN / 2 threads, one for each run.
/// Source of the idea: G. E. Blelloch, "Prefix Sums and Their Applications", 1990; of the padding: M. Harris,
/// S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3, 2007.
template <unsigned PAD>
__global__ void __launch_bounds__(RUN / 2) blelloch(unsigned* out, const unsigned* in, size_t n) {
  __shared__ unsigned tree[RUN + PAD * (RUN / 32)];
  const auto at = [](unsigned i) { return i + PAD * (i / 32); };
  const unsigned t = threadIdx.x;
  const size_t first = size_t{blockIdx.x} * RUN;

  for (unsigned i = t; i < RUN; i += RUN / 2) tree[at(i)] = first + i < n ? in[first + i] : 0;
  for (unsigned d = 1; d < RUN; d *= 2) {
    __syncthreads();  // the level below is complete
    if (t < RUN / (2 * d)) {
      const unsigned right = (t + 1) * 2 * d - 1;
      tree[at(right)] += tree[at(right - d)];
    }
  }
  if (t == 0) tree[at(RUN - 1)] = 0;  // the same thread wrote it last
  for (unsigned d = RUN / 2; d > 0; d /= 2) {
    __syncthreads();  // the level above is complete
    if (t < RUN / (2 * d)) {
      const unsigned right = (t + 1) * 2 * d - 1;
      const unsigned left = tree[at(right - d)], sum = tree[at(right)];
      tree[at(right - d)] = sum;
      tree[at(right)] = left + sum;
    }
  }
  __syncthreads();
  for (unsigned i = t; i < RUN; i += RUN / 2) {
    if (first + i < n) out[first + i] = tree[at(i)];
  }
}

// **Idle lanes.** Additions are not what the hardware executes. It executes warp instructions, and one with a
// single active lane costs as much as one with 32. From d = 32 on, less than a warp of `blelloch` has work, and
// the other 15 warps only pass the barriers. The tree also needs more accesses for each addition: the
// down-sweep exchanges values. So 4.5 times fewer additions are only 3.5 times fewer load requests on the simulator. On the
// H200 they are 4.2 times fewer: nvcc loads a pair at distance 1 at once.
//= 4.5: 9217 / 2046
//= 3.5 times: count("hillis_steele", "shared_load_requests") / count("blelloch/pad=0", "shared_load_requests")
//= are 4.2 times: hw("hillis_steele", "shared_load_requests") / hw("blelloch/pad=0", "shared_load_requests")
//
// **Bank conflicts.** At distance d, neighbouring lanes are 2d words apart: a 2-way conflict at d = 1, 4-way at
// d = 2, and at d = 16 the 32 lanes want 32 words of the same bank. The loads of `blelloch` take 1.3 times the
// wavefronts of those of `hillis_steele`, whose lanes read consecutive words.
//= 1.3 times: count("blelloch/pad=0", "shared_load_wavefronts") / count("hillis_steele",
//=   "shared_load_wavefronts")
//
// The remedy is that of chapter 05: one unused word behind every 32. Element i
// goes to word i + i / 32. Words at a distance of 32 then lie in neighbouring banks. No conflict is left, and
// the loads of pad=0 take 4.5 times as many wavefronts.
//= 4.5 times: count("blelloch/pad=0", "shared_load_wavefronts") / count("blelloch/pad=1",
//=   "shared_load_wavefronts")
//
// **Timed**, as scans of 1024 elements side by side: 1.7 ms for `hillis_steele`, 2.5 ms for `blelloch`, and
// 1.6 ms once it is padded. Fewer additions have gained nothing.
//= 1.7 ms for `hillis_steele`, 2.5 ms for `blelloch`, and 1.6 ms: (ms("hillis_steele"), ms("blelloch/pad=0"),
//=   ms("blelloch/pad=1"))
//
// **So:** fewer operations are not less time. A step takes its barrier and its instructions however few lanes have work
// in it, and the best scan of a block is neither of the two.
//
// ## 3. Few steps, and no idle lanes
//
// Two processors that scan 16 numbers need no tree. Each takes half, and scans it from left to right:
//
//     in       3  1  7  0  4  1  6  3  |  2  5  1  1  8  0  2  4
//     scanned  3  4 11 11 15 16 22 25  |  2  7  8  9 17 17 19 23
//     added                            | 27 32 33 34 42 42 44 48
//
// Then the second adds the first one's total, 25. P processors take about 2n/P steps, and some to scan the P
// totals: for P far below n hardly a processor idles.
//
// On a GPU a **thread** scans a few elements in registers, a **warp** the totals of its threads, a **block** those of
// its warps, the **grid** those of its blocks.
//
// ### Two processors, or 32 (second reading)
//
// The next kernel counts the steps: its processors are lanes of one warp.

/// The inclusive scan of each run of RUN elements; the last one may be shorter.
///
/// @tparam P  processors, a power of two: the threads of a block
///
/// Launch: blocks of P threads, one for each run.
template <unsigned P>
__global__ void __launch_bounds__(P) in_chunks(unsigned* out, const unsigned* in, size_t n) {
  __shared__ unsigned totals[P];
  constexpr unsigned CHUNK = RUN / P;
  const size_t first = size_t{blockIdx.x} * RUN + threadIdx.x * CHUNK;
  const size_t end = first + CHUNK < n ? first + CHUNK : n;

  unsigned sum = 0;
  for (size_t i = first; i < end; ++i) out[i] = sum += in[i];
  totals[threadIdx.x] = sum;
  __syncthreads();  // all totals are there
  unsigned before = 0;
  for (unsigned p = 0; p < threadIdx.x; ++p) before += totals[p];
  if (threadIdx.x == 0) return;  // nothing to add
  for (size_t i = first; i < end; ++i) out[i] += before;
}

// A load request is a step. For 1024 elements one processor takes 1024 steps. With two it is the same number: 512 to
// scan, and 512 in which the second adds and the first is idle. 32 processors take 32 steps to scan and 32 to add, 16
// times as few, for about twice the additions.
//= 16 times as few: count("in_chunks/processors=1", "global_load_requests") / count("in_chunks/processors=32",
//=   "global_load_requests")
//
// **Timed.** For 2^20 elements it is 0.070 ms with one thread for each run, 0.045 ms with two and 0.039 ms with 32: a
// gain, but not of 16 times: the processors are lanes of one warp, and a request of 32 lanes that walk through 32 chunks
// touches 31.4 sectors, where that of a single lane touches 1. For 2^28 there are runs enough for all SMs, and a sixteenth
// of the steps takes longer: 4.4 ms, 4.4 ms and 8.2 ms. The scattered requests may well decide there; that was not measured.
//= 31.4 sectors: count("in_chunks/processors=32", "global_load_sectors") / count("in_chunks/processors=32",
//=   "global_load_requests")
//= 0.070 ms with one thread for each run, 0.045 ms: (ms("in_chunks/processors=1", 1048576),
//=   ms("in_chunks/processors=2", 1048576))
//= 0.039 ms: ms("in_chunks/processors=32", 1048576)
//= 4.4 ms, 4.4 ms and 8.2 ms: (ms("in_chunks/processors=1"), ms("in_chunks/processors=2"),
//=   ms("in_chunks/processors=32"))
//
// ### A warp
//
// In a warp Hillis and Steele's scan has the fewer *instructions*. All lanes of a warp add at the price of one, so
// what counts are steps: five for 32 totals, where Blelloch's tree has ten. And in a warp these steps need neither shared
// memory nor a barrier: `__shfl_up_sync` hands each lane the register of the lane d places below. All lanes read before
// any of them goes on, so a second row is not needed.
//
//? below: What does `__shfl_up_sync(ALL, v, 4)` return in lane 2, which has no lane 4 places below?
//? choices: 0 | its own v | the v of lane 30
//? answer: "its own v"

/// The inclusive scan over the lanes of a warp.
__device__ unsigned scan_warp(unsigned v) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned left = __shfl_up_sync(ALL, v, d);
    if (lane >= d) v += left;
  }
  return v;
}

/// The exclusive scan of each run of 32 elements; the last one may be shorter.
///
/// Launch: one thread per element, in blocks of whole warps.
__global__ void warp_scan(unsigned* out, const unsigned* in, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned v = i < n ? in[i] : 0;  // a lane without an element takes part, too
  const unsigned inclusive = scan_warp(v);
  if (i < n) out[i] = inclusive - v;
}

// It returns the lane's own value, which is why the addition needs its condition: without it, every low lane
// would double its value in each step. No lane may leave before the shuffles, since the mask names all 32.
//
// ### A block
//
// Eight warps share a tile of 4096 elements. A warp takes 512 consecutive ones as 4 rows of 128, so that its lanes' loads lie
// side by side. In each row a lane loads four consecutive elements with one 128-bit access and scans them, the warp scans
// the lanes' totals, and goes on to the next row with what it has so far. (`__shfl_sync(ALL, v, s)` gives every lane the v
// of lane s.)
//
// ```{drawing} parts
// ```
//
// `load4` and `store4` guard each element. `WHOLE` and `__stcs` are for section 6: read over them.

constexpr unsigned THREADS = 256, WARPS = THREADS / 32;  ///< of a block
constexpr unsigned ROWS = 4;                             ///< rows of 128 elements in a warp's part
constexpr unsigned TILE = THREADS * 4 * ROWS;            ///< elements of a block

/// Where the R rows of this thread begin in a tile: its uint4 of row r is at this place + 128 r.
template <unsigned R = ROWS>
__device__ size_t first_of_thread(size_t tile) {
  return tile * (THREADS * 4 * R) + threadIdx.x / 32 * (128 * R) + threadIdx.x % 32 * 4;
}

/// Scans the part of a tile that a warp holds. Called by all lanes.
///
/// @param x       in: the uint4s of this lane. out: inclusive scans, each of its uint4 alone
/// @param before  out: the sum of all that precedes each uint4 in the warp's part
/// @return the sum of the part
template <unsigned R>
__device__ unsigned scan_rows(uint4 (&x)[R], unsigned (&before)[R]) {
  unsigned total = 0;
#pragma unroll
  for (unsigned r = 0; r < R; ++r) {
    x[r].y += x[r].x;
    x[r].z += x[r].y;
    x[r].w += x[r].z;
    const unsigned inclusive = scan_warp(x[r].w);
    before[r] = total + inclusive - x[r].w;
    total += __shfl_sync(ALL, inclusive, 31);
  }
  return total;
}

/// The sums of the warps before this one, and of all. Called by all threads of a block; passes one barrier.
///
/// @param total   the sum of this warp's part
/// @param shared  a word of shared memory for each of the W warps
/// @param block_sum  out: the sum of the block
template <unsigned W>
__device__ unsigned scan_warps(unsigned total, unsigned (&shared)[W], unsigned& block_sum) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) shared[warp] = total;
  __syncthreads();  // all totals are there
  // Every warp scans them for itself: that costs no further barrier.
  const unsigned v = lane < W ? shared[lane] : 0, inclusive = scan_warp(v);
  block_sum = __shfl_sync(ALL, inclusive, 31);
  return __shfl_sync(ALL, inclusive - v, warp);
}

/// Whether all elements of this thread's R rows come before n.
template <unsigned R>
__device__ bool is_whole(size_t at, size_t n) {
  return at + (R - 1) * 128 + 4 <= n;
}

/// Loads the uint4s of this thread.
///
/// @tparam WHOLE  asks first whether all of them are there, else for each one
template <bool WHOLE = true, unsigned R>
__device__ void load_tile(uint4 (&x)[R], const unsigned* in, size_t at, size_t n) {
  if (WHOLE && is_whole<R>(at, n)) {
#pragma unroll
    for (unsigned r = 0; r < R; ++r) x[r] = *reinterpret_cast<const uint4*>(in + at + r * 128);
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < R; ++r) x[r] = load4(in, at + r * 128, n);
}

/// Stores the exclusive scan: what `scan_rows` left, and `offset` for all that precedes the warp's part.
///
/// @tparam WHOLE  as in `load_tile`
template <bool WHOLE = true, unsigned R>
__device__ void store_tile(unsigned* out, size_t at, size_t n, const uint4 (&x)[R],
                           const unsigned (&before)[R], unsigned offset) {
  const auto row = [&](unsigned r) -> uint4 {
    const unsigned e = offset + before[r];
    return {e, e + x[r].x, e + x[r].y, e + x[r].z};
  };
  if (WHOLE && is_whole<R>(at, n)) {
#pragma unroll
    for (unsigned r = 0; r < R; ++r) __stcs(reinterpret_cast<uint4*>(out + at + r * 128), row(r));
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < R; ++r) store4(out, at + r * 128, n, row(r));
}

/// The exclusive scan of each tile; the last one may be shorter.
///
/// @param start  what each tile starts with, one element per tile; null: 0
/// @param sums   out: the sum of each tile; null: not wanted
///
/// Launch: blocks of THREADS threads, one for each tile of TILE elements.
/// Requires: out and in are aligned to 16 bytes.
__global__ void __launch_bounds__(THREADS)
    block_scan(unsigned* out, const unsigned* in, size_t n, const unsigned* start, unsigned* sums) {
  __shared__ unsigned warp_sums[WARPS];
  const size_t at = first_of_thread(blockIdx.x);
  uint4 x[ROWS];
  unsigned before[ROWS], total;
  load_tile(x, in, at, n);
  unsigned offset = scan_warps(scan_rows(x, before), warp_sums, total);
  if (start != nullptr) offset += start[blockIdx.x];
  store_tile(out, at, n, x, before, offset);
  if (sums != nullptr && threadIdx.x == 0) sums[blockIdx.x] = total;
}

// `block_scan` passes one barrier for 4096 elements, where `hillis_steele` passes 10 for 1024. Shared memory
// holds 8 words.
//
// **Timed.** 0.52 ms: as fast as a copy, within a few percent, as long as the tiles ignore each other.
//= 0.52 ms: ms("block_scan")
//
// ## 4. Across blocks: three kernels
//
// A block lacks the sum of all tiles before its own. There are two ways to get it, each with three launches:
//
// - **Scan first:** scan all tiles and keep their sums; scan the sums; add to each tile what precedes it.
// - **Reduce first:** sum all tiles; scan the sums; scan the tiles, starting with what precedes each.
//
//? scan_first: How many bytes does the first way move for each element, by sectors that its kernels load and
//?   store? (For the sums of tiles it moves next to nothing.)
//? answer: 32 * (count("three_kernels/scan first", "global_load_sectors") + count("three_kernels/scan first",
//?   "global_store_sectors")) / 50021
//? unit: bytes per element
//? near: 5 %
//
//? reduce_first: And the second?
//? answer: 32 * (count("three_kernels/reduce first", "global_load_sectors") + count("three_kernels/reduce
//?   first", "global_store_sectors")) / 50021
//? unit: bytes per element
//? near: 5 %

/// The exclusive scan of a few elements, in place.
///
/// Launch: one block of THREADS threads.
/// Requires: sums is aligned to 16 bytes.
__global__ void __launch_bounds__(THREADS) scan_sums(unsigned* sums, size_t count) {
  __shared__ unsigned warp_sums[WARPS];
  unsigned carry = 0;
  for (size_t tile = 0; tile * TILE < count; ++tile) {
    const size_t at = first_of_thread(tile);
    uint4 x[ROWS];
    unsigned before[ROWS], total;
    load_tile(x, sums, at, count);
    const unsigned offset = scan_warps(scan_rows(x, before), warp_sums, total);
    store_tile(sums, at, count, x, before, carry + offset);
    carry += total;
    __syncthreads();  // warp_sums may be overwritten
  }
}

/// sums[tile] = the sum of each tile.
///
/// Launch, Requires: as `block_scan`.
__global__ void __launch_bounds__(THREADS) sum_tiles(unsigned* sums, const unsigned* in, size_t n) {
  __shared__ unsigned warp_sums[WARPS];
  uint4 x[ROWS];
  load_tile(x, in, first_of_thread(blockIdx.x), n);
  unsigned sum = 0, total;
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) sum += (x[r].x + x[r].y) + (x[r].z + x[r].w);
  scan_warps(__shfl_sync(ALL, scan_warp(sum), 31), warp_sums, total);  // for `total` alone
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// Adds start[tile] to all elements of each tile.
///
/// Launch, Requires: as `block_scan`.
__global__ void __launch_bounds__(THREADS)
    add_start(unsigned* out, size_t n, const unsigned* start) {
  const size_t at = first_of_thread(blockIdx.x);
  const unsigned add = start[blockIdx.x];
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) {
    const uint4 x = load4(out, at + r * 128, n);
    store4(out, at + r * 128, n, {x.x + add, x.y + add, x.z + add, x.w + add});
  }
}

/// The exclusive scan of n elements in three launches.
///
/// @param sums  an element for each tile
void three_kernels(unsigned* out, const unsigned* in, size_t n, unsigned* sums, bool reduce_first) {
  const unsigned tiles = blocks_for(n, TILE);
  if (reduce_first) {
    sum_tiles<<<tiles, THREADS>>>(sums, in, n);
    scan_sums<<<1, THREADS>>>(sums, tiles);
    block_scan<<<tiles, THREADS>>>(out, in, n, sums, nullptr);
  } else {
    block_scan<<<tiles, THREADS>>>(out, in, n, nullptr, sums);
    scan_sums<<<1, THREADS>>>(sums, tiles);
    add_start<<<tiles, THREADS>>>(out, n, sums);
  }
}

// Scan first reads and writes everything twice, 16 bytes. Reduce first reads twice and writes once, 12 bytes. A
// scan has to read each element once and write it once, 8 bytes, and if it is memory-bound, that is what
// decides. Reduce first can reach at most two thirds of the rate of a copy.
//= 16 bytes: 32 * (count("three_kernels/scan first", "global_load_sectors") + count("three_kernels/scan first",
//=   "global_store_sectors")) / 50021
//= 12 bytes: 32 * (count("three_kernels/reduce first", "global_load_sectors") + count("three_kernels/reduce
//=   first", "global_store_sectors")) / 50021
//= two thirds: 8 / 12
//
// **Timed.** 1.08 ms and 0.78 ms, that is 0.64 and 0.89 of CUB's rate.
//= 1.08 ms and 0.78 ms: (ms("three_kernels/scan first"), ms("three_kernels/reduce first"))
//= 0.64 and 0.89: (ratio("three_kernels/scan first"), ratio("three_kernels/reduce first"))
//
// **So:** to get to 8 bytes, a block has to learn the sum of what precedes its tile while it holds the tile in
// registers.
//
// ## 5. One kernel, one after the other
//
// The plain way is a chain, also called a *domino scan*. Each block scans its tile, waits until the block before it has published the sum of
// everything up to its end, adds the sum of its own tile, and publishes that. Three details decide whether this
// works at all.
//
// **The flag.** A block must not see the flag before the sum. One way is a fence between two stores. A simpler one
// is to publish both with a single store: a word of 64 bits, the flag in its upper half and the value in its lower
// half. Aligned accesses of 8 bytes are never torn.
//
// **The load.** A loop that waits must load again each time. `cuda::atomic_ref`, the device's `std::atomic_ref`, makes each
// load an access of its own, at L2, where all SMs see the same. *Relaxed* says that it orders no other access, and none needs
// to be ordered: all that is published is in the word.
//
// **The order.** A block may wait only for blocks that are running or done. CUDA does not say in which order
// blocks start. If all SMs are full of blocks that wait for one that has not started, the kernel never ends.
// (Today's hardware starts them in ascending order, and CUB relies on that.)
//
//? numbers: So each block takes the number of its tile from a counter in global memory, with an atomic
//?   addition, when it starts. What does that guarantee?
//? choices: tiles finish in order | blocks with lower tiles have started | blocks run in order of blockIdx.x
//? answer: "blocks with lower tiles have started"

using Word = unsigned long long;  ///< flag << 32 | value; 0: not yet published
constexpr Word SUM = 1ull << 32;  ///< the value is the sum of this tile
constexpr Word PREFIX =
    2ull << 32;  ///< the value is the sum of everything up to the end of this tile
constexpr Word FLAGS = 0xFFFFFFFF00000000;

using AtomicWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

/// Reads what another block publishes: one access, made each time that it is called.
__device__ Word read_word(Word* word) { return AtomicWord(*word).load(cuda::memory_order_relaxed); }

/// Publishes flag and value with one access.
__device__ void publish(Word* word, Word flag, unsigned value) {
  AtomicWord(*word).store(flag | value, cuda::memory_order_relaxed);
}

/// The number of the tile that this block is to take. Called by all threads of a block.
__device__ unsigned take_tile(Word* state) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = static_cast<unsigned>(atomicAdd(state, 1ull));
  __syncthreads();
  return tile;
}

/// Zeros for the counter and the words of the tiles of n elements.
void clear(Word* state, size_t n, unsigned tile) {
  CUDA_CHECK(cudaMemsetAsync(state, 0, (blocks_for(n, tile) + size_t{1}) * sizeof(Word)));
}

/// The exclusive scan of n elements; each tile waits for the one before it.
///
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles.
/// Requires: out and in are aligned to 16 bytes.
__global__ void __launch_bounds__(THREADS)
    chained(unsigned* out, const unsigned* in, size_t n, Word* state) {
  __shared__ unsigned warp_sums[WARPS], prefix;
  const unsigned tile = take_tile(state);
  Word* const words = state + 1;
  const size_t at = first_of_thread(tile);
  uint4 x[ROWS];
  unsigned before[ROWS], total;
  load_tile(x, in, at, n);
  const unsigned offset = scan_warps(scan_rows(x, before), warp_sums, total);

  if (threadIdx.x == 0) {
    Word left = PREFIX;  // of nothing: 0
    if (tile > 0) {
      do left = read_word(&words[tile - 1]);
      while ((left & FLAGS) == 0);
    }
    prefix = static_cast<unsigned>(left);
    publish(&words[tile], PREFIX, prefix + total);
  }
  __syncthreads();  // prefix is there
  store_tile(out, at, n, x, before, prefix + offset);
}

// The block that has tile 7 took it after some block took tile 6, and that block is running or done. So of the
// blocks that run, the one with the lowest tile waits for no other and ends. Then the next one does: the kernel
// makes progress in any order of blocks. (The counter guarantees only that blocks *start* in this order. They
// may finish in another.)
//
//? chain: A chain of 2^28 elements has 65,536 tiles. Suppose that it takes 0.3 microseconds until a tile sees
//?   what the one before it has published. How many milliseconds does the chain take at least?
//? choices: about 0.2 | about 2 | about 20
//? answer: 65536 * 0.3e-3
//
// About 20 ms, where a copy of as many bytes takes half a millisecond. All loads and scans overlap with the
// waiting of other blocks; the chain itself does not. Its length is what has to be cut.
//= 20 ms: 65536 * 0.3e-3
//
// **Timed.** 19 ms: 0.29 microseconds for each tile of 4096 elements, or 113 GB/s read and written.
//= 113 GB/s: rate("chained")
//= 19 ms: ms("chained")
//= 0.29 microseconds: ms("chained") / 65536 * 1e3
//
// ### Tiles numbered from the other end (second reading)
//
// What if a block relies on `blockIdx.x` instead? Usually blocks start in ascending order, and the mistake goes
// unnoticed for years. To see what CUDA permits, let the tiles be numbered from the other end:

/// A chain of blocks in which each waits for one with a higher number: a mistake on purpose.
///
/// Launch: blocks of 32 threads.
__global__ void later_first(unsigned* out, const unsigned* in, Word* words) {
  const unsigned tile = gridDim.x - 1 - blockIdx.x;  // not taken from a counter
  const unsigned sum = __shfl_sync(ALL, scan_warp(in[tile * 32 + threadIdx.x]), 31);
  if (threadIdx.x != 0) return;
  Word left = PREFIX;
  if (tile > 0) {
    do left = read_word(&words[tile - 1]);
    while ((left & FLAGS) == 0);
  }
  publish(&words[tile], PREFIX, static_cast<unsigned>(left) + sum);
  out[tile] = static_cast<unsigned>(left);
}

// The blocks that start first wait for blocks that get no SM. On a GPU this program hangs as soon as its grid
// is larger than what fits at once, and passes every test with a smaller one.
//
// ## 6. Look back
//
// A block that waits for its predecessor waits for more than it needs to know. The *sum* of a tile is known as soon as
// the tile has been loaded. So a block publishes twice: first its sum, later the prefix. A block that needs the sum of
// everything before its tile walks back: as long as it finds sums it adds them, and at the first prefix it stops. This
// is {term}`decoupled look-back`. (Its authors call the two words aggregate and inclusive prefix.)
//
// ```{drawing} words
// ```
//
// A whole warp looks back. Its 32 lanes read the words of 32 predecessors at once and wait until all are
// published. The nearest prefix among them ends the search; without one, the warp adds all 32 and goes on with
// the next 32. (Of the kernel's `STEPS` this section compares `width=1`, in which one lane looks, and `width=32`. `PAUSE`,
// `FIRST` and the rest of a `Design` belong to the next one: read over them.)
//
// Two warp functions decide for all lanes at once. `__any_sync` is true where the condition holds in some lane. In the
// word of `__ballot_sync` bit i is set where it holds in lane i. Lane 0 has the nearest predecessor, so the lowest set
// bit, whose position `__ffs` tells, counted from 1, is the nearest prefix.
//
//? single_pass: `look_back` with `width=32` moves two thirds of the bytes of `three_kernels`, reduce first. How many times as long does
//?   it take, for 2^28 elements?
//? answer: ms("look_back/width=32") / ms("three_kernels/reduce first")
//? unit: times
//? near: 20 %

/// The sum of a value over the lanes of a warp; every lane gets it. All 32 lanes call it.
__device__ inline unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, value);
#else
  for (unsigned d = 16; d > 0; d /= 2) value += __shfl_xor_sync(ALL, value, d);
  return value;
#endif
}

constexpr unsigned PAUSE = 3000;  ///< nanoseconds that a block waits before it looks back
constexpr unsigned FIRST = 512;   ///< tiles that do not: about those that the GPU begins with

/// The sum of everything before `tile`. Called by all lanes of one warp.
///
/// @tparam WIDTH  how many words are read at a time, 32 at most
/// @tparam NS     nanoseconds before the first look, but for the FIRST tiles
template <unsigned WIDTH, unsigned NS>
__device__ unsigned sum_before(Word* words, unsigned tile) {
  const unsigned lane = threadIdx.x % 32;
  unsigned sum = 0;  // of what this lane has read
  if (NS > 0 && tile >= FIRST) __nanosleep(NS);
  for (unsigned end = tile; end > 0; end -= min(WIDTH, end)) {
    const bool reads = lane < WIDTH && lane < end;
    Word word = SUM;  // of 0: for the lanes that have no word to read
    do {
      if (reads) word = read_word(&words[end - 1 - lane]);
    } while (__any_sync(ALL, (word & FLAGS) == 0));

    const unsigned prefixes = __ballot_sync(ALL, (word & FLAGS) == PREFIX);
    const unsigned nearest = prefixes != 0 ? __ffs(static_cast<int>(prefixes)) - 1 : 31;
    if (lane <= nearest) sum += static_cast<unsigned>(word);
    if (prefixes != 0) break;
  }
  return warp_sum(sum);
}

/// Publishes the sum of a tile, finds what precedes it, and publishes its prefix. Called by all threads of a
/// block.
///
/// @param sum  of this tile
/// @return the sum of everything before it
template <unsigned WIDTH, unsigned NS>
__device__ unsigned find_prefix(Word* words, unsigned tile, unsigned sum) {
  __shared__ unsigned prefix;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) publish(&words[tile], tile == 0 ? PREFIX : SUM, sum);
    const unsigned before = sum_before<WIDTH, NS>(words, tile);
    if (threadIdx.x == 0) {
      if (tile > 0) publish(&words[tile], PREFIX, before + sum);
      prefix = before;
    }
  }
  __syncthreads();  // prefix is there
  return prefix;
}

// [hide] How the steps of the next section differ
/// How a look-back is built.
struct Design {
  const char* name;
  unsigned width;      ///< predecessors that a block looks at together
  bool whole_stores;   ///< see `store_tile`
  bool whole_loads;    ///< see `load_tile`
  unsigned rows;       ///< of 128 elements in a warp's part
  unsigned pause;      ///< nanoseconds before the first look
  bool ticket = true;  ///< tiles are taken from a counter, else by blockIdx.x
};

/// The steps of this section: each has one idea.
constexpr Design STEPS[] = {{"width=1", 1, false, false, 4, 0},
                            {"width=32", 32, false, false, 4, 0},
                            {"wide stores", 32, true, false, 4, 0},
                            {"loads together", 32, true, true, 4, 0},
                            {"rows=8", 32, true, true, 8, 0},
                            {"pause", 32, true, true, 8, PAUSE},
                            {"blockIdx", 32, true, true, 8, PAUSE, false}};
// [/hide]

/// Elements of a block of `look_back`.
template <unsigned STEP>
constexpr unsigned TILE_OF = THREADS * 4 * STEPS[STEP].rows;

/// The exclusive scan of n elements in one pass. out may be in: a block has loaded its tile before it stores it.
///
/// @param state   zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles of TILE_OF<STEP> elements.
/// Requires: out and in are aligned to 16 bytes.
/// Source of the idea: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
/// NVIDIA, 2016.
template <unsigned STEP>
__global__ void __launch_bounds__(THREADS)
    look_back(unsigned* out, const unsigned* in, size_t n, Word* state) {
  constexpr Design D = STEPS[STEP];
  __shared__ unsigned warp_sums[WARPS];
  const unsigned tile = D.ticket ? take_tile(state) : blockIdx.x;
  const size_t at = first_of_thread<D.rows>(tile);
  uint4 x[D.rows];
  unsigned before[D.rows], total;
  load_tile<D.whole_loads>(x, in, at, n);
  const unsigned offset = scan_warps(scan_rows(x, before), warp_sums, total);
  const unsigned prefix = find_prefix<D.width, D.pause>(state + 1, tile, total);
  store_tile<D.whole_stores>(out, at, n, x, before, prefix + offset);
}

// The registers of the step `width=32` leave room for 6 blocks on an SM, 792 on all 132. Suppose that all have published
// sums, and none a prefix yet. One lane would need 792 loads to see them all (`width=1`), one after the other, each with
// the latency of L2. A warp needs 25, and mostly fewer: prefixes follow close behind.
//= 6 blocks on an SM, 792 on all 132: (65536 // (256 * sass("08:look_back<1u>", "registers")), 132 * (65536 // (256 *
//=   sass("08:look_back<1u>", "registers"))), 132)
//= 25, and: -(-792 // 32)
//
// **Timed.** 1.3 ms with one lane and 0.92 ms with a warp, 1.2 times as long as `three_kernels`, reduce first: 0.78 ms. Bytes
// alone do not decide. Nor does waiting: tiles that only sleep 2 us before they store take 0.526 ms, without it 0.525 (laboratory
// notes). What the look-back costs was not measured. Four changes bring it to 0.61 ms.
//= sleep 2 us: 2
//= 0.526 ms, without it 0.525: (0.526, 0.525)
//= 1.2 times: ms("look_back/width=32") / ms("three_kernels/reduce first")
//= 0.61 ms: ms("look_back/pause")
//= 1.3 ms with one lane and 0.92 ms: (ms("look_back/width=1"), ms("look_back/width=32"))
//= 0.78 ms: ms("three_kernels/reduce first")
//
// ### Faster in four steps, and one that is not taken (second reading)
//
//? sleep: In the step `pause` of `STEPS` a block sleeps for about 3 microseconds before it looks back. How does its
//?   time compare to that of `rows=8`, which does not sleep?
//? choices: a tenth more or worse | about the same | a tenth less or better
//? answer: {"a tenth more or worse": ms("look_back/pause") > 1.1 * ms("look_back/rows=8"),
//?   "about the same": 0.95 < ms("look_back/pause") / ms("look_back/rows=8") < 1.05,
//?   "a tenth less or better": ms("look_back/pause") < 0.9 * ms("look_back/rows=8")}
//
// The next steps load and store the same elements, and each of them has one idea:
//
// | step | what is new | ms |
// |:--|:--|--:|
// | `width=32` | | 0.92 |
// | `wide stores` | every store has 16 bytes | 0.83 |
// | `loads together` | a thread tests once whether its elements are there | 0.80 |
// | `rows=8` | 32 elements in each thread instead of 16 | 0.72 |
// | `pause` | a sleep before the first look | 0.61 |
// | `blockIdx` | no ticket | 0.62 |
//= 0.92 |: ms("look_back/width=32")
//= 0.83 |: ms("look_back/wide stores")
//= 0.80 |: ms("look_back/loads together")
//= 0.72 |: ms("look_back/rows=8")
//= 0.61 |: ms("look_back/pause")
//= no ticket | 0.62 |: ms("look_back/blockIdx")
//
// **Stores.** nvcc may split a store of 16 bytes, and does so for the first row of a thread: four `STG` of 4 bytes, where each
// of the others is one `STG.E.128`. That is 1.7 times the sectors. The intrinsic `__stcs` is always one store. (That it also asks L2 to evict the data first made
// no difference in a trial.)
//= 1.7 times: hw("look_back/width=32", "global_store_sectors") / hw("look_back/wide stores", "global_store_sectors")
//
// ```{sass} 08:look_back<1u> only=STG lines=7
// 1660  @!P3 STG.E              desc[UR6][R34.64], R31
// 16b0  @!P3 STG.E              desc[UR6][R34.64+0xc], R5
// 16e0  @!P0 STG.E.128          desc[UR6][R34.64+0x200], R16
// 1700  @!P1 STG.E.128          desc[UR6][R34.64+0x400], R20
// 1710  @!P2 STG.E.128          desc[UR6][R34.64+0x600], R24
// 1720  @!P3 STG.E              desc[UR6][R34.64+0x4], R7
// 1730  @!P3 STG.E              desc[UR6][R34.64+0x8], R29
// ```
//
// **Loads.** If each load has a test of its own, nvcc adds up the first row between two of these tests. The sum waits for the
// first load, whose elements `R32` and `R33` are, and until then the third and the fourth are not asked for:
//
// ```{sass} 08:look_back<2u> only=IMAD,LDG from="IMAD.IADD R33, R32" lines=6
// 0520       IMAD.IADD          R33, R32, 0x1, R33
// 0550       IMAD.X             R4, RZ, RZ, R17, P0
// 0580       IMAD.IADD          R34, R33, 0x1, R34
// 05b0       IMAD.X             R3, RZ, RZ, R17, P2
// 05e0       IMAD.X             R9, RZ, RZ, R17, P2
// 05f0  @!P1 LDG.E.128          R4, desc[UR6][R14.64+0x400]
// ```
//
// Where all tests are one, all loads are in flight at once.
//
// **Rows.** A thread needs 64 registers instead of 38, and an SM runs 4 blocks instead of 6. But these hold 32,768
// elements instead of 24,576, in half as many tiles. (The laboratory notes have how much each of the two gains.)
//= 64 registers instead of 38: (sass("08:look_back<4u>", "registers"), sass("08:look_back<3u>", "registers"))
//= 4 blocks instead of 6: (65536 // (256 * sass("08:look_back<4u>", "registers")), 65536 // (256 *
//=   sass("08:look_back<3u>", "registers")))
//= 32,768: 4 * 8192
//= 24,576: 6 * 4096
//
// **The pause.** Without it, most looks find words that are not there yet, and a warp looks more than twice as often
// before it knows its prefix. Why the early looks cost so much was not measured. The FIRST tiles do not pause:
// a small array would only wait.
//
// **The ticket.** For 2^28 elements the counter costs nothing that can be seen, for 2^24 a tenth: 49 us instead of 45, and
// on an H100 56 instead of 55. CUB has none and relies on the order in which today's hardware starts blocks. `look_back` keeps it, and with it what
// CUDA guarantees.
//= 49 us instead of 45: (1e3 * ms("look_back/pause", 16777216), 1e3 * ms("look_back/blockIdx", 16777216))
//= 56 instead of 55: (1e3 * ms("look_back/pause", 16777216, gpu="h100"), 1e3 * ms("look_back/blockIdx", 16777216, gpu="h100"))
//
// With the pause, `look_back` is 1.1 times as fast as CUB, whose scan is a look-back, too; for 2^24 elements it is
// 0.99 times. For 2^20 it takes
// 8.6 us, `three_kernels` with its three launches 12.3 us.
//= 1.1 times: ratio("look_back/pause")
//= 0.99 times: ratio("look_back/pause", 16777216)
//= 8.6 us, `three_kernels` with its three launches 12.3 us: (1e3 * ms("look_back/pause", 1048576), 1e3 *
//=   ms("three_kernels/reduce first", 1048576))
//
// ### The flag and its value (second reading)
//
// Why not keep the sums as plain `unsigned`, in an array beside the flags? The types are simpler,
// and the bytes as many. Here is that version, as short as it can be:

using AtomicFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Every block publishes a sum, and the next one adds it to its own: a mistake on purpose.
///
/// Launch: blocks of 32 threads.
__global__ void torn_word(unsigned* out, const unsigned* in, unsigned* sums, unsigned* flags) {
  const unsigned tile = blockIdx.x;
  const unsigned sum = __shfl_sync(ALL, scan_warp(in[tile * 32 + threadIdx.x]), 31);
  if (threadIdx.x != 0) return;
  sums[tile] = sum;
  AtomicFlag(flags[tile]).store(1, cuda::memory_order_relaxed);  // nothing orders the two stores

  if (tile == 0) return;
  while (AtomicFlag(flags[tile - 1]).load(cuda::memory_order_relaxed) == 0) {
  }
  out[tile] = sum + sums[tile - 1];
}

// Nothing guarantees that another SM sees these two stores in the order of the source. It may see the flag and read
// the old sum: *relaxed* accesses order nothing else. A release store of the flag and an acquire load would mend it,
// or a `__threadfence()` between the stores and another one between the loads, at the price of waiting for the first
// store to arrive. A word that has flag *and* value needs neither.
//
// ## 7. Look ahead (second reading)
//
// A block of `look_back` loads, waits, then stores. While it waits, it has nothing in flight. Other blocks on the same
// SM have to fill the gap, and all have the same phases. `look_ahead` (in `scan_hopper.cu`) separates them, as CUB's
// newest scan does ("decoupled look-ahead", or warpspeed, of 2025). There is one block for each SM, which stays and
// works through many tiles, and its warps have different roles (chapter 12's {term}`warp specialization`):
//
// | warps | role |
// |--:|---|
// | 1 | takes tile numbers and asks for bulk copies into a ring of six tiles of 32 KiB |
// | 4 | sum each tile as soon as it has arrived |
// | 1 | publishes these sums |
// | 1 | looks back |
// | 8 | scan the tile, wait for its prefix, and store |
//
// So up to 192 KiB per SM are on their way or in work, sums are published long before the tile is scanned, and
// the look-back for a later tile runs while an earlier one is stored: it looks ahead. An {term}`mbarrier` for
// each stage and each role connects them.
//
// **Timed.** 0.54 ms for 2^28 elements: 0.93 of the rate of a copy, and 1.28 times as fast as the toolkit's CUB, which
// looks back. For 2^24 elements it is 1.25 times as fast, for 2^20 still 1.20 times, although no block then gets more
// than one tile. (CUB 3.5, which is newer than the toolkit's, takes 1.30 times as long on an H200.)
//= 0.54 ms: ms("look_ahead")
//= 0.93: rate("look_ahead") / limit("copy")
//= 1.28 times: ratio("look_ahead")
//= 1.25 times: ratio("look_ahead", 16777216)
//= 1.20 times: ratio("look_ahead", 1048576)
//= 1.30 times: ratio("look_ahead", gpu="h200_cccl")
//
// ### When all tiles run at once (second reading)
//
// 2^20 elements are 256 tiles of `block_scan`, and an H200 runs that many blocks at the same time. No block needs a
// ticket or a prefix: each publishes the sum of its tile, and adds up the sums of all tiles before it, a word for each
// thread. The words carry the number of the launch, an *epoch* that the last block advances, so old ones need no clearing.
//= 256: 2**20 // 4096
//
// All blocks wait for these sums, so they come first: a block adds up its tile and publishes the sum before it scans
// anything. The scan then runs while the words of the others are on their way.
//
// A block may still wait only for blocks that are running. A *cooperative* launch makes sure of that: it runs all
// blocks at once, or fails.

/// The exclusive scan of n elements whose tiles are all on the GPU at once.
///
/// @param state  epoch and blocks that are done, then epoch and sum of each tile; zeros before the first launch,
///               and ready for the next one after each
///
/// Launch: cooperative; blocks of THREADS threads, one for each tile of TILE elements.
/// Requires: out and in are aligned to 16 bytes.
__global__ void __launch_bounds__(THREADS)
    one_wave(unsigned* out, const unsigned* in, size_t n, Word* state) {
  __shared__ unsigned warp_sums[WARPS], tile_sums[WARPS];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Word epoch = (read_word(state) & FLAGS) + (1ull << 32);
  Word* const words = state + 1;
  const size_t at = first_of_thread(blockIdx.x);
  uint4 x[ROWS];
  load_tile(x, in, at, n);

  unsigned sum = 0;  // of the tile, published as early as can be
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) sum += x[r].x + x[r].y + x[r].z + x[r].w;
  sum = warp_sum(sum);
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  const unsigned of_warp = lane < WARPS ? warp_sums[lane] : 0;
  if (warp == 0) {
    const unsigned tile_sum = warp_sum(of_warp);
    if (lane == 0) publish(&words[blockIdx.x], epoch, tile_sum);
  }
  unsigned offset = warp_sum(lane < warp ? of_warp : 0);

  unsigned before[ROWS];
  scan_rows(x, before);

  unsigned others = 0;  // the tiles before this one
  for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += THREADS) {
    Word word;
    do word = read_word(&words[tile]);
    while ((word & FLAGS) != epoch);
    others += static_cast<unsigned>(word);
  }
  others = warp_sum(others);
  if (lane == 0) tile_sums[warp] = others;
  __syncthreads();
  offset += warp_sum(lane < WARPS ? tile_sums[lane] : 0);
  store_tile(out, at, n, x, before, offset);

  // All have read the epoch before the last one is done.
  if (threadIdx.x == 0 && (atomicAdd(state, 1ull) & ~FLAGS) == gridDim.x - 1) {
    publish(state, epoch, 0);
  }
}

// **Timed.** 1.42 times as fast as CUB for 2^20 elements; 1.30 times as fast as CUB 3.5, which is newer than the toolkit.
//= 1.42 times: ratio("one_wave", 1048576)
//= 1.30 times: ratio("one_wave", 1048576, gpu="h200_cccl")
//
// [hide] How the rungs are registered
namespace {

// ### Inputs: functions of the index

/// Elements of an array.
struct Elements {
  lab::View<unsigned> of;
  __host__ __device__ unsigned operator()(size_t i) const { return of[i]; }
};

/// Where runs begin: at every `length` elements.
struct RunHead {
  size_t length;
  __host__ __device__ bool operator()(size_t i) const { return i % length == 0; }
};

// ### Problems: inputs, what has to come of them, and what is timed beside

/// The scan of the input, which starts anew where `is_head` says so.
template <class IsHead>
std::shared_ptr<lab::Reference<unsigned>> scanned(const Common& c, bool inclusive, IsHead is_head) {
  const auto want = std::make_shared<lab::Reference<unsigned>>(c.n);
  lab::scan(*want, inclusive, Elements{c.in.view()}, is_head);
  return want;
}

/// Scans of runs of LENGTH elements.
template <bool INCLUSIVE, unsigned LENGTH = RUN>
void runs(Common& c, const Use& use) {
  use(c.arrays(), {.outputs = {lab::expect(c.out, scanned(c, INCLUSIVE, RunHead{LENGTH}))},
                   .bytes = 8.0 * static_cast<double>(c.n)});
}

/// The inclusive scan of the array. CUB's is exclusive, as everywhere in this chapter.
void inclusive(Common& c, const Use& use) {
  lab::DeviceBuffer<unsigned> out(c.n, "what CUB scans");
  lab::Peer cub = lab::vendor("CUB", lab::cub_exclusive_sum(out.data(), c.in.data(), c.n));
  cub.outputs = {lab::expect(out, scanned(c, false, RunHead{c.n}))};
  use(c.arrays(), {.outputs = {lab::expect(c.out, scanned(c, true, RunHead{c.n}))},
                   .bytes = 8.0 * static_cast<double>(c.n),
                   .peer = cub});
}

// ### Launches

/// A block for each run of `run` elements.
template <class... Rest>
Launch in_blocks(void (*kernel)(unsigned* out, const unsigned* in, size_t n, Rest...), unsigned run,
                 unsigned threads, std::type_identity_t<Rest>... rest) {
  return [=](const Arrays& a) {
    kernel<<<blocks_for(a.n, run), threads>>>(a.out, a.in, a.n, rest...);
  };
}

/// One kernel whose blocks take their tiles from a counter.
template <class Kernel>
Launch in_one_pass(Kernel* kernel, unsigned tile) {
  return [=](const Arrays& a) {
    clear(a.state, a.n, tile);
    kernel<<<blocks_for(a.n, tile), THREADS>>>(a.out, a.in, a.n, a.state);
  };
}

/// The steps of the look-back, in their order.
template <unsigned... STEP>
std::array<Launch, sizeof...(STEP)> looks_back(std::integer_sequence<unsigned, STEP...>) {
  return {in_one_pass(look_back<STEP>, TILE_OF<STEP>)...};
}

/// Many launches, with memory of their own.
template <class Scan>
Launch in_launches(Scan* scan) {
  return [=](const Arrays& a) { scan(a.out, a.in, a.n, a.words(0)); };
}

template <bool REDUCE_FIRST>
void in_three_kernels(const Arrays& a) {
  three_kernels(a.out, a.in, a.n, a.words(0), REDUCE_FIRST);
}

/// The most elements whose tiles all run at once.
size_t most_in_one_wave() {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, one_wave, THREADS, 0));
  return size_t{TILE} * static_cast<unsigned>(per_sm) *
         static_cast<unsigned>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
}

void at_once(const Arrays& a, Word* words) {
  unsigned* out = a.out;
  const unsigned* in = a.in;
  size_t n = a.n;
  void* arguments[] = {&out, &in, &n, &words};
  CUDA_CHECK(cudaLaunchCooperativeKernel(one_wave, blocks_for(n, TILE), THREADS, arguments));
}

/// What demonstrations of chains run on: blocks of one warp, and more blocks than the simulator runs at once (an H200 runs 4,224).
struct Chain {
  static constexpr unsigned BLOCKS = 4096;
  lab::DeviceBuffer<unsigned> ones{std::vector<unsigned>(BLOCKS * 32, 1), "ones"};
  lab::DeviceBuffer<Word> words{BLOCKS, "words"};
  lab::DeviceBuffer<unsigned> results{BLOCKS, "scratch"};
};

void wait_for_later(Chain& chain) {
  chain.words.zero();
  later_first<<<Chain::BLOCKS, 32>>>(chain.results.data(), chain.ones.data(), chain.words.data());
}

void tear(Chain& chain) {
  chain.words.zero();
  unsigned* const flags = reinterpret_cast<unsigned*>(chain.words.data());
  torn_word<<<64, 32>>>(chain.results.data(), chain.ones.data(), flags + Chain::BLOCKS, flags);
}

}  // namespace

void exclusive(Common& c, const Use& use) {
  use(c.arrays(),
      {.outputs = {lab::expect(c.out, scanned(c, false, RunHead{c.n}))},
       .bytes = 8.0 * static_cast<double>(c.n),
       .peer = lab::vendor("CUB", lab::cub_exclusive_sum(c.out.data(), c.in.data(), c.n))});
}

void Scans::add(std::string_view name, const std::string& variant, Problem problem,
                const Launch& launch, const std::vector<size_t>& scratch) {
  if (!ladder.wants(name)) return;
  std::vector<lab::DeviceBuffer<unsigned char>> memory;
  for (const size_t bytes : scratch) memory.emplace_back(bytes, "scratch");
  problem(common, [&](Arrays arrays, lab::Rung rung) {
    for (auto& buffer : memory) arrays.scratch.push_back(buffer.data());
    rung.name = name;
    rung.variant = variant + (variant.empty() || rung.variant.empty() ? "" : ", ") + rung.variant;
    rung.launch = [&] { launch(arrays); };
    rung.limit = lab::Limit::copy;
    ladder.add(rung);
  });
}
// [/hide]

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t n) {
    ladder.require(n < size_t{1} << 32, "fewer than 2^32: an index is 32 bits wide");
    Scans scans{ladder, {n, ladder.seed(), blocks_for(n, TILE) + 1}};
    Chain chain;
    const Launch row = in_blocks(one_row, RUN, RUN);
    const size_t spare = 4 * std::bit_ceil(n), sums = size_t{4} * blocks_for(n, TILE);

    scans.add("hillis_steele_launches", "", inclusive, in_launches(hillis_steele_launches),
              {spare});
    scans.add("blelloch_launches", "", exclusive, in_launches(blelloch_launches), {spare});
    scans.add("hillis_steele", "", runs<true>, in_blocks(hillis_steele, RUN, RUN));
    ladder.demonstrate("one_row", [&] { row(scans.common.arrays()); }, {&scans.common.out});
    scans.add("blelloch", "pad=0", runs<false>, in_blocks(blelloch<0>, RUN, RUN / 2));
    scans.add("blelloch", "pad=1", runs<false>, in_blocks(blelloch<1>, RUN, RUN / 2));
    scans.add("in_chunks", "processors=1", runs<true>, in_blocks(in_chunks<1>, RUN, 1));
    scans.add("in_chunks", "processors=2", runs<true>, in_blocks(in_chunks<2>, RUN, 2));
    scans.add("in_chunks", "processors=32", runs<true>, in_blocks(in_chunks<32>, RUN, 32));
    scans.add("warp_scan", "", runs<false, 32>, in_blocks(warp_scan, 256, 256));
    scans.add("block_scan", "", runs<false, TILE>, in_blocks(block_scan, TILE, THREADS, {}, {}));
    scans.add("three_kernels", "scan first", exclusive, in_three_kernels<false>, {sums});
    scans.add("three_kernels", "reduce first", exclusive, in_three_kernels<true>, {sums});
    scans.add("chained", "", exclusive, in_one_pass(chained, TILE));
    ladder.demonstrate("later_first", [&] { wait_for_later(chain); }, {&chain.results});
    unsigned step = 0;
    for (auto& launch : looks_back(std::make_integer_sequence<unsigned, std::size(STEPS)>())) {
      scans.add("look_back", STEPS[step++].name, exclusive, launch);
    }
    ladder.demonstrate("torn_word", [&] { tear(chain); }, {&chain.results});
    if (const size_t most = most_in_one_wave(); n > most) {
      ladder.skip("one_wave", lab::format("all its tiles run at once: %zu elements at most", most));
    } else {
      lab::DeviceBuffer<Word> words(blocks_for(n, TILE) + size_t{1}, "words");
      words.zero();
      scans.add("one_wave", "", exclusive, [&](auto& a) { at_once(a, words.data()); });
    }
    lab::add_others(scans);
  });
}

// ## What to remember
//
// - Count steps, work, idle lanes and bytes. A work-efficient algorithm may still be the slower one.
// - Threads scan in registers, warps by shuffles, blocks in one barrier. Each level scans the totals of the one
//   below.
// - Three kernels move 12 or 16 bytes for each element, one kernel 8. Bytes alone do not decide: the first `look_back` is
//   slower than the three.
// - Blocks may wait only for blocks that have started: take tile numbers from a counter.
// - Publish a flag and its value with one store, and what you know early: sums first, prefixes later.
// - A scan tells each thread where its result goes: chapter 14 builds segments, compaction and sorting on it.
//
// ## Possibilities for extension
//
// 1. Write `look_back` for `float`. Is the result the same in each run? What would it take?
// 2. Scan rows of 1000 elements each, a million of them. Which rung do you start from?
// 3. Scan pairs of a factor and a summand, (a, b) + (c, d) = (a c, b c + d): the states of a linear recurrence. Which
//    rungs take them as they are?
