// Accesses that land in an allocation to which nothing leads that a launch was given: an index has gone past the end of another
// one, and far enough to meet something.
#pragma once

#include <simt/api/runtime.h>

#include <span>
#include <string>

#include "memory/footprint.h"

namespace simt::strays {

// Looks at what a launch has touched, and at the pointers that it can have: among its arguments, in the program's variables, in any
// memory of the device. Where a kernel makes its pointers otherwise, from an integer of 32 bits, there is no telling.
void look_for(const std::string& kernel, std::span<const detail::Argument> arguments,
              const engine::Footprint& footprint);

}  // namespace simt::strays
