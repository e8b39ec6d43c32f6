// The end of the process: what was found decides how it ends.
#pragma once

namespace simt::device {

// The host has crashed: if something was found before, says so and ends the process as its findings do.
void end_after_crash();

}  // namespace simt::device
