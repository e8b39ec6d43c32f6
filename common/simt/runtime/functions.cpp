// Kernels as functions: their launch, their attributes, their occupancy.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "base/device_limits.h"
#include "launch/kernel_registry.h"
#include "memory/shared_memory.h"
#include "report/errors.h"

using simt::device::result;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return simt::kernels::launch(function, simt::Config(grid, block, shared, stream), arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  simt::Config config(grid, block, shared, stream);
  config.cooperative = true;
  return simt::kernels::launch(function, config, arguments);
}

namespace {

simt::Config config_of(const cudaLaunchConfig_t& settings) {
  simt::Config config(settings.gridDim, settings.blockDim, settings.dynamicSmemBytes,
                      settings.stream);
  for (unsigned i = 0; i < settings.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = settings.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      config.cooperative = attribute.val.cooperative != 0;
    }
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      config.is_programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      config.cluster = dim3(cluster.x, cluster.y, cluster.z);
    }
  }
  return config;
}

}  // namespace

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* settings, const void* function,
                                void** arguments) {
  if (!settings) return simt::device::result(cudaErrorInvalidValue);
  return simt::kernels::launch(function, config_of(*settings), arguments);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const size_t most = simt::device::kSharedPerBlockOptin - simt::kernels::static_shared(function);
    if (value < 0 || static_cast<size_t>(value) > most) {
      return result(cudaErrorInvalidValue);
    }
    simt::kernels::allow_dynamic_shared(function, static_cast<size_t>(value));
  }
  return result(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes || !function) return result(cudaErrorInvalidValue);
  *attributes = {};
  attributes->sharedSizeBytes = simt::kernels::static_shared(function);
  attributes->maxThreadsPerBlock = static_cast<int>(simt::kernels::find(function).most_threads);
  attributes->numRegs = 64;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(simt::kernels::allowed_dynamic_shared(function));
  return result(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return result(cudaSuccess); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared) {
  if (!blocks || !function || block_size <= 0) return result(cudaErrorInvalidValue);
  const bool fits = block_size <= static_cast<int>(simt::kernels::find(function).most_threads);
  const size_t shared = dynamic_shared + simt::kernels::static_shared(function);
  *blocks = fits ? simt::device::resident_blocks(block_size, shared) : 0;
  simt::device::was_asked_for_residents = true;
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
                                                       dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  if (!bytes || !function || blocks <= 0 || block_size <= 0) return result(cudaErrorInvalidValue);
  const size_t share = simt::device::kSharedPerMultiprocessor / static_cast<size_t>(blocks);
  const size_t taken = simt::device::kSharedReserved + simt::kernels::static_shared(function);
  const size_t most = simt::device::kSharedPerBlockOptin - simt::kernels::static_shared(function);
  *bytes = std::min(share > taken ? share - taken : 0, most);
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                               const void* function, size_t dynamic_shared,
                                               int block_size_limit) {
  if (!grid_size || !block_size) return result(cudaErrorInvalidValue);
  int best = 0;
  const int bound = static_cast<int>(simt::kernels::find(function).most_threads);
  const int most = block_size_limit > 0 ? std::min(block_size_limit, bound) : bound;
  for (int warps = (most + 31) / 32; warps > 0; --warps) {
    const int size = std::min(warps * 32, most);
    int blocks = 0;
    if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                                          dynamic_shared)) {
      return error;
    }
    if (blocks * size > best) {
      best = blocks * size;
      *block_size = size;
      *grid_size = blocks * simt::device::kMultiprocessors;
    }
  }
  return result(cudaSuccess);
}

// The SMs of a GPC are not simulated: a cluster finds room wherever its blocks do.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* settings) {
  if (!clusters || !function || !settings) return result(cudaErrorInvalidValue);
  simt::Config config = config_of(*settings);
  config.kernel = function;
  const dim3 block = config.block, cluster = simt::kernels::cluster_of(config);
  const int size = static_cast<int>(cluster.x * cluster.y * cluster.z);
  if (size < 1 || size > static_cast<int>(simt::engine::kMostClusterBlocks))
    return result(cudaErrorInvalidClusterSize);
  int blocks = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, static_cast<int>(block.x * block.y * block.z), config.shared);
  *clusters = blocks * simt::device::kMultiprocessors / size;
  return error;
}
