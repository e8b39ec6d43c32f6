#include "watch/unsynchronized.h"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/lasting.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/log.h"
#include "streams/races.h"
#include "watch/host_accesses.h"
#include "watch/system_atomics.h"

namespace simt::unsynchronized {
namespace {

struct Told {
  std::mutex mutex;
  std::set<std::pair<std::string, int>> lines;
};

thread_local unsigned in_order = 0;

}  // namespace

void access(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  if (in_order || system_atomics::has(address, size)) return;
  const std::optional<stream_races::Use> use = stream_races::use_of_device(address, size, store);
  if (!use) return;
  const symbols::Location& at = symbols::locate(engine::program_call(pc));
  Told& told = lasting<Told>();
  const std::lock_guard lock(told.mutex);
  if (!told.lines.insert({at.file, at.line}).second) return;
  Finding f = device::finding_at(at, "host-access", Severity::warning);
  f.address = address;
  const memory::Allocation* memory = memory::find(address);
  f.allocation = memory ? memory::describe(*memory) : "memory that the device shares";
  f.message = "the host " + std::string(store ? "writes " : "reads ") + plural(size, "byte") +
              " at " + at.text() + " of " + f.allocation + ", where " + use->what + " at " +
              symbols::locate(use->pc).text() + (use->writes ? " writes" : " reads") +
              ", and has not waited for it. A GPU may still be at work, or not have begun: call "
              "cudaDeviceSynchronize() first, or wait for the stream or an event" +
              (store ? ", or fill another buffer meanwhile." : ".");
  device::report(std::move(f));
}

InOrder::InOrder() { ++in_order; }
InOrder::~InOrder() { --in_order; }
bool InOrder::is_here() { return in_order; }

}  // namespace simt::unsynchronized
