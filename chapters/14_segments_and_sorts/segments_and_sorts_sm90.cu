#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>
#include <type_traits>

#include "lab/lab.h"
#include "segments.h"

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

// ## Segments and repeats with the same roles (second reading)
//
// `segmented_ahead` has pairs in the place of sums. The head of a piece is a bit beside its sum in the word. In
// a warp, `__ballot_sync` shows all heads at once, so that a lane knows how far to its left it has to add.

namespace {

/// Joins the pieces of 32 lanes, in the order of the lanes. Called by a warp.
///
/// @param heads  out: which lanes have a head
/// @return the sum since the last head, or of all
__device__ unsigned join_lanes(unsigned sum, bool head, unsigned& heads) {
  heads = __ballot_sync(ALL, head);
  const unsigned from = heads != 0 ? 31 - __clz(static_cast<int>(heads)) : 0;
  return __reduce_add_sync(ALL, threadIdx.x % 32 >= from ? sum : 0);
}

/// The bytes of a stage: a tile, 16 bytes so that a key can precede the others, and its flags or keys.
template <unsigned TILE, bool KEYS>
constexpr unsigned STAGE_BYTES = TILE * 4 + 16 + TILE*(KEYS ? 4 : 1);

/// Which of four neighbouring elements are heads, in 4 bits.
///
/// @param heads  of the tile, in shared memory
/// @param e      the first of the four in the tile
template <bool KEYS>
__device__ unsigned heads_of(const unsigned char* heads, unsigned e, unsigned tile) {
  if constexpr (!KEYS) {
    const uchar4 f = *reinterpret_cast<const uchar4*>(heads + e);
    return (f.x != 0) | (f.y != 0) << 1 | (f.z != 0) << 2 | (f.w != 0) << 3;
  } else {
    const unsigned* const keys = reinterpret_cast<const unsigned*>(heads);
    const uint4 k = *reinterpret_cast<const uint4*>(keys + e);
    unsigned left = __shfl_up_sync(ALL, k.w, 1);
    if (threadIdx.x % 32 == 0) left = keys[static_cast<int>(e) - 1];
    if (e == 0 && tile == 0) left = ~k.x;
    return (k.x != left) | (k.y != k.x) << 1 | (k.z != k.y) << 2 | (k.w != k.z) << 3;
  }
}

}  // namespace

/// The inclusive segmented scan of n elements.
///
/// @param marks  KEYS: unsigned keys, a segment begins where one is not that before it; else a byte for each
///               element, not 0 where a segment begins
/// @param state  as for `look_ahead`
///
/// Launch: THREADS threads, STAGES * STAGE_BYTES<TILE, KEYS> bytes, any number of blocks.
/// Requires: in, marks and out are aligned to 16 bytes.
template <unsigned TILE, unsigned STAGES, bool KEYS>
__global__ void __launch_bounds__(THREADS, 1)
    segmented_ahead(unsigned* __restrict__ out, const unsigned* __restrict__ in,
                    const void* __restrict__ marks, size_t n, State* state) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Barrier full[STAGES], counted[STAGES], ready[STAGES], empty[STAGES];
  __shared__ unsigned part[STAGES][SCANNING], prefix[STAGES], tile_of[STAGES], epoch;
  __shared__ bool part_head[STAGES][SCANNING];
  constexpr unsigned PART = TILE / SCANNING, ROWS = PART / 128, BYTES = STAGE_BYTES<TILE, KEYS>;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned tiles = static_cast<unsigned>((n + TILE - 1) / TILE);
  const unsigned first = begin<STAGES>(state, &epoch, full, counted, ready, empty);
  const Word nothing = static_cast<Word>(epoch) << 33;  // bit 32 is the head
  Word* const words = words_of(state);
  const auto tile_at = [&](unsigned s) { return reinterpret_cast<unsigned*>(memory + s * BYTES); };
  const auto marks_at = [&](unsigned s) { return memory + s * BYTES + TILE * 4 + 16; };

  if (warp == 0) {
    load_tiles<STAGES>(
        state, first, tiles, epoch, tile_of, full, empty, [&](unsigned s, unsigned tile) {
          using Mark = std::conditional_t<KEYS, unsigned, unsigned char>;
          const Mark* const all = static_cast<const Mark*>(marks);
          Mark* const to = reinterpret_cast<Mark*>(marks_at(s));
          const size_t at = size_t{tile} * TILE;
          // The last tile ends early: zeros without heads behind it.
          complete<TILE>(tile_at(s), in + at, n - at, [](size_t) { return 0u; });
          complete<TILE>(to, all + at, n - at, [&](size_t) { return KEYS ? all[n - 1] : Mark{0}; });
          const unsigned ahead = KEYS && tile > 0 ? 16 : 0;  // bytes: the key before the first
          const unsigned elements = in_bulk<TILE, unsigned>(n - at);
          const unsigned with = in_bulk<TILE, Mark>(n - at) * sizeof(Mark) + ahead;
          if (lane != 0 || elements * 4 + with == 0) return arrive(&full[s]);
          expect(&full[s], elements * 4 + with);
          if (elements > 0) copy(tile_at(s), in + at, elements * 4, &full[s]);
          if (with > 0)
            copy(marks_at(s) - ahead, reinterpret_cast<const unsigned char*>(all + at) - ahead,
                 with, &full[s]);
        });
  } else if (warp == 1) {  // publishes
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&counted[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      unsigned heads;
      const bool has = lane < SCANNING;
      const unsigned sum = join_lanes(has ? part[s][lane] : 0, has && part_head[s][lane], heads);
      if (lane == 0) {
        publish(words + tile, nothing | static_cast<Word>(heads != 0) << 32 | sum);
        arrive(&ready[s]);
      }
    }
  } else if (warp == 2) {            // looks back, to the tile that this block had before
    unsigned known = 0, before = 0;  // sum since the last head before tile `known`
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&counted[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      unsigned heads, sum;
      read_words<33>(words, known, tile, nothing, [&](const Word(&w)[4]) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          sum = join_lanes(static_cast<unsigned>(w[j]), (w[j] >> 32 & 1) != 0, heads);
          before = heads != 0 ? sum : before + sum;
        }
      });
      const unsigned exclusive = before;
      const bool has = lane < SCANNING;
      sum = join_lanes(has ? part[s][lane] : 0, has && part_head[s][lane], heads);
      before = heads != 0 ? sum : before + sum;
      known = tile + 1;
      if (lane == 0) {
        prefix[s] = exclusive;
        arrive(&ready[s]);
      }
    }
  } else if (warp < 3 + SUMMING) {  // sum what follows the last head of each part
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES;
      wait(&full[s], k / STAGES % 2);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) {
        if (lane == 0) arrive(&counted[s]);
        break;
      }
