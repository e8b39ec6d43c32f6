// # Chapter 19: Transfers
//
// Question: The kernel takes 5 ms, and its data 10 ms to come and go. How much of the way can be hidden?
// Builds on: 07_reductions
// Minutes: 45
// Afterwards: move data between host and device at the rate of the link, and hide the way behind the work
// Kind: map
// Size gpu: 67108864
// Size simulator: 20011
// Run: ./learn run 19
//   ./learn run 19 --rung one_copy       to the device, from pageable and from pinned memory
//   ./learn run 19 --rung back           to the host
//   ./learn run 19 --rung registering    pinning memory that exists already, and what that costs
//   ./learn run 19 --rung in_pieces      the same bytes in fewer and fewer, larger and larger copies
//   ./learn run 19 --rung both_ways      in and out at once
//   ./learn run 19 --rung zero_copy      a kernel reads the host's memory itself, all of it or a part
//   ./learn run 19 --rung managed        pages that come when they are touched, or before
//   ./learn run 19 --rung generated      made on the device instead of sent
//   ./learn run 19 --rung staged         in, work, out: in one piece, in several, and with three mistakes
//   ./learn run 19 --rung too_early      the host reads what has not arrived [raises host-access]
//   ./learn run 19 --rung summed         a sum of more data than the device has room for, here
//   ./learn run 19 --rung missing_event  the same without the event that guards a buffer [raises stream-race]
//   ./learn run 19 --rung allocation     memory by cudaMalloc and in the order of a stream
//   ./learn run 19 --rung chain          a thousand small kernels: launches, a graph, one kernel that stays
//   ./learn run 19 --rung new_graph      a graph for other arguments: made anew, or updated

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "lab/lab.h"

// Every chapter so far began with its data on the device. It has to get there. The link between host and device is
// slower than the device's memory by a factor of 75, and than its arithmetic by far more. This chapter measures the
// ways across, and hides them behind the work. Times are those of an H200 and its host for 2^26 floats, 256 MiB; a rate
// counts each byte once.
//= 75: limit("copy") / 1000 * 1000 / (rate("one_copy/memory=pinned"))
//
// The simulator knows no time, but it knows order: which copy, which kernel and which read of the host may run at once.
// The mistakes of this chapter are mistakes of order, and it tells them all.

constexpr unsigned BLOCK = 256;  ///< threads of a block

// ## 1. One copy
//
// `cudaMemcpy` takes any pointer. What lies behind it decides how. Memory from `malloc` or `new` is *pageable*: the
// operating system may move its pages, or write them to disk. A copy engine needs addresses that stay, so the driver
// copies piece by piece into a buffer of its own, and from there to the device. {term}`Pinned memory <pinned memory>`,
// from `cudaMallocHost` or `cudaHostAlloc`, stays where it is, and the copy engine reads it at once.
//
// ```{drawing} ways
// ```
//
//? pinned: How many times as fast is the copy from pinned memory?
//? answer: ms("one_copy/memory=pageable") / ms("one_copy/memory=pinned")
//? unit: times
//? near: factor 2
//
// **Timed.** 55 GB/s from pinned memory, 20 from pageable; back to the host it is 55 and 15. The link is a PCIe 5.0 slot of
// 16 lanes, 63 GB/s each way before headers.
//= 55 GB/s from pinned memory, 20: (rate("one_copy/memory=pinned"), rate("one_copy/memory=pageable"))
//= 55 and 15: (rate("back/memory=pinned"), rate("back/memory=pageable"))
//= 63 GB/s: 16 * 32 * 128 / 130 / 8
//
// Memory that exists already, of a library or from a file, can be pinned where it is: `cudaHostRegister`. That takes
// 30 ms here, each page by itself, and 10 ms to undo. A single copy does not repay it.
//= 30 ms here: ms("registering/what=register")
//= 10 ms to undo: ms("registering/what=both") - ms("registering/what=register")
//
// Pinned memory is taken from all programs of the machine. Pin buffers that are used again and again, not everything.
//
// ### A large copy or many small ones
//
//? small: 16 MiB go to the device in 4096 copies of 4 KiB. How many times as long as one copy of 16 MiB does that take?
//? answer: ms("in_pieces/pieces=4096") / ms("in_pieces/pieces=1")
//? unit: times
//? near: factor 2

