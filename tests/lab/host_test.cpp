// The parts of lab that need no device: sizes, command lines, inputs, comparisons, statistics, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "has.h"
#include "lab/ceil_div.h"
#include "lab/command_line.h"
#include "lab/elements.h"
#include "lab/inputs.h"
#include "lab/parallel.h"
#include "lab/size.h"
#include "lab/stats.h"
#include "lab/text.h"

namespace {

using lab::Comparison;
using lab::SizeKind;
using lab::Tolerance;

constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// What a call throws as bad input; empty where it throws nothing.
template <class F>
std::string complaint(F call) {
  try {
    call();
  } catch (const lab::BadInput& bad) {
    return bad.what();
  }
  return "";
}

// ---- ceil_div ----

TEST(CeilDiv, RoundsUpAndNeverOverflows) {
  EXPECT_EQ(lab::ceil_div(0, 256), 0);
  EXPECT_EQ(lab::ceil_div(1, 256), 1);
  EXPECT_EQ(lab::ceil_div(255, 256), 1);
  EXPECT_EQ(lab::ceil_div(256, 256), 1);
  EXPECT_EQ(lab::ceil_div(257, 256), 2);
  EXPECT_EQ(lab::ceil_div(INT_MAX, 2), 1073741824);  // (a + b - 1) / b would overflow here
  EXPECT_EQ(lab::ceil_div(SIZE_MAX, std::size_t{2}), SIZE_MAX / 2 + 1);
  EXPECT_EQ(lab::ceil_div(std::size_t{16777217}, 1), 16777217u);  // ceil(float(a) / b) is 16777216
  static_assert(lab::ceil_div(5, 2) == 3);
}

// ---- size ----

TEST(ParseSize, ReadsEachKind) {
  const lab::Size n = lab::parse_size("1000", SizeKind::n);
  EXPECT_EQ(n.n, 1000u);
  EXPECT_EQ(n.rows, 0u);
  const lab::Size matrix = lab::parse_size("30,50", SizeKind::rows_cols);
  EXPECT_EQ(matrix.rows, 30u);
  EXPECT_EQ(matrix.cols, 50u);
  const lab::Size product = lab::parse_size("64,32,16", SizeKind::m_n_k);
  EXPECT_EQ(product.M, 64u);
  EXPECT_EQ(product.N, 32u);
  EXPECT_EQ(product.K, 16u);
  EXPECT_EQ(to_string(product), "M = 64, N = 32, K = 16");
  EXPECT_EQ(lab::parse_size("1", SizeKind::n).n, 1u);
  EXPECT_EQ(lab::parse_size("1099511627776", SizeKind::n).n, std::size_t{1} << 40);
  EXPECT_EQ(lab::parse_size("2147483647,1", SizeKind::rows_cols).rows, 2147483647u);
}

TEST(ParseSize, RefusesAllElseAndSaysWhatIsLegal) {
  const auto refused = [](const char* text, SizeKind kind) {
    return complaint([&] { lab::parse_size(text, kind); });
  };
  for (const char* text : {"",
                           " ",
                           "-5",
                           "+5",
                           "0",
                           "00",
                           "1.5",
                           "1e6",
                           "64M",
                           "0x10",
                           "abc",
                           "10 ",
                           " 10",
                           "10,",
                           ",10",
                           "10,20",
                           "ten",
                           "--",
                           "1099511627777",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999999999999"}) {
    const std::string said = refused(text, SizeKind::n);
    EXPECT_TRUE(has(said, "legal is n, a whole number from 1 to 1099511627776")) << text << said;
    EXPECT_TRUE(has(said, "--size '" + std::string(text) + "'")) << said;
    EXPECT_FALSE(has(said, "\n"));
  }
  for (const char* text : {"10", "10,", ",10", "10,20,30", "10,-1", "0,5", "5,0", "10;20", "10x0",
                           "x20", "10x20x3", "2147483648,1", "1,2147483648", "10, 20"}) {
    EXPECT_TRUE(has(refused(text, SizeKind::rows_cols), "legal is rows,cols, whole numbers"))
        << text;
  }
  for (const char* text : {"10", "10,20", "10,20,30,40", "1,2,x", "1,,3", ",,"}) {
    EXPECT_TRUE(has(refused(text, SizeKind::m_n_k), "legal is M,N,K, whole numbers")) << text;
  }
  EXPECT_TRUE(has(refused("-5", SizeKind::n), "'-5' is not a whole number"));
  EXPECT_TRUE(has(refused("0", SizeKind::n), "0 is too small"));
  EXPECT_TRUE(has(refused("18446744073709551616", SizeKind::n), "is too large"));
  EXPECT_TRUE(has(refused("7", SizeKind::m_n_k), "1 number where 3 are wanted"));
}

// ---- command line ----

lab::Options parse(std::vector<std::string> words, SizeKind kind = SizeKind::n,
                   const char* fallback = "1000") {
  Words line(std::move(words));
  return lab::parse_command_line(line.argc(), line.argv(), kind, fallback, kind == SizeKind::m_n_k);
}

TEST(CommandLine, ReadsEveryOption) {
  const lab::Options none = parse({});
  EXPECT_EQ(none.sizes.at(0).n, 1000u);
  EXPECT_EQ(none.seed, 1u);
  EXPECT_TRUE(none.rungs.empty() && none.json.empty() && !none.help && !none.list);

  const lab::Options all = parse({"--rung", "add", "--rung=sub", "--size", "30,50", "--seed",
                                  "18446744073709551615", "--json", "out.json"},
                                 SizeKind::rows_cols, "1,1");
  EXPECT_EQ(all.rungs, (std::vector<std::string>{"add", "sub"}));
  EXPECT_EQ(all.sizes.at(0).rows, 30u);
  EXPECT_EQ(all.seed, UINT64_MAX);
  EXPECT_EQ(all.json, "out.json");
  const lab::Options two = parse({"--size", "5", "--size", "7"});
  ASSERT_EQ(two.sizes.size(), 2u);
  EXPECT_EQ(two.sizes[0].n, 5u);
  EXPECT_EQ(two.sizes[1].n, 7u);
  EXPECT_EQ(parse({"--cases", "0-11"}, SizeKind::m_n_k, "1,1,1").cases, "0-11");
  EXPECT_TRUE(parse({"--help"}, SizeKind::n, "").help);
  EXPECT_TRUE(parse({"-h"}).help);
  EXPECT_TRUE(parse({"--list"}, SizeKind::n, "").list);
}

TEST(CommandLine, ReadsOptionsOfTheChaptersOwn) {
  std::vector<std::string> seen;
  const std::vector<lab::OwnOption> own = {
      {"scene", "NAME", "which one",
       [&](const std::string& value) {
         if (value == "bad") throw lab::BadInput("--scene 'bad': there is none");
         seen.push_back(value);
       }},
      {"soft", "", "with soft edges", [&](const std::string&) { seen.push_back("soft"); }}};
  const auto read = [&](std::vector<std::string> words) {
    Words line(std::move(words));
    return lab::parse_command_line(line.argc(), line.argv(), SizeKind::rows_cols, "1,1", false,
                                   own);
  };
  const lab::Options all = read({"--scene", "a", "--size", "50x30", "--soft", "--scene=b"});
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "soft", "b"}));
  EXPECT_EQ(all.sizes.at(0).rows, 30u);
  EXPECT_EQ(all.sizes.at(0).cols, 50u);
  EXPECT_TRUE(has(complaint([&] { read({"--scene", "bad"}); }), "there is none"));
  EXPECT_TRUE(has(complaint([&] { read({"--scene"}); }), "--scene lacks its value"));
  EXPECT_TRUE(has(complaint([&] { read({"--other"}); }), "--json FILE, --scene NAME, --soft"));
}

