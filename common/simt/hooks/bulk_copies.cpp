// Bulk copies, which the copy engine (the tensor memory accelerator) makes for one thread.
#include <bit>
#include <cstring>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "memory/tensor_map.h"

namespace simt::engine {
namespace {

constexpr unsigned kUnit = 16;

// Pieces of at most 16 bytes, each at a multiple of its size.
template <class F>
bool for_each_piece(uint64_t address, uint64_t bytes, F&& f) {
  while (bytes) {
    const uint64_t most = std::min<uint64_t>(kUnit, std::bit_floor(bytes));
    const unsigned size = static_cast<unsigned>(
        address ? std::min(most, uint64_t{1} << std::countr_zero(address)) : most);
    if (!f(address, size)) return false;
    address += size;
    bytes -= size;
  }
  return true;
}

}  // namespace

// What the running lane has the engine access. A fault ends the block.
void Hooks::access_bulk(Access kind, uint64_t address, uint64_t bytes, bool is_copy,
                        const void* pc) {
  Worker* worker = running;
  if (!worker->traced_) return;
  uint64_t addresses[kLanes] = {};
  const int lane = worker->lane_;
  Request request;
  request.pc = reinterpret_cast<uint64_t>(pc);
  request.kind = kind;
  request.lanes = 1u << lane;
  request.address = addresses;
  request.is_copy = is_copy;
  request.is_bulk = true;
  request.warp = &worker->warp_->checks;
  const bool goes_on = for_each_piece(address, bytes, [&](uint64_t at, unsigned size) {
    addresses[lane] = at;
    request.size = size;
    request.span = span_of(addresses, request.lanes);
    const HostMemory bookkeeping;
    return worker->monitor.observe_bulk(request);
  });
  if (!goes_on) worker->end_block();
}

void Hooks::check_bulk(const void* shared, uint64_t alignment, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) trap("a bulk copy outside of a kernel", pc);
  catch_up(pc);
  const auto address = reinterpret_cast<uint64_t>(shared);
  if (!worker->monitor.shared.holds(address))
    trap("a bulk copy between global memory and an address that is not in shared memory", pc,
         Fault::Kind::trap, address);
  if (address % alignment)
    trap(alignment == kUnit
             ? "a bulk copy of shared memory that does not begin at a multiple of 16 bytes"
             : "a bulk copy of a tensor's box to or from shared memory that does not begin at a "
               "multiple of 128 bytes",
         pc, Fault::Kind::trap, address);
}

void Hooks::check_range(const void* global, uint32_t size, const void* pc) {
  if (reinterpret_cast<uint64_t>(global) % kUnit)
    trap("a bulk copy of global memory that does not begin at a multiple of 16 bytes", pc,
         Fault::Kind::trap, reinterpret_cast<uint64_t>(global));
  if (!size || size % kUnit) trap("a bulk copy of a size that is no multiple of 16 bytes", pc);
}

// The data are what is there now; they come when a thread waits for them. Until then there is garbage, as there may be on hardware.
void Hooks::issue(BulkLoad&& load, uint64_t* barrier, const void* pc) {
  Worker* worker = running;
  const Owned at = mbarrier_of(barrier, pc);
  Mbarrier& reports_to = at.barrier;
  const bool is_foreign = &at.monitor != &worker->monitor;
  // A GPU ends a phase when all is there, and another block's copy may come then, before anybody waits.
  int64_t under_way = 0;
  for (const BulkLoad& other : at.monitor.bulk.loads) {
    const bool counts = other.barrier == reports_to.address && !other.has_arrived;
    if (counts) under_way += static_cast<int64_t>(other.data.size());
  }
  const bool is_complete =
      under_way == reports_to.bytes && !MbarrierWord::pending(reports_to.word());
  if (is_foreign && is_complete) deliver(reports_to);
  load.barrier = reports_to.address;
  load.phase = reports_to.phase();
  load.pc = reinterpret_cast<uint64_t>(pc);
  load.thread = worker->thread_rank();
  access_bulk(Access::store, load.to, load.data.size(), true, pc);
  std::memset(reinterpret_cast<void*>(load.to), 0xff, load.data.size());
  if (worker->traced_)
    at.monitor.shared_checker.bulk_begins(load, worker->warp_->checks, is_foreign);
  arrive(at);
  if (load.is_box) at.monitor.bulk.note_box({load.to, load.data.size(), load.pc, load.swizzle});
  at.monitor.bulk.loads.push_back(std::move(load));
}

