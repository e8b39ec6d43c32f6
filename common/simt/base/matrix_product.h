// The arithmetic of the matrix instructions (mma, wgmma): D = A B + C, bit for bit as an H200 computes it.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>

namespace simt::engine {

// How an instruction adds up: `block` products and the sum so far at a time.
//
// The products of a block are exact. All of them, and the sum so far, are shifted to the largest exponent among them and cut
// off (towards zero) behind `fraction` bits after its first one; then they are added exactly, and the result is cut off to a
// float, of FP8 to one with `kept` bits after its first. So the order within a block does not matter, and a sum of floats is another number. The model is that of Fasi, Higham,
// Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7 (2021); its parameters were measured.
struct Accumulation {
  unsigned block;
  int fraction;
  int kept = 23;
};
Accumulation accumulation_of(detail::MatrixType type);

// The length of a row of A, and of a column of B, in one instruction: 32 bytes.
constexpr unsigned depth_of(detail::MatrixType type) {
  switch (type) {
    case detail::MatrixType::s8:
    case detail::MatrixType::e4m3:
      return 32;
    case detail::MatrixType::tf32:
      return 8;
    default:
      return 16;
  }
}

// \param a m rows of depth_of(type) elements, the bits of each in a word of its own
// \param b n columns likewise
// \param c m rows of n floats (s8: integers), which the products are added to
void multiply(detail::MatrixType type, unsigned m, unsigned n, const uint32_t* a, const uint32_t* b,
              uint32_t* c);
// The same with another way of adding up.
void multiply(detail::MatrixType type, Accumulation accumulation, unsigned m, unsigned n,
              const uint32_t* a, const uint32_t* b, uint32_t* c);

}  // namespace simt::engine
