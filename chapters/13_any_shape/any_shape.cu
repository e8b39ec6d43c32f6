// # Chapter 13: Any shape
//
// Question: A product passes cuBLAS at 4096 and takes five times cuBLAS's time for one row. What does it take to be fast for every shape?
// Builds on: 11_pipelines, 12_past_cublas
// Minutes: 30
// Afterwards: find what limits a product of any shape, split it along K in a fixed order, and choose a kernel by a model
// Kind: gemm
// Size gpu: 128,128,8192
// Size simulator: 140,13,150
// Sizes measured: 128,128,8192 4096,64,4096 4001,4001,4001 4096,16,4096 1,4096,4096 1500,1500,1500 256,256,256
// Run: ./learn run 13
//   ./learn run 13 --rung cublas             the vendor's library: what all others are compared with  [needs cublas]
//   ./learn run 13 --rung one_tile           chapter 11's pipeline, 128 x 128 elements a block, for any alignment
//   ./learn run 13 --rung skip_outside       the same; warps outside of C do not multiply
//   ./learn run 13 --rung small_tiles        the same kernel with smaller tiles
//   ./learn run 13 --rung split_k_atomic     parts of K in blocks of their own, added up by atomics
//   ./learn run 13 --rung split_k_ordered    the sums of the parts go to memory, and are added up in order
//   ./learn run 13 --rung split_k_cluster    blocks of a cluster add up their parts in shared memory  [needs sm_90]
//   ./learn run 13 --rung stream_k           blocks stay, and share the tiles of the last wave evenly
//   ./learn run 13 --rung thin               up to 16 rows or columns: the other matrix streams by
//   ./learn run 13 --rung little             threads of a warp share the elements of a little product
//   ./learn run 13 --rung choose             all of these; a model of their times chooses
//   ./learn run 13 --rung choose_specialized the same, with chapter 12's warps on the menu  [needs sm_90]

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

#include "any_product.cuh"
#include "lab/lab.h"

namespace ap = any_product;

// Chapter 12 passes cuBLAS where M, N and K are equal, large, and multiples of four. Programs multiply other matrices, too:
// a batch of 16 rows, a vector, a matrix of 300 x 5000, a transposed one, a part of a larger one that begins anywhere. This
// chapter asks what such a product costs, writes kernels for each kind, and ends with one function for all of them. It
// is in `any_product.cuh`, which needs nothing of the course: take it home.
//
// ## 1. The map
//
// Take the tile of 128 x 128 of chapter 11 for every shape. Here is how that compares with cuBLAS over random shapes, whose
// extents are spread evenly on a logarithmic scale from 1 to 8192, a third of them odd, all four transpositions:
//
// ```{drawing} before
// ```
//
//? corner: Which corner of the map is worst for the one tile?
//? choices: C small, K large | C large, K small | both large
//? answer: {"C small, K large": shapes("one tile, C small, K large") < 0.9 * min(shapes("one tile, C large, K small"),
//?   shapes("one tile, both large")),
//?   "C large, K small": shapes("one tile, C large, K small") < 0.9 * min(shapes("one tile, C small, K large"),
//?   shapes("one tile, both large")),
//?   "both large": shapes("one tile, both large") < 0.9 * min(shapes("one tile, C small, K large"),
//?   shapes("one tile, C large, K small"))}
//
// Over all of these shapes the one tile is at 0.22 of cuBLAS's speed in the geometric mean; where C is small and K large, at 0.045. A
// product of 128 x 128 x 8192 is one tile. One block computes it, 131 SMs of an H200 have nothing to do, and it takes 39 times
// as long as cuBLAS.
//= 0.22 of: shapes("one tile")
//= 0.045: shapes("one tile, C small, K large")
//= 39 times: ms("one_tile") / ms("cublas")
//
// ## 2. Three floors
//
// Three things bound the time of a product from below, whatever the kernel:
//
// - **FMAs.** M N K of them, 128 per SM and cycle: 4096 x 4096 x 4096 takes 2.1 ms on an H200.
// - **Bytes.** A and B are read and C is written at least once. A vector times a matrix of 4096 x 4096 moves 67 MB for 17
//   million FMAs, which take 0.5 microseconds. At the rate of a copy the bytes take 16.
// - **Start.** A launch, the first loads from DRAM, the last stores: nothing overlaps them. A product of 32 x 32 x 32 is mostly
//   that: its FMAs take one SM 0.13 microseconds. The 687 random ones with fewer than 100,000 FMAs take from 1.2 to 4.0
//   microseconds, each by a kernel that suits it.
//= 0.13: 1e6 * 32**3 / (128 * 1.98e9)
//= 2.1 ms: 1000 * 4096**3 / (132 * 128 * 1.98e9)
//= 67 MB: 4 * 4096 * 4096 / 1e6
//= 17: 4096 * 4096 / 1e6
//= 0.5 microseconds: 1e6 * 4096 * 4096 / (132 * 128 * 1.98e9)
//= take 16: 4 * 4096 * 4096 / (1000 * limit("copy"))
//= The 687 random ones: shapes("count", "m * n * k < 100000")
//= because from 1.2 to 4.0: shapes("count", "m * n * k < 100000 and 1.2 < us < 4.05") == shapes("count", "m * n * k < 100000")
//
//? highest: 8192 x 8192 x 16: which floor is the highest on an H200, which copies 4.2 TB/s?
//? choices: FMAs | bytes | start
//? answer: "bytes"
//
// C alone has 268 MB, which take 64 microseconds; the FMAs take 32. Each sum is stored after 16 FMAs.
//= 268 MB: 4 * 8192**2 / 1e6
//= 64 microseconds: 4 * 8192**2 / 4.2e6
//= 32: 1e6 * 8192**2 * 16 / (132 * 128 * 1.98e9)
//
// A kernel is near the highest of its floors only if *all* SMs work on it. A tile that suits the FMAs, 128 x 128, makes too
// few blocks of a small C, and computes elements outside of a thin one. Each of the following sections removes one such
// loss.
//
// ## 3. Parts of K
//
// Where C has too few tiles, split K. Each tile gets several blocks; each of them multiplies a part of K, and the sums have
// to be added up ({term}`split-K <split-K>`). The quickest way to write that is an atomic addition to C.
//
// ```{drawing} parts
// ```
//
// `multiply_tiles` is the pipeline of chapter 11, from a first K-tile to a last one; section 4 has its source.

