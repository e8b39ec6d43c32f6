/// \file
/// Conversions of floating-point numbers to integers as the GPU has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trees/tree_dump.h"

namespace simtcc {

/// Lets device code convert a number that is out of the integer's range as PTX does, in assembly that g++ has written for
/// x86-64: to the nearest integer that the type has. A CPU makes 0x80000000 of all of them, and of a negative number as an
/// `unsigned` its low bits.
///
/// Behind each `cvttss2si` and its like comes a question whether the number was in range. If not, a function of the library
/// (hooks/conversions.cpp) is called out of the way, which changes no register. Where the flags are in use, it is called always.
/// The instruction does not say whether the integer is signed. The dump does: both have the line and column of the conversion.
/// Where they leave it open, as in a function template that one kernel calls with two types, the instruction stays.
/// \param source the text that g++ compiled; typedefs are looked up there
std::string with_saturating_conversions(std::string_view assembly, const TreeDump& dump,
                                        std::string_view source);

/// The symbols of the functions in which g++ may have made one instruction of two conversions: of a number to an `int` and
/// to an `unsigned char` it is the same for a CPU. They have to be compiled again, with flags::apart().
/// \param operations another dump of g++, flags::kOperations, that tells floating-point numbers from integers
std::vector<std::string> functions_with_merged_conversions(std::string_view assembly,
                                                           const TreeDump& dump,
                                                           std::string_view operations,
                                                           std::string_view source);

}  // namespace simtcc
