// # Chapter 14: Segments and sorts
//
// Question: Rows have any length and keys any value. How does every thread still get its share, and write to its own place?
// Builds on: 08_scan
// Minutes: 35
// Afterwards: share out work that is uneven, bring elements to places that depend on the data, and sort
// Kind: map
// Size gpu: 268435456
// Size simulator: 50021
// Sizes measured: 268435456 16777216 1048576
// Run: ./learn run 14
//   ./learn run 14 --rung segmented            many scans in one array, told apart by flags
//   ./learn run 14 --rung segmented_ahead      the same with warps of different roles [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 14 --rung multiply_rows        a sparse matrix times a vector, a thread for each row
//   ./learn run 14 --rung multiply_in_warps    2, 8 or 32 lanes for each row
//   ./learn run 14 --rung multiply_segments    all products first, then a segmented scan
//   ./learn run 14 --rung multiply_in_shares   equal shares of rows and values: merge path
//   ./learn run 14 --rung compact              keeps the elements that pass a test, in their order
//   ./learn run 14 --rung repeats_in_steps     all i with a[i] == a[i + 1]: flags, scan, scatter
//   ./learn run 14 --rung repeats_in_one       the same in one kernel
//   ./learn run 14 --rung repeats_ahead        and with warps of different roles [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 14 --rung permute              gather and scatter, in order and at random
//   ./learn run 14 --rung sort_in_steps        radix sort: count, scan, split for each digit
//   ./learn run 14 --rung sort_in_sweeps       the same with a look-back in the split
//   ./learn run 14 --rung scatter_add          a scatter that adds, by atomics, in warps, in blocks, by sorting

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/cub.h"
#include "lab/lab.h"
#include "segments.h"
#include "tiles.h"

using std::size_t;

// Rows of a sparse matrix, groups of a table, the pixels that a circle covers: the pieces of real data have any length,
// and the place of a result depends on the data. This chapter builds the standard answers on the scan of chapter 08.
// **Segments** are scanned side by side, whatever their lengths. A **compaction** and a **sort** compute where each
// element goes. A **scatter that adds** lets many elements go to one place.
//
// From chapter 08 come the tile of a block in registers, its scan, the tile's number from a counter, and the
// look-back to what the tiles before it have published. They stand in `tiles.h`.
//
// Counts are for 50,021 elements, the simulator's default. Elements are `unsigned`, so that every order of additions
// gives the same sum. CUB is the peer wherever it has such a function.

// ## 1. Many scans in one array
//
// A {term}`segmented scan` scans many sequences that are stored one after the other. A flag marks the **head** of each,
// the element where the sum starts anew:
//
//     in         3   1   7   0   4   1   6   3
//     heads      1   0   0   1   0   1   0   0
//     inclusive  3   4  11   0   4   1   7  10
//
// A launch for each segment would be a bad plan: a segment may have one element or a hundred million. Instead, choose
// another operator. Take pairs (sum, head): the sum since the last head, and whether there was one. Two neighbouring
// pieces make
//
//     (a, f) + (b, g)  =  (g ? b : a + b,  f or g)
//
// This operator is associative, so every scan of chapter 08 can use it.
//
// ```{drawing} segments
// ```
//
// In a one-pass scan a tile publishes its sum at once, and later its prefix: the sum of everything up to its end.
//
//? heads: A tile of a segmented scan holds a head. Does it have to look back before it can publish its prefix?
//? choices: yes, always | no, never | only if the head is not its first element
//? answer: "no, never"
//
// What leaves the tile on its right is the sum since its last head, whatever came before. So its first word is already a
// prefix, and the look-back of all later tiles stops there. Short segments make the look-back shorter; one long segment
// makes it that of a plain scan.

/// A piece of a segmented array: the sum since its last head, and whether it has one.
struct Piece {
  unsigned sum;
  bool head;
};

/// Two neighbouring pieces as one.
__device__ __forceinline__ Piece join(Piece left, Piece right) {
  return {right.head ? right.sum : left.sum + right.sum, left.head || right.head};
}

/// The inclusive scan of pieces over the lanes of a warp: `scan_warp` with join() in place of the sum.
__device__ Piece scan_pieces(Piece piece) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const Piece left{__shfl_up_sync(ALL, piece.sum, d),
                     __shfl_up_sync(ALL, int{piece.head}, d) != 0};
    if (lane >= d) piece = join(left, piece);
  }
  return piece;
}

/// The piece of all lanes to the left of this one, from the inclusive scan.
__device__ Piece left_of_lane(Piece inclusive) {
  const Piece left{__shfl_up_sync(ALL, inclusive.sum, 1),
                   __shfl_up_sync(ALL, int{inclusive.head}, 1) != 0};
  return threadIdx.x % 32 == 0 ? Piece{0, false} : left;
}

/// The piece of the warp, from the inclusive scan.
__device__ Piece of_warp(Piece inclusive) {
  return {__shfl_sync(ALL, inclusive.sum, 31), __shfl_sync(ALL, int{inclusive.head}, 31) != 0};
}

/// The pieces of the warps before this one, and of all. Called by all threads of a block; passes one barrier.
///
/// @param piece   of this warp
/// @param shared  a piece for each warp
/// @param all     out: the piece of the block
template <unsigned W>
__device__ Piece left_of_warp(Piece piece, Piece (&shared)[W], Piece& all) {
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) shared[warp] = piece;
  __syncthreads();  // all pieces are there
  Piece left{0, false};
  all = {0, false};
#pragma unroll
  for (unsigned w = 0; w < W; ++w) {
    if (w == warp) left = all;
    all = join(all, shared[w]);
  }
  return left;
}

/// Which elements of this thread's uint4s are heads, in 4 bits for each of them; none from n on.
template <unsigned R>
__device__ void load_heads(unsigned (&bits)[R], const unsigned char* heads, size_t at, size_t n) {
  if (is_whole<R>(at, n)) {  // all loads are under way before the first is used
    uchar4 four[R];
#pragma unroll
    for (unsigned r = 0; r < R; ++r)
      four[r] = *reinterpret_cast<const uchar4*>(heads + at + r * 128);
#pragma unroll
    for (unsigned r = 0; r < R; ++r) {
      bits[r] =
          (four[r].x != 0) | (four[r].y != 0) << 1 | (four[r].z != 0) << 2 | (four[r].w != 0) << 3;
    }
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < R; ++r) {
    bits[r] = 0;
    for (unsigned j = 0; j < 4; ++j) {
      const size_t i = at + r * 128 + j;
      if (i < n) bits[r] |= (heads[i] != 0) << j;
    }
  }
}

constexpr unsigned SEGMENT_ROWS = 8,
                   SEGMENT_TILE = THREADS * 4 * SEGMENT_ROWS;  ///< of `segmented`

/// The inclusive segmented scan of n elements in one pass.
///
/// @param heads  a byte for each element: not 0 where a segment begins
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles of SEGMENT_TILE elements.
/// Requires: out and in are aligned to 16 bytes, heads to 4; out may be in.
/// Source of the idea: G. E. Blelloch, "Prefix Sums and Their Applications", 1990.
__global__ void __launch_bounds__(THREADS)
    segmented(unsigned* out, const unsigned* in, const unsigned char* heads, size_t n,
              Word* state) {
  __shared__ Piece pieces[WARPS];
  __shared__ unsigned prefix;
  const unsigned tile = take_tile(state);
  Word* const words = state + 1;
  const size_t at = first_of_thread<SEGMENT_ROWS>(tile);
  uint4 x[SEGMENT_ROWS];
  unsigned h[SEGMENT_ROWS];    // heads of each uint4
  Piece before[SEGMENT_ROWS];  // what precedes each uint4 in the warp's part
  load_tile(x, in, at, n);
  load_heads(h, heads, at, n);

  // The thread, the warp, the block: as in chapter 08, with pieces.
  Piece part{0, false};  // of the warp, up to this row
#pragma unroll
  for (unsigned r = 0; r < SEGMENT_ROWS; ++r) {
    if ((h[r] & 2) == 0) x[r].y += x[r].x;
    if ((h[r] & 4) == 0) x[r].z += x[r].y;
    if ((h[r] & 8) == 0) x[r].w += x[r].z;
    const Piece inclusive = scan_pieces({x[r].w, h[r] != 0});
    before[r] = join(part, left_of_lane(inclusive));
    part = join(part, of_warp(inclusive));
  }
  Piece all;
  const Piece left = left_of_warp(part, pieces, all);

  if (threadIdx.x < 32) {
    const bool done = tile == 0 || all.head;  // what comes before does not matter
    if (threadIdx.x == 0) publish(&words[tile], done ? PREFIX : SUM, all.sum);
    const unsigned sum = sum_before<32, PAUSE>(words, tile);
    if (threadIdx.x == 0) {
      prefix = sum;
      if (!done) publish(&words[tile], PREFIX, sum + all.sum);
    }
  }
  __syncthreads();  // prefix is there

#pragma unroll
  for (unsigned r = 0; r < SEGMENT_ROWS; ++r) {
    const unsigned sum = join({prefix, false}, join(left, before[r])).sum;
    if ((h[r] & 1) == 0) x[r].x += sum;
    if ((h[r] & 3) == 0) x[r].y += sum;
    if ((h[r] & 7) == 0) x[r].z += sum;
    if (h[r] == 0) x[r].w += sum;
  }
  if (is_whole<SEGMENT_ROWS>(at, n)) {
#pragma unroll
    for (unsigned r = 0; r < SEGMENT_ROWS; ++r)
      __stcs(reinterpret_cast<uint4*>(out + at + r * 128), x[r]);
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < SEGMENT_ROWS; ++r) store4(out, at + r * 128, n, x[r]);
}

// `segmented` is the `look_back` of chapter 08 with pieces, where that had sums. Within a lane four bits suffice for the heads of
// its four elements.
//
//? lengths: How does the time of `segmented` with a single segment compare to that with segments of two elements?
//? choices: less than half | within a tenth | more than twice
//? answer: {"less than half": ms("segmented/flags, one") < 0.5 * ms("segmented/flags, every=2"),
//?   "within a tenth": 0.9 < ms("segmented/flags, one") / ms("segmented/flags, every=2") < 1.1,
//?   "more than twice": ms("segmented/flags, one") > 2 * ms("segmented/flags, every=2")}
//
// **Timed.** 0.74 ms with segments of two and 0.75 ms with a single one: the time hardly depends on how long the segments
// are, and that is what makes the segmented scan useful. `segmented_ahead` divides the work among warps with roles of
// their own, as `look_ahead` of chapter 08 does, and takes 0.63 and 0.62 ms. It takes byte flags, or keys: then a segment
// begins where a key differs from the one before it, as in CUB's scan by key, which takes 1.27 times as long. (CUB has none
// by flags.)
//= 0.74 ms: ms("segmented/flags, every=2")
//= 0.75 ms: ms("segmented/flags, one")
//= 0.63 and 0.62 ms: (ms("segmented_ahead/flags, every=2"), ms("segmented_ahead/flags, one"))
//= 1.27 times: ratio("segmented_ahead/keys, every=100")
//
// All loads of a thread are under way before it uses one: while each of its eight flag loads had a guard of its own, and a use
// right behind it, and each store a guard, too, the kernel took 1.05 ms; the share of each was not measured.
//= 1.05 ms: 1e3 * 9 * 2 ** 28 / 2304.07e9
//
// **So:** change the operator, not the algorithm. `segmented_ahead` scans all segments at 0.97 of the rate at which `look_ahead`
// of chapter 08 scans one.
//= 0.97 of: rate("segmented_ahead/flags, one") / rate("08:look_ahead")
//
// ## 2. A sparse matrix times a vector
//
// A sparse matrix is stored by rows, without its zeros (compressed sparse rows, CSR): the values of all rows one after
// the other, the column of each value, and for each row where it starts. The product with a vector x has, in row r, the
// sum of value times x(column) over that row.
//
// Three matrices of 2^28 values are multiplied here. In the *even* one each row has 12 values. In the *skewed* one rows
// have up to 7, but one in 64 has 512, as graphs of the web are. In both, the columns of a row lie near the diagonal. The
// *scattered* one has the rows of the skewed one, and columns anywhere.
//
// ### A thread for each row
//
//? lanes: In the loads of `multiply_rows` with the skewed matrix, how many of the 32 lanes are active on average?
//? answer: count("multiply_rows/skewed", "global_load_active_lanes") / count("multiply_rows/skewed",
//?   "global_load_requests")
//? unit: lanes
//? near: factor 1.5

