#include "base/matrix_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/host_memory.h"

namespace simt::engine {
namespace {

using Type = detail::MatrixType;

constexpr int kNone = -100000;  // the exponent of zero
constexpr int kFloatFraction = 23;

// mantissa * 2^(exponent - fraction), where `fraction` belongs to the type.
struct Number {
  int32_t mantissa;
  int32_t exponent;
};

Number number(uint32_t bits, int exponent_bits, int fraction_bits) {
  const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const auto field = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const bool negative = bits >> (exponent_bits + fraction_bits) & 1;
  const auto magnitude = static_cast<int32_t>(field ? fraction | 1u << fraction_bits : fraction);
  return {negative ? -magnitude : magnitude, magnitude ? std::max(field, 1) - bias : kNone};
}

struct Format {
  int exponent_bits, fraction_bits;
  unsigned dropped;  // low bits that are not looked at
};
Format format_of(Type type) {
  switch (type) {
    case Type::bf16:
      return {8, 7, 0};
    case Type::f16:
      return {5, 10, 0};
    case Type::e4m3:
      return {4, 3, 0};
    default:
      return {8, 10, 13};
  }
}

bool is_finite(uint32_t bits, Format format) {
  if (format.exponent_bits == 4)
    return (bits & 0x7f) != 0x7f;  // e4m3 has no infinities, and two NaNs
  const uint32_t ones = (1u << format.exponent_bits) - 1;
  return (bits >> format.dropped >> format.fraction_bits & ones) != ones;
}

float value_of(uint32_t bits, Format format) {
  const uint32_t kept = bits >> format.dropped;
  const Number n = number(kept, format.exponent_bits, format.fraction_bits);
  if (is_finite(bits, format))
    return n.mantissa
               ? std::ldexp(static_cast<float>(n.mantissa), n.exponent - format.fraction_bits)
               : 0.0f;
  if (kept & ((1u << format.fraction_bits) - 1)) return std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return n.mantissa < 0 ? -infinity : infinity;
}

// sum * 2^(exponent - fraction), cut off to a float with so many bits after its first.
float cut_off(int64_t sum, int exponent, int fraction, int kept) {
  if (!sum) return 0;
  auto magnitude = static_cast<uint64_t>(std::llabs(sum));
  int scale = exponent - fraction;
  constexpr int kSmallest = -149;
  const int excess =
      std::max(static_cast<int>(std::bit_width(magnitude)) - (kept + 1), kSmallest - scale);
  if (excess > 63) return 0;
  if (excess > 0) {
    magnitude >>= excess;
    scale += excess;
  }
  const float result = std::ldexp(static_cast<float>(magnitude), scale);
  return sum < 0 ? -result : result;
}

// `product` has twice the `fraction` bits of its factors. What lies below the last bit of the sum goes.
int64_t align(int64_t product, int have, int want, int shift) {
  if (shift > 62) return 0;
  const int64_t magnitude =
      want >= have ? std::llabs(product) << (want - have) : std::llabs(product) >> (have - want);
  return product < 0 ? -(magnitude >> shift) : magnitude >> shift;
}

float add_block(const Number* a, const Number* b, Accumulation how, int factor_fraction, float c) {
  const int sum_fraction = how.fraction;
  const Number start = number(std::bit_cast<uint32_t>(c), 8, kFloatFraction);
  int top = start.exponent;
  for (unsigned k = 0; k < how.block; ++k) top = std::max(top, a[k].exponent + b[k].exponent);
  if (top < kNone / 2) return c;  // nothing but zeros
  int64_t sum = align(start.mantissa, kFloatFraction, sum_fraction, top - start.exponent);
  for (unsigned k = 0; k < how.block; ++k) {
    const int64_t product = int64_t{a[k].mantissa} * b[k].mantissa;
    if (product)
      sum += align(product, 2 * factor_fraction, sum_fraction, top - a[k].exponent - b[k].exponent);
  }
  return cut_off(sum, top, sum_fraction, how.kept);
}

void multiply_integers(unsigned m, unsigned n, const uint32_t* a, const uint32_t* b, uint32_t* c) {
  constexpr unsigned kDepth = depth_of(Type::s8);
  for (unsigned i = 0; i < m; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      for (unsigned k = 0; k < kDepth; ++k) {
        c[i * n + j] += static_cast<uint32_t>(static_cast<int8_t>(a[i * kDepth + k]) *
                                              static_cast<int8_t>(b[j * kDepth + k]));
      }
    }
  }
}

}  // namespace

Accumulation accumulation_of(Type type) {
  if (type == Type::e4m3) return {depth_of(type), 13, 13};
  return {type == Type::tf32 ? 8u : 16u, kFloatFraction + 2};
}

void multiply(Type type, unsigned m, unsigned n, const uint32_t* a, const uint32_t* b,
              uint32_t* c) {
  multiply(type, accumulation_of(type), m, n, a, b, c);
}

void multiply(Type type, Accumulation accumulation, unsigned m, unsigned n, const uint32_t* a,
              const uint32_t* b, uint32_t* c) {
  if (type == Type::s8) return multiply_integers(m, n, a, b, c);
  const HostMemory bookkeeping;
  const Format format = format_of(type);
  const unsigned depth = depth_of(type);
  const auto decode = [&](const uint32_t* bits, unsigned lines) {
    std::vector<Number> numbers(lines * depth);
    for (unsigned i = 0; i < lines * depth; ++i)
      numbers[i] = number(bits[i] >> format.dropped, format.exponent_bits, format.fraction_bits);
    return numbers;
  };
  // An infinity or something that is no number makes one of all that it takes part in.
  const auto special_lines = [&](const uint32_t* bits, unsigned lines) {
    std::vector<bool> special(lines);
    for (unsigned i = 0; i < lines * depth; ++i)
      if (!is_finite(bits[i], format)) special[i / depth] = true;
    return special;
  };
  const std::vector<Number> rows = decode(a, m), columns = decode(b, n);
  const std::vector<bool> special_rows = special_lines(a, m), special_columns = special_lines(b, n);
  for (unsigned i = 0; i < m; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      float sum = std::bit_cast<float>(c[i * n + j]);
      if (special_rows[i] || special_columns[j] || !std::isfinite(sum)) {
        for (unsigned k = 0; k < depth; ++k)
          sum += value_of(a[i * depth + k], format) * value_of(b[j * depth + k], format);
      } else {
        for (unsigned k = 0; k < depth; k += accumulation.block)
          sum = add_block(&rows[i * depth + k], &columns[j * depth + k], accumulation,
                          format.fraction_bits, sum);
      }
      c[i * n + j] = std::isnan(sum) ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace simt::engine
