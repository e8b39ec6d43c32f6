// Managed memory that the host reads although no kernel has written there.
//
// Watched is memory to which nobody but kernels has written. What the host stores is seen where simtcc has compiled it; what the C
// library or another compiler's code has stored before the first launch shows in the pages that the system has given. Which
// bytes kernels have written is known of launches that are checked.
#pragma once

#include <cstdint>

#include "memory/footprint.h"
#include "streams/races.h"

namespace simt::managed_results {

// All that is watched lies in [begin, begin + extent).
extern uint64_t begin, extent;

void watch(uint64_t base, uint64_t size);
// A launch is about to run.
void before_launch();
// It has touched this, byte by byte `accesses`; nothing there if it is not known.
void note_launch(const engine::Footprint& footprint, const stream_races::Shared& accesses);
// The host accesses some byte in [begin, begin + extent), or a call of the runtime writes there.
void access(uint64_t address, uint64_t size, bool store, uint64_t pc);
void forget_all();

}  // namespace simt::managed_results
