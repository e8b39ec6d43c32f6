/// \file
/// Thrust for the simulator: iterators that compute what they point to.
#pragma once

#include <simt/thrust/functional.h>
#include <simt/thrust/pointer.h>

namespace thrust {

template <class I>
using iterator_traits = std::iterator_traits<I>;
template <class I>
struct iterator_value {
  using type = typename std::iterator_traits<I>::value_type;
};
template <class I>
struct iterator_reference {
  using type = typename std::iterator_traits<I>::reference;
};
template <class I>
struct iterator_difference {
  using type = typename std::iterator_traits<I>::difference_type;
};
template <class I>
using iterator_value_t = typename iterator_value<I>::type;
template <class I>
using iterator_difference_t = typename iterator_difference<I>::type;
template <class I>
struct iterator_system {
  using type =
      std::conditional_t<detail::SystemOf<I>::value == detail::System::device, device_system_tag,
                         std::conditional_t<detail::SystemOf<I>::value == detail::System::any,
                                            any_system_tag, host_system_tag>>;
};
template <class I>
using iterator_system_t = typename iterator_system<I>::type;
using random_access_traversal_tag = std::random_access_iterator_tag;

namespace detail {

/// All of a random access iterator but the types, a constructor, `operator*`, `void move(difference_type)` and
/// `difference_type from(other)`.
template <class Self>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  decltype(auto) operator[](difference_type n) const { return *(self() + n); }
  Self& operator+=(difference_type n) { return self().move(n), self(); }
  Self& operator-=(difference_type n) { return self().move(-n), self(); }
  Self& operator++() { return self().move(1), self(); }
  Self& operator--() { return self().move(-1), self(); }
  Self operator++(int) {
    const Self before = self();
    self().move(1);
    return before;
  }
  Self operator--(int) {
    const Self before = self();
    self().move(-1);
    return before;
  }
  friend Self operator+(Self i, difference_type n) { return i += n; }
  friend Self operator+(difference_type n, Self i) { return i += n; }
  friend Self operator-(Self i, difference_type n) { return i -= n; }
  friend difference_type operator-(const Self& a, const Self& b) { return a.from(b); }
  friend bool operator==(const Self& a, const Self& b) { return a.from(b) == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return a.from(b) != 0; }
  friend bool operator<(const Self& a, const Self& b) { return a.from(b) < 0; }
  friend bool operator>(const Self& a, const Self& b) { return a.from(b) > 0; }
  friend bool operator<=(const Self& a, const Self& b) { return a.from(b) <= 0; }
  friend bool operator>=(const Self& a, const Self& b) { return a.from(b) >= 0; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace detail

/// first, first + 1, first + 2, ...
template <class T, class... Ignored>
class counting_iterator : public detail::Iterator<counting_iterator<T, Ignored...>> {
 public:
  using value_type = T;
  using reference = T;
  using pointer = const T*;

  counting_iterator() = default;
  explicit counting_iterator(T value) : value_(value) {}
  T operator*() const { return value_; }
  void move(std::ptrdiff_t n) { value_ = static_cast<T>(value_ + static_cast<T>(n)); }
  std::ptrdiff_t from(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(value_) - static_cast<std::ptrdiff_t>(other.value_);
  }

 private:
  T value_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T value) {
  return counting_iterator<T>(value);
}

/// The same value again and again.
template <class T, class... Ignored>
class constant_iterator : public detail::Iterator<constant_iterator<T, Ignored...>> {
 public:
  using value_type = T;
  using reference = T;
  using pointer = const T*;

  constant_iterator() = default;
  constant_iterator(const T& value, std::ptrdiff_t at = 0) : value_(value), at_(at) {}
  T operator*() const { return value_; }
  const T& value() const { return value_; }
  void move(std::ptrdiff_t n) { at_ += n; }
  std::ptrdiff_t from(const constant_iterator& other) const { return at_ - other.at_; }

 private:
  T value_{};
  std::ptrdiff_t at_ = 0;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t at = 0) {
  return constant_iterator<T>(value, at);
}

/// Takes what is assigned, and keeps nothing.
template <class... Ignored>
class discard_iterator : public detail::Iterator<discard_iterator<Ignored...>> {
 public:
  struct Nothing {
    template <class T>
    const Nothing& operator=(const T&) const {
      return *this;
    }
  };
  using value_type = Nothing;
  using reference = Nothing;
  using pointer = void;

  explicit discard_iterator(std::ptrdiff_t at = 0) : at_(at) {}
  Nothing operator*() const { return {}; }
  void move(std::ptrdiff_t n) { at_ += n; }
  std::ptrdiff_t from(const discard_iterator& other) const { return at_ - other.at_; }

 private:
  std::ptrdiff_t at_;
};
inline discard_iterator<> make_discard_iterator(std::ptrdiff_t at = 0) {
  return discard_iterator<>(at);
}

/// f(*i)
template <class F, class I, class... Ignored>
class transform_iterator : public detail::Iterator<transform_iterator<F, I, Ignored...>> {
 public:
  using reference =
      std::decay_t<std::invoke_result_t<F&, decltype(detail::lvalue(*std::declval<const I&>()))>>;
  using value_type = reference;
  using pointer = void;

  transform_iterator() = default;
  explicit transform_iterator(I base, F f = F()) : base_(base), f_(f) {}
  reference operator*() const {
    auto&& value = *base_;
    return f_.get()(value);
  }
  const I& base() const { return base_; }
  const F& functor() const { return f_.get(); }
  void move(std::ptrdiff_t n) { base_ += n; }
  std::ptrdiff_t from(const transform_iterator& other) const { return base_ - other.base_; }

 private:
  I base_{};
  detail::Assignable<F> f_;
};
template <class F, class I>
transform_iterator<F, I> make_transform_iterator(I base, F f) {
  return transform_iterator<F, I>(base, f);
}

/// elements[*index]
template <class E, class I>
class permutation_iterator : public detail::Iterator<permutation_iterator<E, I>> {
 public:
  using value_type = typename std::iterator_traits<E>::value_type;
  using reference = typename std::iterator_traits<E>::reference;
  using pointer = void;

  permutation_iterator() = default;
  permutation_iterator(E elements, I index) : elements_(elements), index_(index) {}
  reference operator*() const {
    return elements_[static_cast<std::ptrdiff_t>(
        static_cast<typename std::iterator_traits<I>::value_type>(*index_))];
  }
  const E& elements() const { return elements_; }
  const I& base() const { return index_; }
  void move(std::ptrdiff_t n) { index_ += n; }
  std::ptrdiff_t from(const permutation_iterator& other) const { return index_ - other.index_; }

 private:
  E elements_{};
  I index_{};
};
template <class E, class I>
permutation_iterator<E, I> make_permutation_iterator(E elements, I index) {
  return permutation_iterator<E, I>(elements, index);
}

template <class T>
class zip_iterator;
/// Several iterators that go together: a tuple of what each points to.
template <class... I>
class zip_iterator<std::tuple<I...>> : public detail::Iterator<zip_iterator<std::tuple<I...>>> {
 public:
  using value_type = std::tuple<typename std::iterator_traits<I>::value_type...>;
  using reference = std::tuple<typename std::iterator_traits<I>::reference...>;
  using pointer = void;

  zip_iterator() = default;
  explicit zip_iterator(const std::tuple<I...>& iterators) : iterators_(iterators) {}
  template <class... J>
  zip_iterator(const zip_iterator<std::tuple<J...>>& other)
      : iterators_(other.get_iterator_tuple()) {}
  reference operator*() const {
    return std::apply([](const I&... i) { return reference(*i...); }, iterators_);
  }
  const std::tuple<I...>& get_iterator_tuple() const { return iterators_; }
  void move(std::ptrdiff_t n) {
    std::apply([n](I&... i) { ((i += n), ...); }, iterators_);
  }
  std::ptrdiff_t from(const zip_iterator& other) const {
    return std::get<0>(iterators_) - std::get<0>(other.iterators_);
  }

 private:
  std::tuple<I...> iterators_;
};
template <class... I>
zip_iterator<std::tuple<I...>> make_zip_iterator(const std::tuple<I...>& iterators) {
  return zip_iterator<std::tuple<I...>>(iterators);
}
template <class... I>
zip_iterator<std::tuple<I...>> make_zip_iterator(I... iterators) {
  return zip_iterator<std::tuple<I...>>(std::tuple<I...>(iterators...));
}

/// Calls f with what a tuple holds, one argument each.
template <class F>
class zip_function {
 public:
  explicit zip_function(F f) : f_(f) {}
  template <class Tuple>
  decltype(auto) operator()(Tuple&& arguments) const {
    return std::apply(f_, static_cast<Tuple&&>(arguments));
  }

 private:
  F f_;
};
template <class F>
zip_function<std::decay_t<F>> make_zip_function(F&& f) {
  return zip_function<std::decay_t<F>>(static_cast<F&&>(f));
}

template <class I>
using reverse_iterator = std::reverse_iterator<I>;
template <class I>
std::reverse_iterator<I> make_reverse_iterator(I i) {
  return std::reverse_iterator<I>(i);
}
template <class I, class N>
void advance(I& i, N n) {
  i += static_cast<std::ptrdiff_t>(n);
}
template <class I>
auto distance(I first, I last) {
  return std::distance(first, last);
}
template <class I>
I next(I i, std::ptrdiff_t n = 1) {
  return i + n;
}
template <class I>
I prev(I i, std::ptrdiff_t n = 1) {
  return i - n;
}

namespace detail {

template <class... T>
struct SystemOf<counting_iterator<T...>> {
  static constexpr System value = System::any;
};
template <class... T>
struct SystemOf<constant_iterator<T...>> {
  static constexpr System value = System::any;
};
template <class... T>
struct SystemOf<discard_iterator<T...>> {
  static constexpr System value = System::any;
};
template <class F, class I, class... T>
struct SystemOf<transform_iterator<F, I, T...>> : SystemOf<I> {};
template <class E, class I>
struct SystemOf<permutation_iterator<E, I>> {
  static constexpr System value = std::max(SystemOf<E>::value, SystemOf<I>::value);
};
template <class... I>
struct SystemOf<zip_iterator<std::tuple<I...>>> {
  static constexpr System value = std::max({System::none, SystemOf<I>::value...});
};

template <class F, class I, class... T>
struct Raw<transform_iterator<F, I, T...>> {
  using type = transform_iterator<F, typename Raw<I>::type>;
  static type of(const transform_iterator<F, I, T...>& i) {
    return type(raw(i.base()), i.functor());
  }
};
template <class E, class I>
struct Raw<permutation_iterator<E, I>> {
  using type = permutation_iterator<typename Raw<E>::type, typename Raw<I>::type>;
  static type of(const permutation_iterator<E, I>& i) {
    return type(raw(i.elements()), raw(i.base()));
  }
};
template <class... I>
struct Raw<zip_iterator<std::tuple<I...>>> {
  using type = zip_iterator<std::tuple<typename Raw<I>::type...>>;
  static type of(const zip_iterator<std::tuple<I...>>& i) {
    return std::apply(
        [](const I&... parts) { return type(std::tuple<typename Raw<I>::type...>(raw(parts)...)); },
        i.get_iterator_tuple());
  }
};

}  // namespace detail
}  // namespace thrust
