/// \file
/// Structs that are loaded whole, changed and stored again: `Particle p = in[i]; p.x += 1; in[i] = p;`
///
/// g++ would take the local variable apart, and leave out the members that are stored as they were loaded. nvcc stores all of the
/// struct by one instruction. g++ keeps it whole where the two passes that take variables apart are off.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "trees/tree_dump.h"

namespace simtcc {

/// The symbols of the device functions that copy a struct of these classes from memory to a local variable and, themselves or in
/// what they call, one to memory. They have to be compiled again, with flags::whole().
std::vector<std::string> functions_that_change_structs(const TreeDump& dump,
                                                       const std::set<std::string>& classes);

}  // namespace simtcc
