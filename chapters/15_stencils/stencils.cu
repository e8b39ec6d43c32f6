// # Chapter 15: Stencils
//
// Question: A stencil reads 5, 7 or 25 values for one. How can it be as fast as a copy, and how can it be faster?
// Minutes: 30
// Afterwards: give a stencil the rate of a copy, and take several of its steps in one pass over memory
// Builds on: 07_reductions, 11_pipelines
// Kind: free
// Size gpu: 16384,16384
// Size simulator: 70,132
// Run: ./learn run 15
//   ./learn run 15 --rung gradient       a block's elements and a halo, in shared memory
//   ./learn run 15 --rung below_zero     the halo of the first block is not there [raises out-of-bounds]
//   ./learn run 15 --rung early_return   threads without an element return before the barrier [raises uninitialized-shared]
//   ./learn run 15 --rung taps_global    a convolution of 7 and of 33 taps, all of them read from global memory
//   ./learn run 15 --rung taps_constant  the taps in constant memory
//   ./learn run 15 --rung taps_window    four outputs a thread, their window in registers
//   ./learn run 15 --rung taps_shuffled  every element is loaded once, and shuffled to its neighbours
//   ./learn run 15 --rung taps_staged    twenty outputs a thread, their window from shared memory
//   ./learn run 15 --rung on_cpu         five points in 2D, a loop on one core of the host
//   ./learn run 15 --rung five_naive     one thread a cell; the caches do the rest
//   ./learn run 15 --rung five_tiled     a tile and its halo in shared memory
//   ./learn run 15 --rung five_columns   several rows of four cells a thread, in registers
//   ./learn run 15 --rung five_beside    left and right by loads of their own instead of shuffles
//   ./learn run 15 --rung five_edges     zeros, the nearest cell or the other side beyond the edge
//   ./learn run 15 --rung seven_naive    seven points in 3D, one thread a cell
//   ./learn run 15 --rung seven_column   a thread walks along z and keeps three cells
//   ./learn run 15 --rung seven_columns  the same with rows of four cells
//   ./learn run 15 --rung seven_bricks   all loads before anything is computed
//   ./learn run 15 --rung seven_edges    zeros, the nearest cell or the other side beyond the edge
//   ./learn run 15 --rung far_naive      25 points that reach four cells far, one thread a cell
//   ./learn run 15 --rung far_queue      a queue of nine planes in registers, the rest from the caches
//   ./learn run 15 --rung far_tma        planes by the TMA, each read once, sums in registers [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 15 --rung step_by_step   a hundred steps on a small grid, a launch for each
//   ./learn run 15 --rung resident       the same in one launch: the grid stays in registers
//   ./learn run 15 --rung five_overlapped several steps in one pass: overlapping tiles in shared memory
//   ./learn run 15 --rung five_strips    several steps in one pass: a queue of rows for each
//   ./learn run 15 --rung seven_tiles    several steps in one pass: a queue of planes for each
//   ./learn run 15 --rung filter_naive   a filter on an image, one thread a pixel
//   ./learn run 15 --rung filter_texture the pixels by texture reads, which know what is beyond the edge
//   ./learn run 15 --rung filter_between a read between four pixels weighs them: 16 reads instead of 49
//   ./learn run 15 --rung filter_columns rows of four results a thread, each row of pixels loaded once
//   ./learn run 15 --rung filter_tiled   a tile in shared memory; each of its rows is added to all sums that need it
//   ./learn run 15 --rung filter_stay    blocks that stay, and fetch the next tile by the TMA [needs gpu, sm_90a, cuda 12.9]
//   ./learn run 15 --rung filter_separable rows first, then columns

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab.h"
#include "stencils.h"

using std::size_t;

// A {term}`stencil` computes each cell of a grid from the cells around it: a derivative, a blur, a step of heat or of a
// wave. Each cell is read 5, 7 or 25 times, and has to come from memory once. So a stencil has the lower limit of a copy,
// and this chapter asks who serves the other reads: caches, shared memory, registers, or the lane beside.
//
// The measure is the bytes that *must* move over the time, each cell read once and written once: 8 bytes for each cell
// and step. This is the effective throughput, T_eff (Omlin and Räss, ParallelStencil.jl). An eighth of it is the number of cell
// updates a second. Its peer is a `cudaMemcpy` of as many cells. With several steps in one pass, T_eff can exceed it: the *rate* of
// the tables counts the bytes of all steps.
//
// Counts are for the simulator's default, 70 x 132 cells. Times are those of an NVIDIA H200 for 16384 x 16384. A row in 1D
// has a quarter as many elements, 2^26. The boxes in 3D have 512 x 512 x 512 cells (`cube`) and 1000 x 777 x 512
// (`brick`).

constexpr unsigned BLOCK = 256;       ///< threads of a block where nothing else is said
constexpr unsigned ALL = 0xffffffff;  ///< the mask of all 32 lanes
constexpr unsigned RAD = 3;           ///< elements that `gradient` reads on each side of its own

// ## 1. A derivative, and its halo
//
// The slope of a function at an element follows from its neighbours, here three on each side. A block of 256 threads
// computes 256 slopes and needs 256 + 2 x 3 elements: its own, and a {term}`halo` of three on each side. It loads them
// into shared memory first.
//
// ```{drawing} halo
// ```
//
//? halo_loads: How many load requests does a block of `gradient` make, with its 8 warps?
//? answer: count("gradient", "global_load_requests") / 10
//? unit: requests
//? near: exact

/// The derivative at `at` to sixth order, in units of the distance of two elements: of the values `RAD` to the left and
/// to the right.
__host__ __device__ inline float derivative(const float* at) {
  return fmaf(1.f / 60, at[3] - at[-3],
              fmaf(-3.f / 20, at[2] - at[-2], 3.f / 4 * (at[1] - at[-1])));
}

/// out[i] is the derivative of in at i; before the first element and behind the last one, `in` goes on as it is there.
///
/// Launch: one thread for each element, in blocks of BLOCK.
__global__ void gradient(float* out, const float* in, size_t n) {
  __shared__ float tile[BLOCK + 2 * RAD];  // the block's elements, and RAD more on each side
  const size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x;
  const unsigned at = threadIdx.x + RAD;  // of element i in the tile

  tile[at] = in[min(i, n - 1)];
  if (threadIdx.x < RAD) {  // the first threads load both edges
    tile[at - RAD] = in[min(i < RAD ? 0 : i - RAD, n - 1)];
    tile[at + BLOCK] = in[min(i + BLOCK, n - 1)];
  }
  __syncthreads();  // the tile is full
  if (i < n) out[i] = derivative(tile + at);
}

// 10: one for each warp, and two more by the first warp, whose first three lanes load both edges. Indices that fall
// outside are moved to the element next to them: in front of the array, and behind it. The kernel reaches 0.55 of the
// copy. Section 2 shows that seven loads of each element from global memory take as long as this tile.
//= 10: count("gradient", "global_load_requests") / 10
//= 0.55 of: ratio("gradient")
//
// Two mistakes are classic here. The first forgets that the first block has no left neighbour:

/// `gradient`, whose first block loads what lies before the first element.
///
/// Launch: as `gradient`.
__global__ void below_zero(float* out, const float* in, size_t n) {
  __shared__ float tile[BLOCK + 2 * RAD];
  const size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x;
  const unsigned at = threadIdx.x + RAD;

  tile[at] = in[min(i, n - 1)];
  if (threadIdx.x < RAD) {
    tile[at - RAD] = in[i - RAD];  // i is 0, 1 or 2 in the first block
    tile[at + BLOCK] = in[min(i + BLOCK, n - 1)];
  }
  __syncthreads();
  if (i < n) out[i] = derivative(tile + at);
}

// The simulator stops it, with the line, the thread and the number of bytes before the array. A GPU reads whatever lies
// there, and often nobody notices.
//
// The second lets threads that have no element return at once, as in every kernel without a barrier.
//
//? gone: What is wrong with `early_return`?
//? choices: the barrier waits for ever | elements of the halo are missing | nothing
//? answer: "elements of the halo are missing"

/// `gradient`, whose threads without an element return at once.
///
/// Launch: as `gradient`.
__global__ void early_return(float* out, const float* in, size_t n) {
  __shared__ float tile[BLOCK + 2 * RAD];
  const size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x;
  const unsigned at = threadIdx.x + RAD;
  if (i >= n) return;  // and who loads their elements?

  tile[at] = in[i];
  if (threadIdx.x < RAD) {
    tile[at - RAD] = in[i < RAD ? 0 : i - RAD];
    tile[at + BLOCK] = in[min(i + BLOCK, n - 1)];
  }
  __syncthreads();
  out[i] = derivative(tile + at);
}

// The barrier is not the problem: from compute capability 7.0 on it does not wait for threads that have exited. But they
// have not loaded their part of the tile, and the last elements of the array need it. A thread without a result may have a job.
//
// ## 2. Convolution: where do taps and windows live?
//
// A convolution in 1D is the weighted sum of an element and those around it; the weights are its taps. Here they are 7
// or 33. The first kernel takes everything from global memory: for each FMA a load of the element and one of the tap.
//
//? taps_requests: How many load requests does a warp of `taps_global` make for 7 taps, including those for the taps?
//? answer: count("taps_global/taps=7", "global_load_requests") / 73
//? unit: requests
//? near: exact

// [hide] Taps: the weights, in global and in constant memory
__device__ float taps_in_memory[MOST_TAPS];  ///< in global memory
__constant__ float taps[MOST_TAPS];          ///< in constant memory
// [/hide]

/// out[i] = sum over k of tap k times in[i + k - RADIUS], k from 0 to 2 RADIUS; zeros before and behind `in`.
///
/// Launch: one thread for each element, in blocks of one dimension.
template <unsigned RADIUS>
__global__ void taps_global(float* out, const float* in, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (unsigned k = 0; k <= 2 * RADIUS; ++k) {
    const size_t j =
        i + k - RADIUS;  // before the first element it wraps around, to a very large one
    if (j < n) sum = fmaf(taps_in_memory[k], in[j], sum);
  }
  out[i] = sum;
}

// All lanes read the same tap at the same time. That is what constant memory is made for: a {term}`constant bank`, whose
// values an FMA can take as an operand, without a load of their own.
//
//? constant_gain: How many times as fast does that make 33 taps?
//? answer: ms("taps_global/taps=33") / ms("taps_constant/taps=33")
//? unit: times
//? near: 20 %

/// The same, with the taps in constant memory.
///
/// Launch: as `taps_global`.
template <unsigned RADIUS>
__global__ void taps_constant(float* out, const float* in, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k <= 2 * RADIUS; ++k) {
    const size_t j = i + k - RADIUS;
    if (j < n) sum = fmaf(taps[k], in[j], sum);
  }
  out[i] = sum;
}

// Hardly. The FMAs stand behind a guard, and nvcc loads the taps there, too: 33 `LDG` become `LDC`, loads from constant memory, and
// 250 instructions become 249. Only 33 of them are FMAs, and all take 0.49 of the 0.58 ms if nothing is waited for. The remedy is
// that of chapter 04: a thread computes several neighbouring outputs, and keeps their common window in registers.
//= 33 `LDG` become: sass("taps_global<16u>", "LDG") - sass("taps_constant<16u>", "LDG")
//= 250 instructions become 249: (sass("taps_global<16u>", "instructions"), sass("taps_constant<16u>", "instructions"))
//= Only 33 of them: sass("taps_constant<16u>", "FFMA")
//= 0.49 of the 0.58 ms: (alone("taps_constant/taps=33", "issue slots"), ms("taps_constant/taps=33"))
//
// Textures once had a cache of their own for such reads. Since Maxwell it is the same L1; section 8 measures what they are good for
// today.

/// float4s that hold RADIUS floats.
__host__ __device__ constexpr unsigned float4s(unsigned radius) { return (radius + 3) / 4; }

/// OUTPUTS neighbouring sums from a window of OUTPUTS + 8 float4s(RADIUS) inputs, of which the first outputs are in the
/// middle.
template <unsigned RADIUS, unsigned OUTPUTS>
__device__ inline void convolve(float (&sum)[OUTPUTS],
                                const float (&window)[OUTPUTS + 8 * float4s(RADIUS)]) {
#pragma unroll
  for (unsigned j = 0; j < OUTPUTS; ++j) sum[j] = 0;
#pragma unroll
  for (unsigned k = 0; k <= 2 * RADIUS; ++k) {
#pragma unroll
    for (unsigned j = 0; j < OUTPUTS; ++j) {
      sum[j] = fmaf(taps[k], window[j + k + 4 * float4s(RADIUS) - RADIUS], sum[j]);
    }
  }
}

/// Loads FLOAT4S float4s from element `i` on: as such where the caller knows that all of them are `inner`, else float by
/// float, with zeros for what is not there.
template <unsigned FLOAT4S>
__device__ inline void load_float4s(float (&to)[4 * FLOAT4S], const float* in, size_t i, size_t n,
                                    bool inner) {
  if (inner) {
#pragma unroll
    for (unsigned h = 0; h < FLOAT4S; ++h) {
      reinterpret_cast<float4*>(to)[h] = reinterpret_cast<const float4*>(in + i)[h];
    }
  } else {
#pragma unroll
    for (unsigned k = 0; k < 4 * FLOAT4S; ++k) to[k] = i + k < n ? in[i + k] : 0;
  }
}

/// Writes four elements from `i` on, as far as they are there.
__device__ inline void store_float4(float* out, size_t i, size_t n, float4 four) {
  if (i + 4 <= n) {
    *reinterpret_cast<float4*>(out + i) = four;
    return;
  }
  if (i < n) out[i] = four.x;
  if (i + 1 < n) out[i + 1] = four.y;
  if (i + 2 < n) out[i + 2] = four.z;
}

/// `taps_constant`, four outputs a thread: their window is loaded once, as float4s, and stays in registers.
///
/// Launch: a block of BLOCK threads for each 4 * BLOCK elements.
/// Requires: in and out at multiples of 16 bytes.
template <unsigned RADIUS>
__global__ void taps_window(float* __restrict__ out, const float* __restrict__ in, size_t n) {
  constexpr unsigned HALO = float4s(RADIUS);
  const size_t first = size_t{blockIdx.x} * (4 * BLOCK), i = first + threadIdx.x * 4;
  float window[4 + 8 * HALO], sum[4];
  load_float4s<2 * HALO + 1>(window, in, i - 4 * HALO, n,
                             first >= 4 * HALO && first + 4 * BLOCK + 4 * HALO <= n);
  convolve<RADIUS>(sum, window);
  store_float4(out, i, n, make_float4(sum[0], sum[1], sum[2], sum[3]));
}

// For 7 taps this is a copy: 0.99 of the rate of `cudaMemcpy`. For 33 it reaches 0.71: a thread loads nine float4s for
// four outputs.
//= 0.99 of: ratio("taps_window/taps=7")
//= 0.71: ratio("taps_window/taps=33")
//
// The lanes beside have those float4s. Let each lane load one, and shuffle.
//
//? shuffle_gain: Which is faster for 33 taps?
//? choices: taps_window | taps_shuffled
//? answer: {"taps_window": ms("taps_window/taps=33") < ms("taps_shuffled/taps=33"),
//?   "taps_shuffled": ms("taps_shuffled/taps=33") < ms("taps_window/taps=33")}

