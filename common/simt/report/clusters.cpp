#include "report/clusters.h"

#include "base/text.h"
#include "program/symbols.h"
#include "report/copies.h"
#include "report/places.h"

namespace simt::device {

bool describe_in_cluster(const engine::Fault& fault, const std::string& access, Finding& finding) {
  using Fault = engine::Fault;
  if (fault.kind == Fault::Kind::absent_block) {
    const bool has_begun = fault.cause == Fault::Cause::exited;
    finding.kind = "absent-block";
    finding.message =
        access + " to the shared memory of block " + std::to_string(fault.rank) +
        " of the cluster, which " +
        (has_begun
             ? "does not wait for that and may have exited. Put a cluster.sync() behind the "
               "last access, to which all blocks come before they exit."
             : "may not have begun. Put a cluster.sync() ahead of the first access to another "
               "block's shared memory.");
  } else if (fault.kind == Fault::Kind::shared_race && fault.other_rank >= 0) {
    finding.kind = "shared-race";
    finding.message = access + " races with the " + (fault.other_store ? "write" : "read") +
                      " at " + place_and_call(fault.other_pc) + " by thread " +
                      text(fault.other_thread) + " of block " + std::to_string(fault.other_rank) +
                      " of the cluster: both touch " + shared_place(fault) +
                      ", and nothing orders the two. Usual cause: " +
                      (fault.cause == Fault::Cause::stage_in_use
                           ? cause_at_engine(fault.cause)
                           : "a missing cluster.sync(); __syncthreads() orders the threads of one "
                             "block alone.");
  } else {
    return false;
  }
  finding.address = 0;
  return true;
}

}  // namespace simt::device
