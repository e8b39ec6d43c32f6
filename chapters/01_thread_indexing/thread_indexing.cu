// # Chapter 01: Thread indexing
//
// Question: Which thread does which work, and what does a wrong index cost?
// Builds on: nothing
// Minutes: 50
// Path: short
// Afterwards: launch a kernel of your own, index and guard it, and see what its loads and branches cost a warp
// Kind: free
// Size gpu: 67000000
// Size simulator: 65000
// Run: ./learn run 01
//   ./learn run 01 --rung who_am_i               every thread writes down its number, warp and lane
//   ./learn run 01 --rung add_on_cpu             the loop to be replaced, on one core of the host
//   ./learn run 01 --rung add_guarded            one thread an element, a guard for the last block
//   ./learn run 01 --rung add_unguarded          the guard left out [raises out-of-bounds]
//   ./learn run 01 --rung add_truncated          the number of blocks rounded down
//   ./learn run 01 --rung grid_stride            a loop that makes any grid right for any n
//   ./learn run 01 --rung map_square             a map, in blocks of 32 to 1024 threads
//   ./learn run 01 --rung where_blocks_run       which SM each block ran on, and when [needs gpu]
//   ./learn run 01 --rung copy_x_fastest         threadIdx.x runs along the row
//   ./learn run 01 --rung copy_y_fastest         threadIdx.x runs down the column
//   ./learn run 01 --rung read_only              a picture is read, and not written
//   ./learn run 01 --rung write_only             a picture is written, and not read
//   ./learn run 01 --rung diverge_between_warps  a branch on which the lanes of a warp agree
//   ./learn run 01 --rung diverge_within_warps   the same branch, decided lane by lane
//   ./learn run 01 --rung async_launch           one launch, timed with three clocks
//   ./learn run 01 --rung refused_launch         a block of 2048 threads
//   ./learn run 01 --rung sticky_error           a kernel that follows a null pointer
//     [raises out-of-bounds]
//   ./learn run 01 --rung host_touches_device    the host follows a device pointer
//     [raises host-access]
//   ./learn run 01 --rung device_touches_host    a kernel follows a host pointer
//     [raises device-access]
//   ./learn run 01 --rung copy_memory            the same copy across the bus and within the device
//   ./learn run 01 --rung read_managed           memory that the driver moves, page by page
//   ./learn run 01 --rung count_above            one parameter in, one number back

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/lab.h"

// A CPU core is built to finish one thread as fast as possible. A GPU keeps tens of thousands of
// threads in flight, and all of them run the same function. Each must find
// out which one it is: its index decides which data it works on. This chapter is about that index: how a
// thread computes it, and what the hardware makes of the addresses.
//
// ## 1. A complete program
//
// This CUDA program doubles a thousand numbers and checks the result.
//
// ```{source} chapters/01_thread_indexing/first/first.cu
// ```
//
// Make a copy of your own, and run it: on the simulator, which prints what the kernel did line by line,
// or on a GPU with the CUDA Toolkit.
//
// ```console
// mkdir -p my && cp chapters/01_thread_indexing/first/first.cu my/twice.cu
// ./learn explain my/twice.cu
// nvcc my/twice.cu -o my/twice && my/twice
// ```
//
// The program uses two processors. The {term}`host` is the CPU with its memory; the
// {term}`device` is the GPU with a memory of its own. `main()` runs on the host and takes
// five steps:
//
// 1. `cudaMalloc` allocates bytes on the device. The address in `device` is valid there only.
// 2. `cudaMemcpy` copies the input: destination, source, bytes, direction.
// 3. `twice<<<4, 256>>>(device, n)` *launches* the {term}`kernel` `twice`: 4 blocks of 256
//    threads, each of which runs the function once. A thread reads its own index from
//    `blockIdx`, `blockDim` and `threadIdx`.
// 4. `cudaMemcpy` waits for the kernel and copies the result back.
// 5. `cudaFree` frees the memory.
//
// Each call returns an error code; `check` ends the program at the first that is not `cudaSuccess`. A
// launch returns nothing, so `cudaGetLastError` says whether it was accepted.
//
// Now change a line of your copy and run it again:
//
// - Replace `2 * x[i]` by `3 * x[i]`. The loop at the end reports the first wrong element.
// - Remove `if (i < n)`. The simulator names the first thread that leaves the array, and the line.
// - Print from the kernel: `printf("block %d, thread %d\n", blockIdx.x, threadIdx.x);`
//
// The rest of the chapter is one larger program, and this page is its source. A small library, `lab`, allocates, checks and
// times; each function that it runs is a {term}`rung` of a ladder. Answer each question before you read on. (In the
// source, `//?` begins a question, and `//=` says from which result a number comes.)
//
// Counts are for n = 65,000, the simulator's default. Times are those of an NVIDIA H200 with CUDA
// 13.0 for n = 67,000,000: arrays of 268 MB, too large for any cache. Your GPU will give other
// times and the same counts.

/// Threads per block wherever a rung does not say otherwise.
constexpr unsigned block_size = 256;

// ## 2. Which thread am I?
//
// A function marked `__global__` is a kernel: the host launches it, the device runs it. (`__device__`
// functions are called from there.) The {term}`launch configuration` goes between `<<<` and `>>>`.
// Threads come in {term}`blocks <block>`, and the blocks of a launch are its {term}`grid`:
//
//     kernel<<<grid, block>>>(arguments);
//
// Both extents have the type `dim3`: up to three dimensions x, y and z, of which those not given
// are 1. In the kernel, `gridDim` and `blockDim` hold the extents, the same for all threads;
// `blockIdx` and `threadIdx` hold the thread's place.
//
// The hardware numbers the threads of a block with **x fastest, then y, then z**, and cuts that
// sequence into {term}`warps <warp>` of 32. A thread's place in its warp is its {term}`lane`. An
// instruction is issued for a whole warp. When it loads or stores, it is one {term}`request` to the
// memory system, however many of the warp's lanes take part.
//
// In the kernel below every thread stores four numbers: four store instructions.
//
//? warps: A grid of 2 x 2 blocks with 2 x 2 x 3 threads each: how many warps are there?
//? answer: count("who_am_i/4 blocks of 2x2x3", "global_store_requests") / 4
//? unit: warps
//? near: exact
//
//? lanes: Now the same 48 threads in one block of 8 x 6. How many lanes take part in a store, on
//?   average?
//? answer: count("who_am_i/1 block of 8x6", "global_store_active_lanes") / count("who_am_i/1
//?   block of 8x6", "global_store_requests")
//? unit: lanes per request
//? near: exact

/// Every thread writes down who it is, at the place of its number in the grid.
///
/// @param names  4 integers for every thread of the grid: the block's number, the thread's number
///               in its block, its warp in the block and its lane in the warp; written
///
/// Launch: any grid and block of up to three dimensions.
/// Requires: no more threads than an int can number.
__global__ void who_am_i(int* names) {
  // Numbers in one dimension: x runs fastest, then y, then z.
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int threads_per_block = blockDim.x * blockDim.y * blockDim.z;

  // The threads of block 0 come first, then those of block 1, ...: this number decides where in
  // memory a thread works.
  int* const mine = names + 4 * (block * threads_per_block + thread);
  mine[0] = block;
  mine[1] = thread;
  mine[2] = thread / warpSize;
  mine[3] = thread % warpSize;
}

/// What who_am_i has to write at place i of names, in blocks of so many threads.
struct Names {
  unsigned threads;
  __host__ __device__ int operator()(std::size_t i) const {
    const unsigned number = static_cast<unsigned>(i / 4), thread = number % threads;
    const unsigned four[] = {number / threads, thread, thread / 32, thread % 32};
    return static_cast<int>(four[i % 4]);
  }
};