/// C += alpha A B: each block multiplies a part of K, and adds its sums to C with atomics.
///
/// Launch: (tiles of C) * parts blocks of T::THREADS threads, T::SHARED bytes of dynamic shared memory.
template <class T, ap::Lie A, ap::Lie B>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    split_k_atomic(const ap::Product g, int parts) {
  extern __shared__ float4 memory[];
  const int part = static_cast<int>(blockIdx.x) % parts, k_tiles = (g.k + T::BK - 1) / T::BK;
  int tile_row, tile_col;
  ap::place(static_cast<int>(blockIdx.x) / parts, (g.m - 1) / T::BM + 1, (g.n - 1) / T::BN + 1,
            tile_row, tile_col);
  const int row0 = tile_row * T::BM, col0 = tile_col * T::BN;
  const ap::Seat<T> seat(g.m - row0, g.n - col0);
  float acc[T::TM][T::TN] = {};
  ap::multiply_tiles<T, A, B>(acc, g, memory, seat, row0, col0, ap::share(k_tiles, part, parts),
                              ap::share(k_tiles, part + 1, parts));
  if (!seat.active) return;
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
    const int row = row0 + seat.row + i / 4 * 16 + i % 4;
#pragma unroll
    for (int j = 0; j < T::TN; ++j) {
      const int col = col0 + seat.col + j / 4 * 32 + j % 4;
      if (row < g.m && col < g.n) atomicAdd(g.c + row * g.ldc + col, g.alpha * acc[i][j]);
    }
  }
}

// 128 x 128 x 8192 has four tiles of 64 x 64, which take 0.247 ms. With 64 blocks for each of them, it is 0.029 ms.
//= 0.247 ms: ms("small_tiles/tile=64x64")
//= 0.029 ms: ms("split_k_atomic")
//
// The sums are right, but differ from run to run: floating-point addition is not associative, and atomics add in the order in
// which blocks happen to finish. Such a program is hard to test. So the rest of the chapter adds up in a fixed order.
//
//? atomics: On the simulator K is 150, and `split_k_atomic` splits it in 5 parts. How many atomic operations does it make for each
//?   element of C?
//? answer: count("split_k_atomic", "global_atomic_active_lanes") / (140 * 13)
//? unit: operations
//? near: exact
//
// 5, one for each part: a block adds up all K-tiles of its part in registers first.

