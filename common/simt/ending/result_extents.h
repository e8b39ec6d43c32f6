// How far into an allocation launches have come, held against what the host copies in and out.
//
// Two faults show in that alone. A grid that ends short of the data: the host has copied all of an array in, each thread of the launch
// has had an element of its own, and the host copies more back, by less than a block. And a result that is lost: a kernel has
// written to an array, and runs again over the beginning of it before anyone has read that.
#pragma once

#include <cstdint>
#include <string>

#include "memory/footprint.h"

namespace simt::device {

// `kernel` has run with so many threads, and has touched this; `seen` if all of it is known.
void note_extents(const std::string& kernel, const engine::Footprint& footprint, uint64_t threads,
                  uint64_t threads_of_block, bool seen);
// A library has read and written what nobody knows.
void forget_extents();
// The host has copied so many bytes from `from` to `to`.
void note_copied_extent(uint64_t to, uint64_t from, uint64_t bytes);

}  // namespace simt::device
