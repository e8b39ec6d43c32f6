// Products by specialized warps, for any layout: chapter 12's kernel as a line of the menu of chapter 13. any_product.cuh includes
// this header where ANY_PRODUCT_SPECIALIZED is defined, which asks for nvcc -gencode arch=compute_90a,code=sm_90a.
#pragma once

#include <cstdint>
#include <cuda/ptx>

#include "any_product.cuh"

namespace any_product {

/// A tile of C for a block of 8 warps that compute and 4 that load: TM x TN elements of a thread, DOWN warps of 4 x 8 lanes below
/// each other; a ring of STAGES K-tiles; BLOCKS at a time on an SM. With one block, registers move to the computing warps.
template <int TM_, int TN_, int DOWN_, int BLOCKS_ = 1, int STAGES_ = 8>
struct Specialized {
  static constexpr int TM = TM_, TN = TN_, DOWN = DOWN_, BLOCKS = BLOCKS_, STAGES = STAGES_;
  static constexpr int COMPUTING = 256, LOADING = 128, THREADS = COMPUTING + LOADING;
  static constexpr int WM = 4 * TM, WN = 8 * TN, BK = 16;
  static constexpr int BM = DOWN * WM, BN = 8 / DOWN * WN;
  // 8 floats more than the tile has: four steps of K of eight rows lie in different banks.
  static constexpr int PITCH_A = BM + 8, PITCH_B = BN + 8;
  static constexpr unsigned A_BYTES = 4 * BK * PITCH_A, STAGE = A_BYTES + 4 * BK * PITCH_B;
  static constexpr int SHARED = STAGES * static_cast<int>(STAGE + 2 * sizeof(std::uint64_t));
  static constexpr bool MOVE = BLOCKS == 1, SKIP = false;
  static_assert(BM % 32 == 0 && BN % 32 == 0 && TM % 4 == 0 && TN % 4 == 0);
  static __device__ int row_of(int warp) { return warp % DOWN * WM; }
  static __device__ int col_of(int warp) { return warp / DOWN * WN; }
  /// In which order a thread computes its groups of four rows.
  static __device__ constexpr int four_rows(int i) {
    return TM == 16 && i >= 2 ? 20 - 4 * i : 4 * i;
  }
};

/// How the loading warps copy an operand: float by float and transposed, if it lies along K; otherwise 1, 2 or 4 floats of a row at
/// a time. The number is that of the floats.
enum class Way { ALONG_K = 0, BY_1 = 1, BY_2 = 2, BY_4 = 4 };

/// The copies with the most bytes that the operand's address, its pitch and its extent across K allow.
inline Way way_of(const Operand& o, int extent) {
  if (o.along_k) return Way::ALONG_K;
  const size_t all = reinterpret_cast<size_t>(o.data) / 4 | o.ld | static_cast<size_t>(extent);
  if (all % 4 == 0) return Way::BY_4;
  return all % 2 == 0 ? Way::BY_2 : Way::BY_1;
}

namespace specialized {

namespace ptx = cuda::ptx;

/// What lies at an address of shared memory.
template <class T>
__device__ __forceinline__ T* in_shared(std::uint32_t address) {
  return static_cast<T*>(__cvta_shared_to_generic(address));
}

/// Hides from the compiler where a value comes from, so that it keeps it in a register.
__device__ __forceinline__ void hide(std::uint32_t& value) { asm volatile("" : "+r"(value)); }

/// Reads four floats. ptxas leaves volatile reads where they stand (chapter 12, section 7).
__device__ __forceinline__ void read4(float* to, std::uint32_t from) {
  asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(in_shared<std::uint64_t>(barrier), parity)) {
  }
}

/// All computing warps have come here.
__device__ __forceinline__ void computing_sync() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

/// The pieces of work of a block, for the loading and the computing warps alike: `last` - `first` K-tiles of a tile. One
/// piece, a part of a tile's K.
struct OnePiece {
  int tile, first, last;
  bool left = true;
  __device__ OnePiece(const Split& split, int, int k_tiles) {
    const int part = static_cast<int>(blockIdx.x) % split.parts;
    tile = static_cast<int>(blockIdx.x) / split.parts;
    first = share(k_tiles, part, split.parts), last = share(k_tiles, part + 1, split.parts);
  }
  __device__ bool next() {
    const bool is = left;
    left = false;
    return is;
  }
};

/// Stream-K's pieces, as in `stream_k`: from the last to the first, then whole tiles.
struct Pieces {
  const Shares& s;
  int tile, first, last, k_tiles, whole;
  long long begin, at;
  __device__ Pieces(const Shares& shares, int worker, int all_k_tiles)
      : s(shares), k_tiles(all_k_tiles), whole(worker) {
    begin = s.begin(worker), at = s.begin(worker + 1);
  }
  __device__ bool next() {
    if (at > begin) {
      const int t = static_cast<int>((at - 1) / k_tiles);
      const long long start = static_cast<long long>(t) * k_tiles;
      tile = s.whole + t, last = static_cast<int>(at - start);
      first = static_cast<int>(max(begin, start) - start);
      at = start + first;
      return true;
    }
    if (whole >= s.whole) return false;
    tile = whole, first = 0, last = k_tiles;
    whole += static_cast<int>(gridDim.x);
    return true;
  }
};

/// A lane's share of the copies that bring an operand's K-tiles, (BK, BX), to shared memory.
template <int BX, int PITCH>
struct Loader {
  static constexpr int BK = 16;
  const float* from;  // this lane's first element of the next K-tile
  int left;  // rows or columns of the operand from this lane's first on that are in the tile and exist

