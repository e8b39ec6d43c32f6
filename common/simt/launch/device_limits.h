// The limits of the simulated device, those of compute capability 9.0.
#pragma once

#include <cstddef>

namespace simt::device {

inline constexpr int kMultiprocessors = 8;
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr size_t kSharedPerBlock = 48 * 1024;
inline constexpr size_t kSharedPerBlockOptin = 227 * 1024;
inline constexpr size_t kSharedPerMultiprocessor = 228 * 1024;
inline constexpr size_t kSharedReserved = 1024;  // what the system keeps for itself in every block

// Blocks of so many threads that a multiprocessor holds at once; 0 if it cannot hold one.
int resident_blocks(int block_size, size_t shared);

// Dynamic shared memory is what 48 KiB leave beside the kernel's `fixed` bytes of __shared__ variables, unless the
// program asks for more.
void allow_dynamic_shared(const void* kernel, size_t bytes);
size_t allowed_dynamic_shared(const void* kernel, size_t fixed);

}  // namespace simt::device
