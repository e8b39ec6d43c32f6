// A ladder, run after run, each with something wrong or nothing wrong. Where a test needs the path of a GPU (times, no
// findings), it pretends to be one: the launches are the simulator's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/cub.h"
#include "lab/lab.h"

namespace {

using lab::Ladder;
using lab::Peer;
using lab::Rung;
using lab::Status;

constexpr int n = 1000;
constexpr std::size_t guard = 4096;

class LadderTest : public testing::Test {
 protected:
  LadderTest()
      : host_a(lab::random_floats(n, 1)),
        host_b(lab::random_floats(n, 2)),
        want(n),
        a(host_a, "a", guard),
        b(host_b, "b", guard),
        c(n, "c", guard) {
    for (int i = 0; i < n; ++i) want[static_cast<std::size_t>(i)] = host_a[i] + host_b[i];
  }
  ~LadderTest() override {
    lab::take_findings();
    static_cast<void>(cudaGetLastError());
    unsetenv("LAB_TIMING");
    unsetenv("LAB_SUSTAIN");
    unsetenv("WARP_COMMIT");
  }

  static lab::Config simulator() {
    lab::Config config;
    config.name = "99_test";
    config.default_size = "1000";
    config.color = false;
    return config;
  }
  /// The same with a header of these rungs.
  static lab::Config with_header(lab::Config config, std::vector<lab::HeaderRung> rungs) {
    config.header = {.folder = config.name, .rungs = std::move(rungs)};
    return config;
  }
  static lab::Config pretend_gpu() {
    lab::Config config = simulator();
    config.backend = {"gpu", true, false, "CUDA 13.0"};
    config.timing = {
        .warmup = 1, .warmup_s = 0, .min_runs = 3, .max_runs = 3, .budget_s = 10, .flush = false};
    config.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
    return config;
  }

  /// The program of that chapter, with these words on its command line; what it prints to stdout is caught.
  int run(const lab::Config& config, const std::function<void(Ladder&)>& chapter,
          std::vector<std::string> words = {}) {
    Words line(std::move(words));
    lab::Harness harness(line.argc(), line.argv(), config);
    testing::internal::CaptureStdout();
    code = harness.run(chapter);
    printed = testing::internal::GetCapturedStdout();
    report = harness.report();
    return code;
  }
  /// The same, of these rungs.
  int run(const lab::Config& config, const std::vector<Rung>& rungs,
          std::vector<std::string> words = {}) {
    return run(
        config,
        [&](Ladder& ladder) {
          for (const Rung& rung : rungs) ladder.add(rung);
        },
        std::move(words));
  }
  /// Runs one rung alone and gives back its row.
  lab::Row row_of(const Rung& rung, const lab::Config& config = simulator()) {
    run(config, {rung});
    return report.rows.at(0);
  }

  void add_up_to(int count) { add(4, 256, a.data(), b.data(), c.data(), 0, count); }
  /// A rung that does everything right.
  Rung right(const std::string& name = "add") {
    return {.name = name,
            .launch = [this] { add_up_to(n); },
            .outputs = {lab::expect(c, want)},
            .bytes = 12.0 * n};
  }

  /// A limit that a run noted; 0 where it did not.
  double limit_of(const std::string& key) const {
    for (const auto& [name, value] : report.limits) {
      if (name == key) return value;
    }
    return 0;
  }

