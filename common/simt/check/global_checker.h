// What may be wrong with a request to global memory: its place, memory that nobody has written, other blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/block_context.h"
#include "base/request.h"
#include "check/block_race_log.h"
#include "check/block_races.h"
#include "check/faults.h"
#include "check/stores_in_flight.h"
#include "check/uninitialized_values.h"
#include "check/warp_checks.h"
#include "memory/footprint.h"
#include "memory/range_cache.h"

namespace simt::engine {

class GlobalChecker {
 public:
  GlobalChecker(const BlockContext& block, FaultLog& faults, BlockRaceLog& races,
                UninitializedValues& values, RangeCache& ranges)
      : block_(block), faults_(faults), races_(races), values_(values), ranges_(ranges) {
    unsettled_.reserve(kLanes);
    flags_.reserve(kLanes);
  }
  void begin_block() {
    blocks.begin_block(block_.linear());
    unsettled_.clear();
    flags_.clear();
  }

  struct Place {
    bool goes_on = true;           // else the block has to end
    uint32_t maybe_unwritten = 0;  // lanes in memory of which not all is written
  };
  // Does each lane come to memory that it may use?
  Place check_place(const Request& request);

  // Other blocks that touch the same bytes, and memory that nobody has written. False if the block comes to none of them
  // again, in a way that could race: see BlockRaceCheck::record_words().
  bool check_blocks(const Request& request, uint32_t maybe_unwritten);

  // The lanes have run: did the stores that clash change anything?
  void settle() {
    if (!unsettled_.empty() || !flags_.empty()) [[unlikely]]
      settle_all();
  }
  // A store that clashes with an earlier one of the same block.
  void add_unsettled(const BlockRace& race) { unsettled_.push_back({race, race.value, true}); }

  BlockRaceCheck blocks;
  Footprint footprint;  // of the launch so far
  StoresInFlight stores;

 private:
  void check_written(const Request& request, uint32_t lanes);
  void report_clash(const Request& request, uint32_t lanes, AccessKind kind,
                    const AccessRecord& clash, uint64_t sector);
  void settle_all();

  const BlockContext& block_;
  FaultLog& faults_;
  BlockRaceLog& races_;
  UninitializedValues& values_;
  RangeCache& ranges_;
  // Until the lanes have run: stores that clash with another block, and what they read of its flags.
  struct Unsettled {
    BlockRace race;
    uint64_t before;
    bool is_sure;  // that `before` has what the other block stored
  };
  struct Flag {
    uint64_t line, bytes;
  };
  std::vector<Unsettled> unsettled_;
  std::vector<Flag> flags_;
};

// As the shadow knows it.
inline AccessKind touch_of(const Request& request) {
  return request.kind == Access::load                   ? AccessKind::read
         : request.is_atomic() || request.is_volatile() ? AccessKind::atomic
                                                        : AccessKind::write;
}

// Which of the 64 bytes at `line` are among the `size` at `address`.
uint64_t bytes_in_line(uint64_t address, unsigned size, uint64_t line);

}  // namespace simt::engine