/// The same; a lane loads one float4 and gets the rest of its window from the lanes beside it. The first and the last
/// float4s(RADIUS) lanes of a warp only give.
///
/// Launch: a warp for each 128 - 8 float4s(RADIUS) elements, in blocks of one dimension.
/// Requires: as `taps_window`.
template <unsigned RADIUS>
__global__ void taps_shuffled(float* __restrict__ out, const float* __restrict__ in, size_t n) {
  constexpr unsigned HALO = float4s(RADIUS);
  const unsigned lane = threadIdx.x % 32;
  const size_t warp = (size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const size_t i = warp * (128 - 8 * HALO) + lane * 4 - 4 * HALO;
  float own[4], window[4 + 8 * HALO], sum[4];
  load_float4s<1>(own, in, i, n, i < n && i + 4 <= n);
#pragma unroll
  for (unsigned h = 0; h < 2 * HALO + 1; ++h) {
    const unsigned from = lane + h - HALO;  // a lane that is not there is taken modulo 32
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) window[4 * h + k] = __shfl_sync(ALL, own[k], from);
  }
  convolve<RADIUS>(sum, window);
  if (HALO <= lane && lane < 32 - HALO) {
    store_float4(out, i, n, make_float4(sum[0], sum[1], sum[2], sum[3]));
  }
}

// A shuffle moves 4 bytes for each lane, where a load of a float4 moves 16, and four lanes at each end of a warp have no output
// of their own. So `taps_shuffled` issues more: its instructions alone would take 0.158 ms, those of `taps_window` 0.093.
//= 0.158 ms: alone("taps_shuffled/taps=33", "issue slots")
//= 0.093: alone("taps_window/taps=33", "issue slots")
//
// What helps is a larger window: 20 outputs of a thread share 52 inputs. Neighbouring lanes are then 80 bytes apart, no
// pattern for global memory, so the block stages elements and results in shared memory. 80 bytes are 5 float4s, an odd
// number, and so there are no {term}`bank conflicts <bank conflict>` (chapter 05).

constexpr unsigned STAGED_BLOCK = 128,
                   STAGED = 20;  ///< threads of a block of `taps_staged`, outputs of a thread

/// The same, STAGED outputs a thread, through shared memory.
///
/// Launch: a block of STAGED_BLOCK threads for each STAGED * STAGED_BLOCK elements.
/// Requires: as `taps_window`.
template <unsigned RADIUS>
__global__ void __launch_bounds__(STAGED_BLOCK)
    taps_staged(float* __restrict__ out, const float* __restrict__ in, size_t n) {
  constexpr unsigned HALO = float4s(RADIUS), OUTPUTS = STAGED, THREADS = STAGED_BLOCK,
                     FLOAT4S = THREADS * OUTPUTS / 4 + 2 * HALO;
  __shared__ float4 tile[FLOAT4S];
  const unsigned t = threadIdx.x;
  const size_t first = size_t{blockIdx.x} * (THREADS * OUTPUTS);
  if (first >= 4 * HALO && first + THREADS * OUTPUTS + 4 * HALO <= n) {
    const float4* const from = reinterpret_cast<const float4*>(in + first) - HALO;
#pragma unroll
    for (unsigned f = 0; f < FLOAT4S; f += THREADS) {
      if (f + t < FLOAT4S) tile[f + t] = from[f + t];
    }
  } else {
    for (unsigned k = t; k < 4 * FLOAT4S; k += THREADS) {
      const size_t i = first + k - 4 * HALO;
      reinterpret_cast<float*>(tile)[k] = i < n ? in[i] : 0;
    }
  }
  __syncthreads();  // the tile is full

  float window[OUTPUTS + 8 * HALO], sum[OUTPUTS];
#pragma unroll
  for (unsigned h = 0; h < OUTPUTS / 4 + 2 * HALO; ++h) {  // 5 float4s from lane to lane: odd
    reinterpret_cast<float4*>(window)[h] = tile[t * (OUTPUTS / 4) + h];
  }
  convolve<RADIUS>(sum, window);
  __syncthreads();  // the tile has been read
#pragma unroll
  for (unsigned h = 0; h < OUTPUTS / 4; ++h) {
    tile[t * (OUTPUTS / 4) + h] = reinterpret_cast<const float4*>(sum)[h];
  }
  __syncthreads();  // and has the sums
#pragma unroll
  for (unsigned h = 0; h < OUTPUTS / 4; ++h) {
    store_float4(out, first + 4 * (t + h * THREADS), n, tile[t + h * THREADS]);
  }
}

// 33 taps now run at 0.93 of the copy.
//= 0.93: ratio("taps_staged/taps=33")
//
// ## 3. Five points, and one core to begin with
//
// In 2D a cell has four neighbours. A step of the five-point {term}`Jacobi iteration` takes half of the cell and an eighth
// of each neighbour; cells at the edge keep their values. Its arithmetic is five instructions for 8 bytes. The baseline is one
// core of the host.
//= five instructions: alone("five_naive", "FP32 instructions") / 1000 * 132 * 4 * 1.98e9 * 32 / 16384**2

constexpr float CENTRE = 0.5f, SIDE = 0.125f;  ///< weights of the five points

/// The next value of a cell.
__host__ __device__ inline float relaxed(float centre, float left, float right, float up,
                                         float down) {
  return fmaf(SIDE, ((left + right) + up) + down, CENTRE * centre);
}

/// A step of the five points on the host: out(y, x) from in(y, x) and its four neighbours. Cells at the edge of the grid
/// keep their values.
void on_cpu(float* out, const float* in, Box box) {
  const int rows = box.rows, cols = box.cols;
  for (int y = 0; y < rows; ++y) {
    const float* const row = in + size_t(y) * cols;
    float* const to = out + size_t(y) * cols;
    if (y == 0 || y == rows - 1) {
      std::copy(row, row + cols, to);
      continue;
    }
    to[0] = row[0], to[cols - 1] = row[cols - 1];
    for (int x = 1; x < cols - 1; ++x) {
      to[x] = CENTRE * row[x] + SIDE * (row[x - 1] + row[x + 1] + row[x - cols] + row[x + cols]);
    }
  }
}

//? cpu: How many times as fast as the core is `five_naive`, one thread a cell?
//? answer: ms("on_cpu") / ms("five_naive")
//? unit: times
//? near: factor 2

/// A step of the five points; in and out are (rows, cols), row-major.
///
/// Launch: one thread for each cell, x along the rows.
__global__ void five_naive(float* __restrict__ out, const float* __restrict__ in, int rows,
                           int cols) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const size_t i = size_t(y) * cols + x;
  const bool edge = x == 0 || y == 0 || x == cols - 1 || y == rows - 1;
  out[i] = edge ? in[i] : relaxed(in[i], in[i - 1], in[i + 1], in[i - cols], in[i + cols]);
}

// It has no shared memory, and each thread makes five loads. Yet `five_naive` reaches 0.54 of a copy: the rows above and
// below were loaded by other warps shortly before, and L1 or L2 may still have them, which no counter here says.
//= 0.54: ratio("five_naive")
//
// The textbook stages a tile and its halo in shared memory.
//
//? tile_gain: What does the tile make of it?
//? choices: faster | about as fast | slower
//? answer: {"faster": ms("five_tiled") < 0.95 * ms("five_naive"),
//?   "about as fast": 0.95 * ms("five_naive") < ms("five_tiled") < 1.05 * ms("five_naive"),
//?   "slower": ms("five_tiled") > 1.05 * ms("five_naive")}

/// The same; a block loads its cells and a halo of one cell first.
///
/// Launch: blocks (TILE, TILE), one for each tile of as many cells.
template <int TILE>
__global__ void five_tiled(float* __restrict__ out, const float* __restrict__ in, int rows,
                           int cols) {
  __shared__ float tile[TILE + 2][TILE + 2];
  const int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;  // of the tile's corner
  for (int k = threadIdx.y * TILE + threadIdx.x; k < (TILE + 2) * (TILE + 2); k += TILE * TILE) {
    const int j = k / (TILE + 2), i = k % (TILE + 2);
    const bool there = 0 <= y0 + j && y0 + j < rows && 0 <= x0 + i && x0 + i < cols;
    tile[j][i] = there ? in[size_t(y0 + j) * cols + x0 + i] : 0;
  }
  __syncthreads();  // the tile is full
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = x0 + i, y = y0 + j;
  if (x >= cols || y >= rows) return;
  const bool edge = x == 0 || y == 0 || x == cols - 1 || y == rows - 1;
  out[size_t(y) * cols + x] =
      edge ? tile[j][i]
           : relaxed(tile[j][i], tile[j][i - 1], tile[j][i + 1], tile[j - 1][i], tile[j + 1][i]);
}

// Slower: 0.28 of the copy. Every value now takes a store to shared memory, a barrier, loads from there, and an index in the
// tile. The instructions alone would take 0.82 ms, those of `five_naive` 0.39; what else the 1.81 ms consist of was not measured.
// And both kernels load 4 bytes at a time, as the rung `copy` in chapter 06.
//= 0.28 of: ratio("five_tiled")
//= 0.82 ms: alone("five_tiled", "issue slots")
//= `five_naive` 0.39: alone("five_naive", "issue slots")
//= 1.81 ms: ms("five_tiled")
//
// So let a thread take four cells of a row as a float4, and several rows. What is above and below is then in its own
// registers, what is left and right in the lanes beside; only the first and the last lane of a warp load one cell more.
// Those float4s begin at multiples of 16 bytes; the halo to the left and right, which does not, is never loaded as a
// vector.
//
// ```{drawing} column
// ```
//
//? columns: Which part of the rate of a copy does `five_columns` reach?
//? answer: ratio("five_columns")
//? unit: of the rate
//? near: 10 %

// Four helpers are in `stencils.h`. `inside(y, rows)` is y, or the nearest row that exists. `float4_of<WIDE>(row, x, cols)`
// loads the cells x to x + 3, with zeros for those that are not there, and `store_float4_of` stores them; WIDE says that all
// rows begin at multiples of 16 bytes. `keep_ends` gives the first and the last column their old values back.

/// The next values of four cells of a row.
__device__ inline float4 relaxed4(float4 up, float4 row, float4 down, float left, float right) {
  return make_float4(
      relaxed(row.x, left, row.y, up.x, down.x), relaxed(row.y, row.x, row.z, up.y, down.y),
      relaxed(row.z, row.y, row.w, up.z, down.z), relaxed(row.w, row.z, right, up.w, down.w));
}

/// A step of the five points, ROWS rows of four cells a thread: what is above and below comes from the thread's own
/// registers, what is left and right from the lanes beside it.
///
/// Launch: blocks (32, WARPS), a warp for each ROWS rows of 128 cells.
template <bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    five_columns(float* __restrict__ out, const float* __restrict__ in, int rows, int cols) {
  const int lane = threadIdx.x, x = (blockIdx.x * 32 + lane) * 4;
  const int y0 = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
  float4 row[ROWS + 2];
  float left[ROWS], right[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS + 2; ++k) {
    row[k] = float4_of<WIDE>(in + size_t(inside(y0 + k - 1, rows)) * cols, x, cols);
  }
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {  // the warp's first and last lane load one cell more
    const float* const from = in + size_t(inside(y0 + k, rows)) * cols;
    left[k] = lane == 0 && 0 < x && x <= cols ? from[x - 1] : 0;
    right[k] = lane == 31 && x + 4 < cols ? from[x + 4] : 0;
  }
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int y = y0 + k;
    const float4 now = row[k + 1];
    const float before = __shfl_up_sync(ALL, now.w, 1), behind = __shfl_down_sync(ALL, now.x, 1);
    if (lane != 0) left[k] = before;
    if (lane != 31) right[k] = behind;
    float4 next = keep_ends(relaxed4(row[k], now, row[k + 2], left[k], right[k]), now, x, cols);
    if (y == 0 || y == rows - 1) next = now;
    if (y < rows) store_float4_of<WIDE>(out + size_t(y) * cols, x, cols, next);
  }
}

// 0.99: a stencil of five points costs what a copy costs. The core takes 217 ms for a step, this kernel 0.51 ms: 525 billion
// cell updates a second.
//= 0.99: ratio("five_columns")
//= 525 billion: rate("five_columns") / 8
//= 217 ms for a step, this kernel 0.51 ms: (ms("on_cpu"), ms("five_columns"))
//
// ## 4. Seven points: a neighbour a plane away
//
// In 3D two of the neighbours lie in other planes, a megabyte away. A thread that takes one cell makes seven loads. A step
// takes 0.4 of the cell and 0.1 of each of its six neighbours; `box.row(z, y)` is where row y of plane z begins.

/// The next value of a cell in 3D.
__host__ __device__ inline float relaxed(float centre, float left, float right, float up,
                                         float down, float front, float back) {
  return fmaf(FACE, (((left + right) + (up + down)) + front) + back, MIDDLE * centre);
}

/// A step of the seven points; cells at the edge keep their values.
///
/// Launch: one thread for each cell, x along a row, y from row to row, z from plane to plane.
__global__ void seven_naive(float* __restrict__ out, const float* __restrict__ in, Box box) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= box.cols || y >= box.rows) return;
  const size_t i = box.row(z, y) + x, plane = box.plane();
  const bool edge = x == 0 || x == box.cols - 1 || box.at_edge(z, y);
  out[i] = edge ? in[i]
                : relaxed(in[i], in[i - 1], in[i + 1], in[i - box.cols], in[i + box.cols],
                          in[i - plane], in[i + plane]);
}

// A thread that walks along z needs only one new cell of its column in each step: the two others it has loaded before.
// They stay in registers, and the seven loads become five. This is called 2.5D blocking: two dimensions across threads,
// the third by a loop.
//
// ```{drawing} queue
// ```

/// The same; a thread takes `depth` cells behind each other, and keeps the last three in registers.
///
/// Launch: one thread for each column of `depth` cells along z; in z a block for each of them.
__global__ void seven_column(float* __restrict__ out, const float* __restrict__ in, Box box,
                             int depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  if (x >= box.cols || y >= box.rows) return;
  float front = in[box.row(first - 1, y) + x], centre = in[box.row(first, y) + x];
  for (int z = first; z < last; ++z) {
    const size_t i = box.row(z, y) + x;
    const float back = in[box.row(z + 1, y) + x];
    const bool edge = x == 0 || x == box.cols - 1 || box.at_edge(z, y);
    out[i] = edge ? centre
                  : relaxed(centre, in[i - 1], in[i + 1], in[i - box.cols], in[i + box.cols], front,
                            back);
    front = centre, centre = back;
  }
}

// From 0.50 to 0.63 of the copy. The next step is that of section 3: float4s, and two rows of them.
//= 0.50 to 0.63: (ratio("seven_naive/box=cube"), ratio("seven_column/box=cube"))

/// The next values of four cells of a row in 3D.
__device__ inline float4 relaxed4(float4 row, float left, float right, float4 up, float4 down,
                                  float4 front, float4 back) {
  return make_float4(relaxed(row.x, left, row.y, up.x, down.x, front.x, back.x),
                     relaxed(row.y, row.x, row.z, up.y, down.y, front.y, back.y),
                     relaxed(row.z, row.y, row.w, up.z, down.z, front.z, back.z),
                     relaxed(row.w, row.z, right, up.w, down.w, front.w, back.w));
}

