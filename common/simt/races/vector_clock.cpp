#include "races/vector_clock.h"

#include <algorithm>

namespace simt::engine {

uint32_t VectorClock::of(uint32_t block) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), block,
                                      [](uint32_t b, const Run& run) { return b < run.first; });
  if (after == runs_.begin() || after[-1].last < block) return 0;
  return after[-1].epoch;
}

void VectorClock::add(const Run* more, size_t count) {
  std::vector<Run> sum;
  sum.reserve(runs_.size() + count + 1);
  size_t i = 0, j = 0;
  uint64_t at = 0;  // everything before is in the sum
  for (;;) {
    while (i < runs_.size() && runs_[i].last < at) ++i;
    while (j < count && more[j].last < at) ++j;
    const Run* a = i < runs_.size() ? &runs_[i] : nullptr;
    const Run* b = j < count ? &more[j] : nullptr;
    if (!a && !b) break;
    const uint64_t first =
        std::max(at, std::min<uint64_t>(a ? a->first : ~0ull, b ? b->first : ~0ull));
    uint64_t last = ~0ull;
    uint32_t epoch = 0;
    for (const Run* run : {a, b}) {
      if (!run) continue;
      if (run->first <= first) {
        last = std::min<uint64_t>(last, run->last);
        epoch = std::max(epoch, run->epoch);
      } else {
        last = std::min<uint64_t>(last, run->first - 1);
      }
    }
    if (!sum.empty() && sum.back().epoch == epoch && sum.back().last + 1 == first) {
      sum.back().last = static_cast<uint32_t>(last);
    } else {
      sum.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last), epoch});
    }
    at = last + 1;
  }
  runs_ = std::move(sum);
  ++version;
}

}  // namespace simt::engine
