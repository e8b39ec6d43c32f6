// The heap of the device: malloc, free, new and delete in kernels.
#pragma once

#include <cstddef>

namespace simt::heap {

// The most that the device's heap holds, which cudaDeviceSetLimit() sets.
void set_limit(size_t bytes);
// All that it held has been freed.
void reset();

}  // namespace simt::heap
