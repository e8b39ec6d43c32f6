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
//   ./learn run 20 --rung gathered_sums   all-reduce: one GPU adds, and all others get its sums
//   ./learn run 20 --rung ring_sums       all-reduce: chunks go round a ring
//   ./learn run 20 --rung one_shot        all-reduce: every GPU adds everything
//   ./learn run 20 --rung two_shots       all-reduce: each GPU adds its share, and hands it to all
//   ./learn run 20 --rung early_read      one shot that does not wait for the others [raises stream-race]
//   ./learn run 20 --rung product         a matrix product whose right factor is spread over all GPUs

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cuda/atomic>
#include <deque>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

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
// either. It needs no peer access; where the two GPUs cannot reach each other, the driver copies through the host.
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

// **Timed.** 256 MiB take 0.69 ms, a rate of 389 GB/s. Both ways at once take 1.02 times as long and have 766 GB/s together:
// the two directions of the link do not share a rate.
//= 256 MiB: 16384 * 16384 // 4 * 4 / 1024 / 1024
//= 0.69 ms, a rate of 389 GB/s: (ms("peer_copy/ways=1"), rate("peer_copy/ways=1"))
//= 1.02 times as long and have 766 GB/s: (ms("peer_copy/ways=2") / ms("peer_copy/ways=1"), rate("peer_copy/ways=2"))
//
// ### Kernels
//
// With {term}`peer access`, a kernel follows a pointer into the other GPU's memory as into its own. It is
// opened once, in one direction: `cudaDeviceEnablePeerAccess(1, 0)`, called while GPU 0 is the current one, lets kernels
// of GPU 0 reach the memory of GPU 1. `lab::open_devices` opens all to all.

/// out[i] = in[i]; in is memory of another GPU.
///
/// Launch: blocks of BLOCK in one dimension, any number of them.
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
// **Timed.** The load takes 1.43 times as long as the store, 248 GB/s against 353. Which of the two differences costs that is
// not measured. Both are slower than the copy. For 16 MiB the store is as fast as it: 300 GB/s, and 299 of the copy.
//= 1.43 times as long as the store, 248 GB/s against 353: (ms("peer_load") / ms("peer_store"), rate("peer_load"),
//=   rate("peer_store"))
//= 16 MiB: 4096 * 4096 // 4 * 4 / 1024 / 1024
//= 300 GB/s, and 299 of the copy: (rate("peer_store", 4096), rate("peer_copy/ways=1", 4096))
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

constexpr unsigned STRIP = 8;  ///< rows that a block of relax goes down
constexpr int STEPS = 10;      ///< of a rung; even, so that the result is where the start was

/// One column of a block's rows, `begin` to `end` - 1: each cell becomes the mean of its four neighbours, which `put(row,
/// value)` stores.
///
/// in (rows + 2, cols): the rows of a GPU with a halo row before and behind; row r is row r + 1 of the array. Left and right
/// of the grid there is 0.
template <class Put>
__device__ void relax_column(const float* in, int cols, int col, int begin, int end, Put put) {
  const std::size_t pitch = static_cast<std::size_t>(cols);
  const float* row = in + static_cast<std::size_t>(begin) * pitch + col;  // the row above
  float above = row[0], here = row[pitch];
  for (int r = begin; r < end; ++r, row += pitch) {
    const float below = row[2 * pitch];
    const float left = col > 0 ? row[pitch - 1] : 0, right = col < cols - 1 ? row[pitch + 1] : 0;
    put(r, 0.25f * (above + below + left + right));
    above = here, here = below;
  }
}

/// Rows `first` to `last` - 1 of a step. out, in (rows + 2, cols).
///
/// Launch: blocks of BLOCK columns x STRIP rows, from row `first`.
__global__ void relax(float* out, const float* in, int cols, int first, int last) {
  const int col = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
  const int begin = first + static_cast<int>(blockIdx.y * STRIP);
  if (col >= cols) return;
  relax_column(
      in, cols, col, begin, min(begin + static_cast<int>(STRIP), last), [=](int r, float value) {
        out[static_cast<std::size_t>(r + 1) * static_cast<std::size_t>(cols) + col] = value;
      });
}

// [hide] The rows of a grid on several GPUs, and a launch of relax
/// An n x n grid, split by rows: two arrays on each GPU, which take turns, and what its neighbours wait for.
struct Grid {
  const int n, gpus;
  std::deque<lab::DeviceBuffer<float>> arrays[2];
  std::vector<cudaEvent_t> sent, inner;  ///< of each GPU: its edges are sent; its interior is done

