// Printing from kernels. These take the place of the C library's functions, because what a lane prints
// that has run ahead of the others has to wait until they have come as far.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "report/kernel_text.h"

namespace simt::engine {

void Hooks::print_later(char* text) {
  const HostMemory bookkeeping;
  running->warp_->deferred.push_back({running->lane_, loads_ahead() - 1, text});
}

}  // namespace simt::engine

extern "C" {

int vprintf(const char* format, va_list arguments) {
  simt::engine::Hooks::show_effect();
  if (simt::engine::running) simt::device::kernel_printed.store(true, std::memory_order_relaxed);
  if (!simt::engine::Hooks::loads_ahead()) return std::vfprintf(stdout, format, arguments);
  char* text = nullptr;
  const int length = vasprintf(&text, format, arguments);
  if (length >= 0) simt::engine::Hooks::print_later(text);
  return length;
}

int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vprintf(format, arguments);
  va_end(arguments);
  return length;
}

// What the compiler makes of printf where it can or, with _FORTIFY_SOURCE, must.
int puts(const char* text) { return printf("%s\n", text); }
int putchar(int character) {
  return printf("%c", character) < 0 ? EOF : static_cast<unsigned char>(character);
}
int __vprintf_chk(int, const char* format, va_list arguments) { return vprintf(format, arguments); }
int __printf_chk(int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vprintf(format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
