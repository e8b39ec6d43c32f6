// # Chapter 20: Many GPUs
//
// Question: Two GPUs have twice the memory and twice the arithmetic. What does it take to use both, when each needs what the other has?
// Builds on: 15_stencils, 19_transfers
// Minutes: 35
// Afterwards: let the GPUs of one host share memory, exchange halos, all-reduce and multiply, with communication hidden behind computation
// Kind: free
// Size gpu: 16384
// Size simulator: 61
// Sizes measured: 16384 4096
// Run: ./learn run 20
//   ./learn run 20 --rung peer_copy       from one GPU to another, and both ways at once
//   ./learn run 20 --rung peer_load       a kernel reads the other GPU's memory
//   ./learn run 20 --rung peer_store      a kernel writes to it
//   ./learn run 20 --rung closed          the same without peer access [raises peer-access]
//   ./learn run 20 --rung jacobi_copies   a stencil split by rows: halos by copies, after each step
//   ./learn run 20 --rung missing_wait    the same without the neighbours' events [raises stream-race]
//   ./learn run 20 --rung jacobi_overlap  edges first; their copies overlap with the interior
//   ./learn run 20 --rung jacobi_flags    the kernel writes the halos itself, and sets flags
//   ./learn run 20 --rung jacobi_stays    one kernel for all steps; its blocks wait for their neighbours alone
//   ./learn run 20 --rung gathered_sums   all-reduce: one GPU adds, and all others get its sums
//   ./learn run 20 --rung ring_sums       all-reduce: chunks go round a ring
//   ./learn run 20 --rung one_shot        all-reduce: every GPU adds everything
//   ./learn run 20 --rung two_shots       all-reduce: each GPU adds its share, and hands it to all
//   ./learn run 20 --rung tagged_shot     all-reduce: each float arrives with the number of its round
//   ./learn run 20 --rung early_read      one shot that does not wait for the others [raises stream-race]
//   ./learn run 20 --rung product         a matrix product whose right factor is spread over all GPUs
//   ./learn run 20 --rung product_cublas  the same, each part by cuBLAS [needs cublas]

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <deque>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "lab/cublas_gemm.h"
#include "lab/lab.h"

// Over NVLink or PCIe a GPU reaches the memory of another in the same host. This chapter spreads three kinds of work over
// GPUs: a stencil, whose parts need their neighbours' edges; a sum over GPUs, which needs everything; and a matrix product,
// one of whose factors is spread over all of them. One process, one thread of the host, any number of GPUs.
//
// ```{drawing} split
// ```
//
// Times are those of two H200 GPUs of one host, joined by NVLink, for n = 16384 unless the text gives another size. More
// than two are not timed. What the text says of order, of bytes and of steps, the simulator checks: it simulates four GPUs,
// or as many as `SIMT_DEVICES` says, and runs kernels of different GPUs side by side where they wait for each other.

constexpr unsigned BLOCK = 256;  ///< threads of a block
constexpr int MOST = 8;          ///< GPUs of a host that the kernels are made for

/// The same array on each GPU, as a kernel is given it: of[g] lies in the memory of GPU g.
template <class T>
struct OnAll {
  T* of[MOST];
};

// ## 1. The other GPU's memory
//
// `cudaSetDevice` makes a GPU the *current* one: memory, streams and events are made there, and kernels run there.
// Addresses are unique across all GPUs of a process, so that an address tells whose memory it is. There are two ways
// to reach it.
//
// ### Copies
//
// `cudaMemcpyPeerAsync`, or `cudaMemcpyAsync` with `cudaMemcpyDefault`, copies from GPU to GPU in a stream of
// either. It works without peer access, but then, says CUDA's programming guide, it may pass through the host. Here all access is open.
//
//? ways: GPU 0 sends 256 MiB to GPU 1 in 0.69 ms. How long do both take if GPU 1 sends as much to GPU 0 at the same time?
//? answer: ms("peer_copy/ways=2")
//? unit: ms
//? near: 15 %

/// Starts to copy n floats from one GPU to another, in a stream of either.
void peer_copy(float* to, int to_gpu, const float* from, int from_gpu, std::size_t n,
               cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyPeerAsync(to, to_gpu, from, from_gpu, n * sizeof(float), stream));
}

// **Timed.** 256 MiB take 0.69 ms, a rate of 389 GB/s. Both ways at once take 1.02 times as long and have 764 GB/s together:
// the two directions of the link do not share a rate.
//= 256 MiB: 16384 * 16384 // 4 * 4 / 1024 / 1024
//= 0.69 ms, a rate of 389 GB/s: (ms("peer_copy/ways=1"), rate("peer_copy/ways=1"))
//= 1.02 times as long and have 764 GB/s: (ms("peer_copy/ways=2") / ms("peer_copy/ways=1"), rate("peer_copy/ways=2"))
//
// ### Kernels
//
// With {term}`peer access`, a kernel follows a pointer into the other GPU's memory as into its own. It is
// opened once, in one direction: `cudaDeviceEnablePeerAccess(1, 0)`, called while GPU 0 is the current one, lets kernels
// of GPU 0 reach the memory of GPU 1. `lab::open_devices` opens all to all.

/// out[i] = in[i]; in is memory of another GPU.
///
/// Launch: blocks of BLOCK in one dimension, any number of them; timed with two for each SM.
__global__ void peer_load(float* out, const float* in, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads)
    out[i] = in[i];
}

//? store: `peer_load` takes 1.08 ms for 256 MiB. How long does the next kernel take, which has the same code but stores to the
//?   other GPU?
//? answer: ms("peer_store")
//? unit: ms
//? near: 15 %

/// out[i] = in[i]; out is memory of another GPU.
///
/// Launch: as peer_load.
__global__ void peer_store(float* out, const float* in, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads)
    out[i] = in[i];
}

// The two kernels have the same code; which pointer is remote differs. A load crosses the link twice, as a request
// and as data, and its warp waits for the data. A store crosses it once, and the warp continues.
//
// **Timed.** The load takes 1.41 times as long as the store, 248 GB/s against 351. That is no property of
// loads: with as many blocks, and 16 bytes a thread in place of 4, those of `one_shot` (section 3) have 333 GB/s. Two blocks an SM with
// 4 bytes a thread ask for too little at a time.
//= 333 GB/s: 4 * 268435456 / 1e6 / ms("one_shot/floats=268435456")
//= because ask for too little: 4 * 268435456 / 1e6 / ms("one_shot/floats=268435456") > 1.3 * rate("peer_load")
//= 1.41 times as long as the store, 248 GB/s against 351: (ms("peer_load") / ms("peer_store"), rate("peer_load"),
//=   rate("peer_store"))
//
// ### Without peer access
//
// `closed` runs `peer_load` without peer access: an illegal address on a GPU. The simulator names both GPUs and the call
// that is missing.
//
// ## 2. A stencil, split by rows
//
// A step of a {term}`Jacobi iteration <Jacobi iteration>` makes each cell the mean of its four neighbours (chapter 15).
// Each GPU has some of the rows, and a {term}`halo` row above and below them for the neighbour's edge. The stages are those of
// NVIDIA's [multi-gpu-programming-models](https://github.com/NVIDIA/multi-gpu-programming-models), which has them in
// MPI and NVSHMEM as well.

constexpr int DOWN = 2;                        ///< rows of a thread of `relax`
constexpr int STRIP = DOWN * int{BLOCK} / 32;  ///< rows of a block: a warp has DOWN of them

/// Floats from a row to the next: whole float4s. What lies behind the columns is 0 and stays so.
__host__ __device__ inline std::size_t pitch_of(int cols) {
  return static_cast<std::size_t>(cols + 3) / 4 * 4;
}

/// Rows `begin` to `end` - 1, at most ROWS of them, in the four columns from x on: each cell becomes the mean of its four
/// neighbours, and `put(row, four)` stores them. All loads come before the first store.
///
/// in (rows + 2, pitch_of(cols)): the rows of a GPU with a halo row before and behind; row r is row r + 1 of the array. Left and
/// right of the grid there is 0.
template <int ROWS, class Put>
__device__ void relax_cells(const float* in, int cols, int x, int begin, int end, Put put) {
  if (x >= cols) return;
  const std::size_t pitch = pitch_of(cols);
  const auto row_of = [=](int r) { return in + static_cast<std::size_t>(r + 1) * pitch + x; };
  float4 row[ROWS + 2];
  float left[ROWS], right[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS + 2; ++k)
    row[k] = *reinterpret_cast<const float4*>(row_of(min(begin + k - 1, end)));
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const float* const cells = row_of(min(begin + k, end));
    left[k] = x > 0 ? cells[-1] : 0;
    right[k] = x + 4 < cols ? cells[4] : 0;
  }
#pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const float4 up = row[k], here = row[k + 1], down = row[k + 2];
    const auto mean = [=](int i, float a, float b, float c, float d) {
      return x + i < cols ? 0.25f * (a + b + c + d) : 0;
    };
    if (begin + k < end) {
      put(begin + k,
          make_float4(mean(0, up.x, down.x, left[k], here.y), mean(1, up.y, down.y, here.x, here.z),
                      mean(2, up.z, down.z, here.y, here.w),
                      mean(3, up.w, down.w, here.z, right[k])));
    }
  }
}

/// Where part `part` of n rows begins, of `parts` parts as equal as they can be.
__host__ __device__ inline int share(int n, int part, int parts) {
  return static_cast<int>(static_cast<long long>(n) * part / parts);
}

/// Where the four cells from column x on of row r stand.
__device__ float4& cells_at(float* grid, int cols, int r, int x) {
  return *reinterpret_cast<float4*>(grid + static_cast<std::size_t>(r + 1) * pitch_of(cols) + x);
}

/// Rows `first` to `last` - 1 of a step. out, in (rows + 2, pitch_of(cols)).
///
/// Launch: blocks of BLOCK threads for 128 columns x STRIP rows, from row `first`.
__global__ void __launch_bounds__(BLOCK)
    relax(float* __restrict__ out, const float* __restrict__ in, int cols, int first, int last) {
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int x = (static_cast<int>(blockIdx.x) * 32 + lane) * 4;
  const int begin = first + static_cast<int>(blockIdx.y) * STRIP + warp * DOWN;
  relax_cells<DOWN>(in, cols, x, begin, min(begin + DOWN, last),
                    [=](int r, float4 four) { cells_at(out, cols, r, x) = four; });
}

// [hide] The rows of a grid on several GPUs, and a launch of relax
/// An n x n grid, split by rows: two arrays on each GPU, which take turns, and what its neighbours wait for.
struct Grid {
  const int n, gpus, steps;
  const std::size_t pitch;
  std::deque<lab::DeviceBuffer<float>> arrays[2];
  std::vector<cudaEvent_t> sent, inner;  ///< of each GPU: its edges are sent; its interior is done

