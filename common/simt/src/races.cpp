#include "races.h"

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
  const unsigned warp = thread / 32;
  const auto unordered = [&](unsigned other, uint32_t time) {
    return other != thread && (other / 32 != warp || !order.ordered(thread % 32, other % 32, time));
  };
  bool found = false;

  for (const Write* earlier : {&word.plain, &word.atomic}) {
    if (earlier == &word.atomic && (atomic || found)) break;
    if (earlier->interval != interval_ || !(earlier->bytes & bytes) ||
        !unordered(earlier->thread, earlier->time)) {
      continue;
    }
    const bool same_instruction = write && !atomic && earlier == &word.plain &&
                                  earlier->thread / 32u == warp && earlier->time == order.now;
    race = {earlier->thread, true, earlier->pc, same_instruction};
    found = true;
  }

  if (write && !found && word.read_interval == interval_ && (word.read_bytes & bytes)) {
    for (const Reader* reader : {&word.last, &word.other}) {
      if (reader == &word.other && word.readers < 2) break;
      if (!unordered(reader->thread, reader->time)) continue;
      race = {reader->thread, false, reader->pc, false};
      found = true;
      break;
    }
  }

  if (write) {
    Write& mine = atomic ? word.atomic : word.plain;
    const auto before = mine.interval == interval_ ? mine.bytes : uint8_t{0};
    mine = {interval_, order.now, pc, static_cast<uint16_t>(thread),
            static_cast<uint8_t>(before | bytes)};
    if (word.block != block_) word.written = 0;
    word.block = block_;
    word.written |= bytes;
  } else {
    if (word.read_interval != interval_) {
      word.read_interval = interval_;
      word.read_bytes = 0;
      word.readers = 1;
    } else if (word.last.thread != thread) {
      // Keep a reader of another warp where there is one.
      const bool other_is_foreign = word.readers == 2 && word.other.thread / 32u != warp;
      if (!other_is_foreign) word.other = word.last;
      word.readers = 2;
    }
    word.last = {order.now, pc, static_cast<uint16_t>(thread)};
    word.read_bytes |= bytes;
  }
  return found;
}

}  // namespace simt::engine
