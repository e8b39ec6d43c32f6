// Kernels by their address: cudaLaunchKernel and its like, and what can be asked about a function.
#include "kernels.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "device.h"
#include "symbols.h"

namespace simt::kernels {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<const void*, Kernel> kernels;
  std::map<const void*, size_t> static_shared;  // of those that were asked for
};

// Kernels register before main(), in an order that nobody knows.
Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

}  // namespace

Kernel find(const void* function) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.kernels.find(function);
  return found == r.kernels.end() ? Kernel{} : found->second;
}

size_t static_shared(const void* function) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto [found, is_new] = r.static_shared.try_emplace(function, 0);
  if (is_new) found->second = symbols::shared_bytes_of(reinterpret_cast<uint64_t>(function));
  return found->second;
}

cudaError_t launch(const void* function, const Config& config, void** arguments) {
  const Launch launcher = find(function).launch;
  if (!launcher) return device::result(cudaErrorInvalidDeviceFunction);
  if (const cudaError_t error = device::sticky_error()) return error;
  // A launch returns nothing: what it notes as the last error is its own.
  const cudaError_t before = device::exchange_last_error(cudaSuccess);
  launcher(config, arguments);
  const cudaError_t error = device::exchange_last_error(before);
  return error ? device::result(error) : cudaSuccess;
}

}  // namespace simt::kernels

bool simt::detail::register_kernel(const void* function, void (*launch)(const Config&, void**),
                                   unsigned most_threads) {
  kernels::Registry& r = kernels::registry();
  const std::lock_guard lock(r.mutex);
  r.kernels[function] = {launch, most_threads ? most_threads : kernels::Kernel{}.most_threads};
  return true;
}

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

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* settings, const void* function,
                                void** arguments) {
  if (!settings) return simt::device::result(cudaErrorInvalidValue);
  simt::Config config(settings->gridDim, settings->blockDim, settings->dynamicSmemBytes,
                      settings->stream);
  for (unsigned i = 0; i < settings->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = settings->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      config.cooperative = attribute.val.cooperative != 0;
    }
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      if (cluster.x * cluster.y * cluster.z != 1)  // clusters are not simulated
        return simt::device::result(cudaErrorNotSupported);
    }
  }
  return simt::kernels::launch(function, config, arguments);
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  if (!name || !simt::kernels::find(function).launch)
    return simt::device::result(cudaErrorInvalidValue);
  static std::mutex mutex;
  static auto* names = new std::map<const void*, std::string>;  // the caller keeps the pointer
  const std::lock_guard lock(mutex);
  std::string& text = (*names)[function];
  if (text.empty()) text = simt::symbols::function_name(reinterpret_cast<uint64_t>(function) + 1);
  *name = text.c_str();
  return simt::device::result(cudaSuccess);
}