  /// steps: even, so that the result is where the start was
  Grid(int n, int gpus, int steps)
      : n(n), gpus(gpus), steps(steps), pitch(pitch_of(n)), sent(gpus), inner(gpus) {
    lab::on_each_device(gpus, [&](int g) {
      for (auto& side : arrays) {
        side.emplace_back(static_cast<std::size_t>(rows(g) + 2) * pitch,
                          "the rows of GPU " + std::to_string(g));
      }
      for (auto* events : {&sent, &inner})
        CUDA_CHECK(cudaEventCreateWithFlags(&(*events)[g], cudaEventDisableTiming));
    });
  }
  ~Grid() {
    for (auto* events : {&sent, &inner})
      for (const cudaEvent_t event : *events) cudaEventDestroy(event);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  int first(int g) const { return share(n, g, gpus); }
  int rows(int g) const { return first(g + 1) - first(g); }
  bool has(int g) const { return g >= 0 && g < gpus; }
  /// Of step s: what GPU g reads, and with s + 1 what it writes.
  float* at(int s, int g) { return arrays[s % 2][static_cast<std::size_t>(g)].data(); }
  /// Row r of GPU g, -1 and rows(g) being its halos.
  float* row(int s, int g, int r) { return at(s, g) + static_cast<std::size_t>(r + 1) * pitch; }
  /// Halo rows and back: GPU g's edge on the side of `other`, and the halo there that it belongs to.
  int edge(int g, int other) const { return other < g ? 0 : rows(g) - 1; }
  int halo(int g, int other) const { return other < g ? -1 : rows(g); }
};

/// Launches relax on rows `first` to `last` - 1 of GPU g, the current one.
void relax_rows(Grid& grid, int s, int g, int first, int last, cudaStream_t stream) {
  if (first >= last) return;
  relax<<<lab::tiles(grid.n, last - first, 128, STRIP), BLOCK, 0, stream>>>(
      grid.at(s + 1, g), grid.at(s, g), grid.n, first, last);
}
// [/hide]

// ### Step, copy, step
//
// Each GPU has a stream: a kernel for its rows, then copies of its edges into the neighbours' halos, then the next
// step. Only events order the work of different GPUs. A GPU may begin a step when its neighbours have sent the edges of
// the step before. So each records an event behind its copies, and the neighbours' streams wait for it; the host does not.
//
// ```{drawing} steps
// ```

/// Sends the edges that step s has made to the halos of the neighbours.
void send_edges(Grid& grid, int s, int g, cudaStream_t stream) {
  for (const int other : {g - 1, g + 1}) {
    if (!grid.has(other)) continue;
    peer_copy(grid.row(s + 1, other, grid.halo(other, g)), other,
              grid.row(s + 1, g, grid.edge(g, other)), g, grid.pitch, stream);
  }
  CUDA_CHECK(cudaEventRecord(grid.sent[g], stream));
}

/// The stream of GPU g waits until its neighbours have sent their edges of the step before.
void await_edges(Grid& grid, int g, cudaStream_t stream) {
  for (const int other : {g - 1, g + 1})
    if (grid.has(other)) CUDA_CHECK(cudaStreamWaitEvent(stream, grid.sent[other]));
}

/// The grid's steps; the streams are one of each GPU.
///
/// waits: whether a step waits for the neighbours' edges; without it the result is wrong.
void jacobi_copies(Grid& grid, lab::Streams& streams, bool waits = true) {
  streams.start();
  for (int s = 0; s < grid.steps; ++s) {
    lab::on_each_device(grid.gpus, [&](int g) {
      if (s > 0 && waits) await_edges(grid, g, streams[g]);
      relax_rows(grid, s, g, 0, grid.rows(g), streams[g]);
    });
    lab::on_each_device(grid.gpus, [&](int g) { send_edges(grid, s, g, streams[g]); });
  }
  streams.join();
}

/// The same without the neighbours' events.
void missing_wait(Grid& grid, lab::Streams& streams) { jacobi_copies(grid, streams, false); }

// Each event guards two things. The halo that a step reads has arrived; and the neighbour has finished reading the halo
// that this step's edge overwrites, because it read before it sent. `missing_wait` leaves the waits out, and the simulator
// names the kernel and the copy that nothing orders.
//
// On two GPUs one row in 8192 of a grid of 16384 x 16384 crosses the link, 128 KiB in all. Still, every step waits for it:
// for the copy to begin, for the link, for the event.
//= one row in 8192: 16384 / 2
//= 128 KiB: 2 * 16384 * 4 / 1024
//
//? small: A hundred steps of 16384 x 16384 cells take 51.0 ms on one GPU and 27.4 ms on two, which are 1.86 times as fast. How many
//?   times as fast are two GPUs at 4096 x 4096?
//? answer: ms("jacobi_copies/gpus=1", 4096) / ms("jacobi_copies/gpus=2", 4096)
//? unit: times
//? near: 20 %
//
// **Timed.** A hundred steps take 51.0 ms on one GPU and 27.4 ms on two, 1.86 times as fast. A step takes 19 us more than half of
// one GPU's. At 4096 x 4096 it takes 17 us more, and half of one GPU's step is 18 us: two GPUs are 1.02 times as fast as one.
//= 51.0 ms on one GPU and 27.4 ms on two, 1.86 times: (ms("jacobi_copies/gpus=1"), ms("jacobi_copies/gpus=2"),
//=   ms("jacobi_copies/gpus=1") / ms("jacobi_copies/gpus=2"))
//= 19 us more: (ms("jacobi_copies/gpus=2") - ms("jacobi_copies/gpus=1") / 2) * 1000 / 100
//= 17 us more: (ms("jacobi_copies/gpus=2", 4096) - ms("jacobi_copies/gpus=1", 4096) / 2) * 1000 / 100
//= step is 18 us: ms("jacobi_copies/gpus=1", 4096) / 2 * 1000 / 100
//= 1.02 times: ms("jacobi_copies/gpus=1", 4096) / ms("jacobi_copies/gpus=2", 4096)
//
// The bytes do not explain it. An edge of 16384 floats takes 0.17 us at the rate of a long copy, and edges of a quarter of that
// length cost a step nearly as much. So each step has a cost that hardly depends on its size; which part of it the launches,
// the copies and the events have is not measured.
//= 0.17 us: 16384 * 4 / rate("peer_copy/ways=1") / 1000
//= a quarter: 4096 / 16384
//
// ### Edges first
//
// The interior needs no halo. So each GPU gets two streams: one computes its first and its last row and sends them, while
// the other computes the rows between. A step then waits for three things: the neighbours' edges, its own interior
// and its own edges.

/// The grid's steps; the streams are two of each GPU, those for edges first.
void jacobi_overlap(Grid& grid, lab::Streams& streams) {
  const int gpus = grid.gpus;
  streams.start();
  for (int s = 0; s < grid.steps; ++s) {
    lab::on_each_device(gpus, [&](int g) {
      const cudaStream_t edges = streams[g], interior = streams[gpus + g];
      if (s > 0) {
        await_edges(grid, g, edges);
        CUDA_CHECK(cudaStreamWaitEvent(edges, grid.inner[g]));
        CUDA_CHECK(cudaStreamWaitEvent(interior, grid.sent[g]));
      }
      const int last = grid.rows(g) - 1;
      relax_rows(grid, s, g, 0, 1, edges);
      relax_rows(grid, s, g, std::max(last, 1), last + 1, edges);
      relax_rows(grid, s, g, 1, last, interior);
      CUDA_CHECK(cudaEventRecord(grid.inner[g], interior));
    });
    lab::on_each_device(gpus, [&](int g) { send_edges(grid, s, g, streams[g]); });
  }
  streams.join();
}

// The edges take two more launches: three kernels and up to two copies for each step and GPU. They can be hidden only as long
// as the interior takes longer than they do. `SIMT_DEVICES=2 ./learn explain 20 --rung jacobi_overlap` draws the order of all
// steps. The first two are:
//
// ```text
//                  1      2      3      4      5      6
// GPU 0, stream 1  relax  relax  PtoP   relax  relax  PtoP
// GPU 0, stream 2  relax                relax
// GPU 1, stream 3  relax  relax  PtoP   relax  relax  PtoP
// GPU 1, stream 4  relax                relax
// and 24 more steps
// ```
//
// What shares a column may run at once. But a step is now three columns, where `jacobi_copies` has two: the kernels of the first
// and of the last row follow each other in one stream.
//
// **Timed.** Overlap saves 1 % of the time at 16384 x 16384, and has 0.94 of twice one GPU's rate. At 4096 x 4096 it takes 1.35 times as
// long as `jacobi_copies`: 47 us a step. In two trials the steps took 48 and 34 us, and the host's calls for a step 47 and 31 us:
// launches, copies, events. The GPUs are no faster than the host asks.
//= 1 % of the time: 100 * (1 - ms("jacobi_overlap/gpus=2") / ms("jacobi_copies/gpus=2"))
//= 0.94 of twice: ms("jacobi_copies/gpus=1") / 2 / ms("jacobi_overlap/gpus=2")
//= 1.35 times: ms("jacobi_overlap/gpus=2", 4096) / ms("jacobi_copies/gpus=2", 4096)
//= 47 us a step: ms("jacobi_overlap/gpus=2", 4096) * 1000 / 100
//= took 48 and 34 us, and the host's calls for a step 47 and 31 us: (48, 34, 47, 31)
//
// ### The kernel sends
//
// A kernel can store its edge into the neighbour's halo as it stores it into its own array, without a copy. The
// neighbour then has to know that it is there. A {term}`flag` says so: a word in the neighbour's memory, which the next
// kernel there polls. Two rules make it safe:
//
// - The flag has *system* scope. An atomic operation of device scope orders only what threads of one GPU see.
// - The flag carries the order. It is counted up with `memory_order_release` behind the block's barrier, so that all its threads' loads
//   and stores are ahead of it. It is loaded with `memory_order_acquire`, and a barrier behind that lets the whole block read the halo.

using SystemFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
using DeviceFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/// Waits, as a block, until *flag has come to `wanted`.
__device__ void await(unsigned* flag, unsigned wanted) {
  if (threadIdx.x == 0)
    while (SystemFlag(*flag).load(cuda::memory_order_acquire) < wanted) {
    }
  __syncthreads();
}

/// Counts *flag up by one, for a block: what its threads have read and written is ahead of it.
__device__ void tell(unsigned* flag) {
  __syncthreads();
  if (threadIdx.x == 0) SystemFlag(*flag).fetch_add(1, cuda::memory_order_release);
}

//? fastest: Which of the three takes the least time on two GPUs at 4096 x 4096?
//? choices: jacobi_copies | jacobi_overlap | jacobi_flags
//? answer: {"jacobi_copies": ms("jacobi_copies/gpus=2", 4096) < min(ms("jacobi_overlap/gpus=2", 4096),
//?   ms("jacobi_flags/gpus=2", 4096)),
//?   "jacobi_overlap": ms("jacobi_overlap/gpus=2", 4096) < min(ms("jacobi_copies/gpus=2", 4096),
//?   ms("jacobi_flags/gpus=2", 4096)),
//?   "jacobi_flags": ms("jacobi_flags/gpus=2", 4096) < min(ms("jacobi_copies/gpus=2", 4096),
//?   ms("jacobi_overlap/gpus=2", 4096))}

//? share: On four GPUs and a grid of 61 x 61 cells, how many per cent more floats does `jacobi_flags` store than on one?
//? answer: 100 * (count("jacobi_flags/gpus=4", "global_store_active_lanes") / count("jacobi_flags/gpus=1",
//?   "global_store_active_lanes") - 1)
//? unit: per cent
//? near: 20 %

// [hide] Side: what a GPU has to do with one neighbour
/// What a GPU has to do with one neighbour.
struct Side {
  float* halo;  ///< the neighbour's halo row that this GPU's edge belongs to; nullptr: no neighbour
  unsigned* theirs;  ///< the neighbour's flag, counted up by each block of the edge
  unsigned* mine;    ///< the flag that the neighbour's blocks count up
};
// [/hide]

/// A step of one GPU's rows. A block of the first or last strip waits for the neighbour's edge of the step before, writes its own edge
/// into the neighbour's halo and counts the neighbour's flag up. These strips come first, so that nobody waits long.
///
/// out, in (rows + 2, pitch_of(cols)). steps: how many steps the flags have counted so far.
///
/// Launch: blocks of BLOCK threads for 128 columns x STRIP rows.
__global__ void __launch_bounds__(BLOCK)
    jacobi_flags(float* out, const float* in, int cols, int rows, Side above, Side below,
                 unsigned steps) {
  // The order of the strips: the first, the last, those between.
  const int strips = static_cast<int>(gridDim.y), y = static_cast<int>(blockIdx.y);
  const int strip = y == 0 ? 0 : y == 1 ? strips - 1 : y - 1;
  const bool is_first = strip == 0 && above.halo, is_last = strip == strips - 1 && below.halo;
  if (is_first) await(above.mine, steps * gridDim.x);
  if (is_last) await(below.mine, steps * gridDim.x);

  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int x = (static_cast<int>(blockIdx.x) * 32 + lane) * 4;
  const int begin = strip * STRIP + warp * DOWN;
  relax_cells<DOWN>(in, cols, x, begin, min(begin + DOWN, rows), [=](int r, float4 four) {
    cells_at(out, cols, r, x) = four;
    if (r == 0 && above.halo) *reinterpret_cast<float4*>(above.halo + x) = four;
    if (r == rows - 1 && below.halo) *reinterpret_cast<float4*>(below.halo + x) = four;
  });

  if (is_first) tell(above.theirs);
  if (is_last) tell(below.theirs);
}

// Between four GPUs there are three borders, and two rows cross each: 6 rows of 61 are stored a second time, into a halo.
//= 6 rows of 61: (count("jacobi_flags/gpus=4", "global_store_active_lanes") / count("jacobi_flags/gpus=1",
//=   "global_store_active_lanes") * 61 - 61, 61)
//
// The flag is a counter, steps x blocks of the edge: a step waits until all blocks of the neighbour's edge have incremented it once for
// each step before. A
// block increments it after it has read its halo *and* stored its edge, so one flag guards both, as the event
// did. No stream waits for another one, and the host only launches.
//
// A block that waits occupies a place on an SM. Here it waits for another GPU, which has SMs of its own. A block that waited for one
// *of its own grid* that has not begun could wait for ever (chapter 07).
//
// The peer of these rungs is NCCL, NVIDIA's library for communication between GPUs, where it is installed: each GPU's stream has
// the step's kernel, then `ncclSend` and `ncclRecv` of its edges in one group.
//
// **Timed.** The flags are the fastest of the three at both sizes. They have 0.97 of twice one GPU's rate at 16384 x 16384, and 0.88 at
// 4096 x 4096. There they are 1.5 times as fast as NCCL's halos.
//= 0.97 of twice: ms("jacobi_copies/gpus=1") / 2 / ms("jacobi_flags/gpus=2")
//= 0.88 at: ms("jacobi_copies/gpus=1", 4096) / 2 / ms("jacobi_flags/gpus=2", 4096)
//= 1.5 times as fast: ratio("jacobi_flags/gpus=2", 4096)

// ### A kernel that stays (second reading)
//
// `jacobi_flags` still ends a kernel and begins another for each step. One kernel for all steps has to keep blocks from running
// ahead of others. That takes no barrier of the whole grid: a block reads its own rows and one row on each side, so it waits for the
// blocks above and below alone. Each block counts its steps in a word of global memory. This array of words has a halo, as the rows
// have: its first and last word are counted by other GPUs. All blocks have to run at once, so the launch is cooperative (chapter 07).
//
//? stays: `jacobi_flags` takes 20 us for a step of 4096 x 4096 on two GPUs. How long does the kernel that stays take?
//? answer: ms("jacobi_stays/gpus=2", 4096) * 1000 / 100
//? unit: us
//? near: 10 %

constexpr unsigned STAY = 512;  ///< threads of a block of `jacobi_stays`
constexpr int PASS = 4;         ///< rows of a thread before it goes on

/// What `jacobi_stays` knows of its GPU and of the GPUs above and below.
struct Place {
  float* mine[2];        ///< the GPU's arrays, which take turns
  float* halo_above[2];  ///< its first row's halo in the arrays of the GPU above
  float* halo_below[2];  ///< its last row's halo in the arrays of the GPU below
  unsigned* done;        ///< steps that are done: by the GPU above, by each block, by the GPU below
  unsigned *done_above, *done_below;  ///< the words of those two that this GPU counts; or nullptr
};

/// Waits until *done has come to `step`. far: whether another GPU counts it.
__device__ void await_step(unsigned* done, unsigned step, bool far) {
  if (far) {
    while (SystemFlag(*done).load(cuda::memory_order_acquire) < step) {
    }
  } else {
    while (DeviceFlag(*done).load(cuda::memory_order_acquire) < step) {
    }
  }
}

/// All steps of a GPU's rows; a block has a share of them. It waits for the blocks above and below it alone, which may be another
/// GPU's.
///
/// at: arrays (rows + 2, pitch_of(cols)). before: steps that are done already.
///
/// Launch: cooperatively, blocks of STAY threads.
__global__ void __launch_bounds__(STAY)
    jacobi_stays(const __grid_constant__ Place at, int cols, int rows, unsigned before, int steps) {
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  const int begin = share(rows, block, blocks), end = share(rows, block + 1, blocks);
  const bool is_first = block == 0, is_last = block == blocks - 1;
  const bool to_above = is_first && at.done_above, to_below = is_last && at.done_below;

  for (int s = 0; s < steps; ++s) {
    const unsigned step = before + static_cast<unsigned>(s);
    if (threadIdx.x == 0 && (!is_first || to_above)) await_step(at.done + block, step, to_above);
    if (threadIdx.x == 32 && (!is_last || to_below))
      await_step(at.done + block + 2, step, to_below);
    __syncthreads();

    const float* const in = at.mine[s % 2];
    float* const out = at.mine[(s + 1) % 2];
    float* const above = to_above ? at.halo_above[(s + 1) % 2] : nullptr;
    float* const below = to_below ? at.halo_below[(s + 1) % 2] : nullptr;
    for (int x = static_cast<int>(threadIdx.x) * 4; x < cols; x += int{STAY} * 4)
      for (int first = begin; first < end; first += PASS)
        relax_cells<PASS>(in, cols, x, first, min(first + PASS, end), [=](int r, float4 four) {
          cells_at(out, cols, r, x) = four;
          if (r == 0 && above) *reinterpret_cast<float4*>(above + x) = four;
          if (r == rows - 1 && below) *reinterpret_cast<float4*>(below + x) = four;
        });

    __syncthreads();
    if (threadIdx.x == 0) {
      if (to_above) SystemFlag(*at.done_above).store(step + 1, cuda::memory_order_release);
      if (to_below) SystemFlag(*at.done_below).store(step + 1, cuda::memory_order_release);
      DeviceFlag(at.done[block + 1]).store(step + 1, cuda::memory_order_release);
    }
  }
}

// The count guards both directions, as the flag did: a block overwrites in step s + 1 what its neighbours have read in step s, and they
// have counted that step when it begins.
//
// **Timed.** Rates on two GPUs, as parts of twice the best rate of one:
//
// | | 16384 x 16384 | 4096 x 4096 |
// |---|---|---|
// | `jacobi_copies` | 0.93 | 0.51 |
// | `jacobi_overlap` | 0.94 | 0.38 |
// | NCCL's halos | 0.95 | 0.63 |
// | `jacobi_flags` | 0.97 | 0.88 |
// | `jacobi_stays` | 0.86 | 1.09 |
//= `jacobi_copies` | 0.93 | 0.51: (min(ms("jacobi_copies/gpus=1"), ms("jacobi_flags/gpus=1")) / 2 / ms("jacobi_copies/gpus=2"),
//=   min(ms("jacobi_copies/gpus=1", 4096), ms("jacobi_flags/gpus=1", 4096)) / 2 / ms("jacobi_copies/gpus=2", 4096))
//= `jacobi_overlap` | 0.94 | 0.38: (min(ms("jacobi_copies/gpus=1"), ms("jacobi_flags/gpus=1")) / 2 / ms("jacobi_overlap/gpus=2"),
//=   min(ms("jacobi_copies/gpus=1", 4096), ms("jacobi_flags/gpus=1", 4096)) / 2 / ms("jacobi_overlap/gpus=2", 4096))
//= halos | 0.95 | 0.63: (min(ms("jacobi_copies/gpus=1"), ms("jacobi_flags/gpus=1")) / 2 / ms("jacobi_copies/gpus=2")
//=   / ratio("jacobi_copies/gpus=2"), min(ms("jacobi_copies/gpus=1", 4096), ms("jacobi_flags/gpus=1", 4096)) / 2
//=   / ms("jacobi_copies/gpus=2", 4096) / ratio("jacobi_copies/gpus=2", 4096))
//= `jacobi_flags` | 0.97 | 0.88: (min(ms("jacobi_copies/gpus=1"), ms("jacobi_flags/gpus=1")) / 2 / ms("jacobi_flags/gpus=2"),
//=   min(ms("jacobi_copies/gpus=1", 4096), ms("jacobi_flags/gpus=1", 4096)) / 2 / ms("jacobi_flags/gpus=2", 4096))
//= `jacobi_stays` | 0.86 | 1.09: (min(ms("jacobi_copies/gpus=1"), ms("jacobi_flags/gpus=1")) / 2 / ms("jacobi_stays/gpus=2"),
//=   min(ms("jacobi_copies/gpus=1", 4096), ms("jacobi_flags/gpus=1", 4096)) / 2 / ms("jacobi_stays/gpus=2", 4096))
//
// The rate of one is that of GPU 0; GPU 1 alone was 0.3 and 1.2 % slower in a trial. At 4096 x 4096 each GPU has half of the grid, 64 MiB in
// both arrays, where one GPU has 128. Whether the L2 cache gives the kernel that stays its last per cents is not measured, nor why it is
// slower than a launch for each step at the large size.
//= 64 MiB in: 2 * 4096 * 4096 // 2 * 4 / 1024 / 1024
//= has 128: 2 * 4096 * 4096 * 4 / 1024 / 1024

// ## 3. All-reduce
//
// Each GPU has an array, and each is to get the sum of all: the gradients of a network in training, or partial results of a
// product. That is an **all-reduce**, a {term}`collective operation`. Let there be N GPUs with arrays of B bytes.
//
// ```{drawing} reduce
// ```
//
// ### One GPU adds
//
// GPU 0 loads the arrays of all others, adds, and copies the sums to them. Everything passes through its link: (N - 1) B bytes
// in and as many out, while the links between the others are idle.
//
//? gathered: 1 GiB would cross the link in 2.76 ms at the 389 GB/s of a copy. How long does an all-reduce of
//?   1 GiB take on two GPUs if one GPU adds?
//? answer: ms("gathered_sums/floats=268435456")
//? unit: ms
//? near: 20 %

/// The sum of element i over all GPUs, always in the same order, so that all get the same bits.
__device__ float4 sum_at(const OnAll<float4>& in, int gpus, std::size_t i) {
  float4 parts[MOST];  // all loads come before the first addition, which waits for them
#pragma unroll
  for (int g = 0; g < MOST; ++g)
    if (g < gpus) parts[g] = in.of[g][i];
  float4 sum = parts[0];
#pragma unroll
  for (int g = 1; g < MOST; ++g) {
    if (g >= gpus) break;
    const float4 more = parts[g];
    sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
  }
  return sum;
}

/// out[i] = the sum of in[i] over all GPUs, for n4 groups of four floats.
///
/// Launch: blocks of BLOCK in one dimension, any number of them.
__global__ void gathered_sums(float4* out, OnAll<float4> in, int gpus, std::size_t n4) {
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n4; i += threads)
    out[i] = sum_at(in, gpus, i);
}

