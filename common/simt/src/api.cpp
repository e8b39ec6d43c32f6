// The runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "api_errors.h"
#include "device.h"
#include "heap.h"
#include "host_copies.h"
#include "kernels.h"
#include "memory.h"
#include "repeats.h"
#include "streams.h"
#include "symbols.h"

using simt::device::explain;
using simt::device::result;
using simt::graphs::enqueue;
using simt::memory::Kind;

#define SIMT_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

// The linker's names for where the program's variables begin and end.
extern "C" {
extern const char __data_start[];
extern const char _end[];
}

// ---- Errors -------------------------------------------------------------------------------------

namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define SIMT_ERROR(name, value, text) {name, #name, text},
constexpr ErrorText kErrors[] = {SIMT_ERRORS(SIMT_ERROR)};
#undef SIMT_ERROR

const ErrorText* find_error(cudaError_t error) {
  for (const ErrorText& e : kErrors) {
    if (e.error == error) return &e;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  simt::device::api_error_named(error);
  const ErrorText* found = find_error(error);
  return found ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  simt::device::api_error_named(error);
  const ErrorText* found = find_error(error);
  return found ? found->text : "unrecognized error code";
}

// ---- Device -------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return result(cudaErrorInvalidValue);
  *count = 1;
  return result(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  if (!prop) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *prop = {};
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
  std::memcpy(prop->uuid.bytes, "SIMT simulator", 15);
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
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
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

cudaError_t cudaDeviceSynchronize() { return result(cudaSuccess); }

cudaError_t cudaDeviceReset() {
  if (simt::device::leaks_are_errors()) simt::device::report_leaks();
  simt::memory::reset();
  simt::heap::reset();
  simt::device::clear_errors();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return result(cudaSuccess);
}

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
      {cudaLimitDevRuntimeSyncDepth, 2},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 0},
  };
  return values;
}
cudaFuncCache cache_config = cudaFuncCachePreferNone;
cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;
unsigned device_flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
}  // namespace

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  const auto found = limits().find(limit);
  if (found == limits().end()) return result(cudaErrorUnsupportedLimit);
  found->second = value;
  if (limit == cudaLimitMallocHeapSize) simt::heap::set_limit(value);
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  const auto found = limits().find(limit);
  if (!value) return result(cudaErrorInvalidValue);
  if (found == limits().end()) return result(cudaErrorUnsupportedLimit);
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
  *config = bank_config;
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
  if (device != 0) return result(cudaErrorInvalidDevice);
  if (!text || length < 13) return result(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<size_t>(length), "0000:00:00.0");
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (!device || !text || std::strncmp(text, "0000:00:00", 10))
    return result(cudaErrorInvalidValue);
  *device = 0;
  return result(cudaSuccess);
}
// There is one device, and none beside it.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (device != 0 || peer != 0) return result(cudaErrorInvalidDevice);
  *can = 0;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return result(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return result(cudaErrorPeerAccessNotEnabled); }
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return result(cudaErrorInvalidDevice);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return result(cudaSuccess);
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaSetValidDevices(int*, int) { return result(cudaSuccess); }
cudaError_t cudaCtxResetPersistingL2Cache() { return result(cudaSuccess); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaProfilerStart() { return result(cudaSuccess); }
cudaError_t cudaProfilerStop() { return result(cudaSuccess); }

// ---- Memory -------------------------------------------------------------------------------------

namespace {

cudaError_t allocate(void** pointer, Kind kind, size_t size, uint64_t caller) {
  if (!pointer) return result(cudaErrorInvalidValue);
  if (cudaError_t error = simt::device::sticky_error()) return error;
  *pointer = nullptr;
  if (size == 0) return result(cudaSuccess);
  if (size > uint64_t{1} << 62) {
    explain(std::to_string(size) +
            " bytes are more than any device has. Usual cause: a size that was "
            "negative before it became a size_t");
    return result(cudaErrorMemoryAllocation);
  }
  const uint64_t base = simt::memory::allocate(kind, size, caller);
  if (!base) return result(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void*>(base);
  return result(cudaSuccess);
}

cudaError_t release(void* pointer, Kind kind, uint64_t caller) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (!pointer) return result(cudaSuccess);
  const auto freed = simt::memory::release(reinterpret_cast<uint64_t>(pointer), kind, caller);
  if (freed == simt::memory::FreeResult::ok) return result(cudaSuccess);
  const simt::memory::Allocation* found = simt::memory::find(reinterpret_cast<uint64_t>(pointer));
  if (!found) {
    explain("no call that allocates memory returned this pointer");
  } else if (found->freed) {
    explain("it names " + simt::memory::describe(*found) + ", which is freed already");
  } else if (reinterpret_cast<uint64_t>(pointer) != found->base) {
    explain("the pointer lies " +
            std::to_string(reinterpret_cast<uint64_t>(pointer) - found->base) + " bytes into " +
            simt::memory::describe(*found) + "; to free it takes its first address");
  } else {
    static constexpr const char* kTakers[] = {"cudaFree", "cudaFreeHost", "cudaFree",
                                              "free or delete in a kernel", "cudaHostUnregister"};
    explain("to free " + simt::memory::describe(*found) + " takes " +
            kTakers[static_cast<size_t>(found->kind)]);
  }
  return result(cudaErrorInvalidValue);
}

// One end of a copy. What cudaMalloc and its like returned, or a variable, must hold all of it. Empty if it
// does, else what is wrong.
std::string wrong_with(const char* end, const void* pointer, size_t size) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::string what = "the " + std::string(end);
  if (!pointer) return what + " is a null pointer";
  std::string place;
  uint64_t holds_until = 0;
  if (simt::memory::in_arena(address)) {
    const simt::memory::Allocation* found = simt::memory::find(address);
    if (!found) return what + " is an address that no allocation holds";
    place = simt::memory::describe(*found);
    if (found->freed) return what + " lies in " + place;
    holds_until = found->end();
  } else if (const simt::symbols::Variable* variable = simt::symbols::find_variable(address)) {
    place =
        "the " + std::to_string(variable->end - variable->begin) + " bytes of " + variable->name;
    holds_until = variable->end;
  } else {
    return {};  // the host's
  }
  if (size <= holds_until - address) return {};
  const uint64_t past = size - (holds_until - address);
  return what + " reaches " + std::to_string(past) + (past == 1 ? " byte" : " bytes") +
         " past the end of " + place;
}

bool is_device(const void* pointer) {
  return simt::memory::in_device_arena(reinterpret_cast<uint64_t>(pointer));
}

// The direction must fit the pointers. Host memory that the device can reach too fits both.
bool direction_fits(const void* to, const void* from, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !is_device(to) && !is_device(from);
    case cudaMemcpyHostToDevice:
      return !is_device(from);
    case cudaMemcpyDeviceToHost:
      return !is_device(to);
    default:
      return kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
  }
}