/// The same, ROWS rows of four cells a thread.
///
/// Launch: blocks of 32 * WARPS threads; in x one for each 128 cells, in y for each ROWS * WARPS, in z for each `depth`.
template <bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    seven_columns(float* __restrict__ out, const float* __restrict__ in, Box box, int depth) {
  const int lane = threadIdx.x % 32, x = blockIdx.x * 128 + lane * 4, cols = box.cols;
  const int y0 = (blockIdx.y * WARPS + threadIdx.x / 32) * ROWS;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  const auto load = [&](int z, int y) { return float4_of<WIDE>(in + box.row(z, y), x, cols); };
  float4 front[ROWS], row[ROWS], back[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; ++k) front[k] = load(first - 1, y0 + k), row[k] = load(first, y0 + k);
  for (int z = first; z < last; ++z) {
    float left[ROWS], right[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; ++k) back[k] = load(z + 1, y0 + k);
    const float4 above = load(z, y0 - 1), below = load(z, y0 + ROWS);
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      const float* const from = in + box.row(z, y0 + k);
      left[k] = lane == 0 && 0 < x && x <= cols ? from[x - 1] : 0;
      right[k] = lane == 31 && x + 4 < cols ? from[x + 4] : 0;
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      const int y = y0 + k;
      const float before = __shfl_up_sync(ALL, row[k].w, 1);
      const float behind = __shfl_down_sync(ALL, row[k].x, 1);
      if (lane != 0) left[k] = before;
      if (lane != 31) right[k] = behind;
      const float4 up = k > 0 ? row[k - 1] : above, down = k + 1 < ROWS ? row[k + 1] : below;
      float4 next = relaxed4(row[k], left[k], right[k], up, down, front[k], back[k]);
      next = box.at_edge(z, y) ? row[k] : keep_ends(next, row[k], x, cols);
      if (y < box.rows) store_float4_of<WIDE>(out + box.row(z, y), x, cols, next);
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) front[k] = row[k], row[k] = back[k];
  }
}

// That makes 0.86. In each step a thread has four float4s on their way before it computes. Let it take four planes in a step: a
// brick of two rows in four planes loads sixteen. The last two planes of a brick are the first of the next, and stay in registers.
//= 0.86: ratio("seven_columns/box=cube")
//
// The thread could as well stop after one brick. More blocks then run at the same time, each of which loads the planes in
// front of its brick and behind it.
//
//? bricks: Which is faster, one brick a thread (`depth=4`), or two of them one behind the other (`depth=8`)?
//? choices: one brick | two bricks
//? answer: {"one brick": ms("seven_bricks/box=cube,depth=4") < ms("seven_bricks/box=cube,depth=8"),
//?   "two bricks": ms("seven_bricks/box=cube,depth=8") < ms("seven_bricks/box=cube,depth=4")}

/// The same; a step takes a brick of ROWS rows of four cells in PLANES planes: everything is loaded before anything is
/// computed.
///
/// Launch: blocks of ACROSS * DOWN warps; in x one for each 128 * ACROSS cells, in y for each ROWS * DOWN, in z for each
/// depth, a multiple of PLANES.
template <bool WIDE, int ROWS, int PLANES, int ACROSS, int DOWN>
__global__ void __launch_bounds__(32 * ACROSS * DOWN)
    seven_bricks(float* __restrict__ out, const float* __restrict__ in, Box box, int depth) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, cols = box.cols, end = cols - 1;
  const int x = ((blockIdx.x * ACROSS + warp % ACROSS) * 32 + lane) * 4;
  const int y0 = (blockIdx.y * DOWN + warp / ACROSS) * ROWS;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  // The column that the warp's first or last lane needs besides its own.
  const int beside = lane == 0 ? x - 1 : x + 4;
  const bool outer = (lane == 0 || lane == 31) && 0 <= beside && beside < cols;
  int start[ROWS + 2];  // of each row in its plane
#pragma unroll
  for (int k = 0; k < ROWS + 2; ++k) start[k] = inside(y0 + k - 1, box.rows) * cols;
  const auto plane = [&](int z) { return in + inside(z, box.planes) * box.plane(); };

  float4 row[PLANES + 2][ROWS], above[PLANES], below[PLANES];
  float side[PLANES][ROWS];
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      row[j][k] = float4_of<WIDE>(plane(first + j - 1) + start[k + 1], x, cols);
    }
  }
  for (int z0 = first; z0 < last; z0 += PLANES) {
#pragma unroll
    for (int j = 0; j < PLANES; ++j) {
      const float *const here = plane(z0 + j), *const next = plane(z0 + j + 1);
      above[j] = float4_of<WIDE>(here + start[0], x, cols);
      below[j] = float4_of<WIDE>(here + start[ROWS + 1], x, cols);
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        row[j + 2][k] = float4_of<WIDE>(next + start[k + 1], x, cols);
        side[j][k] = outer ? here[start[k + 1] + beside] : 0;
      }
    }
#pragma unroll
    for (int j = 0; j < PLANES; ++j) {
      const int z = z0 + j;
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        const float4 now = row[j + 1][k];
        const float before = __shfl_up_sync(ALL, now.w, 1);
        const float behind = __shfl_down_sync(ALL, now.x, 1);
        const float left = lane == 0 ? side[j][k] : before;
        const float right = lane == 31 ? side[j][k] : behind;
        const float4 up = k > 0 ? row[j + 1][k - 1] : above[j];
        const float4 down = k + 1 < ROWS ? row[j + 1][k + 1] : below[j];
        float4 next = relaxed4(now, left, right, up, down, row[j][k], row[j + 2][k]);
        const bool keep = box.at_edge(z, y0 + k);  // selects, where a conditional would be a branch
        if (keep || x == 0 || x >= end) next.x = now.x;
        if (keep || x + 1 >= end) next.y = now.y;
        if (keep || x + 2 >= end) next.z = now.z;
        if (keep || x + 3 >= end) next.w = now.w;
        if (y0 + k < box.rows && z < last) {
          store_float4_of<WIDE>(out + z * box.plane() + start[k + 1], x, cols, next);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) row[0][k] = row[PLANES][k], row[1][k] = row[PLANES + 1][k];
  }
}

// Two bricks reach 0.94 of the copy in the cube, and 0.95 in the brick, two of whose extents are no powers of two.
//= 0.94 of the copy in the cube, and 0.95: (ratio("seven_bricks/box=cube,depth=8"), ratio("seven_bricks/box=brick,depth=8"))
//
// ## 5. Twenty-five points (second reading)
//
// Seismic codes use derivatives of high order: four cells to each side in x, y and z. Each cell is read 25 times, and the
// halo of a tile is four cells wide.

/// A step of the 25 points; cells in a layer of REACH at the edge keep their values.
///
/// Launch: as `seven_naive`.
__global__ void far_naive(float* __restrict__ out, const float* __restrict__ in, Box box) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= box.cols || y >= box.rows) return;
  const size_t i = box.row(z, y) + x, row = box.cols, plane = box.plane();
  float sum = in[i];
  if (REACH <= x && x < box.cols - REACH && !box.at_edge(z, y, REACH)) {
    sum *= far_weight(0);
#pragma unroll
    for (int d = 1; d <= REACH; ++d) {
      sum = fmaf(far_weight(d),
                 (in[i - d] + in[i + d]) + (in[i - d * row] + in[i + d * row]) +
                     (in[i - d * plane] + in[i + d * plane]),
                 sum);
    }
  }
  out[i] = sum;
}

// A queue of nine planes in registers leaves sixteen neighbours in the plane itself. Those to the left and right are in
// two float4s, those above and below in eight.

/// The same, ROWS rows of four cells a thread, which walks along z. The cells before and behind are in a queue in
/// registers; those above, below, left and right are loaded again, and those of the block itself may still be in L1.
///
/// Launch: as `seven_columns`.
template <bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    far_queue(float* __restrict__ out, const float* __restrict__ in, Box box, int depth) {
  const int lane = threadIdx.x % 32, x = blockIdx.x * 128 + lane * 4, cols = box.cols;
  const int y0 = (blockIdx.y * WARPS + threadIdx.x / 32) * ROWS;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  const auto load = [&](int z, int y) { return float4_of<WIDE>(in + box.row(z, y), x, cols); };
  float4 queue[2 * REACH + 1][ROWS];  // planes z - REACH to z + REACH
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
#pragma unroll
    for (int d = 0; d < 2 * REACH; ++d) queue[d + 1][k] = load(first - REACH + d, y0 + k);
  }
  for (int z = first; z < last; ++z) {
    float4 column[ROWS + 2 * REACH];
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
#pragma unroll
      for (int d = 0; d < 2 * REACH; ++d) queue[d][k] = queue[d + 1][k];
      queue[2 * REACH][k] = load(z + REACH, y0 + k);
    }
#pragma unroll
    for (int j = 0; j < ROWS + 2 * REACH; ++j) {
      const bool own = REACH <= j && j < ROWS + REACH;
      column[j] = own ? queue[REACH][own ? j - REACH : 0] : load(z, y0 + j - REACH);
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      const int y = y0 + k;
      const float* const row = in + box.row(z, y);
      float4 sum =
          far_in_plane(make_float4(0, 0, 0, 0), column + k, float4_of<WIDE>(row, x - 4, cols),
                       float4_of<WIDE>(row, x + 4, cols));
#pragma unroll
      for (int d = 1; d <= REACH; ++d) {
        sum = fma4(far_weight(d), queue[REACH - d][k] + queue[REACH + d][k], sum);
      }
      const float4 now = queue[REACH][k];
      sum = box.at_edge(z, y, REACH) ? now : keep_ends(sum, now, x, cols, REACH);
      if (y < box.rows) store_float4_of<WIDE>(out + box.row(z, y), x, cols, sum);
    }
  }
}

// The queue takes `far_naive` from 0.35 of the copy to 0.49. On a Hopper GPU, `far_tma` lets the TMA fetch planes with their
// halo into shared memory, and keeps sums instead of planes: each plane is read once, when it comes. It reaches 0.62. All
// of them are far from the copy, and this chapter does not get closer. The time that is left is not explained by a
// measurement here.
//= 0.35 of: ratio("far_naive/box=cube")
//= 0.49: ratio("far_queue/box=cube")
//= 0.62: ratio("far_tma/box=cube")
//
// ## 6. Several steps in one pass
//
// A solver takes thousands of steps. Each of them reads the grid and writes it, and two arrays change places: ping-pong.
// No kernel for *one* step beats the copy. But two steps in one pass over memory need the bytes of one.
//
// Take a tile, and step it twice on the chip. The cells at its border have neighbours that the tile does not have, so one
// more layer goes wrong with each step. With overlapping tiles, the wrong ones of each are right in another. The overlap
// is computed twice.
//
// ```{drawing} time
// ```
//
// In 2D a warp can do that alone. It walks down a strip of 128 columns, a float4 in each lane. Call the grid after t steps
// its *level* t; level 0 is what is loaded. When row y of level 0 comes in, row y - 1 of level 1 can be computed, then
// row y - 2 of level 2, and so on: each level keeps the last two rows of the level below, in registers. There is no shared
// memory and no barrier; left and right are shuffles.
//
//? strips: With eight steps in one pass, how many times the rate of a copy is T_eff?
//? answer: 8 * ratio("five_strips/steps=8")
//? unit: times
//? near: 25 %

/// Walks down a strip of 128 columns, of which a lane has four, and takes STEPS steps on the way. With each row that
/// comes in, level t can compute the row t above it: it needs the last three of the level below, and keeps two.
///
/// @param x  the lane's first column
/// @param y0, y1  the rows to be written
/// @param mine  whether the lane's columns are to be written: those near the border of the strip go wrong, one more on
///   each side with every step
template <bool WIDE, int STEPS, bool ENDS>
__device__ inline void walk_down(float* __restrict__ out, const float* __restrict__ in, int rows,
                                 int cols, int x, int y0, int y1, bool mine) {
  constexpr int AHEAD = 4;  // rows on their way
  float4 above[STEPS], here[STEPS], coming[AHEAD];
#pragma unroll
  for (int t = 0; t < STEPS; ++t) above[t] = here[t] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    coming[k] = float4_of<WIDE>(in + size_t(inside(y0 - STEPS + k, rows)) * cols, x, cols);
  }
  for (int first = y0 - STEPS; first < y1 + STEPS; first += AHEAD) {
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const int y = first + k;
      float4 row = coming[k];  // row y, of level 0
      coming[k] = float4_of<WIDE>(in + size_t(inside(y + AHEAD, rows)) * cols, x, cols);
#pragma unroll
      for (int t = 0; t < STEPS; ++t) {  // row is row y - t of level t
        const float4 now = here[t];
        const float left = __shfl_up_sync(ALL, now.w, 1), right = __shfl_down_sync(ALL, now.x, 1);
        float4 next = relaxed4(above[t], now, row, left, right);
        if (ENDS) next = keep_ends(next, now, x, cols);
        if (y - t - 1 == 0 || y - t - 1 == rows - 1) next = now;
        above[t] = now, here[t] = row, row = next;
      }
      const int done = y - STEPS;
      if (mine && y0 <= done && done < y1)
        store_float4_of<WIDE>(out + size_t(done) * cols, x, cols, row);
    }
  }
}

/// Columns on each side of a strip or tile that go wrong in so many steps, in whole float4s.
__host__ __device__ constexpr int margin(int steps) { return (steps + 3) / 4 * 4; }

/// STEPS steps of the five points. Every warp has a strip of 128 columns, of which 128 - 2 margin(STEPS) come out
/// right, and walks down `height` rows of it; the strips and the pieces overlap.
///
/// Launch: blocks of 32 * WARPS threads; in x a warp for each strip, in y a block for each `height` rows.
/// Source: register queues as in AN5D (Matsumura, Zohouri, Wahib, Endo and Matsuoka, 2020), a warp instead of a block.
template <bool WIDE, int STEPS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS, 16 / WARPS)
    five_strips(float* __restrict__ out, const float* __restrict__ in, int rows, int cols,
                int height) {
  constexpr int MARGIN = margin(STEPS), USED = 128 - 2 * MARGIN;
  const int lane = threadIdx.x % 32, strip = blockIdx.x * WARPS + threadIdx.x / 32;
  if (strip * USED >= cols) return;
  const int x0 = strip * USED - MARGIN, x = x0 + lane * 4;
  const int y0 = blockIdx.y * height, y1 = min(rows, y0 + height);
  const bool mine = MARGIN / 4 <= lane && lane < 32 - MARGIN / 4;
  if (0 < x0 && x0 + 128 < cols) {
    walk_down<WIDE, STEPS, false>(out, in, rows, cols, x, y0, y1, mine);
  } else {
    walk_down<WIDE, STEPS, true>(out, in, rows, cols, x, y0, y1, mine);
  }
}

// Two steps in a pass make 1.5 times the copy, four 3.1 times, eight 4.8 times, 2.5 trillion cell updates a second. To walk down a strip costs a quarter more
// than `five_columns`, for two steps as for four. With eight the pass takes 1.7 times as long, and 18 % of what it computes
// is thrown away: 16 of 128 columns and 16 of 272 rows.
//= 1.5 times: 2 * ratio("five_strips/steps=2")
//= 3.1 times: 4 * ratio("five_strips/steps=4")
//= 4.8 times: 8 * ratio("five_strips/steps=8")
//= 2.5 trillion: rate("five_strips/steps=8") / 8000
//= a quarter: ms("five_strips/steps=4") / ms("five_columns") - 1
//= 1.7 times: ms("five_strips/steps=8") / ms("five_columns")
//= 18 %: 100 * (1 - 112 / 128 * 256 / 272)
//
// In 3D the border of a tile is larger. A warp cannot hold a tile that is wide in x and in y, so a block does: each warp
// has a row of 128 columns along z, and shows it to the warps above and below through shared memory. One barrier for each
// plane is enough for all levels, since each reads what was shown in the plane before.
//
//? tiles: And three steps of the seven points, in the cube?
//? answer: 3 * ratio("seven_tiles/box=cube,steps=3")
//? unit: times
//? near: 25 %

