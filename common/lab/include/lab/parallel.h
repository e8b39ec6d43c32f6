/// \file
/// The host's threads, for references and comparisons of arrays that would keep the GPU waiting.
#pragma once

#include <cstddef>
#include <functional>

namespace lab {

/// Elements that are worth a thread.
inline constexpr std::size_t parallel_grain = std::size_t{1} << 18;

/// Calls `work(first, last)` for ranges that together are [0, n), each on a thread of its own.
///
/// There are as many ranges as the host has cores, and fewer where a range would have less than `grain` indices:
/// a small `n` is one call on the caller's thread. The first exception of any range is thrown again when all
/// have ended.
/// \param n indices; for 0, `work(0, 0)` is called
/// \param work is called by several threads at once
/// \param grain the fewest indices that are worth a thread
void in_parallel(std::size_t n,
                 const std::function<void(std::size_t first, std::size_t last)>& work,
                 std::size_t grain = parallel_grain);

}  // namespace lab
