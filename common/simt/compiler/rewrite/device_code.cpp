#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class DeviceCode : private Rule {
 public:
  using Rule::Rule;

  // A call of a constexpr function that g++ works out and nvcc refuses all the same: f(3), std::max(1, 2),
  // std::numeric_limits<float>::max().
  void note_constexpr_call(std::size_t i) {
    std::size_t open = i + 1;
    if (is(open, "<")) open = skip_angles(open);
    if (open == kNone || !is(open, "(") || is(i - 1, ".") || is(i - 1, "->")) return;
    const std::string_view name = list_[i].text;
    std::string called;
    if (is(i - 1, "::") && is(i - 2, "std")) {
      if (i > 3 && is(i - 3, "::") && is(i - 4, "cuda")) return;
      called = "std::" + std::string(name);
      if (!unit_.names.library_constexprs.contains(called)) return;
    } else if (is(i - 1, "::") && is(i - 2, ">")) {
      const std::size_t angle = angle_start(i - 2);
      if (angle == kNone || angle < 5 || !is(angle - 1, "numeric_limits")) return;
      if (is(angle - 3, "std") && is(angle - 5, "cuda")) return;
      called = "std::numeric_limits::" + std::string(name);
    } else if (unit_.names.constexprs.contains(name) && !unit_.names.device.contains(name) &&
               !unit_.names.both.contains(name) && !(is(i - 1, "::") && is(i - 2, "simt"))) {
      called = std::string(name);
    } else {
      return;
    }
    note_call(i, std::move(called));
  }

  // The same of 5_km.
  void note_literal(std::size_t i) {
    const Token& t = list_[i];
    std::size_t suffix = t.text.size();
    while (suffix > 0 && is_letter(t.text[suffix - 1])) --suffix;
    if (t.kind == TokenKind::number) suffix = std::min(t.text.find('_'), t.text.size());
    if (suffix == t.text.size() || t.text[suffix] != '_') return;
    const std::string apart(t.text.substr(suffix)), name = "\"\"" + apart;
    for (const std::string& written : {name, apart}) {  // operator""_km and operator"" _km
      if (unit_.names.device.contains(written) || unit_.names.both.contains(written)) return;
    }
    if (unit_.names.constexprs.contains(name) || unit_.names.constexprs.contains(apart))
      note_call(i, "operator" + name);
  }

  // int a[0];
  void check_extent(std::size_t i) {
    if (i < 2 || !is(i + 1, "0") || !is(i + 2, "]") || !is_identifier(i - 1) ||
        !is_identifier(i - 2) || !is_builtin_type(list_[i - 2].text) || !in_device_code(i))
      return;
    report(list_[i - 1], "the array '" + std::string(list_[i - 1].text) +
                             "' of device code has no element: give it one at least, or take the "
                             "array away");
  }

  // Words of C++ that nvcc does not take in device code.
  void check_device_word(std::size_t i) {
    const Token& t = list_[i];
    if (t.text == "throw") {
      report(t, "device code cannot throw: write an error code to memory, or call __trap()");
    } else if (t.text == "try") {
      report(t, "device code has no exceptions: take the try block away");
    } else if (t.text == "thread_local") {
      report(t, "device code has no thread_local variables: a local variable is each thread's own");
    } else if (t.text == "typeid" || t.text == "dynamic_cast") {
      report(t,
             "device code has no type information at run time: write a virtual function or a tag "
             "in place of " +
                 std::string(t.text));
    }
  }

  // g++ drops what is stored to an array just before `delete[] p`, as nobody can read it any more. A store beyond its end is
  // among that.
  void keep_stores_ahead_of_delete(std::size_t i) {
    if (is(i - 1, "operator") || is(i - 1, "=")) return;
    const std::size_t begin = is(i + 1, "[") && is(i + 2, "]") ? i + 3 : i + 1;
    std::size_t end = begin;  // of the statement, or of what is in parentheses
    while (end < list_.size() && !is(end, ";") && !is_closing(end)) {
      if (is(end, ",") || is(end, "?") || is(end, ":") || is(end, "{")) return;
      end = is_opening(end) ? skip_group(end) : end + 1;
    }
    if (begin >= end || end >= list_.size()) return;
    insert_before(begin, "::simt::detail::as_stored(");
    insert_before(end, ")");
  }

  // Functions of C's library that are another one in a kernel.
  bool visit_library_function(std::size_t i) {
    static const std::map<std::string_view, std::string_view> names = {
        {"clock", "::simt::detail::device_clock"},
        {"malloc", "::simt::detail::device_malloc"},
        {"free", "::simt::detail::device_free"},
        {"__builtin_memcpy", "::memcpy"},  // those of simt/bytes.h
        {"__builtin_memmove", "::memmove"},
        {"__builtin_memset", "::memset"},
    };
    if (unit_.scopes.back().side == Side::host || !in_function() || !is(i + 1, "(")) return false;
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is_identifier(i - 1))) {
      if (!is_identifier(i - 1) || !is_statement_keyword(list_[i - 1].text)) return false;
    }
    const auto found = names.find(list_[i].text);
    if (found == names.end()) return false;
    if (i > 0 && is(i - 1, "::")) {  // ::malloc and std::malloc
      const bool standard = i > 1 && is(i - 2, "std");
      if (!standard && i > 1 && is_identifier(i - 2)) return false;
      remove_tokens(standard ? i - 2 : i - 1, i);
    }
    replace_token(i, std::string(found->second));
    return true;
  }

 private:
  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
  }

  void note_call(std::size_t i, std::string called) {
    // not evaluated, or perhaps discarded
    for (std::size_t j = i; j-- > unit_.head;) {
      if (is(j, "(") && j > 0 && skip_group(j) > i &&
          (is(j - 1, "sizeof") || is(j - 1, "decltype") || is(j - 1, "noexcept") ||
           is(j - 1, "alignof")))
        return;
    }
    if (is_discardable(i)) return;
    const FunctionBody* const body = body_at(i);
    if (!body) return;
    unit_.names.constexpr_calls.push_back(
        {tokens_.files[static_cast<std::size_t>(list_[i].file)], list_[i].line, column_of(list_[i]),
         std::move(called), list_[body->open].line, list_[body->close].line,
         unit_.scopes.back().templated, unit_.scopes.back().side == Side::both});
  }

  // Does the token stand in what an `if constexpr` selects?
  bool is_discardable(std::size_t i) const {
    const FunctionBody* const body = body_at(i);
    for (std::size_t j = body ? body->open : i; j < i; ++j) {
      if (!is(j, "constexpr") || !is(j - 1, "if") || !is(j + 1, "(")) continue;
      if (skip_group(j + 1) <= i) return true;
    }
    return false;
  }
};

}  // namespace

void note_constexpr_call(Unit& unit, std::size_t i) { DeviceCode(unit).note_constexpr_call(i); }
void note_literal(Unit& unit, std::size_t i) { DeviceCode(unit).note_literal(i); }
void check_extent(Unit& unit, std::size_t i) { DeviceCode(unit).check_extent(i); }
void check_device_word(Unit& unit, std::size_t i) { DeviceCode(unit).check_device_word(i); }
void keep_stores_ahead_of_delete(Unit& unit, std::size_t i) {
  DeviceCode(unit).keep_stores_ahead_of_delete(i);
}
bool rewrite_library_function(Unit& unit, std::size_t i) {
  return DeviceCode(unit).visit_library_function(i);
}

}  // namespace simtcc
