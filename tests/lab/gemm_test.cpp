// lab/gemm.h: the cases cover what they promise, and a product with any fault is noticed.
#include "lab/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "has.h"
#include "kernels.h"
#include "lab/lab.h"

namespace {

using lab::Gemm;
using lab::GemmCase;
using lab::Status;

/// A launcher of the test's kernel.
std::function<void(const Gemm&)> with(GemmFault fault) {
  return [fault](const Gemm& g) {
    gemm(fault, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  };
}

lab::Config config() {
  lab::Config config;
  config.kind = lab::SizeKind::m_n_k;
  config.name = "99_gemm";
  config.default_size = "40,30,20";
  config.color = false;
  return config;
}

/// A ladder of one rung, run with these words on the command line.
struct Result {
  int code = 0;
  std::vector<lab::Row> rows;
  std::string printed;
};
Result run(std::vector<std::string> words, const std::function<void(lab::GemmLadder&)>& fill,
           const lab::Config& how = config()) {
  Words line(std::move(words));
  lab::Harness harness(line.argc(), line.argv(), how);
  testing::internal::CaptureStdout();
  Result result;
  result.code = harness.run([&](lab::Ladder& ladder) {
    lab::GemmLadder products(ladder);
    fill(products);
  });
  result.printed = testing::internal::GetCapturedStdout();
  result.rows = harness.report().rows;
  lab::take_findings();
  static_cast<void>(cudaGetLastError());
  return result;
}
Result run_one(std::vector<std::string> words, GemmFault fault) {
  return run(std::move(words),
             [&](lab::GemmLadder& ladder) { ladder.add("product", with(fault)); });
}

// ---- the cases ----

TEST(GemmCases, CoverEveryPairOfExtents) {
  const std::vector<GemmCase> cases = lab::gemm_cases();
  ASSERT_EQ(cases.size(), 153u);
  const std::set<int> extents{1, 2, 3, 17, 31, 32, 33, 127, 128, 129, 255, 257};
  std::set<std::pair<int, int>> mn, mk, nk;
  for (std::size_t i = 0; i < 144; ++i) {
    const GemmCase& one = cases[i];
    EXPECT_TRUE(extents.count(one.m) && extents.count(one.n) && extents.count(one.k));
    EXPECT_NE(one.alpha, 0.0f);
    mn.emplace(one.m, one.n);
    mk.emplace(one.m, one.k);
    nk.emplace(one.n, one.k);
  }
  EXPECT_EQ(mn.size(), 144u);
  EXPECT_EQ(mk.size(), 144u);
  EXPECT_EQ(nk.size(), 144u);
}

TEST(GemmCases, CoverFactorsGapsAndAlignments) {
  const std::vector<GemmCase> cases = lab::gemm_cases();
  std::set<std::pair<float, float>> factors;
  int tight = 0, aligned_gap = 0, unaligned = 0;
  for (const GemmCase& one : cases) {
    factors.emplace(one.alpha, one.beta);
    ASSERT_TRUE(one.lda >= one.k && one.ldb >= one.n && one.ldc >= one.n) << to_string(one);
    tight += one.lda == one.k && one.offset_a == 0 && one.ldc == one.n && one.offset_c == 0;
    aligned_gap += one.lda > one.k && one.lda % 4 == 0 && one.offset_a == 0;
    unaligned += one.offset_a != 0 && one.offset_b != 0;
  }
  EXPECT_EQ(factors.size(), 9u);
  EXPECT_GE(tight, 9);
  EXPECT_GE(aligned_gap, 20);
  EXPECT_GE(unaligned, 9);
  // A dozen has each extent as M and as N, which differ, and each of the two alphas and three betas.
  std::set<int> m, n;
  std::set<std::pair<float, float>> some;
  for (std::size_t i = 0; i < 12; ++i) {
    m.insert(cases[i].m);
    n.insert(cases[i].n);
    some.emplace(cases[i].alpha, cases[i].beta);
    EXPECT_NE(cases[i].m, cases[i].n);
  }
  EXPECT_EQ(m.size(), 12u);
  EXPECT_EQ(n.size(), 12u);
  EXPECT_GE(some.size(), 4u);
}

// ---- a right product passes, a wrong one does not ----

TEST(GemmLadder, ARightProductSolvesEveryCase) {
  const Result result = run_one({"--cases", "all"}, GemmFault::none);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].status, Status::pass) << result.rows[0].reason;
  EXPECT_EQ(result.rows[0].reason, "153 cases");
  EXPECT_TRUE(has(result.printed, "cases 0 to 152 of 153")) << result.printed;
  EXPECT_EQ(result.code, 0);
}

