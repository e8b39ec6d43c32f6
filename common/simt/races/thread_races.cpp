#include "races/thread_races.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/values.h"

namespace simt::engine {

// Do two lanes of the request name the same bytes?
bool ThreadRaces::has_twice(const GlobalRequest& request) const {
  const uint64_t size = request.size;
  if (request.span.is_regular) return static_cast<uint64_t>(std::abs(request.span.step)) < size;
  if (request.lanes == ~0u && are_apart(request.address, size)) [[likely]]
    return false;
  uint64_t last = 0;
  bool rises = true;
  for (const int lane : lanes_of(request.lanes)) {
    const uint64_t at = request.address[lane];
    rises &= !last || at >= last + size;
    last = at;
  }
  if (rises) [[likely]]
    return false;
  uint64_t sorted[kLanes];
  unsigned count = 0;
  for (const int lane : lanes_of(request.lanes)) {
    sorted[count++] = request.address[lane];
  }
  std::sort(sorted, sorted + count);
  for (unsigned i = 1; i < count; ++i) {
    if (sorted[i] - sorted[i - 1] < size) return true;
  }
  return false;
}

// Are all others of the list elsewhere, or of the same threads and at the same addresses?
bool ThreadRaces::is_alone(const Use& use, const GlobalRequest& request) const {
  if (listed_.size() > kMostCompared) return false;
  const uint64_t end = request.span.high + request.size;
  for (const Listed& other : listed_) {
    if (other.base != use.base || other.low >= end || other.high + other.size <= request.span.low) {
      continue;
    }
    if (other.thread != request.thread || other.lanes != request.lanes ||
        other.size != request.size || other.low != request.span.low ||
        other.is_regular != request.span.is_regular || other.step != request.span.step) {
      return false;
    }
    if (other.is_regular) continue;
    const uint32_t* offset = &offsets_[other.offsets];
    uint64_t differences = 0;
    for (const int lane : lanes_of(request.lanes)) {
      differences |= request.address[lane] ^ (other.low + *offset++);
    }
    if (differences) return false;
  }
  return true;
}

bool ThreadRaces::note_any(Use& use, const GlobalRequest& request, const WarpOrder& order) {
  if (use.interval != interval_) {
    use.interval = interval_;
    use.loads = use.stores = use.atomics = use.is_each = false;
  }
  if (use.is_each) return true;
  const bool stores = request.kind == AccessKind::write;
  (stores ? use.is_stored : use.is_loaded) = true;
  const bool may_race = request.kind == AccessKind::read    ? use.stores && request.again
                        : request.kind == AccessKind::write ? request.again
                                                            : use.stores;
  const bool is_twice = stores && has_twice(request);
  use.is_mixed |= use.is_stored && (use.is_loaded || request.again || is_twice);
  if (is_twice ||
      (may_race && (use.loads || use.stores || use.atomics) && !is_alone(use, request))) {
    use.is_each = true;
    note_listed(use);
    return true;
  }
  if (blocks_ > 1 && !use.is_mixed) return false;
  if (request.span.high - request.span.low <= ~uint32_t{0} && listed_.size() < kMostListed) {
    list(use, request, order);
    (stores ? use.stores : request.kind == AccessKind::read ? use.loads : use.atomics) = true;
  }
  return false;
}

void ThreadRaces::list(const Use& use, const GlobalRequest& request, const WarpOrder& order) {
  listed_.push_back({use.base, request.span.low, request.span.high, request.span.step,
                     request.lanes, order.now, request.pc, static_cast<uint32_t>(offsets_.size()),
                     static_cast<uint16_t>(request.thread), static_cast<uint8_t>(request.size),
                     request.kind, request.span.is_regular});
  if (request.span.is_regular) return;
  const size_t begin = offsets_.size();
  const auto count = static_cast<unsigned>(std::popcount(request.lanes));
  offsets_.resize(begin + count);
  uint32_t* offset = &offsets_[begin];
  for (const int lane : lanes_of(request.lanes)) {
    *offset++ = static_cast<uint32_t>(request.address[lane] - request.span.low);
  }
}

// None of them races with another.
void ThreadRaces::note_listed(const Use& use) {
  WarpOrder order;
  Race race;
  for (const Listed& listed : listed_) {
    if (listed.base != use.base) continue;
    order.now = listed.time;
    const uint32_t* offset = offsets_.data() + listed.offsets;
    const uint64_t first = listed.step < 0 ? listed.high : listed.low;
    for (const int lane : lanes_of(listed.lanes)) {
      const uint64_t address = listed.is_regular ? first + static_cast<uint64_t>(lane * listed.step)
                                                 : listed.low + *offset++;
      const unsigned thread = listed.thread + static_cast<unsigned>(lane);
      const uint8_t bytes = bytes_in_word(address, listed.size);
      for (unsigned done = 0; done < listed.size; done += 4) {
        access(address + done, bytes, thread, listed.kind, listed.pc, order, race);
      }
    }
  }
}

// False if there is no room for more in this interval.
bool ThreadRaces::number_of(uint64_t sector, uint32_t& number) {
  constexpr size_t kTable = 4 * kMostSectors;
  if (sector_interval_ != interval_) {
    sector_interval_ = interval_;
    sector_count_ = 0;
  }
  size_t at = (sector / kSectorBytes * 0x9e3779b97f4a7c15ull) >> 40;
  for (;; ++at) {
    Sector& entry = sectors_[at %= kTable];
    if (entry.interval != interval_) {
      if (sector_count_ == kMostSectors) return false;
      entry = {sector, interval_, sector_count_++};
    }
    if (entry.address != sector) continue;
    number = entry.number;
    return true;
  }
}

bool ThreadRaces::access(uint64_t address, uint8_t bytes, unsigned thread, AccessKind kind,
                         uint32_t pc, const WarpOrder& order, Race& race) {
  if (!words_) {
    words_ = std::make_unique<RaceCheck>();
    words_->resize(kMostSectors * 8);
    sectors_ = zeroed<Sector>(4 * kMostSectors);
    words_->begin_block();
  }
  uint32_t sector = 0;
  if (!number_of(address - address % kSectorBytes, sector)) return false;
  const bool is_atomic = kind == AccessKind::atomic;
  if (!words_->note(sector * 8 + address % kSectorBytes / 4, bytes, thread,
                    kind != AccessKind::read, is_atomic, pc, order, race)) {
    return false;
  }
  const bool one_loads = kind == AccessKind::read || !race.other_wrote;
  return !(one_loads && (is_atomic || race.other_atomic));
}

}  // namespace simt::engine