// **Timed.** 1 GiB takes 5.61 ms, 191 GB/s of B: it crosses the link twice, once in each direction, one after the other.
//= 1 GiB: 268435456 * 4 / 1024 / 1024 / 1024
//= 5.61 ms, 191 GB/s: (ms("gathered_sums/floats=268435456"), rate("gathered_sums/floats=268435456"))
//
// ### A ring
//
// Cut the array into N chunks. In each step every GPU takes one chunk from its left neighbour and adds its own; after
// N - 1 steps each GPU has one chunk of the sum. In N - 1 more steps the finished chunks go round once. In every step
// each link carries one chunk.
//
// ```{drawing} ring
// ```
//
//? ring: Where one GPU adds, its kernel stores B bytes. How many times as many sectors do four GPUs store with a ring, together?
//? answer: count("ring_sums/floats=3721", "global_store_sectors") / count("gathered_sums/floats=3721", "global_store_sectors")
//? unit: times
//? near: 15 %

/// out[i] = theirs[i], plus mine[i] if `mine` is not nullptr. theirs is memory of another GPU.
///
/// Launch: blocks of BLOCK in one dimension, any number of them.
__global__ void ring_sums(float4* out, const float4* mine, const float4* theirs, std::size_t n4) {
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n4; i += threads) {
    float4 sum = theirs[i];
    if (mine) sum.x += mine[i].x, sum.y += mine[i].y, sum.z += mine[i].z, sum.w += mine[i].w;
    out[i] = sum;
  }
}