/// y[r] = the sum of row r of a matrix times x, one thread per row.
///
/// @param starts   where each row begins in values and columns, and where the last one ends: rows + 1 of them
/// @param columns  of each value
///
/// Launch: one thread per row, in blocks of one dimension.
__global__ void multiply_rows(unsigned* y, const unsigned* starts, const unsigned* columns,
                              const unsigned* values, const unsigned* x, unsigned rows) {
  const unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  unsigned sum = 0;
  for (unsigned k = starts[r]; k < starts[r + 1]; ++k) sum += values[k] * x[columns[k]];
  y[r] = sum;
}

// A warp runs until its longest row is done, and most of the time a single lane has work: 1.5 lanes on average. In the even
// matrix 31.8 are busy. But neighbouring lanes read from different rows, whose values are 12 apart, so that a request touches
// 29.8 sectors. The iterations that follow use the rest of these sectors, if L1 keeps them so long.
//= 1.5 lanes: count("multiply_rows/skewed", "global_load_active_lanes") / count("multiply_rows/skewed",
//=   "global_load_requests")
//= 31.8 are busy: count("multiply_rows/even", "global_load_active_lanes") / count("multiply_rows/even",
//=   "global_load_requests")
//= 29.8 sectors: count("multiply_rows/even", "global_load_sectors") / count("multiply_rows/even",
//=   "global_load_requests")
//
// **Timed.** 0.73 ms for the even matrix, 3.6 ms for the skewed one.
//= 0.73 ms for the even matrix, 3.6 ms: (ms("multiply_rows/even"), ms("multiply_rows/skewed"))
//
// ### Lanes that share a row
//
// Let several lanes take a row together. Each adds up every LANES-th value of it, and shuffles add up the lanes. Now
// neighbouring lanes read neighbouring values, and a row of 512 takes a warp 16 iterations.
//
//? share: With 32 lanes for each row, how many lanes are active on average in the loads of `multiply_in_warps`, for the
//?   skewed matrix?
//? answer: count("multiply_in_warps/lanes=32, skewed", "global_load_active_lanes") /
//?   count("multiply_in_warps/lanes=32, skewed", "global_load_requests")
//? unit: lanes
//? near: factor 1.5

/// y[r] = the sum of row r, by LANES neighbouring lanes.
///
/// @tparam LANES  a power of two, 32 at most
///
/// Launch: LANES threads per row, in blocks of THREADS.
/// Source of the idea: N. Bell, M. Garland, "Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented
/// Processors", 2009, their CSR (vector) kernel.
template <unsigned LANES>
__global__ void __launch_bounds__(THREADS)
    multiply_in_warps(unsigned* y, const unsigned* starts, const unsigned* columns,
                      const unsigned* values, const unsigned* x, unsigned rows) {
  const size_t r = (size_t{blockIdx.x} * THREADS + threadIdx.x) / LANES;
  const unsigned lane = threadIdx.x % LANES;
  unsigned sum = 0;
  if (r < rows) {
    const unsigned end = starts[r + 1];
    for (unsigned k = starts[r] + lane; k < end; k += LANES) sum += values[k] * x[columns[k]];
  }
#pragma unroll
  for (unsigned d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
  if (r < rows && lane == 0) y[r] = sum;
}

// 18.4 lanes, and that flatters: all 32 load from `starts`, and all take part in the shuffles. A row of three values takes as
// many warp instructions as one of 32.
//= 18.4 lanes: count("multiply_in_warps/lanes=32, skewed", "global_load_active_lanes") /
//=   count("multiply_in_warps/lanes=32, skewed", "global_load_requests")
//
// **Timed.**
//
// | lanes for a row | even, ms | skewed, ms |
// |--:|--:|--:|
// | 1 | 0.73 | 3.6 |
// | 2 | 0.67 | 2.2 |
// | 8 | 1.6 | 1.9 |
// | 32 | 4.4 | 4.5 |
//= 1 | 0.73 | 3.6: (1, ms("multiply_rows/even"), ms("multiply_rows/skewed"))
//= 2 | 0.67 | 2.2: (2, ms("multiply_in_warps/lanes=2, even"), ms("multiply_in_warps/lanes=2, skewed"))
//= 8 | 1.6 | 1.9: (8, ms("multiply_in_warps/lanes=8, even"), ms("multiply_in_warps/lanes=8, skewed"))
//= 32 | 4.4 | 4.5: (32, ms("multiply_in_warps/lanes=32, even"), ms("multiply_in_warps/lanes=32, skewed"))
//
// **So:** the best number of lanes is a property of the matrix, and no number suits rows of 3 and rows of 512. The usual
// advice, a warp for each row, is the slowest choice here.
//
// ### Segments (second reading)
//
// Divide the work by values, not by rows. All products are formed first, one thread for each, and scanned with a head at
// the start of each row. The last element of each row is its sum.

/// products[k] = values[k] * x[columns[k]].
///
/// Launch: one thread per value, in blocks of one dimension.
__global__ void multiply_values(unsigned* products, const unsigned* columns, const unsigned* values,
                                const unsigned* x, size_t n) {
  const size_t k = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < n) products[k] = values[k] * x[columns[k]];
}

/// Marks the first value of each row that has any. heads has to be 0 everywhere.
///
/// Launch: one thread per row, in blocks of one dimension.
__global__ void mark_rows(unsigned char* heads, const unsigned* starts, unsigned rows) {
  const unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && starts[r] < starts[r + 1]) heads[starts[r]] = 1;
}

/// y[r] = the last element of each row; 0 for an empty one.
///
/// Launch: one thread per row, in blocks of one dimension.
__global__ void gather_ends(unsigned* y, const unsigned* scanned, const unsigned* starts,
                            unsigned rows) {
  const unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) y[r] = starts[r] < starts[r + 1] ? scanned[starts[r + 1] - 1] : 0;
}

/// y = A x by a segmented scan over all values of A.
///
/// @param heads, products  an element for each value; overwritten
void multiply_segments(unsigned* y, const SparseMatrix& a, const unsigned* x, unsigned char* heads,
                       unsigned* products, Word* state) {
  const unsigned row_blocks = blocks_for(a.rows, 256);
  CUDA_CHECK(cudaMemsetAsync(heads, 0, a.n));
  mark_rows<<<row_blocks, 256>>>(heads, a.starts, a.rows);
  multiply_values<<<blocks_for(a.n, 256), 256>>>(products, a.columns, a.values, x, a.n);
  clear(state, a.n, SEGMENT_TILE);
  segmented<<<blocks_for(a.n, SEGMENT_TILE), THREADS>>>(products, products, heads, a.n, state);
  gather_ends<<<row_blocks, 256>>>(y, products, a.starts, a.rows);
}

// In `multiply_values` all 32 lanes are active, however long the rows are. But products and heads go to memory and come
// back, and a scan computes a sum for each value where one for each row is asked for.
//
// **Timed.** 2.7 ms for the skewed matrix and 2.9 ms for the even one.
//= 2.7 ms for the skewed matrix and 2.9 ms: (ms("multiply_segments/skewed"), ms("multiply_segments/even"))
//
// ### Equal shares
//
// Can each thread have the same amount of work, and the products stay on the chip? Work is of two kinds: a value is
// multiplied and added, and at the end of a row its sum is stored. Merge the two lists, of values and of row ends, in the
// order in which a loop on a CPU meets them. That is the **merge path**:
//
// ```{drawing} merge
// ```
//
// Every thread gets the same number of steps on it. Where it begins it finds by a binary search: after s steps, of which r
// were row ends, r has to be the number of rows that end within the first s - r values. A launch before finds the
// beginning and end of each block, which then loads the row ends and forms the products of its share in shared memory, coalesced. Each
// thread walks its steps there. It may begin within a row and end within another, so each has a piece to hand on: the sum
// since its last row end, and whether there was one. The block's threads join these pieces by the scan of section 1.
//
//? balance: A thread for each row takes five times as long for the skewed matrix as for the even one. How many times as
//?   long does it take in equal shares?
//? answer: ms("multiply_in_shares/skewed") / ms("multiply_in_shares/even")
//? unit: times as long
//? near: 20 %

constexpr unsigned SHARE_THREADS = 128, SHARE_WARPS = SHARE_THREADS / 32;
constexpr unsigned STEPS = 11;                     ///< of the merge path, for each thread
constexpr unsigned SHARE = SHARE_THREADS * STEPS;  ///< for each block

/// How many rows have ended after `steps` steps of the merge path: of the numbers 0, 1, 2, ... and the row ends, merged in
/// ascending order with an end before the number that equals it, the first `steps`.
///
/// @param ends    of the rows, ascending: of each, the number of values up to it
/// @param offset  of the values that the ends count, those before the first number
/// @param values  how many numbers there are
__device__ unsigned rows_ended(size_t steps, const unsigned* ends, unsigned rows, unsigned offset,
                               size_t values) {
  size_t low = steps > values ? steps - values : 0, high = min(steps, size_t{rows});
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (ends[middle] - offset <= steps - 1 - middle) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<unsigned>(low);
}

/// first[b] = the row in which block b begins, for `blocks` blocks and the end of the last one.
///
/// Launch: one thread per block of `multiply_shares`, and one more.
__global__ void find_shares(unsigned* first, const unsigned* starts, unsigned rows, size_t n,
                            unsigned blocks) {
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t steps = min(size_t{b} * SHARE, size_t{rows} + n);
  if (b <= blocks) first[b] = rows_ended(steps, starts + 1, rows, 0, n);
}

/// y = A x; each block gets SHARE steps of the merge path. y has to be 0 everywhere.
///
/// @param first  the row in which each block begins, from `find_shares`
///
/// Launch: blocks of SHARE_THREADS threads, one for each SHARE of rows and values together.
/// Source of the idea: D. Merrill, M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", 2016.
__global__ void __launch_bounds__(SHARE_THREADS)
    multiply_shares(unsigned* y, const unsigned* starts, const unsigned* columns,
                    const unsigned* values, const unsigned* x, unsigned rows, size_t n,
                    const unsigned* first) {
  __shared__ unsigned items[SHARE];  // ends of the block's rows, then products
  __shared__ Piece pieces[SHARE_WARPS];
  const unsigned t = threadIdx.x;
  const size_t begin = size_t{blockIdx.x} * SHARE, end = min(begin + SHARE, size_t{rows} + n);
  const unsigned row = first[blockIdx.x], last_row = first[blockIdx.x + 1];
  const unsigned value = static_cast<unsigned>(begin - row);
  const unsigned ended = last_row - row, all = static_cast<unsigned>(end - begin);
  unsigned* const products = items + ended;

  for (unsigned i = t; i < ended; i += SHARE_THREADS) items[i] = starts[row + i + 1];
  unsigned column[STEPS], product[STEPS];  // all loads are under way before the first is used
#pragma unroll
  for (unsigned j = 0; j < STEPS; ++j) {
    const unsigned i = j * SHARE_THREADS + t;
    const bool is_there = i < all - ended;
    column[j] = is_there ? columns[value + i] : 0;
    product[j] = is_there ? values[value + i] : 0;
  }
#pragma unroll
  for (unsigned j = 0; j < STEPS; ++j) product[j] *= x[column[j]];
#pragma unroll
  for (unsigned j = 0; j < STEPS; ++j) {
    const unsigned i = j * SHARE_THREADS + t;
    if (i < all - ended) products[i] = product[j];
  }
  __syncthreads();  // ends and products are there

  // The thread goes its STEPS: at an end it has a row's sum, or the rest of one that others have begun.
  const unsigned from = min(t * STEPS, all), to = min(from + STEPS, all);
  unsigned r = rows_ended(from, items, ended, value, all - ended), k = from - r;
  Piece mine{0, false};  // the sum since the last end, and whether there was one
  unsigned rest = 0, rest_row = 0;
#pragma unroll
  for (unsigned j = 0; j < STEPS; ++j) {
    if (from + j >= to) break;
    if (r == ended || items[r] - value > k) {
      mine.sum += products[k++];
      continue;
    }
    if (mine.head) {
      y[row + r] = mine.sum;
    } else {
      rest = mine.sum, rest_row = r;
    }
    mine = {0, true};
    ++r;
  }

  // What the threads before have of the row in which this one begins: a segmented scan.
  const Piece inclusive = scan_pieces(mine);
  Piece total;
  const Piece warps = left_of_warp(of_warp(inclusive), pieces, total);
  const Piece before = join(warps, left_of_lane(inclusive));
  if (mine.head) {
    if (before.head) {
      y[row + rest_row] = before.sum + rest;
    } else {
      atomicAdd(&y[row + rest_row], before.sum + rest);  // blocks before this one may have begun it
    }
  }
  if (t == 0 && last_row < rows) atomicAdd(&y[last_row], total.sum);
}

