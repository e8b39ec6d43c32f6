#include "text/syntax.h"

#include <algorithm>
#include <set>

namespace simtcc {

bool is_statement_keyword(std::string_view word) {
  static const std::set<std::string_view> words = {
      "return",    "else",     "do",        "case",    "default", "goto",   "throw",
      "co_return", "co_yield", "co_await",  "new",     "delete",  "sizeof", "if",
      "while",     "for",      "switch",    "and",     "or",      "not",    "typename",
      "template",  "catch",    "constexpr", "operator"};
  return words.contains(word);
}

bool is_builtin_type(std::string_view word) {
  static const std::set<std::string_view> words = {
      "void",    "bool",   "char", "char8_t",  "char16_t",  "char32_t",
      "wchar_t", "short",  "int",  "long",     "signed",    "unsigned",
      "float",   "double", "auto", "__int128", "__float128"};
  return words.contains(word);
}

bool is_specifier(std::string_view word) {
  static const std::set<std::string_view> words = {
      "static",   "extern",       "inline",     "thread_local", "__thread",    "const",
      "volatile", "constexpr",    "constinit",  "register",     "mutable",     "__shared__",
      "typename", "__device__",   "__host__",   "__constant__", "__managed__", "__extension__",
      "__const",  "__volatile__", "__restrict", "__restrict__", "__inline",    "__grid_constant__"};
  return words.contains(word);
}

bool is_class_key(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

bool takes_attribute_parenthesis(std::string_view word) {
  return word == "__attribute__" || word == "__attribute" || word == "alignas" ||
         word == "_Alignas" || word == "__declspec" || word == "decltype" || word == "__decltype" ||
         word == "typeof" || word == "__typeof__" || word == "__typeof" ||
         word == "__launch_bounds__" || word == "__maxnreg__" || word == "__cluster_dims__";
}

std::vector<std::size_t> matched_brackets(const std::vector<Token>& list) {
  std::vector<std::size_t> partner(list.size(), kNone);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].text.size() != 1 || list[i].kind != TokenKind::punctuator) continue;
    const char c = list[i].text[0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    } else if (c == ')' || c == ']' || c == '}') {
      const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || list[open.back()].text[0] != opening) continue;  // g++ will complain
      partner[i] = open.back();
      partner[open.back()] = i;
      open.pop_back();
    }
  }
  return partner;
}

int Syntax::run_length(std::size_t i) const {
  int length = 1;
  while (is(i + length, list_[i].text) && adjacent(i + length - 1, i + length)) ++length;
  return length;
}

std::string Syntax::flat(std::size_t begin, std::size_t end) const {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && !adjacent(i - 1, i)) out += ' ';
    out += list_[i].text;
  }
  return out;
}

bool Syntax::is_launch_open(std::size_t i) const {
  return is(i, "<") && run_length(i) == 3 && !(i > 0 && is(i - 1, "<") && adjacent(i - 1, i)) &&
         !(i > 0 && is(i - 1, "operator"));
}

bool Syntax::may_open_angle(std::size_t i) const {
  if (i == 0 || run_length(i) > 1 || (is(i - 1, "<") && adjacent(i - 1, i))) return false;
  return (is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text)) ||
         is(i - 1, "template");
}

std::size_t Syntax::skip_angles(std::size_t i) const {
  int depth = 0;
  while (i < list_.size()) {
    if (is_opening(i)) {
      i = skip_group(i);
      continue;
    }
    if (is(i, ";") || is_closing(i)) return kNone;
    if (is(i, "<") && (depth == 0 || may_open_angle(i))) ++depth;
    if (is(i, ">") && --depth == 0) return i + 1;
    ++i;
  }
  return kNone;
}

std::size_t Syntax::angle_start(std::size_t i) const {
  int depth = 0;
  while (true) {
    if (is_closing(i)) {
      if (partner_[i] == kNone) return kNone;
      i = partner_[i];
    } else if (is(i, ";") || is_opening(i)) {
      return kNone;
    } else if (is(i, ">")) {
      ++depth;
    } else if (is(i, "<")) {
      const bool shift = (i > 0 && is(i - 1, "<") && adjacent(i - 1, i)) || run_length(i) > 1;
      if (!shift && --depth == 0) return i;
    }
    if (i == 0) return kNone;
    --i;
  }
}

