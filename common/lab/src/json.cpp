#include "lab/json.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lab/json_writer.h"
#include "lab/size.h"

namespace lab {

namespace {

void write(JsonWriter& json, const TimeStats& time) {
  json.begin_object("time_ms");
  json.value("median", time.median);
  json.value("p10", time.p10);
  json.value("p90", time.p90);
  json.value("runs", time.runs);
  json.end_object();
}

void write(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.value("rung", row.rung);
  if (!row.variant.empty()) json.value("variant", row.variant);
  json.begin_object("size");
  for (const auto& [name, value] : row.size.dimensions()) json.value(name, value);
  json.end_object();
  json.value("status", to_string(row.status));
  if (!row.reason.empty()) json.value("reason", row.reason);
  if (row.max_error) json.value("max_error", *row.max_error);
  if (row.tolerance) json.value("tolerance", *row.tolerance);
  if (row.time) write(json, *row.time);
  if (row.first_ms) json.value("first_ms", *row.first_ms);
  if (row.rate) {
    json.value("rate", *row.rate);
    json.value("rate_unit", row.rate_unit);
  }
  if (row.peer) {
    json.begin_object("peer");
    json.value("name", row.peer->name);
    write(json, row.peer->time);
    json.end_object();
  }
  if (row.ratio_to_peer) json.value("ratio_to_peer", *row.ratio_to_peer);
  if (row.fraction_of_limit) json.value("fraction_of_limit", *row.fraction_of_limit);
  if (!row.counts.empty()) {
    json.begin_object("counts");
    for (const auto& [name, value] : row.counts) json.value(name, value);
    json.end_object();
  }
  if (row.launches) {
    json.begin_object("launches");
    json.value("first", row.launches->first);
    json.value("end", row.launches->second);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  json.value("chapter", report.chapter);
  json.value("backend", report.backend);
  json.value("device", report.device);
  json.value("driver", report.driver);
  json.value("toolkit", report.toolkit);
  json.value("date", report.date);
  json.value("commit", report.commit);
  json.begin_object("limits");
  for (const auto& [name, value] : report.limits) json.value(name, value);
  json.end_object();
  json.begin_array("rows");
  for (const Row& row : report.rows) write(json, row);
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string write_json(const std::string& path, const Report& report) {
  const std::string text = to_json(report);
  const std::string part = path + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "w");
  bool good = file != nullptr;
  if (good) good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (good && std::rename(part.c_str(), path.c_str()) == 0) return "";
  const std::string why = std::strerror(errno);
  std::remove(part.c_str());
  return path + ": " + why;
}

}  // namespace lab
