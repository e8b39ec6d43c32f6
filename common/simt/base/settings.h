// Every variable of the environment that the simulator reads: kTable says what each is for.
#pragma once

#include <cstdint>

namespace simt::settings {

struct Setting {
  const char* name;
  const char* value;    // what may stand behind the =
  const char* meaning;  // one line
};

inline constexpr Setting kTable[] = {
    {"SIMT_JSON", "FILE", "write the trace, counts and findings, to FILE"},
    {"SIMT_THREADS", "N", "run blocks on N threads of the CPU; default: one for each core"},
    {"SIMT_FULL", "N",
     "count launches of one kernel in full until they have made N accesses, then samples; default "
     "2^26"},
    {"SIMT_BLOCKS", "N|all", "count N blocks of each launch, or all, however often it is launched"},
    {"SIMT_STEPS", "N", "take a warp for hanging after N steps without progress; default 2^24"},
    {"SIMT_STACK", "N",
     "bytes of a thread's stack; default 128 KiB, or 576 KiB where the kernel needs more"},
    {"SIMT_LEAKS", "1", "what was never freed is an error, and all of it is listed"},
    {"SIMT_AHEAD", "0", "let no lane run ahead of the others at loads: slower, the same counts"},
};

const char* trace_file();                    // SIMT_JSON; nullptr: none
uint64_t threads();                          // SIMT_THREADS
uint64_t counted_in_full(uint64_t usually);  // SIMT_FULL
bool has_blocks();                           // SIMT_BLOCKS is there,
uint64_t blocks(uint64_t all);               // and says how many
uint64_t steps(uint64_t usually);            // SIMT_STEPS
uint64_t stack_bytes();                      // SIMT_STACK; 0: as the kernel needs
bool leaks_are_errors();                     // SIMT_LEAKS
bool runs_ahead();                           // SIMT_AHEAD

}  // namespace simt::settings
