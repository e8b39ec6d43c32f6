/// \file
/// CUB for the simulator: what the threads of a warp or of a block do together, in kernels. Sums go through shuffles and one word of
/// shared memory a warp, as CUB's own; its other accesses need not be CUB's, nor do their counts.
#pragma once

#include <simt/cub/common.h>
#include <simt/ptx/registers.h>

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

namespace detail {

SIMT_INLINE int thread_of_block() { return static_cast<int>(simt::ptx::thread()); }

/// A shuffle of any type, in pieces of 8 bytes.
template <bool down, class T>
SIMT_INLINE T shuffle(unsigned mask, const T& value, int by, int width) {
  constexpr int kPieces = (sizeof(T) + 7) / 8;
  std::uint64_t pieces[kPieces] = {};
  __builtin_memcpy(pieces, &value, sizeof(T));
  // A shuffle's own width is a power of two, and that of CUB's warps need not be.
  const int lane = thread_of_block() % 32, place = lane % width,
            other = down ? place + by : place - by;
  const int source = other >= 0 && other < width ? lane - place + other : lane;
  for (int i = 0; i < kPieces; ++i) pieces[i] = __shfl_sync(mask, pieces[i], source);
  T result = value;
  __builtin_memcpy(static_cast<void*>(&result), pieces, sizeof(T));
  return result;
}

/// op over the first `valid` of `width` neighbouring lanes; the first of them has the result.
template <class T, class Op>
SIMT_INLINE T reduce_lanes(unsigned mask, T value, Op op, int lane, int width, int valid) {
  for (int by = 1; by < width; by *= 2) {
    const T other = shuffle<true>(mask, value, by, width);
    if (lane + by < valid) value = op(value, other);
  }
  return value;
}
/// op over the lanes up to this one.
template <class T, class Op>
SIMT_INLINE T scan_lanes(unsigned mask, T value, Op op, int lane, int width) {
  for (int by = 1; by < width; by *= 2) {
    const T other = shuffle<false>(mask, value, by, width);
    if (lane >= by) value = op(other, value);
  }
  return value;
}

/// Room in shared memory for n values, without a constructor.
template <class T, int n>
struct Room {
  alignas(T) unsigned char bytes[n * sizeof(T)];
  SIMT_INLINE T* data() { return reinterpret_cast<T*>(bytes); }
};

}  // namespace detail

template <class T, int kWidth = 32, class... Ignored>
class WarpReduce {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpReduce(TempStorage&) {}

  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op, int valid = kWidth) {
    const int lane = detail::thread_of_block() % 32;
    return detail::reduce_lanes(__activemask(), value, op, lane % kWidth, kWidth, valid);
  }
  SIMT_INLINE T Sum(T value, int valid = kWidth) { return Reduce(value, thrust::plus<T>(), valid); }
  SIMT_INLINE T Max(T value, int valid = kWidth) {
    return Reduce(value, thrust::maximum<T>(), valid);
  }
  SIMT_INLINE T Min(T value, int valid = kWidth) {
    return Reduce(value, thrust::minimum<T>(), valid);
  }
};

template <class T, int kWidth = 32, class... Ignored>
class WarpScan {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpScan(TempStorage&) {}

  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op) {
    out = detail::scan_lanes(__activemask(), in, op, lane(), kWidth);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T init, Op op) {
    const T sum = detail::scan_lanes(__activemask(), in, op, lane(), kWidth);
    const T before = detail::shuffle<false>(__activemask(), sum, 1, kWidth);
    out = lane() == 0 ? init : op(init, before);
  }
  SIMT_INLINE void InclusiveSum(T in, T& out) { InclusiveScan(in, out, thrust::plus<T>()); }
  SIMT_INLINE void InclusiveSum(T in, T& out, T& aggregate) {
    InclusiveSum(in, out);
    const int in_warp = detail::thread_of_block() % 32;
    aggregate = __shfl_sync(__activemask(), out, in_warp - lane() + kWidth - 1);
  }
  SIMT_INLINE void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T{}, thrust::plus<T>()); }
  SIMT_INLINE void ExclusiveSum(T in, T& out, T& aggregate) {
    T sum;
    InclusiveSum(in, sum, aggregate);
    out = sum - in;
  }

 private:
  SIMT_INLINE static int lane() { return detail::thread_of_block() % 32 % kWidth; }
};

