/// \file
/// memcpy, memmove and memset: in a kernel their bytes are loads and stores like any other.
///
/// gcc does not announce what these calls access. A copy of 1, 2, 4, 8 or 16 bytes is a load and a store to
/// it, and is announced; all else goes to the library, which does it in equal pieces, as wide as the
/// addresses and the size are aligned (up to 16 bytes), one load and one store each.
///
/// What the standard library copies (`std::vector<float>(begin, end)`) comes as a call that gcc makes of
/// __builtin_memmove(). It goes to a function that looks whether the host follows a pointer to device memory.
///
/// A file that g++ compiles by itself keeps the C library's functions: it holds no kernel, and where the distribution
/// turns _FORTIFY_SOURCE on (Ubuntu does), their checked forms are defined already.
#pragma once

#include <cstddef>
#include <cstring>

#ifdef __SIMTCC__

namespace simt::detail {
void copy_bytes(void* to, const void* from, std::size_t size);
void fill_bytes(void* to, int value, std::size_t size);
}  // namespace simt::detail

extern "C" {
void* memcpy(void* to, const void* from, std::size_t size) noexcept __asm__("simt_memcpy");
void* memmove(void* to, const void* from, std::size_t size) noexcept __asm__("simt_memmove");
}

// In the manner of the C library's own <bits/string_fortified.h>, whose place they take: whoever needs the
// functions' addresses gets those.
#define SIMT_BYTES [[gnu::always_inline, gnu::gnu_inline, gnu::artificial]] inline
#define SIMT_IS_ONE_ACCESS(n) \
  (__builtin_constant_p(n) && ((n) == 1 || (n) == 2 || (n) == 4 || (n) == 8 || (n) == 16))

extern "C" {
SIMT_BYTES void* memcpy(void* to, const void* from, std::size_t size) noexcept {
  if (SIMT_IS_ONE_ACCESS(size)) return __builtin_memcpy(to, from, size);
  simt::detail::copy_bytes(to, from, size);
  return to;
}
SIMT_BYTES void* memmove(void* to, const void* from, std::size_t size) noexcept {
  if (SIMT_IS_ONE_ACCESS(size)) return __builtin_memmove(to, from, size);
  simt::detail::copy_bytes(to, from, size);
  return to;
}
SIMT_BYTES void* memset(void* to, int value, std::size_t size) noexcept {
  if (SIMT_IS_ONE_ACCESS(size)) return __builtin_memset(to, value, size);
  simt::detail::fill_bytes(to, value, size);
  return to;
}
}

#undef SIMT_IS_ONE_ACCESS
#undef SIMT_BYTES

#endif
