/// \file
/// The part of the CUDA runtime API that the simulator provides.
///
/// Work is done when it is asked for: a launch returns when its grid has finished, an asynchronous
/// copy when it is complete. That is one of the orders that CUDA allows. Times come from the host's
/// clock; they say how long the simulation took, nothing about a GPU.
#pragma once

#define __CUDA_RUNTIME_API_H__

#include <driver_types.h>
#include <simt/api/graph_api.h>
#include <simt/api/texture_api.h>

// Errors
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// Device
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaCtxResetPersistingL2Cache();
// A former name.
cudaError_t cudaThreadSynchronize();
// cuda_profiler_api.h
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// Memory
cudaError_t cudaMalloc(void** pointer, size_t size);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocHost(void** pointer, size_t size, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostRegister(void* host, size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void* host);
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags = cudaMemAttachGlobal);
SIMT_UNTIL_CUDA_12("give it {cudaMemLocationTypeDevice, device}, 0 in place of the device's number")
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream = nullptr);
SIMT_UNTIL_CUDA_12("give it {cudaMemLocationTypeDevice, device} in place of the device's number")
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t size = 0,
                                     unsigned flags = cudaMemAttachSingle);
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, size_t size);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

// Functions
// `function` is a kernel's address, and `arguments` points to the values for its parameters.
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared = 0,
                                        cudaStream_t stream = nullptr);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size);
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config);
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value);
/// Of the driver's functions there is cuTensorMapEncodeTiled().
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found = nullptr);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared);
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                               const void* function, size_t dynamic_shared = 0,
                                               int block_size_limit = 0);

// The typed forms that C++ programs use; inlined, so that findings name the caller's line. These casts take a pointer to what is
// volatile, too.
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMalloc(T** pointer, size_t size) {
  return cudaMalloc((void**)pointer, size);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width,
                                                          size_t height) {
  return cudaMallocPitch((void**)pointer, pitch, width, height);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocHost(T** pointer, size_t size,
                                                         unsigned flags = cudaHostAllocDefault) {
  return cudaMallocHost((void**)pointer, size, flags);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned flags) {
  return cudaHostAlloc((void**)pointer, size, flags);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaHostGetDevicePointer(T** device, void* host,
                                                                   unsigned flags) {
  return cudaHostGetDevicePointer((void**)device, host, flags);
}
[[gnu::always_inline]] inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocManaged(T** pointer, size_t size,
                                                            unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)pointer, size, flags);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocAsync(T** pointer, size_t size,
                                                          cudaStream_t stream) {
  return cudaMallocAsync((void**)pointer, size, stream);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* size, const T&) {
  *size = sizeof(T);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cudaMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, size, offset, kind,
                                 stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), size, offset, kind,
                                   stream);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream, T* pointer, size_t size = 0, unsigned flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), size, flags);
}
template <class R, class... P>
cudaError_t cudaLaunchKernel(R (*function)(P...), dim3 grid, dim3 block, void** arguments,
                             size_t shared = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments, shared,
                          stream);
}
template <class R, class... P>
cudaError_t cudaLaunchCooperativeKernel(R (*function)(P...), dim3 grid, dim3 block,
                                        void** arguments, size_t shared = 0,
                                        cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block,
                                     arguments, shared, stream);
}
/// Launches with attributes; the arguments are converted to the kernel's parameters.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*function)(P...),
                               A&&... arguments) {
  static_assert(
      sizeof...(A) == sizeof...(P),
      "simt: cudaLaunchKernelEx takes the configuration, the kernel, and one argument for "
      "each parameter of the kernel");
  if constexpr (sizeof...(A) == sizeof...(P)) {
    return [&](P... values) {
      void* pointers[] = {const_cast<void*>(static_cast<const void*>(&values))..., nullptr};
      return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(function), pointers);
    }(static_cast<A&&>(arguments)...);
  } else {
    return cudaErrorInvalidValue;
  }
}
template <class R, class... P>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, R (*function)(P...),
                                           const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(function), config);
}
template <class R, class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, R (*function)(P...),
                                                                   int block_size,
                                                                   size_t dynamic_shared,
                                                                   unsigned flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, reinterpret_cast<const void*>(function), block_size, dynamic_shared, flags);
}
template <class R, class... P>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, R (*function)(P...),
                                                      int blocks, int block_size) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(function),
                                                   blocks, block_size);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToSymbol(
    const T& symbol, const void* from, size_t size, size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, size, offset, kind);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, size_t size, size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), size, offset, kind);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  // Programs pass (void**)&typed_pointer: an assignment here, inlined, would break the rules of aliasing.
  void* address = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&address, static_cast<const void*>(&symbol));
  __builtin_memcpy(pointer, &address, sizeof(address));
  return error;
}
template <class R, class... P>
cudaError_t cudaFuncSetAttribute(R (*function)(P...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class R, class... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, R (*function)(P...)) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class R, class... P>
cudaError_t cudaFuncSetCacheConfig(R (*function)(P...), cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class R, class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, R (*function)(P...),
                                                          int block_size, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(function), block_size, dynamic_shared);
}
template <class R, class... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, R (*function)(P...),
                                               size_t dynamic_shared = 0,
                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid_size, block_size,
                                            reinterpret_cast<const void*>(function), dynamic_shared,
                                            block_size_limit);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, T function,
                                                        size_t shared = 0, int block_size_limit = 0,
                                                        unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid_size, block_size, function, [shared](int) { return shared; }, block_size_limit);
}
