/// \file
/// What lanes and threads do together in inline PTX.
#pragma once

#include <simt/intrinsics.h>
#include <simt/ptx/registers.h>
#include <simt/ptx/values.h>

namespace simt::ptx {

/// The lane that a value comes from, by the rule of the instruction's description, and whether it is one of this lane's segment.
struct Source {
  int lane;
  bool is_inside;
};
/// \param c the last lane, and at bit 8 the bits of a lane that name its segment
struct Segment {
  explicit Segment(u32 c)
      : lane(static_cast<int>(laneid())),
        mask(static_cast<int>(c >> 8 & 31)),
        first(lane & mask),
        last(first | (static_cast<int>(c & 31) & ~mask)) {}
  int lane, mask, first, last;

  Source source(int from, bool is_inside) const { return {is_inside ? from : lane, is_inside}; }
};
[[gnu::noinline]] SIMT_UNTRACED inline Source up(u32 b, u32 c) {
  const Segment segment(c);
  const int from = segment.lane - static_cast<int>(b & 31);
  return segment.source(from, from >= segment.last);
}
[[gnu::noinline]] SIMT_UNTRACED inline Source down(u32 b, u32 c) {
  const Segment segment(c);
  const int from = segment.lane + static_cast<int>(b & 31);
  return segment.source(from, from <= segment.last);
}
[[gnu::noinline]] SIMT_UNTRACED inline Source bfly(u32 b, u32 c) {
  const Segment segment(c);
  const int from = segment.lane ^ static_cast<int>(b & 31);
  return segment.source(from, from <= segment.last);
}
[[gnu::noinline]] SIMT_UNTRACED inline Source idx(u32 b, u32 c) {
  const Segment segment(c);
  const int from = segment.first | (static_cast<int>(b & 31) & ~segment.mask);
  return segment.source(from, from <= segment.last);
}
#define SIMT_SHFL(mode)                                                            \
  template <class R, class P, class A, class B, class C, class M>                  \
  SIMT_INLINE void shfl_##mode(R&& target, P&& predicate, A a, B b, C c, M mask) { \
    const Source source = mode(get<u32>(b), get<u32>(c));                          \
    set(target, __shfl_sync(get<u32>(mask), get<u32>(a), source.lane));            \
    set(predicate, source.is_inside);                                              \
  }
SIMT_SHFL(up)
SIMT_SHFL(down)
SIMT_SHFL(bfly)
SIMT_SHFL(idx)
#undef SIMT_SHFL

template <class R, class A, class M>
SIMT_INLINE void vote_all(R&& target, A a, M mask) {
  set(target, __all_sync(get<u32>(mask), get<bool>(a)) != 0);
}
template <class R, class A, class M>
SIMT_INLINE void vote_any(R&& target, A a, M mask) {
  set(target, __any_sync(get<u32>(mask), get<bool>(a)) != 0);
}
template <class R, class A, class M>
SIMT_INLINE void vote_uni(R&& target, A a, M mask) {
  set(target, __uni_sync(get<u32>(mask), get<bool>(a)) != 0);
}
template <class R, class A, class M>
SIMT_INLINE void vote_ballot(R&& target, A a, M mask) {
  set(target, __ballot_sync(get<u32>(mask), get<bool>(a)));
}
template <class T, class R, class A, class M>
SIMT_INLINE void match_any(R&& target, A a, M mask) {
  set(target, __match_any_sync(get<u32>(mask), get<T>(a)));
}
template <class T, class R, class P, class A, class M>
SIMT_INLINE void match_all(R&& target, P&& predicate, A a, M mask) {
  int all;
  set(target, __match_all_sync(get<u32>(mask), get<T>(a), &all));
  set(predicate, all != 0);
}
#define SIMT_REDUX(name)                                            \
  template <class T, class R, class A, class M>                     \
  SIMT_INLINE void redux_##name(R&& target, A a, M mask) {          \
    set(target, __reduce_##name##_sync(get<u32>(mask), get<T>(a))); \
  }
SIMT_REDUX(add)
SIMT_REDUX(min)
SIMT_REDUX(max)
SIMT_REDUX(and)
SIMT_REDUX(or)
SIMT_REDUX(xor)
#undef SIMT_REDUX
template <class M>
SIMT_INLINE void sync_warp(M mask) {
  __syncwarp(get<u32>(mask));
}

/// A barrier for a number of threads has to be one of them all.
SIMT_INLINE void check_threads() {}
template <class N>
SIMT_INLINE void check_threads(N threads) {
  simt::detail::check_barrier(get<u32>(threads));
}
#define SIMT_ONLY_ZERO(number) \
  static_assert(number == 0, "simt: inline PTX: of the barriers only barrier 0 is simulated")
template <bool waits, class Number, class... N>
SIMT_INLINE void named_barrier(Number number, N... threads) {
  simt::detail::named_barrier(get<u32>(number), (0u + ... + get<u32>(threads)), waits);
  asm volatile("" : : : "memory");
}
#define SIMT_BARRIER(operation, intrinsic)                              \
  template <s64 number, class R, class A, class... N>                   \
  SIMT_INLINE void barrier_##operation(R&& target, A a, N... threads) { \
    SIMT_ONLY_ZERO(number);                                             \
    check_threads(threads...);                                          \
    const int result = __syncthreads_##intrinsic(get<bool>(a));         \
    if constexpr (std::is_same_v<R, bool&>) {                           \
      set(target, result != 0);                                         \
    } else {                                                            \
      set(target, static_cast<u32>(result));                            \
    }                                                                   \
  }
SIMT_BARRIER(popc, count)
SIMT_BARRIER(and, and)
SIMT_BARRIER(or, or)
#undef SIMT_BARRIER
#undef SIMT_ONLY_ZERO

}  // namespace simt::ptx
