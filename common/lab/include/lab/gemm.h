/// \file
/// The host side of C = alpha A B + beta C: arguments, problems with their references, the
/// small cases that every kernel must solve, and the ladder of a chapter about them.
///
/// All matrices are row-major: element (i, j) of A is `a[i * lda + j]`. Their elements are of one type T: float, whose
/// names have no suffix (`Gemm`, `GemmLadder`), `__nv_bfloat16` (`GemmOf<__nv_bfloat16>`) or `__half`. alpha, beta and the
/// sums are float in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/buffer.h"
#include "lab/ladder.h"
#include "lab/reference.h"
#include "lab/verify.h"

struct __half;
struct __nv_bfloat16;

namespace lab {

/// The arguments of one product C = alpha A B + beta C, as the launcher of every rung takes them.
///
/// The extents are ints, as in BLAS; an offset such as `row * lda` needs 64 bits. The pointers are
/// aligned to an element, no more is promised: whoever loads a float4 has to look.
template <class T>
struct GemmOf {
  int m = 0;             ///< rows of A and of C, at least 1
  int n = 0;             ///< columns of B and of C, at least 1
  int k = 0;             ///< columns of A, rows of B, at least 1
  float alpha = 1;       ///< factor of the product
  const T* a = nullptr;  ///< m x k in device memory
  int lda = 0;           ///< elements from a row of A to the next, at least k
  const T* b = nullptr;  ///< k x n in device memory
  int ldb = 0;           ///< elements from a row of B to the next, at least n
  float beta = 0;  ///< factor of the C that was; where 0, it may hold NaN, which must not spread
  T* c = nullptr;  ///< m x n in device memory; what lies between its rows stays as it is
  int ldc = 0;     ///< elements from a row of C to the next, at least n

  /// Floating-point operations of the product, an FMA counting as 2.
  double flops() const { return 2.0 * m * n * k; }

  /// The product of some rows of A alone: rows `first` to `first + count - 1` of C.
  GemmOf rows(int first, int count) const {
    GemmOf slice = *this;
    slice.m = count;
    slice.a = a + static_cast<std::size_t>(first) * static_cast<std::size_t>(lda);
    slice.c = c + static_cast<std::size_t>(first) * static_cast<std::size_t>(ldc);
    return slice;
  }
};
using Gemm = GemmOf<float>;

/// Launches a product in slices of rows, where one launch cannot have all of them: a grid has at most
/// 65,535 blocks along y.
/// \param gemm the product
/// \param rows_per_block rows of C that a block along y computes
/// \param launch called with each slice, from the first row down; nearly always once
template <class T>
void for_row_slices(const GemmOf<T>& gemm, int rows_per_block,
                    const std::function<void(const std::type_identity_t<GemmOf<T>>&)>& launch);

/// The one signature of a kernel that computes C = alpha A B + beta C, the arguments in the order of `Gemm`:
///
///     __global__ void name(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
///                          float beta, float* c, int ldc)
template <class T>
using GemmKernelOf = void (*)(int m, int n, int k, float alpha, const T* a, int lda, const T* b,
                              int ldb, float beta, T* c, int ldc);
using GemmKernel = GemmKernelOf<float>;

/// How such a kernel is launched: a block for each tile of C, blockIdx.x along its columns and blockIdx.y along
/// its rows.
struct GemmLaunch {
  int rows = 1, cols = 1;  ///< elements of C that a block computes
  dim3 threads = 256;      ///< of a block
  std::size_t shared = 0;  ///< bytes of dynamic shared memory of a block
};

/// Launches a product in the default stream: as many blocks as its C needs, in slices of rows where these are
/// more than a grid has along y; asks for dynamic shared memory beyond 48 KiB.
template <class T>
void launch(GemmKernelOf<T> kernel, const GemmLaunch& how, const GemmOf<T>& gemm);

/// The same, for `GemmRung::launch`.
template <class T>
std::function<void(const GemmOf<T>&)> launcher(GemmKernelOf<T> kernel, const GemmLaunch& how);

/// Prints what the compiler made of a kernel: registers and local memory of a thread, and how many blocks fit
/// on an SM. Nothing on the simulator, which has no registers.
template <class T>
void print_registers(GemmKernelOf<T> kernel, const GemmLaunch& how);

/// One of several kernels, or launches, of one rung.
template <class T>
struct GemmVariantOf {
  std::string variant;  ///< "tile=16"
  GemmKernelOf<T> kernel;
  GemmLaunch how;
  std::function<void(const GemmOf<T>&)> show = {};  ///< prints to stdout, after it ran

