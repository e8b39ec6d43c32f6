// Lanes that ran ahead of loads and have to go back to them, because the lanes of their group went different ways.
#pragma once

#include <cstdint>

#include "count/count_table.h"
#include "exec/warp.h"

namespace simt::engine {

// Every lane of the group goes back to its first load, and the scheduler moves them on from there.
void rewind(Warp& warp);
// These lanes have loaded, and stand at their next load or where they stopped.
void advance(Warp& warp, uint32_t lanes);

// A lane has computed an index outside its array, or an address that is not aligned; the access comes next.
void note(Warp& warp, const DeferredEffect& effect);
// These lanes have done a load of the queue: what they did after it is known now.
void settle_deferred(Warp& warp, uint32_t lanes, unsigned load);

// Finds out which loads may be run ahead of (see RunAhead) when `group` executes the instruction at `key`.
void update_predictor(CountTable& table, const Warp& warp, uint64_t key, uint32_t group,
                      StopReason what);

}  // namespace simt::engine
