#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "base/values.h"
#include "exec/worker.h"

namespace simt::engine {

// These lanes of the group are about to run: the first may fill a queue.
void Worker::begin_queue(Warp& warp, uint32_t lanes) {
  queue_end_ = cursor_ = 0;
  // The queue of lanes that are still behind must stay as it is.
  warp.runs_ahead = leads_ = traced_ && grid_->run_ahead && lanes == warp.group && !warp.ahead &&
                             !warp.progress.last_first;
  if (!warp.runs_ahead) return;
  warp.queue.length = 0;
  limit_ = kNotWaiting;
  for (uint32_t rest = warp.live & ~(warp.group | warp.at_barrier | warp.at_collective); rest;
       rest &= rest - 1) {
    limit_ = std::min(limit_, warp.key[std::countr_zero(rest)]);
  }
  const int first = std::countr_zero(warp.group);
  stored_bytes_ = 0;
  if (warp.stop[first] == StopReason::store || warp.stop[first] == StopReason::atomic) {
    const Span span = span_of(warp.address, warp.group);
    stored_begin_ = span.low - 15;  // a load of 16 bytes that begins there touches it
    stored_bytes_ = span.high + warp.size[first] - stored_begin_;
  }
}

// May the lane that fills the queue go on past a load? Then notes the load.
bool Worker::load_ahead(Warp& warp, int lane, uint64_t key, uint64_t address, unsigned size) {
  LoadQueue& queue = warp.queue;
  const unsigned loads = queue.loads(queue.length);
  if (queue.length == LoadQueue::kEvents || loads == LoadQueue::kLoads || key >= limit_)
    return false;
  if (monitor.counter.table.at(key_pc(key)).run_ahead != RunAhead::yes) return false;
  if (address - stored_begin_ < stored_bytes_ || !are_aligned(address, size)) return false;

  uint64_t begin, end;
  const auto dynamic = reinterpret_cast<uint64_t>(monitor.shared.dynamic);
  if (address - monitor.shared.tls_base < monitor.shared.tls_size) {
    begin = monitor.shared.tls_base, end = monitor.shared.tls_base + monitor.shared.tls_size;
  } else if (address - dynamic < kMaxDynamicShared) {
    begin = dynamic, end = dynamic + grid_->dynamic_shared;
  } else if (const Range* range = monitor.ranges.find(address, size)) {
    begin = range->begin, end = range->end;
  } else {
    return false;
  }
  if (address + size > end) return false;

  queue.load[loads] = static_cast<uint8_t>(queue.length);
  queue.address[loads][lane] = address;
  queue.event[queue.length++] = {key,
                                 begin,
                                 end - size - begin,
                                 warp.calls.path[lane],
                                 static_cast<uint8_t>(size),
                                 static_cast<uint8_t>(loads + 1),
                                 0};
  cursor_ = queue_end_ = queue.length;
  return true;
}

// The lanes of the group have stopped: what they loaded on the way is counted.
void Worker::settle_queue(Warp& warp) {
  if (!warp.runs_ahead) {
    follow_trails(warp);
    return;
  }
  const int first = std::countr_zero(warp.group);
  const uint8_t end = warp.trail.queue_end[first];
  const uint32_t same = lanes_with(warp.key, warp.key[first]) &
                        lanes_with(warp.trail.queue_end, end) &
                        lanes_with(warp.trail.hash, warp.trail.hash[first]);
  const unsigned loads = warp.queue.loads(warp.queue.length);
  if ((warp.group & ~same) == 0) {
    warp.together = warp.group;
    for (int i = 0; i < kLanes; ++i) warp.trail.length[i] = 0;
    for (int i = 0; i < kLanes; ++i) warp.trail.hash[i] = 0;
    if (loads) replay_in_step(warp);
    return;
  }
  if (loads) rewind(warp);
  follow_trails(warp);
}

// The usual case: all lanes of the group loaded the same way.
void Worker::replay_in_step(Warp& warp) {
  const uint32_t group = warp.group;
  const unsigned loads = warp.queue.loads(warp.queue.length);
  if (warp.progress.yielded || warp.progress.steps % kSlice + loads >= kSlice) [[unlikely]] {
    rewind(warp);
    return;
  }
  for (unsigned load = 0; load < loads; ++load) {
    const LoadQueue::Event& event = warp.queue.event[warp.queue.load[load]];
    ++clock_;
    ++warp.progress.steps;
    warp.progress.touched = true;
    Request request;
    request.pc = key_pc(event.key);
    request.size = event.size;
    request.lanes = group;
    request.address = warp.queue.address[load];
    request.span = span_of(request.address, group);
    request.warp = &warp.checks;
    if (!monitor.observe(request)) {
      aborted_ = true;
      return;
    }
    if (!warp.deferred.empty()) settle_deferred(warp, group, load);
  }
}

// Otherwise every lane goes back to its first load, and the scheduler moves them on from there.
void Worker::rewind(Warp& warp) {
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const unsigned loads = warp.queue.loads(warp.trail.queue_end[lane]);
    if (!loads) continue;
    warp.pending_stop[lane] = {warp.key[lane],
                               warp.address[lane],
                               warp.path[lane],
                               warp.stop[lane],
                               warp.size[lane],
                               warp.is_volatile[lane],
                               warp.is_padded[lane],
                               warp.trail.queue_end[lane],
                               0,
                               static_cast<uint8_t>(loads)};
    warp.ahead |= 1u << lane;
    warp.live |= 1u << lane;
    stand_at_load(warp, lane);
  }
}

