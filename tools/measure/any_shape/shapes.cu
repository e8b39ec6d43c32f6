// Chapter 13's function beside cublasSgemm, over many shapes: verified, timed, and how far its choice is from the best.
#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../../../chapters/13_any_shape/any_product.cuh"

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

struct Shape {
  int m, n, k;
  bool ta = false, tb = false;
};
const Shape named[] = {
    {256, 256, 256},    {512, 512, 512},    {768, 768, 768},    {1000, 1000, 1000},
    {1024, 1024, 1024}, {1280, 1280, 1280}, {1536, 1536, 1536}, {2048, 2048, 2048},
    {3072, 3072, 3072}, {4096, 4096, 4096}, {4001, 4001, 4001}, {4095, 4097, 4099},
    {127, 8191, 333},   {128, 128, 8192},   {64, 64, 65536},    {1, 4096, 4096},
    {4096, 1, 4096},    {4, 4096, 4096},    {16, 4096, 4096},   {32, 4096, 4096},
    {64, 4096, 4096},   {4096, 64, 4096},   {4096, 16, 4096},   {32, 11008, 4096},
    {300, 5000, 700},   {4096, 4096, 16},   {4096, 4096, 64},   {8192, 8192, 128},
    {65536, 128, 128},  {65536, 64, 64},    {16384, 512, 512},  {8, 8, 100000},
    {8192, 8192, 1},    {32, 32, 32},       {100, 100, 100},    {1, 1, 1000000}};

/// What all measurements share.
struct Bench {
  static constexpr size_t POOL = size_t{1} << 29;  // floats of operands, rotated
  float *pool, *kept;
  double* want;
  void* workspace;
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
    void* room;
    CHECK(cudaMalloc(&room, 32 << 20));
    CHECK(cublasSetWorkspace(blas, room, 32 << 20));
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

/// Every kernel and number of parts that could be the best of a product.
std::vector<Choice> candidates(const Product& g, int sms) {
  std::vector<Choice> found;
  for_each_choice(g, sms, true, nullptr, [&](const Choice& choice) { found.push_back(choice); });
  std::sort(found.begin(), found.end(),
            [](const Choice& a, const Choice& b) { return a.microseconds < b.microseconds; });
  // The others are hopeless, or too slow to be timed.
  const size_t most = 1.0 * g.m * g.n * g.k > 2e9 ? 8 : 20;
  while (found.size() > 1 &&
         (found.size() > most || found.back().microseconds > 2.5 * found[0].microseconds + 5))
    found.pop_back();
  return found;
}

std::string name_of(const Choice& choice) {
  return std::string(choice.kernel->name) + "/" + std::to_string(choice.parts) +
         (choice.second ? " and a second kernel" : "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(
        stderr,
        "usage: shapes SHAPES SECONDS OUT.json [EVERY [OUT.csv]]\n"
        "  as many log-uniform shapes; every EVERY-th and all named ones with all candidates\n");
    return 2;
  }
  const int count = std::atoi(argv[1]), every = argc > 4 ? std::atoi(argv[4]) : 16;
  const double seconds = std::atof(argv[2]);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Bench bench;
  int verified = 0;
  int bad = bench.verify(verified);
  std::printf("%.1f s\n", since());

