// The parts of lab that hold device memory and take times, on the simulator.
#include "lab/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/devices.h"
#include "lab/limits.h"
#include "lab/streams.h"
#include "lab/timing.h"
#include "lab/verify.h"

namespace {

constexpr std::size_t small_guard = 1024;

/// What a call throws as a failure, inside a rung; empty where it throws nothing.
template <class F>
std::string failure_of(F call) {
  lab::detail::ThrowInstead scope;
  try {
    call();
  } catch (const lab::Failure& failure) {
    return failure.what();
  }
  return "";
}

// ---- CUDA_CHECK ----

TEST(Check, SaysCallPlaceNameTextAndAdvice) {
  EXPECT_EQ(failure_of([] { CUDA_CHECK(cudaSuccess); }), "");
  const std::string said = failure_of([] { CUDA_CHECK(cudaErrorMemoryAllocation); });
  EXPECT_TRUE(has(said, "device_test.cpp:")) << said;
  EXPECT_TRUE(has(said, ": cudaErrorMemoryAllocation failed with cudaErrorMemoryAllocation: "))
      << said;
  EXPECT_TRUE(has(said, cudaGetErrorString(cudaErrorMemoryAllocation))) << said;
  EXPECT_TRUE(has(said, "choose a smaller --size")) << said;
  const std::string image = failure_of([] { CUDA_CHECK(cudaErrorNoKernelImageForDevice); });
  EXPECT_TRUE(has(image, "its kernels did not run")) << image;
  EXPECT_TRUE(has(image, "-DCMAKE_CUDA_ARCHITECTURES=native")) << image;
  try {
    lab::detail::ThrowInstead scope;
    CUDA_CHECK(cudaErrorInvalidValue);
    FAIL();
  } catch (const lab::CudaFailure& failure) {
    EXPECT_EQ(failure.code(), cudaErrorInvalidValue);
  }
}

TEST(CheckDeathTest, OutsideOfARungEndsTheProgramWithOneLineAndExitCode1) {
  EXPECT_EXIT(CUDA_CHECK(cudaErrorInvalidConfiguration), testing::ExitedWithCode(1),
              "^ERROR [^\n]*device_test.cpp:[0-9]+: [^\n]*cudaErrorInvalidConfiguration[^\n]*\n$");
}

// ---- streams ----

/// Findings of work in the default stream, then in two streams, then in the default stream again.
std::size_t findings_between(lab::Streams& streams, bool start, bool join) {
  lab::DeviceBuffer<float> x(256, "x", 0), y(256, "y", 0);
  set(1, 256, x.data(), 0, 256, 1);
  set(1, 256, y.data(), 0, 256, 2);
  if (start) streams.start();
  scale_in_stream(streams[0], x.data(), 256);
  scale_in_stream(streams[1], y.data(), 256);
  if (join) streams.join();
  add(1, 256, x.data(), y.data(), x.data(), 0, 256);
  cudaDeviceSynchronize();
  EXPECT_EQ(x.download()[255], 6);
  return lab::take_findings().size();
}

TEST(Streams, BeginAndEndInTheDefaultStream) {
  lab::Streams streams(2);
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(findings_between(streams, true, true), 0u);
  EXPECT_EQ(findings_between(streams, true, true), 0u);  // again: its events are used anew
  EXPECT_GT(findings_between(streams, false, true), 0u);
  EXPECT_GT(findings_between(streams, true, false), 0u);
}

// ---- devices ----

TEST(Devices, AreOpenToEachOther) {
  const int devices = lab::open_devices(4, 3);
  if (lab::this_backend().traces) {
    EXPECT_EQ(devices, 3);
  }
  std::vector<int> seen;
  lab::on_each_device(devices, [&](int device) {
    int current = -1;
    cudaGetDevice(&current);
    EXPECT_EQ(current, device);
    seen.push_back(device);
  });
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(devices));
  int current = -1;
  cudaGetDevice(&current);
  EXPECT_EQ(current, 0);
}

/// Findings of work in the default stream, then in a stream of each of two devices, then in the default stream again.
std::size_t findings_on_two_devices(bool start, bool join) {
  lab::Streams streams(2, 2);
  std::optional<lab::DeviceBuffer<float>> y;
  lab::DeviceBuffer<float> x(256, "x", 0);
  lab::on_each_device(2, [&](int device) {
    if (device == 1) y.emplace(256, "y", 0);
  });
  set(1, 256, x.data(), 0, 256, 1);
  set(1, 256, y->data(), 0, 256, 2);  // by device 0
  if (start) streams.start();
  lab::on_each_device(2, [&](int device) {
    scale_in_stream(streams[static_cast<std::size_t>(device)], device == 0 ? x.data() : y->data(),
                    256);
  });
  if (join) streams.join();
  add(1, 256, x.data(), y->data(), x.data(), 0, 256);
  lab::synchronize_devices(2);
  EXPECT_EQ(x.download()[255], 6);
  return lab::take_findings().size();
}

