/// \file
/// Peers that need no vendor's library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/ladder.h"

namespace lab {

/// "cudaMemcpy": copies that many random bytes within the device's memory.
Peer memcpy_peer(std::size_t bytes, std::uint64_t seed);

}  // namespace lab
