// # Chapter 14: Segments and sorts
//
// Question: Rows have any length and keys any value. How does every thread still get its share, and write to its own place?
// Builds on: 08_scan
// Minutes: 40
// Afterwards: share out work that is uneven, bring elements to places that depend on the data, and sort
// Kind: map
// Size gpu: 268435456
// Size simulator: 50021
// Sizes measured: 268435456 16777216 1048576
// Run: ./learn run 14
//   ./learn run 14 --rung segmented            many scans in one array, told apart by flags
//   ./learn run 14 --rung segmented_ahead      the same with warps of different roles [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 14 --rung sparse_times_vector  a sparse matrix times a vector, by rows and by segments
//   ./learn run 14 --rung compact              keeps the elements that pass a test, in their order
//   ./learn run 14 --rung repeats_in_steps     all i with a[i] == a[i + 1]: flags, scan, scatter
//   ./learn run 14 --rung repeats_in_one       the same in one kernel
//   ./learn run 14 --rung repeats_ahead        and with warps of different roles [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 14 --rung permute              gather and scatter, in order and at random
//   ./learn run 14 --rung scatter_add          a scatter that adds, with atomics or by sorting

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
// A {term}`segmented scan` scans many sequences that are stored one after the other. A flag marks the **head**
// of each, the element where the sum starts anew:
//
//     in         3   1   7   0   4   1   6   3
//     heads      1   0   0   1   0   1   0   0
//     inclusive  3   4  11   0   4   1   7  10
//
// A launch for each segment would be a bad plan: a segment may have one element or a hundred million. Instead,
// choose another operator. Take pairs (sum, head): the sum since the last head, and whether there was one. Two
// neighbouring pieces make
//
//     (a, f) + (b, g)  =  (g ? b : a + b,  f or g)
//
// This operator is associative, so every scan of chapter 08 can use it. And the look-back costs no more:

/// A piece of a segmented array: the sum since its last head, and whether it has one.
struct Piece {
  unsigned sum;
  bool head;
};

/// Two neighbouring pieces as one.
__device__ __forceinline__ Piece join(Piece left, Piece right) {
  return {right.head ? right.sum : left.sum + right.sum, left.head || right.head};
}

constexpr unsigned SEGMENT_TILE = THREADS * 4;  ///< elements of a block of `segmented`

/// The inclusive segmented scan of n elements in one pass.
///
/// @param heads  a byte for each element: not 0 where a segment begins
/// @param state  zeros: the counter of tiles, then a word for each tile
///
/// Launch: blocks of THREADS threads, as many as there are tiles of SEGMENT_TILE elements.
/// Requires: out and in are aligned to 16 bytes, heads to 4.
__global__ void __launch_bounds__(THREADS)
    segmented(unsigned* out, const unsigned* in, const unsigned char* heads, size_t n,
              Word* state) {
  __shared__ Piece warp_sums[WARPS];
  __shared__ unsigned prefix;
  const unsigned tile = take_tile(state), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Word* const words = state + 1;
  const size_t at = size_t{tile} * SEGMENT_TILE + threadIdx.x * 4;
  const uint4 four = load4(in, at, n);
  uchar4 head{};
  if (at + 4 <= n) {
    head = *reinterpret_cast<const uchar4*>(heads + at);
  } else if (at < n) {
    head.x = heads[at];
    if (at + 1 < n) head.y = heads[at + 1];
    if (at + 2 < n) head.z = heads[at + 2];
  }

  // The thread, then the warp, then the block: as in block_scan, with join() in place of the sum.
  Piece x[4] = {
      {four.x, head.x != 0}, {four.y, head.y != 0}, {four.z, head.z != 0}, {four.w, head.w != 0}};
#pragma unroll
  for (unsigned j = 1; j < 4; ++j) x[j] = join(x[j - 1], x[j]);
  Piece inclusive = x[3];
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const Piece left{__shfl_up_sync(ALL, inclusive.sum, d),
                     __shfl_up_sync(ALL, int{inclusive.head}, d) != 0};
    if (lane >= d) inclusive = join(left, inclusive);
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  Piece before{__shfl_up_sync(ALL, inclusive.sum, 1),
               __shfl_up_sync(ALL, int{inclusive.head}, 1) != 0};
  if (lane == 0) before = {0, false};
  __syncthreads();  // warp_sums is complete
  Piece total{0, false}, warps_before{0, false};
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) {
    if (w == warp) warps_before = total;
    total = join(total, warp_sums[w]);
  }
  before = join(warps_before, before);

  if (warp == 0) {
    const bool done = tile == 0 || total.head;  // what comes before does not matter
    if (lane == 0) publish(&words[tile], done ? PREFIX : SUM, total.sum);
    const unsigned sum = sum_before<32, 0>(words, tile);
    if (lane == 0) {
      prefix = sum;
      if (!done) publish(&words[tile], PREFIX, sum + total.sum);
    }
  }
  __syncthreads();  // prefix is there

  before = join({prefix, false}, before);
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) x[j] = join(before, x[j]);
  store4(out, at, n, {x[0].sum, x[1].sum, x[2].sum, x[3].sum});
}

