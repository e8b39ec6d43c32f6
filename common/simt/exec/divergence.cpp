#include <algorithm>
#include <bit>

#include "exec/switching.h"
#include "exec/worker.h"

namespace simt::engine {

// The lanes of the group have come to their next access. If they did not come the same way, replays
// their ways through the blocks of the code as the scheduler would have let them run, lowest first, and
// counts where they part.
void Worker::follow_trails(Warp& warp) {
  const int leader = std::countr_zero(warp.group);
  bool same = true;
  for (const int lane : lanes_of(warp.group)) {
    same &= warp.trail.hash[lane] == warp.trail.hash[leader] &&
            warp.key[lane] == warp.key[leader] &&
            warp.trail.queue_begin[lane] == warp.trail.queue_begin[leader] &&
            warp.trail.queue_end[lane] == warp.trail.queue_end[leader];
  }
  warp.together = same ? warp.group : 0;
  if (!same || monitor.recording.is_on()) {
    uint8_t at[kLanes] = {};
    // The own trail counts only where a lane has come to its stop.
    const auto of_queue = [&](int lane) {
      return unsigned{warp.trail.queue_end[lane]} - warp.trail.queue_begin[lane];
    };
    const auto length = [&](int lane) {
      return of_queue(lane) + (warp.ahead >> lane & 1 ? 0 : warp.trail.length[lane]);
    };
    const auto key = [&](int lane) {
      const unsigned step = at[lane];
      if (step < of_queue(lane)) return warp.queue.event[warp.trail.queue_begin[lane] + step].key;
      return step < length(lane) ? warp.trail.block[step - of_queue(lane)][lane] : warp.key[lane];
    };
    uint64_t branch = warp.group_key;
    uint32_t together = warp.group;
    uint32_t on_the_way = 0;
    for (;;) {
      const uint64_t first = key(std::countr_zero(together));
      bool parted = false;
      for (const int lane : lanes_of(together)) parted |= key(lane) != first;
      if (parted) ++monitor.counter.table.at(key_pc(branch)).counts.divergent_branches;
      // The next to run: all that stand at the lowest block.
      on_the_way = 0;
      branch = kNotWaiting;
      for (const int lane : lanes_of(warp.group)) {
        if (at[lane] == length(lane)) continue;
        on_the_way |= 1u << lane;
        branch = std::min(branch, key(lane));
      }
      if (!on_the_way) break;
      together = 0;
      for (const int lane : lanes_of(on_the_way)) {
        if (key(lane) == branch) together |= 1u << lane;
      }
      if (monitor.recording.is_on()) [[unlikely]]
        record(warp, RecordedStep::What::enter, together, branch);
      for (const int lane : lanes_of(together)) ++at[lane];
    }
  }
  for (const int lane : lanes_of(warp.group & ~warp.ahead)) {
    warp.trail.length[lane] = 0;
    warp.trail.hash[lane] = 0;
    warp.trail.queue_begin[lane] = 0;
  }
}

// The lane goes on at the entry of the block ahead of which it has waited.
void Worker::enter_pending_block(Warp& warp, int lane) {
  const uint64_t key = warp.entry_key[lane];
  const LoadQueue::Event& event = warp.queue.event[0];
  if (queue_end_ && event.key == key && !event.size) {
    cursor_ = 1;
    return;
  }
  queue_end_ = 0;
  leave_trail(warp, lane, key, 0);
}

// The running lane enters a block, the next after `length` others since its last access.
void Worker::leave_trail(Warp& warp, int lane, uint64_t key, unsigned length) {
  LoadQueue& queue = warp.queue;
  if (leads_ && queue.length < LoadQueue::kEvents) {
    queue.event[queue.length] = {key,
                                 0,
                                 0,
                                 0,
                                 0,
                                 static_cast<uint8_t>(queue.loads(queue.length)),
                                 static_cast<uint8_t>(length + 1)};
    cursor_ = queue_end_ = ++queue.length;
    return;
  }
  leads_ = false;
  const unsigned place = warp.trail.length[lane];
  warp.trail.position[lane] = key;
  warp.trail.block[place][lane] = key;
  warp.trail.length[lane] = static_cast<uint8_t>(place + 1);
  warp.trail.hash[lane] = (warp.trail.hash[lane] ^ static_cast<uint32_t>(key)) * 0x01000193u;
}

// A block that the queue does not have.
void Worker::enter_block(Warp& warp, int lane, uint64_t key) {
  // Nothing happens in between that another lane could see. So a lane that goes forward need not wait
  // for the others: it only leaves a trail, from which follow_trails() learns where lanes parted. A
  // lane that is about to go back, in a loop or into a call, first waits for those behind it.
  LoadQueue& queue = warp.queue;
  const unsigned own = warp.trail.length[lane];
  const uint64_t here = cursor_ && !own ? queue.event[cursor_ - 1].key : warp.trail.position[lane];
  unsigned length = queue.blocks(cursor_) + own;
  if (key <= here && length) {
    const Calls& calls = warp.calls;
    const uint64_t depth = kMostDepth - (here >> 48);
    note_stop(warp, lane, StopReason::resume, here,
              depth < calls.depth[lane] && depth < Calls::kKnown ? calls.outer_paths[depth][lane]
                                                                 : calls.path[lane]);
    warp.waking |= 1u << lane;
    warp.entering |= 1u << lane;
    warp.entry_key[lane] = key;
    return stop_and_return<void>(warp, lane);
  }
  if (length == Trail::kMost) [[unlikely]] {
    note_stop(warp, lane, StopReason::resume, key, warp.calls.path[lane]);
    return stop_and_return<void>(warp, lane);
  }
  leave_trail(warp, lane, key, length);
}

}  // namespace simt::engine
