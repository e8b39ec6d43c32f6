/// \file
/// The order of a function's code.
#pragma once

#include <string>
#include <string_view>

namespace simtcc {

/// Moves what leaves a loop behind it, and names loads that poll a flag and exits with accesses behind them, in assembly that g++
/// has written for x86-64.
///
/// The scheduler runs the lanes at the lowest program counter first, so lanes meet where the code comes to lie behind
/// both of their ways. g++ leaves the body of `if (found) { out[t] = i; return; }` in the midst of the loop around it,
/// as the source has it; the lanes that leave early would go through it one after the other. To the hardware's
/// compiler that body is no part of the loop, since no way leads back from it: lanes that leave a loop wait behind it
/// for the others. So here: blocks that are reached from a loop, and from which it cannot be reached again, go behind
/// the last of its own, in their order; then the same for the loops in that one.
///
/// Functions with jump tables, landing pads or assembly of the programmer's own are left as they are, and so are
/// those whose tables for unwinding would no longer be true.
std::string exits_behind_loops(std::string_view assembly);

}  // namespace simtcc
