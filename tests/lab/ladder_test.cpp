// lab::Chapter, run after run, each with something wrong or nothing wrong. Where a test needs the
// path of a GPU (times, no findings), it pretends to be one: the launches are the simulator's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/lab.h"

namespace {

using lab::Chapter;
using lab::Rung;
using lab::SizeKind;
using lab::Status;

constexpr int n = 1000;
constexpr std::size_t guard = 4096;

class ChapterTest : public testing::Test {
 protected:
  ChapterTest()
      : host_a(lab::random_floats(n, 1)),
        host_b(lab::random_floats(n, 2)),
        want(n),
        a(host_a, "a", guard),
        b(host_b, "b", guard),
        c(n, "c", guard) {
    for (int i = 0; i < n; ++i) want[static_cast<std::size_t>(i)] = host_a[i] + host_b[i];
  }
  ~ChapterTest() override {
    lab::take_findings();
    static_cast<void>(cudaGetLastError());
    unsetenv("LAB_TIMING");
    unsetenv("WARP_COMMIT");
  }

  static lab::ChapterConfig simulator() {
    lab::ChapterConfig config;
    config.name = "99_test";
    config.default_size = "1000";
    config.color = false;
    return config;
  }
  /// The same with a header of these rungs.
  static lab::ChapterConfig with_header(lab::ChapterConfig config,
                                        std::vector<lab::HeaderRung> rungs) {
    config.header = {.folder = config.name, .rungs = std::move(rungs)};
    return config;
  }
  static lab::ChapterConfig pretend_gpu() {
    lab::ChapterConfig config = simulator();
    config.backend = {"gpu", true, false, "CUDA 13.0"};
    config.timing = {.warmup = 1, .min_runs = 3, .max_runs = 3, .budget_s = 0, .flush = false};
    config.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
    return config;
  }

