/// \file
/// Thrust for the simulator: vectors in the memory of the host, of the device, or of both.
#pragma once

#include <simt/thrust/pointer.h>

#include <initializer_list>
#include <memory>
#include <vector>

namespace thrust {

/// Named by programs as a parameter of vectors, which take their memory from where they always do.
template <class T>
struct device_allocator {
  using value_type = T;
};
template <class T>
using device_malloc_allocator = device_allocator<T>;
template <class T>
using universal_allocator = device_allocator<T>;

namespace detail {

/// What the vectors differ in: the memory, and the iterators that the program gets.
template <class T>
struct HostMemory {
  using Pointer = T*;
  using ConstPointer = const T*;
  static constexpr Policy<System::host> kPolicy{};
  static T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
  static void free(T* p) { ::operator delete(p); }
};
template <class T>
struct DeviceMemory {
  using Pointer = device_ptr<T>;
  using ConstPointer = device_ptr<const T>;
  static constexpr Policy<System::device> kPolicy{};
  static T* allocate(std::size_t n) {
    void* const memory = simt::detail::library_allocate(n * sizeof(T), true);
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  static void free(T* p) { simt::detail::library_free(p); }
};
template <class T>
struct UniversalMemory {
  using Pointer = T*;
  using ConstPointer = const T*;
  static constexpr Policy<System::device> kPolicy{};
  static T* allocate(std::size_t n) {
    void* memory = nullptr;
    if (cudaMallocManaged(&memory, n * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  static void free(T* p) { cudaFree(p); }
};

template <class T, template <class> class Memory>
class Vector {
  using Place = Memory<T>;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = typename Place::Pointer;
  using const_pointer = typename Place::ConstPointer;
  using iterator = pointer;
  using const_iterator = const_pointer;
  using reference = typename std::iterator_traits<iterator>::reference;
  using const_reference = typename std::iterator_traits<const_iterator>::reference;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  Vector() = default;
  explicit Vector(size_type n) {
    append(n, [](T* p, size_type) { new (p) T(); });
  }
  Vector(size_type n, const T& value) {
    append(n, [&](T* p, size_type) { new (p) T(value); });
  }
  Vector(std::initializer_list<T> list) { append_range(list.begin(), list.end()); }
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  Vector(I first, I last) {
    append_range(first, last);
  }
  Vector(const Vector& other) { append_range(other.begin(), other.end()); }
  Vector(Vector&& other) noexcept { swap(other); }
  template <class U, template <class> class Other>
  Vector(const Vector<U, Other>& other) {
    append_range(other.begin(), other.end());
  }
  template <class U, class A>
  Vector(const std::vector<U, A>& other) {
    append_range(other.begin(), other.end());
  }
  ~Vector() {
    destroy(0);
    if (data_) Place::free(data_);
  }
  Vector& operator=(const Vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  Vector& operator=(Vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class U, template <class> class Other>
  Vector& operator=(const Vector<U, Other>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  template <class U, class A>
  Vector& operator=(const std::vector<U, A>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  Vector& operator=(std::initializer_list<T> list) {
    assign(list.begin(), list.end());
    return *this;
  }

  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  void assign(I first, I last) {
    clear();
    append_range(first, last);
  }
  void assign(size_type n, const T& value) {
    clear();
    resize(n, value);
  }

  iterator begin() { return iterator(data_); }
  iterator end() { return iterator(data_ + size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return const_iterator(data_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const { return rbegin(); }
  const_reverse_iterator crend() const { return rend(); }

  size_type size() const { return size_; }
  size_type capacity() const { return capacity_; }
  size_type max_size() const { return ~size_type{0} / sizeof(T) / 2; }
  bool empty() const { return size_ == 0; }
  pointer data() { return pointer(data_); }
  const_pointer data() const { return const_pointer(data_); }
  reference operator[](size_type i) { return begin()[static_cast<difference_type>(i)]; }
  const_reference operator[](size_type i) const { return begin()[static_cast<difference_type>(i)]; }
  reference front() { return *begin(); }
  const_reference front() const { return *begin(); }
  reference back() { return *(end() - 1); }
  const_reference back() const { return *(end() - 1); }

  void reserve(size_type n) {
    if (n > capacity_) move_to(n);
  }
  void shrink_to_fit() {
    if (size_ < capacity_) move_to(size_);
  }
  void resize(size_type n) {
    if (n < size_) return destroy(n);
    append(n - size_, [](T* p, size_type) { new (p) T(); });
  }
  void resize(size_type n, const T& value) {
    if (n < size_) return destroy(n);
    const T copy(value);
    append(n - size_, [&](T* p, size_type) { new (p) T(copy); });
  }
  void clear() { destroy(0); }
  void push_back(const T& value) { resize(size_ + 1, value); }
  template <class... Arguments>
  void emplace_back(Arguments&&... arguments) {
    push_back(T(static_cast<Arguments&&>(arguments)...));
  }
  void pop_back() { destroy(size_ - 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const Scope scope(Place::kPolicy);
    const difference_type at = first - cbegin(), n = last - first;
    std::move(data_ + at + n, data_ + size_, data_ + at);
    destroy(size_ - static_cast<size_type>(n));
    return begin() + at;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator insert(const_iterator at, const T& value) {
    const T copy(value);
    return insert(at, &copy, &copy + 1);
  }
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  iterator insert(const_iterator at, I first, I last) {
    const difference_type offset = at - cbegin(), before = static_cast<difference_type>(size_);
    append_range(first, last);
    const Scope scope(Place::kPolicy);
    std::rotate(data_ + offset, data_ + before, data_ + size_);
    return begin() + offset;
  }
  void swap(Vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  friend void swap(Vector& a, Vector& b) noexcept { a.swap(b); }

 private:
  // Makes `n` more elements, each with make(place, index).
  template <class Make>
  void append(size_type n, Make make) {
    if (n == 0) return;
    if (size_ + n > capacity_) move_to(std::max(size_ + n, size_ ? 2 * capacity_ : size_type{0}));
    const Scope scope(Place::kPolicy);
    for (size_type i = 0; i < n; ++i) make(data_ + size_ + i, i);
    size_ += n;
  }
  // The source may be the device's, whatever this vector is.
  template <class I>
  void append_range(I first, I last) {
    const auto policy = policy_of<I, iterator>();
    auto from = raw(first);
    const Scope scope(policy);
    append(static_cast<size_type>(std::distance(first, last)), [&](T* p, size_type) {
      new (p) T(static_cast<T>(*from));
      ++from;
    });
  }
  void destroy(size_type n) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const Scope scope(Place::kPolicy);
      for (size_type i = n; i < size_; ++i) data_[i].~T();
    }
    size_ = n;
  }
  void move_to(size_type capacity) {
    T* const old = data_;
    T* const memory = capacity ? Place::allocate(capacity) : nullptr;
    {
      const Scope scope(Place::kPolicy);
      for (size_type i = 0; i < size_; ++i) {
        new (memory + i) T(std::move(old[i]));
        old[i].~T();
      }
    }
    if (old) Place::free(old);
    data_ = memory;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_type size_ = 0, capacity_ = 0;
};

template <class T, template <class> class A, class U, template <class> class B>
bool operator==(const Vector<T, A>& a, const Vector<U, B>& b) {
  const auto policy = policy_of<typename Vector<T, A>::iterator, typename Vector<U, B>::iterator>();
  const Scope scope(policy);
  return std::equal(raw(a.begin()), raw(a.end()), raw(b.begin()), raw(b.end()));
}
template <class T, template <class> class A, class U, template <class> class B>
bool operator!=(const Vector<T, A>& a, const Vector<U, B>& b) {
  return !(a == b);
}
template <class T, template <class> class A, class U, class B>
bool operator==(const Vector<T, A>& a, const std::vector<U, B>& b) {
  const auto policy = policy_of<typename Vector<T, A>::iterator>();
  const Scope scope(policy);
  return std::equal(raw(a.begin()), raw(a.end()), b.begin(), b.end());
}
template <class T, template <class> class A, class U, class B>
bool operator!=(const Vector<T, A>& a, const std::vector<U, B>& b) {
  return !(a == b);
}

}  // namespace detail

template <class T, class Allocator = void>
class device_vector : public detail::Vector<T, detail::DeviceMemory> {
  using Base = detail::Vector<T, detail::DeviceMemory>;

 public:
  using Base::Base;
  using Base::operator=;
  device_vector() = default;
  device_vector(const device_vector&) = default;
  device_vector(device_vector&&) = default;
  device_vector& operator=(const device_vector&) = default;
  device_vector& operator=(device_vector&&) = default;
};
template <class T, class Allocator = void>
class host_vector : public detail::Vector<T, detail::HostMemory> {
  using Base = detail::Vector<T, detail::HostMemory>;

 public:
  using Base::Base;
  using Base::operator=;
  host_vector() = default;
  host_vector(const host_vector&) = default;
  host_vector(host_vector&&) = default;
  host_vector& operator=(const host_vector&) = default;
  host_vector& operator=(host_vector&&) = default;
};
/// In managed memory.
template <class T, class Allocator = void>
class universal_vector : public detail::Vector<T, detail::UniversalMemory> {
  using Base = detail::Vector<T, detail::UniversalMemory>;

 public:
  using Base::Base;
  using Base::operator=;
  universal_vector() = default;
  universal_vector(const universal_vector&) = default;
  universal_vector(universal_vector&&) = default;
  universal_vector& operator=(const universal_vector&) = default;
  universal_vector& operator=(universal_vector&&) = default;
};

namespace cuda {
template <class T>
using vector = device_vector<T>;
using ::thrust::universal_vector;
}  // namespace cuda
namespace system::cuda {
using ::thrust::cuda::universal_vector;
using ::thrust::cuda::vector;
}  // namespace system::cuda

}  // namespace thrust
