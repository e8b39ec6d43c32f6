/// \file
/// The flags with which simtcc calls g++. This is the one place for them.
#pragma once

#include <array>

namespace simtcc::flags {

/// Both ways of compiling. `#pragma unroll` and its like are gone by then; a comment that says "fall
/// through" is gone too (the preprocessor takes comments out), so its warning would be false.
inline constexpr std::array kAlways = {
    "-g",
    "-gno-statement-frontiers",  // else no line of a kernel is one where gdb can stop
    "-fno-omit-frame-pointer",
    "-ftls-model=local-exec",  // __shared__ is thread-local, and a program is one executable
    "-Wno-implicit-fallthrough",
};

/// Ahead of the reader's flags: what holds unless they say otherwise.
inline constexpr std::array kDefaults = {"-std=gnu++20"};

/// Tracing: calls to our __tsan_* at accesses and to __sanitizer_cov_trace_pc at basic blocks. (What
/// -fsanitize=bounds,alignment adds comes after both, and so changes neither.) The
/// layout of the code has to follow the source, since the scheduler runs the lowest program counter
/// first; so what moves, merges or splits code is off, and the level of optimisation is fixed.
inline constexpr std::array kTraced = {
    "-O1",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "-fsanitize-coverage=trace-pc",
    "-fsanitize=bounds,alignment",  // calls our __ubsan_* where an index or an address is wrong
    "-fno-reorder-blocks",
    "-fno-reorder-blocks-and-partition",
    "-fno-ipa-icf",
    "-fno-ipa-cp",
};

/// --fast: no tracing. -O2 unless the reader says otherwise.
inline constexpr std::array kFast = {"-O2"};

/// Macros of the preprocessor's run. `__CUDACC__` as under nvcc; no `__CUDA_ARCH__`, because host and
/// device code share one compilation.
inline constexpr std::array kCudaMacros = {"-D__CUDACC__", "-D__NVCC__", "-D__SIMTCC__"};
inline constexpr std::array kMacros = {"-D__SIMT__"};

/// After the objects and libsimt.a. Not -fsanitize=thread: libsimt.a takes the place of libtsan.
#ifdef __x86_64__
inline constexpr std::array kLink = {"-ldw", "-lpthread"};
#else
inline constexpr std::array kLink = {"-lboost_context", "-ldw", "-lpthread"};
#endif

}  // namespace simtcc::flags
