// Atomic operations, carried out by the CPU.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>

namespace simt::engine {

// Returns the old value.
uint64_t carry_out(detail::AtomicOp op, detail::AtomicType type, void* address, uint64_t value,
                   uint64_t compare);

}  // namespace simt::engine