void mark_rows_written(void* to, size_t pitch, size_t width, size_t height) {
  const auto address = reinterpret_cast<uint64_t>(to);
  if (simt::engine::in_program_data(address)) simt::engine::repeats::forget();
  if (!simt::memory::in_device_arena(address)) return;
  if (pitch == width) {
    simt::memory::mark_written(address, width * height);
  } else {
    for (size_t row = 0; row < height; ++row) {
      simt::memory::mark_written(address + row * pitch, width);
    }
  }
}

cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, cudaMemcpyKind kind) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (width == 0 || height == 0) return result(cudaSuccess);
  if (to_pitch < width || from_pitch < width) {
    explain("rows of " + std::to_string(width) + " bytes do not fit in a pitch of " +
            std::to_string(std::min(to_pitch, from_pitch)));
    return result(cudaErrorInvalidPitchValue);
  }
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return result(cudaErrorInvalidMemcpyDirection);
  }
  if (!direction_fits(to, from, kind)) {
    explain(is_device(to) && kind != cudaMemcpyHostToDevice
                ? "the target lies in device memory, and the direction says that it is the host's"
                : "the source lies in device memory, and the direction says that it is the host's");
    return result(cudaErrorInvalidValue);
  }
  std::string wrong = wrong_with("target", to, (height - 1) * to_pitch + width);
  if (wrong.empty()) wrong = wrong_with("source", from, (height - 1) * from_pitch + width);
  if (!wrong.empty()) {
    explain(std::move(wrong));
    return result(cudaErrorInvalidValue);
  }
  auto* target = static_cast<char*>(to);
  auto* source = static_cast<const char*>(from);
  for (size_t row = 0; row < height; ++row) {
    std::memmove(target + row * to_pitch, source + row * from_pitch, width);
  }
  mark_rows_written(to, to_pitch, width, height);
  if (!is_device(to)) {
    for (size_t row = 0; row < height; ++row) {
      simt::host_copies::note(target + row * to_pitch, source + row * from_pitch, width);
    }
  }
  return result(cudaSuccess);
}

