// # Chapter 13: Any shape
//
// Question: A product passes cuBLAS at 4096 and takes five times as long for one row. What does it take to be fast for every shape?
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
//   ./learn run 13 --rung all_warps          the same; warps outside of C multiply, too
//   ./learn run 13 --rung small_tiles        the same kernel with smaller tiles
//   ./learn run 13 --rung split_k_atomic     parts of K in blocks of their own, added up by atomics
//   ./learn run 13 --rung split_k_ordered    the sums of the parts go to memory, and are added up in order
//   ./learn run 13 --rung split_k_cluster    blocks of a cluster add up their parts in shared memory  [needs gpu, sm_90]
//   ./learn run 13 --rung stream_k           blocks stay, and share the tiles of the last wave evenly
//   ./learn run 13 --rung thin               up to 16 rows or columns: the other matrix streams by
//   ./learn run 13 --rung little             threads of a warp share the elements of a little product
//   ./learn run 13 --rung choose             all of these; a model of their times chooses

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

#include "any_product.cuh"
#include "lab/lab.h"

namespace ap = any_product;

/// C += alpha A B: each block multiplies a part of K, and adds its sums to C with atomics.
///
/// Launch: (tiles of C) * parts blocks of T::THREADS threads, T::SHARED bytes of dynamic shared memory.
template <class T>
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
  ap::multiply_tiles<T>(acc, g, memory, seat, row0, col0, ap::share(k_tiles, part, parts),
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
  CUDA_CHECK(cudaFuncSetAttribute(split_k_atomic<Tile64x64>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, Tile64x64::SHARED));
  split_k_atomic<Tile64x64><<<static_cast<unsigned>(tiles<Tile64x64>(g) * parts),
                              Tile64x64::THREADS, Tile64x64::SHARED>>>(product(g), parts);
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

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::GemmLadder& ladder) {
    lab::DeviceBuffer<float> room(ap::WORKSPACE / sizeof(float), "workspace");
    room.zero();
    void* const workspace = room.data();
    using Launch = cudaError_t (*)(const ap::Product&, int, bool, void*, cudaStream_t);
    const auto with = [workspace](Launch launch, int parts = 1, bool second = false) {
      return [=](const lab::Gemm& g) {
        CUDA_CHECK(launch(product(g), parts, second, workspace, nullptr));
      };
    };
    ladder.add("one_tile", with(ap::launch_tile<ap::Tile128x128>));
    ladder.add("all_warps", with(ap::launch_tile<ap::Tile<128, 128, 8, 8, 4, 2, 2, false>>));
    ladder.add("small_tiles", "tile=128x32", with(ap::launch_tile<ap::Tile128x32>));
    ladder.add("small_tiles", "tile=64x64", with(ap::launch_tile<Tile64x64>));
    ladder.add("small_tiles", "tile=32x32", with(ap::launch_tile<ap::Tile32x32>));
    ladder.add("split_k_atomic", add_with_atomics);
    for (const bool second : {false, true}) {
      ladder.add("split_k_ordered", second ? "second kernel" : "tickets", [=](const lab::Gemm& g) {
        const int parts = parts_for<Tile64x64>(g);
        CUDA_CHECK(
            ap::launch_tile<Tile64x64>(product(g), parts, second && parts > 1, workspace, nullptr));
      });
    }
    lab::add_others(ladder);
    ladder.add("stream_k", with(ap::launch_stream<ap::Tile128x128>));
    ladder.add("thin", [=](const lab::Gemm& g) { thin(g, workspace); });
    ladder.add("little", with(ap::launch_little<32>));
    ladder.add("choose", [=](const lab::Gemm& g) { choose(g, workspace); });
  });
}
// [/hide]
