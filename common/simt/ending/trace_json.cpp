#include "ending/trace_json.h"

#include <simt/counting.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lane_simd.h"
#include "base/settings.h"
#include "program/symbols.h"
#include "report/log.h"

namespace simt::device {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Counts& counts) {
  Json json;
  for_each_count(counts, [&](const char* name, uint64_t value) { json[name] = value; });
  return json;
}

template <typename Vector>  // uint3, dim3
Json extents(const Vector& v) {
  return {v.x, v.y, v.z};
}

Json to_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    char address[32];
    std::snprintf(address, sizeof(address), "0x%llx",
                  static_cast<unsigned long long>(finding.address));
    json.push_back({{"kind", finding.kind},
                    {"severity", finding.severity == Severity::error ? "error" : "warning"},
                    {"message", finding.message},
                    {"file", finding.file},
                    {"line", finding.line},
                    {"block", extents(finding.block)},
                    {"thread", extents(finding.thread)},
                    {"address", address},
                    {"allocation", finding.allocation}});
  }
  return json;
}

// What the lanes of one request asked for, from the start of the 128-byte line of the lowest address:
// that leaves sectors and banks as they are. null stands for a lane that did not take part.
Json to_json(const engine::Example& example) {
  uint64_t base = ~uint64_t{0};
  for (const int lane : engine::lanes_of(example.lanes)) {
    base = std::min(base, example.address[lane]);
  }
  base -= base % 128;
  Json addresses = Json::array();
  for (unsigned lane = 0; lane < 32; ++lane) {
    addresses.push_back(example.lanes >> lane & 1 ? Json(example.address[lane] - base) : Json());
  }
  Json json = {{"access", example.access},
               {"space", example.shared ? "shared" : "global"},
               {"size", example.size},
               {"addresses", std::move(addresses)}};
  const std::string_view access = example.access;
  if (example.shared && access != "atomic") {
    const SharedCost cost =
        count_wavefronts(example.address.data(), example.lanes, example.size,
                         access == "load" ? SharedAccess::load : SharedAccess::store);
    json["wavefronts"] = cost.wavefronts;
    json["phase_lanes"] = cost.phase_lanes;
  }
  return json;
}

Json to_json(const engine::RecordedStep& step) {
  using What = engine::RecordedStep::What;
  static constexpr const char* kNames[] = {"enter", "load", "store", "atomic", "wait", "meet"};
  const symbols::Location& at = symbols::locate(step.pc);
  Json json = {{"what", kNames[static_cast<int>(step.what)]}, {"file", at.file}, {"line", at.line}};
  if (step.what == What::meet) return json;
  json["warp"] = step.warp;
  json["lanes"] = step.lanes;
  if (!step.size) return json;
  Json addresses = Json::array();
  for (const int lane : engine::lanes_of(step.lanes))
    addresses.push_back(step.address[static_cast<size_t>(lane)]);
  json["space"] = step.shared ? "shared" : "global";
  json["size"] = step.size;
  json["addresses"] = std::move(addresses);  // of the active lanes
  if (!step.shared) {
    json["sectors"] = count_sectors(step.address.data(), step.lanes, step.size);
  } else if (step.what != What::atomic) {
    json["wavefronts"] =
        count_wavefronts(step.address.data(), step.lanes, step.size,
                         step.what == What::load ? SharedAccess::load : SharedAccess::store)
            .wavefronts;
  }
  return json;
}

Json to_json(const Record& record) {
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
  Json json;
  json["index"] = launch.index;
  json["kernel"] = launch.kernel;
  if (launch.device) json["device"] = launch.device;
  json["grid"] = extents(launch.grid);
  json["block"] = extents(launch.block);
  json["dynamic_shared"] = launch.dynamic_shared;
  json["traced_blocks"] = launch.traced_blocks;
  if (launch.is_sized_by_device) json["is_sized_by_device"] = true;
  if (launch.reads_textures) json["reads_textures"] = true;
  json["counts"] = to_json(launch.counts);
  if (launch.touched) {
    json["global_sectors_read_distinct"] = launch.touched->read;
    json["global_sectors_written_distinct"] = launch.touched->written;
  }
  if (launch.atomics_on_one_word) {
    json["global_atomics_on_one_word"] = launch.atomics_on_one_word;
  }
  Json lines = Json::array();
  for (const LineCounts& line : launch.lines) {
    Json entry = {{"file", line.file}, {"line", line.line}, {"counts", to_json(line.counts)}};
    if (const auto polled = polls.find({line.file, line.line}); polled != polls.end())
      entry["polls"] = polled->second;
    entry["examples"] = Json::array();
    for (const engine::Example* example : examples[{line.file, line.line}])
      entry["examples"].push_back(to_json(*example));
    lines.push_back(std::move(entry));
  }
  json["lines"] = std::move(lines);
  json["findings"] = to_json(launch.findings);
  for (const engine::RecordedStep& step : record.steps) json["recording"].push_back(to_json(step));
  return json;
}

// The kernels in the order of their first launches, each with the sum of its counts.
template <class Records>
Json kernels_of(const Records& records) {
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
  Json json = Json::array();
  for (const Kernel& kernel : kernels) {
    json.push_back({{"kernel", kernel.name},
                    {"launches", kernel.launches},
                    {"counts", to_json(kernel.counts)}});
  }
  return json;
}

// The rounds in which a stream is used that the program has made.
Json to_json(const std::vector<Round>& rounds) {
  Json json = Json::array();
  for (const Round& round : rounds) {
    if (std::all_of(round.work.begin(), round.work.end(),
                    [](const Scheduled& work) { return work.stream == 0; }))
      continue;
    Json list = Json::array();
    for (const Scheduled& work : round.work) {
      const symbols::Location& at = symbols::locate(work.pc);
      list.push_back({{"what", work.what},
                      {"stream", work.stream},
                      {"device", work.device},
                      {"file", at.file},
                      {"line", at.line},
                      {"after", work.after}});
    }
    json.push_back({{"work", std::move(list)}, {"is_cut", round.is_cut}});
  }
  return json;
}

// A file's name or a note need not be UTF-8.
std::string text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void write_trace() {
  Log& s = log();
  const std::lock_guard lock(s.mutex);
  const char* const path = settings::trace_file();
  if (!path) return;
  std::ofstream out(path);
  out << "{\n\"launches\": [";
  const char* before = "\n";
  for (Record& record : s.records) {  // no more than one launch at a time is a tree
    resolve(record);
    out << std::exchange(before, ",\n") << text(to_json(record));
  }
  out << "],\n\"kernels\": " << text(kernels_of(s.records));
  out << ",\n\"findings\": " << text(to_json(s.host_findings));
  if (const Json rounds = to_json(s.rounds); !rounds.empty())
    out << ",\n\"rounds\": " << text(rounds);
  if (!s.notes.empty()) out << ",\n\"notes\": " << text(s.notes);
  out << "\n}\n";
  out.close();
  if (!out) {
    std::fprintf(stderr, "simt: cannot write the trace to %s\n", path);
    _exit(1);
  }
}

}  // namespace simt::device
