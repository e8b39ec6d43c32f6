// Shared memory that nobody in the block has written: a read of it is a fault once something comes of it.
//
// Such a read has a number. The lane that made it is in doubt until it stores; what it stores to shared memory is in doubt,
// too, and what it stores to global memory is the fault. So it is with what a shuffle brings from a lane that takes no part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/faults.h"
#include "check/warp_checks.h"

namespace simt::engine {

class UninitializedValues {
 public:
  UninitializedValues() { reads_.reserve(kMost); }
  void begin_block() { reads_.clear(); }

  // The number that stands for such a read; 0 if there are too many.
  uint8_t number(const Fault& read) {
    for (size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i].pc == read.pc) return static_cast<uint8_t>(i + 1);
    }
    if (reads_.size() == kMost) return 0;
    reads_.push_back(read);
    return static_cast<uint8_t>(reads_.size());
  }

  // These lanes write to global memory: perhaps what they have made of such a read.
  void settle(WarpChecks& warp, uint32_t lanes, FaultLog& faults) const {
    for (const int lane : lanes_of(warp.doubtful & lanes)) {
      faults.add(reads_[warp.doubt_number[lane] - 1u]);
    }
    warp.doubtful &= ~lanes;
  }

 private:
  static constexpr size_t kMost = 253;  // RaceCheck has the numbers above for asynchronous copies
  std::vector<Fault> reads_;
};

}  // namespace simt::engine
