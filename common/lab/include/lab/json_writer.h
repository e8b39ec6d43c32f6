/// \file
/// A writer of JSON, alone: it needs nothing but the standard library.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace lab {

/// Writes JSON, two spaces a level. A library that reads JSON as well would take longer to compile
/// than the chapter that includes it.
///
///     lab::JsonWriter json;
///     json.begin_object();
///     json.value("rung", "naive");
///     json.begin_array("block");
///     json.value({}, 3);
///     json.end_array();
///     json.end_object();
///     std::fputs(json.text().c_str(), file);
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
        std::array<char, 8> escape;
        std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(code));
        text_ += escape.data();
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

}  // namespace lab
