// Integer arithmetic, predicates and moves.
#include <algorithm>
#include <bit>

#include "compiled/warp.h"

namespace simt::compiled {
namespace {

bool is_truth(const Operand& operand) {
  return operand.kind == Kind::predicate || operand.kind == Kind::uniform_predicate;
}

// Carries see what is added: -R is ~R and one.
uint64_t addend(const Operand& operand, uint32_t plain) {
  if (operand.inverted) return uint32_t(~plain);
  return operand.negated ? uint64_t{uint32_t(~plain)} + 1 : plain;
}

template <class T>
bool compare(const Instruction& one, T a, T b) {
  if (one.has("LT")) return a < b;
  if (one.has("LE")) return a <= b;
  if (one.has("GT")) return a > b;
  if (one.has("GE")) return a >= b;
  if (one.has("EQ")) return a == b;
  if (one.has("NE")) return a != b;
  throw NotCarriedOut{one.opcode + one.modifiers};
}

bool combine(const Instruction& one, bool a, bool b) {
  return one.has("AND") ? a && b : one.has("OR") ? a || b : a != b;
}

uint32_t table_of(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
  uint32_t value = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if (table >> row & 1) value |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return value;
}

uint16_t least_of_halves(uint16_t a, uint16_t b, bool least, bool is_unsigned) {
  if (is_unsigned) return least ? std::min(a, b) : std::max(a, b);
  const auto x = static_cast<int16_t>(a), y = static_cast<int16_t>(b);
  return static_cast<uint16_t>(least ? std::min(x, y) : std::max(x, y));
}

uint32_t least_of(const Instruction& one, uint32_t a, uint32_t b, bool least) {
  const bool is_unsigned = one.has("U32") || one.has("U16x2");
  if (one.has("U16x2") || one.has("S16x2")) {
    return least_of_halves(static_cast<uint16_t>(a), static_cast<uint16_t>(b), least, is_unsigned) |
           uint32_t{least_of_halves(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16),
                                    least, is_unsigned)}
               << 16;
  }
  if (is_unsigned) return least ? std::min(a, b) : std::max(a, b);
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  return static_cast<uint32_t>(least ? std::min(x, y) : std::max(x, y));
}

}  // namespace

void Warp::iadd3(const Instruction& one, unsigned lane) {
  const auto& ops = one.operands;
  size_t i = 1;
  std::vector<const Operand*> carries;
  while (is_truth(ops[i])) carries.push_back(&ops[i++]);
  uint64_t sum = 0;
  for (int n = 0; n < 3; ++n, ++i) {
    sum += addend(ops[i], raw(ops[i], lane));
  }
  for (; i < ops.size(); ++i) sum += truth(ops[i], lane);
  for (size_t n = 0; n < carries.size(); ++n) set_truth(*carries[n], lane, sum >> 32 > n);
  set(ops[0], lane, static_cast<uint32_t>(sum));
}

void Warp::imad(const Instruction& one, unsigned lane) {
  const auto& ops = one.operands;
  size_t i = 1;
  const Operand* const carry = is_truth(ops[1]) ? &ops[i++] : nullptr;
  const Operand &a = ops[i], &b = ops[i + 1], &c = ops[i + 2];
  const bool carries_in = one.has("X") && i + 3 < ops.size();
  if (one.has("WIDE") || one.has("HI")) {
    const bool is_unsigned = one.has("U32");
    const uint32_t x = integer(a, lane), y = integer(b, lane);
    const uint64_t product =
        is_unsigned
            ? uint64_t{x} * y
            : static_cast<uint64_t>(int64_t{static_cast<int32_t>(x)} * static_cast<int32_t>(y));
    const __uint128_t sum = static_cast<__uint128_t>(product) + integer64(c, lane) +
                            (carries_in ? truth(ops[i + 3], lane) : false);
    if (carry) set_truth(*carry, lane, sum >> 64 & 1);
    if (one.has("WIDE")) {
      set64(ops[0], lane, static_cast<uint64_t>(sum));
    } else {
      set(ops[0], lane, static_cast<uint32_t>(static_cast<uint64_t>(sum) >> 32));
    }
    return;
  }
  const uint64_t sum = uint64_t{integer(a, lane) * integer(b, lane)} + addend(c, raw(c, lane)) +
                       (carries_in ? truth(ops[i + 3], lane) : false);
  if (carry) set_truth(*carry, lane, sum >> 32 & 1);
  set(ops[0], lane, static_cast<uint32_t>(sum));
}

