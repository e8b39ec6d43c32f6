// What may be wrong with a request to global memory: its place, memory that nobody has written, other blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/block_context.h"
#include "base/request.h"
#include "check/faults.h"
#include "check/store_conflicts.h"
#include "check/uninitialized_values.h"
#include "check/warp_checks.h"
#include "memory/footprint.h"
#include "memory/range_cache.h"
#include "races/block_races.h"

namespace simt::engine {

class GlobalChecker {
 public:
  GlobalChecker(const BlockContext& block, FaultLog& faults, BlockRaceLog& races,
                StoreConflicts& conflicts, UninitializedValues& values, RangeCache& ranges)
      : block_(block),
        faults_(faults),
        races_(races),
        conflicts_(conflicts),
        values_(values),
        ranges_(ranges) {
    flags_.reserve(kLanes);
  }
  void begin_block() {
    blocks.begin_block(block_.offset + block_.linear(), block_.behind);
    flags_.clear();
  }

  // The block has passed the barrier of the grid.
  void begin_block_again() { blocks.begin_block(block_.offset + block_.linear(), block_.behind); }

  struct Place {
    bool goes_on = true;           // else the block has to end
    const Range* range = nullptr;  // what holds the bytes of all lanes, if one does
    uint32_t maybe_unwritten = 0;  // lanes in memory of which not all is written
  };
  // Does each lane come to memory that it may use?
  Place check_place(const Request& request);

  // Other blocks that touch the same bytes, and memory that nobody has written. False if the block comes to none of them
  // again, in a way that could race: see BlockRaceCheck::record_words().
  bool check_blocks(const Request& request, uint32_t maybe_unwritten);

  // What a store of the copy engine writes is over for the block, or (`reads`) the wait at `pc` was until its source was read.
  void bulk_write_goes_on(uint64_t address, uint64_t bytes, uint64_t pc, bool reads);

  // The lanes have run: what they have read of flags tells the block what others did.
  void settle() {
    if (!flags_.empty()) [[unlikely]]
      acquire_flags();
  }

  BlockRaceCheck blocks;
  Footprint footprint;  // of the launch so far
  StoresInFlight stores;

 private:
  void check_written(const Request& request, uint32_t lanes);
  void report_clash(const Request& request, uint32_t lanes, AccessKind kind,
                    const AccessRecord& clash, uint64_t sector);
  void acquire_flags();

  const BlockContext& block_;
  FaultLog& faults_;
  BlockRaceLog& races_;
  StoreConflicts& conflicts_;
  UninitializedValues& values_;
  RangeCache& ranges_;
  struct Flag {
    uint64_t line, bytes;
  };
  std::vector<Flag> flags_;  // that the lanes read, until they have run
};

// As the shadow knows it.
inline AccessKind access_kind_of(const Request& request) {
  return request.kind == Access::load                   ? AccessKind::read
         : request.is_atomic() || request.is_volatile() ? AccessKind::atomic
                                                        : AccessKind::write;
}

// Which of the 64 bytes at `line` are among the `size` at `address`.
uint64_t bytes_in_line(uint64_t address, unsigned size, uint64_t line);

}  // namespace simt::engine
