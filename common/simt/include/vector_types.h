/// \file
/// CUDA's built-in vector types and dim3.
///
/// Types whose size is 2, 4, 8 or 16 bytes are loaded and stored by the hardware in one access. Two
/// things make the compiler do the same here, where it would otherwise split a copy into its members:
/// the volatile twin of `x`, which nobody reads, keeps `float4 v = a[i];` whole, and the constructor keeps
/// `a[i] = float4{x, y, z, w};` whole. The types stay trivially copyable, and literal: a twin in a union,
/// unlike a volatile member, leaves them so. get() and std::tuple_size are for `auto [x, y] = v;`, which a
/// union rules out otherwise. Under CUDA the types are aggregates, which `float4 v = 1.0f;` does not initialise: a single
/// value comes as a FirstMember, and C++ makes one and a float4 of it within braces only.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace simt::detail {
template <class T>
struct FirstMember {
  [[gnu::always_inline]] constexpr FirstMember(T value_) : value(value_) {}
  T value;
};
}  // namespace simt::detail

#define SIMT_VECTOR_GET(T, member)                        \
  template <std::size_t i>                                \
  [[gnu::always_inline]] constexpr T& get() {             \
    return member;                                        \
  }                                                       \
  template <std::size_t i>                                \
  [[gnu::always_inline]] constexpr const T& get() const { \
    return member;                                        \
  }
#define SIMT_VECTOR_TUPLE(name, T, length)                                       \
  template <>                                                                    \
  struct std::tuple_size<name> : std::integral_constant<std::size_t, length> {}; \
  template <std::size_t i>                                                       \
  struct std::tuple_element<i, name> {                                           \
    using type = T;                                                              \
  };

#define SIMT_VECTOR1(name, T) \
  struct name {               \
    T x;                      \
  };

#define SIMT_VECTOR2(name, T, alignment)                                                         \
  struct alignas(alignment) name {                                                               \
    union {                                                                                      \
      T x;                                                                                       \
      volatile T whole_;                                                                         \
    };                                                                                           \
    T y;                                                                                         \
    name() = default;                                                                            \
    [[gnu::always_inline]] constexpr name(simt::detail::FirstMember<T> x_) : x(x_.value), y{} {} \
    [[gnu::always_inline]] constexpr name(T x_, T y_) : x(x_), y(y_) {}                          \
    SIMT_VECTOR_GET(T, i == 0 ? x : y)                                                           \
  };                                                                                             \
  SIMT_VECTOR_TUPLE(name, T, 2)

#define SIMT_VECTOR3(name, T) \
  struct name {               \
    T x, y, z;                \
  };

#define SIMT_VECTOR4(name, T, alignment)                                    \
  struct alignas(alignment) name {                                          \
    union {                                                                 \
      T x;                                                                  \
      volatile T whole_;                                                    \
    };                                                                      \
    T y, z, w;                                                              \
    name() = default;                                                       \
    [[gnu::always_inline]] constexpr name(simt::detail::FirstMember<T> x_)  \
        : x(x_.value), y{}, z{}, w{} {}                                     \
    [[gnu::always_inline]] constexpr name(T x_, T y_, T z_ = {}, T w_ = {}) \
        : x(x_), y(y_), z(z_), w(w_) {}                                     \
    SIMT_VECTOR_GET(T, i == 0 ? x : i == 1 ? y : i == 2 ? z : w)            \
  };                                                                        \
  SIMT_VECTOR_TUPLE(name, T, 4)

#define SIMT_VECTOR_TYPES(name, T, alignment2, alignment4) \
  SIMT_VECTOR1(name##1, T)                                 \
  SIMT_VECTOR2(name##2, T, alignment2)                     \
  SIMT_VECTOR3(name##3, T)                                 \
  SIMT_VECTOR4(name##4, T, alignment4)

SIMT_VECTOR_TYPES(char, signed char, 2, 4)
SIMT_VECTOR_TYPES(uchar, unsigned char, 2, 4)
SIMT_VECTOR_TYPES(short, short, 4, 8)
SIMT_VECTOR_TYPES(ushort, unsigned short, 4, 8)
SIMT_VECTOR_TYPES(int, int, 8, 16)
SIMT_VECTOR_TYPES(uint, unsigned int, 8, 16)
SIMT_VECTOR_TYPES(long, long, 16, 16)
SIMT_VECTOR_TYPES(ulong, unsigned long, 16, 16)
SIMT_VECTOR_TYPES(longlong, long long, 16, 16)
SIMT_VECTOR_TYPES(ulonglong, unsigned long long, 16, 16)
SIMT_VECTOR_TYPES(float, float, 8, 16)
SIMT_VECTOR_TYPES(double, double, 16, 16)

#undef SIMT_VECTOR_GET
#undef SIMT_VECTOR_TUPLE
#undef SIMT_VECTOR1
#undef SIMT_VECTOR2
#undef SIMT_VECTOR3
#undef SIMT_VECTOR4
#undef SIMT_VECTOR_TYPES

/// The extent of a grid or of a block; what is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