TEST(CommandLine, RefusesAllElseInOneLine) {
  const auto refused = [](std::vector<std::string> words, const char* fallback = "1000") {
    const std::string said = complaint([&] { parse(words, SizeKind::n, fallback); });
    EXPECT_FALSE(has(said, "\n")) << said;
    return said;
  };
  EXPECT_TRUE(has(refused({"--frob"}), "unknown option '--frob'; legal are --help"));
  EXPECT_TRUE(has(refused({"-x"}), "unknown option '-x'"));
  EXPECT_TRUE(has(refused({"--size", "9", "-q", "7"}), "unknown option '-q'"));
  EXPECT_TRUE(has(refused({"--rung", "a", "--frob=3"}), "unknown option '--frob=3'"));
  EXPECT_TRUE(has(refused({"--help=yes"}), "unknown option '--help=yes'"));
  EXPECT_TRUE(has(refused({"1000"}), "unexpected argument '1000'"));
  EXPECT_TRUE(has(refused({"--list", "x"}), "unexpected argument 'x'"));
  EXPECT_TRUE(has(refused({"--size"}), "--size lacks its value"));
  EXPECT_TRUE(has(refused({"--json"}), "--json lacks its value"));
  EXPECT_TRUE(has(refused({"--json", ""}), "--json ''"));
  EXPECT_TRUE(has(refused({"--rung", ""}), "--rung ''"));
  EXPECT_TRUE(has(refused({"--size", "-3"}), "--size '-3'"));
  EXPECT_TRUE(has(refused({"--size=nine"}), "--size 'nine'"));
  for (const char* seed : {"-1", "", "x", "1.0", "18446744073709551616", " 1"}) {
    EXPECT_TRUE(has(refused({"--seed", seed}), "legal is a whole number from 0 to")) << seed;
  }
  EXPECT_TRUE(has(refused({}, ""), "no size: give --size n"));
  EXPECT_TRUE(has(refused({"--size", "9", "--size", "x"}), "--size 'x'"));
  EXPECT_TRUE(has(refused({"--cases", "all"}), "unknown option '--cases'"));
}

