#include "launch/configuration.h"

#include <algorithm>

#include "base/device_limits.h"
#include "base/handles.h"
#include "base/text.h"
#include "exec/worker.h"
#include "launch/kernel_registry.h"
#include "watch/captures.h"

namespace simt::engine {

// Measured on an H200 with CUDA 13.0: an empty grid, and a block beyond the limits,
// are invalid values, which older versions called an invalid configuration.
cudaError_t check_configuration(const Config& config, std::string& why) {
  const dim3 g = config.grid, b = config.block;
  why = "a grid of " + text(g) + " blocks of " + text(b) + " threads";
  if (!is_stream(config.stream)) {
    why = "its stream is none, or has been destroyed";
    return cudaErrorInvalidResourceHandle;
  }
  if (const cudaError_t error = captures::refuse_legacy(config.stream)) {
    why =
        error == cudaErrorNotPermitted ? captures::kWhyNotInHostFunction : captures::kWhyNotLegacy;
    return error;
  }
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0) {
    why += " holds no thread: n / threads rounds down, (n + threads - 1) / threads rounds up";
    return cudaErrorInvalidValue;
  }
  if (b.x > 1024 || b.y > 1024 || b.z > 64 || uint64_t{b.x} * b.y * b.z > kMaxBlockThreads) {
    why += " is illegal: a block has at most 1024 threads, and 64 of them along z";
    return cudaErrorInvalidValue;
  }
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    why += " is illegal: a grid has at most 2147483647 blocks along x, and 65535 along y and z";
    return cudaErrorInvalidValue;
  }
  const uint64_t threads = uint64_t{b.x} * b.y * b.z;
  if (const unsigned most = kernels::find(config.kernel).most_threads; threads > most) {
    why = "a block of " + std::to_string(threads) + " threads is more than the " +
          std::to_string(most) + " that the kernel's __launch_bounds__ allow";
    return cudaErrorInvalidValue;
  }
  // Without leave for more, the 48 KiB hold what is static, too.
  const size_t fixed = kernels::static_shared(config.kernel);
  if (fixed > device::kSharedPerBlock) {
    why = "its __shared__ variables take " + std::to_string(fixed) + " bytes together, and " +
          std::to_string(device::kSharedPerBlock) +
          " are allowed: nvcc would not compile it. Larger tiles stand in dynamic shared memory, "
          "`extern __shared__`";
    return cudaErrorInvalidValue;
  }
  const size_t allowed = kernels::allowed_dynamic_shared(config.kernel);
  if (config.shared > allowed) {
    why = "it asks for " + std::to_string(config.shared) + " bytes of dynamic shared memory, and " +
          std::to_string(allowed) + " are allowed" +
          (fixed ? " beside its " + std::to_string(fixed) + " bytes of __shared__ variables" : "") +
          ". More than 48 KiB takes cudaFuncSetAttribute() with "
          "cudaFuncAttributeMaxDynamicSharedMemorySize first";
    return cudaErrorInvalidValue;
  }
  const dim3 cluster = kernels::cluster_of(config), asked = config.cluster;
  const uint64_t size = uint64_t{cluster.x} * cluster.y * cluster.z;
  if (asked.x && (asked.x != cluster.x || asked.y != cluster.y || asked.z != cluster.z)) {
    why = "clusters of " + text(asked) +
          " blocks are not those of the kernel's __cluster_dims__, " + text(cluster);
    return cudaErrorInvalidClusterSize;
  }
  if (!size || size > kMostClusterBlocks) {
    why = "clusters of " + text(cluster) + " blocks: a cluster has 1 to " +
          std::to_string(kMostClusterBlocks);
    return cudaErrorInvalidClusterSize;
  }
  if (g.x % cluster.x || g.y % cluster.y || g.z % cluster.z) {
    why += " cannot be parted into clusters of " + text(cluster) +
           ": each extent of the grid has to be a multiple of the cluster's";
    return cudaErrorInvalidClusterSize;
  }
  if (config.cooperative && size > 1) {
    why = "a cooperative launch in clusters is not simulated: make it one or the other";
    return cudaErrorNotSupported;
  }
  if (config.cooperative) {
    const int multiprocessors =
        device::was_asked_for_residents ? device::kMultiprocessors : device::kMostMultiprocessors;
    const int resident =
        device::resident_blocks(static_cast<int>(threads), config.shared + fixed) * multiprocessors;
    if (uint64_t{g.x} * g.y * g.z > static_cast<uint64_t>(resident)) {
      why += " is too large for a cooperative launch: all blocks must be resident at once, and " +
             std::to_string(resident) + " of these can be";
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

}  // namespace simt::engine
