#include "exec/pending_stops.h"

#include "check/array_index.h"

namespace simt::engine {
namespace {

LaneStop stop_of(const Warp& warp, int lane) {
  return {warp.key[lane],       warp.address[lane],        warp.path[lane],
          warp.stop[lane],      warp.size[lane],           warp.is_volatile[lane],
          warp.is_padded[lane], warp.trail.queue_end[lane]};
}

void stand_at(Warp& warp, int lane, const LaneStop& stop) {
  warp.key[lane] = stop.key;
  warp.address[lane] = stop.address;
  warp.path[lane] = stop.path;
  warp.stop[lane] = stop.stop;
  warp.size[lane] = stop.size;
  warp.is_volatile[lane] = stop.is_volatile;
  warp.is_padded[lane] = stop.is_padded;
  warp.trail.queue_end[lane] = stop.queue_end;
}

// Moves a lane back to the load of the queue that its pending stop names.
void stand_at_load(Warp& warp, int lane) {
  const unsigned load = warp.pending_stop[lane].load;
  const uint8_t place = warp.queue.load[load];
  const LoadQueue::Event& event = warp.queue.event[place];
  stand_at(warp, lane,
           {event.key, warp.queue.address[load][lane], event.path, StopReason::load, event.size,
            false, false, place});
}

}  // namespace

void rewind(Warp& warp) {
  for (const int lane : lanes_of(warp.group)) {
    const unsigned loads = warp.queue.loads(warp.trail.queue_end[lane]);
    if (!loads) continue;
    warp.pending_stop[lane] = {stop_of(warp, lane), 0, static_cast<uint8_t>(loads)};
    warp.ahead |= 1u << lane;
    warp.live |= 1u << lane;
    stand_at_load(warp, lane);
  }
}

void advance(Warp& warp, uint32_t lanes) {
  for (const int lane : lanes_of(lanes)) {
    PendingStop& pending = warp.pending_stop[lane];
    if (!warp.deferred.empty()) settle_deferred(warp, 1u << lane, pending.load);
    warp.trail.queue_begin[lane] = static_cast<uint8_t>(warp.queue.load[pending.load] + 1);
    if (++pending.load < pending.loads) {
      stand_at_load(warp, lane);
      continue;
    }
    stand_at(warp, lane, pending.stop);
    warp.ahead &= ~(1u << lane);
    if (pending.stop.key == kNotWaiting) warp.live &= ~(1u << lane);
  }
}

void settle_deferred(Warp& warp, uint32_t lanes, unsigned load) {
  std::erase_if(warp.deferred, [&](const DeferredEffect& effect) {
    if (effect.load != load || !(lanes >> effect.lane & 1)) return false;
    note(warp, effect);
    return true;
  });
}

void update_predictor(CountTable& table, const Warp& warp, uint64_t key, uint32_t group,
                      StopReason what) {
  if (what == StopReason::load) {
    CountTable::Entry& entry = table.at(key_pc(key));
    if (entry.run_ahead == RunAhead::unknown && group == warp.together)
      entry.run_ahead = RunAhead::yes;
    return;
  }
  // A store goes first while others wait at a load, or have even gone on from there.
  const uint32_t others = warp.live & ~(group | warp.at_barrier | warp.at_collective);
  for (const int lane : lanes_of(others)) {
    if (warp.stop[lane] == StopReason::load)
      table.at(key_pc(warp.key[lane])).run_ahead = RunAhead::never;
    if (!(warp.ahead >> lane & 1)) continue;
    for (unsigned load = warp.pending_stop[lane].load; load < warp.pending_stop[lane].loads;
         ++load) {
      const LoadQueue::Event& event = warp.queue.event[warp.queue.load[load]];
      if (event.key > key) table.at(key_pc(event.key)).run_ahead = RunAhead::never;
    }
  }
}

void note(Warp& warp, const DeferredEffect& effect) {
  if (effect.index.array) return ArrayIndexCheck::note(warp.checks, effect.lane, effect.index);
  warp.checks.misaligned[effect.lane] = effect.misaligned;
  warp.checks.has_misaligned |= 1u << effect.lane;
}

}  // namespace simt::engine
