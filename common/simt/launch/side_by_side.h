// Launches that run at once: one of each device. Where one is under way, another joins its phase, as if both were one grid, so that
// the checks see what their blocks do to each other.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "exec/worker.h"
#include "races/sector_records.h"
#include "streams/order.h"
#include "streams/races.h"

namespace simt::engine::side_by_side {

// Held but while blocks run: what launches begin with and leave behind is done one at a time.
using Lock = std::unique_lock<std::mutex>;
Lock lock();

// A launch, which is the piece of work under way, from its configuration to what it has left behind. Waits until the one before it on its device is over.
class Launch {
 public:
  Launch(Lock& lock, int device);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Do others run? Then it joins them. Under the lock.
  bool has_company() const { return has_company_; }
  // Gives the grid its numbers, its vote of `workers` more, and what it is behind. False if its blocks are not to be checked: those
  // of a cooperative launch, or beside one, whose barriers part the phase.
  bool begin(Grid& grid, uint64_t workers, bool cooperative);
  // All of its blocks have ended.
  void end();

  const Member& member() const { return member_; }
  // Those that have run at once with it.
  const stream_races::Beside& beside() const { return beside_; }

 private:
  const int device_;
  Member member_;
  VectorClock behind_;
  bool has_company_ = false, is_cooperative_ = false;
  stream_races::Beside beside_;
};

}  // namespace simt::engine::side_by_side