// True for the program's variables, __device__ and __constant__ ones among them.
bool is_variable(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  return address >= reinterpret_cast<uint64_t>(__data_start) &&
         address < reinterpret_cast<uint64_t>(_end);
}

cudaError_t set_rows(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (width == 0 || height == 0) return result(cudaSuccess);
  if (pitch < width) {
    explain("rows of " + std::to_string(width) + " bytes do not fit in a pitch of " +
            std::to_string(pitch));
    return result(cudaErrorInvalidPitchValue);
  }
  const bool is_known =
      simt::memory::in_arena(reinterpret_cast<uint64_t>(pointer)) || is_variable(pointer);
  std::string wrong = is_known ? wrong_with("range", pointer, (height - 1) * pitch + width)
                               : "this is not device memory";
  if (!wrong.empty()) {
    explain(std::move(wrong));
    return result(cudaErrorInvalidValue);
  }
  for (size_t row = 0; row < height; ++row) {
    std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
  }
  mark_rows_written(pointer, pitch, width, height);
  return result(cudaSuccess);
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate(pointer, Kind::device, size, SIMT_CALLER);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return result(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, Kind::device, *pitch * height, SIMT_CALLER);
}

cudaError_t cudaFree(void* pointer) { return release(pointer, Kind::device, SIMT_CALLER); }

cudaError_t cudaMallocHost(void** pointer, size_t size, unsigned) {
  return allocate(pointer, Kind::pinned, size, SIMT_CALLER);
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned) {
  return allocate(pointer, Kind::pinned, size, SIMT_CALLER);
}

cudaError_t cudaFreeHost(void* pointer) { return release(pointer, Kind::pinned, SIMT_CALLER); }

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  const simt::memory::Allocation* found = simt::memory::find(reinterpret_cast<uint64_t>(host));
  const bool is_host = found && !found->freed && found->kind != Kind::device;
  if (!device || flags || !is_host) return result(cudaErrorInvalidValue);
  *device = host;
  return result(cudaSuccess);
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned) {
  return allocate(pointer, Kind::managed, size, SIMT_CALLER);
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  const simt::memory::Allocation* found = simt::memory::find(reinterpret_cast<uint64_t>(host));
  if (!flags || !found || found->freed || found->kind == Kind::device) {
    return result(cudaErrorInvalidValue);
  }
  *flags = cudaHostAllocMapped;
  return result(cudaSuccess);
}

cudaError_t cudaHostRegister(void* host, size_t size, unsigned) {
  if (!host || !size) return result(cudaErrorInvalidValue);
  if (cudaError_t error = simt::device::sticky_error()) return error;
  const auto base = reinterpret_cast<uint64_t>(host);
  if (simt::memory::in_device_arena(base)) return result(cudaErrorInvalidValue);
  if (simt::memory::in_shared_arena(base) ||
      !simt::memory::register_host(base, size, SIMT_CALLER)) {
    return result(cudaErrorHostMemoryAlreadyRegistered);
  }
  return result(cudaSuccess);
}

cudaError_t cudaHostUnregister(void* host) {
  const bool known = simt::memory::unregister_host(reinterpret_cast<uint64_t>(host), SIMT_CALLER);
  return result(known ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

namespace {

// Managed memory is everywhere at once: what is said about it is checked and then forgotten.
cudaError_t check_managed(const void* pointer, size_t size, int device) {
  const auto base = reinterpret_cast<uint64_t>(pointer);
  const simt::memory::Allocation* found = simt::memory::find(base);
  if (!found || found->freed || found->kind != Kind::managed || base + size > found->end()) {
    // __managed__ variables are the program's own
    if (!is_variable(pointer)) return result(cudaErrorInvalidValue);
  }
  return result(device == 0 || device == cudaCpuDeviceId || device == cudaInvalidDeviceId
                    ? cudaSuccess
                    : cudaErrorInvalidDevice);
}

int device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, int device, cudaStream_t) {
  return check_managed(pointer, size, device);
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location,
                                 unsigned, cudaStream_t) {
  return check_managed(pointer, size, device_of(location));
}
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise, int device) {
  return check_managed(pointer, size, device);
}
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise,
                          cudaMemLocation location) {
  return check_managed(pointer, size, device_of(location));
}
cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t size) {
  if (!data || data_size < sizeof(int)) return result(cudaErrorInvalidValue);
  const int value = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
  for (size_t i = 0; i + sizeof(int) <= data_size; i += sizeof(int)) {
    std::memcpy(static_cast<char*>(data) + i, &value, sizeof(int));
  }
  return check_managed(pointer, size, 0);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* pointer, size_t size, unsigned) {
  return check_managed(pointer, size, 0);
}