//? heads: A tile holds a head. Does it have to look back before it can publish its prefix?
//? choices: yes, always | no, never | only if the head is not its first element
//? answer: "no, never"
//
// What leaves the tile on its right is the sum since its last head, whatever came before. So its first word is
// already a prefix, and `sum_before` of all later tiles stops there. Short segments make the look-back shorter,
// one long segment makes it that of a plain scan. Otherwise the time does not depend on how long the segments
// are, and that is what makes the segmented scan useful (G. E. Blelloch, 1990).
//
// `segmented_ahead` does to this kernel what `look_ahead` did to `look_back`. It takes byte flags, or keys:
// then a segment begins where a key differs from the one before it, as in CUB's scan by key. (CUB has none by flags,
// so only the keys have a peer.)
//
// **Timed.** `segmented` takes 1.3 ms with segments of two and 1.6 ms with a single one, since every
// look-back then goes as far as that of a scan. `segmented_ahead` takes 0.63 ms for both, and CUB's scan by
// key 1.26 times as long as ours.
//= 1.3 ms: ms("segmented/flags, every=2")
//= 1.6 ms: ms("segmented/flags, one")
//= 0.63 ms: ms("segmented_ahead/flags, one")
//= 1.26 times: ratio("segmented_ahead/keys, every=100")
//
// ## 2. A sparse matrix times a vector
//
// A sparse matrix is stored by rows, without its zeros (compressed sparse rows, CSR): the values of all rows
// one after the other, the column of each value, and for each row where it starts. The product with a vector x
// has, in row r, the sum of value times x(column) over that row. One thread for each row is the obvious kernel.

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

// The rows of the matrix here have up to 7 values, but one in 64 has 512: skewed, as graphs of the web are.
//
//? lanes: In the loads of `multiply_rows`, how many of the 32 lanes are active on average?
//? answer: count("sparse_times_vector/by rows", "global_load_active_lanes") / count("sparse_times_vector/by
//?   rows", "global_load_requests")
//? unit: lanes
//? near: factor 1.5
//
// A warp runs until its longest row is done, and most of the time a single lane has work: 1.5 lanes on average.
// And lanes read from different rows, so that nothing is coalesced.
//= 1.5 lanes: count("sparse_times_vector/by rows", "global_load_active_lanes") / count("sparse_times_vector/by
//=   rows", "global_load_requests")
//
// With a segmented scan, the work is divided by values, not by rows. All products are formed first, one thread
// for each, and scanned with a head at the start of each row. The last element of each row is its sum.

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
void sparse_times_vector(unsigned* y, const SparseMatrix& a, const unsigned* x,
                         unsigned char* heads, unsigned* products, Word* state) {
  const unsigned row_blocks = blocks_for(a.rows, 256);
  CUDA_CHECK(cudaMemsetAsync(heads, 0, a.n));
  mark_rows<<<row_blocks, 256>>>(heads, a.starts, a.rows);
  multiply_values<<<blocks_for(a.n, 256), 256>>>(products, a.columns, a.values, x, a.n);
  clear(state, a.n, SEGMENT_TILE);
  segmented<<<blocks_for(a.n, SEGMENT_TILE), THREADS>>>(products, products, heads, a.n, state);
  gather_ends<<<row_blocks, 256>>>(y, products, a.starts, a.rows);
}

