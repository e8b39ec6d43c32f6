// # Chapter 19: Transfers
//
// Question: The work takes 5 ms, and its data 10 ms to come and go. How much of the way can be hidden?
// Builds on: 07_reductions
// Minutes: 25
// Afterwards: move data between host and device at the rate of the link, and hide the way behind the work
// Kind: map
// Size gpu: 67108864
// Size simulator: 10007
// Run: ./learn run 19
//   ./learn run 19 --rung one_copy       to the device, from pageable and from pinned memory
//   ./learn run 19 --rung back           to the host
//   ./learn run 19 --rung by_hand        pageable memory through two pinned buffers, which one thread fills, or eight
//   ./learn run 19 --rung registering    pinning memory that exists already, and what that costs
//   ./learn run 19 --rung in_pieces      the same bytes in more and more, smaller and smaller copies
//   ./learn run 19 --rung both_ways      in and out at once
//   ./learn run 19 --rung zero_copy      a kernel reads the host's memory itself, all of it or a part
//   ./learn run 19 --rung one_word       a result of four bytes: copied, waited for in the host's memory, polled there
//   ./learn run 19 --rung managed        pages that come when they are touched, or before, or after a hint
//   ./learn run 19 --rung generated      made on the device instead of sent
//   ./learn run 19 --rung staged         in, work, out: in one piece, in several, and with three mistakes
//   ./learn run 19 --rung wrong_stream   an event recorded in the stream that was not meant [raises stream-race]
//   ./learn run 19 --rung too_early      the host reads what has not arrived [raises host-access]
//   ./learn run 19 --rung summed         a sum of data that comes in pieces, which the device drops: more than it has room for
//   ./learn run 19 --rung missing_event  the same without the event that guards a buffer [raises stream-race]
//   ./learn run 19 --rung allocation     memory by cudaMalloc and in the order of a stream
//   ./learn run 19 --rung chain          a thousand small kernels: launches, a graph, one kernel that stays
//   ./learn run 19 --rung programmatic   the chain by programmatic dependent launches [needs sm_90a, cuda 12.9]
//   ./learn run 19 --rung new_graph      a graph for other arguments: made anew, captured or built, or updated
//   ./learn run 19 --rung priority       a short kernel beside a long one: of the same priority, of a higher one
//   ./learn run 19 --rung host_function  a stream that passes through the host: by a function there, by waits

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lab/lab.h"

// Every chapter so far began with its data on the device. It has to get there. The link between host and device is
// slower than the device's memory by a factor of 76, in bytes read and written. This chapter measures the
// ways across, and hides them behind the work. Times are those of an H200 and its host for 2^26 floats, 256 MiB; a rate
// across the link counts each byte once.
//= 76: rate("01:copy_memory/within the device") / rate("one_copy/memory=pinned")
//
// The simulator knows no time, but it knows order: what may run at once. The mistakes of this chapter are mistakes of order, and it
// names them all.

constexpr unsigned BLOCK = 256;  ///< threads of a block

// ## 1. One copy
//
// `cudaMemcpy` takes any pointer. What lies behind it decides how. Memory from `malloc` or `new` is *pageable*: the
// operating system may move its pages, or write them to disk. A *copy engine*, hardware for transfers apart from the SMs, needs
// addresses that stay, so the driver
// copies piece by piece into a buffer of its own, and from there to the device. {term}`Pinned memory <pinned memory>`,
// from `cudaMallocHost` or `cudaHostAlloc`, stays where it is, and the copy engine reads it directly.
//
// ```{drawing} ways
// ```
//
//? pinned: How many times as fast is the copy from pinned memory?
//? answer: ms("one_copy/memory=pageable") / ms("one_copy/memory=pinned")
//? unit: times
//? near: factor 2

/// Starts to copy n floats to the device.
void one_copy(float* d_to, const float* from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(d_to, from, n * sizeof(float), cudaMemcpyHostToDevice));
}

/// Starts to copy n floats to the host.
void back(float* to, const float* d_from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(to, d_from, n * sizeof(float), cudaMemcpyDeviceToHost));
}

// **Timed.** 55 GB/s from pinned memory, 8 from pageable; back to the host it is 55 and 14. The link is a PCIe 5.0 slot of
// 16 lanes, 63 GB/s each way before headers. The pageable rate is that of the host: on four others with the same GPU it was between
// 2.9 and 21 GB/s.
//= 55 GB/s from pinned memory, 8: (rate("one_copy/memory=pinned"), rate("one_copy/memory=pageable"))
//= 2.9 and 21 GB/s: (2.9, 21)
//= 55 and 14: (rate("back/memory=pinned"), rate("back/memory=pageable"))
//= 63 GB/s: 16 * 32 * 128 / 130 / 8
//
// What the driver does can be done by hand. The host fills one pinned buffer while the copy engine empties another. Before the host
// fills a buffer again, the engine has to have left it: an event behind each copy says when. A program that does not wait may
// be right as long as the engine is the faster of the two; the simulator reports it.
//
// ```{drawing} by_hand
// ```

/// Two pinned buffers of the host, each with an event: its copy is done.
struct Staging {
  static constexpr std::size_t BUFFERS = 2;
  const std::size_t room;  ///< floats in a buffer
  lab::PinnedBuffer<float> buffers{BUFFERS * room, "pinned buffers"};
  cudaEvent_t empty[BUFFERS];

