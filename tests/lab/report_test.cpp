// The results file and the ladder table, from reports made by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/conditions.h"
#include "lab/json.h"
#include "lab/row.h"
#include "lab/table.h"

namespace {

using lab::Status;

lab::Row timed_row() {
  lab::Row row;
  row.rung = "add_guarded";
  row.size = lab::parse_size("67108864", lab::SizeKind::n);
  row.status = Status::pass;
  row.max_error = 0;
  row.tolerance = 0;
  row.time = lab::TimeStats{0.1912, 0.1905, 0.1931, 200};
  row.rate = 4212.4;
  row.rate_unit = "GB/s";
  row.peer = lab::PeerTime{"cudaMemcpy", {0.1895, 0.189, 0.191, 200}, 4249.8};
  row.ratio_to_peer = 0.1895 / 0.1912;
  row.fraction_of_limit = 0.995;
  return row;
}

lab::Row row_of(const char* rung, Status status, const char* reason = "") {
  lab::Row row;
  row.rung = rung;
  row.size = lab::parse_size("30,50", lab::SizeKind::rows_cols);
  row.status = status;
  row.reason = reason;
  return row;
}

lab::Row counted_row(const char* rung) {
  lab::Row row = row_of(rung, Status::pass);
  row.counts = {{"global_load_requests", 4096},       {"global_load_sectors", 16384},
                {"global_load_active_lanes", 131072}, {"global_store_requests", 2048},
                {"global_store_sectors", 65536},      {"global_store_active_lanes", 32768},
                {"shared_load_requests", 0},          {"shared_store_requests", 0},
                {"shared_load_bank_conflicts", 0},    {"shared_store_bank_conflicts", 0}};
  return row;
}

lab::Report report_of(std::vector<lab::Row> rows) {
  lab::Report report;
  report.chapter = "01_thread_indexing";
  report.backend = "gpu";
  report.device = "NVIDIA H200";
  report.driver = "580.159 (CUDA 13.0)";
  report.toolkit = "CUDA 13.0";
  report.date = "2026-11-20T18:33:07Z";
  report.commit = "abc";
  report.rows = std::move(rows);
  return report;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The first line that holds a text; empty where none does.
std::string line_with(const std::string& text, const std::string& part) {
  for (const std::string& line : lines_of(text)) {
    if (line.find(part) != std::string::npos) return line;
  }
  return "";
}

/// The value of a key where it first stands, as it is written: a number, a text, or `{}` or `[]`.
std::string value_of(const std::string& json, const std::string& key) {
  const std::string start = "\"" + key + "\": ";
  const std::size_t at = json.find(start);
  if (at == std::string::npos) return "";
  std::size_t end = at + start.size();
  for (bool quoted = false; end < json.size(); ++end) {
    if (json[end] == '"' && json[end - 1] != '\\') quoted = !quoted;
    if (!quoted && (json[end] == ',' || json[end] == '\n')) break;
  }
  std::string value = json.substr(at + start.size(), end - at - start.size());
  while (value.ends_with("}") && !value.starts_with("{")) value.pop_back();
  return value;
}

TEST(Json, HasTheKeysOfTheFormatAndNoOthers) {
  lab::Row timed = timed_row();
  timed.ratio_to_peer = 0.75;
  timed.first_ms = 0.75;
  timed.conditions = {
      .sm_mhz = 1755, .sm_mhz_min = 1500.5, .power_w = 640.25, .throttled = "power cap"};
  lab::Report report = report_of({timed, row_of("tma", Status::skip, "needs 9.0")});
  report.limits = {{"copy_gb_s", 4232.0}};
  const char* const want = R"json({
 "chapter": "01_thread_indexing",
 "backend": "gpu",
 "device": "NVIDIA H200",
 "driver": "580.159 (CUDA 13.0)",
 "toolkit": "CUDA 13.0",
 "date": "2026-11-20T18:33:07Z",
 "commit": "abc",
 "limits": {
  "copy_gb_s": 4232.0
 },
 "rows": [
  {"rung": "add_guarded", "size": {"n": 67108864}, "status": "PASS", "max_error": 0.0, "tolerance": 0.0, "time_ms": {"median": 0.1912, "p10": 0.1905, "p90": 0.1931, "runs": 200}, "clock": {"sm_mhz": 1755.0, "sm_mhz_min": 1500.5, "power_w": 640.25, "throttled": "power cap"}, "first_ms": 0.75, "rate": 4212.4, "rate_unit": "GB/s", "peer": {"name": "cudaMemcpy", "time_ms": {"median": 0.1895, "p10": 0.189, "p90": 0.191, "runs": 200}}, "ratio_to_peer": 0.75, "fraction_of_limit": 0.995},
  {"rung": "tma", "size": {"rows": 30, "cols": 50}, "status": "SKIP", "reason": "needs 9.0"}
 ]
}
)json";
  EXPECT_EQ(lab::to_json(report), want);
}

