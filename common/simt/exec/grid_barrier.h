// The barrier of a grid: what makes all blocks of a cooperative launch wait for each other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace simt::engine {

// All blocks of a cooperative launch are resident: each runs on an OS thread of its own, because its
// shared memory belongs to that thread, and waits there.
class GridBarrier {
 public:
  // `checks_blocks`: the shadow of global memory is told that the barrier orders the blocks. `in_turns`: one block runs
  // at a time, so that each run counts the same, also of loops that wait for another block.
  GridBarrier(uint64_t blocks, bool checks_blocks, bool in_turns)
      : blocks_(blocks),
        checks_blocks_(checks_blocks),
        running_(blocks),
        cannot_run_(in_turns ? blocks : 0) {}

  // Called by a block before it begins: waits for its turn. False: another block has failed.
  bool begin(uint64_t block);
  // Called by a block that waits for another one in a loop: lets the others run. False: another block has failed.
  bool yield(uint64_t block);

  enum class Outcome : uint8_t {
    passed,     // every block of the grid has come
    abandoned,  // another block has failed: the launch is over
    deserted,   // another block has ended and will never come
  };

  // Called by a block whose threads all wait at the barrier. Writes that any block made before it are
  // seen by every block after it.
  Outcome wait(uint64_t block);
  uint64_t waiting();  // blocks that wait now
  uint64_t left();     // blocks that run no more

  // Called once for each block that runs no more. `failed`: stopped by a fault.
  void leave(uint64_t block, bool failed);

 private:
  bool in_turns() const { return !cannot_run_.empty(); }
  bool has_turn(uint64_t block) const { return !in_turns() || turn_ == block; }
  void pass_turn();

  const uint64_t blocks_;
  const bool checks_blocks_;
  std::mutex mutex_;
  std::condition_variable moved_;
  uint64_t running_;  // blocks that have not left
  uint64_t waiting_ = 0;
  uint64_t round_ = 0;
  std::vector<uint64_t> waiting_blocks_;
  std::vector<bool> cannot_run_;  // blocks that wait here or have left; empty: all run at once
  uint64_t turn_ = 0;             // the block that runs
  bool deserted_ = false;
  bool failed_ = false;
};

}  // namespace simt::engine
