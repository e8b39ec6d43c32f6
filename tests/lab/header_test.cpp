// lab/header.h, lab/map.h and lab/vectors.h: what a header says holds, and what goes wrong in a map is noticed.
#include "lab/header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/lab.h"

namespace {

using lab::Ladder;
using lab::Status;

const lab::Backend simulator{"simulator", false, true, "g++ 12"};
const lab::Backend gpu{"gpu", true, false, "CUDA 12.8"};

// ---- what a rung needs ----

std::string unmet(std::vector<std::string> needs, const lab::Backend& backend, bool registered,
                  int capability = 90) {
  return lab::unmet_needs({.name = "r", .needs = std::move(needs)}, backend, registered,
                          capability);
}

TEST(Needs, OfWhatIsRegisteredOnlyTheMachineMatters) {
  EXPECT_EQ(unmet({}, gpu, true), "");
  EXPECT_EQ(unmet({"cublas", "cub", "cuda 99.9", "gpu"}, gpu, true), "");
  EXPECT_EQ(unmet({"gpu"}, simulator, true), "needs a GPU");
  EXPECT_EQ(unmet({"sm_90"}, simulator, true), "");
  EXPECT_EQ(unmet({"sm_90"}, gpu, true, 90), "");
  EXPECT_EQ(unmet({"sm_90"}, gpu, true, 120), "");
  EXPECT_EQ(unmet({"sm_90"}, gpu, true, 89),
            "needs a GPU of compute capability 9.0 or more; this device has 8.9");
  EXPECT_EQ(unmet({"gpu", "sm_90a"}, gpu, true, 90), "");
  EXPECT_EQ(unmet({"gpu", "sm_90a"}, gpu, true, 100),
            "needs a GPU of compute capability 9.0; this device has 10.0");
}

TEST(Needs, OfWhatIsNotRegisteredTheBuildMatters) {
  EXPECT_EQ(unmet({}, gpu, false), "");
  EXPECT_EQ(unmet({"cublas"}, gpu, false), "needs cuBLAS");
  EXPECT_EQ(unmet({"cublas"}, simulator, false), "needs a GPU and cuBLAS");
  EXPECT_EQ(unmet({"cuda 12.9"}, gpu, false), "needs CUDA 12.9 or later");
  EXPECT_EQ(unmet({"cuda 12.8"}, gpu, false), "");
  EXPECT_EQ(unmet({"gpu", "sm_90a"}, gpu, false, 90),
            "needs sm_90a, for which this program was not built");
  EXPECT_EQ(unmet({"sm_90a", "cuda 12.9"}, gpu, false, 90), "needs CUDA 12.9 or later");
  EXPECT_EQ(unmet({"sm_90a", "cuda 12.9", "cub"}, simulator, false),
            "needs a GPU of compute capability 9.0, CUDA 12.9 or later and CUB");
  EXPECT_EQ(unmet({"sm_90"}, simulator, false), "");  // the simulator could run it
}

// ---- a chapter with a header ----

lab::Config headed() {
  lab::Config made{.name = "99_test", .default_size = "1000", .color = false};
  made.header = {.folder = "99_test",
                 .kind = "map",
                 .size_gpu = "1000",
                 .size_simulator = "1000",
                 .rungs = {{"first", "the first idea", {}, ""},
                           {"second", "the second idea", {}, ""},
                           {"mistake", "goes wrong", {}, "shared-race"},
                           {"absent", "not here", {"gpu"}, ""}}};
  return made;
}

struct Sums {
  lab::Input<float> a{1000, lab::RandomValue<float>{1}}, b{1000, lab::RandomValue<float>{2}};
  lab::DeviceBuffer<float> c{1000};
  lab::Rung rung(const std::string& name) {
    return {.name = name,
            .launch = [this] { add(4, 256, a.data(), b.data(), c.data(), 0, 1000); },
            .outputs = {lab::expect(
                c, [x = a.view(), y = b.view()](std::size_t i) { return x[i] + y[i]; })}};
  }
};

struct Ran {
  int code = 0;
  std::vector<lab::Row> rows;
};
/// The program of that chapter, with these words on its command line.
Ran run(const std::function<void(Ladder&)>& chapter, std::vector<std::string> words = {},
        const lab::Config& config = headed()) {
  Words line(std::move(words));
  lab::Harness harness(line.argc(), line.argv(), config);
  testing::internal::CaptureStdout();
  const int code = harness.run(chapter);
  testing::internal::GetCapturedStdout();
  lab::take_findings();
  return {code, harness.report().rows};
}

TEST(Header, GivesOrderIdeasAndFindings) {
  Sums sums;
  lab::DeviceBuffer<float> racing(64, "racing");
  const auto [code, rows] = run([&](Ladder& ladder) {
    ladder.demonstrate("mistake", [&] { racy(racing.data()); }, {&racing});
    ladder.add(sums.rung("second"));
    ladder.add(sums.rung("first"));
  });
  EXPECT_EQ(code, 0);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].rung, "first");
  EXPECT_EQ(rows[0].idea, "the first idea");
  EXPECT_EQ(rows[1].rung, "second");
  EXPECT_EQ(rows[2].status, Status::pass) << rows[2].reason;
  EXPECT_TRUE(has(rows[2].reason, "raises shared-race, as it should")) << rows[2].reason;
  EXPECT_EQ(rows[3].status, Status::skip);
  EXPECT_EQ(rows[3].reason, "needs a GPU");
}

