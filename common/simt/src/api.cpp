// The runtime API.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "api_errors.h"
#include "device.h"
#include "host_copies.h"
#include "memory.h"
#include "symbols.h"

using simt::device::explain;
using simt::device::result;
using simt::memory::Kind;

#define SIMT_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

struct CUstream_st {
  unsigned flags;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point when;
  bool recorded = false;
};

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
#define SIMT_ERROR(name, text) \
  { name, #name, text }
constexpr ErrorText kErrors[] = {
    SIMT_ERROR(cudaSuccess, "no error"),
    SIMT_ERROR(cudaErrorInvalidValue, "invalid argument"),
    SIMT_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    SIMT_ERROR(cudaErrorInitializationError, "initialization error"),
    SIMT_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    SIMT_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    SIMT_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    SIMT_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    SIMT_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    SIMT_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    SIMT_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    SIMT_ERROR(cudaErrorInsufficientDriver,
               "CUDA driver version is insufficient for CUDA runtime version"),
    SIMT_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    SIMT_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    SIMT_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    SIMT_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    SIMT_ERROR(cudaErrorNoKernelImageForDevice,
               "no kernel image is available for execution on the device"),
    SIMT_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    SIMT_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    SIMT_ERROR(cudaErrorNotReady, "device not ready"),
    SIMT_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    SIMT_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    SIMT_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    SIMT_ERROR(cudaErrorAssert, "device-side assert triggered"),
    SIMT_ERROR(cudaErrorHostMemoryAlreadyRegistered,
               "part or all of the requested memory range is already mapped"),
    SIMT_ERROR(cudaErrorHostMemoryNotRegistered,
               "pointer does not correspond to a registered memory region"),
    SIMT_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    SIMT_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    SIMT_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    SIMT_ERROR(cudaErrorInvalidAddressSpace,
               "operation not supported on global/shared address space"),
    SIMT_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    SIMT_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    SIMT_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    SIMT_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    SIMT_ERROR(cudaErrorNotSupported, "operation not supported"),
    SIMT_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef SIMT_ERROR

const ErrorText* find_error(cudaError_t error) {
  for (const ErrorText& e : kErrors) {
    if (e.error == error) return &e;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found ? found->text : "unrecognized error code";
}

// ---- Device -------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
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
  prop->concurrentManagedAccess = 1;
  prop->cooperativeLaunch = 1;
  prop->sharedMemPerBlockOptin = simt::device::kSharedPerBlockOptin;
  prop->maxBlocksPerMultiProcessor = simt::device::kBlocksPerMultiprocessor;
  prop->reservedSharedMemPerBlock = 1024;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(p.totalConstMem);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrIntegrated:
      *value = p.integrated;
      break;
    case cudaDevAttrCanMapHostMemory:
      *value = p.canMapHostMemory;
      break;
    case cudaDevAttrConcurrentKernels:
      *value = p.concurrentKernels;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = p.memoryClockRate;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrUnifiedAddressing:
      *value = p.unifiedAddressing;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerMultiprocessor;
      break;
    case cudaDevAttrManagedMemory:
      *value = p.managedMemory;
      break;
    case cudaDevAttrConcurrentManagedAccess:
      *value = p.concurrentManagedAccess;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = p.cooperativeLaunch;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(p.reservedSharedMemPerBlock);
      break;
    default:
      return result(cudaErrorInvalidValue);
  }
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() { return result(cudaSuccess); }

cudaError_t cudaDeviceReset() {
  simt::device::report_leaks();
  simt::memory::reset();
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

cudaError_t cudaSetDeviceFlags(unsigned) { return result(cudaSuccess); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return result(cudaSuccess); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return result(cudaSuccess); }

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize        ? 1024
           : limit == cudaLimitPrintfFifoSize ? 1 << 20
                                              : 8 << 20;
  return result(cudaSuccess);
}

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
    explain("to free " + simt::memory::describe(*found) + " takes " +
            (found->kind == Kind::pinned ? "cudaFreeHost" : "cudaFree"));
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
  if (!device || flags || !found || found->freed || found->kind != Kind::pinned) {
    return result(cudaErrorInvalidValue);
  }
  *device = host;
  return result(cudaSuccess);
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned) {
  return allocate(pointer, Kind::managed, size, SIMT_CALLER);
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t) {
  return allocate(pointer, Kind::device, size, SIMT_CALLER);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return release(pointer, Kind::device, SIMT_CALLER);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
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
    *attributes = {found->kind == Kind::pinned ? cudaMemoryTypeHost : cudaMemoryTypeManaged, 0, p,
                   p};
  }
  return result(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_rows(to, size, from, size, size, 1, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t) {
  return copy_rows(to, size, from, size, size, 1, kind);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return set_rows(pointer, size, value, size, 1);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t) {
  return set_rows(pointer, size, value, size, 1);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return set_rows(pointer, pitch, value, width, height);
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
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  *pointer = const_cast<void*>(symbol);
  return result(cudaSuccess);
}

// ---- Streams and events -------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (!stream) return result(cudaErrorInvalidValue);
  *stream = new CUstream_st{flags};
  return result(cudaSuccess);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return result(cudaErrorInvalidResourceHandle);
  delete stream;
  return result(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return result(cudaSuccess); }
cudaError_t cudaStreamQuery(cudaStream_t) { return result(cudaSuccess); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return result(cudaSuccess); }
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  callback(stream, cudaSuccess, data);
  return result(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return result(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (!event) return result(cudaErrorInvalidValue);
  *event = new CUevent_st;
  return result(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  delete event;
  return result(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  event->when = std::chrono::steady_clock::now();
  event->recorded = true;
  return result(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return result(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return result(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!milliseconds || !begin || !end || !begin->recorded || !end->recorded) {
    return result(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return result(cudaSuccess);
}

// ---- Functions ----------------------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<size_t>(value) > simt::device::kSharedPerBlockOptin) {
      return result(cudaErrorInvalidValue);
    }
    simt::device::allow_dynamic_shared(static_cast<size_t>(value));
  }
  return result(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes || !function) return result(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 64;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(simt::device::kSharedPerBlock);
  return result(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return result(cudaSuccess); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared) {
  if (!blocks || !function || block_size <= 0) return result(cudaErrorInvalidValue);
  *blocks = 0;
  if (block_size > 1024 || dynamic_shared > simt::device::kSharedPerBlockOptin)
    return result(cudaSuccess);
  const int whole_warps = (block_size + 31) / 32 * 32;
  const size_t shared = dynamic_shared + 1024;  // what the system keeps for itself in every block
  *blocks = std::min({simt::device::kThreadsPerMultiprocessor / whole_warps,
                      simt::device::kBlocksPerMultiprocessor,
                      static_cast<int>(simt::device::kSharedPerMultiprocessor / shared)});
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size,
                                               const void* function, size_t dynamic_shared,
                                               int block_size_limit) {
  if (!grid_size || !block_size) return result(cudaErrorInvalidValue);
  int best = 0;
  const int most = block_size_limit > 0 ? std::min(block_size_limit, 1024) : 1024;
  for (int size = most / 32 * 32; size >= 32; size -= 32) {
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
