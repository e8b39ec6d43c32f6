// Literals and other constants of the program: a kernel's own are its to read and to print, the host's are not.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>
#include <span>

#include "program/program_image.h"

namespace simt::host_texts {

// A launch hands these over, perhaps pointers to constants among them, alone or in structs.
void note_arguments(std::span<const detail::Argument> arguments);
// The host has copied this to the device.
void note_copied(const void* from, uint64_t size);

// Do constants of the program lie there?
inline bool is_constant(uint64_t address) {
  const engine::ProgramImage& program = engine::program_image();
  return address - program.first < program.data_begin - program.first;
}
// Is this one that the host has handed over? All others are the kernels' own.
bool is_handed_over(uint64_t address);
// Does a pointer that the running lane has found lead to characters which a GPU cannot reach?
bool is_host_text(uint64_t address);

}  // namespace simt::host_texts