/// Starts to copy n floats to the device, in so many copies.
void in_pieces(float* d_to, const float* from, std::size_t n, std::size_t pieces) {
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t first = n * p / pieces, end = n * (p + 1) / pieces;
    CUDA_CHECK(cudaMemcpyAsync(d_to + first, from + first, (end - first) * sizeof(float),
                               cudaMemcpyHostToDevice));
  }
}

// Each copy is a command of its own, 2 us from one to the next: 4 KiB at a time come at 2 GB/s, 256 KiB at 50 GB/s. Gather
// what is small on the host, and send it at once.
//= 2 us: 1000 * ms("in_pieces/pieces=4096") / 4096
//= come at 2 GB/s: rate("in_pieces/pieces=4096")
//= 256 KiB at 50 GB/s: (16 * 1024 / 64, rate("in_pieces/pieces=64"))
//
// ### Both ways at once
//
// The link has two directions, and the device a copy engine for each. A copy in one stream and a copy in another, the
// other way, share nothing but the host's memory.

/// Copies n floats to the device in one stream and n others to the host in another, or both in the first.
void both_ways(float* d_to, const float* from, float* to, const float* d_from, std::size_t n,
               lab::Streams& streams, std::size_t used) {
  streams.start();
  CUDA_CHECK(
      cudaMemcpyAsync(d_to, from, n * sizeof(float), cudaMemcpyHostToDevice, streams[0 % used]));
  CUDA_CHECK(
      cudaMemcpyAsync(to, d_from, n * sizeof(float), cudaMemcpyDeviceToHost, streams[1 % used]));
  streams.join();
}

// In one stream they take 10 ms, in two 5.5 ms, which is 98 GB/s in all.
//= 10 ms, in two 5.5 ms, which is 98 GB/s: (ms("both_ways/streams=1"), ms("both_ways/streams=2"), rate("both_ways/streams=2"))
//
// ## 2. Without a copy
//
// ### A kernel that reads the host's memory
//
// Pinned memory has an address for kernels, too. A load from there goes across the link, and the warp waits for it as for
// any other: *zero copy*. No buffer on the device, no copy to wait for; and nothing is kept: what is read twice crosses
// twice.

/// out[i] = in[i] for the elements of every `stride`-th warp; in may be memory of the host.
///
/// Launch: one thread for each element of those warps, in one dimension.
__global__ void zero_copy(float* out, const float* in, std::size_t n, std::size_t stride) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t i = thread / 32 * 32 * stride + thread % 32;
  if (i < n) out[i] = in[i];
}

//? part: A kernel needs every 16th group of 32 floats of the array. Which is faster?
//? choices: copy all, then read | read across the link
//? answer: {"copy all, then read": ms("one_copy/memory=pinned") < ms("zero_copy/part=1 of 16"),
//?   "read across the link": ms("one_copy/memory=pinned") > ms("zero_copy/part=1 of 16")}
//
// **Timed.** All of the array takes 5 ms, 0.96 of the rate of the copy. One group of 16 takes 0.3 ms. Zero copy is for
// data of which little is read, or all of it once, and for results of a few bytes (chapter 07).
//= 5 ms, 0.96: (ms("zero_copy/part=all"), ms("one_copy/memory=pinned") / ms("zero_copy/part=all"))
//= takes 0.3 ms: ms("zero_copy/part=1 of 16")
//
// ### Pages that move by themselves
//
// Managed memory has one address for both sides, and pages move to the side that touches them (chapter 01). A kernel that
// touches a page which is not there takes a fault, the driver moves the page, and the warp goes on.
// `cudaMemPrefetchAsync` moves pages before they are touched.
//
//? prefetch: 64 MiB of managed memory were written by the host. How many times as fast does a kernel have them if they
//?   are prefetched, the prefetch included?
//? answer: ms("managed/pages=faults") / ms("managed/pages=prefetched")
//? unit: times
//? near: factor 2

/// Moves n managed floats to the device before a kernel touches them.
void prefetch(const float* managed, std::size_t n) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  CUDA_CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), device, 0));
#else
  CUDA_CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), 0));
#endif
}

// **Timed.** By faults the pages come at 10 GB/s, prefetched at 50, 0.90 of the rate of a pinned copy.
//= come at 10 GB/s, prefetched at 50, 0.90: (rate("managed/pages=faults"), rate("managed/pages=prefetched"),
//=   rate("managed/pages=prefetched") / rate("one_copy/memory=pinned"))
//
// ### Not sent at all
//
// The fastest transfer is none. Random inputs, grids of coordinates, tables: what the device can compute need not
// cross the link.