// ---- Memory pools: there is one, and allocating from it is allocating.

struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, uint64_t> attributes;
};

namespace {

cudaMemPool_t default_pool() {
  static CUmemPoolHandle_st pool;
  return &pool;
}
cudaMemPool_t current_pool = nullptr;

// In a graph, memory lives as long as anything that uses it: what was captured holds it.
cudaError_t allocate_async(void** pointer, size_t size, cudaStream_t stream, uint64_t caller) {
  if (cudaError_t error = allocate(pointer, Kind::device, size, caller)) return error;
  if (!simt::graphs::is_capturing(stream)) return cudaSuccess;
  const std::shared_ptr<void> owner(*pointer, [](void* p) { cudaFree(p); });
  simt::graphs::note(stream, cudaGraphNodeTypeMemAlloc, [owner] { return cudaSuccess; });
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return allocate_async(pointer, size, stream, SIMT_CALLER);
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (!pool) return result(cudaErrorInvalidValue);
  return allocate_async(pointer, size, stream, SIMT_CALLER);
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (!pool) return result(cudaErrorInvalidValue);
  return allocate_async(pointer, size, stream, SIMT_CALLER);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (simt::graphs::is_capturing(stream)) {
    simt::graphs::note(stream, cudaGraphNodeTypeMemFree, {});
    return cudaSuccess;
  }
  return release(pointer, Kind::device, SIMT_CALLER);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return result(cudaErrorInvalidValue);
  *pool = default_pool();
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return result(cudaErrorInvalidValue);
  *pool = current_pool ? current_pool : default_pool();
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  current_pool = pool;
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (!pool || !properties) return result(cudaErrorInvalidValue);
  *pool = new CUmemPoolHandle_st;
  return result(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (!pool || pool == default_pool()) return result(cudaErrorInvalidValue);
  if (current_pool == pool) current_pool = nullptr;
  delete pool;
  return result(cudaSuccess);
}

namespace {

bool is_switch(cudaMemPoolAttr attribute) {  // an int, the others are 64-bit numbers
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

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
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, size_t) {
  return result(pool ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return result(pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (!free || !total) return result(cudaErrorInvalidValue);
  *free = simt::memory::free_bytes();
  *total = simt::memory::total_bytes();
  return result(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return result(cudaErrorInvalidValue);
  const simt::memory::Allocation* found = simt::memory::find(reinterpret_cast<uint64_t>(pointer));
  auto* p = const_cast<void*>(pointer);
  if (!found || found->freed) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};
  } else if (found->kind == Kind::device) {
    *attributes = {cudaMemoryTypeDevice, 0, p, nullptr};
  } else {
    const bool is_managed = found->kind == Kind::managed;
    *attributes = {is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, p, p};
  }
  return result(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_rows(to, size, from, size, size, 1, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return copy_rows(to, size, from, size, size, 1, kind); });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t size) {
  if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
  return copy_rows(to, size, from, size, size, 1, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyPeer(to, to_device, from, from_device, size); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return set_rows(pointer, size, value, size, 1);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemset,
                 [=] { return set_rows(pointer, size, value, size, 1); });
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return set_rows(pointer, pitch, value, width, height);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemset,
                 [=] { return set_rows(pointer, pitch, value, width, height); });
}

// ---- Three dimensions: slices of rows

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (!pitched) return result(cudaErrorInvalidValue);
  *pitched = {nullptr, (extent.width + 511) / 512 * 512, extent.width, extent.height};
  return allocate(&pitched->ptr, Kind::device, pitched->pitch * extent.height * extent.depth,
                  SIMT_CALLER);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  if (!p) return result(cudaErrorInvalidValue);
  if (p->srcArray || p->dstArray) return result(cudaErrorNotSupported);
  const auto start = [](const cudaPitchedPtr& memory, const cudaPos& position, size_t slice) {
    return static_cast<char*>(memory.ptr) +
           ((position.z + slice) * memory.ysize + position.y) * memory.pitch + position.x;
  };
  for (size_t slice = 0; slice < p->extent.depth; ++slice) {
    if (const cudaError_t error = copy_rows(start(p->dstPtr, p->dstPos, slice), p->dstPtr.pitch,
                                            start(p->srcPtr, p->srcPos, slice), p->srcPtr.pitch,
                                            p->extent.width, p->extent.height, p->kind)) {
      return error;
    }
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  if (!p) return result(cudaErrorInvalidValue);
  return enqueue(stream, cudaGraphNodeTypeMemcpy, [copy = *p] { return cudaMemcpy3D(&copy); });
}
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent) {
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    char* start = static_cast<char*>(pitched.ptr) + slice * pitched.ysize * pitched.pitch;
    if (const cudaError_t error =
            set_rows(start, pitched.pitch, value, extent.width, extent.height)) {
      return error;
    }
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemset,
                 [=] { return cudaMemset3D(pitched, value, extent); });
}

// A __device__ or __constant__ variable is a variable of the program.
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                               cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost || !symbol) return result(cudaErrorInvalidMemcpyDirection);
  return copy_rows(static_cast<char*>(const_cast<void*>(symbol)) + offset, size, from, size, size,
                   1, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                 cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice || !symbol) return result(cudaErrorInvalidMemcpyDirection);
  return copy_rows(to, size, static_cast<const char*>(symbol) + offset, size, size, 1,
                   cudaMemcpyDefault);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyToSymbol(symbol, from, size, offset, kind); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyFromSymbol(to, symbol, size, offset, kind); });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  *pointer = const_cast<void*>(symbol);
  return result(cudaSuccess);
}