TEST(Header, WhatNothingAddsAndNothingExcusesIsAnError) {
  Sums sums;
  const auto [code, rows] = run([&](Ladder& ladder) { ladder.add(sums.rung("first")); });
  EXPECT_EQ(code, 1);
  ASSERT_EQ(rows.size(), 4u);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(rows[i].status, Status::error);
    EXPECT_TRUE(has(rows[i].reason, "the program does not add it")) << rows[i].reason;
  }
}

TEST(Header, ASizeThatARungCannotSolveIsSkipped) {
  const auto [code, rows] =
      run([](Ladder& ladder) { ladder.skip("first", "rows of 1000 floats are not aligned"); },
          {"--rung", "first"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(rows.at(0).status, Status::skip);
  EXPECT_EQ(rows.at(0).reason, "rows of 1000 floats are not aligned");
}

TEST(Header, WhatASizeIsWrongForIsSkippedWhereItIsAdded) {
  Sums sums;
  lab::DeviceBuffer<float> racing(64, "racing");
  for (const bool can : {true, false}) {
    const auto chapter = [&](Ladder& ladder) {
      ladder.skip_unless(can, {"first", "mistake"}, "needs rows of 16 bytes");
      ladder.skip_unless(false, {"first"}, "another reason");
      EXPECT_FALSE(ladder.wants("first"));
      ladder.sweep("first", "block", {32, 64}, [&](int) { return sums.rung(""); });
      ladder.add(sums.rung("second"));
      ladder.demonstrate("mistake", [&] { racy(racing.data()); }, {&racing});
    };
    const auto [code, rows] = run(chapter);
    EXPECT_EQ(code, 0);
    ASSERT_EQ(rows.size(), 4u);  // variants and all in one row
    EXPECT_EQ(rows[0].label(), "first");
    EXPECT_EQ(rows[0].status, Status::skip);
    EXPECT_EQ(rows[0].reason, can ? "another reason" : "needs rows of 16 bytes");
    EXPECT_EQ(rows[1].status, Status::pass) << rows[1].reason;
    EXPECT_EQ(rows[2].status, can ? Status::pass : Status::skip) << rows[2].reason;
    const auto [second_code, second] = run(chapter, {"--rung", "second"});
    EXPECT_EQ(second_code, 0);
    EXPECT_EQ(second.size(), 1u);
  }
}

TEST(HeaderDeathTest, WhatTheHeaderDoesNotNameEndsTheProgram) {
  Sums sums;
  EXPECT_EXIT(run([&](Ladder& ladder) { ladder.add(sums.rung("third")); }),
              testing::ExitedWithCode(1),
              "rung third is added, and the header of 99_test does not name it");
  EXPECT_EXIT(run([](Ladder& ladder) { ladder.demonstrate("first", [] {}); }),
              testing::ExitedWithCode(1),
              "demonstration first: its line in the header has no .raises KIND.");
  EXPECT_EXIT(run([](Ladder& ladder) { ladder.extents<2>(); }), testing::ExitedWithCode(1),
              "extents<2>.. of a size that has 1: n");
  EXPECT_EXIT(run([](Ladder&) {}, {"--list"}), testing::ExitedWithCode(0), "");
}

TEST(HeaderDeathTest, AProgramWithoutAHeaderSaysSo) {
  char name[] = "program";
  char* argv[] = {name, nullptr};
  EXPECT_EXIT(lab::run(1, argv, [](Ladder&, std::size_t) {}), testing::ExitedWithCode(1),
              "no header was linked to this program");
}

TEST(Sweep, NamesItsVariants) {
  Sums sums;
  const auto [code, rows] = run(
      [&](Ladder& ladder) {
        ladder.sweep("first", "block", {32, 64}, [&](int) { return sums.rung(""); });
        ladder.sweep("first", "", {"plain"}, [&](const char*) { return sums.rung(""); });
      },
      {"--rung", "first"});
  EXPECT_EQ(code, 0);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].label(), "first block=32");
  EXPECT_EQ(rows[1].label(), "first block=64");
  EXPECT_EQ(rows[2].label(), "first plain");
}

