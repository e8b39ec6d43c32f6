// Addresses in words.
#pragma once

#include <cstdint>
#include <string>

#include "base/fault.h"
#include "memory/allocations.h"

namespace simt::device {

// Where an address lies that may not be touched, seen from the allocations, and what usually causes that.
struct Place {
  std::string text, allocation, cause;
};
Place place_of(uint64_t address);

// Whether a thread touches the element of its own index, of an allocation that has a byte for each thread of the grid.
bool is_as_many_bytes_as_threads(const engine::Fault& fault);
inline constexpr const char* kCountsElements =
    "an allocation whose size is a number of elements and not of bytes (n for n * sizeof(float))";

// What holds an address in global or constant memory.
std::string holder_of(uint64_t address);

// "8 bytes into the 4096 bytes of x"
std::string into(const memory::Allocation& allocation, uint64_t address);

// "tile in shared memory, byte 64". Addresses in shared memory say nothing to the reader.
std::string shared_place(const engine::Fault& fault);

// "kernel.cu:31", and where the kernel calls that: "kernel.cu:31 (called from kernel.cu:90)".
std::string place_and_call(uint64_t pc);

bool is_host_memory(uint64_t address);

// Of an access to memory of a device that has not opened it.
std::string closed_memory(const engine::Fault& fault, const std::string& allocation);
// Of a race between kernels of two devices.
std::string race_of_devices(const engine::Fault& race, const std::string& allocation);

}  // namespace simt::device
