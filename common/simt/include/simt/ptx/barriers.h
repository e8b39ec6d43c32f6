/// \file
/// The mbarrier objects of inline PTX: barriers in shared memory, in one word of 64 bits.
#pragma once

#include <simt/async_proxy.h>
#include <simt/ptx/memory.h>
#include <simt/ptx/values.h>

namespace simt::ptx {

template <Space space, class A>
SIMT_INLINE uint64_t* mbarrier_word(A address, s64 offset) {
  return static_cast<uint64_t*>(pointer<space>(address, offset));
}
template <Space space, class A, class N>
SIMT_INLINE void mbarrier_init(A address, s64 offset, N count) {
  simt::detail::mbarrier_init(mbarrier_word<space>(address, offset), get<u32>(count));
}
template <Space space, class A>
SIMT_INLINE void mbarrier_inval(A address, s64 offset) {
  simt::detail::mbarrier_inval(mbarrier_word<space>(address, offset));
}
template <Space space, bool drops, bool expects, class R, class A, class N>
SIMT_INLINE void mbarrier_arrive(R&& state, A address, s64 offset, N count_or_bytes) {
  const u32 n = get<u32>(count_or_bytes);
  set(state, u64{simt::detail::mbarrier_arrive(mbarrier_word<space>(address, offset),
                                               expects ? 1 : n, drops, expects, n)});
}
template <Space space, class A, class N>
SIMT_INLINE void mbarrier_expect_tx(A address, s64 offset, N bytes) {
  simt::detail::mbarrier_expect(mbarrier_word<space>(address, offset), get<u32>(bytes));
}
/// Is the phase over that has this parity, or that an arrival was in?
template <Space space, bool by_parity, class R, class A, class Phase>
SIMT_INLINE void mbarrier_wait(R&& is_over, A address, s64 offset, Phase phase) {
  const u64 which = by_parity ? u64{get<u32>(phase)} : get<u64>(phase);
  set(is_over,
      simt::detail::mbarrier_wait(mbarrier_word<space>(address, offset), which, by_parity));
}
template <class R, class State>
SIMT_INLINE void mbarrier_pending_count(R&& target, State state) {
  set(target, static_cast<u32>(get<u64>(state) & 0xfffff));
}
template <Space space, bool counts, class A>
SIMT_INLINE void copies_arrive(A address, s64 offset) {
  simt::detail::copies_arrive(mbarrier_word<space>(address, offset), counts);
}

}  // namespace simt::ptx