// A warp never spans two blocks. Each block of 12 threads gets a warp of its own, in which 20 lanes
// have no thread and stay empty. Four warps with four stores each make 16 requests.
//= 16 requests: count("who_am_i/4 blocks of 2x2x3", "global_store_requests")
//
// The program prints each thread's number in the grid, its warp and its lane. Take thread (1,0,2)
// of block (0,1,0). In its block it has the number (2 * 2 + 0) * 2 + 1 = 9, hence lane 9 of warp 0.
// Its block is number 1 * 2 + 0 = 2, and two blocks of 12 threads come before it: in the grid it is
// number 33.
//
// In the block of 8 x 6, warp 0 holds the rows y = 0 to 3 and is full. Warp 1 holds the rows 4 and
// 5, 16 threads. The average is 24, and the hardware issues a store for 16 lanes in the same time
// as for 32. So make the number of threads in a block a multiple of 32.
//
// ## 3. One thread for each element
//
// On a CPU, work on an array is a loop:

/// Adds two vectors on the host: out[i] = a[i] + b[i] for every i < n.
///
/// @param out, a, b  n floats in host memory each; out is written
/// @param n          number of elements, any
///
/// Launch: no kernel.
void add_on_cpu(float* out, const float* a, const float* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

// No iteration needs the result of another, so all of them can run at once. This pattern is a
// {term}`map`: one function, applied to each element by itself. On a GPU the loop disappears, and a
// thread's index takes the place of the loop variable.
//
// Threads come in blocks, so their number is a multiple of the block's size, and n need not be one.
// Round the number of blocks, n / 256, **up**; the threads that are left over in the last block
// must do nothing. The test that stops them is the {term}`guard`.
//
// ```{drawing} guard
// ```
//
// ### How fast can it be?
//
// The kernel below does one addition for 12 bytes, so memory sets the pace. An H200 has 6144 data
// wires to its memory, clocked at 3.2 GHz, with two bits per cycle on each: 6144 x 2 x 3.2e9 / 8
// bytes, a peak bandwidth of 4.92 TB/s. (`cudaDeviceGetAttribute` reports both numbers.) A copy within
// the device reaches 87 % of that. In the loop above a CPU core moves 14 GB/s.
//= 14 GB/s: rate("add_on_cpu")
//= 4.92 TB/s: 6144 * 2 * 3.201e9 / 8 / 1e12
//= 87 %: 100 * limit("copy") / (6144 * 2 * 3.201 / 8)
//
//? requests: How many load requests does the kernel below make for n = 65,000, in blocks of 256?
//? answer: count("add_guarded", "global_load_requests")
//? unit: requests
//? near: exact
//
//? add_time: How long does `add_guarded` take for 67,000,000 elements?
//? answer: ms("add_guarded")
//? unit: ms
//? near: 50 %
//
//? speedup: How many times as long does the loop on one CPU core take?
//? answer: ms("add_on_cpu") / ms("add_guarded")
//? unit: times
//? near: factor 3

/// Adds two vectors: out[i] = a[i] + b[i] for every i < n.
///
/// @param out, a, b  n floats in device memory each; out is written
/// @param n          number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void add_guarded(float* out, const float* a, const float* b, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

/// What has to be at place i of the sum of two vectors.
struct Sum {
  lab::View<float> a, b;
  __host__ __device__ float operator()(std::size_t i) const { return a[i] + b[i]; }
};

// 65,000 elements make 2031 full warps and one with 8 active lanes. Each of the 2032 warps loads
// twice and stores once, so there are 4064 load requests.
//= 4064 load requests: count("add_guarded", "global_load_requests")
//= 2032 warps: count("add_guarded", "global_store_requests")
//
// The index is computed in 64 bits. `blockIdx.x * blockDim.x` alone is a product of two 32-bit
// numbers and wraps round at 2^32; an H200 has room for eight times as many floats.
//
// It moves 12 bytes for each element, 804 MB, which takes 0.16 ms at peak bandwidth. The kernel
// needs 0.23 ms, or 3.5 TB/s.
//= 0.16 ms: 12 * 67e6 / 4.92e12 * 1000
//= 0.23 ms: ms("add_guarded")
//= 3.5 TB/s: rate("add_guarded") / 1000
//
// The loop on the CPU takes a few hundred times as long, the ratio of the two rates at which bytes
// move. What keeps the kernel below the GPU's bandwidth is a subject of chapter 02.
//
// ### Without the guard
//
// The next kernel omits the guard. Its last block has 24 threads too many.

/// add_guarded without the guard. Threads past the end read and write past the end.
///
/// @param out, a, b  n floats in device memory each; out is written
/// @param n          number of elements; not used, which is the mistake
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
/// Requires: grid.x * block.x == n exactly.
__global__ void add_unguarded(float* out, const float* a, const float* b, std::size_t /*n*/) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}

// [hide] launch_unguarded: a length that is no multiple of a block
/// Launches add_unguarded on a length that is no multiple of a block, with slices that end where
/// the arrays end.
void launch_unguarded(float* out, const float* a, const float* b, std::size_t n) {
  const std::size_t skip = n % block_size == 0 ? 1 : 0;
  const dim3 grid = lab::tiles(n, block_size);
  add_unguarded<<<grid, block_size>>>(out + skip, a + skip, b + skip, n - skip);
}
// [/hide]

// The simulator stops at the first access outside every allocation, and names the thread and the
// allocation. This rung is a {term}`demonstration`: it passes if exactly this finding is raised.
//
// On a GPU often nothing happens, which is worse: a few elements past the end are padding, or another
// array, which is silently overwritten. `compute-sanitizer`, a tool of the CUDA Toolkit, finds such an access.
//
// ### Too few blocks (second reading)
//
// The opposite mistake is a grid that is too small. `std::ceil(n / 256)` looks like rounding up.
//
//? lost: With that many blocks, how many of the 65,000 elements are never computed?
//? answer: 65000 - count("add_truncated", "global_store_active_lanes")
//? unit: elements
//? near: exact

/// The same kernel as add_guarded, for a launch with too few blocks.
///
/// @param out, a, b  n floats in device memory each; out is written as far as the threads reach
/// @param n          number of elements, any
///
/// Launch: one dimension; here with std::ceil(n / 256) blocks of 256, which rounds down.
__global__ void add_truncated(float* out, const float* a, const float* b, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

/// The number of blocks with the classic mistake: n and 256 are integers, so their quotient is
/// rounded down before std::ceil sees it.
unsigned blocks_rounded_down(std::size_t n) {
  return static_cast<unsigned>(std::ceil(n / block_size));
}

/// What add_truncated has to leave at place i of an array of 99s, adding another one to itself: what
/// lies behind its threads stays as it was.
struct DoubledOr99 {
  lab::View<float> in;
  std::size_t threads;
  __host__ __device__ float operator()(std::size_t i) const {
    return i < threads ? in[i] + in[i] : 99;
  }
};

// n and 256 are integers, so n / 256 is 253 before `std::ceil` sees it. The last 232 elements are
// never computed, and no error is reported: every thread did its work.
//= 232 elements: 65000 - count("add_truncated", "global_store_active_lanes")
//
// Round up in integers: `(n + 255) / 256`, or `lab::ceil_div(n, 256)`, which cannot overflow.
// (`std::ceil(n / 256.0f)` is no cure: a float has 24 bits of precision, so 2^24 + 1 rounds to
// 2^24. `std::ceil(n / 256.0)` computes in double, and is right up to 2^53.)
//
// ### The grid-stride loop
//
// The number of threads need not follow from n. Launch as many as suit the machine, and let each
// take several elements. With T threads in the grid, thread i takes the elements i, i + T, i + 2T
// and so on. T is the stride of the grid, and the loop is a {term}`grid-stride loop`.
//
// ```{drawing} grid-stride
// ```
//
// A CPU thread would take a run of neighbouring elements. A GPU thread takes every T-th, because of
// the other lanes: in each iteration the 32 lanes of a warp load 32 consecutive floats.

//? one_block: The GPU runs up to 1056 blocks of 256 threads at the same time. How many times as
//?   long does one block take as a full grid?
//? answer: ms("grid_stride/grid=1") / ms("grid_stride/grid=n/256")
//? unit: times
//? near: factor 3

/// Squares every element, with any number of threads.
///
/// @param out, in  n floats in device memory each; out is written
/// @param n        number of elements, any
///
/// Launch: one dimension, any grid and any block; no shared memory.
/// Idea: Mark Harris, CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops (2013).
__global__ void grid_stride(float* out, const float* in, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = in[i] * in[i];
  }
}

