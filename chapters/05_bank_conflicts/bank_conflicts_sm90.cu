/// \file
/// The last two rungs of chapter 05: warps that only load, warps that only compute, and an even share
/// of the work for every SM. They need compute capability 9.0; bank_conflicts_sm90_stub.cu stands in
/// on the simulator.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cuda/ptx>
#include <memory>

#include "lab/gemm.h"
#include "lab/lab.h"

namespace {

namespace ptx = cuda::ptx;

constexpr int BM = 128, BN = 256, BK = 16;  // the tile of a block, and a slice of it along K
constexpr int TM = 16, TN = 8;              // the tile of a thread
constexpr int computing_warps = 8, loading_warps = 4;
constexpr int computing_threads = 32 * computing_warps;
constexpr int block_threads = 32 * (computing_warps + loading_warps);
constexpr int stages = 8;  // slices in shared memory
constexpr int lda_shared =
    BM + 4;  // A lies transposed, (BK, BM), padded against conflicts of the stores
constexpr unsigned a_bytes = 4 * BK * lda_shared, b_bytes = 4 * BK * BN;
constexpr unsigned stage_bytes = a_bytes + b_bytes;
constexpr unsigned shared_bytes = stages * (stage_bytes + 2 * sizeof(std::uint64_t));
constexpr int group = 8;          // rows of tiles that are computed side by side, for L2
constexpr int fewest_slices = 8;  // of a tile that is cut along K, for each block
// 168 registers a thread at launch make 64,512 a block; the loading warps give up what the others take.
constexpr int loading_registers = 40, computing_registers = 232;

/// What lies at an address of shared memory.
template <class T>
__device__ __forceinline__ T* in_shared(std::uint32_t address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}

/// Hides from the compiler where a value comes from, or it would compute it anew for each slice rather
/// than keep it in a register.
__device__ __forceinline__ void hide(std::uint32_t& value) { asm volatile("" : "+r"(value)); }

/// Waits until a barrier has completed the phase of this parity.
__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(in_shared<std::uint64_t>(barrier), parity)) {
  }
}

/// Copies floats to shared memory past the registers, and zeros for those that do not exist.
/// @param bytes  how many of the `size` bytes exist
template <int size>
__device__ __forceinline__ void copy(std::uint32_t to, const float* from, int bytes = size) {
  __pipeline_memcpy_async(in_shared<float>(to), from, size, size - bytes);
}

/// The order in which a block takes on its share of the product.
///
/// The tiles that make whole waves over all blocks are computed as a whole. Of the tiles that are left,
/// with `kShare`, all blocks get the same number of slices along K, next to each other; a block then may
/// have the end of one tile and the beginning of the next. Without, the first blocks get one each.
/// Source of the idea: Osama et al., Stream-K, 2023 (its data-parallel hybrid).
template <bool kShare>
struct Schedule {
  int tiles_m, tiles_n, slices;  // of the product
  int whole;                     // tiles that are not cut
  int workers;                   // blocks that have a share of the others
  int tile;                      // the next whole tile of this block
  long long at, end;             // its slices of the others, counted from tile `whole` on

  __device__ Schedule(int m, int n, int k)
      : tiles_m((m + BM - 1) / BM), tiles_n((n + BN - 1) / BN), slices((k + BK - 1) / BK) {
    const int blocks = static_cast<int>(gridDim.x), tiles = tiles_m * tiles_n;
    whole = kShare ? tiles - tiles % blocks : tiles;
    workers =
        static_cast<int>(max(1LL, min(static_cast<long long>(blocks), left() / fewest_slices)));
    tile = static_cast<int>(blockIdx.x);
    at = begin(tile);
    end = begin(tile + 1);
  }
  /// Slices of the tiles that are cut.
  __device__ long long left() const {
    return static_cast<long long>(tiles_m * tiles_n - whole) * slices;
  }
  /// The first slice that a worker has of them.
  __device__ long long begin(int worker) const {
    return worker >= workers ? left() : left() * worker / workers;
  }
  __device__ bool more() const { return tile < whole || at < end; }
  /// The next piece: `count` slices of tile `t` from `first` on.
  __device__ bool next(int& t, int& first, int& count) {
    if (tile < whole) {
      t = tile, first = 0, count = slices;
      tile += static_cast<int>(gridDim.x);
      return true;
    }
    if (!kShare || at >= end) return false;
    t = whole + static_cast<int>(at / slices), first = static_cast<int>(at % slices);
    count = static_cast<int>(min(static_cast<long long>(slices - first), end - at));
    at += count;
    return true;
  }
  /// The first row and column of tile `t`; tiles next to each other share rows of A or columns of B.
  __device__ void place(int t, int& row, int& col) const {
    const int in_group = group * tiles_n, g = t / in_group, high = min(group, tiles_m - g * group);
    row = (g * group + t % in_group % high) * BM, col = t % in_group / high * BN;
  }
};

