#include "ending/result_extents.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include "base/lasting.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/log.h"

namespace simt::device {
namespace {

// Of one allocation. Bytes count from its beginning.
struct Extents {
  uint64_t sent = 0;           // by the host
  uint64_t low = 0, high = 0;  // touched by launches since then
  std::string kernel;          // the last that has written
  uint64_t threads = 0, threads_of_block = 0, launched_at = 0;
  uint64_t unread_low = 0, unread_high = 0;  // what that has written, and nobody has read
  uint64_t again_at = 0, again_low = 0, again_high = 0;  // the call that ran it again, over this

  // The bytes of one element, if each thread of that launch has touched one, from the first on; else 0.
  uint64_t element() const {
    const uint64_t bytes = low == 0 && threads ? high / threads : 0;
    return bytes * threads == high && std::has_single_bit(bytes) && bytes <= 16 ? bytes : 0;
  }
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Extents> of;  // by the allocation's address
};
State& state() { return lasting<State>(); }

void report_short_grid(const memory::Allocation& a, const Extents& e, uint64_t missing) {
  const symbols::Location& at = symbols::locate(e.launched_at);
  Finding f = finding_at(at, "short-grid", Severity::warning);
  f.address = a.base + e.high;
  f.allocation = memory::describe(a);
  f.message = "the launch of " + e.kernel + " at " + at.text() + " has " +
              plural(e.threads, "thread") + ", one for each element that it touches in " +
              f.allocation + ". No kernel has touched the " +
              plural(missing / e.element(), "element") +
              " behind these, which are copied back with them. Usual cause: a number of blocks "
              "that is rounded down: (n + threads - 1) / threads rounds up.";
  report(std::move(f));
}

void report_lost(const memory::Allocation& a, const Extents& e) {
  Finding f = finding_at(symbols::locate(e.again_at), "unread-result", Severity::warning);
  f.address = a.base + e.again_low;
  f.allocation = memory::describe(a);
  f.message = e.kernel + " has written " + plural(e.unread_high - e.unread_low, "byte") + " of " +
              f.allocation + ", nobody has read them, and this launch of it writes over " +
              plural(e.again_high - e.again_low, "byte") +
              " of these, which the host copies. Usual cause: a second pass that reads the input "
              "of the first in place of its output.";
  report(std::move(f));
}

}  // namespace

void note_extents(const std::string& kernel, const engine::Footprint& footprint, uint64_t threads,
                  uint64_t threads_of_block, bool seen) {
  if (!seen) return forget_extents();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const engine::Touched& touched : footprint.touched()) {
    if (!memory::in_device_arena(touched.base)) continue;
    Extents& e = s.of[touched.base];
    const uint64_t low = touched.low - touched.base, high = touched.high - touched.base;
    const bool is_within =
        e.unread_low <= low && high <= e.unread_high && high - low < e.unread_high - e.unread_low;
    if (touched.read || !is_within || kernel != e.kernel) {
      e.again_at = 0;
      e.unread_low = low;
      e.unread_high = touched.read ? low : high;
    } else {
      e.again_at = program_caller();
      e.again_low = low;
      e.again_high = high;
    }
    e.low = e.high ? std::min(e.low, low) : low;
    e.high = std::max(e.high, high);
    if (!touched.written) continue;
    e.kernel = kernel;
    e.threads = threads;
    e.threads_of_block = threads_of_block;
    // Who only writes may mean to write less than the array has room for.
    e.launched_at = touched.read && e.element() ? program_caller() : 0;
  }
}

void forget_extents() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.of.clear();
}

void note_copied_extent(uint64_t to, uint64_t from, uint64_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (memory::in_device_arena(to)) {
    const memory::Allocation* target = memory::find(to);
    if (!target) return;
    Extents& e = s.of[target->base] = {};
    if (to == target->base && !memory::in_device_arena(from)) e.sent = bytes;
  }
  const memory::Allocation* source = memory::in_device_arena(from) ? memory::find(from) : nullptr;
  const auto found = source ? s.of.find(source->base) : s.of.end();
  if (found == s.of.end()) return;
  Extents& e = found->second;
  const uint64_t low = from - source->base, high = low + bytes;
  if (e.again_at && low >= e.again_low && high <= e.again_high) report_lost(*source, e);
  e.again_at = e.unread_low = e.unread_high = 0;
  const uint64_t element = e.element();
  if (!element || !e.launched_at || low != 0 || high > e.sent || high <= e.high ||
      memory::in_device_arena(to))
    return;
  const uint64_t missing = high - e.high;
  if (missing % element != 0 || missing >= e.threads_of_block * element) return;
  report_short_grid(*source, e, missing);
  s.of.erase(found);
}

}  // namespace simt::device
