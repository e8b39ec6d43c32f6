// Copies that leave the variables of a function of the host.
#pragma once

#include <cstdint>
#include <string>

namespace simt::host_frames {

// `size` bytes from `address` on, the `end` ("target") of a copy, lie in the memory of the host. What is wrong if they cover the
// place where one of the functions under way keeps where to return to, so that no variable holds them all; else empty.
std::string wrong_with(const std::string& end, uint64_t address, uint64_t size);

}  // namespace simt::host_frames
