/// \file
/// What cooperative groups are split by and used with: partitions, functions of all groups, and the operators of reduce and scan.
#pragma once

#include <cooperative_groups.h>

namespace cooperative_groups {

/// The caller alone.
SIMT_INLINE thread_block_tile<1> this_thread() { return thread_block_tile<1>(0, 1); }

/// Splits a block, or a tile, into tiles of `Size` threads; yields the caller's.
/// \pre `Size` divides the number of threads of the parent.
template <unsigned int Size, class Parent>
SIMT_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(!std::is_same_v<Parent, coalesced_group>,
                "tiled_partition<N>(coalesced_group): use tiled_partition(group, n)");
  return thread_block_tile<Size, Parent>(
      static_cast<unsigned>(parent.thread_rank()) / Size,
      (static_cast<unsigned>(parent.num_threads()) + Size - 1) / Size);
}

/// The same with a size that is known at run time only: a power of two up to 32.
SIMT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned lanes = parent.mask_ ? parent.mask_ : details::warp_mask();
  return thread_group(lanes & details::tile_mask(size, details::lane()));
}

/// Splits a coalesced group into parts of `size` ranks, of which the last may be smaller.
SIMT_INLINE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned part = parent.thread_rank() / size;
  const unsigned begin = details::lane_of_rank(parent.mask_, part * size);
  const unsigned end = details::lane_of_rank(parent.mask_, (part + 1) * size);
  const unsigned below_end = end == 32 ? 0xffffffffu : details::lanes_below(end);
  return coalesced_group(parent.mask_ & below_end & ~details::lanes_below(begin), part,
                         (parent.size() + size - 1) / size);
}

/// Splits a group into those threads that have the same label.
template <class Label>
SIMT_INLINE coalesced_group labeled_partition(const coalesced_group& parent, Label label) {
  const unsigned mask = __match_any_sync(parent.mask_, label);
  const auto leader = static_cast<unsigned>(__builtin_ctz(mask));
  const unsigned leaders = __ballot_sync(parent.mask_, leader == details::lane());
  return coalesced_group(mask,
                         static_cast<unsigned>(__popc(leaders & details::lanes_below(leader))),
                         static_cast<unsigned>(__popc(leaders)));
}
template <unsigned int Size, class Parent, class Label>
SIMT_INLINE coalesced_group labeled_partition(const thread_block_tile<Size, Parent>& parent,
                                              Label label) {
  return labeled_partition(static_cast<coalesced_group>(parent), label);
}

/// Splits a group, a tile or a coalesced group, by a predicate.
template <class Group>
SIMT_INLINE coalesced_group binary_partition(const Group& parent, bool predicate) {
  return labeled_partition(parent, static_cast<int>(predicate));
}

/// Calls `function` in one thread of the group.
template <class Group, class Function, class... Arguments>
SIMT_INLINE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
/// The same, and every thread gets the result.
template <class Group, class Function, class... Arguments>
SIMT_INLINE auto invoke_one_broadcast(const Group& group, Function&& function,
                                      Arguments&&... arguments) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

/// The barrier of a group.
template <class Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
/// The caller's number in a group.
template <class Group>
SIMT_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
/// Threads of a group.
template <class Group>
SIMT_INLINE auto group_size(const Group& group) {
  return group.size();
}

namespace details {

/// Groups within a warp: those that reduce and scan work on.
template <class Group>
inline constexpr bool within_warp = false;
template <unsigned int Size, class Parent>
inline constexpr bool within_warp<thread_block_tile<Size, Parent>> = true;
template <>
inline constexpr bool within_warp<coalesced_group> = true;

}  // namespace details

/// The operators of reduce and scan. `less` and `greater` yield the lesser and the greater value.
template <class T>
struct plus {
  SIMT_INLINE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  SIMT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  SIMT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  SIMT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  SIMT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  SIMT_INLINE T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups
