/// \file
/// Cooperative groups: the block, tiles of a warp and the lanes that happen to run together, as objects.
///
/// Every operation is one of the warp's or block's own (`__shfl_sync`, `__syncthreads`, ...) with the
/// group's mask.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

namespace cooperative_groups {

class thread_block;
class coalesced_group;
class grid_group;
class cluster_group;
template <unsigned int Size, class Parent = void>
class thread_block_tile;

namespace details {

SIMT_INLINE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
SIMT_INLINE unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SIMT_INLINE unsigned long long blocks() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
SIMT_INLINE unsigned long long block_in_grid() {
  return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
         blockIdx.x;
}
SIMT_INLINE unsigned long long grid_size() { return blocks() * block_size(); }
SIMT_INLINE unsigned long long grid_rank() { return block_in_grid() * block_size() + block_rank(); }
SIMT_INLINE unsigned lane() { return block_rank() % 32; }
SIMT_INLINE unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

/// `size` neighbouring lanes, a power of two up to 32, of which `lane` is one.
SIMT_INLINE unsigned tile_mask(unsigned size, unsigned lane) {
  return (size == 32 ? 0xffffffffu : (1u << size) - 1) << (lane & ~(size - 1));
}

/// The lanes of the caller's warp that the block has: all but in the last warp of an odd block.
SIMT_INLINE unsigned warp_mask() {
  const unsigned rest = block_size() - block_rank() / 32 * 32;
  return rest >= 32 ? 0xffffffffu : (1u << rest) - 1;
}

/// The lane of the n-th set bit of `mask`, from 0; 32 if there are fewer.
[[gnu::noinline]] SIMT_UNTRACED inline unsigned lane_of_rank(unsigned mask, unsigned n) {
  for (; mask; mask &= mask - 1) {
    if (n-- == 0) return static_cast<unsigned>(__builtin_ctz(mask));
  }
  return 32;
}

/// The bits of `bits` at the set places of `mask`, moved together.
[[gnu::noinline]] SIMT_UNTRACED inline unsigned packed(unsigned bits, unsigned mask) {
  unsigned result = 0;
  for (unsigned rank = 0; mask; mask &= mask - 1, ++rank) {
    if (bits & mask & -mask) result |= 1u << rank;
  }
  return result;
}

/// `shuffle` of 64 bits, applied to a value of any size.
template <class T, class Shuffle>
SIMT_INLINE T shuffled(const T& value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                "simt: a group shuffles plain data of up to 32 bytes");
  constexpr unsigned kWords = (sizeof(T) + 7) / 8;
  unsigned long long words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  std::remove_const_t<T> result;
  __builtin_memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

}  // namespace details

/// Any group, its kind known at run time only.
class thread_group {
 public:
  /// Threads of the group.
  SIMT_INLINE unsigned long long size() const {
    if (mask_) return static_cast<unsigned>(__popc(mask_));
    return is_grid_ ? details::grid_size() : details::block_size();
  }
  /// As size().
  SIMT_INLINE unsigned long long num_threads() const { return size(); }
  /// The caller's number in the group, from 0.
  SIMT_INLINE unsigned long long thread_rank() const {
    if (mask_) return static_cast<unsigned>(__popc(mask_ & details::lanes_below(details::lane())));
    return is_grid_ ? details::grid_rank() : details::block_rank();
  }
  /// The barrier of the group: all of its threads have to call.
  SIMT_INLINE void sync() const {
    if (mask_) {
      __syncwarp(mask_);
    } else if (is_grid_) {
      simt::detail::grid_barrier();
    } else {
      __syncthreads();
    }
  }
  SIMT_INLINE bool is_valid() const { return !is_grid_ || simt::detail::grid_is_cooperative(); }

