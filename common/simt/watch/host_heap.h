// Memory of the host's heap that a copy is to reach past the end of.
#pragma once

#include <cstdint>
#include <string>

namespace simt::host_heap {

// Empty unless malloc() or new made a piece of memory at `address` that has fewer than `size` bytes. `end`: "source" or "target".
std::string wrong_with(const std::string& end, uint64_t address, uint64_t size);

// The bytes that the piece of memory that malloc() or new made at `address` can take; 0 where none begins, or it is not known.
uint64_t room_of(uint64_t address);

}  // namespace simt::host_heap
