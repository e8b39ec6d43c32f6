/// \file
/// What simtcc makes of inline PTX: a call of run() with the instructions as a lambda.
///
/// A register is an unsigned integer of its width, in which an instruction reads and writes values of its own type.
#pragma once

#include <simt/ptx/arithmetic.h>
#include <simt/ptx/barriers.h>
#include <simt/ptx/bits.h>
#include <simt/ptx/bulk.h>
#include <simt/ptx/matrices.h>
#include <simt/ptx/memory.h>
#include <simt/ptx/registers.h>
#include <simt/ptx/warp.h>
#include <simt/ptx/wgmma.h>

#include <type_traits>

namespace simt::ptx {

/// What a constraint stands for: the bits of a register, and which types of C++ go with it.
template <char constraint>
struct Constraint;
template <>
struct Constraint<'h'> {
  using Bits = u16;
  static constexpr bool is_float = false;
};
template <>
struct Constraint<'r'> {
  using Bits = u32;
  static constexpr bool is_float = false;
};
template <>
struct Constraint<'l'> {
  using Bits = u64;
  static constexpr bool is_float = false;
};
template <>
struct Constraint<'f'> {
  using Bits = u32;
  static constexpr bool is_float = true;
};
template <>
struct Constraint<'d'> {
  using Bits = u64;
  static constexpr bool is_float = true;
};

template <char constraint, class T>
constexpr void check_type() {
  static_assert(sizeof(T) == sizeof(typename Constraint<constraint>::Bits) &&
                    (std::is_floating_point_v<T> == Constraint<constraint>::is_float) &&
                    (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>),
                "simt: inline PTX: the type of an operand of asm does not match its constraint: h "
                "is an integer "
                "of 16 bits, r of 32, l of 64 or a pointer, f is a float, d a double");
}

/// The same bits; of what check_type() complains of nothing more is said.
template <class To, class From>
SIMT_INLINE To same_bits(const From& value) {
  if constexpr (sizeof(To) == sizeof(From)) {
    return __builtin_bit_cast(To, value);
  } else {
    return To{};
  }
}

template <class T>
struct Input {
  T bits;
  SIMT_INLINE T value() const { return bits; }
  SIMT_INLINE void store() const {}
};
template <class T, class Bits>
struct Output {
  T& variable;
  Bits bits;
  SIMT_INLINE Bits& value() { return bits; }
  SIMT_INLINE void store() const { variable = same_bits<std::remove_volatile_t<T>>(bits); }
};

template <char constraint, class T>
SIMT_INLINE auto input(T value) {
  check_type<constraint, T>();
  using Bits = typename Constraint<constraint>::Bits;
  return Input<Bits>{same_bits<Bits>(value)};
}
template <char constraint, class T>
SIMT_INLINE auto fragment(const T& variable) {
  const auto bits = input<constraint, std::remove_volatile_t<T>>(variable).bits;
  return Fragment<typename Constraint<constraint>::Bits>{
      bits, const_cast<const std::remove_volatile_t<T>*>(&variable)};
}
template <char constraint, class T>
SIMT_INLINE auto fragment(const T&& value) {
  return input<constraint, std::remove_volatile_t<T>>(value);
}
template <char constraint, class T>
SIMT_INLINE auto output(T& variable) {
  check_type<constraint, std::remove_volatile_t<T>>();
  using Bits = typename Constraint<constraint>::Bits;
  return Output<T, Bits>{variable, 0};
}
template <char constraint, class T>
SIMT_INLINE auto in_out(T& variable) {
  check_type<constraint, std::remove_volatile_t<T>>();
  using Bits = typename Constraint<constraint>::Bits;
  const std::remove_volatile_t<T> value = variable;
  return Output<T, Bits>{variable, same_bits<Bits>(value)};
}

/// Stands for PTX in a function that nothing is seen to call, as execution_spaces.cpp finds out. \param what is wrong with it
SIMT_INLINE void absent(const char* what) { simt::detail::trap(what); }

template <class Code, class... Operands>
SIMT_INLINE void run(Code code, Operands... operands) {
  code(operands.value()...);
  (operands.store(), ...);
}

}  // namespace simt::ptx