  std::vector<Shape> shapes(std::begin(named), std::end(named));
  std::mt19937 random(13);
  for (int i = 0; i < count; ++i) {
    const auto extent = [&] {
      const double x =
          std::exp(std::uniform_real_distribution<double>(0, std::log(8192.0))(random));
      const int e = static_cast<int>(x);
      return i % 3 == 0 ? e | 1 : e < 8 ? e : e / 4 * 4;
    };
    const int m = extent(), n = extent(), k = extent();
    shapes.push_back({m, n, k, i / 3 % 2 != 0, i / 6 % 2 != 0});
  }
  FILE* const csv = argc > 5 ? std::fopen(argv[5], "w") : nullptr;
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int toolkit = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&toolkit));
  CHECK(cudaDriverGetVersion(&driver));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string rows;
  std::vector<double> ratios, regrets, tiled[4];  // of the one tile: by corners of the map, and all
  for (size_t s = 0; s < shapes.size() && since() < seconds; ++s) {
    const Shape& x = shapes[s];
    const bool is_named = s < std::size(named);
    const auto rounded = [](size_t floats) { return (floats + 63) / 64 * 64; };
    const size_t fa = rounded(size_t(x.m) * x.k), fb = rounded(size_t(x.k) * x.n),
                 fc = rounded(size_t(x.m) * x.n);
    const size_t set_floats = fa + fb + fc;
    if (set_floats > Bench::POOL) continue;
    const double guess = std::max(2e-6, 2.0 * x.m * x.n * x.k / 40e12 + 4.0 * set_floats / 3e12);
    size_t sets = std::clamp<size_t>((size_t{160} << 20) / (4 * set_floats) + 1, 1, 48);
    sets = std::min(sets, Bench::POOL / set_floats);
    int launches = std::max(static_cast<int>(sets), std::min(48, int(200e-6 / guess) + 1));
    if (guess > 300e-6) launches = std::min(launches, 2);
    const int runs = guess * launches > 2e-3 ? 3 : 7;
    fill<<<1056, 256, 0, bench.stream>>>(bench.pool, set_floats * sets, 1);
    std::vector<Call> calls;
    for (size_t i = 0; i < sets; ++i) {
      float* const p = bench.pool + set_floats * i;
      calls.push_back({x.ta, x.tb, x.m, x.n, x.k, 1, p, x.ta ? x.m : x.k, p + fa, x.tb ? x.k : x.n,
                       0, p + fa + fb, x.n});
    }
    const auto theirs = [&](const Call& c) { bench.theirs(c); };
    const auto ours = [&](const Call& c) { CHECK(bench.ours(c)); };
    const double first = bench.time(theirs, calls, launches, runs);
    const size_t floats = std::min<size_t>(fc, size_t{1} << 27);
    CHECK(cudaMemcpyAsync(bench.kept, calls[0].c, 4 * floats, cudaMemcpyDeviceToDevice,
                          bench.stream));
    set<<<1056, 256, 0, bench.stream>>>(calls[0].c, fc, NAN);
    const double us = bench.time(ours, calls, launches, runs);
    *bench.wrong = 0;
    compare_two<<<1056, 256, 0, bench.stream>>>(
        calls[0].c, bench.kept, std::min(floats, size_t(x.m) * x.n),
        4e-6 * (std::sqrt(double(x.k)) * 3 + 2), bench.wrong);
    CHECK(cudaStreamSynchronize(bench.stream));
    const double one_tile =
        is_named ? 0
                 : bench.time(
                       [&](const Call& c) {
                         CHECK(launch_tile<Tile128x128>(bench.product(c), 1, false, bench.workspace,
                                                        bench.stream));
                       },
                       calls, std::min(launches, 4), 3);
    const double peer = std::min(first, bench.time(theirs, calls, launches, runs));
    const Product g = bench.product(calls[0]);
    const Choice choice = fastest(g, bench.sms, true);
    if (*bench.wrong != 0 && bad++ < 10)
      std::printf("WRONG %d %d %d %d%d by %s\n", x.m, x.n, x.k, x.ta, x.tb,
                  name_of(choice).c_str());
    double regret = -1;
    if (every > 0 && (is_named || s % size_t(every) == 0)) {
      double least = us;
      std::string best = name_of(choice);
      for (const Choice& other : candidates(g, bench.sms)) {
        const auto launch = [&](const Call& c) {
          CHECK(other.kernel->launch(bench.product(c), other.parts, other.second, bench.workspace,
                                     bench.stream));
        };
        const double t = bench.time(launch, calls, launches, runs);
        if (t < least) least = t, best = name_of(other);
        if (csv != nullptr)
          std::fprintf(csv, "%d,%d,%d,%d,%d,%s/p%d%s,%.3f,%.3f\n", x.m, x.n, x.k, x.ta, x.tb,
                       other.kernel->name, other.parts, other.second ? "two" : "", t, peer);
      }
      regret = us / least - 1;
      regrets.push_back(regret);
      std::printf(
          "%5d %5d %5d %c%c cublas %9.2f us, ours %9.2f, ratio %.3f, by %s; best %9.2f by %s\n",
          x.m, x.n, x.k, x.ta ? 'T' : 'N', x.tb ? 'T' : 'N', peer, us, peer / us,
          name_of(choice).c_str(), least, best.c_str());
    }
    if (!is_named) {
      ratios.push_back(peer / us);
      const double edge = std::sqrt(1.0 * x.m * x.n);
      tiled[3].push_back(peer / one_tile);
      if (edge < 256 && x.k >= 512) tiled[0].push_back(peer / one_tile);
      if (edge >= 512 && x.k < 64) tiled[1].push_back(peer / one_tile);
      if (edge >= 512 && x.k >= 512) tiled[2].push_back(peer / one_tile);
    }
    char row[400];
    std::snprintf(row, sizeof row,
                  "%s\n  {\"m\": %d, \"n\": %d, \"k\": %d, \"ta\": %d, \"tb\": %d, \"named\": "
                  "%d, \"us\": %.6g, "
                  "\"cublas_us\": %.6g, \"one_tile_us\": %.6g, \"by\": \"%s\"",
                  rows.empty() ? "" : ",", x.m, x.n, x.k, x.ta, x.tb, is_named, us, peer, one_tile,
                  name_of(choice).c_str());
    rows += row;
    if (regret >= 0) std::snprintf(row, sizeof row, ", \"regret\": %.4g}", regret);
    rows += regret >= 0 ? row : "}";
  }
  if (csv != nullptr) std::fclose(csv);
  const auto quantile = [](std::vector<double> v, double q) {
    std::sort(v.begin(), v.end());
    return v.empty() ? 0 : v[static_cast<size_t>(q * static_cast<double>(v.size() - 1))];
  };
  const auto share = [](const std::vector<double>& v, double least) {
    const auto above = std::count_if(v.begin(), v.end(), [&](double r) { return r >= least; });
    return v.empty() ? 0 : static_cast<double>(above) / static_cast<double>(v.size());
  };
  const auto geomean = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double r : v) sum += std::log(r);
    return std::exp(sum / static_cast<double>(std::max<size_t>(v.size(), 1)));
  };
  const std::pair<const char*, double> summary[] = {
      {"shapes", static_cast<double>(ratios.size())},
      {"geometric mean", geomean(ratios)},
      {"least", quantile(ratios, 0)},
      {"p1", quantile(ratios, 0.01)},
      {"p10", quantile(ratios, 0.1)},
      {"median", quantile(ratios, 0.5)},
      {"most", quantile(ratios, 1)},
      {"at least 1", share(ratios, 1)},
      {"at least 0.9", share(ratios, 0.9)},
      {"regret of", static_cast<double>(regrets.size())},
      {"regret median", quantile(regrets, 0.5)},
      {"regret p90", quantile(regrets, 0.9)},
      {"regret p99", quantile(regrets, 0.99)},
      {"one tile, C small, K large", geomean(tiled[0])},
      {"one tile, C large, K small", geomean(tiled[1])},
      {"one tile, both large", geomean(tiled[2])},
      {"one tile", geomean(tiled[3])},
      {"verified", static_cast<double>(verified)},
      {"wrong", static_cast<double>(bad)}};
  FILE* const file = std::fopen(argv[3], "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", argv[3]);
    return 2;
  }
  std::fprintf(file,
               "{\n \"device\": \"%s\",\n \"driver\": %d,\n \"toolkit\": %d,\n \"date\": \"%s\",\n "
               "\"summary\": {",
               device.name, driver, toolkit, date);
  for (const auto& [name, figure] : summary) {
    std::fprintf(file, "%s\n  \"%s\": %.6g", name == summary[0].first ? "" : ",", name, figure);
    std::printf("%s: %.4f\n", name, figure);
  }
  std::fprintf(file, "\n },\n \"shapes\": [%s\n ]\n}\n", rows.c_str());
  std::fclose(file);
  std::printf("%.1f s\n", since());
  return bad != 0;
}
