// What a block has beside its memory: barriers of a part of the block, and places to hand values over.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"
#include "exec/fiber_pool.h"

namespace simt::engine {

// Used by one OS thread only, whose lanes take turns.
class AsyncState {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    parts_ = {};
  }

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
  void* slot(unsigned thread) {
    if (slots_.empty()) slots_.resize(kMaxBlockThreads);
    return &slots_[thread];
  }

 private:
  bool used_ = false;
  std::array<std::array<Part, 6>, 32> parts_{};
  std::vector<std::array<uint64_t, 4>, HostAllocator<std::array<uint64_t, 4>>> slots_;
};

}  // namespace simt::engine
