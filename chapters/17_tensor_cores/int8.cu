// ## Products of INT8 (second reading)
//
// Networks that have been trained are often run with whole numbers of 8 bits. `mma.sync.m16n8k32` multiplies signed bytes and adds them
// up in 32-bit integers, so nothing is rounded and every element of C has to be exactly right.
//
// A register holds four bytes where it held two elements of BF16, so an instruction is 32 deep, and its fragments lie as those of BF16
// do, byte by byte: lane `l` has of A the bytes of columns `4 (l % 4)` to `4 (l % 4) + 3` in row `l / 4`. `ldmatrix` moves rows of 16
// bytes and does not ask what they are. So A is loaded as before. B is not: `.trans` hands out pairs of bytes along a column of *pairs*,
// which are neighbours along N. There is no `ldmatrix` for columns of bytes before Blackwell, and cuBLASLt has no
// kernel for it either: B comes with K along its rows, (N, K), as the weights of a linear layer do, and is loaded as A is.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "eight_bits.h"
#include "lab/cublas_eight_bits.h"
#include "lab/lab.h"
#include "tensor_cores.h"

namespace {

/// The shapes of int8: those of copy_ring, whose rows of A have 128 bytes as well.
struct Bytes {
  static constexpr int BM = 128, BN = 128, BK = 128;  // of a block
  static constexpr int WM = 64, WN = 64;              // of a warp
  static constexpr int STAGES = 3;
  static constexpr int GROUP = 8;  // rows of tiles that are computed side by side, for L2
  static constexpr int threads = BM / WM * (BN / WN) * 32;
  static constexpr int stage = (BM + BN) * BK;  // bytes
  static constexpr int shared_bytes = STAGES * stage;
};

/// d += a b for one 16 x 8 x 32 product of signed bytes, by one warp. a: (16, 32) in four registers of four bytes; b: (32, 8) in
/// two; d: as for m16n8k16.
///
/// Requires: compute capability 8.0; all 32 lanes.
__device__ __forceinline__ void mma_s8(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                       std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// [hide] Copies to shared memory, and fragments
/// Starts to copy the first `bytes` of 16 bytes to shared memory, with zeros behind them.
__device__ __forceinline__ void copy_bytes(std::uint32_t to, const std::int8_t* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}

/// Loads (16, 32) bytes of either matrix: lane i gives the address of row i % 16, of its second half from lane 16 on.
__device__ __forceinline__ void load_bytes(std::uint32_t (&f)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(row)
               : "memory");
}
// [/hide]

}  // namespace

/// C = A B of signed bytes, exactly: no sum is beyond 31 bits for K up to 131,071.
///
/// Launch: a block of Bytes::threads for each Bytes::BM x Bytes::BN elements of C, in one dimension; Bytes::shared_bytes.
/// Requires: compute capability 8.0; A (m, k) and B (n, k) with rows that begin at multiples of 16 bytes.
__global__ void __launch_bounds__(Bytes::threads) int8(lab::EightBitProduct<int> g) {
  constexpr int BM = Bytes::BM, BN = Bytes::BN, BK = Bytes::BK, WM = Bytes::WM, WN = Bytes::WN;
  constexpr int STAGES = Bytes::STAGES, step = Bytes::threads / (BK / 16), count = BM / step;
  extern __shared__ __align__(128) std::int8_t bytes[];  // STAGES of (BM, BK) and (BN, BK)
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  const int tiles_m = (g.m + BM - 1) / BM, tiles_n = (g.n + BN - 1) / BN;
  const int number = static_cast<int>(blockIdx.x), together = Bytes::GROUP * tiles_n;
  const int first = number / together * Bytes::GROUP, rows = min(Bytes::GROUP, tiles_m - first);
  const int row = (first + number % together % rows) * BM, col = number % together / rows * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  // A thread copies the same chunk of one in every `step` rows, of A and of B alike.
  const int r = t / (BK / 16), chunk = t % (BK / 16);
  const std::uint32_t ring = address_of(bytes);
  const std::uint32_t to = ring + static_cast<unsigned>(r * BK + (chunk ^ (r % 8)) * 16);
  const auto* a = static_cast<const std::int8_t*>(g.a) + static_cast<std::size_t>(row + r) * g.ld;
  const auto* b = static_cast<const std::int8_t*>(g.b) + static_cast<std::size_t>(col + r) * g.ld;
  int k_next = chunk * 16;  // of the next K-tile to be copied
  const auto load = [&](int stage, int part, int parts) {
    const int valid = max(0, min(16, g.k - k_next));
#pragma unroll
    for (int i = count * part / parts; i < count * (part + 1) / parts; ++i) {
      const std::size_t down = static_cast<std::size_t>(i * step) * g.ld;
      const std::uint32_t place = to + static_cast<unsigned>(stage * Bytes::stage + i * step * BK);
      copy_bytes(place, a + down + k_next, row + r + i * step < g.m ? valid : 0);
      copy_bytes(place + BM * BK, b + down + k_next, col + r + i * step < g.n ? valid : 0);
    }
    if (part + 1 < parts) return;
    __pipeline_commit();
    k_next += BK;
  };

  std::uint32_t fa[2][WM / 16][4], fb[2][WN / 16][4];
  const std::uint32_t at_a = ring + static_cast<unsigned>((warp_row + lane % 16) * BK);
  const std::uint32_t at_b = ring + static_cast<unsigned>((BM + warp_col + lane % 16) * BK);
  const auto fragments = [&](int which, int stage, int k) {
    const unsigned from = static_cast<unsigned>(stage * Bytes::stage) +
                          16 * static_cast<unsigned>((k / 16 + lane / 16) ^ (lane % 8));
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) load_bytes(fa[which][i], at_a + from + 16 * i * BK);
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) load_bytes(fb[which][j], at_b + from + 16 * j * BK);
  };

  int d[WM / 16][WN / 8][4] = {};
  for (int stage = 0; stage < STAGES - 1; ++stage) load(stage, 0, 1);
  __pipeline_wait_prior(STAGES - 2);
  __syncthreads();
  fragments(0, 0, 0);
  int stage = 0, filled = STAGES - 1;
  for (int k0 = 0; k0 < g.k; k0 += BK) {
    const int next_stage = stage + 1 == STAGES ? 0 : stage + 1;
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      const int now = k / 32 % 2, next = 1 - now;
      if (k + 32 < BK) {
        fragments(next, stage, k + 32);
        load(filled, k / 32, BK / 32 - 1);
      } else {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the next K-tile is there, and nobody reads the one before this
        fragments(next, next_stage, 0);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)  // columns 0 to 7 of 16 are registers 0 and 2
          mma_s8(d[i][j], fa[now][i], fb[now][j / 2][j % 2], fb[now][j / 2][j % 2 + 2]);
      }
    }
    stage = next_stage;
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  }
  __pipeline_wait_prior(0);

