// The race check of shared memory.
//
// Two accesses to the same bytes race if they come from different threads, at least one writes, not
// both are atomic, and nothing orders them: no barrier of the block between them and, within a warp,
// no __syncwarp that both lanes took part in. That lanes of a warp run in lock-step orders nothing:
// CUDA promises it since Volta no more.
//
// For each word of shared memory the check keeps the last plain write, the last atomic operation and two
// readers of this barrier interval, and for each byte of a word whose bytes a block uses one by one. Intervals
// are numbered through all blocks of a worker, so nothing needs clearing.
//
// An interval in which warps only read, or only write and none what another wrote, has no race, whatever comes after it:
// most have one phase of a tile, writing or reading. So the requests of whole warps whose words lie in regular steps are
// only listed at first. They are noted word by word, in their order, once the interval turns out to be of another kind.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/host_memory.h"
#include "base/lane_simd.h"

namespace simt::engine {

// What __syncwarp has ordered within one warp. Time is the number of the warp instruction.
struct WarpOrder {
  uint32_t now = 1;
  uint32_t all_lanes = 0;     // when a __syncwarp of the whole warp happened last
  HostArray<uint32_t> pairs;  // [lane][lane]: the same for part of the warp

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
};

// The accesses to a word, or to one byte of it.
struct SharedUse {
  Write plain, atomic;  // the last of each
  uint8_t readers;      // 0, 1 or 2 of the following
  uint32_t read_interval;
  Reader last;   // the last thread that read
  Reader other;  // another one; of another warp if any was
};

struct SharedWord {
  SharedUse use;    // of the whole word, until the block uses some bytes of it alone
  uint8_t written;  // which bytes the block has written at all,
  uint8_t
      doubt;  // made of memory that nobody had written: see uninitialized_values.h; or a Copy; 0: neither
  uint32_t block;  // both if this is the block's first interval
  uint32_t split;  // if this is: its bytes are kept apart
};

struct Race {
  uint16_t other_thread;
  bool other_wrote;
  uint32_t other_pc;      // see short_pc()
  bool both_write;        // and neither is atomic: a race only if the values differ
  bool same_instruction;  // of one warp
  bool other_atomic;
  uint32_t other_time;
  bool is_update = false;  // both write by the same instruction, and this one has read there before

  // The other lane, if it is of the same instruction; else -1.
  int lane_of_instruction() const { return same_instruction ? other_thread % kLanes : -1; }
};

// Where a thread reads a word, and where it goes on with an atomic operation on it, as in
// `if (top > 0) atomicSub(&top, 1);`. The test races with the atomic operations of others on purpose.
struct TestedAtomic {
  uint32_t load_pc, atomic_pc;
  bool operator==(const TestedAtomic&) const = default;
};

class RaceCheck {
 public:
  // Words of static and dynamic shared memory have numbers from 0.
  void resize(size_t words) {
    words_ = zeroed<SharedWord>(words);
    whole_.assign(words, 0);
    listed_.reserve(kMostListed);
    bytes_ = zeroed<SharedUse>(words * 4);
  }
  void next_interval() {
    ++interval_;
    listed_.clear();
    kind_ = keeps_writes_ ? Kind::each : Kind::empty;
  }
  void begin_block() {
    next_interval();
    ++interval_;  // what arrived in the interval before is whole from the one after it: not in this block
    block_ = interval_;
    has_copies_ = false;
  }

  uint32_t interval() const { return interval_; }
  // The copy engine may ask later who wrote a word: no request is listed any more.
  void keep_writes() {
    keeps_writes_ = true;
    begin_each();
  }

  // Have these bytes been written since the block began? Until then shared memory holds garbage.
  bool is_written(size_t word, uint8_t bytes) const {
    return is_whole(word) || (words_[word].block == block_ && (bytes & ~words_[word].written) == 0);
  }

  // Of a written word.
  uint8_t doubt(size_t word) const { return is_whole(word) ? 0 : words_[word].doubt; }
  void set_doubt(size_t number, uint8_t doubt) {
    SharedWord& word = words_[number];
    if (is_whole(number)) {
      word.block = block_;
      word.written = 0xf;
    }
    word.doubt = doubt;
    whole_[number] = word.written == 0xf && !doubt ? interval_ : 0;
  }

