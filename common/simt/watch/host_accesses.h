// The host follows a pointer to device memory.
#pragma once

#include <cstdint>

namespace simt::engine {

// The call in the program's own code that led to `pc`, a return address that may lie in a library.
uint64_t program_call(uint64_t pc);

// Host code at `pc` touched device memory; told once for each line. `size` 0: how much is not known.
void host_access(uint64_t address, unsigned size, bool store, uint64_t pc);

// Host code at `pc` came to the addresses that host and device share: a finding, once for each line, if no allocation is there, or
// none any more.
void shared_access(uint64_t address, uint64_t size, bool store, uint64_t pc);

}  // namespace simt::engine