/// What has to be at place i of an array of squares.
struct Square {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const { return in[i] * in[i]; }
};

/// Blocks that run at the same time, or all that n elements need where these are fewer.
unsigned wave_of_blocks(std::size_t n) {
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, grid_stride, block_size, 0));
  return std::min(static_cast<unsigned>(per_sm) * lab::multiprocessors(),
                  lab::tiles(n, block_size).x);
}

// The loop's condition is the guard. Whatever the grid, each element is computed once, with the
// same number of requests; one thread is enough to debug the kernel.
//
// One block is a 1056th of what runs at a time, yet it takes only 470 times as long. The full grid is
// bandwidth-bound; a single block is latency-bound. It spends 94 ms on 262 thousand iterations, 0.36 us
// for each, from asking for a float to storing its square. The time that a load takes is the
// {term}`latency` of memory, and chapter 02 measures it.
//= 470 times: round(ms("grid_stride/grid=1") / ms("grid_stride/grid=n/256"), -1)
//= 94 ms: ms("grid_stride/grid=1")
//= 262 thousand: 67e6 / 256 / 1000
//= 0.36 us: ms("grid_stride/grid=1") * 1000 / (67e6 / 256)
//
// ## 4. Which index runs fastest?
//
// Memory moves in {term}`sectors <sector>`, aligned pieces of 32 bytes. A request costs as many
// sectors as the addresses of its lanes fall into. Lanes that read 32 consecutive floats touch 128
// bytes: 4 sectors.
//
// C++ stores a matrix row by row: element (row, col) is at `row * cols + col`. The lanes of a
// warp have consecutive values of `threadIdx.x`, so there is a choice: x can run along the row, or
// down the column. Both kernels below copy the same picture of 325 x 200 floats, in blocks of 32 x
// 8 threads.
//
//? sectors: How many times as many load sectors does `copy_y_fastest` need as `copy_x_fastest`?
//? answer: count("copy_y_fastest", "global_load_sectors") / count("copy_x_fastest",
//?   "global_load_sectors")
//? unit: times
//? near: exact
//
//? picture_time: And how many times as long does `copy_y_fastest` take on the H200?
//? answer: ms("copy_y_fastest") / ms("copy_x_fastest")
//? unit: times
//? near: factor 2

