// What the measurements of chapter 13 share: buffers, a reference, cuBLAS, and how a launch is timed.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../../../chapters/13_any_shape/any_product.cuh"
#ifdef SEPARATE_KERNELS  // kernels.cu, in as many files as there are parts
#include "kernels.inc"
#endif

using namespace any_product;

namespace {

void check(int error, const char* what, int line) {
  if (error == 0) return;
  std::fprintf(stderr, "shapes.cu:%d: %s: error %d\n", line, what, error);
  std::exit(1);
}
#define CHECK(x) check(static_cast<int>(x), #x, __LINE__)

__device__ float value(size_t i, unsigned seed) {  // of [-1, 1)
  unsigned long long z = i + seed * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<float>(z >> 40) / (1 << 23) - 1;
}
__global__ void fill(float* x, size_t n, unsigned seed) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    x[i] = value(i, seed);
}
__global__ void set(float* x, size_t n, float v) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) x[i] = v;
}

/// A row-major product; ta: A lies as (k, m).
struct Call {
  bool ta, tb;
  long long m, n, k;
  float alpha;
  const float* a;
  long long lda;
  const float* b;
  long long ldb;
  float beta;
  float* c;
  long long ldc;
};

__global__ void reference(Call c, double* want, const float* old) {
  const long long x = 1LL * blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= c.m * c.n) return;
  const long long i = x / c.n, j = x % c.n;
  double sum = 0;
  for (long long l = 0; l < c.k; ++l)
    sum += double(c.ta ? c.a[l * c.lda + i] : c.a[i * c.lda + l]) *
           double(c.tb ? c.b[j * c.ldb + l] : c.b[l * c.ldb + j]);
  want[x] = c.alpha * sum + (c.beta == 0 ? 0 : double(c.beta) * old[i * c.ldc + j]);
}
/// Counts wrong elements of C, and floats between and behind its rows that are not as they were.
__global__ void compare(Call c, const double* want, const float* old, long long all,
                        double tolerance, unsigned* wrong) {
  const long long x = 1LL * blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= all) return;
  const long long i = x / c.ldc, j = x % c.ldc;
  if (i < c.m && j < c.n) {
    if (!(fabs(c.c[x] - want[i * c.n + j]) <= tolerance)) atomicAdd(wrong, 1u);
  } else if (__float_as_uint(c.c[x]) != __float_as_uint(old[x])) {
    atomicAdd(wrong, 1u);
  }
}
__global__ void compare_two(const float* a, const float* b, size_t n, double tolerance,
                            unsigned* wrong) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    if (!(fabs(double(a[i]) - b[i]) <= tolerance)) atomicAdd(wrong, 1u);
}

