/// \file
/// CUB for the simulator: functions of the whole device. All take temporary memory as CUB does, work on the host, and are
/// complete when they return.
#pragma once

#include <simt/cub/common.h>
#include <simt/thrust/reduce.h>
#include <simt/thrust/scan.h>
#include <simt/thrust/select.h>
#include <simt/thrust/sort.h>

#include <cmath>

namespace cub {

struct DeviceReduce {
  template <class I, class O, class N, class Op, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, I in, O out, N n, Op op, T init,
                            cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      *detail::raw(out) =
          thrust::reduce(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), init, op);
    });
  }
  template <class I, class O, class N>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, I in, O out, N n,
                         cudaStream_t = nullptr) {
    using T = detail::ValueOf<I>;
    return Reduce(temporary, bytes, in, out, n, thrust::plus<>(), T{});
  }
  template <class I, class O, class N>
  static cudaError_t Min(void* temporary, std::size_t& bytes, I in, O out, N n,
                         cudaStream_t = nullptr) {
    using T = detail::ValueOf<I>;
    return Reduce(temporary, bytes, in, out, n, thrust::minimum<>(), std::numeric_limits<T>::max());
  }
  template <class I, class O, class N>
  static cudaError_t Max(void* temporary, std::size_t& bytes, I in, O out, N n,
                         cudaStream_t = nullptr) {
    using T = detail::ValueOf<I>;
    return Reduce(temporary, bytes, in, out, n, thrust::maximum<>(),
                  std::numeric_limits<T>::lowest());
  }
};

struct DeviceScan {
  template <class I, class O, class Op, class N>
  static cudaError_t InclusiveScan(void* temporary, std::size_t& bytes, I in, O out, Op op, N n,
                                   cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      thrust::inclusive_scan(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), out, op);
    });
  }
  template <class I, class O, class Op, class T, class N>
  static cudaError_t ExclusiveScan(void* temporary, std::size_t& bytes, I in, O out, Op op, T init,
                                   N n, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      thrust::exclusive_scan(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), out, init,
                             op);
    });
  }
  template <class I, class O, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, I in, O out, N n,
                                  cudaStream_t = nullptr) {
    return InclusiveScan(temporary, bytes, in, out, thrust::plus<>(), n);
  }
  template <class I, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, I data, N n,
                                  cudaStream_t = nullptr) {
    return InclusiveScan(temporary, bytes, data, data, thrust::plus<>(), n);
  }
  template <class I, class O, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, I in, O out, N n,
                                  cudaStream_t = nullptr) {
    return ExclusiveScan(temporary, bytes, in, out, thrust::plus<>(), detail::ValueOf<I>{}, n);
  }
  template <class I, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, I data, N n,
                                  cudaStream_t = nullptr) {
    return ExclusiveSum(temporary, bytes, data, data, n);
  }
};

namespace detail {

/// The bits of a key that a radix sort looks at, as a number in the order of the keys.
template <class K>
struct RadixBits {
  int begin, end;
  std::uint64_t operator()(K key) const {
    constexpr int kBits = 8 * sizeof(K);
    constexpr std::uint64_t kSign = std::uint64_t{1} << (kBits - 1);
    constexpr std::uint64_t kAll = kSign | (kSign - 1);
    std::uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<K>) key = key == K(0) ? K(0) : key;  // -0 is 0
    __builtin_memcpy(&bits, &key, sizeof(K));
    if constexpr (std::is_floating_point_v<K>) {
      bits = bits & kSign ? ~bits & kAll : bits | kSign;
    } else if constexpr (std::is_signed_v<K>) {
      bits ^= kSign;
    }
    const int length = end - begin;
    return bits >> begin & (length >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1);
  }
};

