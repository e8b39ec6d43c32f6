// Words that kernels handle by atomic operations whose scope is the system, such as atomicAdd_system(): they are meant for use
// by the host at the same time, which then need not wait.
#pragma once

#include <cstdint>

namespace simt::system_atomics {

void note(uint64_t address, unsigned size);
// Has a kernel used one on all of these bytes?
bool has(uint64_t address, uint64_t size);
// These bytes are another allocation now.
void forget(uint64_t address, uint64_t size);

}  // namespace simt::system_atomics
