/// \file
/// The menu: what can compute a product, and the host functions that launch it.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "cluster.cuh"

namespace any_shape {

using Tiles = std::tuple<Tile<128, 256, 16, 8, 2, 4, 4, 1, 1>,  // 0
                         Tile<128, 128, 8, 8, 4, 2, 4, 2, 0>,   // 1
                         Tile<128, 128, 8, 8, 4, 2, 4, 2, 1>,   // 2
                         Tile<128, 64, 8, 8, 4, 1, 4, 4, 0>,    // 3
                         Tile<64, 128, 8, 8, 2, 2, 4, 4, 0>,    // 4
                         Tile<64, 64, 8, 4, 2, 2, 4, 5, 0>,     // 5
                         Tile<32, 64, 4, 4, 2, 2, 4, 8, 0>,     // 6
                         Tile<64, 32, 4, 4, 4, 1, 4, 8, 0>,     // 7
                         Tile<32, 128, 8, 4, 1, 4, 4, 5, 0>,    // 8
                         Tile<128, 32, 8, 4, 4, 1, 4, 5, 0>,    // 9
                         Tile<32, 32, 4, 4, 2, 1, 4, 8, 0>,     // 10
                         Tile<64, 64, 8, 8, 2, 1, 4, 8, 0>,     // 11
                         Tile<64, 64, 8, 4, 2, 2, 6, 5, 1>>;    // 12
constexpr int TILES = std::tuple_size_v<Tiles>;

/// Floats that two_step and tickets may use.
constexpr size_t WORKSPACE = size_t{32} << 20;  // bytes
constexpr size_t TICKETS = 59000;

using TileLaunch = cudaError_t (*)(const Product&, Lie b, const Cut&, cudaStream_t);
using StreamLaunch = cudaError_t (*)(const Product&, Lie b, float4* partials, unsigned* ready,
                                     cudaStream_t);
using WsLaunch = cudaError_t (*)(const Product&, Lie b, bool two, float* partials, int* ready,
                                 cudaStream_t);
template <int INDEX, Lie A>
cudaError_t launch_tile(const Product&, Lie b, const Cut&, cudaStream_t);
template <int INDEX, Lie A>
cudaError_t launch_stream(const Product&, Lie b, float4* partials, unsigned* ready, cudaStream_t);
template <bool BIG, Lie A>
cudaError_t launch_ws(const Product&, Lie b, bool two, float* partials, int* ready, cudaStream_t);
constexpr bool streams(int tile) { return tile == 0 || tile == 2; }

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
cudaError_t start(Kernel kernel, long long blocks, int threads, int shared, int cluster,
                  cudaStream_t stream, const Args&... args) {
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
