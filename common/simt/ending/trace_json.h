// The trace: what was counted and found, for ./learn, the site and the tests.
#pragma once

namespace simt::device {

// Writes the trace to the file that SIMT_JSON names, if it names one.
void write_trace();

}  // namespace simt::device
