// # Chapter 01: Thread indexing
//
// Question: Which thread does which work, and what does it cost to ask the wrong one?
// Builds on: nothing
// Size gpu: 67108864
// Size simulator: 65536
// Run: ./learn run 01
//   ./learn run 01 --rung copy_h2d               host to device: from pageable and from pinned memory
//   ./learn run 01 --rung copy_d2h               device to host: into pageable and into pinned memory
//   ./learn run 01 --rung copy_d2d               device to device: the peer of the other copies, as a rung
//   ./learn run 01 --rung copy_h2d_pieces        one large copy against many small ones
//   ./learn run 01 --rung memset_bytes           cudaMemset sets bytes, not elements
//   ./learn run 01 --rung who_am_i               every thread writes down its block, number, warp and lane
//   ./learn run 01 --rung add_guarded            one thread an element, and a guard for the last block
//   ./learn run 01 --rung add_unguarded          the guard left out: the last block runs past the end
//   ./learn run 01 --rung add_truncated          ceil(n / 256) in integers: the tail is never computed
//   ./learn run 01 --rung host_touches_device    the host follows a device pointer
//   ./learn run 01 --rung device_touches_host    a kernel follows a host pointer
//   ./learn run 01 --rung read_mapped            zero copy: a kernel reads host memory over the bus
//   ./learn run 01 --rung block_limits           which blocks a device accepts, and how many fit on an SM
//   ./learn run 01 --rung map_square             a map, in blocks of 32 to 1024 threads, and of 48
//   ./learn run 01 --rung where_blocks_run       which SM each block ran on, and when (GPU only)
//   ./learn run 01 --rung grid_stride            a loop that makes any grid right for any n
//   ./learn run 01 --rung copy_x_fastest         threadIdx.x runs along the row: 4 sectors a request
//   ./learn run 01 --rung copy_y_fastest         threadIdx.x runs down the column: 32 sectors a request
//   ./learn run 01 --rung diverge_between_warps  a branch on which the lanes of a warp agree
//   ./learn run 01 --rung diverge_within_warps   the same branch, decided lane by lane
//   ./learn run 01 --rung async_launch           a launch returns before the kernel is done
//   ./learn run 01 --rung refused_launch         a block of 2048 threads: an error that goes away
//   ./learn run 01 --rung sticky_error           a kernel that dies: an error that stays
//   ./learn run 01 --rung missing_image          a kernel that was compiled for another GPU (GPU only)

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab.h"

// A CPU core is built to finish one thread soon. A GPU is built to have tens of thousands of
// threads under way at once, and to finish *all* of them soon. It gives each of them the same
// program, so the first thing a thread has to find out is which of them it is: its index is the
// only thing that sets it apart, and everything it does follows from it. This chapter is about that
// index: how it comes about, how it turns into an address, what the hardware makes of the
// addresses, and what happens when the arithmetic is off by one.
//
// ## How to read this chapter
//
// The chapter is one program, and you are reading its source. It is a ladder of small functions,
// the *rungs*. Each rung comes with a prediction; the program then runs it, checks its result
// against a reference computed on the CPU, and measures it. Do cover what stands after a kernel
// with your hand and predict for yourself: being wrong once is worth ten pages of reading.
//
// Two things are measured, and they answer different questions.
//
// - **The clock** says how fast a rung is. It needs a GPU, and it never says why.
// - **The counters** say what the memory system was asked to do. The simulator counts exactly what
//   the counters of an H200 count, so you can follow every count in this chapter without a GPU.
//
// Three words for reading the counts. Threads run in *warps* of 32, and a thread's place in its
// warp is its *lane*. When a warp executes one load or store, that is **one request**, however many
// of its lanes take part. Memory moves in *sectors*, aligned pieces of 32 bytes, and a request
// costs as many **sectors** as its lanes' addresses fall into. Thirty-two lanes that read 32
// neighbouring floats touch 128 bytes: 4 sectors, the least possible.
//
// All counts quoted below are for n = 65536, the size that the simulator runs by default. All times
// are those of an NVIDIA H200 with CUDA 13.0 (`results/h200.json`) for n = 67108864, 256 MiB of
// floats, so that no array fits into the L2 cache. Your GPU will give other times, and the same
// counts.

/// Threads per block wherever a rung does not say otherwise: 8 warps.
constexpr unsigned block_size = 256;

/// What the rungs work on, made once from the size and the seed. Inputs are random and differ from
/// each other, so that no swapped index can pass unseen.
struct Problem {
  std::size_t n;                                ///< elements of every array, unless said otherwise
  unsigned blocks;                              ///< blocks of block_size threads that cover n
  double bytes;                                 ///< bytes of an array of n floats
  lab::DeviceBuffer<float> a, b, out;           ///< device memory: two inputs and the output
  lab::DeviceBuffer<float> peer_in, peer_out;   ///< what the peer copies, up to 1.5 n floats
  lab::DeviceBuffer<std::uint32_t> p, q, bits;  ///< two inputs and the output of the integer rungs
  lab::PinnedBuffer<float> pinned, pinned_landing;  ///< host memory that stays where it is
  lab::MappedBuffer<float> mapped;                  ///< host memory that kernels can reach
  std::vector<float> host_a, host_b;  ///< ordinary host memory: the same values as a and b
  std::vector<std::uint32_t> host_p, host_q;
  std::vector<float> landing;  ///< where copies to pageable host memory arrive

  Problem(std::size_t n, std::uint64_t seed);
};

// [hide] The inputs, and how a result is checked
// What only the GPU build has: thread_indexing_gpu.cu, or thread_indexing_stub.cu, which says so.
void register_where_blocks_run(lab::Chapter& chapter);
void register_missing_image(lab::Chapter& chapter);

Problem::Problem(std::size_t n, std::uint64_t seed)
    : n(n),
      blocks(static_cast<unsigned>(lab::ceil_div(n, block_size))),
      bytes(4.0 * static_cast<double>(n)),
      a(n, "a"),
      b(n, "b"),
      out(n, "out"),
      peer_in(n + lab::ceil_div(n, 2), "peer_in"),
      peer_out(n + lab::ceil_div(n, 2), "peer_out"),
      p(n, "p"),
      q(n, "q"),
      bits(n, "bits"),
      pinned(n, "pinned"),
      pinned_landing(n, "pinned_landing"),
      mapped(n, "mapped"),
      host_a(lab::random_floats(n, seed)),
      host_b(lab::random_floats(n, seed + 1)),
      host_p(n),
      host_q(n),
      landing(n) {
  for (std::size_t i = 0; i < n; ++i) {
    host_p[i] = static_cast<std::uint32_t>(lab::random_bits(seed + 2, i));
    host_q[i] = static_cast<std::uint32_t>(lab::random_bits(seed + 3, i));
  }
  a.upload(host_a);
  b.upload(host_b);
  p.upload(host_p);
  q.upload(host_q);
  pinned.upload(host_a);
  mapped.upload(host_a);
  peer_in.upload(lab::random_floats(peer_in.size(), seed + 1));
}

/// Whether a code says that a launch was refused for its configuration: which of the two it is
/// depends on the version of CUDA.
bool is_refusal(cudaError_t code) {
  return code == cudaErrorInvalidValue || code == cudaErrorInvalidConfiguration;
}

using Launch = std::function<void()>;
using Verify = std::function<lab::Comparison()>;

/// A check that the first `count` elements of a buffer are want(0), want(1), want(2), ...
template <class Buffer, class Want>
Verify holds(const Buffer& buffer, std::size_t count, Want want) {
  return [&buffer, count, want] {
    const auto got = buffer.download();
    std::vector<typename decltype(got)::value_type> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = want(i);
    return lab::compare(std::span(got).first(count), expected);
  };
}

/// What an element of `out` has to be: the sum, the square or the copy of the inputs' elements.
auto sum_of(const Problem& d) {
  return [&d](std::size_t i) { return d.host_a[i] + d.host_b[i]; };
}
auto square_of(const Problem& d) {
  return [&d](std::size_t i) { return d.host_a[i] * d.host_a[i]; };
}
auto copy_of(const Problem& d) {
  return [&d](std::size_t i) { return d.host_a[i]; };
}

/// A rung that reads n floats in device memory and writes `out`, beside a copy of n floats.
lab::Rung map_rung(Problem& d, const char* name, const char* idea, Launch launch, Verify verify) {
  return {.name = name,
          .idea = idea,
          .launch = std::move(launch),
          .verify = std::move(verify),
          .bytes = 2 * d.bytes,
          .peer = "cudaMemcpy",
          .limit = lab::Limit::copy,
          .outputs = {&d.out}};
}
// [/hide]

