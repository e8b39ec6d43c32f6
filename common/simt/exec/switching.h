// From one lane to the next: inline, because it runs for each lane at each stop.
#pragma once

#include <bit>

#include "base/values.h"
#include "exec/worker.h"

namespace simt::engine {

// A lane notes where it stops, and why.
[[gnu::always_inline]] inline void note_stop(Warp& warp, int lane, StopReason what, uint64_t key,
                                             uint32_t path) {
  if (warp.checks.capture >> lane & 1) [[unlikely]] {
    warp.checks.captured[lane] = value_at(warp.address[lane], warp.size[lane]);
  }
  warp.key[lane] = warp.trail.position[lane] = key;
  warp.path[lane] = path;
  warp.stop[lane] = what;
}

// Sets what the lane finds when it goes on. Returns what the function returns there in which it stopped.
[[gnu::always_inline]] inline uint64_t Worker::prepare(Warp& warp, int lane) {
  if (!warp.context[lane]) {
    Fiber* const fiber = pool_->take(&Worker::fiber_entry);
    warp.fiber[lane] = fiber;
    warp.context[lane] = fiber->first;
  }
  lane_ = lane;
  cursor_ = 0;
  queue_end_ = warp.runs_ahead ? warp.queue.length : 0;
  simt_thread_index = warp.thread[lane];
  return warp.waking ? wake(warp, lane) : 0;
}

// A lane has noted where it stopped: the next of its group, or of the group that forms next.
[[gnu::always_inline]] inline int Worker::next_lane(Warp& warp, int lane) {
  warp.trail.queue_end[lane] = static_cast<uint8_t>(cursor_);
  leads_ = false;
  if (!warp.pending) return schedule(warp);
  const int next = std::countr_zero(warp.pending);
  warp.pending &= warp.pending - 1;
  return next;
}

// The usual case of exit_lane(), where nearly all lanes of a grid that is too large end: the lane came straight to the end
// of the kernel, the way of the first, and another one is to start on its fiber. What prepare() does for that one is here, too.
[[gnu::always_inline]] inline bool Worker::follows_the_first(Warp& warp, int lane) {
  const uint32_t self = 1u << lane;
  const bool does = warp.group_key == kStart && warp.pending && warp.live != warp.born &&
                    cursor_ == warp.queue.length && !warp.trail.length[lane] &&
                    !(warp.checks.capture & self);
  if (!does) return false;
  const int next = std::countr_zero(warp.pending);
  Fiber* const fiber = warp.fiber[lane];
  warp.pending &= warp.pending - 1;
  warp.live &= ~self;
  warp.key[lane] = kNotWaiting;
  warp.trail.queue_end[lane] = static_cast<uint8_t>(cursor_);
  warp.context[lane] = nullptr;
  warp.fiber[next] = fiber;
  warp.context[next] = fiber->first;
  leads_ = false;
  lane_ = next;
  cursor_ = 0;
  queue_end_ = warp.runs_ahead ? warp.queue.length : 0;
  simt_thread_index = warp.thread[next];
  running = nullptr;  // until fiber_entry() goes on
  return true;
}

inline void Worker::switch_to(Warp& warp, int lane) {
  const int from = lane_;
  const uint64_t result = prepare(warp, lane);
  if (lane != from)
    switch_context(from < 0 ? main_ : warp.context[from], warp.context[lane], result);
}

// Runs others until it is the lane's turn again.
inline void Worker::stop(Warp& warp, int lane) {
  const int next = next_lane(warp, lane);
  if (next < 0) {
    leave_to_main();
  } else {
    switch_to(warp, next);
  }
}

// The same as the last thing that a hook does. It returns the lane's result where there is one, else 0.
template <class Result>
[[gnu::always_inline]] inline Result Worker::stop_and_return(Warp& warp, int lane) {
  const int next = next_lane(warp, lane);
  if (next < 0) [[unlikely]] {
    lane_ = -1;
    return switch_context_and_return<Result>(warp.context[lane], main_, 0);
  }
  const uint64_t result = prepare(warp, next);
  if (next == lane) return static_cast<Result>(result);
  return switch_context_and_return<Result>(warp.context[lane], warp.context[next], result);
}

}  // namespace simt::engine
