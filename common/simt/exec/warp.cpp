#include "exec/warp.h"

#include <algorithm>
#include <utility>

namespace simt::engine {

void Calls::reset() {
  std::fill_n(depth, kLanes, 0);
  std::fill_n(path, kLanes, 0);
}

void Trail::reset() {
  std::fill_n(length, kLanes, 0);
  std::fill_n(hash, kLanes, 0);
  std::fill_n(queue_begin, kLanes, 0);
  std::fill_n(queue_end, kLanes, 0);
}

// Where the lanes stand.
void Warp::reset_arrays(unsigned lanes) {
  std::fill(key + lanes, key + kLanes, kNotWaiting);
  if (!std::exchange(was_passed, false)) {
    std::fill_n(stop, kLanes, StopReason::resume);
    std::fill_n(path, kLanes, 0);
    trail.reset();
    calls.reset();
  }
  std::fill_n(key, lanes, kStart);
  std::fill_n(trail.position, lanes, kStart);
}

void Warp::reset(unsigned number, unsigned lanes) {
  live = lanes == kLanes ? ~0u : (1u << lanes) - 1;
  born = live;
  group = pending = at_barrier = at_collective = 0;
  waking = entering = updating = outside_kernel = constructing = 0;
  together = ahead = 0;
  runs_ahead = has_pieces = has_marked = has_waited = has_begun = has_stray = false;
  queue.length = 0;
  group_key = 0;
  reset_arrays(lanes);
  copies.reset();
  atomics.reset();
  progress.reset();
  checks.reset();
  checks.index = static_cast<int>(number);
}

}  // namespace simt::engine