/// Walks through `depth` planes of a tile, and takes STEPS steps on the way: see `seven_tiles`.
template <bool WIDE, int STEPS, int WARPS, bool ENDS>
__device__ __forceinline__ void walk_through(float* __restrict__ out, const float* __restrict__ in,
                                             Box box, float4* shown, int x, int y, int first,
                                             int last, bool mine) {
  constexpr int LEVEL = WARPS * 32, PLANE = STEPS * LEVEL;  // of shown, in float4s
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, cols = box.cols;
  float4* const own = shown + warp * 32 + lane;
  const float4* const upper = shown + max(warp - 1, 0) * 32 + lane;
  const float4* const lower = shown + min(warp + 1, WARPS - 1) * 32 + lane;
  const bool edge = y <= 0 || y >= box.rows - 1;
  const float* from = in + box.row(first - STEPS, y);
  float* to = out + box.row(first, y);

  float4 front[STEPS], here[STEPS], coming = float4_of<WIDE>(from, x, cols);
#pragma unroll
  for (int t = 0; t < STEPS; ++t) front[t] = here[t] = make_float4(0, 0, 0, 0);
  const int planes = last - first + 2 * STEPS;
#pragma unroll 6
  for (int k = 0; k < planes;
       ++k) {  // 6: three names change places in a queue, and two halves of shown
    const int z = first - STEPS + k, now_at = k % 2 * PLANE, before_at = PLANE - now_at;
    float4 row = coming;  // of plane z and level 0
    if (0 <= z && z + 1 < box.planes) from += box.plane();
    coming = float4_of<WIDE>(from, x, cols);
#pragma unroll
    for (int t = 0; t < STEPS; ++t) {  // row is of plane z - t and level t
      const float4 up = upper[before_at + t * LEVEL], down = lower[before_at + t * LEVEL];
      own[now_at + t * LEVEL] = row;
      const float4 now = here[t];
      const float left = __shfl_up_sync(ALL, now.w, 1), right = __shfl_down_sync(ALL, now.x, 1);
      float4 next = relaxed4(now, left, right, up, down, front[t], row);
      if (ENDS) next = keep_ends(next, now, x, cols);
      if (edge || z - t - 1 <= 0 || z - t - 1 >= box.planes - 1) next = now;
      front[t] = now, here[t] = row, row = next;
    }
    if (k >= 2 * STEPS) {
      if (mine) store_float4_of<WIDE>(to, x, cols, row);
      to += box.plane();
    }
    __syncthreads();  // what is shown of this plane is there, and that of the one before has been read
  }
}

/// Bytes of shared memory of a block of `seven_tiles`.
constexpr size_t tile_bytes(int steps, int warps) {
  return size_t{2} * steps * warps * 32 * sizeof(float4);
}

/// STEPS steps of the seven points. A block has a tile of 128 x WARPS columns along z, a warp a row of it, and walks
/// through `depth` planes. 128 - 2 margin(STEPS) times WARPS - 2 STEPS of the columns come out right; the tiles overlap.
/// Each level keeps the last two planes of the one below in registers, and what the warps above and below need goes
/// through shared memory.
///
/// Launch: blocks of 32 * WARPS threads with tile_bytes; in x and y one for each tile, in z for each `depth` planes.
/// Source: as `five_strips`; in 3D, 3.5D blocking (Nguyen, Satish, Chhugani, Kim and Dubey, 2010).
template <bool WIDE, int STEPS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    seven_tiles(float* __restrict__ out, const float* __restrict__ in, Box box, int depth) {
  constexpr int MARGIN = margin(STEPS), USED_X = 128 - 2 * MARGIN, USED_Y = WARPS - 2 * STEPS;
  extern __shared__ float4
      shown[];  // (2, STEPS, WARPS, 32): rows of this plane and of the one before
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x0 = blockIdx.x * USED_X - MARGIN, x = x0 + lane * 4,
            y = blockIdx.y * USED_Y - STEPS + warp;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  const bool mine = MARGIN / 4 <= lane && lane < 32 - MARGIN / 4 && STEPS <= warp &&
                    warp < WARPS - STEPS && y < box.rows;
  // What the first planes find there goes into cells that are not used, but it has to be there.
  for (int k = threadIdx.x; k < 2 * STEPS * WARPS * 32; k += 32 * WARPS)
    shown[k] = make_float4(0, 0, 0, 0);
  __syncthreads();
  if (0 < x0 && x0 + 128 < box.cols) {
    walk_through<WIDE, STEPS, WARPS, false>(out, in, box, shown, x, y, first, last, mine);
  } else {
    walk_through<WIDE, STEPS, WARPS, true>(out, in, box, shown, x, y, first, last, mine);
  }
}

// 1.5 times in the cube. Of the 32 rows of a tile 26 come out right, of its 128 columns 120. What shared memory, the
// barrier of each plane and the planes at both ends take was not measured. The loop is unrolled by six, because three
// registers change roles in a queue and two buffers in shared memory: so a role is the name of a register, and no value is moved.
//= 1.5 times: 3 * ratio("seven_tiles/box=cube,steps=3")
//= 32 rows of a tile 26 come: (32, 32 - 2 * 3)
//
// ## 7. A grid that stays on the chip (second reading)
//
// 2048 x 2048 floats are 16 MiB. The registers of 132 SMs hold 33 MiB. So a grid of this size need not leave the chip at
// all: one kernel takes all steps, and each block keeps 16 rows in registers.
//= 16 MiB: 2048 * 2048 * 4 / 2**20
//= 132 SMs hold 33 MiB: (132, 132 * 256 / 1024)
//
// The baseline launches a kernel for each of a hundred steps. The grid and its copy, 32 MiB, fit in L2. That alone gains
// little: chapter 06 copies as much out of L2 at 4.4 TB/s, which would take 7.7 us. The kernel that stays saves launch and bytes.
//= 4.4 TB/s: rate("06:pieces/mib=32") / 1000
//= 7.7 us: 2 * 2048 * 2048 * 4 / rate("06:pieces/mib=32") / 1000

constexpr int STEPS_ON_CHIP = 100;  ///< of the grid that fits on the chip

/// STEPS_ON_CHIP steps of the five points, a launch for each: from in to out and to the array behind it, in turn.
void step_by_step(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8;
  float* const other = out + box.cells();
  for (int left = STEPS_ON_CHIP; left > 0; --left) {
    float* const to = left % 2 == 0 ? other : out;
    five_columns<true, ROWS, WARPS>
        <<<tiles_of(box, 128, ROWS * WARPS), dim3(32, WARPS)>>>(to, in, box.rows, box.cols);
    in = to;
  }
}

// Only the first and the last row of a block leave the SM: the blocks above and below need them. All blocks wait for each
// other in each step, so all of them must run at the same time: a cooperative launch (chapter 07).
//
// ```{drawing} resident
// ```
//
// How does a block know that a row of its neighbour has come? With a barrier of the whole grid after each step, behind
// which everything is there: `barrier=grid`. Or each value says so itself: 64 bits hold the float and the step that it
// belongs to, and arrive as one. A thread reads the four words of its columns again until they are of this step. Nobody
// waits for the grid, and no fence is needed, since there is no flag that could be seen before the values:
// `barrier=none`.
//
//? resident: How many times as fast as launches is the kernel that stays, without the barrier?
//? answer: ms("step_by_step/small") / ms("resident/small,barrier=none")
//? unit: times
//? near: factor 2

/// 64 bits that threads of all blocks read and write as one.
using Word = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;

constexpr int KEPT = 16, KEPT_WARPS = 16;  ///< rows that a block of `resident` keeps, and its warps

/// Words of a row that `resident` shows: of whole warps.
__host__ __device__ inline int words_of_row(int cols) { return (cols + 127) / 128 * 128; }

/// A thread's four cells of a row, for another block. Those of a warp lie side by side: word k of a lane is 32 words
/// behind word k - 1. The upper half of a word is the step that the value belongs to.
struct Shown {
  std::uint64_t* words;

  __device__ void store(unsigned step, float4 four) const {
    const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Word(words[32 * k])
          .store(std::uint64_t{step} << 32 | __float_as_uint(values[k]),
                 cuda::memory_order_relaxed);
    }
  }
  /// Waits until all four are of this step.
  __device__ float4 wait_for(unsigned step) const {
    std::uint64_t read[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) read[k] = of(k);  // all four on their way at once
    float values[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      while (read[k] >> 32 != step) read[k] = of(k);
      values[k] = __uint_as_float(static_cast<unsigned>(read[k]));
    }
    return make_float4(values[0], values[1], values[2], values[3]);
  }
  __device__ std::uint64_t of(int k) const {
    return Word(words[32 * k]).load(cuda::memory_order_relaxed);
  }
};

/// `steps` steps of the five points. A block keeps KEPT rows in registers, a warp 128 columns of them. Only a block's
/// first and last row leave the SM in each step, for the blocks above and below.
///
/// @param shown  those rows, of two steps: (2, gridDim.x, 2, words_of_row(cols)); zeros at first
///
/// Launch: cooperatively, a block of 32 * KEPT_WARPS threads for each KEPT rows.
/// Requires: rows a multiple of KEPT; cols a multiple of 4, at most 128 * KEPT_WARPS.
/// Source: PERKS (Zhang, Wahib, Chen, Meng, Wang, Endo and Matsuoka, 2023); a value that carries its step is the LL
/// protocol of NCCL.
template <bool BARRIER>
__global__ void __launch_bounds__(32 * KEPT_WARPS)
    resident(float* __restrict__ out, const float* __restrict__ in, std::uint64_t* shown, int rows,
             int cols, int steps) {
  constexpr int EARLY = 10;  // rows before those that are shown, which so have time to arrive
  // First and last column of each warp, of two steps.
  __shared__ float sides[2][KEPT_WARPS + 2][2][KEPT];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = threadIdx.x * 4;
  const int block = blockIdx.x, blocks = gridDim.x;
  const bool there = x < cols, outer = lane == 0 || lane == 31;
  for (int k = threadIdx.x; k < 4 * KEPT; k += 32 * KEPT_WARPS) {
    sides[k / 2 / KEPT][0][k / KEPT % 2][k % KEPT] =
        0;  // beside the first warp and the last: nothing
    sides[k / 2 / KEPT][KEPT_WARPS + 1][k / KEPT % 2][k % KEPT] = 0;
  }
  const auto show_side = [&](int step, int k, float4 four) {
    if (outer) sides[step % 2][warp + 1][lane != 0][k] = lane == 0 ? four.x : four.w;
  };
  const auto place = [&](int step, int row) {  // of rows 0 and 1 of a block, the first and the last
    return Shown{shown + (size_t(step % 2) * blocks * 2 + row) * words_of_row(cols) + warp * 128 +
                 lane};
  };
  const int own = 2 * block;
  const bool has_upper = block > 0, has_lower = block < blocks - 1;

  float4 row[KEPT];
#pragma unroll
  for (int k = 0; k < KEPT; ++k) {
    row[k] = float4_of<true>(in + size_t(block * KEPT + k) * cols, x, cols);
    show_side(0, k, row[k]);
  }
  if (there && has_upper) place(0, own).store(1, row[0]);
  if (there && has_lower) place(0, own + 1).store(1, row[KEPT - 1]);

  for (int step = 0; step < steps; ++step) {
    if (BARRIER) {
      cooperative_groups::this_grid().sync();
    } else {
      __syncthreads();  // the sides are there
    }
    const auto next = [&](int k, float4 up, float4 now, float4 down) {
      float left = __shfl_up_sync(ALL, now.w, 1), right = __shfl_down_sync(ALL, now.x, 1);
      const float beside = outer ? sides[step % 2][lane == 0 ? warp : warp + 2][lane == 0][k] : 0;
      if (lane == 0) left = beside;
      if (lane == 31) right = beside;
      return keep_ends(relaxed4(up, now, down, left, right), now, x, cols);
    };
    const float4 second = row[1], last = row[KEPT - 1];
    float4 up = row[0];
    const auto inner = [&](int k) {
      const float4 now = row[k], down = k + 1 < KEPT - 1 ? row[k + 1] : last;
      row[k] = next(k, up, now, down);
      show_side(step + 1, k, row[k]);
      up = now;
    };
#pragma unroll
    for (int k = 1; k <= EARLY; ++k) inner(k);
    if (has_upper) {
      const float4 above = there ? place(step, own - 1).wait_for(step + 1) : row[0];
      row[0] = next(0, above, row[0], second);
      if (there) place(step + 1, own).store(step + 2, row[0]);
    }
    if (has_lower) {
      const float4 below = there ? place(step, own + 2).wait_for(step + 1) : last;
      row[KEPT - 1] = next(KEPT - 1, row[KEPT - 2], last, below);
      if (there) place(step + 1, own + 1).store(step + 2, row[KEPT - 1]);
    }
    show_side(step + 1, 0, row[0]), show_side(step + 1, KEPT - 1, row[KEPT - 1]);
#pragma unroll
    for (int k = EARLY + 1; k < KEPT - 1; ++k) inner(k);
  }
#pragma unroll
  for (int k = 0; k < KEPT; ++k) {
    store_float4_of<true>(out + size_t(block * KEPT + k) * cols, x, cols, row[k]);
  }
}

// A step by launches takes 8.4 us, one in the kernel with the barrier 4.3 us, one without it 2.6 us. The two kernels differ in
// that line alone. A block that computes ten of its rows first, before it looks at what its neighbours show, gives the words
// time to arrive.
//= 8.4 us: ms("step_by_step/small") * 10
//= 4.3 us: ms("resident/small,barrier=grid") * 10
//= 2.6 us: ms("resident/small,barrier=none") * 10

// ## 8. Filters on images (second reading)
//
// A filter replaces each pixel of an image by a weighted sum of the pixels around it. Blurring, sharpening and finding edges
// are done by filters of 3 x 3 to 15 x 15 weights. The image has 8192 x 8192 pixels, a quarter of the grid.
//
// What is beyond the edge of the image has to be decided: zeros, the nearest pixel, or the image again from its other side.
// A template parameter decides, so that a kernel has the code of one case alone.

/// What stands beyond the edge: zeros, the nearest pixel, or the image from its other side on.
enum class Edge { zero, clamp, periodic };

/// The index in [0, n) that stands for i; -1 for a zero.
template <Edge EDGE>
__host__ __device__ inline int beyond(int i, int n) {
  if (0 <= i && i < n) return i;
  return EDGE == Edge::zero ? -1 : EDGE == Edge::clamp ? inside(i, n) : (i % n + n) % n;
}

/// Pixel (y, x), or what stands for it.
template <Edge EDGE>
__host__ __device__ inline float pixel(const float* image, int y, int x, Box box) {
  const int from_y = beyond<EDGE>(y, box.rows), from_x = beyond<EDGE>(x, box.cols);
  return from_y < 0 || from_x < 0 ? 0 : image[size_t(from_y) * box.cols + from_x];
}

