// # Chapter 06: Transpose
//
// Question: A transpose computes nothing. Why does it take so much longer than a copy?
// Builds on: 05_bank_conflicts
// Minutes: 50
// Path: short
// Afterwards: move data at nearly the rate of a copy, coalesced on both sides and with enough bytes in flight
// Kind: map
// Size gpu: 16384,16384
// Size simulator: 96,160
// Sizes measured: 16384,16384 16384,10007 10007,16384
// Run: ./learn run 06
//   ./learn run 06 --rung copy            as many bytes, in order, one float a thread
//   ./learn run 06 --rung four_each       four elements a thread, with and without restrict
//   ./learn run 06 --rung naive_rows      reads rows, writes columns
//   ./learn run 06 --rung naive_columns   reads columns, writes rows
//   ./learn run 06 --rung longer_pitch    reads columns of a matrix whose rows lie further apart
//   ./learn run 06 --rung tiled           reads rows, writes rows, and transposes a tile in shared memory
//   ./learn run 06 --rung no_barrier      reads the tile before it is full [raises shared-race]
//   ./learn run 06 --rung swizzled        conflict-free without padding
//   ./learn run 06 --rung large_tile      16 loads in flight a thread instead of four
//   ./learn run 06 --rung vectors         128-bit accesses, two orders of the tiles, and hints for L2
//   ./learn run 06 --rung whole_sectors   stores that start at a sector, whatever the pitch
//   ./learn run 06 --rung copy_offset     every lane one element off, or several
//   ./learn run 06 --rung copy_strided    neighbouring lanes read elements that are a stride apart
//   ./learn run 06 --rung points_aos      an array of structs of three floats
//   ./learn run 06 --rung points_soa      a struct of three arrays
//   ./learn run 06 --rung points_staged   the array of structs, staged through shared memory
//   ./learn run 06 --rung points_aligned  structs of four floats, with and without alignas(16)
//   ./learn run 06 --rung tma             one thread asks, the TMA moves [needs sm_90a, cuda 12.9]
//   ./learn run 06 --rung cublas          the vendor's library [needs cublas]
//   ./learn run 06 --rung pieces          a copy in pieces, each copied eight times

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/hints.h"
#include "lab/lab.h"
#include "transposed.h"

// Chapters 02 to 05 multiplied matrices, and soon became compute-bound. Most programs are not: they read their data
// once, do little with it, and write it back. Such a program is {term}`memory-bound`, and its time has a simple lower
// limit, the bytes that it must move over the bandwidth of the memory. This chapter is about reaching that limit.
//
// The transpose is the standard example. It computes nothing at all: out(col, row) = in(row, col). It reads each
// element once and writes it once, as a copy does. But reads and writes cannot both go along rows, and that makes the
// obvious kernel several times slower than a copy. (On the short path, which skips chapters 04 and 05, read section 1 of
// chapter 05 before section 3: banks are all of them that is needed here.)
//
// Counts are for 96 x 160 floats, the simulator's default. Times are those of an NVIDIA H200 for 16384 x 16384, two
// matrices of 1 GiB. A rate is bytes read plus bytes written, over the time.

constexpr unsigned BLOCK = 256;          ///< threads of a block that copies, in sections 1, 7 and 8
constexpr unsigned TILE = 32;            ///< edge of the tiles in sections 2 to 4
constexpr unsigned ROWS = 8;             ///< TILE x ROWS threads (x, y) move such a tile
constexpr unsigned LARGE = 64;           ///< edge of the tiles of `large_tile` and `vectors`
constexpr unsigned MOST_BLOCKS = 65535;  ///< the limit of gridDim.y

// ## 1. How fast can a copy be?
//
// The H200's memory has a bus of 6144 bits and transfers data twice per cycle of a 3201 MHz clock, which makes 4.9
// TB/s. No program gets all of it: DRAM has to be refreshed, its rows have to be opened and closed, and a bus that
// turns from reading to writing idles for a while. `cudaMemcpy` within the device's memory, which the table gives as
// the peer of every rung, shows what is left.
//= 4.9 TB/s: 6144 * 3201e6 * 2 / 8 / 1e12
//
// `cudaMemcpy` reaches 0.87 of the peak. A kernel that only reads gets a little more, since the bus never turns.
//= 0.87: limit("copy") / (6144 * 3201e6 * 2 / 8 / 1e9)
//
// The simplest copy kernel has one thread per element.
//
//? simple_copy: Which part of the rate of `cudaMemcpy` does `copy` reach?
//? answer: ratio("copy")
//? unit: of the rate
//? near: 20 %

/// out[i] = in[i].
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void copy(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

/// The launch of a kernel for n floats: so many threads, in blocks of BLOCK.
template <class Kernel, class... Rest>
auto each(std::size_t threads, Kernel kernel, std::size_t n, Rest... rest) {
  return lab::launcher(kernel, lab::tiles(threads, BLOCK), BLOCK, n, rest...);
}

// A warp of `copy` reads 32 consecutive floats: one request, 128 bytes, 4 {term}`sectors <sector>` of 32 bytes. Its
// accesses are {term}`coalesced`: the hardware fetches exactly the bytes that are asked for.
//
// Yet it reaches less than two thirds of the rate. By {term}`Little's law <Little’s law>`, a memory with latency L and
// bandwidth B needs L x B bytes in flight. A load takes 0.33 us when the memory is idle (chapter 02), and longer under
// load. If it takes twice that, 2.1 TB/s of reads need 1.4 MB in flight, or 11 KB for each of 132 SMs. An SM holds 2048 threads,
// and each thread here asks for 4 bytes once: 8 KB at best, less while blocks end and others begin.
//= 0.33 us: ms("02:memory_latency/global memory") / 1000
//= 2.1 TB/s of reads need 1.4 MB in flight, or 11 KB for each of 132: (2.1, 2 * ms("02:memory_latency/global memory") *
//=   2.1e3 / 1e6, 2 * ms("02:memory_latency/global memory") * 2.1 / 132, 132)
//= 8 KB: 2048 * 4 / 1e3
//
// So a thread should ask for more. `four_each` copies four elements, one after the other.

/// out[i] = in[i], four elements a thread: each is stored before the next is loaded.
///
/// Launch: blocks of BLOCK threads, one for each 4 * BLOCK elements.
__global__ void four_each(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * 4 * BLOCK + threadIdx.x;
  if (i + 3 * BLOCK < n) {
    out[i] = in[i], out[i + BLOCK] = in[i + BLOCK];
    out[i + 2 * BLOCK] = in[i + 2 * BLOCK], out[i + 3 * BLOCK] = in[i + 3 * BLOCK];
  } else {
#pragma unroll 1
    for (std::size_t k = i; k < n; k += BLOCK) out[k] = in[k];
  }
}

// To the compiler it looks as if a store could change what the next load returns, because `out` and `in` may overlap.
// So it keeps the order of the source, and a thread has one load in flight, as in `copy`. The machine code shows it: `LDG`
// loads from global memory into a register, `STG` stores one, and an instruction that needs a register waits until it is
// there. (Chapter 10 reads such listings in full.)
//
// ```{sass} four_each only=LDG,STG from=R7 lines=8
// 02f0       LDG.E              R7, desc[UR4][R2.64]
// 0320       STG.E              desc[UR4][R4.64], R7
// 0330       LDG.E              R9, desc[UR4][R2.64+0x400]
// 0340       STG.E              desc[UR4][R4.64+0x400], R9
// 0350       LDG.E              R11, desc[UR4][R2.64+0x800]
// 0360       STG.E              desc[UR4][R4.64+0x800], R11
// 0370       LDG.E              R13, desc[UR4][R2.64+0xc00]
// 0380       STG.E              desc[UR4][R4.64+0xc00], R13
// ```
//
// It takes 0.66 ms, `copy` 0.80 ms. There are a quarter as many blocks, so perhaps less time passes while one block ends
// and the next begins; that was not measured by itself. `const float* __restrict__` promises that what is read through this pointer is not written while the
// kernel runs, through whatever pointer. Then loads may move up.
//= 0.66 ms, `copy` 0.80 ms: (ms("four_each/restrict=no"), ms("copy"))
//
//? promise: How many times as fast does the promise make it?
//? answer: ms("four_each/restrict=no") / ms("four_each/restrict=yes")
//? unit: times
//? near: 15 %

/// The same, word for word but for the promise.
///
/// Launch: as `four_each`.
/// Requires: in and out do not overlap.
__global__ void four_restricted(float* __restrict__ out, const float* __restrict__ in,
                                std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * 4 * BLOCK + threadIdx.x;
  if (i + 3 * BLOCK < n) {
    out[i] = in[i], out[i + BLOCK] = in[i + BLOCK];
    out[i + 2 * BLOCK] = in[i + 2 * BLOCK], out[i + 3 * BLOCK] = in[i + 3 * BLOCK];
  } else {
#pragma unroll 1
    for (std::size_t k = i; k < n; k += BLOCK) out[k] = in[k];
  }
}

// ```{sass} four_restricted only=LDG,STG from=R7 lines=8
// 02f0       LDG.E.CONSTANT     R7, desc[UR4][R2.64]
// 0300       LDG.E.CONSTANT     R9, desc[UR4][R2.64+0x400]
// 0310       LDG.E.CONSTANT     R11, desc[UR4][R2.64+0x800]
// 0320       LDG.E.CONSTANT     R13, desc[UR4][R2.64+0xc00]
// 0350       STG.E              desc[UR4][R4.64], R7
// 0360       STG.E              desc[UR4][R4.64+0x400], R9
// 0370       STG.E              desc[UR4][R4.64+0x800], R11
// 0380       STG.E              desc[UR4][R4.64+0xc00], R13
// ```
//
// Now four loads stand in front of the first store, and the kernel is 1.32 times as fast. It reaches 1.01 of the rate
// of `cudaMemcpy`, with accesses of 4 bytes: what counts are the bytes in flight, not the width of the instruction.
//= four: sass("four_restricted", "LDG") - 1
//= 1.32 times: ms("four_each/restrict=no") / ms("four_each/restrict=yes")
//= 1.01: ratio("four_each/restrict=yes")
//
// | copy | loads of a thread in flight | blocks | part of the rate of `cudaMemcpy` |
// |---|--:|--:|--:|
// | `copy` | 1 | 1 | 0.63 |
// | `four_each` | 1 | 1/4 | 0.76 |
// | the same, `__restrict__` | 4 | 1/4 | 1.01 |
//= 0.63 |: ratio("copy")
//= 0.76 |: ratio("four_each/restrict=no")
//= 1.01 |: ratio("four_each/restrict=yes")
//
// (`LDG.E.CONSTANT` is a load of data that nobody writes. Up to Kepler it went through a cache of its own, the texture
// path; since Maxwell that is the same L1, and data that is read once gains nothing from it. A promise that is false
// gives wrong results without any message.)
//
// So two things decide a memory-bound kernel: **how many sectors** it moves for each useful byte, and **how many bytes
// are in flight**. The rest of the chapter is about getting both right for a transpose.
//
// ## 2. One side has to walk columns
//
// A transpose moves as many bytes as the copy. A block of 32 x 8 threads moves a tile of 32 x 32 floats. A warp has the 32
// values of `threadIdx.x` and one of `threadIdx.y`, and each thread moves four floats, which are 8 rows or columns apart.
//
//? naive_stores: How many sectors does a store request of `naive_rows` touch?
//? answer: count("naive_rows", "global_store_sectors") / count("naive_rows", "global_store_requests")
//? unit: sectors per request
//? near: exact
//
//? which_naive: One kernel reads rows and writes columns, another reads columns and writes rows. Which is faster?
//? choices: naive_rows | naive_columns
//? answer: {"naive_rows": ms("naive_rows") < ms("naive_columns"),
//?   "naive_columns": ms("naive_columns") < ms("naive_rows")}

/// out(col, row) = in(row, col); in is (rows, cols), out is (cols, rows), both row-major. Reads along rows.
///
/// Launch: blocks (TILE, ROWS), one for each TILE x TILE tile of in, x along the columns.
/// Requires: rows <= 65,535 TILE, the limit of gridDim.y.
__global__ void naive_rows(float* out, const float* in, unsigned rows, unsigned cols) {
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    const unsigned row = blockIdx.y * TILE + i;
    if (row < rows && col < cols)
      out[std::size_t{col} * rows + row] = in[std::size_t{row} * cols + col];
  }
}

