/// \file
/// Bulk copies of inline PTX.
#pragma once

#include <simt/async_proxy.h>
#include <simt/ptx/barriers.h>
#include <simt/ptx/memory.h>

namespace simt::ptx {

/// There before main() begins, if the program has such an instruction.
template <int>
struct AsyncProxy {
  static inline const bool is_used = simt::detail::use_async_proxy();
  SIMT_INLINE static void use() { asm("" : : "r"(&is_used)); }
};

template <Space space, class A>
SIMT_INLINE void* shared_of(A address, s64 offset) {
  AsyncProxy<0>::use();
  return pointer<space>(address, offset);
}

template <class A, class B, class N, class M, class K>
SIMT_INLINE void bulk_load(A to, s64 to_offset, B from, s64 from_offset, N size, M barrier,
                           s64 barrier_offset, K blocks) {
  simt::detail::bulk_load(shared_of<Space::shared>(to, to_offset),
                          pointer<Space::global>(from, from_offset), get<u32>(size),
                          mbarrier_word<Space::shared>(barrier, barrier_offset), get<u32>(blocks));
}
template <class A, class B, class N>
SIMT_INLINE void bulk_store(A to, s64 to_offset, B from, s64 from_offset, N size) {
  simt::detail::bulk_store(pointer<Space::global>(to, to_offset),
                           shared_of<Space::shared>(from, from_offset), get<u32>(size));
}
template <class... At>
SIMT_INLINE simt::detail::Corner corner(At... at) {
  return {{get<s32>(at)...}, static_cast<int>(sizeof...(At))};
}
template <class A, class B, class M, class K>
SIMT_INLINE void tensor_load(A to, s64 to_offset, B map, s64 map_offset, M barrier,
                             s64 barrier_offset, simt::detail::Corner at, K blocks) {
  simt::detail::tensor_load(
      shared_of<Space::shared>(to, to_offset), pointer<Space::generic>(map, map_offset), at,
      mbarrier_word<Space::shared>(barrier, barrier_offset), get<u32>(blocks));
}
template <class A, class B>
SIMT_INLINE void tensor_store(A map, s64 map_offset, B from, s64 from_offset,
                              simt::detail::Corner at) {
  simt::detail::tensor_store(pointer<Space::generic>(map, map_offset), at,
                             shared_of<Space::shared>(from, from_offset));
}

}  // namespace simt::ptx
