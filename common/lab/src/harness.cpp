#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "lab/check.h"
#include "lab/device.h"
#include "lab/json.h"
#include "lab/run.h"
#include "lab/rungs.h"
#include "lab/table.h"

namespace lab {

namespace {

std::string base_name(const char* path) {
  const std::string text = path == nullptr ? "chapter" : path;
  return text.substr(text.find_last_of('/') + 1);
}

}  // namespace

detail::OtherFiles& detail::other_files() {
  static OtherFiles files;
  return files;
}

Config config_of_header() {
  const Header& header = this_header();
  if (header.folder.empty())
    detail::fail(
        "no header was linked to this program: CMake does that for the folders of chapters/");
  return {.name = header.folder,
          .default_size = header.default_size(this_backend()),
          .kind = kind_of_size(header.size_gpu)};
}

Harness::Harness(int argc, char** argv, const Config& config, const std::vector<OwnOption>& own)
    : program_(base_name(argc > 0 ? argv[0] : nullptr)), config_(config) {
  try {
    options_ = parse_command_line(argc, argv, config_.kind, config_.default_size, has_cases(), own);
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  if (options_.help) {
    print_help(own);
    std::exit(0);
  }
  if (options_.list) {
    print_list();
    std::exit(0);
  }
  if (options_.json.empty()) return;
  // Better now than after the work. Appending nothing leaves an older file as it is.
  errno = 0;
  const bool existed = access(options_.json.c_str(), F_OK) == 0;
  std::FILE* const file = std::fopen(options_.json.c_str(), "a");
  if (file == nullptr) {
    usage("--json '" + options_.json + "' cannot be written: " + std::strerror(errno));
  }
  std::fclose(file);
  if (!existed) std::remove(options_.json.c_str());
}

Harness::~Harness() = default;

void Harness::usage(const std::string& message) const {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program_.c_str(), one_line(message).c_str());
  std::exit(2);
}

bool Harness::has_cases() const {
  return config_.kind == SizeKind::m_n_k || config_.header.kind == "map";
}

void Harness::print_help(const std::vector<OwnOption>& own) const {
  std::string usage, lines;
  for (const OwnOption& option : own) {
    const std::string spelled = option.name + (option.value.empty() ? "" : " " + option.value);
    usage += " [--" + spelled + "]";
    lines += format("  --%-14s  %s\n", spelled.c_str(), option.help.c_str());
  }
  const SizeKind kind = config_.kind;
  const std::string size = spelling(kind);
  const std::string fallback =
      config_.default_size.empty() ? "" : "; default " + config_.default_size;
  const bool cases = has_cases();
  std::printf(
      "usage: %s [--rung NAME]... [--size %s]... [--seed S] [--json FILE]%s%s\n"
      "       %s --list | --help\n"
      "\n"
      "Runs the rungs of chapter %s on the %s, checks each of them, and prints the ladder.\n"
      "\n"
      "  --rung NAME       only this rung; may be given several times\n"
      "  --size %-9s  whole numbers from 1 to %llu%s; several: a ladder for each\n"
      "  --seed S          which random inputs; default 1\n"
      "  --json FILE       also writes the results there\n"
      "  --list            names the rungs\n"
      "%s%s"
      "\n"
      "Environment: LAB_TIMING=off checks without timing; LAB_GUARD=0 takes the canaries away "
      "(for\n"
      "compute-sanitizer); LAB_SUSTAIN=SECONDS launches each rung alone for so long;\n"
      "LAB_ZEROS=1 multiplies zeros; NO_COLOR=1 prints no colours.\n"
      "\n"
      "Exit code: 0 every rung is PASS or SKIP, 1 one is FAIL or ERROR, 2 bad input.\n",
      program_.c_str(), size.c_str(), cases ? " [--cases WHICH]" : "", usage.c_str(),
      program_.c_str(), config_.name.c_str(), config_.backend.name.c_str(), size.c_str(),
      static_cast<unsigned long long>(largest_dimension(kind)), fallback.c_str(),
      !cases ? ""
      : kind == SizeKind::m_n_k
          ? "  --cases WHICH     instead of a size, many small products with every edge, leading\n"
            "                    dimension, alpha and beta: all, a number, or FIRST-LAST; checks\n"
            "                    each rung on each of them, without times\n"
          : "  --cases WHICH     instead of a size, many small ones: all, a number, or "
            "FIRST-LAST;\n"
            "                    checks each rung on each of them, without times\n",
      lines.c_str());
}

void Harness::print_list() const {
  std::size_t width = 0;
  for (const HeaderRung& line : config_.header.rungs) width = std::max(width, line.name.size());
  for (const HeaderRung& line : config_.header.rungs) {
    const std::string gap(line.idea.empty() ? 0 : width - line.name.size() + 2, ' ');
    std::printf("%s%s%s\n", line.name.c_str(), gap.c_str(), line.idea.c_str());
  }
}

std::vector<Harness::Turn> Harness::turns() const {
  std::vector<Turn> all;
  if (options_.cases.empty()) {
    for (const Size& size : options_.sizes) all.push_back({size});
    return all;
  }
  if (config_.kind == SizeKind::m_n_k) {
    for (const GemmCase& one : gemm_cases()) all.push_back({one.size(), 0, to_string(one)});
  } else {
    for (const Size& size : size_cases(config_.kind)) all.push_back({size, 0, to_string(size)});
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = static_cast<long>(i);
  return all;
}

/// Whether times mean something here, and are wanted.
bool Harness::wants_times() const {
  const char* const timing = std::getenv("LAB_TIMING");
  return config_.backend.times && !in_cases_ &&
         (timing == nullptr || std::string_view(timing) != "off");
}

void Harness::describe_machine() {
  if (std::exchange(described_, true)) return;
  report_.chapter = config_.name;
  report_.backend = config_.backend.name;
  report_.toolkit = config_.backend.toolkit;
  report_.date = utc_now();
  report_.commit = commit();
  report_.device = device_name();
  report_.driver = driver_version();
  capability_ = compute_capability();  // while the context lives
  if (!wants_times()) return;
  // No limits themselves, but what the limits were measured at.
  report_.limits.emplace_back("sm_clock_mhz", device_attribute(cudaDevAttrClockRate) / 1000.0);
  report_.limits.emplace_back("memory_clock_mhz",
                              device_attribute(cudaDevAttrMemoryClockRate) / 1000.0);
  if (const std::string why = ConditionSampler::missing(); !why.empty()) {
    note("clock and power were not sampled: " + why);
  }
}

/// A limit of the machine, measured when it is asked for first.
std::optional<double> Harness::limit(Limit which) {
  if (which == Limit::none) return std::nullopt;
  const bool copy = which == Limit::copy;
  const char* const key = copy ? "copy_gb_s" : "fp32_gflop_s";
  for (const auto& [name, value] : report_.limits) {
    if (name == key) return value > 0 ? std::optional(value) : std::nullopt;
  }
  if (std::find(unmeasured_.begin(), unmeasured_.end(), which) != unmeasured_.end()) {
    return std::nullopt;
  }
  try {
    const detail::ThrowInstead scope;
    const double value = (copy ? measure_copy : measure_fp32)(config_.limits, config_.timing);
    report_.limits.emplace_back(key, value);
    return value;
  } catch (const std::exception& failure) {
    static_cast<void>(cudaGetLastError());
    unmeasured_.push_back(which);
    std::fprintf(stderr, "%s: limit %s was not measured: %s\n", program_.c_str(), key,
                 one_line(failure.what()).c_str());
    return std::nullopt;
  }
}

void Harness::note(const std::string& text) {
  auto& notes = report_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

/// Whether the rungs that the command line asks for are those of the header; a program without one knows its rungs
/// only afterwards.
bool Harness::names_exist() {
  std::vector<std::string> names = there_;
  for (const HeaderRung& line : config_.header.rungs) names.push_back(line.name);
  for (const std::string& rung : options_.rungs) {
    if (std::find(names.begin(), names.end(), rung) != names.end()) continue;
    const auto near = nearest(rung, names);
    std::fflush(stdout);
    std::fprintf(stderr, "%s: unknown rung '%s'; %s--list names them all\n", program_.c_str(),
                 one_line(rung).c_str(), near ? ("did you mean '" + *near + "'? ").c_str() : "");
    return false;
  }
  return true;
}

/// The times that stand beside the counts of a simulated run: LAB_RECORDED names their file.
static const RecordedTimes& recorded() {
  static const RecordedTimes times = recorded_times(std::getenv("LAB_RECORDED"));
  return times;
}

/// Prints what stands above the rows, once there is a row.
void Harness::begin(const Turn& turn) {
  if (printed_) return;
  printed_ = true;
  if (in_cases_) return;
  std::printf("%s%s on %s, %s, seed %llu\n\n%s", turn.size == options_.sizes.front() ? "" : "\n",
              report_.chapter.c_str(), report_.device.c_str(), to_string(turn.size).c_str(),
              static_cast<unsigned long long>(options_.seed),
              table_head(wants_times() || config_.backend.traces, config_.backend.times, recorded())
                  .c_str());
  std::fflush(stdout);
}

void Harness::report_row(const Row& row) {
  if (in_cases_) return add_case(row, *turn_);
  begin(*turn_);
  std::printf("%s", table_row(row, config_.backend.times, config_.color, recorded()).c_str());
  std::fflush(stdout);
}

/// Whether a case has gone wrong before, so that a further one need not run.
bool Harness::is_wrong(const std::string& rung, const std::string& variant) const {
  return std::any_of(report_.rows.begin(), report_.rows.end(), [&](const Row& row) {
    return row.rung == rung && row.variant == variant && row.status != Status::pass;
  });
}

/// Puts the rows of many cases together: one for each rung, PASS with the number of cases that it solved, or the
/// first case that went wrong, with the option that runs it again.
void Harness::add_case(const Row& found, const Turn& turn) {
  auto& rows = report_.rows;
  auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& one) {
    return one.rung == found.rung && one.variant == found.variant;
  });
  if (row == rows.end()) {
    rows.push_back(found);
    row = rows.end() - 1;
    row->status = Status::pass;
    row->counts.clear();
  }
  solved_.resize(rows.size());
  if (row->status != Status::pass) return;  // the first case that goes wrong tells
  row->size = found.size;
  row->status = found.status;
  if (found.status == Status::skip) {
    row->reason = found.reason;
  } else if (found.status != Status::pass) {
    row->reason = format("case %ld (%s): %s; again with --rung %s --cases %ld", turn.number,
                         turn.words.c_str(), found.reason.c_str(), found.rung.c_str(), turn.number);
  } else {
    const std::size_t so_far = ++solved_[static_cast<std::size_t>(row - rows.begin())];
    row->reason = std::to_string(so_far) + (so_far == 1 ? " case" : " cases");
  }
}

/// What the header names and nothing added, the order of the header, and what stands below the rows.
void Harness::end(Ladder& ladder) {
  ladder.add_absent();
  if (in_cases_) return;
  std::vector<Row>& rows = ladder.rows_;
  const auto place = [&](const Row& row) {
    const HeaderRung* const line = config_.header.find(row.rung);
    return line == nullptr ? 0 : line - config_.header.rungs.data();
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return place(a) < place(b); });
  report_.rows.insert(report_.rows.end(), rows.begin(), rows.end());
  if (rows.empty()) return;
  here_ = report_;
  here_.rows = rows;
  std::printf("%s", table_foot(here_, config_.backend.times, recorded()).c_str());
  std::fflush(stdout);
  if (!options_.json.empty()) write_json(options_.json, report_);  // what is there is kept
}