/// Copies a picture; threadIdx.x runs along the row.
///
/// @param out, in     rows x cols floats in device memory each, row by row; out is written
/// @param rows, cols  extents, any
///
/// Launch: block (32, 8); grid.x * 32 >= cols, grid.y * 8 >= rows.
__global__ void copy_x_fastest(float* out, const float* in, std::size_t rows, std::size_t cols) {
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

/// Copies a picture; threadIdx.x runs down the column.
///
/// @param out, in     rows x cols floats in device memory each, row by row; out is written
/// @param rows, cols  extents, any
///
/// Launch: block (32, 8); grid.x * 32 >= rows, grid.y * 8 >= cols.
__global__ void copy_y_fastest(float* out, const float* in, std::size_t rows, std::size_t cols) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

// [hide] A picture of n elements, and its launches
/// A picture of n elements: as nearly square as can be with whole sectors in a row.
struct Picture {
  std::size_t rows, cols;
  explicit Picture(std::size_t n) : rows(1), cols(n) {
    for (std::size_t length = 8; length * length <= n; length += 8) {
      if (n % length == 0) rows = n / length, cols = length;
    }
  }

  static constexpr const char* limit =
      "needs more than 65,535 rows of blocks, the limit of gridDim.y";
  /// Whether blocks down the columns keep to the limit.
  bool fits() const { return cols <= std::size_t{8} * 65535; }

  /// The launch of a kernel with threadIdx.x along the row.
  auto along_rows(void (*kernel)(float*, const float*, std::size_t, std::size_t)) const {
    return lab::launcher(kernel, lab::tiles(cols, rows, 32, 8), dim3(32, 8), rows, cols);
  }
  /// And down the column.
  auto down_columns(void (*kernel)(float*, const float*, std::size_t, std::size_t)) const {
    return lab::launcher(kernel, lab::tiles(rows, cols, 32, 8), dim3(32, 8), rows, cols);
  }
};
// [/hide]

// With x along the row, a full warp reads 128 consecutive bytes: 4 sectors. With x down the column,
// each lane's float lies a whole row from its neighbour's: 32 sectors for a full warp, and 4 bytes
// of each are used. The same picture takes eight times as many sectors.
//
// It takes 4.7 times as long, not 8. The eight warps of a block read neighbouring columns, so a cache
// may still hold the sector that the next warp wants. Nearly all of the time goes to the writes: alone they take 0.96 of
// it, the reads alone 0.29.
//= 4.7 times: ms("copy_y_fastest") / ms("copy_x_fastest")
//= take 0.96 of: ms("write_only/down the columns") / ms("copy_y_fastest")
//= alone 0.29: ms("read_only/down the columns") / ms("copy_y_fastest")
//
// ### Reads and writes apart (second reading)
//
// Two more kernels do one half each: `read_only` looks for a number and stores where it stands, `write_only` numbers
// the elements.

/// Finds a number in a picture that has it once.
///
/// @tparam DOWN       whether threadIdx.x runs down the column, or else along the row
/// @param place       one integer in device memory: the number of the element that is `wanted`; written
/// @param in          rows x cols integers in device memory, row by row
/// @param wanted      one of them
/// @param rows, cols  extents, any with fewer than 2^32 elements
///
/// Launch: block (32, 8); grid.x * 32 covers the rows if DOWN, else the columns; grid.y * 8 covers the others.
template <bool DOWN>
__global__ void read_only(unsigned* place, const unsigned* in, unsigned wanted, std::size_t rows,
                          std::size_t cols) {
  const std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t y = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::size_t row = DOWN ? x : y, col = DOWN ? y : x;
  if (row >= rows || col >= cols) return;
  if (in[row * cols + col] == wanted) *place = static_cast<unsigned>(row * cols + col);
}

/// Numbers the elements of a picture, row by row.
///
/// @tparam DOWN       whether threadIdx.x runs down the column, or else along the row
/// @param out         rows x cols integers in device memory; written
/// @param rows, cols  extents, any with fewer than 2^32 elements
///
/// Launch: as read_only.
template <bool DOWN>
__global__ void write_only(unsigned* out, std::size_t rows, std::size_t cols) {
  const std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t y = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::size_t row = DOWN ? x : y, col = DOWN ? y : x;
  if (row < rows && col < cols) out[row * cols + col] = static_cast<unsigned>(row * cols + col);
}

// In ms:
//
// | | along the rows | down the columns | times as long |
// |---|--:|--:|--:|
// | reads alone | 0.18 | 0.29 | 1.6 |
// | writes alone | 0.16 | 0.97 | 6.0 |
// | both | 0.22 | 1.01 | 4.7 |
//= reads alone | 0.18 | 0.29 | 1.6 |: (ms("read_only/along the rows"), ms("read_only/down the columns"),
//=   ms("read_only/down the columns") / ms("read_only/along the rows"))
//= writes alone | 0.16 | 0.97 | 6.0 |: (ms("write_only/along the rows"), ms("write_only/down the columns"),
//=   ms("write_only/down the columns") / ms("write_only/along the rows"))
//= both | 0.22 | 1.01 | 4.7 |: (ms("copy_x_fastest"), ms("copy_y_fastest"), ms("copy_y_fastest") / ms("copy_x_fastest"))
//
// The L1 cache has 32 banks, as chapter 02 tells: a request along the row takes a cycle, one down the column 32, since these
// rows are a multiple of 32 floats long. That is 0.26 ms, most of what the reads take. The writes take 3.8 times as long.
// What else a store of 4 bytes to each of 32 sectors costs is not measured here; chapter 06 goes on with it.
//= 3.8 times: ms("write_only/down the columns") / (67e6 / 32 * 32 / 132 / 1.98e6)
//= 0.26 ms: 67e6 / 32 * 32 / 132 / 1.98e6
//
// ### The rule
//
// **Consecutive lanes should touch consecutive addresses.** Let `threadIdx.x` run along the index
// that is contiguous in memory. Such accesses are {term}`coalesced`.
//
// ```{live} access-rule
// :examples: rows offset apart
// ```
//
// ## 5. Where the blocks run
//
// A GPU consists of {term}`streaming multiprocessors <SM>`, SMs; an H200 has 132. Each has room for 2048
// threads in at most 32 blocks, and for a fixed number of registers and bytes of shared memory. The block scheduler takes one block after the other and places
// it on an SM that has room for all of it. There it stays until its last thread is done.
//
// An SM has four sub-partitions, each with its own registers, a warp scheduler and, on an H200, 32 FMA
// units. A warp stays in one of them. In each cycle the warp scheduler picks a warp that is ready, and
// issues one instruction for it. While some warps wait for memory, others run: this is
// {term}`latency hiding`. The share of an SM's threads that is in use is the {term}`occupancy`.
//
// ```{drawing} machine
// ```
//
// - The threads of a block are on one SM. They can share memory and wait for each other.
// - Blocks run in any order, on any SM. No block may wait for one that may not have started.
// - A grid with many more blocks than fit at once runs on a small GPU and on a large one unchanged.
//
// A block has at most 1024 threads, with at most 1024 along x and y and 64 along z. How many should
// it have? A multiple of 32, and **128 or 256 to begin with**: on the H200 a map is fastest in blocks
// of 256 threads, and takes 6.4 times as long in blocks of 32.
//= 6.4 times: ms("map_square/block=32") / ms("map_square/block=256")
//
// ### The size of a block (second reading)
//
// The next kernel runs in blocks of 32 to 1024 threads. The counts are the same for all multiples of
// 32. In blocks of 48 every second warp has 16 threads, and a third more requests do the same work.
//
// Blocks of 32 threads take 1.26 ms. An SM holds 32 blocks, so half of its room stays empty. From
// 64 threads on it can be full, and one would expect the same time for all larger blocks. But the
// block scheduler has a limit of its own: the launch has 2.1 million blocks of 32 threads, and 1.7
// of them start in each nanosecond.
//= 1.26 ms: ms("map_square/block=32")
//= 1.7 of: 67e6 / 32 / ms("map_square/block=32") / 1e6
//
//? block64: If the number of blocks started per nanosecond is the limit, how long do blocks of 64
//?   threads take?
//? answer: ms("map_square/block=64")
//? unit: ms
//? near: 20 %

/// Squares every element: out[i] = in[i] * in[i] for every i < n.
///
/// @param out, in  n floats in device memory each; out is written
/// @param n        number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void map_square(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

/// The launch of map_square, in blocks of so many threads.
auto square_in_blocks(std::size_t n) {
  return [=](float* out, const float* in, unsigned threads) {
    map_square<<<lab::tiles(n, threads), threads>>>(out, in, n);
  };
}

// Half as many blocks, half the time. The rate is the same up to 128 threads:
//
// | threads a block | 32 | 64 | 128 | 256 | 512 | 1024 |
// |---|--:|--:|--:|--:|--:|--:|
// | time in ms | 1.26 | 0.63 | 0.32 | 0.20 | 0.21 | 0.24 |
//= | 1.26 | 0.63 | 0.32 | 0.20 | 0.21 | 0.24 |: ms("map_square/block=32"),
//=   ms("map_square/block=64"), ms("map_square/block=128"), ms("map_square/block=256"),
//=   ms("map_square/block=512"), ms("map_square/block=1024")
//
// From 256 threads on the scheduler keeps up. Larger blocks are slower again. A likely reason, which is
// not measured here: a block's room is free for the next one only when its last thread is done, and a
// large block leaves more room empty meanwhile.
//
// #### Watching the scheduler
//
// `where_blocks_run`, in `thread_indexing_gpu.cu`, lets every block record its SM, and when it
// began and ended. It launches 924 blocks of 1024 threads, of which each SM has room for two: 264
// run at a time, a {term}`wave`, and three and a half waves take as long as four. The order cannot
// be predicted. In one run block 0 ran on SM 124, and some SMs had six blocks, others eight.
//
// ## 6. Divergence: when lanes disagree
//
// A warp issues one instruction at a time for its lanes. Where `if (condition)` holds for some of
// them only, the warp executes both sides, one after the other, and on each the other lanes are
// switched off. This is {term}`divergence`. If all lanes agree, only one side is executed.
//
// The two kernels below do the same work. Half of the elements take one side, half the other. One
// kernel decides by the number of the warp, the other by the number of the element.
//
//? both_sides: How many times as many load requests does the second kernel make?
//? answer: count("diverge_within_warps", "global_load_requests") / count("diverge_between_warps",
//?   "global_load_requests")
//? unit: times
//? near: exact
//
//? divergence_time: How many times as long does the second kernel take?
//? answer: ms("diverge_within_warps") / ms("diverge_between_warps")
//? unit: times
//? near: 15 %

/// One side of the branch: mixes the bits of x, 64 times over.
///
/// @param x any value
/// @return the mixed value
__host__ __device__ std::uint32_t mix_left(std::uint32_t x) {
  for (int step = 0; step < 64; ++step) x = (x ^ (x << 13)) * 3266489917u;
  return x;
}

/// The other side: as long, and different in every step, so that no compiler can merge the two.
///
/// @param x any value
/// @return the mixed value
__host__ __device__ std::uint32_t mix_right(std::uint32_t x) {
  for (int step = 0; step < 64; ++step) x = (x ^ (x >> 15)) * 2246822519u;
  return x;
}

/// Mixes p[i] or q[i], by whether the number of the *warp* is even: all lanes take the same side.
///
/// @param out   n integers in device memory; written
/// @param p, q  n integers in device memory each: for the even warps, and for the odd ones
/// @param n     number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n, block.x a multiple of 32.
__global__ void diverge_between_warps(std::uint32_t* out, const std::uint32_t* p,
                                      const std::uint32_t* q, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;

  std::uint32_t mixed;
  if (i / 32 % 2 == 0) {
    mixed = mix_left(p[i]);
  } else {
    mixed = mix_right(q[i]);
  }
  out[i] = mixed;
}

/// Mixes p[i] or q[i], by whether the number of the *element* is even.
///
/// @param out   n integers in device memory; written
/// @param p, q  n integers in device memory each: for the even elements, and for the odd ones
/// @param n     number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n.
__global__ void diverge_within_warps(std::uint32_t* out, const std::uint32_t* p,
                                     const std::uint32_t* q, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;

  std::uint32_t mixed;
  if (i % 2 == 0) {
    mixed = mix_left(p[i]);
  } else {
    mixed = mix_right(q[i]);
  }
  out[i] = mixed;
}

/// What has to be at place i where runs of so many elements take one side, then the other.
struct Mixed {
  lab::View<std::uint32_t> p, q;
  unsigned run;
  __host__ __device__ std::uint32_t operator()(std::size_t i) const {
    return i / run % 2 == 0 ? mix_left(p[i]) : mix_right(q[i]);
  }
};

// Each warp of the second kernel makes two load requests, one on each side, with 16 active lanes
// spread over the same 4 sectors. The store is one request again, since the lanes *reconverge*
// after the branch: the compiler placed the point of reconvergence there. A program must not rely
// on it; where it has to be sure, it calls `__syncwarp()`.
//
// ```{drawing} divergence
// ```
//
// Every warp executes both sides: 1.9 times as long, a little less than 2 because moving the data
// is a part of both times. A single lane on the other side would cost as much as 16. So arrange the
// work so that neighbouring lanes agree, by index, as here, or by sorting the data. The guard is
// harmless: only in the last warp of the grid do lanes disagree about it.
//= 1.9 times: ms("diverge_within_warps") / ms("diverge_between_warps")
//
// ## 7. Launches and errors
//
// A launch puts work into a queue, a {term}`stream`, and returns. The GPU takes the work out in
// order. The host waits where it asks to (`cudaDeviceSynchronize`, `cudaStreamSynchronize`), and in
// calls that must wait, such as a `cudaMemcpy` to the host.
//
// The next rung times one launch with the host's clock, stopped when the launch returns; with the
// same clock, stopped after `cudaDeviceSynchronize`; and with two *events*, marks in the stream that
// carry the device's own time.
//
//? no_wait: The first clock says that the kernel's rate is so many times what a copy reaches. How
//?   many?
//? choices: about 1 | less than 1 | far more than 1
//? answer: {"about 1": 0.7 < 8 * 67 / ms("async_launch/host, not waiting") / limit("copy") < 1.4,
//?   "less than 1": 8 * 67 / ms("async_launch/host, not waiting") / limit("copy") < 0.7,
//?   "far more than 1": 8 * 67 / ms("async_launch/host, not waiting") / limit("copy") > 3}

/// Doubles every element: out[i] = in[i] + in[i] for every i < n.
///
/// @param out, in  n floats in device memory each; out is written
/// @param n        number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void async_launch(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i];
}