// ---- what several rungs have in common ----

TEST(Problem, GivesItsRungsWhatTheyHaveInCommon) {
  Sums sums;
  int launched = 0;
  lab::Config how = headed();
  how.backend = {"gpu", true, false, "CUDA 13.0"};
  how.timing = {.warmup = 0, .warmup_s = 0, .min_runs = 2, .max_runs = 2, .flush = false};
  how.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
  float before = 0;
  const auto chapter = [&](Ladder& ladder) {
    lab::Rung common = sums.rung("");
    common.bytes = 12000;
    common.limit = lab::Limit::copy;
    common.peer = {.name = "itself", .launch = common.launch};
    const lab::Problem problem(ladder, common);
    problem.add("first", [&] { ++launched, common.launch(); });
    problem.sweep("second", "off", {0, 1}, [&](int off) {
      add(4, 256, sums.a.data(), sums.b.data(), sums.c.data(), 0, 1000 - off);
    });
    problem.demonstrate("mistake", [&] {
      before = sums.c.download()[0];
      racy(sums.c.data());
    });
  };
  const auto [code, rows] = run(chapter, {}, how);
  EXPECT_EQ(code, 1);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(launched, 1 + 2);
  EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
  EXPECT_EQ(rows[0].peer->name, "itself");
  EXPECT_TRUE(rows[0].rate && rows[0].fraction_of_limit);
  EXPECT_EQ(rows[1].label(), "second off=0");
  EXPECT_EQ(rows[1].status, Status::pass) << rows[1].reason;
  EXPECT_EQ(rows[2].status, Status::fail);  // its output is poisoned again
  EXPECT_TRUE(has(rows[2].reason, "first at index 999: nan")) << rows[2].reason;
  EXPECT_EQ(rows[3].status, Status::skip);
  EXPECT_EQ(run(chapter, {"--rung", "mistake"}).rows.at(0).status, Status::pass);
  EXPECT_TRUE(std::isnan(before));  // poisoned, as for a rung
}

TEST(Problem, WithOneRungIsAddedAtOnce) {
  Sums sums;
  const auto [code, rows] = run([&](Ladder& ladder) {
    const lab::Rung common = sums.rung("");
    for (const int off : {0, 1}) {
      ladder.add("first", lab::variant_name("off", off), common,
                 [&] { add(4, 256, sums.a.data(), sums.b.data(), sums.c.data(), 0, 1000 - off); });
    }
    ladder.add("second", "", common, common.launch);
    ladder.demonstrate("mistake", [&] { racy(sums.c.data()); });
  });
  EXPECT_EQ(code, 1);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].label(), "first off=0");
  EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::fail);  // its output is poisoned again
  EXPECT_EQ(rows[2].label(), "second");
  EXPECT_EQ(rows[2].status, Status::pass) << rows[2].reason;
}

