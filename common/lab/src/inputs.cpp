#include "lab/inputs.h"

namespace lab {

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = random_float(seed, i);
  return values;
}

std::vector<int> random_ints(std::size_t n, std::uint64_t seed, int low, int high) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low) + 1;  // at most 2^32
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t offset = ((random_bits(seed, i) >> 32) * range) >> 32;
    values[i] = static_cast<int>(low + static_cast<std::int64_t>(offset));
  }
  return values;
}

std::vector<std::uint8_t> random_bytes(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint8_t> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random_bits(seed, i);
    const auto a = static_cast<std::uint8_t>(bits >> 56), b = static_cast<std::uint8_t>(bits >> 48);
    values[i] = (bits & 1) != 0 && b < a ? b : a;
  }
  return values;
}

}  // namespace lab
