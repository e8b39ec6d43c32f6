/// \file
/// Loads, stores, atomic operations and asynchronous copies of inline PTX: the accesses that C++ makes, of the same size.
#pragma once

#include <simt/atomics.h>
#include <simt/ptx/values.h>

namespace simt::ptx {

enum class Space { generic, global, shared, local, constant };
enum class Order { weak, is_volatile, atomic, atomic_in_block };

/// What is at an address of a space. Those of shared memory have 32 bits.
template <Space space, class A>
SIMT_INLINE void* pointer(A address, s64 offset) {
  if constexpr (space == Space::shared) {
    return simt::detail::from_shared_window(get<u32>(get<u64>(address)) + static_cast<u32>(offset));
  } else {
    void* const p = reinterpret_cast<void*>(get<u64>(address) + static_cast<u64>(offset));
    if constexpr (space == Space::global) simt::detail::check_global(p);
    return p;
  }
}

/// `bytes` in one access.
template <unsigned bytes>
struct WordOf {
  typedef Bits<typename UnsignedOf<bytes>::Type> Type [[gnu::may_alias]];
};
template <>
struct WordOf<16> {
  typedef u64 Type __attribute__((vector_size(16), may_alias));
};

template <class T, unsigned count>
struct Elements {
  T at[count];
};

template <Space space, class T, Order order, bool is_volatile, class A, class... Targets>
SIMT_INLINE void load(A address, s64 offset, Targets&&... targets) {
  using Word = typename WordOf<sizeof(T) * sizeof...(Targets)>::Type;
  void* p = pointer<space>(address, offset);
  // Of an asm volatile the compiler makes neither less nor more.
  if constexpr (is_volatile) asm volatile("" : "+r"(p));
  Word word;
  if constexpr (order == Order::weak) {
    word = *static_cast<const Word*>(p);
  } else if constexpr (order == Order::is_volatile || sizeof(Word) > 8) {
    word = *static_cast<const volatile Word*>(p);
  } else {
    if constexpr (order == Order::atomic_in_block) simt::detail::announce_block_atomic(p);
    word = __atomic_load_n(static_cast<const Word*>(p), __ATOMIC_SEQ_CST);
  }
  const auto elements = __builtin_bit_cast(Elements<T, sizeof...(Targets)>, word);
  unsigned i = 0;
  (set(targets, elements.at[i++]), ...);
}

template <Space space, class T, Order order, bool is_volatile, class A, class... Sources>
SIMT_INLINE void store(A address, s64 offset, Sources... sources) {
  using Word = typename WordOf<sizeof(T) * sizeof...(Sources)>::Type;
  void* p = pointer<space>(address, offset);
  if constexpr (is_volatile) asm volatile("" : "+r"(p));
  const Elements<T, sizeof...(Sources)> elements{{get<T>(sources)...}};
  const auto word = __builtin_bit_cast(Word, elements);
  if constexpr (order == Order::weak) {
    *static_cast<Word*>(p) = word;
  } else if constexpr (order == Order::is_volatile || sizeof(Word) > 8) {
    *static_cast<volatile Word*>(p) = word;
  } else {
    if constexpr (order == Order::atomic_in_block) simt::detail::announce_block_atomic(p);
    __atomic_store_n(static_cast<Word*>(p), word, __ATOMIC_SEQ_CST);
  }
}

template <Space space, class T, simt::detail::AtomicOp op, bool in_block, class R, class A, class B,
          class C = Constant<0>>
SIMT_INLINE void atomic(R&& target, A address, s64 offset, B value, C compare = {}) {
  if constexpr (std::is_same_v<std::remove_const_t<std::remove_reference_t<R>>, Sink>)
    simt::detail::result_unused();
  T* const p = static_cast<T*>(pointer<space>(address, offset));
  if constexpr (in_block) simt::detail::announce_block_atomic(p);
  set(target, simt::detail::atomic_apply(op, p, get<T>(value), get<T>(compare)));
}

template <class A>
SIMT_INLINE void prefetch(A, s64) {}

template <class T, class R, class A>
SIMT_INLINE void to_shared(R&& target, A a) {
  set(target, T{__cvta_generic_to_shared(reinterpret_cast<const void*>(get<u64>(a)))});
}
template <class T, class R, class A>
SIMT_INLINE void from_shared(R&& target, A a) {
  set(target, reinterpret_cast<T>(__cvta_shared_to_generic(get<u64>(a))));
}
template <bool is_shared, class T, class R, class A, class N>
SIMT_INLINE void mapa(R&& target, A a, N rank) {
  const u32 block = get<u32>(rank);
  if constexpr (is_shared) {
    const void* const own = simt::detail::from_shared_window(static_cast<u32>(get<T>(a)));
    set(target, static_cast<T>(simt::detail::to_shared_window(
                    const_cast<const void*>(simt::detail::map_shared(own, block)))));
  } else {
    set(target, (T)simt::detail::map_shared((const void*)get<T>(a), block));
  }
}
template <simt::detail::MemoryKind kind, class R, class A>
SIMT_INLINE void is_in(R&& target, A a) {
  set(target, simt::detail::memory_of(reinterpret_cast<const void*>(get<u64>(a))) == kind);
}

/// What of `size` bytes is zeros: all but the first `source`, or all if the predicate says so.
SIMT_INLINE u32 zeros_of_copy(u32 size, u32 source) {
  return (size - source) & -static_cast<u32>(source < size);
}
SIMT_INLINE u32 zeros_of_copy(u32 size, bool ignores) { return size & -static_cast<u32>(ignores); }
template <s64 n>
SIMT_INLINE u32 zeros_of_copy(u32 size, Constant<n>) {
  return zeros_of_copy(size, static_cast<u32>(n));
}

template <s64 size, bool is_cg, class A, class B, class... Source>
SIMT_INLINE void copy_async(A to, s64 to_offset, B from, s64 from_offset, Source... source) {
  static_assert(is_cg ? size == 16 : size == 4 || size == 8 || size == 16,
                "simt: inline PTX: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16");
  u32 zeros = 0;
  ((zeros = zeros_of_copy(size, source)), ...);
  simt::detail::copy_async(pointer<Space::shared>(to, to_offset),
                           pointer<Space::global>(from, from_offset), size, zeros);
}

}  // namespace simt::ptx
