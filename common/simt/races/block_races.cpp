#include "races/block_races.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/lane_simd.h"

namespace simt::engine {

bool BlockRaceCheck::has_fences() { return phase().has_fences.load(std::memory_order_relaxed); }

void BlockRaceCheck::name_other(Fault& race, uint32_t block) const {
  race.other_block = linear(block);
  Phase& p = phase();
  const Guard guard(p.lock);
  for (const Member& member : p.members) {
    if (!member.holds(block)) continue;
    race.other_block = block - member.first;
    if (member.holds(block_)) return;
    race.other_device = member.device;
    race.grid = member.grid;
    return;
  }
}

void BlockRaceCheck::begin_block(uint64_t linear, const VectorClock* behind) {
  block_ = first_block + static_cast<uint32_t>(linear);
  epoch_ = 0;
  has_touched_ = false;
  last_joined_ = 0;
  if (behind) {
    Phase& p = phase();
    p.has_fences = true;
    const Guard guard(p.lock);
    p.clocks[block_].add(*behind);
  }
  if (std::exchange(next_seen_, 0)) std::fill(std::begin(seen_), std::end(seen_), SeenAtomic{});
}

void BlockRaceCheck::fence() {
  phase().has_fences.store(true, std::memory_order_relaxed);
  if (has_touched_) ++epoch_;
  has_touched_ = false;
}

bool BlockRaceCheck::is_ordered(const AccessRecord& earlier) const {
  Phase& p = phase();
  if (!has_fences()) return false;
  const Guard guard(p.lock);
  const auto mine = p.clocks.find(block_);
  return mine != p.clocks.end() && mine->second.of(earlier.block) > earlier.epoch;
}

void BlockRaceCheck::join(const AccessRecord& release) {
  if (release.is_under_way()) return;
  Phase& p = phase();
  const Guard guard(p.lock);
  VectorClock& mine = p.clocks[block_];
  if (mine.of(release.block) < release.epoch) {
    const VectorClock::Run run{release.block, release.block, release.epoch};
    mine.add(&run, 1);
  }
  const auto theirs = p.clocks.find(release.block);
  if (theirs == p.clocks.end()) return;
  if (release.block == last_joined_ && theirs->second.version == last_version_) return;
  last_joined_ = release.block;
  last_version_ = theirs->second.version;
  mine.add(theirs->second);
}

bool BlockRaceCheck::has_seen(uint64_t sector, const AccessRecord& atomic) const {
  return std::any_of(std::begin(seen_), std::end(seen_), [&](const SeenAtomic& seen) {
    return seen.sector == sector && seen.block == atomic.block && (seen.bytes & atomic.bytes);
  });
}

// The usual case of a block that comes again: it has its record in this sector, and nobody else has one that matters.
inline bool BlockRaceCheck::is_recorded(const ShadowCell& head, ShadowCell& cell, uint32_t bytes,
                                        AccessKind kind, uint32_t epoch) const {
  const uint32_t tag = epoch << 4 | static_cast<uint32_t>(kind);
  for (const int i : {0, 1}) {
    uint64_t who = load(cell.who[i]);
    if (block_of(who) != block_ || (load(cell.tag[i]) & ~ShadowCell::kLocked) != tag) continue;
    const uint64_t other = load(cell.who[1 - i]);
    const uint32_t other_tag = load(cell.tag[1 - i]);
    const bool is_alone = block_of(other) == block_ || block_of(other) < first_block;
    const bool is_reader = kind == AccessKind::read && kind_of(other_tag) == AccessKind::read;
    if ((!is_alone && !is_reader) || (other_tag & ShadowCell::kOverflow) ||
        (load(head.tag[0]) & ShadowCell::kLocked)) {
      return false;
    }
    return !(bytes & ~bytes_of(who)) || cell.who[i].compare_exchange_strong(who, who | bytes);
  }
  return false;
}

uint32_t BlockRaceCheck::record_words(const uint64_t* address, uint32_t lanes, unsigned size,
                                      bool is_row, AccessKind kind, uint32_t pc,
                                      uint32_t& maybe_unwritten, bool& again) {
  const Region* region = shadow::region_of(address[std::countr_zero(lanes)]);
  again = true;
  if (!region) return lanes;
  again = false;
  const uint32_t candidates = maybe_unwritten;
  maybe_unwritten = 0;
  has_touched_ = true;
  const bool has_fences = BlockRaceCheck::has_fences();
  // Asked once: behind each word of the shadow the compiler would load them anew.
  const uint64_t mine = uint64_t{block_} << 2;
  const uint32_t first = first_block;

  struct First {
    uint64_t sector;
    uint32_t words, lanes;
  };
  First firsts[kLanes];  // where the block comes first, or first in this way
  unsigned count = 0;
  uint32_t left = 0;
  const auto record = [&](uint64_t sector, uint32_t words, uint32_t here)
      __attribute__((always_inline)) {
    if (!region->holds(sector)) [[unlikely]] {
      left |= here;
      again = true;
      maybe_unwritten |= here & candidates;
      return;
    }
    ShadowWord& word = region->word(sector);
    if ((here & candidates) && region->has_written) {
      const uint32_t bytes = bytes_of_words(words);
      if (kind == AccessKind::write) {
        word.set_written(bytes);
      } else if (bytes & ~word.written.load(std::memory_order_relaxed)) [[unlikely]] {
        maybe_unwritten |= here & candidates;
      }
    }
    const uint64_t now = word.all.load(std::memory_order_acquire);
    if (now >> ShadowWord::kFlagShift == mine) {
      again |= ((now >> 8 | (kind == AccessKind::write ? now : 0)) & words) != 0;
      if (add_words(word, now, words, kind, has_fences)) return;
    } else if (block_of(now) >= first) {
      again |= (now & ShadowWord::kInflated) != 0;
      const ShadowCell& head = region->cells[(sector - region->base) / kLine * 2];
      ShadowCell& cell = region->cells[(sector - region->base) / kSector];
      const bool is_known = (now & ShadowWord::kInflated) &&
                            is_recorded(head, cell, bytes_of_words(words), kind, epoch_);
      if (!is_known) left |= here;
      return;
    }
    if (kind == AccessKind::write) {
      __builtin_prefetch(reinterpret_cast<const void*>(sector), 1);
      __builtin_prefetch(region->image(sector), 1);
    }
    firsts[count++] = {sector, words, here};
  };
  for_each_chunk<kSector, 4>(address, lanes, size, is_row, record);
  for (unsigned i = 0; i < count; ++i) {
    const First& at = firsts[i];
    ShadowWord& word = region->word(at.sector);
    const uint64_t now = word.all.load(std::memory_order_acquire);
    if (!add_words(word, now, at.words, kind, has_fences) &&
        !first_access(*region, word, now, at.sector, at.words, kind, pc)) {
      left |= at.lanes;
    }
  }
  return left;
}

// To the words that the block has recorded for this kind before; false if there are none.
[[gnu::always_inline]] inline bool BlockRaceCheck::add_words(ShadowWord& word, uint64_t now,
                                                             uint32_t words, AccessKind kind,
                                                             bool has_fences) {
  const unsigned shift = kind == AccessKind::write ? 8 : 0;
  const auto noted = static_cast<uint8_t>(now >> shift);
  if (now >> ShadowWord::kFlagShift != uint64_t{block_} << 2 || !noted ||
      (epoch_ != 0 && site_of(now).epoch() != epoch_)) {
    return false;
  }
  if (!(words & ~noted)) return true;
  if (!has_fences) {
    word.set_words(kind == AccessKind::write, static_cast<uint8_t>(noted | words));
    return true;
  }
  uint64_t expected = now;  // what others learn from this record must not get lost
  return word.all.compare_exchange_strong(expected, now | uint64_t{words} << shift);
}

// The block's first touch of this kind.
bool BlockRaceCheck::first_access(const Region& region, ShadowWord& word, uint64_t now,
                                  uint64_t sector, uint32_t words, AccessKind kind, uint32_t pc) {
  CodeSite site{CodeSite::kNone, CodeSite::kNone, epoch_ << 1};
  uint64_t known = 0;
  if (block_of(now) >= first_block) {
    if (now >> ShadowWord::kFlagShift != uint64_t{block_} << 2) return false;
    site = site_of(now);
    if (site.epoch() != epoch_) return false;
    known = now & 0xffff;
  }
  if (kind == AccessKind::read && known >> 8) site.epoch_and_order |= 1;
  (kind == AccessKind::write ? site.store_pc : site.load_pc) = pc;
  const uint32_t number = number_of(site);
  if (number == CodeSites::kMost) return false;
  const uint64_t mine = uint64_t{block_} << 32 | uint64_t{number} << ShadowWord::kSiteShift |
                        known | uint64_t{words} << (kind == AccessKind::write ? 8 : 0);
  if (kind == AccessKind::read) return word.all.compare_exchange_strong(now, mine);
  // The first store: others wait until what the sector held is saved.
  if (!word.all.compare_exchange_strong(now, mine | ShadowWord::kBusy)) return false;
  std::memcpy(region.image(sector), reinterpret_cast<const void*>(sector), kSector);
  word.all.store(mine, std::memory_order_release);
  if (known & words) note_test_and_set({site.load_pc, pc});
  return true;
}

uint32_t BlockRaceCheck::number_of(const CodeSite& site) {
  if (generation_ != sites->generation) {
    std::fill(std::begin(known_sites_), std::end(known_sites_), KnownCodeSite{});
    generation_ = sites->generation;
  }
  if (latest_->site == site) [[likely]]  // the sectors of one request mostly share it
    return latest_->number;
  KnownCodeSite& known = known_sites_[CodeSiteHash()(site) % std::size(known_sites_)];
  if (known.site != site) known = {site, sites->number(site)};
  latest_ = &known;
  return known.number;
}

void BlockRaceCheck::note_test_and_set(const TestAndSet& pair) {
  if (test_and_set.size() < kMostRecords &&
      std::find(test_and_set.begin(), test_and_set.end(), pair) == test_and_set.end()) {
    test_and_set.push_back(pair);
  }
}

unsigned BlockRaceCheck::record(uint64_t line, uint64_t bytes, AccessKind kind, uint32_t pc,
                                uint32_t epoch, AccessRecord clash[2]) {
  const Region* found = shadow::region_of(line);
  if (!found) return 0;
  has_touched_ = true;
  const Region& region = *found;
  ShadowCell* const cells = region.cells + (line - region.base) / kSector;
  bool is_new[2];
  for (const int i : {0, 1}) {
    const auto half = static_cast<uint32_t>(bytes >> 32 * i);
    is_new[i] = half && !(is_inflated(region.word(line + kSector * static_cast<unsigned>(i))
                                          .all.load(std::memory_order_acquire)) &&
                          is_recorded(cells[0], cells[i], half, kind, epoch));
  }
  if (!is_new[0] && !is_new[1]) return 0;
  cells[0].lock();
  unsigned clashes = 0;
  for (const int i : {0, 1}) {
    if (!is_new[i]) continue;
    const AccessRecord mine{block_, static_cast<uint32_t>(bytes >> 32 * i), pc, epoch, kind};
    const uint64_t sector = line + kSector * static_cast<unsigned>(i);
    inflate(region.word(sector), cells[i]);
    clashes |= static_cast<unsigned>(add_record(region, cells[i], sector, mine, clash[i])) << i;
  }
  cells[0].unlock();
  return clashes;
}

// Records what a block does to a sector in which it has no record yet, or is not alone. Under the lock.
bool BlockRaceCheck::add_record(const Region& region, ShadowCell& cell, uint64_t sector,
                                const AccessRecord& mine, AccessRecord& clash) {
  auto& records = others_;
  size_t count = 0;
  const bool has_list = load(cell.tag[0]) & ShadowCell::kOverflow;
  for_each_record(cell, sector, [&](const AccessRecord& record) {
    if (count < std::size(records)) records[count++] = record;
  });

  bool clashes = false, is_first_store = true;
  for (size_t i = 0; i < count; ++i) {
    const AccessRecord& record = records[i];
    is_first_store &= record.kind != AccessKind::write;
    if (!(record.bytes & mine.bytes)) continue;
    if (record.block == block_) {
      if (mine.kind == AccessKind::write && record.kind == AccessKind::read) {
        note_test_and_set({record.pc, mine.pc});
      }
      continue;
    }
    if (mine.kind == AccessKind::atomic && record.kind != AccessKind::read && has_fences())
      join(record);
    const bool one_stores = mine.kind == AccessKind::write || record.kind == AccessKind::write;
    const bool comes_behind = mine.kind == AccessKind::write && record.kind == AccessKind::atomic &&
                              has_seen(sector, record);
    if (one_stores && !clashes && !comes_behind && !is_ordered(record)) {
      clash = record;
      clashes = true;
    }
  }
  if (mine.kind == AccessKind::write && is_first_store) {
    std::memcpy(region.image(sector), reinterpret_cast<const void*>(sector), kSector);
  }

  // The new record takes the place of one that it makes needless: the block's own, or another block's of
  // the same kind and bytes. The last store and the last atomic operation stay, and the first and the
  // last of several readers.
  size_t place = count;
  bool has_first_reader = false;
  for (size_t i = 0; i < count && place == count; ++i) {
    const AccessRecord& record = records[i];
    if (record.kind != mine.kind) continue;
    const bool covers = !(record.bytes & ~mine.bytes);
    if (record.block == block_) {
      if (record.epoch == mine.epoch || covers) place = i;
    } else if (mine.kind != AccessKind::read) {
      if (covers) place = i;
    } else {
      if (covers && has_first_reader) place = i;
      has_first_reader |= !(mine.bytes & ~record.bytes);
    }
  }
  if (place == std::size(records)) --place;
  if (place == count) {
    records[count++] = mine;
  } else {
    const uint32_t own_bytes = records[place].block == block_ ? records[place].bytes : 0;
    records[place] = mine;
    records[place].bytes |= own_bytes;
  }

  for (const size_t i : {0, 1})
    put(cell, static_cast<int>(i), i < count ? records[i] : AccessRecord{});
  if (has_list || count > 2) {
    OverflowSectors& sectors = overflow(sector);
    const Guard guard(sectors.lock);
    if (count > 2) {
      sectors.records[sector].assign(records + 2, records + count);
      cell.tag[0].fetch_or(ShadowCell::kOverflow, std::memory_order_relaxed);
    } else {
      sectors.records.erase(sector);
      cell.tag[0].fetch_and(~ShadowCell::kOverflow, std::memory_order_relaxed);
    }
  }
  return clashes;
}

void BlockRaceCheck::acquire(uint64_t sector, uint32_t bytes) {
  const Region* region = shadow::region_of(sector);
  if (!region || !has_fences()) return;
  ShadowCell& cell = region->cells[(sector - region->base) / kSector];
  ShadowCell& head = region->cells[(sector - region->base) / kLine * 2];
  head.lock();
  inflate(region->word(sector), cell);
  for_each_record(cell, sector, [&](const AccessRecord& record) {
    if (record.block == block_ || !(record.bytes & bytes) || record.kind < AccessKind::write)
      return;
    join(record);
    if (record.kind == AccessKind::atomic && !has_seen(sector, record)) {
      seen_[next_seen_++ % std::size(seen_)] = {sector, record.block, record.bytes & bytes};
    }
  });
  head.unlock();
}

bool BlockRaceCheck::is_unchanged(uint64_t sector, uint32_t bytes) {
  const Region* region = shadow::region_of(sector);
  if (!region) return false;
  const char* before = region->image(sector);
  const auto* now = reinterpret_cast<const char*>(sector);
  for (uint32_t rest = bytes; rest; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    if (before[i] != now[i]) return false;
  }
  return true;
}

}  // namespace simt::engine