/// y = A x in equal shares.
///
/// @param first  the number of blocks and one more; overwritten
void multiply_in_shares(unsigned* y, const SparseMatrix& a, const unsigned* x, unsigned* first) {
  if (a.rows == 0) return;  // no x to read from
  const unsigned blocks = blocks_for(a.rows + a.n, SHARE);
  CUDA_CHECK(cudaMemsetAsync(y, 0, size_t{a.rows} * 4));
  find_shares<<<blocks_for(blocks + size_t{1}, 256), 256>>>(first, a.starts, a.rows, a.n, blocks);
  multiply_shares<<<blocks, SHARE_THREADS>>>(y, a.starts, a.columns, a.values, x, a.rows, a.n,
                                             first);
}

// An odd number of STEPS does not keep the threads of a warp in different banks, as each begins at t STEPS less the rows that
// have ended. In a trial program 8 steps took as long as 7 or 9, and 11 less than all others, 0.94 ms; here they take 1.10. Why
// was not measured; the laboratory notes have the times.
//= 0.94 ms; here they take 1.10: (0.939, ms("multiply_in_shares/even"))
//
// **Timed.** 1.10 ms for the skewed matrix and 1.10 ms for the even one: the shape of the rows no longer matters. For the
// even matrix a thread for each row is still faster. A library does not know the rows in advance. (cuSPARSE, which has no
// `unsigned`, is 1.2 to 1.4 times as fast with floats, in a run of its own; the laboratory notes have its times.)
//= 1.2 to 1.4 times: (ms("multiply_in_shares/skewed") / 0.884, ms("multiply_in_shares/even") / 0.804)
//= 1.10 ms for the skewed matrix and 1.10 ms: (ms("multiply_in_shares/skewed"), ms("multiply_in_shares/even"))
//
// The *scattered* matrix takes 6.0 ms by rows, 5.0 with eight lanes and 5.1 ms in shares: balance gains nothing here. Its x has
// 94 MB and is read in random order, a sector for each value; the gather of section 4, from 1 GiB, takes 6.8 ms.
//= 6.0 ms by rows, 5.0 with eight lanes and 5.1 ms: (ms("multiply_rows/scattered"), ms("multiply_in_warps/lanes=8, scattered"),
//=   ms("multiply_in_shares/scattered"))
//= takes 6.8 ms: ms("permute/by=gather, random")
//= 94 MB: 4 * 23452736 / 1e6
//
// **So:** balance the work by what it costs, not by rows or values alone. A binary search on the merged list gives any
// thread its share.
//
// ## 3. Where does my result go?
//
// {term}`Stream compaction <stream compaction>` keeps the elements that pass a test, in their order: flags, an exclusive
// scan of the flags, and each kept element goes to the place that the scan gives it. In one kernel with look-back, the flags
// never go to memory.
//
//? kept_bytes: Half of the elements are kept. How many bytes does `compact` read and write for each element of the input?
//? answer: 32 * (count("compact", "global_load_sectors") + count("compact", "global_store_sectors")) / 50021
//? unit: bytes per element
//? near: 10 %

/// 1 for an element that is kept, 0 for the others.
__device__ unsigned keeps(unsigned value, size_t i, size_t n) {
  return i < n && value % 2 == 0 ? 1 : 0;
}

constexpr unsigned KEEP_ROWS = 8, KEEP_TILE = THREADS * 4 * KEEP_ROWS;  ///< of `compact`

/// Keeps the even elements: out has them in their order, *size is how many there are.
///
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles of KEEP_TILE elements.
/// Requires: in is aligned to 16 bytes; n < 2^32.
__global__ void __launch_bounds__(THREADS)
    compact(unsigned* out, unsigned* size, const unsigned* in, size_t n, Word* state) {
  __shared__ unsigned warp_sums[WARPS], kept[KEEP_TILE];
  const unsigned tile = take_tile(state);
  const size_t at = first_of_thread<KEEP_ROWS>(tile);
  uint4 x[KEEP_ROWS];
  unsigned before[KEEP_ROWS], sum = 0, total;
  unsigned keep = 0;  // a bit for each element of this thread
  load_tile(x, in, at, n);
#pragma unroll
  for (unsigned r = 0; r < KEEP_ROWS; ++r) {
    const size_t i = at + r * 128;
    const unsigned four = keeps(x[r].x, i, n) | keeps(x[r].y, i + 1, n) << 1 |
                          keeps(x[r].z, i + 2, n) << 2 | keeps(x[r].w, i + 3, n) << 3;
    keep |= four << 4 * r;
    const unsigned count = __popc(four), inclusive = scan_warp(count);
    before[r] = sum + inclusive - count;
    sum += __shfl_sync(ALL, inclusive, 31);
  }
  const unsigned offset = scan_warps(sum, warp_sums, total);

  // Packed in shared memory, what is kept is coalesced when it goes to its place.
#pragma unroll
  for (unsigned r = 0; r < KEEP_ROWS; ++r) {
    unsigned place = offset + before[r];
    if (keep >> 4 * r & 1) kept[place++] = x[r].x;
    if (keep >> 4 * r & 2) kept[place++] = x[r].y;
    if (keep >> 4 * r & 4) kept[place++] = x[r].z;
    if (keep >> 4 * r & 8) kept[place++] = x[r].w;
  }
  const unsigned prefix = find_prefix<32, PAUSE>(state + 1, tile, total);  // with a barrier
  if (tile == gridDim.x - 1 && threadIdx.x == 0) *size = prefix + total;
  for (unsigned k = threadIdx.x; k < total; k += THREADS) out[prefix + k] = kept[k];
}

// 6.4 bytes: 4 to read each element, 2 on average to write what is kept, and 0.3 because a tile's places begin anywhere in a
// sector. Two kernels more, one that writes flags and one that scatters, would add 24.
//= and 0.3 because: (32 * count("compact", "global_store_sectors") - count("compact", "global_store_bytes")) / 50021
//= 6.4 bytes: 32 * (count("compact", "global_load_sectors") + count("compact", "global_store_sectors")) / 50021
//= add 24: 4 + 8 + 4 + 4 + 4
//
// The number of kept elements is the sum of everything, which the block with the last tile knows. One thread
// writes it. That *every* thread writes what it takes for the size is a well-known mistake: the result is right
// whenever the right thread happens to write last.
//
// **Timed.** 0.52 ms; CUB's `DeviceSelect::If` takes 1.2 times as long.
//= 0.52 ms: ms("compact")
//= 1.2 times: ratio("compact")
//
// ### Repeats (second reading)
//
// List all i for which a[i] == a[i + 1]. (The task is `find_repeats` of an assignment that the courses CMU 15-418 and
// Stanford CS149 share; chapter 09 has another one of theirs.) The output depends on the data, in size and in place.
// First in steps: a kernel that writes the flags, an exclusive scan, a kernel that scatters.

/// flags[i] = 1 where element i has a successor that equals it, else 0.
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void mark_repeats(unsigned* flags, const unsigned* in, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = i + 1 < n && in[i] == in[i + 1] ? 1 : 0;
}

/// out[places[i]] = i where flags[i] is set; *size is how many there are.
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void scatter_repeats(unsigned* out, unsigned* size, const unsigned* flags,
                                const unsigned* places, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (flags[i] != 0) out[places[i]] = static_cast<unsigned>(i);
  if (i == n - 1) *size = places[i] + flags[i];
}

constexpr unsigned SCAN_ROWS = 8, SCAN_TILE = THREADS * 4 * SCAN_ROWS;  ///< of `look_back`

/// The exclusive scan of n elements in one pass: chapter 08's, in its best step.
///
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles of SCAN_TILE elements.
/// Requires: out and in are aligned to 16 bytes; out may be in.
__global__ void __launch_bounds__(THREADS)
    look_back(unsigned* out, const unsigned* in, size_t n, Word* state) {
  __shared__ unsigned warp_sums[WARPS];
  const unsigned tile = take_tile(state);
  const size_t at = first_of_thread<SCAN_ROWS>(tile);
  uint4 x[SCAN_ROWS];
  unsigned before[SCAN_ROWS], total;
  load_tile(x, in, at, n);
  const unsigned offset = scan_warps(scan_rows(x, before), warp_sums, total);
  const unsigned prefix = find_prefix<32, PAUSE>(state + 1, tile, total);
  store_tile(out, at, n, x, before, prefix + offset);
}

/// The same, with what was in `state` of no matter.
void scan_in_one_pass(unsigned* out, const unsigned* in, size_t n, Word* state) {
  clear(state, n, SCAN_TILE);
  look_back<<<blocks_for(n, SCAN_TILE), THREADS>>>(out, in, n, state);
}

/// All i with in[i] == in[i + 1], ascending, and how many there are.
///
/// @param flags, places  an element for each element of in; overwritten
void repeats_in_steps(unsigned* out, unsigned* size, const unsigned* in, size_t n, unsigned* flags,
                      unsigned* places, Word* state) {
  CUDA_CHECK(cudaMemsetAsync(size, 0, 4));  // for n = 0, where no thread does it
  mark_repeats<<<blocks_for(n, 256), 256>>>(flags, in, n);
  scan_in_one_pass(places, flags, n, state);
  scatter_repeats<<<blocks_for(n, 256), 256>>>(out, size, flags, places, n);
}

// The comparison with i + 1 and the guard belong together. The last element has no successor, so a guard of `i
// < n` alone reads past the end; and there it may find an equal value and write one repeat too many.
//
// In steps, each element takes 4 bytes to read and 4 to write for the flags, 8 for the scan, and 4 to read the flags
// again: 20, and more where there are repeats. In one pass it is 4, and 4 for each repeat.
//= 20: 4 + 4 + 8 + 4
//
// If all elements are equal, every place is read and every index is written: 28 bytes in steps, 8 in one pass.
//= 28 bytes in steps, 8: (20 + 4 + 4, 4 + 4)
//
// The one-pass version is like `compact`, with half the rows, no pause, and no packing in shared memory: `repeats_in_one` gets
// the neighbour of its last element by a shuffle from the lane to the right. `repeats_ahead` divides the work among warps as `look_ahead` does.
//
// **Timed.** Without repeats 2.1 ms in steps, 0.54 ms in one pass and 0.25 ms with roles. CUB takes 3.2
// times as long as the last; if all elements are equal, 1.76 times. `repeats_in_one` then takes 1.26 ms: its stores, not packed,
// touch 4 times the sectors. What roles alone gain was not measured.
//= takes 1.26 ms: ms("repeats_in_one/density=1")
//= 4 times the sectors: count("repeats_in_one/density=1", "global_store_sectors") / count("repeats_in_steps/density=1",
//=   "global_store_sectors", "scatter_repeats")
//= 2.1 ms: ms("repeats_in_steps/density=0")
//= 0.54 ms: ms("repeats_in_one/density=0")
//= 0.25 ms: ms("repeats_ahead/density=0")
//= 3.2 times: ratio("repeats_ahead/density=0")
//= 1.76 times: ratio("repeats_ahead/density=1")
//
// ### Repeats in one pass (second reading)

