// The faults of one worker.
#pragma once

#include <vector>

#include "base/block_context.h"
#include "base/fault.h"
#include "base/request.h"
#include "races/shared_races.h"

namespace simt::engine {

// Of the launch so far. It has its room from the start: lanes that add to it have none.
class FaultLog {
 public:
  FaultLog() { faults_.reserve(64); }

  // The same two lines are reported once a launch.
  void add(const Fault& fault);
  const std::vector<Fault>& all() const { return faults_; }
  Fault& last() { return faults_.back(); }
  void clear() { faults_.clear(); }

 private:
  std::vector<Fault> faults_;
};

// What a lane of the request has done wrong.
Fault fault_of(Fault::Kind kind, const BlockContext& block, const Request& request, int lane);

// Why it races with another thread of its block, as far as both accesses tell.
Fault::Cause cause_of(const Race& race, const Request& request, int lane);

}  // namespace simt::engine
