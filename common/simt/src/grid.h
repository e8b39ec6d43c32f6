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
  uint64_t traced_blocks = 0;  // fewer than all where a sample was counted
  std::map<uint64_t, Counts> by_pc;
  std::map<uint64_t, Example> examples;
};

}  // namespace simt::engine

namespace simt::device {

// Records the launch and reports its faults.
void finish_launch(engine::LaunchRecord record, const std::vector<engine::Fault>& faults);

}  // namespace simt::device
