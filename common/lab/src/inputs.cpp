#include "lab/inputs.h"

namespace lab {

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  return detail::generate<float>(n, [=](std::size_t i) { return random_float(seed, i); });
}

std::vector<int> random_ints(std::size_t n, std::uint64_t seed, int low, int high) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low) + 1;  // at most 2^32
  return detail::generate<int>(n, [=](std::size_t i) {
    const std::uint64_t offset = ((random_bits(seed, i) >> 32) * range) >> 32;
    return static_cast<int>(low + static_cast<std::int64_t>(offset));
  });
}

std::vector<std::uint8_t> random_bytes(std::size_t n, std::uint64_t seed) {
  return detail::generate<std::uint8_t>(n, [=](std::size_t i) {
    const std::uint64_t bits = random_bits(seed, i);
    const auto a = static_cast<std::uint8_t>(bits >> 56), b = static_cast<std::uint8_t>(bits >> 48);
    return (bits & 1) != 0 && b < a ? b : a;
  });
}

}  // namespace lab