TEST(Json, AClockThatWasNotHeldDownHasNoReason) {
  lab::Row row = timed_row();
  EXPECT_EQ(lab::to_json(report_of({row})).find("clock"), std::string::npos);
  row.conditions = {.sm_mhz = 1755, .sm_mhz_min = 1755, .power_w = 300, .throttled = ""};
  const std::string json = lab::to_json(report_of({row}));
  EXPECT_EQ(value_of(json, "power_w"), "300.0");
  EXPECT_EQ(json.find("throttled"), std::string::npos);
}

TEST(Conditions, APowerIsOfWhatIsTimedOnlyAfterMoreThanASecondOfIt) {
  using std::chrono::milliseconds;
  // Before it something drew 600 W; it draws 120, and NVML's mean over a second takes as long to fall.
  std::vector<lab::ConditionSample> samples = {
      {.at = milliseconds(5), .sm_mhz = 1980, .milliwatts = 600000},
      {.at = milliseconds(500), .sm_mhz = 1500, .milliwatts = 360000},
      {.at = milliseconds(1000), .sm_mhz = 1980, .milliwatts = 140000, .reasons = 4}};
  auto seen = lab::conditions_of(samples);
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->power_w);
  EXPECT_EQ(seen->sm_mhz, 1980);
  EXPECT_EQ(seen->sm_mhz_min, 1500);
  EXPECT_EQ(seen->throttled, "power cap");

  lab::Row row = timed_row();
  row.conditions = seen;
  EXPECT_EQ(lab::to_json(report_of({row})).find("power_w"), std::string::npos);

  samples.push_back({.at = milliseconds(1200), .sm_mhz = 1980, .milliwatts = 120000});
  samples.push_back({.at = milliseconds(1400), .sm_mhz = 1980, .milliwatts = 121000});
  seen = lab::conditions_of(samples);
  ASSERT_TRUE(seen && seen->power_w);
  EXPECT_EQ(*seen->power_w, 121);
  EXPECT_FALSE(lab::conditions_of({}));
}

TEST(Json, NumbersReadBackAsTheSameDouble) {
  const std::string json = lab::to_json(report_of({timed_row()}));
  EXPECT_EQ(std::strtod(value_of(json, "ratio_to_peer").c_str(), nullptr), 0.1895 / 0.1912);
}

TEST(Json, CountsAreExactBeyondWhatADoubleHolds) {
  lab::Row row = row_of("many", Status::pass);
  row.counts = {{"global_load_sectors", ~std::uint64_t{0}}};
  EXPECT_EQ(value_of(lab::to_json(report_of({row})), "global_load_sectors"),
            "18446744073709551615");
}

TEST(Json, CountsAndVariantsOnlyWhereThereAreAny) {
  lab::Row row = counted_row("sweep");
  row.variant = "block=128";
  const std::string json = lab::to_json(report_of({row}));
  EXPECT_EQ(value_of(json, "variant"), "\"block=128\"");
  EXPECT_EQ(value_of(json, "global_store_sectors"), "65536");
  EXPECT_EQ(value_of(json, "limits"), "{}");
  EXPECT_EQ(value_of(json, "time_ms"), "");
}

TEST(Json, LaunchesOfADemonstrationOnly) {
  EXPECT_EQ(value_of(lab::to_json(report_of({timed_row()})), "launches"), "");
  lab::Row row = row_of("mistake", Status::pass, "raises out-of-bounds, as it should");
  row.launches = {3, 5};
  const std::string json = lab::to_json(report_of({row}));
  EXPECT_EQ(value_of(json, "first"), "3");
  EXPECT_EQ(value_of(json, "end"), "5");
}

TEST(Json, ANaNIsNull) {
  lab::Row row = row_of("bad", Status::fail, "NaN");
  row.max_error = std::nan("");
  row.tolerance = 0.5;
  const std::string json = lab::to_json(report_of({row}));
  EXPECT_EQ(value_of(json, "max_error"), "null");
  EXPECT_EQ(value_of(json, "tolerance"), "0.5");
}

TEST(Json, EscapesWhatATextMayHold) {
  const char* const odd =
      "quote \" backslash \\ newline \n tab \t bell \a umlaut \xc3\xa4 </script>";
  const std::string json = lab::to_json(report_of({row_of("r", Status::fail, odd)}));
  EXPECT_EQ(value_of(json, "reason"),
            "\"quote \\\" backslash \\\\ newline \\n tab \\t bell \\u0007 umlaut \xc3\xa4 "
            "</script>\"");
}