  /// Lanes that copy a row side by side, V floats each.
  template <int V>
  static constexpr int lanes = BX / V < 32 && 32 % (BX / V) == 0 ? BX / V : 32;

  static __device__ int x_of(Way way, int warp, int lane) {
    return way == Way::ALONG_K ? BX / 4 * warp + lane / 4
                               : lane % lanes_of(way) * static_cast<int>(way);
  }
  static __device__ int k_of(Way way, int warp, int lane) {
    return way == Way::ALONG_K ? lane % 4 : warp * (32 / lanes_of(way)) + lane / lanes_of(way);
  }
  static __device__ int lanes_of(Way way) {
    return way == Way::BY_4 ? lanes<4> : way == Way::BY_2 ? lanes<2> : lanes<1>;
  }

  /// From element (x0, k0) on; `extent` rows or columns in all.
  __device__ void begin(const Operand& o, Way way, int x0, int extent, int k0, int warp, int lane) {
    const int x = x_of(way, warp, lane), k = k_of(way, warp, lane);
    left = min(BX, extent - x0) - x;
    from =
        way == Way::ALONG_K ? o.data + (x0 + x) * o.ld + k0 + k : o.data + (k0 + k) * o.ld + x0 + x;
  }
  /// Where this lane's first element lies in a stage.
  static __device__ std::uint32_t to(Way way, int warp, int lane) {
    return 4 * static_cast<unsigned>(k_of(way, warp, lane) * PITCH + x_of(way, warp, lane));
  }

  /// Starts the copies of a whole K-tile. What does not exist in x is left as it was: it becomes elements outside of C.
  __device__ __forceinline__ void along_k(size_t ld, std::uint32_t to) {
    const float* f = from;
#pragma unroll
    for (int i = 0; i < BX / 32; ++i) {
      if (8 * i < left) {
#pragma unroll
        for (int e = 0; e < BK; e += 4)
          __pipeline_memcpy_async(in_shared<float>(to + 4 * (8 * i + e * PITCH)), f + e, 4);
      }
      f += 8 * ld;
    }
    from += BK;
  }
  template <int V>
  __device__ __forceinline__ void across_k(size_t ld, std::uint32_t to) {
    constexpr int L = lanes<V>, STEP = 4 * (32 / L);
#pragma unroll
    for (int k = 0; k < BK; k += STEP) {
#pragma unroll
      for (int x = 0; x < BX; x += L * V) {
        if (x < left)
          __pipeline_memcpy_async(in_shared<float>(to + 4 * (k * PITCH + x)), from + x, 4 * V);
      }
      from += STEP * ld;
    }
  }
  /// The same by the way that this operand takes.
  __device__ __forceinline__ void start(Way way, size_t ld, std::uint32_t to) {
    if (way == Way::ALONG_K) {
      along_k(ld, to);
    } else if (way == Way::BY_4) {
      across_k<4>(ld, to);
    } else if (way == Way::BY_2) {
      across_k<2>(ld, to);
    } else {
      across_k<1>(ld, to);
    }
  }