// ---- Streams and events -------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  static std::atomic<unsigned long long> ids{2};
  if (!stream || flags > cudaStreamNonBlocking) return result(cudaErrorInvalidValue);
  auto* made = new CUstream_st;
  made->flags = flags;
  made->priority = std::clamp(priority, -5, 0);
  made->id = ++ids;
  *stream = simt::Handles<CUstream_st>::add(made);
  return result(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!simt::graphs::ordinary(stream)) return result(cudaErrorInvalidResourceHandle);
  if (stream->capture) std::erase(stream->capture->streams, stream);
  simt::Handles<CUstream_st>::remove(stream);
  delete stream;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (!priority) return result(cudaErrorInvalidValue);
  *priority = simt::graphs::ordinary(stream) ? stream->priority : 0;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  if (!flags) return result(cudaErrorInvalidValue);
  *flags = simt::graphs::ordinary(stream) ? stream->flags : cudaStreamDefault;
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (!id) return result(cudaErrorInvalidValue);
  *id = simt::graphs::ordinary(stream) ? stream->id : reinterpret_cast<uintptr_t>(stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetDevice(cudaStream_t, int* device) { return cudaGetDevice(device); }
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  if (attribute == cudaLaunchAttributePriority && simt::graphs::ordinary(stream)) {
    stream->priority = std::clamp(value->priority, -5, 0);
  }
  return result(cudaSuccess);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  if (!value) return result(cudaErrorInvalidValue);
  *value = {};
  if (attribute == cudaLaunchAttributePriority) {
    return cudaStreamGetPriority(stream, &value->priority);
  }
  return result(cudaSuccess);
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  if (!simt::graphs::ordinary(to) || !simt::graphs::ordinary(from)) {
    return result(cudaErrorInvalidValue);
  }
  to->priority = from->priority;
  return result(cudaSuccess);
}

