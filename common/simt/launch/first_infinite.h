// The first infinity, or value that is no number, that a kernel makes of finite ones: told where the host copies such values back.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>
#include <span>
#include <string>

#include "exec/worker.h"
#include "memory/footprint.h"

namespace simt::engine::first_infinite {

// A launch has ended, of which all is known. It looks at what pointers to float and double lead to, as far as that takes little beside
// the lanes' `accesses`. `inside` is an address in the kernel.
void after_launch(const std::string& kernel, uint64_t inside,
                  std::span<const detail::Argument> arguments, const Footprint& footprint,
                  const Member& launch, uint64_t accesses, const Grid& grid, Worker& worker);
// The host has copied so many bytes.
void note_copy(uint64_t to, uint64_t from, uint64_t bytes);

}  // namespace simt::engine::first_infinite
