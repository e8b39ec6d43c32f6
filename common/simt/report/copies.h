// What is wrong with an asynchronous copy, in words: each goes on after the access and its place.
#pragma once

#include <string>

#include "base/fault.h"

namespace simt::device {

// Of a read of its target before it has arrived, and what would have it arrive.
std::string early_read(const engine::Fault& fault, const std::string& place);
// Of a bulk copy, whose target is read or written before it has arrived.
std::string early_bulk_access(const engine::Fault& fault, const std::string& place);
// Of a race with a bulk store by another block that nobody has waited for.
std::string store_under_way(const engine::Fault& fault, const std::string& block,
                            const std::string& allocation);
// Of a register of wgmma that a thread touches while that is under way.
std::string pending_register(const engine::Fault& fault);
// Of a write to its target while it is under way, by a store or by another copy.
std::string early_write(const engine::Fault& fault, const std::string& place);
// Of one whose source has been overwritten.
std::string outdated_source(const engine::Fault& fault, const std::string& allocation);
// Is it between a thread and the copy engine, a barrier in memory, or wgmma? There the call in the kernel says more than the line of a
// function around one instruction.
bool is_at_engine(const engine::Fault& fault);
// The usual cause of a race with the copy engine or wgmma, or for a barrier in memory.
std::string cause_at_engine(engine::Fault::Cause cause);

}  // namespace simt::device
