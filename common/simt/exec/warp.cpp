#include "exec/warp.h"

#include <algorithm>

namespace simt::engine {

void Calls::reset() {
  std::fill_n(depth, kLanes, 0);
  std::fill_n(path, kLanes, 0);
}

void Trail::reset(const uint64_t* key) {
  std::copy_n(key, kLanes, position);
  std::fill_n(length, kLanes, 0);
  std::fill_n(hash, kLanes, 0);
  std::fill_n(queue_begin, kLanes, 0);
  std::fill_n(queue_end, kLanes, 0);
}

void Warp::reset(unsigned number, unsigned lanes) {
  live = lanes == kLanes ? ~0u : (1u << lanes) - 1;
  born = live;
  group = pending = at_barrier = at_collective = 0;
  waking = entering = updating = outside_kernel = constructing = 0;
  together = ahead = 0;
  runs_ahead = has_pieces = has_waited = false;
  queue.length = 0;
  group_key = 0;
  std::fill_n(key, kLanes, kNotWaiting);
  std::fill_n(key, lanes, make_key(0, 1));
  std::fill_n(stop, kLanes, StopReason::resume);
  std::fill_n(path, kLanes, 0);
  trail.reset(key);
  calls.reset();
  copies.reset();
  atomics.reset();
  progress.reset();
  checks.reset();
  checks.index = static_cast<int>(number);
}

}  // namespace simt::engine