// In `multiply_values` all 32 lanes are active, however long the rows are. It moves more bytes: the products go
// to memory and back. Fusing the multiplication with the scan would save that. (There is no peer: cuSPARSE multiplies
// floating-point numbers and bytes, not `unsigned`.)
//
// **Timed.** For 2^20 values that is 1.9 times as fast as a thread for each row. For 2^28 it is slower, 6.6 ms
// instead of 6.0: products, heads and sums all pass through memory. Extension 4 saves a part of that. A thread for each
// row is the simplest rival, not the best. The usual next steps, which are not measured here, are a warp for each row
// (N. Bell and M. Garland, 2009) and equal shares of rows and values together, merge path (D. Merrill and M. Garland,
// 2016).
//= 1.9 times: ms("sparse_times_vector/by rows", 1048576) / ms("sparse_times_vector/segmented", 1048576)
//= 6.6 ms instead of 6.0: (ms("sparse_times_vector/segmented"), ms("sparse_times_vector/by rows"))
//
// ## 3. Where does my result go?
//
// {term}`Stream compaction <stream compaction>` keeps the elements that pass a test, in their order: flags, an
// exclusive scan of the flags, and each kept element goes to the place that the scan gives it. In one kernel
// with look-back, the flags never go to memory.

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
// The one-pass version is `compact` with another predicate: `repeats_in_one` gets the neighbour of its last element by
// a shuffle from the lane to the right. `repeats_ahead` divides the work among warps as `look_ahead` does.
//
// **Timed.** With few repeats 2.1 ms in steps, 0.53 ms in one pass and 0.25 ms with roles. CUB takes 3.2
// times as long as the last; if all elements are equal, 1.77 times.
//= 2.1 ms: ms("repeats_in_steps/density=0")
//= 0.53 ms: ms("repeats_in_one/density=0")
//= 0.25 ms: ms("repeats_ahead/density=0")
//= 3.2 times: ratio("repeats_ahead/density=0")
//= 1.77 times: ratio("repeats_ahead/density=1")
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

// ## 4. Gather and scatter
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
// **Timed.** In order 1.2 ms, with random sectors 1.6 ms, at random 6.8 ms for the gather and 16.6 ms for the scatter.
// Both touch as many sectors. But a sector of which 4 bytes are stored is not complete: if L2 does not hold the rest,
// it has to be merged with what is in memory. What memory then reads and writes was not measured here.
//= In order 1.2 ms, with random sectors 1.6 ms: (ms("permute/by=gather, ordered"), ms("permute/by=gather, sectors"))
//= 6.8 ms for the gather and 16.6 ms for the scatter: (ms("permute/by=gather, random"), ms("permute/by=scatter, random"))
//
// A scatter that *adds* is the hard one, since two threads may have the same index: a histogram (chapter 07), the
// transpose of a sparse matrix times a vector, the gradient of a table. With atomic additions it takes a line.

/// sums[index[i]] += values[i].
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void add_atomically(unsigned* sums, const unsigned* index, const unsigned* values,
                               size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[index[i]], values[i]);
}

// Where indices repeat often, these additions queue at the same address. Sectors do not show this queue: with uniform
// indices a request touches 31.9 of them, and where all 32 lanes name one address they are serialised, and the counter
// sees one sector each time.
//= 31.9: count("scatter_add/by=atomic, uniform", "global_atomic_sectors") / count("scatter_add/by=atomic, uniform",
//=   "global_atomic_requests")
//
// ### A sort made of scans (second reading)
//
// {term}`Radix sort <radix sort>` goes through the digits of the keys, the lowest first. Each pass is a stable split:
// the pairs with digit 0 in their order, then those with digit 1, and so on. *Where does a pair go?* Behind all pairs
// with lower digits, behind those of earlier tiles with the same digit, and behind those of its own tile that come
// before it. The first two are an exclusive scan of counts, by digit, and for each digit by tile.
//
// The third is found in the tile. A warp takes 32 keys at a time: `__match_any_sync` tells a lane which lanes have the
// same digit, and a counter for each digit has what the warp saw before. No two lanes write the same counter. So there
// are no atomics, and equal keys take no longer than others.

constexpr unsigned DIGITS = THREADS;       ///< values of a digit, 8 bits; a thread for each
constexpr unsigned KEYS = TILE / THREADS;  ///< pairs of a thread

/// The place of this lane's first key. The others are 32 apart, so that a request is coalesced.
///
/// @param left  out: how many elements there are from it on
__device__ size_t first_key(size_t tile, size_t n, unsigned& left) {
  const size_t at = tile * TILE + threadIdx.x / 32 * (32 * KEYS) + threadIdx.x % 32;
  left = at < n ? static_cast<unsigned>(n - at) : 0;
  return at;
}

__device__ unsigned digit_of(unsigned key, unsigned shift) { return key >> shift & (DIGITS - 1); }