/// The launch of a kernel that has a block for each tile, for in (rows, cols).
auto by_tiles(void (*kernel)(float*, const float*, unsigned, unsigned), unsigned rows,
              unsigned cols) {
  return lab::launcher(kernel, lab::tiles(cols, rows, TILE), dim3(TILE, ROWS), rows, cols);
}

/// The same; threadIdx.x runs down the columns of in, which are the rows of out: writes along rows.
///
/// Launch, Requires: as `naive_rows`.
__global__ void naive_columns(float* out, const float* in, unsigned rows, unsigned cols) {
  const unsigned row = blockIdx.y * TILE + threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    const unsigned col = blockIdx.x * TILE + i;
    if (row < rows && col < cols)
      out[std::size_t{col} * rows + row] = in[std::size_t{row} * cols + col];
  }
}

// Write the two indices out. `naive_rows` reads element `row * cols + col`, in which `col` holds the lane: a factor of
// 1. It writes `col * rows + row`, where the lane's factor is `rows`: 32 lanes, 32 sectors.
//
// **Counted.** `naive_rows` loads 4 sectors per request and stores to 32; `naive_columns` is its mirror image.
//= 4 sectors: count("naive_rows", "global_load_sectors") / count("naive_rows", "global_load_requests")
//= 32: count("naive_rows", "global_store_sectors") / count("naive_rows", "global_store_requests")
//
// **Timed.** Their times are not mirror images: writing columns takes four times as long as reading them. The caches treat
// the two differently. A load of 4 bytes fetches its whole sector into L1, where the other warps of the block find the rest,
// which are the next columns of the tile. A store of 4 bytes goes straight to L2, which now holds a sector that is written in
// part. The other seven floats of it come from other rows of the tile, one by one, each as a request of its own. That this is
// all of the factor was not measured.
//= four times: ms("naive_rows") / ms("naive_columns")
//
// **The pitch** is the distance from a row to the next, a leading dimension. 16,384 floats are a bad one for reading columns.
// `longer_pitch` is `naive_columns` on the same matrix, whose rows have up to 32 unused floats at their ends.
//
//? pitch_gain: How many times as fast is it with rows that are 32 floats, one line of a cache, longer?
//? answer: ms("longer_pitch/pad=0") / ms("longer_pitch/pad=32")
//? unit: times
//? near: 20 %

/// out(col, row) = in(row, col); in is (rows, cols) with `pitch` floats from a row to the next, out is (cols, rows),
/// without gaps. Writes along rows.
///
/// Launch, Requires: as `naive_rows`; pitch >= cols.
__global__ void longer_pitch(float* out, const float* in, unsigned rows, unsigned cols,
                             unsigned pitch) {
  const unsigned row = blockIdx.y * TILE + threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    const unsigned col = blockIdx.x * TILE + i;
    if (row < rows && col < cols)
      out[std::size_t{col} * rows + row] = in[std::size_t{row} * pitch + col];
  }
}

// | floats from a row to the next | 16,384 | 16,385 | 16,392 | 16,416 |
// |---|--:|--:|--:|--:|
// | part of the rate of `copy` | 0.71 | 1.00 | 0.90 | 0.71 |
// | sectors found in L1, % | 78 | 75 | 78 | 78 |
//= | part of the rate of `copy` | 0.71 | 1.00 | 0.90 | 0.71 |: (ms("copy") / ms("longer_pitch/pad=0"),
//=   ms("copy") / ms("longer_pitch/pad=1"), ms("copy") / ms("longer_pitch/pad=8"), ms("copy") / ms("longer_pitch/pad=32"))
//= | sectors found in L1, % | 78 | 75 | 78 | 78 |: (ncu("longer_pitch/pad=0", "l1tex__t_sector_hit_rate.pct"),
//=   ncu("longer_pitch/pad=1", "l1tex__t_sector_hit_rate.pct"), ncu("longer_pitch/pad=8", "l1tex__t_sector_hit_rate.pct"),
//=   ncu("longer_pitch/pad=32", "l1tex__t_sector_hit_rate.pct"))
//
// One float more makes it 1.4 times as fast; a whole line more does nothing.
//= 1.4 times: ms("longer_pitch/pad=0") / ms("longer_pitch/pad=1")
//
// The usual explanation is a cache's *sets*: a few bits of an address choose the few lines among which a line has its
// place, and addresses a large power of two apart compete for the same ones. Then L1 would find less with the first
// pitch, and 32 floats, one line of 128 bytes, would cure it, since each row would begin in the next line. Neither is so:
// L1 finds at least three quarters with all four, and DRAM reads 1.07 GB with the first and the third. The counters refute
// the explanation and offer no other. So time it.
//= 1.07 GB: ncu("longer_pitch/pad=0", "dram__bytes_read.sum") / 1e9
//= 1.07 GB: ncu("longer_pitch/pad=8", "dram__bytes_read.sum") / 1e9
//
// Writing columns gains nothing from an odd pitch. With 10,007 rows, the pitch of `out`, `naive_rows` takes 2.76 ms; with
// as many columns instead 2.77 ms.
//= 2.76 ms: ms("naive_rows", "10007,16384")
//= 2.77 ms: ms("naive_rows", "16384,10007")
//
// **So:** if one side has to walk columns, let it be the reads. Better, both sides walk rows, and the transposition
// happens somewhere else.
//
// ## 3. Transpose a tile in shared memory
//
// A block loads a tile row by row into shared memory and reads it from there column by column. Shared memory has no
// sectors, but it has {term}`banks <bank>`: word i lies in bank i % 32, and lanes that want different words of one bank
// cost a {term}`wavefront` each.
//
// ```{drawing} tile
// ```
//
//? conflicts: With rows of 32 words (pad=0), how many wavefronts does a load request from shared memory take?
//? answer: count("tiled/pad=0", "shared_load_wavefronts") / (count("tiled/pad=0", "global_store_requests"))
//? unit: wavefronts per request
//? near: exact
//
//? pad_gain: How many times as fast does padding every row by one word make it?
//? answer: ms("tiled/pad=0") / ms("tiled/pad=1")
//? unit: times
//? near: 30 %