void Warp::lea(const Instruction& one, unsigned lane) {
  const auto& ops = one.operands;
  size_t i = 1;
  const Operand* const carry = is_truth(ops[1]) ? &ops[i++] : nullptr;
  const uint32_t a = integer(ops[i], lane);
  const uint64_t b = addend(ops[i + 1], raw(ops[i + 1], lane));
  i += 2;
  uint64_t part = a;
  if (one.has("HI")) {
    const bool is_signed = one.has("SX32");
    const uint32_t high =
        is_signed ? static_cast<uint32_t>(static_cast<int32_t>(a) >> 31) : integer(ops[i++], lane);
    const unsigned shift = integer(ops[i++], lane) & 31;
    part = static_cast<uint32_t>((((uint64_t{high} << 32) | a) << shift) >> 32);
  } else {
    part = static_cast<uint32_t>(a << (integer(ops[i++], lane) & 31));
  }
  uint64_t sum = part + b;
  if (one.has("X") && i < ops.size()) sum += truth(ops[i], lane);
  if (carry) set_truth(*carry, lane, sum >> 32 & 1);
  set(ops[0], lane, static_cast<uint32_t>(sum));
}

void Warp::shift(const Instruction& one, unsigned lane) {
  const auto& ops = one.operands;
  const bool is_wide = one.has("U64") || one.has("S64"),
             is_signed = one.has("S32") || one.has("S64");
  unsigned by = integer(ops[2], lane);
  by = one.has("W") ? by & (is_wide ? 63 : 31) : std::min(by, is_wide ? 64u : 32u);
  const uint64_t value = uint64_t{integer(ops[3], lane)} << 32 | integer(ops[1], lane);
  uint64_t shifted = 0;
  if (one.has("L")) {
    shifted = by > 63 ? 0 : value << by;
  } else if (is_signed) {
    shifted = static_cast<uint64_t>(static_cast<int64_t>(value) >> std::min(by, 63u));
  } else {
    shifted = by > 63 ? 0 : value >> by;
  }
  set(ops[0], lane, static_cast<uint32_t>(one.has("HI") ? shifted >> 32 : shifted));
}

bool Warp::integers(const Instruction& one, uint32_t lanes) {
  const auto& ops = one.operands;
  const auto each = [&](auto&& f) {
    for_lanes(lanes, [&](unsigned lane) { set(ops[0], lane, f(lane)); });
    return true;
  };
  switch (one.code) {
    case kIadd3:
      for_lanes(lanes, [&](unsigned lane) { iadd3(one, lane); });
      return true;
    case kImad:
      for_lanes(lanes, [&](unsigned lane) { imad(one, lane); });
      return true;
    case kLea:
      for_lanes(lanes, [&](unsigned lane) { lea(one, lane); });
      return true;
    case kShf:
      for_lanes(lanes, [&](unsigned lane) { shift(one, lane); });
      return true;
    case kViadd:
      return each([&](unsigned lane) { return integer(ops[1], lane) + integer(ops[2], lane); });
    case kLop3: {
      const size_t first = is_truth(ops[0]) ? 1 : 0;
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t value =
            table_of(integer(ops[first + 1], lane), integer(ops[first + 2], lane),
                     integer(ops[first + 3], lane), static_cast<unsigned>(ops[first + 4].number));
        if (first) set_truth(ops[0], lane, value != 0 || truth(ops[first + 5], lane));
        set(ops[first], lane, value);
      });
      return true;
    }
    case kPlop3:
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t a = truth(ops[2], lane), b = truth(ops[3], lane), c = truth(ops[4], lane);
        const unsigned row = a << 2 | b << 1 | c;
        set_truth(ops[0], lane, ops[5].number >> row & 1);
        if (ops.size() > 6) set_truth(ops[1], lane, ops[6].number >> row & 1);
      });
      return true;
    case kIsetp:
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t a = integer(ops[2], lane), b = integer(ops[3], lane);
        bool holds = one.has("U32")
                         ? compare(one, a, b)
                         : compare(one, static_cast<int32_t>(a), static_cast<int32_t>(b));
        if (one.has("EX")) {
          const bool below = truth(ops[5], lane);
          holds = one.has("NE") ? a != b || below : a == b ? below : one.has("EQ") ? false : holds;
        }
        const bool other = truth(ops[4], lane);
        set_truth(ops[0], lane, combine(one, holds, other));
        set_truth(ops[1], lane, combine(one, !holds, other));
      });
      return true;
    case kSel:
      return each([&](unsigned lane) { return integer(ops[truth(ops[3], lane) ? 1 : 2], lane); });
    case kVimnmx:
      return each([&](unsigned lane) {
        return least_of(one, integer(ops[1], lane), integer(ops[2], lane), truth(ops[3], lane));
      });
    case kVimnmx3:
      return each([&](unsigned lane) {
        const bool least = truth(ops[4], lane);
        return least_of(one, least_of(one, integer(ops[1], lane), integer(ops[2], lane), least),
                        integer(ops[3], lane), least);
      });
    case kViaddmnmx:
      return each([&](unsigned lane) {
        return least_of(one, integer(ops[1], lane) + integer(ops[2], lane), integer(ops[3], lane),
                        truth(ops[4], lane));
      });
    case kIabs:
      return each([&](unsigned lane) {
        const uint32_t value = integer(ops[1], lane);
        return static_cast<int32_t>(value) < 0 ? 0u - value : value;
      });
    case kPopc:
      return each([&](unsigned lane) {
        return static_cast<uint32_t>(std::popcount(integer(ops[1], lane)));
      });
    case kFlo:
      return each([&](unsigned lane) {
        uint32_t value = integer(ops[1], lane);
        if (!one.has("U32") && static_cast<int32_t>(value) < 0) value = ~value;
        if (!value) return ~0u;
        const auto zeros = static_cast<uint32_t>(std::countl_zero(value));
        return one.has("SH") ? zeros : 31 - zeros;
      });
    case kBrev:
      return each([&](unsigned lane) {
        uint32_t value = integer(ops[1], lane), turned = 0;
        for (int i = 0; i < 32; ++i, value >>= 1) turned = turned << 1 | (value & 1);
        return turned;
      });
    case kPrmt:
      return each([&](unsigned lane) {
        const uint64_t bytes = uint64_t{integer(ops[3], lane)} << 32 | integer(ops[1], lane);
        const uint32_t choice = integer(ops[2], lane);
        uint32_t value = 0;
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned nibble = choice >> 4 * i & 15;
          auto byte = static_cast<uint8_t>(bytes >> 8 * (nibble & 7));
          if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
          value |= uint32_t{byte} << 8 * i;
        }
        return value;
      });
    case kSgxt:
      return each([&](unsigned lane) {
        const unsigned bits = std::min(integer(ops[2], lane), 32u);
        const uint32_t value = integer(ops[1], lane);
        if (bits == 0 || bits == 32) return bits ? value : 0;
        const uint32_t kept = value << (32 - bits);
        return one.has("U32") ? kept >> (32 - bits)
                              : static_cast<uint32_t>(static_cast<int32_t>(kept) >> (32 - bits));
      });
    case kIdp:
      if (!one.has("4A")) throw NotCarriedOut{one.opcode + one.modifiers};
      return each([&](unsigned lane) {
        // The signs of either side: .4A.U8.S8
        const bool first = one.modifiers.starts_with(".4A.S8"),
                   second = one.modifiers.ends_with(".S8.");
        const uint32_t a = integer(ops[1], lane), b = integer(ops[2], lane);
        uint32_t sum = integer(ops[3], lane);
        for (unsigned shift = 0; shift < 32; shift += 8) {
          const auto x = static_cast<uint8_t>(a >> shift), y = static_cast<uint8_t>(b >> shift);
          sum += static_cast<uint32_t>((first ? static_cast<int8_t>(x) : int{x}) *
                                       (second ? static_cast<int8_t>(y) : int{y}));
        }
        return sum;
      });
    case kBmsk:
      return each([&](unsigned lane) {
        const unsigned first = integer(ops[1], lane) & 31, many = integer(ops[2], lane);
        const uint32_t ones = many >= 32 ? ~0u : (1u << many) - 1;
        return ones << first;
      });
    default:
      return false;
  }
}

