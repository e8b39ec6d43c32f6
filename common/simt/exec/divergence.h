// Where lanes part: see Worker::enter_block() for the trails that they leave.
#pragma once

#include "count/count_table.h"
#include "exec/warp.h"

namespace simt::engine {

// The lanes of the group have come to their next access. If they did not come the same way, replays
// their ways through the blocks of the code as the scheduler would have let them run, lowest first, and
// counts where they part.
void follow_trails(CountTable& table, Warp& warp);

}  // namespace simt::engine
