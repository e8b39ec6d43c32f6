// Races in global memory, of blocks or of a block's threads, that one worker has seen in the launch so far.
#pragma once

#include <vector>

#include "check/block_races.h"

namespace simt::engine {

class BlockRaceLog {
 public:
  BlockRaceLog() { races_.reserve(64); }
  void add(const BlockRace& race) {
    for (BlockRace& known : races_) {
      if (!known.is_same_place(race)) continue;
      known.varies |= known.value != race.value;
      return;
    }
    if (races_.size() < races_.capacity()) races_.push_back(race);
  }
  const std::vector<BlockRace>& all() const { return races_; }
  void clear() { races_.clear(); }

 private:
  std::vector<BlockRace> races_;
};

}  // namespace simt::engine
