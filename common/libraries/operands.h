// What a library's function is given: is it memory of the device, and long enough?
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "memory/allocations.h"
#include "program/program.h"
#include "report/log.h"
#include "report/places.h"
#include "runtime/memory_calls.h"
#include "watch/host_accesses.h"
#include "watch/managed_results.h"

namespace simt::runtime {

class Operands {
 public:
  // `caller`: where the program called the function `name`.
  Operands(const char* name, uint64_t caller) : name_(name), caller_(caller) {}

  // `size` bytes of device memory, which the function writes or not. False, after a finding, if that is not what they are.
  bool reach(const char* what, const void* pointer, uint64_t size, bool written) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const memory::Allocation* const found = live_at(pointer);
    if (found && size <= found->end() - address) {
      if (written) {
        written_.push_back({address, size});
        if (managed_results::extent) managed_results::access(address, size, true, caller_);
      }
      return true;
    }
    if (!found && is_variable(pointer)) return true;
    has_failed_ = true;
    for (const auto& [begin, bytes] : written_) memory::mark_written(begin, bytes);
    if (found) {
      if (written) assume_written(pointer, size);
      report("out-of-bounds", Severity::error,
             std::string(what) + " has " + std::to_string(size) + " bytes and reaches " +
                 plural(size - (found->end() - address), "byte") + " past the end of " +
                 memory::describe(*found),
             memory::describe(*found));
      return false;
    }
    const device::Place place = device::place_of(address);
    report(memory::find(address)       ? "use-after-free"
           : memory::in_arena(address) ? "out-of-bounds"
                                       : "device-access",
           Severity::error, std::string(what) + " begins at " + place.text, place.allocation);
    return false;
  }

  // A call with a finding is not carried out. On a GPU it is, so nobody is told that this was never written.
  bool has_failed() const { return has_failed_; }
  static void assume_written(const void* pointer, uint64_t size) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    if (const memory::Allocation* const found = live_at(pointer))
      memory::mark_written(address, std::min(size, found->end() - address));
  }

  // A finding about the call.
  void report(const char* kind, Severity severity, const std::string& what,
              std::string allocation) {
    const uint64_t pc = engine::traced_program ? engine::program_call(caller_) : caller_;
    const symbols::Location& at = symbols::locate(pc);
    Finding f = device::finding_at(at, kind, severity);
    f.message = std::string(name_) + " at " + at.text() + ": " + what + ".";
    f.allocation = std::move(allocation);
    device::report(std::move(f));
  }

  // Those that the function writes: address and size.
  const std::vector<std::pair<uint64_t, uint64_t>>& written() const { return written_; }

 private:
  const char* name_;
  uint64_t caller_;
  bool has_failed_ = false;
  std::vector<std::pair<uint64_t, uint64_t>> written_;
};

}  // namespace simt::runtime
