/// \file
/// The menu: what can compute a product, and the host functions that launch it.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "cluster.cuh"

namespace any_shape {

using Tiles = std::tuple<Tile<128, 256, 16, 8, 2, 4, 4, 1>,  // 0
                         Tile<256, 128, 16, 8, 4, 2, 4, 1>,  // 1
                         Tile<128, 128, 8, 8, 4, 2, 4, 2>,   // 2
                         Tile<128, 64, 8, 8, 4, 1, 4, 4>,    // 3
                         Tile<64, 128, 8, 8, 2, 2, 4, 4>,    // 4
                         Tile<64, 64, 8, 4, 2, 2, 4, 5>,     // 5
                         Tile<32, 64, 4, 4, 2, 2, 4, 8>,     // 6
                         Tile<64, 32, 4, 4, 4, 1, 4, 8>,     // 7
                         Tile<32, 128, 8, 4, 1, 4, 4, 5>,    // 8
                         Tile<128, 32, 8, 4, 4, 1, 4, 5>,    // 9
                         Tile<256, 64, 8, 8, 8, 1, 4, 2>,    // 10
                         Tile<64, 256, 8, 8, 2, 4, 4, 2>,    // 11
                         Tile<32, 32, 4, 4, 2, 1, 4, 10>,    // 12
                         Tile<64, 64, 8, 8, 2, 1, 4, 8>,     // 13
                         Tile<64, 64, 4, 4, 4, 2, 4, 3>,     // 14
                         Tile<128, 128, 8, 8, 4, 2, 3, 2>,   // 15
                         Tile<128, 64, 8, 4, 4, 2, 4, 2>,    // 16
                         Tile<64, 128, 8, 4, 2, 4, 4, 2>>;   // 17
constexpr int TILES = std::tuple_size_v<Tiles>;

/// Floats that two_step and tickets may use.
constexpr size_t WORKSPACE = size_t{32} << 20;  // bytes
constexpr size_t TICKETS = 59000;

using TileLaunch = cudaError_t (*)(const Product&, bool a_k, bool b_k, const Cut&, cudaStream_t);
TileLaunch tile_launch(int tile);

/// What a thin kernel has: rows of C, columns of a block, threads.
using ThinLaunch = cudaError_t (*)(const Thin&, const Cut&, bool vec, cudaStream_t);
struct ThinKernel {
  const char* name;
  bool along_k;
  int mt, bj;
  ThinLaunch launch;
};
const std::vector<ThinKernel>& thin_kernels();

template <class Kernel, class... Args>
cudaError_t start(Kernel kernel, long long blocks, int threads, int shared, int cluster, cudaStream_t stream,
                  const Args&... args) {
  if (blocks > 2147483647) return cudaErrorInvalidValue;
  if (shared > 48 * 1024) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 1024);
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(blocks), config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = static_cast<size_t>(shared), config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute, config.numAttrs = cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

}  // namespace any_shape
