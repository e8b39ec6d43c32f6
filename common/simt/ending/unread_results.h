// A program whose kernels have computed something that nobody has asked for: the copy back is missing.
//
// Told at the end, once, and only where it is plain: the host has copied data to the device, kernels have written to memory of
// cudaMalloc, and nothing at all has come back, neither by a copy nor in memory that the host shares, nor as text. Whoever takes
// times may want nothing else.
#pragma once

#include <string>

#include "memory/footprint.h"

namespace simt::device {

// `kernel` has run, and has touched this; `seen` if all of it is known.
void note_results(const std::string& kernel, const engine::Footprint& footprint, bool seen);
// The host has copied from `from` to `to`.
void note_transfer(const void* to, const void* from);
// Something has come back, or may have.
void note_came_back();
// Not where the program's source speaks of time.
void report_unread_results();

}  // namespace simt::device