  /// A K-tile of which only `steps` of K exist: the rest becomes zeros.
  static __device__ __forceinline__ void last(const Operand& o, int x0, int extent, int k0,
                                              int steps, std::uint32_t stage, int warp, int lane) {
#pragma unroll 1
    for (int i = 0; i < BX * BK / 128; ++i) {
      const int x = o.along_k ? BX / 4 * warp + lane / 4 + i / 4 * 8 : lane + i % (BX / 32) * 32;
      const int k = o.along_k ? lane % 4 + i % 4 * 4 : warp + i / (BX / 32) * 4;
      if (x0 + x >= extent) continue;
      const float* const f =
          o.along_k ? o.data + (x0 + x) * o.ld + k0 + k : o.data + (k0 + k) * o.ld + x0 + x;
      __pipeline_memcpy_async(in_shared<float>(stage + 4 * (k * PITCH + x)), k < steps ? f : o.data,
                              4, k < steps ? 0 : 4);
    }
  }
};

/// What a loading warp does: fills the ring while there are K-tiles, and adds one empty stage, into which the computing warps
/// read ahead.
template <class T, class Work>
__device__ __forceinline__ void load(const Product& g, Way way_a, Way way_b, Work work,
                                     std::uint32_t base, std::uint32_t full, int warp) {
  constexpr int BK = T::BK, STAGES = T::STAGES;
  using LoadA = Loader<T::BM, T::PITCH_A>;
  using LoadB = Loader<T::BN, T::PITCH_B>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t to_a = LoadA::to(way_a, warp, lane),
                to_b = T::A_BYTES + LoadB::to(way_b, warp, lane);
  hide(to_a), hide(to_b);
  const std::uint32_t end = full + 8 * STAGES;
  std::uint32_t barrier = full, stage = base;
  std::uint32_t parity = 1;  // of the phase before the first: all stages are empty
  const auto next_stage = [&] {
    ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
    stage += T::STAGE, barrier += 8;
    if (barrier == end) stage = base, barrier = full, parity ^= 1;
  };
  const int rows = (g.m - 1) / T::BM + 1, cols = (g.n - 1) / T::BN + 1;
  const int whole = g.k / BK;  // K-tiles
  while (work.next()) {
    int row0, col0;
    place(work.tile, rows, cols, row0, col0);
    row0 *= T::BM, col0 *= T::BN;
    LoadA a;
    LoadB b;
    a.begin(g.a, way_a, row0, g.m, work.first * BK, warp, lane);
    b.begin(g.b, way_b, col0, g.n, work.first * BK, warp, lane);
#pragma unroll 1
    for (int t = min(work.last, whole) - work.first; t > 0; --t) {
      wait_for(barrier + 8 * STAGES, parity);
      a.start(way_a, g.a.ld, stage + to_a);
      b.start(way_b, g.b.ld, stage + to_b);
      next_stage();
    }
    if (work.last > whole) {
      wait_for(barrier + 8 * STAGES, parity);
      LoadA::last(g.a, row0, g.m, whole * BK, g.k - whole * BK, stage, warp, lane);
      LoadB::last(g.b, col0, g.n, whole * BK, g.k - whole * BK, stage + T::A_BYTES, warp, lane);
      next_stage();
    }
  }
  wait_for(barrier + 8 * STAGES, parity);
  ptx::cp_async_mbarrier_arrive_noinc(in_shared<std::uint64_t>(barrier));
}

/// c += another block's sums of a tile.
template <class T>
__device__ __forceinline__ void add_sums(float (&c)[T::TM][T::TN], const float4* theirs) {
  constexpr int Q = T::TN / 4;
#pragma unroll
  for (int x = 0; x < T::TM * Q; ++x) {
    const float4 v = __ldcg(theirs + x * T::COMPUTING);
    float* const s = &c[x / Q][x % Q * 4];
    s[0] += v.x, s[1] += v.y, s[2] += v.z, s[3] += v.w;
  }
}

/// Writes the sums of a tile for another block.
template <class T>
__device__ __forceinline__ void write_sums(const float (&c)[T::TM][T::TN], float4* mine) {
  constexpr int Q = T::TN / 4;
#pragma unroll
  for (int x = 0; x < T::TM * Q; ++x) {
    const float* const s = &c[x / Q][x % Q * 4];
    __stcg(mine + x * T::COMPUTING, make_float4(s[0], s[1], s[2], s[3]));
  }
  __threadfence();
  computing_sync();
}

/// Whether the sums in c are those of all of K, and this block stores them; otherwise another block has them now.
template <class T>
__device__ __forceinline__ bool collect(float (&c)[T::TM][T::TN], const Split& split,
                                        const OnePiece& work, int, int) {
  if (split.parts == 1) return true;
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int FOURS = T::BM * T::BN / 4;
  float4* const all =
      split.partials + static_cast<size_t>(work.tile) * split.parts * FOURS + thread;
  write_sums<T>(c, all + static_cast<int>(blockIdx.x) % split.parts * FOURS);
  if (split.tickets == nullptr) return false;  // a second kernel adds up
  __shared__ bool last;
  if (thread == 0) {
    last = atomicAdd(split.tickets + work.tile, 1u) == static_cast<unsigned>(split.parts) - 1;
    if (last) atomicExch(split.tickets + work.tile, 0u);  // for the next launch
    __threadfence();
  }
  computing_sync();
  if (!last) return false;
#pragma unroll
  for (int x = 0; x < T::TM * T::TN; ++x) c[x / T::TN][x % T::TN] = 0;
#pragma unroll 1
  for (int p = 0; p < split.parts; ++p) add_sums<T>(c, all + p * FOURS);  // in this order
  return true;
}
template <class T>
__device__ __forceinline__ bool collect(float (&c)[T::TM][T::TN], const Shares& s,
                                        const Pieces& work, int worker, int k_tiles) {
  const int thread = static_cast<int>(threadIdx.x);
  constexpr size_t FOURS = T::BM * T::BN / 4;
  if (work.last < k_tiles) {
    write_sums<T>(c, s.partials + static_cast<size_t>(worker) * FOURS + thread);
    if (thread == 0) atomicExch(s.ready + worker, 1u);
    return false;
  }
  int first = work.first;
  for (int other = worker; first > 0;) {
    --other;
    if (thread == 0) {
      while (atomicCAS(s.ready + other, 1u, 0u) != 1u) __nanosleep(32);
      __threadfence();
    }
    computing_sync();
    add_sums<T>(c, s.partials + static_cast<size_t>(other) * FOURS + thread);
    first = static_cast<int>(
        max(0LL, s.begin(other) - static_cast<long long>(work.tile - s.whole) * k_tiles));
  }
  return true;
}

/// What the computing warps do: the loop of chapter 12.
template <class T, class Deal, class Work>
__device__ __forceinline__ void compute(const Product& g, const Deal& deal, Work work,
                                        std::uint32_t base, std::uint32_t full, int worker,
                                        int k_tiles) {
  constexpr int TM = T::TM, TN = T::TN, BK = T::BK, STAGES = T::STAGES;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int row_in_tile = T::row_of(warp) + ((lane >> 1 & 1) | (lane >> 3 & 2)) * 4;
  const int col_in_tile = T::col_of(warp) + ((lane & 1) | (lane >> 1 & 6)) * 4;
  const std::uint32_t a_start = base + 4 * static_cast<unsigned>(row_in_tile);
  std::uint32_t a_to_b = T::A_BYTES + 4 * static_cast<unsigned>(col_in_tile - row_in_tile);
  hide(a_to_b);
  const std::uint32_t last = full + 8 * (STAGES - 1);

  float a[2][TM], b[2][TN], c[TM][TN];
  const auto fragments = [&](std::uint32_t from_a, std::uint32_t from_b, int which) {
#pragma unroll
    for (int i = 0; i < TM / 4; ++i) read4(&a[which][4 * i], from_a + 64 * i);
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) read4(&b[which][4 * j], from_b + 128 * j);
  };
  std::uint32_t barrier = full, at_a = a_start, at_b = a_start + a_to_b, parity = 0;
  wait_for(full, 0);
  fragments(at_a, at_b, 0);
  while (work.next()) {
#pragma unroll
    for (int x = 0; x < TM * TN; ++x) c[x / TN][x % TN] = 0;
#pragma unroll 1
    for (int t = work.last - work.first; t > 0; --t) {
      const bool wrap = barrier == last;
      const std::uint32_t next = wrap ? full : barrier + 8;
      const std::uint32_t next_a = wrap ? a_start : at_a + T::STAGE, next_b = next_a + a_to_b;
      if (wrap) parity ^= 1;
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        if (k == BK - 1) wait_for(next, parity);
        fragments(k + 1 < BK ? at_a + (k + 1) * 4 * T::PITCH_A : next_a,
                  k + 1 < BK ? at_b + (k + 1) * 4 * T::PITCH_B : next_b, (k + 1) % 2);
#pragma unroll
        for (int x = 0; x < TM * TN; ++x) {  // down one column of C, up the next
          const int down = x / TM % 2 == 0 ? x % TM : TM - 1 - x % TM, j = x / TM;
          const int i = T::four_rows(down / 4) + down % 4;
          c[i][j] += a[k % 2][i] * b[k % 2][j];
        }
      }
      ptx::mbarrier_arrive(in_shared<std::uint64_t>(barrier + 8 * STAGES));
      barrier = next, at_a = next_a, at_b = next_b;
    }
    if (!collect<T>(c, deal, work, worker, k_tiles)) continue;
    int row, col;
    place(work.tile, (g.m - 1) / T::BM + 1, (g.n - 1) / T::BN + 1, row, col);
    store_tile<T>(c, g, row * T::BM, col * T::BN, row_in_tile, col_in_tile);
  }
}