  /// A chapter with the given words on its command line.
  static Chapter chapter(const lab::ChapterConfig& config, std::vector<std::string> words = {}) {
    words.insert(words.begin(), "./bin/program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return Chapter(static_cast<int>(words.size()), argv.data(), SizeKind::n, config);
  }

  /// A rung that does everything right.
  Rung right(const std::string& name = "add") {
    return {
        .name = name,
        .launch = [this] { add(lab::ceil_div(n, 256), 256, a.data(), b.data(), c.data(), 0, n); },
        .verify = [this] { return lab::compare(c.download(), want); },
        .bytes = 12.0 * n,
        .outputs = {&c}};
  }

  /// Runs the chapter with what it prints to stdout caught.
  int run(Chapter& chapter) {
    testing::internal::CaptureStdout();
    const int code = chapter.run();
    printed = testing::internal::GetCapturedStdout();
    return code;
  }

  /// A limit that a run noted; 0 where it did not.
  static double limit_of(const Chapter& chapter, const std::string& key) {
    for (const auto& [name, value] : chapter.report().limits) {
      if (name == key) return value;
    }
    return 0;
  }

  /// Runs one rung alone and gives back its row.
  lab::Row row_of(Rung rung, const lab::ChapterConfig& config = simulator()) {
    Chapter one = chapter(config);
    one.add(std::move(rung));
    code = run(one);
    return one.report().rows.at(0);
  }

  std::vector<float> host_a, host_b, want;
  lab::DeviceBuffer<float> a, b, c;
  std::string printed;
  int code = -1;
};

std::uint64_t count_of(const lab::Row& row, const std::string& name) {
  for (const auto& [key, value] : row.counts) {
    if (key == name) return value;
  }
  return 0;
}

// ---- what is right passes ----

TEST_F(ChapterTest, ARightRungPassesWithItsCounts) {
  const lab::Row row = row_of(right());
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_EQ(code, 0);
  EXPECT_EQ(row.max_error, 0.0);
  EXPECT_EQ(row.size.n, 1000u);
  EXPECT_FALSE(row.time || row.rate || row.peer || row.ratio_to_peer || row.fraction_of_limit);
  const auto count = [&](const char* name) { return count_of(row, name); };
  // 1000 elements: 32 warps with work, two loads and one store each; the last has 8 lanes.
  EXPECT_EQ(count("global_load_requests"), 64u);
  EXPECT_EQ(count("global_load_sectors"), 250u);
  EXPECT_EQ(count("global_load_active_lanes"), 2000u);
  EXPECT_EQ(count("global_store_requests"), 32u);
  EXPECT_EQ(count("global_store_sectors"), 125u);
  EXPECT_TRUE(has(printed, "99_test on ")) << printed;
  EXPECT_TRUE(has(printed, "n = 1000, seed 1")) << printed;
  EXPECT_TRUE(has(printed, "1 PASS, 0 FAIL, 0 SKIP, 0 ERROR\n")) << printed;
}

TEST_F(ChapterTest, CountsAreThoseOfOneLaunch) {
  Rung rung = right();
  rung.prepare = [this] { set(4, 256, c.data(), 0, n, 0.0f); };  // not counted
  rung.verify = [this] {
    set(1, 32, c.data(), 0, 0, 0.0f);  // nor is this
    return lab::compare(c.download(), want);
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_EQ(count_of(row, "global_store_requests"), 32u);
}

TEST_F(ChapterTest, TimesBesideThePeerAndAgainstTheLimit) {
  lab::DeviceBuffer<float> peer_out(n, "peer_out");
  Chapter both = chapter(pretend_gpu());
  std::string log;
  both.peer({.name = "cudaMemcpy",
             .launch =
                 [&] {
                   log += 'p';
                   CUDA_CHECK(cudaMemcpy(peer_out.data(), a.data(), n * sizeof(float),
                                         cudaMemcpyDeviceToDevice));
                 },
             .bytes = 8.0 * n,
             .verify = [&] { return lab::compare(peer_out.download(), host_a); },
             .outputs = {&peer_out}});
  Rung rung = right();
  rung.launch = [&, launch = rung.launch] { log += 'r', launch(); };
  rung.peer = "cudaMemcpy";
  rung.limit = lab::Limit::copy;
  both.add(rung);
  EXPECT_EQ(run(both), 0);
  const lab::Row& row = both.report().rows.at(0);
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_EQ(log,
            "rp"
            "pr"
            "prprpr");  // verified; warmed up; three rounds
  ASSERT_TRUE(row.time && row.rate && row.peer && row.ratio_to_peer && row.fraction_of_limit);
  EXPECT_EQ(row.time->runs, 3);
  EXPECT_EQ(row.rate_unit, "GB/s");
  EXPECT_DOUBLE_EQ(*row.rate, 12.0 * n / (row.time->median * 1e6));
  EXPECT_DOUBLE_EQ(*row.ratio_to_peer, row.peer->time.median / row.time->median);
  EXPECT_DOUBLE_EQ(*row.fraction_of_limit, *row.rate / limit_of(both, "copy_gb_s"));
  EXPECT_GT(limit_of(both, "sm_clock_mhz"), 0);
  EXPECT_TRUE(row.counts.empty());
  EXPECT_TRUE(has(printed, "peer cudaMemcpy")) << printed;
}

TEST_F(ChapterTest, MeasuresOnlyTheLimitsThatAreAskedFor) {
  Chapter none = chapter(pretend_gpu());
  none.add(right());
  run(none);
  EXPECT_EQ(limit_of(none, "copy_gb_s"), 0);
  EXPECT_EQ(limit_of(none, "fp32_gflop_s"), 0);

  Chapter flops = chapter(pretend_gpu());
  Rung rung = right();
  rung.flops = n;
  rung.limit = lab::Limit::fp32;
  flops.add(rung);
  Rung other = right("other");
  other.limit = lab::Limit::copy;
  other.timed = false;
  flops.add(other);
  run(flops);
  EXPECT_EQ(limit_of(flops, "copy_gb_s"), 0);  // the rung that asks for it is not timed
  EXPECT_GT(limit_of(flops, "fp32_gflop_s"), 0);
  EXPECT_EQ(flops.report().rows[0].rate_unit, "GFLOP/s");
  EXPECT_FALSE(flops.report().rows[1].time);
}

TEST_F(ChapterTest, TimingCanBeSwitchedOff) {
  setenv("LAB_TIMING", "off", 1);
  const lab::Row row = row_of(right(), pretend_gpu());
  EXPECT_EQ(row.status, Status::pass);
  EXPECT_FALSE(row.time);
}

TEST_F(ChapterTest, ARungThatChangesItsInputsIsSetUpForEachRunOrForTheLast) {
  for (const bool every : {false, true}) {
    int prepared = 0, launched = 0;
    std::vector<float> twice = host_a;
    for (float& v : twice) v *= 2;
    const lab::Row row = row_of({.name = "scale",
                                 .prepare = [&] { ++prepared, c.upload(host_a); },
                                 .launch = [&] { ++launched, scale_in_place(4, 256, c.data(), n); },
                                 .verify = [&] { return lab::compare(c.download(), twice); },
                                 .outputs = {&c},
                                 .prepare_every_run = every},
                                pretend_gpu());
    EXPECT_EQ(row.status, Status::pass) << row.reason;
    EXPECT_EQ(launched, 1 + 1 + 3);
    EXPECT_EQ(prepared, every ? launched : 2);
  }
}

// ---- what is wrong fails ----

TEST_F(ChapterTest, ANaNFails) {
  Rung rung = right("nan");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, c.data(), 500, 1, std::nanf(""));
  };
  rung.verify = [this] {
    return lab::compare(c.download(), want, lab::Tolerance{.absolute = 1e30});
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(has(row.reason, "1 of 1000 elements are wrong, the first at index 500: nan"))
      << row.reason;
  EXPECT_TRUE(std::isnan(row.max_error.value_or(0)));
}

TEST_F(ChapterTest, OneWrongElementFails) {
  Rung rung = right("wrong");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, c.data(), 999, 1, 7.0f);
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "first at index 999: 7 where ")) << row.reason;
  EXPECT_TRUE(has(printed, "0 PASS, 1 FAIL")) << printed;
}

