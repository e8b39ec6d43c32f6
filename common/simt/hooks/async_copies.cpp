// Asynchronous copies, and barriers of a part of the block.
#include <cstring>

#include "hooks/hooks.h"

namespace simt::engine {

void Hooks::copy_async(const void* to, const void* from, unsigned size, bool zeros,
                       const void* pc) {
  Worker* worker = running;
  if (worker && worker->traced_) {
    Warp& warp = *worker->warp_;
    warp.copies.lanes |= 1u << worker->lane_;
    warp.copies.source[worker->lane_] = reinterpret_cast<uint64_t>(from);
    warp.copies.zeros = (warp.copies.zeros & ~(1u << worker->lane_)) | unsigned{zeros}
                                                                           << worker->lane_;
  }
  access(to, size, StopReason::store, false, pc);
}

}  // namespace simt::engine

namespace simt::detail {

using engine::AsyncState;
using engine::Hooks;
using engine::StopReason;
using engine::Worker;

void copy_async(void* to, const void* from, unsigned size, unsigned zeros) {
  Worker* worker = engine::running;
  const unsigned bytes = zeros < size ? size - zeros : 0;
  if (!worker) {
    std::memcpy(to, from, bytes);
    std::memset(static_cast<char*>(to) + bytes, 0, size - bytes);
    return;
  }
  const bool is_to_shared = memory_of(to) == MemoryKind::shared;
  if (is_to_shared && (!bytes || memory_of(from) == MemoryKind::global)) {
    Hooks::copy_async(to, from, size, bytes == 0, SIMT_PC);
  } else {  // a load and a store of the thread's own: they need keys of their own
    if (bytes)
      Hooks::access(from, size, StopReason::load, false, static_cast<const char*>(SIMT_PC) - 1);
    Hooks::access(to, size, StopReason::store, false, SIMT_PC);
  }
  worker->async.copies(worker->thread_rank()).issue(to, from, size, bytes);
  if (worker->is_traced() && is_to_shared) worker->copy_begins();
}

void commit_copies() {
  if (Worker* worker = engine::running) worker->async.copies(worker->thread_rank()).commit();
}

void wait_copies(unsigned kept) {
  Worker* worker = engine::running;
  if (!worker) return;
  worker->async.copies(worker->thread_rank()).wait(kept, [worker](const void* to, unsigned size) {
    if (!worker->is_traced()) return;
    worker->monitor.copy_arrives(reinterpret_cast<uint64_t>(to), size);
  });
}

void order_block() {
  if (Worker* worker = engine::running) worker->monitor.next_interval();
}

void part_barrier(unsigned first_warp, unsigned warps, unsigned threads) {
  Worker* worker = engine::running;
  if (!worker) return;
  Hooks::catch_up(SIMT_PC);
  AsyncState::Part& part = worker->async.part(first_warp, warps);
  const unsigned phase = part.phase;
  if (++part.arrived == threads) {
    part.arrived = 0;
    ++part.phase;
    worker->monitor.next_interval();
    return;
  }
  while (part.phase == phase) yield();
}

void* thread_slot(unsigned thread) {
  Worker* worker = engine::running;
  return worker ? worker->async.slot(thread) : nullptr;
}

}  // namespace simt::detail
