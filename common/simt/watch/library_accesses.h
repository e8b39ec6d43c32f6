// A library of the toolkit (Thrust, CUB) is at work: it follows device pointers on the host.
#pragma once

#include <cstdint>

namespace simt::engine {

// How many of its functions the thread is in.
extern thread_local unsigned in_library;

// It accesses device memory at `pc`: what is beside all allocations is a finding, and what is stored counts as written.
void library_access(uint64_t address, uint64_t size, bool store, uint64_t pc);

}  // namespace simt::engine