constexpr int MOST_WEIGHTS = 15 * 15;
__constant__ float weights[MOST_WEIGHTS];  ///< of a filter, row by row

/// A filter of 2 RADIUS + 1 rows and columns.
///
/// Launch: one thread for each pixel, x along the rows.
template <int RADIUS, Edge EDGE>
__global__ void filter_naive(float* __restrict__ out, const float* __restrict__ in, Box box) {
  constexpr int SIZE = 2 * RADIUS + 1;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= box.cols || y >= box.rows) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {
      sum = fmaf(weights[i * SIZE + j], pixel<EDGE>(in, y + i - RADIUS, x + j - RADIUS, box), sum);
    }
  }
  out[box.row(0, y) + x] = sum;
}

// ### Textures
//
// A *texture* is an image that is read by coordinates. The texture unit of the SM computes the address, and also answers for what is
// beyond the edge: a border of zeros, the nearest pixel, or the image again. So the kernel has no guard left.
//
//? texture: Is `filter_texture` faster than `filter_naive` for 7 x 7?
//? choices: with all three edges | with the periodic edge alone | with none
//? answer: {"with all three edges": ms("filter_texture/size=7") < ms("filter_naive/size=7") and ms("filter_texture/size=7,edge=clamp") < ms("filter_naive/size=7,edge=clamp"),
//?   "with the periodic edge alone": ms("filter_texture/size=7") > ms("filter_naive/size=7") and ms("filter_texture/size=7,edge=periodic") < ms("filter_naive/size=7,edge=periodic"),
//?   "with none": ms("filter_texture/size=7,edge=periodic") > ms("filter_naive/size=7,edge=periodic")}

/// The same, each pixel by a texture read. `image` is addressed by indices, or where the edge is periodic by parts of its
/// extents: only then a texture repeats.
///
/// Launch: as `filter_naive`.
template <int RADIUS, Edge EDGE>
__global__ void filter_texture(float* __restrict__ out, cudaTextureObject_t image, Box box) {
  constexpr int SIZE = 2 * RADIUS + 1;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= box.cols || y >= box.rows) return;
  const float across = EDGE == Edge::periodic ? 1.f / box.cols : 1;
  const float down = EDGE == Edge::periodic ? 1.f / box.rows : 1;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
#pragma unroll
    for (int j = 0; j < SIZE; ++j) {  // the middle of pixel 0 is at 0.5
      const float pixel =
          tex2D<float>(image, across * (x + j - RADIUS + 0.5f), down * (y + i - RADIUS + 0.5f));
      sum = fmaf(weights[i * SIZE + j], pixel, sum);
    }
  }
  out[box.row(0, y) + x] = sum;
}

// A texture can also *filter*: a read between pixels gives their linear interpolation. So one read does the work of two
// neighbouring taps a and b, if it is made b / (a + b) of the way from one pixel to the other, and its result is multiplied by
// a + b. In two dimensions it does that of four: 16 reads instead of 49 for a separable filter of 7 x 7 whose taps are positive
// (Sigg and Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, 2005).
//
//? between: How many correct digits does that leave?
//? choices: two or three | five | seven
//? answer: {"two or three": 1e-4 < error("filter_between/size=7") < 2e-2, "five": 1e-6 < error("filter_between/size=7") < 1e-4,
//?   "seven": error("filter_between/size=7") < 1e-6}

/// Two neighbouring taps as one read: how far it lies from the first pixel of the window, and what it is multiplied by.
struct Between {
  float at, weight;
};
constexpr int MOST_PAIRS = 8;
__constant__ Between between[2][MOST_PAIRS];  ///< of a filter that is a product: along y, along x

/// `filter_separable` in one pass: a read between 2 x 2 pixels weighs them. `image` is addressed by indices, and filters linearly.
///
/// Launch: as `filter_naive`.
template <int RADIUS>
__global__ void filter_between(float* __restrict__ out, cudaTextureObject_t image, Box box) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= box.cols || y >= box.rows) return;
  const float x0 = x - RADIUS + 0.5f, y0 = y - RADIUS + 0.5f;
  float sum = 0;
#pragma unroll
  for (int i = 0; i <= RADIUS; ++i) {
#pragma unroll
    for (int j = 0; j <= RADIUS; ++j) {
      sum = fmaf(between[0][i].weight * between[1][j].weight,
                 tex2D<float>(image, x0 + between[1][j].at, y0 + between[0][i].at), sum);
    }
  }
  out[box.row(0, y) + x] = sum;
}

// With the periodic edge alone. `filter_texture` takes 3.23 ms with each of the three edges, `filter_naive` 1.79, 1.72 and 4.06 ms. The
// edge costs nothing, and a read costs more than a load: the texture unit of an SM delivers 3.9 of them in a cycle.
//= 3.23 ms: ms("filter_texture/size=7")
//= because with each of the three edges: max(ms("filter_texture/size=7"), ms("filter_texture/size=7,edge=clamp"), ms("filter_texture/size=7,edge=periodic"))
//=   < 1.02 * min(ms("filter_texture/size=7"), ms("filter_texture/size=7,edge=clamp"), ms("filter_texture/size=7,edge=periodic"))
//= 1.79, 1.72 and 4.06 ms: (ms("filter_naive/size=7"), ms("filter_naive/size=7,edge=clamp"), ms("filter_naive/size=7,edge=periodic"))
//= 3.9 of them: 49 * 8192**2 / ms("filter_texture/size=7") / 132 / 1.98e6
//
// `filter_between` takes 1.23 ms. It pays with accuracy: the place between two pixels has 8 bits, and the largest error is
// 0.0023, where results are about 0.3. So a texture is good for two things today: for images that are read between their pixels anyway, scaled or
// turned, and for an edge whose guards cost more than the reads. It is no faster way to neighbours: `filter_tiled` takes 0.18 ms.
//= 1.23 ms: ms("filter_between/size=7")
//= 0.0023: error("filter_between/size=7")
//= 0.18 ms: ms("filter_tiled/size=7")
//
// ### Shared windows
//
// Each FMA of `filter_naive` has a load again, as in section 2. The remedy is the same, too: neighbouring results share their window. A thread
// computes several rows of four results. It loads a row of pixels once, as float4s, and adds it to all of its rows of results
// that need it. The sums wait in registers.
//
// ```{drawing} sums
// ```
//
// A block whose tile and halo lie inside the image has no edge to ask for. It takes a path of its own, without a branch: all
// its loads can be on their way before the first of them has arrived.

/// Four neighbouring values, from any place on.
__device__ inline float4 four_from(const float* at) {
  return make_float4(at[0], at[1], at[2], at[3]);
}

