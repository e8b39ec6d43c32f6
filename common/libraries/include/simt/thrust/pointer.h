/// \file
/// Thrust for the simulator: pointers to device memory, and what the host makes of one element.
#pragma once

#include <simt/thrust/system.h>

#include <cstddef>
#include <ostream>

namespace thrust {

template <class T>
class device_ptr;

/// An element of device memory as the host has it: reading copies it to the host, assigning copies it to the device.
template <class T>
class device_reference {
 public:
  using value_type = std::remove_cv_t<T>;
  using pointer = device_ptr<T>;

  explicit device_reference(device_ptr<T> p) : p_(p.get()) {}
  device_reference(const device_reference&) = default;
  template <class U, std::enable_if_t<std::is_same_v<const U, T>, int> = 0>
  device_reference(const device_reference<U>& other) : p_((&other).get()) {}

  operator value_type() const {
    const detail::DeviceScope scope(detail::kDevice);
    return *p_;
  }
  const device_reference& operator=(const value_type& value) const {
    const detail::DeviceScope scope(detail::kDevice);
    *p_ = value;
    return *this;
  }
  const device_reference& operator=(const device_reference& other) const {
    return *this = static_cast<value_type>(other);
  }
  template <class U>
  const device_reference& operator=(const device_reference<U>& other) const {
    return *this = static_cast<value_type>(static_cast<std::remove_cv_t<U>>(other));
  }
  pointer operator&() const { return pointer(p_); }

#define SIMT_THRUST_ASSIGN(op)                                   \
  template <class U>                                             \
  const device_reference& operator op##=(const U& value) const { \
    const detail::DeviceScope scope(detail::kDevice);            \
    *p_ op## = static_cast<value_type>(value);                   \
    return *this;                                                \
  }
  SIMT_THRUST_ASSIGN(+)
  SIMT_THRUST_ASSIGN(-)
  SIMT_THRUST_ASSIGN(*)
  SIMT_THRUST_ASSIGN(/)
  SIMT_THRUST_ASSIGN(%)
  SIMT_THRUST_ASSIGN(&)
  SIMT_THRUST_ASSIGN(|)
  SIMT_THRUST_ASSIGN(^)
  SIMT_THRUST_ASSIGN(<<)
  SIMT_THRUST_ASSIGN(>>)
#undef SIMT_THRUST_ASSIGN
  const device_reference& operator++() const { return *this += value_type(1); }
  const device_reference& operator--() const { return *this -= value_type(1); }
  value_type operator++(int) const {
    const value_type before = *this;
    ++*this;
    return before;
  }
  value_type operator--(int) const {
    const value_type before = *this;
    --*this;
    return before;
  }
  friend void swap(device_reference a, device_reference b) {
    const value_type value = a;
    a = static_cast<value_type>(b);
    b = value;
  }

 private:
  T* p_;
};

template <class Char, class Traits, class T>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const device_reference<T>& reference) {
  return out << static_cast<typename device_reference<T>::value_type>(reference);
}

/// A pointer to device memory that algorithms know as one.
template <class T>
class device_ptr {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = device_ptr;
  using reference = device_reference<T>;
  using iterator_category = std::random_access_iterator_tag;
  using iterator_system = device_system_tag;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* p) : p_(p) {}
  template <class U, std::enable_if_t<std::is_convertible_v<U*, T*>, int> = 0>
  device_ptr(const device_ptr<U>& other) : p_(other.get()) {}
  template <class U, std::enable_if_t<!std::is_convertible_v<U*, T*>, int> = 0>
  explicit device_ptr(const device_ptr<U>& other) : p_(static_cast<T*>(other.get())) {}

  T* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

  reference operator*() const { return reference(*this); }
  T* operator->() const { return p_; }
  reference operator[](difference_type i) const { return *(*this + i); }
  device_ptr& operator+=(difference_type n) { return p_ += n, *this; }
  device_ptr& operator-=(difference_type n) { return p_ -= n, *this; }
  device_ptr& operator++() { return ++p_, *this; }
  device_ptr& operator--() { return --p_, *this; }
  device_ptr operator++(int) { return device_ptr(p_++); }
  device_ptr operator--(int) { return device_ptr(p_--); }
  friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
  friend device_ptr operator+(difference_type n, device_ptr p) { return p += n; }
  friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }

 private:
  T* p_ = nullptr;
};
/// What memory is asked for with, before it has a type.
template <>
class device_ptr<void> {
 public:
  using element_type = void;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(void* p) : p_(p) {}
  template <class U>
  device_ptr(const device_ptr<U>& other) : p_(other.get()) {}

