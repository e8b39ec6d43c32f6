/// \file
/// What warps with roles of their own share, in this chapter's `look_ahead` and in chapter 14: barriers, bulk copies, the
/// words of the tiles, and the role of the loading warp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

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
