/// \file
/// What simtcc turns `kernel<<<grid, block>>>(arguments)` and `__shared__` into.
///
/// A launch becomes
/// `simt::launcher("kernel", probe, call, simt::config(grid, block))(arguments)`,
/// where `probe` and `call` are generic lambdas that hold the kernel's expression. If that expression
/// names one function, `probe` yields its address and the arguments are converted to its parameters,
/// once and on the host, as in any call. If it names a set of functions (overloads, a template whose
/// arguments are to be deduced), only `call` compiles, which calls it with the arguments themselves. For `kernel<8>`
/// it is `simt::template_launcher`, since one function may not be all that this can name.
#pragma once

#include <simt/api/runtime.h>
#include <simt/config.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace simt {

/// The configuration between `<<<` and `>>>`, converted as the arguments of a function are.
inline Config config(dim3 grid, dim3 block, std::size_t shared = 0, cudaStream_t stream = nullptr) {
  return Config(grid, block, shared, stream);
}

namespace detail {

// Code between the engine and the kernel: the tracer must not see it, nor take its first instruction
// for the kernel's.
#define SIMT_UNTRACED __attribute__((no_sanitize("thread"), no_sanitize_coverage))

/// A thread's own copy of an argument that is not plain data: its bytes, since a GPU constructs nothing and
/// destroys nothing of its parameters. What is passed by reference stays where it is.
template <class T, bool plain = std::is_trivially_copyable_v<T> || std::is_reference_v<T>>
class ThreadCopy {
 public:
  SIMT_UNTRACED explicit ThreadCopy(T& value) : value_(value) {}
  SIMT_UNTRACED T& get() { return value_; }

 private:
  T& value_;
};
template <class T>
class ThreadCopy<T, false> {
 public:
  SIMT_UNTRACED explicit ThreadCopy(T& value) {
    __builtin_memcpy(bytes_, reinterpret_cast<const void*>(&value), sizeof(T));
  }
  SIMT_UNTRACED T& get() { return *reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
};

/// What the engine calls for each thread. A function, since a lambda's conversion to a pointer makes one
/// that the attribute does not reach.
template <class Thread>
SIMT_UNTRACED void enter_thread(void* closure) {
  (*static_cast<Thread*>(closure))();
}

/// T, where it is not to be deduced (C++20 has this as std::type_identity_t).
template <class T>
struct GivenType {
  using Type = T;
};
template <class T>
using Given = typename GivenType<T>::Type;

/// How a parameter of type T reaches a function: what has a constructor for copies or a destructor goes by the
/// address of a copy, which is the caller's to make and to destroy.
template <class T,
          bool plain = std::is_reference_v<T> || (std::is_trivially_copy_constructible_v<T> &&
                                                  std::is_trivially_move_constructible_v<T> &&
                                                  std::is_trivially_destructible_v<T>)>
struct Passed {
  using Type = T;
};
template <class T>
struct Passed<T, false> {
  using Type = T&;
};

/// The kernel as a function that takes its parameters where they are.
template <class... P>
auto callable(void (*kernel)(P...)) {
  using Function = void (*)(typename Passed<P>::Type...);
  return reinterpret_cast<Function>(reinterpret_cast<void*>(kernel));
}
template <class Call>
const Call& callable(const Call& call) {
  return call;
}

template <class... P, class Call>
void run_now(const char* text, const Config& config, const Call& call, Given<P>&... arguments) {
  static_assert(std::is_pointer_v<Call> || (std::is_trivially_destructible_v<P> && ...),
                "simt: a parameter with a destructor takes a kernel that is named without doubt, "
                "and all of its arguments");
  decltype(auto) kernel = callable(call);
  const auto thread = [&]() SIMT_UNTRACED { kernel(ThreadCopy<P>(arguments).get()...); };
  using Thread = decltype(thread);
  Config named = config;
  if constexpr (std::is_pointer_v<Call>) named.kernel = reinterpret_cast<const void*>(call);
  // What is not plain data cannot be compared.
  constexpr bool plain = ((std::is_trivially_copyable_v<P> && !std::is_reference_v<P>)&&...);
  const Argument data[] = {
      {const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(arguments))),
       sizeof(arguments)}...,
      {nullptr, 0}};
  run_grid(text, named, &enter_thread<Thread>, const_cast<void*>(static_cast<const void*>(&thread)),
           plain ? data : nullptr, sizeof...(P));
}

