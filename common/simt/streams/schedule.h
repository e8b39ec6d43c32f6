// What a program has given to its streams, with the order that it made: for the trace, and the chart that is drawn of it.
#pragma once

#include <cstdint>
#include <string>

namespace simt::stream_schedule {

// The work under way on this thread has done this: a kernel, a copy, a function of the host. Kept where a trace is asked for and the
// program has streams. A round ends where the host has waited for all of it.
void note(const std::string& what);
// The same of a copy between two addresses, as Nsight Systems calls it: HtoD, DtoH, DtoD, PtoP. No `from`: memory is set,
// allocated or freed.
void note_copy(uint64_t to, uint64_t from);

}  // namespace simt::stream_schedule
