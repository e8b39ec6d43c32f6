#include "launch/race_policy.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "program/program_image.h"
#include "program/symbols.h"

extern "C" void __sanitizer_cov_trace_pc();

namespace simt::engine {
namespace {

// The source lines of a race, whichever came first.
auto lines_of(const Fault& race) {
  const symbols::Location &a = symbols::locate(race.pc), &b = symbols::locate(race.other_pc);
  std::pair lines{std::pair{a.file, a.line}, std::pair{b.file, b.line}};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

// Of races of one kind between the same two lines only the first is told.
void keep_one_for_each_pair_of_lines(std::vector<Fault>& faults, Fault::Kind kind) {
  std::set<decltype(lines_of({}))> known;
  std::erase_if(faults, [&](const Fault& fault) {
    return fault.kind == kind && !known.insert(lines_of(fault)).second;
  });
}

// Before an asynchronous copy has arrived.
bool is_early_read(const Fault& fault) {
  return fault.kind == Fault::Kind::shared_uninitialized && fault.text;
}

// Of a line's reads before asynchronous copies have arrived the one with the strictest cure is told.
void keep_one_early_read_of_a_line(std::vector<Fault>& faults) {
  const auto rank = [](const Fault& fault) {
    return std::tuple(fault.may_leave, fault.pc, fault.other_pc);
  };
  std::erase_if(faults, [&, all = faults](const Fault& fault) {
    if (!is_early_read(fault)) return false;
    const symbols::Location line = symbols::locate(fault.pc);
    return std::any_of(all.begin(), all.end(), [&](const Fault& other) {
      if (!is_early_read(other) || rank(other) >= rank(fault)) return false;
      const symbols::Location& place = symbols::locate(other.pc);
      return place.line == line.line && place.file == line.file;
    });
  });
}

// The cause comes before what comes of it: a block that a fault has ended leaves undone what others miss, and what has
// happened in a block has happened before its end.
void put_causes_first(std::vector<Fault>& faults, dim3 grid) {
  std::set<uint64_t> ended;
  for (const Fault& fault : faults) {
    if (ends_the_kernel(fault.kind)) ended.insert(linear_block(grid, fault.block));
  }
  const auto rank = [&](const Fault& fault) {
    const uint64_t block = linear_block(grid, fault.block);
    return std::tuple(!ended.count(block), block, ends_the_kernel(fault.kind));
  };
  std::stable_sort(faults.begin(), faults.end(),
                   [&](const Fault& a, const Fault& b) { return rank(a) < rank(b); });
}

// Does code go from one return address to the other without a choice? Each block of code begins with a call of
// __sanitizer_cov_trace_pc.
bool is_straight(uint64_t from, uint64_t to) {
  constexpr uint64_t kFar = 4096;
  constexpr unsigned char kCall = 0xe8;
  if (to <= from || to - from > kFar) return false;
  const auto entry = reinterpret_cast<uint64_t>(&__sanitizer_cov_trace_pc);
  for (uint64_t at = from; at + 5 <= to; ++at) {
    const auto* code = reinterpret_cast<const unsigned char*>(at);
    if (*code != kCall) continue;
    int32_t distance;
    std::memcpy(&distance, code + 1, sizeof(distance));
    if (at + 5 + static_cast<uint64_t>(static_cast<int64_t>(distance)) == entry) return false;
  }
  return true;
}

// What one race tells of the cause holds for others between the same two lines, and that a store is part of an update for those
// with the load before it.
void share_causes(std::vector<Fault>& faults) {
  // Who holds a lock may race elsewhere: between blocks an update is known by its one line.
  for (Fault& fault : faults) {
    const auto [first, second] = lines_of(fault);
    if (fault.kind == Fault::Kind::global_race && fault.cause == Fault::Cause::lock &&
        !fault.same_block && first != second)
      fault.cause = Fault::Cause::unknown;
  }
  const auto shares = [](const Fault& from, const Fault& to) {
    if (from.kind != to.kind) return false;
    if (lines_of(from) == lines_of(to)) return true;
    const uint64_t store = to.store ? to.pc : to.other_pc, load = to.store ? to.other_pc : to.pc;
    const bool updates = from.cause == Fault::Cause::update || from.cause == Fault::Cause::lock;
    return updates && (from.pc == store || from.other_pc == store) && is_straight(load, store);
  };
  for (Fault& fault : faults) {
    for (const Fault& other : faults) {
      if (other.cause > fault.cause && shares(other, fault)) fault.cause = other.cause;
    }
  }
}

}  // namespace

void merge(std::vector<BlockRace>& races, const BlockRace& more) {
  for (BlockRace& race : races) {
    if (!race.is_same_place(more)) continue;
    race.varies |= more.varies || race.value != more.value;
    race.fault.cause = std::max(race.fault.cause, more.fault.cause);
    return;
  }
  races.push_back(more);
}

void add_block_races(const std::vector<BlockRace>& races,
                     const std::vector<BlockRaceCheck::TestAndSet>& test_and_set,
                     std::vector<Fault>& faults) {
  for (const BlockRace& race : races) {
    const Fault& fault = race.fault;
    // A word that is tested and then set, by all to the same value, may be set once too often. Who reads it
    // meanwhile finds it set or not.
    const bool one_reads = fault.store != fault.other_store;
    const uint32_t store_pc = short_pc(fault.store ? fault.pc : fault.other_pc);
    if (one_reads && !race.varies &&
        std::any_of(test_and_set.begin(), test_and_set.end(), [&](const auto& pair) {
          // `*sum += 1` tests nothing.
          return pair.store_pc == store_pc &&
                 !is_straight(full_pc(pair.load_pc), full_pc(pair.store_pc));
        })) {
      continue;
    }
    faults.push_back(fault);
  }
}

void drop_needless(std::vector<Fault>& faults, const std::vector<TestedAtomic>& tested_atomics,
                   dim3 grid) {
  std::erase_if(faults, [&](const Fault& fault) {
    if (fault.kind != Fault::Kind::shared_race || fault.store == fault.other_store) return false;
    const TestedAtomic pair = fault.store
                                  ? TestedAtomic{short_pc(fault.other_pc), short_pc(fault.pc)}
                                  : TestedAtomic{short_pc(fault.pc), short_pc(fault.other_pc)};
    return std::find(tested_atomics.begin(), tested_atomics.end(), pair) != tested_atomics.end();
  });
  // A read that races with the first write may come before it: then the race is the news.
  std::erase_if(faults, [all = faults](const Fault& fault) {
    const bool is_global = fault.kind == Fault::Kind::global_uninitialized;
    if (!is_global && fault.kind != Fault::Kind::shared_uninitialized) return false;
    const auto race = is_global ? Fault::Kind::global_race : Fault::Kind::shared_race;
    return std::any_of(all.begin(), all.end(), [&](const Fault& other) {
      return other.kind == race && (other.pc == fault.pc || other.other_pc == fault.pc);
    });
  });
  // Who wrote where an asynchronous copy reads is told by a race with it, if there is one.
  std::erase_if(faults, [all = faults](const Fault& fault) {
    return fault.kind == Fault::Kind::global_race && fault.text &&
           std::any_of(all.begin(), all.end(), [&](const Fault& other) {
             return other.kind == fault.kind && !other.text &&
                    (other.pc == fault.pc || other.other_pc == fault.pc);
           });
  });
  // Copies that nobody waits for are begun again and again: the read is the news.
  std::erase_if(faults, [all = faults](const Fault& fault) {
    const bool is_second = fault.kind == Fault::Kind::shared_race && fault.text &&
                           std::string_view(fault.text) == "copy";
    return is_second && std::any_of(all.begin(), all.end(), [&](const Fault& other) {
             return is_early_read(other) && other.other_pc == fault.other_pc;
           });
  });
  // Who waits for a block that another fault has ended waits for ever.
  const bool others = std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
    return fault.kind != Fault::Kind::hang && ends_the_kernel(fault.kind);
  });
  bool hangs = others;  // and all others wait with the first that does
  put_causes_first(faults, grid);
  std::erase_if(faults, [&hangs](const Fault& fault) {
    return fault.kind == Fault::Kind::hang && std::exchange(hangs, true);
  });
  share_causes(faults);
  keep_one_for_each_pair_of_lines(faults, Fault::Kind::shared_race);
  keep_one_for_each_pair_of_lines(faults, Fault::Kind::global_race);
  keep_one_early_read_of_a_line(faults);
}

}  // namespace simt::engine
