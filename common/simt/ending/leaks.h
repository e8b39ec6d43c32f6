// What has not been freed.
#pragma once

namespace simt::device {

// Records it: warnings, or errors if SIMT_LEAKS asks for them.
void report_leaks();

}  // namespace simt::device