  std::vector<float> host_a, host_b, want;
  lab::DeviceBuffer<float> a, b, c;
  lab::Report report;
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

TEST_F(LadderTest, ARightRungPassesWithItsCounts) {
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

TEST_F(LadderTest, CountsAreThoseOfOneLaunch) {
  Rung rung = right();
  rung.prepare = [this] { set(4, 256, c.data(), 0, n, 0.0f); };  // not counted
  rung.verify = [this] {
    set(1, 32, c.data(), 0, 0, 0.0f);  // nor is this
    return lab::verdict(true, "");
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_EQ(count_of(row, "global_store_requests"), 32u);
}

TEST_F(LadderTest, TimesBesideThePeerAndAgainstTheLimit) {
  lab::DeviceBuffer<float> peer_out(n, "peer_out");
  std::string log;
  Rung rung = right();
  rung.launch = [&, launch = rung.launch] { log += 'r', launch(); };
  rung.limit = lab::Limit::copy;
  rung.peer = {.name = "cudaMemcpy",
               .launch =
                   [&] {
                     log += 'p';
                     CUDA_CHECK(cudaMemcpy(peer_out.data(), a.data(), n * sizeof(float),
                                           cudaMemcpyDeviceToDevice));
                   },
               .outputs = {lab::expect(peer_out, host_a)},
               .bytes = 8.0 * n};
  const lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(code, 0);
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_EQ(log,
            "rp"
            "pr"
            "prprpr");  // verified; warmed up; three rounds
  ASSERT_TRUE(row.time && row.rate && row.peer && row.ratio_to_peer && row.fraction_of_limit);
  EXPECT_EQ(row.time->runs, 3);
  EXPECT_EQ(row.rate_unit, "GB/s");
  EXPECT_DOUBLE_EQ(*row.rate, 12.0 * n / (row.time->median * 1e6));
  EXPECT_DOUBLE_EQ(row.peer->rate, 8.0 * n / (row.peer->time.median * 1e6));
  EXPECT_DOUBLE_EQ(*row.ratio_to_peer, row.peer->time.median / row.time->median);
  EXPECT_DOUBLE_EQ(*row.fraction_of_limit, *row.rate / limit_of("copy_gb_s"));
  EXPECT_GT(limit_of("sm_clock_mhz"), 0);
  EXPECT_TRUE(row.counts.empty());
  EXPECT_TRUE(has(printed, "peer cudaMemcpy")) << printed;
}

TEST_F(LadderTest, MeasuresOnlyTheLimitsThatAreAskedFor) {
  row_of(right(), pretend_gpu());
  EXPECT_EQ(limit_of("copy_gb_s"), 0);
  EXPECT_EQ(limit_of("fp32_gflop_s"), 0);

  Rung rung = right();
  rung.flops = n;
  rung.limit = lab::Limit::fp32;
  Rung other = right("other");
  other.limit = lab::Limit::copy;
  other.timed = false;
  run(pretend_gpu(), {rung, other});
  EXPECT_EQ(limit_of("copy_gb_s"), 0);  // the rung that asks for it is not timed
  EXPECT_GT(limit_of("fp32_gflop_s"), 0);
  EXPECT_EQ(report.rows[0].rate_unit, "GFLOP/s");
  EXPECT_FALSE(report.rows[1].time);

  run(pretend_gpu(), [&](Ladder& ladder) {
    ladder.measure(lab::Limit::copy);
    ladder.add(right());
  });
  EXPECT_GT(limit_of("copy_gb_s"), 0);
}

TEST_F(LadderTest, TimingCanBeSwitchedOff) {
  setenv("LAB_TIMING", "off", 1);
  const lab::Row row = row_of(right(), pretend_gpu());
  EXPECT_EQ(row.status, Status::pass);
  EXPECT_FALSE(row.time);
}

TEST_F(LadderTest, AloneForAsLongAsIsAsked) {
  setenv("LAB_SUSTAIN", "0.05", 1);
  int launched = 0;
  Rung rung = right();
  rung.launch = [&] { ++launched, add_up_to(n); };
  rung.peer = {.name = "peer", .launch = [this] { add_up_to(n); }};
  const lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::pass) << row.reason;
  EXPECT_FALSE(row.peer);
  EXPECT_FALSE(row.ratio_to_peer);
  ASSERT_TRUE(row.time);
  EXPECT_GE(launched, 16 * row.time->runs);
  const double of_all = row.time->median * launched / 1000;
  EXPECT_GT(of_all, 0.02);  // seconds: the time is that of one launch
  EXPECT_LT(of_all, 1);
}

TEST_F(LadderTest, ASustainThatIsNoTimeIsNamed) {
  for (const char* const text : {"", "long", "1s", "-1", "0", "nan", "1e9"}) {
    setenv("LAB_SUSTAIN", text, 1);
    const lab::Row row = row_of(right(), pretend_gpu());
    EXPECT_EQ(row.status, Status::error) << text;
    EXPECT_EQ(code, 1) << text;
    EXPECT_NE(row.reason.find("LAB_SUSTAIN '" + std::string(text) + "': legal is"),
              std::string::npos)
        << row.reason;
  }
}

TEST_F(LadderTest, ARungThatChangesItsInputsIsSetUpForEachRunOrForTheLast) {
  for (const bool every : {false, true}) {
    int prepared = 0, launched = 0;
    std::vector<float> twice = host_a;
    for (float& v : twice) v *= 2;
    const lab::Row row = row_of({.name = "scale",
                                 .launch = [&] { ++launched, scale_in_place(4, 256, c.data(), n); },
                                 .outputs = {lab::expect(c, twice)},
                                 .prepare = [&] { ++prepared, c.upload(host_a); },
                                 .prepare_every_run = every},
                                pretend_gpu());
    EXPECT_EQ(row.status, Status::pass) << row.reason;
    EXPECT_EQ(launched, 1 + 1 + 3);
    EXPECT_EQ(prepared, every ? launched : 2);
  }
}

// ---- what is wrong fails ----

TEST_F(LadderTest, AnOutputThatNobodyWroteFailsEvenAfterARungThatDid) {
  Rung lazy = right("lazy"), idle = right("idle");
  lazy.launch = [this] { add_up_to(n - 1); };
  idle.launch = [] {};
  EXPECT_EQ(run(simulator(), {right("right"), lazy, idle}), 1);
  const auto& rows = report.rows;
  EXPECT_EQ(rows[0].status, Status::pass);
  EXPECT_EQ(rows[1].status, Status::fail);
  EXPECT_TRUE(has(rows[1].reason, "1 of 1000 elements are wrong, the first at index 999"));
  EXPECT_EQ(rows[2].status, Status::fail);
  EXPECT_TRUE(has(rows[2].reason, "1000 of 1000"));
}

TEST_F(LadderTest, AWritePastTheEndFails) {
  Rung rung = right("past");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, c.data(), n, 2, 1.0f);
  };
  EXPECT_EQ(run(simulator(), {rung, right("after")}), 1);
  const auto& rows = report.rows;
  EXPECT_EQ(rows[0].status, Status::fail);
  EXPECT_TRUE(has(rows[0].reason, "c: a write past its end hit byte 4000 ")) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::pass) << rows[1].reason;  // it is not blamed for the first
}

