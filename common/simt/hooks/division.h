// Integer division as a GPU has it: no division traps.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace simt::engine {

enum class Division : uint8_t {
  none,      // the instruction is no division
  by_zero,   // carried out: quotient and remainder have all bits set, as code for sm_90 has it
  overflow,  // carried out: the least number by -1 is itself, and 0 remains
};

// Carries out the div or idiv of the CPU that `registers` stand at, and that has raised SIGFPE, and moves them behind it.
Division divide_as_gpu(greg_t* registers);

}  // namespace simt::engine