/// What a loading warp does: fills the ring of stages, as long as there are slices.
///
/// A lane copies of A, in a slice (BM, BK), k = lane % 8 and 8 + lane % 8 of the rows
/// 16 i + 4 warp + lane / 8: 32 bytes of each of four rows for a request, and no two lanes that write
/// to the same bank. Of B it copies 16 bytes of rows 4 warp to 4 warp + 3, at columns 4 lane and
/// 128 + 4 lane.
template <bool kAligned, class Work>
__device__ void load(const lab::Gemm& g, Work work, std::uint32_t base, std::uint32_t full,
                     std::uint32_t empty) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 - computing_warps;
  const std::uint32_t a_to = base + 4 * (lane % 8 * lda_shared + 4 * warp + lane / 8);
  const std::uint32_t b_to = base + a_bytes + 4 * (4 * warp * BN + 4 * lane);
  int stage = 0, tile, first, count;
  std::uint32_t parity = 1;  // of a barrier that nobody has arrived at: the stages are empty
  while (work.next(tile, first, count)) {
    int row, col;
    work.place(tile, row, col);
    row += 4 * warp + lane / 8, col += 4 * lane;
    const float* a = g.a + static_cast<std::size_t>(row) * g.lda + first * BK + lane % 8;
    const float* b = g.b + static_cast<std::size_t>(first * BK + 4 * warp) * g.ldb + col;
    const bool inside =
        kAligned && row - 4 * warp - lane / 8 + BM <= g.m && col - 4 * lane + BN <= g.n;
    for (int t = first; t < first + count; ++t) {
      wait_for(empty + 8 * stage, parity);
      const std::uint32_t to_a = a_to + stage * stage_bytes, to_b = b_to + stage * stage_bytes;
      if (inside && (t + 1) * BK <= g.k) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float* from = a + static_cast<std::size_t>(16 * i) * g.lda;
          copy<4>(to_a + 64 * i, from);
          copy<4>(to_a + 64 * i + 32 * lda_shared, from + 8);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* from = b + static_cast<std::size_t>(i) * g.ldb;
          copy<16>(to_b + 4 * BN * i, from);
          copy<16>(to_b + 4 * BN * i + 512, from + 128);
        }
      } else {
        const int k_a = t * BK + lane % 8, k_b = t * BK + 4 * warp;
#pragma unroll 1
        for (int i = 0; i < 16; ++i) {
          const int k = i % 2 * 8;
          const bool exists = row + i / 2 * 16 < g.m && k_a + k < g.k;
          const float* from = a + static_cast<std::size_t>(i / 2 * 16) * g.lda + k;
          copy<4>(to_a + 64 * (i / 2) + 4 * k * lda_shared, exists ? from : g.a, exists ? 4 : 0);
        }
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
          const int c = i % 2 * 128;
          const int exist = k_b + i / 2 < g.k ? max(0, min(4, g.n - col - c)) : 0;
          const float* from = exist > 0 ? b + static_cast<std::size_t>(i / 2) * g.ldb + c : g.b;
          const std::uint32_t to = to_b + 4 * (i / 2 * BN + c);
          if constexpr (kAligned) {
            copy<16>(to, from, 4 * exist);
          } else {
            for (int e = 0; e < 4; ++e)
              copy<4>(to + 4 * e, e < exist ? from + e : g.b, e < exist ? 4 : 0);
          }
        }
      }
      ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(full + 8 * stage));
      a += BK, b += static_cast<std::size_t>(BK) * g.ldb;
      if (++stage == stages) stage = 0, parity ^= 1;
    }
  }
}