 protected:
  SIMT_INLINE explicit thread_group(unsigned mask, bool is_grid = false)
      : mask_(mask), is_grid_(is_grid) {}

  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
  unsigned mask_;  // its lanes; none stands for the whole block, or the whole grid
  bool is_grid_;
};

/// The block.
class thread_block : public thread_group {
 public:
  SIMT_INLINE static void sync() { __syncthreads(); }
  SIMT_INLINE static unsigned int size() { return details::block_size(); }
  SIMT_INLINE static unsigned int num_threads() { return details::block_size(); }
  SIMT_INLINE static unsigned int thread_rank() { return details::block_rank(); }
  /// `blockIdx`.
  SIMT_INLINE static dim3 group_index() { return dim3(blockIdx); }
  /// `threadIdx`.
  SIMT_INLINE static dim3 thread_index() { return dim3(threadIdx); }
  /// `blockDim`.
  SIMT_INLINE static dim3 group_dim() { return blockDim; }
  /// As group_dim().
  SIMT_INLINE static dim3 dim_threads() { return blockDim; }
  /// The barrier in two halves, of which the second waits.
  struct arrival_token {};
  SIMT_INLINE static arrival_token barrier_arrive() { return {}; }
  SIMT_INLINE static void barrier_wait(arrival_token&&) { __syncthreads(); }

 private:
  SIMT_INLINE thread_block() : thread_group(0) {}
  friend thread_block this_thread_block();
};

/// The caller's block.
SIMT_INLINE thread_block this_thread_block() { return thread_block(); }

/// All blocks of a cooperative launch.
class grid_group : public thread_group {
 public:
  /// False in a launch that is not cooperative, where sync() is an error.
  SIMT_INLINE bool is_valid() const { return simt::detail::grid_is_cooperative(); }
  /// The barrier of the grid: all of its threads have to call.
  SIMT_INLINE void sync() const { simt::detail::grid_barrier(); }
  struct arrival_token {};
  SIMT_INLINE arrival_token barrier_arrive() const { return {}; }
  SIMT_INLINE void barrier_wait(arrival_token&&) const { sync(); }

  SIMT_INLINE static unsigned long long size() { return details::grid_size(); }
  SIMT_INLINE static unsigned long long num_threads() { return details::grid_size(); }
  SIMT_INLINE static unsigned long long thread_rank() { return details::grid_rank(); }
  SIMT_INLINE static unsigned long long num_blocks() { return details::blocks(); }
  SIMT_INLINE static unsigned long long block_rank() { return details::block_in_grid(); }
  SIMT_INLINE static dim3 block_index() { return dim3(blockIdx); }
  SIMT_INLINE static dim3 dim_blocks() { return gridDim; }
  SIMT_INLINE static dim3 group_dim() { return gridDim; }
  SIMT_INLINE static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  SIMT_INLINE static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }

 private:
  SIMT_INLINE grid_group() : thread_group(0, true) {}
  friend grid_group this_grid();
};

SIMT_INLINE grid_group this_grid() { return grid_group(); }

/// The blocks of a cluster, which can access each other's shared memory. Without one a block is alone.
class cluster_group {
 public:
  /// The barrier of the cluster: all of its threads that have not exited have to call.
  SIMT_INLINE static void sync() {
    simt::detail::cluster_arrive();
    simt::detail::cluster_wait();
  }
  struct arrival_token {};
  SIMT_INLINE static arrival_token barrier_arrive() {
    simt::detail::cluster_arrive();
    return {};
  }
  SIMT_INLINE static void barrier_wait() { simt::detail::cluster_wait(); }
  SIMT_INLINE static void barrier_wait(arrival_token&&) { simt::detail::cluster_wait(); }

  /// The same place in the shared memory of the block of this rank.
  template <class T>
  SIMT_INLINE static T* map_shared_rank(T* address, int rank) {
    return (T*)simt::detail::map_shared(address, static_cast<unsigned>(rank));
  }
  SIMT_INLINE static dim3 dim_blocks() { return simt::detail::cluster_extent(); }
  SIMT_INLINE static unsigned int num_blocks() {
    const dim3 blocks = dim_blocks();
    return blocks.x * blocks.y * blocks.z;
  }
  SIMT_INLINE static unsigned int block_rank() { return simt::detail::cluster_rank(); }
  SIMT_INLINE static unsigned int num_threads() { return num_blocks() * details::block_size(); }
  SIMT_INLINE static unsigned int size() { return num_threads(); }
  SIMT_INLINE static unsigned int thread_rank() {
    return block_rank() * details::block_size() + details::block_rank();
  }
};