/// out(col, row) = in(row, col); a tile in shared memory turns rows into columns.
///
/// Launch: blocks (TILE, ROWS), one for each TILE x TILE tile of in, x along the columns.
/// Requires: rows <= 65,535 TILE.
/// Source: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA, 2013.
template <unsigned PAD>
__global__ void tiled(float* out, const float* in, unsigned rows, unsigned cols) {
  __shared__ float tile[TILE][TILE + PAD];  // (row, col) of in
  const unsigned row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, x = threadIdx.x;

  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (row0 + i < rows && col0 + x < cols)
      tile[i][x] = in[std::size_t{row0 + i} * cols + col0 + x];
  }
  __syncthreads();  // the tile is full

  // x still walks a row, now one of out; the guard goes with it.
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (col0 + i < cols && row0 + x < rows)
      out[std::size_t{col0 + i} * rows + row0 + x] = tile[x][i];
  }
}

// **Counted.** 4 sectors per request on both sides. Without padding, a column of the tile lies in one bank: 32
// wavefronts for each read. With rows of 33 words it is 1.
//= 4 sectors: count("tiled/pad=1", "global_store_sectors") / count("tiled/pad=1", "global_store_requests")
//= 32 wavefronts: count("tiled/pad=0", "shared_load_wavefronts") / count("tiled/pad=0", "global_store_requests")
//= 1: count("tiled/pad=1", "shared_load_wavefronts") / count("tiled/pad=1", "global_store_requests")
//
// **Timed.** 1.24 ms without padding, slower than `naive_columns`, and 0.64 ms with it: 6.9 times as fast as `naive_rows`, and
// 1.8 times as fast as `naive_columns`.
//= 1.24 ms: ms("tiled/pad=0")
//= because slower than `naive_columns`: ms("tiled/pad=0") > ms("naive_columns")
//= 0.64 ms: ms("tiled/pad=1")
//= 6.9 times as fast as `naive_rows`, and 1.8 times: (ms("naive_rows") / ms("tiled/pad=1"),
//=   ms("naive_columns") / ms("tiled/pad=1"))
//
// ```{drawing} padding
// ```
//
// **The guard.** In the second loop, row and column have changed places: `i` counts columns of `in`, `x` its rows. If
// the second guard still compares `x` with the columns and `i` with the rows, the kernel is correct for square matrices
// only. Test with rectangles: `./learn run 06 --size 33,70`.
//
// **The barrier.** A warp reads a column that all eight warps wrote. Without the barrier the result is right on some
// runs and wrong on others, so testing will not find it; the simulator does.

/// `tiled` without its barrier.
///
/// Launch, Requires: as `tiled`.
__global__ void no_barrier(float* out, const float* in, unsigned rows, unsigned cols) {
  __shared__ float tile[TILE][TILE + 1];
  const unsigned row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, x = threadIdx.x;
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (row0 + i < rows && col0 + x < cols)
      tile[i][x] = in[std::size_t{row0 + i} * cols + col0 + x];
  }
  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (col0 + i < cols && row0 + x < rows)
      out[std::size_t{col0 + i} * rows + row0 + x] = tile[x][i];
  }
}

// ## 4. Swizzle instead of padding
//
// Padding costs memory, and it spoils alignment: rows of 33 words cannot be read as `float4`, and the TMA cannot write
// them. A {term}`swizzle` permutes the words within a row instead. Element (row, col) goes to word `col ^ row` of its
// row. For a fixed row that is a permutation of the 32 banks, and for a fixed column, too.
//
// ```{drawing} swizzle
// ```

/// As `tiled`, with tiles of TILE x TILE words and no more.
///
/// Launch, Requires: as `tiled`.
__global__ void swizzled(float* out, const float* in, unsigned rows, unsigned cols) {
  __shared__ float tile[TILE][TILE];  // (row, col ^ row) of in
  const unsigned row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, x = threadIdx.x;

  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (row0 + i < rows && col0 + x < cols) {
      tile[i][x ^ i] = in[std::size_t{row0 + i} * cols + col0 + x];
    }
  }
  __syncthreads();  // the tile is full

  for (unsigned i = threadIdx.y; i < TILE; i += ROWS) {
    if (col0 + i < cols && row0 + x < rows) {
      out[std::size_t{col0 + i} * rows + row0 + x] = tile[x][i ^ x];
    }
  }
}

// **Counted and timed.** No conflicts, as with padding. It takes 3 % longer, and with 10,007 rows as long as `tiled`.
// The padded index folds into the address of a load from shared memory; the swizzled one has to be computed, and nvcc
// makes 380 instructions of the kernel instead of 318. Whether these are the 3 % was not measured. Use the swizzle where
// padding is not possible.
//= 3 % longer: (ms("swizzled") / ms("tiled/pad=1") - 1) * 100
//= 380 instructions: sass("swizzled", "instructions")
//= 318.: sass("tiled<1u>", "instructions")
//
// All counters are now ideal: 4 sectors per request, no conflict, every byte moved once. The kernel still reaches only
// four fifths of the peer's rate. What is missing is bytes in flight (section 1), or something that no counter of an SM
// shows.
//= four fifths: ratio("tiled/pad=1")
//
// ## 5. Bytes in flight
//
// A thread of `tiled` loads four floats, 16 bytes, before its barrier: shared and global memory never overlap, so the compiler
// may move all four loads above the stores. That is more than in `copy`. But once it has
// passed the barrier, a block only stores, and has no load in flight until it ends. Three changes follow, one at a
// time.
//
// ### A larger tile
//
// The same 256 threads take a tile of 64 x 64: 16 floats each, all loaded before the first is stored.
//
//? larger: Which part of the peer's rate does `large_tile` reach? (`tiled` has four fifths.)
//? answer: ratio("large_tile")
//? unit: of the rate
//? near: 8 %

/// As `tiled`, with a tile of LARGE x LARGE, of which each thread loads 16 elements before it stores one.
///
/// Launch: blocks (LARGE, 4), one for each LARGE x LARGE tile of in, x along the columns.
/// Requires: rows <= 65,535 LARGE.
__global__ void large_tile(float* out, const float* in, unsigned rows, unsigned cols) {
  __shared__ float tile[LARGE][LARGE + 1];  // (row, col) of in
  const unsigned row0 = blockIdx.y * LARGE, col0 = blockIdx.x * LARGE, x = threadIdx.x;

  float loaded[LARGE / 4] = {};  // of rows 4 apart, 0 past the edges
#pragma unroll
  for (unsigned j = 0; j < LARGE / 4; ++j) {
    const unsigned row = row0 + threadIdx.y + 4 * j;
    if (row < rows && col0 + x < cols) loaded[j] = in[std::size_t{row} * cols + col0 + x];
  }
#pragma unroll
  for (unsigned j = 0; j < LARGE / 4; ++j) tile[threadIdx.y + 4 * j][x] = loaded[j];
  __syncthreads();  // the tile is full

#pragma unroll
  for (unsigned j = 0; j < LARGE / 4; ++j) {
    const unsigned col = col0 + threadIdx.y + 4 * j;
    if (col < cols && row0 + x < rows)
      out[std::size_t{col} * rows + row0 + x] = tile[x][threadIdx.y + 4 * j];
  }
}

