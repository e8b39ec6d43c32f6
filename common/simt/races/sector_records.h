// What is noted about a sector of global memory: who touched which bytes in this launch, from where, how many fences into its
// block. One block's records fit in 64 bits (ShadowWord, in memory/shadow.h); those of two in a cell; more stand in a list.
#pragma once

#include <vector_types.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/spin_lock.h"
#include "memory/shadow.h"
#include "races/vector_clock.h"

namespace simt::engine {

enum class AccessKind : uint8_t { none, read, write, atomic };  // atomic: volatile stores, too

// What one block did to a sector.
struct AccessRecord {
  uint32_t block = 0;  // its number among the blocks of all launches
  uint32_t bytes = 0;  // which of the 32
  uint32_t pc = 0;     // see short_pc()
  uint32_t epoch = 0;  // how many fences the block had executed, each after an access
  AccessKind kind = AccessKind::none;
  // The epochs of a store of the copy engine that nobody has waited for: no fence tells of it. `kRead`: a wait has been until its
  // source was read, at `pc`.
  static constexpr uint32_t kRead = (1u << 28) - 2, kUnderWay = kRead + 1;
  bool is_under_way() const { return epoch >= kRead; }
};

// ---- Records ------------------------------------------------------------------------------------

inline uint32_t block_of(uint64_t who) { return static_cast<uint32_t>(who >> 32); }
inline uint32_t bytes_of(uint64_t who) { return static_cast<uint32_t>(who); }
inline AccessKind kind_of(uint32_t tag) { return static_cast<AccessKind>(tag & ShadowCell::kKind); }
inline uint64_t load(const std::atomic<uint64_t>& x) { return x.load(std::memory_order_relaxed); }
inline uint32_t load(const std::atomic<uint32_t>& x) { return x.load(std::memory_order_relaxed); }

inline AccessRecord record_at(const ShadowCell& cell, int i) {
  const uint64_t who = load(cell.who[i]);
  const uint32_t tag = load(cell.tag[i]);
  return {block_of(who), bytes_of(who), load(cell.pc[i]), tag >> 4, kind_of(tag)};
}

// Leaves the flags as they are. Only under the cell's lock.
inline void put(ShadowCell& cell, int i, const AccessRecord& record) {
  cell.who[i].store(uint64_t{record.block} << 32 | record.bytes, std::memory_order_relaxed);
  cell.pc[i].store(record.pc, std::memory_order_relaxed);
  const uint32_t flags = load(cell.tag[i]) & (ShadowCell::kLocked | ShadowCell::kOverflow);
  cell.tag[i].store(record.epoch << 4 | flags | static_cast<uint32_t>(record.kind),
                    std::memory_order_relaxed);
}

// Where in the program, and how many fences into its block, a block came to a sector first.
struct CodeSite {
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t load_pc = kNone, store_pc = kNone;
  uint32_t epoch_and_order =
      0;  // the order in the last bit, so that there is one number less to compare
  uint32_t epoch() const { return epoch_and_order >> 1; }
  bool stores_first() const { return epoch_and_order & 1; }
  bool operator==(const CodeSite&) const = default;
};

struct CodeSiteHash {
  size_t operator()(const CodeSite& site) const {
    uint64_t x = site.load_pc * 0x9e3779b97f4a7c15;
    x = (x ^ site.store_pc) * 0x9e3779b97f4a7c15;
    x = (x ^ site.epoch_and_order) * 0x9e3779b97f4a7c15;
    return x >> 32;
  }
};

// The sites of a phase, numbered.
struct CodeSites {
  static constexpr uint32_t kMost = 1 << 14;
  CodeSite at[kMost];
  SpinLock lock;
  std::unordered_map<CodeSite, uint32_t, CodeSiteHash> numbers;
  uint32_t generation = 1;  // goes up whenever the numbers are given anew

