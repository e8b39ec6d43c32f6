#include <bit>

#include "base/values.h"
#include "exec/switching.h"
#include "exec/worker.h"
#include "memory/atomics.h"

namespace simt::engine {
namespace {

// A function tells that it has been entered within so many bytes.
constexpr uint64_t kKernelEntry = 128;

}  // namespace

// What a fiber does: it runs one lane, or several that do not wait, one after another. As many calls as returns, so that the
// CPU predicts those of the main stack.
void Worker::fiber_entry() {
  Worker* const worker = running;
  const Grid& grid = *worker->grid_;
  if (!worker->is_loop_) {
    do {
      grid.entry(grid.closure);
      if (running) worker->exit_lane();
      running = worker;
    } while (worker->lane_ >= 0);
  } else if (!worker->run_threads()) {
    worker->exit_lane();
  }
  worker->lane_ = -1;
  Context unused;
  switch_context(unused, worker->main_, 0);
}

// The running lane has exited, and has not stopped before. Where the next is a lane that is to start now, or there is nobody
// after lanes that have all run so, fiber_entry() goes on: true. Until then `running` is nullptr, and the hooks do nothing.
bool Worker::passes_on(Warp& warp, int lane, uint64_t pc) {
  warp.has_stray |= !pc || cursor_ != warp.queue.length || warp.trail.length[lane];
  if (!pc) return false;
  Fiber* const fiber = warp.fiber[lane];
  if (warp.pending) {
    const int next = next_lane(warp, lane);
    warp.fiber[next] = fiber;
    warp.context[next] = fiber->first;
    prepare(warp, next);
  } else {
    if (warp.live || !warp.is_passed()) return false;
    ++clock_;
    warp.group = 0;
    warp.was_passed = true;
    pool_->give_back(*fiber);
    lane_ = -1;
  }
  warp.context[lane] = nullptr;
  running = nullptr;
  return true;
}

// The running lane has exited. It leaves its frames behind as they are: to return from them would cost the CPU more
// than all of this, since it predicts a return from the last call, and other lanes have made calls since. Its
// fiber is free for the next; perhaps at once, for the lane that is to start now.
void Worker::exit_lane(uint64_t pc) {
  Warp& warp = *warp_;
  const int lane = lane_;
  if (warp.live == warp.born) warp.first_exit = {lane, pc, pc ? last_before_exit() : 0};
  if (warp.checks.capture >> lane & 1)
    warp.checks.captured[lane] = value_at(warp.address[lane], warp.size[lane]);
  warp.key[lane] = kNotWaiting;
  warp.live &= ~(1u << lane);
  if (warp.group_key == kStart && passes_on(warp, lane, pc)) return;
  pool_->give_back(*warp.fiber[lane]);
  warp.context[lane] = nullptr;
  const int next = next_lane(warp, lane);
  if (next < 0) {
    lane_ = -1;
    return leave_context(main_, 0);
  }
  const uint64_t result = prepare(warp, next);
  return leave_context(warp.context[next], result);
}

// Where the running lane was before it came to the block of the code with which the kernel ends.
uint64_t Worker::last_before_exit() const {
  const Warp& warp = *warp_;
  const unsigned own = warp.trail.length[lane_], queued = own ? 1 : 2;
  if (own > 1) return key_pc(warp.trail.block[own - 2][lane_]);
  return key_pc(cursor_ >= queued ? warp.queue.event[cursor_ - queued].key : warp.key[lane_]);
}

void Worker::leave_to_main() {
  Context& from = is_loop_ ? loop_context_ : warp_->context[lane_];
  lane_ = -1;
  switch_context(from, main_, 0);
}

// What is left to do of what the lane stopped for.
uint64_t Worker::wake(Warp& warp, int lane) {
  const uint32_t self = 1u << lane;
  if (!(warp.waking & self)) return 0;
  warp.waking &= ~self;
  if (warp.entering & self) {
    warp.entering &= ~self;
    enter_pending_block(warp, lane);
    return 0;
  }
  if (warp.updating & self) {
    warp.updating &= ~self;
    const Update& update = warp.update[lane];
    return carry_out(update.op, update.type, update.address, update.value, update.compare);
  }
  return warp.exchange[lane].result;
}

// The first function that a lane calls, or another one if the kernel itself is not instrumented.
void Worker::note_entry(int lane, uint64_t pc) {
  if (!kernel_pc) kernel_pc = pc;
  if (pc - grid_->kernel < kKernelEntry) {
    entry_pc_ = pc;
  } else {
    warp_->outside_kernel |= 1u << lane;
  }
}

}  // namespace simt::engine