TEST_F(LadderTest, AWriteIntoAnotherBuffersCanaryFails) {
  Rung rung = right("stray");
  rung.launch = [this, launch = rung.launch] {
    launch();
    set(1, 32, a.data(), n + 3, 1, 1.0f);
  };
  const lab::Row row = row_of(rung);
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "a: a write past its end hit byte 4012 ")) << row.reason;
}

TEST_F(LadderTest, ARungThatIsRightOnlyOnceFails) {
  int launches = 0;
  Rung rung = right("once");
  rung.launch = [&] { add_up_to(++launches == 1 ? n : n - 1); };
  lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "after timing: 1 of 1000")) << row.reason;

  launches = 0;
  rung.launch = [&] {
    add_up_to(n);
    if (++launches > 1) set(1, 32, c.data(), n, 1, 1.0f);
  };
  row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "after timing: c: a write past its end")) << row.reason;
}

TEST_F(LadderTest, APeerThatWritesTheRungsOutputsDoesNotStandInForTheRung) {
  int launches = 0;
  Rung rung = right("once");
  rung.peer = {.name = "peer", .launch = right().launch};
  rung.launch = [&] {
    if (++launches == 1) add_up_to(n);
  };
  const lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::fail);
  EXPECT_TRUE(has(row.reason, "after timing: 1000 of 1000")) << row.reason;
}

TEST_F(LadderTest, AFindingFailsARungWhoseResultIsRight) {
  Rung rung = right("racy");
  rung.launch = [this, launch = rung.launch] {
    racy(c.data());
    launch();
  };
  EXPECT_EQ(run(simulator(), {rung, right("after")}), 1);
  EXPECT_EQ(report.rows[0].status, Status::fail);
  EXPECT_TRUE(has(report.rows[0].reason, "shared-race: ")) << report.rows[0].reason;
  EXPECT_EQ(report.rows[1].status, Status::pass) << report.rows[1].reason;
}

