#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "lab/chapter.h"
#include "lab/check.h"
#include "lab/config.h"
#include "lab/device.h"
#include "lab/json.h"
#include "lab/rungs.h"
#include "lab/table.h"

namespace lab {

namespace detail {

LAB_INLINE std::string base_name(const char* path) {
  const std::string text = path == nullptr ? "chapter" : path;
  return text.substr(text.find_last_of('/') + 1);
}

/// What is being done now, on a terminal; nothing elsewhere.
class Progress {
 public:
  Progress() : shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& text) {
    if (!shown_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }
  void clear() { say(""); }

 private:
  bool shown_;
};

LAB_INLINE void poison(const std::vector<Buffer*>& outputs) {
  for (Buffer* buffer : outputs) {
    if (buffer != nullptr) buffer->poison();
  }
}

LAB_INLINE void call(const std::function<void()>& f) {
  if (f) f();
}

/// Whether times mean something here, and are wanted.
LAB_INLINE bool wants_times(const Backend& backend) {
  const char* const timing = std::getenv("LAB_TIMING");
  return backend.times && (timing == nullptr || std::string_view(timing) != "off");
}

/// Ends what was launched, and reports its errors.
LAB_INLINE void finish() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace detail

LAB_INLINE std::string variant_name(std::string_view label, const std::string& value) {
  return label.empty() ? value : std::string(label) + "=" + value;
}

namespace detail {

/// What the header says of the program, for the backend that it was built for.
LAB_INLINE ChapterConfig config_of_header() {
  const Header& header = this_header();
  if (header.folder.empty())
    fail("no header was linked to this program: CMake does that for the folders of chapters/");
  return {.name = header.folder, .default_size = header.default_size(this_backend())};
}

/// Which extents a size has, by their number.
LAB_INLINE SizeKind kind_of(const std::string& size) {
  const auto commas = std::count(size.begin(), size.end(), ',');
  return commas == 0 ? SizeKind::n : commas == 1 ? SizeKind::rows_cols : SizeKind::m_n_k;
}

}  // namespace detail

LAB_INLINE Chapter::Chapter(int argc, char** argv)
    : Chapter(argc, argv, detail::kind_of(this_header().size_gpu), detail::config_of_header()) {}

LAB_INLINE Chapter::Chapter(int argc, char** argv, SizeKind kind, const char* name,
                            const char* default_size)
    : Chapter(argc, argv, kind, ChapterConfig{.name = name, .default_size = default_size}) {}

LAB_INLINE Chapter::Chapter(int argc, char** argv, SizeKind kind, const ChapterConfig& config)
    : program_(detail::base_name(argc > 0 ? argv[0] : nullptr)), config_(config) {
  try {
    options_ = parse_command_line(argc, argv, kind, config_.default_size);
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  if (options_.help) {
    print_help(kind);
    std::exit(0);
  }
  if (options_.list && !header().rungs.empty()) {
    print_list();
    std::exit(0);
  }
  if (options_.list || options_.json.empty()) return;
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

LAB_INLINE Chapter::~Chapter() = default;

LAB_INLINE void Chapter::usage(const std::string& message) const {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program_.c_str(), one_line(message).c_str());
  std::exit(2);
}

LAB_INLINE void Chapter::print_help(SizeKind kind) const {
  const std::string size = spelling(kind);
  const std::string fallback =
      config_.default_size.empty() ? "" : "; default " + config_.default_size;
  const bool product = kind == SizeKind::m_n_k;
  std::printf(
      "usage: %s [--rung NAME]... [--size %s]%s [--seed S] [--json FILE]%s\n"
      "       %s --list | --help\n"
      "\n"
      "Runs the rungs of chapter %s on the %s, checks each of them, and prints the ladder.\n"
      "\n"
      "  --rung NAME       only this rung; may be given several times\n"
      "  --size %-9s  whole numbers from 1 to %llu%s%s\n"
      "  --seed S          which random inputs; default 1\n"
      "  --json FILE       also writes the results there\n"
      "  --list            names the rungs\n"
      "%s"
      "\n"
      "Environment: LAB_TIMING=off checks without timing; LAB_GUARD=0 takes the canaries away "
      "(for\n"
      "compute-sanitizer); NO_COLOR=1 prints no colours.\n"
      "\n"
      "Exit code: 0 every rung is PASS or SKIP, 1 one is FAIL or ERROR, 2 bad input.\n",
      program_.c_str(), size.c_str(), product ? "..." : "", product ? " [--cases WHICH]" : "",
      program_.c_str(), config_.name.c_str(), config_.backend.name.c_str(), size.c_str(),
      static_cast<unsigned long long>(largest_dimension(kind)), fallback.c_str(),
      product ? "; several: a ladder for each" : "",
      product
          ? "  --cases WHICH     instead of a size, many small products with every edge, leading\n"
            "                    dimension, alpha and beta: all, a number, or FIRST-LAST; checks\n"
            "                    each rung on each of them, without times\n"
          : "");
}

LAB_INLINE void Chapter::print_list() const {
  std::vector<std::pair<std::string, std::string>> rungs;  // name, idea
  for (const HeaderRung& line : header().rungs) rungs.emplace_back(line.name, line.idea);
  for (const Entry& entry : entries_) {
    const auto same = [&](const auto& rung) { return rung.first == entry.rung.name; };
    if (std::none_of(rungs.begin(), rungs.end(), same)) {
      rungs.emplace_back(entry.rung.name, entry.rung.idea);
    }
  }
  std::size_t width = 0;
  for (const auto& [name, idea] : rungs) width = std::max(width, name.size());
  for (const auto& [name, idea] : rungs) {
    const std::string gap(idea.empty() ? 0 : width - name.size() + 2, ' ');
    std::printf("%s%s%s\n", name.c_str(), gap.c_str(), idea.c_str());
  }
}

LAB_INLINE bool Chapter::wants(std::string_view rung) const {
  return options_.rungs.empty() ||
         std::find(options_.rungs.begin(), options_.rungs.end(), rung) != options_.rungs.end();
}

LAB_INLINE void Chapter::require(bool legal, std::string_view what) const {
  if (!legal) usage("--size with " + to_string(size()) + ": " + std::string(what));
}

LAB_INLINE void Chapter::copy_extents(std::size_t* values, std::size_t count) const {
  const auto dimensions = size().dimensions();
  if (dimensions.size() != count) {
    detail::fail(format("extents<%zu>() of a size that has %zu: %s", count, dimensions.size(),
                        spelling(size().kind).c_str()));
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = dimensions[i].second;
}

/// The line of a rung that is being registered; nothing where the program has no header.
LAB_INLINE const HeaderRung* Chapter::line_of(const std::string& rung) const {
  const HeaderRung* const line = header().find(rung);
  if (line == nullptr && !header().rungs.empty()) {
    detail::fail("rung " + rung + " is registered, and the header of " + header().folder +
                 " does not name it");
  }
  return line;
}

LAB_INLINE void Chapter::add(const Rung& given) {
  Rung rung = given;
  if (const HeaderRung* const line = line_of(rung.name)) {
    if (rung.idea.empty()) rung.idea = line->idea;
    if (rung.expect_finding.empty()) rung.expect_finding = line->raises;
  }
  for (const Entry& entry : entries_) {
    if (entry.rung.name == rung.name && entry.rung.variant == rung.variant) {
      detail::fail("rung " + rung.name + " " + rung.variant + " was added twice");
    }
  }
  entries_.push_back({.rung = rung});
}

LAB_INLINE void Chapter::demonstrate(std::string_view name, const std::function<void()>& launch,
                                     const std::vector<Buffer*>& outputs) {
  const HeaderRung* const line = header().find(name);
  if (line == nullptr || line->raises.empty()) {
    detail::fail("demonstration " + std::string(name) +
                 ": its line in the header has no [raises KIND]");
  }
  add({.name = std::string(name), .launch = launch, .outputs = outputs});
}

/// Brings the rungs into the order of the header, and adds those that it names and nothing registered.
/// \param all whether all rungs are to be here: it is the first size, and no case
LAB_INLINE void Chapter::arrange(bool all) {
  if (header().rungs.empty()) return;
  std::vector<Entry> arranged;
  for (const HeaderRung& line : header().rungs) {
    const std::size_t before = arranged.size();
    for (Entry& entry : entries_) {
      if (entry.rung.name == line.name) arranged.push_back(std::move(entry));
    }
    if (arranged.size() > before) continue;
    if (!all && unmet_needs(line, config_.backend, false, compute_capability()).empty()) continue;
    arranged.push_back(
        {.rung = {.name = line.name, .idea = line.idea, .expect_finding = line.raises},
         .absent = true});
  }
  entries_ = std::move(arranged);
}

LAB_INLINE void Chapter::peer(const Peer& peer) { peers_.push_back(peer); }

LAB_INLINE void Chapter::skip(std::string_view rung, std::string_view reason,
                              std::string_view idea) {
  const HeaderRung* const line = line_of(std::string(rung));
  entries_.push_back(
      {.rung = {.name = std::string(rung),
                .idea = idea.empty() && line != nullptr ? line->idea : std::string(idea)},
       .skipped = true,
       .reason = std::string(reason)});
}

LAB_INLINE void Chapter::skip_peer(std::string_view name, std::string_view reason) {
  skipped_peers_.emplace_back(name, reason);
}

LAB_INLINE const Peer* Chapter::find_peer(const std::string& name) const {
  for (const Peer& peer : peers_) {
    if (peer.name == name) return &peer;
  }
  return nullptr;
}

LAB_INLINE std::optional<double> Chapter::limit(Limit which) const {
  const char* key = which == Limit::copy ? "copy_gb_s" : which == Limit::fp32 ? "fp32_gflop_s" : "";
  for (const auto& [name, value] : report_.limits) {
    if (name == key && value > 0) return value;
  }
  return std::nullopt;
}

LAB_INLINE void Chapter::describe_machine() {
  report_.chapter = config_.name;
  report_.backend = config_.backend.name;
  report_.toolkit = config_.backend.toolkit;
  report_.date = utc_now();
  report_.commit = commit();
  report_.device = device_name();
  report_.driver = driver_version();
}

LAB_INLINE void Chapter::measure_limits() {
  // No limits themselves, but what the limits were measured at.
  report_.limits.emplace_back("sm_clock_mhz", device_attribute(cudaDevAttrClockRate) / 1000.0);
  report_.limits.emplace_back("memory_clock_mhz",
                              device_attribute(cudaDevAttrMemoryClockRate) / 1000.0);
  const auto asked = [&](Limit which) {
    return std::count(more_limits_.begin(), more_limits_.end(), which) > 0 ||
           std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
             return !entry.skipped && entry.rung.timed && entry.rung.limit == which &&
                    wants(entry.rung.name);
           });
  };
  const auto measure = [&](Limit which, const char* key, const auto& how) {
    if (!asked(which)) return;
    try {
      detail::ThrowInstead scope;
      report_.limits.emplace_back(key, how(config_.limits, config_.timing));
    } catch (const std::exception& failure) {
      static_cast<void>(cudaGetLastError());
      std::fprintf(stderr, "%s: limit %s was not measured: %s\n", program_.c_str(), key,
                   one_line(failure.what()).c_str());
    }
  };
  measure(Limit::copy, "copy_gb_s", measure_copy);
  measure(Limit::fp32, "fp32_gflop_s", measure_fp32);
}

LAB_INLINE bool Chapter::verify(const Rung& rung, const std::string& when, Row& row) {
  if (const auto damage = check_all_canaries()) {
    row.status = Status::fail;
    row.reason = when + *damage;
    return false;
  }
  const Comparison found = rung.verify();
  row.max_error = found.max_error;
  row.tolerance = found.tolerance;
  if (found.pass) return true;
  row.status = Status::fail;
  row.reason = when + one_line(found.text);
  return false;
}

LAB_INLINE void Chapter::check_peer(const Peer& peer) {
  if (std::find(checked_peers_.begin(), checked_peers_.end(), peer.name) != checked_peers_.end()) {
    return;
  }
  if (!peer.launch || !peer.verify) {
    throw Failure("peer " + peer.name + " lacks its launch or its verify");
  }
  mend_all_canaries();
  detail::poison(peer.outputs);
  detail::call(peer.prepare);
  if (peer.verify().pass) {
    throw Failure("the check of peer " + peer.name + " passes before the peer has run");
  }
  peer.launch();
  detail::finish();
  if (const auto damage = check_all_canaries()) throw Failure("peer " + peer.name + ": " + *damage);
  if (const Comparison found = peer.verify(); !found.pass) {
    throw Failure("peer " + peer.name + " is wrong: " + one_line(found.text));
  }
  checked_peers_.push_back(peer.name);
}

LAB_INLINE void Chapter::time(const Rung& rung, const Peer* peer, Row& row) {
  const auto before = [](const auto& one, bool every_run) {
    return [&one, every_run](bool last) {
      if (last) detail::poison(one.outputs);
      if (last || every_run) detail::call(one.prepare);
    };
  };
  std::vector<Contestant> contestants;
  if (peer != nullptr) contestants.push_back({peer->launch, before(*peer, false), peer->clock});
  contestants.push_back({rung.launch, before(rung, rung.prepare_every_run), rung.clock});
  const std::vector<TimeStats> times = time_interleaved(contestants, config_.timing);

  const bool in_flops = rung.limit == Limit::fp32 || (rung.limit == Limit::none && rung.flops > 0);
  const auto rate = [&](double bytes, double flops, const TimeStats& time) {
    return (in_flops ? flops : bytes) / (time.median * 1e6);
  };
  row.time = times.back();
  row.rate_unit = in_flops ? "GFLOP/s" : "GB/s";
  if (const double value = rate(rung.bytes, rung.flops, *row.time); value > 0) {
    row.rate = value;
    if (const auto most = limit(rung.limit)) row.fraction_of_limit = value / *most;
  }
  if (peer != nullptr) {
    row.peer = PeerTime{peer->name, times.front(), rate(peer->bytes, peer->flops, times.front())};
    row.ratio_to_peer = times.front().median / row.time->median;
  }
}

LAB_INLINE void Chapter::run_rung(const Rung& rung, Row& row) {
  if (!rung.launch || !rung.verify) throw Failure("the rung lacks its launch or its verify");

  mend_all_canaries();
  detail::poison(rung.outputs);
  detail::call(rung.prepare);
  if (!rung.may_do_nothing && rung.verify().pass) {
    throw Failure(
        "its check passes before the rung has run, so it proves nothing: list what the rung writes "
        "in "
        "`outputs`, and compare all of it");
  }

  const std::size_t first = launch_count();
  rung.launch();
  detail::finish();
  if (measuring_ && config_.backend.traces && launch_count() > first) {
    row.counts = counts_since(first);
  }
  if (!verify(rung, "", row)) return;

  const Peer* peer = nullptr;
  if (!rung.peer.empty()) {
    peer = find_peer(rung.peer);
    const auto skipped =
        std::find_if(skipped_peers_.begin(), skipped_peers_.end(),
                     [&](const auto& candidate) { return candidate.first == rung.peer; });
    if (peer == nullptr && skipped == skipped_peers_.end()) {
      throw Failure("its peer '" + rung.peer + "' was never added");
    }
    if (peer != nullptr) {
      check_peer(*peer);
    } else {
      const std::string note = "peer " + skipped->first + ": " + skipped->second;
      auto& notes = report_.notes;
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }

  if (detail::wants_times(config_.backend) && measuring_ && rung.timed) {
    time(rung, peer, row);
    if (!verify(rung, "after timing: ", row)) return;
  }
  row.status = Status::pass;
}

LAB_INLINE void Chapter::run_demonstration(const Rung& rung, Row& row) {
  if (!on_simulator()) {
    row.status = Status::skip;
    row.reason = "a mistake on purpose: the simulator shows it (--backend simulator)";
    return;
  }
  if (!config_.backend.traces) {
    row.status = Status::skip;
    row.reason = "a mistake on purpose: this fast program does not look for any";
    return;
  }
  if (!rung.launch) throw Failure("the rung lacks its launch");
  detail::poison(rung.outputs);
  detail::call(rung.prepare);
  if (const auto early = take_findings(); !early.empty()) {
    throw Failure("its preparation already raised " + early.front().kind + ": " +
                  early.front().message);
  }
  try {
    rung.launch();
    detail::finish();
  } catch (const CudaFailure&) {
    // The mistake ends the kernel, and the launch reports that as a GPU would.
  }
  const std::vector<Finding> findings = take_findings();
  static_cast<void>(cudaGetLastError());
  const auto other = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind != rung.expect_finding;
  });
  if (findings.empty()) {
    row.status = Status::fail;
    row.reason = "should raise " + rung.expect_finding + ", and raised nothing";
  } else if (other != findings.end()) {
    row.status = Status::fail;
    row.reason = "should raise " + rung.expect_finding + " alone, and raised " + other->kind +
                 ": " + one_line(other->message);
  } else {
    row.status = Status::pass;
    row.reason =
        "raises " + rung.expect_finding + ", as it should: " + one_line(findings.front().message);
  }
}

LAB_INLINE Row Chapter::run_entry(const Entry& entry) {
  const Rung& rung = entry.rung;
  Row row;
  row.rung = rung.name;
  row.variant = rung.variant;
  row.idea = rung.idea;
  row.size = size();
  if (entry.skipped) {
    row.status = Status::skip;
    row.reason = entry.reason;
    return row;
  }
  if (!lost_in_.empty()) {
    row.status = Status::error;
    row.reason = "not run: the CUDA context was lost in rung " + lost_in_;
    return row;
  }

  try {
    detail::ThrowInstead scope;
    const HeaderRung* const line = header().find(rung.name);
    if (line != nullptr && !line->needs.empty()) {
      row.reason = unmet_needs(*line, config_.backend, !entry.absent, compute_capability());
      if (!row.reason.empty()) {
        row.status = Status::skip;
        return row;
      }
    }
    if (entry.absent) {
      throw Failure("the header names this rung, and the program does not register it");
    }
    if (const int has = compute_capability(); has < rung.min_compute_capability) {
      const auto dotted = [](int v) {
        return std::to_string(v / 10) + "." + std::to_string(v % 10);
      };
      row.status = Status::skip;
      row.reason = "needs compute capability " + dotted(rung.min_compute_capability) +
                   "; this device has " + dotted(has);
      return row;
    }
    if (!rung.expect_finding.empty()) {
      run_demonstration(rung, row);
    } else {
      run_rung(rung, row);
    }
    if (measuring_ && row.status != Status::skip && rung.show) {
      detail::Progress().clear();
      std::printf("\n%s: %s\n", row.label().c_str(), rung.idea.c_str());
      rung.show();
      std::fflush(stdout);
    }
  } catch (const std::exception& failure) {
    row.status = Status::error;
    row.reason = one_line(failure.what());
  }

  // A finding that nobody asked for outweighs a right result, and explains a CUDA error.
  if (on_simulator()) {
    if (const auto findings = take_findings(); !findings.empty()) {
      row.status = Status::fail;
      row.reason = findings.front().kind + ": " + one_line(findings.front().message);
      if (findings.size() > 1) row.reason += format(" (and %zu more)", findings.size() - 1);
    }
  }
  // Most errors end with the call that reports them; some take the context with them.
  static_cast<void>(cudaGetLastError());
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    lost_in_ = row.label();
    if (row.status == Status::pass) {
      row.status = Status::error;
      row.reason = detail::describe(error);
    }
    row.reason += " The CUDA context is lost: no later rung can run.";
  }
  static_cast<void>(cudaGetLastError());
  return row;
}