TEST(Json, WhatIsNoUtf8IsReplaced) {
  const std::string json = lab::to_json(report_of({row_of("r", Status::fail, "a \xff b")}));
  EXPECT_EQ(value_of(json, "reason"), "\"a \xef\xbf\xbd b\"");
}

TEST(Json, NoRowsIsStillAReport) { EXPECT_EQ(value_of(lab::to_json(report_of({})), "rows"), "[]"); }

TEST(Json, ReplacesTheFileOnlyOnceItIsWhole) {
  const std::string folder = testing::TempDir() + "lab_json_" + std::to_string(getpid());
  ASSERT_EQ(std::system(("mkdir -p '" + folder + "'").c_str()), 0);
  const std::string path = folder + "/results.json";
  EXPECT_EQ(lab::write_json(path, report_of({timed_row()})), "");
  std::ifstream file(path);
  const std::string written(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(written, lab::to_json(report_of({timed_row()})));
  EXPECT_FALSE(std::ifstream(path + ".part").good());
  const std::string wrong = lab::write_json(folder + "/missing/results.json", report_of({}));
  EXPECT_NE(wrong.find("No such file or directory"), std::string::npos) << wrong;
  EXPECT_EQ(std::system(("rm -r '" + folder + "'").c_str()), 0);
}

TEST(Table, ShowsTimeRatePeerAndLimit) {
  lab::Report report = report_of({timed_row()});
  report.limits = {{"copy_gb_s", 4232.0}, {"fp32_gflop_s", 65100.0}};
  const std::string text = lab::table(report, true);
  const std::string row = line_with(text, "add_guarded");
  for (const char* part :
       {"PASS", "0.1912", "(0.1905 .. 0.1931)", "4,212 GB/s", "99.1 %", "99.5 %"}) {
    EXPECT_NE(row.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(text.find("peer cudaMemcpy: 0.1895 ms, 4,250 GB/s, timed beside add_guarded"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("moves 4,232 GB/s"), std::string::npos);
  EXPECT_NE(text.find("65,100 GFLOP/s"), std::string::npos);
  EXPECT_NE(text.find("1 PASS, 0 FAIL, 0 SKIP, 0 ERROR\n"), std::string::npos);
}

TEST(Table, KeepsTheOrderAndAlignsTheColumns) {
  lab::Row slow = timed_row();
  slow.rung = "slow";
  slow.time = lab::TimeStats{1234.5, 1200, 1300, 10};
  const std::string text = lab::table(report_of({timed_row(), slow, timed_row()}), true);
  const auto lines = lines_of(text);
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[1].rfind("add_guarded", 0), 0u) << text;
  EXPECT_EQ(lines[2].rfind("slow", 0), 0u) << text;
  EXPECT_EQ(lines[1].find("PASS"), lines[2].find("PASS"));
  EXPECT_EQ(lines[1].find(')'), lines[2].find(')')) << text;
  EXPECT_EQ(lines[1].size(), lines[2].size()) << text;
  EXPECT_EQ(lines[0].size(), lines[1].size()) << text;
}

TEST(Table, FourWordsAndTheirReasons) {
  const std::string text = lab::table(
      report_of({row_of("a", Status::pass), row_of("b", Status::fail, "wrong at 3"),
                 row_of("c", Status::skip, "needs compute capability 9.0; this device has 8.6"),
                 row_of("d", Status::error, "no kernel image")}),
      true);
  EXPECT_EQ(line_with(text, "b "), "b" + std::string(25, ' ') + "FAIL   wrong at 3");
  EXPECT_EQ(line_with(text, "c "), "c" + std::string(25, ' ') +
                                       "SKIP   needs compute capability 9.0; this device has 8.6");
  EXPECT_EQ(line_with(text, "d "), "d" + std::string(25, ' ') + "ERROR  no kernel image");
  EXPECT_NE(text.find("1 PASS, 1 FAIL, 1 SKIP, 1 ERROR\n"), std::string::npos);
}

TEST(Table, OnTheSimulatorShowsCountsAndNeverATime) {
  lab::Row row = counted_row("add");
  row.time = lab::TimeStats{5, 4, 6, 10};  // must not show
  lab::Row shared = counted_row("transpose_tile");
  for (auto& [name, value] : shared.counts) {
    if (name == "shared_load_requests") value = 32768;
    if (name == "shared_load_bank_conflicts") value = 1015808;
  }
  const std::string text = lab::table(report_of({row, shared}), false);
  const std::string line = line_with(text, "add ");
  for (const char* part : {"4,096", "4.0", "32.0", "2,048", "16.0"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(line.back(), '-') << text;  // no shared memory: no conflicts to speak of
  EXPECT_NE(line_with(text, "transpose_tile").find("1,015,808"), std::string::npos) << text;
  EXPECT_EQ(text.find(" ms"), std::string::npos) << text;
  EXPECT_EQ(text.find("5.000"), std::string::npos) << text;
  EXPECT_NE(text.find("bank conflicts in shared memory"), std::string::npos);
}

TEST(Table, StaysWithin100Columns) {
  lab::Row row = timed_row();
  row.rung = "a_very_long_name_of_a_kernel_that_somebody_thought_would_be_a_good_idea_for_sure";
  row.variant = "block=1024";
  row.time = lab::TimeStats{12345.6, 12345.5, 12345.7, 200};
  lab::Row failed = row_of("failed", Status::fail);
  for (int i = 0; i < 40; ++i) failed.reason += "a long reason ";
  for (const bool times : {true, false}) {
    const std::string text =
        lab::table(report_of({row, failed, counted_row("a_name_of_thirty_characters_ok")}), times);
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_NE(text.find(row.rung + " block=1024\n"), std::string::npos) << text;
    EXPECT_EQ(text.find(" \n"), std::string::npos) << text;  // no blanks at the end of a line
  }
}

TEST(Table, RecordedTimesAreTheLastColumn) {
  const std::string file = "/tmp/recorded_" + std::to_string(getpid());
  std::ofstream(file) << "NVIDIA H200\t16384,16384\nadd\t\t0.52341\nadd\ttile=16\t1234.5\n"
                      << "needs_a_gpu\t\t0.25\nnot_counted\t\t60.17\n";
  const lab::RecordedTimes recorded = lab::recorded_times(file.c_str());
  lab::Row variant = counted_row("add");
  variant.variant = "tile=16";
  lab::Row noted = counted_row("add");
  noted.reason = "of note";
  const lab::Report report = report_of(
      {counted_row("add"), variant, noted, counted_row("unrecorded"),
       row_of("needs_a_gpu", Status::skip, "needs a GPU"), row_of("not_counted", Status::pass)});
  const std::string text = lab::table(report, false, false, recorded);
  const std::vector<std::string> lines = lines_of(text);
  const std::size_t end = lines[0].size();
  EXPECT_EQ(lines[0].substr(end - 9), "  H200 ms") << text;
  const auto shows = [&](const std::string& line, const std::string& time) {
    return line.size() == end && line.substr(end - time.size() - 1) == " " + time;
  };
  EXPECT_TRUE(shows(lines[1], "0.5234")) << text;
  EXPECT_TRUE(shows(lines[2], "1234")) << text;  // of the variant
  EXPECT_TRUE(shows(lines[3], "0.5234")) << text;
  EXPECT_NE(lines[4].find("of note"), std::string::npos) << text;
  EXPECT_EQ(lines[5].back(), '-') << text;
  EXPECT_NE(lines[6].find("needs a GPU; recorded: 0.2500 ms"), std::string::npos) << text;
  EXPECT_TRUE(shows(lines[7], "60.17")) << text;
  const std::string legend =
      "H200 ms: recorded on an NVIDIA H200 at 16384,16384, not measured here\n";
  EXPECT_NE(text.find(legend), std::string::npos) << text;
  EXPECT_EQ(lab::table(report, false).find("H200"), std::string::npos);
  EXPECT_EQ(lab::table(report_of({counted_row("other")}), false, false, recorded).find(legend),
            std::string::npos);

  std::ofstream(file) << "NVIDIA H200\t1\nadd 0.5\n";
  EXPECT_THROW(lab::recorded_times(file.c_str()), std::runtime_error);
  EXPECT_THROW(lab::recorded_times("/no/such/file"), std::runtime_error);
  EXPECT_EQ(lab::recorded_times(nullptr).gpu, "");
  std::remove(file.c_str());
}

TEST(Table, ColorsOnlyWhenAsked) {
  const lab::Report report = report_of({timed_row(), row_of("b", Status::fail, "wrong")});
  EXPECT_EQ(lab::table(report, true, false).find('\033'), std::string::npos);
  const std::string colored = lab::table(report, true, true);
  EXPECT_NE(colored.find("\033[32mPASS \033[0m"), std::string::npos);
  EXPECT_NE(colored.find("\033[31mFAIL \033[0m"), std::string::npos);
}

TEST(Report, FailsUnlessEveryRowIsPassOrSkip) {
  EXPECT_EQ(report_of({row_of("a", Status::pass), row_of("b", Status::skip)}).exit_code(), 0);
  EXPECT_EQ(report_of({row_of("a", Status::pass), row_of("b", Status::fail)}).exit_code(), 1);
  EXPECT_EQ(report_of({row_of("a", Status::error)}).exit_code(), 1);
  std::set<std::string> words;
  for (const Status s : {Status::pass, Status::fail, Status::skip, Status::error}) {
    words.insert(lab::to_string(s));
  }
  EXPECT_EQ(words.size(), 4u);
}

}  // namespace
