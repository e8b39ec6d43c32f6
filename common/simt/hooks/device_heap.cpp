#include "hooks/device_heap.h"

#include <simt/api/runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "hooks/host_free.h"
#include "memory/allocations.h"

namespace simt::heap {
namespace {

std::atomic<size_t> limit{size_t{8} << 20};
std::atomic<size_t> used{0};

// Kernels and the host share one malloc() and one `new`: is this a call of a kernel's?
bool on_device() { return engine::running && !HostMemory::in_use(); }

void* allocate(size_t size, const void* caller) {
  if (!on_device()) return std::malloc(size);
  if (size == 0) size = 1;
  if (used.fetch_add(size) + size > limit) {
    used -= size;
    return nullptr;  // as on a GPU: kernels have no exceptions
  }
  const HostMemory bookkeeping;
  return reinterpret_cast<void*>(
      memory::allocate(memory::Kind::heap, size, reinterpret_cast<uint64_t>(caller)));
}

void* allocate_or_throw(size_t size, const void* caller) {
  void* const memory = allocate(size ? size : 1, caller);
  if (!memory && !on_device()) throw std::bad_alloc();
  return memory;
}

void release(void* pointer, const void* caller) {
  if (!on_device()) {
    if (engine::may_free_on_host(pointer, caller)) std::free(pointer);
    return;
  }
  if (!pointer) return;
  engine::Hooks::catch_up(caller);  // what was loaded from there has been checked first
  const auto base = reinterpret_cast<uint64_t>(pointer);
  size_t size = 0;
  auto freed = memory::FreeResult::not_an_allocation;
  {
    const HostMemory bookkeeping;
    if (const memory::Allocation* found = memory::find(base)) size = found->size;
    freed = memory::release(base, memory::Kind::heap, reinterpret_cast<uint64_t>(caller));
  }
  if (freed == memory::FreeResult::ok) {
    used -= size;
  } else {
    engine::Hooks::trap(
        freed == memory::FreeResult::already_freed
            ? "free() or delete of memory that was freed before"
            : "free() or delete of something that no malloc() or new in a kernel returned",
        caller, engine::Fault::Kind::trap, base);
  }
}

}  // namespace

void set_limit(size_t bytes) { limit = bytes; }
void reset() { used = 0; }

}  // namespace simt::heap

void* simt::detail::device_malloc(size_t size) { return heap::allocate(size, SIMT_PC); }
void simt::detail::device_free(void* pointer) { heap::release(pointer, SIMT_PC); }

// In place of the standard library's.
void* operator new(size_t size) { return simt::heap::allocate_or_throw(size, SIMT_PC); }
void* operator new[](size_t size) { return simt::heap::allocate_or_throw(size, SIMT_PC); }
void operator delete(void* pointer) noexcept { simt::heap::release(pointer, SIMT_PC); }
void operator delete[](void* pointer) noexcept { simt::heap::release(pointer, SIMT_PC); }
void operator delete(void* pointer, size_t) noexcept { simt::heap::release(pointer, SIMT_PC); }
void operator delete[](void* pointer, size_t) noexcept { simt::heap::release(pointer, SIMT_PC); }
