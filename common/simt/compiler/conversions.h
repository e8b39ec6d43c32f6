/// \file
/// Conversions of floating-point numbers to integers as the GPU has them.
#pragma once

#include <string>
#include <string_view>

#include "tree_dump.h"

namespace simtcc {

/// Lets device code convert a number that is out of the integer's range as PTX does, in assembly that g++ has written for
/// x86-64: to the nearest integer that the type has. A CPU makes 0x80000000 of all of them, and of a negative number as an
/// `unsigned` its low bits.
///
/// Each `cvttss2si` and its like becomes a call of the library (hooks/conversions.cpp), which changes no register and no flag.
/// The instruction does not say whether the integer is signed. The dump does: both have the line and column of the conversion.
/// Where they leave it open, as in a function template that one kernel calls with two types, the instruction stays.
/// \param source the text that g++ compiled; typedefs are looked up there
std::string with_saturating_conversions(std::string_view assembly, const TreeDump& dump,
                                        std::string_view source);

}  // namespace simtcc
