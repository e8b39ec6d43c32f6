// Threads of one launch that start the same random numbers: their seeds, sequences and offsets are equal.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <string>

namespace simt::random_states {

struct Start {
  int generator;  // XORWOW, Philox, MRG32k3a
  uint64_t seed, sequence, offset;
  auto operator<=>(const Start&) const = default;
};

// A thread of the launch under way has called curand_init() at `pc`.
void note(const Start& start, uint64_t pc, uint3 block, uint3 thread);
// The launch of `kernel` has ended.
void end_launch(const std::string& kernel);

}  // namespace simt::random_states
