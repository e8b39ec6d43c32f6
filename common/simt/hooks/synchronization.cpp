// Barriers, collectives of a warp, fences, and the clock.
#include <ctime>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "streams/order.h"

namespace simt::engine {

// Of the whole device, or of the block alone.
void Hooks::fence(const void* pc, bool whole_device) {
  Worker* worker = running;
  if (!worker || !worker->traced_) return;
  catch_up(pc);
  const HostMemory bookkeeping;
  worker->warp_->progress.polled = true;
  if (whole_device) worker->monitor.global_checker.footprint.note_fence();
  worker->monitor.fence(worker->thread_rank(), worker->warp_->checks, whole_device);
}

int Hooks::barrier(detail::BarrierReduction reduction, int predicate, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return 0;
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  note(warp, lane, StopReason::barrier, pc);
  warp.predicate[lane] = predicate;
  if (reduction == detail::BarrierReduction::none) return worker->stop_and_return<int>(warp, lane);
  worker->stop(warp, lane);
  const auto count = static_cast<int>(warp.exchange[lane].result);
  const auto waiting = static_cast<int>(warp.exchange[lane].value);
  switch (reduction) {
    case detail::BarrierReduction::none:
      break;
    case detail::BarrierReduction::count:
      return count;
    case detail::BarrierReduction::all:
      return count == waiting;
    case detail::BarrierReduction::any:
      return count != 0;
  }
  return 0;
}

void Hooks::grid_barrier(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  if (!worker->grid_->barrier)
    trap("grid.sync() in a launch that was not made by cudaLaunchCooperativeKernel()", pc);
  worker->grid_wait_ = true;
  barrier(detail::BarrierReduction::none, 0, pc);
}

uint64_t Hooks::collective(detail::CollectiveOp op, unsigned mask, uint64_t value, int operand,
                           int width, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return value;
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  note(warp, lane, StopReason::collective, pc);
  if (!(mask >> lane & 1) || width < 1 || width > 32 || (width & (width - 1))) {
    Fault fault = worker->fault_at(Fault::Kind::invalid_mask, warp, lane);
    fault.address = mask;
    fault.text = mask >> lane & 1 ? "width" : "caller";
    worker->fail(fault);
  }
  warp.exchange[lane] = {op, mask, value, operand, width, 0};
  warp.waking |= 1u << lane;
  return worker->stop_and_return<uint64_t>(warp, lane);
}

unsigned Hooks::active_mask(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return 0;
  // Without tracing, too, those meet here that come before anyone goes on: the lowest program counter is
  // first, and whoever has passed this one waits at a barrier, a collective or its end.
  pause(*worker, pc);
  return worker->warp_->group;
}

void Hooks::yield(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  worker->warp_->progress.yielded = true;
  pause(*worker, pc);
}

void Hooks::note_barrier(const void* word, Access kind, const void* pc) {
  catch_up(pc);
  Worker* worker = running;
  const auto address = reinterpret_cast<uint64_t>(word);
  if (!worker || !worker->traced_) return;
  const SharedMemory& shared = worker->monitor.shared;
  const bool is_own = shared.holds(address);
  if (!is_own && shared.rank_of(address) >= shared.cluster.size()) return;
  uint64_t addresses[kLanes];
  addresses[worker->lane_] = address;
  Request request;
  request.pc = reinterpret_cast<uint64_t>(pc);
  request.kind = kind;
  request.size = 4;
  request.lanes = 1u << worker->lane_;
  request.address = addresses;
  request.is_barrier = true;
  request.warp = &worker->warp_->checks;
  if (is_own) return worker->monitor.shared_checker.note_barrier(request);
  request.span = span_of(addresses, request.lanes);
  const HostMemory bookkeeping;
  if (!worker->monitor.observe_bulk(request)) worker->end_block();
}

void Hooks::await_arrivals(const void* pc) {
  if (Worker* const worker = running) worker->hang_watch_.awaits = true;
  yield(pc);
}

int64_t Hooks::clock() {
  Worker* worker = running;
  // Reading takes time, too: a loop that waits for the clock comes to an end.
  if (!worker) return std::clock();
  worker->hang_watch_.changed = true;
  return static_cast<int64_t>(((worker->clock_ += 32) + loads_ahead()) * 8);
}

void Hooks::catch_up(const void* pc) {
  if (loads_ahead()) pause(*running, pc);
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;

int barrier(BarrierReduction reduction, int predicate) {
  return Hooks::barrier(reduction, predicate, SIMT_PC);
}
void catch_up() { Hooks::catch_up(SIMT_PC); }
void initialize_barrier(const void* word) {
  Hooks::note_barrier(word, engine::Access::store, SIMT_PC);
}
void arrive_at_barrier(const void* word) {
  Hooks::note_barrier(word, engine::Access::atomic, SIMT_PC);
}
void grid_barrier() { Hooks::grid_barrier(SIMT_PC); }
bool grid_is_cooperative() {
  engine::Worker* worker = engine::running;
  return worker && worker->is_cooperative();
}
uint64_t collective(CollectiveOp op, unsigned mask, uint64_t value, int operand, int width, int) {
  return Hooks::collective(op, mask, value, operand, width, SIMT_PC);
}
unsigned active_mask(int) { return Hooks::active_mask(SIMT_PC); }
void fence() {
  Hooks::fence(SIMT_PC, true);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void fence_block() { Hooks::fence(SIMT_PC, false); }
void wait_for_dependency() {
  if (engine::running) engine::running->monitor.global_checker.footprint.note_dependency();
}
void let_dependents_begin() {
  if (engine::running) stream_order::note_dependents();
}
void yield() { Hooks::yield(SIMT_PC); }
void await_arrivals() { Hooks::await_arrivals(SIMT_PC); }
int64_t clock() { return Hooks::clock(); }

}  // namespace simt::detail
