// Every candidate on many shapes: verified, timed, beside cublasSgemm.
#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include "any_product.cuh"

using namespace any_product;
#define CHECK(x)                                                                   \
  do {                                                                             \
    const auto e = (x);                                                            \
    if (e != 0) {                                                                  \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #x, static_cast<int>(e)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

cudaError_t cluster_launch(int kernel, const Product&, int parts, cudaStream_t);
/// A product, row-major; ta: A is given as (k, m).
struct Call {
  bool ta, tb;
  int m, n, k;
  float alpha;
  const float* a;
  long long lda;
  const float* b;
  long long ldb;
  float beta;
  float* c;
  long long ldc;
};

struct Candidate {
  int kernel, parts = 1;
  bool second = false, cluster = false;
  std::string name() const {
    char text[64];
    std::snprintf(text, sizeof text, "%s/p%d%s", menu[kernel].name, parts, cluster ? "cluster" : second ? "two" : "");
    return text;
  }
};
void* workspace;
Product product(const Call& given) {
  Call c = given;
  if (c.m == 1 && c.ta && c.lda == 1) c.ta = false, c.lda = c.k;
  if (c.n == 1 && !c.tb && c.ldb == 1) c.tb = true, c.ldb = c.k;
  if (c.k == 1 && !c.ta && c.lda == 1) c.ta = true, c.lda = c.m;
  if (c.k == 1 && c.tb && c.ldb == 1) c.tb = false, c.ldb = c.n;
  c.lda = std::max(1LL, c.lda), c.ldb = std::max(1LL, c.ldb);
  return {c.m, c.n, c.k, {c.a, size_t(c.lda), !c.ta, c.ta && aligned16(c.a, size_t(c.lda))},
          {c.b, size_t(c.ldb), c.tb, !c.tb && aligned16(c.b, size_t(c.ldb))}, c.alpha, c.beta, c.c, size_t(c.ldc),
          aligned16(c.c, size_t(c.ldc))};
}
cudaError_t execute(const Candidate& x, const Call& given, cudaStream_t stream) {
  const Product g = product(given);
  if (x.cluster) return cluster_launch(x.kernel, g, x.parts, stream);
  return menu[x.kernel].launch(g, x.parts, x.second, workspace, stream);
}
constexpr int SMS = 132;
constexpr int part_counts[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 128};
std::vector<Candidate> candidates(const Call& given, bool all) {
  const Product g = product(given);
  struct Rated {
    double cost;
    Candidate x;
  };
  std::vector<Rated> rated;
  std::vector<Candidate> out;
  const int k_tiles = (g.k + 15) / 16, small = std::min(g.m, g.n), large = std::max(g.m, g.n);
  const bool along_k = g.m <= g.n ? g.b.along_k : g.a.along_k;
  for (int i = 0; i < int(std::size(menu)); ++i) {
    const Kernel& y = menu[i];
    if (y.kind == Kind::LITTLE) {
      if (1.0 * g.m * g.n * g.k <= 4e6 && 1.0 * g.k / y.bm <= 512) out.push_back({i});
    } else if (y.kind == Kind::TILE || y.kind == Kind::STREAM) {
      const long long tiles = 1LL * ((g.m - 1) / y.bm + 1) * ((g.n - 1) / y.bn + 1);
      if (y.kind == Kind::STREAM) {
        if (g.k < 1 || tiles % (SMS * y.blocks) == 0 || tiles > 1000000) continue;
        if (tiles < SMS / 4 && !all) continue;
        if (1.0 * g.m * g.n * g.k > 3e7 || all) out.push_back({i});
        continue;
      }
      for (const int parts : part_counts) {
        const long long blocks = tiles * parts;
        if (parts > std::max(1, k_tiles) || (parts > 1 && blocks > 2 * SMS * y.blocks)) continue;
        if (parts > 1 && (blocks * y.bm * y.bn / 4 > (long long)PARTIALS || tiles > TICKETS)) continue;
        const double per_block = double(y.bm) * y.bn * ((k_tiles + parts - 1) / parts * 16) / 128;
        const long long per_sm = (blocks + SMS - 1) / SMS;
        const double cost = per_block * per_sm * (per_sm == 1 ? 1.3 : 1) + 3000 + (parts > 1 ? 3000 + 100 * parts : 0);
        rated.push_back({cost, {i, parts}});
        if (parts > 4) rated.push_back({cost + 1, {i, parts, true}});
        if (parts > 1 && parts <= 8) rated.push_back({cost - 500, {i, parts, false, true}});
      }
    } else {
      if (y.bm < small || (y.bm >= 2 * small && y.bm > 1) || (y.kind == Kind::ROWS) != along_k) continue;
      const long long tiles = (large - 1) / y.bn + 1;
      for (const int parts : part_counts) {
        const long long blocks = tiles * parts;
        if (parts > 1 && (blocks > 8 * SMS || parts > (g.k + 127) / 128 || tiles > TICKETS)) continue;
        if (!all && parts > 1 && blocks < SMS / 3 && parts < (g.k + 1023) / 1024) continue;
        out.push_back({i, parts});
      }
    }
  }
  std::sort(rated.begin(), rated.end(), [](const Rated& a, const Rated& b) { return a.cost < b.cost; });
  const size_t most = 1.0 * g.m * g.n * g.k > 2e9 ? 10 : 26;
  for (size_t i = 0; i < rated.size(); ++i)
    if (all || i < 6 || (i < most && rated[i].cost < 1.8 * rated[0].cost)) out.push_back(rated[i].x);
  return out;
}

__global__ void nothing() {}
__global__ void fill(float* x, size_t n, unsigned seed) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    unsigned long long z = i + seed * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    x[i] = static_cast<float>(static_cast<double>((z >> 40)) / (1 << 23) - 1);
  }
}
__global__ void set(float* x, size_t n, float v) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x)
    x[i] = v;
}
__global__ void reference(Call c, double* want, float* old) {
  const size_t x = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= size_t(c.m) * c.n) return;
  const int i = static_cast<int>(x / c.n), j = static_cast<int>(x % c.n);
  double sum = 0;
  for (int l = 0; l < c.k; ++l)
    sum += double(c.ta ? c.a[l * c.lda + i] : c.a[i * c.lda + l]) *
           double(c.tb ? c.b[j * c.ldb + l] : c.b[l * c.ldb + j]);
  want[x] = c.alpha * sum + (c.beta == 0 ? 0 : double(c.beta) * old[i * c.ldc + j]);
}
/// Counts wrong elements of C and touched gaps. C has m rows of ldc floats in a buffer of `all` floats.
__global__ void compare(Call c, const double* want, const float* old, size_t all, double tolerance,
                        unsigned* wrong) {
  const size_t x = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= all) return;
  const size_t i = x / c.ldc, j = x % c.ldc;
  if (i < size_t(c.m) && j < size_t(c.n)) {
    if (!(fabs(c.c[x] - want[i * c.n + j]) <= tolerance)) atomicAdd(wrong, 1u);
  } else if (__float_as_uint(c.c[x]) != __float_as_uint(old[x])) {
    atomicAdd(wrong + 1, 1u);
  }
}
__global__ void compare_two(const float* a, const float* b, int m, int n, size_t ld,
                            double tolerance, unsigned* wrong) {
  const size_t x = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= size_t(m) * n) return;
  const size_t at = x / n * ld + x % n;
  if (!(fabs(double(a[at]) - b[at]) <= tolerance)) atomicAdd(wrong, 1u);
}