TEST_F(ChapterTest, AnOutputThatNobodyWroteFailsEvenAfterARungThatDid) {
  Chapter two = chapter(simulator());
  two.add(right("right"));
  Rung lazy = right("lazy");
  lazy.launch = [this] { add(4, 256, a.data(), b.data(), c.data(), 0, n - 1); };
  two.add(lazy);
  Rung idle = right("idle");
  idle.launch = [] {};
  two.add(idle);
  EXPECT_EQ(run(two), 1);
  EXPECT_EQ(two.report().rows[0].status, Status::pass);
  EXPECT_EQ(two.report().rows[1].status, Status::fail);
  EXPECT_TRUE(
      has(two.report().rows[1].reason, "1 of 1000 elements are wrong, the first at index 999"));
  EXPECT_EQ(two.report().rows[2].status, Status::fail);
  EXPECT_TRUE(has(two.report().rows[2].reason, "1000 of 1000"));
}

TEST_F(ChapterTest, AWritePastTheEndFails) {
  Rung rung = right("past");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, c.data(), n, 2, 1.0f);
  };
  Chapter two = chapter(simulator());
  two.add(rung);
  two.add(right("after"));
  EXPECT_EQ(run(two), 1);
  const auto& rows = two.report().rows;
  EXPECT_EQ(rows[0].status, Status::fail);
  EXPECT_TRUE(has(rows[0].reason, "c: a write past its end hit byte 4000 ")) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::pass) << rows[1].reason;  // it is not blamed for the first
}

TEST_F(ChapterTest, AWriteIntoAnotherBuffersCanaryFails) {
  Rung rung = right("stray");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, a.data(), n + 3, 1, 1.0f);
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "a: a write past its end hit byte 4012 ")) << row.reason;
}

TEST_F(ChapterTest, ARungThatIsRightOnlyOnceFails) {
  int launches = 0;
  Rung rung = right("once");
  rung.launch = [&] { add(4, 256, a.data(), b.data(), c.data(), 0, ++launches == 1 ? n : n - 1); };
  lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "after timing: 1 of 1000")) << row.reason;

  launches = 0;
  rung.launch = [&] {
    add(4, 256, a.data(), b.data(), c.data(), 0, n);
    if (++launches > 1) set(1, 32, c.data(), n, 1, 1.0f);
  };
  row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "after timing: c: a write past its end")) << row.reason;
}

TEST_F(ChapterTest, ThePeersOutputDoesNotStandInForTheRungs) {
  int launches = 0;
  Chapter shared = chapter(pretend_gpu());
  const Rung model = right();
  shared.peer({.name = "peer", .launch = model.launch, .verify = model.verify, .outputs = {&c}});
  Rung rung = right("once");
  rung.peer = "peer";
  rung.launch = [&] {
    if (++launches == 1) add(4, 256, a.data(), b.data(), c.data(), 0, n);
  };
  shared.add(rung);
  EXPECT_EQ(run(shared), 1);
  EXPECT_EQ(shared.report().rows[0].status, Status::fail);
  EXPECT_TRUE(has(shared.report().rows[0].reason, "after timing: 1000 of 1000"));
}

