// Which races of a launch are faults, and which of them are told.
#pragma once

#include <vector>

#include "base/fault.h"
#include "races/block_races.h"
#include "races/shared_races.h"

namespace simt::engine {

// The same place of another worker, or a new one.
void merge(std::vector<BlockRace>& races, const BlockRace& more);

// The races between blocks, and between threads in global memory, that are faults.
void add_block_races(const std::vector<BlockRace>& races,
                     const std::vector<BlockRaceCheck::TestAndSet>& test_and_set,
                     std::vector<Fault>& faults);

// Takes out what is no fault, or is told by another one. `grid` orders the blocks.
void drop_needless(std::vector<Fault>& faults, const std::vector<TestedAtomic>& tested_atomics,
                   dim3 grid);

}  // namespace simt::engine