LAB_INLINE bool Chapter::check_names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.rung.name);
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

LAB_INLINE void Chapter::start() {
  describe_machine();
  if (!measuring_ || !detail::wants_times(config_.backend)) return;
  detail::Progress progress;
  progress.say("measuring the machine's limits");
  measure_limits();
}

LAB_INLINE void Chapter::drop_rungs() {
  entries_.clear();
  peers_.clear();
  skipped_peers_.clear();
  checked_peers_.clear();
}

/// Runs the rungs of one size and prints its ladder.
LAB_INLINE void Chapter::run_size() {
  std::printf("%s%s on %s, %s, seed %llu\n", turn_ == 0 ? "" : "\n", report_.chapter.c_str(),
              report_.device.c_str(), to_string(size()).c_str(),
              static_cast<unsigned long long>(seed()));
  std::fflush(stdout);
  Report here = report_;
  here.rows.clear();
  report_.notes.clear();
  detail::Progress progress;
  int done = 0;
  for (const Entry& entry : entries_) {
    ++done;
    if (!wants(entry.rung.name)) continue;
    progress.say("[" + std::to_string(done) + "/" + std::to_string(entries_.size()) + "] " +
                 entry.rung.name + " " + entry.rung.variant);
    here.rows.push_back(run_entry(entry));
  }
  progress.clear();
  here.notes = report_.notes;
  report_.rows.insert(report_.rows.end(), here.rows.begin(), here.rows.end());
  std::printf("\n%s", table(here, config_.backend.times, config_.color).c_str());
  std::fflush(stdout);
}