/// Loads the keys of this thread, and counts them by digit. Called by all threads of a block; passes one barrier.
///
/// @param keys   of this lane, 32 apart; only those before `left` are there
/// @param key    out: theirs, and for the rest the largest of all, which is last in every order
/// @param rank   out: how many keys of this warp with the same digit come before each
/// @param count  out: how many keys of each warp have which digit
__device__ void rank_keys(unsigned (&key)[KEYS], unsigned (&rank)[KEYS],
                          unsigned (&count)[WARPS][DIGITS], const unsigned* keys, unsigned left,
                          unsigned shift) {
  const unsigned below = (1u << threadIdx.x % 32) - 1;
  unsigned* const mine = count[threadIdx.x / 32];
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) key[k] = k * 32 < left ? keys[k * 32] : ALL;
  for (unsigned d = threadIdx.x % 32; d < DIGITS; d += 32) mine[d] = 0;
  __syncwarp();
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    const unsigned d = digit_of(key[k], shift), same = __match_any_sync(ALL, d);
    const unsigned earlier = mine[d];
    rank[k] = earlier + __popc(same & below);
    __syncwarp();  // all have read
    if ((same & below) == 0) mine[d] = earlier + __popc(same);
    __syncwarp();
  }
  __syncthreads();  // the counts of all warps are there
}

/// counts[digit * tiles + tile] = how many keys of the tile have the digit.
///
/// Launch: blocks of THREADS threads, one for each tile of TILE keys.
__global__ void __launch_bounds__(THREADS)
    count_digits(unsigned* counts, const unsigned* keys, size_t n, unsigned shift) {
  __shared__ unsigned count[WARPS][DIGITS];
  unsigned key[KEYS], rank[KEYS], left, sum = 0;
  const size_t at = first_key(blockIdx.x, n, left);
  rank_keys(key, rank, count, keys + at, left, shift);
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) sum += count[w][threadIdx.x];
  counts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
}

/// Moves the pairs of each tile to their places in the order of a digit.
///
/// @param starts  for each digit, for each tile: where its first pair goes
///
/// Launch: as `count_digits`.
__global__ void __launch_bounds__(THREADS, 3)
    split_by_digit(unsigned* keys_out, unsigned* values_out, const unsigned* keys,
                   const unsigned* values, size_t n, unsigned shift, const unsigned* starts) {
  __shared__ unsigned count[WARPS][DIGITS], to[DIGITS], warp_sums[WARPS];
  __shared__ unsigned sorted_keys[TILE], sorted_values[TILE];
  const unsigned t = threadIdx.x;
  unsigned key[KEYS], rank[KEYS], left;
  const size_t at = first_key(blockIdx.x, n, left);
  rank_keys(key, rank, count, keys + at, left, shift);

  // Thread t has digit t: it finds where the digit begins in the tile, and then where it does for each warp.
  unsigned sum = 0, all;
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) sum += count[w][t];
  const unsigned inclusive = scan_warp(sum);
  unsigned start = inclusive - sum + scan_warps(__shfl_sync(ALL, inclusive, 31), warp_sums, all);
  to[t] =
      starts[t * gridDim.x + blockIdx.x] - start;  // from a place in the tile to one in the array
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) {
    const unsigned here = count[w][t];
    count[w][t] = start;
    start += here;
  }
  __syncthreads();  // the counts have become places

  // Sorted in shared memory, the pairs of a digit are neighbours, and go to neighbouring places.
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    rank[k] += count[t / 32][digit_of(key[k], shift)];  // its place in the tile
    sorted_keys[rank[k]] = key[k];
  }
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    if (k * 32 < left) sorted_values[rank[k]] = values[at + k * 32];
  }
  __syncthreads();  // the tile is sorted
#pragma unroll
  for (unsigned k = 0; k < KEYS; ++k) {
    const unsigned place = k * THREADS + t, moved = sorted_keys[place];
    const unsigned i = to[digit_of(moved, shift)] + place;
    if (i >= n) continue;
    keys_out[i] = moved;
    values_out[i] = sorted_values[place];
  }
}

/// What a sort writes to.
struct Sorted {
  unsigned *keys, *values;              ///< n each
  unsigned *spare_keys, *spare_values;  ///< n each
  unsigned* counts;                     ///< DIGITS for each tile
};