/// All i with in[i] == in[i + 1], ascending, and how many there are, in one pass.
///
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles.
/// Requires: in is aligned to 16 bytes; n < 2^32.
__global__ void __launch_bounds__(THREADS)
    repeats_in_one(unsigned* out, unsigned* size, const unsigned* in, size_t n, Word* state) {
  __shared__ unsigned warp_sums[WARPS];
  const unsigned tile = take_tile(state);
  const size_t at = first_of_thread(tile);
  uint4 x[ROWS], flags[ROWS];
  unsigned before[ROWS], total;
  load_tile(x, in, at, n);
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) {
    const size_t i = at + r * 128;
    unsigned next = __shfl_down_sync(ALL, x[r].x, 1);  // the first element of the lane to the right
    if (threadIdx.x % 32 == 31 && i + 4 < n) next = in[i + 4];
    flags[r] = {i + 1 < n && x[r].x == x[r].y, i + 2 < n && x[r].y == x[r].z,
                i + 3 < n && x[r].z == x[r].w, i + 4 < n && x[r].w == next};
    x[r] = flags[r];
  }
  const unsigned offset = scan_warps(scan_rows(flags, before), warp_sums, total);
  const unsigned prefix = find_prefix<32, 0>(state + 1, tile, total);
  if (tile == gridDim.x - 1 && threadIdx.x == 0) *size = prefix + total;

#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned i = static_cast<unsigned>(at) + r * 128;
    unsigned place = prefix + offset + before[r];
    if (x[r].x) out[place++] = i;
    if (x[r].y) out[place++] = i + 1;
    if (x[r].z) out[place++] = i + 2;
    if (x[r].w) out[place++] = i + 3;
  }
}

// ## 4. Gather and scatter (second reading)
//
// A {term}`gather` reads from places that an index array names, a {term}`scatter` writes to them. Here each of them
// permutes an array.

/// out[i] = in[index[i]].
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void gather(unsigned* out, const unsigned* in, const unsigned* index, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

/// out[index[i]] = in[i].
///
/// Launch: as `gather`.
/// Requires: no two indices are equal.
__global__ void scatter(unsigned* out, const unsigned* in, const unsigned* index, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

/// A permutation of n elements.
///
/// @param index  each number below n once
void permute(unsigned* out, const unsigned* in, const unsigned* index, size_t n, bool by_gather) {
  const auto kernel = by_gather ? gather : scatter;
  kernel<<<blocks_for(n, 256), 256>>>(out, in, index, n);
}

// In order, a request touches 4 sectors. In random order nearly every lane needs a sector of its own: 31.9 for each
// store of the scatter, and as many for each load of the gather. 32 bytes move for the 4 that are used. With runs of
// eight elements, a sector each, in random order (`sectors`) it is 4 again.
//= 31.9: count("permute/by=scatter, random", "global_store_sectors") / count("permute/by=scatter, random",
//=   "global_store_requests")
//= it is 4 again: count("permute/by=scatter, sectors", "global_store_sectors") / count("permute/by=scatter, sectors",
//=   "global_store_requests")
//
//? random: Gather and scatter touch as many sectors when all indices are random. Which takes longer?
//? choices: the gather, twice or more | both about the same | the scatter, twice or more
//? answer: {"the gather, twice or more": ms("permute/by=gather, random") > 2 * ms("permute/by=scatter, random"),
//?   "both about the same": 0.8 < ms("permute/by=gather, random") / ms("permute/by=scatter, random") < 1.25,
//?   "the scatter, twice or more": ms("permute/by=scatter, random") > 2 * ms("permute/by=gather, random")}
//
// **Timed.** The gather takes 1.2 ms in order, 1.6 with random sectors, and 6.8 ms at random; the scatter at random 16.6 ms.
// Both touch as many sectors. But a sector of which 4 bytes are stored is not complete: if L2 does not hold the rest,
// it has to be merged with what is in memory. What memory then reads and writes was not measured here. At random Thrust's gather and
// scatter are as fast; in order they take 0.88 and 0.89 of the time.
//= take 0.88 and 0.89 of: (ratio("permute/by=gather, ordered"), ratio("permute/by=scatter, ordered"))
//= 1.2 ms in order, 1.6 with: (ms("permute/by=gather, ordered"), ms("permute/by=gather, sectors"))
//= 6.8 ms at random; the scatter at random 16.6 ms: (ms("permute/by=gather, random"), ms("permute/by=scatter, random"))
//
// ## 5. Sort
//
// {term}`Radix sort <radix sort>` goes through the digits of the keys, the lowest first. Each pass is a stable split: the
// pairs with digit 0 in their order, then those with digit 1, and so on.
//
// ```{drawing} passes
// ```
//
// *Where does a pair go?* Behind all pairs with lower digits, behind those of earlier tiles with the same digit, and
// behind those of its own tile that come before it. The first two are an exclusive scan of counts, by digit, and for each
// digit by tile. The third is found in the tile.
//
// ### In steps: count, scan, split
//
// Digits have 8 bits here, so that keys of 32 bits take four passes. Each has three launches: one counts the digits of each
// tile, one scans the counts, one moves the pairs.
//
// In a tile, a warp takes 32 keys at a time: `__match_any_sync` tells a lane which lanes have the same digit, and a counter
// for each digit has what the warp saw before. No two lanes write the same counter.
//
//? sort_bytes: A pair has 8 bytes. How many bytes does `sort_in_steps` read and write for each pair, in four passes?
//? answer: 32 * (count("sort_in_steps/random", "global_load_sectors") + count("sort_in_steps/random",
//?   "global_store_sectors")) / 50021
//? unit: bytes per pair
//? near: 25 %

constexpr unsigned DIGITS = 256;        ///< values of a digit, 8 bits
constexpr unsigned SORT_THREADS = 512;  ///< of a block
constexpr unsigned SORT_WARPS = SORT_THREADS / 32;
constexpr unsigned KEYS = 16;                        ///< pairs of a thread
constexpr unsigned SORT_TILE = SORT_THREADS * KEYS;  ///< pairs of a block

__device__ unsigned digit_of(unsigned key, unsigned shift) { return key >> shift & (DIGITS - 1); }

/// What a block needs in shared memory to sort a tile: more than the 48 KiB that it has unasked.
struct SortMemory {
  unsigned sorted[SORT_TILE];  ///< keys in the order of their digits, then their values
  /// Keys of each warp with each digit; then, where they go in the tile.
  unsigned count[SORT_WARPS][DIGITS];
  unsigned to[DIGITS];  ///< from a place in the tile to one in the array, for each digit
  unsigned warp_sums[SORT_WARPS];
};

/// The dynamic shared memory of a block, which has a SortMemory.
__device__ SortMemory& sort_memory() {
  extern __shared__ SortMemory memory[];
  return memory[0];
}

/// The place of this lane's first pair. The others are 32 apart, so that a request is coalesced.
///
/// @param left  out: how many pairs there are from it on
__device__ size_t first_pair(size_t tile, size_t n, unsigned& left) {
  const size_t at = tile * SORT_TILE + threadIdx.x / 32 * (32 * KEYS) + threadIdx.x % 32;
  left = at < n ? static_cast<unsigned>(min(n - at, size_t{SORT_TILE})) : 0;
  return at;
}

/// How many pairs a tile has.
__device__ unsigned pairs_of(size_t tile, size_t n) {
  return static_cast<unsigned>(min(n - tile * SORT_TILE, size_t{SORT_TILE}));
}

/// Loads this lane's keys or values: those before `left`, and `rest` for the others.
__device__ void load_pairs(unsigned (&x)[KEYS], const unsigned* from, unsigned left,
                           unsigned rest) {
  if (left > (KEYS - 1) * 32) {
#pragma unroll
    for (unsigned k = 0; k < KEYS; ++k) x[k] = from[k * 32];
    return;
  }
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) x[k] = k * 32 < left ? from[k * 32] : rest;
}

/// The lanes of this warp that have the same digit.
///
/// @tparam BALLOTS  asks for each bit of the digit which lanes have it set, else `__match_any_sync`
template <bool BALLOTS>
__device__ unsigned lanes_with(unsigned digit) {
  if (!BALLOTS) return __match_any_sync(ALL, digit);
  unsigned same = ALL;
#pragma unroll
  for (unsigned bit = 1; bit < DIGITS; bit *= 2) {
    const unsigned set = __ballot_sync(ALL, (digit & bit) != 0);
    same &= (digit & bit) != 0 ? set : ~set;
  }
  return same;
}

/// Counts the keys of this warp by digit. Called by all threads of a block; passes one barrier.
///
/// @param key    of this lane; where there is none, the largest of all, which is last in every order
/// @param rank   out: how many keys of this warp with the same digit come before each
/// @param count  out: how many keys of each warp have which digit
template <bool BALLOTS>
__device__ void rank_keys(const unsigned (&key)[KEYS], unsigned (&rank)[KEYS],
                          unsigned (&count)[SORT_WARPS][DIGITS], unsigned shift) {
  const unsigned below = (1u << threadIdx.x % 32) - 1;
  unsigned* const mine = count[threadIdx.x / 32];
  for (unsigned d = threadIdx.x % 32; d < DIGITS; d += 32) mine[d] = 0;
  __syncwarp();
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    const unsigned d = digit_of(key[k], shift), same = lanes_with<BALLOTS>(d);
    const unsigned earlier = mine[d];
    rank[k] = earlier + __popc(same & below);
    __syncwarp();  // all have read
    if ((same & below) == 0) mine[d] = earlier + __popc(same);
    __syncwarp();
  }
  __syncthreads();  // the counts of all warps are there
}

/// How many keys of the tile have digit threadIdx.x; 0 for threads without a digit. The counts of warps become those of
/// the warps before them.
__device__ unsigned sum_digits(SortMemory& memory) {
  unsigned sum = 0;
  if (threadIdx.x < DIGITS) {
#pragma unroll
    for (unsigned w = 0; w < SORT_WARPS; ++w) {
      const unsigned here = memory.count[w][threadIdx.x];
      memory.count[w][threadIdx.x] = sum;
      sum += here;
    }
  }
  return sum;
}

/// Turns what `sum_digits` left into the places in the tile where each warp's keys with a digit begin. Called by all
/// threads of a block; passes two barriers.
///
/// @param sum  from `sum_digits`
/// @return where the keys with digit threadIdx.x begin in the tile
__device__ unsigned find_starts(SortMemory& memory, unsigned sum) {
  const unsigned t = threadIdx.x, inclusive = scan_warp(sum);
  unsigned all;
  const unsigned start =
      inclusive - sum + scan_warps(__shfl_sync(ALL, inclusive, 31), memory.warp_sums, all);
  if (t < DIGITS) {
#pragma unroll
    for (unsigned w = 0; w < SORT_WARPS; ++w) memory.count[w][t] += start;
  }
  __syncthreads();  // the counts have become places
  return start;
}

/// Writes the keys of this thread to their places in the tile.
///
/// @param rank  in: from `rank_keys`; out: these places
__device__ void place_keys(SortMemory& memory, const unsigned (&key)[KEYS], unsigned (&rank)[KEYS],
                           unsigned shift) {
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k)
    rank[k] += memory.count[threadIdx.x / 32][digit_of(key[k], shift)];
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) memory.sorted[rank[k]] = key[k];
}

