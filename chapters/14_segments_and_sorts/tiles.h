/// \file
/// What chapter 08 builds and explains, for the kernels of chapter 14: a block's tile in registers, its scan, and the
/// look-back to the tiles before it. They are chapter 08's letter by letter, which a test sees to.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/atomic>

#include "lab/lab.h"
#include "segments.h"

constexpr unsigned ALL = 0xFFFFFFFF;                     ///< the mask of a whole warp
constexpr unsigned THREADS = 256, WARPS = THREADS / 32;  ///< of a block
constexpr unsigned ROWS = 4;                             ///< rows of 128 elements in a warp's part
constexpr unsigned TILE = THREADS * 4 * ROWS;            ///< elements of a block

/// The inclusive scan over the lanes of a warp.
__device__ inline unsigned scan_warp(unsigned v) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned left = __shfl_up_sync(ALL, v, d);
    if (lane >= d) v += left;
  }
  return v;
}

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

using Word = unsigned long long;  ///< flag << 32 | value; 0: not yet published
constexpr Word SUM = 1ull << 32;  ///< the value is the sum of this tile
constexpr Word PREFIX =
    2ull << 32;  ///< the value is the sum of everything up to the end of this tile
constexpr Word FLAGS = 0xFFFFFFFF00000000;

using AtomicWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

/// Reads what another block publishes: one access, made each time that it is called.
__device__ inline Word read_word(Word* word) {
  return AtomicWord(*word).load(cuda::memory_order_relaxed);
}

/// Publishes flag and value with one access.
__device__ inline void publish(Word* word, Word flag, unsigned value) {
  AtomicWord(*word).store(flag | value, cuda::memory_order_relaxed);
}

/// The number of the tile that this block is to take. Called by all threads of a block.
__device__ inline unsigned take_tile(Word* state) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = static_cast<unsigned>(atomicAdd(state, 1ull));
  __syncthreads();
  return tile;
}

/// Zeros for the counter and the words of the tiles of n elements.
inline void clear(Word* state, size_t n, unsigned tile) {
  CUDA_CHECK(cudaMemsetAsync(state, 0, (blocks_for(n, tile) + size_t{1}) * sizeof(Word)));
}

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