// ## 1. Two processors, two memories
//
// A CUDA program runs on two processors. The *host* is the CPU with its memory; the *device* is the
// GPU with a memory of its own, soldered right beside it. Between the two lies a bus, PCI Express
// in most machines. The program starts on the host. It allocates memory on the device with
// `cudaMalloc`, copies the inputs over, tells the device which function to run, and copies the
// result back. Every one of these calls returns an error code, and `CUDA_CHECK` around it turns a
// code that is not `cudaSuccess` into a message and a failed rung. A call whose code nobody reads
// is the most common bug there is: the program goes on with yesterday's data.
//
// What does a copy cost? **Predict.** The memory of an H200 carries about 4,200 GB/s, counting the
// bytes read and the bytes written, so copying 256 MiB from one of its arrays to another should
// take 2 x 268 MB / 4,200 GB/s = 0.13 ms. PCI Express 5.0 with 16 lanes carries 63 GB/s each way at
// the very best: 268 MB / 63 GB/s = 4.3 ms. So even a perfect copy across the bus is 34 times
// slower than the same copy within the device, and its row should show about 3 % of the peer at
// most. The peer is `cudaMemcpy` from device memory to device memory.
//
// Whether the bus is used well depends on the host's memory. What `malloc`, `new` and `std::vector`
// return is *pageable*: the operating system may move a page or write it to disk at any moment. The
// copy engine of the GPU works with physical addresses and cannot follow that. So the driver takes
// a detour: the CPU copies a piece into a small buffer that stays where it is, the copy engine
// fetches it from there, and so on until all is across. `cudaHostAlloc` returns *pinned* memory,
// whose pages are locked in place, and the engine reads it directly. The rungs below come in both
// variants: the call is the same and only the pointer differs.

/// Copies n floats from host memory to device memory.
///
/// @param device  n floats in device memory; written
/// @param host    n floats in host memory, pageable or pinned
/// @param n       number of floats
///
/// Launch: no kernel; the copy engine does the work.
void copy_h2d(float* device, const float* host, std::size_t n) {
  CUDA_CHECK(cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice));
}

/// Copies n floats from device memory to host memory, and returns when they have arrived.
///
/// @param host    n floats in host memory, pageable or pinned; written
/// @param device  n floats in device memory
/// @param n       number of floats
///
/// Launch: no kernel; the copy engine does the work.
void copy_d2h(float* host, const float* device, std::size_t n) {
  CUDA_CHECK(cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost));
}

/// Copies n floats from one place in device memory to another.
///
/// @param to    n floats in device memory; written
/// @param from  n floats in device memory
/// @param n     number of floats
///
/// Launch: no kernel of ours.
void copy_d2d(float* to, const float* from, std::size_t n) {
  CUDA_CHECK(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice));
}

// **The counters** are silent here: their columns are empty, since no thread of ours ran. A copy is
// the work of an engine, and a program that waits for copies has the finest GPU idle.
//
// **The clock.** Pinned memory moves 55 GB/s in either direction: 4.9 ms where 4.3 were the least
// possible, and 2.6 % of the peer where we predicted 3. Pageable memory gets 6 GB/s to the device,
// so the detour costs nine times as much as the bus, and 14 GB/s on the way back. (How bad it is
// depends on the CPU; that it is bad does not.) The row `copy_d2d` is the peer itself, timed as if
// it were a rung. It has to read 100 %; what it is off by is the noise of this measurement, less
// than 1 % here, and no smaller difference elsewhere in the table means anything. From this follows
// the first rule of the trade: *bring the data over once, and do everything with it that there is
// to do.*
//
// ### One large copy, or many small ones?
//
// A copy has a price for its bytes and a price for being a copy: the call into the driver, the
// order to the engine, the word back that it is done. **Predict.** Say the second price is t0, a
// few microseconds. Then `pieces` copies take `pieces * t0 + bytes / bandwidth`. With 4096 pieces
// of 64 KiB each and t0 = 5 us that is 20 ms on top of the 4.3 ms that the bytes need.

/// Copies n floats from host memory to device memory in a number of pieces of equal length (the last
/// may be shorter), waiting for each.
///
/// @param device  n floats in device memory; written
/// @param host    n floats in host memory
/// @param n       number of floats
/// @param pieces  number of copies, at least 1; fewer are made where n is smaller
///
/// Launch: no kernel; the copy engine does the work.
void copy_h2d_pieces(float* device, const float* host, std::size_t n, std::size_t pieces) {
  const std::size_t length = lab::ceil_div(n, pieces);
  for (std::size_t start = 0; start < n; start += length) {
    copy_h2d(device + start, host + start, std::min(length, n - start));
  }
}

// **The clock.** One piece takes 4.87 ms, 4096 pieces take 36.6 ms. Solve the formula for t0: 31.7
// ms for 4095 more copies, that is 7.7 us each. Does the formula hold in between? For 64 pieces it
// predicts 4.87 ms + 63 x 7.7 us = 5.36 ms, and 5.34 ms is what the row of 64 pieces says. At 55
// GB/s, 7.7 us are worth 420 KB: a copy of less than that costs more for being a copy than for its
// bytes. Where the data lies scattered on the host, packing it into one pinned buffer and copying
// that once is nearly always faster than copying the parts.
//
// ### cudaMemset sets bytes
//
// `cudaMemset(pointer, value, count)` is C's `memset`: it writes the low byte of `value` to `count`
// bytes. **Predict** what an `int` holds afterwards if `value` is 1.

/// Sets every byte of an array of n 32-bit integers.
///
/// @param device  n integers in device memory; written
/// @param value   what every *byte* is set to
/// @param n       number of integers, not of bytes
///
/// Launch: no kernel of ours.
void memset_bytes(std::uint32_t* device, int value, std::size_t n) {
  CUDA_CHECK(cudaMemset(device, value, n * sizeof(std::uint32_t)));
}

// Four bytes of 1 are 0x01010101, or 16843009, and the rung passes because that is what it expects
// of every element. Of the small numbers only two come out as they were meant: 0, and -1, whose
// bytes are all 0xFF. (As a float the latter is a NaN, which makes it a fine poison for output
// arrays: an element that no thread wrote then spoils every comparison.) To set numbers to 1 takes
// a kernel.

// [hide] How these rungs are registered
void register_copies(lab::Chapter& chapter, Problem& d) {
  chapter.peer({.name = "cudaMemcpy",
                .launch = [&d] { copy_d2d(d.peer_out.data(), d.peer_in.data(), d.n); },
                .bytes = 2 * d.bytes,
                .verify = holds(d.peer_out, d.n, [&d](std::size_t i) { return d.host_b[i]; }),
                .outputs = {&d.peer_out}});

  // Across the bus the bytes count once; within the device they are read and written.
  const auto add = [&](const char* name, const char* idea, std::string variant, Launch launch,
                       Verify verify, std::vector<lab::Buffer*> outputs) {
    chapter.add({.name = name,
                 .idea = idea,
                 .launch = std::move(launch),
                 .verify = std::move(verify),
                 .bytes = d.bytes,
                 .peer = "cudaMemcpy",
                 .variant = std::move(variant),
                 .outputs = std::move(outputs)});
  };
  const Verify arrived = holds(d.out, d.n, copy_of(d));

  const char* idea = "host to device: from pageable and from pinned memory";
  const auto add_h2d = [&](const char* variant, const float* from) {
    add("copy_h2d", idea, variant, [&d, from] { copy_h2d(d.out.data(), from, d.n); }, arrived,
        {&d.out});
  };
  add_h2d("pageable", d.host_a.data());
  add_h2d("pinned", d.pinned.data());

  idea = "device to host: into pageable and into pinned memory";
  const Launch to_pageable = [&d] { copy_d2h(d.landing.data(), d.a.data(), d.n); };
  const Launch to_pinned = [&d] { copy_d2h(d.pinned_landing.data(), d.a.data(), d.n); };
  chapter.add({.name = "copy_d2h",
               .idea = idea,
               .prepare = [&d] { std::ranges::fill(d.landing, std::nanf("")); },
               .launch = to_pageable,
               .verify = [&d] { return lab::compare(d.landing, d.host_a); },
               .bytes = d.bytes,
               .peer = "cudaMemcpy",
               .variant = "pageable"});
  add("copy_d2h", idea, "pinned", to_pinned, holds(d.pinned_landing, d.n, copy_of(d)),
      {&d.pinned_landing});

  const Launch within = [&d] { copy_d2d(d.out.data(), d.a.data(), d.n); };
  chapter.add(map_rung(d, "copy_d2d", "device to device: the peer of the other copies, as a rung",
                       within, arrived));

  for (const std::size_t pieces : {1, 64, 4096}) {
    const Launch launch = [&d, pieces] {
      copy_h2d_pieces(d.out.data(), d.pinned.data(), d.n, pieces);
    };
    add("copy_h2d_pieces", "one large copy against many small ones",
        "pieces=" + std::to_string(pieces), launch, arrived, {&d.out});
  }

  chapter.add({.name = "memset_bytes",
               .idea = "cudaMemset sets bytes, not elements",
               .launch = [&d] { memset_bytes(d.bits.data(), 1, d.n); },
               .verify = holds(d.bits, d.n, [](std::size_t) { return 0x01010101u; }),
               .bytes = d.bytes,
               .show =
                   [&d] {
                     const unsigned first = d.bits.download()[0];
                     std::printf("  the first element is %u = 0x%08x\n", first, first);
                   },
               .outputs = {&d.bits}});
}
// [/hide]

