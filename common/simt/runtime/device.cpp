// The device: its properties, limits and flags.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // what CUDA 12 has and CUDA 13 has not
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "base/device_limits.h"
#include "base/devices.h"
#include "base/settings.h"
#include "ending/leaks.h"
#include "hooks/device_heap.h"
#include "memory/allocations.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "runtime/memory_calls.h"
#include "streams/order.h"
#include "watch/captures.h"

using simt::device::result;
using simt::runtime::is_missing;
namespace devices = simt::devices;

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return result(cudaErrorInvalidValue);
  *count = devices::count();
  return result(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  if (const cudaError_t error = simt::captures::refuse_in_host_function()) return result(error);
  if (!device) return result(cudaErrorInvalidValue);
  *device = devices::current();
  return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (is_missing(device)) return result(cudaErrorInvalidDevice);
  devices::set_current(device);
  devices::note_host_thread();
  if (device != 0) simt::stream_order::note_second_device();
  return result(cudaSuccess);
}

// How many elements, and layers, textures and surfaces of CUDA arrays may have.
static void set_extents_of_arrays(cudaDeviceProp& prop) {
  prop.maxTexture1D = prop.maxTexture2D[0] = 131072;
  prop.maxTexture2D[1] = 65536;
  prop.maxSurface2D[0] = 131072;
  prop.maxSurface2D[1] = 65536;
  for (int d = 0; d < 3; ++d) prop.maxTexture3D[d] = prop.maxSurface3D[d] = 16384;
  prop.maxSurface1D = prop.maxTexture1DLayered[0] = prop.maxSurface1DLayered[0] = 32768;
  for (int d = 0; d < 2; ++d) prop.maxTexture2DLayered[d] = prop.maxSurface2DLayered[d] = 32768;
  prop.maxTexture1DLayered[1] = prop.maxSurface1DLayered[1] = 2048;
  prop.maxTexture2DLayered[2] = prop.maxSurface2DLayered[2] = 2048;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  if (!prop) return result(cudaErrorInvalidValue);
  if (!devices::is_valid(device)) return result(cudaErrorInvalidDevice);
  *prop = {};
  prop->pciDeviceID = device;
  std::snprintf(prop->name, sizeof(prop->name), "SIMT simulator");
  prop->totalGlobalMem = simt::memory::total_bytes();
  prop->sharedMemPerBlock = simt::device::kSharedPerBlock;
  prop->regsPerBlock = 65536;
  prop->warpSize = 32;
  prop->memPitch = 0x7fffffff;
  prop->maxThreadsPerBlock = 1024;
  prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024;
  prop->maxThreadsDim[2] = 64;
  prop->maxGridSize[0] = 0x7fffffff;
  prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
  prop->totalConstMem = 65536;
  prop->major = 9;
  prop->minor = 0;
  prop->textureAlignment = 512;
  prop->deviceOverlap = 1;
  prop->multiProcessorCount = simt::device::kMultiprocessors;
  simt::device::was_asked_for_multiprocessors = true;
  prop->canMapHostMemory = 1;
  prop->concurrentKernels = 1;
  prop->asyncEngineCount = 1;
  prop->unifiedAddressing = 1;
  prop->clockRate = 1'000'000;
  prop->memoryClockRate = 1'000'000;
  prop->memoryBusWidth = 512;
  prop->l2CacheSize = 4 << 20;
  prop->maxThreadsPerMultiProcessor = simt::device::kThreadsPerMultiprocessor;
  prop->globalL1CacheSupported = prop->localL1CacheSupported = 1;
  prop->sharedMemPerMultiprocessor = simt::device::kSharedPerMultiprocessor;
  prop->regsPerMultiprocessor = 65536;
  prop->managedMemory = 1;
  prop->streamPrioritiesSupported = 1;
  prop->singleToDoublePrecisionPerfRatio = 2;
  prop->canUseHostPointerForRegisteredMem = 1;
  prop->hostRegisterSupported = 1;
  prop->memoryPoolsSupported = 1;
  prop->texturePitchAlignment = 32;
  prop->surfaceAlignment = 512;
  set_extents_of_arrays(*prop);
  std::memcpy(prop->uuid.bytes, "SIMT simulator", 15);
  prop->uuid.bytes[15] = static_cast<char>(device);
  prop->concurrentManagedAccess = 1;
  prop->cooperativeLaunch = 1;
  prop->sharedMemPerBlockOptin = simt::device::kSharedPerBlockOptin;
  prop->maxBlocksPerMultiProcessor = simt::device::kBlocksPerMultiprocessor;
  prop->reservedSharedMemPerBlock = 1024;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (!value) return result(cudaErrorInvalidValue);
  const bool was_asked = simt::device::was_asked_for_multiprocessors;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  simt::device::was_asked_for_multiprocessors =
      was_asked || attribute == cudaDevAttrMultiProcessorCount;
#define SIMT_ATTRIBUTE(name, field)     \
  case cudaDevAttr##name:               \
    *value = static_cast<int>(p.field); \
    break;
  switch (attribute) {
    SIMT_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
    SIMT_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0])
    SIMT_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1])
    SIMT_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2])
    SIMT_ATTRIBUTE(MaxGridDimX, maxGridSize[0])
    SIMT_ATTRIBUTE(MaxGridDimY, maxGridSize[1])
    SIMT_ATTRIBUTE(MaxGridDimZ, maxGridSize[2])
    SIMT_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    SIMT_ATTRIBUTE(TotalConstantMemory, totalConstMem)
    SIMT_ATTRIBUTE(WarpSize, warpSize)
    SIMT_ATTRIBUTE(MaxPitch, memPitch)
    SIMT_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
    SIMT_ATTRIBUTE(ClockRate, clockRate)
    SIMT_ATTRIBUTE(TextureAlignment, textureAlignment)
    SIMT_ATTRIBUTE(GpuOverlap, deviceOverlap)
    SIMT_ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
    SIMT_ATTRIBUTE(Integrated, integrated)
    SIMT_ATTRIBUTE(CanMapHostMemory, canMapHostMemory)
    SIMT_ATTRIBUTE(ComputeMode, computeMode)
    SIMT_ATTRIBUTE(ConcurrentKernels, concurrentKernels)
    SIMT_ATTRIBUTE(MemoryClockRate, memoryClockRate)
    SIMT_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
    SIMT_ATTRIBUTE(L2CacheSize, l2CacheSize)
    SIMT_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    SIMT_ATTRIBUTE(AsyncEngineCount, asyncEngineCount)
    SIMT_ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
    SIMT_ATTRIBUTE(ComputeCapabilityMajor, major)
    SIMT_ATTRIBUTE(ComputeCapabilityMinor, minor)
    SIMT_ATTRIBUTE(StreamPrioritiesSupported, streamPrioritiesSupported)
    SIMT_ATTRIBUTE(GlobalL1CacheSupported, globalL1CacheSupported)
    SIMT_ATTRIBUTE(LocalL1CacheSupported, localL1CacheSupported)
    SIMT_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    SIMT_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    SIMT_ATTRIBUTE(ManagedMemory, managedMemory)
    SIMT_ATTRIBUTE(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio)
    SIMT_ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess)
    SIMT_ATTRIBUTE(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)
    SIMT_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
    SIMT_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    SIMT_ATTRIBUTE(HostRegisterSupported, hostRegisterSupported)
    SIMT_ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    SIMT_ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
    SIMT_ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported)
    default:
      if (attribute < 1 || attribute > cudaDevAttrOnlyPartialHostNativeAtomicSupported) {
        return result(cudaErrorInvalidValue);
      }
      *value = 0;  // what the simulated device has not: textures, ECC, a bus, ...
  }
