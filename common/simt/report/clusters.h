// Faults between the blocks of a cluster in words.
#pragma once

#include <string>

#include "base/fault.h"
#include "report/log.h"

namespace simt::device {

// True if it is one. `access`: "write of 4 bytes at kernel.cu:31 in ..."
bool describe_in_cluster(const engine::Fault& fault, const std::string& access, Finding& finding);

}  // namespace simt::device
