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

int Hooks::print(const char* format, va_list arguments, const void* pc) {
  Worker* worker = running;
  if (!worker) return std::vfprintf(stdout, format, arguments);
  show_effect();
  device::kernel_printed.store(true, std::memory_order_relaxed);
  // A %s may lead to where nothing is: the line that prints is at fault, and stdout has to be free.
  char* text = nullptr;
  worker->printing_pc_ = pc;
  const int length = vasprintf(&text, format, arguments);
  worker->printing_pc_ = nullptr;
  if (length < 0) return length;
  if (loads_ahead()) {
    print_later(text);
  } else {
    std::fwrite(text, 1, static_cast<size_t>(length), stdout);
    std::free(text);
  }
  return length;
}

}  // namespace simt::engine

using simt::engine::Hooks;

namespace {

int print_from(const void* pc, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = Hooks::print(format, arguments, pc);
  va_end(arguments);
  return length;
}

}  // namespace

extern "C" {

int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = Hooks::print(format, arguments, SIMT_PC);
  va_end(arguments);
  return length;
}
int vprintf(const char* format, va_list arguments) {
  return Hooks::print(format, arguments, SIMT_PC);
}

// What the compiler makes of printf where it can or, with _FORTIFY_SOURCE, must.
int puts(const char* text) { return print_from(SIMT_PC, "%s\n", text); }
int putchar(int character) {
  return print_from(SIMT_PC, "%c", character) < 0 ? EOF : static_cast<unsigned char>(character);
}
int __printf_chk(int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = Hooks::print(format, arguments, SIMT_PC);
  va_end(arguments);
  return length;
}
int __vprintf_chk(int, const char* format, va_list arguments) {
  return Hooks::print(format, arguments, SIMT_PC);
}

}  // extern "C"
