#include "check/managed_results.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/symbols.h"
#include "base/text.h"
#include "check/host_accesses.h"
#include "memory/allocations.h"
#include "report/log.h"

namespace simt::managed_results {

uint64_t begin = 0, extent = 0;

namespace {

struct Watched {
  uint64_t base, end;
  uint64_t low = ~uint64_t{0}, high = 0;  // what kernels have touched
  bool written = false;                   // by a kernel
};

struct State {
  std::mutex mutex;
  std::vector<Watched> watched;
};

State& state() { return lasting<State>(); }

void set_range(const State& s) {
  uint64_t low = ~uint64_t{0}, high = 0;
  for (const Watched& w : s.watched) {
    low = std::min(low, w.base);
    high = std::max(high, w.end);
  }
  begin = high ? low : 0;
  extent = high ? high - low : 0;
}

void report(const Watched& w, uint64_t address, uint64_t size, uint64_t pc) {
  const symbols::Location& at = symbols::locate(engine::program_call(pc));
  Finding f = device::finding_at(at, "uninitialized-global", Severity::warning);
  f.address = address;
  const memory::Allocation* found = memory::find(address);
  f.allocation = found ? memory::describe(*found) : "managed memory";
  const bool is_above = address >= w.high;
  f.message = "the host reads " + plural(size, "byte") + " at " + at.text() + " of " +
              f.allocation + ", and nothing was ever written there: kernels have come to " +
              (is_above ? "none of the last " + plural(w.end - w.high, "byte")
                        : "none of the first " + plural(w.low - w.base, "byte")) +
              ". Usual cause: a grid that is too small for the data, so that some elements are not "
              "computed, or a guard or an index that leaves them out.";
  device::report(std::move(f));
}

}  // namespace

void watch(uint64_t base, uint64_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  constexpr size_t kMost = 64;
  if (s.watched.size() == kMost) s.watched.erase(s.watched.begin());
  s.watched.push_back({base, base + size});
  set_range(s);
}

void note_launch(const engine::Footprint& footprint, bool seen) {
  if (!extent) return;
  if (!seen) return forget_all();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const engine::Touched& touched : footprint.touched()) {
    for (Watched& w : s.watched) {
      if (w.base != touched.base) continue;
      w.low = std::min(w.low, touched.low);
      w.high = std::max(w.high, touched.high);
      w.written |= touched.written;
    }
  }
}

void access(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = std::find_if(s.watched.begin(), s.watched.end(), [&](const Watched& w) {
    return address < w.end && address + size > w.base;
  });
  if (found == s.watched.end()) return;
  if (!store) {
    const bool is_outside = address + size <= found->low || address >= found->high;
    if (!found->written || !is_outside || size > 16) return;
    const auto* bytes = reinterpret_cast<const unsigned char*>(address);
    if (std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte != 0; })) return;
    report(*found, address, size, pc);
  }
  s.watched.erase(found);
  set_range(s);
}

void forget_all() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.watched.clear();
  set_range(s);
}

}  // namespace simt::managed_results