  // An asynchronous copy to a word, of the thread's warp at `time`, is under way from its issue to its arrival. Other threads
  // may read what has arrived after a barrier, and so the word is whole from the next interval on.
  enum class Copy : uint8_t { none, arrived = 254, under_way = 255 };
  static Copy copy_of(uint8_t doubt) {
    return doubt >= static_cast<uint8_t>(Copy::arrived) ? Copy{doubt} : Copy::none;
  }
  Copy copy(size_t word) const {
    const bool is_known = has_copies_ && !is_whole(word) && words_[word].block == block_;
    return is_known ? copy_of(words_[word].doubt) : Copy::none;
  }
  // `is_foreign`: asked for by another block of the cluster.
  void begin_copy(size_t word, unsigned thread, uint32_t pc, uint32_t time,
                  bool is_foreign = false);
  // A thread of another block has written there: see check/cluster.h for its races.
  void note_foreign(size_t word, uint8_t bytes, uint32_t pc);
  void end_copy(size_t word, unsigned thread, uint32_t pc, uint32_t time);
  // The last plain write to a word, and whether `thread` may know of it.
  const Write& last_write(size_t word) const {
    return words_[word].split == block_ ? bytes_[word * 4].plain : words_[word].use.plain;
  }
  bool is_of_this_block(const Write& write) const {
    return write.interval - block_ <= interval_ - block_;
  }
  bool is_ordered(const Write& write, unsigned thread, const WarpOrder& order) const {
    return write.thread == thread || write.interval != interval_ ||
           (write.thread / 32u == thread / 32 &&
            order.ordered(thread % 32, write.thread % 32, write.time));
  }

  // access() for a whole request, by the 32 threads from `thread` on: true if it is listed, and neither races nor reads what
  // nobody has written. If false, nothing has been done: access() must be called for each lane.
  bool list_load(const TwoRows& rows, unsigned thread, uint32_t pc, const WarpOrder& order);
  bool list_store(const TwoRows& rows, unsigned thread, uint32_t pc, const WarpOrder& order);
  // To be called before access().
  void begin_each() {
    if (kind_ != Kind::each) note_listed();
  }

  // Notes an access by `thread` (linear in its block) and returns true if it races.
  bool access(size_t word, uint8_t bytes, unsigned thread, bool write, bool atomic, uint32_t pc,
              const WarpOrder& order, Race& race);

  // The same, and no more: for memory that others may write as well.
  bool note(size_t word, uint8_t bytes, unsigned thread, bool write, bool atomic, uint32_t pc,
            const WarpOrder& order, Race& race);

  std::span<const TestedAtomic> tested_atomics() const { return {tested_, tested_count_}; }
  void forget_tested_atomics() { tested_count_ = 0; }

 private:
  // What the interval has seen so far: no request, only loads, only stores that are listed. Or it is checked word by word.
  enum class Kind : uint8_t { empty, loads, stores, each };
  struct Listed {
    TwoRows rows;
    uint32_t time, pc;
    uint16_t thread;
  };
  static constexpr size_t kMostListed = 4096;

  // Has the block written all of the word, and last what is in no doubt?
  bool is_whole(size_t word) const { return whole_[word] - block_ <= interval_ - block_; }
  bool are_whole(const TwoRows& rows) const;
  bool are_copied(const TwoRows& rows) const;
  void note_listed();
  void note_write(size_t word, const Write& write);

  bool use(SharedUse& use, unsigned thread, bool write, bool atomic, uint32_t pc,
           const WarpOrder& order, Race& race);
  bool use_bytes(size_t word, uint8_t bytes, unsigned thread, bool write, bool atomic, uint32_t pc,
                 const WarpOrder& order, Race& race);