/// What has to be at place i of an array that was doubled.
struct Doubled {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const { return in[i] + in[i]; }
};

/// Launches async_launch, and returns.
void launch_async(float* out, const float* in, std::size_t n) {
  async_launch<<<lab::tiles(n, block_size), block_size>>>(out, in, n);
}

/// Launches async_launch, and waits.
void launch_and_wait(float* out, const float* in, std::size_t n) {
  launch_async(out, in, n);
  CUDA_CHECK(cudaDeviceSynchronize());
}

// The first clock reads 3.6 us, the time of a call into the driver, whatever n is: 150 TB/s. **A
// rate above the limit of the machine is a measurement that did not wait.** The other two read 0.20
// ms each. Events exclude the host-device round trip, so this course uses them.
//= 3.6 us: 1000 * ms("async_launch/host, not waiting")
//= 150 TB/s: round(8 * 67 / ms("async_launch/host, not waiting") / 1000, -1)
//= 0.20 ms: ms("async_launch/device")
//
// The driver loads a kernel's code at its first launch. So launch a few times before you measure, take
// the median of many runs, and clear the L2 cache before each, or a small input is read from there.
// `lab` does all three. (The simulator's times mean nothing, so it shows none.)
//
// ### Errors
//
// An error shows up in one of three places:
//
// 1. **The call itself is wrong**, such as a `cudaMemcpy` to a null pointer. It returns the code.
// 2. **The launch is refused**, and the kernel never runs. A launch returns nothing, so the error is
//    held: `cudaGetLastError()` returns and clears it, `cudaPeekAtLastError()` leaves it.
// 3. **The kernel fails** on the GPU, some time later. A later call returns the code, perhaps an
//    innocent `cudaMemcpy` fifty lines below. The device memory of the process is lost, so the
//    error is {term}`sticky <sticky error>`: every call returns it until the process ends.
//
// So check every call, and ask after every launch, as the first program does. To find the kernel that failed, run with `CUDA_LAUNCH_BLOCKING=1`, which makes every launch
// wait, under `compute-sanitizer`, or with `./learn explain`.
//
// ### What the runtime answers (second reading)
//
// The usual check is a macro, which can print the call and its place:

/// Evaluates a call of the CUDA runtime, and ends the program if it failed.
#define CHECK(call)                                                         \
  do {                                                                      \
    const cudaError_t code = (call);                                        \
    if (code == cudaSuccess) break;                                         \
    std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, \
                 cudaGetErrorString(code), cudaGetErrorName(code));         \
    std::exit(EXIT_FAILURE);                                                \
  } while (false)

// (`lab` has its own, `CUDA_CHECK`, which also gives advice, and ends a rung instead of the
// program.) A macro that vanishes without `DEBUG` hides the error in the build that your users run.
//
// The next kernel is launched with 2048 threads a block, twice the limit, and then with 256. The
// program prints what the runtime answers in between.

/// Sets the first elements of an array to 1, one for each thread.
///
/// @param out  n floats in device memory; written
/// @param n    number of elements, any
///
/// Launch: one block.
__global__ void refused_launch(float* out, std::size_t n) {
  if (threadIdx.x < n) out[threadIdx.x] = 1.0f;
}

/// A call of the runtime, and what it returned.
struct Answer {
  const char* call;
  cudaError_t code;
};

/// Launches a block that no GPU runs, then one that any does, and asks after each.
std::vector<Answer> ask_after_refusal(float* out, std::size_t n) {
  std::vector<Answer> answers;
  refused_launch<<<1, 2048>>>(out, n);
  answers.push_back({"with 2048 threads: cudaPeekAtLastError()", cudaPeekAtLastError()});
  answers.push_back({"cudaGetLastError()", cudaGetLastError()});
  answers.push_back({"cudaGetLastError(), again", cudaGetLastError()});
  refused_launch<<<1, 256>>>(out, n);
  answers.push_back({"with 256 threads: cudaGetLastError()", cudaGetLastError()});
  answers.push_back({"cudaDeviceSynchronize()", cudaDeviceSynchronize()});
  return answers;
}

// The error is there for `cudaPeekAtLastError` and for the first `cudaGetLastError`, and then it is
// gone: the launch with 256 threads works. (CUDA 13 calls it `cudaErrorInvalidValue`, older
// versions `cudaErrorInvalidConfiguration`.) A program that does not ask goes on with an array that
// no kernel has written.
//
// The next kernel gets a null pointer, as it would if nobody had checked a `cudaMalloc` that
// failed.

/// Stores a 1.
///
/// @param out  one float in device memory; written
///
/// Launch: one block of one thread.
__global__ void sticky_error(float* out) { *out = 1.0f; }

/// Lets a kernel follow a null pointer, and asks four times.
std::vector<Answer> ask_after_death(void* other) {
  std::vector<Answer> answers;
  sticky_error<<<1, 1>>>(nullptr);
  answers.push_back({"cudaDeviceSynchronize()", cudaDeviceSynchronize()});
  answers.push_back({"cudaGetLastError()", cudaGetLastError()});
  answers.push_back({"cudaGetLastError(), again", cudaGetLastError()});
  answers.push_back({"cudaMemset of another array", cudaMemset(other, 0, 4)});
  return answers;
}

