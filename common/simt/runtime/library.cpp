// What the headers of CUDA's libraries call: see simt/library.h.
#include <simt/library.h>
#include <simt/on_device.h>

#include <string>

#include "ending/result_extents.h"
#include "ending/unread_results.h"
#include "hooks/hooks.h"
#include "program/program.h"
#include "report/errors.h"
#include "report/log.h"
#include "runtime/memory_calls.h"
#include "streams/order.h"
#include "watch/host_accesses.h"
#include "watch/library_accesses.h"
#include "watch/managed_results.h"

using simt::engine::in_library;

namespace simt::detail {

bool is_on_device() noexcept { return engine::running || in_library; }

cudaError_t enter_library(const char* library) {
  if (engine::running) return cudaSuccess;
  device::note_came_back();
  device::forget_extents();
  managed_results::forget_all();
  if (const cudaError_t error = device::sticky_error()) return error;
  if (in_library++ == 0) {
    stream_order::host_waits_for_all();
    device::note_uncounted("What " + std::string(library) +
                           " computes is carried out on the host and not counted.");
  }
  return cudaSuccess;
}

void leave_library() {
  if (engine::running || in_library == 0) return;
  --in_library;
}

void* library_allocate(size_t size, bool initialized) {
  void* memory = nullptr;
  const uint64_t caller = engine::traced_program ? engine::program_call(SIMT_CALLER) : SIMT_CALLER;
  if (runtime::allocate_when_idle(&memory, memory::Kind::device, size, caller) != cudaSuccess)
    return nullptr;
  if (initialized) memory::mark_written(reinterpret_cast<uint64_t>(memory), size);
  return memory;
}

void library_free(void* pointer) {
  const uint64_t caller = engine::traced_program ? engine::program_call(SIMT_CALLER) : SIMT_CALLER;
  runtime::release_when_idle(pointer, memory::Kind::device, caller);
}

}  // namespace simt::detail
