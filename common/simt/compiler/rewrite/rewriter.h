/// \file
/// From CUDA C++ to C++: the rewriting of what a C++ compiler cannot parse.
///
/// The input is preprocessed text, so launches in macros and headers are ordinary text here. Everything
/// that is not rewritten stays byte for byte, and every line stays on its line.
///
/// | in the source                    | becomes |
/// |----------------------------------|---------|
/// | `k<<<grid, block>>>(args)`       | `::simt::launcher("k", lambdas that hold k, ::simt::config(grid, block))(args)` |
/// | `__shared__ T a[N];`             | `static thread_local T a[N];` and checks of size and type |
/// | `extern __shared__ T s[];`       | `T (&s)[] = ::simt::detail::DynamicShared<...>();` |
/// | the same at namespace scope      | that declaration, at the top of each function that uses it |
/// | `a << b` in device code          | `a << ::simt::shift << b`, which shifts as PTX does |
/// | `asm("add.u32 ..." : ...)` there | a call with the instructions as C++ in a lambda, see ptx.cpp |
/// | `__global__`, `__device__`, ...  | attributes of g++, or nothing |
/// | `#pragma unroll` and its like    | an empty line |
///
/// What the simulator cannot run (surfaces, tensor cores, launches from the device, ...) becomes a diagnostic.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"

namespace simtcc {

struct Rewritten {
  std::string text;
  std::vector<Diagnostic> diagnostics;    ///< If there is any, `text` should not be compiled.
  std::vector<Diagnostic> warnings = {};  ///< Said, and compiled all the same.
  bool has_inline_ptx = false;            ///< Then the text needs simt/ptx.h.
  bool names_wide_type = false;  ///< One that asks for more alignment than its members, as float4.
  std::vector<Edit> edits;       ///< What was changed, by offset.
  std::set<std::string> aligned_classes;  ///< Those of the program that ask for an alignment.
  std::set<std::string> array_classes;    ///< Those of the program that have arrays in them.
  Names names;
};

/// What the command line says of the language.
struct Dialect {
  bool cxx20 = true;            ///< C++20 or later
  bool relocatable = false;     ///< files have variables in common
  bool extended_lambda = true;  ///< lambdas may be `__device__`
};

/// Rewrites `source`, preprocessed text whose first line is line 1 of `file` unless a line marker says
/// otherwise. `traced` says that accesses will be, `to_inline` what has
/// to be inlined (see struct_calls.h).
/// Pure: reads and writes nothing else.
Rewritten rewrite(std::string_view source, std::string_view file, bool traced = false,
                  const std::set<std::string>& to_inline = {}, const Dialect& dialect = {});

/// A declaration to stand behind the text: names for the library, as memory/device_variables.cpp reads them. Empty where it needs
/// none.
std::string names_for_library(const Names& names);

}  // namespace simtcc
