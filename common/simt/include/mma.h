/// \file
/// Matrices of a warp (nvcuda::wmma): 16 x 16 x 16 of __half and __nv_bfloat16, 16 x 16 x 8 of TF32, summed up in float.
///
/// A fragment lies in registers as an H200 holds it, and is loaded and stored by the instructions that nvcc 13 makes of it for
/// sm_90: __half from shared memory by ldmatrix, anything else 4 bytes at a time, and sums 8 bytes at a time where rows are stored.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <simt/ptx/arithmetic.h>
#include <simt/ptx/matrices.h>
#include <simt/ptx/registers.h>

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

namespace detail {

using simt::detail::FourRegisters;
using simt::detail::MatrixType;
using Word [[gnu::may_alias]] = unsigned;
using TwoFloats = float2;

template <class T>
struct Element;
template <>
struct Element<__half> {
  using Storage = __half;
  static constexpr MatrixType kType = MatrixType::f16;
  static constexpr int kDepth = 16, kCount = 16;  // every element of A and B twice
};
template <>
struct Element<__nv_bfloat16> {
  using Storage = __nv_bfloat16;
  static constexpr MatrixType kType = MatrixType::bf16;
  static constexpr int kDepth = 16, kCount = 8;
};
template <>
struct Element<precision::tf32> {
  using Storage = float;
  static constexpr MatrixType kType = MatrixType::tf32;
  static constexpr int kDepth = 8, kCount = 4;
};

template <class T, int count>
struct alignas(8) Fragment {
  enum { num_elements = count, num_storage_elements = count };
  using element_type = T;
  using storage_element_type = T;
  T x[count];
};

template <class T>
inline constexpr bool kNever = false;

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(
      detail::kNever<T>,
      "simt: of the fragments of nvcuda::wmma there are those of 16, 16, 16 of __half and "
      "__nv_bfloat16 and of 16, 16, 8 of precision::tf32, with sums in float");
};
#define SIMT_FRAGMENTS(T, layout)                                                            \
  template <>                                                                                \
  class fragment<matrix_a, 16, 16, detail::Element<T>::kDepth, T, layout>                    \
      : public detail::Fragment<detail::Element<T>::Storage, detail::Element<T>::kCount> {}; \
  template <>                                                                                \
  class fragment<matrix_b, 16, 16, detail::Element<T>::kDepth, T, layout>                    \
      : public detail::Fragment<detail::Element<T>::Storage, detail::Element<T>::kCount> {};
SIMT_FRAGMENTS(__half, row_major)
SIMT_FRAGMENTS(__half, col_major)
SIMT_FRAGMENTS(__nv_bfloat16, row_major)
SIMT_FRAGMENTS(__nv_bfloat16, col_major)
SIMT_FRAGMENTS(precision::tf32, row_major)
SIMT_FRAGMENTS(precision::tf32, col_major)
#undef SIMT_FRAGMENTS
template <>
class fragment<accumulator, 16, 16, 16, float> : public detail::Fragment<float, 8> {};
template <>
class fragment<accumulator, 16, 16, 8, float> : public detail::Fragment<float, 8> {};