bool Warp::moves(const Instruction& one, uint32_t lanes) {
  const auto& ops = one.operands;
  switch (one.code) {
    case kMov:
      for_lanes(lanes, [&](unsigned lane) { set(ops[0], lane, integer(ops[1], lane)); });
      return true;
    case kS2r:
      for_lanes(lanes, [&](unsigned lane) { set(ops[0], lane, special(ops[1].name, lane)); });
      return true;
    case kCs2r:
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t value = special(ops[1].name, lane);
        one.has("32") ? set(ops[0], lane, value) : set64(ops[0], lane, value);
      });
      return true;
    case kR2ur:
      if (lanes) set(ops[0], 0, integer(ops[1], static_cast<unsigned>(std::countr_zero(lanes))));
      return true;
    case kLdc:
      for_lanes(lanes, [&](unsigned lane) {
        const bool narrow = one.has("U8") || one.has("S8"), half = one.has("U16") || one.has("S16");
        if (one.has("64")) return set64(ops[0], lane, constant(ops[1], lane, 8));
        auto value = static_cast<uint32_t>(constant(ops[1], lane, narrow ? 1 : half ? 2 : 4));
        if (one.has("S8")) value = static_cast<uint32_t>(static_cast<int8_t>(value));
        if (one.has("S16")) value = static_cast<uint32_t>(static_cast<int16_t>(value));
        set(ops[0], lane, value);
      });
      return true;
    case kP2r:
      for_lanes(lanes, [&](unsigned lane) {
        uint32_t bits = 0;
        for (unsigned i = 0; i < 7; ++i) bits |= (predicates_[i] >> lane & 1) << i;
        const uint32_t mask = integer(ops[3], lane);
        set(ops[0], lane, (integer(ops[2], lane) & ~mask) | (bits & mask));
      });
      return true;
    case kR2p:
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t value = integer(ops[1], lane), mask = integer(ops[2], lane);
        for (unsigned i = 0; i < 7; ++i) {
          if (mask >> i & 1) {
            Operand to;
            to.kind = Kind::predicate;
            to.index = static_cast<uint8_t>(i);
            set_truth(to, lane, value >> i & 1);
          }
        }
      });
      return true;
    default:
      return false;
  }
}

}  // namespace simt::compiled
