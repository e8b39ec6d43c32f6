// What wgmma has under way until wgmma.wait_group: accumulators, whose sums are here while the lanes' registers hold a mark, and
// what it reads of shared memory. What the copy engine reads, and writes, for a thread's stores until the wait for them.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "check/bulk_copies.h"
#include "races/shared_races.h"

namespace simt::engine {

struct PendingSum {
  uint64_t at;  // the variable that stands for the register
  uint32_t value;
  uint32_t group;
  uint64_t pc;  // of the wgmma
};

// A register of A.
struct PendingOperand {
  uint64_t at;  // the variable that stands for it
  uint32_t group;
  unsigned depth;  // of the calls in which the variable is
  uint64_t pc;
};

// Up to 16 bytes of an operand, or of what the copy engine stores.
struct PendingRead {
  uint64_t at;
  unsigned bytes;
  uint32_t group;
  uint64_t pc;
  Write before;  // the last one to its first word
};

// What the copy engine stores to global memory.
struct PendingWrite {
  uint64_t at, bytes;
  uint32_t group;
  uint64_t pc;
  bool is_read = false;  // a wait has found that the engine has read what it stores
};

// Those of one thread. What a warp reads is its first lane's.
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
  void read(const PendingRead& read) {
    reads_.push_back(read);
    reads_.back().group = open_group_;
  }
  void write(uint64_t at, uint64_t bytes, uint64_t pc) {
    if (!writes_.empty()) {
      PendingWrite& last = writes_.back();
      if (last.at + last.bytes == at && last.group == open_group_ && last.pc == pc) {
        last.bytes += bytes;
        return;
      }
    }
    writes_.push_back({at, bytes, open_group_, pc});
  }
  // Calls f(write) for those of all groups but the last `kept`. They are over then, unless the wait is for their `reads` alone.
  template <class F>
  void wait_for_writes(uint32_t kept, bool reads, F&& f) {
    std::erase_if(writes_, [&](PendingWrite& write) {
      if (write.group + kept >= open_group_) return false;
      if (!reads || !std::exchange(write.is_read, true)) f(write);
      return !reads;
    });
  }
  void read_register(const PendingOperand& operand) {
    operands_.push_back(operand);
    operands_.back().group = open_group_;
  }
  // A register of A that lies in these bytes of the thread's stack, or nullptr.
  const PendingOperand* find_operand(uint64_t address, unsigned size) const {
    for (const PendingOperand& operand : operands_) {
      if (operand.at < address + size && address < operand.at + sizeof(uint32_t)) return &operand;
    }
    return nullptr;
  }
  // Functions have returned, down to this depth of calls: their variables are no more.
  void return_to(unsigned depth) {
    std::erase_if(operands_, [&](const PendingOperand& operand) { return operand.depth > depth; });
  }

  // A fence orders what these bytes of the stack, in which all variables are, hold now.
  void fence(uint64_t from, uint64_t to) {
    is_fenced_ = true;
    fenced_from_ = from;
    fenced_.assign(reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(to));
  }
  bool is_fenced() const { return is_fenced_; }
  // Has the thread changed the variable since, to this value?
  bool is_unfenced(uint64_t at, uint32_t value) const {
    const uint64_t offset = at - fenced_from_;
    return offset < fenced_.size() && std::memcmp(&fenced_[offset], &value, sizeof(value)) != 0;
  }
  // wgmma has.
  void set_fenced(uint64_t at, uint32_t value) {
    const uint64_t offset = at - fenced_from_;
    if (offset < fenced_.size()) std::memcpy(&fenced_[offset], &value, sizeof(value));
  }
  void commit() { ++open_group_; }
  // Does a wait that leaves the last `kept` groups end any?
  bool ends_any(uint32_t kept) const { return over_ + kept < open_group_; }
  // Calls on_sum(sum) and on_read(read) for those of all groups but the last `kept`, which are over then.
  template <class OnSum, class OnRead>
  void wait(uint32_t kept, OnSum&& on_sum, OnRead&& on_read) {
    const auto end = [&](auto& list, auto& f) {
      std::erase_if(list, [&](const auto& one) {
        const bool is_over = one.group + kept < open_group_;
        if (is_over) f(one);
        return is_over;
      });
    };
    end(sums_, on_sum);
    end(reads_, on_read);
    std::erase_if(operands_, [&](const PendingOperand& operand) {
      return operand.group + kept < open_group_;
    });
    if (ends_any(kept)) over_ = open_group_ - kept;
  }
  void clear() { *this = {}; }

 private:
  HostVector<PendingSum> sums_;
  HostVector<PendingRead> reads_;
  HostVector<PendingWrite> writes_;
  HostVector<PendingOperand> operands_;
  uint64_t fenced_from_ = 0;
  HostVector<char> fenced_;             // what was on the stack from there on, at the last fence
  uint32_t open_group_ = 0, over_ = 0;  // the groups before are complete
  bool is_fenced_ = false;              // by wgmma.fence, ever
};

}  // namespace simt::engine
