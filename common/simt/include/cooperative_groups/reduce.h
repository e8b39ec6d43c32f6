/// \file
/// Reductions within a group.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

/// All values of a group (a tile or a coalesced group) combined; every thread gets the result.
/// \param op associative and commutative: plus, less, greater, bit_and, bit_or, bit_xor or one's own.
template <class Group, class T, class Op>
SIMT_INLINE T reduce(const Group& group, T value, Op op) {
  // Each step doubles what a thread has combined, as far as the group goes; rank 0 ends with all.
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = group.shfl_down(value, step);
    if (rank + step < size) value = op(value, other);
  }
  return group.shfl(value, 0);
}

/// The result goes to `*to`, in one thread.
template <class Group, class T, class Op>
SIMT_INLINE void reduce_store_async(const Group& group, T* to, T value, Op op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) *to = result;
}

}  // namespace cooperative_groups
