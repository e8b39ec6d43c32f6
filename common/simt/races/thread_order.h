// What fences order within a block.
//
// A thread that executes a fence and then an atomic operation or a volatile store releases what it did before the
// fence; one that has executed an atomic operation or a volatile load since then knows of it. Which address either
// names is not asked: a flag that is none orders too much here, and hides a race rather than invents one. Barriers of a part of the
// block order, too: see warp_times.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/request.h"
#include "races/warp_times.h"

namespace simt::engine {

class ThreadOrder {
 public:
  void begin_block() {
    warps.begin_block();
    if (!releases_) return;
    releases_ = 0;
    for (Thread& thread : threads_) thread = {};
  }

  // A fence by `thread` of the block; `now` counts the instructions of its warp.
  void fence(unsigned thread, uint32_t now) {
    if (threads_.empty()) threads_.resize(kMostThreads);
    ++releases_;
    threads_[thread].fence = now;
  }
  void release(unsigned thread) {
    if (!releases_) [[likely]]
      return;
    Thread& self = threads_[thread];
    if (!self.fence) return;
    self.released.push_back({self.fence, ++releases_});
    self.fence = 0;
  }
  void acquire(unsigned thread) {
    if (releases_) [[unlikely]]
      threads_[thread].acquired = releases_;
  }

  // Lanes of the warp whose first thread is `first` execute an atomic operation or a volatile access.
  void pass(const Request& request, unsigned first) {
    for (const int lane : lanes_of(request.lanes)) {
      const unsigned self = first + static_cast<unsigned>(lane);
      if (request.kind != Access::store) acquire(self);
      if (request.writes()) release(self);
    }
  }

  // Does `thread` know what the other one did at `time`?
  bool is_ordered(unsigned other, uint32_t time, unsigned thread) const {
    if (warps.is_ordered(other, time, thread)) return true;
    if (!releases_) [[likely]]
      return false;
    const std::vector<Release>& released = threads_[other].released;
    const auto first = std::upper_bound(released.begin(), released.end(), time,
                                        [](uint32_t t, const Release& r) { return t < r.fence; });
    return first != released.end() && first->number <= threads_[thread].acquired;
  }

  WarpKnowledge warps;

 private:
  static constexpr unsigned kMostThreads = 1024;
  struct Release {
    uint32_t fence;   // the instruction before which all is released
    uint64_t number;  // in the order of the block's
  };
  struct Thread {
    uint32_t fence =
        0;  // the last one, if nothing has been released since; instructions count from 1
    uint64_t acquired = 0;
    std::vector<Release> released;
  };
  uint64_t releases_ = 0;  // 0: no thread of the block has executed a fence
  std::vector<Thread> threads_;
};

}  // namespace simt::engine
