/// \file
/// Thrust for the simulator: where an algorithm runs. All of them run on the host, over the standard library, one element after
/// the other: results, no counts. The device's may follow device pointers meanwhile.
#pragma once

#include <cuda_runtime.h>
#include <simt/library.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#define THRUST_VERSION 300100
#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 1
#define THRUST_SUBMINOR_VERSION 0

namespace thrust {

using std::error_category;
using std::error_code;

namespace detail {
class CudaErrors : public std::error_category {
 public:
  const char* name() const noexcept override { return "cuda"; }
  std::string message(int error) const override {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
  }
};
}  // namespace detail

/// The errors of the CUDA runtime.
inline const std::error_category& cuda_category() {
  static const detail::CudaErrors category;
  return category;
}
/// What an algorithm throws where a call of the runtime fails, or an earlier kernel has.
class system_error : public std::system_error {
 public:
  using std::system_error::system_error;
};
namespace system {
using ::thrust::cuda_category;
using ::thrust::system_error;
}  // namespace system

struct host_system_tag {};
struct device_system_tag {};
struct any_system_tag {};

namespace detail {

/// Where an argument is from: of several the highest counts.
enum class System { none, any, host, device };

/// Derived from by whatever may be an algorithm's first argument in front of its iterators.
struct PolicyBase {};
template <System system>
struct Policy : PolicyBase {
  static constexpr System kSystem = system;
};
template <class P>
inline constexpr bool is_policy = std::is_base_of_v<PolicyBase, std::decay_t<P>>;
template <class P>
using IsPolicy = std::enable_if_t<is_policy<P>, int>;
template <class P>
using IsNoPolicy = std::enable_if_t<!is_policy<P>, int>;

/// Of a type that is no iterator: none.
template <class T, class = void>
struct SystemOf {
  static constexpr System value = System::none;
};
template <class T>
struct SystemOf<T, std::void_t<typename std::iterator_traits<T>::iterator_category>> {
  static constexpr System value = System::host;
};
/// The policy of an algorithm that was given none.
template <class... T>
constexpr auto policy_of() {
  constexpr System most = std::max({System::none, SystemOf<std::decay_t<T>>::value...});
  return Policy < (most == System::host || most == System::none) ? System::host
                                                                 : System::device > {};
}

/// An algorithm of the policy P is at work.
template <class P>
class Scope {
 public:
  explicit Scope(const P&) {
    if constexpr (P::kSystem == System::device) {
      error_ = simt::detail::enter_library("Thrust");
      if (error_ != cudaSuccess)
        throw system_error(static_cast<int>(error_), cuda_category(), "after an earlier error");
    }
  }
  ~Scope() {
    if constexpr (P::kSystem == System::device) simt::detail::leave_library();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  cudaError_t error_ = cudaSuccess;
};
/// One access of the host's, through a reference to device memory.
inline constexpr Policy<System::device> kDevice;
using DeviceScope = Scope<Policy<System::device>>;

struct HostPolicy : Policy<System::host> {};
struct SequentialPolicy : Policy<System::none> {};
struct DevicePolicy : Policy<System::device> {
  /// The same: work is done when it is asked for, also in a stream.
  DevicePolicy on(cudaStream_t) const { return {}; }
  DevicePolicy on_nosync(cudaStream_t) const { return {}; }
  template <class Allocator>
  DevicePolicy operator()(Allocator&&) const {
    return {};
  }
};

}  // namespace detail

// What programs derive policies of their own from.
template <class Derived>
struct execution_policy : detail::Policy<detail::System::host> {};
template <class Derived>
struct host_execution_policy : detail::Policy<detail::System::host> {};
template <class Derived>
struct device_execution_policy : detail::Policy<detail::System::device> {};

inline constexpr detail::HostPolicy host;
inline constexpr detail::DevicePolicy device;
/// In the calling thread, which may be a kernel's.
inline constexpr detail::SequentialPolicy seq;

namespace cuda {
inline constexpr detail::DevicePolicy par;
inline constexpr detail::DevicePolicy par_nosync;
using tag = device_system_tag;
template <class Derived>
using execution_policy = device_execution_policy<Derived>;
}  // namespace cuda
namespace system::cuda {
using ::thrust::cuda::par;
using ::thrust::cuda::par_nosync;
using ::thrust::cuda::tag;
}  // namespace system::cuda

}  // namespace thrust

/// The form without a policy of an algorithm whose form with one is declared ahead.
#define SIMT_THRUST_ALGORITHM(name)                                           \
  template <class First, class... Rest, detail::IsNoPolicy<First> = 0>        \
  auto name(First first, Rest... rest) {                                      \
    return thrust::name(detail::policy_of<First, Rest...>(), first, rest...); \
  }
