// Memory: allocated, freed, shared with the host.
#include <cuda_runtime_api.h>

#include <string>

#include "base/devices.h"
#include "hooks/device_heap.h"
#include "memory/device_variables.h"
#include "program/program_image.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/log.h"
#include "runtime/memory_calls.h"
#include "streams/order.h"
#include "watch/captures.h"
#include "watch/host_accesses.h"
#include "watch/managed_results.h"
#include "watch/system_atomics.h"

using simt::device::explain;
using simt::device::result;
using simt::memory::Kind;
using simt::runtime::allocate_when_idle;
using simt::runtime::is_variable;
using simt::runtime::live_at;
using simt::runtime::release;
using simt::runtime::release_when_idle;

// The linker's names for where the program's variables begin and end.
extern "C" {
extern const char __data_start[];
extern const char _end[];
}

namespace simt::runtime {

// cudaMalloc(&buffer, ...) where `buffer` is a __device__ pointer: what host code has by that name gets the address, and the kernels'
// own stays as it is.
static void look_for_stand_in(uint64_t target, uint64_t caller) {
  const std::string name = simt::device_variables::stand_in(target);
  if (name.empty()) return;
  const simt::symbols::Location& at = simt::symbols::locate(caller);
  simt::Finding f = simt::device::finding_at(at, "device-access", simt::Severity::warning);
  f.address = target;
  f.message = simt::device::call_under_way().name + " at " + at.text() +
              " does not set the variable '" + name +
              "' of the device, which kernels read, but a variable that host code has by the same "
              "name: on a GPU the kernels' one stays null. Allocate by a pointer of the host, and "
              "copy that with cudaMemcpyToSymbol(), or hand it to the kernel as a parameter.";
  simt::device::report(std::move(f));
}

cudaError_t allocate(void** pointer, Kind kind, size_t size, uint64_t caller) {
  if (!pointer) {
    explain(
        "its first argument is a null pointer, and takes the address of a pointer: write '&' "
        "before the pointer, (void**)&p where a cast is wanted");
    return result(cudaErrorInvalidValue);
  }
  if (cudaError_t error = simt::device::sticky_error()) return error;
  // cudaMalloc(&rows[i], ...) where `rows` is memory of the device
  const auto target = reinterpret_cast<uint64_t>(pointer);
  if (simt::memory::in_device_arena(target))
    simt::engine::host_access(target, sizeof(void*), true, caller);
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
  simt::system_atomics::forget(base, size);
  if (kind == Kind::managed) simt::managed_results::watch(base, size);
  *pointer = reinterpret_cast<void*>(base);
  if (simt::engine::in_program_data(target)) look_for_stand_in(target, caller);
  return result(cudaSuccess);
}

// What somebody wants to free who has it from nowhere.
static std::string whose(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  constexpr uint64_t kStack = uint64_t{1} << 23;
  if (address - here < kStack || is_variable(pointer))
    return "this is the address of a variable of the host: hand over the pointer that it holds, "
           "without '&'";
  return "no call that allocates memory returned this pointer: what malloc() or new returned takes "
         "free() or delete";
}

cudaError_t release(void* pointer, Kind kind, uint64_t caller) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (!pointer) return result(cudaSuccess);
  if (simt::managed_results::extent)
    simt::managed_results::access(reinterpret_cast<uint64_t>(pointer), 1, true, caller);
  const auto freed = simt::memory::release(reinterpret_cast<uint64_t>(pointer), kind, caller);
  if (freed == simt::memory::FreeResult::ok) return result(cudaSuccess);
  const simt::memory::Allocation* found = simt::memory::find(reinterpret_cast<uint64_t>(pointer));
  if (!found) {
    explain(whose(pointer));
  } else if (found->freed) {
    explain("it names " + simt::memory::describe(*found) + ", which is freed already");
  } else if (reinterpret_cast<uint64_t>(pointer) != found->base) {
    explain("the pointer lies " +
            std::to_string(reinterpret_cast<uint64_t>(pointer) - found->base) + " bytes into " +
            simt::memory::describe(*found) + "; to free it takes its first address");
  } else {
    explain("to free " + simt::memory::describe(*found) + " takes " +
            simt::memory::freeing_call_of(found->kind));
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t allocate_when_idle(void** pointer, Kind kind, size_t size, uint64_t caller) {
  if (const cudaError_t error = simt::captures::refuse_unsafe()) return result(error);
  return allocate(pointer, kind, size, caller);
}

cudaError_t release_when_idle(void* pointer, Kind kind, uint64_t caller) {
  if (const cudaError_t error = simt::captures::refuse_unsafe()) return result(error);
  if (pointer) stream_order::host_waits_for_all();
  return release(pointer, kind, caller);
}

bool is_variable(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  return address >= reinterpret_cast<uint64_t>(__data_start) &&
         address < reinterpret_cast<uint64_t>(_end);
}

}  // namespace simt::runtime

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate_when_idle(pointer, Kind::device, size, SIMT_CALLER);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return result(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  const cudaError_t error = allocate_when_idle(pointer, Kind::device, *pitch * height, SIMT_CALLER);
  if (!error) simt::memory::note_rows(reinterpret_cast<uint64_t>(*pointer), width, *pitch);
  return error;
}

cudaError_t cudaFree(void* pointer) {
  return release_when_idle(pointer, Kind::device, SIMT_CALLER);
}

// All that cudaHostAlloc and its like can be asked for: portable, mapped, write-combined.
static bool are_pinned_flags(unsigned flags) {
  return !(flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined));
}

