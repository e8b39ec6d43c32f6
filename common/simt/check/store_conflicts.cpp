#include "check/store_conflicts.h"

#include <sched.h>

#include "base/values.h"

namespace simt::engine {
namespace {

std::atomic<StoresInFlight*> newest{nullptr};

}  // namespace

StoresInFlight::StoresInFlight() {
  next_ = newest;
  while (!newest.compare_exchange_weak(next_, this)) {
  }
}

bool StoresInFlight::await_others() {
  constexpr int kPatience = 20'000;  // of a microsecond or less
  bool all = true;
  awaits_ = true;
  for (const StoresInFlight* other = newest; other; other = other->next_) {
    const uint64_t then = other->storing_;
    if (other == this || !(then & 1)) continue;
    for (int turn = 0; other->storing_ == then; ++turn) {
      const bool goes_first = other->awaits_ && this < other;
      if (goes_first || turn == kPatience) {
        all = false;
        break;
      }
      sched_yield();
    }
  }
  awaits_ = false;
  return all;
}

void StoreConflicts::add(const Request& request, int lane, const Fault& fault, int other_lane,
                         bool is_sure, uint64_t at) {
  if (open_.size() == open_.capacity()) return;
  if (!at) at = request.address[lane];
  open_.push_back({lane, other_lane, at, value_at(at, request.size), is_sure, fault});
  request.warp->capture |= 1u << lane;
  if (other_lane != kNoLane) request.warp->capture |= 1u << other_lane;
}

void StoreConflicts::settle(WarpChecks& warp, FaultLog& faults, BlockRaceLog& races,
                            StoresInFlight& in_flight) {
  for (const Conflict& conflict : open_) {
    const uint64_t value = warp.captured[conflict.lane];
    const uint64_t other =
        conflict.other_lane == kNoLane ? conflict.before : warp.captured[conflict.other_lane];
    if (value == other) continue;
    if (!conflict.is_sure) {
      in_flight.await_others();
      if (value_at(conflict.address, conflict.fault.size) == value) continue;
    }
    if (conflict.fault.kind == Fault::Kind::global_race) {
      races.add({.fault = conflict.fault, .value = value});
    } else {
      faults.add(conflict.fault);
    }
  }
  open_.clear();
  warp.capture = 0;
}

}  // namespace simt::engine
