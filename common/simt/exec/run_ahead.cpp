#include <algorithm>
#include <bit>

#include "base/values.h"
#include "exec/pending_stops.h"
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
  for (const int lane :
       lanes_of(warp.live & ~(warp.group | warp.at_barrier | warp.at_collective))) {
    limit_ = std::min(limit_, warp.key[lane]);
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
  if (warp.progress.yielded || (warp.progress.steps & (slice_ - 1)) + loads >= slice_)
      [[unlikely]] {
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
    note_progress(warp.progress, request.address[std::countr_zero(group)]);
    request.span = span_of(request.address, group);
    request.warp = &warp.checks;
    if (!monitor.observe(request)) {
      aborted_ = true;
      return;
    }
    if (!warp.deferred.empty()) settle_deferred(warp, group, load);
  }
}

}  // namespace simt::engine
