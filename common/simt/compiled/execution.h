// What the machine code of a launch counts for, as nvcc makes it: a child process carries it out on a copy of memory.
#pragma once

#include <simt/api/runtime.h>
#include <simt/config.h>

#include <span>
#include <string_view>

namespace simt::compiled {

// Before a launch runs. `index` is its number in the trace. Does nothing unless SIMT_COMPILED names a file with machine code; the
// counts go to a file beside it, a line for each launch.
void begin(int index, std::string_view kernel, const Config& config,
           std::span<const detail::Argument> arguments);

// Waits for all of them.
void finish();

}  // namespace simt::compiled