TEST(Devices, HaveStreamsThatBeginAndEndInTheDefaultStream) {
  if (lab::open_devices(2, 2) < 2) GTEST_SKIP() << "one device";
  EXPECT_EQ(findings_on_two_devices(true, true), 0u);
  EXPECT_GT(findings_on_two_devices(false, true), 0u);
  EXPECT_GT(findings_on_two_devices(true, false), 0u);
}

// ---- buffers ----

template <class B>
class Buffers : public testing::Test {};
using Kinds =
    testing::Types<lab::DeviceBuffer<float>, lab::PinnedBuffer<float>, lab::MappedBuffer<float>>;
TYPED_TEST_SUITE(Buffers, Kinds);

TYPED_TEST(Buffers, GiveBackWhatTheyGot) {
  std::vector<float> values(1001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 300;
  TypeParam buffer(values.size(), "b");
  EXPECT_EQ(buffer.size(), 1001u);
  EXPECT_EQ(buffer.size_bytes(), 4004u);
  buffer.upload(values);
  EXPECT_EQ(buffer.download(), values);
  buffer.zero();
  EXPECT_EQ(buffer.download(), std::vector<float>(1001, 0.0f));
  EXPECT_TRUE(has(failure_of([&] { buffer.upload(std::vector<float>(1002)); }),
                  "b: upload of 1002 elements into 1001"));
}

TYPED_TEST(Buffers, ArePoisonedWhole) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{333}, std::size_t{700001}}) {
    TypeParam buffer(n, "b", small_guard);
    buffer.zero();
    buffer.poison();
    for (const float v : buffer.download()) ASSERT_TRUE(std::isnan(v));
    EXPECT_EQ(buffer.check_canaries(), std::nullopt);
  }
}

TYPED_TEST(Buffers, MoveTheirMemory) {
  const std::size_t before = lab::Buffer::registry().size();
  {
    TypeParam a(10, "a", small_guard);
    a.upload(std::vector<float>(10, 1.0f));
    TypeParam b(std::move(a));
    EXPECT_EQ(b.name(), "a");
    EXPECT_EQ(b.download(), std::vector<float>(10, 1.0f));
    TypeParam c(3, "c", small_guard);
    c = std::move(b);
    EXPECT_EQ(c.size(), 10u);
    std::vector<TypeParam> many;
    for (int i = 0; i < 9; ++i) many.emplace_back(5, "m", small_guard);
    many.push_back(std::move(c));
    EXPECT_EQ(many.back().download(), std::vector<float>(10, 1.0f));
    EXPECT_EQ(lab::check_all_canaries(), std::nullopt);
  }
  EXPECT_EQ(lab::Buffer::registry().size(), before);
}

TYPED_TEST(Buffers, MayBeEmpty) {
  TypeParam buffer(0, "empty", small_guard);
  buffer.poison();
  buffer.zero();
  EXPECT_TRUE(buffer.download().empty());
  EXPECT_EQ(buffer.check_canaries(), std::nullopt);
}

TYPED_TEST(Buffers, RefuseASizeThatOverflows) {
  const std::size_t n = std::numeric_limits<std::size_t>::max() / sizeof(float);
  EXPECT_TRUE(
      has(failure_of([&] { TypeParam(n + 1, "huge", small_guard); }), "huge: its size overflows"));
  EXPECT_TRUE(
      has(failure_of([&] { TypeParam(n, "huge", small_guard); }), "huge: its size overflows"));
}

TEST(Canaries, CatchAWritePastTheEndAndBeforeTheStart) {
  for (const auto& [first, count, said] :
       {std::tuple{0L, 1000, ""}, std::tuple{0L, 1001, "c: a write past its end hit byte 4000 "},
        std::tuple{1007L, 1, "c: a write past its end hit byte 4028 "},
        std::tuple{-1L, 1, "c: a write before its start hit byte -1 "},
        std::tuple{-2L, 1, "c: a write before its start hit byte -5 "}}) {
    lab::DeviceBuffer<float> c(1000, "c", small_guard);
    set(4, 256, c.data(), first, count, 1.5f);
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto damage = c.check_canaries();
    EXPECT_EQ(damage.has_value(), *said != '\0') << first << " " << count;
    EXPECT_TRUE(has(damage.value_or(""), said)) << damage.value_or("");
    EXPECT_EQ(lab::check_all_canaries(), damage);
    lab::mend_all_canaries();
    EXPECT_EQ(lab::check_all_canaries(), std::nullopt);
  }
  EXPECT_EQ(lab::check_all_canaries(), std::nullopt);
}