// **Counted.** As `tiled`: 4 sectors a request and 0 bank conflicts.
//= 4 sectors: count("large_tile", "global_store_sectors") / count("large_tile", "global_store_requests")
//= 0 bank conflicts: count("large_tile", "shared_load_bank_conflicts")
//
// **Timed.** 0.93 of the peer's rate.
//= 0.93: ratio("large_tile")
//
// ### Wider accesses
//
// `vectors` has the same tile and as many bytes in flight, in accesses of 128 bits. A thread loads four `float4`, from
// four rows one below the other: 4 x 4 floats, 64 bytes. It transposes them in registers: the first components of the
// four vectors are a column, which is a `float4` of the output, so the compiler only has to pick other registers. Shared
// memory is written and read with 128-bit accesses, too.
//
// ```{drawing} registers
// ```
//
// A swizzle of whole `float4`s avoids bank conflicts: float4 q of column c, its rows 4q to 4q + 3, goes to place
// q ^ ((c ^ c / 4) % 16). A 128-bit access takes one wavefront for each quarter of a warp,
// if the 8 lanes of the quarter fall into 8 different groups of 4 banks. Lanes that store hold columns that are 4
// apart, or consecutive ones, and in both cases the low three bits of `c ^ (c / 4)` differ. (For the columns 0, 4, 8, ..., 28
// they are 0, 5, 2, 7, 4, 1, 6, 3.) Lanes that read have one column, and 8 consecutive values of `q`.
//
// The loads of `vectors` can carry a hint for L2. Both matrices pass through this cache; once it is full, each sector
// that comes in evicts another one. A load can mark its sectors to be evicted before all others (`evict_first`) or
// after them (`evict_last`). Stores leave sectors in L2, too, which have to be written back.
//
//? order: Should consecutive blocks take tiles that are neighbours in a row of `in`, or in a row of `out`?
//? choices: along the rows of in | along the rows of out | it does not matter
//? answer: {"along the rows of in": ms("vectors/along=in") / ms("vectors/along=out") < 0.99,
//?   "along the rows of out": ms("vectors/along=in") / ms("vectors/along=out") > 1.01,
//?   "it does not matter": 0.99 < ms("vectors/along=in") / ms("vectors/along=out") < 1.01}
//
//? hint: Each element of `in` is read once. With which hint on its loads is `vectors`, along the rows of out, fastest?
//? choices: evict=first | none | evict=last
//? answer: {"evict=first": ms("vectors/along=out, evict=first") < min(ms("vectors/along=out"),
//?   ms("vectors/along=out, evict=last")),
//?   "none": ms("vectors/along=out") < min(ms("vectors/along=out, evict=first"),
//?   ms("vectors/along=out, evict=last")),
//?   "evict=last": ms("vectors/along=out, evict=last") < min(ms("vectors/along=out, evict=first"),
//?   ms("vectors/along=out"))}

/// The place, of 16, that float4 q of row c of the tile takes in `vectors`.
__device__ unsigned place(unsigned c, unsigned q) { return q ^ ((c ^ (c / 4)) % 16); }

/// When L2 evicts the sectors that a load brings.
enum class Evict { normally, first, last };

/// Loads 16 bytes; or 4, and asks L2 to fetch the aligned 256 bytes that contain them (section 6 says why).
///
/// CUDA C++ has no function for the hints: `lab/hints.h` has them in PTX (chapter 10).
template <Evict EVICT, class T>
__device__ T load(const T* from) {
  if constexpr (EVICT == Evict::first) {
    return lab::load_evict_first(from);
  } else if constexpr (EVICT == Evict::last) {
    return lab::load_evict_last(from);
  } else if constexpr (sizeof(T) == 16) {
    return *from;
  } else {
    return lab::load_and_fetch_256(from);
  }
}

constexpr unsigned VECTOR_THREADS = 256;  ///< of a block of `vectors`

/// out(col, row) = in(row, col), 16 bytes at a time where the rows allow it.
///
/// @tparam WIDE_IN    rows of in are multiples of 4 floats: loads of 128 bits, else of 32
/// @tparam WIDE_OUT   rows of out are multiples of 4 floats: stores of 128 bits, else of 32
/// @tparam ALONG_OUT  consecutive blocks are neighbours in a row of out, else in a row of in
/// @tparam EVICT      the hint on the loads
///
/// Launch: blocks of 256 threads, one for each tile of 64 x 64, in one dimension.
/// Requires: in and out are aligned to 16 bytes.
template <bool WIDE_IN, bool WIDE_OUT, bool ALONG_OUT, Evict EVICT>
__global__ void __launch_bounds__(VECTOR_THREADS, 4)
    vectors(float* out, const float* in, unsigned rows, unsigned cols) {
  constexpr unsigned TR = LARGE, TC = LARGE, THREADS = VECTOR_THREADS;
  __shared__ float4 tile[TC][TR / 4];  // (col, float4 of rows) of in
  const unsigned across = (cols + TC - 1) / TC, down = (rows + TR - 1) / TR, t = threadIdx.x;
  const unsigned row0 = (ALONG_OUT ? blockIdx.x % down : blockIdx.x / across) * TR;
  const unsigned col0 = (ALONG_OUT ? blockIdx.x / down : blockIdx.x % across) * TC;

  // A piece has 4 rows of 4 columns, or of one where loads are narrow.
  constexpr unsigned WIDTH = WIDE_IN ? 4 : 1, PIECES = TR * TC / (4 * WIDTH * THREADS);
  static_assert(PIECES > 0);
  float piece[PIECES][4][WIDTH] = {};  // (row, col), 0 past the edges
#pragma unroll
  for (unsigned n = 0; n < PIECES; ++n) {
    const unsigned id = t + n * THREADS, c = id % (TC / WIDTH) * WIDTH, q = id / (TC / WIDTH);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned row = row0 + 4 * q + j, col = col0 + c;
      if (row >= rows || col >= cols) continue;
      const float* const from = in + std::size_t{row} * cols + col;
      if constexpr (WIDE_IN) {
        const float4 four = load<EVICT>(reinterpret_cast<const float4*>(from));
        piece[n][j][0] = four.x, piece[n][j][1] = four.y, piece[n][j][2] = four.z,
        piece[n][j][3] = four.w;
      } else {
        piece[n][j][0] = load<EVICT>(from);
      }
    }
  }

  // A column of the piece is a float4 of the output.
#pragma unroll
  for (unsigned n = 0; n < PIECES; ++n) {
    const unsigned id = t + n * THREADS, c = id % (TC / WIDTH) * WIDTH, q = id / (TC / WIDTH);
#pragma unroll
    for (unsigned k = 0; k < WIDTH; ++k) {
      tile[c + k][place(c + k, q)] =
          make_float4(piece[n][0][k], piece[n][1][k], piece[n][2][k], piece[n][3][k]);
    }
  }
  __syncthreads();  // the tile is full

  if constexpr (WIDE_OUT) {
#pragma unroll
    for (unsigned id = t; id < TC * TR / 4; id += THREADS) {
      const unsigned q = id % (TR / 4), c = id / (TR / 4), row = row0 + 4 * q, col = col0 + c;
      if (row < rows && col < cols) {
        *reinterpret_cast<float4*>(out + std::size_t{col} * rows + row) = tile[c][place(c, q)];
      }
    }
  } else {
    const auto words = reinterpret_cast<const float*>(tile);
#pragma unroll
    for (unsigned id = t; id < TC * TR; id += THREADS) {
      const unsigned r = id % TR, c = id / TR, row = row0 + r, col = col0 + c;
      if (row < rows && col < cols) {
        out[std::size_t{col} * rows + row] = words[c * TR + 4 * place(c, r / 4) + r % 4];
      }
    }
  }
}

/// The launch of `vectors` for any in (rows, cols): 128-bit accesses on the sides where rows are multiples of 4 floats.
template <bool ALONG_OUT, Evict EVICT = Evict::normally>
auto by_vectors(unsigned rows, unsigned cols) {
  const bool wide_in = cols % 4 == 0, wide_out = rows % 4 == 0;
  const auto kernel = wide_in ? (wide_out ? vectors<true, true, ALONG_OUT, EVICT>
                                          : vectors<true, false, ALONG_OUT, EVICT>)
                              : (wide_out ? vectors<false, true, ALONG_OUT, EVICT>
                                          : vectors<false, false, ALONG_OUT, EVICT>);
  const std::size_t tiles = lab::ceil_div(rows, LARGE) * std::size_t{lab::ceil_div(cols, LARGE)};
  return lab::launcher(kernel, static_cast<unsigned>(tiles), VECTOR_THREADS, rows, cols);
}

