// What several functions of the API for memory share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "memory/allocations.h"

// Where the program called the function that this stands in.
#define SIMT_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

namespace simt::runtime {

// `caller`: where the program called the API.
cudaError_t allocate(void** pointer, memory::Kind kind, size_t size, uint64_t caller);
// The same as a call that a capture does not allow.
cudaError_t allocate_when_idle(void** pointer, memory::Kind kind, size_t size, uint64_t caller);
cudaError_t release(void* pointer, memory::Kind kind, uint64_t caller);
// The same behind all work of the device, for which the call waits.
cudaError_t release_when_idle(void* pointer, memory::Kind kind, uint64_t caller);

// Copies `height` rows of `width` bytes, whose beginnings are a pitch apart.
cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, cudaMemcpyKind kind);

// What holds this address, and has not been freed; else nullptr.
inline const memory::Allocation* live_at(const void* pointer) {
  const memory::Allocation* found = memory::find(reinterpret_cast<uint64_t>(pointer));
  return found && !found->freed ? found : nullptr;
}

// Is there no device of this number? Then that is explained.
bool is_missing(int device);
// True for the program's variables, __device__ and __constant__ ones among them.
bool is_variable(const void* pointer);

}  // namespace simt::runtime
