// Kernels by their address.
#pragma once

#include <simt/api/runtime.h>
#include <simt/config.h>

namespace simt::kernels {

using Launch = void (*)(const Config& config, void** arguments);

struct Kernel {
  Launch launch = nullptr;
  unsigned most_threads = 1024;  // of a block
  bool has_parameters = false;
  dim3 cluster{0, 0, 0};           // its __cluster_dims__
  size_t more_dynamic_shared = 0;  // than 48 KiB leave: what the program has asked for
};

// The kernel at this address; without a launch if none is known there.
Kernel find(const void* function);

// The blocks of a cluster: as the kernel says, or else the launch. At least one.
dim3 cluster_of(const Config& config);

// The bytes of the kernel's __shared__ variables; of no kernel, 0. Those of functions that it calls are not among them.
size_t static_shared(const void* function);

// Dynamic shared memory is what 48 KiB leave beside these variables, unless the program asks for more.
void allow_dynamic_shared(const void* function, size_t bytes);
size_t allowed_dynamic_shared(const void* function);

// Launches it with the values that `arguments` point to; errors are noted, too.
cudaError_t launch(const void* function, const Config& config, void** arguments);

}  // namespace simt::kernels