/// Sorts copies of the pairs to where they shall go; `V` may be nullptr_t.
template <class K, class V>
void radix_sort(const K* keys_in, K* keys_out, const V* values_in, V* values_out, std::ptrdiff_t n,
                RadixBits<K> bits, bool descending) {
  const auto keys = thrust::detail::copies(keys_in, n);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  std::vector<std::uint64_t> ranks;
  ranks.reserve(order.size());
  for (const auto& key : keys) ranks.push_back(bits(static_cast<K>(key)));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return descending ? ranks[b] < ranks[a] : ranks[a] < ranks[b];
  });
  for (std::size_t i = 0; i < order.size(); ++i) keys_out[i] = static_cast<K>(keys[order[i]]);
  if constexpr (!std::is_same_v<V, std::nullptr_t>) {
    const auto values = thrust::detail::copies(values_in, n);
    for (std::size_t i = 0; i < order.size(); ++i) values_out[i] = values[order[i]];
  }
}

}  // namespace detail

struct DeviceRadixSort {
#define SIMT_CUB_SORTS(Keys, Pairs, descending)                                                    \
  template <class K, class N>                                                                      \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, const K* in, K* out, N n,           \
                          int begin_bit = 0, int end_bit = 8 * sizeof(K),                          \
                          cudaStream_t = nullptr) {                                                \
    return detail::run(temporary, bytes, [&] {                                                     \
      detail::radix_sort<K, std::nullptr_t>(in, out, nullptr, nullptr, n, {begin_bit, end_bit},    \
                                            descending);                                           \
    });                                                                                            \
  }                                                                                                \
  template <class K, class N>                                                                      \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys, N n,         \
                          int begin_bit = 0, int end_bit = 8 * sizeof(K),                          \
                          cudaStream_t = nullptr) {                                                \
    const bool sorts = temporary != nullptr;                                                       \
    const cudaError_t error = Keys(temporary, bytes, static_cast<const K*>(keys.Current()),        \
                                   keys.Alternate(), n, begin_bit, end_bit);                       \
    if (sorts && error == cudaSuccess) keys.selector ^= 1;                                         \
    return error;                                                                                  \
  }                                                                                                \
  template <class K, class V, class N>                                                             \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, const K* keys_in, K* keys_out,     \
                           const V* values_in, V* values_out, N n, int begin_bit = 0,              \
                           int end_bit = 8 * sizeof(K), cudaStream_t = nullptr) {                  \
    return detail::run(temporary, bytes, [&] {                                                     \
      detail::radix_sort<K, V>(keys_in, keys_out, values_in, values_out, n, {begin_bit, end_bit},  \
                               descending);                                                        \
    });                                                                                            \
  }                                                                                                \
  template <class K, class V, class N>                                                             \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys,             \
                           DoubleBuffer<V>& values, N n, int begin_bit = 0,                        \
                           int end_bit = 8 * sizeof(K), cudaStream_t = nullptr) {                  \
    const bool sorts = temporary != nullptr;                                                       \
    const cudaError_t error =                                                                      \
        Pairs(temporary, bytes, static_cast<const K*>(keys.Current()), keys.Alternate(),           \
              static_cast<const V*>(values.Current()), values.Alternate(), n, begin_bit, end_bit); \
    if (sorts && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;                   \
    return error;                                                                                  \
  }
  SIMT_CUB_SORTS(SortKeys, SortPairs, false)
  SIMT_CUB_SORTS(SortKeysDescending, SortPairsDescending, true)
#undef SIMT_CUB_SORTS
};

struct DeviceSelect {
  template <class I, class Flags, class O, class Count, class N>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, I in, Flags flags, O out,
                             Count count, N n, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      const O end = thrust::copy_if(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), flags,
                                    out, [](const auto& flag) { return static_cast<bool>(flag); });
      *detail::raw(count) = static_cast<detail::ValueOf<Count>>(end - out);
    });
  }
  template <class I, class O, class Count, class N, class Test>
  static cudaError_t If(void* temporary, std::size_t& bytes, I in, O out, Count count, N n,
                        Test test, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      const O end =
          thrust::copy_if(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), out, test);
      *detail::raw(count) = static_cast<detail::ValueOf<Count>>(end - out);
    });
  }
  template <class I, class O, class Count, class N>
  static cudaError_t Unique(void* temporary, std::size_t& bytes, I in, O out, Count count, N n,
                            cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      const O end =
          thrust::unique_copy(thrust::device, in, in + static_cast<std::ptrdiff_t>(n), out);
      *detail::raw(count) = static_cast<detail::ValueOf<Count>>(end - out);
    });
  }
};

}  // namespace cub
