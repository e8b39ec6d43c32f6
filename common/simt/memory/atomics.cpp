#include "memory/atomics.h"

#include <bit>
#include <type_traits>

namespace simt::engine {
namespace {

using detail::AtomicOp;
using detail::AtomicType;

template <class T>
T next_value(AtomicOp op, T old, T value, T compare) {
  // Integers wrap around.
  using Unsigned =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (op) {
    case AtomicOp::add:
    case AtomicOp::add_one:
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
    case AtomicOp::subtract:
      return static_cast<T>(static_cast<Unsigned>(old) - static_cast<Unsigned>(value));
    case AtomicOp::minimum:
      return value < old ? value : old;
    case AtomicOp::maximum:
      return old < value ? value : old;
    case AtomicOp::compare_exchange:
      return old == compare ? value : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case AtomicOp::bit_and:
        return static_cast<T>(old & value);
      case AtomicOp::bit_or:
        return static_cast<T>(old | value);
      case AtomicOp::bit_xor:
        return static_cast<T>(old ^ value);
      case AtomicOp::increment:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case AtomicOp::decrement:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      default:
        break;
    }
  }
  return value;
}

template <class T, class Word>
uint64_t atomic_typed(AtomicOp op, void* address, uint64_t value, uint64_t compare) {
  const auto typed = [](uint64_t bits) { return std::bit_cast<T>(static_cast<Word>(bits)); };
  auto* word = static_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    const T next = next_value<T>(op, typed(old), typed(value), typed(compare));
    if (__atomic_compare_exchange_n(word, &old, std::bit_cast<Word>(next), false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return old;
    }
  }
}

}  // namespace

uint64_t carry_out(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare) {
  switch (type) {
    case AtomicType::i32:
      return atomic_typed<int32_t, uint32_t>(op, address, value, compare);
    case AtomicType::u32:
      return atomic_typed<uint32_t, uint32_t>(op, address, value, compare);
    case AtomicType::i64:
      return atomic_typed<int64_t, uint64_t>(op, address, value, compare);
    case AtomicType::u64:
      return atomic_typed<uint64_t, uint64_t>(op, address, value, compare);
    case AtomicType::f32:
      return atomic_typed<float, uint32_t>(op, address, value, compare);
    case AtomicType::f64:
      return atomic_typed<double, uint64_t>(op, address, value, compare);
    case AtomicType::u16:
      return atomic_typed<uint16_t, uint16_t>(op, address, value, compare);
  }
  return 0;
}

}  // namespace simt::engine
