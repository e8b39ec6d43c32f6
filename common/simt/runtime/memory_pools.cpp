// Memory pools: there is one, and allocating from it is allocating.
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>
#include <memory>

#include "base/devices.h"
#include "report/errors.h"
#include "runtime/memory_calls.h"
#include "runtime/streams.h"
#include "streams/order.h"
#include "streams/races.h"

using simt::device::result;
using simt::memory::Kind;
using simt::runtime::allocate;
using simt::runtime::live_at;
using simt::runtime::release;

struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, uint64_t> attributes;
};

namespace {

cudaMemPool_t default_pool() {
  static CUmemPoolHandle_st pool;
  return &pool;
}

// The memory is there from then on in the order of the stream, or up to then: as if the call wrote to it.
void note_use(void* pointer, cudaStream_t stream) {
  const simt::memory::Allocation* found = live_at(pointer);
  if (!found) return;
  const simt::stream_order::Work here(stream);
  simt::stream_races::note_copy({pointer, found->size, found->size, 1}, {});
}

// In a graph, memory lives as long as anything that uses it: what was captured holds it.
cudaError_t allocate_async(void** pointer, size_t size, cudaStream_t stream, uint64_t caller) {
  if (cudaError_t error = allocate(pointer, Kind::device, size, caller)) return error;
  if (!simt::graphs::is_capturing(stream)) {
    note_use(*pointer, stream);
    return cudaSuccess;
  }
  const std::shared_ptr<void> owner(*pointer, [](void* p) { cudaFree(p); });
  simt::graphs::note(stream, {cudaGraphNodeTypeMemAlloc, [owner] { return cudaSuccess; }});
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return allocate_async(pointer, size, stream, SIMT_CALLER);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (simt::graphs::is_capturing(stream)) {
    simt::graphs::note(stream, {cudaGraphNodeTypeMemFree});
    return cudaSuccess;
  }
  note_use(pointer, stream);
  return release(pointer, Kind::device, SIMT_CALLER);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return result(cudaErrorInvalidValue);
  *pool = default_pool();
  return result(simt::devices::is_valid(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

// An int; the others are 64-bit numbers.
static bool is_switch(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return result(cudaErrorInvalidValue);
  uint64_t number = 0;
  std::memcpy(&number, value, is_switch(attribute) ? sizeof(int) : sizeof(number));
  pool->attributes[attribute] = number;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (!pool || !value) return result(cudaErrorInvalidValue);
  const auto found = pool->attributes.find(attribute);
  const uint64_t number = found != pool->attributes.end() ? found->second : is_switch(attribute);
  std::memcpy(value, &number, is_switch(attribute) ? sizeof(int) : sizeof(number));
  return result(cudaSuccess);
}