// The launch reports nothing. The first call that waits returns `cudaErrorIllegalAddress`, and so
// does every call after it.
//
// #### Pointers to the other side
//
// To the compiler, a device pointer and a host pointer are both `float*`. Two demonstrations mix
// them up.

/// The host reads device memory: a mistake.
///
/// @param device  at least one float in device memory
/// @return what the host finds at that address
///
/// Launch: no kernel.
float host_touches_device(const float* device) { return *device; }

// On a GPU this is a segmentation fault: the address means nothing to the CPU. To read one element,
// copy it.

/// A kernel reads pageable host memory: the same mistake, the other way round.
///
/// @param out   one float in device memory; written
/// @param host  one float in host memory
///
/// Launch: one block of one thread.
__global__ void device_touches_host(float* out, const float* host) { *out = *host; }

// Here the launch succeeds, the kernel fails, and the next call that waits returns
// `cudaErrorIllegalAddress`. Most such bugs have the pointer *inside* something that was copied: a
// struct, or a `std::vector` passed to a kernel, takes its host pointer along. (Where CPU and GPU
// share page tables, a kernel may read such memory after all; the device attribute
// `pageableMemoryAccess` tells. *Mapped* memory, which the host allocates for both sides, works on every
// GPU. Each access crosses the bus: chapter 07 has one number written that way.)
//
// ## 8. Moving data
//
// The bus between host and device is PCI Express in most machines. Version 5.0 with 16 lanes
// carries 63 GB/s each way at best. Copies run at its speed from {term}`pinned memory <pinned memory>`, from
// `cudaMallocHost`, which the operating system cannot move.
//= 63 GB/s: 32e9 * 16 * 128 / 130 / 8 / 1e9
//
//? bus: How many times as long does a copy from the host take as a copy of the same 268 MB within
//?   the device?
//? answer: ms("copy_memory/host to device") / ms("copy_memory/within the device")
//? unit: times
//? near: factor 1.5

/// Copies n floats, wherever the pointers point: cudaMemcpyDefault finds out.
///
/// @param to    n floats in device memory or in pinned host memory; written
/// @param from  n floats in device memory or in pinned host memory
/// @param n     number of floats
///
/// Launch: no kernel.
void copy_memory(float* to, const float* from, std::size_t n) {
  CHECK(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDefault));
}

/// A copy by copy_memory, and what has to arrive.
struct Copy {
  float* to;
  const float* from;
  std::size_t n;
  lab::Expectation arrived;

  void launch() const { copy_memory(to, from, n); }
  std::vector<lab::Expectation> outputs() const { return {arrived}; }
};

// The bus moves 55 GB/s either way. A copy within the device reads and writes 4.2 TB/s and is done
// 38 times sooner. **Copy the data over once, and do all the work on it there.**
//= 55 GB/s: rate("copy_memory/host to device")
//= 4.2 TB/s: rate("copy_memory/within the device") / 1000
//= 38 times: ms("copy_memory/host to device") / ms("copy_memory/within the device")
//
// ### Managed memory (second reading)
//
// `cudaMallocManaged` returns memory with one address for both processors. Pages migrate on first touch
// to the processor that touches them. The rung reads such an array twice: after the host has written
// all of it, and when its pages are on the device already.
//
//? managed: With the pages on the host, is reading the managed array faster or slower than a copy
//?   from pinned memory?
//? choices: faster | slower
//? answer: {"faster": ms("read_managed/pages on the host") < ms("copy_memory/host to device"),
//?   "slower": ms("read_managed/pages on the host") > ms("copy_memory/host to device")}

/// Copies managed memory to device memory.
///
/// @param out      n floats in device memory; written
/// @param managed  n floats of managed memory
/// @param n        number of floats, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void read_managed(float* out, const float* managed, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = managed[i];
}

/// Managed memory that holds the values of an array of the host, and read_managed on it.
class Managed {
 public:
  Managed(lab::DeviceBuffer<float>& out, const std::vector<float>& values)
      : out_(out), values_(values) {
    CUDA_CHECK(cudaMallocManaged(&managed_, values.size() * sizeof(float)));
    write();
  }
  ~Managed() { cudaFree(managed_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  /// By the host: all pages move there.
  void write() { std::ranges::copy(values_, managed_); }
  /// By the device: they move back.
  void launch() {
    const std::size_t n = values_.size();
    read_managed<<<lab::tiles(n, block_size), block_size>>>(out_.data(), managed_, n);
  }
  std::vector<lab::Expectation> outputs() { return {lab::expect(out_, values_)}; }

  /// What a rung needs that finds the pages on the host in every run.
  lab::Rung on_host(double bytes) {
    return {.prepare = [this] { write(); }, .prepare_every_run = true, .bytes = bytes};
  }

 private:
  lab::DeviceBuffer<float>& out_;
  const std::vector<float>& values_;
  float* managed_ = nullptr;
};

// Each first touch of a page is a fault, which the driver answers by moving pages across the bus
// while the warps wait. Once the pages are there, managed memory is device memory: the counts are
// the same in both cases. Managed memory is the shortest way to a program that works; copies, made
// early and in one piece, are the fast way.
//
// ### One number back (second reading)
//
// A kernel returns `void`, so even a single number has to come back through memory. The next one
// counts the elements above a threshold. The threshold lies in {term}`constant memory`: a
// `__constant__` variable, which the host sets with `cudaMemcpyToSymbol`. (An argument would serve
// as well.)

__constant__ float threshold;

/// Counts the elements above `threshold`.
///
/// @param count  one integer in device memory; the kernel adds to it
/// @param in     n floats in device memory
/// @param n      number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void count_above(unsigned* count, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && in[i] > threshold) atomicAdd(count, 1u);  // many threads add to one place
}

/// How many of n floats in device memory are above a limit.
unsigned how_many_above(float limit, const float* in, std::size_t n) {
  unsigned* count = nullptr;
  CHECK(cudaMalloc(&count, sizeof *count));
  CHECK(cudaMemset(count, 0, sizeof *count));
  CHECK(cudaMemcpyToSymbol(threshold, &limit, sizeof limit));
  count_above<<<static_cast<unsigned>(lab::ceil_div(n, block_size)), block_size>>>(count, in, n);
  CHECK(cudaGetLastError());

  unsigned result = 0;
  CHECK(cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost));  // waits for the kernel
  CHECK(cudaFree(count));
  return result;
}

// `count` must be zero before the launch, since `cudaMalloc` does not clear memory. `cudaMemset`
// writes *bytes*, so 0 is one of the few numbers that it can set. `atomicAdd` reads, adds and
// writes with no other thread in between; a plain `++*count` would lose most additions. All additions
// go to one address, and are carried out one after the other. (nvcc adds up those of a warp first, so
// the hardware makes fewer than the source says, and than the simulator counts.) Chapter 07 does it
// faster.

// [hide] The rungs that print, and the loop on the CPU
namespace {

/// Prints what the threads of a grid with one layer of blocks wrote: a cell per thread.
void print_names(const std::vector<int>& names, dim3 grid, dim3 block) {
  std::printf("  grid (%u,%u,%u) of blocks (%u,%u,%u); a cell: number in the grid, warp:lane\n",
              grid.x, grid.y, grid.z, block.x, block.y, block.z);
  const unsigned per_block = block.x * block.y * block.z;
  for (unsigned by = 0; by < grid.y; ++by) {
    // A title line for this row of blocks, then a line for each z and y, all blocks side by side.
    std::printf("\n         ");
    for (unsigned bx = 0; bx < grid.x; ++bx) {
      const std::string title = "block (" + std::to_string(bx) + "," + std::to_string(by) + ",0)";
      const bool last = bx + 1 == grid.x;
      std::printf("    %-*s", last ? 0 : static_cast<int>(9 * block.x - 2), title.c_str());
    }
    for (unsigned row = 0; row < block.y * block.z; ++row) {
      std::printf("\n  z=%u y=%u", row / block.y, row % block.y);
      for (unsigned bx = 0; bx < grid.x; ++bx) {
        std::printf("  ");
        for (unsigned tx = 0; tx < block.x; ++tx) {
          const unsigned id = (by * grid.x + bx) * per_block + row * block.x + tx;
          std::printf(" %3u %d:%02d", id, names[4 * id + 2], names[4 * id + 3]);
        }
      }
    }
    std::printf("\n");
  }
}

/// Threads of a grid that write down who they are.
class Numbering {
 public:
  Numbering(dim3 grid, dim3 block) : grid_(grid), block_(block) {}