// **Counted.** No bank conflicts, and 16 sectors for a request whose 32 lanes are all active. The tiles at the edges of
// 96 x 160 have fewer, so the averages in the table are lower.
//= 16 sectors for a request whose 32: (32 * count("vectors/along=out", "global_load_sectors") /
//=   count("vectors/along=out", "global_load_active_lanes"), 32)
//
// **Timed.** Along the rows of `in`, as the blocks of `tiled` and `large_tile` go, the kernel reaches 0.95 of the peer's
// rate, 2 % more than with accesses of 32 bits. The width is worth little here; the larger tile was worth 18 %. More bytes
// in flight are one thing that it changes; a quarter of the blocks and rows of 256 bytes are others.
//= 0.95: ratio("vectors/along=in")
//= 2 % more: 100 * (ms("large_tile") / ms("vectors/along=in") - 1)
//= worth 18 %: 100 * (ms("tiled/pad=1") / ms("large_tile") - 1)
//
// ### The order of the tiles
//
// The order of the tiles brings more, although no counter of an SM can see it: in any order, each warp does the same.
// Some 740 blocks run at a time. If they advance along the rows of `out`, their stores together cover long runs of memory;
// if they advance along the rows of `in`, the loads do, and the stores are scattered. As in section 2, scattered stores cost
// more than scattered loads: 0.98 along the rows of `out`.
//= 740 blocks: round(132 * ncu("vectors/along=out", "sm__warps_active.avg.per_cycle_active") / 8, -1)
//= 0.98: ratio("vectors/along=out")
//
// ```{drawing} orders
// ```
//
// The obvious hint, evict-first for data that is read once, is the slowest, at 0.95 of the peer's rate. With
// `evict=last` the kernel reaches 0.99.
//= 0.95: ratio("vectors/along=out, evict=first")
//= 0.99: ratio("vectors/along=out, evict=last")
//
// All three variants move the same bytes. Nsight Compute counts 1.07 GB read from DRAM and 1.05 GB written for each;
// the rest is still in L2 when the kernel ends. Each has 45 warps on an SM, so only the order in which L2 works can
// differ. To make room, L2 can discard a clean sector, read from `in`, or write back a dirty one, of
// `out`. If clean sectors go first, dirty ones may linger and be written back one at a time, apart from their
// neighbours. If dirty ones go first, whole rows of a tile may be written back together, which suits the open rows of
// DRAM. No counter shows the order of the writes, so this explanation is not measured. And the gain is not general:
// where the rows of `out` are not aligned, the next section, the time with `evict=last` is 0.99 times that without.
//= 45 warps: (ncu("vectors/along=out, evict=first", "sm__warps_active.avg.per_cycle_active") + ncu("vectors/along=out,
//=   evict=last", "sm__warps_active.avg.per_cycle_active")) / 2
//= 45 warps: ncu("vectors/along=out", "sm__warps_active.avg.per_cycle_active")
//= 0.99 times: ms("vectors/along=out, evict=last", "10007,16384") / ms("vectors/along=out", "10007,16384")
//= 1.07 GB read from DRAM and 1.05: (max(ncu("vectors/along=out, evict=first", "dram__bytes_read.sum"),
//=   ncu("vectors/along=out", "dram__bytes_read.sum"), ncu("vectors/along=out, evict=last", "dram__bytes_read.sum")) / 1e9,
//=   max(ncu("vectors/along=out, evict=first", "dram__bytes_write.sum"), ncu("vectors/along=out",
//=   "dram__bytes_write.sum"), ncu("vectors/along=out, evict=last", "dram__bytes_write.sum")) / 1e9)
//
// **So:** coalescing does not end at the warp. Neighbouring blocks should write neighbouring memory. And measure a hint
// before you keep it.
//
// ## 6. Any pitch
//
// At 16384 x 16384 each row of `in` and of `out` starts at a sector. If `in` has 10,007 columns, its rows start
// anywhere, and `vectors` has to load floats one by one. That costs little: the sectors at the ends of a tile's rows
// are loaded by two blocks. These loads ask L2 to fetch 256 bytes at a time, so that the second block finds them
// there. If `in` has 10,007 *rows*, the rows of `out` start anywhere, and that is another matter.
//
//? pitch: `vectors` at 10007 x 16384: at which part of its rate for 16384 x 10007 does it run?
//? answer: rate("vectors/along=out", "10007,16384") / rate("vectors/along=out", "16384,10007")
//? unit: of the rate
//? near: 15 %
//
// The tile's rows of 64 floats, 256 bytes, now begin and end in the middle of a sector. The other part of that sector
// is stored by another block, at another time. If L2 has to write it back in between, or to fetch what is missing,
// memory moves the same sector several times. `vectors` drops to 0.80 of its rate.
//= 0.80 of: rate("vectors/along=out", "10007,16384") / rate("vectors/along=out", "16384,10007")
//
// The remedy: cut the tiles along sectors of `out`, not along rows of `in`. The rows that a block stores of column `c`
// begin at a multiple of 8 floats in memory, so each column begins at another row, up to 7 rows earlier. (Column 1 of `in`
// becomes row 1 of `out`, which starts at float 10,007, 7 past a sector's boundary: there the block starts 7 rows earlier.) The block
// loads 8 rows more than it stores, which neighbouring blocks load, too, and find in L2.
//
// ```{drawing} pitch
// ```

constexpr unsigned SECTOR = 8;                           ///< floats
constexpr unsigned SECTOR_ROWS = 128, SECTOR_COLS = 64;  ///< of a tile of `whole_sectors`
constexpr unsigned SECTOR_THREADS = 512;                 ///< of its blocks

/// out(col, row) = in(row, col); every store but those at the ends of a row of out fills whole sectors.
///
/// Launch: 512 threads, one block for each 128 x 64 tile of in, and 8 rows more: ceil((rows + 8) / 128) of them
/// down, then across, in one dimension.
/// Requires: out is aligned to 32 bytes; with another address the result is right and the sectors are cut.
__global__ void __launch_bounds__(SECTOR_THREADS, 3)
    whole_sectors(float* out, const float* in, unsigned rows, unsigned cols) {
  constexpr unsigned TR = SECTOR_ROWS, TC = SECTOR_COLS, THREADS = SECTOR_THREADS;
  constexpr unsigned LOADED = TR + SECTOR;
  __shared__ float tile[TC][LOADED + 1];  // (col, row) of in; an odd pitch: no conflicts either way
  const unsigned down = (rows + SECTOR + TR - 1) / TR, t = threadIdx.x;
  const unsigned col0 = blockIdx.x / down * TC;
  const int row0 = static_cast<int>(blockIdx.x % down * TR) - static_cast<int>(SECTOR);

  float loaded[LOADED * TC / THREADS] = {};  // 0 past the edges
#pragma unroll
  for (unsigned n = 0; n < LOADED * TC / THREADS; ++n) {
    const unsigned id = t + n * THREADS, c = id % TC;
    const int row = row0 + static_cast<int>(id / TC);
    if (row >= 0 && row < static_cast<int>(rows) && col0 + c < cols) {
      loaded[n] = in[static_cast<std::size_t>(row) * cols + col0 + c];
    }
  }
#pragma unroll
  for (unsigned n = 0; n < LOADED * TC / THREADS; ++n) {
    const unsigned id = t + n * THREADS;
    tile[id % TC][id / TC] = loaded[n];
  }
  __syncthreads();  // the tile is full

#pragma unroll
  for (unsigned n = 0; n < TR * TC / THREADS; ++n) {
    const unsigned id = t + n * THREADS, c = id / TR;
    const std::size_t start = std::size_t{col0 + c} * rows;  // of this row of out
    const unsigned r = SECTOR - static_cast<unsigned>(start % SECTOR) + id % TR;
    const int row = row0 + static_cast<int>(r);
    if (row >= 0 && row < static_cast<int>(rows) && col0 + c < cols) {
      out[start + static_cast<std::size_t>(row)] = tile[c][r];
    }
  }
}

/// The launch of `whole_sectors` for in (rows, cols).
auto by_sectors(unsigned rows, unsigned cols) {
  const unsigned down = lab::ceil_div(rows + SECTOR, SECTOR_ROWS);
  const unsigned across = lab::ceil_div(cols, SECTOR_COLS);
  return lab::launcher(whole_sectors, down * across, SECTOR_THREADS, rows, cols);
}

// **Timed.** At 10007 x 16384 it is 1.25 times as fast as `vectors`: 0.95 of the peer's rate. At 16384 x 10007, where the
// rows of `out` are aligned anyway, it takes 6 % longer than `vectors`, which reaches 0.95, and 0.97 with `evict=last`. A library
// would choose by the number of rows.
//= 1.25 times: ms("vectors/along=out", "10007,16384") / ms("whole_sectors", "10007,16384")
//= 0.95: ratio("whole_sectors", "10007,16384")
//= 6 %: (ms("whole_sectors", "16384,10007") / ms("vectors/along=out", "16384,10007") - 1) * 100
//= 0.95, and 0.97: (ratio("vectors/along=out", "16384,10007"), ratio("vectors/along=out, evict=last", "16384,10007"))
//
// ## 7. Offsets and strides
//
// Sectors and bytes in flight decide for other data layouts, too. First, arrays that are read at an offset or a stride.
//
// Memory moves in sectors, and a sector is an aligned piece of 32 bytes. What if the data does not start at one?
//
//? offset: With an offset of 1 float, how many sectors does a load request of `copy_offset` touch?
//? answer: count("copy_offset/offset=1", "global_load_sectors") / count("copy_offset/offset=1",
//?   "global_load_requests")
//? unit: sectors per request
//? near: exact

/// out[i] = in[i + offset], which wraps around at the end of the array.
///
/// Launch: one thread per element, in blocks of one dimension.
/// Requires: offset < n.
__global__ void copy_offset(float* out, const float* in, std::size_t n, std::size_t offset) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset < n ? i + offset : i + offset - n];
}

