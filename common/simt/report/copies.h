// What is wrong with an asynchronous copy, in words: each goes on after the access and its place.
#pragma once

#include <string>

#include "base/fault.h"

namespace simt::device {

// Of a read of its target before it has arrived, and what would have it arrive.
std::string early_read(const engine::Fault& fault, const std::string& place);
// Of a bulk copy, whose target is read or written before it has arrived.
std::string early_bulk_access(const engine::Fault& fault, const std::string& place);
// Of a write to its target while it is under way, by a store or by another copy.
std::string early_write(const engine::Fault& fault, const std::string& place);
// Of one whose source has been overwritten.
std::string outdated_source(const engine::Fault& fault, const std::string& allocation);

}  // namespace simt::device
