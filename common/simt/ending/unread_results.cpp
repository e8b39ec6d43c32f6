#include "ending/unread_results.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>

#include "base/lasting.h"
#include "memory/allocations.h"
#include "program/program_image.h"
#include "program/symbols.h"
#include "report/kernel_text.h"
#include "report/log.h"

namespace simt::device {
namespace {

struct Result {
  std::string kernel, allocation;
  uint64_t allocated_at = 0;
};

struct Results {
  std::mutex mutex;
  std::map<uint64_t, Result> written;  // by the allocation's address
  uint64_t last = 0;                   // of these
  bool sent = false;                   // the host has copied something to the device
};

Results& results() { return lasting<Results>(); }

std::atomic<bool> came_back = false;

}  // namespace

void note_came_back() { came_back.store(true, std::memory_order_relaxed); }

void note_results(const std::string& kernel, const engine::Footprint& footprint, bool seen) {
  if (came_back.load(std::memory_order_relaxed)) return;
  if (!seen || kernel_printed.load(std::memory_order_relaxed)) return note_came_back();
  Results& r = results();
  const std::lock_guard lock(r.mutex);
  for (const engine::Touched& touched : footprint.touched()) {
    if (!touched.written) continue;
    if (!memory::in_device_arena(touched.base)) return note_came_back();
    const auto [known, is_new] = r.written.try_emplace(touched.base);
    r.last = touched.base;
    known->second.kernel = kernel;
    const memory::Allocation* found = is_new ? memory::find(touched.base) : nullptr;
    if (!found) continue;
    if (found->kind != memory::Kind::device) return note_came_back();
    known->second.allocation = memory::describe(*found);
    known->second.allocated_at = found->allocated_at;
  }
}

void note_transfer(const void* to, const void* from) {
  if (came_back.load(std::memory_order_relaxed)) return;
  const auto target = reinterpret_cast<uint64_t>(to), source = reinterpret_cast<uint64_t>(from);
  Results& r = results();
  const std::lock_guard lock(r.mutex);
  if (memory::in_device_arena(target)) {
    r.sent |= !memory::in_device_arena(source);
    // Within the device a result may move on before it comes back.
    const memory::Allocation *of = memory::find(source), *copy = memory::find(target);
    if (of && copy && r.written.contains(of->base))
      r.written.try_emplace(copy->base, Result(r.written[of->base]));
    return;
  }
  if (!memory::in_device_arena(source)) {
    // A variable of the device, perhaps. (Those of the host are among them.)
    if (engine::in_program_data(source)) note_came_back();
    return;
  }
  const memory::Allocation* found = memory::find(source);
  if (!found || r.written.contains(found->base)) note_came_back();
}

// Has simtcc seen a word for time?
static bool takes_times() {
  for (const char* at = simt_variables_begin; at < simt_variables_end;) {
    const std::string_view word(at);
    if (word.starts_with('t')) return true;
    at += word.size() + 1;
  }
  return false;
}

void report_unread_results() {
  if (takes_times() || came_back.load(std::memory_order_relaxed)) return;
  Results& r = results();
  const std::lock_guard lock(r.mutex);
  const auto last = r.written.find(r.last);
  if (!r.sent || last == r.written.end() || last->second.allocation.empty()) return;
  const Result& result = last->second;
  Finding f = finding_at(symbols::locate(result.allocated_at), "unread-result", Severity::warning);
  f.address = last->first;
  f.allocation = result.allocation;
  f.message = result.kernel + " has written to " + result.allocation +
              ", and the host has copied nothing back that a kernel has computed. Copy it after "
              "the launch, with cudaMemcpy(..., cudaMemcpyDeviceToHost): the host's arrays do not "
              "change by themselves.";
  report(std::move(f));
}

}  // namespace simt::device
