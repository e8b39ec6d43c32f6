// The generator of random numbers that cuRAND's functions of the host share with its kernels'.
#pragma once

#include <vector_types.h>

namespace simt::random {

// Four random words: the counter, encrypted (Philox4x32-10).
uint4 philox(uint4 counter, uint2 key);

}  // namespace simt::random