// In each of 6 steps each of the four stores a chunk, a quarter of B: 6 B together. Each link carries 2 (N - 1) / N times B,
// less than 2 B for any number of GPUs. Without a switch that adds, no algorithm sends less (Patarasuk and Yuan, 2009). But
// there are 2 (N - 1) steps, each a launch and an event here, however short the message is.
//
// **Timed.** 1 GiB takes 3.23 ms, 1.74 times as fast as where one GPU adds. Between two GPUs B crosses in each direction, at
// the same time.
//= 3.23 ms, 1.74 times: (ms("ring_sums/floats=268435456"),
//=   ms("gathered_sums/floats=268435456") / ms("ring_sums/floats=268435456"))
//
// ### One shot
//
// If a step costs more than the bytes of a short message, fewer steps are better. So every GPU loads everything and adds for itself, in
// one step. (The names one shot and two shots are those of TensorRT-LLM's and PyTorch's kernels.) Two barriers between the
// GPUs guard it: before the sums, all arrays have to be ready; after them, no GPU may change an array that another one still
// reads. A block reads only its share of each array, so only blocks with the same number have to meet.
//
//? longer: A message of 1 MiB is 128 times as long as one of 8 KiB. How many times as long does `one_shot` take for it on two
//?   GPUs?
//? answer: ms("one_shot/floats=262144") / ms("one_shot/floats=2048")
//? unit: times
//? near: 40 %

constexpr unsigned MEETING = 264;  ///< blocks that may meet; each has a flag for each GPU

/// The blocks of this number on all GPUs wait for each other. Flags: (MEETING, MOST) on each GPU.
///
/// round: larger by one each time.
__device__ void meet(const OnAll<unsigned>& flags, int me, int gpus, unsigned round) {
  __syncthreads();  // what the block has read and written is ahead of its flags
  const int other = static_cast<int>(threadIdx.x);
  if (other < gpus) {
    SystemFlag(flags.of[other][blockIdx.x * MOST + me]).store(round, cuda::memory_order_release);
    while (SystemFlag(flags.of[me][blockIdx.x * MOST + other]).load(cuda::memory_order_acquire) <
           round) {
    }
  }
  __syncthreads();
}

/// out[i] = the sum of in[i] over all GPUs, for n4 groups of four floats; out is memory of GPU `me`.
///
/// me: the GPU that runs it. rounds: of each block, its meetings so far. waits: whether it meets the others; without it, it reads too
/// early.
///
/// Launch: on each GPU, at most MEETING blocks of BLOCK in one dimension, as many on all, and no more than run at once.
__global__ void one_shot(float4* out, OnAll<float4> in,
                         const __grid_constant__ OnAll<unsigned> flags, unsigned* rounds, int me,
                         int gpus, std::size_t n4, bool waits) {
  const unsigned round = rounds[blockIdx.x];
  if (waits) meet(flags, me, gpus, round + 1);
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n4; i += threads)
    out[i] = sum_at(in, gpus, i);
  if (waits) meet(flags, me, gpus, round + 2);
  if (threadIdx.x == 0) rounds[blockIdx.x] = round + 2;
}

// **Timed.** 8 KiB take 5.8 us, and 1 MiB takes 11.5 us: 2.0 times as long for 128 times the bytes. Messages of up to 1 MiB are summed 20
// times in a row, from a graph (chapter 19): a single one takes less time than starting all GPUs and learning that all are done.
//= 8 KiB: 2048 * 4 / 1024
//= 5.8 us: ms("one_shot/floats=2048") * 1000 / 20
//= 11.5 us: ms("one_shot/floats=262144") * 1000 / 20
//= 2.0 times as long for 128 times: (ms("one_shot/floats=262144") / ms("one_shot/floats=2048"), 262144 / 2048)
//
// ### Kernels that wait for each other
//
// A kernel of GPU 0 now waits for one of GPU 1, which the host launches after it. A launch returns at once, so it does get
// there; but not with `CUDA_LAUNCH_BLOCKING=1` or under a tool that runs launches one after the other, as compute-sanitizer: there
// these kernels wait for ever. All their blocks have to run at once, too. And CUDA loads a kernel at its first use, and loading may wait for kernels that run (CUDA's programming
// guide, *Lazy Loading*). If one of them waits for the kernel that is to be loaded, neither ever ends. So the host first asks
// for each kernel's attributes on each GPU, which loads it.
//
// `early_read` leaves the meetings out. A kernel in each GPU's stream makes its array right before, and nothing orders
// the others' sums behind it.
//
// ### Two shots (second reading)
//
// One shot brings (N - 1) B bytes to each GPU. For long messages the GPUs share the addition: GPU g adds one N-th of the
// elements and stores the sums to all. That is the ring's traffic in two steps instead of 2 (N - 1), for links that connect
// every GPU with every other, as NVSwitch does.
//
//? loads: On four GPUs, how many times as many sectors does `one_shot` load as `two_shots`, all GPUs together?
//? answer: count("one_shot/floats=3721", "global_load_sectors") / count("two_shots/floats=3721", "global_load_sectors")
//? unit: times
//? near: 20 %

/// The same, each GPU adding its share of the elements and storing it to all.
///
/// Launch: as one_shot.
__global__ void two_shots(OnAll<float4> out, OnAll<float4> in,
                          const __grid_constant__ OnAll<unsigned> flags, unsigned* rounds, int me,
                          int gpus, std::size_t n4) {
  const unsigned round = rounds[blockIdx.x];
  meet(flags, me, gpus, round + 1);
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  const std::size_t first = n4 * static_cast<unsigned>(me) / static_cast<unsigned>(gpus);
  const std::size_t end = n4 * static_cast<unsigned>(me + 1) / static_cast<unsigned>(gpus);
  for (std::size_t i = first + std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < end;
       i += threads) {
    const float4 sum = sum_at(in, gpus, i);
#pragma unroll
    for (int g = 0; g < MOST; ++g)
      if (g < gpus) out.of[g][i] = sum;
  }
  meet(flags, me, gpus, round + 2);
  if (threadIdx.x == 0) rounds[blockIdx.x] = round + 2;
}

