// What several functions of the API for memory share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "memory/allocations.h"

namespace simt::runtime {

// `caller`: where the program called the API.
cudaError_t allocate(void** pointer, memory::Kind kind, size_t size, uint64_t caller);
cudaError_t release(void* pointer, memory::Kind kind, uint64_t caller);

// True for the program's variables, __device__ and __constant__ ones among them.
bool is_variable(const void* pointer);

}  // namespace simt::runtime
