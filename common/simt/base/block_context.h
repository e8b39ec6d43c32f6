// The block that a worker runs, as counts and faults name it.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "base/fault.h"

namespace simt::engine {

class VectorClock;

struct BlockContext {
  uint3 index{};
  dim3 grid, block;
  size_t dynamic_shared = 0;
  bool checks_blocks = false;  // races between blocks, and global memory that nobody has written

  int device = 0;
  // Of its number among the blocks that run at once, and what it is behind of these: see Phase in races/sector_records.h.
  uint32_t offset = 0;
  const VectorClock* behind = nullptr;

  uint64_t linear() const { return linear_block(grid, index); }
  // The index of its thread with this number.
  uint3 thread(unsigned number) const {
    return {number % block.x, number / block.x % block.y, number / block.x / block.y};
  }
};

}  // namespace simt::engine
