#include "check/faults.h"

#include <algorithm>

#include "check/warp_checks.h"
#include "program/program_image.h"

namespace simt::engine {

void FaultLog::add(const Fault& fault) {
  for (Fault& known : faults_) {
    if (known.kind == fault.kind && known.pc == fault.pc && known.other_pc == fault.other_pc) {
      if (!ends_the_kernel(fault.kind)) known.lanes += fault.lanes, known.again = true;
      known.cause = std::max(known.cause, fault.cause);
      return;
    }
  }
  if (faults_.size() < faults_.capacity()) faults_.push_back(fault);
}

Fault fault_of(Fault::Kind kind, const BlockContext& block, const Request& request, int lane) {
  Fault fault;
  fault.kind = kind;
  fault.pc = request.pc;
  fault.address = request.address[lane];
  fault.size = request.size;
  fault.store = request.writes();
  fault.atomic = request.is_atomic();
  fault.block = block.index;
  fault.thread = request.warp->thread[lane];
  fault.grid = block.grid;
  fault.device = block.device;
  return fault;
}

Fault::Cause cause_of(const Race& race, const Request& request, int lane) {
  const Fault::Cause update =
      request.warp->locking >> lane & 1 ? Fault::Cause::lock : Fault::Cause::update;
  if (race.is_update) return update;
  const unsigned other_lane = race.other_thread % kLanes;
  const bool is_of_warp = race.other_thread - other_lane == request.warp->first_thread();
  if (!request.writes() || race.other_wrote || !is_of_warp) return Fault::Cause::unknown;
  if (race.other_pc >= short_pc(request.pc)) return Fault::Cause::unknown;
  // The other one has read, and perhaps it writes there now.
  const bool writes_too =
      request.lanes >> other_lane & 1 && request.address[other_lane] == request.address[lane];
  return writes_too ? update : Fault::Cause::in_place;
}

}  // namespace simt::engine