int main(int argc, char** argv) {
  const double seconds_verify = argc > 1 ? std::atof(argv[1]) : 8,
               seconds = argc > 2 ? std::atof(argv[2]) : 26;
  const int random_shapes = argc > 3 ? std::atoi(argv[3]) : 200;
  const char* out_path = argc > 4 ? argv[4] : "times.csv";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const size_t POOL = size_t{1} << 29;  // floats
  float *pool, *kept;
  CHECK(cudaMalloc(&pool, POOL * 4));
  CHECK(cudaMalloc(&kept, (size_t{1} << 27) * 4));
  double* want;
  CHECK(cudaMalloc(&want, size_t{300} * 300 * 8));
  CHECK(cudaMalloc(&workspace, WORKSPACE));
  CHECK(cudaMemset(workspace, 0, WORKSPACE));
  unsigned* wrong;
  CHECK(cudaMallocManaged(&wrong, 8));
  fill<<<1056, 256>>>(pool, POOL, 1);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cublasHandle_t blas;
  CHECK(cublasCreate(&blas));
  CHECK(cublasSetStream(blas, stream));
  void* blas_workspace;
  CHECK(cudaMalloc(&blas_workspace, 32 << 20));
  CHECK(cublasSetWorkspace(blas, blas_workspace, 32 << 20));
  CHECK(cudaDeviceSynchronize());

  // 1. Right on odd shapes.
  std::mt19937 random(7);
  const int extents[] = {0, 1, 2, 3, 31, 33, 63, 65, 127, 129, 255, 257};
  int cases = 0, runs = 0, bad = 0;
  while (since() < seconds_verify) {
    Call c;
    const auto pick = [&] { return extents[random() % 12]; };
    c.m = std::max(1, pick()), c.n = std::max(1, pick()),
    c.k = random() % 8 == 0 ? 900 + random() % 2000 : pick();
    c.ta = random() % 2, c.tb = random() % 2;
    const int kind = random() % 3;
    const auto ld = [&](int cols) {
      return kind == 0   ? std::max(1, cols)
             : kind == 1 ? (cols + 3) / 4 * 4 + 4
                         : cols + 1 + int(random() % 9);
    };
    c.lda = ld(c.ta ? c.m : c.k), c.ldb = ld(c.tb ? c.k : c.n), c.ldc = ld(c.n);
    const auto odd = [&] { return kind == 2 ? random() % 4 : 0; };
    c.a = pool + odd(), c.b = pool + (1 << 24) + odd(), c.c = kept + 1024 + odd();
    c.alpha = random() % 2 ? 1.f : -0.5f;
    c.beta = random() % 2 ? 0.f : 0.75f;
    const size_t all = size_t(c.m - 1) * c.ldc + c.n + 256;
    float* old = kept + (1 << 22);
    if (c.beta == 0)
      set<<<256, 256>>>(old, all, NAN);
    else
      fill<<<256, 256>>>(old, all, 5);
    reference<<<(c.m * c.n + 127) / 128, 128>>>(c, want, old);
    const double tolerance = 1e-6 * 4 * (std::sqrt(double(c.k)) * 3 + 2);
    ++cases;
    for (const Candidate& x : candidates(c, true)) {
      if (x.parts > 1 && random() % 4) continue;
      CHECK(cudaMemcpyAsync(c.c, old, all * 4, cudaMemcpyDeviceToDevice));
      wrong[0] = wrong[1] = 0;
      CHECK(cudaDeviceSynchronize());
      const cudaError_t error = execute(x, c, 0);
      if (error != cudaSuccess) {
        if (bad++ < 20) std::printf("LAUNCH %s: %s\n", x.name().c_str(), cudaGetErrorString(error));
        cudaGetLastError();
        continue;
      }
      compare<<<unsigned((all + 255) / 256), 256>>>(c, want, old, all, tolerance, wrong);
      const cudaError_t sync = cudaDeviceSynchronize();
      ++runs;
      if (sync != cudaSuccess || wrong[0] || wrong[1]) {
        if (bad++ < 20)
          std::printf(
              "WRONG %s: m %d n %d k %d ta %d tb %d ld %lld %lld %lld kind %d beta %g: %u wrong, "
              "%u gaps, %s\n",
              x.name().c_str(), c.m, c.n, c.k, c.ta, c.tb, c.lda, c.ldb, c.ldc, kind, c.beta,
              wrong[0], wrong[1], cudaGetErrorString(sync));
        if (sync != cudaSuccess) return 1;
      }
    }
  }
  std::printf("verified: %d cases, %d runs, %d bad\n", cases, runs, bad);

  for (const int threads : {32, 256}) {
    for (const int blocks : {1, 132, 1056, 8448}) {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int l = 0; l < 48; ++l) nothing<<<blocks, threads, 0, stream>>>();
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      cudaEvent_t a, b;
      CHECK(cudaEventCreate(&a));
      CHECK(cudaEventCreate(&b));
      float least = 1e9, ms;
      for (int i = 0; i < 9; ++i) {
        CHECK(cudaEventRecord(a, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(b, stream));
        CHECK(cudaEventSynchronize(b));
        CHECK(cudaEventElapsedTime(&ms, a, b));
        least = std::min(least, ms);
      }
      std::printf("empty kernel, %d blocks of %d: %.2f us\n", blocks, threads, 1e3 * least / 48);
    }
  }

  // 2. Times.
  struct Shape {
    int m, n, k, ta, tb;
  };
  std::vector<Shape> shapes = {
      {256, 256, 256, 0, 0},    {512, 512, 512, 0, 0},    {768, 768, 768, 0, 0},
      {1000, 1000, 1000, 0, 0}, {1024, 1024, 1024, 0, 0}, {1280, 1280, 1280, 0, 0},
      {1536, 1536, 1536, 0, 0}, {2048, 2048, 2048, 0, 0}, {3072, 3072, 3072, 0, 0},
      {4096, 4096, 4096, 0, 0}, {4001, 4001, 4001, 0, 0}, {4095, 4097, 4099, 0, 0},
      {127, 8191, 333, 0, 0},   {128, 128, 8192, 0, 0},   {64, 64, 65536, 0, 0},
      {1, 4096, 4096, 0, 0},    {4096, 1, 4096, 0, 0},    {1, 4096, 4096, 0, 1},
      {4, 4096, 4096, 0, 0},    {16, 4096, 4096, 0, 0},   {16, 4096, 4096, 0, 1},
      {32, 4096, 4096, 0, 0},   {64, 4096, 4096, 0, 0},   {4096, 64, 4096, 0, 0},
      {4096, 16, 4096, 0, 0},   {4096, 8, 4096, 0, 0},    {32, 11008, 4096, 0, 0},
      {300, 5000, 700, 0, 0},   {4096, 4096, 16, 0, 0},   {4096, 4096, 64, 0, 0},
      {8192, 8192, 128, 0, 0},  {65536, 128, 128, 0, 0},  {65536, 64, 64, 0, 0},
      {16384, 512, 512, 0, 0},  {1, 1, 1000000, 0, 0},    {8, 8, 100000, 0, 1},
      {8192, 8192, 1, 0, 0},    {1, 8192, 1, 0, 0},       {32, 32, 32, 0, 0},
      {100, 100, 100, 0, 0},    {1001, 999, 1003, 1, 0},  {777, 777, 777, 0, 1}};
  for (int i = 0; i < random_shapes; ++i) {
    const auto extent = [&] {
      return std::exp(std::uniform_real_distribution<double>(0, std::log(8192.0))(random));
    };
    const bool odd = i % 3 == 0;
    const auto whole = [&](double x) {
      const int e = std::max(1, int(x));
      return odd ? e | 1 : e < 8 ? e : e / 4 * 4;
    };
    const Shape s{whole(extent()), whole(extent()), whole(extent()), i / 3 % 2, i / 6 % 2};
    shapes.push_back(s);
  }
  FILE* file = std::fopen(out_path, "w");
  cudaEvent_t from, to;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  std::vector<double> ratios;
  int done = 0;
  for (const Shape& s : shapes) {
    if (since() > seconds) break;
    fill<<<1056, 256, 0, stream>>>(pool, POOL, 1);
    const auto round = [](size_t x) { return (x + 63) / 64 * 64; };
    const size_t fa = round(size_t(s.m) * s.k), fb = round(size_t(s.k) * s.n),
                 fc = round(size_t(s.m) * s.n);
    const size_t set_floats = fa + fb + fc;
    if (set_floats > POOL) continue;
    const double guess = std::max(2e-6, 2.0 * s.m * s.n * s.k / 40e12 + 4.0 * set_floats / 3e12);
    int sets =
        static_cast<int>(std::clamp<size_t>((size_t{160} << 20) / (4 * set_floats) + 1, 1, 48));
    sets = static_cast<int>(std::min<size_t>(sets, POOL / set_floats));
    int launches =
        std::max(sets > 1 ? std::min(sets, 48) : 1, std::min(48, int(200e-6 / guess) + 1));
    if (guess > 300e-6) launches = std::min(launches, 2);
    const auto call = [&](int set) {
      float* p = pool + set_floats * (set % sets);
      return Call{s.ta != 0, s.tb != 0,        s.m, s.n,         s.k, 1.f, p, s.ta ? s.m : s.k,
                  p + fa,    s.tb ? s.k : s.n, 0.f, p + fa + fb, s.n};
    };
    const auto blas_call = [&](const Call& c) {
      const float one = c.alpha, zero = c.beta;
      CHECK(cublasSgemm(blas, c.tb ? CUBLAS_OP_T : CUBLAS_OP_N, c.ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                        c.n, c.m, c.k, &one, c.b, int(c.ldb), c.a, int(c.lda), &zero, c.c,
                        int(c.ldc)));
    };
    const auto time = [&](auto launch) {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int l = 0; l < launches; ++l) launch(call(l));
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      CHECK(cudaGraphLaunch(exec, stream));
      const int reps = guess * launches > 2e-3 ? 3 : 7;
      std::vector<float> ms(reps);
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
      return 1e3 * ms[reps / 2] / launches;
    };
    if (candidates(call(0), false).empty()) continue;
    const double us_blas = time(blas_call);
    const bool keep = fc <= size_t{1} << 27;
    if (keep) CHECK(cudaMemcpy(kept, call(0).c, 4 * fc, cudaMemcpyDeviceToDevice));
    double best = 1e30;
    std::string best_name;
    for (const Candidate& x : candidates(call(0), false)) {
      if (execute(x, call(0), stream) != cudaSuccess) {
        cudaGetLastError();
        continue;
      }
      CHECK(cudaStreamSynchronize(stream));
      if (keep) set<<<1056, 256, 0, stream>>>(call(0).c, fc, NAN);
      const double us = time([&](const Call& c) { CHECK(execute(x, c, stream)); });
      wrong[0] = 0;
      if (keep)
        compare_two<<<unsigned((size_t(s.m) * s.n + 255) / 256), 256, 0, stream>>>(
            call(0).c, kept, s.m, s.n, size_t(s.n), 4e-6 * (std::sqrt(double(s.k)) * 3 + 2), wrong);
      CHECK(cudaStreamSynchronize(stream));
      if (wrong[0])
        std::printf("WRONG %s on %d %d %d: %u\n", x.name().c_str(), s.m, s.n, s.k, wrong[0]);
      std::fprintf(file, "%d,%d,%d,%d,%d,%s,%.3f,%.3f\n", s.m, s.n, s.k, s.ta, s.tb,
                   x.name().c_str(), us, us_blas);
      if (us < best) best = us, best_name = x.name();
    }
    const double us_again = time(blas_call);
    const double peer = std::min(us_blas, us_again);
    ratios.push_back(peer / best);
    ++done;
    std::printf("%5d %5d %5d %c%c  cublas %9.2f us  best %9.2f  ratio %.3f  %s\n", s.m, s.n, s.k,
                s.ta ? 'T' : 'N', s.tb ? 'T' : 'N', peer, best, peer / best, best_name.c_str());
    std::fflush(stdout);
  }
  std::fclose(file);
  std::sort(ratios.begin(), ratios.end());
  double log = 0;
  int above = 0;
  for (double r : ratios) log += std::log(r), above += r >= 1;
  std::printf("%d shapes: geometric mean %.3f, min %.3f, p10 %.3f, at or above 1: %d; %.1f s\n",
              done, std::exp(log / done), ratios[0], ratios[done / 10], above, since());
}
