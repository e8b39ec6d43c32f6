/// \file
/// What is right, computed plainly: arrays of references and four ways to make them.
///
/// On a GPU inputs and references are made on the device, by kernels that do nothing clever; on the simulator the host
/// makes them, so that its traces show the chapter's kernels alone. Either way the elements are those that a function
/// of the index gives:
///
///     const lab::Input<float> in(n, lab::RandomValue<float>{seed});
///     const auto x = in.view();
///     lab::Reference<float> squares(n);
///     lab::fill(squares, [=] __host__ __device__(std::size_t i) { return x[i] * x[i]; });
///     const auto term = [=] __host__ __device__(std::size_t i) { return double{x[i]}; };
///     const double sum = lab::fold(n, 0.0, term, lab::plus<double>());
///
/// Such a function is called by many threads at once. It captures views by value, never by reference. The two sides
/// are compared with each other in lab's tests.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/check.h"
#include "lab/parallel.h"

namespace lab {

/// Whether references are computed on the device.
#ifdef LAB_GPU
inline constexpr bool references_on_device = true;
#else
inline constexpr bool references_on_device = false;
#endif

/// Elements for a reference to read: in device memory on a GPU, in the host's on the simulator.
template <class T>
class View {
 public:
  View() = default;
  View(const T* data, std::size_t size) : data_(data), size_(size) {}
  __host__ __device__ const T& operator[](std::size_t i) const { return data_[i]; }
  /// As a function of the index: what a copy has to leave.
  __host__ __device__ const T& operator()(std::size_t i) const { return data_[i]; }
  __host__ __device__ std::size_t size() const { return size_; }
  __host__ __device__ const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An array where references are computed: device memory on a GPU, the host's on the simulator.
template <class T>
class Reference {
 public:
  explicit Reference(std::size_t n, std::string_view name = "a reference") : size_(n) {
    if (references_on_device) {
      device_.emplace(n, name, 0);
    } else {
      host_.resize(n);
    }
  }
  explicit Reference(const std::vector<T>& values, std::string_view name = "a reference")
      : Reference(values.size(), name) {
    if (references_on_device) {
      device_->upload(values);
    } else {
      host_ = values;
    }
  }

  T* data() { return references_on_device ? device_->data() : host_.data(); }
  const T* data() const { return references_on_device ? device_->data() : host_.data(); }
  std::size_t size() const { return size_; }
  View<T> view() const { return {data(), size_}; }
  /// The elements, for the host.
  std::vector<T> host() const { return references_on_device ? device_->download() : host_; }

 private:
  std::size_t size_;
  std::optional<DeviceBuffer<T>> device_;
  std::vector<T> host_;
};

/// What a sum of any order adds with, on either side: `combine(a, b)` of `fold`.
template <class T>
struct plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

/// Adds to an element that other threads add to as well. For what `for_each` calls.
template <class T>
__host__ __device__ void add_to(T& sum, T value) {
#ifdef __CUDA_ARCH__
  atomicAdd(&sum, value);
#else
  std::atomic_ref<T>(sum).fetch_add(value, std::memory_order_relaxed);
#endif
}

namespace detail {

/// Pieces of an array of n elements that `fold`, `scan` and `select` go through one after the other, in threads of
/// their own.
inline std::size_t pieces_of(std::size_t n) {
  return std::clamp<std::size_t>(ceil_div(n, std::size_t{32}), 1, 16384);
}

/// The first element of a piece; that of piece `pieces` is n.
__host__ __device__ inline std::size_t piece_begin(std::size_t n, std::size_t pieces,
                                                   std::size_t piece) {
  return n / pieces * piece + (piece < n % pieces ? piece : n % pieces);
}

#ifdef __CUDACC__
/// Calls f(i) for each i below n.
template <class F>
__global__ void call_for_each(std::size_t n, F f) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}

/// `for_each` on the device.
template <class F>
void for_each_on_device(std::size_t n, F f) {
  if (n == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min<std::size_t>(ceil_div(n, std::size_t{256}), 4096));
  call_for_each<<<blocks, 256>>>(n, f);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}
#endif

/// `for_each` on the host.
template <class F>
void for_each_on_host(std::size_t n, F f) {
  in_parallel(n, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) f(i);
  });
}

/// to[i] = element(i).
template <class T, class F>
struct Assign {
  T* to;
  F element;
  __host__ __device__ void operator()(std::size_t i) const { to[i] = element(i); }
};

/// One segment.
struct NoHead {
  __host__ __device__ bool operator()(std::size_t) const { return false; }
};

/// What one piece leaves to those behind it: its sum, or that behind the last head in it.
template <class T>
struct Tail {
  T sum;
  bool has_head;
};

}  // namespace detail

/// Calls f(i) for each i below n, in any order, where references are computed; returns when all calls have ended.
template <class F>
void for_each(std::size_t n, F f) {
  if constexpr (references_on_device) {
#ifdef __CUDACC__
    detail::for_each_on_device(n, f);
#else
    static_assert(!references_on_device || sizeof(F) == 0, "references are computed in .cu files");
#endif
  } else {
    detail::for_each_on_host(n, f);
  }
}

