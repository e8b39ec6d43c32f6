#include "check/store_conflicts.h"

#include "base/values.h"

namespace simt::engine {

void StoreConflicts::add(const Request& request, int lane, const Race& race, const Fault& fault) {
  if (open_.size() == open_.capacity()) return;
  const uint8_t other = race.other_thread % kLanes;
  Conflict& conflict =
      open_.emplace_back(Conflict{static_cast<uint8_t>(lane), other, race.same_instruction,
                                  value_at(request.address[lane], request.size), fault});
  conflict.fault.store = conflict.fault.other_store = true;
  conflict.fault.atomic = false;
  request.warp->capture |= 1u << lane;
  if (race.same_instruction) request.warp->capture |= 1u << other;
}

void StoreConflicts::settle(WarpChecks& warp, FaultLog& faults, BlockRaceLog& block_races) {
  for (const Conflict& conflict : open_) {
    const uint64_t other =
        conflict.same_instruction ? warp.captured[conflict.other_lane] : conflict.before;
    if (warp.captured[conflict.lane] == other) continue;
    if (conflict.fault.kind == Fault::Kind::global_race) {
      BlockRace race;
      race.fault = conflict.fault;
      race.varies = true;
      block_races.add(race);
    } else {
      faults.add(conflict.fault);
    }
  }
  open_.clear();
  warp.capture = 0;
}

}  // namespace simt::engine
