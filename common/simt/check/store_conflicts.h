// Stores to bytes that another lane, thread or block has touched: most are faults only if they change what lies there. That is
// known once they have been carried out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/request.h"
#include "check/block_races.h"
#include "check/faults.h"
#include "check/stores_in_flight.h"
#include "check/warp_checks.h"

namespace simt::engine {

class StoreConflicts {
 public:
  StoreConflicts() { open_.reserve(2 * kLanes); }
  void begin_block() { open_.clear(); }

  // The lane is about to store. `fault` is what it is if that changes something; or, where another lane of the same
  // instruction stores there, too, if the two values differ. The lanes note what they have stored before they go on.
  // `is_sure`: what lies there now is what others have stored. If not, the last of them may be still to come.
  void add(const Request& request, int lane, const Fault& fault, int other_lane = kNoLane,
           bool is_sure = true);
  static constexpr int kNoLane = -1;

  // The lanes of the warp have stored.
  void settle(WarpChecks& warp, FaultLog& faults, BlockRaceLog& races, StoresInFlight& in_flight);

 private:
  struct Conflict {
    int lane, other_lane;
    uint64_t address, before;  // and what lies there
    bool is_sure;
    Fault fault;
  };
  std::vector<Conflict> open_;
};

}  // namespace simt::engine
