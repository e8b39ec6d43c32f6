// Kernels and copies that may run at the same time, and touch the same bytes.
//
// Which bytes a launch has touched stands in the shadow of global memory when it has ended; of a copy it is known anyway. Both are
// kept until the host has waited for the work: of programs without streams only what the host shares. Two pieces of work race if neither is behind the other, they have bytes in common,
// and one of them writes these. Let pass is what the race check lets pass within a launch: atomic operations on
// both sides, and stores of the value that is there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/footprint.h"
#include "races/sector_records.h"

namespace simt::stream_races {

struct Bytes {
  uint64_t begin, end;
  bool operator==(const Bytes&) const = default;
};

// Runs of bytes by their addresses.
struct Accesses {
  std::vector<Bytes> read, written, atomic;
  std::vector<Bytes> changed;  // of those written
  std::vector<Bytes> polled;   // by volatile loads and atomic operations
  bool has_fence = false;
  bool overlaps = false;  // with the kernel ahead in its stream
  bool operator==(const Accesses&) const = default;
};
using Shared = std::shared_ptr<const Accesses>;

// What a launch has touched that has ended just now. `is_programmatic`: it may have begun before the one ahead had ended.
Shared of_launch(const engine::Footprint& footprint, const engine::Member& launch,
                 bool is_programmatic);
// The work under way has done this: a kernel, or, if there is none, the runtime's function that was called. `beside`: pieces of
// work that ran at once with it, whose races the blocks' check has seen.
using Beside = std::vector<std::pair<uint32_t, uint64_t>>;
void note(std::string kernel, Shared accesses, const Beside& beside = {});

// One side of a copy, or memory that is set: `height` rows of `width` bytes.
struct Rows {
  const void* begin;
  size_t pitch, width, height;
};
// The copy under way; a side that is none has a null pointer.
void note_copy(const Rows& to, const Rows& from);

// All bytes of this kind that host and device share lie in [begin, begin + extent).
extern uint64_t begin, extent;

// What the host comes in the way of where it reads or stores some of these bytes.
struct Use {
  std::string what;
  uint64_t pc;
  bool writes;
};
std::optional<Use> use_of_device(uint64_t address, uint64_t size, bool host_stores);

// The host polls these bytes: if they are the flag of a kernel that has a fence ahead of it, it has waited for the kernel.
void host_polls(uint64_t address, uint64_t size);

}  // namespace simt::stream_races
