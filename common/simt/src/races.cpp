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
