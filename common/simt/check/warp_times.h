// What barriers of a part of the block order: how far each warp knows what the others have done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace simt::engine {

// Of each warp of a block: what it did before the instruction with this number is known.
struct WarpTimes {
  std::array<uint32_t, 32> of{};

  void add(const WarpTimes& other) {
    for (unsigned i = 0; i < of.size(); ++i) of[i] = std::max(of[i], other.of[i]);
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
  void leave(unsigned warp, const WarpTimes& barrier) { known_[warp].add(barrier); }
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