#undef SIMT_ATTRIBUTE
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = simt::captures::refuse_device_wait()) return result(error);
  simt::stream_order::host_waits_for_device(devices::current());
  return result(cudaSuccess);
}

cudaError_t cudaDeviceReset() {
  if (simt::settings::leaks_are_errors()) simt::device::report_leaks();
  simt::stream_order::host_waits_for_device(devices::current());
  simt::memory::reset(devices::current());
  simt::heap::reset();
  simt::device::clear_errors();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return result(cudaSuccess);
}

namespace {
// Stacks and the buffer of printf() are as large as they have to be; what was asked for is kept.
std::map<cudaLimit, size_t>& limits() {
  static std::map<cudaLimit, size_t> values = {
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, size_t{7} << 20},
      {cudaLimitMallocHeapSize, size_t{8} << 20},
      {cudaLimitDevRuntimeSyncDepth, 0},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 0},
  };
  return values;
}
cudaFuncCache cache_config = cudaFuncCachePreferNone;
unsigned device_flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
constexpr size_t kMostLocalMemory = 512 << 10;  // bytes of a thread
}  // namespace

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  const auto found = limits().find(limit);
  if (found == limits().end() || limit == cudaLimitDevRuntimeSyncDepth)
    return result(cudaErrorUnsupportedLimit);
  if (limit == cudaLimitStackSize && value > kMostLocalMemory) return result(cudaErrorInvalidValue);
  found->second = value;
  if (limit == cudaLimitMallocHeapSize) simt::heap::set_limit(value);
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  const auto found = limits().find(limit);
  if (!value || found == limits().end()) return result(cudaErrorInvalidValue);
  *value = found->second;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  cache_config = config;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cache_config;
  return result(cudaSuccess);
}
// The banks are 4 bytes wide since Maxwell, whatever is asked for.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return result(cudaSuccess); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return result(cudaSuccess);
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  device_flags = flags;
  return result(cudaSuccess);
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = device_flags;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!devices::is_valid(device)) return result(cudaErrorInvalidDevice);
  if (!text || length < 13) return result(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<size_t>(length), "0000:00:%02x.0", static_cast<unsigned>(device));
  return result(cudaSuccess);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return result(cudaSuccess);
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaCtxResetPersistingL2Cache() { return result(cudaSuccess); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaProfilerStart() { return result(cudaSuccess); }
cudaError_t cudaProfilerStop() { return result(cudaSuccess); }
