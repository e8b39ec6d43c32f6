#include "watch/strays.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/program_image.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/log.h"

namespace simt::strays {
namespace {

struct State {
  std::mutex mutex;
  std::set<std::pair<std::string, uint64_t>>
      reached;       // kernels and what pointers in memory have led them to
  int searches = 0;  // through all memory
};

// An allocation of cudaMalloc that the launch has touched.
struct Place {
  engine::Touched touched;
  uint64_t below, above;  // what lies between leads nowhere but here
};

// A pointer may be to the end, or somewhat beside, as where indices begin with 1; but not where it leads to a neighbour.
bool leads_to(uint64_t pointer, const Place& place) {
  return pointer > place.below && pointer < place.above;
}

// Drops those to which a word among these bytes leads. A pointer in a packed struct lies at a multiple of 4.
void drop_reached(std::vector<Place>& places, const void* memory, size_t size) {
  const auto* bytes = static_cast<const char*>(memory);
  for (size_t at = 0; at + sizeof(uint64_t) <= size && !places.empty(); at += 4) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (!memory::in_device_arena(word)) continue;
    std::erase_if(places, [word](const Place& place) { return leads_to(word, place); });
  }
}

// The same of memory that another thread of the host may give back meanwhile. False if it could not be read.
bool drop_reached_by(std::vector<Place>& places, uint64_t begin, uint64_t end) {
  constexpr uint64_t kChunk = uint64_t{1} << 16;
  std::vector<char> chunk(kChunk);
  for (uint64_t at = begin & ~uint64_t{7}; at < end && !places.empty(); at += kChunk - 8) {
    const iovec local{chunk.data(), std::min(kChunk, end - at)},
        remote{reinterpret_cast<void*>(at), local.iov_len};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) !=
        static_cast<ssize_t>(local.iov_len)) {
      return false;
    }
    drop_reached(places, chunk.data(), local.iov_len);
  }
  return true;
}

// In whatever memory a kernel can reach. False if that is too much, or could not be read.
bool drop_reached_by_memory(std::vector<Place>& places) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  const std::vector<memory::Allocation> live = memory::live();
  uint64_t bytes = 0;
  for (const memory::Allocation& allocation : live) bytes += allocation.size;
  if (bytes > kMostBytes) return false;
  const engine::ProgramImage& program = engine::program_image();
  return drop_reached_by(places, program.data_begin, program.data_end) &&
         std::all_of(live.begin(), live.end(), [&places](const memory::Allocation& allocation) {
           return drop_reached_by(places, allocation.base, allocation.end());
         });
}

void report(const std::string& kernel, const Place& place) {
  const symbols::Location& at = symbols::locate(device::program_caller());
  const memory::Allocation* found = memory::find(place.touched.base);
  if (!found) return;
  Finding f = device::finding_at(at, "out-of-bounds");
  f.address = place.touched.low;
  f.allocation = memory::describe(*found);
  f.message = "kernel " + kernel + ", launched at " + at.text() + ", " +
              (place.touched.written ? "writes" : "reads") + " in " + f.allocation +
              ", from byte " + std::to_string(place.touched.low - found->base) +
              " on, and was given no pointer there: neither an argument nor memory of the device "
              "holds one. Usual cause: an index so far past the end of another allocation that it "
              "lands in this one.";
  device::report(std::move(f));
}

}  // namespace

void look_for(const std::string& kernel, std::span<const detail::Argument> arguments,
              const engine::Footprint& footprint) {
  std::vector<Place> places;
  for (const engine::Touched& touched : footprint.touched()) {
    if (!memory::in_device_arena(touched.base)) continue;
    const memory::Allocation* here = memory::find(touched.base);
    if (!here || here->kind != memory::Kind::device || here->freed) continue;
    const uint64_t end = here->end();
    const memory::Allocation* const before = memory::find_below(touched.base - 1);
    const memory::Allocation* const behind = memory::find_above(end);
    places.push_back({touched, before ? before->end() : 0, behind ? behind->base : ~uint64_t{0}});
  }
  for (const detail::Argument& argument : arguments)
    drop_reached(places, argument.data, argument.size);
  if (places.empty()) return;
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  std::erase_if(places, [&](const Place& place) {
    return state.reached.contains({kernel, place.touched.base});
  });
  constexpr int kMostSearches = 64;
  if (places.empty() || state.searches == kMostSearches) return;
  ++state.searches;
  std::vector<Place> left = places;
  if (!drop_reached_by_memory(left)) return;
  for (const Place& place : places) state.reached.emplace(kernel, place.touched.base);
  for (const Place& place : left) report(kernel, place);
}

}  // namespace simt::strays
