// Every candidate on many shapes: verified, timed, beside cublasSgemm.
#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include "menu.h"

using namespace any_shape;
#define CHECK(x)                                                                   \
  do {                                                                             \
    const auto e = (x);                                                            \
    if (e != 0) {                                                                  \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #x, static_cast<int>(e)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

namespace any_shape {
template <Lie A, int... I>
TileLaunch pick(int tile, std::integer_sequence<int, I...>) {
  static constexpr TileLaunch all[] = {launch_tile<I, A>...};
  return all[tile];
}
TileLaunch tile_launch(int tile, Lie a) {
  const auto numbers = std::make_integer_sequence<int, TILES>();
  return a == Lie::ALONG_K ? pick<Lie::ALONG_K>(tile, numbers)
         : a == Lie::FOURS ? pick<Lie::FOURS>(tile, numbers)
                           : pick<Lie::FLOATS>(tile, numbers);
}
template <Lie A>
StreamLaunch pick_stream(int tile) {
  return tile == 0 ? launch_stream<0, A> : launch_stream<2, A>;
}
StreamLaunch stream_launch(int tile, Lie a) {
  return a == Lie::ALONG_K ? pick_stream<Lie::ALONG_K>(tile)
         : a == Lie::FOURS ? pick_stream<Lie::FOURS>(tile)
                           : pick_stream<Lie::FLOATS>(tile);
}
template <bool LARGE>
WsLaunch pick_ws(Lie a) {
  return a == Lie::ALONG_K ? launch_ws<LARGE, Lie::ALONG_K>
         : a == Lie::FOURS ? launch_ws<LARGE, Lie::FOURS>
                           : launch_ws<LARGE, Lie::FLOATS>;
}
cudaError_t launch_direct(const Product& g, int lanes, size_t a_i, size_t a_l, size_t b_l,
                          size_t b_j, cudaStream_t stream);
std::vector<ThinKernel> thin_list_columns();
std::vector<ThinKernel> thin_list_rows();
const std::vector<ThinKernel>& thin_kernels() {
  static const std::vector<ThinKernel> all = [] {
    auto a = thin_list_columns();
    for (const auto& x : thin_list_rows()) a.push_back(x);
    return a;
  }();
  return all;
}
}  // namespace any_shape

struct TileInfo {
  int bm, bn, blocks;
};
template <int... I>
std::vector<TileInfo> infos(std::integer_sequence<int, I...>) {
  return {{std::tuple_element_t<I, Tiles>::BM, std::tuple_element_t<I, Tiles>::BN,
           std::tuple_element_t<I, Tiles>::BLOCKS}...};
}
const std::vector<TileInfo> tile_infos = infos(std::make_integer_sequence<int, TILES>());

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
  int tile = -1, thin = -1;
  int cluster = 1, outer = 1;
  bool two_step = false;
  bool stream = false;
  int ws = -1;     // large, small; +2: one-tile Stream-K
  int direct = 0;  // lanes
  std::string name() const {
    char text[64];
    if (direct > 0) {
      std::snprintf(text, sizeof text, "direct%d", direct);
      return text;
    }
    if (ws >= 0) {
      std::snprintf(text, sizeof text, "ws%s%s", ws % 2 ? "small" : "large", ws >= 2 ? "one" : "");
      return text;
    }
    if (tile >= 0)
      std::snprintf(text, sizeof text, "%dx%d#%d/c%do%d%s", tile_infos[tile].bm,
                    tile_infos[tile].bn, tile, cluster, outer,
                    stream     ? "stream"
                    : two_step ? "two"
                               : "");
    else
      std::snprintf(text, sizeof text, "%s/c%do%d", thin_kernels()[thin].name, cluster, outer);
    return text;
  }
};

float4* partials;
unsigned* tickets;
float* ws_partials;
int* ws_ready;
bool vec(const float* p, long long ld) {
  return (reinterpret_cast<size_t>(p) | static_cast<size_t>(ld) * 4) % 16 == 0;
}
bool thin_swaps(const Call& c) { return c.n < c.m; }

Lie lie(bool along_k, const float* p, long long ld) {
  return along_k ? Lie::ALONG_K : vec(p, ld) ? Lie::FOURS : Lie::FLOATS;
}
/// A vector lies both ways: along k where k is long, else along x.
Call canonical(Call c) {
  if (c.m == 1 && c.ta && c.lda == 1) c.ta = false, c.lda = c.k;
  if (c.n == 1 && !c.tb && c.ldb == 1) c.tb = true, c.ldb = c.k;
  if (c.k == 1 && !c.ta && c.lda == 1) c.ta = true, c.lda = c.m;
  if (c.k == 1 && c.tb && c.ldb == 1) c.tb = false, c.ldb = c.n;
  c.lda = std::max(1LL, c.lda), c.ldb = std::max(1LL, c.ldb);
  return c;
}
cudaError_t execute(const Candidate& x, const Call& given, cudaStream_t stream) {
  const Call c = canonical(given);
  const Cut cut{x.cluster, x.outer, partials, x.two_step ? nullptr : tickets};
  if (x.thin < 0) {
    const Product g{c.m, c.n,           c.k,    c.alpha, c.a,           size_t(c.lda),
                    c.b, size_t(c.ldb), c.beta, c.c,     size_t(c.ldc), vec(c.c, c.ldc)};
    const Lie a = lie(!c.ta, c.a, c.lda), b = lie(c.tb, c.b, c.ldb);
    if (x.direct)
      return launch_direct(g, x.direct, c.ta ? 1 : c.lda, c.ta ? c.lda : 1, c.tb ? 1 : c.ldb,
                           c.tb ? c.ldb : 1, stream);
    if (x.ws >= 0)
      return (x.ws % 2 ? pick_ws<false>(a) : pick_ws<true>(a))(g, b, x.ws < 2, ws_partials,
                                                               ws_ready, stream);
    if (x.stream)
      return stream_launch(x.tile, a)(g, b, reinterpret_cast<float4*>(ws_partials), tickets + 60000,
                                      stream);
    return tile_launch(x.tile, a)(g, b, cut, stream);
  }
  Thin t;
  t.k = c.k, t.alpha = c.alpha, t.beta = c.beta, t.c = c.c;
  bool v;
  if (!thin_swaps(c)) {
    t.m = c.m, t.n = c.n, t.x = c.a, t.x_i = c.ta ? 1 : c.lda, t.x_l = c.ta ? c.lda : 1;
    t.y = c.b, t.ld = c.ldb, t.c_i = c.ldc, t.c_j = 1, t.c_vec = vec(c.c, c.ldc);
    v = vec(c.b, c.ldb);
  } else {
    t.m = c.n, t.n = c.m, t.x = c.b, t.x_i = c.tb ? c.ldb : 1, t.x_l = c.tb ? 1 : c.ldb;
    t.y = c.a, t.ld = c.lda, t.c_i = 1, t.c_j = c.ldc, t.c_vec = false;
    v = vec(c.a, c.lda);
  }
  return thin_kernels()[x.thin].launch(t, cut, v, stream);
}

constexpr int SMS = 132;
/// All that may be worth a try, the hopeless left out.
std::vector<Candidate> every_candidate(const Call& c, bool all);
std::string only;
std::vector<Candidate> candidates(const Call& c, bool all) {
  std::vector<Candidate> out;
  for (const Candidate& x : every_candidate(c, all)) {
    if (only.empty() || (only == "ws") == (x.ws >= 0)) out.push_back(x);
  }
  return out;
}
std::vector<Candidate> every_candidate(const Call& given, bool all) {
  const Call c = canonical(given);
  std::vector<Candidate> out;
  for (const int lanes : {1, 4, 8, 32}) {
    if (1.0 * c.m * c.n * c.k > 4e6 || 1.0 * c.k / lanes > 512) continue;
    Candidate x;
    x.direct = lanes;
    out.push_back(x);
  }
  const std::pair<int, int> cuts[] = {{1, 1}, {2, 1}, {3, 1},  {4, 1},  {6, 1},  {8, 1},  {4, 2},
                                      {8, 2}, {8, 4}, {8, 8},  {8, 16}, {1, 2},  {1, 3},  {1, 4},
                                      {1, 6}, {1, 8}, {1, 12}, {1, 16}, {1, 32}, {1, 64}, {1, 128}};
  const int k_tiles = (c.k + 15) / 16;
  struct Rated {
    double cost;
    Candidate x;
  };
  std::vector<Rated> rated;
  for (int t = 0; t < TILES; ++t) {
    const auto& info = tile_infos[t];
    const long long tiles = 1LL * ((c.m - 1) / info.bm + 1) * ((c.n - 1) / info.bn + 1);
    for (const auto& [cl, o] : cuts) {
      const long long parts = 1LL * cl * o, blocks = tiles * parts;
      if (parts > std::max(1, k_tiles)) continue;
      if (parts > 1 && blocks > 2 * SMS * info.blocks) continue;
      if (o > 1 && (blocks / cl * info.bm * info.bn * 4 > static_cast<long long>(WORKSPACE) ||
                    tiles * cl > static_cast<long long>(TICKETS)))
        continue;
      // Time in cycles of an SM, roughly.
      const double per_block =
          double(info.bm) * info.bn * ((k_tiles + parts - 1) / parts * 16) / 128;
      const long long per_sm = (blocks + SMS - 1) / SMS;
      const double alone = per_sm == 1 ? 1.3 : 1;
      const double cost =
          per_block * per_sm * alone + 3000 + (cl > 1 ? 1500 : 0) + (o > 1 ? 3000 + 100 * o : 0);
      rated.push_back({cost, {t, -1, cl, o}});
      if (o > 1 && cl == 1) rated.push_back({cost + 1, {t, -1, cl, o, true}});
    }
  }
  for (int t = 0; t < TILES; ++t) {
    const auto& info = tile_infos[t];
    const long long tiles = 1LL * ((c.m - 1) / info.bm + 1) * ((c.n - 1) / info.bn + 1);
    if (!streams(t) || tiles > 1000000 || c.k < 1) continue;
    const double ideal = 1.0 * tiles * info.bm * info.bn * c.k / 128 / SMS * 1.03 + 6000;
    if (tiles % (SMS * info.blocks) == 0) continue;
    Candidate x;
    x.tile = t, x.stream = true;
    rated.push_back({ideal, x});
  }
  std::sort(rated.begin(), rated.end(),
            [](const Rated& a, const Rated& b) { return a.cost < b.cost; });
  for (size_t i = 0; i < rated.size(); ++i) {
    const size_t most = 1.0 * c.m * c.n * c.k > 2e9 ? 12 : 32;
    if (all || i < 6 || (i < most && rated[i].cost < 1.8 * rated[0].cost))
      out.push_back(rated[i].x);
  }
  if (c.k > 0 && (all || (1.0 * c.m * c.n * c.k > 1e8 && std::min(c.m, c.n) > 32))) {
    for (int w = 0; w < 4; ++w) {
      const long long tiles = 1LL * ((c.m - 1) / 128 + 1) * ((c.n - 1) / (w % 2 ? 128 : 256) + 1);
      if (w >= 2 && (tiles % SMS == 0 || tiles < SMS)) continue;  // the same as with shares
      Candidate x;
      x.ws = w;
      out.push_back(x);
    }
  }
  const int small = std::min(c.m, c.n), large = std::max(c.m, c.n);
  const bool along_k = thin_swaps(c) ? !c.ta : c.tb;
  for (int t = 0; t < static_cast<int>(thin_kernels().size()); ++t) {
    const auto& kernel = thin_kernels()[t];
    if (kernel.along_k != along_k || kernel.mt < small || (kernel.mt >= 2 * small && kernel.mt > 1))
      continue;
    const long long tiles = (large - 1) / kernel.bj + 1;
    for (const auto& [cl, o] : cuts) {
      const long long blocks = tiles * cl * o;
      if (cl * o > 1 && (blocks > 6 * SMS || cl * o > (c.k + 127) / 128)) continue;
      if (tiles * cl > static_cast<long long>(TICKETS)) continue;
      if (!all && cl * o > 1 && blocks < SMS / 3 && cl * o < (c.k + 1023) / 1024) continue;
      out.push_back({-1, t, cl, o, false});
    }
  }
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
  only = argc > 5 ? argv[5] : "";
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
  CHECK(cudaMalloc(&partials, WORKSPACE));
  CHECK(cudaMalloc(&tickets, 65536 * 4));
  CHECK(cudaMemset(tickets, 0, 65536 * 4));
  CHECK(cudaMalloc(&ws_partials, size_t{132} * 4 * 128 * 256 * 4));
  CHECK(cudaMalloc(&ws_ready, 200 * 4));
  CHECK(cudaMemset(ws_ready, 0, 200 * 4));
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
      if (x.cluster * x.outer > 1 && random() % 3) continue;
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

  // What a launch costs: a graph of 48 empty kernels.
  for (const int cluster : {1, 2, 4, 8}) {
    for (const int blocks : {1, 128, 1024}) {
      if (blocks < cluster) continue;
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int l = 0; l < 48; ++l) CHECK(start(nothing, blocks, 256, 32768, cluster, stream));
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
      std::printf("empty kernel, cluster %d, %d blocks: %.2f us\n", cluster, blocks,
                  1e3 * least / 48);
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
    Shape s{whole(extent()), whole(extent()), whole(extent()), i / 3 % 2, i / 6 % 2};
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