/// Moves the pairs of a tile to their places in the array: `place_keys` is done, and `memory.to` set. Called by all
/// threads of a block.
///
/// @param place, value  of this thread's pairs, in the tile
/// @param here          how many pairs the tile has
__device__ void move_pairs(unsigned* keys_out, unsigned* values_out, const unsigned (&place)[KEYS],
                           const unsigned (&value)[KEYS], unsigned here, unsigned shift,
                           SortMemory& memory) {
  __syncthreads();  // the keys are sorted, and `to` is complete

  // Sorted in shared memory, the pairs of a digit are neighbours, and go to neighbouring places.
  unsigned to[KEYS];
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    const unsigned i = k * SORT_THREADS + threadIdx.x, moved = memory.sorted[i];
    to[k] = memory.to[digit_of(moved, shift)] + i;
    if (i < here) keys_out[to[k]] = moved;
  }
  __syncthreads();  // all keys are on their way
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) memory.sorted[place[k]] = value[k];
  __syncthreads();  // the values are in the order of the keys
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    const unsigned i = k * SORT_THREADS + threadIdx.x;
    if (i < here) values_out[to[k]] = memory.sorted[i];
  }
}

/// counts[digit * tiles + tile] = how many keys of the tile have the digit.
///
/// Launch: blocks of SORT_THREADS threads, one for each tile of SORT_TILE keys.
__global__ void __launch_bounds__(SORT_THREADS)
    count_digits(unsigned* counts, const unsigned* keys, size_t n, unsigned shift) {
  __shared__ unsigned count[DIGITS];
  const unsigned t = threadIdx.x;
  unsigned key[KEYS], left;
  const size_t at = first_pair(blockIdx.x, n, left);
  load_pairs(key, keys + at, left, ALL);
  if (t < DIGITS) count[t] = 0;
  __syncthreads();  // zeros are there
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) atomicAdd(&count[digit_of(key[k], shift)], 1u);
  __syncthreads();  // all keys are counted
  if (t < DIGITS) counts[size_t{t} * gridDim.x + blockIdx.x] = count[t];
}

/// Moves the pairs of each tile to their places in the order of a digit.
///
/// @param starts  for each digit, for each tile: where its first pair goes
///
/// Launch: as `count_digits`, with a SortMemory of dynamic shared memory.
__global__ void __launch_bounds__(SORT_THREADS, 2)
    split_by_digit(unsigned* keys_out, unsigned* values_out, const unsigned* keys,
                   const unsigned* values, size_t n, unsigned shift, const unsigned* starts) {
  SortMemory& memory = sort_memory();
  const unsigned t = threadIdx.x;
  unsigned key[KEYS], rank[KEYS], value[KEYS], left;
  const size_t at = first_pair(blockIdx.x, n, left);
  load_pairs(key, keys + at, left, ALL);
  rank_keys<false>(key, rank, memory.count, shift);
  const unsigned start = find_starts(memory, sum_digits(memory));
  place_keys(memory, key, rank, shift);
  load_pairs(value, values + at, left, 0);
  if (t < DIGITS) memory.to[t] = starts[size_t{t} * gridDim.x + blockIdx.x] - start;
  move_pairs(keys_out, values_out, rank, value, pairs_of(blockIdx.x, n), shift, memory);
}

constexpr unsigned FIRST_WORD = 16;  ///< of a sort's state: behind the counter, 128 bytes from it

/// What a sort writes to.
struct Sorted {
  unsigned *keys, *values;              ///< n each
  unsigned *spare_keys, *spare_values;  ///< n each
  unsigned* counts;                     ///< DIGITS for each tile
  Word* state;  ///< a counter, and from FIRST_WORD on DIGITS words for each tile
};

/// Lets a kernel have a SortMemory for each block, and tells how many bytes that is.
template <class Kernel>
unsigned with_sort_memory(Kernel* kernel) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(SortMemory))));
  return sizeof(SortMemory);
}

/// Sorts pairs by their keys, stably: pairs with equal keys stay in their order.
///
/// @param bits  of a key
/// @param to    its keys and values: out, the sorted ones
void sort_in_steps(Sorted& to, const unsigned* keys, const unsigned* values, size_t n,
                   unsigned bits) {
  const unsigned tiles = blocks_for(n, SORT_TILE);
  const size_t counts = size_t{tiles} * DIGITS;
  const unsigned bytes = with_sort_memory(split_by_digit);
  for (unsigned shift = 0; shift < bits; shift += 8) {
    std::swap(to.keys, to.spare_keys);
    std::swap(to.values, to.spare_values);
    count_digits<<<tiles, SORT_THREADS>>>(to.counts, keys, n, shift);
    scan_in_one_pass(to.counts, to.counts, counts, to.state);
    split_by_digit<<<tiles, SORT_THREADS, bytes>>>(to.keys, to.values, keys, values, n, shift,
                                                   to.counts);
    keys = to.keys;
    values = to.values;
  }
}

// 97 bytes. A pass reads the keys to count them, then keys and values to move them, and writes both: 20 bytes, 80 in four
// passes. The rest are counts, and the sectors in which the places of a digit begin and end: a tile has 32 pairs of each.
//= 97 bytes: 32 * (count("sort_in_steps/random", "global_load_sectors") + count("sort_in_steps/random",
//=   "global_store_sectors")) / 50021
//= 20 bytes, 80 in four: (4 + 8 + 8, 4 * 20)
//= 32 pairs: 8192 / 256
//
// **Timed.** 11 ms for 2^28 pairs, 0.68 of the rate of CUB's `DeviceRadixSort`.
//= 11 ms: ms("sort_in_steps/random")
//= 0.68 of: ratio("sort_in_steps/random")
//
// ### In sweeps: look back in the split
//
// The split counts the digits of its tile anyway. What it lacks is how many keys of earlier tiles have each digit, and
// that is a scan in one pass: a tile publishes its count of each digit, and looks back for each. Thread d has digit d.
//
// ```{drawing} words
// ```
//
// Only where each *digit* begins in the whole array has to be known before. A pass only reorders the keys, so the counts of
// all four digits can be taken at once, before the first pass. The launches that count and scan are gone, and 4 of 20 bytes
// with them. This is the **onesweep** sort.

constexpr unsigned PASSES = 32 / 8;      ///< digits of a key
constexpr unsigned COUNTING_BLOCKS = 4;  ///< that an SM has at once: all of its threads

/// counts[pass * DIGITS + digit] += how many keys have the digit in that pass.
///
/// Launch: any number of blocks of SORT_THREADS threads.
/// Requires: keys is aligned to 16 bytes.
__global__ void __launch_bounds__(SORT_THREADS, COUNTING_BLOCKS)
    count_all_digits(unsigned* counts, const unsigned* keys, size_t n) {
  __shared__ unsigned count[PASSES * DIGITS];
  for (unsigned i = threadIdx.x; i < PASSES * DIGITS; i += SORT_THREADS) count[i] = 0;
  __syncthreads();  // zeros are there
  const auto add = [&](unsigned key) {
#pragma unroll
    for (unsigned p = 0; p < PASSES; ++p) {
      atomicAdd(&count[p * DIGITS + digit_of(key, 8 * p)], 1u);
    }
  };
  const size_t step = size_t{gridDim.x} * SORT_THREADS * 4;
  for (size_t i = (size_t{blockIdx.x} * SORT_THREADS + threadIdx.x) * 4; i < n; i += step) {
    const uint4 four = load4(keys, i, n);
    add(four.x);
    if (i + 1 < n) add(four.y);
    if (i + 2 < n) add(four.z);
    if (i + 3 < n) add(four.w);
  }
  __syncthreads();  // all keys are counted
  for (unsigned i = threadIdx.x; i < PASSES * DIGITS; i += SORT_THREADS) {
    if (count[i] != 0) atomicAdd(&counts[i], count[i]);
  }
}

/// The exclusive scan of the counts of each pass, in place.
///
/// Launch: a block of DIGITS threads for each pass.
__global__ void __launch_bounds__(DIGITS) scan_digits(unsigned* counts) {
  __shared__ unsigned warp_sums[DIGITS / 32];
  unsigned& mine = counts[blockIdx.x * DIGITS + threadIdx.x];
  const unsigned inclusive = scan_warp(mine);
  unsigned all;
  mine = inclusive - mine + scan_warps(__shfl_sync(ALL, inclusive, 31), warp_sums, all);
}

/// The words of the look-back, DIGITS for each tile, zeros at first: thread d has digit d.
///
/// @tparam W  with 64 bits a word is one of chapter 08; with 32 it has its flag in the two upper bits, and sums below 2^30
template <class W>
struct DigitWords {
  static constexpr unsigned SHIFT = sizeof(W) == 8 ? 32 : 30;
  static constexpr W SUM_OF_TILE = W{1} << SHIFT, PREFIX_OF_TILE = W{2} << SHIFT;
  W* words;

  __device__ auto of_tile(unsigned tile) const {
    using Atomic = cuda::atomic_ref<W, cuda::thread_scope_device>;
    return Atomic(words[size_t{tile} * DIGITS + threadIdx.x]);
  }

  /// Publishes how many keys of a tile have this thread's digit.
  __device__ void publish_count(unsigned tile, unsigned sum) const {
    of_tile(tile).store((tile == 0 ? PREFIX_OF_TILE : SUM_OF_TILE) | sum,
                        cuda::memory_order_relaxed);
  }

  /// Returns how many keys of all tiles before it have, and publishes that with those of the tile.
  __device__ unsigned count_before(unsigned tile, unsigned sum) const {
    unsigned before = 0;
    for (unsigned earlier = tile; earlier > 0; --earlier) {
      W word;
      do word = of_tile(earlier - 1).load(cuda::memory_order_relaxed);
      while (word >> SHIFT == 0);
      before += static_cast<unsigned>(word & (SUM_OF_TILE - 1));
      if (word >> SHIFT == 2) break;
    }
    if (tile > 0) of_tile(tile).store(PREFIX_OF_TILE | (before + sum), cuda::memory_order_relaxed);
    return before;
  }
};

/// `split_by_digit` in one pass: each tile looks back for what the ones before it have counted.
///
/// @param starts  for each digit: where its first pair goes
/// @param state   zeros: the counter of tiles, then from FIRST_WORD on DIGITS words for each tile
/// @tparam W      the type of these words
///
/// Launch: as `split_by_digit`.
/// Source of the idea: A. Adinets, D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022.
template <bool BALLOTS, class W>
__global__ void __launch_bounds__(SORT_THREADS, 2)
    sweep_digit(unsigned* keys_out, unsigned* values_out, const unsigned* keys,
                const unsigned* values, size_t n, unsigned shift, const unsigned* starts,
                Word* state) {
  SortMemory& memory = sort_memory();
  const unsigned tile = take_tile(state), t = threadIdx.x;
  const DigitWords<W> words{reinterpret_cast<W*>(state + FIRST_WORD)};
  unsigned key[KEYS], rank[KEYS], value[KEYS], left;
  const size_t at = first_pair(tile, n, left);
  load_pairs(key, keys + at, left, ALL);
  rank_keys<BALLOTS>(key, rank, memory.count, shift);
  const unsigned sum = sum_digits(memory);
  if (t < DIGITS) words.publish_count(tile, sum);  // as soon as it is known: others wait for it
  const unsigned start = find_starts(memory, sum);
  place_keys(memory, key, rank, shift);
  load_pairs(value, values + at, left, 0);
  // Last of all, when tiles before have had the time to publish theirs.
  if (t < DIGITS) memory.to[t] = starts[t] + words.count_before(tile, sum) - start;
  move_pairs(keys_out, values_out, rank, value, pairs_of(tile, n), shift, memory);
}

