// Kernels by their address.
#pragma once

#include <simt/config.h>
#include <simt/runtime.h>

namespace simt::kernels {

using Launch = void (*)(const Config& config, void** arguments);

struct Kernel {
  Launch launch = nullptr;
  unsigned most_threads = 1024;  // of a block
  bool has_parameters = false;
};

// The kernel at this address; without a launch if none is known there.
Kernel find(const void* function);

// The bytes of the kernel's __shared__ variables. Those of functions that it calls are not among them.
size_t static_shared(const void* function);

// Launches it with the values that `arguments` point to; errors are noted, too.
cudaError_t launch(const void* function, const Config& config, void** arguments);

}  // namespace simt::kernels