/// Keeps the GPU busy while a CPU enqueues what is timed next: otherwise the time has the gap before a graph begins.
__global__ void hold(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
constexpr long long HOLD = 80000;  // cycles: 40 microseconds

struct Shape {
  int m, n, k;
  bool ta = false, tb = false;
};
const Shape named[] = {{256, 256, 256},
                       {512, 512, 512},
                       {768, 768, 768},
                       {1000, 1000, 1000},
                       {1024, 1024, 1024},
                       {1280, 1280, 1280},
                       {1536, 1536, 1536},
                       {2048, 2048, 2048},
                       {3072, 3072, 3072},
                       {4096, 4096, 4096},
                       {4001, 4001, 4001},
                       {4095, 4097, 4099},
                       {127, 8191, 333},
                       {128, 128, 8192},
                       {64, 64, 65536},
                       {1, 4096, 4096},
                       {4096, 1, 4096},
                       {4, 4096, 4096},
                       {16, 4096, 4096},
                       {32, 4096, 4096},
                       {64, 4096, 4096},
                       {4096, 64, 4096},
                       {4096, 16, 4096},
                       {32, 11008, 4096},
                       {300, 5000, 700},
                       {4096, 4096, 16},
                       {4096, 4096, 64},
                       {8192, 8192, 128},
                       {65536, 128, 128},
                       {65536, 64, 64},
                       {16384, 512, 512},
                       {8, 8, 100000},
                       {8192, 8192, 1},
                       {32, 32, 32},
                       {100, 100, 100},
                       {1, 1, 1000000},
                       {4224, 16, 2996, false, true},
                       {1816, 20, 7244, false, true}};

/// What all measurements share.
struct Bench {
  static constexpr size_t POOL = size_t{1} << 29;  // floats of operands, rotated
  float *pool, *kept;
  double* want;
  static constexpr size_t ROOM = size_t{32} << 20;  // bytes of workspace for cuBLAS
  void *workspace, *room;
  unsigned* wrong;
  cudaStream_t stream;
  cublasHandle_t blas;
  cudaEvent_t from, to;
  int sms;

  Bench() {
    CHECK(cudaMalloc(&pool, POOL * 4));
    CHECK(cudaMalloc(&kept, (size_t{1} << 27) * 4));
    CHECK(cudaMalloc(&want, size_t{300} * 300 * 8));
    CHECK(cudaMalloc(&workspace, WORKSPACE));
    CHECK(cudaMemset(workspace, 0, WORKSPACE));
    CHECK(cudaMallocManaged(&wrong, 4));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cublasCreate(&blas));
    CHECK(cublasSetStream(blas, stream));
    CHECK(cudaMalloc(&room, ROOM));
    CHECK(cublasSetWorkspace(blas, room, ROOM));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    fill<<<1056, 256>>>(pool, POOL, 1);
    CHECK(cudaDeviceSynchronize());
  }

  cudaError_t ours(const Call& c, Order order = Order::ROW_MAJOR) {
    if (order == Order::COLUMN_MAJOR)  // the same product, told the other way around
      return sgemm(order, c.tb, c.ta, c.n, c.m, c.k, c.alpha, c.b, c.ldb, c.a, c.lda, c.beta, c.c,
                   c.ldc, workspace, stream);
    return sgemm(order, c.ta, c.tb, c.m, c.n, c.k, c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c,
                 c.ldc, workspace, stream);
  }
  void theirs(const Call& c) {
    CHECK(cublasSgemm(blas, c.tb ? CUBLAS_OP_T : CUBLAS_OP_N, c.ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                      int(c.n), int(c.m), int(c.k), &c.alpha, c.b, int(c.ldb), c.a, int(c.lda),
                      &c.beta, c.c, int(c.ldc)));
  }
  /// Microseconds of the fastest of cublasLt's first eight algorithms for a product.
  double best_of_lt(const std::vector<Call>& calls, int launches, int runs) {
    const Call& c = calls[0];
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, to;  // column-major: A and B swap their places
    cublasLtMatmulPreference_t wish;
    CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t first = c.tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                            second = c.ta ? CUBLAS_OP_T : CUBLAS_OP_N;
    CHECK(
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
    CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                         sizeof second));
    const auto extent = [](long long e) { return static_cast<std::uint64_t>(e); };
    CHECK(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, extent(c.tb ? c.k : c.n),
                                     extent(c.tb ? c.n : c.k), c.ldb));
    CHECK(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, extent(c.ta ? c.m : c.k),
                                     extent(c.ta ? c.k : c.m), c.lda));
    CHECK(cublasLtMatrixLayoutCreate(&to, CUDA_R_32F, extent(c.n), extent(c.m), c.ldc));
    CHECK(cublasLtMatmulPreferenceCreate(&wish));
    const size_t most = ROOM;
    CHECK(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &most, sizeof most));
    cublasLtMatmulHeuristicResult_t found[8];
    int count = 0;
    double best = INFINITY;
    const auto lt = reinterpret_cast<cublasLtHandle_t>(blas);
    if (cublasLtMatmulAlgoGetHeuristic(lt, product, a, b, to, to, wish, 8, found, &count) !=
        CUBLAS_STATUS_SUCCESS)
      count = 0;
    for (int i = 0; i < count; ++i) {
      const auto launch = [&](const Call& x) {
        return cublasLtMatmul(lt, product, &x.alpha, x.b, a, x.a, b, &x.beta, x.c, to, x.c, to,
                              &found[i].algo, room, ROOM, stream);
      };
      // An algorithm may refuse addresses that are not aligned as the heuristic assumes.
      if (found[i].state == CUBLAS_STATUS_SUCCESS && launch(c) == CUBLAS_STATUS_SUCCESS)
        best =
            std::min(best, time([&](const Call& x) { CHECK(launch(x)); }, calls, launches, runs));
    }
    CHECK(cublasLtMatmulPreferenceDestroy(wish));
    for (const auto layout : {a, b, to}) CHECK(cublasLtMatrixLayoutDestroy(layout));
    CHECK(cublasLtMatmulDescDestroy(product));
    return best;
  }
  Product product(const Call& c) const {
    return row_major(c.ta, c.tb, int(c.m), int(c.n), int(c.k), c.alpha, c.a, c.lda, c.b, c.ldb,
                     c.beta, c.c, c.ldc);
  }

  /// Small products with every extent, order, transposition, gap, alignment, alpha and beta. Returns how many are wrong.
  int verify(int& cases) {
    std::mt19937 random(7);
    const int extents[] = {0, 1, 2, 3, 31, 33, 63, 65, 127, 129, 255, 257};
    int bad = 0;
    for (const int m : extents) {
      for (const int n : extents) {
        for (const int k : extents) {
          for (int t = 0; t < 4; ++t) {
            Call c{t / 2 != 0, t % 2 != 0,       m, n, k,           1, pool,
                   0,          pool + (1 << 24), 0, 0, kept + 1024, 0};
            const unsigned kind =
                random() % 3;  // of leading dimensions: none left over; aligned; any
            const auto ld = [&](int row) {
              return std::max(1, kind == 0   ? row
                                 : kind == 1 ? (row + 3) / 4 * 4 + 4
                                             : row + 1 + int(random() % 9));
            };
            c.lda = ld(c.ta ? m : k), c.ldb = ld(c.tb ? k : n), c.ldc = ld(n);
            const auto odd = [&] { return kind == 2 ? random() % 4 : 0; };
            c.a += odd(), c.b += odd(), c.c += odd();
            c.alpha = random() % 5 == 0 ? 0 : random() % 2 ? 1.f : -0.5f;
            c.beta = random() % 2 ? 0.f : 0.75f;
            const long long all = std::max(0, m - 1) * c.ldc + n + 256;
            float* const old = kept + (1 << 22);
            if (c.beta == 0) {
              set<<<256, 256, 0, stream>>>(old, size_t(all), NAN);
            } else {
              fill<<<256, 256, 0, stream>>>(old, size_t(all), 5);
            }
            CHECK(cudaMemcpyAsync(c.c, old, size_t(all) * 4, cudaMemcpyDeviceToDevice, stream));
            if (m * n > 0) reference<<<unsigned(m * n + 127) / 128, 128, 0, stream>>>(c, want, old);
            *wrong = 0;
            CHECK(ours(c, random() % 2 ? Order::ROW_MAJOR : Order::COLUMN_MAJOR));
            compare<<<unsigned((all + 255) / 256), 256, 0, stream>>>(
                c, want, old, all, 4e-6 * (std::sqrt(double(k)) * 3 + 2), wrong);
            CHECK(cudaStreamSynchronize(stream));
            ++cases;
            if (*wrong != 0 && bad++ < 10)
              std::printf("WRONG m %d n %d k %d %d%d ld %lld %lld %lld alpha %g beta %g: %u\n", m,
                          n, k, c.ta, c.tb, c.lda, c.ldb, c.ldc, c.alpha, c.beta, *wrong);
          }
        }
      }
    }
    std::printf("verified: %d products, %d wrong\n", cases, bad);
    return bad;
  }

  /// Microseconds of a launch in a graph of launches over rotated buffers: a median.
  double time(const std::function<void(const Call&)>& launch, const std::vector<Call>& calls,
              int launches, int runs) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int l = 0; l < launches; ++l) launch(calls[size_t(l) % calls.size()]);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    std::vector<float> ms(static_cast<size_t>(runs));
    for (float& t : ms) {
      hold<<<1, 1, 0, stream>>>(HOLD);
      CHECK(cudaEventRecord(from, stream));
      CHECK(cudaGraphLaunch(exec, stream));
      CHECK(cudaEventRecord(to, stream));
      CHECK(cudaEventSynchronize(to));
      CHECK(cudaEventElapsedTime(&t, from, to));
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    std::sort(ms.begin(), ms.end());
    return 1e3 * ms[ms.size() / 2] / launches;
  }
};