  ~GemmVariantOf();
};
using GemmVariant = GemmVariantOf<float>;

/// What distinguishes one product from another but for the elements.
struct GemmCase {
  int m = 1, n = 1, k = 1;
  float alpha = 1, beta = 0;
  int lda = 0, ldb = 0, ldc = 0;                 ///< 0: the length of the row
  int offset_a = 0, offset_b = 0, offset_c = 0;  ///< elements from an aligned address to the matrix

  /// M, N and K.
  Size size() const;
};

/// A case in one line.
std::string to_string(const GemmCase& what);

/// The cases of `--cases`: small products that a kernel may get wrong.
///
/// The first 144 take M, N and K from {1, 2, 3, 17, 31, 32, 33, 127, 128, 129, 255, 257}, each of the
/// 144 pairs of M and N once, of M and K, and of N and K (a Latin square). alpha is 1 or -0.5, beta 0,
/// 1 or -0.5. Each of the three matrices has, in turn, rows without a gap, rows whose length is a
/// multiple of 4 elements behind an aligned address, or rows with any gap at an address that is not
/// aligned. In the remaining nine alpha is 0, and beta runs through its values. Where beta is 0, C is
/// full of NaN. Any dozen in a row from a multiple of 12 on has each M and each N.
std::vector<GemmCase> gemm_cases();

/// How products may be less exact than a sum of floats is.
struct GemmLoss {
  bool tf32 = false;  ///< A and B are cut or rounded to the 11 bits of TF32
  double cuts =
      0;  ///< how often a sum is cut off, not rounded, for each product of two elements that it gets
  double dropped = 0;  ///< what a product lacks at most, as a part of itself, either way at random
};

/// How far an element of the result may be from the reference: a sum of k products of mean magnitude
/// 1/4, times alpha, and beta times the C that was. See `tolerance_for_sum`.
Tolerance gemm_tolerance(const GemmCase& what, const GemmLoss& loss = {});

/// One product: its inputs, its output, its reference.
///
/// The elements of A and B are those of `random_floats`, rounded to T, and the same for any leading dimension. The
/// gaps between the rows of A and B hold NaN, those of C a pattern that has to stay. A and B end with
/// their last element, so that a read past it is one past the buffer.
///
/// The reference is summed up in double precision, a thread for each element. On the simulator, whose host has to do
/// it, products of more than 2^27 multiplications are checked in eight rows, of which the first and the last are two.
template <class T>
class GemmProblemOf {
 public:
  /// \param what the product
  /// \param seed which elements
  GemmProblemOf(const GemmCase& what, std::uint64_t seed, const GemmLoss& loss = {});
  GemmProblemOf(const GemmProblemOf&) = delete;
  GemmProblemOf& operator=(const GemmProblemOf&) = delete;
  ~GemmProblemOf();

  /// The arguments.
  GemmOf<T> gemm();
  /// The case.
  const GemmCase& what() const { return case_; }
  /// Sets C up: random where beta is not 0, otherwise NaN; the pattern in the gaps.
  void prepare();
  /// Compares C with the reference, and looks whether the gaps are as they were.
  Comparison verify();
  /// C, poisoned and checked.
  Expectation output();

