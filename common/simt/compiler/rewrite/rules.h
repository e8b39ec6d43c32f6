/// \file
/// The rules of the rewriter, by the file that has each. They are called at the token that they are about, in the order of
/// the source, unless it says otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rewrite/unit.h"

namespace simtcc {

/// What `__global__` is to g++: a kernel keeps a symbol of its own, by which reports name it. The marks: execution_spaces.h.
inline constexpr std::string_view kKernelMark =
    "__attribute__((noinline, used, no_instrument_function, tainted_args))";

// ---- functions.cpp: where functions run, and what they can name there

/// `__device__` and `__global__` become marks that g++ keeps with the function.
void mark_function(Unit& unit, std::size_t i);
/// What `__constant__ float a, b[3];` declares from i on: variables that kernels can use.
void note_variables(Unit& unit, std::size_t i);
/// A static variable of a class cannot be one of the device.
void check_member(Unit& unit, std::size_t i);
/// Nor can a variable of a function, unless it is static.
void check_local(Unit& unit, std::size_t i);
/// Nor can one be thread_local.
void check_thread_local(Unit& unit, std::size_t i);
/// Does token i stand in a function that the host alone runs?
bool is_in_host_function(Unit& unit, std::size_t i);
/// The same for variables of the host, in tokens [head, end) of a namespace or a class.
void note_host_variables(Unit& unit, std::size_t head, std::size_t end);
/// A constexpr function without `__device__` is one of the host's, unless simtcc is told otherwise.
void note_constexpr(Unit& unit, std::size_t i);
/// A constructor, destructor or assignment that somebody wrote is the host's if it does not say otherwise.
void mark_special_member(Unit& unit, std::size_t i);

// ---- lambdas.cpp

/// What nvcc refuses of the lambda with `__device__` at i. \param host `__host__` is there, too
void check_lambda(Unit& unit, std::size_t i, bool host);
/// With `__host__` or `__device__` at i it takes an option of nvcc.
void check_lambda_option(Unit& unit, std::size_t i);

// ---- declarations.cpp: what nvcc refuses of them, and C++ does not

/// A function of a namespace with its name at i: declared as a kernel here and as none elsewhere?
void note_function(Unit& unit, std::size_t i);
void check_launch_bounds(Unit& unit, std::size_t i);
void check_grid_constant(Unit& unit, std::size_t i);
/// The `&` at i in device code: of threadIdx and its like there is no address.
void check_address(Unit& unit, std::size_t i);

// ---- memory_qualifiers.cpp

/// `__shared__`, `__constant__`, `__managed__` or `__global__` at i where nvcc only warns of it: it goes. \return does it stand there?
bool drop_stray_qualifier(Unit& unit, std::size_t i);
/// At the end: `extern __device__ int count;` without a definition.
void define_extern_variables(Unit& unit);

// ---- vector_types.cpp: float4 and its like are aggregates under nvcc

/// The name of one of them may stand at i, with values behind it.
void check_vector_type(Unit& unit, std::size_t i);

// ---- kernels.cpp

/// What nvcc refuses of a kernel's declaration. \param parameters their parenthesis
void check_kernel(Unit& unit, std::size_t i, std::size_t parameters);
/// A kernel whose declaration starts at `head` makes itself known in its body, for those who launch it by its address.
void register_kernel(Unit& unit, std::size_t head, std::size_t open);

// ---- launches.cpp

/// `k<<<grid, block>>>(arguments)`; `open` is the first `<`.
void rewrite_launch(Unit& unit, std::size_t open);

// ---- shared_variables.cpp

void rewrite_shared(Unit& unit, std::size_t i);
/// At the end: functions that use the dynamic shared memory of a namespace get a declaration of their own.
void use_namespace_shared(Unit& unit, const NamespaceShared& shared);

// ---- device_code.cpp: names and words in functions of the device

/// A call of a constexpr function that g++ works out and nvcc refuses all the same.
void note_constexpr_call(Unit& unit, std::size_t i);
/// The same of the operator of a literal, as 5_km.
void note_literal(Unit& unit, std::size_t i);
/// Words of C++ that nvcc does not take in device code.
void check_extent(Unit& unit, std::size_t i);  ///< the `[` at i
void check_device_word(Unit& unit, std::size_t i);
/// `delete[] p` in device code.
void keep_stores_ahead_of_delete(Unit& unit, std::size_t i);
/// Functions of C's library that are another one in a kernel. \return is the token one?
bool rewrite_library_function(Unit& unit, std::size_t i);

// ---- atomics.cpp: of which the compiler or the hardware makes fewer

/// The atomics that a warp can do with one lane's.
bool is_merging_atomic(std::string_view name);
void rewrite_atomic(Unit& unit, std::size_t i);
/// What `__device__ int count, sums[8];` declares from i on.
void note_device_variables(Unit& unit, std::size_t i);
/// At the end, when all is known: `atomicAdd(count, 1)` whose address no thread of a warp can see differently.
void mark_same_address(Unit& unit, const UpdatedAddress& atomic);

// ---- shifts.cpp

/// `a << b` in device code, `a >> b`, `a <<= b` and `a >>= b`, by an amount that may be too large; i is the first of the two.
void rewrite_shift(Unit& unit, std::size_t i);

// ---- local_arrays.cpp

/// The statement that begins at i may declare arrays of a thread's own: those get zones around them.
void guard_local_arrays(Unit& unit, std::size_t i);

// ---- local_values.cpp: what C++ takes, and nobody means

/// The statement that begins at i may declare variables of a thread's own: is one an array that the block was to share?
void check_values(Unit& unit, std::size_t i);
/// A kernel's parameters that are only ever written.
void check_results(Unit& unit, const FunctionBody& kernel);
/// `__syncthreads;`, and cudaMemset() with a value that no element can have.
void check_call(Unit& unit, std::size_t i);

// ---- statements.cpp

/// `if (i = 0)`, `if (i < n);`, and threadIdx on the host; i is the word.
void check_statement(Unit& unit, std::size_t i);
/// The loop that begins at i may have a `#pragma unroll n` ahead of it.
void check_unroll(Unit& unit, std::size_t i);
/// The number of blocks or of threads that tokens [begin, end) of a launch say.
void check_launch_value(Unit& unit, std::size_t begin, std::size_t end);
/// Ahead of all else: a bracket that nothing closes. \return is there one?
bool report_open_bracket(Unit& unit);

// ---- ptx.cpp

/// `asm` in device code: its inline PTX becomes C++.
void rewrite_asm(Unit& unit, std::size_t i);

}  // namespace simtcc
