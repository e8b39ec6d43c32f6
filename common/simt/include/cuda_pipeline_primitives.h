/// \file
/// Asynchronous copies from global to shared memory, thread by thread.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// Begins to copy `size` bytes (4, 8 or 16, to which both addresses are aligned), of which the last
/// `zeros` are filled with zero instead. They are there after a wait for their group.
SIMT_INLINE void __pipeline_memcpy_async(void* to, const void* from, std::size_t size,
                                         std::size_t zeros = 0) {
  assert((size == 4 || size == 8 || size == 16) && zeros <= size);
  simt::detail::copy_async(to, from, static_cast<unsigned>(size), static_cast<unsigned>(zeros));
}
/// What was begun since the last commit is a group of its own.
SIMT_INLINE void __pipeline_commit() { simt::detail::commit_copies(); }
/// Waits for all groups of this thread but the last `kept`.
SIMT_INLINE void __pipeline_wait_prior(std::size_t kept) {
  simt::detail::wait_copies(static_cast<unsigned>(kept));
}
