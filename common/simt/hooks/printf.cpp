// Printing from kernels. These take the place of the C library's functions, because the lanes of a warp come to a printf()
// together: each prints its line before any goes on to the next.
#include <printf.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "memory/host_texts.h"
#include "report/kernel_text.h"

namespace simt::engine {

namespace {

// The first of the arguments for a %s that leads to memory of the host's; 0 if none does.
uint64_t find_host_text(const char* format, va_list arguments) {
  if (!std::strchr(format, 's')) return 0;
  std::array<int, 32> types;  // CUDA takes no more
  const size_t known =
      std::min(parse_printf_format(format, types.size(), types.data()), types.size());
  for (size_t i = 0; i < known; ++i) {
    if (types[i] & PA_FLAG_PTR) {
      (void)va_arg(arguments, void*);
      continue;
    }
    switch (types[i] & ~PA_FLAG_MASK) {
      case PA_STRING: {
        const auto* text = va_arg(arguments, const char*);
        const auto address = reinterpret_cast<uint64_t>(text);
        const bool is_own =
            !text || Hooks::is_on_stack(address) || running->monitor.shared.holds(address);
        if (!is_own && host_texts::is_host_text(address)) return address;
        break;
      }
      case PA_POINTER:
        (void)va_arg(arguments, void*);
        break;
      case PA_FLOAT:
      case PA_DOUBLE:
        if (types[i] & PA_FLAG_LONG_DOUBLE) return 0;
        (void)va_arg(arguments, double);
        break;
      default:
        if (types[i] & (PA_FLAG_LONG | PA_FLAG_LONG_LONG)) {
          (void)va_arg(arguments, long);
        } else {
          (void)va_arg(arguments, int);
        }
    }
  }
  return 0;
}

}  // namespace

// In a kernel, what CUDA's printf returns: how many arguments there are.
int Hooks::print(const char* format, va_list arguments, const void* pc) {
  Worker* worker = running;
  if (!worker) return std::vfprintf(stdout, format, arguments);
  if (worker->traced_ && !worker->is_loop_) pause(*worker, pc);
  device::kernel_printed.store(true, std::memory_order_relaxed);
  va_list copy;
  va_copy(copy, arguments);
  const uint64_t host_text = find_host_text(format, copy);
  va_end(copy);
  if (host_text) trap("%s of printf()", pc, Fault::Kind::crash, host_text);
  // A %s may lead to where nothing is: the line that prints is at fault, and stdout has to be free.
  char* text = nullptr;
  worker->printing_pc_ = pc;
  const int length = vasprintf(&text, format, arguments);
  worker->printing_pc_ = nullptr;
  if (length < 0) return length;
  std::fwrite(text, 1, static_cast<size_t>(length), stdout);
  std::free(text);
  return static_cast<int>(parse_printf_format(format, 0, nullptr));
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
