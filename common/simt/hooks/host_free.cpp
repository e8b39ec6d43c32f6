// free() on the host: of memory that cudaMalloc() or its like made it would end the process, without a word of why.
#include "hooks/host_free.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "hooks/hooks.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/log.h"
#include "watch/host_accesses.h"

namespace simt::engine {
namespace {

void tell(uint64_t address, uint64_t pc) {
  const symbols::Location& at = symbols::locate(program_call(pc));
  Finding f = device::finding_at(at, "api-error");
  f.address = address;
  const memory::Allocation* found = memory::find(address);
  f.message = "free() or delete at " + at.text() + " of " +
              (found ? memory::describe(*found) + ": to free it takes " +
                           memory::freeing_call_of(found->kind)
                     : "an address of the device that no allocation holds") +
              ". On a GPU's host the C library ends the program here.";
  device::report(std::move(f));
}

}  // namespace

bool may_free_on_host(const void* pointer, const void* pc) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!memory::in_arena(address)) return true;
  tell(address, reinterpret_cast<uint64_t>(pc));
  return false;
}

}  // namespace simt::engine

namespace {

using Free = void (*)(void*);

// What frees behind us. Null while this thread looks for it: dlsym() frees what an earlier call that failed has left to say.
Free next_free() {
  static std::atomic<Free> known{nullptr};
  thread_local bool looks = false;
  Free next = known.load(std::memory_order_relaxed);
  if (next || looks) return next;
  looks = true;
  next = reinterpret_cast<Free>(dlsym(RTLD_NEXT, "free"));
  looks = false;
  known.store(next, std::memory_order_relaxed);
  return next;
}

}  // namespace

// In place of the C library's, or of what is loaded before it.
extern "C" void free(void* pointer) noexcept {
  if (!simt::engine::may_free_on_host(pointer, SIMT_PC)) return;
  if (const Free next = next_free()) next(pointer);
}
