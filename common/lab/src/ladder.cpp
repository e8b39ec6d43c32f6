#include "lab/ladder.h"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "lab/check.h"
#include "lab/conditions.h"
#include "lab/devices.h"
#include "lab/run.h"

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
  explicit Progress(const std::string& text) : shown_(isatty(STDERR_FILENO) == 1) { say(text); }
  ~Progress() { say(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void say(const std::string& text) const {
    if (!shown_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }
  bool shown_;
};

void call(const std::function<void()>& f) {
  if (f) f();
}

void poison(const std::vector<Expectation>& outputs) {
  for (const Expectation& one : outputs) call(one.poison);
}

bool has_check(const std::vector<Expectation>& outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const Expectation& one) { return static_cast<bool>(one.check); });
}

/// All checks together: the first that fails, or the one whose error is the largest share of what it may be.
Comparison check_all(const std::vector<Expectation>& outputs,
                     const std::function<Comparison()>& verify) {
  std::vector<Comparison> found;
  for (const Expectation& one : outputs) {
    if (one.check) found.push_back(one.check());
    if (!found.empty() && !found.back().pass) return found.back();
  }
  if (verify) found.push_back(verify());
  if (!found.empty() && !found.back().pass) return found.back();
  const auto share = [](const Comparison& one) {
    return one.tolerance > 0 ? one.max_error / one.tolerance : 0;
  };
  return *std::max_element(found.begin(), found.end(),
                           [&](const auto& a, const auto& b) { return share(a) < share(b); });
}

/// Ends what was launched on the first devices, and reports its errors.
void synchronize(int devices = 1) {
  CUDA_CHECK(cudaGetLastError());
  if (devices <= 1) {
    CUDA_CHECK(cudaDeviceSynchronize());
    return;
  }
  synchronize_devices(devices);
}

/// Looks at the canaries of all buffers, and at what was written.
Comparison look(const std::vector<Expectation>& outputs,
                const std::function<Comparison()>& verify) {
  if (const auto damage = check_all_canaries()) return verdict(false, *damage);
  return check_all(outputs, verify);
}

/// Seconds that LAB_SUSTAIN asks for: then each rung is launched again and again for so long, in place of being timed beside
/// its peer.
double seconds_of_each_rung() {
  const char* const text = std::getenv("LAB_SUSTAIN");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 3600)) {
    throw BadInput("LAB_SUSTAIN '" + std::string(text) +
                   "': legal is a number of seconds, above 0 and at most 3600");
  }
  return seconds;
}

}  // namespace

Rung::~Rung() = default;
Peer::~Peer() = default;

std::string variant_name(std::string_view label, const std::string& value) {
  return label.empty() ? value : std::string(label) + "=" + value;
}

void Problem::add(std::string_view name, std::string_view variant,
                  const std::function<void()>& launch) const {
  ladder_.add(name, variant, common_, launch);
}

void Problem::demonstrate(std::string_view name, const std::function<void()>& launch) const {
  ladder_.demonstrate(name, [&] {
    poison(common_.outputs);
    launch();
  });
}

std::uint64_t Ladder::seed() const { return harness_.options_.seed; }
const Header& Ladder::header() const { return harness_.config_.header; }
bool Ladder::on_simulator() const { return harness_.config_.backend.name == "simulator"; }

bool Ladder::wants(std::string_view rung) const {
  return asks_for(rung) && reason_to_skip(rung) == nullptr;
}

/// Whether the command line asks for a rung.
bool Ladder::asks_for(std::string_view rung) const {
  const auto& asked = harness_.options_.rungs;
  return asked.empty() || std::find(asked.begin(), asked.end(), rung) != asked.end();
}

bool Ladder::wants(std::initializer_list<std::string_view> rungs) const {
  return std::any_of(rungs.begin(), rungs.end(), [&](auto rung) { return wants(rung); });
}

void Ladder::require(bool legal, std::string_view what) const {
  if (!legal) throw BadInput("--size with " + to_string(size_) + ": " + std::string(what));
}

