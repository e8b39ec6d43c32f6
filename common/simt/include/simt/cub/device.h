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
  template <class I, class O, class N, class Op, class F, class T>
  static cudaError_t TransformReduce(void* temporary, std::size_t& bytes, I in, O out, N n, Op op,
                                     F f, T init, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      *detail::raw(out) = thrust::transform_reduce(
          thrust::device, in, in + static_cast<std::ptrdiff_t>(n), f, init, op);
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
  /// The index and the value of the smallest, as a KeyValuePair, or apart.
  template <class I, class O, class N>
  static cudaError_t ArgMin(void* temporary, std::size_t& bytes, I in, O out, N n,
                            cudaStream_t = nullptr) {
    return arg_pair(temporary, bytes, in, out, n, thrust::less<>());
  }
  template <class I, class O, class Index, class N,
            std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t ArgMin(void* temporary, std::size_t& bytes, I in, O out, Index index, N n,
                            cudaStream_t = nullptr) {
    return arg_apart(temporary, bytes, in, out, index, n, thrust::less<>());
  }
  template <class I, class O, class N>
  static cudaError_t ArgMax(void* temporary, std::size_t& bytes, I in, O out, N n,
                            cudaStream_t = nullptr) {
    return arg_pair(temporary, bytes, in, out, n, thrust::greater<>());
  }
  template <class I, class O, class Index, class N,
            std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t ArgMax(void* temporary, std::size_t& bytes, I in, O out, Index index, N n,
                            cudaStream_t = nullptr) {
    return arg_apart(temporary, bytes, in, out, index, n, thrust::greater<>());
  }
  template <class K, class KO, class V, class VO, class Runs, class Op, class N>
  static cudaError_t ReduceByKey(void* temporary, std::size_t& bytes, K keys, KO keys_out, V values,
                                 VO values_out, Runs runs, Op op, N n, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      const auto end =
          thrust::reduce_by_key(thrust::device, keys, keys + static_cast<std::ptrdiff_t>(n), values,
                                keys_out, values_out, thrust::equal_to<>(), op);
      *detail::raw(runs) = static_cast<detail::ValueOf<Runs>>(end.first - keys_out);
    });
  }

 private:
  // The place of the first that no other is before.
  template <class I, class N, class Before>
  static std::ptrdiff_t place_of(I in, N n, Before before) {
    const auto begin = detail::raw(in);
    return std::min_element(begin, begin + static_cast<std::ptrdiff_t>(n), before) - begin;
  }
  template <class I, class O, class N, class Before>
  static cudaError_t arg_pair(void* temporary, std::size_t& bytes, I in, O out, N n,
                              Before before) {
    return detail::run(temporary, bytes, [&] {
      auto& pair = *detail::raw(out);
      const std::ptrdiff_t place = place_of(in, n, before);
      pair.key = static_cast<std::decay_t<decltype(pair.key)>>(place);
      pair.value = detail::raw(in)[place];
    });
  }
  template <class I, class O, class Index, class N, class Before>
  static cudaError_t arg_apart(void* temporary, std::size_t& bytes, I in, O out, Index index, N n,
                               Before before) {
    return detail::run(temporary, bytes, [&] {
      const std::ptrdiff_t place = place_of(in, n, before);
      *detail::raw(out) = detail::raw(in)[place];
      *detail::raw(index) = static_cast<detail::ValueOf<Index>>(place);
    });
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

struct DeviceMergeSort {
  template <class K, class N, class Less>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, K keys, N n, Less less,
                              cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      thrust::stable_sort(thrust::device, keys, keys + static_cast<std::ptrdiff_t>(n), less);
    });
  }
  template <class K, class N, class Less>
  static cudaError_t StableSortKeys(void* temporary, std::size_t& bytes, K keys, N n, Less less,
                                    cudaStream_t = nullptr) {
    return SortKeys(temporary, bytes, keys, n, less);
  }
  template <class K, class V, class N, class Less>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, K keys, V values, N n,
                               Less less, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      thrust::stable_sort_by_key(thrust::device, keys, keys + static_cast<std::ptrdiff_t>(n),
                                 values, less);
    });
  }
  template <class K, class V, class N, class Less>
  static cudaError_t StableSortPairs(void* temporary, std::size_t& bytes, K keys, V values, N n,
                                     Less less, cudaStream_t = nullptr) {
    return SortPairs(temporary, bytes, keys, values, n, less);
  }
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

struct DeviceRunLengthEncode {
  template <class I, class O, class Lengths, class Count, class N>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, I in, O out, Lengths lengths,
                            Count count, N n, cudaStream_t = nullptr) {
    using Length = detail::ValueOf<Lengths>;
    return DeviceReduce::ReduceByKey(temporary, bytes, in, out,
                                     thrust::constant_iterator<Length>(Length(1)), lengths, count,
                                     thrust::plus<>(), n);
  }
};

