#include "watch/library_accesses.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>

#include "base/text.h"
#include "memory/allocations.h"
#include "memory/range_cache.h"
#include "program/symbols.h"
#include "report/log.h"
#include "report/places.h"
#include "watch/host_accesses.h"

namespace simt::engine {

thread_local unsigned in_library = 0;

namespace {

thread_local RangeCache ranges;

// Told once for each line of the program.
void report_beside(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  static std::mutex mutex;
  static auto& known = *new std::set<std::pair<std::string, int>>;
  const symbols::Location& at = symbols::locate(program_call(pc));
  const std::lock_guard lock(mutex);
  if (!known.insert({at.file, at.line}).second) return;
  const memory::Allocation* const found = memory::find(address);
  const device::Place place = device::place_of(address);
  Finding f = device::finding_at(at, found && found->freed ? "use-after-free" : "out-of-bounds",
                                 Severity::error);
  f.address = address;
  f.allocation = place.allocation;
  f.message = "the algorithm called at " + at.text() + " " + (store ? "writes" : "reads") + " " +
              plural(size, "byte") + ": " + place.text +
              ". Usual cause: an output that is smaller than the input, or a wrong end of a range.";
  device::report(std::move(f));
}

}  // namespace

void library_access(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  const Range* const range =
      ranges.find(address, static_cast<unsigned>(std::min<uint64_t>(size, 1u << 31)));
  if (!range) return report_beside(address, size, store, pc);
  if (store && !range->written) memory::mark_written(address, size);
}

}  // namespace simt::engine
