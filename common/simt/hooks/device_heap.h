// The heap of the device: malloc, free, new and delete in kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace simt::heap {

// The most that the device's heap holds, which cudaDeviceSetLimit() sets.
void set_limit(size_t bytes);
// All that it held has been freed.
void reset();

// cudaMalloc() and cudaFree() of the running lane, which take from that heap.
cudaError_t cuda_malloc(void** pointer, size_t size, const void* caller);
cudaError_t cuda_free(void* pointer, const void* caller);

}  // namespace simt::heap