/// ROWS rows of four results from (y0, x) on; INNER: no pixel that they need is beyond the edge.
template <int RADIUS, Edge EDGE, bool WIDE, int ROWS, bool INNER>
__device__ inline void filter_rows(float* __restrict__ out, const float* __restrict__ in, Box box,
                                   int y0, int x) {
  constexpr int SIZE = 2 * RADIUS + 1, HALO = 4 * float4s(RADIUS);
  float4 sum[ROWS];
  float window[4 + 2 * HALO];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int q = 0; q < ROWS + 2 * RADIUS; ++q) {
    const int y = y0 - RADIUS + q;
    if constexpr (INNER) {
      load_float4s<1 + 2 * HALO / 4>(window, in + size_t(y) * box.cols, x - HALO, 0, true);
    } else {
#pragma unroll
      for (int k = HALO - RADIUS; k < HALO + 4 + RADIUS; ++k) {
        window[k] = pixel<EDGE>(in, y, x - HALO + k, box);
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int i = q - r;  // row of the filter
      if (i < 0 || i >= SIZE) continue;
#pragma unroll
      for (int j = 0; j < SIZE; ++j) {
        sum[r] = fma4(weights[i * SIZE + j], four_from(window + HALO - RADIUS + j), sum[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int y = y0 + r;
    if (INNER || y < box.rows) store_float4_of<WIDE>(out + box.row(0, y), x, box.cols, sum[r]);
  }
}

/// The same, ROWS rows of four results a thread, everything in registers.
///
/// Launch: blocks of ACROSS * DOWN warps, one for each 128 * ACROSS columns and ROWS * DOWN rows.
template <int RADIUS, Edge EDGE, bool WIDE, int ROWS, int ACROSS, int DOWN>
__global__ void __launch_bounds__(32 * ACROSS * DOWN, (RADIUS > 3 ? 16 : 24) / (ACROSS * DOWN))
    filter_columns(float* __restrict__ out, const float* __restrict__ in, Box box) {
  constexpr int HALO = 4 * float4s(RADIUS), COLS = 128 * ACROSS, HEIGHT = ROWS * DOWN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int x0 = blockIdx.x * COLS, y0 = blockIdx.y * HEIGHT;  // of the block
  const int x = x0 + (warp % ACROSS * 32 + lane) * 4, y = y0 + warp / ACROSS * ROWS;
  if (WIDE && HALO <= x0 && x0 + COLS + HALO <= box.cols && RADIUS <= y0 &&
      y0 + HEIGHT + RADIUS <= box.rows) {
    filter_rows<RADIUS, EDGE, WIDE, ROWS, true>(out, in, box, y, x);
  } else {
    filter_rows<RADIUS, EDGE, WIDE, ROWS, false>(out, in, box, y, x);
  }
}

// The neighbours above, below, left and right load the same pixels. In section 3 each value of a tile was used five times, and the
// tile did not pay. Here a pixel is used 9, 49 or 225 times. A block stages a tile with its halo by `cp.async` (chapter 11), and
// the threads take their rows from there. What is beyond the edge is filled in when the tile is loaded; the arithmetic need not
// know of it.
//
//? tiled: For which of 3 x 3, 7 x 7 and 15 x 15 is the tile faster than `filter_columns`?
//? choices: for all three | for 7 x 7 and 15 x 15 | for 15 x 15 alone | for none
//? answer: {"for all three": ms("filter_tiled/size=3") < ms("filter_columns/size=3"),
//?   "for 7 x 7 and 15 x 15": ms("filter_tiled/size=3") > ms("filter_columns/size=3") and ms("filter_tiled/size=7") < ms("filter_columns/size=7"),
//?   "for 15 x 15 alone": ms("filter_tiled/size=7") > ms("filter_columns/size=7") and ms("filter_tiled/size=15") < ms("filter_columns/size=15"),
//?   "for none": ms("filter_tiled/size=15") > ms("filter_columns/size=15")}

/// Loads a tile of HEIGHT rows of 128 pixels with its halo of RADIUS pixels, which are whole float4s on the left and right:
/// (HEIGHT, 128 + 8 float4s(RADIUS)). What is beyond the edge of the image is filled in here, and nowhere else.
///
/// @param x0, y0  the first pixel of the block's results
template <int RADIUS, Edge EDGE, bool WIDE, int HEIGHT, int WARPS>
__device__ inline void load_tile(float* tile, const float* __restrict__ in, Box box, int x0,
                                 int y0) {
  constexpr int HALO = 4 * float4s(RADIUS), WIDTH = 128 + 2 * HALO;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool inner = WIDE && HALO <= x0 && x0 + 128 + HALO <= box.cols && RADIUS <= y0 &&
                     y0 - RADIUS + HEIGHT <= box.rows;
  if (inner) {
#pragma unroll
    for (int r = warp; r < HEIGHT; r += WARPS) {
      const float* const row = in + size_t(y0 - RADIUS + r) * box.cols + x0 - HALO;
#pragma unroll
      for (int k = 4 * lane; k < WIDTH; k += 128) {
        __pipeline_memcpy_async(tile + r * WIDTH + k, row + k, 16);
      }
    }
  } else {  // at an edge of the image: pixel by pixel
    for (int r = warp; r < HEIGHT; r += WARPS) {
      const int y = beyond<EDGE>(y0 - RADIUS + r, box.rows);
      for (int k = lane; k < WIDTH; k += 32) {
        const int x = beyond<EDGE>(x0 - HALO + k, box.cols);
        const bool none = y < 0 || x < 0;
        __pipeline_memcpy_async(tile + r * WIDTH + k, none ? in : in + size_t(y) * box.cols + x, 4,
                                none ? 4 : 0);
      }
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();  // the tile is full
}

/// The same; a block has a tile in shared memory, a thread ROWS rows of four results.
///
/// Launch: a block of 32 * WARPS threads for each tile of 128 columns and ROWS * WARPS rows.
template <int RADIUS, Edge EDGE, bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    filter_tiled(float* __restrict__ out, const float* __restrict__ in, Box box) {
  constexpr int SIZE = 2 * RADIUS + 1, HALO = 4 * float4s(RADIUS), WIDTH = 128 + 2 * HALO;
  constexpr int HEIGHT = ROWS * WARPS + 2 * RADIUS;
  __shared__ __align__(16) float tile[HEIGHT * WIDTH];
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * ROWS;  // row of the warp's results
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * (ROWS * WARPS);
  load_tile<RADIUS, EDGE, WIDE, HEIGHT, WARPS>(tile, in, box, x0, y0);

  float4 sum[ROWS];
  float window[4 + 2 * HALO];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int q = 0; q < ROWS + 2 * RADIUS; ++q) {  // each row of pixels is read once,
    load_float4s<1 + 2 * HALO / 4>(window, tile + (first + q) * WIDTH, 4 * lane, 0, true);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {  // and added to all rows of results that need it
      const int i = q - r;            // of the filter
      if (i < 0 || i >= SIZE) continue;
#pragma unroll
      for (int j = 0; j < SIZE; ++j) {
        sum[r] = fma4(weights[i * SIZE + j], four_from(window + HALO - RADIUS + j), sum[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int y = y0 + first + r;
    if (y < box.rows) store_float4_of<WIDE>(out + box.row(0, y), x0 + 4 * lane, box.cols, sum[r]);
  }
}

// With 15 x 15 the tile is 1.7 times as fast; with 7 x 7 it takes 1 % longer, with 3 x 3 14 %. There the copy is still the nearer limit.
// With 15 x 15 it is the FMA units: 53 TFLOP/s of the 67 that they have. Of the sizes between, the tile is faster from 9 x 9 on, by 7 %,
// and for 5 x 5 4 % slower.
//= 1.7 times: ms("filter_columns/size=15") / ms("filter_tiled/size=15")
//= takes 1 % longer: 100 * (ms("filter_tiled/size=7") / ms("filter_columns/size=7") - 1)
//= 3 x 3 14 %: (3, 3, 100 * (ms("filter_tiled/size=3") / ms("filter_columns/size=3") - 1))
//= on, by 7 %: 100 * (ms("filter_columns/size=9") / ms("filter_tiled/size=9") - 1)
//= 5 x 5 4 % slower: (5, 5, 100 * (ms("filter_tiled/size=5") / ms("filter_columns/size=5") - 1))
//= 53 TFLOP/s: 2 * 225 * 8192**2 / ms("filter_tiled/size=15") / 1e9
//= the 67 that: 132 * 128 * 2 * 1.98 / 1000
//
// Many filters are products: the weight in row i and column j is one tap times another, as in a Gaussian blur. Such a filter
// is separable. Convolve each row first, then add the rows: 30 FMAs a pixel instead of 225.
//
//? separable: How many times as fast does that make 15 x 15?
//? answer: ms("filter_tiled/size=15") / ms("filter_separable/size=15")
//? unit: times
//? near: factor 2

/// The same for a filter whose weights are products of two taps: each row of pixels is convolved by itself first, and is
/// then added with one tap for each row of results.
///
/// Launch: as `filter_tiled`.
template <int RADIUS, Edge EDGE, bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    filter_separable(float* __restrict__ out, const float* __restrict__ in, Box box) {
  constexpr int SIZE = 2 * RADIUS + 1, HALO = 4 * float4s(RADIUS), WIDTH = 128 + 2 * HALO;
  constexpr int HEIGHT = ROWS * WARPS + 2 * RADIUS;
  __shared__ __align__(16) float tile[HEIGHT * WIDTH];
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * ROWS;
  const int x0 = blockIdx.x * 128, y0 = blockIdx.y * (ROWS * WARPS);
  load_tile<RADIUS, EDGE, WIDE, HEIGHT, WARPS>(tile, in, box, x0, y0);

  float4 sum[ROWS];
  float window[4 + 2 * HALO];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int q = 0; q < ROWS + 2 * RADIUS; ++q) {
    load_float4s<1 + 2 * HALO / 4>(window, tile + (first + q) * WIDTH, 4 * lane, 0, true);
    float4 row = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < SIZE; ++j)
      row = fma4(taps[SIZE - 1 - j], four_from(window + HALO - RADIUS + j), row);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int i = q - r;
      if (0 <= i && i < SIZE) sum[r] = fma4(taps[i], row, sum[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int y = y0 + first + r;
    if (y < box.rows) store_float4_of<WIDE>(out + box.row(0, y), x0 + 4 * lane, box.cols, sum[r]);
  }
}

// Not 7.5 times: at 0.65 of the rate of a copy there is not much left to gain. The kind of the edge hardly matters to the two
// kernels with a tile: with `periodic`, and `filter_separable` with `clamp`, too, a filter of 7 x 7 takes what it takes with zeros, to
// within a twentieth. Without a tile `periodic` takes 2.3 times as long, in `filter_naive` as in `filter_columns`. In `filter_naive` that is the index of each
// pixel: the instructions alone would take 2.76 ms, with zeros 1.28. Those of `filter_columns` were not counted.
//= 7.5 times: 225 / 30
//= 0.65 of: ratio("filter_separable/size=15")
//= because hardly matters: 0.95 < ms("filter_tiled/size=7,edge=periodic") / ms("filter_tiled/size=7") < 1.05
//=   and 0.95 < min(ms("filter_separable/size=7,edge=clamp"), ms("filter_separable/size=7,edge=periodic")) / ms("filter_separable/size=7")
//=   and max(ms("filter_separable/size=7,edge=clamp"), ms("filter_separable/size=7,edge=periodic")) / ms("filter_separable/size=7") < 1.05
//= 2.3 times: ms("filter_naive/size=7,edge=periodic") / ms("filter_naive/size=7")
//= 2.76 ms: alone("filter_naive/size=7,edge=periodic", "issue slots")
//= zeros 1.28: alone("filter_naive/size=7", "issue slots")
//= because in `filter_naive` as in: 2.2 < ms("filter_columns/size=7,edge=periodic") / ms("filter_columns/size=7") < 2.4

// ## 9. Other edges, other halos, other tiles (second reading)
//
// ### Five and seven points with the three edges
//
// So far the cells at the edge of a grid kept their values. With `Edge` as a template parameter the grid may as well go on with zeros, with
// the nearest cell, or from its other side. The kernels are those of sections 3 and 4, and an edge matters in three places only: which row a
// row above or below is, what stands behind the last column, and what the first and the last lane of a warp load besides.

/// Four cells of row y of plane z from column x on, and whatever stands for those beyond the edge.
template <Edge EDGE, bool WIDE>
__device__ inline float4 around4(const float* in, Box box, int z, int y, int x) {
  z = beyond<EDGE>(z, box.planes), y = beyond<EDGE>(y, box.rows);
  if (z < 0 || y < 0) return make_float4(0, 0, 0, 0);
  const float* const plane = in + z * box.plane();
  if (x + 4 <= box.cols) return float4_of<WIDE>(plane + size_t(y) * box.cols, x, box.cols);
  float four[4] = {};  // at the last column: as far as the cell behind it
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (x + e <= box.cols) four[e] = pixel<EDGE>(plane, y, x + e, box);
  }
  return make_float4(four[0], four[1], four[2], four[3]);
}

/// The cell that the first or the last lane of a warp needs besides its own four from column x on.
template <Edge EDGE>
__device__ inline float beside_warp(const float* in, Box box, int z, int y, int lane, int x) {
  z = beyond<EDGE>(z, box.planes);
  if (z < 0 || (lane != 0 && lane != 31)) return 0;
  return pixel<EDGE>(in + z * box.plane(), y, lane == 0 ? x - 1 : x + 4, box);
}

/// `five_columns` with an edge.
///
/// Launch: as `five_columns`.
template <Edge EDGE, bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    five_edges(float* __restrict__ out, const float* __restrict__ in, Box box) {
  const int lane = threadIdx.x, x = (blockIdx.x * 32 + lane) * 4;
  const int y0 = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
  float4 row[ROWS + 2];
  float side[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS + 2; ++k) row[k] = around4<EDGE, WIDE>(in, box, 0, y0 + k - 1, x);
#pragma unroll
  for (int k = 0; k < ROWS; ++k) side[k] = beside_warp<EDGE>(in, box, 0, y0 + k, lane, x);
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const float4 now = row[k + 1];
    const float before = __shfl_up_sync(ALL, now.w, 1), behind = __shfl_down_sync(ALL, now.x, 1);
    const float left = lane == 0 ? side[k] : before, right = lane == 31 ? side[k] : behind;
    const float4 next = relaxed4(row[k], now, row[k + 2], left, right);
    const int y = y0 + k;
    if (y < box.rows) store_float4_of<WIDE>(out + size_t(y) * box.cols, x, box.cols, next);
  }
}

/// `seven_columns` with an edge.
///
/// Launch: as `seven_columns`.
template <Edge EDGE, bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    seven_edges(float* __restrict__ out, const float* __restrict__ in, Box box, int depth) {
  const int lane = threadIdx.x % 32, x = blockIdx.x * 128 + lane * 4;
  const int y0 = (blockIdx.y * WARPS + threadIdx.x / 32) * ROWS;
  const int first = blockIdx.z * depth, last = min(box.planes, first + depth);
  const auto load = [&](int z, int y) { return around4<EDGE, WIDE>(in, box, z, y, x); };
  float4 front[ROWS], row[ROWS], back[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; ++k) front[k] = load(first - 1, y0 + k), row[k] = load(first, y0 + k);
  for (int z = first; z < last; ++z) {
    float side[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; ++k) back[k] = load(z + 1, y0 + k);
    const float4 above = load(z, y0 - 1), below = load(z, y0 + ROWS);
#pragma unroll
    for (int k = 0; k < ROWS; ++k) side[k] = beside_warp<EDGE>(in, box, z, y0 + k, lane, x);
#pragma unroll
    for (int k = 0; k < ROWS; ++k) {
      const float before = __shfl_up_sync(ALL, row[k].w, 1);
      const float behind = __shfl_down_sync(ALL, row[k].x, 1);
      const float left = lane == 0 ? side[k] : before, right = lane == 31 ? side[k] : behind;
      const float4 up = k > 0 ? row[k - 1] : above, down = k + 1 < ROWS ? row[k + 1] : below;
      const float4 next = relaxed4(row[k], left, right, up, down, front[k], back[k]);
      if (y0 + k < box.rows) store_float4_of<WIDE>(out + box.row(z, y0 + k), x, box.cols, next);
    }
#pragma unroll
    for (int k = 0; k < ROWS; ++k) front[k] = row[k], row[k] = back[k];
  }
}

// With five points the edge costs nothing: zeros, `clamp` and `periodic` take 0.508, 0.508 and 0.503 ms, the edge that stays as it is takes
// 0.512. With seven points it does: 0.33, 0.35 and 0.32 ms in the cube, 0.29 for `seven_columns`. The two kernels differ in the edge alone.
//= 0.508, 0.508 and 0.503 ms: (ms("five_edges/edge=zero"), ms("five_edges/edge=clamp"), ms("five_edges/edge=periodic"))
//= 0.512: ms("five_columns")
//= 0.33, 0.35 and 0.32 ms: (ms("seven_edges/box=cube,edge=zero"), ms("seven_edges/box=cube,edge=clamp"), ms("seven_edges/box=cube,edge=periodic"))
//= cube, 0.29 for: ms("seven_columns/box=cube")
//
// ### Vector loads and a halo that is not aligned
//
// The cells left and right of a float4 begin 4 bytes beside a multiple of 16, where no float4 can be loaded. `five_columns` shuffles them.
// Without shuffles there are two ways: two more loads of a float, or the whole float4s on both sides, of which one cell each is used.
//
//? beside: Which of the two touches fewer sectors?
//? choices: the floats | the float4s | they touch as many
//? answer: {"the floats": count("five_beside/loads=floats", "global_load_sectors") < count("five_beside/loads=float4s", "global_load_sectors"),
//?   "the float4s": count("five_beside/loads=floats", "global_load_sectors") > count("five_beside/loads=float4s", "global_load_sectors"),
//?   "they touch as many": count("five_beside/loads=floats", "global_load_sectors") == count("five_beside/loads=float4s", "global_load_sectors")}

/// How a thread gets the cells left and right of its own.
enum class Beside { floats, float4s };

/// `five_columns` without shuffles.
///
/// Launch: as `five_columns`.
template <Beside BESIDE, bool WIDE, int ROWS, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    five_beside(float* __restrict__ out, const float* __restrict__ in, int rows, int cols) {
  const int x = (blockIdx.x * 32 + threadIdx.x) * 4;
  const int y0 = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
  float4 row[ROWS + 2];
  float left[ROWS], right[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS + 2; ++k) {
    const float* const from = in + size_t(inside(y0 + k - 1, rows)) * cols;
    row[k] = float4_of<WIDE>(from, x, cols);
    if (k == 0 || k == ROWS + 1) continue;
    if constexpr (BESIDE == Beside::floats) {
      left[k - 1] = 0 < x && x <= cols ? from[x - 1] : 0;
      right[k - 1] = x + 4 < cols ? from[x + 4] : 0;
    } else {
      left[k - 1] = float4_of<WIDE>(from, x - 4, cols).w;
      right[k - 1] = float4_of<WIDE>(from, x + 4, cols).x;
    }
  }
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int y = y0 + k;
    const float4 now = row[k + 1];
    float4 next = keep_ends(relaxed4(row[k], now, row[k + 2], left[k], right[k]), now, x, cols);
    if (y == 0 || y == rows - 1) next = now;
    if (y < rows) store_float4_of<WIDE>(out + size_t(y) * cols, x, cols, next);
  }
}

// As many: lanes are 16 bytes apart, so a warp's floats lie in every sector that its float4s do. At the simulator's default both
// make 560 load requests with 9.9 sectors each, `five_columns` 480 with 6.2. They take 0.509 ms each, with shuffles it is 0.512: loads of
// one cell more are as good as shuffles here.
//= 560 load requests with 9.9 sectors: (count("five_beside/loads=floats", "global_load_requests"),
//=   count("five_beside/loads=floats", "global_load_sectors") / count("five_beside/loads=floats", "global_load_requests"))
//= 480 with 6.2: (count("five_columns", "global_load_requests"), count("five_columns", "global_load_sectors") / count("five_columns", "global_load_requests"))
//= 0.509 ms each: ms("five_beside/loads=floats")
//= because as good as shuffles: 0.97 < ms("five_beside/loads=floats") / ms("five_columns") < 1.03
//=   and 0.97 < ms("five_beside/loads=float4s") / ms("five_columns") < 1.03
//= it is 0.512: ms("five_columns")
//
// ### Overlapping tiles in shared memory
//
// `five_strips` overlaps too, but keeps rows in registers while it walks. The form that comes first to mind has a whole tile in shared memory:
// load it with a halo of as many cells as there are steps, take the steps between two buffers with a barrier behind each, store the middle.

constexpr int ACROSS_TILE = 64, DOWN_TILE = 32;  ///< cells of a block of `five_overlapped`

/// STEPS steps of the five points on a tile with a halo of STEPS cells in shared memory; each step leaves a ring of it behind.
///
/// Launch: blocks of BLOCK threads, one for each tile of ACROSS_TILE x DOWN_TILE cells.
template <int STEPS>
__global__ void __launch_bounds__(BLOCK)
    five_overlapped(float* __restrict__ out, const float* __restrict__ in, int rows, int cols) {
  constexpr int WIDTH = ACROSS_TILE + 2 * STEPS, HEIGHT = DOWN_TILE + 2 * STEPS;
  __shared__ float tiles[2][HEIGHT][WIDTH];
  const int x0 = blockIdx.x * ACROSS_TILE - STEPS, y0 = blockIdx.y * DOWN_TILE - STEPS;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int j = warp; j < HEIGHT; j += BLOCK / 32) {
    for (int i = lane; i < WIDTH; i += 32) {
      const bool there = 0 <= y0 + j && y0 + j < rows && 0 <= x0 + i && x0 + i < cols;
      tiles[0][j][i] = there ? in[size_t(y0 + j) * cols + x0 + i] : 0;
    }
  }
#pragma unroll
  for (int step = 1; step <= STEPS; ++step) {
    __syncthreads();  // the tile of the step before is there
    const auto& now = tiles[(step - 1) % 2];
    for (int j = step + warp; j < HEIGHT - step; j += BLOCK / 32) {
      const int y = y0 + j;
      for (int i = step + lane; i < WIDTH - step; i += 32) {
        const int x = x0 + i;
        const bool edge = x <= 0 || y <= 0 || x >= cols - 1 || y >= rows - 1;
        const float next =
            edge ? now[j][i]
                 : relaxed(now[j][i], now[j][i - 1], now[j][i + 1], now[j - 1][i], now[j + 1][i]);
        if (step < STEPS) {
          tiles[step % 2][j][i] = next;
        } else if (y < rows && x < cols) {
          out[size_t(y) * cols + x] = next;
        }
      }
    }
  }
}

// Two steps in a pass make 0.8 times the rate of the copy, four 1.1 times; `five_strips` makes 1.5 and 3.1. A tile has the same shortcoming as
// in section 3: each step takes stores and loads of shared memory, and a barrier. What of it takes the time was not measured. So
// overlap alone does not make a pass of several steps fast; rows that stay in registers do.
//= 0.8 times the rate: 2 * ratio("five_overlapped/steps=2")
//= four 1.1 times: 4 * ratio("five_overlapped/steps=4")
//= makes 1.5 and 3.1: (2 * ratio("five_strips/steps=2"), 4 * ratio("five_strips/steps=4"))

namespace {

/// The launch of a kernel in one dimension, a block for each PER_BLOCK elements.
template <void (*KERNEL)(float*, const float*, size_t), size_t PER_BLOCK = BLOCK,
          unsigned THREADS = BLOCK>
void in_a_row(float* out, const float* in, Box row) {
  const size_t n = row.cells();
  KERNEL<<<lab::tiles(n, PER_BLOCK), THREADS>>>(out, in, n);
}

/// Whether there is no thread without an element.
const char* only_whole_blocks(Box row) {
  return row.cells() % BLOCK == 0 ? "every thread has an element" : nullptr;
}

/// The derivative, and the mistakes.
const std::vector<Launch> GRADIENTS = {
    {"gradient", "", 1, in_a_row<gradient>},
    {"below_zero", "", 0, in_a_row<below_zero>},
    {"early_return", "", 0, in_a_row<early_return>, only_whole_blocks},
};

/// The convolutions with 2 RADIUS + 1 taps.
template <unsigned RADIUS>
std::vector<Launch> convolutions() {
  return {
      {"taps_global", "", 1, in_a_row<taps_global<RADIUS>>},
      {"taps_constant", "", 1, in_a_row<taps_constant<RADIUS>>},
      {"taps_window", "", 1, in_a_row<taps_window<RADIUS>, 4 * BLOCK>},
      {"taps_shuffled", "", 1,
       in_a_row<taps_shuffled<RADIUS>, (128 - 8 * float4s(RADIUS)) * (BLOCK / 32)>},
      {"taps_staged", "", 1, in_a_row<taps_staged<RADIUS>, STAGED * STAGED_BLOCK, STAGED_BLOCK>}};
}

/// The kernel for rows that begin at multiples of 16 bytes, or the one for any.
template <class Kernel>
Kernel for_pitch(int cols, Kernel wide, Kernel any) {
  return cols % 4 == 0 ? wide : any;
}

/// Launches `five_columns`.
void columns_of_five(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8;
  const auto kernel =
      for_pitch(box.cols, five_columns<true, ROWS, WARPS>, five_columns<false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS), dim3(32, WARPS)>>>(out, in, box.rows, box.cols);
}

/// Launches `five_edges`.
template <Edge EDGE>
void edges_of_five(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8;
  const auto kernel = for_pitch(box.cols, five_edges<EDGE, true, ROWS, WARPS>,
                                five_edges<EDGE, false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS), dim3(32, WARPS)>>>(out, in, box);
}

/// Its launch.
template <Edge EDGE>
Launch five_with(const std::string& edge) {
  return {"five_edges", "edge=" + edge, 1, edges_of_five<EDGE>, nullptr, nullptr, EDGE};
}

/// Launches `five_beside`.
template <Beside BESIDE>
void beside_five(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8;
  const auto kernel = for_pitch(box.cols, five_beside<BESIDE, true, ROWS, WARPS>,
                                five_beside<BESIDE, false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS), dim3(32, WARPS)>>>(out, in, box.rows, box.cols);
}

/// Launches `five_overlapped`.
template <int STEPS>
void overlapped_five(float* out, const float* in, Box box) {
  five_overlapped<STEPS>
      <<<tiles_of(box, ACROSS_TILE, DOWN_TILE), BLOCK>>>(out, in, box.rows, box.cols);
}

/// Launches `five_strips`.
template <int STEPS>
void strips_of_five(float* out, const float* in, Box box) {
  constexpr int WARPS = 1, HEIGHT = 256;
  const auto kernel =
      for_pitch(box.cols, five_strips<true, STEPS, WARPS>, five_strips<false, STEPS, WARPS>);
  const dim3 grid = tiles_of(box, WARPS * (128 - 2 * margin(STEPS)), HEIGHT);
  kernel<<<grid, 32 * WARPS>>>(out, in, box.rows, box.cols, HEIGHT);
}

/// Launches `resident`: what blocks show each other lies behind the grid.
template <bool BARRIER>
void resident_steps(float* out, const float* in, Box box) {
  int rows = box.rows, cols = box.cols, steps = STEPS_ON_CHIP;
  auto* shown = reinterpret_cast<std::uint64_t*>(out + box.cells());
  const size_t words = size_t{2} * 2 * (rows / KEPT) * words_of_row(cols);
  CUDA_CHECK(cudaMemsetAsync(shown, 0, words * sizeof *shown));
  void* arguments[] = {&out, &in, &shown, &rows, &cols, &steps};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(resident<BARRIER>),
                                         dim3(static_cast<unsigned>(rows / KEPT)),
                                         dim3(32 * KEPT_WARPS), arguments));
}

/// Whether the GPU cannot keep the grid.
const char* too_large_to_keep(Box box) {
  const bool fits = static_cast<unsigned>(box.rows / KEPT) <= lab::multiprocessors();
  return fits ? nullptr : "the grid needs more SMs than this GPU has";
}

/// Launches `seven_columns`.
void columns_of_seven(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8, DEPTH = 32;
  const auto kernel =
      for_pitch(box.cols, seven_columns<true, ROWS, WARPS>, seven_columns<false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS, DEPTH), 32 * WARPS>>>(out, in, box, DEPTH);
}

/// Launches `seven_edges`.
template <Edge EDGE>
void edges_of_seven(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8, DEPTH = 32;
  const auto kernel = for_pitch(box.cols, seven_edges<EDGE, true, ROWS, WARPS>,
                                seven_edges<EDGE, false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS, DEPTH), 32 * WARPS>>>(out, in, box, DEPTH);
}

/// Its launch.
template <Edge EDGE>
Launch seven_with(const std::string& edge) {
  return {"seven_edges", "edge=" + edge, 1, edges_of_seven<EDGE>, nullptr, nullptr, EDGE};
}

/// Launches `seven_tiles`.
template <int STEPS>
void tiles_of_seven(float* out, const float* in, Box box) {
  constexpr int WARPS = 32;
  const auto kernel =
      for_pitch(box.cols, seven_tiles<true, STEPS, WARPS>, seven_tiles<false, STEPS, WARPS>);
  const size_t bytes = tile_bytes(STEPS, WARPS);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  dim3 grid = tiles_of(box, 128 - 2 * margin(STEPS), WARPS - 2 * STEPS);
  const int depth =
      even_depth(size_t{grid.x} * grid.y, lab::multiprocessors(), box.planes, 2 * STEPS);
  grid.z = static_cast<unsigned>(lab::ceil_div(box.planes, depth));
  kernel<<<grid, 32 * WARPS, bytes>>>(out, in, box, depth);
}

/// Launches `seven_bricks`.
template <int DEPTH>
void bricks_of_seven(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, PLANES = 4, ACROSS = 2, DOWN = 8;
  const auto kernel = for_pitch(box.cols, seven_bricks<true, ROWS, PLANES, ACROSS, DOWN>,
                                seven_bricks<false, ROWS, PLANES, ACROSS, DOWN>);
  kernel<<<tiles_of(box, 128 * ACROSS, ROWS * DOWN, DEPTH), 32 * ACROSS * DOWN>>>(out, in, box,
                                                                                  DEPTH);
}

/// Launches `far_queue`.
void queue_of_far(float* out, const float* in, Box box) {
  constexpr int ROWS = 2, WARPS = 8, DEPTH = 64;
  const auto kernel =
      for_pitch(box.cols, far_queue<true, ROWS, WARPS>, far_queue<false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS, DEPTH), 32 * WARPS>>>(out, in, box, DEPTH);
}

const dim3 FLAT{32, 8};  ///< blocks of kernels with one thread a cell

/// Launches `filter_naive`.
template <int RADIUS, Edge EDGE>
void naive_filter(float* out, const float* in, Box box) {
  filter_naive<RADIUS, EDGE><<<tiles_of(box, 32, 8), FLAT>>>(out, in, box);
}

/// The image that textures read: a copy of it, in the order that suits the texture unit.
struct Texture {
  cudaArray_t pixels;
  cudaTextureObject_t object;
} image_texture;

/// Gives back the texture that was made last, if there is one.
void free_texture() {
  if (!image_texture.pixels) return;
  CUDA_CHECK(cudaDestroyTextureObject(image_texture.object));
  CUDA_CHECK(cudaFreeArray(image_texture.pixels));
  image_texture = {};
}

/// Makes the texture of an image; LINEAR: a read between pixels interpolates.
template <Edge EDGE, bool LINEAR>
void make_texture(const float* in, Box box) {
  free_texture();
  const cudaChannelFormatDesc one_float = cudaCreateChannelDesc<float>();
  const size_t pitch = box.cols * sizeof(float);
  CUDA_CHECK(cudaMallocArray(&image_texture.pixels, &one_float, box.cols, box.rows));
  CUDA_CHECK(cudaMemcpy2DToArray(image_texture.pixels, 0, 0, in, pitch, pitch, box.rows,
                                 cudaMemcpyDeviceToDevice));
  cudaResourceDesc image{};
  image.resType = cudaResourceTypeArray;
  image.res.array.array = image_texture.pixels;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = EDGE == Edge::zero    ? cudaAddressModeBorder
                                            : EDGE == Edge::clamp ? cudaAddressModeClamp
                                                                  : cudaAddressModeWrap;
  how.filterMode = LINEAR ? cudaFilterModeLinear : cudaFilterModePoint;
  how.normalizedCoords = EDGE == Edge::periodic;
  CUDA_CHECK(cudaCreateTextureObject(&image_texture.object, &image, &how, nullptr));
}

/// Whether an image is too large for a texture.
const char* no_texture(Box image) {
  return image.cols <= 131072 && image.rows <= 65536
             ? nullptr
             : "a texture has at most 131072 x 65536 pixels";
}

/// Launches `filter_texture`.
template <int RADIUS, Edge EDGE>
void texture_filter(float* out, const float*, Box box) {
  filter_texture<RADIUS, EDGE><<<tiles_of(box, 32, 8), FLAT>>>(out, image_texture.object, box);
}

/// Launches `filter_between`.
template <int RADIUS>
void filter_in_between(float* out, const float*, Box box) {
  filter_between<RADIUS><<<tiles_of(box, 32, 8), FLAT>>>(out, image_texture.object, box);
}

/// Launches `filter_columns`.
template <int RADIUS, Edge EDGE>
void columns_of_filter(float* out, const float* in, Box box) {
  constexpr int ROWS = RADIUS == 3 ? 8 : 4, ACROSS = 2, DOWN = 2;
  const auto kernel = for_pitch(box.cols, filter_columns<RADIUS, EDGE, true, ROWS, ACROSS, DOWN>,
                                filter_columns<RADIUS, EDGE, false, ROWS, ACROSS, DOWN>);
  kernel<<<tiles_of(box, 128 * ACROSS, ROWS * DOWN), 32 * ACROSS * DOWN>>>(out, in, box);
}

/// Launches `filter_tiled`.
template <int RADIUS, Edge EDGE>
void tiled_filter(float* out, const float* in, Box box) {
  constexpr int ROWS = RADIUS > 3 ? 3 : 6, WARPS = 24 / ROWS;
  const auto kernel = for_pitch(box.cols, filter_tiled<RADIUS, EDGE, true, ROWS, WARPS>,
                                filter_tiled<RADIUS, EDGE, false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS), 32 * WARPS>>>(out, in, box);
}

/// Launches `filter_separable`.
template <int RADIUS, Edge EDGE>
void separable_filter(float* out, const float* in, Box box) {
  constexpr int ROWS = 16, WARPS = 4;
  const auto kernel = for_pitch(box.cols, filter_separable<RADIUS, EDGE, true, ROWS, WARPS>,
                                filter_separable<RADIUS, EDGE, false, ROWS, WARPS>);
  kernel<<<tiles_of(box, 128, ROWS * WARPS), 32 * WARPS>>>(out, in, box);
}

/// The filters of 2 RADIUS + 1 rows and columns: those of this file, others, and for 7 x 7 the one that reads a texture.
template <int RADIUS, Edge EDGE>
std::vector<Launch> filters(const std::vector<Launch>& others) {
  std::vector<Launch> all = {{"filter_naive", "", 1, naive_filter<RADIUS, EDGE>},
                             {"filter_columns", "", 1, columns_of_filter<RADIUS, EDGE>},
                             {"filter_tiled", "", 1, tiled_filter<RADIUS, EDGE>},
                             {"filter_separable", "", 1, separable_filter<RADIUS, EDGE>}};
  all.insert(all.end(), others.begin(), others.end());
  if constexpr (RADIUS == 3) {
    all.push_back({"filter_texture", "", 1, texture_filter<RADIUS, EDGE>, no_texture,
                   make_texture<EDGE, false>});
  }
  return all;
}

/// The one of 7 x 7 that reads between pixels, with zeros beyond the edge.
const std::vector<Launch> BETWEEN = {
    {"filter_between", "", 1, filter_in_between<3>, no_texture, make_texture<Edge::zero, true>}};

/// What this file launches.
Launches launches() {
  return {.five = {{"five_naive", "", 1,
                    [](float* out, const float* in, Box box) {
                      five_naive<<<tiles_of(box, 32, 8), FLAT>>>(out, in, box.rows, box.cols);
                    }},
                   {"five_tiled", "", 1,
                    [](float* out, const float* in, Box box) {
                      five_tiled<32>
                          <<<tiles_of(box, 32, 32), dim3(32, 32)>>>(out, in, box.rows, box.cols);
                    }},
                   {"five_columns", "", 1, columns_of_five},
                   {"five_beside", "loads=floats", 1, beside_five<Beside::floats>},
                   {"five_beside", "loads=float4s", 1, beside_five<Beside::float4s>},
                   {"five_overlapped", "steps=2", 2, overlapped_five<2>},
                   {"five_overlapped", "steps=4", 4, overlapped_five<4>},
                   five_with<Edge::zero>("zero"),
                   five_with<Edge::clamp>("clamp"),
                   five_with<Edge::periodic>("periodic"),
                   {"five_strips", "steps=2", 2, strips_of_five<2>},
                   {"five_strips", "steps=4", 4, strips_of_five<4>},
                   {"five_strips", "steps=8", 8, strips_of_five<8>}},
          .small = {{"step_by_step", "", STEPS_ON_CHIP, step_by_step},
                    {"resident", "barrier=grid", STEPS_ON_CHIP, resident_steps<true>,
                     too_large_to_keep},
                    {"resident", "barrier=none", STEPS_ON_CHIP, resident_steps<false>,
                     too_large_to_keep}},
          .seven = {{"seven_naive", "", 1,
                     [](float* out, const float* in, Box box) {
                       seven_naive<<<tiles_of(box, 32, 8), FLAT>>>(out, in, box);
                     }},
                    {"seven_column", "", 1,
                     [](float* out, const float* in, Box box) {
                       seven_column<<<tiles_of(box, 32, 8, 64), FLAT>>>(out, in, box, 64);
                     }},
                    {"seven_columns", "", 1, columns_of_seven},
                    {"seven_bricks", "depth=4", 1, bricks_of_seven<4>},
                    {"seven_bricks", "depth=8", 1, bricks_of_seven<8>},
                    seven_with<Edge::zero>("zero"),
                    seven_with<Edge::clamp>("clamp"),
                    seven_with<Edge::periodic>("periodic"),
                    {"seven_tiles", "steps=2", 2, tiles_of_seven<2>},
                    {"seven_tiles", "steps=3", 3, tiles_of_seven<3>}},
          .far = {{"far_naive", "", 1,
                   [](float* out, const float* in, Box box) {
                     far_naive<<<tiles_of(box, 32, 8), FLAT>>>(out, in, box);
                   }},
                  {"far_queue", "", 1, queue_of_far}}};
}

/// A cell after a step of the five points.
struct FiveStep {
  Box box;
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    const int cols = box.cols, y = static_cast<int>(i / cols), x = static_cast<int>(i % cols);
    if (x == 0 || y == 0 || x == cols - 1 || y == box.rows - 1) return in[i];
    return relaxed(in[i], in[i - 1], in[i + 1], in[i - cols], in[i + cols]);
  }
};

/// A cell after a step of the seven points.
struct SevenStep {
  Box box;
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    const int x = static_cast<int>(i % box.cols), y = static_cast<int>(i / box.cols % box.rows);
    const int z = static_cast<int>(i / box.plane());
    if (x == 0 || x == box.cols - 1 || box.at_edge(z, y)) return in[i];
    return relaxed(in[i], in[i - 1], in[i + 1], in[i - box.cols], in[i + box.cols],
                   in[i - box.plane()], in[i + box.plane()]);
  }
};

/// A cell after a step of the five points, or in a box with several planes of the seven, with an edge.
struct EdgeStep {
  Box box;
  Edge edge;
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    const int x = static_cast<int>(i % box.cols), y = static_cast<int>(i / box.cols % box.rows);
    const int z = static_cast<int>(i / box.plane());
    const float left = cell(in, z, y, x - 1), right = cell(in, z, y, x + 1);
    const float up = cell(in, z, y - 1, x), down = cell(in, z, y + 1, x);
    if (box.planes == 1) return relaxed(in[i], left, right, up, down);
    return relaxed(in[i], left, right, up, down, cell(in, z - 1, y, x), cell(in, z + 1, y, x));
  }
  __host__ __device__ float cell(const lab::View<float>& in, int z, int y, int x) const {
    z = place(z, box.planes), y = place(y, box.rows), x = place(x, box.cols);
    return z < 0 || y < 0 || x < 0 ? 0 : in[z * box.plane() + size_t(y) * box.cols + x];
  }
  __host__ __device__ int place(int i, int n) const {
    return edge == Edge::zero    ? beyond<Edge::zero>(i, n)
           : edge == Edge::clamp ? beyond<Edge::clamp>(i, n)
                                 : beyond<Edge::periodic>(i, n);
  }
};

/// A cell after a step of the 25 points.
struct FarStep {
  Box box;
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    const int x = static_cast<int>(i % box.cols), y = static_cast<int>(i / box.cols % box.rows);
    const int z = static_cast<int>(i / box.plane());
    if (x < REACH || x >= box.cols - REACH || box.at_edge(z, y, REACH)) return in[i];
    double sum = double{far_weight(0)} * in[i];
    for (int d = 1; d <= REACH; ++d) {
      const size_t row = size_t(d) * box.cols, plane = d * box.plane();
      const double far =
          double{in[i - d]} + in[i + d] + in[i - row] + in[i + row] + in[i - plane] + in[i + plane];
      sum += far_weight(d) * far;
    }
    return static_cast<float>(sum);
  }
};

