// What a block has beside its memory: copies that are under way, and barriers of a part of the block.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"

namespace simt::engine {

// The asynchronous copies of one thread, in the order of their issue.
class ThreadCopies {
 public:
  void issue(void* to, const void* from, unsigned size, unsigned bytes);
  void commit() { ++open_group_; }
  // Completes all groups but the last `kept`. What was not committed stays under way.
  void wait(uint64_t kept);
  void clear();

 private:
  struct Copy {
    void* to;
    uint64_t group;
    unsigned size;
    std::array<unsigned char, 16> bytes;
  };
  std::vector<Copy, HostAllocator<Copy>> pending_;
  uint64_t open_group_ = 0;
};

// Used by one OS thread only, whose lanes take turns.
class BlockExtras {
 public:
  void begin_block();
  ThreadCopies& copies(unsigned thread);

  // A barrier among `warps` neighbouring warps from `first` on.
  struct Part {
    unsigned arrived = 0;
    unsigned phase = 0;
  };
  Part& part(unsigned first, unsigned warps) {
    used_ = true;
    return parts_[first][static_cast<unsigned>(std::bit_width(warps)) - 1];
  }

  // 32 bytes for each thread, through which threads of different warps hand each other values.
  void* slot(unsigned thread);

 private:
  bool used_ = false;
  std::vector<ThreadCopies, HostAllocator<ThreadCopies>> copies_;
  std::array<std::array<Part, 6>, 32> parts_{};
  std::vector<std::array<uint64_t, 4>, HostAllocator<std::array<uint64_t, 4>>> slots_;
};

}  // namespace simt::engine
