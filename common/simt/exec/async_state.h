// What a block has beside its memory: the barriers that PTX numbers, and what wgmma and the copy engine have to do.
#pragma once

#include <array>
#include <cstdint>

#include "base/host_memory.h"
#include "check/pending_sums.h"
#include "fibers/fiber_pool.h"
#include "races/warp_times.h"

namespace simt::engine {

// Used by one OS thread only, whose lanes take turns.
class AsyncState {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    named_ = {};
    warpgroups_ = {};
    if (sets_registers_) registers_ = {};
    sets_registers_ = has_operands_ = false;
    for (PendingSums& sums : pending_) sums.clear();
    for (PendingSums& stores : stores_) stores.clear();
  }

  // One of the barriers that PTX numbers, which `threads` of the block come to.
  struct Named {
    unsigned arrived = 0;
    unsigned phase = 0;
    unsigned threads = 0;
    uint64_t waits_at = 0;  // program counter of the last thread that waits
    WarpTimes arrivals;     // what those have done that came in this phase
    WarpTimes completed;    // ... in the one before
  };
  static constexpr unsigned kNamed = 16;
  Named& named(unsigned number) {
    used_ = true;
    return named_[number];
  }

  // Where the four warps of a warpgroup meet.
  Named& warpgroup(unsigned number) {
    used_ = true;
    return warpgroups_[number];
  }

  // The setmaxnreg of a warpgroup, all of which each of its warps has to execute: so many have been by now.
  struct SetRegisters {
    uint64_t pc = 0;  // of the warp that came first
    unsigned number = 0, warp = 0;
    bool takes = false;
  };
  struct OfWarpgroup {
    HostVector<SetRegisters> set;
    std::array<unsigned, 4> done{};
  };
  // What setmaxnreg has given a thread of each warp, or is to give it; 0: what all have from the launch on, or nothing.
  struct Registers {
    std::array<uint16_t, kMaxBlockThreads / 32> of{}, wanted{};
    std::array<OfWarpgroup, kMaxBlockThreads / 128> of_warpgroup{};
  };
  Registers& registers() {
    used_ = sets_registers_ = true;
    return registers_;
  }
  bool sets_registers() const { return sets_registers_; }

  // The number of the barrier at which threads wait there, or kNamed.
  unsigned named_at(uint64_t pc) const {
    unsigned number = 0;
    while (number < kNamed && !(named_[number].arrived && named_[number].waits_at == pc)) ++number;
    return number;
  }

  // The accumulators of a thread that wgmma has yet to write.
  PendingSums& pending_sums(unsigned thread) {
    used_ = true;
    if (pending_.empty()) pending_.resize(kMaxBlockThreads);
    return pending_[thread];
  }
  bool has_pending_sums() const { return !pending_.empty(); }
  // ... and registers that it still reads. From the first one of the block on.
  bool has_operands() const { return has_operands_; }
  void add_operand(unsigned thread, const PendingOperand& operand) {
    has_operands_ = true;
    pending_sums(thread).read_register(operand);
  }
  // What the copy engine still reads of shared memory for the stores that a thread has asked for.
  PendingSums& pending_stores(unsigned thread) {
    used_ = true;
    if (stores_.empty()) stores_.resize(kMaxBlockThreads);
    return stores_[thread];
  }

 private:
  bool used_ = false, sets_registers_ = false, has_operands_ = false;
  std::array<Named, kNamed> named_{};
  std::array<Named, kMaxBlockThreads / 128> warpgroups_{};
  Registers registers_;
  HostVector<PendingSums> pending_, stores_;
};

}  // namespace simt::engine
