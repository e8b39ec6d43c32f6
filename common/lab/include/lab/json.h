/// \file
/// The results file.
///
/// A key that has nothing to say is absent: no `time_ms` on the simulator, no `counts` on a GPU, no
/// `peer` without one. A number that is none (the error of a NaN) is `null`.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/row.h"
#include "lab/size.h"

namespace lab {

/// \addtogroup lab
/// @{

/// Times as the results file has them.
inline nlohmann::ordered_json to_json(const TimeStats& time) {
  return {{"median", time.median}, {"p10", time.p10}, {"p90", time.p90}, {"runs", time.runs}};
}

/// A row as the results file has it.
inline nlohmann::ordered_json to_json(const Row& row) {
  nlohmann::ordered_json json;
  json["rung"] = row.rung;
  if (!row.variant.empty()) json["variant"] = row.variant;
  for (const auto& [name, value] : row.size.dimensions()) json["size"][name] = value;
  json["status"] = to_string(row.status);
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (row.max_error) json["max_error"] = *row.max_error;
  if (row.tolerance) json["tolerance"] = *row.tolerance;
  if (row.time) json["time_ms"] = to_json(*row.time);
  if (row.rate) {
    json["rate"] = *row.rate;
    json["rate_unit"] = row.rate_unit;
  }
  if (row.peer) json["peer"] = {{"name", row.peer->name}, {"time_ms", to_json(row.peer->time)}};
  if (row.ratio_to_peer) json["ratio_to_peer"] = *row.ratio_to_peer;
  if (row.fraction_of_limit) json["fraction_of_limit"] = *row.fraction_of_limit;
  for (const auto& [name, value] : row.counts) json["counts"][name] = value;
  return json;
}

/// The whole results file.
inline nlohmann::ordered_json to_json(const Report& report) {
  nlohmann::ordered_json json = {{"chapter", report.chapter}, {"backend", report.backend},
                                 {"device", report.device},   {"driver", report.driver},
                                 {"toolkit", report.toolkit}, {"date", report.date},
                                 {"commit", report.commit}};
  json["limits"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : report.limits) json["limits"][name] = value;
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) json["rows"].push_back(to_json(row));
  return json;
}

/// Writes the results file. It replaces an older one only once it is whole.
/// \return what went wrong; empty where nothing did
inline std::string write_json(const std::string& path, const Report& report) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::trunc);
  file << to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(part.c_str());
    return path + ": " + why;
  }
  return "";
}

/// @}

}  // namespace lab