#pragma unroll
      for (unsigned p = warp - 3; p < SCANNING; p += SUMMING) {
        const uint4* const from = reinterpret_cast<const uint4*>(tile_at(s) + p * PART);
        unsigned sum = 0;
        bool any = false;
#pragma unroll
        for (unsigned r = 0; r < ROWS; ++r) {
          const uint4 x = from[r * 32 + lane];
          const unsigned h = heads_of<KEYS>(marks_at(s), p * PART + r * 128 + lane * 4, tile);
          const unsigned heads = __ballot_sync(ALL, h != 0);
          unsigned own = x.w;
          if ((h & 8) == 0) {
            own += x.z;
            if ((h & 4) == 0) {
              own += x.y;
              if ((h & 2) == 0) own += x.x;
            }
          }
          if (heads != 0) {
            any = true;
            sum = lane >= 31u - __clz(static_cast<int>(heads)) ? own : 0;
          } else {
            sum += own;
          }
        }
        sum = __reduce_add_sync(ALL, sum);
        if (lane == 0) {
          part[s][p] = sum;
          part_head[s][p] = any;
        }
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
      const uint4* const from = reinterpret_cast<const uint4*>(tile_at(s) + p * PART);
      uint4 x[ROWS];
      unsigned sum[ROWS], h[ROWS], heads[ROWS];
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        x[r] = from[r * 32 + lane];
        h[r] = heads_of<KEYS>(marks_at(s), p * PART + r * 128 + lane * 4, tile);
        heads[r] = __ballot_sync(ALL, h[r] != 0);
        if ((h[r] & 2) == 0) x[r].y += x[r].x;
        if ((h[r] & 4) == 0) x[r].z += x[r].y;
        if ((h[r] & 8) == 0) x[r].w += x[r].z;
        sum[r] = x[r].w;
      }
      // A lane adds from d lanes to its left unless a head lies in between or in its own four.
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        const unsigned up_to_me = heads[r] & (ALL >> (31 - lane));
        const int start = up_to_me != 0 ? 31 - __clz(static_cast<int>(up_to_me)) : 0;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
          const unsigned left = __shfl_up_sync(ALL, sum[r], d);
          if (static_cast<int>(lane) - d >= start) sum[r] += left;
        }
      }
      wait(&ready[s], k / STAGES % 2);
      unsigned part_heads;
      const unsigned parts =
          join_lanes(lane < p ? part[s][lane] : 0, lane < p && part_head[s][lane], part_heads);
      unsigned offset = part_heads != 0 ? parts : prefix[s] + parts;
      __syncwarp();
      if (lane == 0) arrive(&empty[s]);
      const size_t at = size_t{tile} * TILE + p * PART + lane * 4;
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r) {
        unsigned e = __shfl_up_sync(ALL, sum[r], 1);
        if (lane == 0) e = 0;
        if ((heads[r] & ((1u << lane) - 1)) == 0) e += offset;  // no head to my left
        const unsigned last = __shfl_sync(ALL, sum[r], 31);
        offset = heads[r] != 0 ? last : offset + last;
        uint4 result = x[r];
        if ((h[r] & 1) == 0) result.x += e;
        if ((h[r] & 3) == 0) result.y += e;
        if ((h[r] & 7) == 0) result.z += e;
        if (h[r] == 0) result.w += e;
        store4(out, at + r * 128, n, result);
      }
    }
  }
}

