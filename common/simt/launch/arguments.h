// What a launch hands to its kernel.
#pragma once

#include <simt/api/runtime.h>

#include <span>

namespace simt::engine {

// Tells of an address among the arguments that host code has by a name, and that is none on the device.
void check_arguments(const char* kernel_text, std::span<const detail::Argument> arguments);

}  // namespace simt::engine
