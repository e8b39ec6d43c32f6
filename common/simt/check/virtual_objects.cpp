#include "check/virtual_objects.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "base/host_memory.h"
#include "base/lane_simd.h"
#include "base/lasting.h"
#include "base/program_image.h"
#include "memory/allocations.h"

namespace simt::virtual_objects {

std::atomic<bool> any{false};

namespace {

std::atomic<bool> host_makes_some{false};  // nearly no program does, and its copies need no look

struct State {
  std::mutex mutex;
  // Pointers in memory of the device that come from the host, and in the host's that come from the device.
  std::unordered_set<uint64_t> strangers;
};

State& state() { return lasting<State>(); }

// The device's memory by now holds what is the device's own, and the host's what is the host's, but for the strangers.
bool is_by_host(const State& s, uint64_t address) {
  return memory::in_arena(address) == s.strangers.contains(address);
}

void note(State& s, uint64_t address, bool by_host) {
  if (by_host != memory::in_arena(address)) {
    s.strangers.erase(address);
    return;
  }
  s.strangers.insert(address);
  any.store(true, std::memory_order_relaxed);
}

bool may_be_table(uint64_t value) {
  const engine::ProgramImage& program = engine::program_image();
  return value - program.constants_begin < program.constants_end - program.constants_begin;
}

// Ahead of a table of functions lie the distance to the whole object, which is 0 or below, and the type.
bool is_table(uint64_t value) {
  const engine::ProgramImage& program = engine::program_image();
  constexpr int64_t kMostDistance = 1 << 24;
  if (value % 8 != 0 || !may_be_table(value) || value - program.constants_begin < 16) return false;
  int64_t distance;
  uint64_t type, function;
  std::memcpy(&distance, reinterpret_cast<const char*>(value) - 16, 8);
  std::memcpy(&type, reinterpret_cast<const char*>(value) - 8, 8);
  std::memcpy(&function, reinterpret_cast<const char*>(value), 8);
  return distance <= 0 && distance > -kMostDistance && (type == 0 || may_be_table(type)) &&
         function - program.first < program.code_end - program.first;
}

}  // namespace

void note_made(uint64_t address, bool by_host) {
  if (by_host) host_makes_some.store(true, std::memory_order_relaxed);
  if (by_host ? !memory::in_arena(address) : !any.load(std::memory_order_relaxed)) return;
  const HostMemory bookkeeping;  // a kernel may be running
  State& s = state();
  const std::lock_guard lock(s.mutex);
  note(s, address, by_host);
}

void note_copied(const void* target, const void* source, uint64_t size) {
  const auto to = reinterpret_cast<uint64_t>(target), from = reinterpret_cast<uint64_t>(source);
  if (to % 8 != from % 8 || !host_makes_some.load(std::memory_order_relaxed)) return;
  const uint64_t skip = (8 - to % 8) % 8;
  const engine::ProgramImage& program = engine::program_image();
  const auto first = static_cast<uint32_t>(program.constants_begin >> 32),
             last = static_cast<uint32_t>(program.constants_end >> 32);
  constexpr uint64_t kAtOnce = 32;
  for (uint64_t at = skip; at + 8 <= size; at += 8 * kAtOnce) {
    const uint64_t words = std::min(kAtOnce, (size - at) / 8);
    const auto* const word = reinterpret_cast<const uint64_t*>(to + at);
    // Half an address is nearly always enough to see that there is none.
    if (words == kAtOnce &&
        !engine::has_one_of(reinterpret_cast<const uint32_t*>(word), first, last)) [[likely]]
      continue;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    for (uint64_t i = 0; i < words; ++i) {
      if (is_table(word[i])) note(s, to + at + 8 * i, is_by_host(s, from + at + 8 * i));
    }
  }
}

bool is_from_host(uint64_t address) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  uint64_t value;
  if (!s.strangers.contains(address) || !memory::in_arena(address)) return false;
  std::memcpy(&value, reinterpret_cast<const void*>(address), 8);
  return is_table(value);
}

}  // namespace simt::virtual_objects