TEST(GemmLadder, EveryFaultIsNoticedAndCanBeRunAgain) {
  for (const auto fault :
       {GemmFault::swapped_inputs, GemmFault::ld_of_a_is_k, GemmFault::ld_of_c_is_n,
        GemmFault::beta_ignored, GemmFault::beta_times_nan, GemmFault::alpha_ignored,
        GemmFault::last_k_left_out, GemmFault::gap_written, GemmFault::aligned_rows_only}) {
    const Result result = run_one({"--cases", "0-23"}, fault);
    ASSERT_EQ(result.rows.size(), 1u);
    const std::string reason = result.rows[0].reason;
    EXPECT_EQ(result.rows[0].status, Status::fail) << static_cast<int>(fault);
    EXPECT_EQ(result.code, 1);
    // The one line says how to run that case alone, and that it then fails as well.
    const std::size_t at = reason.rfind("--cases ");
    ASSERT_NE(at, std::string::npos) << reason;
    EXPECT_TRUE(has(reason, "again with --rung product --cases")) << reason;
    const Result again = run_one({"--rung", "product", "--cases", reason.substr(at + 8)}, fault);
    EXPECT_EQ(again.rows[0].status, Status::fail) << reason;
    EXPECT_EQ(again.rows[0].reason, reason);
  }
}

TEST(GemmLadder, SaysWhereAWriteBetweenTheRowsWent) {
  const Result result = run_one({"--cases", "all"}, GemmFault::gap_written);
  EXPECT_TRUE(has(result.rows[0].reason, "a write between the rows of C: row 0, column"))
      << result.rows[0].reason;
}

TEST(GemmLadder, WritingNothingFailsUnlessNothingIsRight) {
  const Result result = run({"--cases", "all"}, [](lab::GemmLadder& ladder) {
    ladder.add({.name = "nothing", .launch = [](const Gemm&) {}});
  });
  EXPECT_EQ(result.rows[0].status, Status::fail);
  // alpha 0 and beta 1: C stays as it is.
  const std::vector<GemmCase> cases = lab::gemm_cases();
  const auto idle = std::find_if(cases.begin(), cases.end(), [](const GemmCase& one) {
    return one.alpha == 0 && one.beta == 1;
  });
  const Result right =
      run({"--cases", std::to_string(idle - cases.begin())}, [](lab::GemmLadder& ladder) {
        ladder.add({.name = "nothing", .launch = [](const Gemm&) {}});
      });
  EXPECT_EQ(right.rows[0].status, Status::pass) << right.rows[0].reason;
}

// ---- sizes ----

TEST(GemmLadder, RunsALadderForEachSize) {
  int others = 0;
  const Result result = run({"--size", "5,6,7", "--size", "33,1,2"}, [&](lab::GemmLadder& ladder) {
    ladder.peer("cuBLAS", {}, {}, "needs a GPU");
    ladder.add("product", with(GemmFault::none));
    ladder.add_with([&](lab::Ladder& plain) {
      ++others;
      plain.add({.name = "other",
                 .launch = [] {},
                 .verify = [] { return lab::verdict(true, "nothing to do"); },
                 .may_do_nothing = true});
    });
  });
  EXPECT_EQ(result.code, 0) << result.printed;
  ASSERT_EQ(result.rows.size(), 3u);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(result.rows[0].size.K, 7u);
  EXPECT_EQ(result.rows[2].size.M, 33u);
  EXPECT_EQ(result.rows[2].status, Status::pass);
  EXPECT_TRUE(has(result.printed, "M = 5, N = 6, K = 7")) << result.printed;
  EXPECT_TRUE(has(result.printed, "M = 33, N = 1, K = 2")) << result.printed;
  EXPECT_TRUE(has(result.printed, "peer cuBLAS: needs a GPU")) << result.printed;
}

