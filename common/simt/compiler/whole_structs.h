/// \file
/// Structs that are loaded and stored whole: `Particle p = in[i];`
///
/// nvcc makes one access of a struct that is aligned to its size, as of a float4. g++ would load each member where it is
/// needed, since in a local variable that is taken apart nothing but its members is left. It keeps the struct whole where the two
/// passes that take variables apart are off.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tree_dump.h"

namespace simtcc {

/// The symbols of the device functions with a local variable of one of these classes, and of those that call them: there
/// the variable is, once they are inlined. They have to be compiled again, with flags::whole().
std::vector<std::string> functions_with_objects(const TreeDump& dump,
                                                const std::set<std::string>& classes);

}  // namespace simtcc
