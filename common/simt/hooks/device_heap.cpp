#include "hooks/device_heap.h"

#include <simt/runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "memory/allocations.h"

namespace simt::heap {
namespace {

std::atomic<size_t> limit{size_t{8} << 20};
std::atomic<size_t> used{0};

bool on_device() { return engine::running && !HostMemory::in_use(); }

void* allocate(size_t size, uint64_t caller) {
  if (size == 0) size = 1;
  if (used.fetch_add(size) + size > limit) {
    used -= size;
    return nullptr;  // as on a GPU: kernels have no exceptions
  }
  const HostMemory bookkeeping;
  return reinterpret_cast<void*>(memory::allocate(memory::Kind::heap, size, caller));
}

void release(void* pointer, uint64_t caller) {
  if (!pointer) return;
  engine::Hooks::catch_up(
      reinterpret_cast<const void*>(caller));  // what was loaded from there has been checked first
  const auto base = reinterpret_cast<uint64_t>(pointer);
  size_t size = 0;
  auto freed = memory::FreeResult::not_an_allocation;
  {
    const HostMemory bookkeeping;
    if (const memory::Allocation* found = memory::find(base)) size = found->size;
    freed = memory::release(base, memory::Kind::heap, caller);
  }
  if (freed == memory::FreeResult::ok) {
    used -= size;
  } else {
    engine::Hooks::trap(
        freed == memory::FreeResult::already_freed
            ? "free() or delete of memory that was freed before"
            : "free() or delete of something that no malloc() or new in a kernel returned",
        reinterpret_cast<const void*>(caller));
  }
}

}  // namespace

void set_limit(size_t bytes) { limit = bytes; }
void reset() { used = 0; }

}  // namespace simt::heap

#define SIMT_CALLER reinterpret_cast<uint64_t>(__builtin_return_address(0))

void* simt::detail::device_malloc(size_t size) {
  engine::Hooks::show_effect();
  return heap::on_device() ? heap::allocate(size, SIMT_CALLER) : std::malloc(size);
}
void simt::detail::device_free(void* pointer) {
  if (heap::on_device()) {
    heap::release(pointer, SIMT_CALLER);
  } else {
    std::free(pointer);
  }
}

// In place of the standard library's: kernels and host code share one `new`.

void* operator new(size_t size) {
  if (simt::heap::on_device()) return simt::heap::allocate(size, SIMT_CALLER);
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) {
  if (simt::heap::on_device()) return simt::heap::allocate(size, SIMT_CALLER);
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* pointer) noexcept {
  if (simt::heap::on_device()) return simt::heap::release(pointer, SIMT_CALLER);
  std::free(pointer);
}
void operator delete[](void* pointer) noexcept {
  if (simt::heap::on_device()) return simt::heap::release(pointer, SIMT_CALLER);
  std::free(pointer);
}
void operator delete(void* pointer, size_t) noexcept {
  if (simt::heap::on_device()) return simt::heap::release(pointer, SIMT_CALLER);
  std::free(pointer);
}
void operator delete[](void* pointer, size_t) noexcept {
  if (simt::heap::on_device()) return simt::heap::release(pointer, SIMT_CALLER);
  std::free(pointer);
}
