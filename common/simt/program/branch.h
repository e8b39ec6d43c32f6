// Where a block of traced code ends.
#pragma once

#include <cstdint>

namespace simt::engine {

// The end of the conditional jump that ends the block of code around `pc`, which is where the source has its `if` or
// its loop; `pc` itself where there is none. `block_hook` is what each block calls first.
uint64_t branch_behind(uint64_t pc, uint64_t block_hook);

}  // namespace simt::engine