/// What `copy_offset` has to leave at place i.
struct Offset {
  lab::View<float> in;
  std::size_t offset;
  __host__ __device__ float operator()(std::size_t i) const { return in[(i + offset) % in.size()]; }
};

// The 128 bytes of a warp now span 5 sectors. An offset of 8 floats is one of 32 bytes: 4 sectors again. The run time
// is the same, 0.84 ms with both. The next warp needs the fifth sector, too. If it finds it in L1 or L2, the traffic to
// the memory stays what it was.
//= same, 0.84 ms: ms("copy_offset/offset=1")
//= 0.84 ms with both: ms("copy_offset/offset=8")
//= 5 sectors: count("copy_offset/offset=1", "global_load_sectors") / count("copy_offset/offset=1",
//=   "global_load_requests")
//= 4 sectors: count("copy_offset/offset=8", "global_load_sectors") / count("copy_offset/offset=8",
//=   "global_load_requests")
//
// A stride is worse, because it leaves holes in the sectors. `copy_strided` walks the array in several passes: with a
// stride of 2, it first copies the even elements, then the odd ones.
//
//? stride: With a stride of 8 floats, how many sectors does a load request touch?
//? answer: count("copy_strided/stride=8", "global_load_sectors") / count("copy_strided/stride=8",
//?   "global_load_requests")
//? unit: sectors per request
//? near: exact

/// A copy whose neighbouring lanes read elements that are `stride` apart: it takes the elements 0, stride, 2 stride,
/// ..., then 1, stride + 1, ..., and so on. The n % stride elements at the end keep their places.
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void copy_strided(float* out, const float* in, std::size_t n, std::size_t stride) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t per_pass = n / stride;
  if (i < n) out[i] = in[i < per_pass * stride ? i % per_pass * stride + i / per_pass : i];
}

/// What `copy_strided` has to leave at place i.
struct Strided {
  lab::View<float> in;
  std::size_t stride;
  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t per_pass = in.size() / stride;
    return in[i < per_pass * stride ? i % per_pass * stride + i / per_pass : i];
  }
};

// From a stride of 8 floats on, every lane has a sector to itself: 32 sectors, of which 4 bytes each are used. The
// other 28 bytes are needed by later passes, and a pass here is far longer than any cache. So all of `in` is read eight
// times, and with the writes that makes nine GiB, 2.3 ms at the rate of `cudaMemcpy`; the kernel takes that long.
//= 32 sectors: count("copy_strided/stride=8", "global_load_sectors") / count("copy_strided/stride=8",
//=   "global_load_requests")
//= because all of `in` is read eight times: count("copy_strided/stride=8", "global_load_sectors") ==
//=   8 * count("copy", "global_load_sectors")
//= nine: 8 + 1
//= 2.3 ms: 9 * 2**30 / limit("copy") / 1e6
//
// ```{drawing} strides
// ```
//
//? stride32: How many times as long does a stride of 32 take as one of 8?
//? answer: ms("copy_strided/stride=32") / ms("copy_strided/stride=8")
//? unit: times
//? near: 30 %
//
// The requests have 32 sectors as before, and yet the time doubles. This memory moves 64 bytes at a time, two sectors
// (chapter 02). With a stride of 8 floats the neighbouring lane uses the second one; with a stride of 32, no lane does.
// In bytes that makes 1.89 times as much, read and written; the time grows 2.18 times. What the rest is was not
// measured.
//= doubles: ms("copy_strided/stride=32") / ms("copy_strided/stride=8")
//= 1.89 times: (2 * 8 + 1) / (8 + 1)
//= 2.18 times: ms("copy_strided/stride=32") / ms("copy_strided/stride=8")
//
// In all, a stride of 2 takes 1.4 times as long as `copy`, one of 8 takes 2.7 times and one of 32 takes 5.9 times as
// long.
//= 1.4 times: ms("copy_strided/stride=2") / ms("copy")
//= 2.7 times and one of 32 takes 5.9 times: (ms("copy_strided/stride=8") / ms("copy"), 32, ms("copy_strided/stride=32") /
//=   ms("copy"))
//
// Look at what the kernel computes: with a stride of s, the array is a matrix of n / s rows and s columns, and the
// kernel reads it column by column. A strided copy *is* a transpose.
//
// ## 8. Structs (second reading)
//
// Strides are rarely written as such. They come from data layouts: an array of structs, of which every thread takes
// one. A point has three coordinates, and to have something to do that needs no arithmetic, we rotate them: (x, y, z)
// becomes (y, z, x).
//
//? aos: How many sectors does a load request touch, if each thread loads x, y and z of its own 12-byte struct?
//? answer: count("points_aos", "global_load_sectors") / count("points_aos", "global_load_requests")
//? unit: sectors per request
//? near: 5 %

/// Copies the `n - from` elements that are left over, fewer than a block has threads.
__device__ void copy_rest(float* out, const float* in, std::size_t n, std::size_t from) {
  if (blockIdx.x == 0 && from + threadIdx.x < n) out[from + threadIdx.x] = in[from + threadIdx.x];
}

/// (x, y, z) becomes (y, z, x), in an array of n / 3 structs of three floats; what is left over is copied.
///
/// Launch: one thread per struct, in blocks of one dimension.
__global__ void points_aos(float* out, const float* in, std::size_t n) {
  const std::size_t points = n / 3, p = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (p < points) {
    const float x = in[3 * p], y = in[3 * p + 1], z = in[3 * p + 2];
    out[3 * p] = y, out[3 * p + 1] = z, out[3 * p + 2] = x;
  }
  copy_rest(out, in, n, 3 * points);
}

/// What has to be at place i of an array of structs whose first three floats were rotated.
struct Rotated {
  lab::View<float> in;
  std::size_t floats;  ///< of a struct
  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t first = i / floats * floats, member = i % floats;
    const bool rotates = member < 3 && first + floats <= in.size();
    return in[first + (rotates ? (member + 1) % 3 : member)];
  }
};

// The 32 structs of a warp take 384 bytes, 12 sectors, and each of the three loads touches all of them to use a third.
//= 12 sectors: count("points_aos", "global_load_sectors") / count("points_aos", "global_load_requests")
//
// With one array for each coordinate, a struct of arrays, neighbouring lanes read neighbouring words again.
//
// ```{drawing} structs
// ```

/// The same for a struct of three arrays of n / 3 floats, one behind the other.
///
/// Launch: one thread per point, in blocks of one dimension.
__global__ void points_soa(float* out, const float* in, std::size_t n) {
  const std::size_t points = n / 3, p = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (p < points) {
    const float x = in[p], y = in[points + p], z = in[2 * points + p];
    out[p] = y, out[points + p] = z, out[2 * points + p] = x;
  }
  copy_rest(out, in, n, 3 * points);
}

/// What has to be at place i of a struct of three arrays: each holds what the next one held.
struct RotatedArrays {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t points = in.size() / 3;
    return in[i < 3 * points ? (i + points) % (3 * points) : i];
  }
};

// Where the layout is given, a block can load its structs as what they are, a run of floats, and take them apart in
// shared memory.
//
//? stride3: Thread t reads the words 3t, 3t + 1 and 3t + 2 of shared memory. How many bank conflicts are there?
//? answer: count("points_staged/loads=6", "shared_load_bank_conflicts")
//? near: exact
//
//? staged: `points_staged<1>` loads a float, stores it to shared memory, and only then loads the next. Which part of the
//?   rate of `cudaMemcpy` does it reach?
//? answer: ratio("points_staged/loads=1")
//? unit: of the rate
//? near: 20 %

/// As `points_aos`, but global memory is only accessed with consecutive lanes.
///
/// @tparam LOADS  how many of a thread's loads are in flight at a time: 1, 2, 3 or all 6
///
/// Launch: one thread per two structs, in blocks of BLOCK.
template <unsigned LOADS>
__global__ void points_staged(float* out, const float* in, std::size_t n) {
  __shared__ float staged[6 * BLOCK];  // the structs of this block
  const std::size_t points = n / 3, first = std::size_t{blockIdx.x} * 6 * BLOCK;
  const unsigned t = threadIdx.x;

#pragma unroll LOADS
  for (unsigned k = 0; k < 6; ++k) {
    const unsigned i = t + k * BLOCK;
    if (first + i < 3 * points) staged[i] = in[first + i];
  }
  __syncthreads();  // all structs are here

  // A thread reads and writes its own structs: no barrier in between.
  for (unsigned k = 0; k < 2; ++k) {
    const unsigned p = 3 * (t + k * BLOCK);
    if (first + p < 3 * points) {
      const float x = staged[p], y = staged[p + 1], z = staged[p + 2];
      staged[p] = y, staged[p + 1] = z, staged[p + 2] = x;
    }
  }
  __syncthreads();  // all structs are rotated

#pragma unroll LOADS
  for (unsigned k = 0; k < 6; ++k) {
    const unsigned i = t + k * BLOCK;
    if (first + i < 3 * points) out[first + i] = staged[i];
  }
  copy_rest(out, in, n, 3 * points);
}

