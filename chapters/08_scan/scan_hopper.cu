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
#include "roles.h"
#include "scan.h"

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