TEST_F(LadderTest, AnAccessOutsideFailsThatRungAlone) {
  lab::DeviceBuffer<float> tight(n, "tight", 0);
  Rung rung = right("outside");
  rung.outputs = {lab::expect(tight, want)};
  rung.launch = [&] { set(4, 256, tight.data(), 0, 1024, 1.0f); };
  EXPECT_EQ(run(simulator(), {rung, right("after")}), 1);
  EXPECT_EQ(report.rows[0].status, Status::fail);
  EXPECT_TRUE(has(report.rows[0].reason, "out-of-bounds: ")) << report.rows[0].reason;
  EXPECT_EQ(report.rows[1].status, Status::pass) << report.rows[1].reason;
}

// ---- what cannot be judged is an error ----

TEST_F(LadderTest, ACheckThatPassesBeforeTheRungRanIsAnError) {
  Rung rung = right("blind");
  rung.outputs = {lab::on_the_way(c)};
  rung.verify = [] { return lab::verdict(true, ""); };
  EXPECT_EQ(row_of(rung).status, Status::error);
  EXPECT_EQ(code, 1);

  // What nobody poisons is what an earlier rung left.
  Rung forgetful = right("second");
  forgetful.outputs[0].poison = {};
  EXPECT_EQ(run(simulator(), {right("first"), forgetful}), 1);
  EXPECT_EQ(report.rows[1].status, Status::error);
  EXPECT_TRUE(has(report.rows[1].reason, "passes before the rung has run"));
}

TEST_F(LadderTest, EachOfSeveralOutputsIsLookedAt) {
  lab::DeviceBuffer<float> d(n, "d", guard);
  Rung rung = right();
  rung.outputs.push_back(lab::expect(d, host_a));
  rung.launch = [&, launch = rung.launch] {
    launch();
    CUDA_CHECK(cudaMemcpy(d.data(), a.data(), n * sizeof(float), cudaMemcpyDeviceToDevice));
  };
  EXPECT_EQ(row_of(rung).status, Status::pass) << report.rows[0].reason;
  rung.launch = right().launch;
  EXPECT_EQ(row_of(rung).status, Status::fail);
  rung.outputs[1].check = {};  // on its way
  EXPECT_EQ(row_of(rung).status, Status::pass) << report.rows[0].reason;
  rung.verify = [] { return lab::verdict(false, "something else is wrong"); };
  EXPECT_EQ(row_of(rung).status, Status::fail);
  EXPECT_EQ(report.rows[0].reason, "something else is wrong");
}

TEST_F(LadderTest, WhatMayDoNothingIsNotAskedBefore) {
  Rung rung = right();
  rung.launch = [] {};
  rung.prepare = [this] { c.upload(want); };
  EXPECT_EQ(row_of(rung).status, Status::error);
  rung.may_do_nothing = true;
  EXPECT_EQ(row_of(rung).status, Status::pass);
}

TEST_F(LadderTest, ARungWithoutLaunchOrCheckIsAnError) {
  Rung rung = right();
  rung.outputs = {};
  EXPECT_EQ(row_of(rung).status, Status::error);
  rung.outputs = {lab::on_the_way(c)};
  EXPECT_EQ(row_of(rung).status, Status::error);
  rung = right();
  rung.launch = {};
  EXPECT_EQ(row_of(rung).status, Status::error);
}