TEST(CommandLine, ReadsWhichCases) {
  const auto range = [](const char* text) {
    const lab::CaseRange found = lab::parse_cases(text, 153);
    return std::to_string(found.first) + "-" + std::to_string(found.last);
  };
  EXPECT_EQ(range("all"), "0-152");
  EXPECT_EQ(range("7"), "7-7");
  EXPECT_EQ(range("12-23"), "12-23");
  EXPECT_EQ(range("152"), "152-152");
  for (const char* text : {"", "-", "x", "-1", "153", "5-153", "7-3", "1-", "-3", "1-2-3", "1,2"}) {
    EXPECT_TRUE(has(complaint([&] { lab::parse_cases(text, 153); }), "from 0 to 152")) << text;
  }
}

TEST(CommandLine, FindsTheNearestName) {
  const std::vector<std::string> names{"add_guarded", "add_unguarded", "grid_stride"};
  EXPECT_EQ(lab::nearest("add_gaurded", names), "add_guarded");
  EXPECT_EQ(lab::nearest("stride", names), "grid_stride");
  EXPECT_EQ(lab::nearest("qqqqqq", names), std::nullopt);
  EXPECT_EQ(lab::edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(lab::edit_distance("", "abc"), 3u);
}

// ---- inputs ----

TEST(Inputs, AreTheSameInEveryRunAndDifferBySeed) {
  const auto a = lab::random_floats(1000, 1);
  EXPECT_EQ(a, lab::random_floats(1000, 1));
  EXPECT_NE(a, lab::random_floats(1000, 2));
  const auto prefix = lab::random_floats(10, 1);
  EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), a.begin()));
  // No seed is another one, shifted.
  const auto b = lab::random_floats(1000, 2);
  for (std::size_t shift = 1; shift < 100; ++shift) {
    EXPECT_FALSE(std::equal(b.begin(), b.begin() + 100, a.begin() + static_cast<long>(shift)));
  }
  // Pinned: results files of different machines speak of the same inputs.
  EXPECT_EQ(lab::random_bits(1, 0), lab::random_bits(1, 0));
  EXPECT_EQ(lab::random_floats(0, 1).size(), 0u);
}