/// An argument that a captured launch keeps. (Not in a std::tuple: <tuple> declares std::array, std::tie and
/// std::ignore, and a program that says `using namespace std` may have such names of its own with nvcc.)
template <std::size_t place, class T>
struct Kept {
  T value;
};

/// A launch that happens later, once or often, with the arguments as they are now.
template <class Call, class Places, class... A>
struct CapturedLaunch;
template <class Call, std::size_t... place, class... A>
struct CapturedLaunch<Call, std::index_sequence<place...>, A...> : Kept<place, A>... {
  void operator()() { run_now<A...>(text, config, call, Kept<place, A>::value...); }

  const char* text;
  Config config;
  Call call;
};

/// \tparam P what the kernel's parameters are, or the arguments if it has to be found for them
template <class... P, class Call>
void run_threads(const char* text, const Config& config, const Call& call, Given<P>&... arguments) {
  const Argument data[] = {
      {const_cast<const void*>(static_cast<const volatile void*>(__builtin_addressof(arguments))),
       sizeof(arguments)}...,
      {nullptr, 0}};
  const bool captured = is_captured(config);
  if (!captured && !may_wait_for_host(data, sizeof...(P))) {
    run_now<P...>(text, config, call, arguments...);
    return;
  }
  using Later = CapturedLaunch<Call, std::index_sequence_for<P...>, P...>;
  Config later = config;
  if (captured) {
    later.stream = nullptr;
    later.to_node = false;
  }
  const Work work = {[](void* kept) { (*static_cast<Later*>(kept))(); },
                     [](void* kept) { delete static_cast<Later*>(kept); },
                     new Later{{arguments}..., text, later, call}};
  captured ? capture(config, work) : run_beside_host(work);
}

/// The type of a parameter as a function's type has it. g++ leaves __restrict__ in the types that it puts
/// together in a template, and then finds no function of that type.
template <class T>
struct ParameterOf {
  using Type = T;
};
template <class T>
struct ParameterOf<T* __restrict__> {
  using Type = T*;
};
template <class T>
struct ParameterOf<T& __restrict__> {
  using Type = T&;
};
template <class T>
using Parameter = typename ParameterOf<std::remove_cv_t<T>>::Type;

/// What a parameter takes of the memory for parameters: a reference is a pointer.
template <class P>
using ThreadParameter = std::conditional_t<std::is_reference_v<P>, void*, P>;

/// Do parameters of these types fit what nvcc has for a kernel's? (As of CUDA 12.1, from sm_70 on.)
template <class... P>
constexpr bool fits_parameters() {
  std::size_t bytes = 0;
  // A reference is a pointer.
  ((bytes = (bytes + alignof(ThreadParameter<P>) - 1) / alignof(ThreadParameter<P>) *
                alignof(ThreadParameter<P>) +
            sizeof(ThreadParameter<P>)),
   ...);
  return bytes <= 32764;
}