  // kMost if there are too many.
  uint32_t number(const CodeSite& site) {
    const Guard guard(lock);
    const auto found = numbers.find(site);
    if (found != numbers.end()) return found->second;
    const auto next = static_cast<uint32_t>(numbers.size());
    if (next == kMost) return kMost;
    at[next] = site;
    numbers.emplace(site, next);
    return next;
  }
};
extern CodeSites* const sites;

inline const CodeSite& site_of(uint64_t word) {
  return sites->at[word >> ShadowWord::kSiteShift & (CodeSites::kMost - 1)];
}

// A bit for each word of a sector, as four for its bytes.
inline uint32_t bytes_of_words(uint32_t words) {
  uint32_t x = words;
  x = (x | x << 12) & 0x000f000f;
  x = (x | x << 6) & 0x03030303;
  x = (x | x << 3) & 0x11111111;
  return x * 15;
}

// ---- What fences order --------------------------------------------------------------------------

// A launch in a phase, whose blocks have the numbers from `first` to `last`, and the piece of work that it is.
struct Member {
  uint32_t first = 0, last = ~uint32_t{0};
  int device = 0;
  dim3 grid{};
  uint32_t queue = 0;
  uint64_t number = 0;
  bool has_ended = false;
  VectorClock known;  // when it has ended: its own blocks, and what they knew of others
  bool holds(uint32_t block) const { return block >= first && block <= last; }
};

// The present launch, or what of it comes after the last barrier of the grid. Launches of several devices that run at once
// share a phase, as if they were one grid.
struct Phase {
  uint32_t next = 1;  // number of the first block to come
  std::atomic<bool> has_fences{false};
  SpinLock lock;  // of clocks
  std::unordered_map<uint32_t, VectorClock> clocks;
  std::deque<Member> members;
};
extern Phase& the_phase;
inline Phase& phase() { return the_phase; }
extern uint32_t first_block;  // of this phase: records of earlier ones are history

namespace shadow {

// A launch begins, or all blocks of one have met at a barrier of the whole grid: what was done before is
// ordered before what comes. No block may be running.
void begin_phase(uint64_t blocks);

// Another launch begins while those of the phase run. The distance of its blocks' numbers from the phase's first; none if the
// numbers have run out.
std::optional<uint32_t> join_phase(uint64_t blocks);
// A launch whose blocks begin at this distance; when it has ended.
void add_member(const Member& member);
void end_member(const Member& member);

}  // namespace shadow

// Sectors that more than two kinds of visitors share.
struct OverflowSectors {
  SpinLock lock;
  std::unordered_map<uint64_t, std::vector<AccessRecord>> records;
};
OverflowSectors& overflow(uint64_t sector);

// All that is noted about a sector in this phase. Only under the cell's lock.
template <class F>
void for_each_record(const ShadowCell& cell, uint64_t sector, F&& f) {
  const uint32_t base = first_block;
  for (const int i : {0, 1}) {
    const AccessRecord record = record_at(cell, i);
    if (record.block >= base && record.kind != AccessKind::none) f(record);
  }
  if (!(load(cell.tag[0]) & ShadowCell::kOverflow)) return;
  OverflowSectors& sectors = overflow(sector);
  const Guard guard(sectors.lock);
  const auto found = sectors.records.find(sector);
  if (found == sectors.records.end()) return;
  for (const AccessRecord& record : found->second) {
    if (record.block >= base) f(record);
  }
}

inline bool is_inflated(uint64_t word) {
  return (word & ShadowWord::kInflated) && block_of(word) >= first_block;
}

// Which bytes of a sector a launch's blocks have touched, and how. None of them may be running.
struct SectorUse {
  uint32_t read = 0, written = 0, atomic = 0;
  bool reads_first = false;  // is it known that it was read before it was written?
};
SectorUse use_of_cell(const ShadowCell& cell, uint64_t sector, const Member& launch);
inline SectorUse use_of(const Region& region, uint64_t sector, const Member& launch) {
  const uint64_t word = load(region.word(sector).all);
  if (word & ShadowWord::kInflated) {
    if (block_of(word) < std::min(launch.first, first_block)) return {};
    return use_of_cell(region.cells[(sector - region.base) / kSector], sector, launch);
  }
  if (!launch.holds(block_of(word))) return {};
  SectorUse use;
  use.read = bytes_of_words(word & 0xff);
  use.written = bytes_of_words(word >> 8 & 0xff);
  // The sites of earlier phases of the launch may have been numbered anew.
  use.reads_first = use.read && (!use.written ||
                                 (block_of(word) >= first_block && !site_of(word).stores_first()));
  return use;
}

// From now on the cell has a sector's records. Under the cell's lock.
void inflate(ShadowWord& word, ShadowCell& cell);

}  // namespace simt::engine