TEST_F(ChapterTest, AFindingFailsARungWhoseResultIsRight) {
  Rung rung = right("racy");
  rung.launch = [this, launch = rung.launch] {
    racy(c.data());
    launch();
  };
  Chapter two = chapter(simulator());
  two.add(rung);
  two.add(right("after"));
  EXPECT_EQ(run(two), 1);
  EXPECT_EQ(two.report().rows[0].status, Status::fail);
  EXPECT_TRUE(has(two.report().rows[0].reason, "shared-race: ")) << two.report().rows[0].reason;
  EXPECT_EQ(two.report().rows[1].status, Status::pass) << two.report().rows[1].reason;
}

TEST_F(ChapterTest, AnAccessOutsideFailsThatRungAlone) {
  lab::DeviceBuffer<float> tight(n, "tight", 0);
  Chapter two = chapter(simulator());
  Rung rung = right("outside");
  rung.outputs = {&tight};
  rung.launch = [&] { set(4, 256, tight.data(), 0, 1024, 1.0f); };
  rung.verify = [&] { return lab::compare(tight.download(), want); };
  two.add(rung);
  two.add(right("after"));
  EXPECT_EQ(run(two), 1);
  EXPECT_EQ(two.report().rows[0].status, Status::fail);
  EXPECT_TRUE(has(two.report().rows[0].reason, "out-of-bounds: ")) << two.report().rows[0].reason;
  EXPECT_EQ(two.report().rows[1].status, Status::pass) << two.report().rows[1].reason;
}

// ---- what cannot be judged is an error ----

TEST_F(ChapterTest, ACheckThatPassesBeforeTheRungRanIsAnError) {
  Rung rung = right("blind");
  rung.verify = [] { return lab::verdict(true, ""); };
  EXPECT_EQ(row_of(rung).status, Status::error);
  EXPECT_EQ(code, 1);

  // Without `outputs`, what an earlier rung left would pass.
  Chapter two = chapter(simulator());
  two.add(right("first"));
  Rung forgetful = right("second");
  forgetful.outputs = {};
  two.add(forgetful);
  EXPECT_EQ(run(two), 1);
  EXPECT_EQ(two.report().rows[1].status, Status::error);
  EXPECT_TRUE(has(two.report().rows[1].reason, "passes before the rung has run"));
}

TEST_F(ChapterTest, ARungWithoutLaunchOrCheckIsAnError) {
  Rung rung = right();
  rung.verify = {};
  EXPECT_EQ(row_of(rung).status, Status::error);
  rung = right();
  rung.launch = {};
  EXPECT_EQ(row_of(rung).status, Status::error);
}

TEST_F(ChapterTest, AWrongPeerIsAnError) {
  const auto with = [&](lab::Peer peer) {
    Chapter one = chapter(pretend_gpu());
    one.peer(std::move(peer));
    Rung rung = right();
    rung.peer = "peer";
    one.add(rung);
    EXPECT_EQ(run(one), 1);
    EXPECT_EQ(one.report().rows[0].status, Status::error);
    EXPECT_FALSE(one.report().rows[0].ratio_to_peer);
    return one.report().rows[0].reason;
  };
  lab::DeviceBuffer<float> out(n, "out", guard);
  const auto copy = [&](int count) {
    return [&, count] {
      CUDA_CHECK(cudaMemcpy(out.data(), a.data(), static_cast<std::size_t>(count) * sizeof(float),
                            cudaMemcpyDeviceToDevice));
    };
  };
  const auto verify = [&] { return lab::compare(out.download(), host_a); };
  EXPECT_TRUE(has(with({.name = "other"}), "its peer 'peer' was never added"));
  EXPECT_TRUE(has(with({.name = "peer", .launch = copy(n)}), "lacks its launch or its verify"));
  EXPECT_TRUE(
      has(with({.name = "peer", .launch = copy(n - 1), .verify = verify, .outputs = {&out}}),
          "peer peer is wrong: 1 of 1000"));
  EXPECT_TRUE(
      has(with({.name = "peer", .launch = copy(n + 1), .verify = verify, .outputs = {&out}}),
          "out: a write past its end"));
  EXPECT_TRUE(has(with({.name = "peer",
                        .launch = copy(n),
                        .verify = [] { return lab::verdict(true, ""); },
                        .outputs = {&out}}),
                  "passes before the peer has run"));
}

