// Who wrote last to the bytes that a program watches, and what its host copies from and to the device.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <optional>

namespace simt::engine {

// The watched bytes, [begin, end); read for every store, written between launches.
extern uint64_t watched_begin, watched_end;

inline bool is_watched(uint64_t low, uint64_t high, unsigned size) {
  return low < watched_end && high + size > watched_begin;
}

// A thread stores there.
void note_writer(uint64_t pc, uint3 block, uint3 thread);
// The last that has, since watch().
struct LastStore {
  uint64_t pc = 0;
  uint3 thread{};
};
std::optional<LastStore> last_store();

// The host has copied so many bytes, from the first to the last.
void note_transfer(const void* to, const void* from, uint64_t span);

}  // namespace simt::engine
