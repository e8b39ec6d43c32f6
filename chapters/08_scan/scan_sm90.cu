// ## Warps with roles of their own (second reading)
//
// This is `look_ahead` of section 7. A block works through many tiles. Stage s of its ring belongs to one tile at
// a time, and each {term}`mbarrier` of the stage counts one kind of progress:
//
// | barrier | says that | arrivals |
// |---|---|--:|
// | full | the tile is in shared memory | the loading lanes, and the bulk copy |
// | counted | its sums are known | the summing warps |
// | ready | they are published, and the prefix is known | publisher and look-back |
// | empty | everything of the stage has been read | the scanning warps |
//
// Every role runs the same loop over the tiles of its block. Iteration k uses stage k % STAGES and waits for the
// phase with the parity of k / STAGES.
//
// The look-back is simpler than that of `look_back`. The block knows the prefix of the tile that it had before; only
// the tiles between that one and the new one are missing, about as many as there are blocks. So it needs nobody's
// prefixes. A warp reads 128 sums at a time, four for each lane, and goes on once all are there.
//
// Two more details make it fast for small arrays. The words need no clearing: the upper half of a word is an
// **epoch**, the number of the launch, and a word of an earlier launch counts as not yet published. And the
// number of the next tile is taken before the current one is loaded, so that no warp waits for the atomic.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>
#include <type_traits>

#include "lab/lab.h"
#include "scan.h"

// [hide] Barriers, copies, and the words of the tiles
namespace ptx = cuda::ptx;

namespace {

using std::size_t;
using Word = unsigned long long;  // epoch, and in its lower half the value
using Barrier = std::uint64_t;

constexpr unsigned ALL = 0xFFFFFFFF;
constexpr unsigned SUMMING = 4, SCANNING = 8;                // warps with these roles
constexpr unsigned THREADS = (3 + SUMMING + SCANNING) * 32;  // and load, publish, look back

/// What launches of one kernel leave for the next one; zeros at first. The words of the tiles follow.
struct State {
  unsigned ticket;  ///< the next tile
  unsigned epoch;   ///< how many launches there have been
  Word unused[15];
};

/// Waits for the phase of a barrier with this parity to end.
__device__ void wait(Barrier* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

__device__ void init(Barrier* barrier, unsigned arrivals) { ptx::mbarrier_init(barrier, arrivals); }

__device__ void arrive(Barrier* barrier) { ptx::mbarrier_arrive(barrier); }

/// Tells the barrier to expect bytes, which `copy` will bring.
__device__ void expect(Barrier* barrier, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
}

/// A bulk copy to shared memory. Both addresses and the bytes are multiples of 16.
__device__ void copy(void* to, const void* from, unsigned bytes, Barrier* barrier) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, barrier);
}

__device__ Word* words_of(State* state) { return reinterpret_cast<Word*>(state + 1); }

__device__ Word read_word(Word* word) {
  return cuda::atomic_ref<Word, cuda::thread_scope_device>(*word).load(cuda::memory_order_relaxed);
}

__device__ void publish(Word* word, Word value) {
  cuda::atomic_ref<Word, cuda::thread_scope_device>(*word).store(value, cuda::memory_order_relaxed);
}

/// Calls take(w) with four words of each lane, until it has had those of the tiles from `begin` to `end` - 1,
/// all of them published in this epoch. Lane l has the tiles begin + l + 32 j. Called by a warp.
///
/// @param epoch  a word of this epoch whose value is nothing: that of the lanes beyond the end
/// @tparam SHIFT  the lowest bit of the epoch in a word
template <unsigned SHIFT, class Take>
__device__ void read_words(Word* words, unsigned begin, unsigned end, Word epoch, Take take) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned t0 = begin; t0 < end; t0 += 128) {
    Word w[4];
    bool all;
    do {
      all = true;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned t = t0 + lane + 32 * j;
        w[j] = t < end ? read_word(words + t) : epoch;
        all &= w[j] >> SHIFT == epoch >> SHIFT;
      }
    } while (!all);
    take(w);
  }
}

/// The role of the loading warp: takes tiles and has `load(stage, tile)` bring them. Each lane arrives at `full`.
template <unsigned STAGES, class Load>
__device__ void load_tiles(State* state, unsigned first, unsigned tiles, unsigned epoch,
                           unsigned* tile_of, Barrier* full, Barrier* empty, Load load) {
  const unsigned lane = threadIdx.x % 32;
  unsigned tile = __shfl_sync(ALL, first, 0);
  for (unsigned k = 0;; ++k) {
    const unsigned s = k % STAGES;
    unsigned next = 0;
    if (lane == 0) next = atomicAdd(&state->ticket, 1u);  // nobody waits for it yet
    if (k >= STAGES) wait(&empty[s], (k / STAGES - 1) % 2);
    if (lane == 0) tile_of[s] = tile;
    const bool done = tile >= tiles;
    if (!done) {
      load(s, tile);
    } else {
      arrive(&full[s]);
    }
    tile = __shfl_sync(ALL, next, 0);
    if (done) break;
  }
  // Each block draws two tickets too many. Who has the last of all prepares the next launch.
  if (lane == 0 && tile == tiles + 2 * gridDim.x - 1) {
    state->ticket = 0;
    state->epoch = epoch;
  }
}

