/// \file
/// The flags with which simtcc calls g++. This is the one place for them.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace simtcc::flags {

/// Both ways of compiling. `#pragma unroll` and its like are gone by then; a comment that says "fall
/// through" is gone too (the preprocessor takes comments out), so its warning would be false.
inline constexpr std::array kAlways = {
    "-g",
    "-gno-statement-frontiers",  // else no line of a kernel is one where gdb can stop
    "-fno-omit-frame-pointer",
    "-ftls-model=local-exec",  // __shared__ is thread-local, and a program is one executable
    "-Wno-implicit-fallthrough",
    "-Wno-psabi",  // of CUtensorMap, which is aligned to 64 bytes
    // What some distributions turn on: it makes the frames of kernels larger, and their code another.
    "-fno-stack-protector", "-fno-stack-clash-protection", "-fcf-protection=none",
    "-fno-ipa-ra",  // simtcc uses a register that a function leaves alone
    "-fPIE",        // simtcc reads how it takes addresses, and not every g++ does it by itself
#ifdef __x86_64__
    "-mno-avx512f",  // with -march=native: instructions that conversions.cpp does not know
#endif
};

/// Ahead of the reader's flags: what holds unless they say otherwise. The standard is that of nvcc 13. Volatile sums
/// (`volatile int* s; s[i] += s[i + 1];`) are how the lanes of a warp used to add, and `register` was a hint. Of a printf() whose
/// arguments do not fit its text, and of a variable that is read before it has a value, nvcc warns unasked.
inline constexpr std::array kDefaults = {"-std=gnu++17", "-Wno-volatile", "-Wno-register",
                                         "-Wformat", "-Wuninitialized"};

/// Tracing: calls to our __tsan_* at accesses and to __sanitizer_cov_trace_pc at basic blocks. (What
/// -fsanitize=bounds adds comes after both, and so changes neither.) The
/// layout of the code has to follow the source, since the scheduler runs the lowest program counter
/// first; so what moves, merges or splits code is off, and the level of optimisation is fixed. Above all,
/// no jump threading: where a condition is known on one of two ways, that way would go on beside the other
/// instead of meeting it, and lanes of a guarded load would not come back to their warp. One thing
/// beyond -O1 is on, since nvcc always does it: a load that both sides of a branch begin with is made once,
/// ahead of it, and what is in a register already is not loaded again.
inline constexpr std::array kTraced = {
    "-O1",
    "-fsanitize=thread",
    "-Wno-tsan",  // fences are not lost on our hooks
    "--param=tsan-distinguish-volatile=1",
    "-fsanitize-coverage=trace-pc",
    "-fsanitize=bounds",  // calls our __ubsan_* where an index is wrong
    "-fno-reorder-blocks",
    "-fno-reorder-blocks-and-partition",
    "-fno-shrink-wrap-separate",  // g++ 16: restores registers in the blocks that leave a loop, which then cannot move
    "-fno-ipa-icf",
    "-fno-ipa-cp",
    "-fno-ipa-modref",  // who knows that a function only writes drops the zones around an array
    "-fcode-hoisting",
    "-fno-thread-jumps",
    "-fno-allocation-dce",  // g++ drops a `new` with its delete, and with two of them
};

/// Where the source names a type that asks for more alignment than its members: calls our __ubsan_* where it does not have it, and
/// says in them how it is aligned (merged_accesses.h). Only there, because with this g++ no longer makes a load once that both sides
/// of a branch begin with.
inline constexpr std::array kWide = {"-fsanitize=alignment"};

/// --fast: no tracing. -O2 unless the reader says otherwise. A barrier that is called last must still return to
/// the kernel: by that address the threads of a block tell which barrier they wait at.
inline constexpr std::array kFast = {"-O2", "-fno-optimize-sibling-calls"};

/// Macros of the preprocessor's run, as under nvcc.
inline constexpr std::array kCudaMacros = {
    "-D__CUDACC__",
    "-D__NVCC__",
    "-D__SIMTCC__",
    "-D__CUDA_ARCH_LIST__=900",
    "-D__CUDACC_VER_MAJOR__=13",
    "-D__CUDACC_VER_MINOR__=0",
    "-D__CUDACC_VER_BUILD__=48",
    "-D__CUDACC_EXTENDED_LAMBDA__",
    "-D__CUDACC_RELAXED_CONSTEXPR__",
};
/// Where it reads the source for the device (host_branches.h).
inline constexpr std::array kDeviceMacros = {"-D__CUDA_ARCH__=900"};
/// The checked memcpy() & co. of the C library would stand in the way of those of `simt/bytes.h`.
inline constexpr std::array kMacros = {"-D__SIMT__", "-U_FORTIFY_SOURCE"};

/// Prints the functions as they were read, for tree_dump.h. The file's name follows.
inline const std::string kDump = "-fdump-tree-lower-lineno-uid-asmname=";

/// Prints what each statement does with its operands, for conversions.h: only so a number is told from an integer. Likewise.
inline const std::string kOperations = "-fdump-tree-eh-raw-lineno=";

inline std::string with_commas(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Keeps the local structs of these functions whole (whole_structs.h).
inline std::vector<std::string> whole(const std::vector<std::string>& functions) {
  const std::string names = with_commas(functions);
  return {"-fdisable-tree-esra=" + names, "-fdisable-tree-sra=" + names};
}

/// Lets each conversion of a number in these functions keep an instruction of its own (conversions.h): without the passes that
/// look for values which are there already.
inline std::vector<std::string> apart(const std::vector<std::string>& functions) {
  const std::string names = with_commas(functions);
  return {"-fdisable-rtl-cse1=" + names,
          "-fdisable-rtl-cse_local=" + names,
          "-fdisable-rtl-cse2=" + names,
          "-fdisable-rtl-postreload=" + names,
          "-fno-gcse",
          "-fno-gcse-after-reload"};
}

/// What g++ says has the form that compiler_messages.h reads. After the reader's flags.
inline constexpr std::array kMessages = {"-fno-diagnostics-show-caret", "-fdiagnostics-color=never",
                                         "-fdiagnostics-column-unit=byte", "-fmessage-length=0"};

/// After the objects and libsimt.a. Not -fsanitize=thread: libsimt.a takes the place of libtsan. With shared memory that is aligned
/// to 16 KiB, and pages smaller than that, what becomes read-only after the start has a hole in it, which the loader refuses.
inline constexpr std::array kLink = {"-ldw", "-lpthread", "-Wl,-z,max-page-size=65536"};

}  // namespace simtcc::flags