  explicit Staging(std::size_t room) : room(room) {
    for (cudaEvent_t& event : empty)
      CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~Staging() {
    for (const cudaEvent_t event : empty) cudaEventDestroy(event);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
};

/// Copies n floats from the host to the host, with so many of its threads.
void copy_on_host(float* to, const float* from, std::size_t n, std::size_t threads) {
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < threads; ++t) {
    const std::size_t first = n * t / threads, end = n * (t + 1) / threads;
    others.emplace_back([=] { std::copy(from + first, from + end, to + first); });
  }
  std::copy(from, from + n / threads, to);
}

/// Copies n floats of any memory of the host to the device.
void by_hand(float* d_to, const float* from, std::size_t n, Staging& staging, std::size_t threads) {
  for (std::size_t first = 0, piece = 0; first < n; first += staging.room, ++piece) {
    const std::size_t b = piece % Staging::BUFFERS, count = std::min(staging.room, n - first);
    float* const buffer = staging.buffers.data() + b * staging.room;
    CUDA_CHECK(cudaEventSynchronize(staging.empty[b]));  // at once where none was recorded
    copy_on_host(buffer, from + first, count, threads);
    CUDA_CHECK(
        cudaMemcpyAsync(d_to + first, buffer, count * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaEventRecord(staging.empty[b]));
  }
  CUDA_CHECK(cudaDeviceSynchronize());
}

// With buffers of 16 MiB and one thread this takes 43 ms on this host, longer than the driver's 36, with eight threads 12 ms, 23 GB/s.
// So the host's own copy takes most of the time.
//= the driver's 36: ms("one_copy/memory=pageable")
//= because the host's own copy: ms("by_hand/threads=1") > 2 * ms("by_hand/threads=8")
//= takes 43 ms on: ms("by_hand/threads=1")
//= 12 ms, 23 GB/s: (ms("by_hand/threads=8"), rate("by_hand/threads=8"))
//
// Memory that exists already, of a library or from a file, can be pinned where it is: `cudaHostRegister`. The copy from there takes
// 4.88 ms, as any from pinned memory. To register took 23 ms, and together with the way back 17 ms in other runs. With one copy that
// is less than the driver's pageable copy on this host, though not than the two buffers with eight threads. On other hosts
// it took 11 and 66 ms, and the pageable copy 36 and 46 ms.
//= 4.88 ms, as any: ms("one_copy/memory=registered")
//= To register took 23 ms, and together with the way back 17 ms: (ms("registering/what=register"), ms("registering/what=both"))
//= because is less than the driver's: ms("registering/what=register") + ms("one_copy/memory=pinned") < ms("one_copy/memory=pageable")
//= because though not than: ms("registering/what=register") + ms("one_copy/memory=pinned") > ms("by_hand/threads=8")
//= it took 11 and 66 ms, and the pageable copy 36 and 46 ms: (11.07, 66, 36, 46.4)

/// Pins n floats of the host where they are.
void registering(float* memory, std::size_t n) {
  CUDA_CHECK(cudaHostRegister(memory, n * sizeof(float), cudaHostRegisterDefault));
}

// Pinned memory is taken from all programs of the machine. Pin buffers, not everything.
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

// Each copy is a command of its own, 2.5 us from one to the next: 4 KiB at a time come at 1.6 GB/s, 256 KiB at 35 GB/s. Gather
// what is small on the host, and send it at once.
//= 2.5 us: 1000 * ms("in_pieces/pieces=4096") / 4096
//= come at 1.6 GB/s: rate("in_pieces/pieces=4096")
//= 256 KiB at 35 GB/s: (16 * 1024 / 64, rate("in_pieces/pieces=64"))
//
// ### Both ways at once
//
// The link has two directions, and the device a copy engine for each: a copy in one stream and one in another, the other way, can run at
// once.

//? both: How many times as fast are the two copies in two streams as in one?
//? answer: ms("both_ways/streams=1") / ms("both_ways/streams=2")
//? unit: times
//? near: 15 %

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

// In one stream they take 10 ms, in two 6.26 ms, which is 86 GB/s in all. Alone they take 4.86 and 4.87 ms; what they share is not
// measured. On three machines of this kind, one after the other, the two at once took 5.3 to 7.3 ms.
//= 10 ms, in two 6.26 ms, which is 86 GB/s: (ms("both_ways/streams=1"), ms("both_ways/streams=2"), rate("both_ways/streams=2"))
//= took 5.3 to 7.3 ms: (5.29, 7.34)
//= take 4.86 and 4.87 ms: (ms("one_copy/memory=pinned"), ms("back/memory=pinned"))
//
// ## 2. Without a copy
//
// ### A kernel that reads the host's memory
//
// Pinned memory has an address for kernels, too. A load from there goes across the link, and the warp waits for it as for
// any other: *zero copy*. No buffer on the device, no copy to wait for; and nothing is kept in the device's memory.

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
// **Timed.** All of the array takes 5.4 ms, 0.90 of the rate of the copy. Wider loads, prefetches into the L2 and bulk copies came no
// further in a trial; why was not measured. One group of 16 takes 0.3 ms. Zero copy is for data of which little is read, or all of it
// once, and for results of a few bytes (chapter 07).
//= 5.4 ms, 0.90: (ms("zero_copy/part=all"), ms("one_copy/memory=pinned") / ms("zero_copy/part=all"))
//= 16 takes 0.3 ms: (16, ms("zero_copy/part=1 of 16"))
//
// ### A result of four bytes (second reading)
//
// A reduction leaves one number, and the host waits for it. It can be copied, or the kernel can write it where the host reads.

/// *result = the sum of 1024 numbers. The host may see it before the kernel has ended.
///
/// Launch: one warp.
__global__ void one_word(volatile float* result, const float* in) {
  float mine = 0;
  for (unsigned i = threadIdx.x; i < 1024; i += 32) mine += in[i];
  for (int d = 16; d > 0; d /= 2) mine += __shfl_xor_sync(0xffffffff, mine, d);
  if (threadIdx.x == 0) *result = mine;
  __threadfence_system();
}

/// The sum by a copy of four bytes to `word`, which the host waits for.
float copied(float* word, float* d_word, const float* d_in) {
  one_word<<<1, 32>>>(d_word, d_in);
  CUDA_CHECK(cudaMemcpyAsync(word, d_word, sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return *word;
}

/// The sum by a kernel that writes it to `word`, which the device knows as d_word.
///
/// polls: the host looks at the word until it is there, and does not wait for the kernel.
float written(volatile float* word, float* d_word, const float* d_in, bool polls) {
  *word = -1;  // no sum
  one_word<<<1, 32>>>(d_word, d_in);
  if (!polls) CUDA_CHECK(cudaStreamSynchronize(nullptr));
  while (*word == -1.0f) {
  }
  return *word;
}

// | the word is | us, with the launch |
// |---|--:|
// | copied to pageable memory | 23.3 |
// | copied to pinned memory | 22.1 |
// | written to mapped memory; the host waits for the kernel | 12.4 |
// | the same, managed | 11.9 |
// | written to mapped memory; the host polls | 9.2 |
//= | copied to pageable memory | 23.3 |: 1000 * ms("one_word/way=copied to pageable")
//= | copied to pinned memory | 22.1 |: 1000 * ms("one_word/way=copied to pinned")
//= waits for the kernel | 12.4 |: 1000 * ms("one_word/way=mapped")
//= managed | 11.9 |: 1000 * ms("one_word/way=managed")
//= polls | 9.2 |: 1000 * ms("one_word/way=mapped, polled")
//
// A host that polls has the word before the kernel has ended. What else the kernel wrote need not be there yet, unless a fence stands
// between the two; here there is nothing else, and the fence behind the word orders nothing.
//
// ### Pages that move by themselves
//
// Managed memory has one address for both sides, and pages move to the side that touches them (chapter 01). A kernel that
// touches a page which is not there takes a fault, the driver moves the page, and the warp goes on.
// `cudaMemPrefetchAsync` moves pages before they are touched.
//
//? prefetch: 256 MiB of managed memory were written by the host. How many times as fast does a kernel have them if they
//?   are prefetched, the prefetch included?
//? answer: ms("managed/pages=faults") / ms("managed/pages=prefetched")
//? unit: times
//? near: factor 2

/// Starts to move n managed floats to the device, before a kernel touches them.
void prefetch(const float* managed, std::size_t n, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  CUDA_CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), device, 0, stream));
#else
  CUDA_CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), 0, stream));
#endif
}

/// Copies n floats of managed memory to others of the device, by a kernel for each part.
///
/// parts: each in a stream of its own, so at most as many as there are, the last one first. So many of the first ones are
/// prefetched, and their kernels run behind the moves of their pages.
void managed(float* out, const float* pages, std::size_t n, std::size_t prefetched,
             std::size_t parts, lab::Streams& streams) {
  streams.start();
  for (std::size_t p = parts; p-- > 0;) {
    const std::size_t first = n * p / parts, count = n * (p + 1) / parts - first;
    if (count == 0) continue;
    if (p < prefetched) prefetch(pages + first, count, streams[p]);
    zero_copy<<<lab::tiles(count, BLOCK), BLOCK, 0, streams[p]>>>(out + first, pages + first, count,
                                                                  1);
  }
  streams.join();
}