SIMT_INLINE cluster_group this_cluster() { return cluster_group(); }

/// Any lanes of a warp, ranked in the order of their lane numbers: those that coalesced_threads() met,
/// or a part of another group.
class coalesced_group : public thread_group {
 public:
  SIMT_INLINE unsigned int size() const { return static_cast<unsigned>(__popc(mask_)); }
  SIMT_INLINE unsigned int num_threads() const { return size(); }
  SIMT_INLINE unsigned int thread_rank() const { return rank_of(details::lane()); }
  SIMT_INLINE void sync() const { __syncwarp(mask_); }
  /// Which part of the partitioned group this is, and of how many: 0 of 1 if it was not partitioned.
  SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
  SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

  /// The value of the thread of rank `source`; of ranks beyond the group, modulo its size.
  template <class T>
  SIMT_INLINE T shfl(const T& value, unsigned int source) const {
    return from_lane(value, details::lane_of_rank(mask_, source % size()));
  }
  /// The value of the thread `delta` ranks below; the caller's own if there is none.
  template <class T>
  SIMT_INLINE T shfl_up(const T& value, unsigned int delta) const {
    const unsigned rank = thread_rank();
    return from_lane(value, details::lane_of_rank(mask_, rank >= delta ? rank - delta : rank));
  }
  /// The value of the thread `delta` ranks above; the caller's own if there is none.
  template <class T>
  SIMT_INLINE T shfl_down(const T& value, unsigned int delta) const {
    const unsigned rank = thread_rank();
    const bool inside = delta < size() - rank;
    return from_lane(value, details::lane_of_rank(mask_, inside ? rank + delta : rank));
  }

  SIMT_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  /// Bit r is the predicate of the thread of rank r.
  SIMT_INLINE unsigned int ballot(int predicate) const {
    return details::packed(__ballot_sync(mask_, predicate), mask_);
  }
  /// The ranks whose value equals the caller's.
  template <class T>
  SIMT_INLINE unsigned int match_any(T value) const {
    return details::packed(__match_any_sync(mask_, value), mask_);
  }
  /// All ranks if all values are equal, otherwise none; `predicate` says which.
  template <class T>
  SIMT_INLINE unsigned int match_all(T value, int& predicate) const {
    return details::packed(__match_all_sync(mask_, value, &predicate), mask_);
  }

 private:
  SIMT_INLINE explicit coalesced_group(unsigned mask, unsigned meta_rank = 0,
                                       unsigned meta_size = 1)
      : thread_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  SIMT_INLINE unsigned rank_of(unsigned lane) const {
    return static_cast<unsigned>(__popc(mask_ & details::lanes_below(lane)));
  }
  template <class T>
  SIMT_INLINE T from_lane(const T& value, unsigned lane) const {
    return details::shuffled(value, [=, this_mask = mask_](unsigned long long bits) {
      return __shfl_sync(this_mask, bits, static_cast<int>(lane));
    });
  }

  friend coalesced_group coalesced_threads();
  friend coalesced_group tiled_partition(const coalesced_group& parent, unsigned size);
  template <class Label>
  friend coalesced_group labeled_partition(const coalesced_group& parent, Label label);
  template <unsigned int Size, class Parent, class Label>
  friend coalesced_group labeled_partition(const thread_block_tile<Size, Parent>& parent,
                                           Label label);
  template <unsigned int Size, class Parent>
  friend class thread_block_tile;

  unsigned meta_rank_, meta_size_;
};