TEST_F(LadderTest, AWrongPeerIsAnError) {
  const auto with = [&](const Peer& peer) {
    Rung rung = right();
    rung.peer = peer;
    const lab::Row row = row_of(rung, pretend_gpu());
    EXPECT_EQ(code, 1);
    EXPECT_EQ(row.status, Status::error);
    EXPECT_FALSE(row.ratio_to_peer);
    return row.reason;
  };
  lab::DeviceBuffer<float> out(n, "out", guard);
  const auto copy = [&](int count) {
    return [&, count] {
      CUDA_CHECK(cudaMemcpy(out.data(), a.data(), static_cast<std::size_t>(count) * sizeof(float),
                            cudaMemcpyDeviceToDevice));
    };
  };
  const std::vector<lab::Expectation> copied{lab::expect(out, host_a)};
  EXPECT_EQ(with({.name = "peer"}), "its peer 'peer' has no launch, and does not say why");
  EXPECT_EQ(with({.name = "peer", .launch = copy(n), .outputs = {lab::on_the_way(out)}}),
            "nothing checks what peer peer writes");
  EXPECT_TRUE(has(with({.name = "peer", .launch = copy(n - 1), .outputs = copied}),
                  "peer peer is wrong: 1 of 1000"));
  EXPECT_TRUE(has(with({.name = "peer", .launch = copy(n + 1), .outputs = copied}),
                  "out: a write past its end"));
  EXPECT_TRUE(
      has(with({.name = "peer",
                .launch = copy(n),
                .outputs = {{[&] { out.poison(); }, [] { return lab::verdict(true, ""); }}}}),
          "passes before the peer has run"));
  // Without outputs of its own it has to write those of the rung.
  EXPECT_TRUE(has(with({.name = "peer", .launch = [this] { add_up_to(n - 1); }}),
                  "peer peer is wrong: 1 of 1000"));
  EXPECT_TRUE(has(with({.name = "peer", .launch = copy(n)}), "peer peer is wrong: 1000 of 1000"));
}

TEST_F(LadderTest, APeerThatGoesWrongWhileItIsTimedIsAnError) {
  int launches = 0, last = 0;
  const auto run_it = [&] {
    launches = 0;
    Rung rung = right();
    rung.peer = {.name = "peer", .launch = [&] { add_up_to(++launches == last ? n - 1 : n); }};
    return row_of(rung, pretend_gpu());
  };
  EXPECT_EQ(run_it().status, Status::pass) << report.rows[0].reason;
  last = launches;
  EXPECT_EQ(last, 1 + 1 + 3);  // checked, warmed up, three rounds
  const lab::Row row = run_it();
  EXPECT_EQ(row.status, Status::error);
  EXPECT_TRUE(has(row.reason, "peer peer is wrong after timing: 1 of 1000")) << row.reason;
  EXPECT_FALSE(row.time || row.ratio_to_peer);
}

TEST_F(LadderTest, APeerIsHeldToItsProofOnceForEachSize) {
  int proofs = 0;
  bool fair = true;
  Rung one = right("one");
  one.peer = {.name = "peer", .launch = right().launch, .proof = [&] {
                EXPECT_TRUE(lab::compare(c.download(), want).pass);  // its result is in place
                return ++proofs, lab::verdict(fair, "it rounds");
              }};
  Rung two = one;
  two.name = "two";
  EXPECT_EQ(run(pretend_gpu(), {one, two}, {"--size", "1000", "--size", "999"}), 0) << printed;
  EXPECT_EQ(proofs, 2);
  fair = false;
  EXPECT_EQ(row_of(one, pretend_gpu()).status, Status::error);
  EXPECT_EQ(report.rows[0].reason, "peer peer is wrong: it rounds");
}

TEST_F(LadderTest, ACudaErrorIsThatRungsAlone) {
  Rung big = right("big_block"), image = right("no_image");
  big.launch = [this] { add(1, 2048, a.data(), b.data(), c.data(), 0, n); };
  image.launch = [] { CUDA_CHECK(cudaErrorNoKernelImageForDevice); };
  EXPECT_EQ(run(simulator(), {big, image, right("after")}), 1);
  const auto& rows = report.rows;
  EXPECT_EQ(rows[0].status, Status::error);
  EXPECT_TRUE(has(rows[0].reason, "cudaErrorInvalidValue")) << rows[0].reason;
  EXPECT_TRUE(has(rows[0].reason, "a block of more than 1024 threads")) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::error);
  EXPECT_TRUE(has(rows[1].reason, "The program holds no code for this GPU")) << rows[1].reason;
  EXPECT_FALSE(rows[1].max_error);
  EXPECT_EQ(rows[2].status, Status::pass) << rows[2].reason;
}

