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
/// | `extern __shared__ T s[];`       | `T (&s)[] = ::simt::detail::DynamicShared();` |
/// | the same at namespace scope      | that declaration, at the top of each function that uses it |
/// | `__global__`, `__device__`, ...  | attributes of g++, or nothing |
/// | `#pragma unroll` and its like    | an empty line |
///
/// What the simulator cannot run (PTX, textures, launches from the device, ...) becomes a diagnostic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

struct Diagnostic {
  std::string file;
  int line = 0;
  std::string message;  ///< "textures (tex2D) are not simulated"

  /// `file:line: error: simt: message`
  std::string text() const;
};

struct Rewritten {
  std::string text;
  std::vector<Diagnostic> diagnostics;  ///< If there is any, `text` should not be compiled.
  bool names_wide_type = false;  ///< One that may need more than 8 bytes of alignment, as float4.
};

/// Rewrites `source`, preprocessed text whose first line is line 1 of `file` unless a line marker says
/// otherwise. Pure: reads and writes nothing else.
Rewritten rewrite(std::string_view source, std::string_view file);

}  // namespace simtcc
