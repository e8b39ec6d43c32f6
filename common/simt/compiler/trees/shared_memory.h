/// \file
/// The static shared memory of a kernel, in sum (simt/launch.h looks at each variable), and constant memory.
#pragma once

#include <string_view>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"
#include "text/origins.h"
#include "trees/tree_dump.h"

namespace simtcc {

/// The kernels whose static shared memory, that of the functions they call included, is more than nvcc lets a block have.
/// \param assembly what g++ made of them: shared variables are thread-local there, with their sizes
std::vector<Diagnostic> check_shared_memory(std::string_view assembly, const TreeDump& dump,
                                            const Names& names, Origins& origins);

/// The last of the __constant__ variables, if all together take more than a GPU has.
std::vector<Diagnostic> check_constant_memory(std::string_view assembly, const Names& names,
                                              Origins& origins);

}  // namespace simtcc
