// Stores to bytes that another lane, thread or block has touched: most are faults only if they change what lies there. That is
// known once they have been carried out.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/request.h"
#include "check/faults.h"
#include "check/warp_checks.h"
#include "races/block_races.h"

namespace simt::engine {

// Stores that a worker has noted for the others and not yet carried out: the lanes store when they run on.
class StoresInFlight {
 public:
  StoresInFlight();
  StoresInFlight(const StoresInFlight&) = delete;
  StoresInFlight& operator=(const StoresInFlight&) = delete;

  void begin() {
    const uint64_t now = storing_.load(std::memory_order_relaxed);
    if (!(now & 1)) storing_.store(now + 1, std::memory_order_release);
  }
  void end() {
    const uint64_t now = storing_.load(std::memory_order_relaxed);
    if (now & 1) storing_.store(now + 1, std::memory_order_release);
  }
  // Waits until the stores that other workers have noted so far are carried out. False if it does not know: the other
  // one waits for this one, and will store later, or is not on a CPU at all.
  bool await_others();

 private:
  std::atomic<uint64_t> storing_{0};  // odd while there are some
  std::atomic<bool> awaits_{false};
  StoresInFlight* next_ = nullptr;  // of all workers there are, the newest first
};

class StoreConflicts {
 public:
  StoreConflicts() { open_.reserve(2 * kLanes); }
  void begin_block() { open_.clear(); }

  // The lane is about to store. `fault` is what it is if that changes something; or, where another lane of the same
  // instruction stores there, too, if the two values differ. The lanes note what they have stored before they go on.
  // `is_sure`: what lies there now is what others have stored. If not, the last of them may be still to come. `at`: where it
  // stores, if not at the request's address.
  void add(const Request& request, int lane, const Fault& fault, int other_lane = kNoLane,
           bool is_sure = true, uint64_t at = 0);
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