 private:
  GemmCase case_;
  Tolerance tolerance_;
  Input<T> a_, b_;
  // C as `prepare` leaves it, gaps and all; none where that is all NaN. It lies before C: a write past the end of C
  // hits nothing that belongs to somebody.
  std::optional<Input<T>> c_before_;
  DeviceBuffer<T> c_;
  std::vector<int> rows_;  // the rows of C that are compared; empty: all
  std::optional<Reference<int>> row_numbers_;
  std::optional<Reference<double>> want_;  // (rows, n)
};
using GemmProblem = GemmProblemOf<float>;

/// A rung that computes a product.
template <class T>
struct GemmRungOf {
  std::string name = {};  ///< the kernel's name
  /// Launches the product in the default stream, whatever its arguments.
  std::function<void(const GemmOf<T>&)> launch = {};
  std::string variant = {};                         ///< which of several launches of one name
  std::function<void(const GemmOf<T>&)> show = {};  ///< prints to stdout, after the rung ran

  ~GemmRungOf();
};
using GemmRung = GemmRungOf<float>;

/// The ladder of a chapter whose rungs compute products: `lab::run` calls the chapter with one, for each size and case.
/// The peer of all rungs is cuBLAS, which is also the rung `cublas` where the header names it: neither is
/// added by the chapter. With `--size`, each rung computes C = A B (alpha 1, beta 0, over a
/// C full of NaN), is verified and timed in turn with the peer; with `--cases`, it is verified on the
/// cases.
template <class T>
class GemmLadderOf {
 public:
  using Launch = std::function<void(const GemmOf<T>&)>;

  explicit GemmLadderOf(Ladder& ladder);
  /// One beside the chapter's own: for rungs whose elements are of another type, or are multiplied in another one. Its
  /// peer is cuBLAS for that type, and it adds no rung `cublas`.
  GemmLadderOf(Ladder& ladder, const GemmLoss& loss);
  GemmLadderOf(const GemmLadderOf&) = delete;
  GemmLadderOf& operator=(const GemmLadderOf&) = delete;
  ~GemmLadderOf();

  /// The ladder below it, for its seed, its size, and rungs that compute no product.
  Ladder& ladder() { return ladder_; }
  /// What its rungs may lose, if it stands beside the chapter's own.
  const std::optional<GemmLoss>& beside() const { return beside_; }

  /// Adds a rung: a kernel of the one signature, and its launch.
  void add(const std::string& name, GemmKernelOf<T> kernel, const GemmLaunch& how);
  /// Adds a rung that launches in a way of its own, whatever the product.
  void add(const std::string& name, const Launch& launch);
  void add(const std::string& name, const std::string& variant, const Launch& launch);
  /// Adds a rung with all that it may have.
  void add(const GemmRungOf<T>& rung);
  /// Adds the variants of a rung: `ladder.sweep("shared_tiles", {{"tile=16", shared_tiles<16>, {16, 16, {16,
  /// 16}}}, {"tile=32", shared_tiles<32>, {32, 32, {32, 32}}}});`
  void sweep(const std::string& name, std::initializer_list<GemmVariantOf<T>> variants);
  /// Adds a demonstration: a kernel with a mistake, which passes if exactly the finding is raised that the header
  /// names, `[raises KIND]`. It computes the product of `--size`, and no cases.
  void demonstrate(const std::string& name, GemmKernelOf<T> kernel, const GemmLaunch& how);
  void demonstrate(const std::string& name, const Launch& launch);
  /// Adds rungs that compute no product, or none of the size that is asked for: demonstrations and
  /// microbenchmarks.
  /// \param add_rungs called for the first size, and not for `--cases`
  void add_with(const std::function<void(Ladder&)>& add_rungs);

  /// The peer that every rung is timed beside, in place of the vendor's.
  /// \param launch computes the product; none: `absent` says why
  /// \param proof called once for each size with its arguments and the result in place, after the
  ///   result was found right: what else a fair peer has to prove; may be empty
  void peer(const std::string& name, const Launch& launch,
            const std::function<Comparison(const GemmOf<T>&)>& proof = {},
            const std::string& absent = {});

 private:
  void use_cublas();

  Ladder& ladder_;
  std::optional<GemmLoss> beside_;
  GemmProblemOf<T> problem_;
  Peer peer_;
};
using GemmLadder = GemmLadderOf<float>;

}  // namespace lab
