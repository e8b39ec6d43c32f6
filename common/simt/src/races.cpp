#include "races.h"

#include <algorithm>
#include <bit>

namespace simt::engine {

void WarpOrder::sync(uint32_t members, uint32_t live) {
  if ((members & live) == live) {
    all_lanes = now;
  } else {
    if (!pairs) pairs.reset(static_cast<uint32_t*>(std::calloc(32 * 32, sizeof(uint32_t))));
    for (uint32_t a = members; a; a &= a - 1) {
      for (uint32_t b = members; b; b &= b - 1) {
        pairs[std::countr_zero(a) * 32 + std::countr_zero(b)] = now;
      }
    }
  }
  ++now;
}

bool RaceCheck::access(size_t number, uint8_t bytes, unsigned thread, bool write, bool atomic,
                       uint32_t pc, const WarpOrder& order, Race& race) {
  SharedWord& word = words_[number];
  const bool found = bytes == 0xf && word.split != block_
                         ? use(word.use, thread, write, atomic, pc, order, race)
                         : use_bytes(number, bytes, thread, write, atomic, pc, order, race);
  if (write) {
    if (word.block != block_) word.written = 0;
    word.block = block_;
    word.written |= bytes;
  }
  return found;
}

bool RaceCheck::use_bytes(size_t number, uint8_t bytes, unsigned thread, bool write, bool atomic,
                          uint32_t pc, const WarpOrder& order, Race& race) {
  SharedWord& word = words_[number];
  SharedUse* const each = &bytes_[number * 4];
  if (word.split != block_) {
    word.split = block_;
    for (int i = 0; i < 4; ++i) each[i] = word.use;
  }
  bool found = false;
  for (int i = 0; i < 4; ++i) {
    if (!(bytes >> i & 1)) continue;
    Race of_byte;
    if (!use(each[i], thread, write, atomic, pc, order, of_byte)) continue;
    if (!found) race = of_byte;
    found = true;
  }
  return found;
}

bool RaceCheck::use(SharedUse& use, unsigned thread, bool write, bool atomic, uint32_t pc,
                    const WarpOrder& order, Race& race) {
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
    race = {earlier->thread, true, earlier->pc, both_write, same_instruction};
    found = true;
  }

  if (write && !found && use.read_interval == interval_) {
    for (const Reader* reader : {&use.last, &use.other}) {
      if (reader == &use.other && use.readers < 2) break;
      if (!unordered(reader->thread, reader->time)) continue;
      race = {reader->thread, false, reader->pc, false, false};
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

void RaceCheck::note_tested_atomic(const SharedUse& use, unsigned thread, uint32_t pc) {
  const bool is_last = use.last.thread == thread;
  if (!is_last && !(use.readers == 2 && use.other.thread == thread)) return;
  const TestedAtomic pair{is_last ? use.last.pc : use.other.pc, pc};
  const auto known = tested_atomics();
  if (tested_count_ < std::size(tested_) &&
      std::find(known.begin(), known.end(), pair) == known.end()) {
    tested_[tested_count_++] = pair;
  }
}

}  // namespace simt::engine
