// Grids and blocks that a launch may have.
#pragma once

#include <cuda_runtime_api.h>
#include <simt/config.h>

#include <string>

namespace simt::engine {

// Why the device refuses the launch, and `why` in words; cudaSuccess if it does not.
cudaError_t check_configuration(const Config& config, std::string& why);

}  // namespace simt::engine
