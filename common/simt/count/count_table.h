// Counts by program counter, as one worker gathers them.
#pragma once

#include <simt/counts.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/host_memory.h"
#include "count/merged_accesses.h"

namespace simt::engine {

// One warp request, to be drawn: of those at its place the first with the most lanes.
struct Example {
  uint64_t block = 0;       // linear; the lowest where several have as many lanes
  uint32_t lanes = 0;       // the active ones
  const char* access = "";  // load, store, atomic
  bool shared = false;
  unsigned size = 0;
  std::array<uint64_t, 32> address{};

  bool is_better_than(const Example& other) const {
    const int mine = std::popcount(lanes), theirs = std::popcount(other.lanes);
    return mine != theirs ? mine > theirs : block < other.block;
  }
};

// May lanes go on after this load before the others of their warp have come? Yes where a whole group
// came to it the same way, never again where lanes that had parted from it came to a store that goes first.
enum class RunAhead : uint8_t { unknown, yes, never };

// An open-addressing table: a look-up for each warp instruction has to be cheap, and needs no lock
// because each worker has its own.
class CountTable {
 public:
  CountTable() { clear(); }

  struct Entry {
    uint64_t pc = 0;
    uint8_t example_lanes = 0;  // how many lanes the example has that is kept
    RunAhead run_ahead = RunAhead::unknown;
    bool is_merged = false;  // what is there is part of an access:
    MergedPart merged;
    Counts counts;
    // Volatile loads of what the one before has loaded: that is how threads wait.
    uint64_t polled = 0, polls = 0;

    // Is it such a load?
    bool note_volatile(uint64_t address) {
      const bool again = address == polled;
      polls += again;
      polled = address;
      return again;
    }
  };

  Entry& at(uint64_t pc) {
    size_t slot = (pc * 0x9e3779b97f4a7c15ull) >> shift_;
    while (slots_[slot].pc != pc) {
      if (slots_[slot].pc == 0) return insert(pc);
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slots_[slot];
  }

  // Keeps a request as the example of its place.
  void keep(Entry& entry, const Example& example) {
    entry.example_lanes = static_cast<uint8_t>(std::popcount(example.lanes));
    examples_[entry.pc] = example;
  }
  using Examples =
      std::unordered_map<uint64_t, Example, std::hash<uint64_t>, std::equal_to<uint64_t>,
                         HostAllocator<std::pair<const uint64_t, Example>>>;
  const Examples& examples() const { return examples_; }

  template <class F>
  void for_each(F&& f) const {
    for (const Entry& slot : slots_) {
      if (slot.pc) f(slot.pc, slot.counts);
    }
  }

  // Calls f(pc, n) where there are polls.
  template <class F>
  void for_each_poll(F&& f) const {
    for (const Entry& slot : slots_) {
      if (slot.polls) f(slot.pc, slot.polls);
    }
  }

  void clear() {
    slots_.assign(size_t{1} << 8, Entry{});
    shift_ = 64 - 8;
    used_ = 0;
    examples_.clear();
  }
  bool empty() const { return used_ == 0; }

 private:
  Entry& insert(uint64_t pc) {
    if (2 * ++used_ > slots_.size()) {
      std::vector<Entry, HostAllocator<Entry>> old(slots_.size() * 2);
      old.swap(slots_);
      --shift_;
      for (const Entry& slot : old) {
        if (!slot.pc) continue;
        free_slot(slot.pc) = slot;
      }
    }
    Entry& slot = free_slot(pc);
    slot.pc = pc;
    if (const MergedPart* const part = merged_part(pc)) {
      slot.is_merged = true;
      slot.merged = *part;
    }
    return slot;
  }

  Entry& free_slot(uint64_t pc) {
    size_t slot = (pc * 0x9e3779b97f4a7c15ull) >> shift_;
    while (slots_[slot].pc) slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot];
  }

  std::vector<Entry, HostAllocator<Entry>> slots_;
  unsigned shift_;
  size_t used_;
  Examples examples_;
};

}  // namespace simt::engine
