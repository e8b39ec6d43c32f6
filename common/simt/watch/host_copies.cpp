#include "watch/host_copies.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/text.h"
#include "ending/unread_results.h"
#include "memory/allocations.h"
#include "memory/shadow.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/log.h"
#include "watch/host_heap.h"

namespace simt::host_copies {

uint64_t begin = 0, extent = 0;

namespace {

struct UnwrittenRun {
  uint64_t end, from, caller;
};

// A copy that has left something out, perhaps.
struct ShortCopy {
  enum Cause { elements, half, row, pointer, vector };
  uint64_t end;    // of the last element that was copied, on the host
  uint64_t size;   // of an element
  uint64_t bytes;  // that were copied
  uint64_t from;   // the allocation
  uint64_t caller;
  Cause cause;
  uint64_t pc = 0;  // of the load that took the last element
};

struct HostCopies {
  std::mutex mutex;
  std::map<uint64_t, UnwrittenRun> runs;  // by their first byte
  std::vector<ShortCopy> shorts;
};

HostCopies& host_copies() { return lasting<HostCopies>(); }

// The hull of what is left.
void set_range(const HostCopies& s) {
  uint64_t low = ~uint64_t{0}, high = 0;
  if (!s.runs.empty()) {
    low = s.runs.begin()->first;
    high = std::prev(s.runs.end())->second.end;
  }
  for (const ShortCopy& copy : s.shorts) {
    low = std::min(low, copy.end - copy.size);
    high = std::max(high, copy.end + copy.size);
  }
  begin = high ? low : 0;
  extent = high ? high - low : 0;
}

// Does the host have the same there? False where it has no memory.
bool has_same(uint64_t host, uint64_t device, uint64_t size) {
  char bytes[16];
  const iovec local{bytes, size}, remote{reinterpret_cast<void*>(host), size};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(size))
    return false;
  return std::memcmp(bytes, reinterpret_cast<const void*>(device), size) == 0;
}

// Are there as many bytes from `to` on, by a pointer to memory of the host's heap or to pinned memory?
bool has_room(uint64_t to, uint64_t size) {
  if (const memory::Allocation* found = memory::find(to))
    return found->base == to && found->size >= size;
  static int looks = 0;  // each goes through the heap
  constexpr int kMostLooks = 256;
  return looks++ < kMostLooks && host_heap::room_of(to) >= size;
}

// Has the copy left something out? As many bytes were copied as the allocation, or the row, has elements of 4 or 8 bytes; or half of
// what it has, as by sizeof(float) of doubles; or sizeof was that of a pointer or a vector. All of it is written.
void note_short(HostCopies& s, const memory::Allocation& found, uint64_t to, uint64_t size,
                uint64_t pitch) {
  using Cause = ShortCopy::Cause;
  const uint64_t whole = pitch ? pitch : found.size, part = whole / size;
  Cause cause = pitch ? Cause::row : part == 2 ? Cause::half : Cause::elements;
  std::vector<uint64_t> sizes;
  if (part * size == whole && (part == 4 || part == 8 || cause == Cause::half)) {
    sizes = {cause == Cause::half ? 8 : part};
  } else if (!pitch && (size == sizeof(void*) || size == sizeof(std::vector<int>)) &&
             has_room(to, found.size)) {
    cause = size == sizeof(void*) ? Cause::pointer : Cause::vector;
    sizes = {4, 8};
  }
  constexpr size_t kMost = 16;
  for (const uint64_t element : sizes) {
    const uint64_t taken = size / element * element;
    if (taken == 0) continue;
    bool all = true;
    if (!found.written) {
      const uint64_t looked_at = pitch ? std::min(pitch, found.size) : found.size;
      engine::shadow::for_each_unwritten(found.base, looked_at, [&](auto, auto) { all = false; });
    }
    if (!all || has_same(to + taken, found.base + taken, element)) continue;
    if (s.shorts.size() == kMost) s.shorts.erase(s.shorts.begin());
    s.shorts.push_back({to + taken, element, size, found.base, device::program_caller(), cause});
  }
}

void report(const ShortCopy& copy, uint64_t pc) {
  using Cause = ShortCopy::Cause;
  const symbols::Location& copied = symbols::locate(copy.caller);
  Finding f = device::finding_at(copied, "api-error", Severity::warning);
  const memory::Allocation* found = memory::find(copy.from);
  f.address = copy.from;
  f.allocation = found ? memory::describe(*found) : "device memory";
  const std::string bytes = plural(copy.bytes, "byte");
  const std::string as_many = "as many elements of " + plural(copy.size, "byte");
  f.message = "the copy at " + copied.text() + " takes " + bytes + " of ";
  if (copy.cause == Cause::row) f.message += "each row of ";
  f.message += f.allocation;
  if (copy.cause == Cause::elements) f.message += ", which holds " + as_many;
  if (copy.cause == Cause::row) f.message += ", which has " + as_many;
  f.message +=
      ", and the host reads on at " + symbols::locate(pc).text() + " past what was copied. ";
  if (copy.cause == Cause::pointer || copy.cause == Cause::vector) {
    f.message += bytes + " are what sizeof makes of " +
                 (copy.cause == Cause::pointer ? "a pointer" : "a std::vector") +
                 ", however many elements it holds: ";
  } else {
    f.message += copy.cause == Cause::row ? "The width of a copy counts bytes: "
                                          : "The size of a copy counts bytes: ";
  }
  f.message += "multiply the number of elements by sizeof";
  f.message += copy.cause == Cause::half      ? ", of the type that they have."
               : copy.cause == Cause::pointer ? " of one."
                                              : ".";
  device::report(std::move(f));
}

void forget(HostCopies& s, uint64_t first, uint64_t end) {
  std::erase_if(s.shorts, [&](const ShortCopy& copy) {
    return first < copy.end + copy.size && end > copy.end;
  });
  auto& runs = s.runs;
  if (runs.empty()) return;
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

void note(const void* target, const void* source, uint64_t size, uint64_t pitch) {
  const auto to = reinterpret_cast<uint64_t>(target), from = reinterpret_cast<uint64_t>(source);
  HostCopies& s = host_copies();
  const std::lock_guard lock(s.mutex);
  forget(s, to, to + size);
  const memory::Allocation* found = memory::in_device_arena(from) ? memory::find(from) : nullptr;
  if (found && from == found->base && size < found->size) note_short(s, *found, to, size, pitch);
  if (found && !found->written) {
    uint64_t caller = 0;
    engine::shadow::for_each_unwritten(from, size, [&](uint64_t first, uint64_t end) {
      if (!caller) caller = device::program_caller();
      s.runs[to + (first - from)] = {to + (end - from), first, caller};
    });
    // So that nobody needs to look again.
    if (!caller && from == found->base && size == found->size) memory::mark_written(from, size);
  }
  set_range(s);
}

void access(uint64_t address, unsigned size, bool store, uint64_t pc) {
  HostCopies& s = host_copies();
  UnwrittenRun read;
  uint64_t bytes = 0, first = ~uint64_t{0};  // of the same copy that nobody wrote
  {
    const std::lock_guard lock(s.mutex);
    if (store) {
      forget(s, address, address + size);
      set_range(s);
      return;
    }
    for (auto copy = s.shorts.begin(); copy != s.shorts.end(); ++copy) {
      if (size != copy->size) continue;
      if (address == copy->end - size) copy->pc = pc;
      if (address != copy->end || pc != copy->pc) continue;
      report(*copy, pc);
      std::erase_if(s.shorts, [caller = copy->caller](const ShortCopy& other) {
        return other.caller == caller;
      });
      set_range(s);
      break;
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
    set_range(s);
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
  const std::string failed = device::untold_launch();
  f.follows_failure = !failed.empty();
  // All of it: at the time of the copy nobody had written there, and now somebody has.
  bool is_before_kernel = found && bytes > 0;
  if (is_before_kernel && !found->written) {
    engine::shadow::for_each_unwritten(first, bytes,
                                       [&](uint64_t, uint64_t) { is_before_kernel = false; });
  }
  if (is_before_kernel) device::note_came_back();  // said once
  f.message =
      "the host reads at " + symbols::locate(pc).text() +
      " what it has copied from device memory at " + copied.text() +
      ", and nothing was ever written there: " + plural(bytes, "byte") + " of " + f.allocation +
      elements +
      (found && found->row_bytes < found->pitch
           ? ". Its rows of " + plural(found->row_bytes, "byte") + " begin " +
                 plural(found->pitch, "byte") +
                 " apart: copy them with cudaMemcpy2D(), which is told both."
       : !failed.empty() ? ". The cause: " + failed + "."
       : is_before_kernel
           ? std::string(". The copy was made before the kernel that has written there since: it "
                         "belongs after the launch.")
           : std::string(". Usual cause: a grid that is too small for the data, so that some "
                         "elements are not computed, a guard or an index that leaves them out, as "
                         "one with the length of a column for that of a row does, or a kernel that "
                         "was not launched."));
  device::report(std::move(f));
}

}  // namespace simt::host_copies