TEST(Canaries, AreEverywhereInTheGuard) {
  lab::PinnedBuffer<std::uint8_t> buffer(100, "b", small_guard);
  for (std::size_t i = 0; i < small_guard; i += 37) {
    std::uint8_t& byte = buffer.data()[100 + i];
    byte = static_cast<std::uint8_t>(byte + 1);
    EXPECT_TRUE(buffer.check_canaries().has_value()) << i;
    byte = static_cast<std::uint8_t>(byte - 1);
    EXPECT_FALSE(buffer.check_canaries().has_value()) << i;
  }
}

TEST(MappedBuffer, IsOneMemoryForHostAndKernels) {
  lab::MappedBuffer<float> buffer(100, "m");
  buffer.zero();
  set(1, 128, buffer.device_data(), 0, 100, 2.5f);
  CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(buffer[99], 2.5f);
  EXPECT_EQ(buffer.span().size(), 100u);
}

// ---- timing ----

lab::TimingOptions quick(int runs) {
  lab::TimingOptions options;
  options.warmup = 2;
  options.warmup_s = 0;
  options.min_runs = options.max_runs = runs;
  options.flush = false;
  return options;
}

TEST(Timing, RunsTheContestantsInTurnAndTellsWhichRunIsTheLast) {
  std::string log;
  const std::vector<lab::Contestant> contestants{
      {[&] { log += 'p'; }, [&](bool last) { log += last ? 'L' : '.'; }},
      {[&] { log += 'r'; }, [&](bool last) { log += last ? 'L' : '.'; }, [&] { log += 'a'; },
       lab::Clock::host}};
  const auto stats =
      lab::time_interleaved(contestants, quick(3), [&] { log += '|'; });  // between rounds
  EXPECT_EQ(log,
            ".p.r.p.r"
            ".p.r|.p.r|LpLra|");  // what comes after a contestant's last run, once
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].runs, 3);
  EXPECT_EQ(stats[1].runs, 3);
}

TEST(Timing, StopsWithTheBudget) {
  lab::TimingOptions options = quick(0);
  int runs = 0;
  const std::vector<lab::Contestant> sleeper{
      {[&] { ++runs, usleep(10000); }, {}, {}, lab::Clock::host}};
  options.warmup = 0;
  options.min_runs = 5;
  options.max_runs = 1000;
  options.precision = 0;
  options.budget_s = 0.1;
  const auto began = std::chrono::steady_clock::now();
  const auto stats = lab::time_interleaved(sleeper, options).front();
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  EXPECT_EQ(stats.runs, runs);
  EXPECT_GE(elapsed, options.budget_s);
  EXPECT_LE(runs, 11);  // each takes a tenth of the budget or more
  EXPECT_TRUE(runs >= 5 || elapsed >= 2 * options.budget_s) << runs << " runs";
  EXPECT_GE(stats.p10, 10.0);
  EXPECT_LE(stats.p10, stats.median);
  EXPECT_LE(stats.median, stats.p90);

  options.min_runs = 1000;  // twice the budget ends it all the same
  runs = 0;
  lab::time_interleaved(sleeper, options);
  EXPECT_LE(runs, 21);
}

/// Runs that take about so many milliseconds of the host's time, in turn.
lab::TimeStats time_of(std::vector<int> ms, const lab::TimingOptions& options) {
  std::size_t run = 0;
  const std::vector<lab::Contestant> one{
      {[&] { usleep(static_cast<useconds_t>(1000 * ms[run++ % ms.size()])); },
       {},
       {},
       lab::Clock::host}};
  return lab::time_interleaved(one, options).front();
}

TEST(Timing, GoesOnUntilTheMedianIsKnown) {
  lab::TimingOptions options = quick(0);
  options.warmup = 0;
  options.min_runs = 8;
  options.max_runs = 40;
  options.budget_s = 60;
  // 4 and 12 ms in turn: after 40 runs the median is known to 1.57 x 8 / (sqrt(40) x 8), a quarter.
  options.precision = 0.1;
  EXPECT_EQ(time_of({4, 12}, options).runs, 40);
  options.precision = 1e9;
  EXPECT_EQ(time_of({4, 12}, options).runs, 8);
  options.precision = 0.5;
  EXPECT_EQ(time_of({20}, options).runs, 8);  // they differ by little
}

