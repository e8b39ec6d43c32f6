#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "base/values.h"
#include "exec/worker.h"

namespace simt::engine {

// These lanes of the group are about to run: the first may write a script.
void Worker::begin_script(Warp& warp, uint32_t lanes) {
  script_end_ = cursor_ = 0;
  // The script of lanes that are still behind must stay as it is.
  warp.scripted = leads_ = traced_ && grid_->run_ahead && lanes == warp.group && !warp.ahead &&
                           !warp.progress.last_first;
  if (!warp.scripted) return;
  warp.script.length = 0;
  limit_ = kNotWaiting;
  for (uint32_t rest = warp.live & ~(warp.group | warp.at_barrier | warp.at_collective); rest;
       rest &= rest - 1) {
    limit_ = std::min(limit_, warp.key[std::countr_zero(rest)]);
  }
  const int first = std::countr_zero(warp.group);
  stored_bytes_ = 0;
  if (warp.stop[first] == Stop::store || warp.stop[first] == Stop::atomic) {
    const Span span = span_of(warp.address, warp.group);
    stored_begin_ = span.low - 15;  // a load of 16 bytes that begins there touches it
    stored_bytes_ = span.high + warp.size[first] - stored_begin_;
  }
}

// May the lane that writes the script go on past a load? Then notes the load.
bool Worker::load_ahead(Warp& warp, int lane, uint64_t key, uint64_t address, unsigned size) {
  Script& script = warp.script;
  const unsigned loads = script.loads(script.length);
  if (script.length == Script::kEvents || loads == Script::kLoads || key >= limit_) return false;
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

  script.load[loads] = static_cast<uint8_t>(script.length);
  script.address[loads][lane] = address;
  script.event[script.length++] = {key,
                                   begin,
                                   end - size - begin,
                                   warp.calls.path[lane],
                                   static_cast<uint8_t>(size),
                                   static_cast<uint8_t>(loads + 1),
                                   0};
  cursor_ = script_end_ = script.length;
  return true;
}

// The lanes of the group have stopped: what they loaded on the way is counted.
void Worker::settle_script(Warp& warp) {
  if (!warp.scripted) {
    follow_trails(warp);
    return;
  }
  const int first = std::countr_zero(warp.group);
  const uint8_t end = warp.trail.script_end[first];
  const uint32_t same = lanes_with(warp.key, warp.key[first]) &
                        lanes_with(warp.trail.script_end, end) &
                        lanes_with(warp.trail.hash, warp.trail.hash[first]);
  const unsigned loads = warp.script.loads(warp.script.length);
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
  const unsigned loads = warp.script.loads(warp.script.length);
  if (warp.progress.yielded || warp.progress.steps % kSlice + loads >= kSlice) [[unlikely]] {
    rewind(warp);
    return;
  }
  for (unsigned load = 0; load < loads; ++load) {
    const Script::Event& event = warp.script.event[warp.script.load[load]];
    ++clock_;
    ++warp.progress.steps;
    warp.progress.touched = true;
    Request request;
    request.pc = key_pc(event.key);
    request.size = event.size;
    request.lanes = group;
    request.address = warp.script.address[load];
    request.span = span_of(request.address, group);
    request.warp = &warp.checks;
    if (!monitor.observe(request)) {
      aborted_ = true;
      return;
    }
    if (!warp.later.empty()) settle_later(warp, group, load);
  }
}

// Otherwise every lane goes back to its first load, and the scheduler moves them on from there.
void Worker::rewind(Warp& warp) {
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const unsigned loads = warp.script.loads(warp.trail.script_end[lane]);
    if (!loads) continue;
    warp.future[lane] = {warp.key[lane],
                         warp.address[lane],
                         warp.path[lane],
                         warp.stop[lane],
                         warp.size[lane],
                         warp.is_volatile[lane],
                         warp.is_padded[lane],
                         warp.trail.script_end[lane],
                         0,
                         static_cast<uint8_t>(loads)};
    warp.ahead |= 1u << lane;
    warp.live |= 1u << lane;
    stand_at_load(warp, lane);
  }
}

void Worker::stand_at_load(Warp& warp, int lane) {
  const unsigned load = warp.future[lane].load;
  const unsigned place = warp.script.load[load];
  const Script::Event& event = warp.script.event[place];
  warp.key[lane] = event.key;
  warp.address[lane] = warp.script.address[load][lane];
  warp.path[lane] = event.path;
  warp.stop[lane] = Stop::load;
  warp.size[lane] = event.size;
  warp.is_volatile[lane] = warp.is_padded[lane] = false;
  warp.trail.script_end[lane] = static_cast<uint8_t>(place);
}

// These lanes have loaded, and stand at their next load or where they stopped.
void Worker::advance(Warp& warp, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Future& future = warp.future[lane];
    if (!warp.later.empty()) settle_later(warp, 1u << lane, future.load);
    warp.trail.script_begin[lane] = static_cast<uint8_t>(warp.script.load[future.load] + 1);
    if (++future.load < future.loads) {
      stand_at_load(warp, lane);
      continue;
    }
    warp.key[lane] = future.key;
    warp.address[lane] = future.address;
    warp.path[lane] = future.path;
    warp.stop[lane] = future.stop;
    warp.size[lane] = future.size;
    warp.is_volatile[lane] = future.is_volatile;
    warp.is_padded[lane] = future.is_padded;
    warp.trail.script_end[lane] = future.script_end;
    warp.ahead &= ~(1u << lane);
    if (future.key == kNotWaiting) warp.live &= ~(1u << lane);
  }
}

// These lanes have done a load of the script: what they did after it is known now.
void Worker::settle_later(Warp& warp, uint32_t lanes, unsigned load) {
  std::erase_if(warp.later, [&](const Later& later) {
    if (later.load != load || !(lanes >> later.lane & 1)) return false;
    if (later.text) {
      std::fputs(later.text, stdout);
      std::free(later.text);
    } else {
      note(warp, later);
    }
    return true;
  });
}

// Finds out which loads may be run ahead of; see RunAhead.
void Worker::update_predictor(Warp& warp, uint64_t key, uint32_t group, Stop what) {
  if (what == Stop::load) {
    CountTable::Entry& entry = monitor.counter.table.at(key_pc(key));
    if (entry.run_ahead == RunAhead::unknown && group == warp.together)
      entry.run_ahead = RunAhead::yes;
    return;
  }
  // A store goes first while others wait at a load, or have even gone on from there.
  const uint32_t others = warp.live & ~(group | warp.at_barrier | warp.at_collective);
  for (uint32_t rest = others; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (warp.stop[lane] == Stop::load)
      monitor.counter.table.at(key_pc(warp.key[lane])).run_ahead = RunAhead::never;
    if (!(warp.ahead >> lane & 1)) continue;
    for (unsigned load = warp.future[lane].load; load < warp.future[lane].loads; ++load) {
      const Script::Event& event = warp.script.event[warp.script.load[load]];
      if (event.key > key) monitor.counter.table.at(key_pc(event.key)).run_ahead = RunAhead::never;
    }
  }
}

// A lane has computed an index outside its array, or an address that is not aligned; the access comes next.
void Worker::note(Warp& warp, const Later& later) {
  if (later.index.array) return ArrayIndexCheck::note(warp.checks, later.lane, later.index);
  warp.checks.misaligned[later.lane] = later.misaligned;
  warp.checks.has_misaligned |= 1u << later.lane;
}

}  // namespace simt::engine