TEST_F(LadderTest, ALostContextIsSaidAndTheOthersStillGetARow) {
  // A GPU takes no findings: the error sticks.
  const lab::Config config =
      with_header(pretend_gpu(),
                  {{"before"}, {"outside"}, {"after"}, {"never_added"}, {"later", "", {"cublas"}}});
  for (const bool ends_there : {false, true}) {  // the chapter itself fails, too
    lab::DeviceBuffer<float> tight(n, "tight", 0);
    Rung outside = right("outside");
    outside.variant = "v";
    outside.launch = [&] { set(4, 256, tight.data(), 0, 1024, 1.0f); };
    EXPECT_EQ(run(config,
                  [&](Ladder& ladder) {
                    ladder.add(right("before"));
                    ladder.add(outside);
                    if (ends_there) CUDA_CHECK(cudaErrorIllegalAddress);
                    ladder.add(right("after"));
                  }),
              1);
    const auto& rows = report.rows;
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[0].status, Status::pass) << rows[0].reason;
    EXPECT_EQ(rows[1].status, Status::error);
    EXPECT_TRUE(has(rows[1].reason, "cudaErrorIllegalAddress")) << rows[1].reason;
    EXPECT_TRUE(has(rows[1].reason, "The CUDA context is lost")) << rows[1].reason;
    for (const std::size_t i : {2u, 3u}) {
      EXPECT_EQ(rows[i].status, Status::error);
      EXPECT_EQ(rows[i].reason, "not run: the CUDA context was lost in rung outside v");
    }
    EXPECT_EQ(rows[4].status, Status::skip);
    lab::take_findings();
    static_cast<void>(cudaGetLastError());
  }
}

TEST_F(LadderTest, AnExceptionIsThatRungsAlone) {
  Rung thrower = right("thrower");
  thrower.prepare = [] { throw std::runtime_error("no such\nthing"); };
  EXPECT_EQ(run(simulator(), {thrower, right("after")}), 1);
  EXPECT_EQ(report.rows[0].status, Status::error);
  EXPECT_EQ(report.rows[0].reason, "no such thing");
  EXPECT_EQ(report.rows[1].status, Status::pass);
}

// ---- what is not there is skipped, with its reason ----

TEST_F(LadderTest, ARungRunsWithoutAPeerThatIsNotThere) {
  Rung rung = right();
  rung.peer = {.name = "cuBLAS", .absent = "only the gpu preset links it"};
  const lab::Row row = row_of(rung, pretend_gpu());
  EXPECT_EQ(row.status, Status::pass);
  EXPECT_FALSE(row.peer);
  EXPECT_TRUE(has(printed, "peer cuBLAS: only the gpu preset links it")) << printed;
  rung.peer = lab::vendor("CUB", lab::cub_sum(c.data(), a.data(), n));  // the simulator has none
  EXPECT_EQ(row_of(rung, pretend_gpu()).status, Status::pass);
  EXPECT_TRUE(has(printed, std::string("peer CUB: ") + lab::why_no_cub)) << printed;
}

// ---- demonstrations ----

