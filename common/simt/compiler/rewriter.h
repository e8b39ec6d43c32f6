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

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

struct Diagnostic {
  std::string file;
  int line = 0;
  std::string message;   ///< "textures (tex2D) are not simulated"
  int column = 0;        ///< From 1, in bytes; 0 if it is not known.
  bool warning = false;  ///< Said, and compiled all the same.

  /// `file:line:column: error: simt: message`
  std::string text() const;
};

/// A change to the text: `length` bytes at `offset` give way to `text`.
struct Edit {
  std::size_t offset;
  std::size_t length;
  std::string text;
};

/// A call in device code of a constexpr function of the host.
struct ConstexprCall {
  std::string file;
  int line;
  int column;  ///< in the preprocessed text
  std::string name;
  int first_line, last_line;  ///< of the function around it
  bool templated;             ///< That function exists only where it is used.
  bool on_both;               ///< It is `__host__ __device__`.
};

/// Inline PTX that is wrong or not simulated, in a function that may never run.
struct AbsentPtx {
  std::string file;
  int line;
  int column;  ///< in the preprocessed text
  std::string message;
};

/// Where a kernel with a body, or a __constant__ or __shared__ variable, has its name.
struct KernelPlace {
  std::string name;
  std::string file;
  int line;
  int column;  ///< in the preprocessed text
  int last_line;
};

/// Names (without their scopes) of the source's functions and variables, as its qualifiers have them. They point into the
/// source.
struct Names {
  using Set = std::set<std::string_view>;
  Set kernels;
  Set device;                                ///< `__device__` functions
  Set both;                                  ///< `__host__ __device__` functions
  Set constexprs;                            ///< constexpr functions that no `__device__` marks
  std::set<std::string> library_constexprs;  ///< those of libraries: `std::max`, `array::size`
  Set unmarked;          ///< functions without a qualifier, of classes and of namespaces
  Set variables;         ///< `__device__`, `__constant__`, `__managed__`
  Set device_variables;  ///< those of `variables` that the host cannot read: all but `__managed__` ones
  Set constants;         ///< `__constant__`
  Set uninitialized_constants;  ///< `__constant__`, without an initialiser
  Set host_variables;           ///< of namespaces and classes (and what is declared like them)
  Set library;                  ///< functions of system headers
  Set simulator;                ///< functions of the simulator's headers
  Set cuda_std;                 ///< what is named in cuda::std, which is std here; "" for all of it
  Set methods;                  ///< functions of their classes
  std::vector<ConstexprCall> constexpr_calls;
  std::vector<KernelPlace> kernel_places;
  std::vector<KernelPlace> constant_places;
  std::vector<KernelPlace> shared_on_both;  ///< `__shared__`, in `__host__ __device__` functions
  std::vector<AbsentPtx> absent_ptx;
  bool takes_times = false;     ///< speaks of clocks, of events or of a profiler
  bool copies_symbols = false;  ///< cudaMemcpyToSymbol() and its like
  bool relocatable = false;     ///< files have variables in common
  bool unchecked = false;  ///< `#pragma nv_exec_check_disable`: calls that nvcc shall not warn of
};

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
/// otherwise. `simulator` is the folder of the simulator's headers, `traced` says that accesses will be, `to_inline` what has
/// to be inlined (see struct_calls.h).
/// Pure: reads and writes nothing else.
Rewritten rewrite(std::string_view source, std::string_view file, std::string_view simulator = {},
                  bool traced = false, const std::set<std::string>& to_inline = {},
                  const Dialect& dialect = {});

/// A declaration to stand behind the text: names for the library, as check/device_variables.cpp reads them. Empty where it needs
/// none.
std::string names_for_library(const Names& names);

/// The name of every lambda, in `to_inline`.
inline constexpr std::string_view kLambda = "<lambda>";

}  // namespace simtcc
