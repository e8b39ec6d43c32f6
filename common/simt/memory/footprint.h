// Which allocations a launch has read and written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"

namespace simt::engine {

struct Touched {
  uint64_t base;  // of the allocation
  bool read, written;
  uint64_t low, high;  // all bytes of it that were touched lie between these
};

// What a launch has touched, as far as one worker knows.
class Footprint {
 public:
  void note(uint64_t base, bool write, uint64_t low, uint64_t high) {
    for (Touched& known : touched_) {  // a launch uses few allocations
      if (known.base != base) continue;
      (write ? known.written : known.read) = true;
      known.low = std::min(known.low, low);
      known.high = std::max(known.high, high);
      return;
    }
    const HostMemory bookkeeping;  // a lane may be running
    touched_.push_back({base, !write, write, low, high});
  }
  void note_texture() { reads_textures_ = true; }  // what is read through one is not noted
  bool reads_textures() const { return reads_textures_; }
  void note_fence() { has_fence_ = true; }  // for the device or more
  bool has_fence() const { return has_fence_; }
  void note_dependency() { has_waited_ = true; }  // for the kernel ahead in the stream
  bool has_waited() const { return has_waited_; }
  const std::vector<Touched>& touched() const { return touched_; }
  // Where it has looked for flags of other devices: bytes of a sector.
  struct Polled {
    uint64_t sector;
    uint32_t bytes;
  };
  void note_polled(uint64_t sector, uint32_t bytes) {
    const auto at = std::lower_bound(
        polled_.begin(), polled_.end(), sector,
        [](const Polled& polled, uint64_t address) { return polled.sector < address; });
    if (at != polled_.end() && at->sector == sector) {
      at->bytes |= bytes;
      return;
    }
    const HostMemory bookkeeping;
    polled_.insert(at, {sector, bytes});
  }
  const std::vector<Polled>& polled() const { return polled_; }
  void add(const Footprint& other);
  void clear() { *this = {}; }

 private:
  std::vector<Touched> touched_;
  std::vector<Polled> polled_;  // in the order of their addresses, each sector once
  bool reads_textures_ = false, has_fence_ = false, has_waited_ = false;
};

}  // namespace simt::engine
