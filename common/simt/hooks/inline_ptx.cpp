// What inline PTX asks of an address: shared memory by 32 bits, and global memory where it says .global. Its barriers, and the
// end of a thread.
#include <device_launch_parameters.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "hooks/hooks.h"

namespace simt::engine {

// They count whole warps: the first thread of one that the block ends in stands for those that it lacks.
void Hooks::named_barrier(unsigned number, unsigned threads, bool waits, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  if (number >= AsyncState::kNamed) trap("a block has the barriers 0 to 15, and no other", pc);
  if (threads % kLanes)
    trap("a barrier is for a number of threads that is a multiple of 32, for whole warps", pc);
  const unsigned all = worker->warp_count_ * kLanes;
  const unsigned wanted = threads ? threads : all;
  if (number == 0 && wanted == all && waits) {  // __syncthreads()
    barrier(detail::BarrierReduction::none, 0, pc);
    return;
  }
  if (wanted > all) trap("a barrier is for more threads than the block has", pc);
  catch_up(pc);
  AsyncState::Named& named = worker->async.named(number);
  if (named.arrived && named.threads != wanted)
    trap("the threads that come to one barrier give different numbers of threads for it", pc);
  named.threads = wanted;
  // Without a number of threads nobody waits for those that have exited.
  come_to(named, 0, threads ? 0 : worker->warp_count_, waits, pc);
}

// A barrier of named.threads threads, of which those that have exited count as having come if their warps are from `first` to
// `last` - 1.
void Hooks::come_to(AsyncState::Named& named, unsigned first, unsigned last, bool waits,
                    const void* pc) {
  Worker* worker = running;
  const Warp& warp = *worker->warp_;
  const bool is_first = worker->lane_ == std::countr_zero(warp.born);
  worker->monitor.arrive(worker->warp_->checks, named.arrivals);
  named.arrived += is_first ? kLanes + 1 - static_cast<unsigned>(std::popcount(warp.born)) : 1;
  const auto exited = [&] {
    unsigned count = 0;
    for (unsigned w = first; w < last; ++w) {
      const Warp& other = *worker->warps_[w];
      count += other.live ? static_cast<unsigned>(std::popcount(other.born & ~other.live)) : kLanes;
    }
    return count;
  };
  const unsigned phase = named.phase;
  do {
    if (named.arrived + exited() >= named.threads) {
      named.arrived = 0;
      ++named.phase;
      named.completed = std::exchange(named.arrivals, {});
    }
    if (!waits) return;
    // Who comes last waits, too, till its warp goes on: it would be alone in what it does next.
    named.waits_at = reinterpret_cast<uint64_t>(pc);
    yield(pc);
  } while (named.phase == phase);
  worker->monitor.leave(worker->warp_->checks, named.completed);
}

namespace {

// Addresses of shared memory that the block has had converted to 32 bits, by pages.
class Windows {
 public:
  void note(Worker& worker, uint64_t window) {
    begin(worker);
    const uint64_t page = window / kPage * kPage;
    if (std::find(pages_.begin(), pages_.end(), page) == pages_.end()) pages_.push_back(page);
  }
  // Of the addresses from `from` to `to` with these low bits the one that lies closest behind one of them, or nothing.
  std::optional<uint64_t> find(Worker& worker, uint64_t low, uint64_t range, uint64_t from,
                               uint64_t to) {
    begin(worker);
    std::optional<uint64_t> found;
    uint64_t least = range;
    for (const uint64_t page : pages_) {
      const uint64_t behind = (low - page) % range;
      if (page < from || page + behind >= to || behind >= least) continue;
      found = page + behind;
      least = behind;
    }
    return found;
  }

 private:
  static constexpr uint64_t kPage = 1024;
  void begin(Worker& worker) {
    const RaceCheck& races = worker.monitor.shared_checker.races;
    Write first{};
    first.interval = interval_;
    if (!races.is_of_this_block(first)) pages_.clear();
    interval_ = races.interval();
  }
  uint32_t interval_ = 0;  // of the last one
  HostVector<uint64_t> pages_;
};
thread_local Windows windows;

}  // namespace

// A descriptor of a matrix has the low 18 bits of an address of 32: so much as a GPU has. Here all kernels of the program have arrays, and
// it is the one that is meant from which the descriptor was made: in the block's dynamic memory, if it can be, as what else the kernel has
// converted may be its barriers.
uint64_t Hooks::shared_from_descriptor(uint32_t low) {
  constexpr uint64_t kRange = 1 << 18, kEnd = uint64_t{1} << 32;
  Worker* worker = running;
  const SharedMemory& shared = worker->monitor.shared;
  const uint64_t dynamic = shared.dynamic_window(), bytes = worker->dynamic_shared_size();
  std::optional<uint64_t> window = windows.find(*worker, low, kRange, dynamic, dynamic + bytes);
  if (!window) window = windows.find(*worker, low, kRange, 0, kEnd);
  if (window) return shared.from_window(static_cast<uint32_t>(*window));
  return shared.from_descriptor(low, static_cast<uint32_t>(bytes));
}

void Hooks::exit_thread(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  pause(*worker, pc);
  worker->exit_lane(reinterpret_cast<uint64_t>(pc));
}

}  // namespace simt::engine

namespace simt::detail {

uint64_t to_shared_window(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  engine::Worker* worker = engine::running;
  if (!worker) return address;
  const engine::SharedMemory& shared = worker->monitor.shared;
  const uint64_t window = shared.to_window(address);
  if (engine::uses_async_proxy && (shared.cluster.empty() || shared.holds(address)))
    engine::windows.note(*worker, window);
  return window;
}

void* from_shared_window(uint32_t address) {
  const engine::Worker* worker = engine::running;
  if (!worker) return reinterpret_cast<void*>(uint64_t{address});
  if (!worker->monitor.shared.is_near_window(address)) {
    engine::Hooks::trap(
        "an instruction for shared memory was given an address of another kind: "
        "__cvta_generic_to_shared() makes one of a pointer",
        SIMT_PC, engine::Fault::Kind::trap, address);
  }
  return reinterpret_cast<void*>(worker->monitor.shared.from_window(address));
}

void check_global(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  engine::Worker* worker = engine::running;
  if (!worker) return;
  const bool is_shared = worker->monitor.shared.holds(address);
  if (!is_shared && !engine::Hooks::is_on_stack(address)) [[likely]]
    return;
  engine::Hooks::trap(is_shared
                          ? "an instruction with .global was given an address of shared memory"
                          : "an instruction with .global was given an address of local memory",
                      SIMT_PC, engine::Fault::Kind::trap, address);
}

void check_barrier(unsigned threads) {
  constexpr unsigned kLanes = 32;
  const unsigned all = blockDim.x * blockDim.y * blockDim.z;
  if (threads % kLanes == 0 && threads / kLanes == (all + kLanes - 1) / kLanes) return;
  engine::Hooks::trap(
      "a barrier for a number of threads other than the block's, which is not simulated", SIMT_PC);
}

void named_barrier(unsigned number, unsigned threads, bool waits) {
  engine::Hooks::named_barrier(number, threads, waits, SIMT_PC);
}

void exit_thread() { engine::Hooks::exit_thread(SIMT_PC); }

}  // namespace simt::detail
