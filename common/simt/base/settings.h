// Every variable of the environment that the simulator reads; settings_table.h says what each is for.
#pragma once

#include <cstdint>

namespace simt::settings {

const char* trace_file();                    // SIMT_JSON; nullptr: none
const char* compiled_code();                 // SIMT_COMPILED; nullptr: none
uint64_t threads();                          // SIMT_THREADS
uint64_t counted_in_full(uint64_t usually);  // SIMT_FULL
bool has_devices();                          // SIMT_DEVICES is there
long devices();                              // SIMT_DEVICES; 1 without it, 0 if that is no number
bool has_blocks();                           // SIMT_BLOCKS is there,
uint64_t blocks(uint64_t all);               // and says how many
uint64_t steps(uint64_t usually);            // SIMT_STEPS
uint64_t recorded();                         // SIMT_RECORD; 0: none
uint64_t stack_bytes();                      // SIMT_STACK; 0: as the kernel needs
bool leaks_are_errors();                     // SIMT_LEAKS
bool runs_ahead();                           // SIMT_AHEAD

}  // namespace simt::settings
