/// \file
/// The mbarrier objects of inline PTX: as cuda::barrier in shared memory, in one word of 64 bits.
#pragma once

#include <simt/intrinsics.h>
#include <simt/ptx_memory.h>
#include <simt/ptx_values.h>

namespace simt::ptx {

/// The word: how many arrivals this phase still expects, how many the next ones do, and the number of this phase.
struct PhaseBits {
  static constexpr u64 kCount = (1u << 20) - 1;
  static constexpr unsigned kExpected = 20, kPhase = 40;
  SIMT_INLINE static constexpr u64 of(u64 pending, u64 expected, u64 phase) {
    return pending | expected << kExpected | phase << kPhase;
  }
  SIMT_INLINE static constexpr u64 pending(u64 word) { return word & kCount; }
  SIMT_INLINE static constexpr u64 expected(u64 word) { return word >> kExpected & kCount; }
  SIMT_INLINE static constexpr u64 phase(u64 word) { return word >> kPhase; }
};

// What the hardware does with the word is no access of the thread's.
[[gnu::noinline]] SIMT_UNTRACED inline void set_phases(u64* word, u64 value) { *word = value; }
[[gnu::noinline]] SIMT_UNTRACED inline u64 phases(const u64* word) {
  return *const_cast<const volatile u64*>(word);
}
/// The word before.
[[gnu::noinline]] SIMT_UNTRACED inline u64 count_arrivals(u64* word, u64 count, bool drops) {
  const u64 before = *word;
  const u64 expected = PhaseBits::expected(before) - (drops ? count : 0);
  const u64 pending = PhaseBits::pending(before) - count;
  if (!pending) simt::detail::order_block();
  *word = pending ? PhaseBits::of(pending, expected, PhaseBits::phase(before))
                  : PhaseBits::of(expected, expected, PhaseBits::phase(before) + 1);
  return before;
}

template <Space space, class A, class N>
SIMT_INLINE void mbarrier_init(A address, s64 offset, N count) {
  const u64 n = get<u32>(count);
  u64* const word = static_cast<u64*>(pointer<space>(address, offset));
  simt::detail::initialize_barrier(word);
  set_phases(word, PhaseBits::of(n, n, 0));
}
template <Space space, class A>
SIMT_INLINE void mbarrier_inval(A address, s64 offset) {
  set_phases(static_cast<u64*>(pointer<space>(address, offset)), 0);
}
template <Space space, bool drops, class R, class A, class N>
SIMT_INLINE void mbarrier_arrive(R&& state, A address, s64 offset, N count) {
  u64* const word = static_cast<u64*>(pointer<space>(address, offset));
  simt::detail::arrive_at_barrier(word);
  if (PhaseBits::pending(phases(word)) < get<u32>(count)) {
    simt::detail::trap(
        "an arrival at an mbarrier that expects no more in this phase, or was not initialized");
  }
  set(state, count_arrivals(word, get<u32>(count), drops));
}
/// Is the phase over that has this parity, or that an arrival was in?
template <Space space, bool by_parity, class R, class A, class Phase>
SIMT_INLINE void mbarrier_wait(R&& is_over, A address, s64 offset, Phase phase) {
  const u64 now = PhaseBits::phase(phases(static_cast<u64*>(pointer<space>(address, offset))));
  bool over;
  if constexpr (by_parity) {
    over = (now & 1) != (get<u32>(phase) & 1);
  } else {
    over = now != PhaseBits::phase(get<u64>(phase));
  }
  if (!over) simt::detail::await_arrivals();
  set(is_over, over);
}
template <class R, class State>
SIMT_INLINE void mbarrier_pending_count(R&& target, State state) {
  set(target, static_cast<u32>(PhaseBits::pending(get<u64>(state))));
}

}  // namespace simt::ptx
