// What the blocks of a cluster do to each other's shared memory.
//
// Accesses of two blocks to the same word race if at least one writes, not both are atomic, and nothing orders the two: no barrier of
// the cluster between them, and no mbarrier at which the one has arrived and for which the other has waited. A fence with an
// atomic operation or a volatile access after it orders, too. What a block hands over so is all that it has done up to then, other warps'
// accesses among it: that hides a race rather than invents one. Accesses of threads of one block to their own
// memory are RaceCheck's.
//
// A block may access another one's shared memory once it knows that it has begun, and until it exits: what orders accesses tells
// both. One block of a cluster runs at a time, so that all see one clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/block_context.h"
#include "base/fault.h"
#include "base/host_memory.h"
#include "check/faults.h"
#include "memory/shared_memory.h"
#include "races/thread_order.h"

namespace simt::engine {

class SharedChecker;

// One block's.
class ClusterChecks {
 public:
  ClusterChecks(const BlockContext& block, const SharedMemory& shared, ThreadOrder& order)
      : block_(block), shared_(shared), order_(order) {}

  // The blocks of a cluster, by rank. None outside of one.
  struct Blocks {
    unsigned size = 0;
    uint32_t now = 1;
    std::array<ClusterChecks*, kMostClusterBlocks> of{};
    std::array<SharedChecker*, kMostClusterBlocks> checker{};
    WarpTimes released{};  // by fences, and what came after them
  };
  void begin_block(Blocks* blocks, unsigned rank);
  bool is_on() const { return blocks_; }
  unsigned rank() const { return rank_; }
  Blocks& blocks() const { return *blocks_; }

  // A thread comes to the barrier of the cluster, and goes on behind it.
  void arrive(unsigned thread) { ++threads_[thread].arrived; }
  void leave(unsigned thread) { threads_[thread].waited = threads_[thread].arrived; }
  // A thread of the warp arrives at an mbarrier: what is known to who waits for it.
  const WarpTimes& release(unsigned warp) {
    return order_.warps.release(warp, rank_, ++blocks_->now);
  }
  // A fence, and an atomic operation or a volatile access.
  void fence(unsigned thread) { threads_[thread].fenced = ++blocks_->now; }
  void pass(const Request& request, unsigned first);

  struct Access {
    uint32_t time = 0;  // 0: none
    uint32_t arrived = 0;
    uint32_t pc = 0;
    uint16_t thread = 0;
    uint8_t rank = 0, size = 0;
    bool writes = false, is_atomic = false;
  };
  // Notes an access to a word of this block's memory by a thread of the block `by`. Returns the access of another block that
  // it races with, if there is one.
  Access access(size_t word, const ClusterChecks& by, unsigned thread, const Request& request);

  // May a thread of the block `by` access this block's memory now? If not, `cause` says why. Notes that it does.
  bool is_there(const ClusterChecks& by, unsigned thread, const Request& request,
                Fault::Cause& cause);
  // The block has exited: what others do to its memory that it did not wait for is a fault.
  void end_block(FaultLog& faults);

 private:
  struct Word {
    uint32_t run;  // the block's number
    Access write;
    std::array<Access, kMostClusterBlocks> read;  // the last of each block
  };
  static constexpr unsigned kMostThreads = 1024;
  struct Thread {
    uint32_t arrived = 0, waited = 0;
    uint32_t fenced = 0;
  };
  Access now(const Request& request, unsigned thread) const;
  bool knows(const Access& access, unsigned thread) const {
    return threads_[thread].waited > access.arrived ||
           order_.warps.of(thread / 32).blocks[access.rank] > access.time;
  }

  const BlockContext& block_;
  const SharedMemory& shared_;
  ThreadOrder& order_;
  Blocks* blocks_ = nullptr;
  unsigned rank_ = 0;
  uint32_t run_ = 0;
  bool is_over_ = false;
  HostArray<Word> words_;
  std::vector<Thread> threads_;
  std::array<Access, kMostClusterBlocks> last_{};  // of each other block, to this one's memory
};

}  // namespace simt::engine