/// Sets up the ring and splits the warps.
template <class T, class Work, class Deal>
__device__ __forceinline__ void run(const Product& g, Way way_a, Way way_b, const Deal& deal,
                                    unsigned* workers) {
  extern __shared__ __align__(128) float4 memory[];
  std::uint32_t base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  hide(base);
  const std::uint32_t full = base + T::STAGES * T::STAGE, empty = full + 8 * T::STAGES;
  __shared__ int number;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < T::STAGES; ++s) {
      ptx::mbarrier_init(in_shared<std::uint64_t>(full + 8 * s), T::LOADING);
      ptx::mbarrier_init(in_shared<std::uint64_t>(empty + 8 * s), T::COMPUTING);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    number = 0;
    if (workers != nullptr) {
      number = static_cast<int>(atomicAdd(workers, 1u));
      if (number == static_cast<int>(gridDim.x) - 1) atomicExch(workers, 0u);  // all have begun
    }
  }
  __syncthreads();
  const int worker = number, k_tiles = (g.k - 1) / T::BK + 1;
  const Work work(deal, worker, k_tiles);
  if (threadIdx.x >= T::COMPUTING) {
    if constexpr (T::MOVE) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    // From the first lane, so that the compiler knows the number to be the same for all lanes.
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0) - T::COMPUTING / 32;
    load<T>(g, way_a, way_b, work, base, full, warp);
  } else {
    if constexpr (T::MOVE) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    compute<T>(g, deal, work, base, full, worker, k_tiles);
  }
}

}  // namespace specialized

