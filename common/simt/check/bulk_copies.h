// What the copy engine has been asked for: bulk copies to shared memory that are under way, and the mbarriers that they report to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"
#include "races/warp_times.h"

namespace simt::engine {

// The word: how many arrivals this phase still expects, how many the next ones do, and the number of this phase.
struct MbarrierWord {
  static constexpr uint64_t kCount = (1u << 20) - 1;
  static constexpr unsigned kExpected = 20, kPhase = 40;
  static constexpr uint64_t of(uint64_t pending, uint64_t expected, uint64_t phase) {
    return pending | expected << kExpected | phase << kPhase;
  }
  static constexpr uint64_t pending(uint64_t word) { return word & kCount; }
  static constexpr uint64_t expected(uint64_t word) { return word >> kExpected & kCount; }
  static constexpr uint64_t phase(uint64_t word) { return word >> kPhase; }
};

template <class T>
using HostVector = std::vector<T, HostAllocator<T>>;

// The word of an mbarrier is in shared memory, as PTX has it; this is what else is known of it.
struct Mbarrier {
  uint64_t address = 0;
  int64_t bytes = 0;        // that are announced in this phase and have not arrived: the tx-count
  uint64_t announced = 0;   // in this phase
  uint64_t arrived = 0;     // bytes, in this phase
  bool is_awaited = false;  // somebody has asked for a phase since the last one ended
  uint64_t unawaited = 0;   // so many in a row ended though nobody had
  uint64_t arrival_pc = 0;  // of the last arrival
  WarpTimes arrivals;       // what those have done that arrived in this phase
  WarpTimes completed;      // ... in the phases before

  uint64_t phase() const { return MbarrierWord::phase(word()); }
  uint64_t word() const { return *reinterpret_cast<const uint64_t*>(address); }
};

struct BulkLoad {
  uint64_t to;
  HostVector<unsigned char> data;
  uint64_t barrier;  // the address of its word
  uint64_t phase;    // of the barrier at the issue
  uint64_t pc;
  unsigned thread;
  bool is_box = false;  // of a tensor
  unsigned swizzle = 0;
  bool has_arrived = false;  // but its barrier's phase is not over

  bool holds(uint64_t address) const { return address - to < data.size(); }
};

// What a box has been copied to, the last one for each place.
struct BulkBox {
  uint64_t to, bytes, pc;
  unsigned swizzle;
};

// Those of a block. Used by one OS thread only, whose lanes take turns.
class BulkCopies {
 public:
  void begin_block() {
    if (loads.empty() && barriers_.empty()) return;
    loads.clear();
    barriers_.clear();
    boxes_.clear();
    waits_.assign(waits_.size(), {});
  }
  // The mbarrier with this word, or nullptr.
  Mbarrier* find(uint64_t word) {
    for (Mbarrier& barrier : barriers_) {
      if (barrier.address == word) return &barrier;
    }
    return nullptr;
  }
  Mbarrier& make(uint64_t word) {
    Mbarrier* const known = find(word);
    Mbarrier& barrier = known ? *known : barriers_.emplace_back();
    barrier = {};
    barrier.address = word;
    return barrier;
  }
  void forget(uint64_t word) {
    std::erase_if(barriers_, [&](const Mbarrier& barrier) { return barrier.address == word; });
  }
  // The last wait of each thread.
  struct Wait {
    uint64_t word = 0;
    uint64_t which = 0;  // the parity, or the phase
    uint64_t pc = 0;
    bool by_parity = false, is_over = false;
  };
  Wait& wait_of(unsigned thread) {
    if (waits_.empty()) waits_.resize(kThreads);
    return waits_[thread];
  }
  const BulkLoad* load_of(uint64_t address) const {
    for (const BulkLoad& load : loads) {
      if (load.holds(address)) return &load;
    }
    return nullptr;
  }

  // From where bulk copies to shared memory have been asked for.
  void note_issue(uint32_t pc) {
    if (!has_issued_at(pc)) issued_.push_back(pc);
  }
  bool has_issued_at(uint32_t pc) const {
    return std::find(issued_.begin(), issued_.end(), pc) != issued_.end();
  }

  void note_box(const BulkBox& box) {
    std::erase_if(boxes_, [&](const BulkBox& other) {
      return other.to < box.to + box.bytes && box.to < other.to + other.bytes;
    });
    boxes_.push_back(box);
  }
  const BulkBox* box_of(uint64_t address) const {
    for (const BulkBox& box : boxes_) {
      if (address - box.to < box.bytes) return &box;
    }
    return nullptr;
  }

  HostVector<BulkLoad> loads;  // in the order of their issue

 private:
  HostVector<uint32_t> issued_;
  static constexpr unsigned kThreads = 1024;
  HostVector<Wait> waits_;
  HostVector<Mbarrier> barriers_;
  HostVector<BulkBox> boxes_;
};

}  // namespace simt::engine
