// The race check of shared memory.
//
// Two accesses to the same bytes race if they come from different threads, at least one writes, not
// both are atomic, and nothing orders them: no barrier of the block between them and, within a warp,
// no __syncwarp that both lanes took part in. That lanes of a warp run in lock-step orders nothing:
// CUDA promises it since Volta no more.
//
// For each word of shared memory the check keeps the last plain write, the last atomic operation and two
// readers of this barrier interval. Intervals are numbered through all blocks of a worker, so nothing needs clearing.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace simt::engine {

// What __syncwarp has ordered within one warp. Time is the number of the warp instruction.
struct WarpOrder {
  uint32_t now = 1;
  uint32_t all_lanes = 0;  // when a __syncwarp of the whole warp happened last
  struct Free {
    void operator()(uint32_t* p) const { std::free(p); }
  };
  // (A lane runs while it is made, whose `new` is the device's.)
  std::unique_ptr<uint32_t[], Free> pairs;  // [lane][lane]: the same for part of the warp

  void reset() {
    now = 1;
    all_lanes = 0;
    pairs.reset();
  }
  void sync(uint32_t members, uint32_t live);
  bool ordered(unsigned lane, unsigned other, uint32_t since) const {
    return all_lanes > since || (pairs && pairs[lane * 32 + other] > since);
  }
};

struct Reader {
  uint32_t time, pc;
  uint16_t thread;
};

struct Write {
  uint32_t interval, time, pc;
  uint16_t thread;
  uint8_t bytes;  // which of the four
};

struct SharedWord {
  Write plain, atomic;
  uint32_t read_interval;
  uint8_t read_bytes;
  uint8_t readers;  // 0, 1 or 2 of the following
  uint8_t written;  // which bytes the block has written at all,
  uint32_t block;   // if this is the block's first interval
  Reader last;      // the last thread that read
  Reader other;     // another one; of another warp if any was
};

struct Race {
  uint16_t other_thread;
  bool other_wrote;
  uint32_t other_pc;      // relative to the program's first address
  bool same_instruction;  // a race only if the values differ
};

class RaceCheck {
 public:
  // Words of static and dynamic shared memory have numbers from 0.
  void resize(size_t words) { words_.assign(words, SharedWord{}); }
  void next_interval() { ++interval_; }
  void begin_block() { block_ = ++interval_; }

  // Have these bytes been written since the block began? Until then shared memory holds garbage.
  bool is_written(size_t word, uint8_t bytes) const {
    return words_[word].block == block_ && (bytes & ~words_[word].written) == 0;
  }

  // Notes an access by `thread` (linear in its block) and returns true if it races.
  bool access(size_t word, uint8_t bytes, unsigned thread, bool write, bool atomic, uint32_t pc,
              const WarpOrder& order, Race& race);

 private:
  std::vector<SharedWord> words_;
  uint32_t interval_ = 1;
  uint32_t block_ = 1;
};

}  // namespace simt::engine
