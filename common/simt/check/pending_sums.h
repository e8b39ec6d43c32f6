// The accumulators of wgmma that are under way: the lanes' registers hold a mark until wgmma.wait_group, and this has the sums.
#pragma once

#include <cstdint>

#include "check/bulk_copies.h"

namespace simt::engine {

struct PendingSum {
  uint64_t at;  // the variable that stands for the register
  uint32_t value;
  uint32_t group;
  uint64_t pc;  // of the wgmma
};

// Those of one thread.
class PendingSums {
 public:
  bool empty() const { return sums_.empty(); }
  // The sum of this variable, or nullptr. `hint`: its likely place.
  PendingSum* find(uint64_t at, unsigned hint = 0) {
    if (hint < sums_.size() && sums_[hint].at == at) return &sums_[hint];
    for (PendingSum& sum : sums_) {
      if (sum.at == at) return &sum;
    }
    return nullptr;
  }
  void set(uint64_t at, uint32_t value, uint64_t pc, unsigned hint) {
    if (PendingSum* const known = find(at, hint)) {
      *known = {at, value, open_group_, pc};
    } else {
      sums_.push_back({at, value, open_group_, pc});
    }
  }
  void commit() { ++open_group_; }
  // Calls f(sum) for those of all groups but the last `kept`, which are over then.
  template <class F>
  void wait(uint32_t kept, F&& f) {
    std::erase_if(sums_, [&](const PendingSum& sum) {
      const bool is_over = sum.group + kept < open_group_;
      if (is_over) f(sum);
      return is_over;
    });
  }
  void clear() {
    sums_.clear();
    open_group_ = 0;
  }

 private:
  HostVector<PendingSum> sums_;
  uint32_t open_group_ = 0;
};

}  // namespace simt::engine
