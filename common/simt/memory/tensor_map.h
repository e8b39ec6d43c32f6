// A tensor map as the simulator has it in a CUtensorMap, and where the elements of a box lie.
#pragma once

#include <array>
#include <cstdint>

namespace simt::engine {

struct TensorMap {
  static constexpr uint64_t kMark = 0x70616d726f736e74;  // tells a map from other bytes
  static constexpr unsigned kMostRank = 5;

  uint64_t mark;
  uint64_t address;
  uint64_t strides[kMostRank - 1];  // bytes, of all dimensions but the innermost
  uint32_t dimensions[kMostRank];   // less one
  uint16_t box[kMostRank];
  uint8_t rank, element_bytes, swizzle;  // 0 to 3: none, 32, 64, 128 bytes

  static const TensorMap* at(const void* map);
  unsigned row_bytes() const { return unsigned{box[0]} * element_bytes; }
  unsigned rows() const;
  unsigned bytes() const { return row_bytes() * rows(); }
  // Row `i` of the box at `corner`: which bytes of it lie within the tensor, and where.
  struct Row {
    uint64_t from;          // where the first of these is
    unsigned begin, bytes;  // of them, within the row of the box
  };
  Row row(const int* corner, unsigned i) const;
};
static_assert(sizeof(TensorMap) <= 128);

// The 16 bytes of a box that would be at this address of shared memory are at another: their number among 8 is mixed with that of their
// line. \param swizzle 0 to 3
constexpr uint64_t swizzled(uint64_t address, unsigned swizzle) {
  const uint64_t chunk = (address >> 7) & ((1u << swizzle) - 1);
  return address ^ (swizzle ? chunk << 4 : 0);
}

}  // namespace simt::engine
