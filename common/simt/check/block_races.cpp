#include "check/block_races.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "base/lane_simd.h"

namespace simt::engine {

bool GlobalCheck::has_fences() { return phase().has_fences.load(std::memory_order_relaxed); }
uint64_t GlobalCheck::linear(uint32_t block) { return block - first_block; }

void GlobalCheck::begin_block(uint64_t linear) {
  block_ = first_block + static_cast<uint32_t>(linear);
  epoch_ = 0;
  has_touched_ = false;
  last_learnt_ = 0;
  std::fill(std::begin(seen_), std::end(seen_), SeenAtomic{});
}

void GlobalCheck::fence() {
  phase().has_fences.store(true, std::memory_order_relaxed);
  if (has_touched_) ++epoch_;
  has_touched_ = false;
}

bool GlobalCheck::is_ordered(const Note& earlier) const {
  Phase& p = phase();
  if (!has_fences()) return false;
  const Guard guard(p.lock);
  const auto mine = p.knowledge.find(block_);
  return mine != p.knowledge.end() && mine->second.of(earlier.block) > earlier.epoch;
}

void GlobalCheck::learn(const Note& release) {
  Phase& p = phase();
  const Guard guard(p.lock);
  Knowledge& mine = p.knowledge[block_];
  if (mine.of(release.block) < release.epoch) {
    const Knowledge::Run run{release.block, release.block, release.epoch};
    mine.add(&run, 1);
  }
  const auto theirs = p.knowledge.find(release.block);
  if (theirs == p.knowledge.end()) return;
  if (release.block == last_learnt_ && theirs->second.version == last_version_) return;
  last_learnt_ = release.block;
  last_version_ = theirs->second.version;
  mine.add(theirs->second);
}

bool GlobalCheck::has_seen(uint64_t sector, const Note& atomic) const {
  return std::any_of(std::begin(seen_), std::end(seen_), [&](const SeenAtomic& seen) {
    return seen.sector == sector && seen.block == atomic.block && (seen.bytes & atomic.bytes);
  });
}

// The usual case of a block that comes again: it is noted in this sector, and nobody else is who matters.
inline bool GlobalCheck::is_noted(const Cell& head, Cell& cell, uint32_t bytes, Touch kind) const {
  const uint32_t tag = epoch_ << 4 | static_cast<uint32_t>(kind);
  for (const int i : {0, 1}) {
    uint64_t who = load(cell.who[i]);
    if (block_of(who) != block_ || (load(cell.tag[i]) & ~Cell::kLocked) != tag) continue;
    const uint64_t other = load(cell.who[1 - i]);
    const uint32_t other_tag = load(cell.tag[1 - i]);
    const bool is_alone = block_of(other) == block_ || block_of(other) < first_block;
    const bool is_reader = kind == Touch::read && kind_of(other_tag) == Touch::read;
    if ((!is_alone && !is_reader) || (other_tag & Cell::kCrowded) ||
        (load(head.tag[0]) & Cell::kLocked)) {
      return false;
    }
    return !(bytes & ~bytes_of(who)) || cell.who[i].compare_exchange_strong(who, who | bytes);
  }
  return false;
}

namespace {

// Calls f(sector, words, lanes) for each sector that the lanes touch, in their order; neighbours that share
// a sector are one call. Each lane touches whole words of one sector.
template <class F>
[[gnu::always_inline]] inline void for_each_sector(const uint64_t* address, uint32_t lanes,
                                                   unsigned size, F&& f) {
  if (lanes == ~0u) {
    if (are_in_steps(address, size)) {  // one element after another
      const uint64_t begin = address[0], end = begin + kLanes * size;
      const int shift = std::countr_zero(size);
      for (uint64_t sector = begin - begin % kSector; sector < end; sector += kSector) {
        const uint64_t first = std::max(sector, begin), last = std::min(sector + kSector, end);
        const uint64_t words = (1u << (last - first) / 4) - 1;
        const uint64_t some = (uint64_t{1} << ((last - first) >> shift)) - 1;
        f(sector, static_cast<uint32_t>(words << (first - sector) / 4),
          static_cast<uint32_t>(some << ((first - begin) >> shift)));
      }
      return;
    }
  }
  const uint32_t all = (1u << size / 4) - 1;
  while (lanes) {
    const uint64_t at = address[std::countr_zero(lanes)], sector = at - at % kSector;
    uint32_t words = all << at % kSector / 4, here = lanes & -lanes;
    lanes &= lanes - 1;
    while (lanes) {
      const uint64_t offset = address[std::countr_zero(lanes)] - sector;
      if (offset >= kSector) break;
      words |= all << offset / 4;
      here |= lanes & -lanes;
      lanes &= lanes - 1;
    }
    f(sector, words, here);
  }
}

}  // namespace

uint32_t GlobalCheck::touch_briefly(const uint64_t* address, uint32_t lanes, unsigned size,
                                    Touch kind, uint32_t pc, uint32_t& fresh, bool& again) {
  const Region* region = shadow::region_of(address[std::countr_zero(lanes)]);
  again = true;
  if (!region) return lanes;
  again = false;
  const uint32_t maybe_unwritten = fresh;
  fresh = 0;
  has_touched_ = true;
  const bool has_fences = GlobalCheck::has_fences();

  struct First {
    uint64_t sector;
    uint32_t words, lanes;
  };
  First firsts[kLanes];  // where the block comes first, or first in this way
  unsigned count = 0;
  uint32_t left = 0;
  const auto touch = [&](uint64_t sector, uint32_t words, uint32_t here)
      __attribute__((always_inline)) {
    if (!region->holds(sector)) [[unlikely]] {
      left |= here;
      again = true;
      fresh |= here & maybe_unwritten;
      return;
    }
    Brief& brief = region->brief(sector);
    if ((here & maybe_unwritten) && region->has_written) {
      const uint32_t bytes = bytes_of_words(words);
      if (kind == Touch::write) {
        brief.set_written(bytes);
      } else if (bytes & ~brief.written.load(std::memory_order_relaxed)) [[unlikely]] {
        fresh |= here & maybe_unwritten;
      }
    }
    const uint64_t now = brief.all.load(std::memory_order_acquire);
    if (now >> Brief::kFlagShift == uint64_t{block_} << 2) {
      again |= ((now >> 8 | (kind == Touch::write ? now : 0)) & words) != 0;
    } else {
      again |= (now & Brief::kWide) && block_of(now) >= first_block;
    }
    if (add_words(brief, now, words, kind, has_fences)) return;
    if (block_of(now) >= first_block && now >> Brief::kFlagShift != uint64_t{block_} << 2) {
      const Cell& head = region->cells[(sector - region->base) / kLine * 2];
      Cell& cell = region->cells[(sector - region->base) / kSector];
      const bool is_known =
          (now & Brief::kWide) && is_noted(head, cell, bytes_of_words(words), kind);
      if (!is_known) left |= here;
      return;
    }
    if (kind == Touch::write) {
      __builtin_prefetch(reinterpret_cast<const void*>(sector), 1);
      __builtin_prefetch(region->image(sector), 1);
    }
    firsts[count++] = {sector, words, here};
  };
  for_each_sector(address, lanes, size, touch);
  for (unsigned i = 0; i < count; ++i) {
    const First& first = firsts[i];
    Brief& brief = region->brief(first.sector);
    const uint64_t now = brief.all.load(std::memory_order_acquire);
    if (!add_words(brief, now, first.words, kind, has_fences) &&
        !claim(*region, brief, now, first.sector, first.words, kind, pc)) {
      left |= first.lanes;
    }
  }
  return left;
}

// To those that the block has noted in this way before; false if there are none.
[[gnu::always_inline]] inline bool GlobalCheck::add_words(Brief& brief, uint64_t now,
                                                          uint32_t words, Touch kind,
                                                          bool has_fences) {
  const unsigned shift = kind == Touch::write ? 8 : 0;
  const auto noted = static_cast<uint8_t>(now >> shift);
  if (now >> Brief::kFlagShift != uint64_t{block_} << 2 || !noted ||
      (epoch_ != 0 && site_of(now).epoch != epoch_)) {
    return false;
  }
  if (!(words & ~noted)) return true;
  if (!has_fences) {
    brief.set_words(kind == Touch::write, static_cast<uint8_t>(noted | words));
    return true;
  }
  uint64_t expected = now;  // what others learn from this note must not get lost
  return brief.all.compare_exchange_strong(expected, now | uint64_t{words} << shift);
}

// The block's first touch of this kind.
bool GlobalCheck::claim(const Region& region, Brief& brief, uint64_t now, uint64_t sector,
                        uint32_t words, Touch kind, uint32_t pc) {
  Site site{Site::kNone, Site::kNone, epoch_};
  uint64_t known = 0;
  if (block_of(now) >= first_block) {
    if (now >> Brief::kFlagShift != uint64_t{block_} << 2) return false;
    site = site_of(now);
    if (site.epoch != epoch_) return false;
    known = now & 0xffff;
  }
  (kind == Touch::write ? site.store_pc : site.load_pc) = pc;
  const uint32_t number = number_of(site.load_pc, site.store_pc);
  if (number == Sites::kMost) return false;
  const uint64_t mine = uint64_t{block_} << 32 | uint64_t{number} << Brief::kSiteShift | known |
                        uint64_t{words} << (kind == Touch::write ? 8 : 0);
  if (kind == Touch::read) return brief.all.compare_exchange_strong(now, mine);
  // The first store: others wait until what the sector held is saved.
  if (!brief.all.compare_exchange_strong(now, mine | Brief::kBusy)) return false;
  std::memcpy(region.image(sector), reinterpret_cast<const void*>(sector), kSector);
  brief.all.store(mine, std::memory_order_release);
  if (known & words) note_test_and_set({site.load_pc, pc});
  return true;
}

// Of the site with these addresses and the present epoch.
uint32_t GlobalCheck::number_of(uint32_t load_pc, uint32_t store_pc) {
  if (generation_ != sites->generation) {
    std::fill(std::begin(known_sites_), std::end(known_sites_), KnownSite{});
    generation_ = sites->generation;
  }
  const Site site{load_pc, store_pc, epoch_};
  KnownSite& known = known_sites_[SiteHash()(site) % std::size(known_sites_)];
  if (known.load_pc != load_pc || known.store_pc != store_pc || known.epoch != epoch_) {
    known = {load_pc, store_pc, epoch_, sites->number(site)};
  }
  return known.number;
}

void GlobalCheck::note_test_and_set(const TestAndSet& pair) {
  if (test_and_set.size() < kMostNotes &&
      std::find(test_and_set.begin(), test_and_set.end(), pair) == test_and_set.end()) {
    test_and_set.push_back(pair);
  }
}

unsigned GlobalCheck::touch(uint64_t line, uint64_t bytes, Touch kind, uint32_t pc, Note clash[2]) {
  const Region* found = shadow::region_of(line);
  if (!found) return 0;
  has_touched_ = true;
  const Region& region = *found;
  Cell* const cells = region.cells + (line - region.base) / kSector;
  bool is_new[2];
  for (const int i : {0, 1}) {
    const auto half = static_cast<uint32_t>(bytes >> 32 * i);
    is_new[i] = half && !(is_wide(region.brief(line + kSector * static_cast<unsigned>(i))
                                      .all.load(std::memory_order_acquire)) &&
                          is_noted(cells[0], cells[i], half, kind));
  }
  if (!is_new[0] && !is_new[1]) return 0;
  cells[0].lock();
  unsigned clashes = 0;
  for (const int i : {0, 1}) {
    if (!is_new[i]) continue;
    const Note mine{block_, static_cast<uint32_t>(bytes >> 32 * i), pc, epoch_, kind};
    const uint64_t sector = line + kSector * static_cast<unsigned>(i);
    widen(region.brief(sector), cells[i]);
    clashes |= static_cast<unsigned>(add_note(region, cells[i], sector, mine, clash[i])) << i;
  }
  cells[0].unlock();
  return clashes;
}

// Notes what a block does to a sector in which it is not noted yet, or not alone. Under the lock.
inline bool GlobalCheck::add_note(const Region& region, Cell& cell, uint64_t sector,
                                  const Note& mine, Note& clash) {
  const uint32_t base = first_block;
  if (block_of(load(cell.who[0])) >= base || block_of(load(cell.who[1])) >= base ||
      (load(cell.tag[0]) & Cell::kCrowded)) {
    return add_to_others(region, cell, sector, mine, clash);
  }
  if (mine.kind == Touch::write) {  // the first store
    std::memcpy(region.image(sector), reinterpret_cast<const void*>(sector), kSector);
  }
  put(cell, 0, mine);
  return false;
}

bool GlobalCheck::add_to_others(const Region& region, Cell& cell, uint64_t sector, const Note& mine,
                                Note& clash) {
  auto& notes = others_;
  size_t count = 0;
  const bool has_list = load(cell.tag[0]) & Cell::kCrowded;
  for_each_note(cell, sector, [&](const Note& note) {
    if (count < std::size(notes)) notes[count++] = note;
  });

  bool clashes = false, is_first_store = true;
  for (size_t i = 0; i < count; ++i) {
    const Note& note = notes[i];
    is_first_store &= note.kind != Touch::write;
    if (!(note.bytes & mine.bytes)) continue;
    if (note.block == block_) {
      if (mine.kind == Touch::write && note.kind == Touch::read) {
        note_test_and_set({note.pc, mine.pc});
      }
      continue;
    }
    if (mine.kind == Touch::atomic && note.kind != Touch::read && has_fences()) learn(note);
    const bool one_stores = mine.kind == Touch::write || note.kind == Touch::write;
    const bool comes_behind =
        mine.kind == Touch::write && note.kind == Touch::atomic && has_seen(sector, note);
    if (one_stores && !clashes && !comes_behind && !is_ordered(note)) {
      clash = note;
      clashes = true;
    }
  }
  if (mine.kind == Touch::write && is_first_store) {
    std::memcpy(region.image(sector), reinterpret_cast<const void*>(sector), kSector);
  }

  // The new note takes the place of one that it makes needless: the block's own, or another block's of
  // the same kind and bytes. The last store and the last atomic operation stay, and the first and the
  // last of several readers.
  size_t place = count;
  bool has_first_reader = false;
  for (size_t i = 0; i < count && place == count; ++i) {
    const Note& note = notes[i];
    if (note.kind != mine.kind) continue;
    const bool covers = !(note.bytes & ~mine.bytes);
    if (note.block == block_) {
      if (note.epoch == mine.epoch || covers) place = i;
    } else if (mine.kind != Touch::read) {
      if (covers) place = i;
    } else {
      if (covers && has_first_reader) place = i;
      has_first_reader |= !(mine.bytes & ~note.bytes);
    }
  }
  if (place == std::size(notes)) --place;
  if (place == count) {
    notes[count++] = mine;
  } else {
    const uint32_t own_bytes = notes[place].block == block_ ? notes[place].bytes : 0;
    notes[place] = mine;
    notes[place].bytes |= own_bytes;
  }

  for (const size_t i : {0, 1}) put(cell, static_cast<int>(i), i < count ? notes[i] : Note{});
  if (has_list || count > 2) {
    CrowdedSectors& sectors = crowded(sector);
    const Guard guard(sectors.lock);
    if (count > 2) {
      sectors.notes[sector].assign(notes + 2, notes + count);
      cell.tag[0].fetch_or(Cell::kCrowded, std::memory_order_relaxed);
    } else {
      sectors.notes.erase(sector);
      cell.tag[0].fetch_and(~Cell::kCrowded, std::memory_order_relaxed);
    }
  }
  return clashes;
}

void GlobalCheck::acquire(uint64_t sector, uint32_t bytes) {
  const Region* region = shadow::region_of(sector);
  if (!region || !has_fences()) return;
  Cell& cell = region->cells[(sector - region->base) / kSector];
  Cell& head = region->cells[(sector - region->base) / kLine * 2];
  head.lock();
  widen(region->brief(sector), cell);
  for_each_note(cell, sector, [&](const Note& note) {
    if (note.block == block_ || !(note.bytes & bytes) || note.kind < Touch::write) return;
    learn(note);
    if (note.kind == Touch::atomic && !has_seen(sector, note)) {
      seen_[next_seen_++ % std::size(seen_)] = {sector, note.block, note.bytes & bytes};
    }
  });
  head.unlock();
}

bool GlobalCheck::is_unchanged(uint64_t sector, uint32_t bytes) {
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