/// Of the threads of a block of X x Y x Z; the first of them has the result.
template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1,
          class... Ignored>
class BlockReduce {
  static constexpr int kThreads = X * Y * Z;
  static constexpr int kWarps = (kThreads + 31) / 32;

 public:
  using TempStorage = detail::Room<T, kWarps>;
  SIMT_INLINE explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op, int valid) {
    const int thread = detail::thread_of_block(), warp = thread / 32, lane = thread % 32;
    const int lanes = std::min(32, kThreads - warp * 32);
    const unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    value = detail::reduce_lanes(mask, value, op, lane, 32, std::min(lanes, valid - warp * 32));
    T* const sums = storage_.data();
    if (lane == 0) sums[warp] = value;
    __syncthreads();
    if (thread == 0) {
      for (int w = 1; w < kWarps; ++w) {
        if (w * 32 < valid) value = op(value, sums[w]);
      }
    }
    return value;
  }
  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op) {
    return Reduce(value, op, kThreads);
  }
  template <int n, class Op>
  SIMT_INLINE T Reduce(T (&values)[n], Op op) {
    T value = values[0];
    for (int i = 1; i < n; ++i) value = op(value, values[i]);
    return Reduce(value, op, kThreads);
  }
  SIMT_INLINE T Sum(T value) { return Reduce(value, thrust::plus<T>(), kThreads); }
  SIMT_INLINE T Sum(T value, int valid) { return Reduce(value, thrust::plus<T>(), valid); }
  template <int n>
  SIMT_INLINE T Sum(T (&values)[n]) {
    return Reduce(values, thrust::plus<T>());
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          class... Ignored>
class BlockScan {
  static constexpr int kThreads = X * Y * Z;
  static constexpr int kWarps = (kThreads + 31) / 32;

 public:
  using TempStorage = detail::Room<T, kWarps>;
  SIMT_INLINE explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op, T& aggregate) {
    const Parts parts = scan(in, op, aggregate);
    out = parts.has_before ? op(parts.before, in) : in;
  }
  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op) {
    T aggregate;
    InclusiveScan(in, out, op, aggregate);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T init, Op op, T& aggregate) {
    const Parts parts = scan(in, op, aggregate);
    out = parts.has_before ? op(init, parts.before) : init;
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T init, Op op) {
    T aggregate;
    ExclusiveScan(in, out, init, op, aggregate);
  }
  SIMT_INLINE void InclusiveSum(T in, T& out) { InclusiveScan(in, out, thrust::plus<T>()); }
  SIMT_INLINE void InclusiveSum(T in, T& out, T& aggregate) {
    InclusiveScan(in, out, thrust::plus<T>(), aggregate);
  }
  SIMT_INLINE void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T{}, thrust::plus<T>()); }
  SIMT_INLINE void ExclusiveSum(T in, T& out, T& aggregate) {
    ExclusiveScan(in, out, T{}, thrust::plus<T>(), aggregate);
  }
  // Of n neighbouring values a thread.
  template <int n>
  SIMT_INLINE void InclusiveSum(T (&in)[n], T (&out)[n], T& aggregate) {
    T sum = before_thread(in, aggregate);
    for (int i = 0; i < n; ++i) out[i] = sum = sum + in[i];
  }
  template <int n>
  SIMT_INLINE void ExclusiveSum(T (&in)[n], T (&out)[n], T& aggregate) {
    T sum = before_thread(in, aggregate);
    for (int i = 0; i < n; ++i) {
      const T value = in[i];
      out[i] = sum;
      sum = sum + value;
    }
  }
  template <int n>
  SIMT_INLINE void InclusiveSum(T (&in)[n], T (&out)[n]) {
    T aggregate;
    InclusiveSum(in, out, aggregate);
  }
  template <int n>
  SIMT_INLINE void ExclusiveSum(T (&in)[n], T (&out)[n]) {
    T aggregate;
    ExclusiveSum(in, out, aggregate);
  }

 private:
  struct Parts {
    T before;  // op over the threads before this one
    bool has_before;
  };
  template <class Op>
  SIMT_INLINE Parts scan(T value, Op op, T& aggregate) {
    const int thread = detail::thread_of_block(), warp = thread / 32, lane = thread % 32;
    const int lanes = std::min(32, kThreads - warp * 32);
    const unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    const T sum = detail::scan_lanes(mask, value, op, lane, 32);
    Parts parts{detail::shuffle<false>(mask, sum, 1, 32), thread > 0};
    T* const sums = storage_.data();
    if (lane == lanes - 1) sums[warp] = sum;
    __syncthreads();
    T total = sums[0];
    T before = total;  // of the warps before this one
    for (int w = 1; w < kWarps; ++w) {
      if (w == warp) before = total;
      total = op(total, sums[w]);
    }
    if (warp > 0) parts.before = lane == 0 ? before : op(before, parts.before);
    aggregate = total;
    return parts;
  }
  template <int n>
  SIMT_INLINE T before_thread(T (&in)[n], T& aggregate) {
    T sum = in[0], before;
    for (int i = 1; i < n; ++i) sum = sum + in[i];
    ExclusiveSum(sum, before, aggregate);
    return before;
  }

  TempStorage& storage_;
};

