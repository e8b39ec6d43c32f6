// What fences order: which blocks' work a block knows of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt::engine {

// Which blocks' work is known, and up to which fence: as runs of blocks, because blocks that finish one
// after another are known one after another.
class VectorClock {
 public:
  struct Run {
    uint32_t first, last, epoch;
  };

  // 0 if nothing is known.
  uint32_t of(uint32_t block) const;
  // Runs in the order of their blocks, of which each is in one at most.
  void add(const Run* more, size_t count);
  void add(const VectorClock& other) { add(other.runs_.data(), other.runs_.size()); }

  uint32_t version = 0;  // goes up whenever something is added

 private:
  std::vector<Run> runs_;
};

}  // namespace simt::engine