/// What the computing warps do: each computes 64 x 64 elements of C for each piece of the work.
template <bool kAligned, class Work>
__device__ void compute(const lab::Gemm& g, Work work, std::uint32_t base, std::uint32_t full,
                        float* partials, int* ready) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // Lanes in pairs: 4 rows x 8 columns, bit 0 a column, bit 1 a row.
  const int lane_row = ((lane >> 1) & 1) | ((lane >> 3) & 2),
            lane_col = (lane & 1) | ((lane >> 1) & 6);
  const int row_in_tile = warp % 2 * 64 + lane_row * 4, col_in_tile = warp / 2 * 64 + lane_col * 4;
  const std::uint32_t a_start = base + 4 * row_in_tile;
  std::uint32_t a_to_b = a_bytes + 4 * (col_in_tile - row_in_tile);
  hide(a_to_b);
  const std::uint32_t last = full + 8 * (stages - 1);

  float a[2][TM], b[2][TN], c[TM][TN];
  const auto fragments = [&](std::uint32_t from_a, std::uint32_t from_b, int which) {
#pragma unroll
    for (int i = 0; i < TM / 4; ++i) {
      *reinterpret_cast<float4*>(&a[which][4 * i]) = *in_shared<const float4>(from_a + 64 * i);
    }
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      *reinterpret_cast<float4*>(&b[which][4 * j]) = *in_shared<const float4>(from_b + 128 * j);
    }
  };

  std::uint32_t barrier = full, at_a = a_start, at_b = a_start + a_to_b, parity = 0;
  if (work.more()) {
    wait_for(full, 0);
    fragments(at_a, at_b, 0);
  }
  int tile, first, count;
  while (work.next(tile, first, count)) {
    const bool more = work.more();
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j) c[i][j] = 0;
    }
#pragma unroll 1
    for (int t = count; t > 0; --t) {
      const bool wrap = barrier == last, next_exists = more || t > 1;
      const std::uint32_t next = wrap ? full : barrier + 8;
      const std::uint32_t next_a = wrap ? a_start : at_a + stage_bytes, next_b = next_a + a_to_b;
      if (wrap) parity ^= 1;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        // The fragments of step k + 1 are read while step k computes; the last step reads ahead into
        // the next stage.
        if (k == BK - 1 && next_exists) wait_for(next, parity);
        fragments(k + 1 < BK ? at_a + (k + 1) * 4 * lda_shared : next_a,
                  k + 1 < BK ? at_b + (k + 1) * 4 * BN : next_b, (k + 1) % 2);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {  // down one column of C, up the next
          const int j = x / TM, i = j % 2 == 0 ? x % TM : TM - 1 - x % TM;
          c[i][j] += a[k % 2][i] * b[k % 2][j];
        }
      }
      if (lane == 0) ptx::mbarrier_arrive(in_shared<std::uint64_t>(barrier + 8 * stages));
      barrier = next, at_a = next_a, at_b = next_b;
    }

    if (first > 0) {
      // Not the beginning of a tile: what is here goes to the block that has it.
      float* mine = partials + static_cast<std::size_t>(blockIdx.x) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) __stcg(mine + x * computing_threads, c[x / TN][x % TN]);
      __threadfence();
      __barrier_sync_count(1, computing_threads);
      if (thread == 0) atomicExch(ready + blockIdx.x, 1);
      continue;
    }
    // The beginning, but not all of it: the blocks after this one have the rest, and computed it first.
    for (int done = count, other = static_cast<int>(blockIdx.x) + 1; done < work.slices; ++other) {
      if (thread == 0) {
        while (atomicCAS(ready + other, 1, 0) != 1) __nanosleep(64);
        __threadfence();
      }
      __barrier_sync_count(1, computing_threads);
      const float* theirs = partials + static_cast<std::size_t>(other) * (BM * BN) + thread;
#pragma unroll
      for (int x = 0; x < TM * TN; ++x) c[x / TN][x % TN] += __ldcg(theirs + x * computing_threads);
      done += static_cast<int>(work.begin(other + 1) - work.begin(other));
    }

    int row, col;
    work.place(tile, row, col);
    row += row_in_tile, col += col_in_tile;
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const int r = row + i / 4 * 16 + i % 4;
      float* out = g.c + static_cast<std::size_t>(r) * g.ldc + col;
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        // The products by alpha leave the compiler free in which registers it sums up: a float4 that
        // is stored needs four in a row.
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = g.alpha * c[i][j + e];
        const int c_to = 8 * j, exist = r < g.m ? g.n - col - c_to : 0;
        if (kAligned && exist >= 4) {
          float4* to = reinterpret_cast<float4*>(out + c_to);
          if (g.beta != 0) {
            const float4 was = *to;
            v[0] += g.beta * was.x, v[1] += g.beta * was.y;
            v[2] += g.beta * was.z, v[3] += g.beta * was.w;
          }
          *to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (e < exist) out[c_to + e] = v[e] + (g.beta != 0 ? g.beta * out[c_to + e] : 0);
          }
        }
      }
    }
  }
}

