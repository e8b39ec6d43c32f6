#include "text/outline.h"

#include <algorithm>
#include <set>
#include <utility>

namespace simtcc {
namespace {

std::string in_quotes_of_marker(const std::string& file) {
  std::string out = "\"";
  for (const char c : file) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

Outline::Outline(const std::string& source, const std::string& file, bool relaxed)
    : LexedText(source, file),
      Syntax(tokens, partner),
      relaxed_(relaxed),
      of_program_(tokens.files.size()) {
  for (const Token& token : list_) {
    if (!token.in_system_header) of_program_[token.file] = true;
  }
  scan(0, list_.size(), Side::host, false, braces_, &elements_);
}

std::string_view Outline::text(std::size_t first, std::size_t last) const {
  return std::string_view(source).substr(list_[first].offset,
                                         list_[last].end() - list_[first].offset);
}

std::size_t Outline::column(std::size_t i) const {
  return list_[i].offset - (source.rfind('\n', list_[i].offset) + 1) + 1;  // npos + 1 is 0
}

std::string Outline::marker(std::size_t i) const {
  const Token& t = list_[i];
  return "\n# " + std::to_string(t.line) + ' ' + in_quotes_of_marker(tokens.files[t.file]) +
         (t.in_system_header ? " 3\n" : "\n") + std::string(column(i) - 1, ' ');
}

bool Outline::is_code(const Braces& body) const {
  if (is(body.open - 1, "=") || is(body.close + 1, ",") || is(body.close + 1, "{")) return false;
  for (std::size_t i = body.head; i < body.open; ++i) {
    if (is(i, ")") || is(i, "]")) return true;
  }
  return false;
}

std::optional<std::vector<Outline::Range>> Outline::declarations(Range range) const {
  std::vector<Range> out;
  if (range.begin == range.end) return out;
  if (range.begin > 0 && !ends_declaration(range.begin - 1)) return std::nullopt;
  for (std::size_t i = range.begin; i < range.end;) {
    const std::size_t last = end_of_declaration(i, range.end);
    if (last == kNone) return std::nullopt;
    out.push_back({i, last + 1});
    i = last + 1;
  }
  return out;
}

const Braces* Outline::function(Range declaration) const {
  const Braces* const last = braces(declaration.end - 1);
  if (!last || !is_code(*last)) return nullptr;
  const std::size_t parameters = parameters_of(elements_[declaration.begin].token);
  return parameters == kNone || parameters > last->open ? nullptr : last;
}

std::string_view Outline::name(Range declaration) const {
  const std::size_t first = elements_[declaration.begin].token;
  if (function(declaration)) return name_before(parameters_of(first));
  std::string_view last;
  for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
    const Token& t = at(i);
    if (t.is("=") || t.is(";") || t.is("[") || t.is("(") || t.is("{") || t.is(":")) break;
    if (t.is_identifier()) last = t.text;
  }
  return last;
}

bool Outline::says(Range declaration, std::string_view word) const {
  const Braces* const body = function(declaration);
  for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
    if (body && at(i).is("(")) break;
    if (at(i).is(word)) return true;
  }
  return false;
}

std::vector<std::string_view> Outline::signature(const Braces& function) const {
  static const std::set<std::string_view> no_matter = {
      "__host__", "__device__", "inline", "static", "extern", "__inline__", "__inline"};
  std::vector<std::string_view> out;
  for (std::size_t i = function.head; i < function.open; ++i) {
    if (is(i, "__attribute__") && is(i + 1, "(")) {
      i = skip_group(i + 1) - 1;
    } else if (!no_matter.contains(list_[i].text)) {
      out.push_back(list_[i].text);
    }
  }
  return out;
}

Side Outline::side_of(std::size_t head, std::size_t open, Side side) const {
  for (std::size_t i = head; relaxed_ && side == Side::host && i < open; ++i) {
    if (is(i, "constexpr") && !list_[i].in_system_header) return Side::both;
  }
  return side;
}

void Outline::scan(std::size_t begin, std::size_t end, Side side, bool in_code,
                   std::vector<Braces>& bodies, std::vector<Element>* elements) {
  std::size_t head = begin;
  int parentheses = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (is(i, "(") || is(i, "[")) ++parentheses;
    if (is(i, ")") || is(i, "]")) parentheses = std::max(0, parentheses - 1);
    if (!is(i, "{") || partner_[i] == kNone) {
      if (elements) elements->push_back({i, kNone});
      if (is(i, ";") && parentheses == 0) head = i + 1;
      continue;
    }
    const std::size_t close = partner_[i];
    const auto [kind, inner] = scope_opened(head, i, side);
    const bool block = kind == Scope::Kind::block;
    if (block && (!in_code || inner != side)) {
      Braces body{head, i, close, in_code ? inner : side_of(head, i, inner), {}};
      scan(i + 1, close, body.side, true, body.nested, nullptr);
      if (elements) elements->push_back({i, bodies.size()});
      bodies.push_back(std::move(body));
    } else {
      if (elements) elements->push_back({i, kNone});
      scan(i + 1, close, inner, block, bodies, elements);
      if (elements) elements->push_back({close, kNone});
    }
    const bool goes_on = !in_code && (parentheses > 0 || is(close + 1, ",") || is(close + 1, "{") ||
                                      is(close + 1, ")"));
    if (!goes_on) head = close + 1;
    i = close;
  }
}

bool Outline::is_access(std::size_t i) const {
  return at(i).is(":") && i > 0 &&
         (at(i - 1).is("public") || at(i - 1).is("private") || at(i - 1).is("protected"));
}

bool Outline::ends_declaration(std::size_t i) const {
  return braces(i) || at(i).is(";") || at(i).is("}") || at(i).is("{") || is_access(i);
}

std::size_t Outline::end_of_declaration(std::size_t first, std::size_t end) const {
  const bool space = at(first).is("namespace") || at(first).is("extern");
  for (std::size_t i = first; i < end; ++i) {
    if (at(i).is(";") || is_access(i)) return i;
    if (braces(i)) {
      const bool more = i + 1 < elements_.size() && (at(i + 1).is(";") || at(i + 1).is(",") ||
                                                     at(i + 1).is("{") || at(i + 1).is(")"));
      if (!more) return i;
    } else if (is_closing(elements_[i].token)) {
      return kNone;
    } else if (is_opening(elements_[i].token)) {
      const std::size_t close = partner_[elements_[i].token];
      while (i < end && elements_[i].token != close) ++i;
      if (i < end && space && at(i).is("}")) return i;
    }
  }
  return kNone;
}

}  // namespace simtcc