// **Timed.** By faults the pages come at 6 GB/s, prefetched at 42, 0.77 of the rate of a pinned copy. But then the kernel waits for the
// last page. In four parts, each with its kernel in a stream of its own, it is 0.84. Fastest is not to move pages at all:
// `cudaMemAdvise` maps them for the device, and a kernel reads them across the link, at 0.93. With one part of four read so, while the
// others are prefetched, it is 0.87.
//= come at 6 GB/s, prefetched at 42, 0.77: (rate("managed/pages=faults"), rate("managed/pages=prefetched"),
//=   rate("managed/pages=prefetched") / rate("one_copy/memory=pinned"))
//= own, it is 0.84: rate("managed/pages=prefetched in 4 parts") / rate("one_copy/memory=pinned")
//= the link, at 0.93: rate("managed/hint=accessed by the device") / rate("one_copy/memory=pinned")
//= prefetched, it is 0.87: rate("managed/pages=3 of 4 parts prefetched") / rate("one_copy/memory=pinned")
//
// ### What the driver is told (second reading)
//
// `cudaMemAdvise` tells the driver how pages will be used. It moves nothing. Pages with a *preferred location* the driver
// tries to keep there. Pages that are *accessed by* the device are mapped for it wherever they are, so that it reads them
// across the link and takes no fault. Of pages that are *read mostly* each side gets a copy of its own, until one of them writes.
//
// Here the host writes all pages, and then a kernel reads them once:
//
// | hint | ms |
// |---|--:|
// | none, by faults | 45 |
// | preferred on the device | 45 |
// | read mostly | 47 |
// | read mostly, with a prefetch | 31 |
// | accessed by the device | 5.23 |
// | accessed by the device, preferred on the host | 5.23 |
// | none, with a prefetch | 6.32 |
//= | none, by faults | 45 |: ms("managed/pages=faults")
//= | preferred on the device | 45 |: ms("managed/hint=preferred on the device")
//= | read mostly | 47 |: ms("managed/hint=read mostly")
//= | read mostly, with a prefetch | 31 |: ms("managed/hint=read mostly, prefetched")
//= | accessed by the device | 5.23 |: ms("managed/hint=accessed by the device")
//= preferred on the host | 5.23 |: ms("managed/hint=preferred on the host, accessed by the device")
//= | none, with a prefetch | 6.32 |: ms("managed/pages=prefetched")
//
// What is accessed by the device stays with the host, and comes as by zero copy; what is read again comes again. Read mostly is of no
// use for pages that the host writes before each kernel.
//= because as by zero copy: 0.95 < ms("managed/hint=accessed by the device") / ms("zero_copy/part=all") < 1.05
//= because Read mostly is of no use: ms("managed/hint=read mostly, prefetched") > 2 * ms("managed/pages=prefetched")

/// Gives a hint about n managed floats. host: about the host, else about device 0.
void advise(const float* managed, std::size_t n, cudaMemoryAdvise hint, bool host) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation who{host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, 0};
  CUDA_CHECK(cudaMemAdvise(managed, n * sizeof(float), hint, who));
#else
  CUDA_CHECK(cudaMemAdvise(managed, n * sizeof(float), hint, host ? cudaCpuDeviceId : 0));
#endif
}

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

// 0.2 ms for what takes 5 ms to send.
//= 0.2 ms for what takes 5 ms: (ms("generated"), ms("one_copy/memory=pinned"))
//
// ```{drawing} crossing
// ```
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
//? staged: In one piece the three take 14.7 ms. How long do they take in 32 pieces, in three streams in turn?
//? answer: ms("staged/pieces=32")
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

// | pieces | 1 | 2 | 4 | 16 | 32 | 64 |
// |---|--:|--:|--:|--:|--:|--:|
// | ms | 14.7 | 9.8 | 7.6 | 6.2 | 6.2 | 6.4 |
//= | ms | 14.7 | 9.8 | 7.6 | 6.2 | 6.2 | 6.4 |: (ms("staged/pieces=1"), ms("staged/pieces=2"), ms("staged/pieces=4"),
//=   ms("staged/pieces=16"), ms("staged/pieces=32"), ms("staged/pieces=64"))
//
// The longest of the three, the work, takes 5.0 ms. But no order is faster than the copies in it, and both at once, timed in turn with each
// rung, took longer: 5.29 to 5.75 ms; why they vary is not known. Each rung is compared with those of its own rounds: 32 pieces have
// 0.91 of their rate. A stream takes its next piece in only when it has sent the one before out. Eight streams in turn take 5.9 ms.
//= takes 5.0 ms: ms("staged/pieces=1") - ms("one_copy/memory=pinned") - ms("back/memory=pinned")
//= 5.29 to 5.75 ms; why: (ratio("staged/by part, pieces=64") * ms("staged/by part, pieces=64"),
//=   ratio("staged/by part, pieces=16") * ms("staged/by part, pieces=16"))
//= 0.91 of their: ratio("staged/pieces=32")
//= take 5.9 ms: ms("staged/streams=8")
//
// ### A stream for each part
//
// That can be avoided. Let one stream do nothing but copies in, one the work, and one the copies out. Now the
// order of a piece has to be made, since streams have none between them. An **event** marks a place in a stream:
// `cudaEventRecord(event, a)` sets it behind what stream `a` was given so far, and `cudaStreamWaitEvent(b, event)` lets
// stream `b` wait there. Neither holds up the host. A wait is for the last record before it, so that one event can serve all.

/// The same in a stream for each part: copies in, work, copies out.
///
/// elsewhere: the event is recorded in the default stream, and what waits for it waits for nothing.
void staged_by_part(float* to, const float* from, float* d_in, float* d_out, std::size_t n,
                    std::size_t pieces, lab::Streams& streams, cudaEvent_t event,
                    bool elsewhere = false) {
  streams.start();
  const cudaStream_t in = streams[0], working = streams[1], out = streams[2];
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t first = n * p / pieces, count = n * (p + 1) / pieces - first;
    if (count == 0) continue;
    CUDA_CHECK(cudaMemcpyAsync(d_in + first, from + first, count * sizeof(float),
                               cudaMemcpyHostToDevice, in));
    CUDA_CHECK(cudaEventRecord(event, elsewhere ? nullptr : in));
    CUDA_CHECK(cudaStreamWaitEvent(working, event));
    work<<<lab::tiles(count, BLOCK), BLOCK, 0, working>>>(d_out + first, d_in + first, count);
    CUDA_CHECK(cudaEventRecord(event, working));
    CUDA_CHECK(cudaStreamWaitEvent(out, event));
    CUDA_CHECK(cudaMemcpyAsync(to + first, d_out + first, count * sizeof(float),
                               cudaMemcpyDeviceToHost, out));
  }
  streams.join();
}

// **Timed.** 64 pieces take 5.70 ms, 0.93 of both copies in the same rounds, and 0.88 of the work alone; 32 take 5.8 ms and 16 take 6.3.
//= 64 pieces take 5.70 ms, 0.93: (64, ms("staged/by part, pieces=64"), ratio("staged/by part, pieces=64"))
//= and 0.88 of: (ms("staged/pieces=1") - ms("one_copy/memory=pinned") - ms("back/memory=pinned")) /
//=   ms("staged/by part, pieces=64")
//= 32 take 5.8 ms and 16 take 6.3: (32, ms("staged/by part, pieces=32"), 16, ms("staged/by part, pieces=16"))
//
// Events with times show when each part ran; `./learn run 19 -- --timeline FILE` writes them.
//
// ```{drawing} measured
// ```
//
// ### What undoes it
//
// - *Pageable memory.* The copy has to pass the driver's buffer, and the host waits for it: 71 ms, in 16 pieces.
//= 71 ms: ms("staged/mistake=pageable")
// - *One stream.* 15 ms in 16 pieces: without a second stream, nothing may overlap.
//= 15 ms: ms("staged/mistake=one stream")
// - *The default stream.* It waits for all streams that `cudaStreamCreate` made, and they wait for it. A kernel whose stream was
//   forgotten is in it: 11 ms, in 16 pieces. Streams that are to be independent of it are made with `cudaStreamNonBlocking`, as those of
//   `lab::Streams` are.
//= 11 ms, in 16 pieces: (ms("staged/mistake=default stream"), 16)

/// Three streams of `cudaStreamCreate`, which wait for the default stream.
struct Blocking {
  cudaStream_t streams[3];
  Blocking() {
    for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  }
  ~Blocking() {
    for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
  }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;
};