// One shot loads (N - 1) B from others, two shots (N - 1) B / N, and they store as much again to them.
//
// ### No meeting (second reading)
//
// `one_shot` makes four trips over the link: flags, the loads' requests, their data, and flags again. NCCL's protocol *LL* makes
// one. A word of 64 bits arrives as a whole, so that a float and the number of its round in one word cannot be torn apart. Each GPU
// stores its floats to all others, and polls its own memory until each word is of this round. Two sets of words take turns: a sender
// begins its next kernel only when it has all words of the one before, so whoever sees its words of a round knows that it has read
// those of the round before. Each float crosses as 8 bytes, so it is for short
// messages.
//
//? tagged: `one_shot` takes 5.8 us for 8 KiB on two GPUs. How long does the next kernel take?
//? answer: ms("tagged_shot/floats=2048") * 1000 / 20
//? unit: us
//? near: 25 %

/// 64 bits that arrive as one: a float, and above it the number of its round.
using Word = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;

/// out[i] = the sum of element i over all GPUs, for n floats. Each GPU stores its floats into memory of all others, with the round; and
/// reads what they have stored into its own until all is of this round.
///
/// shown: for each GPU's floats n words, of even rounds and of odd ones: (2, MOST, n) on each GPU, zeros at first.
/// rounds: of each block, how often it has run.
///
/// Launch: on each GPU, blocks of BLOCK in one dimension, as many on all.
/// Source: the LL protocol of NCCL.
__global__ void __launch_bounds__(BLOCK)
    tagged_shot(float* out, const float* in, const __grid_constant__ OnAll<std::uint64_t> shown,
                unsigned* rounds, int me, int gpus, std::size_t n) {
  const std::uint64_t round = rounds[blockIdx.x] + 1;
  const auto word_of = [&](int where, int whose, std::size_t i) {
    return Word(shown.of[where][(round % 2 * MOST + static_cast<unsigned>(whose)) * n + i]);
  };
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads) {
    const std::uint64_t mine = round << 32 | __float_as_uint(in[i]);
    for (int g = 0; g < gpus; ++g)
      if (g != me) word_of(g, me, i).store(mine, cuda::memory_order_relaxed);
    float sum = 0;
    for (int g = 0; g < gpus; ++g) {
      std::uint64_t word = mine;
      while (g != me) {
        word = word_of(me, g, i).load(cuda::memory_order_relaxed);
        if (word >> 32 == round) break;
      }
      sum += __uint_as_float(static_cast<unsigned>(word));
    }
    out[i] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) rounds[blockIdx.x] = static_cast<unsigned>(round);
}

// **Timed.** 3.0 us, where `one_shot` has four trips one behind the other. Which part of the difference each has is not measured.
//= 3.0 us: ms("tagged_shot/floats=2048") * 1000 / 20
//
// ### The five ways, and NCCL
//
// | | steps | bytes into each GPU |
// |---|---|---|
// | one GPU adds | 2 | (N - 1) B into one, then B into each other |
// | ring | 2 (N - 1) | 2 (N - 1) / N B |
// | one shot | 1 | (N - 1) B |
// | two shots | 2 | 2 (N - 1) / N B |
// | tagged words | 1 | 2 (N - 1) B |
//
// The peer of these rungs is NCCL's `ncclAllReduce`, which chooses among algorithms by the length of the message. (Newer
// NVSwitches add and multicast by themselves; that is left out here, and turned off in the peer.)
//
// **Timed.** Between two GPUs ring, one shot and two shots bring B into each GPU, and they differ little: at 1 GiB 3.23, 3.22 and
// 3.18 ms. Rates as parts of NCCL's, whose messages of up to 1 MiB are summed 20 times from a graph, too. (4 MiB are one launch
// of 29 us, of which beginning and end took 12 to 24 us in a trial.)
//= 29 us: 1000 * ms("one_shot/floats=1048576", 4096)
//= took 12 to 24 us in a trial: (12, 24)
//= 3.23, 3.22 and 3.18 ms: (ms("ring_sums/floats=268435456"), ms("one_shot/floats=268435456"), ms("two_shots/floats=268435456"))
//
// | message | one GPU adds | ring | one shot | two shots | tagged |
// |---|---|---|---|---|---|
// | 1 GiB | 0.59 | 1.01 | 1.01 | 1.03 | |
// | 64 MiB | 0.70 | 1.15 | 1.17 | 1.19 | |
// | 4 MiB | 1.08 | 1.49 | 1.51 | 1.58 | |
// | 1 MiB | 0.75 | 1.19 | 1.22 | 1.21 | 1.58 |
// | 64 KiB | 0.59 | 0.92 | 1.24 | 1.25 | 2.52 |
// | 8 KiB | 0.58 | 0.88 | 1.27 | 1.17 | 2.43 |
// | 512 B | 0.47 | 0.84 | 1.22 | 1.11 | 2.61 |
//= 0.59 | 1.01 | 1.01 | 1.03: (ratio("gathered_sums/floats=268435456"), ratio("ring_sums/floats=268435456"),
//=   ratio("one_shot/floats=268435456"), ratio("two_shots/floats=268435456"))
//= 0.70 | 1.15 | 1.17 | 1.19: (ratio("gathered_sums/floats=16777216"), ratio("ring_sums/floats=16777216"),
//=   ratio("one_shot/floats=16777216"), ratio("two_shots/floats=16777216"))
//= 1.08 | 1.49 | 1.51 | 1.58: (ratio("gathered_sums/floats=1048576", 4096), ratio("ring_sums/floats=1048576", 4096),
//=   ratio("one_shot/floats=1048576", 4096), ratio("two_shots/floats=1048576", 4096))
//= 0.75 | 1.19 | 1.22 | 1.21 | 1.58: (ratio("gathered_sums/floats=262144"), ratio("ring_sums/floats=262144"),
//=   ratio("one_shot/floats=262144"), ratio("two_shots/floats=262144"), ratio("tagged_shot/floats=262144"))
//= 0.59 | 0.92 | 1.24 | 1.25 | 2.52: (ratio("gathered_sums/floats=16384", 4096), ratio("ring_sums/floats=16384", 4096),
//=   ratio("one_shot/floats=16384", 4096), ratio("two_shots/floats=16384", 4096), ratio("tagged_shot/floats=16384", 4096))
//= 0.58 | 0.88 | 1.27 | 1.17 | 2.43: (ratio("gathered_sums/floats=2048"), ratio("ring_sums/floats=2048"),
//=   ratio("one_shot/floats=2048"), ratio("two_shots/floats=2048"), ratio("tagged_shot/floats=2048"))
//= 0.47 | 0.84 | 1.22 | 1.11 | 2.61: (ratio("gathered_sums/floats=128", 4096), ratio("ring_sums/floats=128", 4096),
//=   ratio("one_shot/floats=128", 4096), ratio("two_shots/floats=128", 4096), ratio("tagged_shot/floats=128", 4096))
//
// From 1 MiB on, ring, one shot and two shots have NCCL's rate or more; below, the ring does not. At 1 MiB and below, one shot, two shots
// and the tagged words are faster than NCCL, the words most at 512 B: 2.61 times, in 2.7 us.
//= 2.61 times, in 2.7 us: (ratio("tagged_shot/floats=128", 4096), ms("tagged_shot/floats=128", 4096) * 1000 / 20)
//
// ## 4. A product
//
// C = A B. Each GPU has some rows of A and computes the same rows of C. All of them need all of B, and each holds some of its
// rows. Row block p of B is multiplied by column block p of A, and C is a sum over p. So a GPU begins with its own
// part while it copies the next one: two buffers, two streams, and events for full and empty, as in chapter 19.
//
// ```{drawing} parts
// ```

// [hide] The kernel of chapter 04, the parts of a product on each GPU, and a launch
constexpr int TILE = 64, DEEP = 16,
              EACH = 4;  ///< of C, of k, and of C for each thread and direction

/// c += a b for a part of k: a (m, k) with lda columns in memory, b (k, n), c (m, n).
///
/// Launch: blocks of BLOCK for tiles of TILE x TILE. Chapter 04's kernel.
__global__ void multiply(float* c, const float* a, const float* b, int m, int n, int k, int lda) {
  __shared__ float a_tile[DEEP][TILE];  // (DEEP, TILE), A turned
  __shared__ float b_tile[DEEP][TILE];
  const int row = static_cast<int>(blockIdx.y) * TILE, col = static_cast<int>(blockIdx.x) * TILE;
  const int ty = static_cast<int>(threadIdx.x) / 16, tx = static_cast<int>(threadIdx.x) % 16;
  float sums[EACH][EACH] = {};
  for (int k0 = 0; k0 < k; k0 += DEEP) {
    for (int i = static_cast<int>(threadIdx.x); i < TILE * DEEP; i += static_cast<int>(BLOCK)) {
      const int ar = i / DEEP, ak = i % DEEP, bk = i / TILE, bc = i % TILE;
      a_tile[ak][ar] =
          row + ar < m && k0 + ak < k ? a[static_cast<std::size_t>(row + ar) * lda + k0 + ak] : 0;
      b_tile[bk][bc] =
          k0 + bk < k && col + bc < n ? b[static_cast<std::size_t>(k0 + bk) * n + col + bc] : 0;
    }
    __syncthreads();
    for (int kk = 0; kk < DEEP; ++kk)
      for (int y = 0; y < EACH; ++y)
        for (int x = 0; x < EACH; ++x)
          sums[y][x] += a_tile[kk][ty + 16 * y] * b_tile[kk][tx + 16 * x];
    __syncthreads();
  }
  for (int y = 0; y < EACH; ++y)
    for (int x = 0; x < EACH; ++x) {
      const int r = row + ty + 16 * y, q = col + tx + 16 * x;
      if (r < m && q < n) c[static_cast<std::size_t>(r) * n + q] += sums[y][x];
    }
}

/// C = A B of n x n matrices. GPU g has rows of A and C, and the same rows of B; and two buffers for rows of the others.
struct Parts {
  const int n, gpus;
  std::deque<lab::DeviceBuffer<float>> a, b, c, buffers[2];
  std::vector<cudaEvent_t> full[2], empty[2];

