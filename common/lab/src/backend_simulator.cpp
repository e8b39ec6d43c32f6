// The backend of the simulator.
#include <simt/simt.h>

#include <cstdint>

#include "lab/backend.h"

namespace lab {

Backend this_backend() {
  return {"simulator", false, simt::tracing(), std::string("g++ ") + __VERSION__};
}

std::size_t default_guard() { return 0; }

std::size_t launch_count() { return simt::launch_count(); }

Counts counts_since(std::size_t first) {
  Counts counts;
  simt::for_each_count(simt::counts_since(first), [&](const char* name, std::uint64_t value) {
    counts.emplace_back(name, value);
  });
  return counts;
}

std::vector<Finding> take_findings() {
  std::vector<Finding> findings;
  for (const simt::Finding& f : simt::take_findings())
    findings.push_back({f.kind, f.message, f.severity == simt::Severity::warning});
  return findings;
}

void print_findings(bool on) { simt::print_findings(on); }

void simulate_devices(int count) { simt::simulate_devices(count); }

void name_allocation(const void* base, const std::string& name) {
  simt::name_allocation(base, name);
}

}  // namespace lab