TEST(Inputs, HideNoMistake) {
  const std::size_t n = 1 << 20;
  const auto values = lab::random_floats(n, 7);
  double sum = 0, magnitude = 0;
  std::size_t negative = 0, repeated = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float v = values[i];
    ASSERT_TRUE(v > -1 && v < 1 && v != 0) << i;
    sum += v;
    magnitude += std::abs(v);
    negative += v < 0;
    repeated += i > 0 && v == values[i - 1];
  }
  EXPECT_NEAR(sum / static_cast<double>(n), 0.25, 0.005);
  EXPECT_NEAR(magnitude / static_cast<double>(n), 0.5, 0.005);
  EXPECT_NEAR(static_cast<double>(negative) / static_cast<double>(n), 0.25, 0.005);
  EXPECT_LE(repeated, 3u);  // a neighbour's element would go unseen
}

TEST(Inputs, IntegersStayInTheirRange) {
  const auto values = lab::random_ints(100000, 3);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -100);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 200);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 100000, 50, 1);
  for (const int v : lab::random_ints(1000, 3, 5, 5)) EXPECT_EQ(v, 5);
  const auto full = lab::random_ints(1000, 3, INT_MIN, INT_MAX);
  EXPECT_LT(*std::min_element(full.begin(), full.end()), INT_MIN / 2);
  EXPECT_GT(*std::max_element(full.begin(), full.end()), INT_MAX / 2);
}

TEST(Inputs, BytesAreNotFlat) {
  const auto values = lab::random_bytes(100000, 4);
  std::array<int, 256> histogram{};
  for (const auto v : values) ++histogram[v];
  EXPECT_EQ(std::count(histogram.begin(), histogram.end(), 0), 0);
  EXPECT_GT(histogram[0], 2 * histogram[255]);
}

// ---- comparison ----

TEST(Compare, EachElementHasATolerance) {
  const std::vector<float> want{1, 2, 3}, got{1.5f, 2, 3.25f};
  const std::vector<double> allowed{0.5, 0.125, 0.125};
  const Comparison found = lab::compare_each(got, want, allowed, "by index");
  EXPECT_EQ(found.mismatches, 1u);
  EXPECT_EQ(found.first_mismatch, 2u);
  EXPECT_TRUE(has(found.text, "by index"));
  EXPECT_TRUE(lab::compare_each(got, want, std::vector(3, 0.5), "").pass);
  EXPECT_FALSE(lab::compare_each(got, want, std::vector(3, std::nan("")), "").pass);
  EXPECT_FALSE(lab::compare_each(std::vector{1.0f}, want, std::vector(3, 9.0), "").pass);
  EXPECT_FALSE(lab::compare_each(got, want, {9.0}, "").pass);
}

// Enough elements for a range of each core, be they as many as they may.
const std::size_t many = 8 * lab::parallel_grain + 5;

