#include <simt/counting.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/lane_simd.h"

namespace simt {
namespace {

using engine::lanes_of;

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
  for (const int lane : lanes_of(active)) {
    const uint64_t first = addresses[lane] / 4;
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
  for (const int lane : lanes_of(active)) {
    const int partner = lane ^ distance;
    if ((active >> partner & 1) && addresses[partner] != addresses[lane]) return false;
  }
  return true;
}

}  // namespace

unsigned count_sectors_in_steps(uint64_t first, uint64_t step, unsigned size) {
  const uint64_t offset = first % kSectorBytes;
  if (!step) return static_cast<unsigned>((offset + size - 1) / kSectorBytes) + 1;
  if (step == size) return static_cast<unsigned>((offset + 32 * size - 1) / kSectorBytes) + 1;
  if (step % kSectorBytes == 0 && offset + size <= kSectorBytes) return 32;
  return 0;
}

unsigned count_sectors(const uint64_t* addresses, uint32_t active, unsigned size) {
  // One place, a row or a column of a matrix.
  if (const uint64_t step = addresses[1] - addresses[0];
      active == ~0u && engine::are_in_steps(addresses, step)) {
    if (const unsigned sectors = count_sectors_in_steps(addresses[0], step, size)) return sectors;
  }
  SmallSet& seen = cleared_set();
  uint64_t last = ~uint64_t{0};  // neighbours mostly share one
  unsigned count = 0;
  for (const int lane : lanes_of(active)) {
    const uint64_t end = (addresses[lane] + size - 1) / kSectorBytes;
    for (uint64_t sector = addresses[lane] / kSectorBytes; sector <= end; ++sector) {
      if (sector != last) count += seen.insert(sector);
      last = sector;
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
    for (const int lane : lanes_of(left)) {
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
    for (const int lane : lanes_of(active)) {
      const unsigned bank = addresses[lane] / 4 % kBanks;
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
  // The source counters join two phases by themselves, and only where that leaves one pass.
  if (whole || (size == 16 && (merges(active & 0xffff) || merges(active & 0xffff0000)))) {
    cost.reported = 0;
    const unsigned step = phase_lanes(size);
    for (unsigned first = 0; first < 32; first += 2 * step) {
      const uint32_t two = active & (low_lanes(2 * step) << first);
      const uint32_t one = two & (low_lanes(step) << first);
      const bool join = merges(two) && phase_wavefronts(addresses, two, size) == 1;
      cost.reported += join ? 1
                            : phase_wavefronts(addresses, one, size) +
                                  phase_wavefronts(addresses, two & ~one, size);
    }
  }
  cost.ideal = std::min(cost.reported, (active_lanes * size + 4 * kBanks - 1) / (4 * kBanks));
  return cost;
}

namespace {

// 4 or 8 bytes a lane: the most lanes that meet one lane in a bank, on either side. (An access of 8 bytes has two
// banks, and its first one names them.)
unsigned copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t phase) {
  std::array<uint32_t, kBanks> given{}, taken{};
  for (const int lane : lanes_of(phase)) {
    given[from[lane] / 4 % kBanks] |= 1u << lane;
    taken[to[lane] / 4 % kBanks] |= 1u << lane;
  }
  int most = 0;
  for (const int lane : lanes_of(phase)) {
    most = std::max(most,
                    std::popcount(given[from[lane] / 4 % kBanks] | taken[to[lane] / 4 % kBanks]));
  }
  return static_cast<unsigned>(most);
}

// What lanes copy from one line of 128 bytes to another, 16 bytes each.
class LineCopy {
 public:
  void add(uint64_t from, uint64_t to) {
    moved_[sector(from)][sector(to)] |= static_cast<uint8_t>(1u << (2 * half(from) + half(to)));
  }

  unsigned wavefronts() const {
    // How often each way of moving a sector begins at a sector, and how often it ends at one.
    constexpr unsigned kWhole = 4, kWays = 2 * (kWhole + 1);
    std::array<std::array<uint8_t, kSectors>, kWays> begins{}, ends{};
    for (unsigned s = 0; s < kSectors; ++s) {
      for (unsigned t = 0; t < kSectors; ++t) {
        // Bit 2a + b: half a goes to half b. In place, or crosswise, the two make a whole.
        unsigned kinds = moved_[s][t];
        if ((kinds & 0b1001) == 0b1001 || (kinds & 0b0110) == 0b0110) kinds = 1u << kWhole;
        for (; kinds; kinds &= kinds - 1) {
          const unsigned way = 2 * static_cast<unsigned>(std::countr_zero(kinds)) + (s ^ t) % 2;
          ++begins[way][s];
          ++ends[way][t];
        }
      }
    }
    unsigned count = 0;
    for (unsigned way = 0; way < kWays; ++way) {
      count += std::max(*std::max_element(begins[way].begin(), begins[way].end()),
                        *std::max_element(ends[way].begin(), ends[way].end()));
    }
    return count;
  }

 private:
  static constexpr unsigned kSectors = 4 * kBanks / kSectorBytes;
  static unsigned sector(uint64_t address) { return address / kSectorBytes % kSectors; }
  static unsigned half(uint64_t address) { return address / 16 % 2; }

  uint8_t moved_[kSectors][kSectors] = {};
};

}  // namespace

CopyCost count_copy(const uint64_t* from, const uint64_t* to, uint32_t active, uint32_t zeros,
                    unsigned size) {
  constexpr unsigned kLineBytes = 4 * kBanks;
  const auto ideal = [size](unsigned wavefronts, uint32_t lanes) {
    const auto bytes = static_cast<unsigned>(std::popcount(lanes)) * size;
    return std::min(wavefronts, (bytes + kLineBytes - 1) / kLineBytes);
  };
  const uint32_t reading = active & ~zeros;
  CopyCost cost;
  if (size < 16) {
    cost.sectors = count_sectors(from, reading, size);
    const unsigned lanes = phase_lanes(size);
    for (unsigned first = 0; first < 32; first += lanes) {
      cost.wavefronts += copy_wavefronts(from, to, reading & (low_lanes(lanes) << first));
    }
    const SharedCost filled = count_wavefronts(to, active & zeros, size, SharedAccess::store);
    cost.ideal = ideal(cost.wavefronts, reading) + filled.ideal;
    cost.wavefronts += filled.wavefronts;
    return cost;
  }
  for (uint32_t left = active; left;) {
    const int leader = std::countr_zero(left);
    LineCopy lines;
    unsigned sectors = 0;  // of the line in shared memory that get what was read
    for (const int lane : lanes_of(left)) {
      if (from[lane] / kLineBytes != from[leader] / kLineBytes ||
          to[lane] / kLineBytes != to[leader] / kLineBytes)
        continue;
      left &= ~(1u << lane);
      lines.add(from[lane], to[lane]);
      if (reading >> lane & 1) sectors |= 1u << to[lane] % kLineBytes / kSectorBytes;
    }
    cost.wavefronts += lines.wavefronts();
    cost.sectors += static_cast<unsigned>(std::popcount(sectors));
  }
  cost.ideal = ideal(cost.wavefronts, active);
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
    for (const int lane : lanes_of(phase)) {
      const uint32_t bank = (size == 8 ? 3u : 1u) << (addresses[lane] / 4 % kBanks);
      bool lost = banks & bank;
      for (const int done : lanes_of(round.done)) lost |= addresses[done] == addresses[lane];
      if (lost) continue;
      banks |= bank;
      round.done |= 1u << lane;
    }
  }
  return round;
}

}  // namespace simt