void Worker::stand_at_load(Warp& warp, int lane) {
  const unsigned load = warp.pending_stop[lane].load;
  const unsigned place = warp.queue.load[load];
  const LoadQueue::Event& event = warp.queue.event[place];
  warp.key[lane] = event.key;
  warp.address[lane] = warp.queue.address[load][lane];
  warp.path[lane] = event.path;
  warp.stop[lane] = StopReason::load;
  warp.size[lane] = event.size;
  warp.is_volatile[lane] = warp.is_padded[lane] = false;
  warp.trail.queue_end[lane] = static_cast<uint8_t>(place);
}

// These lanes have loaded, and stand at their next load or where they stopped.
void Worker::advance(Warp& warp, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    PendingStop& pending_stop = warp.pending_stop[lane];
    if (!warp.deferred.empty()) settle_deferred(warp, 1u << lane, pending_stop.load);
    warp.trail.queue_begin[lane] = static_cast<uint8_t>(warp.queue.load[pending_stop.load] + 1);
    if (++pending_stop.load < pending_stop.loads) {
      stand_at_load(warp, lane);
      continue;
    }
    warp.key[lane] = pending_stop.key;
    warp.address[lane] = pending_stop.address;
    warp.path[lane] = pending_stop.path;
    warp.stop[lane] = pending_stop.stop;
    warp.size[lane] = pending_stop.size;
    warp.is_volatile[lane] = pending_stop.is_volatile;
    warp.is_padded[lane] = pending_stop.is_padded;
    warp.trail.queue_end[lane] = pending_stop.queue_end;
    warp.ahead &= ~(1u << lane);
    if (pending_stop.key == kNotWaiting) warp.live &= ~(1u << lane);
  }
}

// These lanes have done a load of the queue: what they did after it is known now.
void Worker::settle_deferred(Warp& warp, uint32_t lanes, unsigned load) {
  std::erase_if(warp.deferred, [&](const DeferredEffect& effect) {
    if (effect.load != load || !(lanes >> effect.lane & 1)) return false;
    if (effect.text) {
      std::fputs(effect.text, stdout);
      std::free(effect.text);
    } else {
      note(warp, effect);
    }
    return true;
  });
}

// Finds out which loads may be run ahead of; see RunAhead.
void Worker::update_predictor(Warp& warp, uint64_t key, uint32_t group, StopReason what) {
  if (what == StopReason::load) {
    CountTable::Entry& entry = monitor.counter.table.at(key_pc(key));
    if (entry.run_ahead == RunAhead::unknown && group == warp.together)
      entry.run_ahead = RunAhead::yes;
    return;
  }
  // A store goes first while others wait at a load, or have even gone on from there.
  const uint32_t others = warp.live & ~(group | warp.at_barrier | warp.at_collective);
  for (uint32_t rest = others; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (warp.stop[lane] == StopReason::load)
      monitor.counter.table.at(key_pc(warp.key[lane])).run_ahead = RunAhead::never;
    if (!(warp.ahead >> lane & 1)) continue;
    for (unsigned load = warp.pending_stop[lane].load; load < warp.pending_stop[lane].loads;
         ++load) {
      const LoadQueue::Event& event = warp.queue.event[warp.queue.load[load]];
      if (event.key > key) monitor.counter.table.at(key_pc(event.key)).run_ahead = RunAhead::never;
    }
  }
}

// A lane has computed an index outside its array, or an address that is not aligned; the access comes next.
void Worker::note(Warp& warp, const DeferredEffect& effect) {
  if (effect.index.array) return ArrayIndexCheck::note(warp.checks, effect.lane, effect.index);
  warp.checks.misaligned[effect.lane] = effect.misaligned;
  warp.checks.has_misaligned |= 1u << effect.lane;
}

}  // namespace simt::engine