/// A kernel as cudaLaunchKernel() knows it. simtcc names this class in the kernel's body, with its address:
/// so every kernel, and every template that is used, is registered before main(). kMostThreads is of a block, from
/// its `__launch_bounds__`, kCluster of its `__cluster_dims__`.
template <auto kKernel, unsigned kMostThreads = 0, unsigned... kCluster>
struct KernelEntry;
template <class... P, void (*kKernel)(P...), unsigned kMostThreads, unsigned... kCluster>
struct KernelEntry<kKernel, kMostThreads, kCluster...> {
  static_assert(fits_parameters<P...>(),
                "simt: a kernel's parameters take at most 32764 bytes: pass a pointer to device "
                "memory in place of the data");
  static void launch(const Config& config, void** arguments) {
    launch_with(config, arguments, std::index_sequence_for<P...>());
  }
  template <std::size_t... kIndex>
  static void launch_with(const Config& config, [[maybe_unused]] void** arguments,
                          std::index_sequence<kIndex...>) {
    run_threads<P...>("kernel", config, kKernel, argument<P>(arguments[kIndex])...);
  }
  /// What is passed by reference stands as an address among the arguments.
  template <class T>
  static auto& argument(void* pointer) {
    if constexpr (std::is_reference_v<T>) {
      return **static_cast<std::remove_reference_t<T>**>(pointer);
    } else {
      return *static_cast<std::remove_const_t<T>*>(pointer);
    }
  }
  static inline const bool registered =
      register_kernel(reinterpret_cast<const void*>(kKernel), &launch, kMostThreads,
                      sizeof...(P) > 0, sizeof...(kCluster) ? dim3(kCluster...) : dim3(0, 0, 0));
};

/// What `probe` is called with: takes the address of a function if the expression names just one.
struct Probe {
  template <class R, class... P>
  auto operator()(R (*function)(P...)) const {
    static_assert(std::is_void_v<R>, "simt: a kernel returns void");
    return function;
  }
};

template <class... T>
struct List {};

/// Is one of these parameters a reference to what the launch names, a variable of the host? `names` has a bit for
/// each argument.
template <class... P>
constexpr bool refers_to_host(unsigned long long names) {
  bool refers = false;
  ((refers |= (names & 1) && std::is_lvalue_reference_v<P>, names >>= 1), ...);
  return refers;
}

/// Overloads for the first so many parameters: the kernel's default arguments supply the others.
template <class Launcher, class Taken, class Rest>
struct Overloads;
template <class Launcher, class... P>
struct Overloads<Launcher, List<P...>, List<>> {
  /// All parameters, converted as in a call.
  void operator()(P... arguments) const {
    static_cast<const Launcher*>(this)->launch_function(arguments...);
  }
};
template <class Launcher, class... P, class Next, class... Rest>
struct Overloads<Launcher, List<P...>, List<Next, Rest...>>
    : Overloads<Launcher, List<P..., Next>, List<Rest...>> {
  using Overloads<Launcher, List<P..., Next>, List<Rest...>>::operator();
  void operator()(P... arguments) const {
    static_cast<const Launcher*>(this)->launch_call(arguments...);
  }
};

/// A literal 0 is a null pointer, too, which its type does not tell.
template <class From, class To>
inline constexpr bool may_become = std::is_convertible_v<From, To> ||
                                   (std::is_same_v<From, int> && std::is_pointer_v<To>);

/// Could a function with these parameters take these arguments, if the last ones may be left out?
template <class... P>
constexpr bool takes(List<>, List<P...>) {
  return true;
}
template <class A, class... Rest>
constexpr bool takes(List<A, Rest...>, List<>) {
  return false;
}
template <class A, class... As, class P, class... Ps>
constexpr bool takes(List<A, As...>, List<P, Ps...>) {
  return may_become<A, P> && takes(List<As...>(), List<Ps...>());
}

/// Launches one function.
template <class Call, class... P>
struct FunctionLauncher : Overloads<FunctionLauncher<Call, P...>, List<>, List<P...>> {
  FunctionLauncher(const char* text_, const Config& config_, void (*function_)(P...),
                   const Call& call_)
      : text(text_), config(config_), function(function_), call(call_) {}

  void launch_function(P&... arguments) const {
    run_threads<P...>(text, config, function, arguments...);
  }
  template <class... A>
  void launch_call(A&... arguments) const {
    run_threads<A...>(text, config, call, arguments...);
  }

  const char* text;
  Config config;
  void (*function)(P...);
  const Call& call;
};

