// Races of one block's threads in global memory; those of blocks are block_races.h's.
//
// Two accesses race as in shared memory (shared_races.h), but for what is let pass between blocks, too: a plain load
// beside an atomic operation, a volatile load, and stores of the same value.
//
// Nearly all requests need no look at single words. A load can race only with an earlier store of the same interval,
// and a store only where the block has been before, which the shadow knows by the sector. So requests are listed,
// and noted word by word once one comes to words where the block has been, in an allocation for which the list
// holds what it could race with. Even then there is no race if all others of the list lie elsewhere, or are of the same
// lanes at the same addresses: `y[i] = a * x[i] + y[i]`. Only the first block of each worker lists all; the
// others, what is done to allocations that a block has loaded from and stored to, or stored to twice.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/host_memory.h"
#include "base/lane_simd.h"
#include "races/block_races.h"
#include "races/shared_races.h"

namespace simt::engine {

// A request to global memory, all of one allocation.
struct GlobalRequest {
  const uint64_t* address;
  uint32_t lanes;
  AccessKind kind;
  unsigned size;
  uint32_t pc;      // see short_pc()
  unsigned thread;  // the warp's first
  Span span;
  bool again;  // some lane comes to words where the block has been, as far as is known
};

class ThreadRaces {
 public:
  void begin_launch() {
    uses_.clear();
    blocks_ = 0;
  }
  void begin_block() {
    ++blocks_;
    next_interval();
  }
  void next_interval() {
    ++interval_;
    listed_.clear();
    offsets_.clear();
    if (words_) words_->next_interval();
  }

  // Notes a request to the allocation at `base`. True if each of its words has to be looked at with access().
  bool note(uint64_t base, const GlobalRequest& request, const WarpOrder& order) {
    Use& use = use_of(base);
    const bool is_only_loaded = blocks_ > 1 && use.is_loaded && !use.is_stored;
    if (request.kind == AccessKind::read && is_only_loaded) [[likely]]
      return false;
    return note_any(use, request, order);
  }

  // Notes that a thread touches some bytes of the word at `address`; true if that races.
  bool access(uint64_t address, uint8_t bytes, unsigned thread, AccessKind kind, uint32_t pc,
              const WarpOrder& order, Race& race);

 private:
  // What the launch does to an allocation, and what of this interval is in the list.
  struct Use {
    uint64_t base = 0;
    // By some block of the launch; and both, or again where one had been.
    bool is_loaded = false, is_stored = false, is_mixed = false;
    uint32_t interval = 0;  // of the following
    bool loads = false, stores = false, atomics = false;
    bool is_each = false;  // noted word by word
  };
  struct Listed {
    uint64_t base, low, high;
    int64_t step;
    uint32_t lanes, time, pc;
    uint32_t offsets;  // where those from `low` begin, of one that is not regular: see Span
    uint16_t thread;
    uint8_t size;
    AccessKind kind;
    bool is_regular;
  };
  // Sectors by their addresses, each with the numbers of its words.
  struct Sector {
    uint64_t address;
    uint32_t interval, number;
  };
  static constexpr uint64_t kSectorBytes = 32;
  static constexpr size_t kMostListed = 1 << 14, kMostSectors = 1 << 14, kMostCompared = 128;

  // A launch uses few allocations.
  Use& use_of(uint64_t base) {
    for (Use& use : uses_) {
      if (use.base == base) return use;
    }
    return uses_.emplace_back(Use{.base = base});
  }
  bool note_any(Use& use, const GlobalRequest& request, const WarpOrder& order);
  bool has_twice(const GlobalRequest& request) const;
  bool is_alone(const Use& use, const GlobalRequest& request) const;
  void list(const Use& use, const GlobalRequest& request, const WarpOrder& order);
  void note_listed(const Use& use);
  bool number_of(uint64_t sector, uint32_t& number);

  std::vector<Use> uses_;
  uint64_t blocks_ = 0;
  uint32_t interval_ = 1;
  std::vector<Listed> listed_;
  std::vector<uint32_t> offsets_;
  std::unique_ptr<RaceCheck> words_;  // made when the first are needed
  HostArray<Sector> sectors_;
  uint32_t sector_count_ = 0, sector_interval_ = 0;
};

}  // namespace simt::engine