/// Writes the results file; returns the exit code.
LAB_INLINE int Chapter::finish() {
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

LAB_INLINE int Chapter::run() {
  for (const auto& add_rungs : detail::rungs_of<Chapter>()) add_rungs(*this);
  arrange(true);
  if (options_.list) {
    print_list();
    return 0;
  }
  if (options_.sizes.size() > 1) usage("--size was given several times: this chapter takes one");
  if (wants_cases()) usage("--cases: this chapter has none");
  if (!check_names()) return 2;
  start();
  run_size();
  return finish();
}

LAB_INLINE int Chapter::run(const std::function<void()>& add_rungs) {
  for (turn_ = 0; turn_ < options_.sizes.size(); ++turn_) {
    drop_rungs();
    add_rungs();
    arrange(turn_ == 0);
    if (options_.list) {
      print_list();
      return 0;
    }
    if (turn_ == 0) {
      if (!check_names()) return 2;
      start();
    }
    run_size();
  }
  turn_ = 0;
  return finish();
}

LAB_INLINE int Chapter::run_cases(std::size_t count,
                                  const std::function<CaseName(std::size_t)>& add_case) {
  CaseRange range;
  try {
    range = parse_cases(options_.cases, count);
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  measuring_ = false;
  const auto row_of = [&](const Entry& entry) -> Row& {
    for (Row& row : report_.rows) {
      if (row.rung == entry.rung.name && row.variant == entry.rung.variant) return row;
    }
    Row row;
    row.rung = entry.rung.name;
    row.variant = entry.rung.variant;
    row.idea = entry.rung.idea;
    row.status = Status::pass;
    return report_.rows.emplace_back(std::move(row));
  };
  std::vector<std::size_t> solved;  // of each row of the report
  detail::Progress progress;
  for (std::size_t i = range.first; i <= range.last; ++i) {
    drop_rungs();
    const CaseName name = add_case(i);
    arrange(false);
    if (i == range.first) {
      if (!check_names()) return 2;
      start();
      std::printf("%s on %s, cases %zu to %zu of %zu, seed %llu\n", report_.chapter.c_str(),
                  report_.device.c_str(), range.first, range.last, count,
                  static_cast<unsigned long long>(seed()));
      std::fflush(stdout);
    }
    progress.say("case " + std::to_string(i) + ": " + name.words);
    for (const Entry& entry : entries_) {
      if (!wants(entry.rung.name) || !entry.rung.expect_finding.empty()) continue;
      Row& row = row_of(entry);
      solved.resize(report_.rows.size());
      if (row.status != Status::pass) continue;  // the first case that goes wrong tells
      const Row found = run_entry(entry);
      row.size = name.size;
      row.status = found.status;
      if (found.status == Status::skip) {
        row.reason = found.reason;
      } else if (found.status != Status::pass) {
        row.reason = format("case %zu (%s): %s; again with --rung %s --cases %zu", i,
                            name.words.c_str(), found.reason.c_str(), entry.rung.name.c_str(), i);
      } else {
        const std::size_t so_far = ++solved[static_cast<std::size_t>(&row - report_.rows.data())];
        row.reason = std::to_string(so_far) + (so_far == 1 ? " case" : " cases");
      }
    }
  }
  progress.clear();
  std::printf("\n%s", table(report_, false, config_.color).c_str());
  std::fflush(stdout);
  return finish();
}

}  // namespace lab