TEST_F(LadderTest, ADemonstrationPassesOnlyWithItsFinding) {
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

TEST_F(LadderTest, DemonstrationsAreTheTracingSimulatorsOnly) {
  const Rung demo{.name = "demo", .launch = [] { FAIL(); }};
  const std::vector<lab::HeaderRung> raises{{"demo", "", {}, "out-of-bounds"}};
  lab::Row row = row_of(demo, with_header(pretend_gpu(), raises));
  EXPECT_EQ(row.status, Status::skip);
  EXPECT_TRUE(has(row.reason, "the simulator shows it")) << row.reason;
  lab::Config fast = with_header(simulator(), raises);
  fast.backend.traces = false;
  row = row_of(demo, fast);
  EXPECT_EQ(row.status, Status::skip);
  EXPECT_TRUE(has(row.reason, "fast")) << row.reason;
}

TEST_F(LadderTest, AnUntracedProgramShowsNoCounts) {
  lab::Config fast = simulator();
  fast.backend.traces = false;
  const lab::Row row = row_of(right(), fast);
  EXPECT_EQ(row.status, Status::pass);
  EXPECT_TRUE(row.counts.empty());
}

// ---- the command line ----

TEST_F(LadderTest, RunsOnlyTheRungsThatAreAskedFor) {
  const auto with = [&](std::vector<std::string> words) {
    Rung small = right("two"), large = right("two");
    small.variant = "block=64";
    large.variant = "block=128";
    EXPECT_EQ(run(with_header(simulator(), {{"one", "first"}, {"two"}, {"three", "", {"gpu"}}}),
                  {right("one"), small, large}, std::move(words)),
              0);
    std::string names;
    for (const lab::Row& row : report.rows) names += row.label() + ";";
    return names;
  };
  EXPECT_EQ(with({}), "one;two block=64;two block=128;three;");
  EXPECT_EQ(with({"--rung", "two"}), "two block=64;two block=128;");
  EXPECT_EQ(with({"--rung", "three", "--rung", "one"}), "one;three;");
}

TEST_F(LadderTest, WhatIsNotAskedForNeedNotBeMade) {
  run(with_header(simulator(), {{"one"}, {"two"}}),
      [&](Ladder& ladder) {
        EXPECT_TRUE(ladder.on_simulator());
        EXPECT_EQ(ladder.seed(), 5u);
        EXPECT_TRUE(ladder.wants("one") && ladder.wants({"two", "one"}));
        EXPECT_FALSE(ladder.wants("two") || ladder.wants({"two", "three"}));
        ladder.add(right("one"));
        if (ladder.wants("two")) ladder.add(right("two"));
      },
      {"--rung", "one", "--seed", "5"});
  EXPECT_EQ(code, 0);
}

TEST_F(LadderTest, AnUnknownRungIsBadInput) {
  for (const bool header : {false, true}) {  // a program without one knows its rungs afterwards
    testing::internal::CaptureStderr();
    const lab::Config config = header ? with_header(simulator(), {{"grid_stride"}}) : simulator();
    EXPECT_EQ(run(config, {right("grid_stride")}, {"--rung", "gird_stride"}), 2);
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "program: unknown rung 'gird_stride'; did you mean 'grid_stride'? --list names them all\n");
    EXPECT_EQ(printed, "");
  }
}

TEST_F(LadderTest, AChapterWithoutRungsIsAnError) {
  EXPECT_EQ(run(simulator(), std::vector<Rung>{}), 1);
}

TEST_F(LadderTest, WhatDoesSomethingInsteadEndsWithItsExitCode) {
  EXPECT_EQ(run(simulator(), [](Ladder& ladder) { ladder.instead(0); }), 0);
  EXPECT_EQ(run(simulator(), [](Ladder& ladder) { ladder.instead(3); }), 3);
}

// ---- one process, one loop ----

TEST_F(LadderTest, SizesAndCasesAreCallsOfOneFunctionInOneProcess) {
  int calls = 0;
  std::string seen;
  lab::Config config = with_header(simulator(), {{"add"}, {"tma", "", {"gpu"}}});
  config.header.kind = "map";
  const auto chapter = [&](Ladder& ladder) {
    ++calls;
    seen += std::to_string(ladder.extents<1>()[0]) + (ladder.is_first() ? "f" : "") + " ";
    EXPECT_EQ(ladder.size().n, ladder.extents<1>()[0]);
    ladder.add(right());
  };
  EXPECT_EQ(run(config, chapter, {"--size", "5", "--size", "7"}), 0);
  EXPECT_EQ(seen, "5f 7 ");
  ASSERT_EQ(report.rows.size(), 4u);
  EXPECT_EQ(report.rows[0].size.n, 5u);
  EXPECT_EQ(report.rows[2].size.n, 7u);
  ASSERT_TRUE(report.rows[0].launches && report.rows[2].launches);
  EXPECT_EQ(report.rows[2].launches->first, report.rows[0].launches->second);
  EXPECT_EQ(report.rows[2].counts, report.rows[0].counts);
  seen.clear();
  setenv("LAB_FURTHER_SIZE", "1", 1);
  EXPECT_EQ(run(config, chapter, {"--size", "7"}), 0);
  unsetenv("LAB_FURTHER_SIZE");
  EXPECT_EQ(seen, "7 ");

  const std::size_t all = lab::size_cases(lab::SizeKind::n).size();
  calls = 0;
  EXPECT_EQ(run(config, chapter, {"--cases", "all"}), 0);
  EXPECT_EQ(calls, static_cast<int>(all));  // a case of another process would not count here
  EXPECT_EQ(report.rows.at(0).reason, std::to_string(all) + " cases");
  EXPECT_FALSE(report.rows.at(0).launches);
}

