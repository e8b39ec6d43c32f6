// Two lanes of a warp, or two threads of a block, that write the same word: whichever comes last, it is a fault only if their
// values differ. That is known once they have written.
#pragma once

#include <cstdint>
#include <vector>

#include "base/request.h"
#include "check/block_race_log.h"
#include "check/faults.h"
#include "check/shared_races.h"
#include "check/warp_checks.h"

namespace simt::engine {

class StoreConflicts {
 public:
  StoreConflicts() { open_.reserve(kLanes); }
  void begin_block() { open_.clear(); }

  // `fault` is what it is if the values differ; its lane and the other one, if it is of this warp, note what they have
  // written before they go on.
  void add(const Request& request, int lane, const Race& race, const Fault& fault);

  // The lanes of the warp have written.
  void settle(WarpChecks& warp, FaultLog& faults, BlockRaceLog& block_races);

 private:
  struct Conflict {
    uint8_t lane, other_lane;
    bool same_instruction;
    uint64_t before;  // what an earlier instruction has written there
    Fault fault;
  };
  std::vector<Conflict> open_;
};

}  // namespace simt::engine
