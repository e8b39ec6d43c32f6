#include "rewrite/unit.h"

#include <algorithm>
#include <utility>

#include "text/own_headers.h"

namespace simtcc {

Unit::Unit(std::string_view text, std::string_view file)
    : tokens(tokenize(text, file)), partner(matched_brackets(tokens.list)), source(text) {
  for (const std::string& name : tokens.files) in_simulator.push_back(is_own_header(name));
  scopes.push_back({Scope::Kind::space, Side::host, 0, kNone, {}, false});
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

static void add(std::vector<Diagnostic>& list, Diagnostic diagnostic) {
  const auto same = [&diagnostic](const Diagnostic& other) {
    return other.file == diagnostic.file && other.line == diagnostic.line &&
           other.message == diagnostic.message;
  };
  if (std::none_of(list.begin(), list.end(), same)) list.push_back(std::move(diagnostic));
}

void Rule::report(const Token& at, std::string message) {
  add(unit_.diagnostics,
      {tokens_.files[at.file], at.line, std::move(message), column_of(at), false});
}

void Rule::warn(const Token& at, std::string message) {
  add(unit_.warnings, {tokens_.files[at.file], at.line, std::move(message), column_of(at), true});
}

int Rule::column_of(const Token& at) const {
  const std::size_t line = unit_.source.rfind('\n', at.offset);
  return static_cast<int>(line == std::string_view::npos ? at.offset + 1 : at.offset - line);
}

const FunctionBody* Rule::body_at(std::size_t i) const {
  const auto after =
      std::upper_bound(unit_.bodies.begin(), unit_.bodies.end(), i,
                       [](std::size_t at, const FunctionBody& body) { return at < body.open; });
  if (after == unit_.bodies.begin() || i > std::prev(after)->close) return nullptr;
  return &*std::prev(after);
}

bool Rule::declares(std::size_t i, const FunctionBody& body) const {
  if (unit_.local_dynamic.contains(i)) return true;
  if (i == 0) return false;
  if (is_identifier(i - 1)) return !is_statement_keyword(list_[i - 1].text);
  if (is(i - 1, ">")) return is(i + 1, ";") || is(i + 1, "[") || is(i + 1, ",") || is(i + 1, ")");
  return i < body.open && (is(i - 1, "*") || is(i - 1, "&"));
}

}  // namespace simtcc
