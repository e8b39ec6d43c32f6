#include "lab/inputs.h"

namespace lab {

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  return detail::generate<float>(n, [=](std::size_t i) { return random_float(seed, i); });
}

std::vector<int> random_ints(std::size_t n, std::uint64_t seed, int low, int high) {
  return detail::generate<int>(n, [=](std::size_t i) { return random_int(seed, i, low, high); });
}

std::vector<std::uint8_t> random_bytes(std::size_t n, std::uint64_t seed) {
  return detail::generate<std::uint8_t>(n, [=](std::size_t i) { return random_byte(seed, i); });
}

}  // namespace lab