// ---- experiments ----

/// An object that sums up to `until` and has all members that a rung may be.
struct Whole {
  explicit Whole(int until) : until(until) {}
  void prepare() { prepared = true; }
  void launch() { add(4, 256, sums.a.data(), sums.b.data(), sums.c.data(), 0, until); }
  std::vector<lab::Expectation> outputs() {
    ++asked;
    return sums.rung("").outputs;
  }
  lab::Comparison verify() {
    verified = true;
    return lab::verdict(prepared, "not prepared");
  }
  void show() { shown = true; }

  int until, asked = 0;
  bool prepared = false, verified = false, shown = false;
  Sums sums;
};

/// And one that has no more than it needs.
struct Bare {
  void launch() {}
};

TEST(Experiment, IsRunAndCheckedAndShown) {
  Whole right(1000), wrong(999);
  Bare bare;
  const auto [code, rows] = run([&](Ladder& ladder) {
    ladder.add("first", "right", right, {.timed = false});
    ladder.add("first", "wrong", wrong);
    ladder.add("second", bare);
    ladder.skip("mistake", "another test");
  });
  EXPECT_EQ(code, 1);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].label(), "first right");
  EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
  EXPECT_TRUE(right.prepared && right.verified && right.shown);
  EXPECT_EQ(rows[1].status, Status::fail);
  EXPECT_TRUE(has(rows[1].reason, "first at index 999")) << rows[1].reason;
  EXPECT_EQ(rows[2].status, Status::error);
  EXPECT_TRUE(has(rows[2].reason, "lacks its launch or its check")) << rows[2].reason;
  right.prepared = false;
  right.until = 0;
  EXPECT_EQ(run([&](Ladder& ladder) { ladder.add("first", right); }, {"--rung", "first"})
                .rows.at(0)
                .status,
            Status::fail);
}

TEST(Experiment, ComputesNoReferenceWhereItIsLeftOut) {
  Whole one(1000);
  run([&](Ladder& ladder) { ladder.add("first", one); }, {"--rung", "second"});
  EXPECT_EQ(one.asked, 0);
}

// ---- maps ----

using Launch = std::function<void(float*, const float*, const float*)>;

/// The row of a map that adds two arrays.
lab::Row row_of(const Launch& launch, const lab::MapOptions& options = {}, float off = 0) {
  return run(
             [&](Ladder& ladder) {
               lab::Map<float> map(ladder, ladder.size().n);
               map.add(
                   "first",
                   [=, x = map.in, y = map.in2()](std::size_t i) { return x[i] + y[i] + off; },
                   [&](float* out, const float* a, const float* b) { launch(out, a, b); }, options);
             },
             {"--rung", "first"})
      .rows.at(0);
}

TEST(Map, ARightOnePassesAndAWrongOneDoesNot) {
  EXPECT_EQ(row_of([](auto* c, auto* a, auto* b) { add(4, 256, a, b, c, 0, 1000); }).status,
            Status::pass);
  const lab::Row swapped = row_of([](auto* c, auto* a, auto*) { add(4, 256, a, a, c, 0, 1000); });
  EXPECT_EQ(swapped.status, Status::fail);
  const lab::Row short_one =
      row_of([](auto* c, auto* a, auto* b) { add(4, 256, a, b, c, 0, 999); });
  EXPECT_EQ(short_one.status, Status::fail);
  EXPECT_TRUE(has(short_one.reason, "first at index 999: nan")) << short_one.reason;
  const lab::Row past = row_of([](auto* c, auto* a, auto* b) {
    add(4, 256, a, b, c, 0, 1000), set(1, 32, c, 1000, 1, 1.0f);
  });
  EXPECT_EQ(past.status, Status::fail);
  EXPECT_TRUE(has(past.reason, "out-of-bounds")) << past.reason;
}