  Parts(int n, int gpus) : n(n), gpus(gpus) {
    const auto cells = [n](int rows) { return static_cast<std::size_t>(rows) * n; };
    for (auto* events : {full, empty})
      for (int e : {0, 1}) events[e].resize(static_cast<std::size_t>(gpus));
    lab::on_each_device(gpus, [&](int g) {
      a.emplace_back(cells(rows(g)), "A's rows of GPU " + std::to_string(g));
      b.emplace_back(cells(rows(g)), "B's rows of GPU " + std::to_string(g));
      c.emplace_back(cells(rows(g)), "C's rows of GPU " + std::to_string(g));
      for (auto& side : buffers) side.emplace_back(cells(n / gpus + 1), "a buffer for B's rows");
      for (auto* events : {full, empty})
        for (int e : {0, 1})
          CUDA_CHECK(cudaEventCreateWithFlags(&events[e][g], cudaEventDisableTiming));
    });
  }
  ~Parts() {
    for (auto* events : {full, empty})
      for (int e : {0, 1})
        for (const cudaEvent_t event : events[e]) cudaEventDestroy(event);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  int first(int g) const { return share(n, g, gpus); }
  int rows(int g) const { return first(g + 1) - first(g); }
  /// What part p of B, which lies at `from`, brings to GPU g's rows of C.
  lab::Gemm part(int g, int p, const float* from, float beta) {
    return {.m = rows(g),
            .n = n,
            .k = rows(p),
            .a = a[g].data() + first(p),
            .lda = n,
            .b = from,
            .ldb = n,
            .beta = beta,
            .c = c[g].data(),
            .ldc = n};
  }
};

/// C = A B + beta C, in the chapter's kernel. It adds to C, which is 0 where beta is.
void multiply_in(const lab::Gemm& part, cudaStream_t stream) {
  if (part.beta == 0) {
    const std::size_t bytes = static_cast<std::size_t>(part.m) * part.n * sizeof(float);
    CUDA_CHECK(cudaMemsetAsync(part.c, 0, bytes, stream));
  }
  multiply<<<lab::tiles(part.n, part.m, TILE, TILE), BLOCK, 0, stream>>>(
      part.c, part.a, part.b, part.m, part.n, part.k, part.lda);
}
// [/hide]

/// C = A B; the streams are two of each GPU, those of products first.
///
/// hidden: whether a part is copied while the one before is multiplied; without it both go by one stream.
/// multiply: computes C = A B + beta C of one GPU, in a stream.
void product(Parts& all, lab::Streams& streams, bool hidden, const lab::SgemmLaunch& multiply) {
  const int gpus = all.gpus;
  streams.start();
  lab::on_each_device(gpus, [&](int g) {
    const cudaStream_t products = streams[g], copies = hidden ? streams[gpus + g] : products;
    multiply(all.part(g, g, all.b[g].data(), 0), products);
    for (int s = 1; s < gpus; ++s) {
      const int p = (g + s) % gpus, e = s % 2;
      float* const buffer = all.buffers[e][g].data();
      if (s > 2) CUDA_CHECK(cudaStreamWaitEvent(copies, all.empty[e][g]));
      peer_copy(buffer, g, all.b[p].data(), p, all.b[p].size(), copies);
      CUDA_CHECK(cudaEventRecord(all.full[e][g], copies));
      CUDA_CHECK(cudaStreamWaitEvent(products, all.full[e][g]));
      multiply(all.part(g, p, buffer, 1), products);
      CUDA_CHECK(cudaEventRecord(all.empty[e][g], products));
    }
  });
  streams.join();
}

// Each GPU begins with its own part and continues with the next GPU's, so that in each step every GPU sends to one
// and receives from one. No GPU stores into B, so the copies of different GPUs need no order among them. The arithmetic grows
// as n^3 and the copies as n^2.
//
//? hidden: Where cuBLAS multiplies, two GPUs take 1.54 ms for 4096 x 4096 matrices if each copies the other's half of B, 32 MiB, between
//?   its two products. How many per cent of the time are saved if the copy is hidden?
//? answer: 100 * (1 - ms("product_cublas/copies=hidden") / ms("product_cublas/copies=before"))
//? unit: per cent
//? near: 40 %
//
// `product_cublas` is the same code with cuBLAS for each part. The peer of both gathers all of B on each GPU by NCCL, and multiplies
// then. On one GPU it is cuBLAS alone.
//
// **Timed.** For 4096 x 4096 matrices the chapter's kernel takes 8.03 ms on one GPU; two take 4.23 ms, and 4.14 ms with the copy hidden, 1.94 times as fast as one.
// With cuBLAS one GPU takes 2.67 ms; two take 1.54 ms, and 1.44 ms hidden, 1.74 and 1.86 times as fast. NCCL and cuBLAS take
// 1.51 ms. The copy of 32 MiB takes 0.09 ms at the rate of a long copy. The faster the product, the larger the copy's
// share of the time.
//= 8.03 ms on one GPU; two take 4.23 ms, and 4.14 ms with the copy hidden, 1.94 times: (ms("product/gpus=1"), ms("product/copies=before"),
//=   ms("product/copies=hidden"), ms("product/gpus=1") / ms("product/copies=hidden"))
//= 2.67 ms; two take 1.54 ms, and 1.44 ms hidden, 1.74 and 1.86 times: (ms("product_cublas/gpus=1"), ms("product_cublas/copies=before"),
//=   ms("product_cublas/copies=hidden"), ms("product_cublas/gpus=1") / ms("product_cublas/copies=before"),
//=   ms("product_cublas/gpus=1") / ms("product_cublas/copies=hidden"))
//= 1.51 ms: ms("product_cublas/copies=hidden") * ratio("product_cublas/copies=hidden")
//= 32 MiB takes 0.09 ms: (4096 * 4096 // 2 * 4 / 1024 / 1024, 4096 * 4096 // 2 * 4 / rate("peer_copy/ways=1") / 1000000)
//
// ## 5. Beyond one process, beyond one host
//
// Hosts are joined by a network, InfiniBand or Ethernet. Its adapters do *RDMA*: one reads and writes the memory of another host without
// that host's CPU, and with GPUDirect RDMA a GPU's memory without a copy through the host's. A port of 400 Gbit/s carries 50 GB/s, where
// a copy over NVLink has 389 GB/s. So the *topology* decides on the algorithm: add within a host first, then between hosts, each GPU
// through the nearest adapter. `nvidia-smi topo -m` prints what is connected how. Nothing of this was run here.
//= 400 Gbit/s carries 50 GB/s: (400, 400 / 8)
//= has 389 GB/s: rate("peer_copy/ways=1")
//
// - **NCCL** has collective operations, and sends and receives between GPUs, in streams, across processes and hosts.
// - **MPI** is the interface between the processes of a supercomputer's program. A CUDA-aware MPI takes device pointers.
// - **NVSHMEM** gives the GPUs of all hosts a symmetric memory that kernels load from and store to: the stencil with flags,
//   across hosts.
//
// Begin with NCCL. Write your own kernels where measuring shows a gain, or to fuse communication with computation.

// [hide] How the rungs are registered
namespace {

constexpr std::size_t SHORT =
    1 << 18;  ///< floats of a message that is summed many times, in a graph

/// Arrays of n floats on each GPU, one to be summed and one for the sums, and the flags by which kernels meet.
struct Sums {
  const int gpus;
  const std::size_t n4;
  const int repeats;  ///< all-reduces of a launch
  const bool is_short;
  const bool
      in_graph;  ///< a launch is that of a graph; the simulator does not run its kernels side by side
  std::deque<lab::DeviceBuffer<float>> in, out;
  std::deque<lab::DeviceBuffer<unsigned>> flags, rounds, tags;
  std::deque<lab::DeviceBuffer<std::uint64_t>> shown;  ///< of tagged_shot, for short messages
  std::vector<cudaEvent_t> stepped;
  lab::Streams& streams;

