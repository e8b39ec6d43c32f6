// Zones around a thread's own arrays: simtcc writes them, and the hooks look for them at each access to a thread's stack.
#pragma once

#include <cstdint>
#include <string_view>

namespace simt::zones {

// The array `a` is a member of a variable of this name and "a", between two zones of so many bytes.
inline constexpr std::string_view kPrefix = "simt_zones_of_";
inline constexpr unsigned kBytes = 32;
// What a zone holds in each of its bytes.
inline constexpr uint32_t kMark = 0xcbcbcbcb;

}  // namespace simt::zones