TEST(GemmLadder, TimesEveryRungBesideThePeer) {
  lab::Config how = config();
  how.backend = {"gpu", true, false, "CUDA 13.0"};  // pretends: the launches are the simulator's
  how.timing = {.warmup = 1, .warmup_s = 0, .min_runs = 3, .max_runs = 3, .flush = false};
  how.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
  int proofs = 0;
  const auto fill = [&](lab::GemmLadder& ladder) {
    ladder.peer("the peer", with(GemmFault::none), [&](const Gemm&) {
      ++proofs;
      return lab::verdict(true, "fair");
    });
    ladder.add("product", with(GemmFault::none));
  };
  const Result result = run({"--size", "8,8,8", "--size", "9,8,8"}, fill, how);
  ASSERT_EQ(result.rows.size(), 2u);
  for (const lab::Row& row : result.rows) {
    EXPECT_EQ(row.status, Status::pass) << row.reason;
    EXPECT_TRUE(row.time && row.peer && row.ratio_to_peer && row.fraction_of_limit);
    EXPECT_EQ(row.rate_unit, "GFLOP/s");
  }
  EXPECT_EQ(proofs, 2);  // the peer is held to it at each size
}

TEST(GemmLadder, AnUnfairOrWrongPeerIsAnError) {
  lab::Config how = config();
  how.backend = {"gpu", true, false, "CUDA 13.0"};
  how.timing = {.warmup = 0, .warmup_s = 0, .min_runs = 1, .max_runs = 1, .flush = false};
  how.limits = {.copy_bytes = 1 << 16, .fma_iterations = 1};
  const auto reason = [&](GemmFault fault, bool fair) {
    return run(
               {},
               [&](lab::GemmLadder& ladder) {
                 ladder.peer("the peer", with(fault),
                             [=](const Gemm&) { return lab::verdict(fair, "it rounds"); });
                 ladder.add("product", with(GemmFault::none));
               },
               how)
        .rows.at(0)
        .reason;
  };
  EXPECT_TRUE(has(reason(GemmFault::none, false), "peer the peer is wrong: it rounds"));
  EXPECT_TRUE(has(reason(GemmFault::swapped_inputs, true), "peer the peer is wrong"));
}

TEST(GemmLadderDeathTest, BadCasesAreBadInput) {
  EXPECT_EXIT(run_one({"--cases", "153"}, GemmFault::none), testing::ExitedWithCode(2),
              "--cases '153': legal is all, a number or FIRST-LAST, from 0 to 152");
}

// ---- a product that is too large for the host ----

TEST(GemmProblem, ALargeProductIsCheckedInSomeRowsByTheHost) {
  const GemmCase what{.m = 20000, .n = 33, .k = 257};  // more than 2^27 multiplications
  lab::GemmProblem problem(what, 1);
  problem.prepare();
  EXPECT_FALSE(problem.verify().pass);  // NaN
  std::vector<float> c(20000 * 33);
  const std::vector<float> a = lab::random_floats(20000 * 257, 3),
                           b = lab::random_floats(257 * 33, 4);
  for (std::size_t i = 0; i < 20000; ++i) {
    for (std::size_t j = 0; j < 33; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < 257; ++l) {
        sum += static_cast<double>(a[i * 257 + l]) * static_cast<double>(b[l * 33 + j]);
      }
      c[i * 33 + j] = static_cast<float>(sum);
    }
  }
  const auto upload = [&] {
    CUDA_CHECK(
        cudaMemcpy(problem.gemm().c, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
  };
  upload();
  const lab::Comparison right = problem.verify();
  EXPECT_TRUE(right.pass) << right.text;
  EXPECT_TRUE(has(right.text, "of 8 rows of 20000")) << right.text;
  c.back() += 1;
  upload();
  const lab::Comparison wrong = problem.verify();
  EXPECT_TRUE(has(wrong.text, "of 8 rows of 20000, in row 19999, column 32")) << wrong.text;
}

TEST(Gemm, RowsAreSlicedAtTheGridsLimit) {
  const Gemm gemm{.m = 65535 * 2 + 3, .n = 1, .k = 1, .lda = 5, .ldb = 1, .ldc = 7};
  std::vector<std::pair<int, std::ptrdiff_t>> slices;
  lab::for_row_slices(gemm, 2,
                      [&](const Gemm& one) { slices.emplace_back(one.m, one.c - gemm.c); });
  EXPECT_EQ(slices, (std::vector<std::pair<int, std::ptrdiff_t>>{{131070, 0}, {3, 131070 * 7}}));
  slices.clear();
  lab::for_row_slices(gemm, 32,
                      [&](const Gemm& one) { slices.emplace_back(one.m, one.a - gemm.a); });
  EXPECT_EQ(slices.size(), 1u);
}

}  // namespace
