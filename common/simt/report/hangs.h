// A kernel that does not end, in words.
#pragma once

#include <string>

#include "base/fault.h"
#include "report/describe.h"

namespace simt::device {

// Sets the kind and the message of `f`.
void describe_hang(const engine::Fault& fault, const std::string& kernel, Finding& f);

}  // namespace simt::device
