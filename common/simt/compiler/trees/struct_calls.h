/// \file
/// Calls that move a struct between memory and the call itself: `f(s[i])`, `s[i] = f()`.
///
/// g++ loads such an argument, and stores such a result, where it expands the call. That is behind the pass which puts the
/// hooks in, so the access would be neither counted nor checked. Where the function is inlined, as by nvcc, both are
/// assignments like any other.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"
#include "text/origins.h"
#include "trees/tree_dump.h"

namespace simtcc {

struct StructCalls {
  std::set<std::string> to_inline;    ///< names of functions, without their scopes, that have to be
  std::vector<Diagnostic> uncounted;  ///< a warning for each call of a function that cannot be
};

/// \param assembly what g++ made of the functions: which calls are left
StructCalls find_struct_calls(const TreeDump& dump, std::string_view assembly, Origins& origins);

}  // namespace simtcc
