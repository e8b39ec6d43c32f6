// How many blocks of a launch are counted. A program that measures launches one kernel hundreds of times,
// and each time the counts are much the same: once the launches of one kernel, grid and block have been
// counted in full for so many accesses of lanes, a few blocks of each further one have to do, and later a single
// one.
#pragma once

#include <simt/config.h>
#include <simt/counts.h>

#include <array>
#include <cstdint>

#include "base/settings.h"

namespace simt::engine {

// Which kernel is launched, and in which grid of which blocks.
using LaunchShape = std::array<uint64_t, 9>;
inline LaunchShape shape_of(const Config& config, void (*entry)(void*)) {
  const dim3 g = config.grid, b = config.block;
  return {reinterpret_cast<uint64_t>(entry),
          reinterpret_cast<uint64_t>(config.kernel),
          config.shared,
          g.x,
          g.y,
          g.z,
          b.x,
          b.y,
          b.z};
}

namespace sampling {

inline constexpr uint64_t kAccesses = uint64_t{1} << 26;
inline constexpr uint64_t kBlocks = 4;

// How many of its blocks to count of a launch, when so many accesses of launches of its shape have been counted.
inline uint64_t wanted(uint64_t blocks, uint64_t accesses) {
  if (settings::has_blocks()) return settings::blocks(blocks);
  const uint64_t full = settings::counted_in_full(kAccesses);
  return accesses < full ? blocks : accesses / 2 < full ? kBlocks : 1;
}

// Of all lanes.
inline uint64_t accesses_of(const Counts& c) {
  return c.global_load_active_lanes + c.global_store_active_lanes + c.global_atomic_active_lanes +
         c.shared_load_active_lanes + c.shared_store_active_lanes + c.shared_atomic_active_lanes;
}

}  // namespace sampling
}  // namespace simt::engine
