/// \file
/// memcpy, memmove and memset, whose accesses the compiler's instrumentation does not show. Calls that stand
/// in the source go to the simulator; what the compiler itself makes of a large struct's copy does not,
/// because that one is instrumented. Ahead of all other headers.
#pragma once

#undef _FORTIFY_SOURCE  // which would define the same functions

#include <stddef.h>

extern "C" {
void* simt_memcpy(void* to, const void* from, size_t size) noexcept;
void* simt_memmove(void* to, const void* from, size_t size) noexcept;
void* simt_memset(void* to, int value, size_t size) noexcept;

// A few bytes become plain loads and stores, which are instrumented.
#define SIMT_PLAIN(size) __builtin_constant_p(size) && (size) <= 16

extern inline __attribute__((gnu_inline, always_inline, artificial)) void* memcpy(
    void* __restrict to, const void* __restrict from, size_t size) noexcept {
  if (SIMT_PLAIN(size)) return __builtin_memcpy(to, from, size);
  return simt_memcpy(to, from, size);
}
extern inline __attribute__((gnu_inline, always_inline, artificial)) void* memmove(
    void* to, const void* from, size_t size) noexcept {
  if (SIMT_PLAIN(size)) return __builtin_memmove(to, from, size);
  return simt_memmove(to, from, size);
}
extern inline __attribute__((gnu_inline, always_inline, artificial)) void* memset(
    void* to, int value, size_t size) noexcept {
  if (SIMT_PLAIN(size)) return __builtin_memset(to, value, size);
  return simt_memset(to, value, size);
}
#undef SIMT_PLAIN
}
