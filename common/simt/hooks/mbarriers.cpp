// mbarriers: barriers in shared memory that count arrivals, and the bytes of bulk copies.
#include <utility>

#include "hooks/hooks.h"

namespace simt::engine {

using Word = MbarrierWord;

// The barrier with this word, which has to be initialized; it may be another block's of the cluster.
Hooks::Owned Hooks::mbarrier_of(const uint64_t* word, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) trap("an mbarrier outside of a kernel", pc);
  const auto address = reinterpret_cast<uint64_t>(word);
  Monitor* owner = &worker->monitor;
  if (!owner->shared.holds(address)) {
    const unsigned rank = owner->shared.rank_of(address);
    owner = rank < owner->shared.cluster.size() ? &worker->grid_->cluster->monitor(rank) : nullptr;
  }
  if (!owner || address % sizeof(*word))
    trap("an mbarrier that is no 8 bytes of shared memory", pc, Fault::Kind::trap, address);
  Mbarrier* const known = owner->bulk.find(address);
  if (!known) trap("an mbarrier that no mbarrier.init has initialized", pc);
  return {*known, *owner};
}

// The same of the block's own.
Mbarrier& Hooks::mbarrier(const uint64_t* word, const void* pc) {
  const Owned found = mbarrier_of(word, pc);
  if (&found.monitor != &running->monitor)
    trap(
        "a wait for an mbarrier of another block of the cluster, whose threads alone can wait for "
        "it",
        pc);
  return found.barrier;
}

// What the running thread's warp has done is known to who waits for the phase.
void Hooks::arrive(const Owned& at) {
  Worker* worker = running;
  if (&at.monitor == &worker->monitor) {
    worker->monitor.arrive(worker->warp_->checks, at.barrier.arrivals);
  } else {
    worker->monitor.arrive_in_other(worker->warp_->checks, at.barrier.arrivals);
  }
  worker->hang_watch_.changed = true;
}

void Hooks::mbarrier_init(uint64_t* word, uint32_t count, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) trap("an mbarrier outside of a kernel", pc);
  const auto address = reinterpret_cast<uint64_t>(word);
  if (address % sizeof(*word) || !worker->monitor.shared.holds(address))
    trap("an mbarrier that is no 8 bytes of shared memory", pc, Fault::Kind::trap, address);
  if (!count || count > Word::kCount) trap("an mbarrier expects 1 to 1048575 arrivals", pc);
  note_barrier(word, Access::store, pc);
  *word = Word::of(count, count, 0);
  worker->monitor.bulk.make(address);
}

void Hooks::mbarrier_inval(uint64_t* word, const void* pc) {
  const Mbarrier& barrier = mbarrier(word, pc);
  running->monitor.bulk.forget(barrier.address);
}

// The phase ends when all have arrived, and as many bytes as were announced.
void Hooks::end_phase(const Owned& at) {
  Mbarrier& barrier = at.barrier;
  auto* const word = reinterpret_cast<uint64_t*>(barrier.address);
  if (Word::pending(*word) || barrier.bytes) return;
  const uint64_t expected = Word::expected(*word);
  *word = Word::of(expected, expected, Word::phase(*word) + 1);
  barrier.announced = barrier.arrived = 0;
  barrier.unawaited = std::exchange(barrier.is_awaited, false) ? 0 : barrier.unawaited + 1;
  barrier.completed.add(std::exchange(barrier.arrivals, {}));
  Monitor& monitor = at.monitor;
  HostVector<BulkLoad>& loads = monitor.bulk.loads;
  std::erase_if(loads, [&](const BulkLoad& load) {
    const bool is_done = load.has_arrived && load.barrier == barrier.address;
    if (is_done && running->traced_) monitor.shared_checker.bulk_arrives(load);
    return is_done;
  });
}

