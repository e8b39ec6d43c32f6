#include "base/lane_simd.h"

#include <algorithm>

// A copy for each generation of CPUs, of which the loader takes the right one.
#if defined(__x86_64__) && !defined(__clang__)
#define SIMT_VECTORS [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define SIMT_VECTORS
#endif

namespace simt::engine {
namespace {

template <class T>
[[gnu::always_inline]] inline uint32_t lanes_where_equal(const T* values, T value) {
  uint32_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) lanes |= static_cast<uint32_t>(values[i] == value) << i;
  return lanes;
}

[[gnu::always_inline]] inline bool are_regular(const uint64_t* values, uint64_t step) {
  uint64_t differences = 0;
  for (uint64_t i = 0; i < kLanes; ++i) differences |= values[i] ^ (values[0] + i * step);
  return !differences;
}

// A loop for each of the three, or the compiler finds no vectors in it.
SIMT_VECTORS Span span_of_all(const uint64_t* addresses) {
  const uint64_t first = addresses[0], last = addresses[kLanes - 1];
  const auto step = static_cast<int64_t>(addresses[1] - first);
  // Steps that do not lead round the end of all addresses.
  constexpr int64_t kFar = int64_t{1} << 57;
  if (step > -kFar && step < kFar && (step < 0 ? last <= first : first <= last) &&
      are_regular(addresses, static_cast<uint64_t>(step))) {
    return {std::min(first, last), std::max(first, last), first | static_cast<uint64_t>(step), true,
            step};
  }
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
  for (int i = 0; i < kLanes; ++i) low = std::min(low, addresses[i]);
  for (int i = 0; i < kLanes; ++i) high = std::max(high, addresses[i]);
  for (int i = 0; i < kLanes; ++i) bits |= addresses[i];
  return {low, high, bits, false, 0};
}

}  // namespace

SIMT_VECTORS uint64_t lowest_of(const uint64_t* values) {
  uint64_t low = ~uint64_t{0};
  for (int i = 0; i < kLanes; ++i) low = std::min(low, values[i]);
  return low;
}

SIMT_VECTORS uint32_t lanes_with(const uint64_t* values, uint64_t value) {
  return lanes_where_equal(values, value);
}
SIMT_VECTORS uint32_t lanes_with(const uint32_t* values, uint32_t value) {
  return lanes_where_equal(values, value);
}
SIMT_VECTORS uint32_t lanes_with(const uint8_t* values, uint8_t value) {
  return lanes_where_equal(values, value);
}

SIMT_VECTORS bool are_in_steps(const uint64_t* values, uint64_t step) {
  return are_regular(values, step);
}

SIMT_VECTORS bool are_apart(const uint64_t* values, uint64_t step) {
  uint64_t close = 0;
  for (uint64_t i = 1; i < kLanes; ++i)
    close |= static_cast<uint64_t>(static_cast<int64_t>(values[i] - values[i - 1] - step) < 0);
  return !close;
}

SIMT_VECTORS bool are_in_two_rows(const uint64_t* values, uint64_t step) {
  uint64_t differences = 0;
  for (uint64_t i = 0; i < kLanes / 2; ++i) differences |= values[i] ^ (values[0] + i * step);
  for (uint64_t i = 0; i < kLanes / 2; ++i)
    differences |= values[kLanes / 2 + i] ^ (values[kLanes / 2] + i * step);
  return !differences;
}

SIMT_VECTORS bool are_within(const uint32_t* values, unsigned count, uint32_t low, uint32_t most) {
  uint32_t outside = 0;
  for (unsigned i = 0; i < count; ++i) outside |= values[i] - low > most;
  return !outside;
}

Span span_of(const uint64_t* addresses, uint32_t lanes) {
  if (lanes == ~0u) [[likely]]
    return span_of_all(addresses);
  Span span;
  for (const int lane : lanes_of(lanes)) {
    const uint64_t address = addresses[lane];
    span.low = std::min(span.low, address);
    span.high = std::max(span.high, address);
    span.bits |= address;
  }
  return span;
}

}  // namespace simt::engine