TEST_F(LadderTest, ARowIsPrintedBeforeTheNextRungStarts) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
  std::string before;
  Rung two = right("two");
  two.launch = [&, launch = two.launch] {
    std::array<char, 4096> text{};
    const ssize_t size = read(ends[0], text.data(), text.size());
    if (size > 0) before.append(text.data(), static_cast<std::size_t>(size));
    launch();
  };
  std::fflush(stdout);
  const int terminal = dup(1);
  dup2(ends[1], 1);
  char name[] = "program";
  char* argv[] = {name, nullptr};
  lab::Harness harness(1, argv, simulator());
  harness.run([&](Ladder& ladder) {
    ladder.add(right("one"));
    ladder.add(two);
  });
  dup2(terminal, 1);
  for (const int end : {ends[0], ends[1], terminal}) close(end);
  EXPECT_TRUE(has(before, "\none ") && has(before, "PASS")) << before;
  EXPECT_FALSE(has(before, "two")) << before;
}

TEST_F(LadderTest, ConditionsAreThoseOfTheDriverOrTheirLackIsSaid) {
  const std::string missing = lab::ConditionSampler::missing();
  row_of(right(), pretend_gpu());
  EXPECT_EQ(has(printed, "clock and power were not sampled: "), !missing.empty()) << printed;
  if (missing.empty()) return;
  EXPECT_FALSE(report.rows[0].conditions);
  EXPECT_TRUE(has(printed, missing.substr(0, 20))) << printed;
  row_of(right());  // the simulator times nothing, and says nothing of it
  EXPECT_FALSE(has(printed, "not sampled")) << printed;
}

using LadderDeathTest = LadderTest;

TEST_F(LadderDeathTest, TheSameRungTwiceEndsTheProgram) {
  EXPECT_EXIT(run(simulator(), {right("one"), right("one")}), testing::ExitedWithCode(1),
              "was added twice");
}

TEST_F(LadderDeathTest, RungsOfAnotherFileHaveToBeAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fork has none of the simulator's threads
  const auto with = [&](bool asks) {
    const lab::Rungs here([](Ladder& ladder) { ladder.skip("other", "a file of its own"); });
    std::exit(run(simulator(), [&](Ladder& ladder) {
      ladder.skip("one", "nothing to do");
      if (asks) lab::add_others(ladder);
    }));
  };
  EXPECT_EXIT(with(true), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(with(false), testing::ExitedWithCode(1),
              "rungs of another file were never asked for: call lab::add_others");
  GTEST_FLAG_SET(death_test_style, "fast");
}

// ---- the results file ----

// What it holds test_faults.py reads.
TEST_F(LadderTest, LookingWhetherAFileCanBeWrittenLeavesNothingAndKeepsWhatThereIs) {
  const std::string path = testing::TempDir() + "lab_keep_" + std::to_string(getpid()) + ".json";
  for (const std::string before : {"", "precious"}) {
    if (!before.empty()) std::ofstream(path) << before;
    std::string kept;
    run(simulator(),
        [&](Ladder& ladder) {
          std::ifstream file(path);
          EXPECT_EQ(file.good(), !before.empty());
          file >> kept;
          ladder.add(right());
        },
        {"--json", path});
    EXPECT_EQ(kept, before);
    EXPECT_EQ(std::remove(path.c_str()), 0);
  }
}

TEST_F(LadderTest, ShowsWhatARungHasToShow) {
  Rung rung = right();
  rung.show = [] { std::printf("a picture\n"); };
  row_of(rung, with_header(simulator(), {{"add", "one thread per element"}}));
  EXPECT_TRUE(has(printed, "a picture\n")) << printed;
  EXPECT_LT(printed.find("a picture"), printed.find("PASS"));
  EXPECT_TRUE(has(printed, "add: one thread per element\na picture\n")) << printed;
}

}  // namespace
