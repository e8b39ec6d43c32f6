// The limits of the simulated device, those of compute capability 9.0.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace simt::device {

inline constexpr int kMultiprocessors = 8;  // by which programs size grids: those stay small
// An H200 has so many. Who has not asked how many blocks are resident has a number of his own, which may be right there.
inline constexpr int kMostMultiprocessors = 132;
inline std::atomic<bool> was_asked_for_residents{false};
// Then a grid may be small here that would be large on a GPU.
inline std::atomic<bool> was_asked_for_multiprocessors{false};
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr size_t kSharedPerBlock = 48 * 1024;
inline constexpr size_t kSharedPerBlockOptin = 227 * 1024;
inline constexpr size_t kSharedPerMultiprocessor = 228 * 1024;
inline constexpr size_t kSharedReserved = 1024;  // what the system keeps for itself in every block

// Blocks of so many threads that a multiprocessor holds at once; 0 if it cannot hold one.
inline int resident_blocks(int block_size, size_t shared) {
  if (block_size < 1 || block_size > 1024 || shared > kSharedPerBlockOptin) return 0;
  const int whole_warps = (block_size + 31) / 32 * 32;
  const size_t taken = (shared + kSharedReserved + 127) / 128 * 128;
  return std::min({kThreadsPerMultiprocessor / whole_warps, kBlocksPerMultiprocessor,
                   static_cast<int>(kSharedPerMultiprocessor / taken)});
}

}  // namespace simt::device
