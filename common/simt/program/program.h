// What is known of the program that runs.
#pragma once

namespace simt::engine {

// Some of its code is instrumented: what it does is counted and checked. Set before main().
inline bool traced_program = false;

}  // namespace simt::engine