  Sums(int gpus, std::size_t n, lab::Streams& streams, bool in_graph = false);
  ~Sums() {
    for (const cudaEvent_t event : stepped) cudaEventDestroy(event);
  }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  unsigned blocks() const {
    return std::min(static_cast<unsigned>(lab::ceil_div(n4, BLOCK)), MEETING);
  }
  template <class T, class U>
  static OnAll<T> on_all(std::deque<lab::DeviceBuffer<U>>& arrays) {
    OnAll<T> all{};
    for (std::size_t g = 0; g < arrays.size(); ++g)
      all.of[g] = reinterpret_cast<T*>(arrays[g].data());
    return all;
  }
  std::vector<float*> pointers(std::deque<lab::DeviceBuffer<float>>& arrays) {
    std::vector<float*> all;
    for (auto& array : arrays) all.push_back(array.data());
    return all;
  }
  lab::Rung rung();
  /// A launch of `repeats` times `work`, which launches into the streams: from a graph where they are several.
  /// work: is told whether it comes behind one that is like it
  std::function<void()> launch(const std::function<void(bool again)>& work);
  void gather();
  void go_round(bool again);
  void launch_one_shot(int g, bool waits);
  void shoot(int shots);
  void shoot_tagged();
  /// The arrays are made in each GPU's stream, and nobody waits for those of the others.
  void shoot_early();
};

/// What GPU g has at i: small whole numbers, whose sums are exact.
__host__ __device__ float given(std::size_t i, int g) {
  const unsigned x =
      static_cast<unsigned>(i) * 0x9e3779b9u + static_cast<unsigned>(g) * 0x85ebca6bu;
  return static_cast<float>(x >> 22);
}

/// in[i] = what GPU g has at i.
__global__ void give(float* in, std::size_t n, int g) {
  const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
  if (i < n) in[i] = given(i, g);
}

/// Loads a kernel on the current GPU, ahead of its first launch.
template <class Kernel>
void load_kernel(Kernel* kernel) {
  cudaFuncAttributes loaded{};
  CUDA_CHECK(cudaFuncGetAttributes(&loaded, kernel));
}

Sums::Sums(int gpus, std::size_t n, lab::Streams& streams, bool in_graph)
    : gpus(gpus),
      n4(lab::ceil_div(n, 4)),
      repeats(n > SHORT  ? 1
              : in_graph ? 20
                         : 2),
      is_short(n <= SHORT),
      in_graph(in_graph && is_short),
      stepped(static_cast<std::size_t>(gpus)),
      streams(streams) {
  lab::on_each_device(gpus, [&](int g) {
    load_kernel(one_shot), load_kernel(two_shots), load_kernel(tagged_shot);
    in.emplace_back(4 * n4, "in of GPU " + std::to_string(g));
    out.emplace_back(4 * n4, "out of GPU " + std::to_string(g));
    flags.emplace_back(MEETING * MOST, "flags of GPU " + std::to_string(g));
    flags.back().zero();
    rounds.emplace_back(MEETING, "meetings of each block");
    rounds.back().zero();
    tags.emplace_back(4 * MEETING, "rounds of each block");
    tags.back().zero();
    shown.emplace_back(is_short ? 2 * MOST * 4 * n4 : 1, "words for GPU " + std::to_string(g));
    shown.back().zero();
    give<<<lab::tiles(4 * n4, BLOCK), BLOCK>>>(in.back().data(), 4 * n4, g);
    CUDA_CHECK(cudaEventCreateWithFlags(&stepped[g], cudaEventDisableTiming));
  });
  lab::synchronize_devices(gpus);
}

lab::Rung Sums::rung() {
  const int all = gpus;
  const auto want = std::make_shared<lab::Reference<float>>(4 * n4);
  lab::fill(*want, [all] __host__ __device__(std::size_t i) {
    float sum = 0;
    for (int g = 0; g < all; ++g) sum += given(i, g);
    return sum;
  });
  lab::Rung rung{.bytes = 16.0 * repeats * static_cast<double>(n4), .devices = gpus};
  for (auto& array : out) rung.outputs.push_back(lab::expect(array, want));
  std::vector<cudaStream_t> of_gpus;
  for (int g = 0; g < gpus; ++g) of_gpus.push_back(streams[g]);
  const auto nccl = gpus > 1 ? lab::nccl_all_reduce(pointers(out), pointers(in), 4 * n4, of_gpus)
                             : lab::NcclLaunch{};
  if (nccl) {  // it connects the GPUs at its first call
    nccl();
    lab::synchronize_devices(gpus);
  }
  rung.peer = lab::vendor("NCCL", nccl, nccl ? launch([nccl](bool) { nccl(); }) : nullptr);
  return rung;
}

std::function<void()> Sums::launch(const std::function<void(bool again)>& work) {
  const auto run = [this, work](cudaStream_t stream) {
    streams.start(stream);
    for (int i = 0; i < repeats; ++i) work(i > 0);
    streams.join(stream);
  };
  if (!in_graph) return [run] { run(nullptr); };
  const lab::Streams recording(1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t all = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(recording[0], cudaStreamCaptureModeRelaxed));
  run(recording[0]);
  CUDA_CHECK(cudaStreamEndCapture(recording[0], &graph));
  CUDA_CHECK(cudaGraphInstantiate(&all, graph, 0));
  CUDA_CHECK(cudaGraphDestroy(graph));
  const std::shared_ptr<CUgraphExec_st> owner(all, cudaGraphExecDestroy);
  return [owner] { CUDA_CHECK(cudaGraphLaunch(owner.get(), nullptr)); };
}

void Sums::gather() {
  gathered_sums<<<blocks(), BLOCK, 0, streams[0]>>>(on_all<float4>(out).of[0], on_all<float4>(in),
                                                    gpus, n4);
  for (int g = 1; g < gpus; ++g) {  // cudaMemcpyPeerAsync cannot be recorded
    CUDA_CHECK(cudaMemcpyAsync(out[g].data(), out[0].data(), out[g].size_bytes(), cudaMemcpyDefault,
                               streams[0]));
  }
}

void Sums::go_round(bool again) {
  const OnAll<float4> mine = on_all<float4>(in), sums = on_all<float4>(out);
  const auto chunk = [&](int c) {
    return n4 * static_cast<unsigned>(c) / static_cast<unsigned>(gpus);
  };
  for (int step = 0; step < std::max(2 * (gpus - 1), 1); ++step) {
    const bool adds = step < gpus - 1;
    for (int g = 0; g < gpus && (step > 0 || again); ++g) {
      // What the left neighbour has made; and, of the sums before, what the right one has read.
      const int other = step > 0 ? (g + gpus - 1) % gpus : (g + 1) % gpus;
      CUDA_CHECK(cudaStreamWaitEvent(streams[g], stepped[other]));
    }
    lab::on_each_device(gpus, [&](int g) {
      const int left = (g + gpus - 1) % gpus;
      const int c = (g + 2 * gpus - 1 - step) % gpus;
      const std::size_t first = chunk(c), length = chunk(c + 1) - first;
      const float4* const theirs = (step == 0 ? mine : sums).of[left] + first;
      if (length > 0) {
        ring_sums<<<std::min(lab::tiles(length, BLOCK).x, MEETING), BLOCK, 0, streams[g]>>>(
            sums.of[g] + first, adds ? mine.of[g] + first : nullptr, theirs, length);
      }
      CUDA_CHECK(cudaEventRecord(stepped[g], streams[g]));
    });
  }
}

void Sums::launch_one_shot(int g, bool waits) {
  one_shot<<<blocks(), BLOCK, 0, streams[g]>>>(on_all<float4>(out).of[g], on_all<float4>(in),
                                               on_all<unsigned>(flags), rounds[g].data(), g, gpus,
                                               n4, waits);
}

void Sums::shoot(int shots) {
  lab::on_each_device(gpus, [&](int g) {
    if (shots == 1) return launch_one_shot(g, true);
    two_shots<<<blocks(), BLOCK, 0, streams[g]>>>(on_all<float4>(out), on_all<float4>(in),
                                                  on_all<unsigned>(flags), rounds[g].data(), g,
                                                  gpus, n4);
  });
}

void Sums::shoot_tagged() {
  const unsigned blocks = std::min(lab::tiles(4 * n4, BLOCK).x, 4 * MEETING);
  lab::on_each_device(gpus, [&](int g) {
    tagged_shot<<<blocks, BLOCK, 0, streams[g]>>>(
        out[g].data(), in[g].data(), on_all<std::uint64_t>(shown), tags[g].data(), g, gpus, 4 * n4);
  });
}

void Sums::shoot_early() {
  streams.start();
  lab::on_each_device(gpus, [&](int g) {
    give<<<lab::tiles(4 * n4, BLOCK), BLOCK, 0, streams[g]>>>(in[g].data(), 4 * n4, g);
  });
  lab::on_each_device(gpus, [&](int g) { launch_one_shot(g, false); });
  streams.join();
}

/// The stencil's grid, its flags, and what has to be in it: a wave, which a step makes smaller by a factor.
struct Jacobi : Grid {
  const int
      least;  ///< rows of a block of jacobi_stays; more on the simulator, so that it has fewer
  lab::Streams streams;
  std::deque<lab::DeviceBuffer<unsigned>> flags;  ///< from above, from below
  std::deque<lab::DeviceBuffer<unsigned>> done;   ///< of jacobi_stays
  unsigned counted = 0, stayed = 0;               ///< steps, by the flags and by `done`

  Jacobi(int n, int gpus, bool simulated)
      : Grid(n, gpus, simulated ? 10 : 100),
        least(simulated ? STRIP : PASS),
        streams(static_cast<std::size_t>(2 * gpus), gpus) {
    lab::on_each_device(gpus, [&](int g) {
      flags.emplace_back(2, "flags");
      flags.back().zero();
      done.emplace_back(blocks(g) + 2, "steps that are done");
      done.back().zero();
      load_kernel(jacobi_flags), load_kernel(jacobi_stays);
    });
  }
  /// Of jacobi_stays on GPU g: as many as fit on it, each with `least` rows or more.
  unsigned blocks(int g) const {
    int on_each = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, jacobi_stays, STAY, 0));
    const unsigned most = static_cast<unsigned>(on_each) * lab::multiprocessors();
    return std::clamp(static_cast<unsigned>(rows(g) / least), 1u, most);
  }
  void prepare();
  lab::Rung rung();
  void by_flags();
  void stay();
  lab::Peer nccl();
};

/// The wave at (row, col), both from -1 to n, after some steps.
__host__ __device__ double wave(int row, int col, int n, int steps) {
  const double up = std::numbers::pi * (n / 32 + 1) / (n + 1),
               across = std::numbers::pi * (n / 20 + 1) / (n + 1);
  return pow((cos(up) + cos(across)) / 2, steps) * sin(up * (row + 1)) * sin(across * (col + 1));
}

/// grid (rows, pitch_of(n)) = the wave from row `first` on.
///
/// Launch: one thread for each column and row.
__global__ void make_wave(float* grid, int n, int first, int rows) {
  const int col = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x),
            row = static_cast<int>(blockIdx.y);
  const int pitch = static_cast<int>(pitch_of(n));
  if (col < pitch && row < rows)
    grid[static_cast<std::size_t>(row) * pitch + col] =
        col < n ? static_cast<float>(wave(first + row, col, n, 0)) : 0;
}

void Jacobi::prepare() {
  lab::on_each_device(gpus, [&](int g) {
    const dim3 blocks(lab::tiles(pitch, BLOCK).x, static_cast<unsigned>(rows(g) + 2));
    make_wave<<<blocks, BLOCK>>>(at(0, g), n, first(g) - 1, rows(g) + 2);
    arrays[1][g].zero();
  });
  lab::synchronize_devices(gpus);
}

lab::Rung Jacobi::rung() {
  const lab::Tolerance roundings{4 * steps * lab::float_roundoff, 0,
                                 "four roundings for each step"};
  lab::Rung rung{.prepare = [this] { prepare(); },
                 .prepare_every_run = true,
                 .bytes = 8.0 * steps * n * n,
                 .devices = gpus};
  if (gpus > 1) rung.peer = nccl();
  for (int g = 0; g < gpus; ++g) {
    const int begin = first(g) - 1, side = n, done = steps;
    const auto want = [=] __host__ __device__(std::size_t i) {
      const std::size_t wide = pitch_of(side);
      const int row = static_cast<int>(i / wide), col = static_cast<int>(i % wide);
      return col < side ? wave(begin + row, col, side, done) : 0;
    };
    rung.outputs.push_back(lab::expect(arrays[0][g], want, lab::Check(roundings)));
  }
  return rung;
}

/// Steps whose halos NCCL exchanges.
lab::Peer Jacobi::nccl() {
  std::vector<int> counts;
  std::vector<cudaStream_t> of_gpus;
  std::vector<float*> grids[2];
  for (int g = 0; g < gpus; ++g) {
    counts.push_back(rows(g));
    of_gpus.push_back(streams[g]);
    for (const int side : {0, 1}) grids[side].push_back(at(side, g));
  }
  lab::NcclLaunch exchange[2];
  for (const int side : {0, 1})
    exchange[side] = lab::nccl_halos(grids[side], counts, pitch, of_gpus);
  const auto launch = [this, even = exchange[0], odd = exchange[1]] {
    streams.start();
    for (int s = 0; s < steps; ++s) {
      lab::on_each_device(gpus, [&](int g) { relax_rows(*this, s, g, 0, rows(g), streams[g]); });
      (s % 2 == 0 ? odd : even)();
    }
    streams.join();
  };
  return lab::vendor("NCCL halos", exchange[0], launch, [this] { prepare(); });
}

void Jacobi::by_flags() {
  streams.start();
  for (int s = 0; s < steps; ++s, ++counted) {
    lab::on_each_device(gpus, [&](int g) {
      const auto side = [&](int other, int which) {
        if (!has(other)) return Side{};
        return Side{row(s + 1, other, halo(other, g)), flags[other].data() + 1 - which,
                    flags[g].data() + which};
      };
      const dim3 blocks = lab::tiles(n, rows(g), 128, STRIP);
      jacobi_flags<<<blocks, BLOCK, 0, streams[g]>>>(at(s + 1, g), at(s, g), n, rows(g),
                                                     side(g - 1, 0), side(g + 1, 1), counted);
    });
  }
  streams.join();
}