/// A log-uniform shape, of 1 to 8192 or, if large, 400 to 5000; every third one is odd, and the transpositions take turns.
inline Shape random_shape(std::mt19937& random, int i, bool large = false) {
  const double least = large ? 400 : 1, most = large ? 5000 : 8192;
  const auto extent = [&] {
    const double x =
        std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random));
    const int e = static_cast<int>(x);
    return i % 3 == 0 ? e | 1 : e < 8 ? e : e / 4 * 4;
  };
  const int m = extent(), n = extent(), k = extent();
  return {m, n, k, i / 3 % 2 != 0, i / 6 % 2 != 0};
}

/// Operands of a shape, as often as they fit 160 MiB and the pool, and how often they are multiplied in a timing.
struct Rotation {
  std::vector<Call> calls;
  size_t floats;  ///< of C
  int launches = 0, runs = 0;

  Rotation(const Bench& bench, const Shape& x) {
    const auto rounded = [](size_t f) { return (f + 63) / 64 * 64; };
    const size_t fa = rounded(size_t(x.m) * x.k), fb = rounded(size_t(x.k) * x.n);
    floats = rounded(size_t(x.m) * x.n);
    const size_t set_floats = fa + fb + floats;
    if (set_floats > Bench::POOL) return;
    const double guess = std::max(2e-6, 2.0 * x.m * x.n * x.k / 40e12 + 4.0 * set_floats / 3e12);
    size_t sets = std::clamp<size_t>((size_t{160} << 20) / (4 * set_floats) + 1, 1, 48);
    sets = std::min(sets, Bench::POOL / set_floats);
    launches = std::max(static_cast<int>(sets), std::min(48, int(200e-6 / guess) + 1));
    if (guess > 300e-6) launches = std::min(launches, 2);
    runs = guess * launches > 2e-3 ? 3 : 7;
    fill<<<1056, 256, 0, bench.stream>>>(bench.pool, set_floats * sets, 1);
    for (size_t i = 0; i < sets; ++i) {
      float* const p = bench.pool + set_floats * i;
      calls.push_back({x.ta, x.tb, x.m, x.n, x.k, 1, p, x.ta ? x.m : x.k, p + fa, x.tb ? x.k : x.n,
                       0, p + fa + fb, x.n});
    }
  }
};

std::string name_of(const Choice& choice) {
  return std::string(choice.kernel->name) + "/" + std::to_string(choice.parts) +
         (choice.second ? " and a second kernel" : "");
}

}  // namespace