// No conflicts: 3 is odd, so 32 words at a distance of 3 fall into 32 banks. Any odd stride is free in shared memory.
//
// The counters are perfect, and yet `points_staged<1>` takes 0.75 ms, not much less than `copy`, 0.80 ms. The machine
// code says why. Its loop loads one float, waits for it, stores it to shared memory, and only then comes to the next
// load. A thread has one load in flight, as in `copy`. (`STS` stores to shared memory, `BRA` jumps, `BAR` is the barrier; `@!P0`:
// only where P0 is false.)
//= 0.75 ms, not much less than `copy`, 0.80 ms: (ms("points_staged/loads=1"), ms("copy"))
//
// ```{sass} points_staged<1u> only=LDG,STS,BRA,BAR from=LDG lines=4
// 0200  @!P0 LDG.E              R4, desc[UR8][R4.64]
// 0230  @!P0 STS                [R11], R4
// 0260   @P0 BRA                0x180
// 0290       BAR.SYNC.DEFER_BLOCKING 0x0
// ```
//
// `#pragma unroll 3` writes three iterations out, and the compiler puts their loads in front of the first store, which
// it may, as global and shared memory never overlap. That is all that changes. With six, no loop is left:
//
// ```{sass} points_staged<6u> only=LDG,STS,BRA,BAR from=LDG lines=13
// 0350  @!P0 LDG.E              R4, desc[UR6][R10.64]
// 0360  @!P4 LDG.E              R12, desc[UR6][R10.64+0x400]
// 0370  @!P3 LDG.E              R14, desc[UR6][R10.64+0x800]
// 0380  @!P2 LDG.E              R16, desc[UR6][R10.64+0xc00]
// 0390  @!P1 LDG.E              R18, desc[UR6][R10.64+0x1000]
// 03a0  @!P5 LDG.E              R20, desc[UR6][R10.64+0x1400]
// 0470  @!P0 STS                [R3], R4
// 0480  @!P4 STS                [R3+0x400], R12
// 0490  @!P3 STS                [R3+0x800], R14
// 04a0  @!P2 STS                [R3+0xc00], R16
// 04b0  @!P1 STS                [R3+0x1000], R18
// 04c0  @!P5 STS                [R3+0x1400], R20
// 04d0       BAR.SYNC.DEFER_BLOCKING 0x0
// ```
//
// | loads in flight | 1 | 2 | 3 | 6 |
// |---|--:|--:|--:|--:|
// | part of the rate of `cudaMemcpy` | 0.67 | 0.85 | 0.91 | 1.00 |
//= | part of the rate of `cudaMemcpy` | 0.67 | 0.85 | 0.91 | 1.00 |: (ratio("points_staged/loads=1"),
//=   ratio("points_staged/loads=2"), ratio("points_staged/loads=3"), ratio("points_staged/loads=6"))
//
// So neither shared memory nor the two barriers cost much, if enough loads are in flight in front of them. Section 6 of
// chapter 10 follows such a loop through the compiler.
//
// Another remedy is to pad the struct to four floats. That alone is not enough: a struct of floats is aligned to 4
// bytes, and a wide load from such an address would fault, so nvcc makes four loads. `float4` is such a struct, too,
// and is declared with `alignas(16)`. Your own structs can be. Chapter 10 shows the machine code of both.
//
//? fastest_layout: Without shared memory: these three move the same bytes here. Which is the fastest?
//? choices: points_aos | points_soa | points_aligned
//? answer: {"points_aos": ms("points_aos") < min(ms("points_soa"), ms("points_aligned/alignas=16")),
//?   "points_soa": ms("points_soa") < min(ms("points_aos"), ms("points_aligned/alignas=16")),
//?   "points_aligned": ms("points_aligned/alignas=16") < min(ms("points_aos"), ms("points_soa"))}

/// Four floats, aligned as one float is. `float4` has the same members and alignas(16).
struct Point {
  float x, y, z, w;
};

/// (x, y, z, w) becomes (y, z, x, w), in an array of n / 4 structs of four floats; what is left over is copied.
///
/// @tparam Four  float4 or Point
///
/// Launch: one thread per struct, in blocks of one dimension.
/// Requires: in and out are aligned as Four is.
template <class Four>
__global__ void points_aligned(float* out, const float* in, std::size_t n) {
  const std::size_t points = n / 4, p = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (p < points) {
    const Four point = reinterpret_cast<const Four*>(in)[p];
    reinterpret_cast<Four*>(out)[p] = {point.y, point.z, point.x, point.w};
  }
  copy_rest(out, in, n, 4 * points);
}

// **Counted.** With `alignas=16` a thread loads its struct with one 128-bit instruction: a warp moves 512 bytes, 16
// sectors, with a single request. With `alignas=4` it takes four requests, each of which touches all 16.
//= 16 sectors: count("points_aligned/alignas=16", "global_load_sectors") / count("points_aligned/alignas=16",
//=   "global_load_requests")
//= four requests: count("points_aligned/alignas=4", "global_load_requests") / count("points_aligned/alignas=16",
//=   "global_load_requests")
//= 16: count("points_aligned/alignas=4", "global_load_sectors") / count("points_aligned/alignas=4",
//=   "global_load_requests")
//
// **Timed.** Of the layouts, the one with 128-bit accesses wins: it is as fast as `cudaMemcpy`. Each thread has 16
// bytes in flight. With `alignas=4` the same 16 bytes are in flight, in four loads, and L1 serves each sector four
// times: 2 % slower. The plain array of three floats comes next, at 0.95 of the rate of `cudaMemcpy`. Each thread of
// `points_aos` has three loads in flight, and the time leaves no room for fetching each sector three times: two of the
// three loads find theirs in a cache.
//= 2 % slower: (ms("points_aligned/alignas=4") / ms("points_aligned/alignas=16") - 1) * 100
//= 0.95 of the rate: ratio("points_aos")
//
// `points_soa` is the slowest, at 0.91: every member is used, so the array of structs wastes no bytes. A struct of arrays
// should pay where a kernel reads only some of the members; that was not measured. Structs of 8 or 16 aligned bytes are
// fast either way.
//= at 0.91: ratio("points_soa")
//
// **So:** sectors per request measure the load on L1. What the memory has to deliver may be much less, or (stride 32)
// more. First count, then ask which cache stands in between, and how many loads are in flight.
//
// ## 9. The TMA and the vendor
//
// Hopper's {term}`tensor memory accelerator`, the TMA, moves a tile between global and shared memory at the request of
// a single thread, swizzles it on the way, and needs no registers. `tma` (in `transpose_hopper.cu`) loads tiles of 64 x
// 64 floats four ahead, transposes them with conflict-free accesses, and has the TMA store them. Its swizzle works on
// rows of 128 bytes, so a tile comes as boxes of 32 columns.
//
//? tma: Which is faster, `tma` or `vectors` along the rows of out?
//? choices: tma is faster | vectors is faster
//? answer: {"tma is faster": ms("tma") < ms("vectors/along=out"),
//?   "vectors is faster": ms("vectors/along=out") < ms("tma")}
//
// `tma` reaches 0.89 of the peer's rate, and it needs rows of a multiple of 16 bytes: with 10,007 of either, it is
// skipped. The TMA saves instructions, but instructions are not the bottleneck: `vectors` issues one in 29 % of the
// cycles. Its boxes span 128 bytes of a row where a warp of `vectors` spans 256. Whether that is what makes it slower
// is not known. The notes have boxes of other shapes, and none is faster. Chapter 12 has work that the TMA is made
// for.
//= 0.89: ratio("tma")
//= 29 %: ncu("vectors/along=out", "smsp__issue_active.avg.pct_of_peak_sustained_active")
//
// cuBLAS transposes, too: `cublasSgeam` computes alpha op(A) + beta op(B), here with beta = 0. With `evict=last`, `vectors` is 1.06 times as fast as cuBLAS here, and 1.12 times with 10,007 columns.
//= 1.06 times: ms("cublas") / ms("vectors/along=out, evict=last")
//= 1.12 times: ms("cublas", "16384,10007") / ms("vectors/along=out, evict=last", "16384,10007")
//
// ## 10. What can go wrong with a measurement (second reading)
//
// - **The first launch is slow.** The driver loads a kernel when it is launched for the first time, and clocks rise
//   only under load. The first launch of `copy` took 0.84 ms, later ones take 0.80 ms; the first call of cuBLAS took 3 ms.
//   `lab` launches every rung several times before it starts the clock.
// - **A small matrix measures L2, or the launch.** `pieces` copies a piece of the matrices eight times, then the next.
//   Pieces of 512 MiB pass at 4.2 TB/s. Pieces of 32 MiB, which fit the H200's L2 of 60 MB, pass at 4.4 TB/s, faster
//   than any copy through memory. Pieces of 16 MiB pass at 3.5 TB/s, 4.8 us each: now the gaps between launches count.
//   `lab` flushes L2 between the runs.
// - **The copy is not one number.** `copy` and `cudaMemcpy` move the same bytes, at quite different rates. Say which
//   one you compare with.
//= 0.84 ms, later ones take 0.80 ms; the first call of cuBLAS took 3 ms: (first("copy"), ms("copy"), first("cublas"))
//= 4.2 TB/s: rate("pieces/mib=512") / 1000
//= 4.4 TB/s: rate("pieces/mib=32") / 1000
//= 3.5 TB/s, 4.8 us each: (rate("pieces/mib=16") / 1000, ms("pieces/mib=16") * 1000 / (8 * 128))

