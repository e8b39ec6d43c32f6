// Managed memory that the host reads although no kernel has come there.
//
// Whether the host has written to a byte of it is not followed. So what counts is memory that only kernels have written to: of that
// the bytes below the first and above the last that kernels have touched.
#pragma once

#include <cstdint>

#include "memory/footprint.h"

namespace simt::managed_results {

// All that is watched lies in [begin, begin + extent).
extern uint64_t begin, extent;

void watch(uint64_t base, uint64_t size);
// A launch has touched this; `seen` if that is all.
void note_launch(const engine::Footprint& footprint, bool seen);
// The host accesses some byte in [begin, begin + extent), or a call of the runtime writes there.
void access(uint64_t address, uint64_t size, bool store, uint64_t pc);
void forget_all();

}  // namespace simt::managed_results