void Ladder::copy_extents(std::size_t* values, std::size_t count) const {
  const auto dimensions = size_.dimensions();
  if (dimensions.size() != count) {
    detail::fail(format("extents<%zu>() of a size that has %zu: %s", count, dimensions.size(),
                        spelling(size_.kind).c_str()));
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = dimensions[i].second;
}

void Ladder::measure(Limit limit) {
  harness_.describe_machine();
  if (harness_.wants_times()) harness_.limit(limit);
}

void Ladder::instead(int exit_code) { harness_.instead_ = exit_code; }

void Ladder::add(const Rung& rung) { take(rung, ""); }

void Ladder::add(std::string_view name, std::string_view variant, const Rung& problem,
                 const std::function<void()>& launch) {
  Rung rung = problem;
  rung.name = name;
  rung.variant = variant;
  rung.launch = launch;
  add(rung);
}

void Ladder::skip(std::string_view rung, std::string_view reason) {
  take({.name = std::string(rung)}, std::string(reason));
}

void Ladder::skip_unless(bool can, std::initializer_list<std::string_view> rungs,
                         std::string_view reason) {
  if (can) return;
  for (const std::string_view rung : rungs) refused_.emplace_back(rung, reason);
}

/// Why `skip_unless` leaves a rung out; nothing where it does not.
const std::string* Ladder::reason_to_skip(std::string_view rung) const {
  const auto found = std::find_if(refused_.begin(), refused_.end(),
                                  [&](const auto& one) { return one.first == rung; });
  return found == refused_.end() ? nullptr : &found->second;
}

void Ladder::demonstrate(std::string_view name, const std::function<void()>& launch,
                         const std::vector<Buffer*>& outputs) {
  const HeaderRung* const line = header().find(name);
  if (line == nullptr || line->raises.empty()) {
    detail::fail("demonstration " + std::string(name) +
                 ": its line in the header has no [raises KIND]");
  }
  Rung rung{.name = std::string(name), .launch = launch};
  for (Buffer* const buffer : outputs) rung.outputs.push_back(on_the_way(*buffer));
  take(rung, "");
}

/// Runs a rung that this program has.
void Ladder::take(const Rung& rung, const std::string& skip_reason) {
  const HeaderRung* const line = header().find(rung.name);
  if (line == nullptr && !header().rungs.empty()) {
    detail::fail("rung " + rung.name + " is added, and the header of " + header().folder +
                 " does not name it");
  }
  if (const std::string* const reason = reason_to_skip(rung.name);
      reason != nullptr && skip_reason.empty()) {
    const auto is_it = [&](const auto& one) { return one.first == rung.name; };
    if (std::none_of(seen_.begin(), seen_.end(), is_it)) take({.name = rung.name}, *reason);
    return;
  }
  const std::pair<std::string, std::string> key{rung.name, rung.variant};
  if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) {
    detail::fail("rung " + rung.name + " " + rung.variant + " was added twice");
  }
  seen_.push_back(key);
  harness_.there_.push_back(rung.name);
  if (!asks_for(rung.name)) return;
  const HeaderRung about = line != nullptr ? *line : HeaderRung{.name = rung.name};
  if (harness_.in_cases_ && (!about.raises.empty() || harness_.is_wrong(rung.name, rung.variant))) {
    return;
  }
  rows_.push_back(run_entry(rung, about, skip_reason, false));
  harness_.report_row(rows_.back());
}

/// Reports the rungs that the header names and nothing added.
void Ladder::add_absent() {
  for (const HeaderRung& line : header().rungs) {
    const auto is_it = [&](const auto& one) { return one.first == line.name; };
    if (!asks_for(line.name) || std::any_of(seen_.begin(), seen_.end(), is_it)) continue;
    if (harness_.in_cases_ && (!line.raises.empty() || harness_.is_wrong(line.name, ""))) continue;
    if (!first_) {
      // What was there at the first size is complete with it, and what is no case of anything has none.
      const auto& there = harness_.there_;
      if (std::find(there.begin(), there.end(), line.name) != there.end()) continue;
      if (unmet_needs(line, harness_.config_.backend, false, harness_.capability_).empty()) {
        continue;
      }
    }
    rows_.push_back(run_entry({.name = line.name}, line, "", true));
    harness_.report_row(rows_.back());
  }
}

