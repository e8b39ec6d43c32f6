#include "watch/host_accesses.h"

#include <execinfo.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "memory/allocations.h"
#include "memory/range_cache.h"
#include "program/symbols.h"
#include "report/log.h"
#include "report/places.h"

namespace simt::engine {

uint64_t program_call(uint64_t pc) {
  if (!symbols::is_library_file(symbols::locate(pc).file)) return pc;
  void* frames[64];
  const int count = backtrace(frames, 64);
  bool above = false;  // the frames of the simulator
  for (int i = 0; i < count; ++i) {
    const auto frame = reinterpret_cast<uint64_t>(frames[i]);
    above |= frame == pc;
    if (above && !symbols::is_library_file(symbols::locate(frame).file)) return frame;
  }
  return pc;
}

static void report_outside(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  static std::mutex mutex;
  static auto& known = *new std::set<std::pair<std::string, int>>;
  const symbols::Location& at = symbols::locate(program_call(pc));
  const std::lock_guard lock(mutex);
  if (!known.insert({at.file, at.line}).second) return;
  const memory::Allocation* const found = memory::find(address);
  const bool is_freed = found && found->freed;
  const device::Place place = device::place_of(address);
  Finding f = device::finding_at(at, is_freed ? "use-after-free" : "out-of-bounds");
  f.address = address;
  f.allocation = place.allocation;
  f.message = "the host " + std::string(store ? "writes " : "reads ") + plural(size, "byte") +
              " at " + at.text() + ": " + place.text +
              (is_freed ? ". Free memory after the last line that uses it, on the host as in "
                          "kernels."
                        : ". Usual cause: a loop that goes up to i <= n, or an allocation whose "
                          "size is a number of elements and not of bytes.");
  device::report(std::move(f));
}

void shared_access(uint64_t address, uint64_t size, bool store, uint64_t pc) {
  static thread_local RangeCache ranges;
  if (!ranges.find(address, static_cast<unsigned>(std::min<uint64_t>(size, 1u << 31))))
    report_outside(address, size, store, pc);
}

// Does the program call Thrust in this line?
bool calls_thrust(const symbols::Location& at) {
  std::ifstream file(at.file);
  std::string line;
  for (int i = 0; i < at.line; ++i) {
    if (!std::getline(file, line)) return false;
  }
  return line.find("thrust::") != std::string::npos;
}

// Host code at `pc` touched device memory; told once for each line.
void host_access(uint64_t address, unsigned size, bool store, uint64_t pc) {
  static std::mutex mutex;
  // Destructors of the program may come late.
  static auto& known = *new std::set<uint64_t>;
  static auto& known_lines = *new std::set<std::pair<std::string, int>>;
  if (store) memory::mark_written(address, std::max(size, 1u));
  const std::lock_guard lock(mutex);
  if (!known.insert(pc).second) return;
  const symbols::Location& at = symbols::locate(program_call(pc));
  if (!known_lines.insert({at.file, at.line}).second) return;
  Finding f = device::finding_at(at, "host-access");
  f.address = address;
  const memory::Allocation* found = memory::find(address);
  f.allocation = found ? memory::describe(*found) : "device memory";
  f.message =
      "the host " + std::string(store ? "writes" : "reads") + " " +
      (size ? plural(size, "byte") + " of " : std::string()) + "device memory at " + at.text() +
      ", in " + f.allocation +
      (calls_thrust(at) ? ". Thrust takes a plain pointer for one of the host's: give it "
                          "thrust::device as the first argument, or thrust::device_ptr<T>(pointer)."
                        : ". Only kernels may follow a device pointer; the host copies with "
                          "cudaMemcpy.");
  device::report(std::move(f));
}

}  // namespace simt::engine
