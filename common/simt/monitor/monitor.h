// One worker's view of what its lanes do to memory: each request goes to the checkers and the counter, and nowhere else.
#pragma once

#include <cstdint>

#include "base/block_context.h"
#include "base/request.h"
#include "check/array_index.h"
#include "check/async_copies.h"
#include "check/bulk_copies.h"
#include "check/cluster.h"
#include "check/faults.h"
#include "check/global_checker.h"
#include "check/proxy_fences.h"
#include "check/shared_checker.h"
#include "check/store_conflicts.h"
#include "check/thread_checker.h"
#include "check/uninitialized_values.h"
#include "check/warp_checks.h"
#include "count/counter.h"
#include "count/recording.h"
#include "memory/range_cache.h"
#include "memory/shared_memory.h"
#include "races/block_races.h"
#include "races/thread_order.h"

namespace simt::engine {

class Monitor {
 public:
  Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void begin_launch(const BlockContext& context);
  // `is_clean`: nothing has been observed since the block before began, in the same launch.
  void begin_block(unsigned x, unsigned y, unsigned z, bool is_clean);
  // All threads of the block have met at a barrier: what comes is ordered behind.
  void next_interval();
  // Threads of a warp come to a barrier for a part of the block, and go on behind it.
  void arrive(WarpChecks& warp, WarpTimes& barrier) {
    thread_order_.warps.arrive(static_cast<unsigned>(warp.index), warp.order.now++, barrier);
    if (cluster.is_on()) [[unlikely]]
      barrier.add_blocks(cluster.release(static_cast<unsigned>(warp.index)));
  }
  // The same at one of another block of the cluster.
  void arrive_in_other(WarpChecks& warp, WarpTimes& barrier) {
    barrier.add_blocks(cluster.release(static_cast<unsigned>(warp.index)));
    ++warp.order.now;
  }
  void leave(const WarpChecks& warp, const WarpTimes& barrier) {
    thread_order_.warps.leave(static_cast<unsigned>(warp.index), barrier);
  }

  // A warp instruction is about to access memory. False where the block has to end: see `faults`.
  bool observe(const Request& request);
  // An asynchronous copy: one instruction of the hardware, which is a load from `source` and a store to the checks. Lanes
  // of `zeros` write zeros and read nothing.
  bool observe_copy(const Request& store, const uint64_t* source, uint32_t zeros);
  // An access of the copy engine's, which a thread has asked for: checked, and counted nowhere.
  bool observe_bulk(const Request& request);
  void fence_proxy(unsigned thread, WarpChecks& warp) {
    shared_checker.races.keep_writes();
    proxies.fence(thread, shared_checker.races.interval(), warp.order.now++,
                  thread_order_.warps.of(static_cast<unsigned>(warp.index)));
  }
  // The lanes of the warp have run on: what they were about to store has been stored.
  void settle(WarpChecks& warp);

  // A fence by a thread of the block, whose warp is given; it orders other blocks, too, or only this one.
  void fence(unsigned thread, const WarpChecks& warp, bool whole_device);
  // What stands for a fault that is told once something comes of it: see uninitialized_values.h.
  uint8_t number_of(const Fault& fault) { return values_.number(fault); }
  // Have some of the bytes been written, and others not?
  bool is_partly_written(uint64_t address, uint64_t size) const;

  BlockContext block;
  SharedMemory shared;
  RangeCache ranges;

  // Of the launch so far.
  Counter counter;
  FaultLog faults;
  Recording recording;
  BlockRaceLog block_races;

  AsyncCopies copies;
  BulkCopies bulk;
  ProxyFences proxies;

 private:
  ThreadOrder thread_order_;
  StoreConflicts conflicts_;
  UninitializedValues values_;

 public:
  ArrayIndexCheck array_index{block, shared, faults};
  ClusterChecks cluster{block, shared, thread_order_};
  SharedChecker shared_checker{block,   shared, faults, thread_order_, conflicts_,
                               values_, copies, bulk,   proxies,       cluster};
  GlobalChecker global_checker{block, faults, block_races, conflicts_, values_, ranges};
  ThreadChecker thread_checker{block, block_races, thread_order_, conflicts_};

 private:
  [[gnu::noinline, gnu::cold]] void record(const Request& request, bool is_shared);
  uint32_t lanes_in_shared(const Request& request) const;
  static uint32_t lanes_in_constants(const Request& request);
  static uint32_t lanes_in_own_constants(const Request& request);
  void check_constants(const Request& request, uint32_t lanes);
  // `entry` is that of the request's place, and `counts` what counts are added to: its own, or others.
  bool observe(const Request& request, CountTable::Entry& entry, Counts& counts);
  bool observe_shared(const Request& request, CountTable::Entry& entry, Counts& counts);
  bool observe_global(const Request& request, CountTable::Entry& entry, Counts& counts);
  bool observe_cluster(const Request& request, CountTable::Entry& entry, Counts& counts);
  void offer_example(const Request& request, bool is_shared, CountTable::Entry& entry);
  [[gnu::noinline, gnu::cold]] void count_merged(const Request& part, bool is_shared,
                                                 CountTable::Entry& entry, Counts& counts);
};

}  // namespace simt::engine