// [hide] The program
namespace {

using Tile64x64 = ap::Tile64x64;

/// A product of the ladder as the kernels take it.
ap::Product product(const lab::Gemm& g) {
  return ap::row_major(false, false, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c,
                       g.ldc);
}

/// Tiles of C.
template <class T>
int tiles(const lab::Gemm& g) {
  return lab::ceil_div(g.m, T::BM) * lab::ceil_div(g.n, T::BN);
}

/// In how many parts K is split so that all SMs have a block, or as often as a tile has K-tiles.
template <class T>
int parts_for(const lab::Gemm& g) {
  const int blocks = static_cast<int>(lab::multiprocessors()) * 2;
  return std::clamp(blocks / tiles<T>(g), 1, std::clamp(lab::ceil_div(g.k, 2 * T::BK), 1, 64));
}

/// split_k_atomic, in as many parts as the SMs take at a time.
void add_with_atomics(const lab::Gemm& g) {
  const int parts = parts_for<Tile64x64>(g);
  ap::scale<256><<<256, 256>>>(product(g));
  CUDA_CHECK(ap::with_lies(product(g), [&]<ap::Lie A, ap::Lie B>() {
    const auto kernel = split_k_atomic<Tile64x64, A, B>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    Tile64x64::SHARED));
    kernel<<<static_cast<unsigned>(tiles<Tile64x64>(g) * parts), Tile64x64::THREADS,
             Tile64x64::SHARED>>>(product(g), parts);
    return cudaGetLastError();
  }));
}

}  // namespace

/// The tile of 128 x 128 for every shape.
void one_tile(const lab::Gemm& g, void* workspace) {
  CUDA_CHECK(ap::launch_tile<ap::Tile128x128>(product(g), 1, false, workspace, nullptr));
}

/// one_tile, whose warps outside of C do not multiply.
void skip_outside(const lab::Gemm& g, void* workspace) {
  using T = ap::Tile<128, 128, 8, 8, 4, 2, 2, true>;
  CUDA_CHECK(ap::launch_tile<T>(product(g), 1, false, workspace, nullptr));
}

/// Smaller tiles.
template <class T>
void small_tiles(const lab::Gemm& g, void* workspace) {
  CUDA_CHECK(ap::launch_tile<T>(product(g), 1, false, workspace, nullptr));
}

/// In as many parts as the SMs take at a time, added up in order: by the last block of a tile, or by a second kernel.
void split_k_ordered(const lab::Gemm& g, bool second, void* workspace) {
  const int parts = parts_for<Tile64x64>(g);
  CUDA_CHECK(
      ap::launch_tile<Tile64x64>(product(g), parts, second && parts > 1, workspace, nullptr));
}

/// A warp for each element of C.
void little(const lab::Gemm& g, void* workspace) {
  CUDA_CHECK(ap::launch_little<32>(product(g), 1, false, workspace, nullptr));
}

/// Up to 16 rows or columns at a time, by the thin kernels.
void thin(const lab::Gemm& all, void* workspace) {
  const int sms = static_cast<int>(lab::multiprocessors()), shorter = std::min(all.m, all.n);
  for (int at = 0; at < shorter; at += 16) {
    lab::Gemm g = all;
    if (all.m <= all.n) {
      g = all.rows(at, std::min(16, shorter - at));
    } else {
      g.n = std::min(16, shorter - at), g.b += at, g.c += at;
    }
    const auto choice = ap::fastest(product(g), sms, true, [](ap::Kind kind) {
      return kind == ap::Kind::COLUMNS || kind == ap::Kind::ROWS;
    });
    CUDA_CHECK(choice.kernel->launch(product(g), choice.parts, choice.second, workspace, nullptr));
  }
}

/// The function that a reader takes home.
void choose(const lab::Gemm& g, void* workspace) {
  CUDA_CHECK(ap::sgemm(ap::Order::ROW_MAJOR, false, false, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b,
                       g.ldb, g.beta, g.c, g.ldc, workspace, nullptr));
}

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    lab::DeviceBuffer<float> room(ap::WORKSPACE / sizeof(float), "workspace");
    room.zero();
    void* const workspace = room.data();
    const auto with = [workspace](void (*launch)(const lab::Gemm&, void*)) {
      return [=](const lab::Gemm& g) { launch(g, workspace); };
    };
    ladder.add("one_tile", with(one_tile));
    ladder.add("skip_outside", with(skip_outside));
    ladder.add("small_tiles", "tile=128x64", with(small_tiles<ap::Tile128x64>));
    ladder.add("small_tiles", "tile=64x64", with(small_tiles<Tile64x64>));
    ladder.add("small_tiles", "tile=32x32", with(small_tiles<ap::Tile32x32>));
    ladder.add("split_k_atomic", add_with_atomics);
    for (const bool second : {false, true})
      ladder.add("split_k_ordered", second ? "second kernel" : "tickets",
                 [=](const lab::Gemm& g) { split_k_ordered(g, second, workspace); });
    lab::add_others(ladder);
    ladder.add("stream_k", [=](const lab::Gemm& g) {
      CUDA_CHECK(ap::launch_stream<ap::Tile128x128>(product(g), 1, false, workspace, nullptr));
    });
    ladder.add("thin", with(thin));
    ladder.add("little", with(little));
    ladder.add("choose", with(choose));
  });
}
// [/hide]
