// What fence.proxy.async orders. The copy engine and wgmma access shared memory past the threads' own way (the generic proxy): what a
// thread has written there they may miss until it has executed the fence, or one that knows of the write has.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "races/shared_races.h"
#include "races/warp_times.h"

namespace simt::engine {

// The program has instructions that do so.
inline bool uses_async_proxy = false;

class ProxyFences {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    threads_.assign(threads_.size(), {});
    warps_ = {};
  }
  // `thread` fences in this interval, where its warp has come to `now` and knows this of the others.
  void fence(unsigned thread, uint32_t interval, uint32_t now, const WarpTimes& known) {
    if (threads_.empty()) threads_.resize(kMostThreads);
    used_ = true;
    threads_[thread] = {interval, now};
    OfWarp& warp = warps_[thread / 32];
    warp.interval = interval;
    warp.known = known;
    warp.known.of[thread / 32] = now;
  }
  // Does the copy engine see this write, if `thread` asks it to read?
  bool is_seen(const Write& write, unsigned thread) const {
    if (!used_) return false;
    const OfThread& writer = threads_[write.thread];
    const OfWarp& reader = warps_[thread / 32];
    return writer.interval > write.interval ||
           (writer.interval == write.interval && writer.time > write.time) ||
           reader.interval > write.interval ||
           (reader.interval == write.interval && reader.known.of[write.thread / 32u] > write.time);
  }

 private:
  static constexpr unsigned kMostThreads = 1024;
  struct OfThread {
    uint32_t interval = 0, time = 0;
  };
  struct OfWarp {
    uint32_t interval = 0;
    WarpTimes known;
  };
  bool used_ = false;
  std::vector<OfThread> threads_;
  std::array<OfWarp, 32> warps_{};
};

}  // namespace simt::engine