// ## 2. Grid, block, thread: who am I?
//
// A function marked `__global__` is a *kernel*: the host starts it and the device runs it. It is
// started not once but as many times as there are threads, and each thread runs the whole function
// from top to bottom with the same arguments. `__device__` functions run on the device and are
// called by kernels; plain functions run on the host (`__host__ __device__` makes a function both).
//
// The host chooses how many threads there are with the *launch configuration* between `<<<` and
// `>>>`. Threads come in *blocks*, and the blocks of a launch are its *grid*:
//
//     kernel<<<grid, block>>>(arguments);
//
// Both are of type `dim3`: up to three dimensions x, y and z, where what is not given is 1, so that
// a plain number will do. In the kernel four built-in variables tell the thread where it is:
// `gridDim` and `blockDim` are the two extents, the same for every thread; `blockIdx` and
// `threadIdx` are the thread's place in them. The fifth, `warpSize`, is 32 on every GPU so far.
//
// Three dimensions are a convenience for the programmer; memory has one, and so does the hardware.
// It numbers the threads of a block with **x running fastest, then y, then z**, and cuts that
// sequence into warps: threads 0 to 31 are warp 0, threads 32 to 63 warp 1, and so on. Blocks are
// numbered the same way. Nothing in the hardware knows rows or columns.
//
// **Predict**, for a grid of 2 x 2 x 1 blocks of 2 x 2 x 3 threads: how many threads are there, how
// many warps, and which are the number, the warp and the lane of thread (1,0,2) of block (0,1,0)?
// The kernel lets every thread write its own answer down.

/// Every thread writes down who it is, at the place of its number in the grid.
///
/// @param names  4 integers for every thread of the grid: the block's number, the thread's number in
///               its block, its warp in the block and its lane in the warp; written
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

// The program prints the answer as a picture: one cell per thread, with its number in the grid,
// followed by warp and lane. The thread asked for is number (2 * 2 + 0) * 2 + 1 = 9 in its block,
// hence warp 0, lane 9. Its block is number 1 * 2 + 0 = 2 in the grid, and two blocks of 12 threads
// come before it: in the grid it is number 33.
//
// There are 48 threads, and 4 warps: **a warp never spans two blocks.** Each block of 12 threads
// gets a warp of its own in which 20 lanes have no thread, and they stay empty to the end.
//
// **The counters.** Each warp executes four stores, one for each number: 4 warps make 16 requests,
// with 12 active lanes each. The hardware issues a store for 12 lanes in the same time as for 32.
// The second variant puts the 48 threads into one block of 8 x 6. Now warp 0 holds the rows y = 0
// to 3, and warp 1 the rows 4 and 5, half empty: 2 warps, 8 requests, 24 active lanes on average.
// Make a block's size a multiple of 32 unless you have a reason not to.

// [hide] The expected numbers, the picture, and how these rungs are registered
/// The host's own count: six nested loops number the threads in the order that the text states.
std::vector<int> expected_names(dim3 grid, dim3 block) {
  std::vector<int> names;
  int block_number = 0;
  for (unsigned bz = 0; bz < grid.z; ++bz) {
    for (unsigned by = 0; by < grid.y; ++by) {
      for (unsigned bx = 0; bx < grid.x; ++bx, ++block_number) {
        int thread_number = 0;
        for (unsigned tz = 0; tz < block.z; ++tz) {
          for (unsigned ty = 0; ty < block.y; ++ty) {
            for (unsigned tx = 0; tx < block.x; ++tx, ++thread_number) {
              names.insert(names.end(),
                           {block_number, thread_number, thread_number / 32, thread_number % 32});
            }
          }
        }
      }
    }
  }
  return names;
}

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

void register_names(lab::Chapter& chapter, lab::DeviceBuffer<int>& names) {
  const auto add = [&](const char* variant, dim3 grid, dim3 block) {
    const Launch launch = [=, &names] { who_am_i<<<grid, block>>>(names.data()); };
    const Verify verify = [=, &names] {
      return lab::compare(names.download(), expected_names(grid, block));
    };
    chapter.add({.name = "who_am_i",
                 .idea = "every thread writes down its block, number, warp and lane",
                 .launch = launch,
                 .verify = verify,
                 .variant = variant,
                 .show = [=, &names] { print_names(names.download(), grid, block); },
                 .timed = false,
                 .outputs = {&names}});
  };
  add("4 blocks of 2x2x3", dim3(2, 2, 1), dim3(2, 2, 3));
  add("1 block of 8x6", dim3(1, 1, 1), dim3(8, 6, 1));
}
// [/hide]

// ## 3. A map: one thread for one element
//
// The simplest pattern of parallel work is the *map*: one function, applied to every element by
// itself. No element needs another one's result, so all of them can be done at once and in any
// order, and that is why it suits the GPU so well. Where a CPU program has a loop, the GPU program
// has a thread for each turn of the loop; the loop's variable becomes the thread's index.
//
// This way of writing has a name, SPMD: *single program, multiple data*. You write down what
// **one** thread does, and the index selects its data. The hardware executes 32 such threads with
// one instruction at a time, but the source does not show it. Keep both pictures in mind: the
// thread's program for what is computed, the warp for what it costs.
//
// The threads come in blocks, so their number is a multiple of the block's size, and n need not be.
// Two things follow. There have to be enough blocks, so the division n / 256 must round **up**. And
// the last block has threads left over: they must do nothing. The line that makes them do nothing
// is the *guard*.

/// Adds two vectors: out[i] = a[i] + b[i] for every i < n.
///
/// @param out  n floats in device memory; written
/// @param a    n floats in device memory
/// @param b    n floats in device memory
/// @param n    number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void add_guarded(float* out, const float* a, const float* b, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

// Block number times threads per block plus number in the block: you will write that line in nearly
// every kernel of your life. The product is computed in 64 bits here. `blockIdx.x * blockDim.x`
// alone is a product of two unsigned 32-bit numbers, which wraps round at 2^32: 4 Gi elements, and
// an H200 holds eight times as many floats.
//
// **The counters.** A vector of 65536 elements makes 2048 warps. Each executes two loads and one
// store: 4096 load requests and 2048 store requests, all with 32 lanes active. Each request touches
// 4 sectors, since consecutive lanes touch consecutive floats. No arrangement of the same work gets
// by with fewer sectors: every one of them is used to the last byte.
//
// **The clock.** The kernel does one addition for 12 bytes moved, so the arithmetic cannot matter:
// it should take as long as it takes to move 12 n bytes. That is what the peer does: a `cudaMemcpy`
// of 1.5 n floats reads 6 n bytes and writes 6 n. It takes 0.19 ms, and so we predict the same for
// the kernel. The kernel takes 0.23 ms: 3,500 GB/s, 82 % of the peer. Not bad for one line, but
// nearly a fifth is missing, although the counts say that not one sector is wasted. Keep that in
// mind until section 5, which finds out where it went.
//
// ### Without the guard
//
// **Predict** what happens if the guard is forgotten. To have threads left over, the two rungs from
// here on work on a length that is no multiple of 256: on n - 1 elements where n is one.

/// add_guarded without the guard. Threads past the end read and write past the end.
///
/// @param out  n floats in device memory; written
/// @param a    n floats in device memory
/// @param b    n floats in device memory
/// @param n    number of elements; not used, which is the mistake
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
/// Requires: grid.x * block.x == n exactly.
__global__ void add_unguarded(float* out, const float* a, const float* b, std::size_t /*n*/) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}