/// tile_product by specialized warps, for any layout.
///
/// way_a, way_b: how A and B are copied, as way_of says. split: with tickets if parts is above 1.
/// Launch: (tiles of C) * split.parts blocks of T::THREADS threads, T::SHARED bytes of dynamic shared memory.
/// Requires: compute capability 9.0a; k from 1 to 2^31 - 32; split.parts at most the K-tiles; m and n as for tile_product.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    specialized_product(const __grid_constant__ Product g, Way way_a, Way way_b,
                        const __grid_constant__ Split split) {
  specialized::run<T, specialized::OnePiece>(g, way_a, way_b, split, nullptr);
}

/// stream_k by specialized warps, for any layout. Arguments as for specialized_product; the rest as for stream_k.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    specialized_stream(const __grid_constant__ Product g, Way way_a, Way way_b,
                       const __grid_constant__ Shares shares) {
  specialized::run<T, specialized::Pieces>(g, way_a, way_b, shares, shares.workers);
}

template <class T>
cudaError_t launch_specialized(const Product& g, int parts, bool second, void* workspace,
                               cudaStream_t stream) {
  unsigned* const tickets = static_cast<unsigned*>(workspace);
  const Split split{parts, reinterpret_cast<float4*>(tickets + TICKETS + FLAGS),
                    second ? nullptr : tickets};
  const unsigned tiles =
      static_cast<unsigned>((g.m - 1) / T::BM + 1) * static_cast<unsigned>((g.n - 1) / T::BN + 1);
  const auto kernel = specialized_product<T>;
  const cudaError_t set =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
  if (set != cudaSuccess) return set;
  kernel<<<tiles* static_cast<unsigned>(parts), T::THREADS, T::SHARED, stream>>>(
      g, way_of(g.a, g.m), way_of(g.b, g.n), split);
  if (second) add_parts<T><<<tiles*(T::TM * T::TN / 4), T::COMPUTING, 0, stream>>>(g, split);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_specialized_stream(const Product& g, int, bool, void* workspace,
                                      cudaStream_t stream) {
  int blocks;
  Shares shares;
  const cudaError_t error = deal_out<T>(g, workspace, blocks, shares);
  if (error != cudaSuccess) return error;
  const auto kernel = specialized_stream<T>;
  const cudaError_t set =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED);
  if (set != cudaSuccess) return set;
  kernel<<<static_cast<unsigned>(blocks), T::THREADS, T::SHARED, stream>>>(
      g, way_of(g.a, g.m), way_of(g.b, g.n), shares);
  return cudaGetLastError();
}

using Special128x256 = Specialized<16, 8, 2>;
using Special192x128 = Specialized<12, 8, 4>;
using Special128x192 = Specialized<8, 12, 4>;
using Special128x128 = Specialized<8, 8, 4>;
using Special64x256 = Specialized<8, 8, 2>;

}  // namespace any_product