TEST_F(ChapterTest, ACudaErrorIsThatRungsAlone) {
  Chapter three = chapter(simulator());
  Rung big = right("big_block");
  big.launch = [this] { add(1, 2048, a.data(), b.data(), c.data(), 0, n); };
  three.add(big);
  Rung image = right("no_image");
  image.launch = [] { CUDA_CHECK(cudaErrorNoKernelImageForDevice); };
  three.add(image);
  three.add(right("after"));
  EXPECT_EQ(run(three), 1);
  const auto& rows = three.report().rows;
  EXPECT_EQ(rows[0].status, Status::error);
  EXPECT_TRUE(has(rows[0].reason, "cudaErrorInvalidValue")) << rows[0].reason;
  EXPECT_TRUE(has(rows[0].reason, "a block of more than 1024 threads")) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::error);
  EXPECT_TRUE(has(rows[1].reason, "The program holds no code for this GPU")) << rows[1].reason;
  EXPECT_FALSE(rows[1].max_error);
  EXPECT_EQ(rows[2].status, Status::pass) << rows[2].reason;
}

TEST_F(ChapterTest, ALostContextIsSaidAndTheOthersStillGetARow) {
  lab::DeviceBuffer<float> tight(n, "tight", 0);
  // A GPU takes no findings: the error sticks.
  Chapter three = chapter(
      with_header(pretend_gpu(), {{"before"}, {"outside"}, {"after"}, {"later", "", {"cublas"}}}));
  three.add(right("before"));
  Rung outside = right("outside");
  outside.variant = "v";
  outside.launch = [&] { set(4, 256, tight.data(), 0, 1024, 1.0f); };
  three.add(outside);
  three.add(right("after"));
  EXPECT_EQ(run(three), 1);
  const auto& rows = three.report().rows;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::error);
  EXPECT_TRUE(has(rows[1].reason, "cudaErrorIllegalAddress")) << rows[1].reason;
  EXPECT_TRUE(has(rows[1].reason, "The CUDA context is lost")) << rows[1].reason;
  EXPECT_EQ(rows[2].status, Status::error);
  EXPECT_EQ(rows[2].reason, "not run: the CUDA context was lost in rung outside v");
  EXPECT_EQ(rows[3].status, Status::skip);
}

TEST_F(ChapterTest, AnExceptionIsThatRungsAlone) {
  Chapter two = chapter(simulator());
  Rung thrower = right("thrower");
  thrower.prepare = [] { throw std::runtime_error("no such\nthing"); };
  two.add(thrower);
  two.add(right("after"));
  EXPECT_EQ(run(two), 1);
  EXPECT_EQ(two.report().rows[0].status, Status::error);
  EXPECT_EQ(two.report().rows[0].reason, "no such thing");
  EXPECT_EQ(two.report().rows[1].status, Status::pass);
}

// ---- what is not there is skipped, with its reason ----

TEST_F(ChapterTest, SkipsSayWhy) {
  Chapter some = chapter(
      with_header(simulator(), {{"tma", "bulk copies", {"gpu"}}, {"future", "", {"sm_990"}}}));
  some.add(right("future"));
  EXPECT_EQ(run(some), 0);
  EXPECT_TRUE(has(printed, "SKIP   needs a GPU\n")) << printed;
  EXPECT_TRUE(has(printed, "SKIP   needs a GPU of compute capability 99.0 or more\n")) << printed;
  EXPECT_TRUE(has(printed, "0 PASS, 0 FAIL, 2 SKIP, 0 ERROR")) << printed;
}

TEST_F(ChapterTest, ARungRunsWithoutAPeerThatIsNotThere) {
  Chapter one = chapter(pretend_gpu());
  one.skip_peer("cuBLAS", "only the gpu preset links it");
  Rung rung = right();
  rung.peer = "cuBLAS";
  one.add(rung);
  EXPECT_EQ(run(one), 0);
  EXPECT_EQ(one.report().rows[0].status, Status::pass);
  EXPECT_FALSE(one.report().rows[0].peer);
  EXPECT_TRUE(has(printed, "peer cuBLAS: only the gpu preset links it")) << printed;
}

// ---- demonstrations ----

