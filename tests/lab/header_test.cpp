// lab/header.h, lab/map.h and lab/vectors.h: what a header says holds, and what goes wrong in a map is noticed.
#include "lab/header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/lab.h"

namespace {

using lab::Chapter;
using lab::HeaderRung;
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

lab::ChapterConfig headed() {
  lab::ChapterConfig made{.name = "99_test", .default_size = "1000", .color = false};
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

Chapter chapter(const lab::ChapterConfig& config, std::vector<std::string> words = {}) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return Chapter(static_cast<int>(words.size()), argv.data(), lab::SizeKind::n, config);
}

struct Sums {
  lab::DeviceBuffer<float> a{lab::random_floats(1000, 1)}, b{lab::random_floats(1000, 2)}, c{1000};
  lab::Rung rung(const std::string& name) {
    return {.name = name,
            .launch = [this] { add(4, 256, a.data(), b.data(), c.data(), 0, 1000); },
            .verify =
                [this] {
                  std::vector<float> want(1000);
                  const std::vector<float> x = a.download(), y = b.download();
                  for (std::size_t i = 0; i < want.size(); ++i) want[i] = x[i] + y[i];
                  return lab::compare(c.download(), want);
                },
            .outputs = {&c}};
  }
};

int run(Chapter& chapter) {
  testing::internal::CaptureStdout();
  const int code = chapter.run();
  testing::internal::GetCapturedStdout();
  lab::take_findings();
  return code;
}

TEST(Header, GivesOrderIdeasAndFindings) {
  Sums sums;
  Chapter one = chapter(headed());
  lab::DeviceBuffer<float> racing(64, "racing");
  one.demonstrate("mistake", [&] { racy(racing.data()); }, {&racing});
  one.add(sums.rung("second"));
  one.add(sums.rung("first"));
  EXPECT_EQ(run(one), 0);
  const auto& rows = one.report().rows;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].rung, "first");
  EXPECT_EQ(rows[0].idea, "the first idea");
  EXPECT_EQ(rows[1].rung, "second");
  EXPECT_EQ(rows[2].status, Status::pass) << rows[2].reason;
  EXPECT_TRUE(has(rows[2].reason, "raises shared-race, as it should")) << rows[2].reason;
  EXPECT_EQ(rows[3].status, Status::skip);
  EXPECT_EQ(rows[3].reason, "needs a GPU");
}

TEST(Header, WhatNothingRegistersAndNothingExcusesIsAnError) {
  Sums sums;
  Chapter one = chapter(headed());
  one.add(sums.rung("first"));
  EXPECT_EQ(run(one), 1);
  const auto& rows = one.report().rows;
  ASSERT_EQ(rows.size(), 4u);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(rows[i].status, Status::error);
    EXPECT_TRUE(has(rows[i].reason, "the program does not register it")) << rows[i].reason;
  }
}

TEST(Header, ASizeThatARungCannotSolveIsSkipped) {
  Chapter one = chapter(headed(), {"--rung", "first"});
  one.skip("first", "rows of 1000 floats are not aligned");
  EXPECT_EQ(run(one), 0);
  EXPECT_EQ(one.report().rows.at(0).status, Status::skip);
  EXPECT_EQ(one.report().rows.at(0).reason, "rows of 1000 floats are not aligned");
}

TEST(Header, ADemonstrationThatRaisesNothingFails) {
  Chapter one = chapter(headed(), {"--rung", "mistake"});
  one.demonstrate("mistake", [] {});
  EXPECT_EQ(run(one), 1);
  EXPECT_EQ(one.report().rows.at(0).reason, "should raise shared-race, and raised nothing");
}

TEST(HeaderDeathTest, WhatTheHeaderDoesNotNameEndsTheProgram) {
  Sums sums;
  Chapter one = chapter(headed());
  EXPECT_EXIT(one.add(sums.rung("third")), testing::ExitedWithCode(1),
              "rung third is registered, and the header of 99_test does not name it");
  EXPECT_EXIT(one.demonstrate("first", [] {}), testing::ExitedWithCode(1),
              "demonstration first: its line in the header has no .raises KIND.");
  EXPECT_EXIT(one.extents<2>(), testing::ExitedWithCode(1), "extents<2>.. of a size that has 1: n");
  EXPECT_EXIT(chapter(headed(), {"--list"}), testing::ExitedWithCode(0), "");
}

TEST(HeaderDeathTest, AProgramWithoutAHeaderSaysSo) {
  char name[] = "program";
  char* argv[] = {name, nullptr};
  EXPECT_EXIT(Chapter(1, argv), testing::ExitedWithCode(1), "no header was linked to this program");
}

TEST(Sweep, NamesItsVariants) {
  Sums sums;
  Chapter one = chapter(headed(), {"--rung", "first"});
  one.sweep("first", "block", {32, 64}, [&](int) { return sums.rung(""); });
  one.sweep("first", "", {"plain"}, [&](const char*) { return sums.rung(""); });
  EXPECT_EQ(run(one), 0);
  const auto& rows = one.report().rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].label(), "first block=32");
  EXPECT_EQ(rows[1].label(), "first block=64");
  EXPECT_EQ(rows[2].label(), "first plain");
}

// ---- maps ----

using Launch = std::function<void(float*, const float*, const float*)>;

/// The row of a map that adds two arrays.
lab::Row row_of(const Launch& launch, const lab::MapOptions& options = {}, float off = 0) {
  Chapter one = chapter(headed(), {"--rung", "first"});
  lab::Map<float> map(one, one.size().n);
  map.add(
      "first", [&](std::size_t i) { return map.in[i] + map.in2[i] + off; },
      [&](float* out, const float* a, const float* b) { launch(out, a, b); }, options);
  run(one);
  return one.report().rows.at(0);
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

TEST(Map, TheToleranceIsThatOfTheRung) {
  const Launch right = [](auto* c, auto* a, auto* b) { add(4, 256, a, b, c, 0, 1000); };
  const lab::MapOptions loose{.tolerance = {.absolute = 1e-2, .basis = "a test"}};
  EXPECT_EQ(row_of(right, loose, 1e-3f).status, Status::pass);
  EXPECT_EQ(row_of(right, {}, 1e-3f).status, Status::fail);
}

TEST(Map, BytesAndPeersFollowFromTheArrays) {
  lab::ChapterConfig how = headed();
  how.backend = {"gpu", true, false, "CUDA 13.0"};
  how.timing = {.warmup = 0, .min_runs = 2, .max_runs = 2, .budget_s = 0, .flush = false};
  how.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
  Chapter one = chapter(how, {"--rung", "first", "--rung", "second"});
  lab::Map<float> map(one, 1000);
  map.add(
      "first", [&](std::size_t i) { return map.in[i] + map.in[i]; },
      [&](float* out, const float* in) { add(4, 256, in, in, out, 0, 1000); });
  map.add(
      "second", [&](std::size_t i) { return map.in[i] + map.in2[i]; },
      [&](float* out, const float* a, const float* b) { add(4, 256, a, b, out, 0, 1000); });
  EXPECT_EQ(run(one), 0);
  const auto& rows = one.report().rows;
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