std::size_t Syntax::parameters_of(std::size_t i) const {
  while (i < list_.size()) {
    const Token& t = list_[i];
    if (t.is("operator")) {
      if (is(i + 1, "(")) return is(i + 3, "(") ? i + 3 : kNone;
      while (++i < list_.size() && !is(i, "(")) {
        if (is(i, ";") || is(i, "{")) return kNone;
      }
      return i;
    }
    if (t.is("(")) {
      const bool wrapped = is(i + 1, "*") || is(i + 1, "&") || is(i + 1, "&&");
      if (wrapped) {  // (*pointer)(int) or (&function())[3]
        const std::size_t end = skip_group(i);
        while (++i < end && !is_identifier(i)) continue;
        return is(i + 1, "(") ? i + 1 : kNone;
      }
      if (i + 1 < list_.size() && list_[i + 1].kind == TokenKind::number) return kNone;
      return i > 0 && (is_identifier(i - 1) || is(i - 1, ">") || is(i - 1, "]")) ? i : kNone;
    }
    if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
      i = skip_group(i + 1);
    } else if (t.is("[") && is(i + 1, "[")) {
      i = skip_group(i);
    } else if (t.is("<")) {
      i = skip_angles(i);
      if (i == kNone) return kNone;
    } else if (t.is_identifier() || t.is("::") || t.is("*") || t.is("&") || t.is("&&") ||
               t.is("~") || t.kind == TokenKind::string) {
      ++i;
    } else {
      return kNone;
    }
  }
  return kNone;
}

std::string_view Syntax::name_before(std::size_t parenthesis) const {
  std::size_t i = parenthesis;
  if (i > 0 && is(i - 1, ">")) {
    i = angle_start(i - 1);
    if (i == kNone) return {};
  }
  const bool literal = i > 0 && list_[i - 1].kind == TokenKind::string;  // operator""_km
  return literal || (i > 0 && is_identifier(i - 1)) ? list_[i - 1].text : "operator";
}

bool Syntax::marks_lambda(std::size_t i) const {
  while (i > 0 && (is(i - 1, "__host__") || is(i - 1, "__device__") || is(i - 1, "mutable"))) --i;
  return i > 0 && is(i - 1, "]");
}

bool Syntax::is_defaulted(std::size_t parameters) const {
  std::size_t i = skip_group(parameters);
  while (is_identifier(i) || is(i, "&")) i = is(i + 1, "(") ? skip_group(i + 1) : i + 1;
  return is(i, "=") && (is(i + 1, "default") || is(i + 1, "delete"));
}

std::size_t Syntax::declared_name(std::size_t begin, std::size_t end) const {
  std::size_t name = kNone;
  bool has_type = false;
  for (std::size_t i = begin; i < end; ++i) {
    if (is(i, "=") || is(i, "[")) break;
    if (is(i, "(")) return kNone;
    if (is(i, "<")) {
      const std::size_t after = skip_angles(i);
      if (after == kNone || after > end) return kNone;
      i = after - 1;
      name = kNone;
      has_type = true;
    } else if (is(i, "::")) {
      name = kNone;
    } else if (!is_identifier(i)) {
      name = kNone;
      has_type = true;
    } else if (takes_attribute_parenthesis(list_[i].text)) {
      i = skip_group(i + 1) - 1;
      has_type = true;
    } else if (is_builtin_type(list_[i].text) || is(i, "typename") || is_class_key(list_[i].text)) {
      has_type = true;
    } else if (!is_specifier(list_[i].text)) {
      if (name != kNone) has_type = true;
      name = i;
    }
  }
  return has_type ? name : kNone;
}

std::vector<std::pair<std::size_t, std::size_t>> Syntax::parts(std::size_t begin,
                                                               std::size_t end) const {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::size_t from = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (is_opening(i)) {
      i = skip_group(i) - 1;
    } else if (is(i, "<") && may_open_angle(i)) {
      const std::size_t after = skip_angles(i);
      if (after != kNone && after <= end) i = after - 1;
    } else if (is(i, ",")) {
      out.emplace_back(from, i);
      from = i + 1;
    }
  }
  if (from < end) out.emplace_back(from, end);
  return out;
}