/// Sets up the ring of stages, and parts the warps.
template <bool kAligned, bool kShare>
__device__ __forceinline__ void run(const lab::Gemm& g, float* partials, int* ready) {
  extern __shared__ float4 memory[];
  std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  hide(base);
  const std::uint32_t full = base + stages * stage_bytes, empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(in_shared<std::uint64_t>(full + 8 * s), 32 * loading_warps);
      ptx::mbarrier_init(in_shared<std::uint64_t>(empty + 8 * s), computing_warps);
    }
  }
  __syncthreads();
  const Schedule<kShare> work(g.m, g.n, g.k);
  if (threadIdx.x >= computing_threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(loading_registers));
    load<kAligned>(g, work, base, full, empty);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(computing_registers));
    compute<kAligned>(g, work, base, full, partials, ready);
  }
}

}  // namespace

/// C = alpha A B + beta C, tile by tile, by 8 warps that compute and 4 that load.
///
/// @tparam aligned  whether rows of B and C start at multiples of 16 bytes
/// @param g         the product
///
/// Launch: as many blocks of 384 threads as there are SMs, with shared_bytes of shared memory.
/// Requires: compute capability 9.0 (mbarrier, setmaxnreg).
template <bool aligned>
__global__ void __launch_bounds__(block_threads, 1) producer_warps(const lab::Gemm g) {
  run<aligned, false>(g, nullptr, nullptr);
}

/// The same, with an even share of the slices along K for each block where the tiles do not make whole
/// waves.
///
/// @tparam aligned  whether rows of B and C start at multiples of 16 bytes
/// @param g         the product
/// @param partials  (blocks, 128 x 256) floats for sums of parts of a tile
/// @param ready     a flag for each block, 0; they are 0 again afterwards
///
/// Launch: as many blocks of 384 threads as there are SMs, and not more than fit at once, with
/// shared_bytes of shared memory.
/// Requires: compute capability 9.0 (mbarrier, setmaxnreg).
/// Source of the idea: Osama et al., Stream-K, 2023.
template <bool aligned>
__global__ void __launch_bounds__(block_threads, 1)
    even_shares(const lab::Gemm g, float* partials, int* ready) {
  run<aligned, true>(g, partials, ready);
}

// [hide] How the rungs are registered
namespace {

/// Whether each row of a matrix starts at a multiple of 16 bytes.
bool aligned(const float* matrix, int ld) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 && ld % 4 == 0;
}

/// Launches one of two kernels, by the alignment of the rows of B and C.
template <class Kernel, class... Arguments>
void launch(const lab::Gemm& g, int blocks, Kernel if_aligned, Kernel otherwise,
            Arguments... more) {
  const Kernel kernel = aligned(g.b, g.ldb) && aligned(g.c, g.ldc) ? if_aligned : otherwise;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes)));
  kernel<<<static_cast<unsigned>(blocks), block_threads, shared_bytes>>>(g, more...);
}

int multiprocessors() {
  int count = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// What even_shares needs besides the matrices.
struct Workspace {
  explicit Workspace(int blocks)
      : partials(static_cast<std::size_t>(blocks) * BM * BN, "partials"),
        ready(static_cast<std::size_t>(blocks), "ready") {
    CUDA_CHECK(cudaMemset(ready.data(), 0, static_cast<std::size_t>(blocks) * sizeof(int)));
  }
  lab::DeviceBuffer<float> partials;
  lab::DeviceBuffer<int> ready;
};

}  // namespace

void register_sm90(lab::GemmLadder& ladder) {
  ladder.add({.name = "producer_warps",
              .idea = "four warps load, eight compute; a block stays for many tiles",
              .launch =
                  [](const lab::Gemm& g) {
                    launch(g, multiprocessors(), producer_warps<true>, producer_warps<false>);
                  },
              .min_compute_capability = 90});
  const auto workspace = std::make_shared<std::unique_ptr<Workspace>>();
  ladder.add({.name = "even_shares",
              .idea = "the tiles that make no whole wave are cut along K, evenly",
              .launch =
                  [workspace](const lab::Gemm& g) {
                    const int blocks = multiprocessors();
                    if (!*workspace) *workspace = std::make_unique<Workspace>(blocks);
                    launch(g, blocks, even_shares<true>, even_shares<false>,
                           (*workspace)->partials.data(), (*workspace)->ready.data());
                  },
              .min_compute_capability = 90});
}
// [/hide]
