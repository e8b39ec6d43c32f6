#include "races/shared_races.h"

#include <algorithm>

#include "base/lane_simd.h"

namespace simt::engine {

void WarpOrder::sync(uint32_t members, uint32_t live) {
  if ((members & live) == live) {
    all_lanes = now;
  } else {
    if (!pairs) pairs = zeroed<uint32_t>(kLanes * kLanes);
    for (const int a : lanes_of(members)) {
      for (const int b : lanes_of(members)) pairs[a * kLanes + b] = now;
    }
  }
  ++now;
}

namespace {

// Calls f(lane, word) for each lane, with the first of its words.
template <class F>
void for_each_lane(const TwoRows& rows, F&& f) {
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < kLanes / 2; ++i) {
      f(half * (kLanes / 2) + i, rows.first[half] + i * rows.step);
    }
  }
}

}  // namespace

bool RaceCheck::are_whole(const TwoRows& rows) const {
  const uint32_t since = interval_ - block_;
  if (rows.step == 0 || rows.step == rows.words) {
    const unsigned count = rows.words * (rows.step ? kLanes / 2 : 1);
    return are_within(&whole_[rows.first[0]], count, block_, since) &&
           (rows.first[1] == rows.first[0] ||
            are_within(&whole_[rows.first[1]], count, block_, since));
  }
  uint32_t outside = 0;
  for_each_lane(rows, [&](unsigned, uint32_t word) {
    for (unsigned i = 0; i < rows.words; ++i) outside |= whole_[word + i] - block_ > since;
  });
  return !outside;
}

// Is any of them the target of an asynchronous copy which others must not touch yet?
bool RaceCheck::are_copied(const TwoRows& rows) const {
  bool any = false;
  for_each_lane(rows, [&](unsigned, uint32_t word) {
    for (unsigned i = 0; i < rows.words; ++i) any |= copy(word + i) != Copy::none;
  });
  return any;
}

void RaceCheck::note_write(size_t number, const Write& write) {
  SharedWord& word = words_[number];
  word.use.plain = write;
  if (word.split != block_) return;
  for (int i = 0; i < 4; ++i) bytes_[number * 4 + i].plain = write;
}

void RaceCheck::begin_copy(size_t word, unsigned thread, uint32_t pc, uint32_t time,
                           bool is_foreign) {
  has_copies_ = true;
  note_write(word, {is_foreign ? 0 : interval_, time, pc, static_cast<uint16_t>(thread)});
  words_[word].block = block_;
  words_[word].written = 0xf;
  set_doubt(word, static_cast<uint8_t>(Copy::under_way));
}

void RaceCheck::note_foreign(size_t number, uint8_t bytes, uint32_t pc) {
  SharedWord& word = words_[number];
  if (word.block != block_) word.written = is_whole(number) ? 0xf : 0;
  word.block = block_;
  word.written |= bytes;
  note_write(number, {0, 0, pc, 0});
  set_doubt(number, 0);
}

void RaceCheck::end_copy(size_t word, unsigned thread, uint32_t pc, uint32_t time) {
  const bool is_of_this_interval = last_write(word).interval == interval_;
  set_doubt(word, 0);
  if (is_of_this_interval) return;  // who reads it races with the issue
  note_write(word, {interval_, time, pc, static_cast<uint16_t>(thread)});
  words_[word].doubt = static_cast<uint8_t>(Copy::arrived);
  whole_[word] = interval_ + 1;
}

bool RaceCheck::list_load(const TwoRows& rows, unsigned thread, uint32_t pc,
                          const WarpOrder& order) {
  if (kind_ > Kind::loads || listed_.size() == kMostListed || !are_whole(rows)) return false;
  kind_ = Kind::loads;
  listed_.push_back({rows, order.now, pc, static_cast<uint16_t>(thread)});
  return true;
}

bool RaceCheck::list_store(const TwoRows& rows, unsigned thread, uint32_t pc,
                           const WarpOrder& order) {
  if ((kind_ != Kind::empty && kind_ != Kind::stores) || listed_.size() == kMostListed)
    return false;
  if (has_copies_ && are_copied(rows)) [[unlikely]]
    return false;
  // Each word for the first time in this interval? If not, access() will store to all of them just the same.
  bool is_first = true;
  for_each_lane(rows, [&](unsigned, uint32_t word) {
    for (unsigned i = 0; i < rows.words; ++i) {
      is_first &= whole_[word + i] != interval_;
      whole_[word + i] = interval_;
    }
  });
  if (!is_first) return false;
  kind_ = Kind::stores;
  listed_.push_back({rows, order.now, pc, static_cast<uint16_t>(thread)});
  return true;
}

// None of them races with another.
void RaceCheck::note_listed() {
  const bool write = kind_ == Kind::stores;
  WarpOrder order;
  Race race;
  kind_ = Kind::each;
  for (const Listed& listed : listed_) {
    order.now = listed.time;
    for_each_lane(listed.rows, [&](unsigned lane, uint32_t first) {
      for (uint32_t word = first; word < first + listed.rows.words; ++word) {
        note(word, 0xf, listed.thread + lane, write, false, listed.pc, order, race);
      }
    });
  }
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
