// What operands are worth, and where results go.
#include <cmath>
#include <cstring>

#include "compiled/warp.h"

namespace simt::compiled {

uint64_t Warp::constant(const Operand& operand, unsigned lane, unsigned bytes) const {
  const std::vector<unsigned char>& bank = block_.banks.at(operand.index);
  int64_t at = operand.number;
  if (operand.base != kZeroRegister) at += static_cast<int32_t>(registers_[operand.base][lane]);
  if (operand.uniform_base != kZeroUniform)
    at += static_cast<int32_t>(uniforms_[operand.uniform_base]);
  uint64_t value = 0;
  if (at < 0 || static_cast<uint64_t>(at) + bytes > bank.size())
    throw NotCarriedOut{"a constant that is not known"};
  std::memcpy(&value, &bank[static_cast<size_t>(at)], bytes);
  return value;
}

// Without signs.
uint32_t Warp::raw(const Operand& operand, unsigned lane, unsigned next) const {
  if (!operand.name.empty()) throw NotCarriedOut{"part of a register: " + operand.name};
  switch (operand.kind) {
    case Kind::reg:
      return operand.index == kZeroRegister ? 0 : registers_[operand.index + next][lane];
    case Kind::uniform:
      return operand.index == kZeroUniform ? 0 : uniforms_[operand.index + next];
    case Kind::number:
      return static_cast<uint32_t>(operand.number);
    case Kind::real:
      return std::bit_cast<uint32_t>(static_cast<float>(operand.real));
    case Kind::constant:
      return static_cast<uint32_t>(constant(operand, lane, 4));
    default:
      throw NotCarriedOut{"an operand of another kind"};
  }
}

uint32_t Warp::integer(const Operand& operand, unsigned lane) const {
  uint32_t value = raw(operand, lane);
  if (operand.absolute && static_cast<int32_t>(value) < 0) value = 0u - value;
  if (operand.inverted) value = ~value;
  return operand.negated ? 0u - value : value;
}

uint64_t Warp::integer64(const Operand& operand, unsigned lane) const {
  uint64_t value = 0;
  if (operand.kind == Kind::constant) {
    value = constant(operand, lane, 8);
  } else if (operand.kind == Kind::number) {
    value = static_cast<uint64_t>(operand.number);
  } else {
    value = raw(operand, lane) | uint64_t{raw(operand, lane, 1)} << 32;
  }
  if (operand.inverted) value = ~value;
  return operand.negated ? 0 - value : value;
}

float Warp::real(const Operand& operand, unsigned lane) const {
  float value = std::bit_cast<float>(raw(operand, lane));
  if (operand.absolute) value = std::fabs(value);
  return operand.negated ? -value : value;
}

double Warp::real64(const Operand& operand, unsigned lane) const {
  double value = 0;
  if (operand.kind == Kind::real) {
    value = operand.real;
  } else if (operand.kind == Kind::number) {
    value = std::bit_cast<double>(static_cast<uint64_t>(operand.number) << 32);
  } else {
    value = std::bit_cast<double>(operand.kind == Kind::constant
                                      ? constant(operand, lane, 8)
                                      : raw(operand, lane) | uint64_t{raw(operand, lane, 1)} << 32);
  }
  if (operand.absolute) value = std::fabs(value);
  return operand.negated ? -value : value;
}

bool Warp::truth(const Operand& operand, unsigned lane) const {
  bool value = true;
  if (operand.index != kTruePredicate) {
    value = operand.kind == Kind::uniform_predicate ? uniform_predicates_[operand.index]
                                                    : predicates_[operand.index] >> lane & 1;
  }
  return value != operand.negated;
}

uint32_t Warp::truths(const Operand& operand) const {
  if (operand.kind == Kind::none) return ~0u;
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
    lanes |= uint32_t{truth(operand, lane)} << lane;
  return lanes;
}

void Warp::set(const Operand& operand, unsigned lane, uint32_t value, unsigned next) {
  if (operand.kind == Kind::reg) {
    if (operand.index != kZeroRegister) registers_[operand.index + next][lane] = value;
  } else if (operand.kind == Kind::uniform) {
    if (operand.index != kZeroUniform) uniforms_[operand.index + next] = value;
  } else {
    throw NotCarriedOut{"a result of another kind"};
  }
}

void Warp::set64(const Operand& operand, unsigned lane, uint64_t value) {
  set(operand, lane, static_cast<uint32_t>(value));
  set(operand, lane, static_cast<uint32_t>(value >> 32), 1);
}

void Warp::set_truth(const Operand& operand, unsigned lane, bool value) {
  if (operand.index == kTruePredicate) return;
  if (operand.kind == Kind::uniform_predicate) {
    uniform_predicates_[operand.index] = value;
  } else {
    uint32_t& lanes = predicates_[operand.index];
    lanes = value ? lanes | 1u << lane : lanes & ~(1u << lane);
  }
}

uint64_t Warp::address(const Operand& operand, unsigned lane, bool wide) const {
  uint64_t at = static_cast<uint64_t>(operand.number);
  if (operand.base != kZeroRegister) {
    uint64_t base = registers_[operand.base][lane];
    if (wide) {
      base |= uint64_t{registers_[operand.base + 1u][lane]} << 32;
    } else {
      base = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(base)));
    }
    at += base * operand.scale;
  }
  if (operand.uniform_base != kZeroUniform) {
    uint64_t base = uniforms_[operand.uniform_base];
    if (wide && operand.base == kZeroRegister)
      base |= uint64_t{uniforms_[operand.uniform_base + 1u]} << 32;
    at += base;
  }
  return wide ? at : at & 0xffffffff;
}

uint32_t Warp::special(const std::string& name, unsigned lane) const {
  const unsigned thread = first_thread_ + lane;
  const auto& size = block_.block;
  if (name == "SR_TID.X") return thread % size[0];
  if (name == "SR_TID.Y") return thread / size[0] % size[1];
  if (name == "SR_TID.Z") return thread / size[0] / size[1];
  if (name == "SR_CTAID.X") return block_.index[0];
  if (name == "SR_CTAID.Y") return block_.index[1];
  if (name == "SR_CTAID.Z") return block_.index[2];
  if (name == "SR_LANEID") return lane;
  if (name == "SR_CgaCtaId" || name == "SRZ") return 0;
  if (name == "SR_EQMASK") return 1u << lane;
  if (name == "SR_LTMASK") return (1u << lane) - 1;
  if (name == "SR_LEMASK") return (2u << lane) - 1;
  if (name == "SR_GTMASK") return ~((2u << lane) - 1);
  if (name == "SR_GEMASK") return ~((1u << lane) - 1);
  if (name == "SR_SWINHI") return kSharedWindow;
  if (name == "SR_CLOCKLO") return clock_;
  throw NotCarriedOut{"the special register " + name};
}

}  // namespace simt::compiled