// To each block of the cluster whose bit is set; none is: to this one alone.
void Hooks::issue(BulkLoad&& load, uint64_t* barrier, unsigned blocks, const void* pc) {
  if (!blocks) return issue(std::move(load), barrier, pc);
  for (const int rank : lanes_of(blocks)) {
    const auto there = [&](uint64_t address) {
      return reinterpret_cast<uint64_t>(map_shared(address, static_cast<unsigned>(rank), pc));
    };
    BulkLoad part = load;
    part.to = there(load.to);
    issue(std::move(part), reinterpret_cast<uint64_t*>(there(reinterpret_cast<uint64_t>(barrier))),
          pc);
  }
}

void Hooks::bulk_load(void* to, const void* from, uint32_t size, uint64_t* barrier, unsigned blocks,
                      const void* pc) {
  check_bulk(to, kUnit, pc);
  check_range(from, size, pc);
  access_bulk(Access::load, reinterpret_cast<uint64_t>(from), size, false, pc);
  BulkLoad load;
  load.to = reinterpret_cast<uint64_t>(to);
  load.data.assign(static_cast<const unsigned char*>(from),
                   static_cast<const unsigned char*>(from) + size);
  issue(std::move(load), barrier, blocks, pc);
}

// A store's values are fetched at once, but the engine may read them until the thread has waited for the store's group.
void Hooks::read_for_store(uint64_t address, unsigned bytes, const void* pc) {
  access_bulk(Access::load, address, bytes, false, pc);
  Worker* worker = running;
  if (!worker->traced_) return;
  const HostMemory bookkeeping;
  worker->async.pending_stores(worker->thread_rank())
      .read(worker->monitor.shared_checker.bulk_read_begins(address, bytes,
                                                            reinterpret_cast<uint64_t>(pc)));
}

// Nor may another block know of its writes before that, whatever flag tells of them.
void Hooks::write_for_store(uint64_t address, unsigned bytes, const void* pc) {
  access_bulk(Access::store, address, bytes, false, pc);
  Worker* worker = running;
  if (!worker->traced_) return;
  const HostMemory bookkeeping;
  worker->async.pending_stores(worker->thread_rank())
      .write(address, bytes, reinterpret_cast<uint64_t>(pc));
}

void Hooks::commit_stores(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  catch_up(pc);
  worker->async.pending_stores(worker->thread_rank()).commit();
}

void Hooks::wait_stores(unsigned kept, bool reads, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  catch_up(pc);
  WarpChecks& warp = worker->warp_->checks;
  const HostMemory bookkeeping;
  Monitor& monitor = worker->monitor;
  PendingSums& stores = worker->async.pending_stores(worker->thread_rank());
  stores.wait(
      kept, [](const PendingSum&) {},
      [&](const PendingRead& read) {
        monitor.shared_checker.bulk_read_ends(read, worker->thread_rank(), warp);
      });
  stores.wait_for_writes(kept, reads, [&](const PendingWrite& write) {
    monitor.global_checker.bulk_write_goes_on(
        write.at, write.bytes, reads ? reinterpret_cast<uint64_t>(pc) : write.pc, reads);
  });
  if (worker->traced_) ++warp.order.now;
}

void Hooks::bulk_store(void* to, const void* from, uint32_t size, const void* pc) {
  check_bulk(from, kUnit, pc);
  check_range(to, size, pc);
  read_for_store(reinterpret_cast<uint64_t>(from), size, pc);
  write_for_store(reinterpret_cast<uint64_t>(to), size, pc);
  std::memcpy(to, from, size);
  running->hang_watch_.changed = true;
}

