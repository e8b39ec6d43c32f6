/// \file
/// Where a function for both sides asks which of them runs it: what simtcc makes of `#ifdef __CUDA_ARCH__` in its body.
#pragma once

namespace simt::detail {

/// Is a kernel at work, or a library of CUDA that computes on the device?
__attribute__((pure)) bool is_on_device() noexcept;

/// The same; what the compiler works out itself has the host's branch.
[[gnu::always_inline]] constexpr bool on_device() noexcept {
  return !__builtin_is_constant_evaluated() && is_on_device();
}

}  // namespace simt::detail