void Ladder::check_peer(const Peer& peer, const std::vector<Expectation>& outputs) {
  if (std::find(checked_peers_.begin(), checked_peers_.end(), peer.name) != checked_peers_.end()) {
    return;
  }
  if (!has_check(outputs)) throw Failure("nothing checks what peer " + peer.name + " writes");
  mend_all_canaries();
  poison(outputs);
  call(peer.prepare);
  if (check_all(outputs, {}).pass) {
    throw Failure("the check of peer " + peer.name + " passes before the peer has run");
  }
  peer.launch();
  synchronize();
  Comparison found = look(outputs, {});
  if (found.pass && peer.proof) found = peer.proof();
  if (!found.pass) throw Failure("peer " + peer.name + " is wrong: " + one_line(found.text));
  checked_peers_.push_back(peer.name);
}

void Ladder::time(const Rung& rung, const Peer* peer, Row& row) {
  const auto before = [](const std::vector<Expectation>& outputs,
                         const std::function<void()>& prepare, bool every_run) {
    return [&outputs, &prepare, every_run](bool last) {
      if (last) poison(outputs);
      if (last || every_run) call(prepare);
    };
  };
  std::vector<Contestant> contestants;
  std::string wrong_peer;
  TimingOptions how = harness_.config_.timing;
  const double sustained = seconds_of_each_rung();
  if (sustained > 0) {  // it alone, without a pause
    peer = nullptr;
    how.min_runs = 1, how.max_runs = std::numeric_limits<int>::max(), how.precision = -1;
    how.budget_s = sustained, how.flush = false;
  }
  constexpr int at_once = 16;
  const std::function<void()> many = [&] {
    for (int i = 0; i < at_once; ++i) rung.launch();
  };
  if (peer != nullptr) {
    const auto& written = peer->outputs.empty() ? rung.outputs : peer->outputs;
    contestants.push_back({peer->launch, before(written, peer->prepare, false),
                           [&] {
                             if (const Comparison found = look(written, {}); !found.pass) {
                               wrong_peer = one_line(found.text);
                             }
                           },
                           peer->clock});
  }
  contestants.push_back({sustained > 0 ? many : rung.launch,
                         before(rung.outputs, rung.prepare, rung.prepare_every_run),
                         {},
                         rung.clock});
  ConditionSampler sampler;
  std::vector<TimeStats> times = time_interleaved(contestants, how, [&] { sampler.sample(); });
  if (sustained > 0) {
    for (double* const ms : {&times[0].median, &times[0].p10, &times[0].p90}) *ms /= at_once;
  }
  row.conditions = sampler.seen();
  if (!wrong_peer.empty()) {
    throw Failure("peer " + peer->name + " is wrong after timing: " + wrong_peer);
  }

  const bool in_flops = rung.limit == Limit::fp32 || (rung.limit == Limit::none && rung.flops > 0);
  const auto rate = [&](double bytes, double flops, const TimeStats& time) {
    return (in_flops ? flops : bytes) / (time.median * 1e6);
  };
  row.time = times.back();
  row.rate_unit = in_flops ? "GFLOP/s" : "GB/s";
  if (const double value = rate(rung.bytes, rung.flops, *row.time); value > 0) {
    row.rate = value;
    if (const auto most = harness_.limit(rung.limit)) row.fraction_of_limit = value / *most;
  }
  if (peer != nullptr) {
    const double bytes = peer->bytes > 0 ? peer->bytes : rung.bytes;
    const double flops = peer->flops > 0 ? peer->flops : rung.flops;
    row.peer = PeerTime{peer->name, times.front(), rate(bytes, flops, times.front())};
    row.ratio_to_peer = times.front().median / row.time->median;
  }
}

