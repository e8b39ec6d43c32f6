#include <atomic>

#include "base/host_memory.h"
#include "exec/switching.h"
#include "exec/worker.h"

namespace simt::engine {

// Runs the block without fibers as far as that goes.
void Worker::run_as_loop() {
  Fiber* fiber = pool_->take(&Worker::fiber_entry);
  is_loop_ = true;
  turns_ = 0;
  running = this;
  uncounted = kTurn;
  loop_fiber_ = fiber;
  lane_ = 0;
  switch_context(main_, fiber->first, 0);
  uncounted = 0;
  running = nullptr;
  warp_ = nullptr;
  if (is_loop_) pool_->give_back(*fiber);
  is_loop_ = false;
}

// All threads of the block, one after another; false if one of them had to wait, and has exited.
bool Worker::run_threads() {
  const dim3 extent = grid_->block;
  const auto entry = grid_->entry;
  void* const closure = grid_->closure;
  for (unsigned z = 0; z < extent.z; ++z) {
    for (unsigned y = 0; y < extent.y; ++y) {
      simt_thread_index = {0, y, z};
      for (unsigned x = 0; x < extent.x; ++x) {
        simt_thread_index.x = x;
        entry(closure);
        if (!is_loop_) [[unlikely]]
          return false;
      }
    }
  }
  return true;
}

unsigned Worker::loop_thread() const {
  const uint3 at = simt_thread_index;
  return (at.z * grid_->block.y + at.y) * grid_->block.x + at.x;
}

// The running thread has to wait. Those before it have exited, those after it become fibers.
void Worker::leave_loop() {
  const HostMemory bookkeeping;
  const unsigned thread = loop_thread();
  const unsigned number = thread / kLanes;
  const int lane = static_cast<int>(thread % kLanes);
  // A signal that looks at the running lane finds none meanwhile.
  lane_ = -1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_loop_ = false;
  waited_ = grid_->entry;
  begin_warps();
  for (unsigned w = 0; w < number; ++w) warps_[w]->live = 0;
  warp_ = warps_[number];
  warp_->live &= ~0u << lane;
  for (int before = 0; before < lane; ++before) warp_->key[before] = kNotWaiting;
  warp_->fiber[lane] = loop_fiber_;
  warp_->context[lane] = loop_fiber_->first;  // there is one
  std::atomic_signal_fence(std::memory_order_seq_cst);
  lane_ = lane;
  warp_->has_begun = true;
  warp_->group = warp_->live;
  warp_->pending = warp_->live & (warp_->live - 1);
}

}  // namespace simt::engine