/// A grid after so many steps.
template <class Step>
std::shared_ptr<const lab::Reference<float>> after(int steps, lab::View<float> in, Step step) {
  std::shared_ptr<const lab::Reference<float>> now;
  for (int s = 0; s < steps; ++s) {
    const auto next = std::make_shared<lab::Reference<float>>(in.size(), "a step");
    lab::fill(*next, [=] __host__ __device__(size_t i) { return step(in, i); });
    now = next, in = now->view();
  }
  return now;
}

/// What `gradient` has to find.
struct Slope {
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    float around[2 * RAD + 1];
    for (size_t k = 0; k <= 2 * RAD; ++k) {
      const size_t j = i + k < RAD ? 0 : i + k - RAD;
      around[k] = in[j < in.size() ? j : in.size() - 1];
    }
    return derivative(around + RAD);
  }
};

/// What a convolution has to find. The kernels get the taps when it is made.
struct Convolved {
  explicit Convolved(unsigned radius) : radius(radius), bell(bell_of(radius)) {
    CUDA_CHECK(cudaMemcpyToSymbol(taps, bell.weight, sizeof bell.weight));
    CUDA_CHECK(cudaMemcpyToSymbol(taps_in_memory, bell.weight, sizeof bell.weight));
  }
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    float sum = 0;
    for (size_t k = 0; k <= 2 * radius; ++k) {
      const size_t j = i + k - radius;
      if (j < in.size()) sum = fmaf(bell.weight[k], in[j], sum);
    }
    return sum;
  }
  unsigned radius;
  Taps bell;
};

