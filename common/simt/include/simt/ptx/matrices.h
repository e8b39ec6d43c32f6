/// \file
/// The matrix instructions of inline PTX.
#pragma once

#include <simt/ptx/memory.h>
#include <simt/ptx/values.h>

namespace simt::ptx {

using simt::detail::FourRegisters;
using simt::detail::MatrixType;

SIMT_INLINE u64 pair(u32 first, u32 second) { return first | u64{second} << 32; }

template <class... Targets>
SIMT_INLINE void set_all(FourRegisters values, Targets&&... targets) {
  unsigned i = 0;
  (set(targets, values.at[i++]), ...);
}

template <MatrixType type, class D0, class D1, class D2, class D3, class A, class B, class C>
SIMT_INLINE void mma(D0&& d0, D1&& d1, D2&& d2, D3&& d3, A a0, A a1, A a2, A a3, B b0, B b1, C c0,
                     C c1, C c2, C c3) {
  const u64 a01 = pair(get<u32>(a0), get<u32>(a1)), a23 = pair(get<u32>(a2), get<u32>(a3));
  const u64 b01 = pair(get<u32>(b0), get<u32>(b1));
  const u64 c01 = pair(get<u32>(c0), get<u32>(c1)), c23 = pair(get<u32>(c2), get<u32>(c3));
  set_all(simt::detail::in_place([=](int call) __attribute__((always_inline)) {
            return simt::detail::mma(type, a01, a23, b01, c01, c23, call);
          }),
          d0, d1, d2, d3);
}

template <Space space, unsigned count, bool is_transposed, class A>
SIMT_INLINE simt::detail::MatrixRows matrix_rows(A address, s64 offset) {
  constexpr bool is_window = space == Space::shared;
  const u64 row = get<u64>(address) + static_cast<u64>(offset);
  return {is_window ? static_cast<u32>(row) : row, is_window, is_transposed, count};
}
template <Space space, bool is_transposed, class A, class... Targets>
SIMT_INLINE void ldmatrix(A address, s64 offset, Targets&&... targets) {
  const auto rows = matrix_rows<space, sizeof...(Targets), is_transposed>(address, offset);
  set_all(simt::detail::in_place([=](int call) __attribute__((always_inline)) {
            return simt::detail::load_matrices(rows, call);
          }),
          targets...);
}
template <Space space, bool is_transposed, class A, class... Sources>
SIMT_INLINE void stmatrix(A address, s64 offset, Sources... sources) {
  simt::detail::store_matrices(
      matrix_rows<space, sizeof...(Sources), is_transposed>(address, offset),
      FourRegisters{{get<u32>(sources)...}});
}
template <class D, class A>
SIMT_INLINE void movmatrix(D&& target, A a) {
  const u32 value = get<u32>(a);
  set(target, simt::detail::in_place([=](int call) __attribute__((always_inline)) {
        return simt::detail::transpose_matrix(value, call);
      }));
}

}  // namespace simt::ptx