// The simulator stops at the first access outside of every allocation and names it: the kernel, the
// source line, block and thread, the address, and the allocation that it missed. The rung is a
// *demonstration*: it passes if exactly that finding is raised.
//
// On a GPU the outcome is worse: often nothing happens. `cudaMalloc` rounds sizes up and places one
// allocation beside the next, so a few elements past the end belong to padding or to another array,
// which is then silently overwritten. The test passes, on this size. It is `compute-sanitizer` that
// finds such an access on a GPU; and the buffers of this course have canaries on both sides, values
// whose change betrays the writer.
//
// ### Rounding down
//
// The other half of the mistake is to have too few blocks. A C++ programmer who wants to round up
// reaches for `std::ceil`, and writes `std::ceil(n / 256)`. Look at it for a moment before you read
// on.

/// The same kernel as add_guarded, for a launch with too few blocks.
///
/// @param out  n floats in device memory; written as far as the threads reach
/// @param a    n floats in device memory
/// @param b    n floats in device memory
/// @param n    number of elements, any
///
/// Launch: one dimension; here with ceil(n / 256) blocks of 256, rounded the wrong way.
__global__ void add_truncated(float* out, const float* a, const float* b, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

/// The number of blocks with the classic mistake: n and 256 are integers, so their quotient is one
/// too. It has been rounded down already when std::ceil gets it.
unsigned blocks_rounded_down(std::size_t n) {
  return static_cast<unsigned>(std::ceil(n / block_size));
}

// For 65535 elements that makes 255 blocks where 256 are needed. The last 255 elements are never
// computed, and **no error is reported anywhere**: every thread did its duty. The rung passes
// because exactly these elements still hold what was there before, and all the others are right.
//
// For n below 256 the same expression gives 0 blocks. That at least is an error: the launch is
// refused. So the bug is loud for small sizes, and silent for large ones.
//
// The right way is to divide in integers and round up in integers: `(n + 255) / 256`, or
// `lab::ceil_div(n, 256)`, which does not overflow. And `std::ceil(n / 256.0f)` is no way out: a
// float has 24 bits of precision, so 2^24 + 1 elements round to 2^24, and one element is lost.

// [hide] How these rungs are registered
void register_additions(lab::Chapter& chapter, Problem& d) {
  chapter.peer(
      {.name = "cudaMemcpy, 1.5 n",
       .launch = [&d] { copy_d2d(d.peer_out.data(), d.peer_in.data(), d.peer_in.size()); },
       .bytes = 8.0 * static_cast<double>(d.peer_in.size()),
       .verify = [&d] { return lab::compare(d.peer_out.download(), d.peer_in.download()); },
       .outputs = {&d.peer_out}});

  const Launch guarded = [&d] {
    add_guarded<<<d.blocks, block_size>>>(d.out.data(), d.a.data(), d.b.data(), d.n);
  };
  chapter.add({.name = "add_guarded",
               .idea = "one thread an element, and a guard for the last block",
               .launch = guarded,
               .verify = holds(d.out, d.n, sum_of(d)),
               .bytes = 3 * d.bytes,
               .peer = "cudaMemcpy, 1.5 n",
               .limit = lab::Limit::copy,
               .outputs = {&d.out}});

  // A length that is no multiple of the block. The slices end where the buffers end, so the first
  // element past a slice is past its buffer.
  const std::size_t ragged = d.n % block_size == 0 ? d.n - 1 : d.n;
  const std::size_t skip = d.n - ragged;
  const Launch unguarded = [&d, skip, ragged] {
    const auto blocks = static_cast<unsigned>(lab::ceil_div(ragged, block_size));
    add_unguarded<<<blocks, block_size>>>(d.out.data() + skip, d.a.data() + skip, d.b.data() + skip,
                                          ragged);
  };
  chapter.add({.name = "add_unguarded",
               .idea = "the guard left out: the last block runs past the end",
               .launch = unguarded,
               .expect_finding = "out-of-bounds"});

  // A grid of 0 blocks is refused, and nothing is written.
  const unsigned blocks = blocks_rounded_down(ragged);
  const std::size_t reached = std::size_t{blocks} * block_size;
  const auto refused = std::make_shared<cudaError_t>(cudaSuccess);
  const Launch truncated = [&d, blocks, ragged, refused] {
    add_truncated<<<blocks, block_size>>>(d.out.data(), d.a.data(), d.b.data(), ragged);
    *refused = cudaGetLastError();
  };
  static constexpr float untouched = 99;  // no sum of two inputs
  const Verify tail_is_missing = [&d, reached, refused] {
    if (reached == 0 && !is_refusal(*refused)) {
      return lab::verdict(false, "a grid of 0 blocks was not refused");
    }
    const auto sum = sum_of(d);
    return holds(d.out, d.n, [&](std::size_t i) { return i < reached ? sum(i) : untouched; })();
  };
  chapter.add({.name = "add_truncated",
               .idea = "ceil(n / 256) in integers: the tail is never computed",
               .prepare =
                   [&d, refused] {
                     d.out.upload(std::vector<float>(d.n, untouched));
                     *refused = cudaSuccess;
                   },
               .launch = truncated,
               .verify = tail_is_missing,
               .show =
                   [=] {
                     std::printf(
                         "  n = %zu, std::ceil(n / 256) = %u blocks reach %zu "
                         "elements; %zu are never computed\n",
                         ragged, blocks, reached, ragged - reached);
                   },
               .timed = false});
}
// [/hide]

// ## 4. Who may touch what
//
// `cudaMalloc` returns a `float*`, and so does `new float[n]`. The compiler cannot tell them apart;
// the hardware can. **Predict** for both ways of mixing them up: who notices, and when?

/// The host reads device memory: a mistake.
///
/// @param device  at least one float in device memory
/// @return what the host finds at that address
///
/// Launch: no kernel.
float host_touches_device(const float* device) { return *device; }

// On a GPU the program dies at this line with a segmentation fault: the address means nothing to
// the CPU. The simulator, in which both memories are the same, reports the line and the allocation
// instead. The way to read one element of an array on the device is to copy it, with `cudaMemcpy`.

/// A kernel reads pageable host memory: the same mistake, the other way round.
///
/// @param out   one float in device memory; written
/// @param host  one float in pageable host memory
///
/// Launch: one block of one thread.
__global__ void device_touches_host(float* out, const float* host) { *out = *host; }

// Here the host notices nothing at first: the launch succeeds. The kernel dies on the device, and
// the next call that waits for it, whichever that is, returns `cudaErrorIllegalAddress`. Section 10
// comes back to that. The pattern behind most such bugs is a pointer *inside* something that was
// copied: a struct or a `std::vector` passed to a kernel takes its host pointers along.
//
// (On some systems a kernel may read pageable memory after all: where CPU and GPU share their page
// tables, or where the driver moves pages when they are touched. The device's attribute
// `pageableMemoryAccess` tells. Code that relies on it runs only there.)
//
// ### Zero copy: memory that both may touch
//
// Some memory is made for both sides. *Mapped* pinned memory, from `cudaHostAlloc` with
// `cudaHostAllocMapped`, stays on the host but has an address on the device, too
// (`cudaHostGetDevicePointer`). No copy is made. Instead, every load of the kernel crosses the bus
// at the moment it is executed. *Managed* memory, from `cudaMallocManaged`, is moved to the side
// that touches it, page by page.

/// Reads mapped host memory over the bus and stores it in device memory.
///
/// @param out     n floats in device memory; written
/// @param mapped  n floats of mapped host memory, by its address on the device
/// @param n       number of floats, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void read_mapped(float* out, const float* mapped, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mapped[i];
}

// **Predict:** the same bytes cross the same bus as in a copy from pinned memory, which is the peer
// here, so the time should be the same.
//
// **The counters** see 2048 load requests of 4 sectors, the same as for device memory: they count
// what a warp asks for, not where it lies. **The clock** sees the bus: 5.2 ms, where the copy takes
// 4.9, and then the work is done already, while the copy has only brought the data over. Zero copy
// pays for data that is read *once*, in whole sectors. Read it twice and it crosses the bus twice.