cudaError_t cudaMallocHost(void** pointer, size_t size, unsigned flags) {
  if (!are_pinned_flags(flags)) return result(cudaErrorInvalidValue);
  return allocate_when_idle(pointer, Kind::pinned, size, SIMT_CALLER);
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  if (!are_pinned_flags(flags)) return result(cudaErrorInvalidValue);
  return allocate_when_idle(pointer, Kind::pinned, size, SIMT_CALLER);
}

cudaError_t cudaFreeHost(void* pointer) {
  return release_when_idle(pointer, Kind::pinned, SIMT_CALLER);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  const simt::memory::Allocation* found = live_at(host);
  const bool is_host = found && found->kind != Kind::device;
  if (!device || flags || !is_host) return result(cudaErrorInvalidValue);
  *device = host;
  return result(cudaSuccess);
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
    explain("its flags are cudaMemAttachGlobal or cudaMemAttachHost");
    return result(cudaErrorInvalidValue);
  }
  return allocate_when_idle(pointer, Kind::managed, size, SIMT_CALLER);
}

cudaError_t cudaHostRegister(void* host, size_t size, unsigned flags) {
  constexpr unsigned kFlags = cudaHostRegisterPortable | cudaHostRegisterMapped |
                              cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (!host || !size || (flags & ~kFlags)) return result(cudaErrorInvalidValue);
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
  const bool known = simt::memory::unregister_host(reinterpret_cast<uint64_t>(host));
  return result(known ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

namespace {

// Managed memory is everywhere at once: what is said about it is checked and then forgotten.
cudaError_t check_managed(const void* pointer, size_t size, int device) {
  const simt::memory::Allocation* found = live_at(pointer);
  const bool is_managed = found && found->kind == Kind::managed &&
                          reinterpret_cast<uint64_t>(pointer) + size <= found->end();
  // __managed__ variables are the program's own
  if (!is_managed && !is_variable(pointer)) return result(cudaErrorInvalidValue);
  return result(simt::devices::is_valid(device) || device == cudaCpuDeviceId ||
                        device == cudaInvalidDeviceId
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

cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* pointer, size_t size, unsigned) {
  return check_managed(pointer, size, 0);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (free) *free = simt::memory::free_bytes(simt::devices::current());
  if (total) *total = simt::memory::total_bytes();
  return result(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return result(cudaErrorInvalidValue);
  const simt::memory::Allocation* found = live_at(pointer);
  auto* p = const_cast<void*>(pointer);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!found && simt::engine::is_managed(address)) {
    *attributes = {cudaMemoryTypeManaged, 0, p, p};
  } else if (!found && simt::device_variables::is_on_device(address)) {
    *attributes = {cudaMemoryTypeDevice, 0, p, nullptr};
  } else if (!found) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};
  } else if (found->kind == Kind::device) {
    *attributes = {cudaMemoryTypeDevice, found->device, p, nullptr};
  } else {
    const bool is_managed = found->kind == Kind::managed;
    *attributes = {is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, found->device, p, p};
  }
  return result(cudaSuccess);
}
