// What barriers of a part of the block order: how far each warp knows what the others have done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "memory/shared_memory.h"

namespace simt::engine {

// Of each warp of a block: what it did before the instruction with this number is known.
struct WarpTimes {
  std::array<uint32_t, 32> of{};
  // Of each block of the cluster: what it did before this time of the cluster's is known. See check/cluster.h.
  std::array<uint32_t, kMostClusterBlocks> blocks{};

  void add(const WarpTimes& other) {
    for (unsigned i = 0; i < of.size(); ++i) of[i] = std::max(of[i], other.of[i]);
    add_blocks(other);
  }
  void add_blocks(const WarpTimes& other) {
    for (unsigned i = 0; i < blocks.size(); ++i) blocks[i] = std::max(blocks[i], other.blocks[i]);
  }
};

// Who arrives at a barrier (an mbarrier, one that PTX numbers) hands over what its warp has done and knows of; who has waited for
// the phase takes that of all who arrived. Lanes of a warp count as one: a missing __syncwarp ahead of an arrival is not found.
class WarpKnowledge {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    known_ = {};
  }
  // `now` counts the instructions of the warp.
  void arrive(unsigned warp, uint32_t now, WarpTimes& barrier) {
    used_ = true;
    known_[warp].of[warp] = now;
    barrier.add(known_[warp]);
  }
  void leave(unsigned warp, const WarpTimes& barrier) {
    used_ = true;
    known_[warp].add(barrier);
  }
  // The block does something by which other blocks of its cluster know of all that it has done up to now.
  const WarpTimes& release(unsigned warp, unsigned rank, uint32_t now) {
    used_ = true;
    known_[warp].blocks[rank] = now;
    return known_[warp];
  }
  // All threads of the block have met.
  void meet() {
    WarpTimes all;
    for (const WarpTimes& known : known_) all.add_blocks(known);
    for (WarpTimes& known : known_) known.add_blocks(all);
  }
  const WarpTimes& of(unsigned warp) const { return known_[warp]; }
  // Does thread `self` know what the other one did at `time`?
  bool is_ordered(unsigned other, uint32_t time, unsigned self) const {
    return used_ && known_[self / 32].of[other / 32] > time;
  }

 private:
  bool used_ = false;
  std::array<WarpTimes, 32> known_{};
};

}  // namespace simt::engine