/// How many of the `left` elements that follow a bulk copy brings to a slot of the ring: it takes 16 bytes at a time.
template <unsigned SLOT, class T>
__device__ unsigned in_bulk(size_t left) {
  constexpr unsigned N = 16 / sizeof(T);
  return left >= SLOT ? SLOT : static_cast<unsigned>(left) / N * N;
}

/// Stores what the bulk copy leaves out: the last few of the `left` elements at `from`, and behind them behind(0),
/// behind(1), ..., which are the same again after four. Called by a warp.
template <unsigned SLOT, class T, class Behind>
__device__ void complete(T* to, const T* from, size_t left, Behind behind) {
  constexpr unsigned N = 16 / sizeof(T);
  const unsigned lane = threadIdx.x % 32, whole = in_bulk<SLOT, T>(left);
  if (whole == SLOT) return;
  const unsigned i = whole + lane, next = whole + N;
  if (lane < N) to[i] = i < left ? from[i] : behind(i - left);
  alignas(16) T pattern[N];
#pragma unroll
  for (unsigned k = 0; k < N; ++k) pattern[k] = behind(next - left + k);
  for (unsigned j = next + N * lane; j < SLOT; j += 32 * N) {
    *reinterpret_cast<uint4*>(to + j) = *reinterpret_cast<const uint4*>(pattern);
  }
}

/// Fills a slot of the ring as `complete` says. The loading warp calls it, and each of its lanes arrives at `full`.
///
/// Requires: from is aligned to 16 bytes.
template <unsigned SLOT, class Behind>
__device__ void fill(unsigned* to, const unsigned* from, size_t left, Barrier* full,
                     Behind behind) {
  complete<SLOT>(to, from, left, behind);
  const unsigned whole = in_bulk<SLOT, unsigned>(left);
  if (threadIdx.x % 32 != 0 || whole == 0) return arrive(full);
  expect(full, whole * 4);
  copy(to, from, whole * 4, full);
}