constexpr unsigned TIMES = 8;  ///< copies that `pieces` makes of each piece

/// Copies n floats in pieces, each TIMES times before the next. What is read and what is written of a piece take so
/// many MiB together.
void pieces(float* out, const float* in, std::size_t n, std::size_t mib) {
  const std::size_t piece = (mib << 20) / (2 * sizeof(float));
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t size = std::min(piece, n - first);
    for (unsigned time = 0; time < TIMES; ++time) {
      four_restricted<<<lab::tiles(size, 4 * BLOCK), BLOCK>>>(out + first, in + first, size);
    }
  }
}

/// `longer_pitch` on a copy of in whose rows have `pad` unused floats at their ends.
struct Padded {
  lab::Map<float>& map;
  const Transposed want;
  const unsigned rows, cols, pad, pitch = cols + pad;
  lab::DeviceBuffer<float> in{std::size_t{rows} * pitch, "padded in"};

  void prepare() {
    CUDA_CHECK(cudaMemcpy2D(in.data(), sizeof(float) * pitch, map.d_in.data(), sizeof(float) * cols,
                            sizeof(float) * cols, rows, cudaMemcpyDeviceToDevice));
  }
  void launch() {
    longer_pitch<<<lab::tiles(cols, rows, TILE), dim3(TILE, ROWS)>>>(map.d_out.data(), in.data(),
                                                                     rows, cols, pitch);
  }
  std::vector<lab::Expectation> outputs() { return {lab::expect(map.d_out, want)}; }
};

/// The rung `pieces`.
struct InPieces {
  lab::Map<float>& map;
  const std::size_t mib;

  void launch() { pieces(map.d_out.data(), map.d_in.data(), map.n, mib); }
  std::vector<lab::Expectation> outputs() { return {lab::expect(map.d_out, map.d_in)}; }
};

/// `points_staged`, by how many loads are in flight.
constexpr std::pair<const char*, void (*)(float*, const float*, std::size_t)> STAGED[] = {
    {"loads=1", points_staged<1>},
    {"loads=2", points_staged<2>},
    {"loads=3", points_staged<3>},
    {"loads=6", points_staged<6>}};

/// The bytes of a copy, and its limit.
lab::Rung as_a_copy(std::size_t n) {
  return {.bytes = 8.0 * static_cast<double>(n), .limit = lab::Limit::copy};
}

/// The launch of `large_tile`.
auto by_large_tiles(unsigned rows, unsigned cols) {
  return lab::launcher(large_tile, lab::tiles(cols, rows, LARGE), dim3(LARGE, 4), rows, cols);
}

const std::initializer_list<std::string_view> BY_TILES = {
    "naive_rows", "naive_columns", "longer_pitch", "tiled", "no_barrier", "swizzled"};
constexpr const char* TOO_MANY = "needs more than 65,535 rows of blocks, the limit of gridDim.y";

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t height, std::size_t width) {
    const std::size_t n = height * width;
    ladder.require(height <= (std::size_t{1} << 31) - 256, "rows: at most 2^31 - 256");
    ladder.require(width < std::size_t{1} << 31, "columns: fewer than 2^31");
    ladder.skip_unless(height <= std::size_t{MOST_BLOCKS} * TILE, BY_TILES, TOO_MANY);
    ladder.skip_unless(height <= std::size_t{MOST_BLOCKS} * LARGE, {"large_tile"}, TOO_MANY);
    ladder.skip_unless(n > 1, {"no_barrier"}, "one thread alone has nobody to race with");
    lab::Map<float> map(ladder, n, 0, height);
    const auto in = map.in;  // what a copy has to leave

    // Section 1.
    map.add("copy", in, each(n, copy, n));
    map.add("four_each", "restrict=no", in, each((n + 3) / 4, four_each, n));
    map.add("four_each", "restrict=yes", in, each((n + 3) / 4, four_restricted, n));

    // Sections 2 to 6: the transposes.
    const Transposed want{in, height, width};
    const auto rows = static_cast<unsigned>(height), cols = static_cast<unsigned>(width);
    map.add("naive_rows", want, by_tiles(naive_rows, rows, cols));
    map.add("naive_columns", want, by_tiles(naive_columns, rows, cols));
    for (const unsigned pad : {0u, 1u, 8u, 32u})
      ladder.add("longer_pitch", lab::format("pad=%u", pad), Padded{map, want, rows, cols, pad},
                 as_a_copy(n));
    map.add("tiled", "pad=0", want, by_tiles(tiled<0>, rows, cols));
    map.add("tiled", "pad=1", want, by_tiles(tiled<1>, rows, cols));
    map.demonstrate("no_barrier", by_tiles(no_barrier, rows, cols));
    map.add("swizzled", want, by_tiles(swizzled, rows, cols));
    map.add("large_tile", want, by_large_tiles(rows, cols));
    map.add("vectors", "along=in", want, by_vectors<false>(rows, cols));
    map.add("vectors", "along=out", want, by_vectors<true>(rows, cols));
    map.add("vectors", "along=out, evict=first", want, by_vectors<true, Evict::first>(rows, cols));
    map.add("vectors", "along=out, evict=last", want, by_vectors<true, Evict::last>(rows, cols));
    map.add("whole_sectors", want, by_sectors(rows, cols));

    // Sections 7 and 8.
    map.add("copy_offset", "offset=1", Offset{in, 1}, each(n, copy_offset, n, 1 % n));
    map.add("copy_offset", "offset=8", Offset{in, 8}, each(n, copy_offset, n, 8 % n));
    for (const std::size_t stride : {2, 8, 32})
      map.add("copy_strided", lab::variant_name("stride", stride), Strided{in, stride},
              each(n, copy_strided, n, stride));
    map.add("points_aos", Rotated{in, 3}, each(n / 3 + 1, points_aos, n));
    map.add("points_soa", RotatedArrays{in}, each(n / 3 + 1, points_soa, n));
    for (const auto& [loads, kernel] : STAGED)
      map.add("points_staged", loads, Rotated{in, 3}, each(n / 6 + 1, kernel, n));
    const Rotated rotated{in, 4};
    map.add("points_aligned", "alignas=4", rotated, each(n / 4 + 1, points_aligned<Point>, n));
    map.add("points_aligned", "alignas=16", rotated, each(n / 4 + 1, points_aligned<float4>, n));

    // Sections 9 and 10.
    lab::add_others(map);
    for (const std::size_t mib : {16, 32, 512})
      ladder.add("pieces", lab::variant_name("mib", mib), InPieces{map, mib}, as_a_copy(TIMES * n));
  });
}

// ## What to remember
//
// - A memory-bound kernel is as fast as its bytes. Compare it with `cudaMemcpy`, and count reads and writes.
// - Two things make it slower: sectors that are moved and not used, and too few bytes in flight.
// - An offset is nearly free, a stride is not. From 8 floats on it costs a sector per element; DRAM moves two at least.
// - Scattered stores cost more than scattered loads: if one side must be strided, let it be the reads.
// - What has to change its order goes through shared memory; pad or swizzle the tile.
// - Kernels that read columns are sensitive to the pitch. Time rows a float or a sector longer.
// - Keep enough bytes in flight. For a copy 16 bytes a thread are enough, in one access or in four independent ones.
// - Blocks that run at the same time should write to neighbouring memory.
// - What a cache evicts matters as much as what it keeps. Time the hints; the obvious one can be the wrong one.
//
// ## Possibilities for extension
//
// 1. Transpose in place, a square matrix first. Which two tiles does a block have to hold?
// 2. Let each thread of `four_restricted` copy two elements, then eight, then four `float4`. From how many bytes in
//    flight on is it as fast as `cudaMemcpy`, and when does more of them begin to cost?
// 3. Permute the axes of a tensor (a, b, c) to (c, b, a). Which axis do the loads walk, which the stores?
// 4. Transpose `double` and `char`. What should the tile be, so that both sides fill whole sectors?
// 5. Write the loop of `points_staged` as `for (i = t; i < 6 * BLOCK && first + i < 3 * points; i += BLOCK)`. How many
//    `LDG` does `./learn sass` show in front of the first `STS`, with `#pragma unroll 6` and without?