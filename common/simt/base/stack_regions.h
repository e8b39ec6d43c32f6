// Where the stacks of the kernels' threads lie.
#pragma once

#include <cstdint>

namespace simt::engine::stack_regions {

void note(uint64_t begin, uint64_t end);
// Is this in the stack of some thread?
bool hold(uint64_t address);

}  // namespace simt::engine::stack_regions
