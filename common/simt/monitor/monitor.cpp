#include "monitor/monitor.h"

#include <bit>

#include "base/devices.h"
#include "base/host_memory.h"
#include "memory/constants.h"
#include "memory/host_texts.h"
#include "memory/shadow.h"
#include "memory/watched.h"
#include "program/program_image.h"

namespace simt::engine {

void Monitor::begin_launch(const BlockContext& context) {
  block = context;
  ranges.begin_launch(context.device);
  if (uses_async_proxy) shared_checker.races.keep_writes();
}

void Monitor::begin_block(unsigned x, unsigned y, unsigned z, bool is_clean) {
  block.index.x = x, block.index.y = y, block.index.z = z;
  copies.begin_block();
  bulk.begin_block();
  proxies.begin_block();
  if (is_clean) return global_checker.begin_block();
  shared_checker.begin_block();
  thread_checker.races.begin_block();
  thread_order_.begin_block();
  global_checker.begin_block();
  values_.begin_block();
  conflicts_.begin_block();
}

void Monitor::next_interval() {
  shared_checker.races.next_interval();
  if (cluster.is_on()) [[unlikely]]
    thread_order_.warps.meet();
  thread_checker.races.next_interval();
}

bool Monitor::observe(const Request& request) {
  CountTable::Entry& entry = counter.table.at(request.pc);
  return observe(request, entry, entry.counts);
}

bool Monitor::observe(const Request& request, CountTable::Entry& entry, Counts& counts) {
  for (const int lane : lanes_of(request.lanes & request.warp->has_wrong_index)) {
    if (!array_index.settle(request, lane)) return false;
  }
  const uint32_t in_shared = lanes_in_shared(request);
  if (in_shared == request.lanes) return observe_shared(request, entry, counts);
  if (!shared.cluster.empty()) [[unlikely]]
    return observe_cluster(request, entry, counts);
  if (!in_shared) [[likely]]
    return observe_global(request, entry, counts);
  return observe_shared(request.of(in_shared), entry, counts) &&
         observe_global(request.of(request.lanes & ~in_shared), entry, counts);
}

// Generic addresses may point anywhere, lane by lane; nearly always they agree.
uint32_t Monitor::lanes_in_shared(const Request& request) const {
  const Span& span = request.span;
  const auto dynamic = reinterpret_cast<uint64_t>(shared.dynamic);
  const auto all_in = [&](uint64_t base, uint64_t bytes) {
    return span.low - base < bytes && span.high - base < bytes;
  };
  const auto none_in = [&](uint64_t base, uint64_t bytes) {
    return span.high < base || span.low >= base + bytes;
  };
  if (all_in(shared.tls_base, shared.tls_size) || all_in(dynamic, kMaxDynamicShared)) {
    return request.lanes;
  }
  if (none_in(shared.tls_base, shared.tls_size) && none_in(dynamic, kMaxDynamicShared)) [[likely]]
    return 0;
  uint32_t lanes = 0;
  for (const int lane : lanes_of(request.lanes)) {
    if (shared.holds(request.address[lane])) lanes |= 1u << lane;
  }
  return lanes;
}

// Lane by lane it may be the block's own shared memory, that of another block of the cluster, or global memory.
bool Monitor::observe_cluster(const Request& request, CountTable::Entry& entry, Counts& counts) {
  uint32_t in[kMostClusterBlocks + 1] = {};  // the last one: global memory
  for (const int lane : lanes_of(request.lanes)) {
    const unsigned rank = shared.rank_of(request.address[lane]);
    in[rank < shared.cluster.size() ? rank : kMostClusterBlocks] |= 1u << lane;
  }
  for (unsigned rank = 0; rank < shared.cluster.size(); ++rank) {
    if (!in[rank]) continue;
    const Request part = request.of(in[rank]);
    if (rank == cluster.rank()) {
      if (!observe_shared(part, entry, counts)) return false;
      continue;
    }
    uint64_t address[kLanes] = {};
    for (const int lane : lanes_of(part.lanes))
      address[lane] = shared.cluster[rank]->in_other(request.address[lane], shared);
    Request as_own = part;
    as_own.address = address;
    as_own.span = span_of(address, part.lanes);
    if (!shared_checker.check_in_other(part, as_own, rank)) return false;
    if (entry.is_merged) {
      count_merged(as_own, true, entry, counts);
    } else if (!request.is_barrier) {
      counter.count_shared(as_own, nullptr, counts);
    }
  }
  const uint32_t others = in[kMostClusterBlocks];
  return !others || observe_global(request.of(others), entry, counts);
}

uint32_t Monitor::lanes_in_constants(const Request& request) {
  uint32_t lanes = 0;
  const auto begin = reinterpret_cast<uint64_t>(simt_constant_begin);
  const auto end = reinterpret_cast<uint64_t>(simt_constant_end);
  if (!begin || request.span.high < begin || request.span.low >= end) [[likely]]
    return lanes;
  for (const int lane : lanes_of(request.lanes)) {
    if (is_constant(request.address[lane])) lanes |= 1u << lane;
  }
  return lanes;
}

// Constants that stand in the kernels' code, as literals do.
uint32_t Monitor::lanes_in_own_constants(const Request& request) {
  uint32_t lanes = 0;
  for (const int lane : lanes_of(request.lanes)) {
    const uint64_t address = request.address[lane];
    if (host_texts::is_constant(address) && !host_texts::is_handed_over(address))
      lanes |= 1u << lane;
  }
  return lanes;
}

void Monitor::check_constants(const Request& request, uint32_t lanes) {
  for (const int lane : lanes_of(lanes)) {
    if (!constants::is_unwritten(request.address[lane], request.size)) continue;
    Fault fault = fault_of(Fault::Kind::constant_uninitialized, block, request, lane);
    fault.other_store = constants::is_short(request.address[lane]);
    return faults.add(fault);
  }
}

bool Monitor::observe_shared(const Request& request, CountTable::Entry& entry, Counts& counts) {
  if (recording.is_on()) [[unlikely]]
    record(request, true);
  if (!entry.is_merged) offer_example(request, true, entry);
  const SharedChecker::Verdict verdict = shared_checker.check(request);
  if (!verdict.goes_on) return false;
  if (entry.is_merged) [[unlikely]] {
    count_merged(request, true, entry, counts);
    return true;
  }
  counter.count_shared(request, verdict.are_rows ? &verdict.rows : nullptr, counts);
  return true;
}

bool Monitor::observe_global(const Request& request, CountTable::Entry& entry, Counts& counts) {
  // Constant memory is another path, with a cache of its own.
  if (const uint32_t constant = lanes_in_constants(request)) [[unlikely]] {
    if (!request.writes()) {
      if (constants::any.load(std::memory_order_relaxed)) [[unlikely]]
        check_constants(request, constant);
      const uint32_t others = request.lanes & ~constant;
      return !others || observe_global(request.of(others), entry, counts);
    }
    for (const int lane : lanes_of(constant)) {
      faults.add(fault_of(Fault::Kind::constant_write, block, request, lane));
    }
    return false;
  }

  if (request.kind == Access::load && host_texts::is_constant(request.span.low)) [[unlikely]] {
    if (const uint32_t own = lanes_in_own_constants(request)) {
      const Request constants = request.of(own);
      counter.count_global(constants, counts);
      const uint32_t others = request.lanes & ~own;
      return !others || observe_global(request.of(others), entry, counts);
    }
  }

  const GlobalChecker::Place place = global_checker.check_place(request);
  if (!place.goes_on) return false;
  if (recording.is_on()) [[unlikely]]
    record(request, false);
  if (request.writes() && is_watched(request.span.low, request.span.high, request.size))
      [[unlikely]] {
    for (const int lane : lanes_of(request.lanes)) {
      const uint64_t address = request.address[lane];
      if (!is_watched(address, address, request.size)) continue;
      note_writer(request.pc, block.index, request.warp->thread[lane]);
    }
  }
  if (block.checks_blocks) {
    const bool again = global_checker.check_blocks(request, place.maybe_unwritten);
    thread_checker.check(request, place.range, again);
  }
  if (request.kind == Access::load && request.is_volatile()) [[unlikely]] {
    // How often a kernel looks again while it waits for another device depends on time: not counted.
    if (entry.note_volatile(request.span.low) && devices::any_open) return true;
  }
  if (entry.is_merged) [[unlikely]] {
    count_merged(request, false, entry, counts);
    return true;
  }
  offer_example(request, false, entry);
  counter.count_global(request, counts);
  return true;
}

// Neighbouring members that nvcc accesses at once: the place that stands for all counts the whole, the others nothing.
void Monitor::count_merged(const Request& part, bool is_shared, CountTable::Entry& entry,
                           Counts& counts) {
  const MergedPart merged = entry.merged;
  if (!merged.width) return;
  uint64_t address[kLanes] = {};
  for (const int lane : lanes_of(part.lanes)) address[lane] = part.address[lane] - merged.before;
  Request whole = part;
  whole.size = merged.width;
  whole.address = address;
  whole.span = span_of(address, part.lanes);
  offer_example(whole, is_shared, entry);
  if (is_shared) {
    counter.count_shared(whole, nullptr, counts);
  } else {
    counter.count_global(whole, counts);
  }
}

// Addresses count from the start of their memory: the block's, or the allocation.
void Monitor::record(const Request& request, bool is_shared) {
  RecordedStep step = RecordedStep::of(request, is_shared);
  for (const int lane : lanes_of(request.lanes)) {
    uint64_t& address = step.address[static_cast<size_t>(lane)];
    const Range* const range = is_shared ? nullptr : ranges.find(address, request.size);
    address -= is_shared ? shared.begin_of(address) : range ? range->begin : 0;
  }
  step.warp = static_cast<uint16_t>(request.warp->index);
  recording.add(step);
}

void Monitor::offer_example(const Request& request, bool is_shared, CountTable::Entry& entry) {
  if (count_lanes(request.lanes) <= entry.example_lanes) return;
  Example example;
  example.block = block.linear();
  example.lanes = request.lanes;
  example.access = request.kind == Access::load    ? "load"
                   : request.kind == Access::store ? "store"
                                                   : "atomic";
  example.shared = is_shared;
  example.size = request.size;
  // Shared memory from its own start, so that an array begins in bank 0.
  for (const int lane : lanes_of(request.lanes)) {
    const uint64_t address = request.address[lane];
    example.address[static_cast<size_t>(lane)] =
        address - (is_shared ? shared.begin_of(address) : 0);
  }
  counter.table.keep(entry, example);
}

// The load has a place of its own, one byte ahead, which is the same source line.
bool Monitor::observe_copy(const Request& store, const uint64_t* source, uint32_t zeros) {
  // Where the array lies does not matter to the banks, but to its lines: it begins with one.
  const uint64_t offset = store.address[store.first()] - shared.tls_base;
  const symbols::SharedVariable* const array =
      offset < shared.tls_size ? shared.variable(offset, store.size) : nullptr;
  const uint64_t begin =
      array ? shared.tls_base + array->begin : reinterpret_cast<uint64_t>(shared.dynamic);
  uint64_t to[kLanes] = {};
  for (const int lane : lanes_of(store.lanes)) {
    to[lane] = store.address[lane] - begin;
  }
  const CopyCost cost = count_copy(source, to, store.lanes, zeros, store.size);

  if (const uint32_t reading = store.lanes & ~zeros) {
    Request load = store;
    load.pc = store.pc - 1;
    load.kind = Access::load;
    load.lanes = reading;
    load.address = source;
    load.span = span_of(source, reading);
    CountTable::Entry& entry = counter.table.at(load.pc);
    Counts counts;
    if (!observe(load, entry, counts)) return false;
    counts.global_load_sectors = cost.sectors;
    entry.counts += counts;
  }

  CountTable::Entry& entry = counter.table.at(store.pc);
  Counts others;  // the hardware does not count it among the stores
  Request copy = store;
  copy.is_copy = true;
  if (!observe(copy, entry, others)) return false;
  entry.counts.shared_wavefronts += cost.wavefronts;
  entry.counts.shared_wavefronts_ideal += cost.ideal;
  return true;
}

bool Monitor::observe_bulk(const Request& request) {
  Counts none;  // the counters of a warp's loads and stores know nothing of them
  CountTable::Entry unseen{};
  unseen.example_lanes = kLanes;
  return observe(request, unseen, none);
}

void Monitor::settle(WarpChecks& warp) {
  global_checker.stores.end();
  if (warp.capture) conflicts_.settle(warp, faults, block_races, global_checker.stores);
  global_checker.settle();
}

void Monitor::fence(unsigned thread, const WarpChecks& warp, bool whole_device) {
  thread_order_.fence(thread, warp.order.now);
  if (cluster.is_on()) [[unlikely]]
    cluster.fence(thread);
  if (whole_device) global_checker.blocks.fence();
}

bool Monitor::is_partly_written(uint64_t address, uint64_t size) const {
  const HostMemory bookkeeping;
  if (shared.holds(address)) return shared_checker.is_partly_written(address, size);
  bool partly = false;
  shadow::for_each_unwritten(address, size, [&](uint64_t begin, uint64_t end) {
    partly |= begin != address || end != address + size;
  });
  return partly;
}

}  // namespace simt::engine
