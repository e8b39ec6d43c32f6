// How many atomic operations come to one word: of words in one slot the commonest is kept, so that a number is never too high.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace simt::engine {

class WordTally {
 public:
  void add(uint64_t address) {
    is_used_ = true;
    Slot& slot = slots_[(address * 0x9e3779b97f4a7c15ull) >> (64 - kBits)];
    if (slot.address == address) {
      ++slot.times;
    } else if (slot.times) {
      --slot.times;
    } else {
      slot = {address, 1};
    }
  }
  void add(const WordTally& other) {
    if (!other.is_used_) return;
    is_used_ = true;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Slot& its = other.slots_[i];
      if (slots_[i].address == its.address) {
        slots_[i].times += its.times;
      } else if (slots_[i].times < its.times) {
        slots_[i] = its;
      }
    }
  }
  // On the word that has most.
  uint64_t most() const {
    uint64_t most = 0;
    for (const Slot& slot : slots_) most = std::max(most, slot.times);
    return most;
  }
  void clear() {
    if (is_used_) slots_.fill({});
    is_used_ = false;
  }

 private:
  static constexpr unsigned kBits = 10;
  struct Slot {
    uint64_t address = 0, times = 0;
  };
  std::array<Slot, size_t{1} << kBits> slots_{};
  bool is_used_ = false;
};

}  // namespace simt::engine