/// What a filter with one edge or another has to leave. The kernels get the weights when it is made: products of two taps.
template <int RADIUS, Edge EDGE>
struct Filtered {
  explicit Filtered(Box box) : box(box), taps(RADIUS) {
    float products[MOST_WEIGHTS];
    for (int k = 0; k < SIZE * SIZE; ++k) products[k] = weight(k);
    CUDA_CHECK(cudaMemcpyToSymbol(weights, products, sizeof products));
    Between pairs[2][MOST_PAIRS] = {};
    for (int j = 0; j <= RADIUS; ++j) {
      const auto tap = [&](int k) { return k < SIZE ? taps.bell.weight[k] : 0; };
      const auto pair = [&](float a, float b) { return Between{2 * j + b / (a + b), a + b}; };
      pairs[0][j] = pair(tap(2 * j), tap(2 * j + 1));
      pairs[1][j] = pair(tap(SIZE - 1 - 2 * j), 2 * j + 1 < SIZE ? tap(SIZE - 2 - 2 * j) : 0);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(between, pairs, sizeof pairs));
  }
  __host__ __device__ float operator()(const lab::View<float>& in, size_t i) const {
    const int y = static_cast<int>(i / box.cols), x = static_cast<int>(i % box.cols);
    double sum = 0;
    for (int k = 0; k < SIZE * SIZE; ++k) {
      const int from_y = beyond<EDGE>(y + k / SIZE - RADIUS, box.rows);
      const int from_x = beyond<EDGE>(x + k % SIZE - RADIUS, box.cols);
      if (from_y < 0 || from_x < 0) continue;
      sum += double{weight(k)} * in[size_t(from_y) * box.cols + from_x];
    }
    return static_cast<float>(sum);
  }
  /// Of row k / SIZE and column k % SIZE.
  __host__ __device__ float weight(int k) const { return weight_of(taps.bell, SIZE, k); }
  lab::Tolerance tolerance() const {
    return lab::tolerance_for_sum(SIZE * SIZE, 1.0 / (SIZE * SIZE));
  }
  /// For reads between pixels. Neighbours differ by at most 2, and all weights together are 1.28. A place is rounded to
  /// 1/256, and before to a float.
  lab::Tolerance tolerance_between() const {
    const double off = 1.0 / 512 + 0x1p-24 * std::max(box.rows, box.cols);
    return {.absolute = 2 * 2 * 1.28 * off, .basis = "weights of 8 bits along x and y"};
  }
  static constexpr int SIZE = 2 * RADIUS + 1;
  Box box;
  Convolved taps;
};

/// A `cudaMemcpy` that moves a grid once.
lab::Peer copy_of(size_t cells, const std::string& grid) {
  lab::Peer peer = lab::memcpy_peer(cells * sizeof(float), 1);
  if (!grid.empty()) peer.name += ", " + grid;
  peer.bytes = 2.0 * static_cast<double>(cells * sizeof(float));
  return peer;
}

/// The row that belongs to a grid in 2D: 2^26 elements to 16384 x 16384.
Box row_of(Box grid) { return {1, 1, static_cast<int>(std::max(grid.cells() / 4, size_t{1}))}; }
/// The boxes that belong to a grid in 2D: 512 x 512 x 512 and 1000 x 777 x 512 to 16384 x 16384; not too
/// small for a few tiles.
Box cube_of(Box grid) {
  return {std::max(grid.rows / 32, 19), std::max(grid.rows / 32, 21),
          std::max(grid.cols / 32, 36 + grid.cols % 4)};
}
Box brick_of(Box grid) {
  return {std::max(grid.rows / 128 * 125 / 16, 17),
          std::max(static_cast<int>(grid.rows * 777LL / 16384), 35),
          std::max(grid.cols / 32, 136 + grid.cols % 4)};
}

/// The image that belongs to a grid: 8192 x 8192 to 16384 x 16384; not too narrow for three strips.
Box image_of(Box grid) {
  const int half = std::max(grid.cols / 2, 1);
  return {1, std::max(grid.rows / 2, 1), half < 32 ? half : std::max(half, 300 + grid.cols % 4)};
}

/// The grid that fits on the chip: 2048 x 2048 to 16384 x 16384.
Box small_of(Box grid) {
  return {1, std::clamp(grid.rows / 8 / KEPT * KEPT, 3 * KEPT, 2048),
          std::clamp(grid.cols / 8 / 4 * 4, 136, 2048)};
}

/// The two in one.
std::string joined(const std::string& variant, const std::string& more) {
  return variant.empty() || more.empty() ? variant + more : variant + "," + more;
}

/// A grid, and where its steps go.
struct Field {
  Field(Box box, std::uint64_t seed, const std::string& shape = "")
      : box(box),
        shape(shape),
        in(box.cells(), lab::RandomValue<float>{seed}),
        out(3 * box.cells(), "out"),
        copy(copy_of(box.cells(), shape)) {}

  const Box box;
  std::shared_ptr<std::set<std::string>> skips = std::make_shared<std::set<std::string>>();
  std::string shape;  ///< for variants; empty where the grid is the size's
  const lab::Input<float> in;
  lab::DeviceBuffer<float> out;  ///< and room for work behind it
  const lab::Peer copy;

  /// Whether this is not the first question for a rung that is skipped: it is so once for each size.
  bool skipped(const std::string& rung) { return !skips->insert(rung).second; }
  void run(const Launch& launch) { launch.run(out.data(), in.data(), box); }
  /// A rung that has to leave in `out` what is expected.
  lab::Rung rung(const Launch& launch, const lab::Expectation& right) {
    return {.name = launch.rung,
            .variant = joined(shape, launch.variant),
            .launch = [this, launch] { run(launch); },
            .outputs = {right},
            .prepare =
                [this, launch] {
                  if (launch.prepare) launch.prepare(in.data(), box);
                },
            .bytes = launch.steps * copy.bytes,
            .limit = lab::Limit::copy,
            .peer = copy};
  }
  /// The loop on the host, from one array of the host to another.
  lab::Rung rung_on_host() {
    const auto from = std::make_shared<const std::vector<float>>(in.host());
    const auto to = std::make_shared<std::vector<float>>(from->size());
    const auto want = after(1, in.view(), FiveStep{box})->host();
    lab::Rung rung =
        this->rung({"on_cpu", "", 1, on_cpu},
                   lab::expect(std::span<float>(*to), want, lab::tolerance_for_sum(5, 0.5)));
    rung.launch = [this, to, from] { on_cpu(to->data(), from->data(), box); };
    rung.clock = lab::Clock::host;
    return rung;
  }
};

/// What a launch has to leave: the steps of its grid, or those with an edge.
template <class Step>
auto wanted(const Launch& launch, const Field& field, Step step) {
  const lab::View<float> in = field.in.view();
  if (launch.edge) return after(launch.steps, in, EdgeStep{field.box, *launch.edge});
  return after(launch.steps, in, step);
}

/// Adds what takes steps on one grid, and mistakes.
template <class Step>
void add_steps(lab::Ladder& ladder, Field& field, const std::vector<Launch>& launches, Step step,
               const lab::Tolerance& tolerance = lab::Tolerance::exact()) {
  for (const Launch& launch : launches) {
    if (!ladder.wants(launch.rung)) continue;
    if (launch.cannot && launch.cannot(field.box)) {
      if (!field.skipped(launch.rung)) ladder.skip(launch.rung, launch.cannot(field.box));
    } else if (launch.steps == 0) {
      ladder.demonstrate(launch.rung, [&] { field.run(launch); }, {&field.out});
    } else {
      const auto want = wanted(launch, field, step);
      ladder.add(field.rung(launch, lab::expect(field.out, want, tolerance)));
    }
  }
}

/// Adds the filters of one size with one edge.
template <int RADIUS, Edge EDGE = Edge::zero>
void add_filters(lab::Ladder& ladder, Field& image, const std::string& edge = "",
                 const std::vector<Launch>& others = {}) {
  const Filtered<RADIUS, EDGE> right(image.box);
  image.shape = joined("size=" + std::to_string(right.SIZE), edge);
  add_steps(ladder, image, filters<RADIUS, EDGE>(others), right, right.tolerance());
  if constexpr (RADIUS == 3 && EDGE == Edge::zero) {
    add_steps(ladder, image, BETWEEN, right, right.tolerance_between());
  }
  free_texture();
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, size_t rows, size_t cols) {
    ladder.require(rows <= 8 * 65535, "at most 524280 rows");  // 8 for a block, which grid.y counts
    ladder.require(rows * cols < size_t{1} << 32, "at most 2^32 - 1 cells");
    const Box grid{1, static_cast<int>(rows), static_cast<int>(cols)};
    Launches all = launches();
    lab::add_others(all);
    {
      Field row(row_of(grid), ladder.seed());
      add_steps(ladder, row, GRADIENTS, Slope());
      row.shape = "taps=7", add_steps(ladder, row, convolutions<3>(), Convolved(3));
      row.shape = "taps=33", add_steps(ladder, row, convolutions<16>(), Convolved(16));
    }
    Field field(grid, ladder.seed());
    if (ladder.wants("on_cpu")) ladder.add(field.rung_on_host());
    add_steps(ladder, field, all.five, FiveStep{grid});
    Field small(small_of(grid), ladder.seed(), "small");
    add_steps(ladder, small, all.small, FiveStep{small.box});
    for (const auto& [shape, box] :
         {std::pair{"box=cube", cube_of(grid)}, {"box=brick", brick_of(grid)}}) {
      Field in_3d(box, ladder.seed(), shape);
      in_3d.skips = field.skips;
      add_steps(ladder, in_3d, all.seven, SevenStep{box});
      add_steps(ladder, in_3d, all.far, FarStep{box}, lab::tolerance_for_sum(25, 0.5));
    }
    Field image(image_of(grid), ladder.seed(), "image");
    add_filters<1>(ladder, image), add_filters<2>(ladder, image);
    add_filters<3>(ladder, image, "", all.filters);
    add_filters<3, Edge::clamp>(ladder, image, "edge=clamp");
    add_filters<3, Edge::periodic>(ladder, image, "edge=periodic");
    add_filters<4>(ladder, image), add_filters<5>(ladder, image);
    add_filters<6>(ladder, image), add_filters<7>(ladder, image);
  });
}

// ## What to remember
//
// - A stencil has the lower limit of a copy: each cell once in, once out. Give its time as a share of that.
// - The five points take 217 ms on one core, 0.94 ms with a thread for each cell, 0.51 ms at the rate of a copy, and with eight steps
//   in a pass 0.11 ms each.
//= 217 ms on one core, 0.94 ms with: (ms("on_cpu"), ms("five_naive"))
//= cell, 0.51 ms: ms("five_columns")
//= pass 0.11 ms: ms("five_strips/steps=8") / 8
// - Caches alone leave a thread for each cell at 0.35 to 0.54 of a copy. A tile in shared memory is no remedy by itself.
// - Let a thread have a float4 and several rows: its own registers are the fastest neighbours, the lanes beside come next.
// - A halo has corners: indices below zero, and threads without a result that still have to load.
// - Only several steps in one pass get past the copy: in overlapping tiles, or in a grid that stays on the chip.
// - A grid that fits on the chip should stay there, without a barrier of the grid: a value can carry its step.
//
// ## Possibilities for extension
//
// 1. Give `five_strips` the periodic edge of section 9. Which of its loads change, and where do its strips begin?
// 2. Let `filter_tiled` apply two filters one after the other on the chip. How much larger is its halo, and when does it pay?
// 3. Let a block of `resident` keep two rows of each neighbour, and exchange every second step.
