// What lies in memory, to be compared.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace simt::engine {

// Is an address a multiple of a size, or of 8, or are several of which these are all the bits? Sizes are powers of two.
inline bool are_aligned(uint64_t bits, unsigned size) { return !(bits & (std::min(size, 8u) - 1)); }

// Which bytes of each word an access touches: of larger ones than a word, all.
inline uint8_t bytes_in_word(uint64_t address, unsigned size) {
  return static_cast<uint8_t>(size >= 4 ? 0xf : ((1u << size) - 1) << address % 4);
}

inline uint64_t load_up_to_8(uint64_t address, unsigned size) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min(size, 8u));
  return value;
}

// The bytes, or of more than 8 a hash of them.
inline uint64_t value_at(uint64_t address, unsigned size) {
  const uint64_t low = load_up_to_8(address, size);
  if (size <= 8) [[likely]]
    return low;
  return (std::rotl(low, 29) ^ load_up_to_8(address + 8, size - 8)) * 0x9e3779b97f4a7c15ull;
}

}  // namespace simt::engine