  Grid(int n, int gpus) : n(n), gpus(gpus), sent(gpus), inner(gpus) {
    lab::on_each_device(gpus, [&](int g) {
      for (auto& side : arrays) {
        side.emplace_back(static_cast<std::size_t>(rows(g) + 2) * static_cast<std::size_t>(n),
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

  int first(int g) const { return static_cast<int>(static_cast<long long>(n) * g / gpus); }
  int rows(int g) const { return first(g + 1) - first(g); }
  bool has(int g) const { return g >= 0 && g < gpus; }
  /// Of step s: what GPU g reads, and with s + 1 what it writes.
  float* at(int s, int g) { return arrays[s % 2][static_cast<std::size_t>(g)].data(); }
  /// Row r of GPU g, -1 and rows(g) being its halos.
  float* row(int s, int g, int r) {
    return at(s, g) + static_cast<std::size_t>(r + 1) * static_cast<std::size_t>(n);
  }
  /// Halo rows and back: GPU g's edge on the side of `other`, and the halo there that it belongs to.
  int edge(int g, int other) const { return other < g ? 0 : rows(g) - 1; }
  int halo(int g, int other) const { return other < g ? -1 : rows(g); }
};

/// Launches relax on rows `first` to `last` - 1 of GPU g, the current one.
void relax_rows(Grid& grid, int s, int g, int first, int last, cudaStream_t stream) {
  if (first >= last) return;
  relax<<<lab::tiles(grid.n, last - first, BLOCK, STRIP), BLOCK, 0, stream>>>(
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
              grid.row(s + 1, g, grid.edge(g, other)), g, static_cast<std::size_t>(grid.n), stream);
  }
  CUDA_CHECK(cudaEventRecord(grid.sent[g], stream));
}

/// The stream of GPU g waits until its neighbours have sent their edges of the step before.
void await_edges(Grid& grid, int g, cudaStream_t stream) {
  for (const int other : {g - 1, g + 1})
    if (grid.has(other)) CUDA_CHECK(cudaStreamWaitEvent(stream, grid.sent[other]));
}

/// STEPS steps; the streams are one of each GPU.
///
/// waits: whether a step waits for the neighbours' edges; without it the result is wrong.
void jacobi_copies(Grid& grid, lab::Streams& streams, bool waits = true) {
  streams.start();
  for (int s = 0; s < STEPS; ++s) {
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
//? small: Ten steps of 16384 x 16384 cells take 6.32 ms on one GPU and 3.37 ms on two, which are 1.88 times as fast. How many
//?   times as fast are two GPUs at 4096 x 4096?
//? answer: ms("jacobi_copies/gpus=1", 4096) / ms("jacobi_copies/gpus=2", 4096)
//? unit: times
//? near: 20 %
//
// **Timed.** Ten steps take 6.32 ms on one GPU and 3.37 ms on two, 1.88 times as fast. A step takes 21 us more than half of
// one GPU's. At 4096 x 4096 it takes 18 us more, and half of one GPU's step is 22 us: two GPUs are 1.09 times as fast as one.
//= 6.32 ms on one GPU and 3.37 ms on two, 1.88 times: (ms("jacobi_copies/gpus=1"), ms("jacobi_copies/gpus=2"),
//=   ms("jacobi_copies/gpus=1") / ms("jacobi_copies/gpus=2"))
//= 21 us more: (ms("jacobi_copies/gpus=2") - ms("jacobi_copies/gpus=1") / 2) * 1000 / 10
//= 18 us more: (ms("jacobi_copies/gpus=2", 4096) - ms("jacobi_copies/gpus=1", 4096) / 2) * 1000 / 10
//= step is 22 us: ms("jacobi_copies/gpus=1", 4096) / 2 * 1000 / 10
//= 1.09 times: ms("jacobi_copies/gpus=1", 4096) / ms("jacobi_copies/gpus=2", 4096)
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

/// STEPS steps; the streams are two of each GPU, those for edges first.
void jacobi_overlap(Grid& grid, lab::Streams& streams) {
  const int gpus = grid.gpus;
  streams.start();
  for (int s = 0; s < STEPS; ++s) {
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
// **Timed.** Overlap saves 1 % of the time at 16384 x 16384 and 7 % at 4096 x 4096. Two GPUs have 0.95 of twice one
// GPU's rate at the large size and 0.59 at the small one. A step still takes 17 us and 16 us more than half of one GPU's, so
// overlap removes little of a step's cost. What the rest is, is not measured.
//= 1 % of the time: 100 * (1 - ms("jacobi_overlap/gpus=2") / ms("jacobi_copies/gpus=2"))
//= 7 %: 100 * (1 - ms("jacobi_overlap/gpus=2", 4096) / ms("jacobi_copies/gpus=2", 4096))
//= 0.95 of twice: ms("jacobi_copies/gpus=1") / 2 / ms("jacobi_overlap/gpus=2")
//= 0.59: ms("jacobi_copies/gpus=1", 4096) / 2 / ms("jacobi_overlap/gpus=2", 4096)
//= 17 us and 16 us: ((ms("jacobi_overlap/gpus=2") - ms("jacobi_copies/gpus=1") / 2) * 1000 / 10,
//=   (ms("jacobi_overlap/gpus=2", 4096) - ms("jacobi_copies/gpus=1", 4096) / 2) * 1000 / 10)
//
// ### The kernel sends
//
// A kernel can store its edge into the neighbour's halo as it stores it into its own array, without a copy. The
// neighbour then has to know that it is there. A {term}`flag` says so: a word in the neighbour's memory, which the next
// kernel there polls. Two rules make it safe:
//
// - The flag has *system* scope. An atomic operation of device scope orders only what threads of one GPU see.
// - The edge is *released* before the flag and *acquired* after it: stored with `memory_order_release`, loaded with
//   `memory_order_acquire`.

using SystemFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

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
/// out, in (rows + 2, cols). steps: how many steps the flags have counted so far.
///
/// Launch: blocks of BLOCK columns x STRIP rows.
__global__ void jacobi_flags(float* out, const float* in, int cols, int rows, Side above,
                             Side below, unsigned steps) {
  // The order of the strips: the first, the last, those between.
  const int strips = static_cast<int>(gridDim.y), y = static_cast<int>(blockIdx.y);
  const int strip = y == 0 ? 0 : y == 1 ? strips - 1 : y - 1;
  const int begin = strip * static_cast<int>(STRIP);
  const int end = min(begin + static_cast<int>(STRIP), rows);
  const bool is_first = begin == 0 && above.halo, is_last = end == rows && below.halo;
  if (is_first) await(above.mine, steps * gridDim.x);
  if (is_last) await(below.mine, steps * gridDim.x);

  const int col = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
  if (col < cols) {
    relax_column(in, cols, col, begin, end, [=](int r, float value) {
      out[static_cast<std::size_t>(r + 1) * static_cast<std::size_t>(cols) + col] = value;
      if (r == 0 && above.halo) above.halo[col] = value;
      if (r == rows - 1 && below.halo) below.halo[col] = value;
    });
  }

  if (is_first) tell(above.theirs);
  if (is_last) tell(below.theirs);
}

// Between four GPUs there are three borders, and two rows cross each: 6 rows of 61 are stored a second time, into a halo.
//= 6 rows of 61: (count("jacobi_flags/gpus=4", "global_store_active_lanes") / count("jacobi_flags/gpus=1",
//=   "global_store_active_lanes") * 61 - 61, 61)
//
// The flag is a counter: a step waits until all blocks of the neighbour's edge have incremented it once for each step before. A
// block increments it after it has read its halo *and* stored its edge, so one flag guards both, as the event
// did. No stream waits for another one, and the host only launches.
//
// A block that waits occupies an SM. Here it waits for another GPU, which has SMs of its own. A block that waited for one
// *of its own grid* that has not begun could wait for ever (chapter 07).
//
// The peer of all three is NCCL, NVIDIA's library for communication between GPUs, where it is installed: each GPU's stream has
// the step's kernel, then `ncclSend` and `ncclRecv` of its edges in one group.
//
// **Timed.** At 4096 x 4096 the flags are the fastest. Their 0.307 ms are 1.23 times as fast as overlap and 1.15 times as fast as
// NCCL, but only 0.72 of twice one GPU's rate. At 16384 x 16384 they are the slowest, 3.81 ms, 0.87 of NCCL's rate.
//= 0.307 ms are 1.23 times: (ms("jacobi_flags/gpus=2", 4096),
//=   ms("jacobi_overlap/gpus=2", 4096) / ms("jacobi_flags/gpus=2", 4096))
//= 1.15 times: ratio("jacobi_flags/gpus=2", 4096)
//= 0.72 of twice: ms("jacobi_copies/gpus=1", 4096) / 2 / ms("jacobi_flags/gpus=2", 4096)
//= 3.81 ms, 0.87 of: (ms("jacobi_flags/gpus=2"), ratio("jacobi_flags/gpus=2"))
//
// The kernel is slow there, not the exchange. On one GPU, where it waits for nothing, it takes 1.19 times as long as `relax`,
// and two GPUs have 0.98 of twice *its* rate. Why the kernel is slower is not measured. NCCL's halos are the fastest at the
// large size, although nothing overlaps there: the copies have 0.98 of their rate, overlap 0.99.
//= 1.19 times as long: ms("jacobi_flags/gpus=1") / ms("jacobi_copies/gpus=1")
//= 0.98 of twice: ms("jacobi_flags/gpus=1") / 2 / ms("jacobi_flags/gpus=2")
//= 0.98 of their rate, overlap 0.99: (ratio("jacobi_copies/gpus=2"), ratio("jacobi_overlap/gpus=2"))

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
// **Timed.** 1 GiB takes 3.24 ms, 1.73 times as fast as where one GPU adds. Between two GPUs B crosses in each direction, at
// the same time.
//= 3.24 ms, 1.73 times: (ms("ring_sums/floats=268435456"),
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
/// me: the GPU that runs it. round: of the first meeting. waits: whether it meets the others; without it, it reads too early.
///
/// Launch: on each GPU, at most MEETING blocks of BLOCK in one dimension, as many on all.
__global__ void one_shot(float4* out, OnAll<float4> in,
                         const __grid_constant__ OnAll<unsigned> flags, int me, int gpus,
                         std::size_t n4, unsigned round, bool waits) {
  if (waits) meet(flags, me, gpus, round);
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n4; i += threads)
    out[i] = sum_at(in, gpus, i);
  if (waits) meet(flags, me, gpus, round + 1);
}

// **Timed.** 8 KiB take 14 us, and 1 MiB takes 25 us: 1.7 times as long for 128 times the bytes.
//= 8 KiB: 2048 * 4 / 1024
//= 14 us: ms("one_shot/floats=2048") * 1000
//= 25 us: ms("one_shot/floats=262144") * 1000
//= 1.7 times as long for 128 times: (ms("one_shot/floats=262144") / ms("one_shot/floats=2048"), 262144 / 2048)
//
// ### Kernels that wait for each other
//
// A kernel of GPU 0 now waits for one of GPU 1, which the host launches after it. A launch returns at once, so it does get
// there. But CUDA loads a kernel at its first use, and loading may wait for kernels that run (CUDA's programming
// guide, *Lazy Loading*). If one of them waits for the kernel that is to be loaded, neither ever ends. So the host first asks
// for each kernel's attributes on each GPU, which loads it.
//
// `early_read` leaves the meetings out. A kernel in each GPU's stream makes its array right before, and nothing orders
// the others' sums behind it.
//
// ### Two shots
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
                          const __grid_constant__ OnAll<unsigned> flags, int me, int gpus,
                          std::size_t n4, unsigned round) {
  meet(flags, me, gpus, round);
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
  meet(flags, me, gpus, round + 1);
}

// One shot loads (N - 1) B from others, two shots (N - 1) B / N, and they store as much again to them.
//
// ### The four ways, and NCCL
//
// | | steps | bytes into each GPU |
// |---|---|---|
// | one GPU adds | 2 | (N - 1) B into one, then B into each other |
// | ring | 2 (N - 1) | 2 (N - 1) / N B |
// | one shot | 1 | (N - 1) B |
// | two shots | 2 | 2 (N - 1) / N B |
//
// The peer of these rungs is NCCL's `ncclAllReduce`, which chooses among algorithms by the length of the message. (Newer
// NVSwitches add and multicast by themselves; that is left out here, and turned off in the peer.)
//
// **Timed.** Between two GPUs ring, one shot and two shots bring B into each GPU, and they differ little: at 1 GiB 3.24, 3.22 and
// 3.18 ms. Their rates as parts of NCCL's:
//= 3.24, 3.22 and 3.18 ms: (ms("ring_sums/floats=268435456"), ms("one_shot/floats=268435456"), ms("two_shots/floats=268435456"))
//
// | message | one GPU adds | ring | one shot | two shots |
// |---|---|---|---|---|
// | 1 GiB | 0.58 | 1.01 | 1.01 | 1.03 |
// | 64 MiB | 0.69 | 1.14 | 1.18 | 1.20 |
// | 4 MiB | 1.10 | 1.45 | 1.32 | 1.31 |
// | 1 MiB | 1.07 | 1.17 | 0.97 | 0.96 |
// | 64 KiB | 0.89 | 0.95 | 1.03 | 1.06 |
// | 8 KiB | 0.67 | 0.79 | 0.95 | 0.68 |
// | 512 B | 0.83 | 0.89 | 0.93 | 0.90 |
//= 0.58 | 1.01 | 1.01 | 1.03: (ratio("gathered_sums/floats=268435456"), ratio("ring_sums/floats=268435456"),
//=   ratio("one_shot/floats=268435456"), ratio("two_shots/floats=268435456"))
//= 0.69 | 1.14 | 1.18 | 1.20: (ratio("gathered_sums/floats=16777216"), ratio("ring_sums/floats=16777216"),
//=   ratio("one_shot/floats=16777216"), ratio("two_shots/floats=16777216"))
//= 1.10 | 1.45 | 1.32 | 1.31: (ratio("gathered_sums/floats=1048576", 4096), ratio("ring_sums/floats=1048576", 4096),
//=   ratio("one_shot/floats=1048576", 4096), ratio("two_shots/floats=1048576", 4096))
//= 1.07 | 1.17 | 0.97 | 0.96: (ratio("gathered_sums/floats=262144"), ratio("ring_sums/floats=262144"),
//=   ratio("one_shot/floats=262144"), ratio("two_shots/floats=262144"))
//= 0.89 | 0.95 | 1.03 | 1.06: (ratio("gathered_sums/floats=16384", 4096), ratio("ring_sums/floats=16384", 4096),
//=   ratio("one_shot/floats=16384", 4096), ratio("two_shots/floats=16384", 4096))
//= 0.67 | 0.79 | 0.95 | 0.68: (ratio("gathered_sums/floats=2048"), ratio("ring_sums/floats=2048"),
//=   ratio("one_shot/floats=2048"), ratio("two_shots/floats=2048"))
//= 0.83 | 0.89 | 0.93 | 0.90: (ratio("gathered_sums/floats=128", 4096), ratio("ring_sums/floats=128", 4096),
//=   ratio("one_shot/floats=128", 4096), ratio("two_shots/floats=128", 4096))
//
// From 4 MiB on, the last three are faster than NCCL, most at 4 MiB and hardly at 1 GiB. At 1 MiB only those without a meeting
// are. At 8 KiB and below NCCL is faster than all four.
//
// These times do not show that fewer steps are faster. At 1 MiB the ring with its two steps takes 20.8 us, and one shot 24.8; two shots
// take 15.1 us for 64 KiB, and 20.0 for 8 KiB. For messages of 1 MiB and less a rung's times scatter by more than that, and with more GPUs
// the ring has more steps.
//= 20.8 us, and one shot 24.8: (ms("ring_sums/floats=262144") * 1000, ms("one_shot/floats=262144") * 1000)
//= 15.1 us for 64 KiB, and 20.0 for 8 KiB: (ms("two_shots/floats=16384", 4096) * 1000, 16384 * 4 / 1024, ms("two_shots/floats=2048") * 1000,
//=   2048 * 4 / 1024)
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

  int first(int g) const { return static_cast<int>(static_cast<long long>(n) * g / gpus); }
  int rows(int g) const { return first(g + 1) - first(g); }
};

/// Adds to GPU g's rows of C what part p of B brings, which lies at `b`.
void multiply_part(Parts& all, int g, int p, const float* b, cudaStream_t stream) {
  const dim3 grid = lab::tiles(all.n, all.rows(g), TILE, TILE);
  multiply<<<grid, BLOCK, 0, stream>>>(all.c[g].data(), all.a[g].data() + all.first(p), b,
                                       all.rows(g), all.n, all.rows(p), all.n);
}
// [/hide]

/// C = A B; the streams are two of each GPU, those of products first.
///
/// hidden: whether a part is copied while the one before is multiplied; without it both go by one stream.
void product(Parts& all, lab::Streams& streams, bool hidden) {
  const int gpus = all.gpus;
  streams.start();
  lab::on_each_device(gpus, [&](int g) {
    const cudaStream_t products = streams[g], copies = hidden ? streams[gpus + g] : products;
    CUDA_CHECK(cudaMemsetAsync(all.c[g].data(), 0, all.c[g].size_bytes(), products));
    multiply_part(all, g, g, all.b[g].data(), products);
    for (int s = 1; s < gpus; ++s) {
      const int p = (g + s) % gpus, e = s % 2;
      float* const buffer = all.buffers[e][g].data();
      if (s > 2) CUDA_CHECK(cudaStreamWaitEvent(copies, all.empty[e][g]));
      peer_copy(buffer, g, all.b[p].data(), p, all.b[p].size(), copies);
      CUDA_CHECK(cudaEventRecord(all.full[e][g], copies));
      CUDA_CHECK(cudaStreamWaitEvent(products, all.full[e][g]));
      multiply_part(all, g, p, buffer, products);
      CUDA_CHECK(cudaEventRecord(all.empty[e][g], products));
    }
  });
  streams.join();
}

// Each GPU begins with its own part and continues with the next GPU's, so that in each step every GPU sends to one
// and receives from one. No GPU stores into B, so the copies of different GPUs need no order among them. The arithmetic grows
// as n^3 and the copies as n^2.
//
//? hidden: Two GPUs multiply 4096 x 4096 matrices in 4.24 ms if each copies the other's half of B, 32 MiB, between its two
//?   products. How many per cent of the time are saved if the copy is hidden?
//? answer: 100 * (1 - ms("product/copies=hidden") / ms("product/copies=before"))
//? unit: per cent
//? near: 40 %
//
// **Timed.** 4.24 ms become 4.14 ms, 0.09 ms or 2.2 % less. The copy of 32 MiB takes 0.09 ms at the rate of a long copy, so
// all of it is hidden, as far as two times tell.
//= 4.24 ms become 4.14 ms, 0.09 ms or 2.2 %: (ms("product/copies=before"), ms("product/copies=hidden"),
//=   ms("product/copies=before") - ms("product/copies=hidden"),
//=   100 * (1 - ms("product/copies=hidden") / ms("product/copies=before")))
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
// Larger programs give each GPU a thread or a process of its own. A pointer of one process means nothing in another.
//
// - **NCCL** has collective operations, and sends and receives between GPUs, in streams, across processes and hosts.
//   PyTorch and JAX communicate through it.
// - **MPI** is the interface between the processes of a supercomputer's program. A CUDA-aware MPI takes device pointers.
// - **NVSHMEM** gives the GPUs of all hosts a symmetric memory that kernels load from and store to: the stencil with flags,
//   across hosts.
//
// Begin with NCCL. Write your own kernels where measuring shows a gain, or to fuse a collective operation with the computation
// around it.

// [hide] How the rungs are registered
namespace {

/// Arrays of n floats on each GPU, one to be summed and one for the sums, and the flags by which kernels meet.
struct Sums {
  const int gpus;
  const std::size_t n4;
  std::deque<lab::DeviceBuffer<float>> in, out;
  std::deque<lab::DeviceBuffer<unsigned>> flags;
  std::vector<cudaEvent_t> stepped;
  lab::Streams& streams;
  unsigned round = 1;

  Sums(int gpus, std::size_t n, lab::Streams& streams);
  ~Sums() {
    for (const cudaEvent_t event : stepped) cudaEventDestroy(event);
  }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  unsigned blocks() const {
    return std::min(static_cast<unsigned>(lab::ceil_div(n4, BLOCK)), MEETING);
  }
  static OnAll<float4> on_all(std::deque<lab::DeviceBuffer<float>>& arrays) {
    OnAll<float4> all{};
    for (std::size_t g = 0; g < arrays.size(); ++g)
      all.of[g] = reinterpret_cast<float4*>(arrays[g].data());
    return all;
  }
  OnAll<unsigned> all_flags() {
    OnAll<unsigned> all{};
    for (std::size_t g = 0; g < flags.size(); ++g) all.of[g] = flags[g].data();
    return all;
  }
  std::vector<float*> pointers(std::deque<lab::DeviceBuffer<float>>& arrays) {
    std::vector<float*> all;
    for (auto& array : arrays) all.push_back(array.data());
    return all;
  }
  lab::Rung rung();
  void gather();
  void go_round();
  void launch_one_shot(int g, bool waits);
  void shoot(int shots);
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

Sums::Sums(int gpus, std::size_t n, lab::Streams& streams)
    : gpus(gpus),
      n4(lab::ceil_div(n, 4)),
      stepped(static_cast<std::size_t>(gpus)),
      streams(streams) {
  lab::on_each_device(gpus, [&](int g) {
    load_kernel(one_shot), load_kernel(two_shots);
    in.emplace_back(4 * n4, "in of GPU " + std::to_string(g));
    out.emplace_back(4 * n4, "out of GPU " + std::to_string(g));
    flags.emplace_back(MEETING * MOST, "flags of GPU " + std::to_string(g));
    flags.back().zero();
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
  lab::Rung rung{.bytes = 16.0 * static_cast<double>(n4), .devices = gpus};
  for (auto& array : out) rung.outputs.push_back(lab::expect(array, want));
  std::vector<cudaStream_t> of_gpus;
  for (int g = 0; g < gpus; ++g) of_gpus.push_back(streams[g]);
  const auto nccl = gpus > 1 ? lab::nccl_all_reduce(pointers(out), pointers(in), 4 * n4, of_gpus)
                             : lab::NcclLaunch{};
  rung.peer = lab::vendor("NCCL", nccl, [this, nccl] {
    streams.start();
    nccl();
    streams.join();
  });
  return rung;
}

void Sums::gather() {
  streams.start();
  gathered_sums<<<blocks(), BLOCK, 0, streams[0]>>>(on_all(out).of[0], on_all(in), gpus, n4);
  for (int g = 1; g < gpus; ++g) peer_copy(out[g].data(), g, out[0].data(), 0, 4 * n4, streams[0]);
  streams.join();
}

void Sums::go_round() {
  const OnAll<float4> mine = on_all(in), sums = on_all(out);
  const auto chunk = [&](int c) {
    return n4 * static_cast<unsigned>(c) / static_cast<unsigned>(gpus);
  };
  streams.start();
  for (int step = 0; step < std::max(2 * (gpus - 1), 1); ++step) {
    const bool adds = step < gpus - 1;
    for (int g = 0; g < gpus && step > 0; ++g)
      CUDA_CHECK(cudaStreamWaitEvent(streams[g], stepped[(g + gpus - 1) % gpus]));
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
  streams.join();
}

void Sums::launch_one_shot(int g, bool waits) {
  one_shot<<<blocks(), BLOCK, 0, streams[g]>>>(on_all(out).of[g], on_all(in), all_flags(), g, gpus,
                                               n4, round, waits);
}

void Sums::shoot(int shots) {
  streams.start();
  lab::on_each_device(gpus, [&](int g) {
    if (shots == 1) return launch_one_shot(g, true);
    two_shots<<<blocks(), BLOCK, 0, streams[g]>>>(on_all(out), on_all(in), all_flags(), g, gpus, n4,
                                                  round);
  });
  streams.join();
  round += 2;
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
  lab::Streams streams;
  std::deque<lab::DeviceBuffer<unsigned>> flags;  ///< from above, from below
  unsigned steps = 0;

  Jacobi(int n, int gpus) : Grid(n, gpus), streams(static_cast<std::size_t>(2 * gpus), gpus) {
    lab::on_each_device(gpus, [&](int) {
      flags.emplace_back(2, "flags");
      flags.back().zero();
    });
  }
  void prepare();
  lab::Rung rung();
  void by_flags();
  lab::Peer nccl();
};

/// The wave at (row, col), both from -1 to n, after some steps.
__host__ __device__ double wave(int row, int col, int n, int steps) {
  const double up = std::numbers::pi * (n / 8 + 1) / (n + 1),
               across = std::numbers::pi * (n / 5 + 1) / (n + 1);
  return pow((cos(up) + cos(across)) / 2, steps) * sin(up * (row + 1)) * sin(across * (col + 1));
}

/// grid (rows, n) = the wave from row `first` on.
///
/// Launch: one thread for each column and row.
__global__ void make_wave(float* grid, int n, int first, int rows) {
  const int col = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x),
            row = static_cast<int>(blockIdx.y);
  if (col < n && row < rows)
    grid[static_cast<std::size_t>(row) * n + col] =
        static_cast<float>(wave(first + row, col, n, 0));
}

void Jacobi::prepare() {
  lab::on_each_device(gpus, [&](int g) {
    const dim3 blocks(lab::tiles(n, BLOCK).x, static_cast<unsigned>(rows(g) + 2));
    make_wave<<<blocks, BLOCK>>>(at(0, g), n, first(g) - 1, rows(g) + 2);
    arrays[1][g].zero();
  });
  lab::synchronize_devices(gpus);
}

lab::Rung Jacobi::rung() {
  const lab::Tolerance roundings{4 * STEPS * lab::float_roundoff, 0,
                                 "four roundings for each step"};
  lab::Rung rung{.prepare = [this] { prepare(); },
                 .prepare_every_run = true,
                 .bytes = 8.0 * STEPS * n * n,
                 .devices = gpus};
  if (gpus > 1) rung.peer = nccl();
  for (int g = 0; g < gpus; ++g) {
    const int begin = first(g) - 1, side = n;
    const auto want = [=] __host__ __device__(std::size_t i) {
      const int row = static_cast<int>(i / side), col = static_cast<int>(i % side);
      return wave(begin + row, col, side, STEPS);
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
    exchange[side] = lab::nccl_halos(grids[side], counts, static_cast<std::size_t>(n), of_gpus);
  const auto launch = [this, even = exchange[0], odd = exchange[1]] {
    streams.start();
    for (int s = 0; s < STEPS; ++s) {
      lab::on_each_device(gpus, [&](int g) { relax_rows(*this, s, g, 0, rows(g), streams[g]); });
      (s % 2 == 0 ? odd : even)();
    }
    streams.join();
  };
  return lab::vendor("NCCL halos", exchange[0], launch, [this] { prepare(); });
}

void Jacobi::by_flags() {
  streams.start();
  for (int s = 0; s < STEPS; ++s, ++steps) {
    lab::on_each_device(gpus, [&](int g) {
      const auto side = [&](int other, int which) {
        if (!has(other)) return Side{};
        return Side{row(s + 1, other, halo(other, g)), flags[other].data() + 1 - which,
                    flags[g].data() + which};
      };
      const dim3 blocks = lab::tiles(n, rows(g), BLOCK, STRIP);
      jacobi_flags<<<blocks, BLOCK, 0, streams[g]>>>(at(s + 1, g), at(s, g), n, rows(g),
                                                     side(g - 1, 0), side(g + 1, 1), steps);
    });
  }
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

  Product(int n, int gpus) : Parts(n, gpus), streams(static_cast<std::size_t>(2 * gpus), gpus) {
    lab::on_each_device(gpus, [&](int g) {
      const dim3 blocks(lab::tiles(n, BLOCK).x, static_cast<unsigned>(rows(g)));
      make_factor<<<blocks, BLOCK>>>(a[g].data(), n, first(g), 0);
      make_factor<<<blocks, BLOCK>>>(b[g].data(), n, first(g), 1);
    });
    lab::synchronize_devices(gpus);
  }
  lab::Rung rung() {
    lab::Rung rung{.flops = 2.0 * n * n * n, .devices = gpus};
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
    const int parts =
        std::clamp(static_cast<int>(n) / 2, 1, gpus);  // of the grid: two rows or more
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
      Jacobi grid(static_cast<int>(n), used);
      const lab::Problem steps(ladder, grid.rung());
      const std::string name = lab::variant_name("gpus", used);
      steps.add("jacobi_copies", name, [&] { jacobi_copies(grid, grid.streams); });
      if (used == parts)
        ladder.demonstrate("missing_wait", [&] { missing_wait(grid, grid.streams); });
      steps.add("jacobi_overlap", name, [&] { jacobi_overlap(grid, grid.streams); });
      steps.add("jacobi_flags", name, [&] { grid.by_flags(); });
    }

    std::size_t length = 0;  // of a message
    for (const std::size_t part : {1u << 17, 1u << 10, 1u << 4, 1u}) {
      const std::size_t floats = std::max<std::size_t>(n * n / part, 1);
      if (std::exchange(length, floats) == floats) continue;
      Sums sums(gpus, floats, streams);
      const lab::Problem all(ladder, sums.rung());
      const std::string name = lab::variant_name("floats", floats);
      all.add("gathered_sums", name, [&] { sums.gather(); });
      all.add("ring_sums", name, [&] { sums.go_round(); });
      all.add("one_shot", name, [&] { sums.shoot(1); });
      all.add("two_shots", name, [&] { sums.shoot(2); });
    }
    Sums early(gpus, n, streams);
    ladder.demonstrate("early_read", [&] { early.shoot_early(); });

    Product matrices(std::min(static_cast<int>(n), 4096), parts);
    const lab::Problem products(ladder, matrices.rung());
    products.add("product", "copies=before", [&] { product(matrices, matrices.streams, false); });
    products.add("product", "copies=hidden", [&] { product(matrices, matrices.streams, true); });
  });
}

// ## What to remember
//
// - Memory, streams and events belong to a GPU. Peer access lets a kernel reach another GPU's memory, one direction at a time.
// - Work of different GPUs is ordered by events, or by flags of system scope, released and acquired.
// - A stencil sends its edges, a small share of its cells: compute them first, and send them while the interior is computed. Measure
//   what that saves; here it was little.
// - For an all-reduce of long messages count the bytes. For short ones measure: fewer steps were not always faster here.
// - Compute with the data that is here while the rest is being copied.
//
// ## Possibilities for extension
//
// 1. Capture the steps of `jacobi_overlap` as one graph across GPUs: capture begins in one stream, and events bring in the others.
// 2. Give each GPU a thread of the host. What does `lab::Streams` have to become?
// 3. Make `jacobi_flags` one persistent kernel for all steps. Which blocks have to wait for which?
// 4. Let `product` store each finished tile of C to the GPU that needs it next.
