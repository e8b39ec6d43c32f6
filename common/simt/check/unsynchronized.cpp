#include "check/unsynchronized.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/symbols.h"
#include "base/text.h"
#include "check/host_accesses.h"
#include "check/system_atomics.h"
#include "memory/allocations.h"
#include "report/kernel_text.h"
#include "report/log.h"

namespace simt::unsynchronized {

uint64_t begin = 0, extent = 0;

namespace {

struct Written {
  uint64_t first, end;
  std::string by;
};

struct State {
  std::mutex mutex;
  std::vector<Written> written;
  std::set<std::pair<std::string, int>> told;  // lines
};

State& state() { return lasting<State>(); }

thread_local unsigned in_order = 0;

std::atomic<uint64_t> wait_count = 0;  // odd: somebody has to wait

}  // namespace

void note(uint64_t first, uint64_t end, const std::string& by) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.written.push_back({first, end, by});
  const uint64_t low = extent ? std::min(begin, first) : first;
  extent = std::max(extent ? begin + extent : end, end) - low;
  begin = low;
}

void note_work() { wait_count |= 1; }
uint64_t waits() { return wait_count; }

void settle() {
  device::text_is_shown();
  if (uint64_t count = wait_count; count % 2 == 1)
    wait_count.compare_exchange_strong(count, count + 1);
  if (!extent) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.written.clear();
  begin = extent = 0;
}

void read(uint64_t address, unsigned size, uint64_t pc) {
  if (in_order || system_atomics::has(address, size)) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = std::find_if(s.written.begin(), s.written.end(), [&](const Written& w) {
    return address < w.end && address + size > w.first;
  });
  if (found == s.written.end()) return;
  const symbols::Location& at = symbols::locate(engine::program_call(pc));
  if (!s.told.insert({at.file, at.line}).second) return;
  Finding f = device::finding_at(at, "host-access", Severity::warning);
  f.address = address;
  const memory::Allocation* memory = memory::find(address);
  f.allocation = memory ? memory::describe(*memory) : "memory that the device shares";
  f.message = "the host reads " + plural(size, "byte") + " at " + at.text() + " of " +
              f.allocation + ", where " + found->by +
              " writes, and has not waited for it. A GPU may still be at work, or not have begun: "
              "call cudaDeviceSynchronize() first, or wait for the stream or an event.";
  device::report(std::move(f));
}

InOrder::InOrder() { ++in_order; }
InOrder::~InOrder() { --in_order; }

}  // namespace simt::unsynchronized