#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int at = row + warp_row + 16 * i + 8 * h + lane / 4;
        const int c = col + warp_col + 8 * j + lane % 4 * 2;
        if (at >= g.m || c >= g.n) continue;
        int* const out = g.c + static_cast<std::size_t>(at) * g.n + c;
        if (g.n % 2 == 0) {
          *reinterpret_cast<int2*>(out) = make_int2(d[i][j][2 * h], d[i][j][2 * h + 1]);
        } else {
          out[0] = d[i][j][2 * h];
          if (c + 1 < g.n) out[1] = d[i][j][2 * h + 1];
        }
      }
    }
  }
}

// 689 TOP/s at 4096, at 1,980 MHz: 1.4 times the rate of `copy_ring` with BF16, and 0.46 of cuBLASLt; 0.81 at 2048. Why it gains less than
// half of what an instruction of twice the depth promises is not measured.
//= 689 TOP/s at 4096, at 1,980 MHz: (rate("int8") / 1000, 4096, clock("int8"))
//= 1.4 times: rate("int8") / rate("copy_ring")
//= and 0.46 of: ratio("int8")
//= 0.81 at: ratio("int8", 2048)

// [hide] How the rung is registered
namespace {

/// An element of A B, byte by byte.
struct ByteSum {
  lab::View<std::int8_t> a, b;
  std::size_t n, pitch;

  __host__ __device__ int operator()(std::size_t i) const {
    const auto* const x = reinterpret_cast<const int4*>(a.data() + i / n * pitch);
    const auto* const y = reinterpret_cast<const int4*>(b.data() + i % n * pitch);
    int sum = 0;
    for (std::size_t chunk = 0; chunk < pitch / 16; ++chunk) {
      const int4 of_a = x[chunk], of_b = y[chunk];  // 16 bytes each, zeros behind the row
      std::int8_t p[16], q[16];
      std::memcpy(p, &of_a, 16);
      std::memcpy(q, &of_b, 16);
      for (int e = 0; e < 16; ++e) sum += p[e] * q[e];
    }
    return sum;
  }
};

/// The rung: operands, C, and the launch.
class Int8 {
 public:
  Int8(std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed)
      : n_(n),
        pitch_(pitch_of(k)),
        a_(m * pitch_, ByRows<std::int8_t>{seed, k, pitch_}, "A"),
        b_(n * pitch_, ByRows<std::int8_t>{seed + 1, k, pitch_}, "B"),
        c_(m * n, "C"),
        g_{static_cast<int>(m),
           static_cast<int>(n),
           static_cast<int>(k),
           std::as_const(a_).data(),
           std::as_const(b_).data(),
           static_cast<int>(pitch_),
           c_.data()} {}

  void launch() const {
    CUDA_CHECK(cudaFuncSetAttribute(int8, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    Bytes::shared_bytes));
    const int blocks = lab::ceil_div(g_.m, Bytes::BM) * lab::ceil_div(g_.n, Bytes::BN);
    int8<<<static_cast<unsigned>(blocks), Bytes::threads, Bytes::shared_bytes>>>(g_);
  }
  std::vector<lab::Expectation> outputs() {
    return {lab::expect(c_, ByteSum{a_.view(), b_.view(), n_, pitch_})};
  }
  lab::Rung about() const {
    return {.flops = 2.0 * g_.m * g_.n * g_.k, .peer = lab::cublas_int8(g_)};
  }

 private:
  std::size_t n_, pitch_;
  lab::Input<std::int8_t> a_, b_;
  lab::DeviceBuffer<int> c_;
  lab::EightBitProduct<int> g_;
};

void add(lab::GemmLadderOf<bf16>& of_bf16) {
  lab::Ladder& ladder = of_bf16.ladder();
  if (!ladder.wants("int8")) return;
  const auto [m, n, k] = ladder.extents<3>();
  Int8 product(m, n, k, ladder.seed());
  ladder.add("int8", product, product.about());
}

const lab::Rungs here(add);

}  // namespace
// [/hide]