TEST_F(ChapterTest, ADemonstrationPassesOnlyWithItsFinding) {
  lab::DeviceBuffer<float> tight(n, "tight", 0);
  const auto demo = [&](std::function<void()> launch, const char* finding) {
    return row_of({.name = "demo", .launch = std::move(launch)},
                  with_header(simulator(), {{"demo", "", {}, finding}}));
  };
  const auto outside = [&] { set(4, 256, tight.data(), 0, 1024, 1.0f); };
  const lab::Row good = demo(outside, "out-of-bounds");
  EXPECT_EQ(good.status, Status::pass) << good.reason;
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(has(good.reason, "raises out-of-bounds, as it should: ")) << good.reason;
  EXPECT_TRUE(has(good.reason, "kernels.cu")) << good.reason;
  EXPECT_TRUE(good.counts.empty());
  ASSERT_TRUE(good.launches);
  EXPECT_EQ(good.launches->second - good.launches->first, 1u);
  EXPECT_EQ(good.launches->second, lab::launch_count());

  EXPECT_EQ(demo([&] { outside(), CUDA_CHECK(cudaDeviceSynchronize()); }, "out-of-bounds").status,
            Status::pass);
  const lab::Row other = demo(outside, "shared-race");
  EXPECT_EQ(other.status, Status::fail);
  EXPECT_TRUE(has(other.reason, "should raise shared-race alone, and raised out-of-bounds: "));
  const lab::Row both = demo([&] { racy(tight.data()), outside(); }, "shared-race");
  EXPECT_EQ(both.status, Status::fail);
  const lab::Row warned = demo([&] { racy_without_all(tight.data()); }, "shared-race");
  EXPECT_EQ(warned.status, Status::pass) << warned.reason;
  EXPECT_TRUE(has(warned.reason, "raises shared-race, as it should: write at ")) << warned.reason;
  const lab::Row mild = demo([&] { leave_before_barrier(tight.data()); }, "shared-race");
  EXPECT_EQ(mild.status, Status::fail);
  EXPECT_TRUE(has(mild.reason, "raised nothing but a warning, barrier-divergence")) << mild.reason;
  const lab::Row silent = demo([&] { set(4, 256, tight.data(), 0, n, 1.0f); }, "out-of-bounds");
  EXPECT_EQ(silent.status, Status::fail);
  EXPECT_TRUE(has(silent.reason, "should raise out-of-bounds, and raised nothing"))
      << silent.reason;
  EXPECT_EQ(code, 1);
}

TEST_F(ChapterTest, DemonstrationsAreTheTracingSimulatorsOnly) {
  const Rung demo{.name = "demo", .launch = [] { FAIL(); }};
  const std::vector<lab::HeaderRung> raises{{"demo", "", {}, "out-of-bounds"}};
  lab::Row row = row_of(demo, with_header(pretend_gpu(), raises));
  EXPECT_EQ(row.status, Status::skip);
  EXPECT_TRUE(has(row.reason, "the simulator shows it")) << row.reason;
  lab::ChapterConfig fast = with_header(simulator(), raises);
  fast.backend.traces = false;
  row = row_of(demo, fast);
  EXPECT_EQ(row.status, Status::skip);
  EXPECT_TRUE(has(row.reason, "fast")) << row.reason;
}

TEST_F(ChapterTest, AnUntracedProgramShowsNoCounts) {
  lab::ChapterConfig fast = simulator();
  fast.backend.traces = false;
  const lab::Row row = row_of(right(), fast);
  EXPECT_EQ(row.status, Status::pass);
  EXPECT_TRUE(row.counts.empty());
}

// ---- the command line ----

TEST_F(ChapterTest, RunsOnlyTheRungsThatAreAskedFor) {
  const auto with = [&](std::vector<std::string> words) {
    Chapter some =
        chapter(with_header(simulator(), {{"one", "first"}, {"two"}, {"three", "", {"gpu"}}}),
                std::move(words));
    some.add(right("one"));
    Rung two = right("two");
    two.variant = "block=64";
    some.add(two);
    two.variant = "block=128";
    some.add(two);
    EXPECT_EQ(run(some), 0);
    std::string names;
    for (const lab::Row& row : some.report().rows) names += row.label() + ";";
    return names;
  };
  EXPECT_EQ(with({}), "one;two block=64;two block=128;three;");
  EXPECT_EQ(with({"--rung", "two"}), "two block=64;two block=128;");
  EXPECT_EQ(with({"--rung", "three", "--rung", "one"}), "one;three;");
}