// [hide] How these rungs are registered
void register_memories(lab::Chapter& chapter, Problem& d) {
  const Launch read_on_host = [&d] {
    volatile float value = host_touches_device(d.a.data());
    static_cast<void>(value);
  };
  chapter.add({.name = "host_touches_device",
               .idea = "the host follows a device pointer",
               .launch = read_on_host,
               .expect_finding = "host-access"});
  const Launch read_on_device = [&d] {
    device_touches_host<<<1, 1>>>(d.out.data(), d.host_a.data());
  };
  chapter.add({.name = "device_touches_host",
               .idea = "a kernel follows a host pointer",
               .launch = read_on_device,
               .expect_finding = "device-access"});

  chapter.peer({.name = "cudaMemcpy from pinned",
                .launch = [&d] { copy_h2d(d.peer_out.data(), d.pinned.data(), d.n); },
                .bytes = d.bytes,
                .verify = holds(d.peer_out, d.n, copy_of(d)),
                .outputs = {&d.peer_out}});
  const Launch zero_copy = [&d] {
    read_mapped<<<d.blocks, block_size>>>(d.out.data(), d.mapped.device_data(), d.n);
  };
  chapter.add({.name = "read_mapped",
               .idea = "zero copy: a kernel reads host memory over the bus",
               .launch = zero_copy,
               .verify = holds(d.out, d.n, copy_of(d)),
               .bytes = d.bytes,
               .peer = "cudaMemcpy from pinned",
               .outputs = {&d.out}});
}
// [/hide]

// ## 5. Where the blocks go
//
// A GPU is a set of *streaming multiprocessors*, SMs; an H200 has 132. Each has room for a fixed
// number of threads, of blocks, of registers, and for so many bytes of shared memory. A launch is a
// list of blocks. The hardware's scheduler takes the next block from the list and places it on an
// SM that has room for all of it, and there it stays until its last thread is done. Then its room
// is given to the next block of the list. Those blocks that fit on all SMs at once are called a
// *wave*.
//
// From this follow the rules of the game:
//
// - The threads of a block are on one SM at the same time. So they can share memory and wait for
//   each other.
// - Blocks run in any order, on any SM, at the same time or one after the other. So no block may
//   wait for another, and a correct program gives the same result for any order.
// - A program that has many more blocks than fit at once runs on a small GPU and on a large one
//   without a change.
//
// A block has limits of its own: 1024 threads in all, at most 1024 along x and y and 64 along z.
// The kernel below is launched with blocks at these limits and just past them.

/// Every thread of a block leaves a 1 at its number.
///
/// @param present  one integer for every thread of the block; written
///
/// Launch: one block of up to three dimensions.
__global__ void block_limits(int* present) {
  present[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = 1;
}

// The program prints which blocks were accepted. The others are refused, with
// `cudaErrorInvalidValue` by CUDA 13 and with `cudaErrorInvalidConfiguration` by older versions,
// and not a single thread of theirs runs. It then asks the runtime how many blocks of each size fit
// on one SM (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`).
//
// Look at that table before you go on. An SM of an H200 has room for 2048 threads, and for 32
// blocks. Which block sizes cannot fill it? With 32 threads a block, 32 blocks are 1024 threads:
// half of the room stays empty. From 64 threads on the SM can be full. How much of it is in use is
// called the *occupancy*. Why does it matter? A thread that has asked for data waits some hundred
// nanoseconds for it. The SM bridges that time by executing other warps. The fewer it has, the more
// often none of them can run.
//
// **Predict** from this the times for blocks of 32, 64, 128, 256, 512 and 1024 threads. The sweep
// runs the simplest map there is.

/// Squares every element: out[i] = in[i] * in[i] for every i < n.
///
/// @param out  n floats in device memory; written
/// @param in   n floats in device memory
/// @param n    number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void map_square(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

// **The counters** are the same for all sizes from 32 to 1024: 2048 load requests of 4 sectors,
// 2048 store requests of 4. A warp is a warp, whatever block it belongs to. So they cannot tell you
// which size is best, except for one: with 48 threads a block, every second warp is half empty. The
// same 8192 sectors now take 2731 requests with 24 lanes on average, a third more instructions for
// the same work.
//
// **The clock.** Occupancy predicts a slow row for 32 and the same time for all the others:
//
// | threads a block | 32 | 48 | 64 | 128 | 256 | 512 | 1024 |
// |---|--:|--:|--:|--:|--:|--:|--:|
// | time in ms | 1.26 | 0.84 | 0.63 | 0.32 | 0.20 | 0.21 | 0.24 |
// | blocks in the grid | 2,097,152 | 1,398,102 | 1,048,576 | 524,288 | 262,144 | 131,072 | 65,536 |
//
// That is not what happened. With 64 and with 128 threads the SMs are full, and yet there is a
// factor of two between them. So occupancy is not the reason. Divide the number of blocks by the
// time: 1.65 blocks per nanosecond for 32, and for 48, and for 64, and for 128. These launches do
// not wait for the memory at all. They wait for the scheduler, which cannot start blocks any
// faster, and a block of so few threads is done before it was worth starting. From 256 threads on
// that limit is no longer in the way. For 512 and 1024 there is another price: the room of a block
// is given to the next one only when its last thread is done, and the larger the block, the more
// room stands empty meanwhile. That is why 128 or 256 is where most kernels begin.
//
// ### Bytes in flight
//
// The best of these rows reaches 2,700 GB/s, 64 % of what the copy does, again without a wasted
// sector. What is missing now? Count what is under way. A full SM has 2048 threads, and each of
// them has asked for *one* float: 8 KiB. All 132 SMs together have about a megabyte under way, and
// the reading half of 2,700 GB/s takes 0.8 us to deliver that much. This is how long the memory
// takes to answer when it is busy. So the rate is what it has to be: *the bytes under way, divided
// by the time that the memory takes to answer* (Little's law). More threads do not fit. But a
// thread can ask for more before it waits. `add_guarded` does so, since it needs two floats at
// once: twice the bytes under way, and its 82 % are better than the 64 % here. The kernels of later
// chapters load four floats with one instruction, and several times in a row.
//
// ### Watching the scheduler
//
// On a GPU, a thread can read the number of the SM it runs on from a special register. The rung
// `where_blocks_run` (its kernel stands in `thread_indexing_gpu.cu`) lets every block record its SM
// and the time at which it began and ended. It launches 924 blocks of 1024 threads, of which each
// SM has room for two. **Predict** how many begin before the first one ends. There are 132 x 2 =
// 264, the first wave; after that a block begins each time another one ends, and three and a half
// waves take as long as four. They were handed out in no order that you could have told beforehand:
// block 0 ran on SM 124, and some SMs had six blocks in all, others eight.

// [hide] Limits, trials, and how these rungs are registered
/// The limits that a launch on this device has to keep to.
cudaDeviceProp properties() {
  int device = 0;
  cudaDeviceProp limits{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&limits, device));
  return limits;
}

/// How many blocks of a map fit on one SM.
int blocks_per_sm(void (*kernel)(float*, const float*, std::size_t), unsigned threads) {
  int blocks = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  return blocks;
}

/// A block that was tried: what the runtime said, and how many threads left a mark.
struct Trial {
  dim3 block;
  cudaError_t result;
  int marks;
  int threads() const { return static_cast<int>(block.x * block.y * block.z); }
};
using Trials = std::vector<Trial>;

/// Whether a block keeps to the limits of a device, by the device's own statement.
bool legal(const Trial& trial, const cudaDeviceProp& limits) {
  const auto fits = [](unsigned extent, int most) { return static_cast<int>(extent) <= most; };
  return fits(trial.block.x, limits.maxThreadsDim[0]) &&
         fits(trial.block.y, limits.maxThreadsDim[1]) &&
         fits(trial.block.z, limits.maxThreadsDim[2]) &&
         trial.threads() <= limits.maxThreadsPerBlock;
}

/// A legal block has all of its threads, an illegal one is refused and has none.
lab::Comparison check_trials(const Trials& trials) {
  const cudaDeviceProp limits = properties();
  std::vector<int> got, want;
  for (const Trial& trial : trials) {
    const bool accepted = legal(trial, limits);
    got.push_back(accepted ? trial.result == cudaSuccess : is_refusal(trial.result));
    got.push_back(trial.marks);
    want.push_back(1);
    want.push_back(accepted ? trial.threads() : 0);
  }
  return lab::compare(got, want);
}

