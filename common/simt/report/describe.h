// Faults in words.
#pragma once

#include <simt/simt.h>

#include <string>

#include "base/fault.h"

namespace simt::device {

// Where an address lies that may not be touched, seen from the allocations, and what usually causes that.
struct Place {
  std::string text, allocation, cause;
};
Place place_of(uint64_t address);

// What holds an address in global or constant memory.
std::string holder_of(uint64_t address);

// What a lane has done wrong, in a launch of `kernel`, as the reader is told.
Finding describe(const engine::Fault& fault, const std::string& kernel, int launch);

}  // namespace simt::device
