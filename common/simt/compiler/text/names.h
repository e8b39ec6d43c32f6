/// \file
/// What the rewriter has seen of a source, for those who read what g++ makes of it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

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

/// The name of every lambda, in `to_inline`.
inline constexpr std::string_view kLambda = "<lambda>";

}  // namespace simtcc
