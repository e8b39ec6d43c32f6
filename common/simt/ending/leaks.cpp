#include "ending/leaks.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/settings.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/errors.h"
#include "report/log.h"

namespace simt::device {

// One finding for each source line that allocated, and of warnings no more than a handful. Once a kernel has
// failed nothing can be freed any more, and nothing counts as leaked.
void report_leaks() {
  if (has_failed()) return;
  std::map<std::tuple<std::string, int, memory::Kind>, std::vector<memory::Allocation>> by_call;
  const Severity severity = settings::leaks_are_errors() ? Severity::error : Severity::warning;
  for (memory::Allocation& allocation : memory::live()) {
    if (allocation.named && severity == Severity::warning) continue;
    const symbols::Location& at = symbols::locate(allocation.allocated_at);
    by_call[{at.file, at.line, allocation.kind}].push_back(std::move(allocation));
  }
  constexpr size_t kMostWarnings = 4;
  size_t told = 0, others = 0;
  for (const auto& [call, allocations] : by_call) {
    if (severity == Severity::warning && told == kMostWarnings) {
      others += allocations.size();
      continue;
    }
    ++told;
    const memory::Allocation& first = allocations.front();
    Finding f = finding_at({std::get<0>(call), std::get<1>(call)}, "leak", severity);
    f.address = first.base;
    f.allocation = memory::describe(allocations);
    f.message = f.allocation + (allocations.size() > 1 || !first.name.empty() ? " were" : " was") +
                " never freed. Every " + memory::call_of(first.kind) + " needs its " +
                memory::freeing_call_of(first.kind) + ".";
    report(std::move(f));
  }
  if (others == 0) return;
  Finding f = finding_at({}, "leak", severity);
  f.message = plural(others, "more allocation") + " made elsewhere " +
              (others > 1 ? "were" : "was") + " never freed. (SIMT_LEAKS=1 lists all of them.)";
  report(std::move(f));
}

}  // namespace simt::device
