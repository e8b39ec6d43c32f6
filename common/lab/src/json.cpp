#include "lab/json.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "lab/size.h"

namespace lab {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TimeStats& time) {
  return {{"median", time.median}, {"p10", time.p10}, {"p90", time.p90}, {"runs", time.runs}};
}

template <class Pairs>
Json object_of(const Pairs& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json to_json(const Row& row) {
  Json json;
  json["rung"] = row.rung;
  if (!row.variant.empty()) json["variant"] = row.variant;
  json["size"] = object_of(row.size.dimensions());
  json["status"] = to_string(row.status);
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (row.max_error) json["max_error"] = *row.max_error;
  if (row.tolerance) json["tolerance"] = *row.tolerance;
  if (row.time) json["time_ms"] = to_json(*row.time);
  if (row.conditions) {
    const Conditions& seen = *row.conditions;
    json["clock"] = {{"sm_mhz", seen.sm_mhz}, {"sm_mhz_min", seen.sm_mhz_min}};
    if (seen.power_w) json["clock"]["power_w"] = *seen.power_w;
    if (!seen.throttled.empty()) json["clock"]["throttled"] = seen.throttled;
  }
  if (row.first_ms) json["first_ms"] = *row.first_ms;
  if (row.rate) {
    json["rate"] = *row.rate;
    json["rate_unit"] = row.rate_unit;
  }
  if (row.peer) json["peer"] = {{"name", row.peer->name}, {"time_ms", to_json(row.peer->time)}};
  if (row.ratio_to_peer) json["ratio_to_peer"] = *row.ratio_to_peer;
  if (row.fraction_of_limit) json["fraction_of_limit"] = *row.fraction_of_limit;
  if (!row.counts.empty()) json["counts"] = object_of(row.counts);
  if (row.launches) {
    json["launches"] = {{"first", row.launches->first}, {"end", row.launches->second}};
  }
  return json;
}

std::string text(const Json& json) {
  // A reason may quote what is no UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// With the spaces that dump() writes only together with line breaks: {"n": 1, "m": 2}.
std::string on_one_line(const Json& json) {
  if (!json.is_object()) return text(json);
  std::string line;
  for (const auto& [key, value] : json.items()) {
    line += (line.empty() ? "" : ", ") + text(key) + ": " + on_one_line(value);
  }
  return "{" + line + "}";
}

// A line for each fact and each row, so that a difference of two files can be read.
std::string in_lines(const Json& json, const std::string& indent = "") {
  if (!json.is_structured() || json.empty()) return text(json);
  std::string lines;
  for (const auto& [key, value] : json.items()) {
    lines += (lines.empty() ? "\n " : ",\n ") + indent;
    lines +=
        json.is_object() ? text(key) + ": " + in_lines(value, indent + " ") : on_one_line(value);
  }
  return (json.is_object() ? "{" : "[") + lines + "\n" + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string to_json(const Report& report) {
  Json json;
  json["chapter"] = report.chapter;
  json["backend"] = report.backend;
  json["device"] = report.device;
  json["driver"] = report.driver;
  json["toolkit"] = report.toolkit;
  json["date"] = report.date;
  json["commit"] = report.commit;
  json["limits"] = object_of(report.limits);
  json["rows"] = Json::array();
  for (const Row& row : report.rows) json["rows"].push_back(to_json(row));
  return in_lines(json) + "\n";
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
