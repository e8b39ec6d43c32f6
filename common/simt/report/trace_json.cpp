#include "report/trace_json.h"

#include <simt/counting.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/lane_simd.h"
#include "base/settings.h"
#include "base/symbols.h"
#include "lab/json_writer.h"
#include "report/log.h"

namespace simt::device {
namespace {

using lab::JsonWriter;

void write(JsonWriter& json, const Counts& counts) {
  json.begin_object("counts");
  for_each_count(counts, [&](const char* name, uint64_t value) { json.value(name, value); });
  json.end_object();
}

template <typename Vector>  // uint3, dim3
void write(JsonWriter& json, const char* key, const Vector& v) {
  json.begin_array(key);
  for (const unsigned length : {v.x, v.y, v.z}) json.value("", length);
  json.end_array();
}

void write(JsonWriter& json, const std::vector<Finding>& findings) {
  json.begin_array("findings");
  for (const Finding& finding : findings) {
    char address[32];
    std::snprintf(address, sizeof(address), "0x%llx",
                  static_cast<unsigned long long>(finding.address));
    json.begin_object();
    json.value("kind", finding.kind);
    json.value("severity", finding.severity == Severity::error ? "error" : "warning");
    json.value("message", finding.message);
    json.value("file", finding.file);
    json.value("line", finding.line);
    write(json, "block", finding.block);
    write(json, "thread", finding.thread);
    json.value("address", address);
    json.value("allocation", finding.allocation);
    json.end_object();
  }
  json.end_array();
}

// What the lanes of one request asked for, from the start of the 128-byte line of the lowest address:
// that leaves sectors and banks as they are. null stands for a lane that did not take part.
void write(JsonWriter& json, const engine::Example& example) {
  uint64_t base = ~uint64_t{0};
  for (const int lane : engine::lanes_of(example.lanes)) {
    base = std::min(base, example.address[lane]);
  }
  base -= base % 128;
  json.begin_object();
  json.value("access", example.access);
  json.value("space", example.shared ? "shared" : "global");
  json.value("size", example.size);
  json.begin_array("addresses");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (example.lanes >> lane & 1) {
      json.value("", example.address[lane] - base);
    } else {
      json.value("", std::numeric_limits<double>::quiet_NaN());
    }
  }
  json.end_array();
  const std::string_view access = example.access;
  if (example.shared && access != "atomic") {
    const SharedCost cost =
        count_wavefronts(example.address.data(), example.lanes, example.size,
                         access == "load" ? SharedAccess::load : SharedAccess::store);
    json.value("wavefronts", cost.wavefronts);
    json.value("phase_lanes", cost.phase_lanes);
  }
  json.end_object();
}

void write(JsonWriter& json, const Record& record) {
  const Launch& launch = record.launch;
  std::map<std::pair<std::string_view, int>, std::vector<const engine::Example*>> examples;
  for (const auto& [pc, example] : record.examples) {
    const symbols::Location& at = symbols::locate(pc);
    examples[{at.file, at.line}].push_back(&example);
  }
  std::map<std::pair<std::string_view, int>, uint64_t> polls;
  for (const auto& [pc, number] : record.polls) {
    const symbols::Location& at = symbols::locate(pc);
    polls[{at.file, at.line}] += number;
  }
  json.begin_object();
  json.value("index", launch.index);
  json.value("kernel", launch.kernel);
  write(json, "grid", launch.grid);
  write(json, "block", launch.block);
  json.value("dynamic_shared", launch.dynamic_shared);
  json.value("traced_blocks", launch.traced_blocks);
  if (launch.is_sized_by_device) json.value("is_sized_by_device", true);
  if (launch.reads_textures) json.value("reads_textures", true);
  write(json, launch.counts);
  if (launch.touched) {
    json.value("global_sectors_read_distinct", launch.touched->read);
    json.value("global_sectors_written_distinct", launch.touched->written);
  }
  if (launch.atomics_on_one_word)
    json.value("global_atomics_on_one_word", launch.atomics_on_one_word);
  json.begin_array("lines");
  for (const LineCounts& line : launch.lines) {
    json.begin_object();
    json.value("file", line.file);
    json.value("line", line.line);
    write(json, line.counts);
    if (const auto polled = polls.find({line.file, line.line}); polled != polls.end())
      json.value("polls", polled->second);
    json.begin_array("examples");
    for (const engine::Example* example : examples[{line.file, line.line}]) write(json, *example);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  write(json, launch.findings);
  json.end_object();
}

// The kernels in the order of their first launches, each with the sum of its counts.
template <class Records>
void write_kernels(JsonWriter& json, const Records& records) {
  struct Kernel {
    std::string_view name;
    std::vector<int> launches;
    Counts counts;
  };
  std::vector<Kernel> kernels;
  std::map<std::string_view, size_t> position;
  for (const Record& record : records) {
    const Launch& launch = record.launch;
    const auto [at, is_new] = position.try_emplace(launch.kernel, kernels.size());
    if (is_new) kernels.push_back({launch.kernel, {}, {}});
    kernels[at->second].launches.push_back(launch.index);
    kernels[at->second].counts += launch.counts;
  }
  json.begin_array("kernels");
  for (const Kernel& kernel : kernels) {
    json.begin_object();
    json.value("kernel", std::string(kernel.name));
    json.begin_array("launches");
    for (const int launch : kernel.launches) json.value("", launch);
    json.end_array();
    write(json, kernel.counts);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_trace() {
  Log& s = log();
  const std::lock_guard lock(s.mutex);
  const char* const path = settings::trace_file();
  if (!path) return;
  JsonWriter json;
  json.begin_object();
  json.begin_array("launches");
  for (Record& record : s.records) {
    resolve(record);
    write(json, record);
  }
  json.end_array();
  write_kernels(json, s.records);
  write(json, s.host_findings);
  if (!s.notes.empty()) {
    json.begin_array("notes");
    for (const std::string& note : s.notes) json.value("", note);
    json.end_array();
  }
  json.end_object();
  std::ofstream out(path);
  out << json.text() << "\n";
  out.close();
  if (!out) {
    std::fprintf(stderr, "simt: cannot write the trace to %s\n", path);
    _exit(1);
  }
}

}  // namespace simt::device