TEST(Parallel, EachIndexIsInOneRange) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, lab::parallel_grain - 1, many}) {
    std::vector<int> times(n);
    lab::in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ++times[i];
    });
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<long>(n));
  }
  std::atomic<unsigned> ranges = 0;
  const auto count = [&](std::size_t, std::size_t) { ++ranges; };
  lab::in_parallel(lab::parallel_grain, count);
  EXPECT_EQ(ranges, 1u);
  lab::in_parallel(8, count, 1);
  EXPECT_EQ(ranges, 1 + std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

TEST(Parallel, AnExceptionOfAnyRangeArrives) {
  for (const std::size_t wrong : {std::size_t{0}, many - 1}) {
    EXPECT_THROW(lab::in_parallel(many,
                                  [&](std::size_t first, std::size_t last) {
                                    if (first <= wrong && wrong < last)
                                      throw std::runtime_error("no");
                                  }),
                 std::runtime_error);
  }
}

TEST(Parallel, InputsDoNotDependOnTheRanges) {
  const auto values = lab::random_floats(many, 5);
  for (const std::size_t i : {std::size_t{0}, many / 2, many - 1}) {
    EXPECT_EQ(values[i], lab::random_float(5, i));
  }
}

TEST(Compare, ManyElementsTellWhatFewTell) {
  std::vector<float> want(many, 2), got = want;
  const Tolerance tolerance{.absolute = 0.5};
  EXPECT_EQ(lab::compare(got, want, tolerance).tolerance, 0.5);
  EXPECT_TRUE(lab::compare(got, want).exact());
  got[many / 2] = 3;
  got[many / 2 + 1] = 2.25f;
  got[many - 1] = 7;
  const Comparison found = lab::compare(got, want, tolerance);
  EXPECT_EQ(found.mismatches, 2u);
  EXPECT_EQ(found.first_mismatch, many / 2);
  EXPECT_EQ(found.max_error, 5);
  EXPECT_TRUE(has(found.text, "3 where 2 is right")) << found.text;
  got[many - 1] = nan_float;
  EXPECT_TRUE(std::isnan(lab::compare(got, want, tolerance).max_error));
  EXPECT_EQ(lab::compare(want, got, tolerance).mismatches, 2u);  // a NaN in the reference
  got[many - 1] = 2;
  EXPECT_TRUE(lab::compare(want, got, {.absolute = 1}).pass);
  std::vector<double> allowed(many, 1);
  allowed[many / 2] = 0;
  EXPECT_EQ(lab::compare_each(want, got, allowed, "").first_mismatch, many / 2);
}

TEST(Compare, FailsOnNaNWhereverItIs) {
  const std::vector<float> good{1, 2, 3}, bad{1, nan_float, 3};
  for (const Tolerance& tolerance : {Tolerance::exact(), Tolerance{.absolute = 1e30},
                                     Tolerance{.absolute = 1, .relative = 1e9}}) {
    EXPECT_FALSE(lab::compare(bad, good, tolerance).pass);
    EXPECT_FALSE(lab::compare(good, bad, tolerance).pass);
    EXPECT_FALSE(lab::compare(bad, bad, tolerance).pass);
    EXPECT_TRUE(std::isnan(lab::compare(bad, good, tolerance).max_error));
  }
  // A larger error after the NaN does not hide it.
  EXPECT_TRUE(std::isnan(
      lab::compare(std::vector<float>{nan_float, 100}, std::vector<float>{1, 1}).max_error));
}

TEST(Compare, FailsOnInfinityUnlessBothAre) {
  const std::vector<float> finite{1}, infinite{infinity}, negative{-infinity};
  const Tolerance wide{.absolute = 1e300, .relative = 1e300};
  EXPECT_FALSE(lab::compare(infinite, finite, wide).pass);
  EXPECT_FALSE(lab::compare(finite, infinite, wide).pass);  // relative * infinity allows nothing
  EXPECT_FALSE(lab::compare(negative, infinite, wide).pass);
  EXPECT_TRUE(lab::compare(infinite, infinite).pass);
}

TEST(Compare, FailsOnNothingAndOnOtherSizes) {
  const std::vector<float> none, one{1}, two{1, 1};
  EXPECT_FALSE(lab::compare(none, none).pass);
  EXPECT_TRUE(has(lab::compare(none, none).text, "nothing was compared"));
  EXPECT_FALSE(lab::compare(one, two).pass);
  EXPECT_TRUE(has(lab::compare(one, two).text, "the result has 1 elements, the reference 2"));
}

TEST(Compare, FailsOnAToleranceThatLetsAnythingPass) {
  const std::vector<float> one{1};
  for (const double bad : {std::nan(""), HUGE_VAL, -1.0}) {
    EXPECT_FALSE(lab::compare(one, one, Tolerance{.absolute = bad}).pass);
    EXPECT_FALSE(lab::compare(one, one, Tolerance{.relative = bad}).pass);
  }
}

TEST(Verdict, PassesAndFailsAsTold) {
  EXPECT_TRUE(lab::verdict(true, "").pass);
  const Comparison bad = lab::verdict(false, "no");
  EXPECT_FALSE(bad.pass || bad.exact());
  EXPECT_EQ(bad.text, "no");
}

TEST(Tolerances, HoldForTheSumThatTheyAreStatedForAndNotForAMissingTerm) {
  const std::size_t k = 4096, sums = 200;
  std::vector<float> got(sums), missing(sums);
  std::vector<double> want(sums);
  for (std::size_t s = 0; s < sums; ++s) {
    const auto a = lab::random_floats(k, 2 * s), b = lab::random_floats(k, 2 * s + 1);
    for (std::size_t i = 0; i < k; ++i) {
      got[s] += a[i] * b[i];
      if (i != 77) missing[s] += a[i] * b[i];
      want[s] += static_cast<double>(a[i]) * b[i];
    }
  }
  const Tolerance tolerance = lab::tolerance_for_sum(k, 0.25);
  EXPECT_TRUE(lab::compare(got, want, tolerance).pass) << lab::compare(got, want, tolerance).text;
  const Comparison without = lab::compare(missing, want, tolerance);
  EXPECT_GT(without.mismatches, sums / 2) << without.text;
  EXPECT_TRUE(has(tolerance.basis, "4096 terms of mean magnitude 0.25"));
  EXPECT_LT(lab::tolerance_for_sum(k, 0.25, 12).absolute, tolerance.absolute / 15);
  EXPECT_DOUBLE_EQ(lab::tolerance_for_roundings(2).relative, std::ldexp(1.0, -23));
}

// ---- statistics and text ----

TEST(Stats, MedianAndSpread) {
  const lab::TimeStats odd = lab::summarize({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.runs, 3);
  EXPECT_EQ(lab::summarize({4, 1}).median, 2.5);
  std::vector<double> many(101);
  std::iota(many.rbegin(), many.rend(), 0.0);
  EXPECT_EQ(lab::summarize(many).p10, 10);
  EXPECT_EQ(lab::summarize(many).p90, 90);
  EXPECT_EQ(lab::summarize({7}).p90, 7);
  EXPECT_EQ(lab::summarize({}).runs, 0);
}

TEST(Stats, HowWellAMedianIsKnown) {
  EXPECT_TRUE(std::isinf(lab::median_uncertainty({})));
  EXPECT_TRUE(std::isinf(lab::median_uncertainty({3})));
  EXPECT_EQ(lab::median_uncertainty({3, 3, 3, 3}), 0);
  // Quartiles 2 and 4 of 1 to 5, median 3.
  EXPECT_DOUBLE_EQ(lab::median_uncertainty({5, 1, 4, 2, 3}), 1.57 * 2 / (std::sqrt(5.0) * 3));
  // A quarter of them may be anything.
  EXPECT_EQ(lab::median_uncertainty({3, 3, 3, 3, 3, 3, 3, 900}), 0);
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(lab::grouped(0), "0");
  EXPECT_EQ(lab::grouped(999), "999");
  EXPECT_EQ(lab::grouped(1000), "1,000");
  EXPECT_EQ(lab::grouped(1234567), "1,234,567");
  EXPECT_EQ(lab::milliseconds(0.01234), "0.0123");
  EXPECT_EQ(lab::milliseconds(12.345), "12.35");
  EXPECT_EQ(lab::milliseconds(123456), "123456");
  EXPECT_EQ(lab::rate_text(4231.7), "4,232");
  EXPECT_EQ(lab::rate_text(99.44), "99.4");
  EXPECT_EQ(lab::rate_text(0.126), "0.13");
  EXPECT_EQ(lab::one_line("a\nb\r"), "a b ");
}

TEST(Text, WrapsWithoutLosingAWord) {
  EXPECT_EQ(lab::wrapped("", 10), (std::vector<std::string>{""}));
  EXPECT_EQ(lab::wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(lab::wrapped("0123456789", 4), (std::vector<std::string>{"0123", "4567", "89"}));
  EXPECT_EQ(lab::wrapped("exactly", 7), (std::vector<std::string>{"exactly"}));
}

}  // namespace
