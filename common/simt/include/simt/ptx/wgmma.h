/// \file
/// The matrix instructions of a warpgroup (wgmma), whose sums lie in registers that nobody may touch before wgmma.wait_group.
#pragma once

#include <simt/async_proxy.h>
#include <simt/ptx/bulk.h>
#include <simt/ptx/values.h>

namespace simt::ptx {

/// An operand that the instruction writes to later: known by its address.
template <class T>
struct Accumulator {
  T* at;
  SIMT_INLINE Accumulator& value() { return *this; }
  SIMT_INLINE void store() const {}
};
template <char constraint, class T>
SIMT_INLINE auto accumulator(T& variable) {
  static_assert(constraint == 'f' && std::is_same_v<T, float>,
                "simt: inline PTX: the sums of wgmma are floats, with the constraint f");
  return Accumulator<T>{&variable};
}

/// An operand that the instruction reads later: a register of A, and the variable that stands for it, if there is one.
template <class Bits>
struct Fragment {
  Bits bits;
  const void* at;
  SIMT_INLINE Fragment value() const { return *this; }
  SIMT_INLINE void store() const {}
};
template <class T, class Bits>
SIMT_INLINE constexpr T get(Fragment<Bits> fragment) {
  return get<T>(fragment.bits);
}
template <class T>
SIMT_INLINE const void* variable_of(const T&) {
  return nullptr;
}
template <class Bits>
SIMT_INLINE const void* variable_of(const Fragment<Bits>& fragment) {
  return fragment.at;
}

template <simt::detail::MatrixType type, class P, class... Sums>
SIMT_INLINE void wgmma(simt::detail::Wgmma how, P scales, Sums&... sums) {
  AsyncProxy<0>::use();
  how.type = type;
  how.n = sizeof...(sums) * 2;
  how.adds = get<bool>(scales);
  float* const at[] = {sums.at...};
  simt::detail::wgmma(how, at);
}
/// A in shared memory, and A in registers.
template <class A, class B>
SIMT_INLINE simt::detail::Wgmma wgmma_operands(A a, B b, bool negates_a, bool negates_b,
                                               bool turns_a, bool turns_b) {
  return {.a = get<u64>(a),
          .b = get<u64>(b),
          .negates_a = negates_a,
          .negates_b = negates_b,
          .turns_a = turns_a,
          .turns_b = turns_b};
}
template <class A, class B>
SIMT_INLINE simt::detail::Wgmma wgmma_operands(A a0, A a1, A a2, A a3, B b, bool negates_a,
                                               bool negates_b, bool turns_b) {
  return {.a_registers = {get<u32>(a0), get<u32>(a1), get<u32>(a2), get<u32>(a3)},
          .a_variables = {variable_of(a0), variable_of(a1), variable_of(a2), variable_of(a3)},
          .frame = __builtin_frame_address(0),
          .b = get<u64>(b),
          .has_a_in_registers = true,
          .negates_a = negates_a,
          .negates_b = negates_b,
          .turns_b = turns_b};
}

}  // namespace simt::ptx