  void* get() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  void* p_ = nullptr;
};

template <class T, class U>
std::ptrdiff_t operator-(const device_ptr<T>& a, const device_ptr<U>& b) {
  return a.get() - b.get();
}
#define SIMT_THRUST_COMPARISON(op)                                   \
  template <class T, class U>                                        \
  bool operator op(const device_ptr<T>& a, const device_ptr<U>& b) { \
    return a.get() op b.get();                                       \
  }
SIMT_THRUST_COMPARISON(==)
SIMT_THRUST_COMPARISON(!=)
SIMT_THRUST_COMPARISON(<)
SIMT_THRUST_COMPARISON(>)
SIMT_THRUST_COMPARISON(<=)
SIMT_THRUST_COMPARISON(>=)
#undef SIMT_THRUST_COMPARISON

template <class Char, class Traits, class T>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const device_ptr<T>& p) {
  return out << static_cast<const void*>(p.get());
}

template <class T>
device_ptr<T> device_pointer_cast(T* p) {
  return device_ptr<T>(p);
}
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& p) {
  return p;
}
/// What a kernel takes.
template <class T>
T* raw_pointer_cast(const device_ptr<T>& p) {
  return p.get();
}
template <class T>
T* raw_pointer_cast(T* p) {
  return p;
}
template <class T>
T& raw_reference_cast(const device_reference<T>& reference) {
  return *(&reference).get();
}
template <class T>
T& raw_reference_cast(T& reference) {
  return reference;
}

/// `size` bytes of device memory; throws std::bad_alloc if there are no more.
inline device_ptr<void> device_malloc(std::size_t size) {
  void* const memory = simt::detail::library_allocate(size, false);
  if (!memory && size) throw std::bad_alloc();
  return device_ptr<void>(memory);
}
/// Room for `count` elements.
template <class T>
device_ptr<T> device_malloc(std::size_t count) {
  return device_ptr<T>(static_cast<T*>(device_malloc(count * sizeof(T)).get()));
}
inline void device_free(device_ptr<void> p) { simt::detail::library_free(p.get()); }

template <class T, class P, detail::IsPolicy<P> = 0>
auto malloc(const P&, std::size_t count) {
  if constexpr (P::kSystem == detail::System::device) {
    return device_malloc<T>(count);
  } else {
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
}
template <class P, class Pointer, detail::IsPolicy<P> = 0>
void free(const P&, Pointer p) {
  if constexpr (P::kSystem == detail::System::device) {
    simt::detail::library_free(const_cast<void*>(static_cast<const void*>(raw_pointer_cast(p))));
  } else {
    ::operator delete(p);
  }
}

namespace detail {

template <class T>
struct SystemOf<device_ptr<T>> {
  static constexpr System value = System::device;
};

/// The iterator that an algorithm works with: a pointer where the program has a device_ptr, and the same in what other
/// iterators are made of.
template <class I>
struct Raw {
  using type = I;
  static const I& of(const I& i) { return i; }
};
template <class T>
struct Raw<device_ptr<T>> {
  using type = T*;
  static T* of(const device_ptr<T>& p) { return p.get(); }
};
template <class I>
struct Raw<std::reverse_iterator<I>> {
  using type = std::reverse_iterator<typename Raw<I>::type>;
  static type of(const std::reverse_iterator<I>& i) { return type(Raw<I>::of(i.base())); }
};
template <class I>
struct SystemOf<std::reverse_iterator<I>> : SystemOf<I> {};
template <class I>
typename Raw<I>::type raw(const I& i) {
  return Raw<I>::of(i);
}
/// The program's iterator for where the algorithm has come to.
template <class I, class R>
I moved(const I& from, const R& raw_from, const R& raw_to) {
  if constexpr (std::is_same_v<I, R>) {
    return raw_to;
  } else {
    return from + (raw_to - raw_from);
  }
}
template <class I>
using ValueOf = typename std::iterator_traits<I>::value_type;

}  // namespace detail
}  // namespace thrust
