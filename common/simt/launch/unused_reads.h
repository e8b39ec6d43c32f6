// Is anything made of what a read has brought that races, or finds what nobody has written?
//
// A load may stand ahead of the branch that has a use for it (`r[u] = y[min(i + u, n - 1)]`), and part of a tile may hold nothing on
// purpose. So where there is such a fault, its block runs again, on its own and in child processes on copies of the memory:
// once as it is, and with other values for that read. If each time it goes the same way, to the same addresses, and leaves the
// same bytes, nothing comes of the read, and the fault is a warning. What cannot be tried stays an error.
#pragma once

#include <vector>

#include "exec/worker.h"
#include "memory/footprint.h"

namespace simt::engine {

// The grid has ended, and has printed nothing. `worker` belongs to this thread; the footprint is the grid's. Sets
// Fault::is_unused.
void mark_unused_reads(std::vector<Fault>& faults, const Grid& grid, Worker& worker,
                       const Footprint& footprint);

}  // namespace simt::engine
