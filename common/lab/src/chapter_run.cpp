#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "lab/chapter.h"
#include "lab/check.h"
#include "lab/device.h"
#include "lab/json.h"
#include "lab/rungs.h"
#include "lab/table.h"

namespace lab {

namespace {

/// Findings are not printed while it lives.
struct Quiet {
  Quiet() { print_findings(false); }
  ~Quiet() { print_findings(true); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

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

void poison(const std::vector<Buffer*>& outputs) {
  for (Buffer* buffer : outputs) {
    if (buffer != nullptr) buffer->poison();
  }
}

void call(const std::function<void()>& f) {
  if (f) f();
}

/// Whether times mean something here, and are wanted.
bool wants_times(const Backend& backend) {
  const char* const timing = std::getenv("LAB_TIMING");
  return backend.times && (timing == nullptr || std::string_view(timing) != "off");
}

/// Ends what was launched, and reports its errors.
void synchronize() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

std::optional<double> Chapter::limit(Limit which) const {
  const char* key = which == Limit::copy ? "copy_gb_s" : which == Limit::fp32 ? "fp32_gflop_s" : "";
  for (const auto& [name, value] : report_.limits) {
    if (name == key && value > 0) return value;
  }
  return std::nullopt;
}

void Chapter::describe_machine() {
  report_.chapter = config_.name;
  report_.backend = config_.backend.name;
  report_.toolkit = config_.backend.toolkit;
  report_.date = utc_now();
  report_.commit = commit();
  report_.device = device_name();
  report_.driver = driver_version();
  capability();  // while the context lives
}

void Chapter::measure_limits() {
  // No limits themselves, but what the limits were measured at.
  report_.limits.emplace_back("sm_clock_mhz", device_attribute(cudaDevAttrClockRate) / 1000.0);
  report_.limits.emplace_back("memory_clock_mhz",
                              device_attribute(cudaDevAttrMemoryClockRate) / 1000.0);
  const auto asked = [&](Limit which) {
    return std::count(more_limits_.begin(), more_limits_.end(), which) > 0 ||
           std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
             return !entry.absent && entry.rung.timed && entry.rung.limit == which &&
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

bool Chapter::verify(const Rung& rung, const std::string& when, Row& row) {
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

void Chapter::check_peer(const Peer& peer) {
  if (std::find(checked_peers_.begin(), checked_peers_.end(), peer.name) != checked_peers_.end()) {
    return;
  }
  if (!peer.launch || !peer.verify) {
    throw Failure("peer " + peer.name + " lacks its launch or its verify");
  }
  mend_all_canaries();
  poison(peer.outputs);
  call(peer.prepare);
  if (peer.verify().pass) {
    throw Failure("the check of peer " + peer.name + " passes before the peer has run");
  }
  peer.launch();
  synchronize();
  if (const auto damage = check_all_canaries()) throw Failure("peer " + peer.name + ": " + *damage);
  if (const Comparison found = peer.verify(); !found.pass) {
    throw Failure("peer " + peer.name + " is wrong: " + one_line(found.text));
  }
  checked_peers_.push_back(peer.name);
}

void Chapter::time(const Rung& rung, const Peer* peer, Row& row) {
  const auto before = [](const auto& one, bool every_run) {
    return [&one, every_run](bool last) {
      if (last) poison(one.outputs);
      if (last || every_run) call(one.prepare);
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

void Chapter::run_rung(const Rung& rung, Row& row) {
  if (!rung.launch || !rung.verify) throw Failure("the rung lacks its launch or its verify");

  mend_all_canaries();
  poison(rung.outputs);
  call(rung.prepare);
  if (!rung.may_do_nothing && rung.verify().pass) {
    throw Failure(
        "its check passes before the rung has run, so it proves nothing: list what the rung writes "
        "in "
        "`outputs`, and compare all of it");
  }

  const std::size_t first = launch_count();
  const auto start = std::chrono::steady_clock::now();
  rung.launch();
  synchronize();
  const std::chrono::duration<double, std::milli> first_launch =
      std::chrono::steady_clock::now() - start;
  if (measuring_ && config_.backend.traces && launch_count() > first) {
    row.counts = counts_since(first);
    row.launches = {first, launch_count()};
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

  if (wants_times(config_.backend) && measuring_ && rung.timed) {
    row.first_ms = first_launch.count();
    time(rung, peer, row);
    if (!verify(rung, "after timing: ", row)) return;
  }
  row.status = Status::pass;
}

void Chapter::run_demonstration(const Rung& rung, const std::string& finding, Row& row) {
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
  const std::size_t first = launch_count();
  poison(rung.outputs);
  call(rung.prepare);
  if (const auto early = take_findings(); !early.empty()) {
    throw Failure("its preparation already raised " + early.front().kind + ": " +
                  early.front().message);
  }
  std::vector<Finding> findings;
  {
    const Quiet the_table_tells;
    try {
      rung.launch();
      synchronize();
    } catch (const CudaFailure&) {
      // The mistake ends the kernel, and the launch reports that as a GPU would.
    }
    findings = take_findings();
  }
  row.launches = {first, launch_count()};
  static_cast<void>(cudaGetLastError());
  const auto raised = std::find_if(findings.begin(), findings.end(),
                                   [&](const Finding& one) { return one.kind == finding; });
  // Warnings may stand beside it.
  const auto other = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) {
    return one.kind != finding && !one.warning;
  });
  if (other == findings.end() && raised == findings.end()) {
    row.status = Status::fail;
    row.reason = "should raise " + finding + ", and raised nothing";
    if (!findings.empty()) row.reason += " but a warning, " + findings.front().kind;
  } else if (other != findings.end()) {
    row.status = Status::fail;
    row.reason = "should raise " + finding + " alone, and raised " + other->kind + ": " +
                 one_line(other->message);
  } else {
    row.status = Status::pass;
    row.reason = "raises " + finding + ", as it should: " + one_line(raised->message);
  }
}

Row Chapter::run_entry(const Entry& entry) {
  const Rung& rung = entry.rung;
  Row row;
  row.rung = rung.name;
  row.variant = rung.variant;
  row.idea = entry.line.idea;
  row.size = size();

  try {
    detail::ThrowInstead scope;
    if (!entry.line.needs.empty()) {
      row.reason = unmet_needs(entry.line, config_.backend, !entry.absent, capability());
      if (!row.reason.empty()) {
        row.status = Status::skip;
        return row;
      }
    }
    if (!entry.skip_reason.empty()) {
      row.status = Status::skip;
      row.reason = entry.skip_reason;
      return row;
    }
    if (entry.absent) {
      throw Failure("the header names this rung, and the program does not register it");
    }
    if (!lost_in_.empty()) {
      row.status = Status::error;
      row.reason = "not run: the CUDA context was lost in rung " + lost_in_;
      return row;
    }
    if (!entry.line.raises.empty()) {
      run_demonstration(rung, entry.line.raises, row);
    } else {
      run_rung(rung, row);
    }
    if (measuring_ && row.status != Status::skip && rung.show) {
      Progress().clear();
      std::printf("\n%s: %s\n", row.label().c_str(), row.idea.c_str());
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

bool Chapter::check_names() const {
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

void Chapter::start() {
  describe_machine();
  if (!measuring_ || !wants_times(config_.backend)) return;
  Progress progress;
  progress.say("measuring the machine's limits");
  measure_limits();
}

void Chapter::drop_rungs() {
  entries_.clear();
  peers_.clear();
  skipped_peers_.clear();
  checked_peers_.clear();
}

/// Runs the rungs of one size and prints its ladder.
void Chapter::run_size() {
  std::printf("%s%s on %s, %s, seed %llu\n", turn_ == 0 ? "" : "\n", report_.chapter.c_str(),
              report_.device.c_str(), to_string(size()).c_str(),
              static_cast<unsigned long long>(seed()));
  std::fflush(stdout);
  Report here = report_;
  here.rows.clear();
  report_.notes.clear();
  Progress progress;
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
int Chapter::finish() {
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

int Chapter::run() {
  for (const auto& add_rungs : detail::rungs_of<Chapter>()) add_rungs(*this);
  arrange(true);
  if (report_to_ < 0) {  // `take_turns` does these
    if (options_.sizes.size() > 1) usage("--size was given several times: this chapter takes one");
    if (wants_cases()) usage("--cases: this chapter has none");
  }
  if (!check_names()) return 2;
  start();
  if (wants_cases()) {
    for (const Entry& entry : entries_) {
      if (!wants(entry.rung.name) || !entry.line.raises.empty()) continue;
      report_.rows.push_back(run_entry(entry));
    }
  } else {
    run_size();
  }
  return report_to_ < 0 ? finish() : send_report(report_.exit_code());
}

int Chapter::run(const std::function<void()>& add_rungs) {
  for (turn_ = 0; turn_ < options_.sizes.size(); ++turn_) {
    drop_rungs();
    add_rungs();
    arrange(turn_ == 0);
    if (turn_ == 0) {
      if (!check_names()) return 2;
      start();
    }
    run_size();
  }
  turn_ = 0;
  return finish();
}

int Chapter::run_cases(std::size_t count, const std::function<CaseName(std::size_t)>& add_case) {
  CaseRange range;
  try {
    range = parse_cases(options_.cases, count);
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  measuring_ = false;
  CaseRows rows;
  Progress progress;
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
      if (!wants(entry.rung.name) || !entry.line.raises.empty()) continue;
      if (rows.is_wrong(report_, entry.rung.name, entry.rung.variant)) continue;
      Row found = run_entry(entry);
      found.size = name.size;
      rows.add(report_, found, i, name.words);
    }
  }
  progress.clear();
  std::printf("\n%s", table(report_, false, config_.color).c_str());
  std::fflush(stdout);
  return finish();
}

}  // namespace lab