/// The lanes of the caller's warp that run together just now.
SIMT_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// `Size` neighbouring threads of a warp.
template <unsigned int Size, class Parent>
class thread_block_tile : public thread_group {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "simt: the size of a tile is a power of two, of a warp at most: tiles of several "
                "warps are not simulated");

 public:
  /// A tile forgets what it was made of.
  template <class Other, class = std::enable_if_t<!std::is_same_v<Other, Parent>>>
  SIMT_INLINE thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_group(other.lanes()),
        meta_rank_(other.meta_group_rank()),
        meta_size_(other.meta_group_size()) {}
  /// The lanes as a group whose size is known at run time only.
  SIMT_INLINE operator coalesced_group() const {
    return coalesced_group(mask_ & details::warp_mask(), meta_rank_, meta_size_);
  }

  SIMT_INLINE static constexpr unsigned int size() { return Size; }
  SIMT_INLINE static constexpr unsigned int num_threads() { return Size; }
  SIMT_INLINE static unsigned int thread_rank() { return details::lane() % Size; }
  SIMT_INLINE void sync() const { __syncwarp(mask_); }
  /// Which part of the partitioned group this tile is.
  SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
  /// Into how many tiles that group was partitioned.
  SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

  /// The value of the thread of rank `source` modulo Size.
  template <class T>
  SIMT_INLINE T shfl(const T& value, int source) const {
    return details::shuffled(value, [source, mask = mask_](unsigned long long bits) {
      return __shfl_sync(mask, bits, source, Size);
    });
  }
  /// The value of the thread `delta` ranks below; the caller's own if there is none.
  template <class T>
  SIMT_INLINE T shfl_up(const T& value, unsigned int delta) const {
    return details::shuffled(value, [delta, mask = mask_](unsigned long long bits) {
      return __shfl_up_sync(mask, bits, delta, Size);
    });
  }
  /// The value of the thread `delta` ranks above; the caller's own if there is none.
  template <class T>
  SIMT_INLINE T shfl_down(const T& value, unsigned int delta) const {
    return details::shuffled(value, [delta, mask = mask_](unsigned long long bits) {
      return __shfl_down_sync(mask, bits, delta, Size);
    });
  }
  /// The value of the thread whose rank is the caller's with the bits of `lane_mask` flipped.
  template <class T>
  SIMT_INLINE T shfl_xor(const T& value, unsigned int lane_mask) const {
    return details::shuffled(value, [lane_mask, mask = mask_](unsigned long long bits) {
      return __shfl_xor_sync(mask, bits, static_cast<int>(lane_mask), Size);
    });
  }

  SIMT_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  /// Bit r is the predicate of the thread of rank r.
  SIMT_INLINE unsigned int ballot(int predicate) const {
    return __ballot_sync(mask_, predicate) >> first_lane();
  }
  /// The ranks whose value equals the caller's.
  template <class T>
  SIMT_INLINE unsigned int match_any(T value) const {
    return __match_any_sync(mask_, value) >> first_lane();
  }
  /// All ranks if all values are equal, otherwise none; `predicate` says which.
  template <class T>
  SIMT_INLINE unsigned int match_all(T value, int& predicate) const {
    return __match_all_sync(mask_, value, &predicate) >> first_lane();
  }

 private:
  SIMT_INLINE thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : thread_group(details::tile_mask(Size, details::lane())),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}
  SIMT_INLINE static unsigned first_lane() { return details::lane() & ~(Size - 1); }
  SIMT_INLINE unsigned lanes() const { return mask_; }

  template <unsigned int S, class P>
  friend class thread_block_tile;
  template <unsigned int S, class P>
  friend thread_block_tile<S, P> tiled_partition(const P& parent);
  friend thread_block_tile<1> this_thread();
  template <unsigned int S, class P, class Label>
  friend coalesced_group labeled_partition(const thread_block_tile<S, P>& parent, Label label);

  unsigned meta_rank_, meta_size_;
};

}  // namespace cooperative_groups

#include <simt/group_functions.h>