/// to[i] = element(i).
template <class T, class F>
void fill(Reference<T>& to, F element) {
  for_each(to.size(), detail::Assign<T, F>{to.data(), element});
}

/// identity + element(0) + element(1) + ..., where + is `combine`, an associative operator: in pieces of neighbours, in
/// their order. The host combines what the pieces come to, so `combine` reads no views.
template <class T, class F, class Combine>
T fold(std::size_t n, T identity, F element, Combine combine) {
  const std::size_t pieces = detail::pieces_of(n);
  Reference<T> sums(pieces);
  T* const out = sums.data();
  for_each(pieces, [=] __host__ __device__(std::size_t piece) {
    T sum = identity;
    const std::size_t end = detail::piece_begin(n, pieces, piece + 1);
    for (std::size_t i = detail::piece_begin(n, pieces, piece); i < end; ++i) {
      sum = combine(sum, element(i));
    }
    out[piece] = sum;
  });
  T all = identity;
  for (const T& sum : sums.host()) all = combine(all, sum);
  return all;
}

/// The sums of `element(j)` for the j of i's segment up to i, or up to the one before: a segment begins at 0 and where
/// `is_head(i)` holds.
template <class T, class F, class IsHead>
void scan(Reference<T>& to, bool inclusive, F element, IsHead is_head) {
  const std::size_t n = to.size(), pieces = detail::pieces_of(n);
  Reference<detail::Tail<T>> tails(pieces);
  detail::Tail<T>* const left = tails.data();
  for_each(pieces, [=] __host__ __device__(std::size_t piece) {
    detail::Tail<T> tail{T(), false};
    const std::size_t end = detail::piece_begin(n, pieces, piece + 1);
    for (std::size_t i = detail::piece_begin(n, pieces, piece); i < end; ++i) {
      if (is_head(i)) tail = {T(), true};
      tail.sum += element(i);
    }
    left[piece] = tail;
  });
  std::vector<T> before(pieces);  // each piece
  T sum{};
  std::size_t piece = 0;
  for (const detail::Tail<T>& tail : tails.host()) {
    before[piece++] = sum;
    sum = tail.has_head ? tail.sum : static_cast<T>(sum + tail.sum);
  }
  const Reference<T> starts(before);
  const View<T> from = starts.view();
  T* const out = to.data();
  for_each(pieces, [=] __host__ __device__(std::size_t at) {
    T running = from[at];
    const std::size_t end = detail::piece_begin(n, pieces, at + 1);
    for (std::size_t i = detail::piece_begin(n, pieces, at); i < end; ++i) {
      if (is_head(i)) running = T();
      const T value = element(i);
      out[i] = inclusive ? static_cast<T>(running + value) : running;
      running += value;
    }
  });
}

/// The same for one segment.
template <class T, class F>
void scan(Reference<T>& to, bool inclusive, F element) {
  scan(to, inclusive, element, detail::NoHead());
}

/// Writes element(i) for each i below n with keep(i), in the order of the i.
/// \param to has room for n elements
/// \return how many there are
template <class T, class Keep, class F>
std::size_t select(Reference<T>& to, std::size_t n, Keep keep, F element) {
  Reference<std::uint64_t> places(n);
  scan(places, false, [=] __host__ __device__(std::size_t i) -> std::uint64_t { return keep(i); });
  const View<std::uint64_t> at = places.view();
  T* const out = to.data();
  for_each(n, [=] __host__ __device__(std::size_t i) {
    if (keep(i)) out[at[i]] = element(i);
  });
  return fold(
      n, std::size_t{0}, [=] __host__ __device__(std::size_t i) -> std::size_t { return keep(i); },
      plus<std::size_t>());
}

/// Device memory that kernels read and references, too.
template <class T>
class Input : public DeviceBuffer<T> {
 public:
  /// Element i is `element(i)`.
  template <class F>
  Input(std::size_t n, F element, std::string_view name = "in")
      : DeviceBuffer<T>(n, name), twin_(references_on_device ? 0 : n) {
    T* const to = references_on_device ? DeviceBuffer<T>::data() : twin_.data();
    for_each(n, detail::Assign<T, F>{to, element});
    if (!references_on_device) this->upload(twin_);
  }
  explicit Input(const std::vector<T>& values, std::string_view name = "in")
      : DeviceBuffer<T>(std::span<const T>(values), name) {
    if (!references_on_device) twin_ = values;
  }

  const T* data() const { return DeviceBuffer<T>::data(); }
  /// The elements, for references.
  View<T> view() const {
    return {references_on_device ? this->data() : twin_.data(), this->size()};
  }
  /// The elements, for the host.
  std::vector<T> host() const { return references_on_device ? this->download() : twin_; }

 private:
  std::vector<T> twin_;  // on the simulator
};

}  // namespace lab
