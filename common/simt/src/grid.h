// What a launch leaves behind.
#pragma once

#include <simt/simt.h>

#include <map>
#include <string>
#include <vector>

#include "engine.h"

namespace simt::engine {

struct LaunchRecord {
  std::string kernel;
  dim3 grid, block;
  std::map<uint64_t, Counts> by_pc;
};

inline uint64_t linear_block(dim3 grid, uint3 block) {
  return (uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

}  // namespace simt::engine

namespace simt::device {

// Records the launch and reports its faults.
void finish_launch(engine::LaunchRecord record, const std::vector<engine::Fault>& faults);
size_t allowed_dynamic_shared();

}  // namespace simt::device