void print_limits(const Trials& trials) {
  const cudaDeviceProp limits = properties();
  std::printf("  %s, compute capability %d.%d, %d SMs\n", limits.name, limits.major, limits.minor,
              limits.multiProcessorCount);
  std::printf("  a grid: at most (%d,%d,%d) blocks\n", limits.maxGridSize[0], limits.maxGridSize[1],
              limits.maxGridSize[2]);
  std::printf(
      "  a block: at most %d threads, (%d,%d,%d) along x, y, z; %zu bytes of shared memory\n",
      limits.maxThreadsPerBlock, limits.maxThreadsDim[0], limits.maxThreadsDim[1],
      limits.maxThreadsDim[2], limits.sharedMemPerBlock);
  std::printf("  an SM: %d threads, %d blocks, %d registers, %zu bytes of shared memory\n",
              limits.maxThreadsPerMultiProcessor, limits.maxBlocksPerMultiProcessor,
              limits.regsPerMultiprocessor, limits.sharedMemPerMultiprocessor);
  for (const Trial& trial : trials) {
    std::printf("  block (%4u,%4u,%2u), %4d threads: %s\n", trial.block.x, trial.block.y,
                trial.block.z, trial.threads(),
                trial.result == cudaSuccess ? "accepted" : cudaGetErrorName(trial.result));
  }
  for (const unsigned threads : {32, 48, 64, 128, 256, 512, 1024}) {
    const int blocks = blocks_per_sm(map_square, threads);
    std::printf("  blocks of %4u threads: %2d fit on an SM, %4u of %d threads\n", threads, blocks,
                blocks * threads, limits.maxThreadsPerMultiProcessor);
  }
}

void register_blocks(lab::Chapter& chapter, Problem& d, lab::DeviceBuffer<int>& present) {
  const auto trials = std::make_shared<Trials>();
  const Launch try_blocks = [&present, trials] {
    for (const dim3 block : {dim3(1024), dim3(1025), dim3(1, 1024), dim3(1, 1025), dim3(32, 32),
                             dim3(32, 33), dim3(16, 1, 64), dim3(1, 1, 65)}) {
      present.zero();
      block_limits<<<1, block>>>(present.data());
      const cudaError_t result = cudaGetLastError();
      const std::vector<int> marks = present.download();
      trials->push_back({block, result, std::accumulate(marks.begin(), marks.end(), 0)});
    }
  };
  chapter.add({.name = "block_limits",
               .idea = "which blocks a device accepts, and how many fit on an SM",
               .prepare = [trials] { trials->clear(); },
               .launch = try_blocks,
               .verify = [trials] { return check_trials(*trials); },
               .show = [trials] { print_limits(*trials); },
               .timed = false});

  for (const unsigned threads : {32, 48, 64, 128, 256, 512, 1024}) {
    const Launch launch = [&d, threads] {
      const auto blocks = static_cast<unsigned>(lab::ceil_div(d.n, threads));
      map_square<<<blocks, threads>>>(d.out.data(), d.a.data(), d.n);
    };
    lab::Rung rung = map_rung(d, "map_square", "a map, in blocks of 32 to 1024 threads, and of 48",
                              launch, holds(d.out, d.n, square_of(d)));
    rung.variant = "block=" + std::to_string(threads);
    chapter.add(rung);
  }

  register_where_blocks_run(chapter);
}
// [/hide]

// ## 6. The grid-stride loop
//
// So far the number of threads followed from n. It can be the other way round: launch as many as
// suit the machine, and let each of them take more than one element. With T threads in the grid,
// thread i takes the elements i, i + T, i + 2T, ... until n is reached. T is the *grid's stride*.

/// Squares every element, with any number of threads.
///
/// @param out  n floats in device memory; written
/// @param in   n floats in device memory
/// @param n    number of elements, any
///
/// Launch: one dimension, any grid and any block; no shared memory.
/// Idea: Mark Harris, CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops (2013).
__global__ void grid_stride(float* out, const float* in, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = in[i] * in[i];
  }
}

// The loop's condition is the guard. Whatever the launch configuration, every element is computed
// exactly once: the same kernel can be run with one thread to debug it, and a wrong number of
// blocks no longer gives a wrong result.
//
// Why does thread i take every T-th element, and not a run of neighbouring ones, as a CPU thread
// would? Because of its neighbours in the warp. In each turn of the loop the 32 lanes read 32
// consecutive floats. If each had a run of its own, their addresses would lie far apart in every
// turn. The next section counts what that costs.
//
// Three grids are tried: one block; one wave, as many blocks as the GPU can hold at once; and one
// thread for each element, where the loop is never repeated. **Predict** the time of the first. One
// block keeps one SM of 132 busy, and that SM with 8 warps of the 64 that it could hold. Is it 132
// x 8 times slower than a full GPU?
//
// **The counters** read 2048 requests of 4 sectors for every variant, even for `grid=1`, where 256
// threads go round 256 times: the same work, done by fewer warps.
//
// **The clock.** One block takes 95 ms, one thread per element takes 0.20 ms: a factor of 480, and
// not of 1056. Divide 95 ms by the 262,144 turns of the loop: 0.36 us. In each turn a thread asks
// for one float and waits for it, so you have just measured how long the memory takes to answer
// when nobody else wants anything. The 0.8 us of the last section are what it takes in a crowd. One
// wave takes 0.17 ms, less than one thread per element: its blocks are started once, and no room
// stands empty between the end of one block and the beginning of the next.

// [hide] How this rung is registered
void register_loops(lab::Chapter& chapter, Problem& d) {
  const auto wave = static_cast<unsigned>(properties().multiProcessorCount *
                                          blocks_per_sm(grid_stride, block_size));
  const auto add = [&](const char* variant, unsigned blocks) {
    const Launch launch = [&d, blocks] {
      grid_stride<<<blocks, block_size>>>(d.out.data(), d.a.data(), d.n);
    };
    lab::Rung rung = map_rung(d, "grid_stride", "a loop that makes any grid right for any n",
                              launch, holds(d.out, d.n, square_of(d)));
    rung.variant = variant;
    chapter.add(rung);
  };
  add("grid=1", 1);
  add("grid=wave", std::min(wave, d.blocks));
  add("grid=n/256", d.blocks);
}
// [/hide]

// ## 7. Two dimensions: which index runs fastest?
//
// Pictures and matrices have rows and columns, and memory has neither. An array of `rows` x `cols`
// in C++ order keeps each row in one piece: element (row, col) is at `row * cols + col`, and it is
// the column that runs fastest. The threads of a warp have consecutive `threadIdx.x`. So there is a
// choice: let x run along the row, or down the column.
//
// Both kernels copy the same picture with blocks of 32 x 8 threads. (n elements make a picture of
// floor(sqrt(n)) rows, with as many columns as n is enough for: 256 x 256 here.) The result is the
// same, and there is the same number of threads, loads and stores. **Predict** the number of
// sectors per request for each.

