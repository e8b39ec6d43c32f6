// Faults in words.
#pragma once

#include <simt/simt.h>

#include <string>

#include "base/fault.h"

namespace simt::device {

// What a lane has done wrong, in a launch of `kernel`, as the reader is told.
Finding describe(const engine::Fault& fault, const std::string& kernel, int launch);

}  // namespace simt::device