  void launch() { who_am_i<<<grid_, block_>>>(names_.data()); }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(names_, Names{block_.x * block_.y * block_.z})};
  }
  void show() const { print_names(names_.download(), grid_, block_); }

 private:
  const dim3 grid_, block_;
  lab::DeviceBuffer<int> names_{std::size_t{4} * grid_.x * grid_.y * block_.x * block_.y * block_.z,
                                "names"};
};

/// add_on_cpu, with what it reads and writes in the host's memory.
class OnCpu {
 public:
  OnCpu(const lab::Input<float>& a, const lab::Input<float>& b)
      : a_(a.host()), b_(b.host()), sums_(a.size()), want_{a.view(), b.view()} {}

  void launch() { add_on_cpu(sums_.data(), a_.data(), b_.data(), sums_.size()); }
  std::vector<lab::Expectation> outputs() { return {lab::expect(std::span(sums_), want_)}; }

 private:
  const std::vector<float> a_, b_;
  std::vector<float> sums_;
  const Sum want_;
};

/// add_truncated, on an array of 99s.
class Truncated {
 public:
  Truncated(lab::DeviceBuffer<float>& out, const lab::Input<float>& in) : out_(out), in_(in) {}

  void prepare() { out_.upload(std::vector<float>(out_.size(), 99)); }
  void launch() {
    if (blocks_ == 0) return;
    add_truncated<<<blocks_, block_size>>>(out_.data(), in_.data(), in_.data(), out_.size());
  }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(out_, DoubledOr99{in_.view(), threads_})};
  }
  void show() const {
    std::printf("  n = %zu: std::ceil(n / 256) = %u blocks reach %zu elements\n", out_.size(),
                blocks_, threads_);
  }

 private:
  lab::DeviceBuffer<float>& out_;
  const lab::Input<float>& in_;
  const unsigned blocks_ = blocks_rounded_down(out_.size());
  const std::size_t threads_ = std::size_t{blocks_} * block_size;
};

void print_answers(const std::vector<Answer>& answers) {
  for (const auto& [call, code] : answers) {
    std::printf("  %-40s %s\n", call, cudaGetErrorName(code));
  }
}

/// refused_launch: the first two answers say that a launch was refused, and no other does. Which of
/// two codes that is depends on the version of CUDA.
class Refusal {
 public:
  explicit Refusal(lab::DeviceBuffer<float>& out) : out_(out) {}

  void prepare() { answers_.clear(); }
  void launch() { answers_ = ask_after_refusal(out_.data(), out_.size()); }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(out_, std::vector<float>(std::min<std::size_t>(out_.size(), 256), 1))};
  }
  lab::Comparison verify() const {
    std::vector<int> refused;
    for (const auto& [call, code] : answers_) {
      const bool is_refusal =
          code == cudaErrorInvalidValue || code == cudaErrorInvalidConfiguration;
      refused.push_back(is_refusal ? 1 : code == cudaSuccess ? 0 : -1);
    }
    return lab::compare(refused, std::vector<int>{1, 1, 0, 0, 0});
  }
  void show() const { print_answers(answers_); }

 private:
  lab::DeviceBuffer<float>& out_;
  std::vector<Answer> answers_;
};

/// sticky_error: every answer is the same.
class Death {
 public:
  explicit Death(lab::DeviceBuffer<float>& other) : other_(other) {}

  void launch() {
    answers_ = ask_after_death(other_.data());
    for (const auto& [call, code] : answers_) {
      if (code == cudaErrorIllegalAddress) continue;
      throw lab::Failure(std::string(call) + " returned " + cudaGetErrorName(code));
    }
  }
  void show() const { print_answers(answers_); }

 private:
  lab::DeviceBuffer<float>& other_;
  std::vector<Answer> answers_;
};

/// Element i of an array that counts from 0.
struct Number {
  __host__ __device__ unsigned operator()(std::size_t i) const { return static_cast<unsigned>(i); }
};

/// The pictures of read_only and write_only, and both kernels along the rows and down the columns.
class OneSided {
 public:
  explicit OneSided(std::size_t n) : picture_(n), in_(n, Number(), "in"), out_(n, "out") {}

  std::vector<lab::Rung> rungs() {
    return {reading("along the rows", read_only<false>, along_rows()),
            writing("along the rows", write_only<false>, along_rows()),
            reading("down the columns", read_only<true>, down_columns()),
            writing("down the columns", write_only<true>, down_columns())};
  }

 private:
  dim3 along_rows() const { return lab::tiles(picture_.cols, picture_.rows, 32, 8); }
  dim3 down_columns() const { return lab::tiles(picture_.rows, picture_.cols, 32, 8); }
  double bytes() const { return 4.0 * static_cast<double>(out_.size()); }

  lab::Rung reading(const char* way,
                    void (*kernel)(unsigned*, const unsigned*, unsigned, std::size_t, std::size_t),
                    dim3 grid) {
    const unsigned wanted = static_cast<unsigned>(in_.size() / 3 * 2);
    return {.name = "read_only",
            .variant = way,
            .launch =
                [=, this] {
                  kernel<<<grid, dim3(32, 8)>>>(place_.data(), in_.data(), wanted, picture_.rows,
                                                picture_.cols);
                },
            .outputs = {lab::expect(place_, std::vector<unsigned>{wanted})},
            .bytes = bytes()};
  }
  lab::Rung writing(const char* way, void (*kernel)(unsigned*, std::size_t, std::size_t),
                    dim3 grid) {
    return {
        .name = "write_only",
        .variant = way,
        .launch =
            [=, this] { kernel<<<grid, dim3(32, 8)>>>(out_.data(), picture_.rows, picture_.cols); },
        .outputs = {lab::expect(out_, Number())},
        .bytes = bytes()};
  }

  const Picture picture_;
  const lab::Input<unsigned> in_;
  lab::DeviceBuffer<unsigned> place_{1, "place"}, out_;
};

void add_one_sided(lab::Ladder& ladder, std::size_t n) {
  if (!ladder.wants({"read_only", "write_only"})) return;
  OneSided pictures(n);
  for (const lab::Rung& one : pictures.rungs()) ladder.add(one);
}

/// async_launch, after which the host waits or does not.
class Async {
 public:
  Async(lab::DeviceBuffer<float>& out, const lab::Input<float>& in,
        void (*launch)(float*, const float*, std::size_t))
      : out_(out), in_(in), launch_(launch) {}

  void launch() { launch_(out_.data(), in_.data(), in_.size()); }
  std::vector<lab::Expectation> outputs() { return {lab::expect(out_, Doubled{in_.view()})}; }

 private:
  lab::DeviceBuffer<float>& out_;
  const lab::Input<float>& in_;
  void (*const launch_)(float*, const float*, std::size_t);
};

/// host_touches_device, on the first element of an array.
void touch_device(std::vector<float>& host, const lab::Input<float>& device) {
  host[0] = host_touches_device(device.data());
}

/// device_touches_host, the other way round.
void touch_host(lab::DeviceBuffer<float>& device, const std::vector<float>& host) {
  device_touches_host<<<1, 1>>>(device.data(), host.data());
}

