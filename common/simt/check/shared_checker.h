// What may be wrong with a request to shared memory.
#pragma once

#include <cstdint>

#include "base/block_context.h"
#include "base/request.h"
#include "check/async_copies.h"
#include "check/bulk_copies.h"
#include "check/cluster.h"
#include "check/faults.h"
#include "check/pending_sums.h"
#include "check/proxy_fences.h"
#include "check/store_conflicts.h"
#include "check/uninitialized_values.h"
#include "check/warp_checks.h"
#include "memory/shared_memory.h"
#include "races/shared_races.h"
#include "races/thread_order.h"

namespace simt::engine {

class SharedChecker {
 public:
  SharedChecker(const BlockContext& block, const SharedMemory& shared, FaultLog& faults,
                ThreadOrder& thread_order, StoreConflicts& conflicts, UninitializedValues& values,
                AsyncCopies& copies, BulkCopies& bulk, const ProxyFences& proxies,
                ClusterChecks& cluster)
      : block_(block),
        shared_(shared),
        faults_(faults),
        thread_order_(thread_order),
        conflicts_(conflicts),
        values_(values),
        copies_(copies),
        bulk_(bulk),
        proxies_(proxies),
        cluster_(cluster) {
    races.resize(shared.words());
  }
  void begin_block() { races.begin_block(); }

  struct Verdict {
    bool goes_on = true;    // else the block has to end
    bool are_rows = false;  // the addresses of a whole warp are
    TwoRows rows;           // these
  };
  Verdict check(const Request& request);

  // The same of an access to the shared memory of the cluster's block of this rank; `as_own` has the addresses of the same places
  // in the block's own.
  bool check_in_other(const Request& request, const Request& as_own, unsigned rank);

  // A thread initialises a barrier in shared memory, or arrives at it.
  void note_barrier(const Request& request) {
    check_words(request, request.first());
    ++request.warp->order.now;
  }

  // A thread of the warp has begun a copy to shared memory, at the instruction before, or one has arrived. In between
  // nobody may touch what it copies to.
  void copy_begins(const AsyncCopy& copy, unsigned thread, const WarpChecks& warp);
  void copy_arrives(const AsyncCopy& copy, unsigned thread, const WarpChecks& warp);
  // The thread arrives at an mbarrier: who waits there may take the copies for done that the thread knows of.
  void copies_are_told(uint64_t barrier, unsigned thread, const WarpChecks& warp, uint64_t pc);

  // The same of a bulk copy, by a lane of the warp. It has arrived once its barrier's phase is over.
  void bulk_begins(const BulkLoad& load, const WarpChecks& warp, bool is_foreign = false);
  void bulk_arrives(const BulkLoad& load);
  // The copy engine or a matrix instruction begins to read for a thread.
  PendingRead bulk_read_begins(uint64_t address, unsigned bytes, uint64_t pc) {
    races.keep_writes();
    return {address, bytes, 0, pc, races.last_write(shared_.word_of(address))};
  }
  // It has read these bytes for a thread of the warp: not only when it was asked to, but up to now.
  void bulk_read_ends(const PendingRead& read, unsigned thread, const WarpChecks& warp);

  // Have some of the bytes been written, and others not?
  bool is_partly_written(uint64_t address, uint64_t size) const;

  // A fault at this address counts it from the start of shared memory, and has the array that holds it.
  void name_place(Fault& fault, uint64_t address) const;

  RaceCheck races;

 private:
  bool is_sound(const Request& request) const;
  Fault fault_at(Fault::Kind kind, const Request& request, int lane, uint64_t address) const;
  bool is_in_use(const symbols::SharedVariable& variable) const;
  bool check_place(const Request& request, int lane, const symbols::SharedVariable*& array);
  void check_words(const Request& request, int lane);
  void check_in_cluster(const Request& request, int lane, size_t word, unsigned rank,
                        uint64_t address);
  bool touches_copy(const Request& request, int lane, size_t word, RaceCheck::Copy state);
  bool touches_bulk_copy(const Request& request, int lane, size_t word);
  bool is_unseen_by_engine(const Request& request, int lane, size_t word);

  const BlockContext& block_;
  const SharedMemory& shared_;
  FaultLog& faults_;
  ThreadOrder& thread_order_;
  StoreConflicts& conflicts_;
  UninitializedValues& values_;
  AsyncCopies& copies_;
  BulkCopies& bulk_;
  const ProxyFences& proxies_;
  ClusterChecks& cluster_;
};

}  // namespace simt::engine
