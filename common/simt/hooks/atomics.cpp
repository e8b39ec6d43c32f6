// Atomic operations: CUDA's, and what the compiler makes of std::atomic.
#include "memory/atomics.h"

#include "hooks/hooks.h"
#include "watch/system_atomics.h"

namespace simt::engine {

void Hooks::result_unused() {
  if (Worker* worker = running; worker && !worker->is_loop_)
    worker->warp_->atomics.unused |= 1u << worker->lane_;
}

void Hooks::mark_same_address(bool same_value) {
  Worker* worker = running;
  if (!worker || worker->is_loop_) return;
  worker->warp_->atomics.same_address |= 1u << worker->lane_;
  if (same_value) worker->warp_->atomics.same_value |= 1u << worker->lane_;
}

void Hooks::mark_within_block(uint64_t address) {
  Worker* worker = running;
  if (!worker || !worker->traced_ || is_on_stack(address) || worker->monitor.shared.holds(address))
    return;
  worker->warp_->atomics.within_block |= 1u << worker->lane_;
}

// How the hardware does the next atomic operation of the lane.
[[gnu::always_inline]] inline void Hooks::note_unit(Warp& warp, int lane, SharedUnit unit,
                                                    Merge merge) {
  const uint32_t self = 1u << lane;
  const bool unused = warp.atomics.unused & self, same_value = warp.atomics.same_value & self;
  if (!(warp.atomics.same_address & self)) merge = Merge::never;
  if (unit == SharedUnit::increment && !unused) unit = SharedUnit::native;
  for (uint32_t* mask : {&warp.atomics.unused, &warp.atomics.same_address, &warp.atomics.same_value,
                         &warp.atomics.merged, &warp.atomics.merged_if_full}) {
    *mask &= ~self;
  }
  if ((merge == Merge::unused && unused) || (merge == Merge::same_value && same_value) ||
      (merge == Merge::sum && (unused || same_value))) {
    warp.atomics.merged |= self;
  } else if (merge == Merge::sum) {
    warp.atomics.merged_if_full |= self;
  }
  warp.atomics.unit[lane] = unit;
}

// An atomic operation of CUDA's. In a block that is counted it is carried out when the lane's turn comes to go on, so
// that the lane goes on in the kernel.
[[gnu::always_inline]] inline uint64_t Hooks::update(detail::AtomicOp op, detail::AtomicType type,
                                                     void* pointer, uint64_t value,
                                                     uint64_t compare, unsigned size,
                                                     SharedUnit unit, Merge merge, const void* pc) {
  Worker* worker = running;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!worker || !worker->traced_ || is_on_stack(address) || is_extent(address)) {
    atomic(pointer, size, unit, merge, pc);
    return carry_out(op, type, pointer, value, compare);
  }
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  const bool stores = op == detail::AtomicOp::exchange && (warp.atomics.unused >> lane & 1);
  const bool takes =
      !stores && (op == detail::AtomicOp::exchange || op == detail::AtomicOp::compare_exchange);
  warp.checks.locking = (warp.checks.locking & ~(1u << lane)) | uint32_t{takes} << lane;
  note_unit(warp, lane, unit, merge);
  note(warp, lane, StopReason::atomic, pc);
  warp.address[lane] = address;
  warp.size[lane] = static_cast<uint8_t>(size);
  warp.is_volatile[lane] = false;
  warp.is_padded[lane] = stores;
  if (stores) warp.has_marked = true;
  warp.update[lane] = {op, type, pointer, value, compare};
  warp.waking |= 1u << lane;
  warp.updating |= 1u << lane;
  return worker->stop_and_return<uint64_t>(warp, lane);
}

void Hooks::atomic(const void* address, unsigned size, SharedUnit unit, Merge merge,
                   const void* pc) {
  Worker* worker = running;
  if (worker && worker->is_loop_) return perhaps_spins(pc);
  if (worker) note_unit(*worker->warp_, worker->lane_, unit, merge);
  if (!worker || worker->traced_) {
    access(address, size, StopReason::atomic, false, pc);
  } else if (++worker->clock_ % 256 == 0) {
    yield(pc);  // perhaps it spins on a lock that another lane holds
  }
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;
using engine::Merge;
using engine::SharedUnit;

namespace {

Merge merge_of(AtomicOp op, AtomicType type) {
  const bool wide = type == AtomicType::i64 || type == AtomicType::u64;
  if (!wide && type != AtomicType::i32 && type != AtomicType::u32) return Merge::never;
  switch (op) {
    case AtomicOp::add:
    case AtomicOp::add_one:
    case AtomicOp::subtract:
      return wide ? Merge::same_value : Merge::sum;
    case AtomicOp::minimum:
    case AtomicOp::maximum:
    case AtomicOp::bit_and:
    case AtomicOp::bit_or:
    case AtomicOp::bit_xor:
      return wide ? Merge::never : Merge::unused;
    default:
      return Merge::never;
  }
}

}  // namespace

int mark_same_address(int) {
  Hooks::mark_same_address(false);
  return 0;
}
int mark_same_address_and_value(int) {
  Hooks::mark_same_address(true);
  return 0;
}
int mark_result_unused(int) {
  Hooks::result_unused();
  return 0;
}
void announce_atomic(const void* address, unsigned size) {
  Hooks::atomic(address, size, SharedUnit::spin, Merge::never, SIMT_PC);
}
void announce_system_atomic(const void* pointer, unsigned size) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (memory::in_shared_arena(address)) system_atomics::note(address, size);
}

