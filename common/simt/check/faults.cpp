#include "check/faults.h"

#include "check/warp_checks.h"

namespace simt::engine {

void FaultLog::add(const Fault& fault) {
  for (Fault& known : faults_) {
    if (known.kind == fault.kind && known.pc == fault.pc && known.other_pc == fault.other_pc) {
      known.lanes += fault.lanes;
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
  return fault;
}

}  // namespace simt::engine