// All work is done by now; but what is being captured has not begun.
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!simt::graphs::is_valid(stream)) return result(cudaErrorInvalidResourceHandle);
  return result(simt::graphs::is_capturing(stream) ? cudaErrorStreamCaptureUnsupported
                                                   : cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

static bool is_event(cudaEvent_t event) { return simt::Handles<CUevent_st>::is_live(event); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!is_event(event)) return result(cudaErrorInvalidResourceHandle);
  const auto capture = event->capture.lock();
  if (!capture) return result(cudaSuccess);
  if (!simt::graphs::ordinary(stream)) return result(cudaErrorStreamCaptureImplicit);
  // The stream takes part in the capture from here on.
  if (!stream->capture) {
    stream->capture = capture;
    stream->last.clear();
    capture->streams.push_back(stream);
  }
  if (stream->capture != capture) return result(cudaErrorStreamCaptureMerge);
  stream->last.insert(stream->last.end(), event->last.begin(), event->last.end());
  return result(cudaSuccess);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  if (!callback) return result(cudaErrorInvalidValue);
  return enqueue(stream, cudaGraphNodeTypeHost, [=] {
    callback(stream, simt::device::sticky_error(), data);
    return result(cudaSuccess);
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (!function) return result(cudaErrorInvalidValue);
  return enqueue(stream, cudaGraphNodeTypeHost, [=] {
    function(data);
    return result(cudaSuccess);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (!event) return result(cudaErrorInvalidValue);
  *event = simt::Handles<CUevent_st>::add(new CUevent_st);
  return result(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!simt::Handles<CUevent_st>::remove(event)) return result(cudaErrorInvalidResourceHandle);
  delete event;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_event(event)) return result(cudaErrorInvalidResourceHandle);
  if (!simt::graphs::is_valid(stream)) return result(cudaErrorInvalidResourceHandle);
  event->capture.reset();
  if (simt::graphs::is_capturing(stream)) {
    event->capture = stream->capture;
    event->last = stream->last;
    return result(cudaSuccess);
  }
  event->when = std::chrono::steady_clock::now();
  event->recorded = true;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!is_event(event)) return result(cudaErrorInvalidResourceHandle);
  return result(event->capture.expired() ? cudaSuccess : cudaErrorCapturedEvent);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!milliseconds || !is_event(begin) || !is_event(end) || !begin->recorded || !end->recorded) {
    return result(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return result(cudaSuccess);
}

// ---- Functions ----------------------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<size_t>(value) > simt::device::kSharedPerBlockOptin) {
      return result(cudaErrorInvalidValue);
    }
    simt::device::allow_dynamic_shared(function, static_cast<size_t>(value));
  }
  return result(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes || !function) return result(cudaErrorInvalidValue);
  *attributes = {};
  const size_t fixed = simt::kernels::static_shared(function);
  attributes->sharedSizeBytes = fixed;
  attributes->maxThreadsPerBlock = static_cast<int>(simt::kernels::find(function).most_threads);
  attributes->numRegs = 64;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  const size_t limit = simt::device::allowed_dynamic_shared(function);
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(limit > simt::device::kSharedPerBlock ? limit : limit - fixed);
  return result(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return result(cudaSuccess); }
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared) {
  if (!blocks || !function || block_size <= 0) return result(cudaErrorInvalidValue);
  const bool fits = block_size <= static_cast<int>(simt::kernels::find(function).most_threads);
  const size_t shared = dynamic_shared + simt::kernels::static_shared(function);
  *blocks = fits ? simt::device::resident_blocks(block_size, shared) : 0;
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size,
                                                       dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  if (!bytes || !function || blocks <= 0 || block_size <= 0) return result(cudaErrorInvalidValue);
  const size_t share = simt::device::kSharedPerMultiprocessor / static_cast<size_t>(blocks);
  const size_t taken = simt::device::kSharedReserved + simt::kernels::static_shared(function);
  const size_t most = simt::device::kSharedPerBlockOptin - simt::kernels::static_shared(function);
  *bytes = std::min(share > taken ? share - taken : 0, most);
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                               const void* function, size_t dynamic_shared,
                                               int block_size_limit) {
  if (!grid_size || !block_size) return result(cudaErrorInvalidValue);
  int best = 0;
  const int bound = static_cast<int>(simt::kernels::find(function).most_threads);
  const int most = block_size_limit > 0 ? std::min(block_size_limit, bound) : bound;
  for (int warps = (most + 31) / 32; warps > 0; --warps) {
    const int size = std::min(warps * 32, most);
    int blocks = 0;
    if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                                          dynamic_shared)) {
      return error;
    }
    if (blocks * size > best) {
      best = blocks * size;
      *block_size = size;
      *grid_size = blocks * simt::device::kMultiprocessors;
    }
  }
  return result(cudaSuccess);
}
