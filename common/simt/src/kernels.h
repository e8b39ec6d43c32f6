// Kernels by their address.
#pragma once

#include <simt/config.h>
#include <simt/runtime.h>

namespace simt::kernels {

using Launch = void (*)(const Config& config, void** arguments);

// How to launch the kernel at this address, or nullptr if none is known there.
Launch find(const void* function);

// Launches it with the values that `arguments` point to; errors are noted, too.
cudaError_t launch(const void* function, const Config& config, void** arguments);

}  // namespace simt::kernels