/// The first tile of this block and the epoch; barriers are ready for all threads behind it.
template <unsigned STAGES>
__device__ unsigned begin(State* state, unsigned* epoch, Barrier* full, Barrier* counted,
                          Barrier* ready, Barrier* empty) {
  unsigned first = 0;
  if (threadIdx.x == 0) {
    first = atomicAdd(&state->ticket, 1u);
    for (unsigned s = 0; s < STAGES; ++s) {
      init(&full[s], 32);
      init(&counted[s], SUMMING);
      init(&ready[s], 2);
      init(&empty[s], SCANNING);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (threadIdx.x == 32) *epoch = *const_cast<volatile unsigned*>(&state->epoch) + 1;
  __syncthreads();
  return first;
}

}  // namespace
// [/hide]

/// The exclusive scan of n elements.
///
/// @param state  zeros before the first launch; as the last launch left it before each further one
///
/// Launch: THREADS threads, STAGES * TILE * 4 bytes, any number of blocks; as many as fit on the GPU are best.
/// Requires: in and out are aligned to 16 bytes.
/// Source of the idea: the scan with decoupled look-ahead ("warpspeed") of CUB, NVIDIA/cccl, 2025. It takes its tiles by
/// Blackwell's work stealing, this one from a counter.
template <unsigned TILE, unsigned STAGES>
__global__ void __launch_bounds__(THREADS, 1)
    look_ahead(unsigned* __restrict__ out, const unsigned* __restrict__ in, size_t n,
               State* state) {
  extern __shared__ __align__(128) unsigned char memory[];
  unsigned* const ring = reinterpret_cast<unsigned*>(memory);  // (STAGES, TILE)
  __shared__ Barrier full[STAGES], counted[STAGES], ready[STAGES], empty[STAGES];
  __shared__ unsigned part[STAGES][SCANNING], prefix[STAGES], tile_of[STAGES], epoch;
  constexpr unsigned PART = TILE / SCANNING, ROWS = PART / 128;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned tiles = static_cast<unsigned>((n + TILE - 1) / TILE);
  const unsigned first = begin<STAGES>(state, &epoch, full, counted, ready, empty);
  const Word nothing = static_cast<Word>(epoch) << 32;
  Word* const words = words_of(state);

  if (warp == 0) {
    load_tiles<STAGES>(
        state, first, tiles, epoch, tile_of, full, empty, [&](unsigned s, unsigned tile) {
          const size_t at = size_t{tile} * TILE;
          fill<TILE>(ring + s * TILE, in + at, n - at, &full[s], [](size_t) { return 0u; });
        });
  } else if (warp == 1) {  // publishes
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&counted[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      const unsigned sum = __reduce_add_sync(ALL, lane < SCANNING ? part[s][lane] : 0);
      if (lane == 0) {
        publish(words + tile, nothing | sum);
        arrive(&ready[s]);
      }
    }
  } else if (warp == 2) {            // looks back, to the tile that this block had before
    unsigned known = 0, before = 0;  // sum of the tiles before number `known`
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&counted[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      unsigned sum = 0;
      read_words<32>(words, known, tile, nothing, [&](const Word(&w)[4]) {
        sum += static_cast<unsigned>(w[0]) + static_cast<unsigned>(w[1]) +
               static_cast<unsigned>(w[2]) + static_cast<unsigned>(w[3]);
      });
      const unsigned mine = lane < SCANNING ? part[s][lane] : 0;
      const unsigned exclusive = before + __reduce_add_sync(ALL, sum);
      before = exclusive + __reduce_add_sync(ALL, mine);
      known = tile + 1;
      if (lane == 0) {
        prefix[s] = exclusive;
        arrive(&ready[s]);
      }
    }
  } else if (warp < 3 + SUMMING) {  // sum the parts of a tile
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&full[s], k / STAGES % 2);
      if (tile_of[s] >= tiles) {
        if (lane == 0) arrive(&counted[s]);
        break;
      }
#pragma unroll
      for (unsigned p = warp - 3; p < SCANNING; p += SUMMING) {
        const uint4* const from = reinterpret_cast<const uint4*>(ring + s * TILE + p * PART);
        unsigned sum = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; ++r) {
          const uint4 x = from[r * 32 + lane];
          sum += (x.x + x.y) + (x.z + x.w);
        }
        sum = __reduce_add_sync(ALL, sum);
        if (lane == 0) part[s][p] = sum;
      }
      if (lane == 0) arrive(&counted[s]);
    }
  } else {  // scan a part of the tile and store it
    const unsigned p = warp - 3 - SUMMING;
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&full[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      const uint4* const from = reinterpret_cast<const uint4*>(ring + s * TILE + p * PART);
      uint4 x[ROWS];
      unsigned sum[ROWS];
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        x[r] = from[r * 32 + lane];
        x[r].y += x[r].x, x[r].z += x[r].y, x[r].w += x[r].z;
        sum[r] = x[r].w;
      }
#pragma unroll
      for (unsigned d = 1; d < 32; d *= 2) {
#pragma unroll
        for (unsigned r = 0; r < ROWS; ++r) {
          const unsigned left = __shfl_up_sync(ALL, sum[r], d);
          if (lane >= d) sum[r] += left;
        }
      }
      wait(&ready[s], k / STAGES % 2);
      unsigned offset = prefix[s] + __reduce_add_sync(ALL, lane < p ? part[s][lane] : 0);
      __syncwarp();
      if (lane == 0) arrive(&empty[s]);
      const size_t at = size_t{tile} * TILE + p * PART + lane * 4;
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        const unsigned e = offset + sum[r] - x[r].w;
        store4(out, at + r * 128, n, {e, e + x[r].x, e + x[r].y, e + x[r].z});
        offset += __shfl_sync(ALL, sum[r], 31);
      }
    }
  }
}

// [hide] How the rungs are registered
namespace {

/// What the launches of one kernel leave for each other, for tiles of this many elements.
struct States {
  lab::DeviceBuffer<Word> words;

  States(size_t n, unsigned tile)
      : words(sizeof(State) / sizeof(Word) + blocks_for(n, tile), "state") {
    words.zero();
  }
};

unsigned multiprocessors() {
  return static_cast<unsigned>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
}

/// Blocks whose warps have roles: as many on each multiprocessor, with this much dynamic shared memory.
template <class Kernel>
Launch in_roles(Kernel* kernel, unsigned per_multiprocessor, unsigned bytes, States& states) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  State* const state = reinterpret_cast<State*>(states.words.data());
  const unsigned blocks = per_multiprocessor * multiprocessors();
  return [=](const Arrays& a) { kernel<<<blocks, THREADS, bytes>>>(a.out, a.in, a.n, state); };
}

const lab::Rungs here([](Scans& scans) {
  const size_t n = scans.common.n;
  States scan(n, 8192);
  // A block that gets a tile or two needs no ring for six.
  const bool few = blocks_for(n, 8192) <= multiprocessors();
  scans.add("look_ahead", "", exclusive,
            few ? in_roles(look_ahead<8192, 2>, 1, 2 * 8192 * 4, scan)
                : in_roles(look_ahead<8192, 6>, 1, 6 * 8192 * 4, scan));
});

}  // namespace
// [/hide]