// In `repeats_ahead` a stage of the ring holds a tile and its right neighbour's first elements. The comparing
// warps turn a tile into masks, an eighth of a KiB for each KiB, and give the stage back at once. The masks go
// through a second ring, with barriers of its own, to the warps that write.

/// All i with in[i] == in[i + 1], ascending, and how many there are.
///
/// @param state  as for `look_ahead`
///
/// Launch: THREADS threads, STAGES * (TILE + 4) * 4 bytes, any number of blocks.
/// Requires: in is aligned to 16 bytes; n < 2^32.
template <unsigned TILE, unsigned STAGES, unsigned RINGS>
__global__ void __launch_bounds__(THREADS, 2)
    repeats_ahead(unsigned* __restrict__ out, unsigned* __restrict__ size,
                  const unsigned* __restrict__ in, size_t n, State* state) {
  extern __shared__ __align__(128) unsigned char memory[];
  unsigned* const ring = reinterpret_cast<unsigned*>(memory);
  constexpr unsigned SLOT = TILE + 4, MASKS = TILE / 32, PART = TILE / SUMMING;
  constexpr unsigned ROWS = PART / 32,
                     EACH = MASKS / SCANNING;  // masks of a comparing, a writing warp
  static_assert(ROWS % 32 == 0 && EACH <= 32);
  __shared__ Barrier full[STAGES], empty[STAGES], counted[RINGS], ready[RINGS], taken[RINGS];
  __shared__ unsigned mask[RINGS][MASKS], part[RINGS][SUMMING], prefix[RINGS];
  __shared__ unsigned tile_in[STAGES], tile_of[RINGS], epoch;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned tiles = static_cast<unsigned>((n + TILE - 1) / TILE);
  unsigned first = 0;
  if (threadIdx.x == 0) {
    first = atomicAdd(&state->ticket, 1u);
    for (unsigned s = 0; s < STAGES; ++s) {
      init(&full[s], 32);
      init(&empty[s], SUMMING);
    }
    for (unsigned q = 0; q < RINGS; ++q) {
      init(&counted[q], SUMMING * 32);
      init(&ready[q], 2);
      init(&taken[q], SCANNING);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (threadIdx.x == 32) epoch = *const_cast<volatile unsigned*>(&state->epoch) + 1;
  if (tiles == 0 && blockIdx.x == 0 && threadIdx.x == 0) *size = 0;
  __syncthreads();
  const Word nothing = static_cast<Word>(epoch) << 32;
  Word* const words = words_of(state);

  if (warp == 0) {
    load_tiles<STAGES>(state, first, tiles, epoch, tile_in, full, empty,
                       [&](unsigned s, unsigned tile) {
                         const size_t at = size_t{tile} * TILE;
                         // Behind the last element, each differs from the one before it.
                         fill<SLOT>(ring + s * SLOT, in + at, n - at, &full[s],
                                    [&](size_t i) { return i % 2 == 0 ? ~in[n - 1] : in[n - 1]; });
                       });
  } else if (warp == 1) {  // publishes
    for (unsigned k = 0;; ++k) {
      const unsigned q = k % RINGS;
      wait(&counted[q], k / RINGS % 2);
      const unsigned tile = tile_of[q];
      if (tile >= tiles) {
        if (lane == 0) arrive(&ready[q]);
        break;
      }
      const unsigned sum = __reduce_add_sync(ALL, lane < SUMMING ? part[q][lane] : 0);
      if (lane == 0) {
        publish(words + tile, nothing | sum);
        arrive(&ready[q]);
      }
    }
  } else if (warp == 2) {  // looks back, to the tile that this block had before
    unsigned known = 0, before = 0;
    for (unsigned k = 0;; ++k) {
      const unsigned q = k % RINGS;
      wait(&counted[q], k / RINGS % 2);
      const unsigned tile = tile_of[q];
      if (tile >= tiles) {
        if (lane == 0) arrive(&ready[q]);
        break;
      }
      unsigned sum = 0;
      read_words<32>(words, known, tile, nothing, [&](const Word(&w)[4]) {
        sum += static_cast<unsigned>(w[0]) + static_cast<unsigned>(w[1]) +
               static_cast<unsigned>(w[2]) + static_cast<unsigned>(w[3]);
      });
      const unsigned exclusive = before + __reduce_add_sync(ALL, sum);
      before = exclusive + __reduce_add_sync(ALL, lane < SUMMING ? part[q][lane] : 0);
      known = tile + 1;
      if (lane == 0) {
        prefix[q] = exclusive;
        if (tile == tiles - 1) *size = before;
        arrive(&ready[q]);
      }
    }
  } else if (warp < 3 + SUMMING) {  // compare, leave masks
    const unsigned p = warp - 3;
    for (unsigned k = 0;; ++k) {
      const unsigned s = k % STAGES, q = k % RINGS;
      wait(&full[s], k / STAGES % 2);
      const unsigned tile = tile_in[s];
      if (k >= RINGS) wait(&taken[q], (k / RINGS - 1) % 2);
      if (p == 0 && lane == 0) tile_of[q] = tile;
      if (tile >= tiles) {
        arrive(&counted[q]);
        break;
      }
      const unsigned* const from = ring + s * SLOT + p * PART;
      unsigned total = 0;
#pragma unroll
      for (unsigned g = 0; g < ROWS; g += 32) {
        unsigned mine = 0;  // lane r keeps the mask of row g + r
#pragma unroll
        for (unsigned r = 0; r < 32; ++r) {
          const unsigned e = (g + r) * 32 + lane;
          const unsigned equal = __ballot_sync(ALL, from[e] == from[e + 1]);
          if (lane == r) mine = equal;
        }
        mask[q][p * ROWS + g + lane] = mine;
        total += __popc(mine);
      }
      total = __reduce_add_sync(ALL, total);
      if (lane == 0) part[q][p] = total;
      arrive(&counted[q]);
      __syncwarp();
      if (lane == 0) arrive(&empty[s]);
    }
  } else {  // write
    const unsigned p = warp - 3 - SUMMING;
    for (unsigned k = 0;; ++k) {
      const unsigned q = k % RINGS;
      wait(&ready[q], k / RINGS % 2);
      const unsigned tile = tile_of[q];
      if (tile >= tiles) break;
      const unsigned mine = lane < EACH ? mask[q][p * EACH + lane] : 0;
      unsigned before = 0;
      for (unsigned j = lane; j < p * EACH; j += 32) before += __popc(mask[q][j]);
      before = __reduce_add_sync(ALL, before) + prefix[q];
      __syncwarp();
      if (lane == 0) arrive(&taken[q]);
      const unsigned found = __popc(mine);
      unsigned inclusive = found;
#pragma unroll
      for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(ALL, inclusive, d);
        if (lane >= d) inclusive += left;
      }
      const unsigned place = before + inclusive - found;
      const unsigned at = tile * TILE + p * EACH * 32 + lane;
      if (__any_sync(ALL, found != 0)) {
#pragma unroll 4
        for (unsigned j = 0; j < EACH; ++j) {
          const unsigned row = __shfl_sync(ALL, mine, j), to = __shfl_sync(ALL, place, j);
          if ((row >> lane & 1) != 0) out[to + __popc(row & ((1u << lane) - 1))] = at + j * 32;
        }
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
  return [=](const Arrays& a) { launch(kernel, {blocks, THREADS, bytes}, a, state); };
}

const lab::Rungs here([](Segments& segments) {
  const size_t n = segments.common.n;
  States flags(n, 8192), keys(n, 4096), found(n, 8192);
  segments.add("segmented_ahead", "flags", by_flags,
               in_roles(segmented_ahead<8192, 5, false>, 1, 5 * STAGE_BYTES<8192, false>, flags));
  segments.add("segmented_ahead", "keys", by_keys,
               in_roles(segmented_ahead<4096, 6, true>, 1, 6 * STAGE_BYTES<4096, true>, keys));
  segments.add("repeats_ahead", "", repeats,
               in_roles(repeats_ahead<8192, 3, 8>, 2, 3 * (8192 + 4) * 4, found));
});

}  // namespace
// [/hide]
