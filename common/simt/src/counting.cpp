#include <simt/counting.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "lanes.h"

namespace simt {
namespace {

/// A set of up to 64 keys that forgets everything at once.
class SmallSet {
 public:
  /// True if `key` was not there.
  bool insert(uint64_t key) {
    unsigned slot = static_cast<unsigned>((key * 0x9e3779b97f4a7c15ull) >> 57);  // 7 bits
    while (stamps_[slot] == stamp_) {
      if (keys_[slot] == key) return false;
      slot = (slot + 1) & (kSlots - 1);
    }
    stamps_[slot] = stamp_;
    keys_[slot] = key;
    return true;
  }

  void clear() {
    if (++stamp_ == 0) {
      stamps_.fill(0);
      stamp_ = 1;
    }
  }

 private:
  static constexpr unsigned kSlots = 128;
  std::array<uint64_t, kSlots> keys_;
  std::array<uint32_t, kSlots> stamps_{};
  uint32_t stamp_ = 1;
};

thread_local constinit SmallSet* scratch_set = nullptr;

SmallSet& cleared_set() {
  if (!scratch_set) scratch_set = new SmallSet;  // one per OS thread, for the life of the process
  scratch_set->clear();
  return *scratch_set;
}

/// Wavefronts of one phase: the most distinct words in any bank.
unsigned phase_wavefronts(const uint64_t* addresses, uint32_t active, unsigned size) {
  if (!active) return 0;
  const unsigned words = size < 4 ? 1 : size / 4;

  // Words in even steps meet in a bank as often as the step and the number of banks share a factor.
  if (const uint64_t step = addresses[1] - addresses[0];
      active == ~0u && words == 1 && step % 4 == 0 && engine::are_in_steps(addresses, step)) {
    return step ? static_cast<unsigned>(std::gcd(step / 4, uint64_t{kBanks})) : 1;
  }
  SmallSet& seen = cleared_set();
  std::array<uint8_t, kBanks> load{};
  unsigned most = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    const uint64_t first = addresses[std::countr_zero(rest)] / 4;
    for (unsigned i = 0; i < words; ++i) {
      if (seen.insert(first + i)) {
        most = std::max<unsigned>(most, ++load[(first + i) % kBanks]);
      }
    }
  }
  return most;
}

/// Lanes that a phase serves.
unsigned phase_lanes(unsigned size) { return size <= 4 ? 32 : size == 8 ? 16 : 8; }

uint32_t low_lanes(unsigned n) { return n == 32 ? ~0u : (1u << n) - 1; }

/// Phases with an active lane.
unsigned count_phases(uint32_t active, unsigned size) {
  unsigned count = 0;
  for (unsigned first = 0; first < 32; first += phase_lanes(size)) {
    count += (active >> first & low_lanes(phase_lanes(size))) != 0;
  }
  return count;
}

/// True if every active lane reads what its partner `lane ^ distance` reads, and both are active.
bool pairs_agree(const uint64_t* addresses, uint32_t active, int distance) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const int partner = lane ^ distance;
    if ((active >> partner & 1) && addresses[partner] != addresses[lane]) return false;
  }
  return true;
}

}  // namespace

unsigned count_sectors(const uint64_t* addresses, uint32_t active, unsigned size) {
  // One place, a row or a column of a matrix.
  if (const uint64_t step = addresses[1] - addresses[0];
      active == ~0u && engine::are_in_steps(addresses, step)) {
    const uint64_t offset = addresses[0] % kSectorBytes;
    if (!step) return static_cast<unsigned>((offset + size - 1) / kSectorBytes) + 1;
    if (step == size) return static_cast<unsigned>((offset + 32 * size - 1) / kSectorBytes) + 1;
    if (step % kSectorBytes == 0 && offset + size <= kSectorBytes) return 32;
  }
  // Sectors that climb from lane to lane need no set.
  uint64_t last = 0;
  unsigned count = 0;
  bool climbing = true;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    const uint64_t address = addresses[std::countr_zero(rest)];
    const uint64_t first = address / kSectorBytes;
    const uint64_t end = (address + size - 1) / kSectorBytes;
    if (count == 0) {
      count = static_cast<unsigned>(end - first) + 1;
    } else if (first >= last) {
      count += static_cast<unsigned>(end - std::max(first, last + 1) + 1) * (end > last);
    } else {
      climbing = false;
      break;
    }
    last = end;
  }
  if (climbing) return count;

  SmallSet& seen = cleared_set();
  count = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    const uint64_t address = addresses[std::countr_zero(rest)];
    const uint64_t end = (address + size - 1) / kSectorBytes;
    for (uint64_t sector = address / kSectorBytes; sector <= end; ++sector) {
      count += seen.insert(sector);
    }
  }
  return count;
}

unsigned count_atomic_sectors(const uint64_t* addresses, uint32_t active) {
  constexpr unsigned kLineBytes = 128, kSets = 4;
  const auto set_of = [](uint64_t line) {
    const unsigned low = (line ^ line >> 2 ^ line >> 4) & 1;
    const unsigned high = (line >> 1 ^ line >> 3 ^ line >> 4) & 1;
    return 2 * high + low;
  };

  struct Set {
    uint64_t line;
    uint64_t offsets;  // bit i: a lane wants byte 2i of some line
    unsigned sectors;  // of `line`
  };
  unsigned count = 0;
  for (uint32_t left = active; left;) {
    std::array<Set, kSets> sets{};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t line = addresses[lane] / kLineBytes;
      const unsigned offset = addresses[lane] % kLineBytes;
      Set& set = sets[set_of(line)];
      if (!set.offsets) set.line = line;
      const uint64_t bit = uint64_t{1} << offset / 2;
      if (set.line == line && !(set.offsets & bit)) {
        set.sectors |= 1u << offset / kSectorBytes;
        left &= ~(1u << lane);
      }
      set.offsets |= bit;
    }
    for (const Set& set : sets) count += static_cast<unsigned>(std::popcount(set.sectors));
  }
  return count;
}

