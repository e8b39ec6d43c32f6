// Where the program lies in memory: its code, its variables, those of them that are __constant__ or __managed__.
#pragma once

#include <algorithm>
#include <cstdint>

// The section that __constant__ puts variables in; absent in most programs.
extern "C" {
extern const char simt_constant_begin[] asm("__start_simt_constant") __attribute__((weak));
extern const char simt_constant_end[] asm("__stop_simt_constant") __attribute__((weak));
// The same for __managed__.
extern const char simt_managed_begin[] asm("__start_simt_managed") __attribute__((weak));
extern const char simt_managed_end[] asm("__stop_simt_managed") __attribute__((weak));
// Names that simtcc leaves, each with an end: 'd' before one of the device's variables, 'h' before one of the host's, 'f' before
// one of the device's functions, 'b' before one for both sides, 'c' before that of a __constant__ variable without an initialiser.
extern const char simt_variables_begin[] asm("__start_simt_variables") __attribute__((weak));
extern const char simt_variables_end[] asm("__stop_simt_variables") __attribute__((weak));
// Accesses that nvcc merges, as simtcc has found them: see count/merged_accesses.cpp.
extern const char simt_merged_begin[] asm("__start_simt_merged") __attribute__((weak));
extern const char simt_merged_end[] asm("__stop_simt_merged") __attribute__((weak));
}

namespace simt::engine {

struct ProgramImage {
  uint64_t first = ~uint64_t{0};          // the lowest address
  uint64_t code_end = 0;                  // behind its machine code
  uint64_t data_begin = 0, data_end = 0;  // variables, __device__ ones among them
  uint64_t tls_size = 0;                  // of a thread: its static shared memory
};
const ProgramImage& program_image();

// The checks keep program counters in 32 bits, counted from the program's first address.
inline uint32_t short_pc(uint64_t pc) { return static_cast<uint32_t>(pc - program_image().first); }
inline uint64_t full_pc(uint32_t pc) { return program_image().first + pc; }

// Is this a variable of the program?
inline bool in_program_data(uint64_t address) {
  const ProgramImage& program = program_image();
  return address - program.data_begin < program.data_end - program.data_begin;
}

inline bool is_constant(uint64_t address) {
  const auto begin = reinterpret_cast<uint64_t>(simt_constant_begin);
  return begin && address - begin < reinterpret_cast<uint64_t>(simt_constant_end) - begin;
}
inline bool is_managed(uint64_t address) {
  const auto begin = reinterpret_cast<uint64_t>(simt_managed_begin);
  return begin && address - begin < reinterpret_cast<uint64_t>(simt_managed_end) - begin;
}

}  // namespace simt::engine
