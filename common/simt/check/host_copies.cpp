#include "check/host_copies.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "base/lasting.h"
#include "base/symbols.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "memory/shadow.h"
#include "report/api_errors.h"
#include "report/log.h"

namespace simt::host_copies {

uint64_t begin = 0, extent = 0;

namespace {

struct UnwrittenRun {
  uint64_t end, from, caller;
};

struct HostCopies {
  std::mutex mutex;
  std::map<uint64_t, UnwrittenRun> runs;  // by their first byte
};

HostCopies& host_copies() { return lasting<HostCopies>(); }

// The hull of what is left.
void set_range(const std::map<uint64_t, UnwrittenRun>& runs) {
  begin = runs.empty() ? 0 : runs.begin()->first;
  extent = runs.empty() ? 0 : std::prev(runs.end())->second.end - begin;
}

void forget(std::map<uint64_t, UnwrittenRun>& runs, uint64_t first, uint64_t end) {
  auto it = runs.upper_bound(first);
  if (it != runs.begin()) --it;
  while (it != runs.end() && it->first < end) {
    const auto [at, run] = *it;
    if (run.end <= first) {
      ++it;
      continue;
    }
    it = runs.erase(it);
    if (at < first) runs[at] = {first, run.from, run.caller};
    if (run.end > end) runs[end] = {run.end, run.from + (end - at), run.caller};
  }
}

}  // namespace

void note(const void* target, const void* source, uint64_t size) {
  const auto to = reinterpret_cast<uint64_t>(target), from = reinterpret_cast<uint64_t>(source);
  HostCopies& s = host_copies();
  const std::lock_guard lock(s.mutex);
  if (!s.runs.empty()) forget(s.runs, to, to + size);
  const memory::Allocation* found = memory::in_device_arena(from) ? memory::find(from) : nullptr;
  if (found && !found->written) {
    uint64_t caller = 0;
    engine::shadow::for_each_unwritten(from, size, [&](uint64_t first, uint64_t end) {
      if (!caller) caller = device::program_caller();
      s.runs[to + (first - from)] = {to + (end - from), first, caller};
    });
    // So that nobody needs to look again.
    if (!caller && from == found->base && size == found->size) memory::mark_written(from, size);
  }
  set_range(s.runs);
}

void access(uint64_t address, unsigned size, bool store, uint64_t pc) {
  HostCopies& s = host_copies();
  UnwrittenRun read;
  uint64_t bytes = 0, first = ~uint64_t{0};  // of the same copy that nobody wrote
  {
    const std::lock_guard lock(s.mutex);
    if (store) {
      forget(s.runs, address, address + size);
      set_range(s.runs);
      return;
    }
    auto it = s.runs.upper_bound(address);
    if (it == s.runs.begin()) return;
    --it;
    if (address + size > it->second.end) return;
    read = it->second;
    read.from += address - it->first;
    const memory::Allocation* found = memory::find(read.from);
    const bool is_poisoned = !found || read.from - found->base < memory::kMostPoisoned;
    const auto* now = reinterpret_cast<const unsigned char*>(address);
    if (!std::all_of(now, now + size, [is_poisoned](unsigned char byte) {
          return byte == (is_poisoned ? memory::kPoison : 0);
        })) {
      return;
    }
    // One finding for each call.
    for (auto run = s.runs.begin(); run != s.runs.end();) {
      if (run->second.caller != read.caller) {
        ++run;
        continue;
      }
      bytes += run->second.end - run->first;
      first = std::min(first, run->second.from);
      run = s.runs.erase(run);
    }
    set_range(s.runs);
  }
  const symbols::Location& copied = symbols::locate(read.caller);
  Finding f = device::finding_at(copied, "uninitialized-global", Severity::warning);
  f.address = read.from;
  const memory::Allocation* found = memory::find(read.from);
  f.allocation = found ? memory::describe(*found) : "device memory";
  // As the host takes them, which has read one of them.
  std::string elements;
  if (found && (first - found->base) % size == 0 && bytes >= size) {
    elements = ", which are " + plural(bytes / size, "element") + " of " + plural(size, "byte") +
               ", the first at index " + std::to_string((first - found->base) / size);
  }
  f.message = "the host reads at " + symbols::locate(pc).text() +
              " what it has copied from device memory at " + copied.text() +
              ", and nothing was ever written there: " + plural(bytes, "byte") + " of " +
              f.allocation + elements +
              ". Usual cause: a grid that is too small for the data, so that the last elements are "
              "not computed, or a kernel that was not launched.";
  device::report(std::move(f));
}

}  // namespace simt::host_copies
