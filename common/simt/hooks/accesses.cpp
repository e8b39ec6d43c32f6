// Loads and stores: the sanitizer's ABI, by which compiled code announces them.
#include "check/polls.h"
#include "hooks/hooks.h"
#include "streams/races.h"
#include "watch/host_accesses.h"
#include "watch/host_copies.h"
#include "watch/library_accesses.h"
#include "watch/managed_results.h"
#include "watch/unsynchronized.h"

namespace simt::engine {

void Hooks::access_on_host(uint64_t address, unsigned size, StopReason what, bool is_volatile,
                           const void* pc) {
  const bool loads = what == StopReason::load;
  if (in_library) {
    if (memory::in_device_arena(address))
      library_access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
    return;
  }
  if (memory::in_device_arena(address)) [[unlikely]] {
    host_access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
    return;
  }
  if (memory::in_shared_arena(address)) [[unlikely]]
    shared_access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
  if (address - host_copies::begin < host_copies::extent) [[unlikely]] {
    host_copies::access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
  } else if (address - managed_results::begin < managed_results::extent) [[unlikely]] {
    managed_results::access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
  }
  if (address - stream_races::begin < stream_races::extent) [[unlikely]] {
    if (!is_volatile && what != StopReason::atomic) {
      unsynchronized::access(address, size, !loads, reinterpret_cast<uint64_t>(pc));
    } else if (what != StopReason::store) {
      stream_races::host_polls(address, size);
    }
  }
}

void Hooks::take_turns(const void* pc) {
  Worker* worker = running;
  uncounted = kTurn;
  worker->clock_ += kTurn;
  worker->is_loop_ ? perhaps_spins(pc) : yield(pc);
}

// A thread of a plain loop that does this again and again may wait for one that has not begun.
void Hooks::perhaps_spins(const void* pc) {
  Worker* worker = running;
  const unsigned thread = worker->loop_thread();
  if (thread != worker->turns_of_) worker->turns_ = 0;
  worker->turns_of_ = thread;
  if (++worker->turns_ == 256) yield(pc);
}

// Pieces of at most 4 bytes: what the compiler could not prove to be aligned better. simtcc may know of a `widest` one.
void Hooks::access_pieces(const void* pointer, uint64_t size, StopReason what, const void* pc,
                          unsigned widest) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  const uint64_t end = address + size;
  if (running && running->traced_) running->warp_->has_pieces = true;
  // A struct may have padding, which nobody writes.
  const bool is_padded = what == StopReason::load && running && running->traced_ &&
                         running->monitor.is_partly_written(address, size);
  while (address < end) {
    unsigned piece = widest;
    while (address % piece || piece > end - address) piece /= 2;
    access(reinterpret_cast<const void*>(address), piece, what, false, pc, is_padded);
    address += piece;
  }
}

}  // namespace simt::engine

using simt::engine::Hooks;
using simt::engine::StopReason;

#define SIMT_HOOKS(size)                                           \
  extern "C" void __tsan_read##size(void* p) {                     \
    Hooks::hook<size, StopReason::load, false>(p, SIMT_PC);        \
  }                                                                \
  extern "C" void __tsan_write##size(void* p) {                    \
    Hooks::hook<size, StopReason::store, false>(p, SIMT_PC);       \
  }                                                                \
  extern "C" void __tsan_volatile_read##size(void* p) {            \
    Hooks::hook<size, StopReason::load, true>(p, SIMT_PC);         \
  }                                                                \
  extern "C" void __tsan_volatile_write##size(void* p) {           \
    Hooks::hook<size, StopReason::store, true>(p, SIMT_PC);        \
  }                                                                \
  extern "C" void __tsan_unaligned_read##size(void* p) {           \
    Hooks::access_pieces(p, size, StopReason::load, SIMT_PC);      \
  }                                                                \
  extern "C" void __tsan_unaligned_write##size(void* p) {          \
    Hooks::access_pieces(p, size, StopReason::store, SIMT_PC);     \
  }                                                                \
  extern "C" void __tsan_unaligned_volatile_read##size(void* p) {  \
    Hooks::access_pieces(p, size, StopReason::load, SIMT_PC);      \
  }                                                                \
  extern "C" void __tsan_unaligned_volatile_write##size(void* p) { \
    Hooks::access_pieces(p, size, StopReason::store, SIMT_PC);     \
  }

// The same as __tsan_volatile_read4() and its like, for loads that poll: simtcc knows which they are, and the race check knows
// them by these functions.
#define SIMT_POLL(size)                                    \
  extern "C" void simt_poll_read##size(void* p) {          \
    Hooks::hook<size, StopReason::load, true>(p, SIMT_PC); \
  }
SIMT_POLL(1)
SIMT_POLL(2)
SIMT_POLL(4)
SIMT_POLL(8)
#undef SIMT_POLL

namespace simt::engine {
[[gnu::constructor]] static void name_polls() {
  polls::functions = {&simt_poll_read1, &simt_poll_read2, &simt_poll_read4, &simt_poll_read8};
}
}  // namespace simt::engine

SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

extern "C" {
void __tsan_read_range(void* p, unsigned long size) {
  Hooks::access_pieces(p, size, StopReason::load, SIMT_PC);
}
void __tsan_write_range(void* p, unsigned long size) {
  Hooks::access_pieces(p, size, StopReason::store, SIMT_PC);
}
// The same for structs of more than 16 bytes that are aligned to 8 or 16.
void simt_read_pieces(void* p, unsigned long size, unsigned widest) {
  Hooks::access_pieces(p, size, StopReason::load, SIMT_PC, widest);
}
void simt_write_pieces(void* p, unsigned long size, unsigned widest) {
  Hooks::access_pieces(p, size, StopReason::store, SIMT_PC, widest);
}
void __tsan_vptr_update(void** p, void*) {
  Hooks::access(p, sizeof(void*), StopReason::store, false, SIMT_PC);
}
void __tsan_vptr_read(void** p) {
  Hooks::access(p, sizeof(void*), StopReason::load, false, SIMT_PC);
}
}

namespace simt::detail {

MemoryKind memory_of(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const engine::Worker* worker = engine::running;
  if (!worker) return MemoryKind::other;
  if (worker->monitor.shared.holds(address)) return MemoryKind::shared;
  if (engine::is_constant(address)) return MemoryKind::constant;
  return Hooks::is_on_stack(address) ? MemoryKind::local : MemoryKind::global;
}

void* dynamic_shared() {
  engine::Worker* worker = engine::running;
  return worker ? worker->monitor.shared.dynamic : nullptr;
}
unsigned dynamic_shared_size() {
  engine::Worker* worker = engine::running;
  return worker ? static_cast<unsigned>(worker->dynamic_shared_size()) : 0;
}

}  // namespace simt::detail