void Jacobi::stay() {
  streams.start();
  lab::on_each_device(gpus, [&](int g) {
    Place at{};
    at.done = done[g].data();
    for (const int i : {0, 1}) {
      at.mine[i] = this->at(i, g);
      if (has(g - 1)) at.halo_above[i] = row(i, g - 1, halo(g - 1, g));
      if (has(g + 1)) at.halo_below[i] = row(i, g + 1, halo(g + 1, g));
    }
    if (has(g - 1)) at.done_above = done[g - 1].data() + blocks(g - 1) + 1;
    if (has(g + 1)) at.done_below = done[g + 1].data();
    int cols = n, own = rows(g), all = steps;
    void* arguments[] = {&at, &cols, &own, &stayed, &all};
    CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(jacobi_stays), blocks(g), STAY,
                                           arguments, 0, streams[g]));
  });
  stayed += static_cast<unsigned>(steps);
  streams.join();
}

/// The product's factors: small whole numbers.
__host__ __device__ float factor(int row, int col, int which) {
  return static_cast<float>((row * 7 + col * (which + 3) + row * col % 11) % 5 - 2);
}

/// part (rows, n) = the rows of factor `which` from `first` on.
///
/// Launch: one thread for each column and row.
__global__ void make_factor(float* part, int n, int first, int which) {
  const int col = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x),
            row = static_cast<int>(blockIdx.y);
  if (col < n) part[static_cast<std::size_t>(row) * n + col] = factor(first + row, col, which);
}

/// The product's parts, filled, and what has to be in C.
struct Product : Parts {
  lab::Streams streams;
  std::deque<lab::DeviceBuffer<float>> whole;  ///< B, for the peer

  Product(int n, int gpus) : Parts(n, gpus), streams(static_cast<std::size_t>(2 * gpus), gpus) {
    lab::on_each_device(gpus, [&](int g) {
      const dim3 blocks(lab::tiles(n, BLOCK).x, static_cast<unsigned>(rows(g)));
      make_factor<<<blocks, BLOCK>>>(a[g].data(), n, first(g), 0);
      make_factor<<<blocks, BLOCK>>>(b[g].data(), n, first(g), 1);
    });
    lab::synchronize_devices(gpus);
  }
  static const char* variant(int gpus, bool hidden) {
    if (gpus == 1) return "gpus=1";
    return hidden ? "copies=hidden" : "copies=before";
  }
  /// The rungs, and what each multiplies with.
  static std::vector<std::pair<std::string, lab::SgemmLaunch>> ways() {
    std::vector<std::pair<std::string, lab::SgemmLaunch>> all{{"product", multiply_in}};
    if (const auto cublas = lab::cublas_sgemm_in_streams())
      all.emplace_back("product_cublas", cublas);
    return all;
  }
  lab::Peer peer();
  lab::Rung rung() {
    lab::Rung rung{.flops = 2.0 * n * n * n, .peer = peer(), .devices = gpus};
    for (int g = 0; g < gpus; ++g) {
      const int begin = first(g), side = n;
      rung.outputs.push_back(lab::expect(c[g], [=] __host__ __device__(std::size_t i) {
        float sum = 0;
        for (int k = 0; k < side; ++k)
          sum += factor(begin + static_cast<int>(i / side), k, 0) *
                 factor(k, static_cast<int>(i % side), 1);
        return sum;
      }));
    }
    return rung;
  }
};

/// All of B to each GPU by NCCL, and then its rows of C by cuBLAS.
lab::Peer Product::peer() {
  const lab::SgemmLaunch cublas = lab::cublas_sgemm_in_streams();
  lab::NcclLaunch gather;
  std::vector<float*> wholes, own;
  std::vector<std::size_t> counts;
  std::vector<cudaStream_t> of_gpus;
  lab::on_each_device(gpus, [&](int g) {
    whole.emplace_back(static_cast<std::size_t>(n) * n, "all of B");
    wholes.push_back(whole.back().data()), own.push_back(b[g].data());
    counts.push_back(b[g].size()), of_gpus.push_back(streams[g]);
  });
  if (gpus > 1) gather = lab::nccl_all_gather(wholes, own, counts, of_gpus);
  const std::string name = gpus > 1 ? "NCCL, cuBLAS" : "cuBLAS";
  if (!cublas || (gpus > 1 && !gather)) return {.name = name, .absent = "needs " + name};
  return {.name = name, .launch = [this, cublas, gather] {
            streams.start();
            if (gather) gather();
            lab::on_each_device(gpus, [&](int g) {
              lab::Gemm rows_of_c = part(g, 0, gpus > 1 ? whole[g].data() : b[g].data(), 0);
              rows_of_c.k = n, rows_of_c.a = a[g].data();
              cublas(rows_of_c, streams[g]);
            });
            streams.join();
          }};
}

/// Arrays on the first GPU and on the last.
struct Ends {
  Sums sums;
  const int last = sums.gpus - 1;
  const std::size_t n = 4 * sums.n4;
  float *first_in = sums.in[0].data(), *first_out = sums.out[0].data();
  float *last_in = sums.in[last].data(), *last_out = sums.out[last].data();

  void expect_from(int from, int to, lab::Rung& rung) {
    const auto want = [from] __host__ __device__(std::size_t i) { return given(i, from); };
    rung.outputs.push_back(lab::expect(sums.out[static_cast<std::size_t>(to)], want));
  }
  /// The array of GPU `from` has to be on GPU `to`; if `both`, the other way round as well.
  lab::Rung arrives(int from, int to, bool both = false) {
    lab::Rung rung{.bytes = (both ? 8.0 : 4.0) * static_cast<double>(n), .devices = sums.gpus};
    expect_from(from, to, rung);
    if (both && from != to) expect_from(to, from, rung);
    return rung;
  }
  void copy(bool both) {
    sums.streams.start();
    peer_copy(last_out, last, first_in, 0, n, sums.streams[0]);
    if (both) peer_copy(first_out, 0, last_in, last, n, sums.streams[last]);
    sums.streams.join();
  }
  void load() { peer_load<<<MEETING, BLOCK>>>(first_out, last_in, n); }
  void store() { peer_store<<<MEETING, BLOCK>>>(last_out, first_in, n); }
  void load_closed() {
    lab::open_memory(0, last, false);
    load();
  }
};

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t n) {
    static const int gpus = lab::open_devices(MOST, 4);
    ladder.require(n <= 32768, "n: from 1 to 32768");
    const int parts = std::clamp(static_cast<int>(n) / 2, 1, gpus);  // of two rows or more
    ladder.skip_unless(gpus > 1, {"closed", "early_read"}, "needs two GPUs");
    ladder.skip_unless(parts > 1, {"missing_wait"}, "needs two GPUs and four rows");
    lab::Streams streams(static_cast<std::size_t>(gpus), gpus);

    if (ladder.wants({"peer_copy", "peer_load", "peer_store", "closed"})) {
      Ends ends{{gpus, std::max<std::size_t>(n * n / 4, 1), streams}};
      ladder.add("peer_copy", "ways=1", ends.arrives(0, ends.last), [&] { ends.copy(false); });
      if (gpus > 1)
        ladder.add("peer_copy", "ways=2", ends.arrives(0, ends.last, true),
                   [&] { ends.copy(true); });
      ladder.add("peer_load", "", ends.arrives(ends.last, 0), [&] { ends.load(); });
      ladder.add("peer_store", "", ends.arrives(0, ends.last), [&] { ends.store(); });
      ladder.demonstrate("closed", [&] { ends.load_closed(); });
      if (gpus > 1 && ladder.wants("closed")) lab::open_memory(0, ends.last, true);
    }

    for (const int used : parts > 1 ? std::vector{1, parts} : std::vector{1}) {
      Jacobi grid(static_cast<int>(n), used, ladder.on_simulator());
      const lab::Problem steps(ladder, grid.rung());
      const std::string name = lab::variant_name("gpus", used);
      steps.add("jacobi_copies", name, [&] { jacobi_copies(grid, grid.streams); });
      if (used == parts)
        ladder.demonstrate("missing_wait", [&] { missing_wait(grid, grid.streams); });
      steps.add("jacobi_overlap", name, [&] { jacobi_overlap(grid, grid.streams); });
      steps.add("jacobi_flags", name, [&] { grid.by_flags(); });
      steps.add("jacobi_stays", name, [&] { grid.stay(); });
    }

    std::size_t length = 0;  // of a message
    for (const std::size_t part : {1u << 17, 1u << 10, 1u << 4, 1u}) {
      const std::size_t floats = std::max<std::size_t>(n * n / part, 1);
      if (std::exchange(length, floats) == floats) continue;
      Sums sums(gpus, floats, streams, !ladder.on_simulator());
      const lab::Problem all(ladder, sums.rung());
      const std::string name = lab::variant_name("floats", floats);
      all.add("gathered_sums", name, sums.launch([&](bool) { sums.gather(); }));
      all.add("ring_sums", name, sums.launch([&](bool again) { sums.go_round(again); }));
      all.add("one_shot", name, sums.launch([&](bool) { sums.shoot(1); }));
      all.add("two_shots", name, sums.launch([&](bool) { sums.shoot(2); }));
      if (!sums.is_short) continue;
      all.add("tagged_shot", name, sums.launch([&](bool) { sums.shoot_tagged(); }));
    }
    Sums early(gpus, n, streams);
    ladder.demonstrate("early_read", [&] { early.shoot_early(); });

    for (const int used : parts > 1 ? std::vector{1, parts} : std::vector{1}) {
      Product matrices(std::min(static_cast<int>(n), 4096), used);
      const lab::Problem products(ladder, matrices.rung());
      for (const auto& [rung, multiply] : matrices.ways())
        for (const bool hidden : {false, true}) {
          if (hidden && used == 1) continue;
          products.add(rung, Product::variant(used, hidden),
                       [&] { product(matrices, matrices.streams, hidden, multiply); });
        }
    }
  });
}

// ## What to remember
//
// - Memory, streams and events belong to a GPU. Peer access lets a kernel reach another GPU's memory, and is opened separately for
//   each direction.
// - Work of different GPUs is ordered by events, or by flags of system scope, released and acquired.
// - A stencil sends its edges, a small share of its cells. What a step costs beside its cells are launches, copies and events: let the
//   kernel send, and for short steps let it stay.
// - For an all-reduce of long messages count the bytes, for short ones the trips over the link.
//
// ## Possibilities for extension
//
// 1. Capture the steps of `jacobi_overlap` as one graph across GPUs: capture begins in one stream, and events bring in the others.
//    Copy by `cudaMemcpyAsync` with `cudaMemcpyDefault`: `cudaMemcpyPeerAsync` is refused there.
// 2. Let a block of `jacobi_stays` compute its first and its last row first, and count before the others. What does it save?
// 3. Let `product` store each finished tile of C to the GPU that needs it next.
