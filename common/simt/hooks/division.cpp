#include "hooks/division.h"

namespace simt::engine {
namespace {

// A div or idiv: its length and the size of its operands in bytes.
struct Instruction {
  unsigned length = 0, size = 0;
};

// The bytes that follow an opcode with a ModRM byte: that one, perhaps a SIB byte and a displacement.
unsigned operand_length(const unsigned char* code) {
  const unsigned mode = code[0] >> 6, base = code[0] & 7;
  if (mode == 3) return 1;
  const bool has_sib = base == 4;
  const bool is_absolute = mode == 0 && (base == 5 || (has_sib && (code[1] & 7) == 5));
  return 1 + has_sib + (mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0);
}

Instruction decode(const unsigned char* code) {
  const unsigned char* at = code;
  bool is_word = false, is_wide = false;
  while (*at == 0x66 || *at == 0x67 || *at == 0x2e || *at == 0x3e || *at == 0x64 || *at == 0x65) {
    is_word |= *at++ == 0x66;
  }
  if ((*at & 0xf0) == 0x40) is_wide = *at++ & 8;
  const unsigned opcode = *at++;
  const unsigned extension = *at >> 3 & 7;
  if ((opcode != 0xf6 && opcode != 0xf7) || (extension != 6 && extension != 7)) return {};
  const unsigned size = opcode == 0xf6 ? 1 : is_wide ? 8 : is_word ? 2 : 4;
  return {static_cast<unsigned>(at - code) + operand_length(at), size};
}

// Into the low bytes of a register; 4 bytes clear the upper half, as the CPU does it.
void set_low(greg_t& target, uint64_t value, unsigned size) {
  const uint64_t mask = size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * size) - 1;
  const uint64_t kept = size == 4 ? 0 : static_cast<uint64_t>(target) & ~mask;
  target = static_cast<greg_t>(kept | (value & mask));
}

}  // namespace

Division divide_as_gpu(greg_t* registers) {
  const Instruction division = decode(reinterpret_cast<const unsigned char*>(registers[REG_RIP]));
  if (!division.length) return Division::none;
  greg_t &low = registers[REG_RAX], &high = registers[REG_RDX];
  const unsigned size = division.size;
  registers[REG_RIP] += division.length;
  // The dividend stands in RDX:RAX; of bytes, in AX.
  if (size == 1) {
    const auto dividend = static_cast<uint16_t>(low);
    const bool is_least = dividend == 0xff80;
    set_low(low, is_least ? 0x0080 : 0xffff, 2);
    return is_least ? Division::overflow : Division::by_zero;
  }
  const unsigned bits = 8 * size;
  const uint64_t mask = size == 8 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t least = uint64_t{1} << (bits - 1);
  const auto dividend = static_cast<uint64_t>(low) & mask,
             sign = static_cast<uint64_t>(high) & mask;
  if (dividend == least && sign == mask) {  // by -1 or by 0: the first is what programs do
    set_low(high, 0, size);
    return Division::overflow;
  }
  // Where the upper halves of 64 bits are 0 the GPU divides in 32, and leaves them so.
  const bool is_short = size == 8 && sign == 0 && dividend >> 32 == 0;
  const uint64_t result = is_short ? 0xffffffff : mask;
  set_low(low, result, size);
  set_low(high, result, size);
  return Division::by_zero;
}

}  // namespace simt::engine