/// Launches `kernel<8>`. A template with a parameter pack, or with defaults for the rest of its parameters, seems to
/// be one function then. If that one does not take the arguments, overload resolution finds another for them.
template <class Call, class... P>
struct TemplateLauncher : FunctionLauncher<Call, P...> {
  using Named = FunctionLauncher<Call, P...>;
  using Named::Named;
  using Named::operator();
  template <class... A, class = std::enable_if_t<!takes(List<A...>(), List<P...>())>>
  void operator()(A... arguments) const {
    this->launch_call(arguments...);
  }
};

/// Launches what overload resolution finds for the arguments.
template <class Call>
struct OverloadLauncher {
  template <class... A>
  void operator()(A... arguments) const {
    run_threads<A...>(text, config, call, arguments...);
  }

  const char* text;
  Config config;
  const Call& call;
};

template <class Call, class... P>
auto function_launcher(const char* text, const Config& config, void (*function)(P...),
                       const Call& call) {
  return FunctionLauncher<Call, P...>(text, config, function, call);
}
template <class Call, class... P>
auto template_launcher(const char* text, const Config& config, void (*function)(P...),
                       const Call& call) {
  return TemplateLauncher<Call, P...>(text, config, function, call);
}

template <class Function, class = void>
struct IsOneFunction : std::false_type {};
template <class Function>
struct IsOneFunction<Function, std::void_t<decltype(std::declval<const Function&>()(Probe{}))>>
    : std::true_type {};

template <unsigned long long names, class... P>
void check_references(void (*)(P...)) {
  static_assert(!refers_to_host<P...>(names),
                "simt: the kernel takes a reference to a variable of the host, which a GPU cannot "
                "read: take the parameter by value, or as a pointer to device memory");
}

// All `extern __shared__` arrays of one name are one array, which has one type: the second type would define the function of the
// name again.
template <unsigned long long name>
struct DynamicName {};
template <unsigned long long name, class T>
struct DynamicType {
  friend void one_type_of(DynamicName<name>) {}
};

/// Initialises a reference to the block's dynamic shared memory, whatever its type; of each type that `name` has, unless that is 0.
template <unsigned long long name = 0>
struct DynamicShared {
  template <class T>
  [[gnu::always_inline]] SIMT_UNTRACED operator T&() const {
    if constexpr (name != 0) (void)sizeof(DynamicType<name, T>);
    return *static_cast<T*>(dynamic_shared());
  }
};

// What a variable in __shared__ memory must satisfy.

/// nvcc's limit of the static shared memory of a block.
template <class T>
inline constexpr bool fits_shared_memory = sizeof(T) <= 48 * 1024;

/// True if nothing has to be done when a variable of this type goes, and if it can come into being without arguments.
/// (That its constructor does nothing, as nvcc demands, cannot be asked.)
template <class T, class Element = std::remove_all_extents_t<T>>
inline constexpr bool can_be_shared =
    std::is_trivially_destructible_v<Element>&& std::is_default_constructible_v<Element>;

}  // namespace detail

/// A launch that waits for its arguments.
/// \param text the kernel as the source spells it
/// \param probe the kernel's address, for a Probe; does not compile if the expression names several
/// \param call calls the kernel with lvalues
/// \tparam names a bit for each argument that is a variable of the host
template <unsigned long long names = 0, class Function, class Call>
auto launcher(const char* text, const Function& probe, const Call& call, const Config& config) {
  if constexpr (detail::IsOneFunction<Function>::value) {
    const auto function = probe(detail::Probe{});
    detail::check_references<names>(function);
    return detail::function_launcher(text, config, function, call);
  } else {
    return detail::OverloadLauncher<Call>{text, config, call};
  }
}

/// The same for a kernel with template arguments.
template <unsigned long long names = 0, class Function, class Call>
auto template_launcher(const char* text, const Function& probe, const Call& call,
                       const Config& config) {
  if constexpr (detail::IsOneFunction<Function>::value) {
    const auto function = probe(detail::Probe{});
    detail::check_references<names>(function);
    return detail::template_launcher(text, config, function, call);
  } else {
    return detail::OverloadLauncher<Call>{text, config, call};
  }
}

}  // namespace simt