bool Syntax::has_pack(std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (is(i, "...")) return true;
  }
  return false;
}

std::size_t Syntax::declaration_start(std::size_t i) const {
  while (i > 0) {
    const std::size_t before = i - 1;
    if (is(before, "]") && partner_[before] != kNone && is(partner_[before] + 1, "[")) {
      i = partner_[before];  // [[...]]
    } else if (is(before, ")") && partner_[before] != kNone && partner_[before] > 0 &&
               is_identifier(partner_[before] - 1) &&
               takes_attribute_parenthesis(list_[partner_[before] - 1].text)) {
      i = partner_[before] - 1;
    } else if (is(before, ">")) {
      const std::size_t open = angle_start(before);
      if (open == kNone || open == 0 || !is_identifier(open - 1) || is(open - 1, "template"))
        return i;
      i = open - 1;
    } else if (is(before, "::") ||
               (is_identifier(before) &&
                (!is_statement_keyword(list_[before].text) || is(before, "typename")))) {
      i = before;
    } else {
      return i;
    }
  }
  return i;
}

bool Syntax::declares_const(std::size_t i) const {
  bool is_const = false;
  for (std::size_t j = declaration_start(i); j < list_.size(); ++j) {
    if (is(j, "const") || is(j, "constexpr")) is_const = true;
    if (is(j, "*")) is_const = false;  // const float* p: p itself can be written
    if (is(j, "<")) {
      const std::size_t end = skip_angles(j);
      if (end != kNone) j = end - 1;
    }
    if (is(j, ";") || is(j, "=") || is(j, "{") || is(j, "[")) break;
  }
  return is_const;
}

std::pair<Scope::Kind, Side> Syntax::scope_opened(std::size_t head, std::size_t open,
                                                  Side outer) const {
  bool device = false, host = false, parenthesis = false, type = false, space = false;
  for (std::size_t i = head; i < open && i < list_.size();) {
    const Token& t = list_[i];
    if (t.is("(") || t.is("[")) {
      // `run([] __device__ (int i) {`: the outer parenthesis is still open
      if (skip_group(i) > open) {
        ++i;
        continue;
      }
      if (t.is("(")) parenthesis = true;
      i = skip_group(i);
      continue;
    }
    if (t.is("template") && is(i + 1, "<")) {
      const std::size_t end = skip_angles(i + 1);
      i = end == kNone ? i + 1 : std::min(end, open);
      continue;
    }
    if (t.is("<") && may_open_angle(i)) {
      const std::size_t end = skip_angles(i);
      if (end != kNone && end <= open) {
        i = end;
        continue;
      }
    }
    if (t.is_identifier()) {
      if (takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
        i = std::min(skip_group(i + 1), open);
        continue;
      }
      if (t.text == "__device__" || t.text == "__global__") device = true;
      if (t.text == "__host__") host = true;
      if (is_class_key(t.text)) type = true;
      if (t.text == "namespace") space = true;
      if (t.text == "extern" && i + 1 < list_.size() && list_[i + 1].kind == TokenKind::string &&
          i + 2 == open) {
        space = true;
      }
    }
    ++i;
  }
  Side side = outer;
  // (Behind `=` stand the initial values of a variable, which nobody computes on the device.)
  if (device && !is(open - 1, "=")) side = host ? Side::both : Side::device;
  if (space) return {Scope::Kind::space, side};
  if (type && !parenthesis) return {Scope::Kind::type, side};
  return {Scope::Kind::block, side};
}

std::size_t Syntax::skip_name(std::size_t i) const {
  if (is(i, "::")) ++i;
  while (true) {
    if (is(i, "template")) ++i;
    if (!is_identifier(i)) return kNone;
    ++i;
    if (is(i, "<")) {
      i = skip_angles(i);
      if (i == kNone) return kNone;
    }
    if (!is(i, "::")) return i;
    ++i;
  }
}

}  // namespace simtcc