/// Sorts pairs by their keys, stably: pairs with equal keys stay in their order.
///
/// @param bits  of a key
/// @param to    its keys and values: out, the sorted ones
void sort_pairs(Sorted& to, const unsigned* keys, const unsigned* values, size_t n, unsigned bits,
                Word* state) {
  const unsigned tiles = blocks_for(n, TILE);
  const size_t counts = size_t{tiles} * DIGITS;
  unsigned shift = 0;
  do {
    std::swap(to.keys, to.spare_keys), std::swap(to.values, to.spare_values);
    count_digits<<<tiles, THREADS>>>(to.counts, keys, n, shift);
    scan_in_one_pass(to.counts, to.counts, counts, state);
    split_by_digit<<<tiles, THREADS>>>(to.keys, to.values, keys, values, n, shift, to.counts);
    keys = to.keys, values = to.values;
  } while ((shift += 8) < bits);
}

// ### Without atomics (second reading)
//
// Sort the pairs (index, value) by index, so that equal indices are neighbours: `sort_pairs` is a radix sort made of
// scans, in two passes of 8 bits. A segmented scan with a head where the index changes adds up each
// run. The last element of a run has its sum, and no other run has that index: it is scattered without atomics.
//
//? sort_bytes: `add_atomically` reads 8 bytes for each pair. How many bytes does the sum by sorting with `sort_pairs`
//?   read and write for each, by sectors, with uniform indices? (A pass counts the digits of the keys, then moves the
//?   pairs.)
//? answer: 32 * (count("scatter_add/by=sort, uniform", "global_load_sectors") + count("scatter_add/by=sort, uniform",
//?   "global_store_sectors")) / 50021
//? unit: bytes per pair
//? near: factor 1.5

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

/// sums[i] = the sum of the values whose index is i, for i below `size`.
///
/// @param sorted, heads  n elements each; overwritten
void scatter_add(unsigned* sums, unsigned size, const unsigned* index, const unsigned* values,
                 size_t n, bool by_sort, Sorted sorted, unsigned char* heads, Word* state) {
  const unsigned blocks = blocks_for(n, 256);
  CUDA_CHECK(cudaMemsetAsync(sums, 0, size_t{size} * 4));
  if (!by_sort) {
    add_atomically<<<blocks, 256>>>(sums, index, values, n);
    return;
  }
  sort_pairs(sorted, index, values, n, std::bit_width(size - 1), state);
  mark_runs<<<blocks, 256>>>(heads, sorted.keys, n);
  clear(state, n, SEGMENT_TILE);
  segmented<<<blocks_for(n, SEGMENT_TILE), THREADS>>>(sorted.values, sorted.values, heads, n,
                                                      state);
  scatter_ends<<<blocks, 256>>>(sums, sorted.keys, sorted.values, n);
}

// 102 bytes. Each of the two passes reads keys, then keys and values, and writes both: 20, 40 in all. Marks take 5, the
// segmented scan 9, the ends 8. The rest are counts, and the sectors in which the places of a digit begin and end: a
// tile has only 16 pairs of each. If all indices are equal, it is 78. (Your own run may show more: blocks that wait for
// others load again and again. This page has the counts of one block after the other.)
//= 102 bytes: 32 * (count("scatter_add/by=sort, uniform", "global_load_sectors") + count("scatter_add/by=sort,
//=   uniform", "global_store_sectors")) / 50021
//= 20, 40 in all: (4 + 8 + 8, 2 * 20)
//= 5, the segmented scan 9, the ends 8: (4 + 1, 4 + 1 + 4, 4 + 4)
//= 16 pairs: 4096 / 256
//= it is 78: 32 * (count("scatter_add/by=sort, equal", "global_load_sectors") + count("scatter_add/by=sort, equal",
//=   "global_store_sectors")) / 50021
//
// **Timed**, for 2^28 pairs and 65,536 sums: with uniform indices 3.0 ms by atomics and 12 ms by sorting; skewed, where
// index k has a share of about 1/k, 42 ms and 10 ms; with equal ones 198 ms and 6.8 ms. CUB's sort and reduction by key
// take 0.37 times as long as ours with uniform indices.
//= 3.0 ms by atomics and 12 ms by sorting: (ms("scatter_add/by=atomic, uniform"), ms("scatter_add/by=sort, uniform"))
//= 42 ms and 10 ms; with equal ones 198 ms and 6.8 ms: (ms("scatter_add/by=atomic, skewed"),
//=   ms("scatter_add/by=sort, skewed"), ms("scatter_add/by=atomic, equal"), ms("scatter_add/by=sort, equal"))
//= 0.37 times: ratio("scatter_add/by=sort, uniform")
//
// **So:** atomics where threads seldom meet, a sort where they often do. (Between the two lies a third way, which is
// not measured here: add up equal indices in the warp or the block first, as the histogram of chapter 07 does, and
// send only the sums to memory.) Two more reasons to sort: an operator that no atomic has, and the order. Atomics add
// in another order in each run, so that float sums differ. A stable sort leaves the values of an index in the order of
// the input; scanned in a fixed order as well (by three kernels: `look_back` adds what it finds published), they give
// the same float in every run.

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