/// Copies a picture; threadIdx.x runs along the row.
///
/// @param out   rows x cols floats in device memory, a row in one piece; written
/// @param in    rows x cols floats in device memory
/// @param rows  number of rows, any
/// @param cols  number of columns, any
///
/// Launch: block (32, 8); grid.x * 32 >= cols, grid.y * 8 >= rows.
__global__ void copy_x_fastest(float* out, const float* in, std::size_t rows, std::size_t cols) {
  const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

/// Copies a picture; threadIdx.x runs down the column.
///
/// @param out   rows x cols floats in device memory, a row in one piece; written
/// @param in    rows x cols floats in device memory
/// @param rows  number of rows, any
/// @param cols  number of columns, any
///
/// Launch: block (32, 8); grid.x * 32 >= rows, grid.y * 8 >= cols.
__global__ void copy_y_fastest(float* out, const float* in, std::size_t rows, std::size_t cols) {
  const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

// **The counters.** Both kernels make 2048 load requests. With x along the row, the 32 lanes read
// 128 consecutive bytes: **4 sectors per request**. With x down the column, each lane's float lies
// a whole row, 1024 bytes, from its neighbour's: **32 sectors per request**, of which each lane
// uses 4 bytes out of 32. The memory system is asked for 8 times as many sectors, 65536 instead of
// 8192, to bring the same data; and 8192 against 65536 for the stores.
//
// **The clock.** Predict from the counts: 8 times slower? The times are 0.21 ms and 0.97 ms, a
// factor of 4.5. The 8 columns that a block touches lie in the same sectors, so that the caches
// often still hold a sector when the next warp wants another part of it. What the caches cannot
// save is the time of the request itself: it takes the load unit eight times as long to look up 32
// sectors as 4.
//
// The rule is short: **consecutive lanes should touch consecutive addresses**, and so `threadIdx.x`
// belongs to the index that runs fastest in memory. Accesses that keep to it are called
// *coalesced*. The same mistake exists in one dimension: lanes that each walk over a run of their
// own, as in the last section, touch up to 32 sectors with every request.

// [hide] How these rungs are registered
/// A picture of nearly square shape, of at most n elements.
struct Shape {
  std::size_t rows = 1, cols;
  explicit Shape(std::size_t n) {
    while ((rows + 1) * (rows + 1) <= n) ++rows;
    cols = n / rows;
  }
};

void register_pictures(lab::Chapter& chapter, Problem& d) {
  const Shape shape(d.n);
  const dim3 block(32, 8);
  const auto grid = [block](std::size_t along_x, std::size_t along_y) {
    return dim3(static_cast<unsigned>(lab::ceil_div(along_x, block.x)),
                static_cast<unsigned>(lab::ceil_div(along_y, block.y)));
  };
  const Launch x_fastest = [=, &d] {
    copy_x_fastest<<<grid(shape.cols, shape.rows), block>>>(d.out.data(), d.a.data(), shape.rows,
                                                            shape.cols);
  };
  const Launch y_fastest = [=, &d] {
    copy_y_fastest<<<grid(shape.rows, shape.cols), block>>>(d.out.data(), d.a.data(), shape.rows,
                                                            shape.cols);
  };
  const auto add = [&](const char* name, const char* idea, const Launch& launch) {
    lab::Rung rung =
        map_rung(d, name, idea, launch, holds(d.out, shape.rows * shape.cols, copy_of(d)));
    rung.bytes = 8.0 * static_cast<double>(shape.rows * shape.cols);
    chapter.add(rung);
  };
  add("copy_x_fastest", "threadIdx.x runs along the row: 4 sectors a request", x_fastest);
  add("copy_y_fastest", "threadIdx.x runs down the column: 32 sectors a request", y_fastest);
}
// [/hide]

// ## 8. Divergence: when the lanes disagree
//
// A warp has one instruction at a time for all its lanes. So what happens at `if (condition)`, if
// the condition holds for some lanes only? The warp takes both sides, one after the other; on each
// of them the lanes that do not belong there are switched off. This is *divergence*. If all lanes
// agree, only one side is executed, and the branch costs next to nothing.
//
// The two kernels do the same amount of work: half of the elements take the left side and half take
// the right side. Only the question differs: is the number of the *warp* even, or the number of the
// *element*? **Predict** the ratio of their times.

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
/// @param out  n integers in device memory; written
/// @param p    n integers in device memory, for the even warps
/// @param q    n integers in device memory, for the odd ones
/// @param n    number of elements, any
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

/// Mixes p[i] or q[i], by whether the number of the *element* is even: the lanes take turns.
///
/// @param out  n integers in device memory; written
/// @param p    n integers in device memory, for the even elements
/// @param q    n integers in device memory, for the odd ones
/// @param n    number of elements, any
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

// **The counters.** Between warps: each of the 2048 warps makes one load request, with 32 active
// lanes. Within warps: each makes two, one on each side, with 16 active lanes. That is **4096 load
// requests instead of 2048**, and, since the 16 lanes of a side are spread over the same 128 bytes,
// 4 sectors each time: 16384 instead of 8192. The stores are alike, 2048 with 32 lanes, since the
// lanes meet again behind the branch. Divergence lasts as long as the branch.
//
// **The clock.** Every warp executes both sides, so the prediction is twice the time. It is 0.92 ms
// instead of 0.48 ms: a factor of 1.9, since moving the data takes its part of both times. It is
// the same for any number of lanes on each side: a single lane that goes its own way costs the warp
// as much as half of them. The remedy is to arrange the work so that neighbours agree, by index, as
// here, or by sorting the data. And a short branch, such as the guard, is nothing to worry about:
// only the last warp of the whole grid disagrees about it, and the compiler has conditional
// instructions for those few lanes.

// [hide] How these rungs are registered
void register_divergence(lab::Chapter& chapter, Problem& d) {
  // `together`: how many neighbouring elements take the same side.
  const auto add = [&](const char* name, const char* idea, std::size_t together, Launch launch) {
    const auto mixed = [&d, together](std::size_t i) {
      return i / together % 2 == 0 ? mix_left(d.host_p[i]) : mix_right(d.host_q[i]);
    };
    chapter.add({.name = name,
                 .idea = idea,
                 .launch = std::move(launch),
                 .verify = holds(d.bits, d.n, mixed),
                 .bytes = 2 * d.bytes,
                 .outputs = {&d.bits}});
  };
  add("diverge_between_warps", "a branch on which the lanes of a warp agree", 32, [&d] {
    diverge_between_warps<<<d.blocks, block_size>>>(d.bits.data(), d.p.data(), d.q.data(), d.n);
  });
  add("diverge_within_warps", "the same branch, decided lane by lane", 1, [&d] {
    diverge_within_warps<<<d.blocks, block_size>>>(d.bits.data(), d.p.data(), d.q.data(), d.n);
  });
}
// [/hide]

// ## 9. A launch does not wait
//
// `kernel<<<grid, block>>>(...)` puts an order into a queue, a *stream*, and returns. The GPU takes
// orders out of the queue one after the other, while the host does other things: prepare the next
// input, give the next order. The host waits only where it says so (`cudaDeviceSynchronize`,
// `cudaStreamSynchronize`, `cudaEventSynchronize`) and in calls that have to, such as a
// `cudaMemcpy` to the host.
//
// So what does a stopwatch around the launch measure? **Predict** for the three variants of the
// next rung, which are the same launch of the same kernel: the host's clock stopped when the launch
// returns; the host's clock stopped after `cudaDeviceSynchronize`; and the device's own clock, two
// *events* in the stream before and after the kernel.

/// Doubles every element: out[i] = in[i] + in[i] for every i < n.
///
/// @param out  n floats in device memory; written
/// @param in   n floats in device memory
/// @param n    number of elements, any
///
/// Launch: one dimension, grid.x * block.x >= n; no shared memory.
__global__ void async_launch(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i];
}

// **The clock.** The first variant reports 3.6 us, the time of a call into the driver, whatever n
// is. That would be 150,000 GB/s, 35 times what the machine can do, and this is how you recognise
// the mistake in other people's tables: *a figure above 100 % of the limit is a measurement that
// did not wait.* The second variant is honest: 0.203 ms. The third says 0.197 ms; it leaves out the
// way to the GPU and back. For kernels as short as these use events, as this course does.
//
// **Warm up.** The program also prints how long the first launch of this kernel took: 0.30 ms, half
// as long again as the later ones. The driver loads a kernel's code when it is first used. In a
// fresh process it is worse, since the first call of all sets the GPU up. So a measurement launches
// a few times before it counts, then takes the median of many runs, and clears the L2 cache before
// each, since else a small input is read from there. (The simulator runs a launch to its end before
// it returns, and its times mean nothing, so it shows none.)

// [hide] How this rung is registered
void register_launches(lab::Chapter& chapter, Problem& d) {
  // Milliseconds until the first launch had returned, and until its kernel was done.
  struct First {
    double returned = 0, done = 0;
  };
  const auto first = std::make_shared<First>();
  const Launch launch = [&d, first] {
    const auto order = [&d] {
      async_launch<<<d.blocks, block_size>>>(d.out.data(), d.a.data(), d.n);
    };
    if (first->done > 0) return order();
    first->done = lab::time_on_host([&] {
      first->returned = lab::time_on_host(order);
      CUDA_CHECK(cudaDeviceSynchronize());
    });
  };
  const Launch launch_and_wait = [launch] {
    launch();
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  const Launch show = [first] {
    std::printf("  the first launch of all returned after %.3f ms and was done after %.3f ms\n",
                first->returned, first->done);
  };
  const auto doubled = [&d](std::size_t i) { return d.host_a[i] + d.host_a[i]; };
  const auto add = [&](const char* variant, lab::Clock clock, const Launch& run) {
    lab::Rung rung = map_rung(d, "async_launch", "a launch returns before the kernel is done", run,
                              holds(d.out, d.n, doubled));
    rung.variant = variant;
    rung.clock = clock;
    if (clock == lab::Clock::device && !chapter.on_simulator()) rung.show = show;
    chapter.add(rung);
  };
  add("host, not waiting", lab::Clock::host, launch);
  add("host, waiting", lab::Clock::host, launch_and_wait);
  add("device", lab::Clock::device, launch);
}
// [/hide]

// ## 10. When something goes wrong
//
// There are four ways in which a launch can go wrong, and they are noticed in different places.
//
// 1. **The call itself is wrong**, such as `cudaMemcpy` with a null pointer. It returns the code.
// 2. **The launch is refused.** A launch returns nothing. The code waits in the runtime until
//    somebody asks: with `cudaGetLastError()`, which hands it over and clears it, or
//    `cudaPeekAtLastError()`, which leaves it there. The kernel never ran, and the GPU is as well
//    as before.
// 3. **The kernel dies**, on the GPU, some time later. The code is returned by a later call, one
//    that waits or looks: it may be an innocent `cudaMemcpy` fifty lines below. The kernel's memory
//    is in an unknown state, so the runtime gives the whole context up: the error is *sticky*.
//    Every call from then on returns it, and only the end of the process, or `cudaDeviceReset`,
//    gets rid of it.
// 4. **There is no code for this GPU** in the program. The launch is refused, as in 2.
//
// **Predict** for the second: a block of 2048 threads is launched; we look at the error, fetch it,
// fetch it again, and then launch the same kernel with 256 threads. Which codes come back?

/// Sets the first elements of an array to 1, one for each thread.
///
/// @param out  n floats in device memory; written
/// @param n    number of elements, any
///
/// Launch: one block.
__global__ void refused_launch(float* out, std::size_t n) {
  if (threadIdx.x < n) out[threadIdx.x] = 1.0f;
}

// The error is there when we look and when we fetch it, and then it is gone: it is *not sticky*,
// and the next launch works. CUDA 13 calls it `cudaErrorInvalidValue`, older versions call it
// `cudaErrorInvalidConfiguration`. Had we not asked, the array would simply be without its numbers.
// That is why every launch should be followed by `CUDA_CHECK(cudaGetLastError())`; in this course
// `lab` does it after every rung.
//
// **Predict** for the third: the kernel below gets a null pointer, as it would if nobody had looked
// at the code of a `cudaMalloc` that failed. What does the launch report? What do the next calls
// return?

/// Stores a 1.
///
/// @param out  one float in device memory; written
///
/// Launch: one block of one thread.
__global__ void sticky_error(float* out) { *out = 1.0f; }

// The simulator shows it as a demonstration: on a GPU the process would be lost for all that comes
// after. The launch itself reports no error. The first call that waits does, and then every call
// does, also those that have nothing to do with the kernel. With a GPU the launch comes back before
// anything has happened, so the error turns up wherever the program happens to wait first. To find
// the culprit, run with `CUDA_LAUNCH_BLOCKING=1`, which makes every launch wait, or under
// `compute-sanitizer`, or `./learn explain`.
//
// ### No kernel for this GPU
//
// A compiled program holds machine code for the GPUs that it was compiled for, by *compute
// capability*: 9.0 for an H200. It may also hold PTX, an assembly language that the driver
// translates for newer GPUs when the program starts. If it holds neither for the GPU it meets, then
// every launch is refused with `cudaErrorNoKernelImageForDevice`. A program that asks for no errors
// prints zeros then, very quickly, and looks like a success. The rung `missing_image` launches a
// kernel which the build compiles for another GPU on purpose (`missing_image_gpu.cu`), and passes
// if the runtime says so and the output is untouched.

// [hide] How these rungs are registered
/// A call of the runtime, and what it returned.
struct Answer {
  const char* call;
  cudaError_t code;
};
using Answers = std::vector<Answer>;

void print_answers(const Answers& answers) {
  for (const auto& [call, code] : answers) {
    std::printf("  %-40s %s\n", call, cudaGetErrorName(code));
  }
}

void register_errors(lab::Chapter& chapter, Problem& d) {
  const auto answers = std::make_shared<Answers>();
  const Launch refused = [&d, answers] {
    refused_launch<<<1, 2048>>>(d.out.data(), d.n);
    answers->push_back({"with 2048 threads: cudaPeekAtLastError()", cudaPeekAtLastError()});
    answers->push_back({"cudaGetLastError()", cudaGetLastError()});
    answers->push_back({"cudaGetLastError(), again", cudaGetLastError()});
    refused_launch<<<1, 256>>>(d.out.data(), d.n);
    answers->push_back({"with 256 threads: cudaGetLastError()", cudaGetLastError()});
    answers->push_back({"cudaDeviceSynchronize()", cudaDeviceSynchronize()});
  };
  const Verify verify = [&d, answers] {
    std::vector<int> got;
    for (const Answer& answer : *answers) {
      got.push_back(is_refusal(answer.code) ? 1 : answer.code == cudaSuccess ? 0 : -1);
    }
    const std::vector<int> want = {1, 1, 0, 0, 0};
    if (const lab::Comparison codes = lab::compare(got, want); !codes.pass) return codes;
    return holds(d.out, std::min<std::size_t>(d.n, 256), [](std::size_t) { return 1.0f; })();
  };
  chapter.add({.name = "refused_launch",
               .idea = "a block of 2048 threads: an error that goes away",
               .prepare = [answers] { answers->clear(); },
               .launch = refused,
               .verify = verify,
               .show = [answers] { print_answers(*answers); },
               .timed = false,
               .outputs = {&d.out}});

  const auto after = std::make_shared<Answers>();
  const Launch dies = [&d, after] {
    sticky_error<<<1, 1>>>(nullptr);
    after->push_back({"cudaDeviceSynchronize()", cudaDeviceSynchronize()});
    after->push_back({"cudaGetLastError()", cudaGetLastError()});
    after->push_back({"cudaGetLastError(), again", cudaGetLastError()});
    after->push_back({"cudaMemset of another array", cudaMemset(d.bits.data(), 0, 4)});
    for (const auto& [call, code] : *after) {
      if (code == cudaErrorIllegalAddress) continue;
      throw lab::Failure(std::string(call) + " returned " + cudaGetErrorName(code));
    }
  };
  chapter.add({.name = "sticky_error",
               .idea = "a kernel that dies: an error that stays",
               .launch = dies,
               .expect_finding = "out-of-bounds",
               .show = [after] { print_answers(*after); }});
  register_missing_image(chapter);
}
// [/hide]

// ## The program
//
// `lab::Chapter` reads the command line, and for each rung it poisons the output, runs the rung,
// looks whether something wrote past the end of an array, compares every element with the
// reference, times it in turn with its peer, and compares again. The functions `register_...` tell
// it what there is. They stand behind the kernels of each section, folded away on the page.

int main(int argc, char** argv) {
  lab::Chapter chapter(argc, argv, lab::SizeKind::n);
  Problem problem(chapter.size().n, chapter.seed());
  lab::DeviceBuffer<int> names(4 * 48, "names"), present(1024, "present");

  register_copies(chapter, problem);           // 1. two memories
  register_names(chapter, names);              // 2. who am I?
  register_additions(chapter, problem);        // 3. a map
  register_memories(chapter, problem);         // 4. who may touch what
  register_blocks(chapter, problem, present);  // 5. where the blocks go
  register_loops(chapter, problem);            // 6. the grid-stride loop
  register_pictures(chapter, problem);         // 7. two dimensions
  register_divergence(chapter, problem);       // 8. divergence
  register_launches(chapter, problem);         // 9. a launch does not wait
  register_errors(chapter, problem);           // 10. errors
  return chapter.run();
}

// ## What to take along
//
// - The host and the device have a memory each. Crossing the bus is the most expensive thing a
//   program does.
// - A thread's index is the only thing it has of its own. x runs fastest, 32 threads make a warp,
//   and a warp stays within its block.
// - Round the number of blocks up, in integers, and guard the end; or write a grid-stride loop.
// - Give blocks 128 or 256 threads. Below that the scheduler is the limit.
// - Memory is fast when much is under way: rate = bytes in flight / time to answer.
// - Consecutive lanes should touch consecutive addresses: 4 sectors a request, not 32.
// - Lanes that disagree on a branch take turns. Warps that disagree cost nothing.
// - A launch does not wait. Ask for its error, wait before you stop the clock, and do not trust a
//   first run.
//
// ## What comes next
//
// In this chapter every byte was used once, and so the memory's speed was all that counted. In a
// matrix product every element is needed a thousand times over, and a kernel that fetches it a
// thousand times from memory is just as bound by the memory, with a thousand times the bytes. The
// next chapter starts from that kernel and fixes the order of its accesses first, with what section
// 7 has shown.
//
// ## Possibilities for extension
//
// 1. Write `copy_y_fastest` with blocks of 8 x 32 instead of 32 x 8. How many sectors does a
//    request touch now? Predict first, then let `./learn explain` count.
// 2. Let each thread of `map_square` handle a run of 4 neighbouring elements, one by one. What do
//    the counts say, and what if it loads them as one `float4`? What does Little's law predict for
//    the time?
// 3. In `diverge_within_warps`, replace `i % 2` by `i % 32 == 0`. Does the time go down, now that
//    only one lane in 32 takes the left side?
// 4. Sort out the even and the odd elements in `diverge_within_warps`: let the first half of the
//    threads work on all even elements and the second half on all odd ones. The divergence is gone;
//    what has it cost? Look at the sectors.
// 5. From the two times of `copy_h2d_pieces` find the piece that is just large enough to reach half
//    of the bus's bandwidth.
// 6. At which n does `add_guarded` take as long as its launch? Run it with `--size` from 1000 to 10
//    million.