/// `staged` in such streams. The kernel's stream was forgotten.
void default_stream(float* to, const float* from, float* d_in, float* d_out, std::size_t n,
                    std::size_t pieces, const Blocking& blocking) {
  for (std::size_t p = 0; p < pieces; ++p) {
    const cudaStream_t stream = blocking.streams[p % 3];
    const std::size_t first = n * p / pieces, count = n * (p + 1) / pieces - first;
    if (count == 0) continue;
    CUDA_CHECK(cudaMemcpyAsync(d_in + first, from + first, count * sizeof(float),
                               cudaMemcpyHostToDevice, stream));
    work<<<lab::tiles(count, BLOCK), BLOCK>>>(d_out + first, d_in + first, count);
    CUDA_CHECK(cudaMemcpyAsync(to + first, d_out + first, count * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
  }
}

// - *An event in another stream.* `cudaEventRecord(event)` without a stream marks a place in the default stream. What waits for
//   that event waits for nothing that `cudaStreamNonBlocking` streams were given (exercise `whose_event`). The result may still be
//   right: the simulator reports the race.

/// `staged_by_part` with its first event in the default stream.
void wrong_stream(float* to, const float* from, float* d_in, float* d_out, std::size_t n,
                  std::size_t pieces, lab::Streams& streams, cudaEvent_t event) {
  staged_by_part(to, from, d_in, d_out, n, pieces, streams, event, true);
}

// - *Reading too early.* An asynchronous copy returns before it is done. The host has to wait: for the stream, or for an
//   event in it. Without that it reads what was there before; if that is the result of an earlier run, every test
//   passes.

/// Reads a result before anyone has waited for it.
float too_early(float* to, const float* d_from, std::size_t n) {
  CUDA_CHECK(cudaMemcpyAsync(to, d_from, n * sizeof(float), cudaMemcpyDeviceToHost, 0));
  return to[n - 1];
}

// ### The order that a program has made (second reading)
//
// The simulator draws it. `./learn explain 19 --rung staged` begins like this, for 16 pieces in three
// streams in turn and in a stream for each part:
//
// ```text
//           1     2     3     4     5     6
// stream 1  HtoD  work  DtoH  HtoD  work  DtoH
// stream 2  HtoD  work  DtoH  HtoD  work  DtoH
// stream 3  HtoD  work  DtoH  HtoD  work  DtoH
// and 12 more steps
//
//           1     2     3     4     5     6
// stream 1  HtoD  HtoD  HtoD  HtoD  HtoD  HtoD
// stream 2        work  work  work  work  work
// stream 3              DtoH  DtoH  DtoH  DtoH
// and 12 more steps
// ```
//
// What shares a column may run at once. In turn, the three streams want the same engine in the same step. By part, a step has
// one copy in, one piece of work and one copy out.
//
// ## 4. More data than room
//
// A sum needs each element once. The data may be larger than the device's memory, if it comes in pieces that are
// dropped afterwards: two buffers suffice, one that is filled while the other is summed.
//
// Now two streams share buffers, and order between them has to be made, by events again. Each buffer needs two: *full*, which
// the sum waits for, and *empty*, which the next copy into it waits for. (Chapter 12 has the same ring within a block.)
//
// ```{drawing} buffers
// ```

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

/// *d_sum = the sum of n floats of the host, read `times` times, of which the device holds two pieces at a time.
///
/// waits: whether a copy waits until its buffer is empty; without it, the result is wrong.
void summed(double* d_sum, const float* from, std::size_t n, Ring& ring, lab::Streams& streams,
            std::size_t times = 1, bool waits = true) {
  CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof(double)));
  streams.start();
  const cudaStream_t copies = streams[0], sums = streams[1];
  for (std::size_t done = 0, piece = 0, count = 0; done < times * n; done += count, ++piece) {
    const std::size_t b = piece % Ring::BUFFERS, first = done % n;
    count = std::min(ring.room, n - first);
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

/// The same without the wait for an empty buffer.
void missing_event(double* d_sum, const float* from, std::size_t n, Ring& ring,
                   lab::Streams& streams) {
  summed(d_sum, from, n, ring, streams, 1, false);
}

// **Timed.** 5 ms, 0.98 of the rate of a pinned copy: the sum costs next to nothing. Read 560 times in a row the array is 150.3 GB, more
// than the 150.1 GB that the device has. That takes 2.76 s, 54.5 GB/s: the rate stays, since the device holds no more than before.
// `missing_event` leaves out the wait for *empty*. On a GPU it may still give the
// right sum. The simulator does not run a race to find it: no event orders the two, and it says so.
//= 5 ms, 0.98: (ms("summed"), ms("one_copy/memory=pinned") / ms("summed"))
//= 150.3 GB, more: (rate("summed/array=again and again") * ms("summed/array=again and again") / 1000)
//= 2.76 s: ms("summed/array=again and again") / 1000
//= 54.5 GB/s: rate("summed/array=again and again")
//
// ### Memory in the order of a stream
//
// `cudaMalloc` and `cudaFree` are calls of the whole device, and `cudaFree` waits for it. `cudaMallocAsync` takes memory
// from a pool, in the order of a stream: what is freed in a stream can be handed out again in the same stream, without
// anybody waiting.

//? pool: A buffer of 64 MiB is allocated, used by one kernel and freed. How many times as soon does the host go on, from the pool?
//? answer: ms("allocation/by=cudaMalloc") / ms("allocation/by=pool")
//? unit: times
//? near: factor 2

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

// By the host's clock, 64 MiB for one kernel: 179 us with `cudaMalloc`, where `cudaFree` waits for the kernel, whose bytes take 41 us;
// 9 us from the pool, which waits for nothing: the kernel may still run. (By default a pool gives its
// memory back at each synchronization; here it keeps it, by `cudaMemPoolAttrReleaseThreshold`.)
//= 179 us with `cudaMalloc`: 1000 * ms("allocation/by=cudaMalloc")
//= whose bytes take 41 us: 1000 * ms("generated") / 4
//= 9 us from: 1000 * ms("allocation/by=pool")
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
void chain(float* x, cudaStream_t stream, unsigned n = CHAINED) {
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
// one is to capture it: `cudaStreamBeginCapture`, then the launches as they are, which do not run, then
// `cudaStreamEndCapture`. `cudaGraphInstantiate` prepares it.

/// A graph of `chain`, captured.
cudaGraph_t captured(float* x) {
  const lab::Streams streams(1);
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  chain(x, streams[0]);
  CUDA_CHECK(cudaStreamEndCapture(streams[0], &graph));
  return graph;
}

// The other way is to build it: a node for each kernel, which names those that it comes after. Then no stream has to be led
// through events, and the program has each node at hand, to give it other arguments later.

/// A kernel of the chain, as a node takes it.
struct Step {
  float* x;
  unsigned n = CHAINED;
  void* arguments[2] = {&x, &n};
  cudaKernelNodeParams node = {};

  explicit Step(float* x) : x(x) {
    node.func = reinterpret_cast<void*>(step);
    node.gridDim = lab::tiles(n, BLOCK), node.blockDim = BLOCK;
    node.kernelParams = arguments;
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
};

/// The same graph, built. nodes: those of the kernels, in their order.
cudaGraph_t built(float* x, std::vector<cudaGraphNode_t>& nodes) {
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaGraphCreate(&graph, 0));
  const Step step(x);
  nodes.resize(CHAIN);
  for (unsigned s = 0; s < CHAIN; ++s)
    CUDA_CHECK(cudaGraphAddKernelNode(&nodes[s], graph, s ? &nodes[s - 1] : nullptr, s ? 1 : 0,
                                      &step.node));
  return graph;
}

/// A graph that is ready to run.
struct Ready {
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;

  explicit Ready(cudaGraph_t made) : graph(made) {
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  }
  ~Ready() { cudaGraphExecDestroy(exec), cudaGraphDestroy(graph); }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  void launch() { CUDA_CHECK(cudaGraphLaunch(exec, nullptr)); }
};

/// The chain in a graph that is made anew, captured or built, for one launch.
void new_graph(cudaGraph_t made) { Ready(made).launch(); }

/// The steps on x in a graph of the same shape: captured anew, only to update the one that is there.
void update(Ready& old, float* x) {
  cudaGraph_t graph = captured(x);
  cudaGraphExecUpdateResultInfo result;
  CUDA_CHECK(cudaGraphExecUpdate(old.exec, graph, &result));
  CUDA_CHECK(cudaGraphDestroy(graph));
}

/// The same without a capture: each node of the one that was built gets its arguments.
void update(Ready& old, const std::vector<cudaGraphNode_t>& nodes, float* x) {
  const Step step(x);
  for (const cudaGraphNode_t node : nodes)
    CUDA_CHECK(cudaGraphExecKernelNodeSetParams(old.exec, node, &step.node));
}

//? graph: How many microseconds does a step of the chain take in a graph?
//? answer: ms("chain/how=graph")
//? unit: us
//? near: 40 %
//
// | how | us a step |
// |---|--:|
// | a launch for each | 3.5 |
// | a programmatic launch for each | 2.9 |
// | one kernel that stays | 1.2 |
// | a graph | 1.3 |
// | a graph of programmatic launches | 0.9 |
//= | a launch for each | 3.5 |: ms("chain/how=launches")
//= | a programmatic launch for each | 2.9 |: ms("programmatic/how=launches")
//= stays | 1.2 |: ms("chain/how=stays")
//= | a graph | 1.3 |: ms("chain/how=graph")
//= | a graph of programmatic launches | 0.9 |: ms("programmatic/how=graph")
//
// The kernel that stays has a barrier of the grid where the others have a launch. It needs all its blocks on the device at once
// (chapter 07).
//
// With {term}`programmatic dependent launch` (chapter 07) a kernel may begin while the one in front still runs, and waits for its end
// where it needs it. Each launch has an attribute, and the kernel two more lines (`transfers_hopper.cu`). In a graph that takes
// 0.70 of the time, less than the kernel that stays. Of the two lines, the one that lets the next kernel begin may be left out:
// then each block does so at its end, and a step takes 1.18 us. These two differ from machine to machine: another had 0.68 us and
// 0.84 us, and for the plain graph the same 1.30 us. Launched one by one, the kernels take 2.9 us with the attribute and 3.4 us without
// it; the host's calls alone took as long in a trial, and vary as much from run to run.
//= 0.70 of the time: ms("programmatic/how=graph") / ms("chain/how=graph")
//= because less than the kernel that stays: ms("programmatic/how=graph") < ms("chain/how=stays")
//= a step takes 1.18 us: ms("programmatic/how=graph, no trigger")
//= had 0.68 us and 0.84 us, and for the plain graph the same 1.30 us: (0.68, 0.84, ms("chain/how=graph"))
//= 2.9 us with the attribute and 3.4 us: (ms("programmatic/how=launches"), ms("programmatic/how=launches, no attribute"))
//
// To capture and prepare the graph, launch it and destroy it takes 2.9 ms, with one that is built 2.8. If only arguments change, the graph
// that is there can be kept. `cudaGraphExecUpdate` with a graph that was captured anew takes 0.7 ms, arguments given to each of the nodes
// 0.33 ms, both with a launch. (In the timed runs the arguments are those of the run before.)
//= takes 2.9 ms, with one that is built 2.8: (ms("new_graph/how=instantiate"), ms("new_graph/how=built"))
//= takes 0.7 ms: ms("new_graph/how=update")
//= 0.33 ms, both: ms("new_graph/how=arguments")

// ## 6. What else a stream takes (second reading)
//
// ### Priorities
//
// `cudaStreamCreateWithPriority` gives a stream a priority. Where blocks of several kernels wait for room on the SMs, those
// of the higher priority go first; blocks that run are not interrupted.

/// x[i] = 1.
///
/// Launch: one thread per element, in one dimension.
__global__ void soon(float* x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;
}

/// A long kernel in one stream, then a short one in another; waits for the short one alone.
void priority(float* d_out, const float* d_in, std::size_t n, float* d_x, cudaStream_t busy,
              cudaStream_t other) {
  work<<<lab::tiles(n, BLOCK), BLOCK, 0, busy>>>(d_out, d_in, n);
  soon<<<lab::tiles(CHAINED, BLOCK), BLOCK, 0, other>>>(d_x, CHAINED);
  CUDA_CHECK(cudaStreamSynchronize(other));
}

// The long kernel takes 5.0 ms. In a stream of the same priority the short one is done after 4.95 ms, by the host's clock, in one of the
// highest priority after 27 us.
//= takes 5.0 ms: ms("staged/pieces=1") - ms("one_copy/memory=pinned") - ms("back/memory=pinned")
//= after 4.95 ms: ms("priority/priority=same")
//= after 27 us: 1000 * ms("priority/priority=higher")
//
// ### Functions of the host
//
// A stream can call a function of the host, `cudaLaunchHostFunc`: behind the work before it, and ahead of the work after it. So a
// finished piece can be handed to another thread without a wait. The function must not call CUDA; the simulator reports it if it does.

/// What the host does between two kernels.
void CUDART_CB count_here(void* counter) { ++*static_cast<float*>(counter); }

constexpr unsigned HOPS = 100;  ///< kernels, and functions of the host between them

/// Kernels with a function of the host behind each: the stream calls it, or the host waits for the kernel and does.
void host_function(float* d_x, float* counter, cudaStream_t stream, bool waits) {
  for (unsigned hop = 0; hop < HOPS; ++hop) {
    step<<<lab::tiles(CHAINED, BLOCK), BLOCK, 0, stream>>>(d_x, CHAINED);
    if (waits) {
      CUDA_CHECK(cudaStreamSynchronize(stream));
      count_here(counter);
    } else {
      CUDA_CHECK(cudaLaunchHostFunc(stream, count_here, counter));
    }
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

// A kernel and the function behind it take 22 us. If the host waits for the kernel and makes the call itself, the two take 9 us. So the
// function is for a host that has something else to do meanwhile.
//= behind it take 22 us: 1000 * ms("host_function/by=function") / 100
//= the two take 9 us: 1000 * ms("host_function/by=waits") / 100

// [hide] How the rungs are registered
namespace {

/// How the pieces of `staged` are given to streams.
struct Order {
  const char* variant;
  std::size_t pieces, used;  ///< so many streams in turn; 0: a stream for each part
  bool pageable = false;
};
constexpr Order ORDERS[] = {
    {"pieces=1", 1, 3},
    {"pieces=2", 2, 3},
    {"pieces=4", 4, 3},
    {"pieces=16", 16, 3},
    {"pieces=32", 32, 3},
    {"pieces=64", 64, 3},
    {"streams=8", 32, 8},
    {"by part, pieces=16", 16, 0},
    {"by part, pieces=32", 32, 0},
    {"by part, pieces=64", 64, 0},
    {"mistake=one stream", 16, 1},
    {"mistake=pageable", 16, 3, true},
};

/// The arrays that all rungs work on, and what has to be in them.
struct Data {
  const std::size_t n;
  lab::Map<float> map;  ///< the arrays of the device: in, out
  std::vector<float> pageable = map.d_in.host();
  std::vector<float> registered = pageable;
  lab::PinnedBuffer<float> pinned{pageable, "pinned"}, to{n, "to"};
  std::vector<float> pageable_to = std::vector<float>(n);
  lab::MappedBuffer<float> mapped{n, "mapped"};
  lab::DeviceBuffer<float> d_in{n, "d_in"};
  lab::Streams streams{8};
  Staging staging{std::max<std::size_t>(n / 16, 256)};
  Blocking blocking;
  cudaEvent_t event = nullptr;

  Data(lab::Ladder& ladder, std::size_t n) : n(n), map(ladder, n) { set_up(); }
  ~Data() { cudaEventDestroy(event), cudaHostUnregister(registered.data()); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  void set_up() {
    std::ranges::copy(pageable, mapped.data());
    registering(registered.data(), n);
    CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }

  float* out() { return map.d_out.data(); }
  const float* in() const { return map.d_in.data(); }
  double bytes() const { return 4.0 * static_cast<double>(n); }
  std::vector<float> first(std::size_t count) const {
    return {pageable.begin(), pageable.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  lab::Rung in_on_device() {
    return {.outputs = {lab::expect(map.d_out, map.d_in)}, .bytes = bytes()};
  }
  lab::Rung in_by_host() {
    lab::Rung rung = in_on_device();
    rung.clock = lab::Clock::host;
    return rung;
  }
  lab::Rung in_on_host(std::span<float> where) {
    return {.outputs = {lab::expect(where, pageable)}, .bytes = bytes()};
  }
  lab::Rung in_on_both() {
    return {.outputs = {lab::expect(map.d_out, map.d_in), lab::expect(to.span(), pageable)},
            .bytes = 2 * bytes()};
  }
  /// One group of 32 floats of each 16; the others stay as `prepare` leaves them.
  lab::Rung part_on_device() {
    const auto view = map.in;
    const auto some = [view] __host__ __device__(std::size_t i) {
      return i / 32 % 16 == 0 ? view[i] : 0.0f;
    };
    return {.outputs = {lab::expect(map.d_out, some)},
            .prepare = [this] { map.d_out.zero(); },
            .bytes = bytes() / 16};
  }
  lab::Rung random_on_device() {
    const auto want = [] __host__ __device__(std::size_t i) {
      return random_at(static_cast<unsigned>(i));
    };
    return {.outputs = {lab::expect(map.d_out, want)}};  // no rate: nothing crosses the link
  }
  /// The recurrence in closed form.
  lab::Rung worked_on_host(std::span<float> where) {
    const double power = std::pow(static_cast<double>(FACTOR), STEPS);
    const double sum = static_cast<double>(ADDED) * (1 - power) / (1 - static_cast<double>(FACTOR));
    std::vector<double> want(n);
    for (std::size_t i = 0; i < n; ++i) want[i] = pageable[i] * power + sum;
    const lab::Check check(  // a step rounds a number below 1 once
        lab::Tolerance{STEPS * lab::float_roundoff, 0, "a rounding for each step"});
    const lab::Peer copies{.name = "both copies",
                           .launch = [this] { both_copies(2, d_in.data()); },
                           .outputs = {lab::expect(to.span(), pageable)}};
    return {.outputs = {lab::expect(where, want, check), lab::on_the_way(map.d_out),
                        lab::on_the_way(d_in)},
            .bytes = 2 * bytes(),
            .peer = copies};
  }

  /// The way back, to pageable memory and to pinned memory.
  std::vector<lab::Rung> ways_back() {
    std::vector<lab::Rung> rungs;
    for (const bool is_pinned : {false, true}) {
      const std::span<float> where = is_pinned ? to.span() : std::span<float>(pageable_to);
      rungs.push_back(in_on_host(where));
      rungs.back().name = "back";
      rungs.back().variant = is_pinned ? "memory=pinned" : "memory=pageable";
      rungs.back().launch = [this, where] { back(where.data(), in(), n); };
    }
    return rungs;
  }

  static constexpr std::initializer_list<const char*> MEMORY = {"pageable", "pinned", "registered"};
  void send(std::string_view memory) {
    const float* const from = memory == "pageable" ? pageable.data()
                              : memory == "pinned" ? pinned.data()
                                                   : registered.data();
    one_copy(out(), from, n);
  }
  void send_by_hand(std::size_t threads) { by_hand(out(), pageable.data(), n, staging, threads); }
  void generate() { generated<<<lab::tiles(n, BLOCK), BLOCK>>>(out(), n); }
  void both_copies(std::size_t used) { both_copies(used, out()); }
  void both_copies(std::size_t used, float* d_to) {
    both_ways(d_to, pinned.data(), to.data(), in(), n, streams, used);
  }
  void stage(const Order& order) {
    float *const d_mid = d_in.data(), *const d_end = out();
    if (order.pageable) {
      staged(pageable_to.data(), pageable.data(), d_mid, d_end, n, order.pieces, streams, 3);
    } else if (order.used > 0) {
      staged(to.data(), pinned.data(), d_mid, d_end, n, order.pieces, streams, order.used);
    } else {
      staged_by_part(to.data(), pinned.data(), d_mid, d_end, n, order.pieces, streams, event);
    }
  }
  void forget_stream() {
    default_stream(to.data(), pinned.data(), d_in.data(), out(), n, 16, blocking);
  }
  void record_elsewhere() {
    wrong_stream(to.data(), pinned.data(), d_in.data(), out(), n, 2, streams, event);
  }
  void read_mapped(std::size_t stride) {
    const std::size_t threads = lab::ceil_div(n, 32 * stride) * 32;
    zero_copy<<<lab::tiles(threads, BLOCK), BLOCK>>>(out(), mapped.device_data(), n, stride);
  }
};

constexpr const char* WHAT[] = {"what=register", "what=both"};

/// Pins memory that exists, copies its first floats from there, and unpins it if it is both.
struct Registering {
  Data& data;
  const char* const what;
  const bool both = what == WHAT[1];
  lab::DeviceBuffer<float> first{std::min<std::size_t>(data.n, 1024), "first"};
  bool pinned = false;

  ~Registering() { prepare(); }
  void prepare() {
    if (pinned) CUDA_CHECK(cudaHostUnregister(data.pageable.data()));
    pinned = false;
  }
  void launch() {
    registering(data.pageable.data(), data.n);
    pinned = true;
    one_copy(first.data(), data.pageable.data(), first.size());
    CUDA_CHECK(cudaDeviceSynchronize());
    if (both) prepare();
  }
  std::vector<lab::Expectation> outputs() { return {lab::expect(first, data.first(first.size()))}; }
};

/// Some of the array in several copies.
struct Pieces {
  Data& data;
  lab::DeviceBuffer<float> some{std::min<std::size_t>(data.n, 1 << 22), "some"};

  void launch(std::size_t pieces) {
    in_pieces(some.data(), data.pinned.data(), some.size(), pieces);
  }
  lab::Rung rung() {
    return {.outputs = {lab::expect(some, data.first(some.size()))},
            .bytes = 4.0 * static_cast<double>(some.size())};
  }
};

/// A result of four bytes, and the places that it may come to.
struct Word {
  static constexpr std::size_t ADDED = 1024;
  std::vector<float> numbers = std::vector<float>(ADDED, 2), pageable = {0}, got = {0};
  lab::DeviceBuffer<float> d_numbers{numbers, "numbers"}, d_word{1, "d_word"};
  lab::PinnedBuffer<float> pinned{1, "pinned word"};
  lab::MappedBuffer<float> mapped{1, "mapped word"};
  float* managed = nullptr;

  Word() { CUDA_CHECK(cudaMallocManaged(&managed, sizeof(float))); }
  ~Word() { cudaFree(managed); }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  static constexpr std::initializer_list<const char*> WAYS = {
      "copied to pageable", "copied to pinned", "mapped", "mapped, polled", "managed"};
  void launch(std::string_view way) {
    const float* const in = d_numbers.data();
    if (way == "copied to pageable") got[0] = copied(pageable.data(), d_word.data(), in);
    if (way == "copied to pinned") got[0] = copied(pinned.data(), d_word.data(), in);
    if (way == "mapped") got[0] = written(mapped.data(), mapped.device_data(), in, false);
    if (way == "mapped, polled") got[0] = written(mapped.data(), mapped.device_data(), in, true);
    if (way == "managed") got[0] = written(managed, managed, in, false);
  }
  lab::Rung rung() {
    return {.outputs = {lab::expect(std::span(got), std::vector<float>{2 * ADDED})},
            .clock = lab::Clock::host};
  }
};

/// How managed pages come: in parts, of which so many are prefetched; with hints, each of the device or of the host.
struct Way {
  const char* variant;
  std::size_t prefetched = 0, parts = 1;
  std::vector<std::pair<cudaMemoryAdvise, bool>> hints =
      {};  ///< for what is not prefetched, or all
};
constexpr auto HOME = cudaMemAdviseSetPreferredLocation;
constexpr auto MAPPED = cudaMemAdviseSetAccessedBy;
constexpr auto COPIES = cudaMemAdviseSetReadMostly;
const Way PAGES[] = {
    {"pages=faults"},
    {"pages=prefetched", 1},
    {"pages=prefetched in 4 parts", 4, 4},
    {"pages=3 of 4 parts prefetched", 3, 4, {{MAPPED, false}}},
    {"hint=preferred on the device", 0, 1, {{HOME, false}}},
    {"hint=accessed by the device", 0, 1, {{MAPPED, false}}},
    {"hint=read mostly", 0, 1, {{COPIES, false}}},
    {"hint=read mostly, prefetched", 1, 1, {{COPIES, false}}},
    {"hint=preferred on the host, accessed by the device", 0, 1, {{HOME, true}, {MAPPED, false}}}};

/// A kernel that reads managed memory which the host has written.
struct Pages {
  Data& data;
  const Way& way;
  const std::size_t n = data.n;
  float* pages = nullptr;
  lab::DeviceBuffer<float> out{n, "out of managed"};

  Pages(Data& data, const Way& way) : data(data), way(way) {
    CUDA_CHECK(cudaMallocManaged(&pages, n * sizeof(float)));
    const std::size_t moved = way.prefetched < way.parts ? n * way.prefetched / way.parts : 0;
    if (moved == n) return;
    for (const auto& [hint, host] : way.hints) advise(pages + moved, n - moved, hint, host);
  }
  ~Pages() { cudaFree(pages); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void prepare() {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::copy_n(data.pageable.data(), n, pages);
  }
  void launch() { managed(out.data(), pages, n, way.prefetched, way.parts, data.streams); }
  std::vector<lab::Expectation> outputs() { return {lab::expect(out, data.pageable)}; }
};

/// The sum of the array, read so many times, and the ring that it goes through.
struct Sum {
  Data& data;
  const std::size_t times;
  Ring ring{std::max<std::size_t>(data.n / 32, 256)};
  lab::DeviceBuffer<double> sum{1, "sum"};

  double bytes() const { return static_cast<double>(times) * data.bytes(); }
  void launch() { summed(sum.data(), data.pinned.data(), data.n, ring, data.streams, times); }
  void launch_unguarded() {
    missing_event(sum.data(), data.pinned.data(), data.n, ring, data.streams);
  }
  std::vector<lab::Expectation> outputs() {
    double want = 0;
    for (const float x : data.pageable) want += static_cast<double>(x);
    const double most = static_cast<double>(times);
    const lab::Tolerance tolerance{1e-12 * most * static_cast<double>(data.n), 1e-12, "doubles"};
    return {lab::expect(sum, std::vector{most * want}, lab::Check(tolerance)),
            lab::on_the_way(ring.buffers)};
  }
};

/// How many times an array has to be read to be more than the device's memory; a small one, which would take too long, three times.
std::size_t times_for_more(double bytes) {
  std::size_t unused = 0, all = 0;
  CUDA_CHECK(cudaMemGetInfo(&unused, &all));
  const double times = static_cast<double>(all) / bytes;
  return times < 10000 ? static_cast<std::size_t>(times) + 1 : 3;
}

/// Memory for one kernel.
struct Allocation {
  const std::size_t n;
  const bool pool;
  lab::DeviceBuffer<float> last{1, "last"};

  Allocation(std::size_t n, bool pool) : n(n), pool(pool) {
    cudaMemPool_t all = nullptr;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&all, 0));
    std::uint64_t keep = ~0ull;
    CUDA_CHECK(cudaMemPoolSetAttribute(all, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  void launch() { allocation(last.data(), n, pool); }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(last, std::vector{random_at(static_cast<unsigned>(n - 1))})};
  }
};

/// The chain of small kernels.
struct Chain {
  lab::DeviceBuffer<float> x{CHAINED, "x"}, other{CHAINED, "other"};
  std::vector<cudaGraphNode_t> nodes, unused;
  Ready graph{captured(x.data())}, updated{captured(other.data())};
  Ready given{built(other.data(), nodes)};

  lab::Rung steps(lab::Clock clock) {
    return {.outputs = {lab::expect(x, std::vector<float>(CHAINED, CHAIN))},
            .prepare = [this] { x.zero(); },
            .prepare_every_run = true,
            .clock = clock};
  }
  void launch(std::string_view how) {
    if (how == "launches") chain(x.data(), nullptr);
    if (how == "graph") graph.launch();
    if (how == "stays") in_one_kernel();
  }
  static constexpr std::initializer_list<const char*> MADE = {"instantiate", "built", "update",
                                                              "arguments"};
  /// For an array that the graph has not had before, at the first call.
  void make(std::string_view how) {
    if (how == "instantiate") new_graph(captured(x.data()));
    if (how == "built") new_graph(built(x.data(), unused));
    if (how == "update") update(updated, x.data()), updated.launch();
    if (how == "arguments") update(given, nodes, x.data()), given.launch();
  }
  void in_one_kernel() {
    float* d_x = x.data();
    unsigned n = CHAINED;
    void* arguments[] = {&d_x, &n};
    CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(stays), CHAINED / BLOCK, BLOCK,
                                           arguments));
  }
};

/// Streams of the lowest and of the highest priority, and what they are given.
struct Priorities {
  Data& data;
  lab::DeviceBuffer<float> x{CHAINED, "x of a stream"};
  std::vector<float> counter = {0};
  cudaStream_t busy = nullptr, low = nullptr, high = nullptr;

  explicit Priorities(Data& data) : data(data) {
    int lowest = 0, highest = 0;
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    for (cudaStream_t* const stream : {&busy, &low})
      CUDA_CHECK(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, lowest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, highest));
  }
  ~Priorities() {
    for (const cudaStream_t stream : {busy, low, high}) cudaStreamDestroy(stream);
  }
  Priorities(const Priorities&) = delete;
  Priorities& operator=(const Priorities&) = delete;

  void prepare() {
    CUDA_CHECK(cudaDeviceSynchronize());
    x.zero();
    CUDA_CHECK(cudaDeviceSynchronize());  // the streams do not wait for the default stream
    counter[0] = 0;
  }
  void launch(std::string_view which) {
    priority(data.out(), data.in(), data.n, x.data(), busy, which == "higher" ? high : low);
  }
  void hop(std::string_view by) { host_function(x.data(), counter.data(), low, by == "waits"); }
  /// Both count the steps: the array, and what the host did.
  lab::Rung rung(float steps, bool on_host) {
    lab::Rung all{.outputs = {lab::expect(x, std::vector<float>(CHAINED, steps))},
                  .prepare = [this] { prepare(); },
                  .prepare_every_run = true,
                  .clock = lab::Clock::host};
    if (on_host) all.outputs.push_back(lab::expect(std::span(counter), std::vector{steps}));
    return all;
  }
};

/// When a part of a piece began and ended, in ms.
struct Mark {
  cudaEvent_t begin = nullptr, end = nullptr;
  Mark() {
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
  }
  ~Mark() { cudaEventDestroy(begin), cudaEventDestroy(end); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
};

/// What `staged` and `staged_by_part` launch, with an event before and one after each part of a piece. Writes to a file when each began
/// and ended, as JSON.
///
/// \return the exit code: 0, or 2 where the file cannot be written
int write_timeline(const std::string& path, Data& data) {
  constexpr std::size_t PIECES = 16, PARTS = 3;
  constexpr const char* NAMES[PARTS] = {"in", "work", "out"};
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "--timeline %s: cannot be written\n", path.c_str());
    return 2;
  }
  std::fprintf(file, "{\n \"n\": %zu,\n \"rows\": [", data.n);
  const char* comma = "\n";
  for (const bool by_part : {false, true}) {
    std::vector<Mark> marks(PIECES * PARTS);
    const Mark all;
    for (int run = 0; run < 3; ++run) {  // the last one is told
      CUDA_CHECK(cudaDeviceSynchronize());
      CUDA_CHECK(cudaEventRecord(all.begin));
      data.streams.start();
      for (std::size_t p = 0; p < PIECES; ++p) {
        const std::size_t first = data.n * p / PIECES, count = data.n * (p + 1) / PIECES - first;
        float *const d_in = data.d_in.data() + first, *const d_out = data.out() + first;
        for (std::size_t part = 0; part < PARTS; ++part) {
          const cudaStream_t stream = data.streams[by_part ? part : p % 3];
          const Mark& mark = marks[p * PARTS + part];
          if (part > 0) CUDA_CHECK(cudaStreamWaitEvent(stream, marks[p * PARTS + part - 1].end));
          CUDA_CHECK(cudaEventRecord(mark.begin, stream));
          const std::size_t bytes = count * sizeof(float);
          if (part == 0)
            CUDA_CHECK(cudaMemcpyAsync(d_in, data.pinned.data() + first, bytes,
                                       cudaMemcpyHostToDevice, stream));
          if (part == 1 && count > 0)
            work<<<lab::tiles(count, BLOCK), BLOCK, 0, stream>>>(d_out, d_in, count);
          if (part == 2)
            CUDA_CHECK(cudaMemcpyAsync(data.to.data() + first, d_out, bytes, cudaMemcpyDeviceToHost,
                                       stream));
          CUDA_CHECK(cudaEventRecord(mark.end, stream));
        }
      }
      data.streams.join();
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    for (std::size_t i = 0; i < marks.size(); ++i) {
      float begin = 0, end = 0;
      CUDA_CHECK(cudaEventElapsedTime(&begin, all.begin, marks[i].begin));
      CUDA_CHECK(cudaEventElapsedTime(&end, all.begin, marks[i].end));
      const auto rounded = [](float ms) { return std::round(1e4 * static_cast<double>(ms)) / 1e4; };
      std::fprintf(file,
                   "%s  {\"order\": \"%s\", \"piece\": %zu, \"part\": \"%s\", \"begin_ms\": %.9g, "
                   "\"end_ms\": %.9g}",
                   comma, by_part ? "by part" : "in turn", i / PARTS, NAMES[i % PARTS],
                   rounded(begin), rounded(end));
      comma = ",\n";
    }
  }
  std::fprintf(file, "\n ]\n}\n");
  std::fclose(file);
  return 0;
}

std::vector<lab::OwnOption> timeline_option(std::string& file) {
  return {{"timeline", "FILE", "writes when each part of `staged` began and ended, as JSON",
           [&file](const std::string& name) { file = name; }}};
}

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  std::string file;
  const auto chapter = [&](lab::Ladder& ladder, std::size_t n) {
    ladder.require(n < std::size_t{1} << 31, "n: fewer than 2^31");
    ladder.skip_unless(n > 768, {"missing_event"}, "needs three pieces of 256 floats");
    Data data(ladder, n);
    if (!file.empty()) return ladder.instead(write_timeline(file, data));

    // Section 1.
    const lab::Problem in(ladder, data.in_on_device());
    in.sweep("one_copy", "memory", Data::MEMORY, [&](auto memory) { data.send(memory); });
    for (const lab::Rung& rung : data.ways_back()) ladder.add(rung);
    const lab::Problem hands(ladder, data.in_by_host());
    hands.sweep("by_hand", "threads", {1u, 8u}, [&](auto used) { data.send_by_hand(used); });
    const lab::Rung by_host{.prepare_every_run = true, .clock = lab::Clock::host};
    for (const char* what : WHAT) ladder.add("registering", what, Registering{data, what}, by_host);
    Pieces some{data};
    const lab::Problem little(ladder, some.rung());
    little.sweep("in_pieces", "pieces", {1u, 64u, 4096u}, [&](auto p) { some.launch(p); });
    const lab::Problem both(ladder, data.in_on_both());
    both.sweep("both_ways", "streams", {1u, 2u}, [&](auto used) { data.both_copies(used); });

    // Section 2.
    in.add("zero_copy", "part=all", [&] { data.read_mapped(1); });
    ladder.add("zero_copy", "part=1 of 16", data.part_on_device(), [&] { data.read_mapped(16); });
    Word word;
    const lab::Problem words(ladder, word.rung());
    words.sweep("one_word", "way", Word::WAYS, [&](auto way) { word.launch(way); });
    const lab::Rung of_pages{.prepare_every_run = true, .bytes = data.bytes()};
    for (const Way& way : PAGES) ladder.add("managed", way.variant, Pages(data, way), of_pages);
    ladder.add("generated", "", data.random_on_device(), [&] { data.generate(); });

    // Section 3.
    const lab::Problem work(ladder, data.worked_on_host(data.to.span()));
    const lab::Problem slow(ladder, data.worked_on_host(data.pageable_to));
    for (const Order& order : ORDERS)
      (order.pageable ? slow : work).add("staged", order.variant, [&] { data.stage(order); });
    work.add("staged", "mistake=default stream", [&] { data.forget_stream(); });
    ladder.demonstrate("wrong_stream", [&] { data.record_elsewhere(); });
    ladder.demonstrate("too_early", [&] { data.to[0] = too_early(data.to.data(), data.in(), n); });

    // Sections 4 to 6.
    Sum sum{data, 1}, more{data, times_for_more(data.bytes())};
    ladder.add("summed", sum, {.bytes = sum.bytes()});
    ladder.add("summed", "array=again and again", more, {.bytes = more.bytes()});
    ladder.demonstrate("missing_event", [&] { sum.launch_unguarded(); });
    ladder.add("allocation", "by=cudaMalloc", Allocation(std::min(n, 1ul << 24), false), by_host);
    ladder.add("allocation", "by=pool", Allocation(std::min(n, 1ul << 24), true), by_host);
    Chain all;
    const lab::Problem steps(ladder, all.steps(lab::Clock::device));
    steps.sweep("chain", "how", {"launches", "graph", "stays"}, [&](auto how) { all.launch(how); });
    lab::add_others(ladder);
    const lab::Problem graphs(ladder, all.steps(lab::Clock::host));
    graphs.sweep("new_graph", "how", Chain::MADE, [&](auto how) { all.make(how); });
    Priorities two(data);
    const lab::Problem urgent(ladder, two.rung(1, false));
    urgent.sweep("priority", "priority", {"same", "higher"}, [&](auto one) { two.launch(one); });
    const lab::Problem hops(ladder, two.rung(HOPS, true));
    hops.sweep("host_function", "by", {"function", "waits"}, [&](auto by) { two.hop(by); });
  };
  return lab::run(argc, argv, chapter, timeline_option(file));
}

// ## What to remember
//
// - Pinned memory for what crosses the link again and again; pageable memory passes a buffer of the driver's.
// - Few large copies, not many small ones. Both directions at once.
// - In pieces and several streams, the shorter of transfer and work hides behind the longer. The bound is the work, or both copies at once.
// - Streams have no order between them but what events make. A buffer that is used again needs two.
// - An asynchronous copy is done when its stream or event says so, not when the call returns.
// - Zero copy for what is read once, or only in part. Managed memory mapped for the device if it is read once, prefetched if it is
//   read again.
// - Launch a chain of small kernels as a graph, best of programmatic launches, and change its arguments, not the graph.
//
// ## Possibilities for extension
//
// 1. Draw the timeline of `summed`, as `--timeline` does that of `staged`. Which of its two streams waits?
// 2. Let `staged` keep only three pieces on the device, as `summed` keeps two.
// 3. Make the function of the host a node of a graph (`cudaGraphAddHostNode`). What does a kernel and a call take now?
// 4. Read a file in pieces with `mmap` and `cudaHostRegister`. Which of the two is the bottleneck?