/// The element i of a stream of random numbers in [0, 1): a hash of i.
__host__ __device__ inline float random_at(unsigned i) {
  unsigned x = i * 0x9e3779b9u + 1;
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
  return static_cast<float>(x >> 8) / 16777216.0f;
}

/// out[i] = random number i.
///
/// Launch: one thread per element, in one dimension.
__global__ void generated(float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = random_at(static_cast<unsigned>(i));
}

// 0.1 ms for what takes 5 ms to send.
//= 0.1 ms for what takes 5 ms: (ms("generated"), ms("one_copy/memory=pinned"))
//
// ## 3. In, work, out
//
// What cannot be avoided can be hidden. Here is some work, a recurrence on each element:

constexpr int STEPS = 2048;  ///< of the recurrence
constexpr float FACTOR = 0.9995f, ADDED = 1e-4f;

/// out[i] = in[i] after STEPS times x = FACTOR x + ADDED.
///
/// Launch: one thread per element, in one dimension.
__global__ void work(float* out, const float* in, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
#pragma unroll 16
  for (int step = 0; step < STEPS; ++step) x = x * FACTOR + ADDED;
  out[i] = x;
}

// In one stream three things follow each other: the copy in, the kernel, the copy out. The three use different parts of
// the machine, and each idles while another works. So cut the array into pieces, and give the pieces to several streams
// in turn. Within a stream the order holds; between streams there is none, so one piece comes in while the one before
// is worked on and the one before that goes out.
//
// ```{drawing} timeline
// ```
//
//? staged: In one piece the three take 15 ms. How long do they take in 16 pieces, in three streams?
//? answer: ms("staged/pieces=16")
//? unit: ms
//? near: 20 %

