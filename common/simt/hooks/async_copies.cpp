#include <simt/runtime.h>

#include <algorithm>
#include <cstring>

#include "exec/async_state.h"
#include "exec/worker.h"

namespace simt::engine {

// The bytes arrive when the thread waits for them. Until then they are garbage, as on hardware they may be.
void ThreadCopies::issue(void* to, const void* from, unsigned size, unsigned bytes) {
  Copy copy{to, open_group_, size, {}};
  std::memcpy(copy.bytes.data(), from, bytes);  // the rest is zero
  pending_.push_back(copy);
  std::memset(to, 0xff, size);
  if (Worker* worker = current_worker()) worker->copy_begins(to, size);
}

void ThreadCopies::wait(uint64_t kept) {
  const uint64_t end = open_group_ > kept ? open_group_ - kept : 0;
  size_t done = 0;
  while (done < pending_.size() && pending_[done].group < end) {
    const Copy& copy = pending_[done++];
    std::memcpy(copy.to, copy.bytes.data(), copy.size);
    if (Worker* worker = current_worker()) worker->copy_arrives(copy.to, copy.size);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(done));
}

void ThreadCopies::clear() {
  pending_.clear();
  open_group_ = 0;
}

void BlockExtras::begin_block() {
  if (!used_) return;
  used_ = false;
  for (ThreadCopies& copies : copies_) copies.clear();
  parts_ = {};
}

ThreadCopies& BlockExtras::copies(unsigned thread) {
  used_ = true;
  if (copies_.empty()) copies_.resize(kMaxBlockThreads);
  return copies_[thread];
}

void* BlockExtras::slot(unsigned thread) {
  if (slots_.empty()) slots_.resize(kMaxBlockThreads);
  return &slots_[thread];
}

}  // namespace simt::engine

namespace simt::detail {

using engine::BlockExtras;
using engine::current_worker;
using engine::Stop;
using engine::Worker;

#define SIMT_PC reinterpret_cast<uint64_t>(__builtin_return_address(0))

void copy_async(void* to, const void* from, unsigned size, unsigned zeros) {
  Worker* worker = current_worker();
  const unsigned bytes = zeros < size ? size - zeros : 0;
  if (!worker) {
    std::memcpy(to, from, bytes);
    std::memset(static_cast<char*>(to) + bytes, 0, size - bytes);
    return;
  }
  if (memory_of(to) == MemoryKind::shared && (!bytes || memory_of(from) == MemoryKind::global)) {
    engine::note_copy(to, from, size, bytes == 0, SIMT_PC);
  } else {  // a load and a store of the thread's own: they need keys of their own
    if (bytes) engine::note_access(from, size, Stop::load, SIMT_PC - 1);
    engine::note_access(to, size, Stop::store, SIMT_PC);
  }
  worker->extras.copies(worker->thread_rank()).issue(to, from, size, bytes);
}

void commit_copies() {
  if (Worker* worker = current_worker()) worker->extras.copies(worker->thread_rank()).commit();
}

void wait_copies(unsigned kept) {
  if (Worker* worker = current_worker()) worker->extras.copies(worker->thread_rank()).wait(kept);
}

void order_block() {
  if (Worker* worker = current_worker()) worker->order_shared();
}

void part_barrier(unsigned first_warp, unsigned warps, unsigned threads) {
  Worker* worker = current_worker();
  if (!worker) return;
  engine::catch_up(SIMT_PC);
  BlockExtras::Part& part = worker->extras.part(first_warp, warps);
  const unsigned phase = part.phase;
  if (++part.arrived == threads) {
    part.arrived = 0;
    ++part.phase;
    worker->order_shared();
    return;
  }
  while (part.phase == phase) yield();
}

void* thread_slot(unsigned thread) {
  Worker* worker = current_worker();
  return worker ? worker->extras.slot(thread) : nullptr;
}

}  // namespace simt::detail
