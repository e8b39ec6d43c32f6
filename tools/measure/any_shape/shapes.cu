// Chapter 13's function beside cublasSgemm, over many shapes: verified, timed, and how far its choice is from the best.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "bench.cuh"

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: shapes SHAPES SECONDS OUT.json [EVERY [OUT.csv]]\n"
                 "  as many log-uniform shapes; every EVERY-th and all named ones with all "
                 "candidates, and four\n"
                 "  times as many with what cublasLt proposes\n");
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
    shapes.push_back(random_shape(random, i));
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
  std::vector<double> ratios, to_lt, regrets, noises,
      tiled[4];  // of the one tile: by corners of the map, and all
  for (size_t s = 0; s < shapes.size() && since() < seconds; ++s) {
    const Shape& x = shapes[s];
    const bool is_named = s < std::size(named);
    const Rotation rotation(bench, x);
    if (rotation.calls.empty()) continue;
    const std::vector<Call>& calls = rotation.calls;
    const size_t fc = rotation.floats;
    const int launches = rotation.launches, runs = rotation.runs;
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
    double regret = -1, lt = 0;
    if (every > 0 && (is_named || s % std::max<size_t>(1, size_t(every) / 4) == 0)) {
      lt = bench.best_of_lt(calls, launches, 3);
      if (!std::isfinite(lt)) lt = 0;
      if (!is_named && lt > 0) to_lt.push_back(lt / us);
    }
    if (every > 0 && (is_named || s % size_t(every) == 0)) {
      double least = us;
      Choice best = choice;
      const auto timed = [&](const Choice& one) {
        const auto launch = [&](const Call& c) {
          CHECK(one.kernel->launch(bench.product(c), one.parts, one.second, bench.workspace,
                                   bench.stream));
        };
        return bench.time(launch, calls, launches, runs);
      };
      for (const Choice& other : candidates(g, bench.sms)) {
        const double t = timed(other);
        if (t < least) least = t, best = other;
        if (csv != nullptr)
          std::fprintf(csv, "%d,%d,%d,%d,%d,%s/p%d%s,%.3f,%.3f\n", x.m, x.n, x.k, x.ta, x.tb,
                       other.kernel->name, other.parts, other.second ? "two" : "", t, peer);
      }
      // The least of many times is too low by their noise: both are timed again, in turns.
      const double chosen[2] = {timed(choice), timed(choice)};
      const bool same = best.kernel == choice.kernel && best.parts == choice.parts &&
                        best.second == choice.second;
      regret = same ? 0 : std::max(0.0, timed(choice) / timed(best) - 1);
      noises.push_back(std::fabs(chosen[0] / chosen[1] - 1));
      regrets.push_back(regret);
      std::printf(
          "%5d %5d %5d %c%c cublas %9.2f us, ours %9.2f, ratio %.3f, by %s; best %9.2f by %s\n",
          x.m, x.n, x.k, x.ta ? 'T' : 'N', x.tb ? 'T' : 'N', peer, us, peer / us,
          name_of(choice).c_str(), least, name_of(best).c_str());
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
    const auto more = [&](const char* name, double value) {
      std::snprintf(row, sizeof row, ", \"%s\": %.6g", name, value);
      rows += row;
    };
    if (regret >= 0) more("regret", regret);
    if (lt > 0) more("cublaslt_us", lt);
    rows += "}";
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
      {"cublasLt's best of eight, shapes", static_cast<double>(to_lt.size())},
      {"cublasLt's best of eight, geometric mean", geomean(to_lt)},
      {"cublasLt's best of eight, at least 1", share(to_lt, 1)},
      {"regret of", static_cast<double>(regrets.size())},
      {"regret median", quantile(regrets, 0.5)},
      {"regret p90", quantile(regrets, 0.9)},
      {"regret p99", quantile(regrets, 0.99)},
      {"noise median", quantile(noises, 0.5)},
      {"noise p99", quantile(noises, 0.99)},
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
