// What kernels have printed. A GPU keeps it until the host waits, and a program that ends before never shows it.
#pragma once

#include <atomic>
#include <string>

namespace simt::device {

// A kernel that runs has printed.
inline std::atomic<bool> kernel_printed = false;
// `kernel` has been launched, and has ended; whether it has printed is in `kernel_printed`.
void note_text_of(const std::string& kernel);
// The host has waited.
void text_is_shown();
// Warns of text that nobody has waited for.
void report_unshown_text();

}  // namespace simt::device