struct DeviceHistogram {
  /// `levels` boundaries from `lower` to `upper`, as far apart from each other: a bin less than there are of them.
  template <class I, class C, class Level, class N>
  static cudaError_t HistogramEven(void* temporary, std::size_t& bytes, I samples, C* counts,
                                   int levels, Level lower, Level upper, N n,
                                   cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      const int bins = levels - 1;
      std::fill(counts, counts + bins, C(0));
      auto sample = detail::raw(samples);
      for (N i = 0; i < n; ++i, ++sample) {
        const auto x = *sample;
        if (x < lower || !(x < upper)) continue;
        int bin;
        if constexpr (std::is_integral_v<Level>) {
          bin = static_cast<int>((static_cast<std::int64_t>(x) - lower) * bins / (upper - lower));
        } else {
          bin = static_cast<int>((x - lower) * (static_cast<Level>(bins) / (upper - lower)));
        }
        ++counts[std::min(bin, bins - 1)];
      }
    });
  }
  /// `boundaries` of the bins, in device memory, ascending.
  template <class I, class C, class Level, class N>
  static cudaError_t HistogramRange(void* temporary, std::size_t& bytes, I samples, C* counts,
                                    int levels, const Level* boundaries, N n,
                                    cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      std::fill(counts, counts + levels - 1, C(0));
      auto sample = detail::raw(samples);
      for (N i = 0; i < n; ++i, ++sample) {
        const std::ptrdiff_t above =
            std::upper_bound(boundaries, boundaries + levels, static_cast<Level>(*sample)) -
            boundaries;
        if (above > 0 && above < levels) ++counts[above - 1];
      }
    });
  }
};

namespace detail {

template <class T, class N>
void copy_unless_same(const T* in, T* out, N n) {
  if (in != out) std::copy(in, in + n, out);
}
/// `work(begin, end)` for each segment that has elements.
template <class Begin, class End, class Work>
void for_each_segment(int segments, Begin begins, End ends, Work work) {
  for (int s = 0; s < segments; ++s) {
    const auto begin = static_cast<std::ptrdiff_t>(raw(begins)[s]);
    const auto end = static_cast<std::ptrdiff_t>(raw(ends)[s]);
    if (begin < end) work(begin, end);
  }
}

}  // namespace detail

struct DeviceSegmentedSort {
#define SIMT_CUB_SORTS(Keys, Pairs, Less)                                                      \
  template <class K, class N, class Begin, class End>                                          \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, const K* in, K* out, N n,       \
                          int segments, Begin begins, End ends, cudaStream_t = nullptr) {      \
    return detail::run(temporary, bytes, [&] {                                                 \
      detail::copy_unless_same(in, out, n);                                                    \
      detail::for_each_segment(segments, begins, ends, [&](auto begin, auto end) {             \
        thrust::stable_sort(thrust::device, out + begin, out + end, Less());                   \
      });                                                                                      \
    });                                                                                        \
  }                                                                                            \
  template <class K, class N, class Begin, class End>                                          \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys, N n,     \
                          int segments, Begin begins, End ends, cudaStream_t = nullptr) {      \
    const bool sorts = temporary != nullptr;                                                   \
    const cudaError_t error = Keys(temporary, bytes, static_cast<const K*>(keys.Current()),    \
                                   keys.Alternate(), n, segments, begins, ends);               \
    if (sorts && error == cudaSuccess) keys.selector ^= 1;                                     \
    return error;                                                                              \
  }                                                                                            \
  template <class K, class V, class N, class Begin, class End>                                 \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, const K* keys_in, K* keys_out, \
                           const V* values_in, V* values_out, N n, int segments, Begin begins, \
                           End ends, cudaStream_t = nullptr) {                                 \
    return detail::run(temporary, bytes, [&] {                                                 \
      detail::copy_unless_same(keys_in, keys_out, n);                                          \
      detail::copy_unless_same(values_in, values_out, n);                                      \
      detail::for_each_segment(segments, begins, ends, [&](auto begin, auto end) {             \
        thrust::stable_sort_by_key(thrust::device, keys_out + begin, keys_out + end,           \
                                   values_out + begin, Less());                                \
      });                                                                                      \
    });                                                                                        \
  }                                                                                            \
  template <class K, class V, class N, class Begin, class End>                                 \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, DoubleBuffer<K>& keys,         \
                           DoubleBuffer<V>& values, N n, int segments, Begin begins, End ends, \
                           cudaStream_t = nullptr) {                                           \
    const bool sorts = temporary != nullptr;                                                   \
    const cudaError_t error = Pairs(temporary, bytes, static_cast<const K*>(keys.Current()),   \
                                    keys.Alternate(), static_cast<const V*>(values.Current()), \
                                    values.Alternate(), n, segments, begins, ends);            \
    if (sorts && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;               \
    return error;                                                                              \
  }
  SIMT_CUB_SORTS(SortKeys, SortPairs, thrust::less<>)
  SIMT_CUB_SORTS(SortKeysDescending, SortPairsDescending, thrust::greater<>)
  SIMT_CUB_SORTS(StableSortKeys, StableSortPairs, thrust::less<>)
  SIMT_CUB_SORTS(StableSortKeysDescending, StableSortPairsDescending, thrust::greater<>)
#undef SIMT_CUB_SORTS
};

struct DeviceSegmentedReduce {
  template <class I, class O, class Begin, class End, class Op, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, I in, O out, int segments,
                            Begin begins, End ends, Op op, T init, cudaStream_t = nullptr) {
    return detail::run(temporary, bytes, [&] {
      for (int s = 0; s < segments; ++s) {
        const auto begin = static_cast<std::ptrdiff_t>(detail::raw(begins)[s]);
        const auto end = static_cast<std::ptrdiff_t>(detail::raw(ends)[s]);
        detail::raw(out)[s] =
            begin < end ? thrust::reduce(thrust::device, in + begin, in + end, init, op) : init;
      }
    });
  }
  template <class I, class O, class Begin, class End>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, I in, O out, int segments,
                         Begin begins, End ends, cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, segments, begins, ends, thrust::plus<>(),
                  detail::ValueOf<I>{});
  }
};

}  // namespace cub