TEST(Map, TakesAHostFunctionWithItsLastArgumentsGiven) {
  const auto launch = [](float* c, const float* a, const float* b, int n) {
    add(4, 256, a, b, c, 0, n);
  };
  EXPECT_EQ(row_of(lab::bind_back(launch, 1000)).status, Status::pass);
  EXPECT_EQ(row_of(lab::bind_back(launch, 999)).status, Status::fail);
  const auto bound = lab::bind_back(launch, 1000);
  static_assert(std::is_invocable_v<decltype(bound), float*, const float*, const float*>);
  static_assert(!std::is_invocable_v<decltype(bound), float*, const float*>);
}

TEST(Map, AViewIsWhatACopyHasToLeave) {
  const auto [code, rows] = run(
      [](Ladder& ladder) {
        lab::Map<float> map(ladder, 1000);
        for (const int size : {1000, 999}) {
          map.add("first", lab::variant_name("size", size), map.in,
                  [&](float* out, const float* in) {
                    cudaMemcpy(out, in, sizeof(float) * size, cudaMemcpyDeviceToDevice);
                  });
        }
      },
      {"--rung", "first"});
  EXPECT_EQ(code, 1);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::fail);
}

TEST(Map, TheToleranceIsThatOfTheRung) {
  const Launch right = [](auto* c, auto* a, auto* b) { add(4, 256, a, b, c, 0, 1000); };
  const lab::MapOptions loose{.tolerance = {.absolute = 1e-2, .basis = "a test"}};
  EXPECT_EQ(row_of(right, loose, 1e-3f).status, Status::pass);
  EXPECT_EQ(row_of(right, {}, 1e-3f).status, Status::fail);
}

TEST(Map, BytesAndPeersFollowFromTheArrays) {
  lab::Config how = headed();
  how.backend = {"gpu", true, false, "CUDA 13.0"};
  how.timing = {.warmup = 0, .warmup_s = 0, .min_runs = 2, .max_runs = 2, .flush = false};
  how.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
  const auto [code, rows] = run(
      [](Ladder& ladder) {
        lab::Map<float> map(ladder, 1000);
        const auto x = map.in, y = map.in2();
        map.add(
            "first", [=](std::size_t i) { return x[i] + x[i]; },
            [&](float* out, const float* in) { add(4, 256, in, in, out, 0, 1000); });
        map.add(
            "second", [=](std::size_t i) { return x[i] + y[i]; },
            [&](float* out, const float* a, const float* b) { add(4, 256, a, b, out, 0, 1000); });
      },
      {"--rung", "first", "--rung", "second"}, how);
  EXPECT_EQ(code, 0);
  ASSERT_EQ(rows.size(), 2u);
  const std::pair<const char*, double> want[] = {{"cudaMemcpy", 8000},
                                                 {"cudaMemcpy of 1.5 times the bytes", 12000}};
  for (const std::size_t i : {0u, 1u}) {
    ASSERT_TRUE(rows[i].peer) << rows[i].reason;
    EXPECT_EQ(rows[i].peer->name, want[i].first);
    EXPECT_NEAR(rows[i].rate.value() * rows[i].time->median * 1e6, want[i].second, 1);
    EXPECT_NEAR(rows[i].peer->rate * rows[i].peer->time.median * 1e6, want[i].second, 1);
    EXPECT_TRUE(rows[i].fraction_of_limit);
  }
}

// ---- vectors ----

TEST(Vectors, AStoreTouchesWhatExistsAlone) {
  for (const bool aligned : {true, false}) {
    for (int there = -1; there <= 5; ++there) {
      alignas(16) float to[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
      lab::store4(to, there, aligned, make_float4(1, 2, 3, 4));
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(to[i], i < std::min(there, 4) ? static_cast<float>(i + 1) : -1.0f) << there;
      }
    }
  }
}

}  // namespace