/// The same as `sort_in_steps`.
///
/// @tparam BALLOTS, W  as in `sweep_digit`; with 32 bits n is at most 2^30
template <bool BALLOTS, class W>
void sort_in_sweeps(Sorted& to, const unsigned* keys, const unsigned* values, size_t n,
                    unsigned bits) {
  const unsigned tiles = blocks_for(n, SORT_TILE);
  const unsigned blocks =
      COUNTING_BLOCKS *
      static_cast<unsigned>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
  const unsigned bytes = with_sort_memory(sweep_digit<BALLOTS, W>);
  CUDA_CHECK(cudaMemsetAsync(to.counts, 0, size_t{PASSES} * DIGITS * 4));
  count_all_digits<<<std::min(tiles, blocks), SORT_THREADS>>>(to.counts, keys, n);
  scan_digits<<<PASSES, DIGITS>>>(to.counts);
  for (unsigned shift = 0; shift < bits; shift += 8) {
    std::swap(to.keys, to.spare_keys);
    std::swap(to.values, to.spare_values);
    CUDA_CHECK(cudaMemsetAsync(to.state, 0,
                               FIRST_WORD * sizeof(Word) + size_t{tiles} * DIGITS * sizeof(W)));
    sweep_digit<BALLOTS, W><<<tiles, SORT_THREADS, bytes>>>(
        to.keys, to.values, keys, values, n, shift, to.counts + shift / 8 * DIGITS, to.state);
    keys = to.keys;
    values = to.values;
  }
}

//? ballots: In a second step `lanes_with` makes eight ballots and combines them, in the place of one `__match_any_sync`.
//?   What happens to the time of the sort?
//? choices: a tenth less or better | about the same | a tenth more or worse
//? answer: {"a tenth less or better": ms("sort_in_sweeps/ballots, random") < 0.9 * ms("sort_in_sweeps/match, random"),
//?   "about the same": 0.9 <= ms("sort_in_sweeps/ballots, random") / ms("sort_in_sweeps/match, random") <= 1.1,
//?   "a tenth more or worse": ms("sort_in_sweeps/ballots, random") > 1.1 * ms("sort_in_sweeps/match, random")}
//
// **Timed.** The look-back alone does not pay: 11.2 ms, where the steps take 11.0. Two more changes, one at a time:
//= 11.2 ms, where the steps take 11.0: (ms("sort_in_sweeps/match, random"), ms("sort_in_steps/random"))
//
// | step | what is new | ms | of CUB |
// |:--|:--|--:|--:|
// | `match` | | 11.2 | 0.66 |
// | `ballots` | eight ballots in the place of `__match_any_sync` | 9.0 | 0.82 |
// | `32 bits` | words of 32 bits for the look-back, in the place of 64 | 8.8 | 0.84 |
//= 11.2 | 0.66: (ms("sort_in_sweeps/match, random"), ratio("sort_in_sweeps/match, random"))
//= 9.0 | 0.82: (ms("sort_in_sweeps/ballots, random"), ratio("sort_in_sweeps/ballots, random"))
//= 8.8 | 0.84: (ms("sort_in_sweeps/32 bits, random"), ratio("sort_in_sweeps/32 bits, random"))
//
// **Ballots.** One instruction became eight ballots and what combines them, and the sort takes 19 % less time:
// `__match_any_sync` costs more the more different values it finds. With equal keys, one value in each warp, it is the
// faster of the two: 5.7 ms against 7.0.
//= 19 % less: 100 * (1 - ms("sort_in_sweeps/ballots, random") / ms("sort_in_sweeps/match, random"))
//= 5.7 ms against 7.0: (ms("sort_in_sweeps/match, equal"), ms("sort_in_sweeps/ballots, equal"))
//
// **Words.** A tile of 8,192 pairs moves 66 kB in and as much out. It publishes 256 words twice and reads at least 256: with
// 64 bits 6 kB, or 5 %. With 32 bits it is half of that, for arrays of up to 2^30 pairs. It saves 2 % of the time.
//= 8,192 pairs: 512 * 16
//= 2 % of: 100 * (1 - ms("sort_in_sweeps/32 bits, random") / ms("sort_in_sweeps/ballots, random"))
//= 66 kB: 8192 * 8 / 1000
//= 6 kB, or 5 %: (3 * 256 * 8 / 1000, 100 * 3 * 256 * 8 / (2 * 8192 * 8))
//
// CUB takes 7.4 ms. What it does better was not found. Nor was it found why the sort took 7.8 ms in a trial program, with the
// same tiles and words.
//= took 7.8 ms: 7.811
//= 7.4 ms: ms("sort_in_sweeps/32 bits, random") * ratio("sort_in_sweeps/32 bits, random")
//
// **So:** count before you split, or look back while you split. And measure the instruction that looks like one: what the
// counters call one may take the time of many.
//
// ## 6. A scatter that adds
//
// A scatter that *adds* is the hard one, since two threads may have the same index: a histogram (chapter 07), the transpose
// of a sparse matrix times a vector, the gradient of a table. With atomic additions it takes one line.
//
// Three kinds of indices go to 65,536 sums here. *Uniform* ones are random. Of the *skewed* ones, the share of index k is about
// in proportion to 1 / (k + 1), as of words in a text. Or all are *equal*.

/// sums[index[i]] += values[i].
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void add_atomically(unsigned* sums, const unsigned* index, const unsigned* values,
                               size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[index[i]], values[i]);
}

//? equal: With uniform indices `add_atomically` takes 3.3 ms for 2^28 elements. How many times as long does it take if all
//?   indices are equal?
//? answer: ms("scatter_add/by=atomic, equal") / ms("scatter_add/by=atomic, uniform")
//? unit: times as long
//? near: factor 2
//
// 59 times: additions to one address queue. Sectors do not show this queue: with uniform indices a request touches 31.9 of
// them, and where all 32 lanes name one address it counts 32.
//= 59 times: ms("scatter_add/by=atomic, equal") / ms("scatter_add/by=atomic, uniform")
//= it counts 32: count("scatter_add/by=atomic, equal", "global_atomic_sectors") / count("scatter_add/by=atomic, equal",
//=   "global_atomic_requests")
//= 31.9 of: count("scatter_add/by=atomic, uniform", "global_atomic_sectors") / count("scatter_add/by=atomic, uniform",
//=   "global_atomic_requests")
//
// ### Add up in the warp first
//
// Two lanes with the same index need only one atomic addition between them. `__match_any_sync` shows each lane its peers.
// They add up as in a tree: in each iteration a peer takes the sum of the next one to its right, and every second one drops out.

/// The same; lanes of a warp with the same index add up first.
///
/// Launch: as `add_atomically`, in blocks of whole warps.
/// Requires: no index is 2^32 - 1.
/// Source of the idea: E. Westphal, "Voting and Shuffling to Optimize Atomic Operations", NVIDIA, 2015.
__global__ void add_in_warps(unsigned* sums, const unsigned* index, const unsigned* values,
                             size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const unsigned target = i < n ? index[i] : ALL;  // a lane without an element takes part, too
  unsigned sum = i < n ? values[i] : 0;

  const unsigned same = __match_any_sync(ALL, target);
  unsigned rank = __popc(same & below);            // among the peers that are left
  unsigned right = same & ~below & ~(1u << lane);  // those that this lane has not added yet
  while (__any_sync(ALL, right != 0)) {
    const int next = __ffs(static_cast<int>(right));  // of the nearest, and one more; 0: none
    const unsigned theirs = __shfl_sync(ALL, sum, next > 0 ? next - 1 : 0);
    if (next > 0) sum += theirs;
    right &= ~__ballot_sync(ALL, rank % 2 == 1);  // these have been added
    rank /= 2;
  }
  if (i < n && (same & below) == 0) atomicAdd(&sums[target], sum);
}

//? additions: In how many additions to global memory do the 50,021 elements with skewed indices end in `add_in_warps`? The
//?   answer is a share of the elements.
//? answer: count("scatter_add/by=warps, skewed", "global_atomic_active_lanes") / 50021
//? unit: additions per element
//? near: 15 %
//
// 0.92. Even the most frequent index, which one element in 16 has, comes to two lanes of a warp on average, and saves one
// addition of two. The others save less. If all indices are equal, 31 of 32 additions are gone.
//= 0.92: count("scatter_add/by=warps, skewed", "global_atomic_active_lanes") / 50021
//= 31 of 32: (32 * (1 - count("scatter_add/by=warps, equal", "global_atomic_active_lanes") / 50021), 32)
//
// ### Add up in the block first (second reading)
//
// A block that stays and works through many elements sees frequent indices again and again. It keeps a table in shared
// memory. A slot belongs to the first index that comes to it, and adds up the values of that index. Other indices that fall
// into the same slot go to global memory. A frequent index comes early, and so it has its slot. At the end the block adds
// its sums to memory.

constexpr unsigned ADD_THREADS = 1024;  ///< of a block of `add_in_blocks`
constexpr unsigned EACH = 4;            ///< elements that a thread loads together

/// The same; a block keeps sums of its own for the indices that it met first.
///
/// @param slots  for how many indices; two words of shared memory each
///
/// Launch: any number of blocks of ADD_THREADS threads, with 8 * slots bytes of shared memory.
/// Requires: no index is 2^32 - 1.
__global__ void __launch_bounds__(ADD_THREADS)
    add_in_blocks(unsigned* sums, const unsigned* index, const unsigned* values, size_t n,
                  unsigned slots) {
  extern __shared__ unsigned table[];
  unsigned *const owner = table, *const sum = table + slots;
  for (unsigned s = threadIdx.x; s < slots; s += ADD_THREADS) {
    owner[s] = ALL;  // nobody
    sum[s] = 0;
  }
  __syncthreads();  // all slots are free
  const size_t step = size_t{gridDim.x} * ADD_THREADS * EACH;
  for (size_t first = size_t{blockIdx.x} * ADD_THREADS * EACH; first < n; first += step) {
    unsigned target[EACH], value[EACH];
#pragma unroll
    for (unsigned e = 0; e < EACH; ++e) {
      const size_t i = first + e * ADD_THREADS + threadIdx.x;
      target[e] = i < n ? index[i] : ALL;
      value[e] = i < n ? values[i] : 0;
    }
#pragma unroll
    for (unsigned e = 0; e < EACH; ++e) {
      int all_equal;
      __match_all_sync(ALL, target[e], &all_equal);
      if (all_equal != 0) value[e] = warp_sum(value[e]);  // one lane adds for all
      if (target[e] == ALL || (all_equal != 0 && threadIdx.x % 32 != 0)) continue;
      const unsigned s = target[e] % slots;
      const cuda::atomic_ref<unsigned, cuda::thread_scope_block> its_owner(owner[s]);
      unsigned before = its_owner.load(cuda::memory_order_relaxed);
      if (before == ALL) before = atomicCAS(&owner[s], ALL, target[e]);  // once for each slot
      if (before == ALL || before == target[e]) {
        atomicAdd(&sum[s], value[e]);
      } else {
        atomicAdd(&sums[target[e]], value[e]);
      }
    }
  }
  __syncthreads();  // the sums are complete
  for (unsigned s = threadIdx.x; s < slots; s += ADD_THREADS) {
    if (sum[s] != 0) atomicAdd(&sums[owner[s]], sum[s]);
  }
}

// ### Without atomics (second reading)
//
// Sort the pairs (index, value) by index, so that equal indices are neighbours: two passes of 8 bits. A segmented scan with
// a head where the index changes adds up each run. The last element of a run has its sum, and no other run has that index:
// it is scattered without atomics.

/// heads[i] = 1 where a run of equal keys begins, else 0.
///
/// Launch: one thread per key, in blocks of one dimension.
__global__ void mark_runs(unsigned char* heads, const unsigned* keys, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) heads[i] = i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
}

/// sums[key] = the last element of each run of equal keys.
///
/// Launch: as `mark_runs`.
__global__ void scatter_ends(unsigned* sums, const unsigned* keys, const unsigned* scanned,
                             size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && (i + 1 == n || keys[i] != keys[i + 1])) sums[keys[i]] = scanned[i];
}

/// How a scatter adds.
enum class By { atomic, warps, blocks, sort };