/// Calls the chapter's function. What fails outside of a rung ends the program; but where a rung has cost us the
/// context, nothing can succeed, and the rungs that follow are reported as not run.
void Harness::call(const std::function<void(Ladder&)>& chapter, Ladder& ladder) {
  try {
    const detail::ThrowInstead scope;
    chapter(ladder);
    return;
  } catch (const Failure& failure) {
    if (!lost_in_.empty()) return;
    std::fflush(stdout);
    std::fprintf(stderr, "ERROR %s\n", failure.what());
  }
  std::exit(1);
}

int Harness::run(const std::function<void(Ladder&)>& chapter) {
  in_cases_ = !options_.cases.empty();
  // A recording runs each size as a program of its own: what does not depend on the size belongs to the first.
  const bool has_first = !in_cases_ && std::getenv("LAB_FURTHER_SIZE") == nullptr;
  const std::vector<Turn> all = turns();
  CaseRange range{0, all.size() - 1};
  try {
    if (in_cases_) range = parse_cases(options_.cases, all.size());
    if (!config_.header.rungs.empty() && !names_exist()) return 2;
    for (std::size_t i = range.first; i <= range.last; ++i) {
      turn_ = &all[i];
      printed_ = false;
      Ladder ladder(*this, turn_->size, has_first && i == range.first, turn_->number);
      call(chapter, ladder);
      if (instead_) return *instead_;
      // At the first size: a case, or a further size, may have no use for them.
      if (ladder.is_first() && lost_in_.empty() &&
          detail::other_files().called < detail::other_files().registered) {
        detail::fail("rungs of another file were never asked for: call lab::add_others");
      }
      end(ladder);
    }
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  if (config_.header.rungs.empty() && !names_exist()) return 2;
  if (in_cases_) {
    std::printf("%s on %s, cases %zu to %zu of %zu, seed %llu\n\n%s", report_.chapter.c_str(),
                report_.device.c_str(), range.first, range.last, all.size(),
                static_cast<unsigned long long>(options_.seed),
                table(report_, false, config_.color).c_str());
    std::fflush(stdout);
  }
  return finish();
}

/// Writes the results file; returns the exit code.
int Harness::finish() {
  int code = report_.exit_code();
  if (report_.rows.empty()) {
    std::fprintf(stderr, "%s: the chapter has no rung\n", program_.c_str());
    code = 1;
  }
  if (!options_.json.empty()) {
    if (const std::string wrong = write_json(options_.json, report_); !wrong.empty()) {
      std::fprintf(stderr, "%s: --json: %s\n", program_.c_str(), wrong.c_str());
      return 2;
    }
  }
  return code;
}

}  // namespace lab