namespace {

constexpr uint64_t kBoxAlignment = 128;

// Calls f(global address, shared address, bytes) for each piece of the box that lies within the tensor.
template <class F>
void for_each_part(const TensorMap& map, const detail::Corner& corner, uint64_t shared, F&& f) {
  for (unsigned i = 0; i < map.rows(); ++i) {
    const TensorMap::Row row = map.row(corner.at, i);
    const uint64_t begin = shared + uint64_t{i} * map.row_bytes();
    for (unsigned done = 0; done < row.bytes;) {
      const unsigned offset = row.begin + done;
      const unsigned bytes = std::min(kUnit - offset % kUnit, row.bytes - done);
      f(row.from + done, swizzled(begin + offset, map.swizzle), bytes);
      done += bytes;
    }
  }
}

}  // namespace

const TensorMap& Hooks::tensor_map(const void* map, const detail::Corner& corner, const void* pc) {
  const TensorMap* const found = TensorMap::at(map);
  if (!found)
    trap("a bulk copy of a tensor with a map that cuTensorMapEncodeTiled() has not made", pc);
  if (found->rank != corner.rank)
    trap("a bulk copy of a tensor with another number of coordinates than its map has dimensions",
         pc);
  if (corner.at[0] * found->element_bytes % static_cast<int>(kUnit))
    trap(
        "a bulk copy of a tensor whose innermost coordinate is not at a multiple of 16 bytes, "
        "which is an illegal instruction",
        pc);
  return *found;
}

void Hooks::tensor_load(void* to, const void* map_at, const detail::Corner& corner,
                        uint64_t* barrier, unsigned blocks, const void* pc) {
  check_bulk(to, kBoxAlignment, pc);
  const TensorMap& map = tensor_map(map_at, corner, pc);
  BulkLoad load;
  load.to = reinterpret_cast<uint64_t>(to);
  load.data.assign(map.bytes(), 0);  // what lies outside of the tensor
  for_each_part(map, corner, load.to, [&](uint64_t from, uint64_t place, unsigned bytes) {
    access_bulk(Access::load, from, bytes, false, pc);
    std::memcpy(&load.data[place - load.to], reinterpret_cast<const void*>(from), bytes);
  });
  load.is_box = true;
  load.swizzle = map.swizzle;
  issue(std::move(load), barrier, blocks, pc);
}

void Hooks::tensor_store(const void* map_at, const detail::Corner& corner, const void* from,
                         const void* pc) {
  check_bulk(from, kBoxAlignment, pc);
  const TensorMap& map = tensor_map(map_at, corner, pc);
  for_each_part(map, corner, reinterpret_cast<uint64_t>(from),
                [&](uint64_t to, uint64_t place, unsigned bytes) {
                  read_for_store(place, bytes, pc);
                  write_for_store(to, bytes, pc);
                  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(place),
                              bytes);
                });
  running->hang_watch_.changed = true;
}

void Hooks::fence_proxy(const void* pc) {
  Worker* worker = running;
  if (!worker || !worker->traced_) return;
  catch_up(pc);
  const HostMemory bookkeeping;
  worker->monitor.fence_proxy(worker->thread_rank(), worker->warp_->checks);
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;

void bulk_load(void* to, const void* from, uint32_t size, uint64_t* barrier, unsigned blocks) {
  Hooks::bulk_load(to, from, size, barrier, blocks, SIMT_PC);
}
void bulk_store(void* to, const void* from, uint32_t size) {
  Hooks::bulk_store(to, from, size, SIMT_PC);
}
void tensor_load(void* to, const void* map, Corner corner, uint64_t* barrier, unsigned blocks) {
  Hooks::tensor_load(to, map, corner, barrier, blocks, SIMT_PC);
}
void tensor_store(const void* map, Corner corner, const void* from) {
  Hooks::tensor_store(map, corner, from, SIMT_PC);
}
void bulk_commit() { Hooks::commit_stores(SIMT_PC); }
void bulk_wait(unsigned kept, bool reads) { Hooks::wait_stores(kept, reads, SIMT_PC); }
void fence_proxy_async() { Hooks::fence_proxy(SIMT_PC); }
bool use_async_proxy() {
  engine::uses_async_proxy = true;
  return true;
}

}  // namespace simt::detail
