// What the reader has written, where the debug information does not say enough.
#pragma once

#include "program/symbols.h"

namespace simt::device {

// The line of the `return` by which a thread has left its kernel at `exit`, after `before`; 0 if it has come to the kernel's
// end, or if that is not known. One block of the code may stand for all returns of a kernel, at the line of any of them: which
// one it was says the source. Where that is not there to look at, it was one ahead of the barrier.
int line_of_return(const symbols::Location& exit, const symbols::Location& before,
                   const symbols::Location& barrier);

// Whether a __syncthreads() stands between two lines of a file.
bool has_barrier_between(const symbols::Location& one, const symbols::Location& other);

}  // namespace simt::device
