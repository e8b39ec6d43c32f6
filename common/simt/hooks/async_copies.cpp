// Asynchronous copies, and barriers of a part of the block.
#include <cstring>

#include "hooks/hooks.h"

namespace simt::engine {

// The running lane stops at a copy to shared memory.
void Hooks::begin_copy(const void* to, const void* from, unsigned size, bool zeros,
                       const void* pc) {
  Worker* worker = running;
  if (worker->traced_) {
    catch_up(pc);  // a load that the lane has begun is no copy
    Warp& warp = *worker->warp_;
    warp.copies.lanes |= 1u << worker->lane_;
    warp.copies.source[worker->lane_] = reinterpret_cast<uint64_t>(from);
    warp.copies.zeros = (warp.copies.zeros & ~(1u << worker->lane_)) | unsigned{zeros}
                                                                           << worker->lane_;
  }
  access(to, size, StopReason::store, false, pc);
}

void Hooks::copy_async(void* to, const void* from, unsigned size, unsigned bytes, const void* pc) {
  Worker* worker = running;
  const bool is_to_shared = worker->monitor.shared.holds(reinterpret_cast<uint64_t>(to));
  if (is_to_shared && (!bytes || detail::memory_of(from) == detail::MemoryKind::global)) {
    begin_copy(to, from, size, bytes == 0, pc);
  } else {  // a load and a store of the thread's own: they need keys of their own
    if (bytes) access(from, size, StopReason::load, false, static_cast<const char*>(pc) - 1);
    access(to, size, StopReason::store, false, pc);
  }
  Monitor& monitor = worker->monitor;
  const unsigned thread = worker->thread_rank();
  const AsyncCopy& copy =
      monitor.copies.of(thread).issue(to, from, size, bytes, reinterpret_cast<uint64_t>(pc));
  if (worker->traced_ && is_to_shared)
    monitor.shared_checker.copy_begins(copy, thread, worker->warp_->checks);
}

// What the lane has read before is checked before.
void Hooks::commit_copies(const void* pc) {
  ThreadCopies& copies = running->monitor.copies.of(running->thread_rank());
  if (!copies.empty()) catch_up(pc);
  copies.commit();
}

void Hooks::wait_copies(unsigned kept, const void* pc) {
  Worker* worker = running;
  Monitor& monitor = worker->monitor;
  const unsigned thread = worker->thread_rank();
  ThreadCopies& copies = monitor.copies.of(thread);
  if (!copies.empty()) catch_up(pc);
  copies.wait(kept, reinterpret_cast<uint64_t>(pc), [&](const AsyncCopy& copy) {
    if (worker->traced_ && monitor.shared.holds(reinterpret_cast<uint64_t>(copy.to)))
      monitor.shared_checker.copy_arrives(copy, thread, worker->warp_->checks);
  });
}

}  // namespace simt::engine

namespace simt::detail {

using engine::AsyncState;
using engine::Hooks;
using engine::Worker;

void copy_async(void* to, const void* from, unsigned size, unsigned zeros) {
  const unsigned bytes = zeros < size ? size - zeros : 0;
  if (!engine::running) {
    std::memcpy(to, from, bytes);
    std::memset(static_cast<char*>(to) + bytes, 0, size - bytes);
    return;
  }
  Hooks::copy_async(to, from, size, bytes, SIMT_PC);
}

void commit_copies() {
  if (engine::running) Hooks::commit_copies(SIMT_PC);
}

void wait_copies(unsigned kept) {
  if (engine::running) Hooks::wait_copies(kept, SIMT_PC);
}

void order_block() {
  if (Worker* worker = engine::running) worker->monitor.next_interval();
}

}  // namespace simt::detail