namespace detail {

/// Where a block of 8 x 8 elements begins, and whether its rows in memory are those of a register's lanes: of A the rows of the
/// matrix, of B its columns.
template <class Use, class Layout>
struct Blocks {
  static constexpr bool kIsA = std::is_same_v<Use, matrix_a>;
  static constexpr bool kIsRowMajor = std::is_same_v<Layout, row_major>;
  static constexpr bool kIsTransposed = kIsA != kIsRowMajor;
  SIMT_INLINE static unsigned row(unsigned i) { return 8 * (kIsRowMajor ? i % 2 : i / 2); }
  SIMT_INLINE static unsigned column(unsigned i) { return 8 * (kIsRowMajor ? i / 2 : i % 2); }
};

SIMT_INLINE void check_matrix(const void* p, unsigned row_bytes) {
  if (reinterpret_cast<uint64_t>(p) % 32 || row_bytes % 16)
    simt::detail::trap(
        "wmma needs a matrix that begins at a multiple of 32 bytes, with rows a multiple of 16 "
        "bytes apart");
}

template <class Use, class Layout, class S>
SIMT_INLINE void load_pairs(unsigned* registers, const S* p, unsigned ldm) {
  using Place = Blocks<Use, Layout>;
  const unsigned lane = simt::ptx::laneid();
  if constexpr (std::is_same_v<S, __half>) {
    if (__isShared(p)) {
      const S* const row = p + (Place::row(lane / 8) + lane % 8) * ldm + Place::column(lane / 8);
      simt::ptx::ldmatrix<simt::ptx::Space::generic, Place::kIsTransposed>(
          reinterpret_cast<simt::ptx::u64>(row), 0, registers[0], registers[1], registers[2],
          registers[3]);
      return;
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    registers[i] = *reinterpret_cast<const Word*>(p + (Place::row(i) + lane / 4) * ldm +
                                                  Place::column(i) + lane % 4 * 2);
  }
  if constexpr (Place::kIsTransposed) {
    for (unsigned i = 0; i < 4; ++i) simt::ptx::movmatrix(registers[i], registers[i]);
  }
}

template <class Use, class Layout>
SIMT_INLINE void load_words(float* x, const float* p, unsigned ldm) {
  using Place = Blocks<Use, Layout>;
  const unsigned lane = simt::ptx::laneid();
  for (unsigned i = 0; i < 4; ++i) {
    // The row of A, or the column of B, and the place along the sum.
    const unsigned line = lane / 4 + 8 * (Place::kIsA ? i % 2 : i / 2);
    const unsigned k = lane % 4 + 4 * (Place::kIsA ? i / 2 : i % 2);
    x[i] = Place::kIsTransposed ? p[k * ldm + line] : p[line * ldm + k];
  }
}

}  // namespace detail

template <class Use, int k, class T, class Layout>
SIMT_INLINE void load_matrix_sync(fragment<Use, 16, 16, k, T, Layout>& f,
                                  const typename detail::Element<T>::Storage* p, unsigned ldm) {
  detail::check_matrix(p, ldm * sizeof(*p));
  if constexpr (sizeof(*p) == 4) {
    detail::load_words<Use, Layout>(f.x, p, ldm);
  } else {
    unsigned registers[4];
    detail::load_pairs<Use, Layout>(registers, p, ldm);
    for (int i = 0; i < f.num_elements; i += 8) __builtin_memcpy(&f.x[i], registers, 16);
  }
}
/// Sum i of a lane is at row lane / 4 + 8 * (i / 2 % 2) and column lane % 4 * 2 + i % 2 + 8 * (i / 4).
template <int k>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, 16, 16, k, float>& f, const float* p,
                                  unsigned ldm, layout_t layout) {
  detail::check_matrix(p, ldm * sizeof(*p));
  const unsigned lane = simt::ptx::laneid(), row = lane / 4, column = lane % 4 * 2;
  for (unsigned i = 0; i < 8; i += 2) {
    const unsigned r = row + i / 2 % 2 * 8, c = column + i / 4 * 8;
    if (layout == mem_row_major) {
      const auto two = *reinterpret_cast<const detail::TwoFloats*>(&p[r * ldm + c]);
      f.x[i] = two.x;
      f.x[i + 1] = two.y;
    } else {
      f.x[i] = p[c * ldm + r];
      f.x[i + 1] = p[(c + 1) * ldm + r];
    }
  }
}
template <int k>
SIMT_INLINE void store_matrix_sync(float* p, const fragment<accumulator, 16, 16, k, float>& f,
                                   unsigned ldm, layout_t layout) {
  detail::check_matrix(p, ldm * sizeof(*p));
  const unsigned lane = simt::ptx::laneid(), row = lane / 4, column = lane % 4 * 2;
  for (unsigned i = 0; i < 8; i += 2) {
    const unsigned r = row + i / 2 % 2 * 8, c = column + i / 4 * 8;
    if (layout == mem_row_major) {
      *reinterpret_cast<detail::TwoFloats*>(&p[r * ldm + c]) = make_float2(f.x[i], f.x[i + 1]);
    } else {
      p[c * ldm + r] = f.x[i];
      p[(c + 1) * ldm + r] = f.x[i + 1];
    }
  }
}

template <class Use, int k, class T, class Layout, class V>
SIMT_INLINE void fill_fragment(fragment<Use, 16, 16, k, T, Layout>& f, V value) {
  for (auto& element : f.x) element = value;
}

template <int k, class T, class LayoutA, class LayoutB>
SIMT_INLINE void mma_sync(fragment<accumulator, 16, 16, k, float>& d,
                          const fragment<matrix_a, 16, 16, k, T, LayoutA>& a,
                          const fragment<matrix_b, 16, 16, k, T, LayoutB>& b,
                          const fragment<accumulator, 16, 16, k, float>& c) {
  unsigned x[4], y[4], sums[8];
  __builtin_memcpy(x, a.x, sizeof(x));
  __builtin_memcpy(y, b.x, sizeof(y));
  __builtin_memcpy(sums, c.x, sizeof(sums));
  for (int half = 0; half < 2; ++half) {
    unsigned* const s = sums + 4 * half;
    simt::ptx::mma<detail::Element<T>::kType>(s[0], s[1], s[2], s[3], x[0], x[1], x[2], x[3],
                                              y[2 * half], y[2 * half + 1], s[0], s[1], s[2], s[3]);
  }
  __builtin_memcpy(d.x, sums, sizeof(sums));
}

/// The nearest number with 10 bits of fraction, ties away from zero.
SIMT_INLINE float __float_to_tf32(float value) {
  unsigned bits;
  simt::ptx::to_tf32(bits, __float_as_uint(value));
  return __uint_as_float(bits);
}

}  // namespace nvcuda::wmma
