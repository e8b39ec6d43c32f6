// Bytes that the host has copied from device memory although nobody ever wrote them there.
//
// To copy them is no fault: programs copy whole buffers and use the part that a kernel filled. To read
// them on the host is. Compiled code of the host calls the same hooks as that of kernels, so it is seen.
// What the C library writes is not; so bytes count only while they hold what fresh device memory holds.
//
// And the first element behind a copy that took as many bytes as the allocation, or a row of it, has elements, or as many as a
// pointer has: if one instruction reads the last element that was copied and then this one, the copy was to have all of them.
#pragma once

#include <cstdint>

namespace simt::host_copies {

// All of these bytes lie in [begin, begin + extent).
extern uint64_t begin, extent;

// `size` bytes were copied to the host, perhaps from device memory, by the call under way. `pitch`: from this row on the host to
// the next; 0 for a copy that is no row, or not the first.
void note(const void* to, const void* from, uint64_t size, uint64_t pitch);
// The host accesses some byte in [begin, begin + extent).
void access(uint64_t address, unsigned size, bool store, uint64_t pc);

}  // namespace simt::host_copies