void announce_block_atomic(const void* pointer) {
  Hooks::mark_within_block(reinterpret_cast<uint64_t>(pointer));
}

uint64_t atomic(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare) {
  const unsigned size =
      type == AtomicType::u16                                                         ? 2
      : type == AtomicType::i64 || type == AtomicType::u64 || type == AtomicType::f64 ? 8
                                                                                      : 4;
  // Shared memory has no unit for these: the compiler makes a loop of them.
  const bool exchange = op == AtomicOp::exchange || op == AtomicOp::compare_exchange;
  const bool spins = !exchange && (size == 8 || type == AtomicType::f32);
  return Hooks::update(op, type, address, value, compare, size,
                       op == AtomicOp::compare_exchange ? SharedUnit::compare_exchange
                       : spins                          ? SharedUnit::spin
                       : op == AtomicOp::add_one        ? SharedUnit::increment
                                                        : SharedUnit::native,
                       merge_of(op, type), SIMT_PC);
}

}  // namespace simt::detail

using simt::engine::Hooks;
using simt::engine::Merge;
using simt::engine::SharedUnit;
using simt::engine::StopReason;

// What the compiler makes of std::atomic and of the __atomic built-ins in instrumented code.
#define SIMT_ATOMIC_FETCH(bits, type, name, unit, builtin)                                  \
  extern "C" type __tsan_atomic##bits##_##name(volatile type* p, type value, int) {         \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::unit, Merge::never, \
                  SIMT_PC);                                                                 \
    return builtin(p, value, __ATOMIC_SEQ_CST);                                             \
  }
#define SIMT_ATOMIC_COMPARE_EXCHANGE(bits, type, strength)                                \
  extern "C" int __tsan_atomic##bits##_compare_exchange_##strength(                       \
      volatile type* p, type* expected, type desired, int, int) {                         \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange, \
                  Merge::never, SIMT_PC);                                                 \
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,     \
                                       __ATOMIC_SEQ_CST);                                 \
  }
#define SIMT_ATOMIC_HOOKS(bits, type, unit)                                                        \
  extern "C" type __tsan_atomic##bits##_load(const volatile type* p, int) {                        \
    Hooks::access(const_cast<const type*>(p), sizeof(type), StopReason::load, true, SIMT_PC);      \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  extern "C" void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                 \
    Hooks::access(const_cast<const type*>(p), sizeof(type), StopReason::store, true, SIMT_PC);     \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                \
  SIMT_ATOMIC_COMPARE_EXCHANGE(bits, type, strong)                                                 \
  SIMT_ATOMIC_COMPARE_EXCHANGE(bits, type, weak)                                                   \
  extern "C" type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected,      \
                                                             type desired, int, int) {             \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  Merge::never, SIMT_PC);                                                          \
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                               \
  }                                                                                                \
  SIMT_ATOMIC_FETCH(bits, type, exchange, native, __atomic_exchange_n)                             \
  SIMT_ATOMIC_FETCH(bits, type, fetch_add, unit, __atomic_fetch_add)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_sub, unit, __atomic_fetch_sub)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_and, unit, __atomic_fetch_and)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_or, unit, __atomic_fetch_or)                                 \
  SIMT_ATOMIC_FETCH(bits, type, fetch_xor, unit, __atomic_fetch_xor)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_nand, unit, __atomic_fetch_nand)

SIMT_ATOMIC_HOOKS(8, uint8_t, native)
SIMT_ATOMIC_HOOKS(16, uint16_t, native)
SIMT_ATOMIC_HOOKS(32, uint32_t, native)
SIMT_ATOMIC_HOOKS(64, uint64_t, spin)

extern "C" {
void __tsan_atomic_thread_fence(int) {
  Hooks::fence(SIMT_PC, true);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