/// From the host to the host: copies pieces in, works on them, copies them out, in `used` streams in turn.
///
/// d_in and d_out have room for all. from and to: if they are not pinned, each copy holds up the host.
void staged(float* to, const float* from, float* d_in, float* d_out, std::size_t n,
            std::size_t pieces, lab::Streams& streams, std::size_t used) {
  streams.start();
  for (std::size_t p = 0; p < pieces; ++p) {
    const cudaStream_t stream = streams[p % used];
    const std::size_t first = n * p / pieces, count = n * (p + 1) / pieces - first;
    if (count == 0) continue;
    CUDA_CHECK(cudaMemcpyAsync(d_in + first, from + first, count * sizeof(float),
                               cudaMemcpyHostToDevice, stream));
    work<<<lab::tiles(count, BLOCK), BLOCK, 0, stream>>>(d_out + first, d_in + first, count);
    CUDA_CHECK(cudaMemcpyAsync(to + first, d_out + first, count * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
  }
  streams.join();
}

// | pieces | 1 | 2 | 4 | 16 | 64 |
// |---|--:|--:|--:|--:|--:|
// | ms | 15.0 | 10.0 | 8.0 | 6.0 | 6.0 |
//= | ms | 15.0 | 10.0 | 8.0 | 6.0 | 6.0 |: (ms("staged/pieces=1"), ms("staged/pieces=2"), ms("staged/pieces=4"),
//=   ms("staged/pieces=16"), ms("staged/pieces=64"))
//
// The bound is the longest of the three, and in and out together take 5.5 ms (`both_ways`); the peer of this rung is
// just that. 16 pieces reach 0.95 of it. What is left is the first piece, which nothing hides, and the last.
//= take 5.5 ms: ms("both_ways/streams=2")
//= reach 0.95: ratio("staged/pieces=16")
//
// ### What undoes it
//
// - *Pageable memory.* The copy has to pass the driver's buffer, and the host waits for it: 20 ms, in 16 pieces.
//= 20 ms: ms("staged/mistake=pageable")
// - *One stream.* 15 ms in 16 pieces: without a second stream, nothing may overlap.
//= 15 ms: ms("staged/mistake=one stream")
// - *The default stream.* It waits for all others, and they for it. Streams that are to be independent of it are made
//   with `cudaStreamNonBlocking`, as those of `lab::Streams` are.
// - *Reading too early.* An asynchronous copy returns before it is done. The host has to wait: for the stream, or for an
//   event in it. Without that it reads what was there before, sometimes; on a machine that is idle, it works in every
//   test.

/// Reads a result before anyone has waited for it.
float too_early(float* to, const float* d_from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(to, d_from, n * sizeof(float), cudaMemcpyDeviceToHost, 0));
  return to[n - 1];
}

// ## 4. More data than room
//
// A sum needs each element once. The data may be larger than the device's memory, if it comes in pieces that are
// dropped afterwards: two buffers suffice, one that is filled while the other is summed.
//
// Now two streams share buffers, and order between them has to be made. An **event** marks a place in a stream:
// `cudaEventRecord(event, a)` sets it behind what stream `a` was given so far, and `cudaStreamWaitEvent(b, event)` lets
// stream `b` wait there. Neither holds up the host. Each buffer needs two: *full*, which the sum waits for, and *empty*,
// which the next copy into it waits for. (Chapter 12 has the same ring within a block.)

/// Adds up the elements of a piece; *sum grows by them.
///
/// Launch: blocks of BLOCK, any number of them.
__global__ void add_piece(double* sum, const float* in, std::size_t n) {
  double mine = 0;
  const std::size_t threads = std::size_t{gridDim.x} * BLOCK;
  for (std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x; i < n; i += threads)
    mine += static_cast<double>(in[i]);
  for (int d = 16; d > 0; d /= 2) mine += __shfl_xor_sync(0xffffffff, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/// Two buffers on the device, each with an event for being full and one for being empty.
struct Ring {
  static constexpr std::size_t BUFFERS = 2;
  const std::size_t room;  ///< floats in a buffer
  lab::DeviceBuffer<float> buffers{BUFFERS * room, "buffers"};
  cudaEvent_t full[BUFFERS], empty[BUFFERS];

  explicit Ring(std::size_t room) : room(room) {
    for (std::size_t b = 0; b < BUFFERS; ++b) {
      CUDA_CHECK(cudaEventCreateWithFlags(&full[b], cudaEventDisableTiming));
      CUDA_CHECK(cudaEventCreateWithFlags(&empty[b], cudaEventDisableTiming));
    }
  }
  ~Ring() {
    for (std::size_t b = 0; b < BUFFERS; ++b) cudaEventDestroy(full[b]), cudaEventDestroy(empty[b]);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
};

/// *d_sum = the sum of n floats of the host, of which the device holds two pieces at a time.
///
/// waits: whether a copy waits until its buffer is empty; without it, the result is wrong.
void summed(double* d_sum, const float* from, std::size_t n, Ring& ring, lab::Streams& streams,
            bool waits = true) {
  CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof(double)));
  streams.start();
  const cudaStream_t copies = streams[0], sums = streams[1];
  for (std::size_t first = 0, piece = 0; first < n; first += ring.room, ++piece) {
    const std::size_t b = piece % Ring::BUFFERS, count = std::min(ring.room, n - first);
    float* const buffer = ring.buffers.data() + b * ring.room;
    if (piece >= Ring::BUFFERS && waits) CUDA_CHECK(cudaStreamWaitEvent(copies, ring.empty[b]));
    CUDA_CHECK(cudaMemcpyAsync(buffer, from + first, count * sizeof(float), cudaMemcpyHostToDevice,
                               copies));
    CUDA_CHECK(cudaEventRecord(ring.full[b], copies));
    CUDA_CHECK(cudaStreamWaitEvent(sums, ring.full[b]));
    add_piece<<<std::min(lab::tiles(count, BLOCK).x, 1056u), BLOCK, 0, sums>>>(d_sum, buffer,
                                                                               count);
    CUDA_CHECK(cudaEventRecord(ring.empty[b], sums));
  }
  streams.join();
}

// **Timed.** 5 ms, 0.98 of the rate of a pinned copy: the sum costs nothing, and the array could be of any size.
// `missing_event` leaves out the wait for *empty*. On this machine it may even be right, since a sum is over long before
// the next copy but one begins. The simulator does not run a race to find it: no event orders the two, and it says so.
//= 5 ms, 0.98: (ms("summed"), ms("one_copy/memory=pinned") / ms("summed"))
//
// ### Memory in the order of a stream
//
// `cudaMalloc` and `cudaFree` are calls of the whole device, and `cudaFree` waits for it. `cudaMallocAsync` takes memory
// from a pool, in the order of a stream: what is freed in a stream can be handed out again in the same stream, without
// anybody waiting.

/// A buffer for one kernel: allocated, filled, looked at, freed.
///
/// pool: in the order of the default stream, from its pool.
void allocation(float* d_last, std::size_t n, bool pool) {
  float* buffer = nullptr;
  const std::size_t bytes = n * sizeof(float);
  CUDA_CHECK(pool ? cudaMallocAsync(&buffer, bytes, 0) : cudaMalloc(&buffer, bytes));
  generated<<<lab::tiles(n, BLOCK), BLOCK>>>(buffer, n);
  CUDA_CHECK(cudaMemcpyAsync(d_last, buffer + n - 1, sizeof(float), cudaMemcpyDeviceToDevice, 0));
  CUDA_CHECK(pool ? cudaFreeAsync(buffer, 0) : cudaFree(buffer));
}

// By the host's clock, 64 MiB for one kernel: 500 us with `cudaMalloc`, 50 us from the pool. (By default a pool gives its
// memory back at each synchronization; here it keeps it, by `cudaMemPoolAttrReleaseThreshold`.)
//= 500 us with `cudaMalloc`, 50 us: (1000 * ms("allocation/by=cudaMalloc"), 1000 * ms("allocation/by=pool"))
//
// ## 5. A thousand small kernels
//
// A launch is a transfer as well: a command goes to the device. A simulation of many steps on little data is a chain of
// launches, each of which needs what the one before has left.

/// x[i] += 1.
///
/// Launch: one thread per element, in one dimension.
__global__ void step(float* x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

constexpr unsigned CHAIN = 1000;    ///< steps
constexpr unsigned CHAINED = 4096;  ///< floats

/// The steps, a launch each.
void launched(float* x, cudaStream_t stream, unsigned n = CHAINED) {
  for (unsigned s = 0; s < CHAIN; ++s) step<<<lab::tiles(n, BLOCK), BLOCK, 0, stream>>>(x, n);
}

/// All steps in one kernel, with a barrier for the grid between two of them.
///
/// Launch: cooperative, one thread per element, in one dimension.
__global__ void stays(float* x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned s = 0; s < CHAIN; ++s) {
    if (i < n) x[i] += 1;
    cooperative_groups::this_grid().sync();
  }
}

// A **graph** is a list of work with its order, given to the driver once and launched as one. The simplest way to make
// one is to record: `cudaStreamBeginCapture`, then the launches as they are, which do not run, then
// `cudaStreamEndCapture`. `cudaGraphInstantiate` prepares it.

/// A graph of `launched`, ready to run.
class Recorded {
 public:
  explicit Recorded(float* x) {
    cudaGraph_t graph = record(x);
    CUDA_CHECK(cudaGraphInstantiate(&exec_, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }
  ~Recorded() { cudaGraphExecDestroy(exec_); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  void launch() { CUDA_CHECK(cudaGraphLaunch(exec_, 0)); }
  /// The same steps on another array: the shape of the graph stays, its arguments change.
  void update(float* x) {
    cudaGraph_t graph = record(x);
    cudaGraphExecUpdateResultInfo result;
    CUDA_CHECK(cudaGraphExecUpdate(exec_, graph, &result));
    CUDA_CHECK(cudaGraphDestroy(graph));
  }

 private:
  static cudaGraph_t record(float* x) {
    const lab::Streams streams(1);
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    launched(x, streams[0]);
    CUDA_CHECK(cudaStreamEndCapture(streams[0], &graph));
    return graph;
  }
  cudaGraphExec_t exec_ = nullptr;
};

//? graph: How many microseconds does a step of the chain take in a graph?
//? answer: ms("chain/how=graph")
//? unit: us
//? near: 40 %
//
// | how | us a step |
// |---|--:|
// | a launch for each | 2.0 |
// | a graph | 1.5 |
// | one kernel that stays | 1.3 |
//= | a launch for each | 2.0 |: ms("chain/how=launches")
//= | a graph | 1.5 |: ms("chain/how=graph")
//= stays | 1.3 |: ms("chain/how=stays")
//
// The kernel that stays pays for a barrier of the grid, not for a launch. It needs all its blocks on the device at once
// (chapter 07). Between the two lies {term}`programmatic dependent launch`, with which a kernel starts while the one
// before still ends; `small_sums` of chapter 07 has it.
//
// To make the graph takes 3 ms. If only arguments change, as here the array, `cudaGraphExecUpdate` takes 1 ms less: both
// record the launches anew, and an update then compares the two instead of preparing one.
//= takes 3 ms: ms("new_graph/how=instantiate")
//= takes 1 ms less: ms("new_graph/how=instantiate") - ms("new_graph/how=update")

// [hide] How the rungs are registered
namespace {

/// What all rungs work on.
struct Data {
  const std::size_t n;
  lab::Map<float> map;
  std::vector<float> pageable;
  lab::PinnedBuffer<float> pinned, to;
  std::vector<float> pageable_to;
  lab::MappedBuffer<float> mapped;
  lab::Streams streams{3};

  Data(lab::Ladder& ladder, std::size_t n)
      : n(n),
        map(ladder, n),
        pageable(map.d_in.host()),
        pinned(pageable, "pinned"),
        to(n, "to"),
        pageable_to(n),
        mapped(n, "mapped") {
    std::ranges::copy(pageable, mapped.data());
  }
  float* out() { return map.d_out.data(); }
  lab::Expectation copied() { return lab::expect(map.d_out, map.d_in); }
  double bytes() const { return 4.0 * static_cast<double>(n); }
};

void to_device(float* d_to, const float* from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(d_to, from, n * sizeof(float), cudaMemcpyHostToDevice));
}
void to_host(float* to, const float* d_from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(to, d_from, n * sizeof(float), cudaMemcpyDeviceToHost));
}

/// Pins memory that exists, copies its first floats from there, and unpins it if `both`.
struct Registering {
  Data& data;
  const bool both;
  lab::DeviceBuffer<float> first{std::min<std::size_t>(data.n, 1024), "first"};
  bool pinned = false;

  void unpin() {
    if (pinned) CUDA_CHECK(cudaHostUnregister(data.pageable.data()));
    pinned = false;
  }
  void prepare() { unpin(); }
  void launch() {
    CUDA_CHECK(
        cudaHostRegister(data.pageable.data(), data.n * sizeof(float), cudaHostRegisterDefault));
    pinned = true;
    to_device(first.data(), data.pageable.data(), first.size());
    CUDA_CHECK(cudaDeviceSynchronize());
    if (both) unpin();
  }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(first, std::vector<float>(data.pageable.begin(),
                                                  data.pageable.begin() +
                                                      static_cast<std::ptrdiff_t>(first.size())))};
  }
};

/// A kernel that reads managed memory which the host has written.
struct Pages {
  Data& data;
  const bool prefetched;
  const std::size_t n = std::max<std::size_t>(data.n / 4, 1);
  float* managed = nullptr;
  lab::DeviceBuffer<float> out{n, "out of managed"};

  Pages(Data& data, bool prefetched) : data(data), prefetched(prefetched) {
    CUDA_CHECK(cudaMallocManaged(&managed, n * sizeof(float)));
  }
  ~Pages() { cudaFree(managed); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void prepare() {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::copy_n(data.pageable.data(), n, managed);
  }
  void launch() {
    if (prefetched) prefetch(managed, n);
    zero_copy<<<lab::tiles(n, BLOCK), BLOCK>>>(out.data(), managed, n, 1);
  }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(
        out, std::vector<float>(data.pageable.begin(),
                                data.pageable.begin() + static_cast<std::ptrdiff_t>(n)))};
  }
};

void add_copies(lab::Ladder& ladder, Data& data) {
  const lab::Problem in(ladder, {.outputs = {data.copied()}, .bytes = data.bytes()});
  in.add("one_copy", "memory=pageable",
         [&] { to_device(data.out(), data.pageable.data(), data.n); });
  in.add("one_copy", "memory=pinned", [&] { to_device(data.out(), data.pinned.data(), data.n); });
  const auto back = [&](std::vector<float>& want, std::span<float> to, const char* variant) {
    ladder.add("back", variant, {.outputs = {lab::expect(to, want)}, .bytes = data.bytes()},
               [&, to] { to_host(to.data(), data.map.d_in.data(), data.n); });
  };
  back(data.pageable, data.pageable_to, "memory=pageable");
  back(data.pageable, data.to.span(), "memory=pinned");
  for (const bool both : {false, true}) {
    Registering one{data, both};
    ladder.add("registering", both ? "what=both" : "what=register", one,
               {.prepare_every_run = true, .clock = lab::Clock::host});
    one.unpin();
  }

  const std::size_t few = std::min<std::size_t>(data.n, 1 << 22);
  lab::DeviceBuffer<float> some(few, "some");
  const lab::Problem pieces(
      ladder,
      {.outputs = {lab::expect(
           some, std::vector<float>(data.pageable.begin(),
                                    data.pageable.begin() + static_cast<std::ptrdiff_t>(few)))},
       .bytes = 4.0 * static_cast<double>(few)});
  pieces.sweep("in_pieces", "pieces", {std::size_t{1}, std::size_t{64}, std::size_t{4096}},
               [&](std::size_t count) { in_pieces(some.data(), data.pinned.data(), few, count); });
  const lab::Problem both(ladder,
                          {.outputs = {data.copied(), lab::expect(data.to.span(), data.pageable)},
                           .bytes = 2 * data.bytes()});
  both.sweep("both_ways", "streams", {1, 2}, [&](int used) {
    both_ways(data.out(), data.pinned.data(), data.to.data(), data.map.d_in.data(), data.n,
              data.streams, static_cast<std::size_t>(used));
  });
}

void add_without_copies(lab::Ladder& ladder, Data& data) {
  ladder.add("zero_copy", "part=all", {.outputs = {data.copied()}, .bytes = data.bytes()}, [&] {
    zero_copy<<<lab::tiles(data.n, BLOCK), BLOCK>>>(data.out(), data.mapped.device_data(), data.n,
                                                    1);
  });
  // What is not copied stays as it was made: 0.
  const auto in = data.map.in;
  const auto some = [in] __host__ __device__(std::size_t i) {
    return i / 32 % 16 == 0 ? in[i] : 0.0f;
  };
  ladder.add("zero_copy", "part=1 of 16",
             {.outputs = {lab::expect(data.map.d_out, some)},
              .prepare = [&] { data.map.d_out.zero(); },
              .bytes = data.bytes() / 16},
             [&] {
               const std::size_t threads = lab::ceil_div(data.n, std::size_t{512}) * 32;
               zero_copy<<<lab::tiles(threads, BLOCK), BLOCK>>>(
                   data.out(), data.mapped.device_data(), data.n, 16);
             });
  for (const bool prefetched : {false, true}) {
    if (!ladder.wants("managed")) continue;
    Pages pages(data, prefetched);
    ladder.add("managed", prefetched ? "pages=prefetched" : "pages=faults", pages,
               {.prepare_every_run = true, .bytes = 4.0 * static_cast<double>(pages.n)});
  }
  ladder.add("generated", "",
             {.outputs = {lab::expect(data.map.d_out,
                                      [] __host__ __device__(std::size_t i) {
                                        return random_at(static_cast<unsigned>(i));
                                      })},
              .bytes = data.bytes()},
             [&] { generated<<<lab::tiles(data.n, BLOCK), BLOCK>>>(data.out(), data.n); });
}

void add_staged(lab::Ladder& ladder, Data& data) {
  const double power = std::pow(static_cast<double>(FACTOR), STEPS);
  const double sum = static_cast<double>(ADDED) * (1 - power) / (1 - static_cast<double>(FACTOR));
  std::vector<double> want(data.n);
  for (std::size_t i = 0; i < data.n; ++i) want[i] = data.pageable[i] * power + sum;
  lab::DeviceBuffer<float> d_in(data.n, "d_in");
  const lab::Check check(  // a step rounds a number below 1 once
      lab::Tolerance{STEPS * lab::float_roundoff, 0, "a rounding for each step"});
  const lab::Peer peer{.name = "both copies",
                       .launch =
                           [&] {
                             both_ways(d_in.data(), data.pinned.data(), data.to.data(),
                                       data.map.d_in.data(), data.n, data.streams, 2);
                           },
                       .outputs = {lab::expect(data.to.span(), data.pageable)}};
  const auto add = [&](const std::string& variant, std::span<float> to, const float* from,
                       std::size_t pieces, std::size_t used) {
    ladder.add("staged", variant,
               {.outputs = {lab::expect(to, want, check), lab::on_the_way(data.map.d_out),
                            lab::on_the_way(d_in)},
                .bytes = 2 * data.bytes(),
                .peer = peer},
               [&, to, from, pieces, used] {
                 staged(to.data(), from, d_in.data(), data.out(), data.n, pieces, data.streams,
                        used);
               });
  };
  for (const std::size_t pieces : {1, 2, 4, 16, 64})
    add(lab::variant_name("pieces", pieces), data.to.span(), data.pinned.data(), pieces, 3);
  add("mistake=pageable", data.pageable_to, data.pageable.data(), 16, 3);
  add("mistake=one stream", data.to.span(), data.pinned.data(), 16, 1);
  ladder.demonstrate("too_early",
                     [&] { data.to[0] = too_early(data.to.data(), data.map.d_in.data(), data.n); });
}

void add_sums(lab::Ladder& ladder, Data& data) {
  double sum = 0;
  for (const float x : data.pageable) sum += static_cast<double>(x);
  lab::DeviceBuffer<double> d_sum(1, "sum");
  Ring ring(std::max<std::size_t>(data.n / 32, 256));
  const lab::Tolerance tolerance{1e-12 * static_cast<double>(data.n), 1e-12, "doubles"};
  ladder.add("summed", "",
             {.outputs = {lab::expect(d_sum, std::vector{sum}, lab::Check(tolerance)),
                          lab::on_the_way(ring.buffers)},
              .bytes = data.bytes()},
             [&] { summed(d_sum.data(), data.pinned.data(), data.n, ring, data.streams); });
  ladder.demonstrate("missing_event", [&] {
    summed(d_sum.data(), data.pinned.data(), data.n, ring, data.streams, false);
  });
}

void add_small(lab::Ladder& ladder, Data& data) {
  lab::DeviceBuffer<float> last(1, "last");
  const std::size_t some = std::min<std::size_t>(data.n, 1 << 24);
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = ~0ull;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  const lab::Problem allocations(
      ladder,
      {.outputs = {lab::expect(last, std::vector{random_at(static_cast<unsigned>(some - 1))})},
       .clock = lab::Clock::host});
  allocations.add("allocation", "by=cudaMalloc", [&] { allocation(last.data(), some, false); });
  allocations.add("allocation", "by=pool", [&] { allocation(last.data(), some, true); });

  lab::DeviceBuffer<float> x(CHAINED, "x"), other(CHAINED, "other");
  const lab::Rung steps{.outputs = {lab::expect(x, std::vector<float>(CHAINED, CHAIN))},
                        .prepare = [&] { x.zero(); },
                        .prepare_every_run = true};
  const lab::Problem chain(ladder, steps);
  chain.add("chain", "how=launches", [&] { launched(x.data(), 0); });
  Recorded graph(x.data());
  chain.add("chain", "how=graph", [&] { graph.launch(); });
  chain.add("chain", "how=stays", [&] {
    float* d_x = x.data();
    unsigned n = CHAINED;
    void* arguments[] = {&d_x, &n};
    CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(stays), CHAINED / BLOCK, BLOCK,
                                           arguments));
  });
  lab::Rung anew = steps;
  anew.clock = lab::Clock::host;
  const lab::Problem graphs(ladder, anew);
  graphs.add("new_graph", "how=instantiate", [&] { Recorded(x.data()).launch(); });
  Recorded updated(other.data());
  graphs.add("new_graph", "how=update", [&] { updated.update(x.data()), updated.launch(); });
}

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t n) {
    ladder.require(n < std::size_t{1} << 31, "n: fewer than 2^31");
    ladder.skip_unless(n > 768, {"missing_event"}, "needs three pieces of 256 floats");
    Data data(ladder, n);
    add_copies(ladder, data);
    add_without_copies(ladder, data);
    add_staged(ladder, data);
    add_sums(ladder, data);
    add_small(ladder, data);
  });
}

// ## What to remember
//
// - Pinned memory for what crosses the link again and again; pageable memory passes a buffer of the driver's.
// - Few large copies, not many small ones. Both directions at once.
// - In pieces and several streams, a transfer hides the work or the work the transfer. The bound is the longest of the
//   three: in, work, out.
// - Streams have no order between them but what events make. A buffer that is used again needs two.
// - An asynchronous copy is done when its stream or event says so, not when the call returns.
// - Zero copy for what is read once, or only in part. Managed memory with a prefetch, if at all.
// - Record a chain of small launches as a graph.
//
// ## Possibilities for extension
//
// 1. Draw the timeline of `staged` from events: record one before and after each copy and kernel.
// 2. Let `staged` keep only three pieces on the device, as `summed` keeps two.
// 3. Give the last kernel of a chain a higher priority (`cudaStreamCreateWithPriority`) while another stream keeps the
//    device busy. When does it run?
// 4. Read a file in pieces with `mmap` and `cudaHostRegister`. Which of the two is the bottleneck?
