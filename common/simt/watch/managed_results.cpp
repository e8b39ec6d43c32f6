#include "watch/managed_results.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/log.h"
#include "watch/host_accesses.h"

namespace simt::managed_results {

uint64_t begin = 0, extent = 0;

namespace {

struct Watched {
  uint64_t end = 0;
  uint64_t low = ~uint64_t{0}, high = 0;  // what kernels have touched
  bool is_written = false;                // by a kernel
  bool only_ends = false;                 // kernels read there, or the runs are too many
  std::map<uint64_t, uint64_t> written;   // by kernels: runs of bytes, begin -> end
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Watched> watched;  // by the first byte
  std::vector<uint64_t> fresh;          // of those the ones that no launch has come behind
};

State& state() { return lasting<State>(); }

void set_range(const State& s) {
  begin = s.watched.empty() ? 0 : s.watched.begin()->first;
  extent = s.watched.empty() ? 0 : std::prev(s.watched.end())->second.end - begin;
}

// What holds one of these bytes; `end()` if nothing does.
auto find(State& s, uint64_t first, uint64_t end) {
  const auto above = s.watched.lower_bound(end);
  if (above == s.watched.begin()) return s.watched.end();
  const auto found = std::prev(above);
  return found->second.end > first ? found : s.watched.end();
}

bool has_written(const Watched& w, uint64_t first, uint64_t end) {
  const auto above = w.written.lower_bound(end);
  return above != w.written.begin() && std::prev(above)->second > first;
}

void add(std::map<uint64_t, uint64_t>& runs, uint64_t first, uint64_t end) {
  auto above = runs.upper_bound(first);
  if (above != runs.begin() && std::prev(above)->second >= first) {
    --above;
    if (above->second >= end) return;
    first = above->first;
  }
  while (above != runs.end() && above->first <= end) {
    end = std::max(end, above->second);
    above = runs.erase(above);
  }
  runs[first] = end;
}

void report(uint64_t base, const Watched& w, uint64_t address, uint64_t size, uint64_t pc) {
  const symbols::Location& at = symbols::locate(engine::program_call(pc));
  Finding f = device::finding_at(at, "uninitialized-global", Severity::warning);
  f.address = address;
  const memory::Allocation* found = memory::find(address);
  f.allocation = found ? memory::describe(*found) : "managed memory";
  const std::string where = address >= w.high ? "none of the last " + plural(w.end - w.high, "byte")
                            : address + size <= w.low
                                ? "none of the first " + plural(w.low - base, "byte")
                                : "others of its bytes, and not to the " + plural(size, "byte") +
                                      " at byte " + std::to_string(address - base);
  f.message = "the host reads " + plural(size, "byte") + " at " + at.text() + " of " +
              f.allocation + ", and nothing was ever written there: kernels have come to " + where +
              ". Usual cause: a grid that is too small for the data, so that some elements are not "
              "computed, or a guard or an index that leaves them out. cudaMallocManaged() does not "
              "promise zeros: set what no thread writes before the launch.";
  device::report(std::move(f));
}

}  // namespace

void watch(uint64_t base, uint64_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.watched[base].end = base + size;
  s.fresh.push_back(base);
  set_range(s);
}

void before_launch() {
  if (!extent) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const uint64_t base : s.fresh) {
    const auto found = s.watched.find(base);
    if (found != s.watched.end() && !memory::is_untouched(base, found->second.end - base))
      s.watched.erase(found);
  }
  s.fresh.clear();
  set_range(s);
}

void note_launch(const engine::Footprint& footprint, const stream_races::Shared& accesses) {
  if (!extent) return;
  if (!accesses) return forget_all();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const engine::Touched& touched : footprint.touched()) {
    const auto found = s.watched.find(touched.base);
    if (found == s.watched.end()) continue;
    Watched& w = found->second;
    w.low = std::min(w.low, touched.low);
    w.high = std::max(w.high, touched.high);
    w.is_written |= touched.written;
    constexpr size_t kMost = 1 << 16;
    w.only_ends |= touched.read || w.written.size() > kMost;
    if (w.only_ends) w.written.clear();
  }
  for (const stream_races::Bytes& run : accesses->written) {
    const auto found = find(s, run.begin, run.end);
    if (found != s.watched.end() && !found->second.only_ends)
      add(found->second.written, run.begin, run.end);
  }
  // Who adds to fresh memory takes it for zero, and who reads that later, too.
  for (const stream_races::Bytes& run : accesses->atomic) {
    const auto found = find(s, run.begin, run.end);
    if (found != s.watched.end()) s.watched.erase(found);
  }
  set_range(s);
}

void access(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = find(s, address, address + size);
  if (found == s.watched.end()) return;
  if (!store) {
    const Watched& w = found->second;
    const bool is_outside = address + size <= w.low || address >= w.high;
    if (!w.is_written || size > 16 || (w.only_ends && !is_outside) ||
        has_written(w, address, address + size)) {
      return;
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(address);
    if (std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte != 0; })) return;
    report(found->first, w, address, size, pc);
  }
  s.watched.erase(found);
  set_range(s);
}

void forget_all() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.watched.clear();
  s.fresh.clear();
  set_range(s);
}

}  // namespace simt::managed_results
