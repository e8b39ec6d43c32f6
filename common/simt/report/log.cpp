#include "report/log.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "base/devices.h"
#include "base/lasting.h"
#include "memory/allocations.h"
#include "program/program.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/describe.h"
#include "report/errors.h"

namespace simt {
namespace device {

Log& log() { return lasting<Log>(); }

void resolve(Record& record) {
  if (record.resolved) return;
  record.resolved = true;
  std::map<std::pair<std::string, int>, Counts> by_line;
  for (const auto& [pc, counts] : record.by_pc) {
    if (counts == Counts{}) continue;
    const symbols::Location& at = symbols::locate(pc);
    by_line[{at.file, at.line}] += counts;
  }
  for (auto& [at, counts] : by_line) record.launch.lines.push_back({at.first, at.second, counts});
}

Finding finding_at(const symbols::Location& at, std::string kind, Severity severity) {
  Finding finding;
  finding.kind = std::move(kind);
  finding.severity = severity;
  finding.file = at.file;
  finding.line = at.line;
  return finding;
}

void report(Finding finding) {
  Log& s = log();
  const std::lock_guard lock(s.mutex);
  if (finding.follows_failure) {
    s.held.push_back(std::move(finding));
    return;
  }
  // A line of the host that does the same wrong again and again.
  const auto is_known = [&](const Finding& known) {
    return known.kind == finding.kind && known.line == finding.line && known.file == finding.file &&
           known.message == finding.message;
  };
  if (finding.launch < 0 && std::any_of(s.host_findings.begin(), s.host_findings.end(), is_known))
    return;
  const auto first =
      finding.launch < 0
          ? finding.launch
          : s.told
                .try_emplace({finding.kind, finding.kernel, finding.file, finding.line},
                             finding.launch)
                .first->second;
  if (first == finding.launch) {
    if (s.prints) {
      std::fflush(stdout);
      std::fprintf(stderr, "simt: %s%s: %s\n",
                   finding.severity == Severity::warning ? "warning: " : "", finding.kind.c_str(),
                   finding.message.c_str());
    }
    s.pending.push_back(finding);
  }
  if (finding.launch < 0) {
    s.host_findings.push_back(std::move(finding));
  } else if (static_cast<size_t>(finding.launch) < s.records.size()) {
    s.records[static_cast<size_t>(finding.launch)].launch.findings.push_back(std::move(finding));
  }
}

void report_held() {
  const std::lock_guard lock(log().mutex);
  for (Finding& finding : std::exchange(log().held, {})) {
    finding.follows_failure = false;
    report(std::move(finding));
  }
}

void note_uncounted(const std::string& sentence) {
  Log& s = log();
  const std::lock_guard lock(s.mutex);
  s.notes.insert(sentence);
}

size_t pending_errors() {
  const std::vector<Finding>& pending = log().pending;
  return static_cast<size_t>(std::count_if(pending.begin(), pending.end(), [](const Finding& f) {
    return f.severity == Severity::error;
  }));
}

// The error that stays with the device after such a fault.
static cudaError_t error_of(engine::Fault::Kind kind) {
  using Kind = engine::Fault::Kind;
  switch (kind) {
    case Kind::closed_memory:
      return cudaErrorIllegalAddress;
    case Kind::misaligned:
      return cudaErrorMisalignedAddress;
    case Kind::constant_write:
    case Kind::array_out_of_bounds:
    case Kind::local_out_of_bounds:
    case Kind::out_of_bounds:
    case Kind::shared_out_of_bounds:
    case Kind::crash:
    case Kind::stack_overflow:
      return cudaErrorIllegalAddress;
    case Kind::assertion:
      return cudaErrorAssert;
    case Kind::hang:
      return cudaErrorLaunchTimeout;
    default:
      return engine::ends_the_kernel(kind) ? cudaErrorLaunchFailure : cudaSuccess;
  }
}

cudaError_t finish_launch(Record record, const std::vector<engine::Fault>& faults) {
  Log& s = log();
  const std::lock_guard lock(s.mutex);
  record.launch.index = static_cast<int>(s.records.size());
  for (const auto& [pc, counts] : record.by_pc) record.launch.counts += counts;
  const Launch& launch = s.records.emplace_back(std::move(record)).launch;

  cudaError_t sticky = cudaSuccess;
  std::set<std::string> told;  // one line may be several instructions
  for (const engine::Fault& fault : faults) {
    const bool names_device = devices::count() > 1;
    Finding finding = describe(
        fault, launch.kernel + (names_device ? " of device " + std::to_string(launch.device) : ""),
        launch.index);
    finding.kernel = launch.kernel;
    // Of what nobody has written each member of a struct would be one more.
    const bool is_unwritten = finding.kind == "uninitialized-global" && !finding.allocation.empty();
    const bool is_new =
        told.insert(is_unwritten ? finding.file + ":" + std::to_string(finding.line) + " " +
                                       finding.allocation
                                 : finding.message)
            .second;
    if (is_new) report(std::move(finding));
    if (sticky == cudaSuccess) sticky = error_of(fault.kind);
    if (fault.kind == engine::Fault::Kind::assertion) ++s.asserted;
  }
  return sticky;
}

}  // namespace device

// ---- What a program can ask ---------------------------------------------------------------------

bool tracing() { return engine::traced_program; }

std::size_t launch_count() { return device::log().records.size(); }

const Launch& launch(std::size_t i) {
  const std::lock_guard lock(device::log().mutex);
  device::Record& record = device::log().records.at(i);
  device::resolve(record);
  return record.launch;
}

Counts counts_since(std::size_t first) {
  Counts sum;
  const std::lock_guard lock(device::log().mutex);
  for (std::size_t i = first; i < device::log().records.size(); ++i)
    sum += device::log().records[i].launch.counts;
  return sum;
}

std::vector<Finding> take_findings() {
  const std::lock_guard lock(device::log().mutex);
  for (Finding& finding : device::take_api_errors({})) device::report(std::move(finding));
  device::report_held();
  device::clear_errors();
  device::log().asserted = 0;
  device::log().told.clear();
  return std::exchange(device::log().pending, {});
}

void print_findings(bool on) {
  const std::lock_guard lock(device::log().mutex);
  device::log().prints = on;
}

void name_allocation(const void* base, std::string_view name) {
  memory::name(reinterpret_cast<uint64_t>(base), name);
}

}  // namespace simt