TEST_F(ChapterTest, AnUnknownRungIsBadInput) {
  Chapter some = chapter(simulator(), {"--rung", "gird_stride"});
  some.add(right("grid_stride"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(some), 2);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "program: unknown rung 'gird_stride'; did you mean 'grid_stride'? --list names them all\n");
  EXPECT_EQ(printed, "");
}

TEST_F(ChapterTest, AChapterWithoutRungsIsAnError) {
  Chapter none = chapter(simulator());
  EXPECT_EQ(run(none), 1);
}

using ChapterDeathTest = ChapterTest;

TEST_F(ChapterDeathTest, BadInputIsOneLineAndExitCode2) {
  const auto line = [](const std::string& text) { return "^program: " + text + "[^\n]*\n$"; };
  EXPECT_EXIT(chapter(simulator(), {"--size", "-5"}), testing::ExitedWithCode(2),
              line("--size '-5': '-5' is not a whole number; legal is n"));
  EXPECT_EXIT(chapter(simulator(), {"--frob"}), testing::ExitedWithCode(2),
              line("unknown option '--frob'; legal are"));
  EXPECT_EXIT(chapter(simulator(), {"--json", "/no/such/folder/x.json"}),
              testing::ExitedWithCode(2),
              line("--json '/no/such/folder/x.json' cannot be written: No such file or directory"));
  EXPECT_EXIT(chapter(simulator()).require(false, "n is even here"), testing::ExitedWithCode(2),
              line("--size with n = 1000: n is even here"));
  EXPECT_EXIT(chapter(simulator(), {"--help"}), testing::ExitedWithCode(0), "^$");
  chapter(simulator()).require(true, "fine");
}

TEST_F(ChapterDeathTest, TheSameRungTwiceIsAnError) {
  Chapter some = chapter(simulator());
  some.add(right("one"));
  EXPECT_EXIT(some.add(right("one")), testing::ExitedWithCode(1), "was added twice");
}

// ---- the results file ----

TEST_F(ChapterTest, WritesResultsAlsoWhenRungsFail) {
  setenv("WARP_COMMIT", "0123abc", 1);
  const std::string path = testing::TempDir() + "lab_results_" + std::to_string(getpid()) + ".json";
  Chapter some =
      chapter(with_header(simulator(), {{"good"}, {"idle"}, {"big"}, {"tma", "", {"gpu"}}}),
              {"--json", path, "--size", "1000", "--seed", "5"});
  EXPECT_FALSE(std::ifstream(path).good());  // looking whether it can be written leaves nothing
  EXPECT_EQ(some.seed(), 5u);
  EXPECT_TRUE(some.on_simulator());
  some.add(right("good"));
  Rung idle = right("idle");
  idle.launch = [] {};
  some.add(idle);
  Rung big = right("big");
  big.launch = [this] { add(1, 2048, a.data(), b.data(), c.data(), 0, n); };
  some.add(big);
  EXPECT_EQ(run(some), 1);

  // That the file is JSON, test_faults.py sees: it reads one.
  std::ifstream file(path);
  const std::string json(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(json.starts_with("{\n \"chapter\": \"99_test\",\n \"backend\": \"simulator\","));
  EXPECT_TRUE(has(json, "\"commit\": \"0123abc\",\n \"limits\": {},"));
  std::size_t at = 0;
  for (const char* status : {"PASS", "FAIL", "ERROR", "SKIP"}) {
    at = json.find("\"status\": \"" + std::string(status), at + 1);
    EXPECT_NE(at, std::string::npos) << status << json;
  }
  EXPECT_TRUE(has(json, "\"max_error\": null")) << json;  // poison is NaN
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST_F(ChapterTest, LookingWhetherAFileCanBeWrittenKeepsIt) {
  const std::string path = testing::TempDir() + "lab_keep_" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << "precious";
  Chapter some = chapter(simulator(), {"--json", path});
  std::string kept;
  std::ifstream(path) >> kept;
  EXPECT_EQ(kept, "precious");
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST_F(ChapterTest, ShowsWhatARungHasToShow) {
  Rung rung = right();
  rung.show = [] { std::printf("a picture\n"); };
  row_of(rung, with_header(simulator(), {{"add", "one thread per element"}}));
  EXPECT_TRUE(has(printed, "a picture\n")) << printed;
  EXPECT_LT(printed.find("a picture"), printed.find("PASS"));
  EXPECT_TRUE(has(printed, "add: one thread per element\na picture\n")) << printed;
}

}  // namespace
