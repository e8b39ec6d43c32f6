#include <algorithm>
#include <bit>
#include <utility>

#include "base/host_memory.h"
#include "exec/pending_stops.h"
#include "exec/switching.h"
#include "exec/worker.h"
#include "memory/allocations.h"
#include "streams/beside_host.h"

namespace simt::engine {
namespace {

// A warp that computes and touches no memory waits for nobody. It may take so many times the steps of another one.
constexpr uint64_t kLongest = 16;

}  // namespace

void Worker::run_warp(Warp& warp) {
  warp_ = &warp;
  running = this;
  uncounted = traced_ ? 0 : kTurn;
  const int lane = schedule(warp);
  if (lane >= 0) switch_to(warp, lane);
  uncounted = 0;
  running = nullptr;
  warp_ = nullptr;
}

int Worker::schedule(Warp& warp) {
  const HostMemory bookkeeping;
  monitor.settle(warp.checks);
  if (warp.group && traced_) {
    settle_queue(warp);
    if (aborted_) return -1;
    if (warp.checks.has_wrong_index) [[unlikely]]
      monitor.array_index.report_exited(warp.checks, warp.live);
  }
  for (;;) {
    const int first = form_group(warp);
    if (first < 0) return -1;
    const uint32_t ahead = warp.group & warp.ahead;
    const uint32_t here = warp.group & ~ahead;
    if (ahead) [[unlikely]] {
      advance(warp, ahead);
      if (warp.checks.has_wrong_index) monitor.array_index.report_exited(warp.checks, warp.live);
      if (!here) {
        follow_trails(warp);
        continue;
      }
    }
    begin_queue(warp, here);
    warp.pending = here & (here - 1);
    return std::countr_zero(here);
  }
}

namespace {

// The key that goes first: the lowest, or of a warp that spins, at times, the highest.
uint64_t next_key(const Warp& warp) {
  if (!warp.progress.last_first) [[likely]]
    return lowest_of(warp.key);
  uint64_t most = 0;
  for (const uint64_t key : warp.key) {
    if (key != kNotWaiting) most = std::max(most, key);
  }
  return most ? most : kNotWaiting;
}

// The lanes that wait with this key. Inside a call only those that came the same way.
uint32_t lanes_at(const Warp& warp, uint64_t key) {
  uint32_t group = lanes_with(warp.key, key);
  const int first = std::countr_zero(group);
  if (key >> 48 != kMostDepth) {
    for (const int lane : lanes_of(group & (group - 1))) {
      if (warp.path[lane] != warp.path[first]) group &= ~(1u << lane);
    }
  }
  return group;
}

bool is_access(StopReason what) {
  return what == StopReason::load || what == StopReason::store || what == StopReason::atomic;
}

// Those of the group that stand there for this reason: some may go on from a call to which others have only just come.
uint32_t lanes_for(const Warp& warp, uint32_t group, StopReason what) {
  static_assert(sizeof(StopReason) == 1);
  return group &
         lanes_with(reinterpret_cast<const uint8_t*>(warp.stop), static_cast<uint8_t>(what));
}

}  // namespace

// The lanes that make the next warp instruction together, the first of them returned; -1 if no lane
// can run. A group that stands at an access has been counted.
int Worker::form_group(Warp& warp) {
  ++clock_;
  if (!warp.has_begun) {
    warp.has_begun = true;
    ++warp.progress.steps;
    warp.group = warp.live;
    warp.group_key = kStart;
    return 0;
  }
  warp.group = 0;
  for (;;) {
    const uint64_t key = next_key(warp);
    if (key == kNotWaiting) {
      if (warp.at_collective && resolve_collectives(warp)) continue;
      return -1;
    }
    uint32_t group = lanes_at(warp, key);
    const int first = std::countr_zero(group);
    if (warp.progress.last_first) [[unlikely]] {
      // All who can run stand together: what they waited for is over, and there is an order to keep again.
      if (group == (warp.live & ~(warp.at_barrier | warp.at_collective))) {
        warp.progress.last_first = false;
      }
    }
    if ((++warp.progress.steps & (slice_ - 1)) == 0 || warp.progress.yielded) [[unlikely]] {
      make_room(warp, key, first);
      return -1;
    }

    const StopReason what = warp.stop[first];
    if (warp.has_waited && !is_access(what)) group = lanes_for(warp, group, what);
    if (what == StopReason::barrier || what == StopReason::collective) {
      park(warp, group, what);
      if (aborted_) return -1;
      continue;
    }
    if (what != StopReason::resume && traced_) {
      warp.group_key = key;
      if (!observe(warp, group)) {
        aborted_ = true;
        return -1;
      }
      if (hang_watch_.watching && !hang_watch_.changed) hang_watch_.note_access(warp, group);
      update_predictor(monitor.counter.table, warp, key, group, what);
    }
    warp.group = group;
    warp.group_key = key;
    return first;
  }
}

// The launch gets on if this address lies well beyond those that it was told of. Random steps within an array come to
// new ends of it for ever, at ever smaller distances; a walk comes 64 KiB further. Of a traced launch every access is
// noted: a few of them, taken at regular steps, can walk slowly through an array that the loop itself runs through
// again and again.
void Worker::note_new_end(Progress& progress, uint64_t address) {
  if (!memory::in_arena(address)) return;
  uint64_t &lowest = progress.told_lowest, &highest = progress.told_highest;
  const uint64_t known = lowest > highest ? 0 : highest - lowest;
  const uint64_t beyond = address < lowest ? lowest - address : address - highest;
  if (beyond <= std::min<uint64_t>(known / 16, 1 << 16)) return;
  lowest = std::min(lowest, address);
  highest = std::max(highest, address);
  gets_on_ = true;
}

// A warp that spins lets the others run, and then its own lanes in the reverse order. One that comes to new addresses
// gets on, and keeps the order, on which its counts depend.
void Worker::make_room(Warp& warp, uint64_t key, int first) {
  Progress& progress = warp.progress;
  progress.polls = std::exchange(progress.polled, false);
  const uint64_t address = warp.address[first];
  const uint64_t budget = (progress.touched ? 1 : kLongest) * grid_->step_budget;
  const bool moves =
      memory::in_arena(address) && (address < progress.lowest || address > progress.highest);
  if (moves) {
    note_progress(progress, address);
    progress.lowest = std::min(progress.lowest, address);
    progress.highest = std::max(progress.highest, address);
    progress.steps = 0;
  } else {
    if (progress.polls && host_may_write(address))
      beside_host::let_go(grid_->beside, beside_host::For::host);
    if (progress.polls && peers_may_write(address))
      beside_host::let_go(grid_->beside, beside_host::For::device);
    if (beside_host::is_host_at_work() || grid_->has_company()) {
      progress.steps = 0;
      slice_ = kShortSlice;
      waits_beside_ |= progress.polls;
    }
    if (progress.steps > budget && !has_company()) return report_hang(warp, key, budget);
  }
  progress.last_first = !progress.last_first && (progress.yielded || !moves);
  progress.touched = progress.yielded = false;
}

void Worker::record(const Warp& warp, RecordedStep::What what, uint32_t lanes, uint64_t key) {
  monitor.recording.add({.what = what,
                         .warp = static_cast<uint16_t>(warp.checks.index),
                         .lanes = lanes,
                         .pc = key_pc(key)});
}

// These lanes wait at a barrier or a collective until the others have come.
void Worker::park(Warp& warp, uint32_t group, StopReason what) {
  warp.has_waited = true;
  if (monitor.recording.is_on()) [[unlikely]]
    record(warp, RecordedStep::What::wait, group, warp.key[std::countr_zero(group)]);
  for (const int lane : lanes_of(group)) {
    warp.parked_key[lane] = warp.key[lane];
    warp.live_then[lane] = warp.live;
    warp.key[lane] = kNotWaiting;
  }
  if (what == StopReason::barrier) {
    warp.at_barrier |= group;
  } else {
    warp.at_collective |= group;
    resolve_collectives(warp);
  }
}

}  // namespace simt::engine