  // On its way to `pc`, ahead of it in the code.
  bool has_read(const SharedUse& use, unsigned thread, uint32_t pc) const {
    const auto is_that = [&](const Reader& reader) {
      return reader.thread == thread && reader.pc < pc;
    };
    return use.read_interval == interval_ &&
           (is_that(use.last) || (use.readers == 2 && is_that(use.other)));
  }
  void note_tested_atomic(const SharedUse& use, unsigned thread, uint32_t pc);

  TestedAtomic tested_[16];  // the first of a launch
  unsigned tested_count_ = 0;
  HostArray<SharedWord> words_;
  std::vector<uint32_t>
      whole_;  // of words for which is_whole() holds: the interval of the last store
  std::vector<Listed> listed_;  // the requests of this interval, unless each is checked
  Kind kind_ = Kind::empty;
  bool has_copies_ = false;  // the block has begun an asynchronous copy
  bool keeps_writes_ = false;
  HostArray<SharedUse> bytes_;  // four for each word
  uint32_t interval_ = 1;
  uint32_t block_ = 1;
};

// Inline, because they run for each lane of each access to shared memory.

[[gnu::always_inline]] inline bool RaceCheck::use(SharedUse& use, unsigned thread, bool write,
                                                  bool atomic, uint32_t pc, const WarpOrder& order,
                                                  Race& race) {
  const unsigned warp = thread / 32;
  const auto unordered = [&](unsigned other, uint32_t time) {
    return other != thread && (other / 32 != warp || !order.ordered(thread % 32, other % 32, time));
  };
  bool found = false;

  for (const Write* earlier : {&use.plain, &use.atomic}) {
    if (earlier == &use.atomic && (atomic || found)) break;
    if (earlier->interval != interval_ || !unordered(earlier->thread, earlier->time)) continue;
    const bool both_write = write && !atomic && earlier == &use.plain;
    const bool same_instruction =
        both_write && earlier->thread / 32u == warp && earlier->time == order.now;
    race = {earlier->thread,        true,         earlier->pc, both_write, same_instruction,
            earlier == &use.atomic, earlier->time};
    race.is_update = both_write && earlier->pc == pc && has_read(use, thread, pc);
    found = true;
  }

  if (write && !found && use.read_interval == interval_) {
    for (const Reader* reader : {&use.last, &use.other}) {
      if (reader == &use.other && use.readers < 2) break;
      if (!unordered(reader->thread, reader->time)) continue;
      race = {reader->thread, false, reader->pc, false, false, false, reader->time};
      found = true;
      break;
    }
  }

  if (atomic && use.read_interval == interval_) note_tested_atomic(use, thread, pc);
  if (write) {
    (atomic ? use.atomic : use.plain) = {interval_, order.now, pc, static_cast<uint16_t>(thread)};
  } else {
    if (use.read_interval != interval_) {
      use.read_interval = interval_;
      use.readers = 1;
    } else if (use.last.thread != thread) {
      // Keep a reader of another warp where there is one.
      const bool other_is_foreign = use.readers == 2 && use.other.thread / 32u != warp;
      if (!other_is_foreign) use.other = use.last;
      use.readers = 2;
    }
    use.last = {order.now, pc, static_cast<uint16_t>(thread)};
  }
  return found;
}

[[gnu::always_inline]] inline bool RaceCheck::note(size_t number, uint8_t bytes, unsigned thread,
                                                   bool write, bool atomic, uint32_t pc,
                                                   const WarpOrder& order, Race& race) {
  SharedWord& word = words_[number];
  return bytes == 0xf && word.split != block_
             ? use(word.use, thread, write, atomic, pc, order, race)
             : use_bytes(number, bytes, thread, write, atomic, pc, order, race);
}

[[gnu::always_inline]] inline bool RaceCheck::access(size_t number, uint8_t bytes, unsigned thread,
                                                     bool write, bool atomic, uint32_t pc,
                                                     const WarpOrder& order, Race& race) {
  SharedWord& word = words_[number];
  const bool found = note(number, bytes, thread, write, atomic, pc, order, race);
  if (write) {
    if (word.block != block_) word.written = is_whole(number) ? 0xf : 0;
    word.block = block_;
    word.written |= bytes;
  }
  return found;
}

}  // namespace simt::engine
