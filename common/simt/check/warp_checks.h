// What the checks keep for each warp from one request to the next.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <vector>

#include "base/lane_simd.h"
#include "races/shared_races.h"

namespace simt::engine {

// An index outside its array, as the compiler's check saw it ahead of the access.
struct WrongIndex {
  uint64_t pc;
  int64_t index;
  const char* array;  // "'int [8]'"
};

struct WarpChecks {
  int index = 0;                  // of the warp in its block
  const uint3* thread = nullptr;  // of each lane
  WarpOrder order;                // what __syncwarp has ordered

  // Indices whose accesses are still to come. Nobody sees the accesses to a thread's own arrays.
  uint32_t has_wrong_index = 0;
  std::vector<WrongIndex> wrong_index[kLanes];
  uint32_t has_misaligned = 0;
  uint64_t misaligned[kLanes];  // an address that is no multiple of what its type needs
  bool is_misaligned(int lane, uint64_t address) const {
    return (has_misaligned >> lane & 1) && misaligned[lane] == address;
  }

  // Lanes that wrote a word which another one has written: is it the same value? See store_conflicts.h.
  uint32_t capture = 0;
  uint64_t captured[kLanes];

  // Lanes that have read shared memory which nobody had written, and have stored nothing since. What they
  // store may come of it.
  uint32_t doubtful = 0;
  uint8_t doubt_number[kLanes];  // which such read: see uninitialized_values.h
  void doubt(int lane, uint8_t number) {
    if (!number) return;
    doubtful |= 1u << lane;
    doubt_number[lane] = number;
  }

  // Lanes whose last atomic operation was an exchange with a use for the old value: perhaps they hold a lock.
  uint32_t locking = 0;

  // Lanes to which a shuffle has brought the value of one that takes no part. What a lane brings to the next step tells whether
  // it has made use of that.
  uint32_t strayed = 0;
  struct Stray {
    uint64_t brought = 0, pc = 0;
    uint32_t mask = 0;
    int by = 0, source = 0;
  };
  Stray stray[kLanes];

  // The number of the warp's first thread in its block.
  unsigned first_thread() const { return static_cast<unsigned>(index) * kLanes; }

  // A block begins.
  void reset() {
    order.reset();
    has_wrong_index = has_misaligned = capture = doubtful = locking = strayed = 0;
  }
};

}  // namespace simt::engine