/// Pinned memory with the values of an array of the device, and the copies that are timed.
class Copies {
 public:
  Copies(lab::DeviceBuffer<float>& out, const lab::Input<float>& in, const std::vector<float>& host)
      : out_(out), in_(in), host_(host), pinned_(host, "pinned") {}

  Copy to_device() { return {out_.data(), pinned_.data(), in_.size(), lab::expect(out_, in_)}; }
  Copy to_host() {
    return {pinned_.data(), in_.data(), in_.size(), lab::expect(pinned_.span(), host_)};
  }
  Copy within_device() { return {out_.data(), in_.data(), in_.size(), lab::expect(out_, in_)}; }

 private:
  lab::DeviceBuffer<float>& out_;
  const lab::Input<float>& in_;
  const std::vector<float>& host_;
  lab::PinnedBuffer<float> pinned_;
};

/// how_many_above, beside what the host expects.
class CountAbove {
 public:
  explicit CountAbove(const lab::Input<float>& in) : in_(in) {}

  void launch() { above_ = how_many_above(0.5f, in_.data(), in_.size()); }
  std::vector<lab::Expectation> outputs() {
    const lab::View<float> x = in_.view();
    const auto one = [=] __host__ __device__(std::size_t i) { return x[i] > 0.5f ? 1u : 0u; };
    return {lab::expect(above_, lab::fold(in_.size(), 0u, one, lab::plus<unsigned>()))};
  }
  void show() const { std::printf("  %u of %zu elements are above 0.5\n", above_, in_.size()); }

 private:
  const lab::Input<float>& in_;
  unsigned above_ = 0;
};

}  // namespace
// [/hide]

// ## The program
//
// The rest is the host's side. `lab::run` reads the command line and calls the function below for each size; each
// rung runs as it is added. `lab::Map` owns the inputs and the output of those that make one array from another; a
// function such as `Sum` says what each element has to be. A rung with memory of its own is a class. For
// each rung the program fills the output with poison, runs the rung, looks for writes past the end, compares
// every element, times the rung in turn with its {term}`peer`, a `cudaMemcpy` of as many bytes, and
// compares again.

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t n) {
    lab::Map<float> map(ladder, n);
    const dim3 grid = lab::tiles(n, block_size);
    const auto each = [=](auto kernel) { return lab::launcher(kernel, grid, block_size, n); };
    const double bytes = 4.0 * static_cast<double>(n);

    // Section 2.
    ladder.add("who_am_i", "4 blocks of 2x2x3", Numbering({2, 2}, {2, 2, 3}), {.timed = false});
    ladder.add("who_am_i", "1 block of 8x6", Numbering(1, {8, 6}), {.timed = false});

    // Section 3.
    const Sum sum{map.in, map.in2()};
    const Square square{map.in};
    ladder.add("add_on_cpu", OnCpu(map.d_in, map.d_in2()),
               {.bytes = 3 * bytes, .clock = lab::Clock::host});
    map.add("add_guarded", sum, each(add_guarded));
    map.demonstrate("add_unguarded", lab::bind_back(launch_unguarded, n));
    ladder.add("add_truncated", Truncated(map.d_out, map.d_in),
               {.timed = false, .may_do_nothing = n < block_size});
    map.sweep("grid_stride", square,
              {{"grid=1", lab::launcher(grid_stride, 1, block_size, n)},
               {"grid=wave", lab::launcher(grid_stride, wave_of_blocks(n), block_size, n)},
               {"grid=n/256", each(grid_stride)}});

    // Sections 4 to 6.
    map.sweep("map_square", "block", {32u, 48u, 64u, 128u, 256u, 512u, 1024u}, square,
              square_in_blocks(n));
    lab::add_others(ladder);
    map.add("copy_x_fastest", map.in, Picture(n).along_rows(copy_x_fastest));
    ladder.skip_unless(Picture(n).fits(), {"copy_y_fastest", "read_only", "write_only"},
                       Picture::limit);
    map.add("copy_y_fastest", map.in, Picture(n).down_columns(copy_y_fastest));
    add_one_sided(ladder, n);
    lab::Map<std::uint32_t> bits(ladder, n);
    bits.add("diverge_between_warps", Mixed{bits.in, bits.in2(), 32}, each(diverge_between_warps));
    bits.add("diverge_within_warps", Mixed{bits.in, bits.in2(), 1}, each(diverge_within_warps));

    // Section 7.
    std::vector<float> host = map.d_in.host();
    Async returns(map.d_out, map.d_in, launch_async);
    Async waits(map.d_out, map.d_in, launch_and_wait);
    ladder.add("async_launch", "host, not waiting", returns, {.clock = lab::Clock::host});
    ladder.add("async_launch", "host, waiting", waits, {.clock = lab::Clock::host});
    ladder.add("async_launch", "device", returns);
    ladder.add("refused_launch", Refusal(map.d_out), {.timed = false});
    ladder.add("sticky_error", Death(map.d_out));
    ladder.demonstrate("host_touches_device", [&] { touch_device(host, map.d_in); });
    ladder.demonstrate("device_touches_host", [&] { touch_host(map.d_out, host); });

    // Section 8.
    Copies copies(map.d_out, map.d_in, host);
    ladder.add("copy_memory", "host to device", copies.to_device(), {.bytes = bytes});
    ladder.add("copy_memory", "device to host", copies.to_host(), {.bytes = bytes});
    ladder.add("copy_memory", "within the device", copies.within_device(), {.bytes = 2 * bytes});
    Managed managed(map.d_out, host);
    ladder.add("read_managed", "pages on the host", managed, managed.on_host(2 * bytes));
    ladder.add("read_managed", "pages on the device", managed, {.bytes = 2 * bytes});
    ladder.add("count_above", CountAbove(map.d_in), {.timed = false});
  });
}

// ## Where this model comes from (second reading)
//
// GPUs were built to draw triangles. A *pipeline* of fixed steps moved corners of triangles, found the pixels that each
// covers, and coloured them. Around 2001 two of the steps became programmable: small programs, *shaders*, that ran
// for each corner or for each pixel, thousands at once and none aware of the others. Researchers put arrays where the
// pictures were, and computed products and simulations as if they drew (*GPGPU*). A thread could write to its own pixel
// only, and to no other place.
//
// In 2007 CUDA took the drawing away. What was left are the five steps of section 1: buffers, copies, a program that
// is launched n times. It added what shaders lacked: any address for a store, blocks, shared memory, barriers.
//
// ## What to remember
//
// - Host and device have a memory each, and crossing the bus is the most expensive thing a program
//   does.
// - A thread's index decides what it works on. x runs fastest, 32 threads make a warp, and a warp
//   stays within its block.
// - Round the number of blocks up, in integers, and guard the end; or write a grid-stride loop.
// - Consecutive lanes should touch consecutive addresses: 4 sectors a request, not 32.
// - Lanes that disagree about a branch make their warp execute both sides.
// - A launch does not wait. Check its error, wait before you stop the clock, distrust a first run.
//
// ## Possibilities for extension
//
// 1. Write `copy_y_fastest` with blocks of 8 x 32 instead of 32 x 8. How many sectors does a
//    request touch now? Predict first, then let `./learn explain 01 --rung copy_y_fastest` count.
// 2. Let each thread of `map_square` square 4 neighbouring elements, one by one. What do the counts
//    say, and what if it loads them as one `float4`?
// 3. Let the first half of the threads of `diverge_within_warps` work on all even elements and the
//    second half on all odd ones. The divergence is gone; what did it cost? Look at the sectors.
// 4. Let each thread of `count_above` count several elements in a register, with a grid-stride
//    loop, before it adds. How many atomics are left? (On the simulator: nvcc makes one of each warp.)
