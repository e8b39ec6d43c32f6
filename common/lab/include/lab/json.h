/// \file
/// The results file.
///
/// A key that has nothing to say is absent: no `time_ms` on the simulator, no `counts` on a GPU, no
/// `peer` without one. A number that is none (the error of a NaN) is `null`.
#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "lab/row.h"
#include "lab/size.h"
#include "lab/text.h"

namespace lab {

/// \addtogroup lab
/// @{

/// Writes JSON, two spaces a level. Enough for results; a library that reads JSON as well would
/// take longer to compile than the chapter that includes it.
class JsonWriter {
 public:
  /// Opens an object, as the value of `key` or, without one, as an element or the whole.
  void begin_object(std::string_view key = {}) { open(key, '{'); }
  void end_object() { close('}'); }
  /// Opens an array.
  void begin_array(std::string_view key = {}) { open(key, '['); }
  void end_array() { close(']'); }

  void value(std::string_view key, std::string_view text) {
    name(key);
    quote(text);
  }
  void value(std::string_view key, const char* text) { value(key, std::string_view(text)); }
  /// The shortest digits that read back as the same double; `null` for NaN and infinity.
  void value(std::string_view key, double number) {
    name(key);
    if (!std::isfinite(number)) {
      text_ += "null";
      return;
    }
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), end);
  }
  template <std::integral T>
  void value(std::string_view key, T number) {
    name(key);
    text_ += std::to_string(number);
  }

  /// What was written, once all that was opened is closed.
  const std::string& text() const { return text_; }

 private:
  void line() {
    if (text_.empty()) return;
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
  void name(std::string_view key) {
    if (!first_) text_ += ',';
    first_ = false;
    line();
    if (key.empty()) return;
    quote(key);
    text_ += ": ";
  }
  void open(std::string_view key, char bracket) {
    name(key);
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) line();
    text_ += bracket;
    first_ = false;
  }
  void quote(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      const auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (c == '\n') {
        text_ += "\\n";
      } else if (code < 0x20 || code == 0x7F) {
        text_ += format("\\u%04x", static_cast<unsigned>(code));
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

namespace detail {

inline void write(JsonWriter& json, const TimeStats& time) {
  json.begin_object("time_ms");
  json.value("median", time.median);
  json.value("p10", time.p10);
  json.value("p90", time.p90);
  json.value("runs", time.runs);
  json.end_object();
}

inline void write(JsonWriter& json, const Row& row) {
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
  json.end_object();
}

}  // namespace detail

/// A report as the text of a results file.
inline std::string to_json(const Report& report) {
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
  for (const Row& row : report.rows) detail::write(json, row);
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

/// Writes a results file. It replaces an older one only once it is whole.
/// \return what went wrong; empty where nothing did
inline std::string write_json(const std::string& path, const Report& report) {
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

/// @}

}  // namespace lab
