// Loads that poll a flag: a loop does nothing but to load it. They are volatile, and called otherwise than other volatile loads, so
// the call tells.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace simt::engine::polls {

inline std::array<void (*)(void*), 4> functions{};

// Does the call that returns to `pc` poll?
inline bool is_poll(uint64_t pc) {
  constexpr unsigned char kCall = 0xe8;  // and the distance from pc to the function
  const auto* const code = reinterpret_cast<const unsigned char*>(pc);
  if (code[-5] != kCall) return false;
  int32_t distance;
  std::memcpy(&distance, code - 4, sizeof(distance));
  const auto callee =
      reinterpret_cast<void (*)(void*)>(pc + static_cast<uint64_t>(int64_t{distance}));
  return std::find(functions.begin(), functions.end(), callee) != functions.end();
}

}  // namespace simt::engine::polls
