// Objects with virtual functions that the host has made. Such an object points to the host's table of them: a kernel that
// looks there jumps to an address of the host.
//
// Here both have one table, so it is noted who wrote the pointer. One is told by what it points to.
#pragma once

#include <atomic>
#include <cstdint>

namespace simt::virtual_objects {

// Has a pointer come to memory that a kernel can reach, from the host?
extern std::atomic<bool> any;

// A constructor of the host, or of a kernel, writes the pointer at `address`.
void note_made(uint64_t address, bool by_host);
// These bytes have been copied: who has made the objects in them goes along.
void note_copied(const void* to, const void* from, uint64_t size);
// Is there such a pointer in memory of the device, and from the host?
bool is_from_host(uint64_t address);

}  // namespace simt::virtual_objects
