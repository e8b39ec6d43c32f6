// What mma and wgmma compute, bit for bit, against what an H200 gave for the same matrices: 430,080 sums, of which hashes are kept.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "base/matrix_product.h"

namespace {

using simt::detail::MatrixType;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {
    for (int i = 0; i < 20; ++i) next();
  }
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  // A number with so many bits of fraction and an exponent from -spread to spread.
  float number(int bits, int spread) {
    const float fraction = static_cast<float>(next() % (1u << bits));
    const float mantissa = 1 + fraction / static_cast<float>(1u << bits);
    const int exponent = spread ? static_cast<int>(next() % (2 * spread + 1)) - spread : 0;
    const float value =
        mantissa * std::bit_cast<float>(static_cast<uint32_t>(127 + exponent) << 23);
    return next() & 1 ? -value : value;
  }

 private:
  uint64_t state_;
};

// The bits of a number that the type has.
uint32_t encode(MatrixType type, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (type == MatrixType::bf16) return bits >> 16;
  if (type == MatrixType::tf32) return bits;
  if (type == MatrixType::e4m3)
    return bits >> 31 << 7 | ((bits >> 23 & 255) - 127 + 7) << 3 | (bits & 0x7fffff) >> 20;
  const uint32_t exponent = (bits >> 23 & 255) - 127 + 15;
  return bits >> 31 << 15 | exponent << 10 | (bits & 0x7fffff) >> 13;
}

// FNV-1a of all sums. \param m rows: 16 of mma, 64 of wgmma
uint64_t hash_of_sums(MatrixType type, int m) {
  constexpr int kN = 8, kSpreads[] = {0, 1, 3, 5, 8, 12};
  const int depth = static_cast<int>(simt::engine::depth_of(type));
  const int bits = type == MatrixType::bf16 ? 7 : type == MatrixType::e4m3 ? 3 : 10;
  const int trials = m == 16 ? 480 : 120;
  uint64_t hash = 0xcbf29ce484222325;
  for (int t = 0; t < trials; ++t) {
    Random random(static_cast<uint64_t>(t) * 7919 + static_cast<uint64_t>(bits));
    int spread = kSpreads[t % 6];
    if (bits != 7 && spread > 6) spread = 6;
    std::vector<uint32_t> a(m * depth), b(kN * depth), c(m * kN);
    for (uint32_t& x : a) x = encode(type, random.number(bits, spread));
    for (uint32_t& x : b) x = encode(type, random.number(bits, spread));
    const int kind = t / 6 % 3;  // no sum so far, one of the same size, one of twice the exponents
    for (uint32_t& x : c) x = kind ? std::bit_cast<uint32_t>(random.number(23, kind * spread)) : 0;
    simt::engine::multiply(type, m, kN, a.data(), b.data(), c.data());
    for (const uint32_t sum : c) {
      for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (sum >> 8 * byte & 255)) * 0x100000001b3;
    }
  }
  return hash;
}

TEST(MatrixProducts, AreThoseOfAnH200) {
  EXPECT_EQ(hash_of_sums(MatrixType::bf16, 16), 0xcb703dd8ea074c6f);
  EXPECT_EQ(hash_of_sums(MatrixType::f16, 16), 0x6f7f5f020ae4deb1);
  EXPECT_EQ(hash_of_sums(MatrixType::tf32, 16), 0x909feb129c91a1fb);
  EXPECT_EQ(hash_of_sums(MatrixType::bf16, 64), 0xe6f55218061c69d9);
  EXPECT_EQ(hash_of_sums(MatrixType::f16, 64), 0x98cabc6d59ca7902);
  EXPECT_EQ(hash_of_sums(MatrixType::tf32, 64), 0xd57555bb95d46b84);
  EXPECT_EQ(hash_of_sums(MatrixType::e4m3, 64), 0x52d5ae7f285f80b3);
}

// Eight products of 2^-26 beside 1: each is cut off by itself, and with one bit more they are not.
TEST(MatrixProducts, WhatIsCutOffMatters) {
  std::vector<uint32_t> a(16 * 16), b(8 * 16);
  for (int k = 0; k < 9; ++k) a[k] = b[k] = encode(MatrixType::bf16, k ? 0x1p-13f : 1.0f);
  for (const auto& [fraction, sum] : {std::pair{25, 1.0f}, std::pair{26, 1.0f + 0x1p-23f}}) {
    std::vector<uint32_t> c(16 * 8);
    simt::engine::multiply(MatrixType::bf16, {16, fraction}, 16, 8, a.data(), b.data(), c.data());
    EXPECT_EQ(std::bit_cast<float>(c[0]), sum);
  }
}

}  // namespace