/// Loads n values a thread, neighbouring ones in the end, whatever way they come.
template <class T, int X, int n, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1, class... Ignored>
class BlockLoad {
  static constexpr int kThreads = X * Y * Z;
  static constexpr bool kExchanges = algorithm >= BLOCK_LOAD_TRANSPOSE;

 public:
  using TempStorage = detail::Room<T, kExchanges ? kThreads * n : 1>;
  SIMT_INLINE explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

  template <class I>
  SIMT_INLINE void Load(I from, T (&values)[n]) {
    Load(from, values, kThreads * n);
  }
  /// The first `valid` of the block's; the others stay as they are.
  template <class I>
  SIMT_INLINE void Load(I from, T (&values)[n], int valid) {
    const int thread = detail::thread_of_block();
    for (int i = 0; i < n; ++i) {
      const bool striped = kExchanges || algorithm == BLOCK_LOAD_STRIPED;
      const int at = striped ? i * kThreads + thread : thread * n + i;
      if (at >= valid) continue;
      if constexpr (kExchanges) {
        storage_.data()[at] = from[at];
      } else {
        values[i] = from[at];
      }
    }
    if constexpr (kExchanges) {
      __syncthreads();
      for (int i = 0; i < n; ++i) {
        if (thread * n + i < valid) values[i] = storage_.data()[thread * n + i];
      }
    }
  }
  template <class I, class U>
  SIMT_INLINE void Load(I from, T (&values)[n], int valid, U other) {
    for (int i = 0; i < n; ++i) values[i] = static_cast<T>(other);
    Load(from, values, valid);
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, int n, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1, class... Ignored>
class BlockStore {
  static constexpr int kThreads = X * Y * Z;
  static constexpr bool kExchanges = algorithm >= BLOCK_STORE_TRANSPOSE;

 public:
  using TempStorage = detail::Room<T, kExchanges ? kThreads * n : 1>;
  SIMT_INLINE explicit BlockStore(TempStorage& storage) : storage_(storage) {}

  template <class O>
  SIMT_INLINE void Store(O to, T (&values)[n]) {
    Store(to, values, kThreads * n);
  }
  template <class O>
  SIMT_INLINE void Store(O to, T (&values)[n], int valid) {
    const int thread = detail::thread_of_block();
    if constexpr (kExchanges) {
      for (int i = 0; i < n; ++i) storage_.data()[thread * n + i] = values[i];
      __syncthreads();
    }
    for (int i = 0; i < n; ++i) {
      const bool striped = kExchanges || algorithm == BLOCK_STORE_STRIPED;
      const int at = striped ? i * kThreads + thread : thread * n + i;
      if (at >= valid) continue;
      if constexpr (kExchanges) {
        to[at] = storage_.data()[at];
      } else {
        to[at] = values[i];
      }
    }
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