SharedCost count_wavefronts(const uint64_t* addresses, uint32_t active, unsigned size,
                            SharedAccess access) {
  SharedCost cost;
  if (!active) return cost;
  const bool exchange = access == SharedAccess::compare_exchange;
  if (exchange || access == SharedAccess::atomic) {
    std::array<uint8_t, kBanks> load{};
    for (uint32_t rest = active; rest; rest &= rest - 1) {
      const unsigned bank = addresses[std::countr_zero(rest)] / 4 % kBanks;
      cost.wavefronts = std::max<unsigned>(cost.wavefronts, ++load[bank]);
    }
    cost.phases = cost.ideal = 1;
    if (exchange) {
      cost.wavefronts *= 2;
      cost.phases = cost.ideal = 2 * count_phases(active, size);
    }
    cost.reported = cost.wavefronts;
    return cost;
  }

  // The phases: all lanes, two halves or four quarters; loads whose partners agree need half as many.
  unsigned lanes = phase_lanes(size);
  const auto merges = [&](uint32_t part) {
    return size > 4 && access == SharedAccess::load &&
           (pairs_agree(addresses, part, 1) || pairs_agree(addresses, part, 2));
  };
  const bool whole = merges(active);
  if (whole) lanes *= 2;
  cost.phase_lanes = lanes;
  for (unsigned first = 0; first < 32; first += lanes) {
    const uint32_t phase = active & (low_lanes(lanes) << first);
    if (!phase) continue;
    cost.wavefronts += phase_wavefronts(addresses, phase, size);
    ++cost.phases;
  }
  const auto active_lanes = static_cast<unsigned>(std::popcount(active));
  cost.reported = cost.wavefronts;
  if (size == 16 && !whole) {
    cost.reported = 0;
    for (unsigned half = 0; half < 32; half += 16) {
      const uint32_t part = active & (low_lanes(16) << half);
      const unsigned step = merges(part) ? 16 : 8;
      for (unsigned first = half; first < half + 16; first += step) {
        cost.reported += phase_wavefronts(addresses, part & (low_lanes(step) << first), size);
      }
    }
  }
  cost.ideal = std::min(cost.reported, (active_lanes * size + 4 * kBanks - 1) / (4 * kBanks));
  return cost;
}

CopyCost count_copy(const uint64_t* from, const uint64_t* to, uint32_t active, unsigned size) {
  constexpr unsigned kLineBytes = 4 * kBanks;
  CopyCost cost;
  if (size == 16) {
    // Addresses in shared memory have 18 bits at most, counted from wherever it begins.
    const auto distinct = [active](auto key_of) {
      SmallSet& seen = cleared_set();
      unsigned count = 0;
      for (uint32_t rest = active; rest; rest &= rest - 1) {
        count += seen.insert(key_of(std::countr_zero(rest)));
      }
      return count;
    };
    const auto place = [to](int lane, unsigned unit) { return to[lane] / unit % (1u << 20); };
    cost.sectors = distinct(
        [&](int lane) { return from[lane] / kLineBytes << 20 | place(lane, kSectorBytes); });
    cost.wavefronts = distinct([&](int lane) {
      const uint64_t distance = (to[lane] - from[lane]) / size % (kLineBytes / size);
      return (from[lane] / kLineBytes << 20 | place(lane, kLineBytes)) << 3 | distance;
    });
  } else {
    cost.sectors = count_sectors(from, active, size);
    const unsigned lanes = phase_lanes(size);
    for (unsigned first = 0; first < 32; first += lanes) {
      std::array<uint8_t, kBanks> given{}, taken{};
      unsigned most = 0;
      for (uint32_t rest = active & (low_lanes(lanes) << first); rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        most = std::max<unsigned>(most, ++given[from[lane] / 4 % kBanks]);
        most = std::max<unsigned>(most, ++taken[to[lane] / 4 % kBanks]);
      }
      cost.wavefronts += most;
    }
  }
  const auto active_lanes = static_cast<unsigned>(std::popcount(active));
  cost.ideal = std::min(cost.wavefronts, (active_lanes * size + kLineBytes - 1) / kLineBytes);
  return cost;
}

SpinRound count_spin_round(const uint64_t* addresses, uint32_t active, unsigned size) {
  SpinRound round;
  round.load = count_wavefronts(addresses, active, size, SharedAccess::load);
  const unsigned lanes = phase_lanes(size);
  for (unsigned first = 0; first < 32; first += lanes) {
    const uint32_t phase = active & (low_lanes(lanes) << first);
    if (!phase) continue;
    round.wavefronts += 2;
    uint32_t banks = 0;
    for (uint32_t rest = phase; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint32_t bank = (size == 8 ? 3u : 1u) << (addresses[lane] / 4 % kBanks);
      bool lost = banks & bank;
      for (uint32_t won = round.done; won; won &= won - 1) {
        lost |= addresses[std::countr_zero(won)] == addresses[lane];
      }
      if (lost) continue;
      banks |= bank;
      round.done |= 1u << lane;
    }
  }
  return round;
}

}  // namespace simt