/// sums[i] = the sum of the values whose index is i, for i below `size`.
///
/// @param sorted, heads  memory for By::sort; n is at most 2^30 then
void scatter_add(unsigned* sums, unsigned size, const unsigned* index, const unsigned* values,
                 size_t n, By by, Sorted sorted, unsigned char* heads) {
  const unsigned blocks = blocks_for(n, 256);
  CUDA_CHECK(cudaMemsetAsync(sums, 0, size_t{size} * 4));
  if (by == By::atomic) add_atomically<<<blocks, 256>>>(sums, index, values, n);
  if (by == By::warps) add_in_warps<<<blocks, 256>>>(sums, index, values, n);
  if (by == By::blocks) {  // a block for each SM, with all of its shared memory
    const int bytes = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    CUDA_CHECK(
        cudaFuncSetAttribute(add_in_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const unsigned sms =
        static_cast<unsigned>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
    const unsigned slots = static_cast<unsigned>(bytes) / 8;
    add_in_blocks<<<std::min(sms, blocks_for(n, ADD_THREADS * EACH)), ADD_THREADS, 8 * slots>>>(
        sums, index, values, n, slots);
  }
  if (by != By::sort) return;
  sort_in_sweeps<true, unsigned>(sorted, index, values, n, std::bit_width(size - 1));
  mark_runs<<<blocks, 256>>>(heads, sorted.keys, n);
  clear(sorted.state, n, SEGMENT_TILE);
  segmented<<<blocks_for(n, SEGMENT_TILE), THREADS>>>(sorted.values, sorted.values, heads, n,
                                                      sorted.state);
  scatter_ends<<<blocks, 256>>>(sums, sorted.keys, sorted.values, n);
}

// **Timed**, in milliseconds for 2^28 elements; at the right CUB's sort and reduction by key:
//
// | indices | atomic | in warps | in blocks | by sort | CUB |
// |:--|--:|--:|--:|--:|--:|
// | uniform | 3.3 | 3.3 | 2.0 | 6.5 | 4.6 |
// | skewed | 48 | 36 | 0.79 | 6.3 | 4.5 |
// | equal | 197 | 7.1 | 0.74 | 5.7 | 3.6 |
//= uniform | 3.3 | 3.3 | 2.0 | 6.5 | 4.6: (ms("scatter_add/by=atomic, uniform"), ms("scatter_add/by=warps, uniform"),
//=   ms("scatter_add/by=blocks, uniform"), ms("scatter_add/by=sort, uniform"), ms("scatter_add/by=sort, uniform") *
//=   ratio("scatter_add/by=sort, uniform"))
//= skewed | 48 | 36 | 0.79 | 6.3 | 4.5: (ms("scatter_add/by=atomic, skewed"), ms("scatter_add/by=warps, skewed"),
//=   ms("scatter_add/by=blocks, skewed"), ms("scatter_add/by=sort, skewed"), ms("scatter_add/by=sort, skewed") *
//=   ratio("scatter_add/by=sort, skewed"))
//= equal | 197 | 7.1 | 0.74 | 5.7 | 3.6: (ms("scatter_add/by=atomic, equal"), ms("scatter_add/by=warps, equal"),
//=   ms("scatter_add/by=blocks, equal"), ms("scatter_add/by=sort, equal"), ms("scatter_add/by=sort, equal") *
//=   ratio("scatter_add/by=sort, equal"))
//
// Where it finds no peers, the search in the warp does not show beside the additions. The table in the block takes the queue of the skewed
// indices away: it holds 29,056 of 65,536 sums on an H200, and all frequent ones are among them.
//= 29,056 of 65,536: (227 * 1024 // 8, 65536)
//
// **So:** add up where it is cheap, in the warp or the block, and send sums to memory. A sort is right where there is no
// atomic for the operator, or where the order matters. Atomics add in another order in each run, so that float sums differ.
// A stable sort leaves the values of an index in the order of the input; scanned in a fixed order as well (by three kernels
// of chapter 08: a look-back adds what it finds published), they give the same float in every run.

// [hide] How the rungs are registered
namespace {

// ### Inputs: functions of the index

/// Elements of an array.
struct Elements {
  lab::View<unsigned> of;
  __host__ __device__ unsigned operator()(size_t i) const { return of[i]; }
};

/// Random numbers below a bound.
struct Below {
  std::uint64_t seed, bound;
  __host__ __device__ unsigned operator()(size_t i) const {
    return static_cast<unsigned>(lab::random_bits(seed, i) % bound);
  }
};

/// Columns of a matrix with n values: near the diagonal, or anywhere.
struct Columns {
  std::uint64_t seed, rows, n;
  bool anywhere;
  __host__ __device__ unsigned operator()(size_t i) const {
    const std::uint64_t bits = lab::random_bits(seed, i);
    return static_cast<unsigned>(anywhere ? bits % rows : (i * rows / n + bits % 2048) % rows);
  }
};

/// A random permutation of n elements that keeps runs of `together` of them; 0: nothing moves. What is left behind the
/// last run stays where it is.
class Permutation {
 public:
  Permutation(std::uint64_t seed, size_t n, size_t together)
      : seed_(seed),
        together_(together),
        runs_(together == 0 ? 0 : n / together),
        half_(runs_ == 0 ? 0 : (std::bit_width(runs_ - 1) + 1) / 2) {}

  __host__ __device__ unsigned operator()(size_t i) const {
    if (i >= runs_ * together_) return static_cast<unsigned>(i);
    return static_cast<unsigned>(shuffled(i / together_) * together_ + i % together_);
  }

 private:
  /// Rounds of a Feistel network, which permute a power of four, until the number is below that of runs.
  __host__ __device__ size_t shuffled(size_t i) const {
    const size_t mask = (size_t{1} << half_) - 1;
    do {
      size_t left = i >> half_, right = i & mask;
      for (unsigned round = 0; round < 4; ++round) {
        const size_t mixed = left ^ (lab::random_bits(seed_ + round, right) & mask);
        left = right;
        right = mixed;
      }
      i = left << half_ | right;
    } while (i >= runs_);
    return i;
  }

  std::uint64_t seed_;
  size_t together_, runs_;
  int half_;
};

/// Keys of a sort: a permutation in which four follow each other become equal, spread over 32 bits.
struct Key {
  Permutation place;
  std::uint64_t n;
  __host__ __device__ unsigned operator()(size_t i) const { return at(place(i)); }
  /// The key of the sorted pair i.
  __host__ __device__ unsigned at(size_t i) const {
    return static_cast<unsigned>((i / 4 << 32) / (n / 4 + 1));
  }
};

/// Where segments begin: at 0, and on average at one in `every` elements; 0: nowhere else.
struct SegmentHead {
  std::uint64_t seed;
  unsigned every;
  __host__ __device__ bool operator()(size_t i) const {
    return i == 0 || (every > 0 && lab::random_bits(seed, i) % every == 0);
  }
};

constexpr unsigned SUMS = 65536;  ///< results of a scatter that adds

/// Indices of sums: all as frequent, a few frequent and most rare, or all equal.
enum class Spread { uniform, skewed, equal };
struct Target {
  std::uint64_t seed;
  Spread spread;
  __host__ __device__ unsigned operator()(size_t i) const {
    const unsigned bits = static_cast<unsigned>(lab::random_bits(seed, i));
    if (spread == Spread::uniform) return bits % SUMS;
    if (spread == Spread::equal) return SUMS / 3;
    const unsigned below = 1u << bits % 16;  // index k has a share of about 1 / k
    return below - 1 + (bits >> 4) % below;
  }
};

// ### Problems: inputs, what has to come of them, and what is timed beside

/// The scan of the input, which starts anew where `is_head` says so.
template <class IsHead>
std::shared_ptr<lab::Reference<unsigned>> scanned(const Common& c, bool inclusive, IsHead is_head) {
  const auto want = std::make_shared<lab::Reference<unsigned>>(c.n);
  lab::scan(*want, inclusive, Elements{c.in.view()}, is_head);
  return want;
}

/// Inclusive scans of segments, of which one begins in 2, 100 or 100,000 elements on average, or in none.
void segments(Common& c, const Use& use, bool by_key) {
  for (const unsigned every : {2u, 100u, 100000u, 0u}) {
    const std::string name = every == 0 ? "one" : "every=" + std::to_string(every);
    const SegmentHead is_head{c.seed + 100, every};
    const lab::Input<unsigned char> heads(by_key ? 0 : c.n, is_head, "heads");
    lab::Reference<unsigned> before(by_key ? c.n : 0);  // heads behind element 0
    lab::scan(before, true, [=] __host__ __device__(size_t i) { return i > 0 && is_head(i); });
    const lab::Input<unsigned> keys(before.size(), Elements{before.view()}, "keys");
    Arrays a = c.arrays();
    lab::Rung rung{.variant = name,
                   .outputs = {lab::expect(c.out, scanned(c, true, is_head))},
                   .bytes = (by_key ? 12.0 : 9.0) * static_cast<double>(c.n)};
    a.marks = heads.data();
    if (by_key) {
      a.marks = keys.data();
      rung.peer = lab::vendor("CUB by key, " + name,
                              lab::cub_sum_by_key(a.out, keys.data(), c.in.data(), c.n));
    }
    use(a, rung);
  }
}

/// y = A x for three matrices of n values: rows of one length, and rows that are mostly short and sometimes long.
void products(Common& c, const Use& use) {
  const std::uint64_t seed = c.seed + 200;
  for (const std::string name : {"even", "skewed", "scattered"}) {
    const bool skewed = name != "even";
    std::vector<unsigned> host{0};
    while (host.back() < c.n) {
      const size_t row = host.size() - 1;
      const size_t length = !skewed ? 12 : row % 64 == 63 ? 512 : lab::random_bits(seed, row) % 8;
      host.push_back(static_cast<unsigned>(std::min(c.n, host.back() + length)));
    }
    const size_t rows = host.size() - 1;
    const lab::Input<unsigned> starts(host, "starts");
    const lab::Input<unsigned> x(rows, lab::RandomValue<unsigned>{seed + 1}, "x");
    const Columns of_value{seed + 2, rows, c.n, name == "scattered"};
    const lab::Input<unsigned> columns(c.n, of_value, "columns");
    lab::DeviceBuffer<unsigned> y(rows, "y");
    const auto start = starts.view(), column = columns.view(), value = c.in.view();
    const auto vector = x.view();
    const auto product = [=] __host__ __device__(size_t r) {
      unsigned sum = 0;
      for (size_t k = start[r]; k < start[r + 1]; ++k) sum += value[k] * vector[column[k]];
      return sum;
    };
    Arrays a = c.arrays();
    a.out = y.data();
    a.in = x.data();
    a.matrix = {starts.data(), columns.data(), c.in.data(), static_cast<unsigned>(rows), c.n};
    use(a, {.variant = name,
            .outputs = {lab::expect(y, product)},
            .bytes = 8.0 * static_cast<double>(c.n) + 12.0 * static_cast<double>(rows)});
  }
}

/// A problem that has element(i) for each i with keep(i), in their order, and how many there are.
template <class Keep, class Element>
lab::Rung kept(Common& c, Keep keep, Element element) {
  lab::Reference<unsigned> all(c.n);
  const size_t size = lab::select(all, c.n, keep, element);
  const auto want = std::make_shared<lab::Reference<unsigned>>(size);
  lab::fill(*want, Elements{all.view()});
  return {.outputs = {lab::expect(c.size, std::vector{size}), lab::expect(c.out, want)},
          .bytes = 4.0 * static_cast<double>(c.n + size)};
}

/// The even elements.
void evens(Common& c, const Use& use) {
  const Arrays a = c.arrays();
  const auto in = c.in.view();
  const auto is_even = [=] __host__ __device__(size_t i) { return in[i] % 2 == 0; };
  lab::Rung rung = kept(c, is_even, Elements{in});
  rung.peer = lab::vendor("CUB Select", lab::cub_select_even(a.out, a.size, a.in, a.n));
  rung.peer.bytes = 4.0 * static_cast<double>(a.n);
  use(a, rung);
}

/// Permutations: by indices in ascending order, by those whose runs of eight, which fill a sector, are in random order,
/// and by those that are all in random order.
template <bool GATHER>
void permutations(Common& c, const Use& use) {
  for (const unsigned together : {0u, 8u, 1u}) {
    const std::string name = together == 0 ? "ordered" : together == 1 ? "random" : "sectors";
    const lab::Input<unsigned> index(c.n, Permutation(c.seed + 300, c.n, together), "index");
    const auto want = std::make_shared<lab::Reference<unsigned>>(c.n);
    const auto at = index.view(), in = c.in.view();
    unsigned* const to = want->data();
    lab::for_each(c.n, [=] __host__ __device__(size_t i) {
      to[GATHER ? i : at[i]] = in[GATHER ? at[i] : i];
    });
    const auto thrust = GATHER ? lab::thrust_gather : lab::thrust_scatter;
    Arrays a = c.arrays();
    a.index = index.data();
    use(a, {.variant = name,
            .outputs = {lab::expect(c.out, want)},
            .bytes = 12.0 * static_cast<double>(c.n),
            .peer = lab::vendor((GATHER ? "Thrust gather, " : "Thrust scatter, ") + name,
                                thrust(a.out, a.in, a.index, c.n))});
  }
}

/// Pairs sorted by their keys: random ones, of which four are equal each, and all equal. A value is the place of its pair
/// before, so that it tells whether equal keys have kept their order.
void sorts(Common& c, const Use& use) {
  const size_t n = c.n;
  const auto place = [=] __host__ __device__(size_t i) { return static_cast<unsigned>(i); };
  const lab::Input<unsigned> values(n, place, "values");
  lab::DeviceBuffer<unsigned> values_out(n, "values_out");
  for (const bool equal : {false, true}) {
    const Key key{Permutation(c.seed + 500, n, 1), n};
    const auto of_pair = [=] __host__ __device__(size_t i) { return equal ? 7u : key(i); };
    const lab::Input<unsigned> keys(n, of_pair, "keys");
    const auto sorted_keys = std::make_shared<lab::Reference<unsigned>>(n);
    const auto order = std::make_shared<lab::Reference<unsigned>>(n);
    unsigned* const to = order->data();
    lab::fill(*sorted_keys, [=] __host__ __device__(size_t i) { return equal ? 7u : key.at(i); });
    lab::for_each(n, [=] __host__ __device__(size_t i) {
      to[equal ? i : key.place(i)] = static_cast<unsigned>(i);
    });
    lab::for_each(equal ? 0 : (n + 3) / 4, [=] __host__ __device__(size_t group) {
      const size_t begin = group * 4, end = begin + 4 < n ? begin + 4 : n;
      for (size_t i = begin; i < end; ++i) {  // equal keys in the order of their places
        for (size_t j = i; j > begin && to[j] < to[j - 1]; --j) {
          const unsigned other = to[j];
          to[j] = to[j - 1];
          to[j - 1] = other;
        }
      }
    });
    Arrays a = c.arrays();
    a.index = keys.data();
    a.in = values.data();
    a.values_out = values_out.data();
    use(a, {.variant = equal ? "equal" : "random",
            .outputs = {lab::expect(c.out, sorted_keys), lab::expect(values_out, order)},
            .bytes = 16.0 * static_cast<double>(n),
            .peer = lab::vendor(std::string("CUB, ") + (equal ? "equal" : "random"),
                                lab::cub_sort_pairs(a.out, a.values_out, a.index, a.in, n))});
  }
}

/// sums[index[i]] += in[i], for indices below SUMS.
void additions(Common& c, const Use& use) {
  for (const Spread spread : {Spread::uniform, Spread::skewed, Spread::equal}) {
    const std::string name = spread == Spread::uniform  ? "uniform"
                             : spread == Spread::skewed ? "skewed"
                                                        : "equal";
    const lab::Input<unsigned> index(c.n, Target{c.seed + 400, spread}, "index");
    lab::DeviceBuffer<unsigned> sums(SUMS, "sums");
    const auto want = std::make_shared<lab::Reference<unsigned>>(std::vector<unsigned>(SUMS));
    const auto at = index.view(), in = c.in.view();
    unsigned* const to = want->data();
    lab::for_each(c.n, [=] __host__ __device__(size_t i) { lab::add_to(to[at[i]], in[i]); });
    Arrays a = c.arrays();
    a.out = sums.data();
    a.index = index.data();
    lab::Peer cub = lab::vendor("CUB sort and reduce, " + name,
                                lab::cub_scatter_add(a.out, SUMS, a.index, a.in, c.n));
    cub.bytes = 8.0 * static_cast<double>(c.n);
    use(a, {.variant = name,
            .outputs = {lab::expect(sums, want)},
            .bytes = 8.0 * static_cast<double>(c.n) + 4.0 * SUMS,
            .peer = cub});
  }
}

// ### Launches

/// One kernel whose blocks take their tiles from a counter.
template <class Kernel>
Launch in_one_pass(Kernel* kernel, unsigned tile) {
  return [=](const Arrays& a) {
    clear(a.state, a.n, tile);
    launch(kernel, {blocks_for(a.n, tile), THREADS}, a, a.state);
  };
}

template <bool GATHER>
void permuted(const Arrays& a) {
  permute(a.out, a.in, a.index, a.n, GATHER);
}

/// The pairs, their spare memory, and what a sort counts.
template <void (*SORT)(Sorted&, const unsigned*, const unsigned*, size_t, unsigned)>
void sorted(const Arrays& a) {
  Sorted to{a.out,      a.values_out, a.words(0),
            a.words(1), a.words(2),   reinterpret_cast<Word*>(a.scratch[3])};
  SORT(to, a.index, a.in, a.n, 32);
}

template <By BY>
void added(const Arrays& a) {
  const Sorted sorted{a.words(4), a.words(5), a.words(0),
                      a.words(1), a.words(2), reinterpret_cast<Word*>(a.scratch[3])};
  scatter_add(a.out, SUMS, a.index, a.in, a.n, BY, sorted, a.scratch[6]);
}

/// A thread, or some of them, for each row.
template <class Kernel>
Launch by_rows(Kernel* kernel, unsigned lanes) {
  return [=](const Arrays& a) {
    const SparseMatrix& m = a.matrix;
    kernel<<<blocks_for(size_t{m.rows} * lanes, THREADS), THREADS>>>(a.out, m.starts, m.columns,
                                                                     m.values, a.in, m.rows);
  };
}

void by_segments(const Arrays& a) {
  multiply_segments(a.out, a.matrix, a.in, a.scratch[0], a.words(1), a.state);
}

void by_shares(const Arrays& a) { multiply_in_shares(a.out, a.matrix, a.in, a.words(0)); }

void in_steps(const Arrays& a) {
  repeats_in_steps(a.out, a.size, a.in, a.n, a.words(0), a.words(1), a.state);
}

}  // namespace

void by_flags(Common& c, const Use& use) { segments(c, use, false); }
void by_keys(Common& c, const Use& use) { segments(c, use, true); }

/// All i with in[i] == in[i + 1], where there are none, one in 16, one in 2, and as many as there can be.
void repeats(Common& c, const Use& use) {
  for (const unsigned one_in : {0u, 16u, 2u, 1u}) {
    // Of values from 0 to k - 1, one in k equals the one before.
    const Below below{c.seed, one_in};
    const auto index = [=] __host__ __device__(size_t i) { return static_cast<unsigned>(i); };
    const lab::Input<unsigned> input = one_in == 0 ? lab::Input<unsigned>(c.n, index, "in")
                                                   : lab::Input<unsigned>(c.n, below, "in");
    Arrays a = c.arrays();
    a.in = input.data();
    const size_t n = c.n;
    const auto in = input.view();
    const auto repeats = [=] __host__ __device__(size_t i) {
      return i + 1 < n && in[i] == in[i + 1];
    };
    lab::Rung rung = kept(c, repeats, index);
    rung.variant = (one_in < 2 ? "density=" : "density=1/") + std::to_string(one_in);
    rung.peer =
        lab::vendor("CUB Select, " + rung.variant, lab::cub_select_repeats(a.out, a.size, a.in, n));
    rung.peer.bytes = 4.0 * static_cast<double>(n);
    use(a, rung);
  }
}

void Segments::add(std::string_view name, const std::string& variant, Problem problem,
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
    ladder.skip_unless(n <= size_t{1} << 30, {"sort_in_sweeps", "scatter_add"},
                       "words with 30 bits: 2^30 pairs at most");
    Segments all{ladder, {n, ladder.seed(), blocks_for(n, TILE) + size_t{1}}};
    const size_t words = DIGITS * std::max<size_t>(blocks_for(n, SORT_TILE), PASSES);
    std::vector<size_t> sort{4 * n, 4 * n, 4 * words, 8 * (words + FIRST_WORD)};
    const size_t shares = 4 * (blocks_for(2 * n + 1, SHARE) + size_t{1});

    all.add("segmented", "flags", by_flags, in_one_pass(segmented, SEGMENT_TILE));
    all.add("multiply_rows", "", products, by_rows(multiply_rows, 1));
    all.add("multiply_in_warps", "lanes=2", products, by_rows(multiply_in_warps<2>, 2));
    all.add("multiply_in_warps", "lanes=8", products, by_rows(multiply_in_warps<8>, 8));
    all.add("multiply_in_warps", "lanes=32", products, by_rows(multiply_in_warps<32>, 32));
    all.add("multiply_segments", "", products, by_segments, {n, 4 * n});
    all.add("multiply_in_shares", "", products, by_shares, {shares});
    all.add("compact", "", evens, in_one_pass(compact, KEEP_TILE));
    all.add("repeats_in_steps", "", repeats, in_steps, {4 * n, 4 * n});
    all.add("repeats_in_one", "", repeats, in_one_pass(repeats_in_one, TILE));
    all.add("permute", "by=gather", permutations<true>, permuted<true>);
    all.add("permute", "by=scatter", permutations<false>, permuted<false>);
    all.add("sort_in_steps", "", sorts, sorted<sort_in_steps>, sort);
    all.add("sort_in_sweeps", "match", sorts, sorted<sort_in_sweeps<false, Word>>, sort);
    all.add("sort_in_sweeps", "ballots", sorts, sorted<sort_in_sweeps<true, Word>>, sort);
    all.add("sort_in_sweeps", "32 bits", sorts, sorted<sort_in_sweeps<true, unsigned>>, sort);
    sort.insert(sort.end(), {4 * n, 4 * n, n});
    all.add("scatter_add", "by=atomic", additions, added<By::atomic>, sort);
    all.add("scatter_add", "by=warps", additions, added<By::warps>, sort);
    all.add("scatter_add", "by=blocks", additions, added<By::blocks>, sort);
    all.add("scatter_add", "by=sort", additions, added<By::sort>, sort);
    lab::add_others(all);
  });
}

// ## What to remember
//
// - Pairs of a sum and a flag scan all segments at once, whatever their lengths.
// - Share out what costs time: rows and values together, not one of them. A binary search finds a share's beginning.
// - A block can find where its results go, and write them, while it holds the data: compaction, repeats, and each pass of a
//   sort are one kernel with a look-back.
// - One instruction may take the time of many: `__match_any_sync` on different values, an atomic on one address.
// - Add up in the warp or the block before an atomic. Where there is no atomic, or the order matters: sort, scan the runs,
//   scatter their ends.
//
// ## Possibilities for extension
//
// 1. Form the products in `segmented` itself, without `multiply_values`. How many bytes does that save?
// 2. Find the longest run of equal elements with a segmented scan and a reduction.
// 3. Sort keys alone. Which of the bytes of a pass go, and which stay?
// 4. Two blocks of a cluster together have shared memory for all 65,536 sums: each addition goes to the block that has its
//    half. For which indices is that faster than `add_in_blocks`? (The laboratory notes have an answer.)
// 5. Write `multiply_in_shares` for floats. Which additions come in another order in each run, and how would you fix it?
