// What blocks do to global memory: races between them, and memory that nobody has written.
//
// Blocks of a grid run in any order. Two of them race if they touch the same bytes in one launch, one of
// them with a plain store and the other in any way but a volatile load, and nothing orders the two. What
// orders them is a fence: what a block read or wrote before __threadfence() is known to every block that has since
// seen one of its later atomic operations or stores, by an atomic operation or a volatile load, and to
// whom that one passes it on. So tickets, locks, flags and look-back are no races. The waiting side is
// not asked for a fence of its own.
//
// Stores that change nothing and blocks that store the same value are let pass: CUDA calls them races too,
// but flags and levels are set that way in programs that work. So is a test of a word that is then set,
// where all set the same value (`if (level[v] < 0) level[v] = next;`).
//
// For each sector of 32 bytes there is a record of who touched which bytes last: in eight bytes as long as one block
// has the sector for itself, else in a cell. Workers share the cells. Two of them, which fill a cache line,
// are locked only when a block comes to them in a new way; a block that comes again to a sector where nobody
// else interferes finds its record, and goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fault.h"
#include "races/sector_records.h"

namespace simt::engine {

// Two blocks that touch the same bytes. Whether it is a fault is known after the launch; see race_policy.h.
struct BlockRace {
  Fault fault;
  uint64_t value = 0;   // what was stored
  bool varies = false;  // not always the same

  bool is_same_place(const BlockRace& other) const {
    return fault.pc == other.fault.pc && fault.other_pc == other.fault.other_pc &&
           fault.store == other.fault.store && fault.other_store == other.fault.other_store;
  }
};

// Those that one worker has seen in the launch so far, of blocks or of a block's threads. It has its room from the start:
// lanes that add to it have none.
class BlockRaceLog {
 public:
  BlockRaceLog() { races_.reserve(64); }
  void add(const BlockRace& race) {
    for (BlockRace& known : races_) {
      if (!known.is_same_place(race)) continue;
      known.varies |= known.value != race.value;
      known.fault.cause = std::max(known.fault.cause, race.fault.cause);
      return;
    }
    if (races_.size() < races_.capacity()) races_.push_back(race);
  }
  const std::vector<BlockRace>& all() const { return races_; }
  void clear() { races_.clear(); }

 private:
  std::vector<BlockRace> races_;
};

// One worker's view.
class BlockRaceCheck {
 public:
  // `behind`: what the block knows of from the start, or nullptr.
  void begin_block(uint64_t linear, const VectorClock* behind = nullptr);
  void fence();  // some thread of the block has executed one
  // The block knows of all that the other one has done up to its last fence.
  void join_behind(const BlockRaceCheck& other) {
    AccessRecord last;
    last.block = other.block_, last.epoch = other.epoch_;
    join(last);
  }

  // Records what some lanes of the block do in one instruction: each touches `size` bytes, whole words of one
  // sector; `is_row`: all 32, one element after another. Returns the lanes that need record() as well, because others
  // come to their sectors, too. `maybe_unwritten` are lanes in memory that is perhaps not all written: what they store is noted as note_written() does it,
  // and those stay in it of whose sector something is read that nobody has written.
  // `again` becomes true if some lane stores where the block has loaded or stored before in this phase, or loads where
  // it has stored; also where that is not known.
  uint32_t record_words(const uint64_t* address, uint32_t lanes, unsigned size, bool is_row,
                        AccessKind kind, uint32_t pc, uint32_t& maybe_unwritten, bool& again);

  // Records what the block does to some of the 64 bytes at `line`. Bit 0 of the result is set if that clashes
  // with what another block did to the first of its two sectors, and clash[0] says what; bit 1 and clash[1]
  // stand for the second.
  unsigned record(uint64_t line, uint64_t bytes, AccessKind kind, uint32_t pc,
                  AccessRecord clash[2]) {
    return record(line, bytes, kind, pc, epoch_, clash);
  }
  // The same in another epoch.
  unsigned record(uint64_t line, uint64_t bytes, AccessKind kind, uint32_t pc, uint32_t epoch,
                  AccessRecord clash[2]);

  // The block has read these bytes by an atomic operation or a volatile load: it knows now what those knew
  // who stored there.
  void acquire(uint64_t sector, uint32_t bytes);
  // Until some block has executed a fence there is nothing to acquire.
  static bool has_fences();

  // Do these bytes hold what they held before a block of this launch stored there?
  static bool is_unchanged(uint64_t sector, uint32_t bytes);
  // The index in its grid of a block of a launch that has the phase for itself.
  static uint64_t linear(uint32_t block) { return block - first_block; }
  // Names in a race the other block, which record() reported.
  void name_other(Fault& race, uint32_t block) const;

  // Places that load a word and then store to it.
  struct TestAndSet {
    uint32_t load_pc, store_pc;
    bool operator==(const TestAndSet&) const = default;
  };
  std::vector<TestAndSet> test_and_set;

 private:
  struct KnownCodeSite {
    CodeSite site;
    uint32_t number = CodeSites::kMost;
  };

  bool add_words(ShadowWord& word, uint64_t now, uint32_t words, AccessKind kind, bool has_fences);
  bool first_access(const Region& region, ShadowWord& word, uint64_t now, uint64_t sector,
                    uint32_t words, AccessKind kind, uint32_t pc);
  uint32_t number_of(const CodeSite& site);
  void note_test_and_set(const TestAndSet& pair);
  bool is_recorded(const ShadowCell& head, ShadowCell& cell, uint32_t bytes, AccessKind kind,
                   uint32_t epoch) const;
  bool add_record(const Region& region, ShadowCell& cell, uint64_t sector, const AccessRecord& mine,
                  AccessRecord& clash);
  bool is_ordered(const AccessRecord& earlier) const;
  void join(const AccessRecord& release);
  bool has_seen(uint64_t sector, const AccessRecord& atomic) const;

  uint32_t block_ = 0, epoch_ = 0;
  bool has_touched_ = false;  // since the last fence
  uint32_t last_joined_ = 0, last_version_ = 0;
  // Atomic operations of other blocks that the block's own ones, or its volatile loads, may have come behind: a
  // plain store to the same bytes comes behind them, too (`if (atomicAdd(&count, 1) == last) count = 0;`).
  struct SeenAtomic {
    uint64_t sector = 0;
    uint32_t block = 0, bytes = 0;
  };
  SeenAtomic seen_[16];
  unsigned next_seen_ = 0;
  static constexpr size_t kMostRecords = 64;  // of a sector, besides the two in its cell
  AccessRecord others_[2 + kMostRecords];  // of the sector at hand: too many to make anew each time
  KnownCodeSite known_sites_[64];
  const KnownCodeSite* latest_ = known_sites_;
  uint32_t generation_ = 0;  // of the known sites
};

}  // namespace simt::engine
