// Counts by program counter, as one worker gathers them.
#pragma once

#include <simt/counts.h>

#include <cstdint>
#include <vector>

namespace simt::engine {

// An open-addressing table: a look-up for each warp instruction has to be cheap, and needs no lock
// because each worker has its own.
class Trace {
 public:
  Trace() { clear(); }

  Counts& at(uint64_t pc) {
    size_t slot = (pc * 0x9e3779b97f4a7c15ull) >> shift_;
    while (slots_[slot].pc != pc) {
      if (slots_[slot].pc == 0) return insert(pc);
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slots_[slot].counts;
  }

  template <class F>
  void for_each(F&& f) const {
    for (const Slot& slot : slots_) {
      if (slot.pc) f(slot.pc, slot.counts);
    }
  }

  void clear() {
    slots_.assign(size_t{1} << 8, Slot{});
    shift_ = 64 - 8;
    used_ = 0;
  }
  bool empty() const { return used_ == 0; }

 private:
  struct Slot {
    uint64_t pc = 0;
    Counts counts;
  };

  Counts& insert(uint64_t pc) {
    if (2 * ++used_ > slots_.size()) {
      std::vector<Slot> old(slots_.size() * 2);
      old.swap(slots_);
      --shift_;
      for (const Slot& slot : old) {
        if (!slot.pc) continue;
        free_slot(slot.pc) = slot;
      }
    }
    Slot& slot = free_slot(pc);
    slot.pc = pc;
    return slot.counts;
  }

  Slot& free_slot(uint64_t pc) {
    size_t slot = (pc * 0x9e3779b97f4a7c15ull) >> shift_;
    while (slots_[slot].pc) slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot];
  }

  std::vector<Slot> slots_;
  unsigned shift_;
  size_t used_;
};

}  // namespace simt::engine
