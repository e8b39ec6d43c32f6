// Every kernel of chapter 13's menu: verified on small products and on very large ones, and timed on the shapes of a file, for fit.py.
//
// Graphs of launches are built by other threads while the GPU runs the ones before.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>
#include <thread>

#include "bench.cuh"

namespace {

/// What is timed: a kernel of the menu in so many parts.
struct Candidate {
  std::string name;
  int parts;
  bool second;
  std::function<cudaError_t(const Call&, cudaStream_t)> launch;
};

/// Threads that build graphs.
class Builders {
 public:
  explicit Builders(unsigned count) {
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Builders() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  Builders(const Builders&) = delete;
  Builders& operator=(const Builders&) = delete;

  /// A graph of `launches` launches; none if a launch fails.
  std::future<cudaGraphExec_t> build(const Candidate& what, const std::vector<Call>& calls,
                                     int launches) {
    std::packaged_task<cudaGraphExec_t(cudaStream_t)> task(
        [&what, &calls, launches](cudaStream_t s) {
          cudaGraph_t graph;
          cudaGraphExec_t exec = nullptr;
          CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
          bool good = true;
          for (int l = 0; l < launches && good; ++l)
            good = what.launch(calls[size_t(l) % calls.size()], s) == cudaSuccess;
          CHECK(cudaStreamEndCapture(s, &graph));
          if (good) {
            CHECK(cudaGraphInstantiate(&exec, graph, 0));
            CHECK(cudaGraphUpload(exec, s));  // or the first launch would take longer
          }
          CHECK(cudaGraphDestroy(graph));
          return exec;
        });
    auto result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
    return result;
  }

 private:
  void work() {
    CHECK(cudaSetDevice(0));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return done_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task(stream);
    }
    CHECK(cudaStreamDestroy(stream));
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<cudaGraphExec_t(cudaStream_t)>> tasks_;
  std::vector<std::thread> threads_;
  bool done_ = false;
};

/// The menu's candidates: of each kernel the four that its costs like best, unless they look hopeless.
void on_menu(const Product& g, int sms, void* workspace, std::vector<Candidate>& found) {
  std::vector<Choice> all;
  for_each_choice(g, sms, true, nullptr, [&](const Choice& c) { all.push_back(c); });
  std::sort(all.begin(), all.end(),
            [](const Choice& a, const Choice& b) { return a.microseconds < b.microseconds; });
  std::vector<const Kernel*> taken;
  for (const Choice& c : all) {
    if (c.microseconds > (all[0].microseconds > 500 ? 1.35f : 1.8f) * all[0].microseconds + 3 ||
        std::count(taken.begin(), taken.end(), c.kernel) >= 4)
      continue;
    taken.push_back(c.kernel);
    const auto launch = c.kernel->launch;
    const int parts = c.parts;
    const bool second = c.second;
    found.push_back({c.kernel->name, parts, second, [=](const Call& x, cudaStream_t s) {
                       return launch(row_major(x.ta, x.tb, int(x.m), int(x.n), int(x.k), x.alpha,
                                               x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc),
                                     parts, second, workspace, s);
                     }});
  }
}

__global__ void same_bits(const float* a, const float* b, size_t n, unsigned* wrong) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    if (__float_as_uint(a[i]) != __float_as_uint(b[i])) atomicAdd(wrong, 1u);
}

/// Whether a kernel can compute a product, in so many parts.
bool can(const Kernel& kernel, const Product& g, int parts, int sms) {
  bool found = false;
  for_each_choice(g, sms, true, nullptr, [&](const Choice& c) {
    found = found || (c.kernel == &kernel && c.parts == parts);
  });
  return found;
}

/// Every kernel on `count` small products with gaps, odd addresses, alpha and beta, against double. Returns how many are wrong.
int verify_kernels(Bench& bench, int count) {
  std::mt19937 random(11);
  const int extents[] = {1, 2, 3, 7, 16, 31, 33, 63, 65, 100, 127, 129, 160, 200, 255, 257, 300};
  const auto extent = [&] { return extents[random() % std::size(extents)]; };
  int bad = 0, runs = 0;
  for (int p = 0; p < count; ++p) {
    const int m = extent(), n = extent(), k = random() % 4 == 0 ? 16 * extent() : extent();
    Call c{random() % 2 != 0,
           random() % 2 != 0,
           m,
           n,
           k,
           -0.5f,
           bench.pool,
           0,
           bench.pool + (1 << 24),
           0,
           random() % 2 ? 0.f : 0.75f,
           bench.kept + 1024,
           0};
    const unsigned kind = random() % 4;  // of leading dimensions
    const auto ld = [&](int row) {
      return kind == 0   ? row
             : kind == 1 ? (row + 3) / 4 * 4 + 4
             : kind == 2 ? (row + 1) / 2 * 2 + 2
                         : row + 1 + int(random() % 9);
    };
    c.lda = ld(c.ta ? m : k), c.ldb = ld(c.tb ? k : n), c.ldc = ld(n);
    if (kind == 2) c.a += 2, c.b += 2, c.c += 2;
    if (kind == 3) c.a += random() % 4, c.b += random() % 4, c.c += random() % 4;
    const long long all = (m - 1) * c.ldc + n + 256;
    float *const old = bench.kept + (1 << 22), *const again = bench.kept + (1 << 23);
    if (c.beta == 0) {
      set<<<256, 256, 0, bench.stream>>>(old, size_t(all), NAN);
    } else {
      fill<<<256, 256, 0, bench.stream>>>(old, size_t(all), 5);
    }
    reference<<<unsigned(m * n + 127) / 128, 128, 0, bench.stream>>>(c, bench.want, old);
    const Product g = bench.product(c);
    for (const Kernel& kernel : menu) {
      for (const int parts : {1, 2, 5}) {
        const bool streams = kernel.kind == Kind::STREAM || kernel.kind == Kind::SPECIALIZED_STREAM;
        if (!(streams && parts == 1) && !can(kernel, g, parts, bench.sms)) continue;
        for (const bool second : {false, true}) {
          if (second &&
              (parts == 1 || (kernel.kind != Kind::TILE && kernel.kind != Kind::SPECIALIZED &&
                              kernel.kind != Kind::STAGED)))
            continue;
          CHECK(cudaMemcpyAsync(c.c, old, size_t(all) * 4, cudaMemcpyDeviceToDevice, bench.stream));
          *bench.wrong = 0;
          CHECK(kernel.launch(g, parts, second, bench.workspace, bench.stream));
          compare<<<unsigned((all + 255) / 256), 256, 0, bench.stream>>>(
              c, bench.want, old, all, 4e-6 * (std::sqrt(double(k)) * 3 + 2), bench.wrong);
          // Once more, over the same C: the same bits.
          CHECK(
              cudaMemcpyAsync(again, c.c, size_t(all) * 4, cudaMemcpyDeviceToDevice, bench.stream));
          CHECK(cudaMemcpyAsync(c.c, old, size_t(all) * 4, cudaMemcpyDeviceToDevice, bench.stream));
          CHECK(kernel.launch(g, parts, second, bench.workspace, bench.stream));
          same_bits<<<256, 256, 0, bench.stream>>>(c.c, again, size_t(all), bench.wrong);
          CHECK(cudaStreamSynchronize(bench.stream));
          ++runs;
          if (*bench.wrong != 0 && bad++ < 20)
            std::printf("WRONG %s/%d%s: m %d n %d k %d %d%d ld %lld %lld %lld beta %g: %u\n",
                        kernel.name, parts, second ? " and a second kernel" : "", m, n, k, c.ta,
                        c.tb, c.lda, c.ldb, c.ldc, c.beta, *bench.wrong);
        }
      }
    }
  }
  std::printf("kernels verified: %d products, %d runs, %d wrong\n", count, runs, bad);
  return bad;
}

/// Compares some elements of C, the last ones among them.
__global__ void sample(Call c, int count, double tolerance, unsigned* wrong) {
  const long long x = 1LL * blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= count) return;
  const long long all = c.m * c.n, at = x < 64 ? all - 1 - x : all / count * x;
  const long long i = at / c.n, j = at % c.n;
  double sum = 0;
  for (long long l = 0; l < c.k; ++l)
    sum += double(c.ta ? c.a[l * c.lda + i] : c.a[i * c.lda + l]) *
           double(c.tb ? c.b[j * c.ldb + l] : c.b[l * c.ldb + j]);
  if (!(fabs(c.c[i * c.ldc + j] - c.alpha * sum) <= tolerance)) atomicAdd(wrong, 1u);
}

