#include "launch/kernel_registry.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/device_limits.h"
#include "base/lasting.h"
#include "program/symbols.h"
#include "report/errors.h"

namespace simt::kernels {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<const void*, Kernel> kernels;
  std::map<const void*, size_t> static_shared;  // of those that were asked for
};

// Kernels register before main(), in an order that nobody knows.
Registry& registry() { return lasting<Registry>(); }

}  // namespace

Kernel find(const void* function) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.kernels.find(function);
  return found == r.kernels.end() ? Kernel{} : found->second;
}

dim3 cluster_of(const Config& config) {
  const dim3 own = find(config.kernel).cluster;
  return own.x ? own : config.cluster.x ? config.cluster : dim3(1);
}

size_t static_shared(const void* function) {
  if (!function) return 0;
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto [found, is_new] = r.static_shared.try_emplace(function, 0);
  if (is_new) found->second = symbols::shared_bytes_of(reinterpret_cast<uint64_t>(function));
  return found->second;
}

void allow_dynamic_shared(const void* function, size_t bytes) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.kernels[function].more_dynamic_shared = bytes;
}

size_t allowed_dynamic_shared(const void* function) {
  if (function) {
    return std::max(device::kSharedPerBlock - static_shared(function),
                    find(function).more_dynamic_shared);
  }
  // A launch by overload resolution does not tell which kernel it is.
  size_t most = device::kSharedPerBlock;
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto& [known, kernel] : r.kernels) most = std::max(most, kernel.more_dynamic_shared);
  return most;
}

cudaError_t launch(const void* function, const Config& config, void** arguments) {
  const Kernel kernel = find(function);
  if (!kernel.launch) return device::result(cudaErrorInvalidDeviceFunction);
  if (kernel.has_parameters && !arguments) return device::result(cudaErrorInvalidValue);
  if (const cudaError_t error = device::sticky_error()) return error;
  // A launch returns nothing: what it notes as the last error is its own.
  const cudaError_t before = device::exchange_last_error(cudaSuccess);
  kernel.launch(config, arguments);
  const cudaError_t error = device::exchange_last_error(before);
  return error ? device::result(error) : cudaSuccess;
}

}  // namespace simt::kernels

bool simt::detail::register_kernel(const void* function, void (*launch)(const Config&, void**),
                                   unsigned most_threads, bool has_parameters, dim3 cluster) {
  kernels::Registry& r = kernels::registry();
  const std::lock_guard lock(r.mutex);
  kernels::Kernel& kernel = r.kernels[function];
  kernel.launch = launch;
  if (most_threads) kernel.most_threads = most_threads;
  kernel.has_parameters = has_parameters;
  kernel.cluster = cluster;
  return true;
}
