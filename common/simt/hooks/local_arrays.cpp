// Accesses to a thread's own stack that come upon a zone: see compiler/rewrite/local_arrays.cpp.
#include <unwind.h>

#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/host_memory.h"
#include "base/lasting.h"
#include "base/zones.h"
#include "hooks/hooks.h"
#include "program/symbols.h"

namespace simt::engine {
namespace {

// The frame that an address lies in.
struct Frame {
  uint64_t pc, address;      // of the access
  bool begun = false;        // past the simulator's own frames
  bool is_innermost = true;  // it is that of the access itself
  bool found = false;
  uint64_t return_address = 0;  // where its function goes on
  uint64_t end = 0;             // where that of its caller begins: its canonical frame address
};

// From the running function outward.
_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  Frame& frame = *static_cast<Frame*>(argument);
  frame.end = _Unwind_GetCFA(context);
  if (frame.return_address && frame.address < frame.end) {
    frame.found = true;
    return _URC_END_OF_STACK;
  }
  const auto at = static_cast<uint64_t>(_Unwind_GetIP(context));
  if (frame.begun) frame.is_innermost = false;
  frame.begun |= at == frame.pc;
  if (frame.begun) frame.return_address = at;
  return _URC_NO_REASON;
}

// What an earlier call left on the stack is no zone. Where that has been seen so often, nobody looks again.
constexpr unsigned kMostStale = 64;

// Where a function goes on: what is in its frame, and the line of the call.
struct Place {
  std::vector<symbols::Local> arrays;
  int line = 0;
};

struct Known {
  std::mutex mutex;
  std::unordered_map<uint64_t, unsigned> stale;  // times, by program counter
  std::unordered_map<uint64_t, Place> places;    // by return address
};
Known& known() { return lasting<Known>(); }

// The array whose zone holds the address, or nullptr.
const symbols::Local* array_of(const Frame& frame) {
  const auto [at, fresh] = known().places.try_emplace(frame.return_address);
  Place& place = at->second;
  if (fresh) {
    // Who reads debug information needs more stack than a lane has.
    std::thread([&] {
      place = {symbols::locals_at(frame.return_address, zones::kPrefix),
               symbols::locate(frame.return_address).line};
    }).join();
  }
  const uint64_t offset = frame.address - frame.end;
  for (const symbols::Local& array : place.arrays) {
    const uint64_t from = offset - array.begin, size = array.end - array.begin;
    const bool is_zone = from < zones::kBytes || (from < size && from >= size - zones::kBytes);
    // Its own declaration fills it, too.
    if (is_zone && !(frame.is_innermost && place.line == array.line)) return &array;
  }
  return nullptr;
}

}  // namespace

void Hooks::on_zone(uint64_t address, unsigned size, StopReason what, const void* pc) {
  Worker* worker = running;
  if (!worker->traced_ || worker->is_loop_) return;
  if (worker->async.has_pending_sums()) check_pending_sum(address, what, pc);
  const char* name = nullptr;
  uint64_t begin = 0, end = 0;
  {
    const HostMemory bookkeeping;
    const std::lock_guard lock(known().mutex);
    unsigned& times = known().stale[reinterpret_cast<uint64_t>(pc)];
    if (times >= kMostStale) return;
    Frame frame{.pc = reinterpret_cast<uint64_t>(pc), .address = address};
    _Unwind_Backtrace(look_at, &frame);
    const symbols::Local* array = frame.found ? array_of(frame) : nullptr;
    if (!array) {
      ++times;
      return;
    }
    name = array->name.c_str() + zones::kPrefix.size();
    begin = frame.end + array->begin + zones::kBytes;
    end = frame.end + array->end - zones::kBytes;
  }
  Fault fault = fault_here(Fault::Kind::local_out_of_bounds, pc);
  fault.text = name;
  fault.address = address - begin;
  fault.limit = end - begin;
  fault.size = size;
  fault.store = what != StopReason::load;
  worker->fail(fault);
}

}  // namespace simt::engine
