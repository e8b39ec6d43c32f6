// Every kernel of chapter 13's menu: verified on small products, and timed on random shapes, for fit.py.
#include <chrono>

#include "bench.cuh"

namespace {

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
    float* const old = bench.kept + (1 << 22);
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
              (parts == 1 || (kernel.kind != Kind::TILE && kernel.kind != Kind::SPECIALIZED)))
            continue;
          CHECK(cudaMemcpyAsync(c.c, old, size_t(all) * 4, cudaMemcpyDeviceToDevice, bench.stream));
          *bench.wrong = 0;
          CHECK(kernel.launch(g, parts, second, bench.workspace, bench.stream));
          compare<<<unsigned((all + 255) / 256), 256, 0, bench.stream>>>(
              c, bench.want, old, all, 4e-6 * (std::sqrt(double(k)) * 3 + 2), bench.wrong);
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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: candidates SHAPES SECONDS OUT.csv [SEED]\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int count = std::atoi(argv[1]);
  const double seconds = std::atof(argv[2]);
  FILE* const csv = std::fopen(argv[3], "w");
  if (csv == nullptr) {
    std::fprintf(stderr, "cannot write %s\n", argv[3]);
    return 2;
  }
  Bench bench;
  int bad = verify_kernels(bench, 150);
  std::printf("%.1f s\n", since());
  for (const Kernel& kernel : menu)
    std::fprintf(csv, "kernel,%s,%d,%d,%d,%d,%d\n", kernel.name, static_cast<int>(kernel.kind),
                 kernel.bm, kernel.bn, kernel.blocks, kernel.k_step);
  std::mt19937 random(argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 17);
  int timed = 0;
  const int few = static_cast<int>(std::size(named));
  for (; timed < count && since() < seconds; ++timed) {
    const Shape x = timed < few ? named[timed] : random_shape(random, timed, timed % 7 == 0);
    const Rotation r(bench, x);
    if (r.calls.empty()) continue;
    const double us = bench.time([&](const Call& c) { bench.theirs(c); }, r.calls, r.launches, 3);
    const size_t floats = std::min(size_t(x.m) * x.n, size_t{1} << 27);
    float* const c0 = r.calls[0].c;
    CHECK(cudaMemcpyAsync(bench.kept, c0, 4 * floats, cudaMemcpyDeviceToDevice, bench.stream));
    const Product g = bench.product(r.calls[0]);
    std::vector<Choice> all;
    for_each_choice(g, bench.sms, true, nullptr, [&](const Choice& c) { all.push_back(c); });
    std::sort(all.begin(), all.end(),
              [](const Choice& a, const Choice& b) { return a.microseconds < b.microseconds; });
    // The model that orders them may be wrong: of each kernel the three that it likes best, unless they look hopeless.
    std::vector<const Kernel*> taken;
    for (const Choice& c : all) {
      if (c.microseconds > (us > 1000 ? 1.5 : 1.8) * all[0].microseconds + 3 ||
          std::count(taken.begin(), taken.end(), c.kernel) >= 3)
        continue;
      taken.push_back(c.kernel);
      set<<<1056, 256, 0, bench.stream>>>(c0, floats, NAN);
      *bench.wrong = 0;
      const double t = bench.time(
          [&](const Call& call) {
            CHECK(c.kernel->launch(bench.product(call), c.parts, c.second, bench.workspace,
                                   bench.stream));
          },
          r.calls, r.launches, us > 1000 ? 1 : 3);
      compare_two<<<1056, 256, 0, bench.stream>>>(
          c0, bench.kept, floats, 4e-6 * (std::sqrt(double(x.k)) * 3 + 2), bench.wrong);
      CHECK(cudaStreamSynchronize(bench.stream));
      if (*bench.wrong != 0 && bad++ < 20)
        std::printf("WRONG %d %d %d %d%d by %s: %u\n", x.m, x.n, x.k, x.ta, x.tb,
                    name_of(c).c_str(), *bench.wrong);
      const auto lies = [](const Operand& o) { return o.along_k ? 0 : o.wide ? 1 : 2; };
      std::fprintf(csv, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%d,%d,%.3f,%.3f\n", x.m, x.n, x.k, x.ta,
                   x.tb, lies(g.a), lies(g.b), g.c_wide, (g.m <= g.n ? g.b.ld : g.a.ld) % 4 != 0,
                   c.kernel->name, c.parts, c.second, t, us);
    }
    std::fflush(csv);
  }
  std::fclose(csv);
  std::printf("%d shapes with all candidates, %d wrong, %.1f s\n", timed, bad, since());
  return bad != 0;
}