TEST(Timing, EachMedianHasToBeKnown) {
  lab::TimingOptions options = quick(0);
  options.warmup = 0;
  options.min_runs = 4;
  options.max_runs = 12;
  options.budget_s = 60;
  options.precision = 0.3;
  int run = 0;
  const std::vector<lab::Contestant> two{
      {[&] { usleep(5000); }, {}, {}, lab::Clock::host},
      {[&] { usleep(++run % 2 == 0 ? 3000 : 30000); }, {}, {}, lab::Clock::host}};
  EXPECT_EQ(lab::time_interleaved(two, options).front().runs, 12);
}

TEST(Timing, WarmsUpAsLongAsIsAskedFor) {
  lab::TimingOptions options = quick(1);
  int runs = 0;
  double warm_ms = 0;
  const auto began = std::chrono::steady_clock::now();
  const std::vector<lab::Contestant> one{{[&] { ++runs, usleep(2000); },
                                          [&](bool last) {
                                            if (last) {
                                              warm_ms =
                                                  std::chrono::duration<double, std::milli>(
                                                      std::chrono::steady_clock::now() - began)
                                                      .count();
                                            }
                                          },
                                          {},
                                          lab::Clock::host}};
  options.warmup = 3;
  options.warmup_s = 0.05;
  lab::time_interleaved(one, options);
  EXPECT_GE(warm_ms, 50);
  EXPECT_GT(runs, 3);

  options.warmup_s = 0;
  runs = 0;
  lab::time_interleaved(one, options);
  EXPECT_EQ(runs, 3 + 1);

  options.warmup_s = 10;  // the budget ends it
  options.budget_s = 0.02;
  lab::time_interleaved(one, options);
  EXPECT_LT(warm_ms, 5000);
}

TEST(Timing, ReportsAFailedLaunch) {
  EXPECT_TRUE(
      has(failure_of([] { lab::time_on_device([] { set(1, 4096, nullptr, 0, 0, 0.0f); }); }),
          "cudaErrorInvalidValue"));
  static_cast<void>(cudaGetLastError());
}

TEST(Timing, TheHostsClockCountsWhatTheCallerWaitsFor) {
  EXPECT_GE(lab::time_on_host([] { usleep(20000); }), 20.0);
  EXPECT_GE(lab::time_on_device([] {}), 0.0);
}

// ---- vectors ----

TEST(Vectors, FourFloatsAreUpdatedAsFarAsTheyExist) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float beta : {0.0f, 0.5f}) {
    for (const auto& [offset, ld] :
         {std::pair{0, 8}, {0, 7}, {1, 8}}) {  // aligned, and two that are not
      for (int there = -1; there <= 6; ++there) {
        lab::DeviceBuffer<float> c(std::vector<float>(8, beta == 0 ? nan : 10), "c");
        update4(c.data() + offset, there, ld, 2, beta);
        const std::vector<float> found = c.download();
        for (int i = 0; i < 8; ++i) {
          const bool written = i >= offset && i < offset + std::min(there, 4);
          const float was = beta == 0 ? nan : 10;
          const float want = written ? 2.0f * static_cast<float>(i - offset + 1) + 10 * beta : was;
          const float is = found[static_cast<std::size_t>(i)];
          EXPECT_TRUE(is == want || (std::isnan(is) && std::isnan(want)))
              << "element " << i << " of " << there << " at " << offset << ", beta " << beta << ": "
              << is;
        }
      }
    }
  }
}

TEST(Vectors, FourFloatsAreLoadedAsFarAsTheyExist) {
  for (const auto& [offset, ld] : {std::pair{0, 8}, {0, 7}, {1, 8}}) {
    for (int there = -1; there <= 6; ++there) {
      // No more of them than exist: what a load reads beyond is out of bounds.
      std::vector<float> values(static_cast<std::size_t>(offset + std::max(there, 1)), 7.0f);
      const lab::DeviceBuffer<float> from(values, "from");
      lab::DeviceBuffer<float4> to(1, "to");
      load4(to.data(), from.data() + offset, there, ld);
      const float4 found = to.download()[0];
      const float parts[] = {found.x, found.y, found.z, found.w};
      for (int i = 0; i < 4; ++i) EXPECT_EQ(parts[i], i < there ? 7.0f : 0.0f) << there;
    }
  }
}

// ---- limits and machine ----

TEST(Limits, AreMeasured) {
  const lab::LimitOptions limits{.copy_bytes = 1 << 20, .fma_iterations = 1};
  EXPECT_GT(lab::measure_copy(limits, quick(3)), 0.0);
  EXPECT_GT(lab::measure_fp32(limits, quick(1)), 0.0);
}

TEST(Machine, HasANameAndADate) {
  EXPECT_FALSE(lab::device_name().empty());
  EXPECT_GE(lab::compute_capability(), 50);
  EXPECT_TRUE(has(lab::driver_version(), "CUDA "));
  EXPECT_EQ(lab::utc_now().size(), 20u);
}

}  // namespace
