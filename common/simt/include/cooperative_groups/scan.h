/// \file
/// Prefix sums within a group.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

/// The values of ranks 0 to the caller's, its own included, combined.
template <class Group, class T, class Op>
SIMT_INLINE T inclusive_scan(const Group& group, T value, Op op) {
  static_assert(details::within_warp<Group>,
                "inclusive_scan takes a thread_block_tile or a coalesced_group");
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = group.shfl_up(value, step);
    if (rank >= step) value = op(other, value);
  }
  return value;
}
template <class Group, class T>
SIMT_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// The values of the ranks below the caller's combined; rank 0 gets `T{}`.
template <class Group, class T, class Op>
SIMT_INLINE T exclusive_scan(const Group& group, T value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
SIMT_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