/// Products whose A, B or C has more than 2^31 elements, or rows that lie as far apart. Returns how many are wrong.
int verify_large(Bench& bench) {
  constexpr size_t MOST = size_t{2900} << 20;  // floats
  float* big;
  if (cudaMalloc(&big, MOST * 4) != cudaSuccess) {
    std::printf("no room for products with more than 2^31 elements\n");
    return 1;
  }
  fill<<<1056, 256, 0, bench.stream>>>(big, MOST, 3);
  float *const a = bench.pool, *const b = bench.pool + (1 << 27);
  const Call calls[] = {{false, false, 65537, 40001, 9, 1, a, 9, b, 40001, 0, big, 40001},
                        {true, true, 40004, 65536, 16, 1, a, 40004, b, 16, 0, big, 65536},
                        {false, false, 60000, 8, 40001, 1, big, 40001, b, 8, 0, a, 8},
                        {true, false, 60004, 40, 40000, 1, big, 60004, b, 40, 0, a, 40},
                        {false, true, 5, 60001, 40000, 1, b, 40000, big, 40000, 0, a, 60001},
                        {false, false, 3, 40, 1000, 1, big, 1200000001, b, 40, 0, a, 40},
                        {true, true, 300, 3, 1000, 1, b, 300, big, 1200000000, 0, a, 3},
                        {false, true, 3, 200, 64, 1, a, 64, b, 64, 0, big, 1200000001}};
  int bad = 0;
  for (const Call& c : calls) {
    *bench.wrong = 0;
    CHECK(bench.ours(c));
    sample<<<64, 64, 0, bench.stream>>>(c, 4096, 4e-6 * (std::sqrt(double(c.k)) * 3 + 2),
                                        bench.wrong);
    CHECK(cudaStreamSynchronize(bench.stream));
    std::printf("more than 2^31: %lld x %lld x %lld, ld %lld %lld %lld, by %s: %u of 4096 wrong\n",
                c.m, c.n, c.k, c.lda, c.ldb, c.ldc,
                name_of(fastest(bench.product(c), bench.sms, true)).c_str(), *bench.wrong);
    bad += *bench.wrong != 0;
    if (c.c == big) fill<<<1056, 256, 0, bench.stream>>>(big, MOST, 3);
  }
  CHECK(cudaFree(big));
  return bad;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: table SHAPES.txt SECONDS OUT_PREFIX [LT_EVERY]\n"
                 "  SHAPES.txt: lines of M N K TA TB KIND, as draw.py writes them\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const double seconds = std::atof(argv[2]);
  const std::string prefix = argv[3];
  const int lt_every = argc > 4 ? std::atoi(argv[4]) : 4;
  std::vector<std::pair<Shape, std::string>> shapes;
  {
    std::ifstream file(argv[1]);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      Shape x;
      std::string kind;
      if (words >> x.m >> x.n >> x.k >> x.ta >> x.tb >> kind) shapes.emplace_back(x, kind);
    }
  }
  if (shapes.empty()) {
    std::fprintf(stderr, "table: no shapes in %s\n", argv[1]);
    return 2;
  }
  FILE* const times = std::fopen((prefix + "times.csv").c_str(), "w");
  FILE* const peers = std::fopen((prefix + "peers.csv").c_str(), "w");
  if (times == nullptr || peers == nullptr) {
    std::fprintf(stderr, "table: cannot write %stimes.csv\n", prefix.c_str());
    return 2;
  }
  Bench bench;
  unsigned* wrong;
  constexpr size_t MOST = 512;  // candidates of a shape
  CHECK(cudaMalloc(&wrong, MOST * 4));
  int bad = verify_kernels(bench, 150);
  bad += verify_large(bench);
  std::printf("%.1f s\n", since());
  for (const Kernel& kernel : menu)
    std::fprintf(times, "kernel,%s,%d,%d,%d,%d,%d\n", kernel.name, static_cast<int>(kernel.kind),
                 kernel.bm, kernel.bn, kernel.blocks, kernel.k_step);
  Builders builders(std::max(2u, std::min(8u, std::thread::hardware_concurrency() / 2)));

  size_t done = 0, timed = 0;
  double waited = 0;
  for (; done < shapes.size() && since() < seconds; ++done) {
    const auto& [x, kind] = shapes[done];
    const Rotation r(bench, x);
    if (r.calls.empty()) continue;
    const Product g = bench.product(r.calls[0]);
    std::vector<Candidate> all;
    on_menu(g, bench.sms, bench.workspace, all);
    if (all.size() > MOST) all.resize(MOST);
    std::deque<std::future<cudaGraphExec_t>> graphs;
    size_t asked = 0;
    const auto theirs = [&](const Call& c) { bench.theirs(c); };
    const double before = bench.time(theirs, r.calls, r.launches, 3);
    const int launches = before > 1500 ? 1 : before > 6 ? std::min(r.launches, 24) : r.launches;
    const auto ask = [&] {
      if (asked < all.size()) graphs.push_back(builders.build(all[asked++], r.calls, launches));
    };
    for (int i = 0; i < 12; ++i) ask();
    const size_t floats = std::min(size_t(x.m) * x.n, size_t{1} << 27);
    float* const c0 = r.calls[0].c;
    CHECK(cudaMemcpyAsync(bench.kept, c0, 4 * floats, cudaMemcpyDeviceToDevice, bench.stream));
    CHECK(cudaMemsetAsync(wrong, 0, MOST * 4, bench.stream));
    const unsigned fill_blocks = static_cast<unsigned>(std::min<size_t>(1056, floats / 256 + 1));
    std::vector<double> us(all.size(), 0);
    double best = 1e30;
    for (size_t i = 0; i < all.size(); ++i) {
      const double from = since();
      const cudaGraphExec_t exec = graphs.front().get();
      waited += since() - from;
      graphs.pop_front();
      ask();
      if (exec == nullptr) continue;
      set<<<fill_blocks, 256, 0, bench.stream>>>(c0, floats, NAN);
      const auto run = [&] {
        float ms;
        hold<<<1, 1, 0, bench.stream>>>(HOLD);
        CHECK(cudaEventRecord(bench.from, bench.stream));
        CHECK(cudaGraphLaunch(exec, bench.stream));
        CHECK(cudaEventRecord(bench.to, bench.stream));
        CHECK(cudaEventSynchronize(bench.to));
        CHECK(cudaEventElapsedTime(&ms, bench.from, bench.to));
        return 1e3 * ms / launches;
      };
      double t = run();  // the first is a warm-up, but of what is far from the best
      if (t < 2.2 * best + 5) {
        std::vector<double> more;
        for (int j = 0; j < (t * launches > 2000 ? 1 : 3); ++j) more.push_back(run());
        std::sort(more.begin(), more.end());
        t = more[more.size() / 2];
      }
      us[i] = t, best = std::min(best, t);
      compare_two<<<fill_blocks, 256, 0, bench.stream>>>(
          c0, bench.kept, floats, 4e-6 * (std::sqrt(double(x.k)) * 3 + 2), wrong + i);
      CHECK(cudaGraphExecDestroy(exec));
    }
    const double peer = std::min(before, bench.time(theirs, r.calls, launches, 3));
    const double lt = lt_every > 0 && done % size_t(lt_every) == 0
                          ? bench.best_of_lt(r.calls, launches, 3)
                          : INFINITY;
    std::vector<unsigned> wrongs(MOST);
    CHECK(cudaMemcpy(wrongs.data(), wrong, MOST * 4, cudaMemcpyDeviceToHost));
    const auto lies = [](const Operand& o) { return o.along_k ? 0 : o.wide ? 1 : 2; };
    for (size_t i = 0; i < all.size(); ++i) {
      const Candidate& c = all[i];
      if (us[i] == 0) {
        std::printf("FAILED %d %d %d %d%d by %s/%d\n", x.m, x.n, x.k, x.ta, x.tb, c.name.c_str(),
                    c.parts);
        ++bad;
        continue;
      }
      if (wrongs[i] != 0 && bad++ < 30)
        std::printf("WRONG %d %d %d %d%d by %s/%d%s: %u\n", x.m, x.n, x.k, x.ta, x.tb,
                    c.name.c_str(), c.parts, c.second ? " and a second kernel" : "", wrongs[i]);
      if (wrongs[i] != 0) continue;  // a wrong result has no time
      std::fprintf(times, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%d,%d,%.3f,%.3f\n", x.m, x.n, x.k, x.ta,
                   x.tb, lies(g.a), lies(g.b), g.c_wide, (g.m <= g.n ? g.b.ld : g.a.ld) % 4 != 0,
                   c.name.c_str(), c.parts, c.second, us[i], peer);
    }
    const Choice choice = fastest(g, bench.sms, true);
    std::fprintf(peers, "%d,%d,%d,%d,%d,%s,%.3f,%.3f,%s,%d,%d\n", x.m, x.n, x.k, x.ta, x.tb,
                 kind.c_str(), peer, std::isfinite(lt) ? lt : 0, choice.kernel->name, choice.parts,
                 choice.second);
    timed += all.size();
    if (done % 200 == 199)
      std::printf("%zu shapes, %zu candidates, %.1f s, of which %.1f s for graphs\n", done + 1,
                  timed, since(), waited);
    if (done % 20 == 19) std::fflush(times), std::fflush(peers);
  }
  std::fclose(times), std::fclose(peers);
  std::printf("%zu of %zu shapes, %zu candidates, %d wrong, %.1f s, of which %.1f s for graphs\n",
              done, shapes.size(), timed, bad, since(), waited);
  return bad != 0;
}
