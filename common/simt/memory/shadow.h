// The shadow of global memory: what is recorded beside each sector of 32 bytes. Here it is stored, and known which bytes have ever
// been written; what the records say of races is races/block_races.h's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/spin_lock.h"

namespace simt::engine {

inline constexpr uint64_t kSector = 32, kLine = 64;

// What one block did to whole words of a sector, where no other has been in this phase. In 64 bits, so that
// the shadow of a matrix stays in the cache:
//
//   block 32 | inflated 1 | busy 1 | site 14 | words stored 8 | words read 8
//
// All that does not fit stands in the sector's cell: then `inflated` is set, and `block` is the first of the phase.
//
// Beside it, which bytes of the sector have ever been written.
struct ShadowWord {
  static constexpr uint64_t kBusy = 1u << 30,
                            kInflated = 1u << 31;  // busy: see BlockRaceCheck::first_access()
  static constexpr unsigned kSiteShift = 16, kFlagShift = 30;

  std::atomic<uint64_t> all;
  std::atomic<uint32_t> written;

  // To the words that a block has recorded for itself. A store of one byte is enough, and faster than an
  // exchange of all eight: if another block inflates the sector at this moment, that stays.
  void set_words(bool stored, uint8_t words) {
    auto* const bytes = reinterpret_cast<uint8_t*>(&all);
    __atomic_store_n(bytes + stored, words, __ATOMIC_RELAXED);
  }

  void set_written(uint32_t bytes) {
    // Another worker may write other bytes of the sector at this moment.
    if (bytes & ~written.load(std::memory_order_relaxed)) {
      written.fetch_or(bytes, std::memory_order_relaxed);
    }
  }
};

// Two records, which is enough for nearly all other sectors; the rest have a list: see overflow().
struct ShadowCell {
  std::atomic<uint64_t> who[2];  // block << 32 | bytes
  std::atomic<uint32_t> tag[2];  // epoch << 4 | flags, in the first only | kind
  std::atomic<uint32_t> pc[2];

  static constexpr uint32_t kKind = 3, kLocked = 4, kOverflow = 8;

  // Of the first of two cells, for both. While it is held nobody else changes the tag.
  void lock() {
    take([this] { return !(tag[0].fetch_or(kLocked, std::memory_order_acquire) & kLocked); },
         [this] { return !(tag[0].load(std::memory_order_relaxed) & kLocked); });
  }
  void unlock() {
    tag[0].store(tag[0].load(std::memory_order_relaxed) & ~kLocked, std::memory_order_release);
  }
};

// The shadow of a range of addresses.
struct Region {
  uint64_t base = 0, size = 0;
  bool has_written = false;  // ShadowWord::written is kept
  ShadowWord* words = nullptr;
  ShadowCell* cells = nullptr;
  char* before = nullptr;  // what a sector held before the first store of the phase

  bool holds(uint64_t address) const { return address - base < size; }

  // The rows of a matrix often lie a power of two apart, and so would their shadows, in a few sets of the
  // cache: so the lines of each page change places, in each page in another way.
  static uint64_t shuffle(uint64_t offset) { return offset ^ (offset >> 6 & 0xfc0); }
  ShadowWord& word(uint64_t sector) const {
    const uint64_t offset = shuffle((sector - base) / kSector * sizeof(ShadowWord));
    return *reinterpret_cast<ShadowWord*>(reinterpret_cast<char*>(words) + offset);
  }
  char* image(uint64_t sector) const { return before + shuffle(sector - base); }
};

static_assert(sizeof(ShadowCell) == kSector, "the shadow has as many bytes as the memory");

namespace shadow {

// cudaMalloc's arena, that of pinned and managed memory, the program's variables.
extern Region regions[3];

inline const Region* region_of(uint64_t address) {
  for (const Region& region : regions) {
    if (region.holds(address)) return &region;
  }
  return nullptr;
}

// These addresses are not used again: gives their share of the shadow back.
void forget(uint64_t address, uint64_t size);
// All that was noted about who came to which sector; what has been written stays known in memory/allocations.h alone.
void forget_all();

// These bytes have been written, by a copy or by a kernel.
void mark_written(uint64_t address, uint64_t size);
// The same for some bytes of the 64 at `line`, and which of them have never been.
void note_written(uint64_t line, uint64_t bytes);
uint64_t unwritten(uint64_t line, uint64_t bytes);
// Calls f(begin, end) for each run of bytes in [address, address + size) that have never been written.
void for_each_unwritten(uint64_t address, uint64_t size,
                        const std::function<void(uint64_t, uint64_t)>& f);

}  // namespace shadow
}  // namespace simt::engine
