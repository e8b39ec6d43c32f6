/// \file
/// What nvcc refuses about where code runs: calls across `__host__`, `__device__` and `__global__`, launches of what is no
/// kernel, the host's variables in kernels.
///
/// simtcc marks functions with attributes of g++ that have no effect here; g++ takes them along to instances of templates
/// and prints them with its calls (tree_dump.h). The rules are those of nvcc 13.
///
/// | function | mark |
/// |---|---|
/// | `__device__` | no_instrument_function |
/// | `__host__ __device__` | that, and no_profile_instrument_function |
/// | `__global__` | no_instrument_function, tainted_args |
/// | a constructor, destructor or assignment without a qualifier | no_profile_instrument_function |
/// | one that the compiler makes | none: it is where it is needed |
/// | a lambda in a function | none: it is where that function is |
/// | all others | none: the host's |
#pragma once

#include <string>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"
#include "text/origins.h"
#include "trees/tree_dump.h"

namespace simtcc {

/// \param dump what g++ printed
/// \param relaxed --expt-relaxed-constexpr: constexpr functions are for everybody
/// \return refusals, and warnings where nvcc warns
std::vector<Diagnostic> check_execution_spaces(const TreeDump& dump, const Names& names,
                                               Origins& origins, bool relaxed);

}  // namespace simtcc