void Ladder::run_rung(const Rung& rung, Row& row) {
  if (!rung.launch || (!rung.verify && !has_check(rung.outputs))) {
    throw Failure("the rung lacks its launch or its check");
  }
  mend_all_canaries();
  poison(rung.outputs);
  call(rung.prepare);
  if (!rung.may_do_nothing && check_all(rung.outputs, rung.verify).pass) {
    throw Failure(
        "its check passes before the rung has run, so it proves nothing: list what the rung writes "
        "in `outputs`, and compare all of it");
  }

  const std::size_t first = launch_count();
  const auto start = std::chrono::steady_clock::now();
  rung.launch();
  synchronize(rung.devices);
  const std::chrono::duration<double, std::milli> first_launch =
      std::chrono::steady_clock::now() - start;
  if (!harness_.in_cases_ && harness_.config_.backend.traces && launch_count() > first) {
    row.counts = counts_since(first);
    row.launches = {first, launch_count()};
  }
  const auto is_right = [&](const char* when) {
    const Comparison found = look(rung.outputs, rung.verify);
    row.max_error = found.max_error;
    row.tolerance = found.tolerance;
    if (found.pass) return true;
    row.status = Status::fail;
    row.reason = when + one_line(found.text);
    return false;
  };
  if (!is_right("")) return;

  const Peer* peer = nullptr;
  if (!rung.peer.name.empty() && !harness_.in_cases_) {
    if (rung.peer.launch) {
      peer = &rung.peer;
      check_peer(*peer, peer->outputs.empty() ? rung.outputs : peer->outputs);
    } else if (!rung.peer.absent.empty()) {
      harness_.note("peer " + rung.peer.name + ": " + rung.peer.absent);
    } else {
      throw Failure("its peer '" + rung.peer.name + "' has no launch, and does not say why");
    }
  }
  if (harness_.wants_times() && rung.timed) {
    row.first_ms = first_launch.count();
    time(rung, peer, row);
    if (!is_right("after timing: ")) return;
  }
  row.status = Status::pass;
}

void Ladder::run_demonstration(const Rung& rung, const std::string& finding, Row& row) {
  if (!on_simulator()) {
    row.status = Status::skip;
    row.reason = "a mistake on purpose: the simulator shows it (--backend simulator)";
    return;
  }
  if (!harness_.config_.backend.traces) {
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

Row Ladder::run_entry(const Rung& rung, const HeaderRung& line, const std::string& skip_reason,
                      bool absent) {
  harness_.describe_machine();
  const Progress progress(rung.name + " " + rung.variant);
  Row row;
  row.rung = rung.name;
  row.variant = rung.variant;
  row.idea = line.idea;
  row.size = size_;
  std::string& lost_in = harness_.lost_in_;

  try {
    const detail::ThrowInstead scope;
    row.reason = line.needs.empty()
                     ? ""
                     : unmet_needs(line, harness_.config_.backend, !absent, harness_.capability_);
    if (row.reason.empty()) row.reason = skip_reason;
    if (!row.reason.empty()) {
      row.status = Status::skip;
      return row;
    }
    if (!lost_in.empty()) {
      row.status = Status::error;
      row.reason = "not run: the CUDA context was lost in rung " + lost_in;
      return row;
    }
    if (absent) throw Failure("the header names this rung, and the program does not add it");
    if (!line.raises.empty()) {
      run_demonstration(rung, line.raises, row);
    } else {
      run_rung(rung, row);
    }
    if (!harness_.in_cases_ && row.status != Status::skip && rung.show) {
      harness_.begin(*harness_.turn_);
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
    lost_in = row.label();
    if (row.status == Status::pass) {
      row.status = Status::error;
      row.reason = detail::describe(error);
    }
    row.reason += " The CUDA context is lost: no later rung can run.";
  }
  static_cast<void>(cudaGetLastError());
  if (row.conditions && !row.conditions->throttled.empty() && row.status == Status::pass) {
    harness_.note("throttled (" + row.conditions->throttled +
                  ") while it was timed: " + row.label());
  }
  return row;
}

}  // namespace lab