/// Where segments begin: at 0, and on average at one in `every` elements; 0: nowhere else.
struct SegmentHead {
  std::uint64_t seed;
  unsigned every;
  __host__ __device__ bool operator()(size_t i) const {
    return i == 0 || (every > 0 && lab::random_bits(seed, i) % every == 0);
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

/// y = A x for a matrix of n values, whose rows are mostly short and sometimes long.
void products(Common& c, const Use& use) {
  const std::uint64_t seed = c.seed + 200;
  std::vector<unsigned> host{0};
  while (host.back() < c.n) {
    const size_t row = host.size() - 1;
    const size_t length = row % 64 == 63 ? 512 : lab::random_bits(seed, row) % 8;
    host.push_back(static_cast<unsigned>(std::min(c.n, host.back() + length)));
  }
  const size_t rows = host.size() - 1;
  const lab::Input<unsigned> starts(host, "starts");
  const lab::Input<unsigned> x(rows, lab::RandomValue<unsigned>{seed + 1}, "x");
  const lab::Input<unsigned> columns(c.n, Below{seed + 2, rows}, "columns");
  lab::DeviceBuffer<unsigned> y(rows, "y");
  const auto start = starts.view(), column = columns.view(), value = c.in.view(), vector = x.view();
  const auto product = [=] __host__ __device__(size_t r) {
    unsigned sum = 0;
    for (size_t k = start[r]; k < start[r + 1]; ++k) sum += value[k] * vector[column[k]];
    return sum;
  };
  Arrays a = c.arrays();
  a.out = y.data();
  a.in = x.data();
  a.matrix = {starts.data(), columns.data(), c.in.data(), static_cast<unsigned>(rows), c.n};
  use(a, {.outputs = {lab::expect(y, product)},
          .bytes = 8.0 * static_cast<double>(c.n) + 12.0 * static_cast<double>(rows)});
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

template <bool BY_SORT>
void added(const Arrays& a) {
  const Sorted sorted{a.words(0), a.words(1), a.words(2), a.words(3), a.words(4)};
  scatter_add(a.out, SUMS, a.index, a.in, a.n, BY_SORT, sorted, a.scratch[5], a.state);
}

void by_rows(const Arrays& a) {
  const SparseMatrix& m = a.matrix;
  multiply_rows<<<blocks_for(m.rows, 256), 256>>>(a.out, m.starts, m.columns, m.values, a.in,
                                                  m.rows);
}

void by_segments(const Arrays& a) {
  sparse_times_vector(a.out, a.matrix, a.in, a.scratch[0], a.words(1), a.state);
}

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
    Segments segments{ladder, {n, ladder.seed(), blocks_for(n, SEGMENT_TILE) + 1}};
    const size_t counts = size_t{4} * blocks_for(n, TILE) * DIGITS;
    const std::vector<size_t> sort{4 * n, 4 * n, 4 * n, 4 * n, counts, n};

    segments.add("segmented", "flags", by_flags, in_one_pass(segmented, SEGMENT_TILE));
    segments.add("sparse_times_vector", "by rows", products, by_rows);
    segments.add("sparse_times_vector", "segmented", products, by_segments, {n, 4 * n});
    segments.add("compact", "", evens, in_one_pass(compact, KEEP_TILE));
    segments.add("repeats_in_steps", "", repeats, in_steps, {4 * n, 4 * n});
    segments.add("repeats_in_one", "", repeats, in_one_pass(repeats_in_one, TILE));
    segments.add("permute", "by=gather", permutations<true>, permuted<true>);
    segments.add("permute", "by=scatter", permutations<false>, permuted<false>);
    segments.add("scatter_add", "by=atomic", additions, added<false>, sort);
    segments.add("scatter_add", "by=sort", additions, added<true>, sort);
    lab::add_others(segments);
  });
}

// ## What to remember
//
// - Pairs with a flag scan segments: another operator, the same algorithm.
// - Without atomics: sort by index, scan the runs, scatter their ends.
//
// ## Possibilities for extension
//
// 1. Fuse `multiply_values` into `segmented`. How many bytes does that save?
// 2. Find the longest run of equal elements with a segmented scan and a reduction.