uint64_t Hooks::mbarrier_arrive(uint64_t* word, uint32_t count, bool drops, bool expects,
                                uint32_t bytes, const void* pc) {
  catch_up(pc);
  const Owned at = mbarrier_of(word, pc);
  Mbarrier& barrier = at.barrier;
  note_barrier(word, Access::atomic, pc);
  const uint64_t before = *word;
  if (Word::pending(before) < count)
    trap(
        "an arrival at an mbarrier that expects no more in this phase: it was initialized for "
        "fewer, "
        "or nobody has waited for the phase to end",
        pc);
  if (expects) announce(barrier, bytes);
  barrier.arrival_pc = reinterpret_cast<uint64_t>(pc);
  arrive(at);
  *word = Word::of(Word::pending(before) - count, Word::expected(before) - (drops ? count : 0),
                   Word::phase(before));
  end_phase(at);
  constexpr uint64_t kMostUnawaited = 4;
  if (barrier.unawaited >= kMostUnawaited)
    trap(
        "an arrival at an mbarrier that ends phase after phase while nobody waits for them: more "
        "threads arrive than it was initialized for, or the wait is missing",
        pc);
  return before;
}

// An arrival waits for no asynchronous copy.
void Hooks::tell_of_copies(const uint64_t* word, const void* pc) {
  Worker* worker = running;
  if (!worker || !worker->traced_) return;
  worker->monitor.shared_checker.copies_are_told(reinterpret_cast<uint64_t>(word),
                                                 worker->thread_rank(), worker->warp_->checks,
                                                 reinterpret_cast<uint64_t>(pc));
}

void Hooks::announce(Mbarrier& barrier, uint32_t bytes) {
  barrier.bytes += bytes;
  barrier.announced += bytes;
}

void Hooks::mbarrier_expect(uint64_t* word, uint32_t bytes, const void* pc) {
  catch_up(pc);
  announce(mbarrier_of(word, pc).barrier, bytes);
}

// The bytes of a copy arrive when somebody has to wait for them, and no earlier: who does not wait finds none.
void Hooks::deliver(Mbarrier& barrier) {
  const Owned at = mbarrier_of(reinterpret_cast<const uint64_t*>(barrier.address), nullptr);
  for (BulkLoad& load : at.monitor.bulk.loads) {
    if (load.barrier != barrier.address || load.has_arrived) continue;
    load.has_arrived = true;
    __builtin_memcpy(reinterpret_cast<void*>(load.to), load.data.data(), load.data.size());
    barrier.bytes -= static_cast<int64_t>(load.data.size());
    barrier.arrived += load.data.size();
    running->hang_watch_.changed = true;
  }
  end_phase(at);
}

bool Hooks::mbarrier_wait(uint64_t* word, uint64_t phase, bool by_parity, const void* pc) {
  catch_up(pc);
  Mbarrier& barrier = mbarrier(word, pc);
  note_barrier(word, Access::atomic, pc);
  Worker* worker = running;
  const auto is_over = [&] {
    const uint64_t now = Word::phase(*word);
    return by_parity ? (now & 1) != (phase & 1) : now != Word::phase(phase);
  };
  barrier.is_awaited = true;
  if (!is_over()) deliver(barrier);
  worker->monitor.bulk.wait_of(worker->thread_rank()) = {
      barrier.address, by_parity ? phase & 1 : Word::phase(phase), reinterpret_cast<uint64_t>(pc),
      by_parity, is_over()};
  if (is_over()) {
    worker->monitor.leave(worker->warp_->checks, barrier.completed);
    return true;
  }
  await_arrivals(pc);
  return false;
}

void Hooks::copies_arrive(uint64_t* word, bool counts, const void* pc) {
  commit_copies(pc);
  wait_copies(0, pc);
  if (counts) mbarrier_arrive(word, 1, false, false, 0, pc);
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;

void mbarrier_init(uint64_t* word, uint32_t count) { Hooks::mbarrier_init(word, count, SIMT_PC); }
void mbarrier_inval(uint64_t* word) { Hooks::mbarrier_inval(word, SIMT_PC); }
uint64_t mbarrier_arrive(uint64_t* word, uint32_t count, bool drops, bool expects, uint32_t bytes) {
  Hooks::tell_of_copies(word, SIMT_PC);
  return Hooks::mbarrier_arrive(word, count, drops, expects, bytes, SIMT_PC);
}
void mbarrier_expect(uint64_t* word, uint32_t bytes) {
  Hooks::mbarrier_expect(word, bytes, SIMT_PC);
}
bool mbarrier_wait(uint64_t* word, uint64_t phase, bool by_parity) {
  return Hooks::mbarrier_wait(word, phase, by_parity, SIMT_PC);
}
void copies_arrive(uint64_t* word, bool counts) { Hooks::copies_arrive(word, counts, SIMT_PC); }

}  // namespace simt::detail
