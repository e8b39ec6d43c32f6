#include "trees/tree_dump.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace simtcc {
namespace {

using Text = std::string_view;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

unsigned number(Text text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "name D.17" is printed as "nameD.17": reads the number behind "D." at `at`, and moves on to what follows it.
std::optional<unsigned> id_at(Text text, std::size_t& at) {
  if (!text.substr(at).starts_with("D.") || at + 2 >= text.size() || !is_decimal(text[at + 2]))
    return {};
  const unsigned id = number(text.substr(at + 2));
  for (at += 2; at < text.size() && is_decimal(text[at]); ++at) continue;
  return id;
}

// "[file.cu:12:3] " and "[file.cu:12:3 discrim 2] ", which begins at `at`: its place and its length.
std::optional<std::pair<DumpPlace, std::size_t>> place_at(Text text, std::size_t at) {
  const std::size_t close = text.find(']', at);
  if (close == Text::npos) return {};
  Text inside = text.substr(at + 1, close - at - 1);
  if (const std::size_t more = inside.rfind(" discrim "); more != Text::npos)
    inside = inside.substr(0, more);
  const std::size_t second = inside.rfind(':');
  if (second == Text::npos || second == 0 || second + 1 >= inside.size()) return {};
  const std::size_t first = inside.rfind(':', second - 1);
  if (first == Text::npos || first + 1 >= second) return {};
  const auto all_digits = [](Text digits) {
    return std::all_of(digits.begin(), digits.end(), is_decimal);
  };
  const Text line = inside.substr(first + 1, second - first - 1),
             column = inside.substr(second + 1);
  if (!all_digits(line) || !all_digits(column)) return {};
  const std::size_t length = close - at + 1 + (text.substr(close + 1).starts_with(' ') ? 1 : 0);
  return std::pair{DumpPlace{inside.substr(0, first), static_cast<int>(number(line)),
                             static_cast<int>(number(column))},
                   length};
}

std::size_t skip_parentheses(Text text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

// Of `(a, b[c], MEM[(T *)d])...`, the opening parenthesis first: is there one of which this holds?
template <class Predicate>
bool any_argument(Text arguments, Predicate holds) {
  int depth = 0;
  std::size_t begin = 1;
  bool quoted = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    if (c == '"' && arguments[at - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > (c == ',' ? 1 : 0)) continue;
    if (c != ',' && c != ')') continue;
    Text one = arguments.substr(begin, at - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (holds(one)) return true;
    begin = at + 1;
    if (depth == 0) break;
  }
  return false;
}

}  // namespace

TreeDump::TreeDump(std::string_view text) {
  bool in_body = false, in_signature = false;
  while (!text.empty()) {
    const std::size_t length = text.find('\n');
    const Text line = text.substr(0, length);
    text.remove_prefix(length == Text::npos ? text.size() : length + 1);
    if (line.starts_with(";; Function ")) {
      read_header(line);
      in_signature = true;
      in_body = false;
    } else if (functions_.empty() || line.empty()) {
      continue;
    } else if (line.ends_with("{") && in_signature && (line == "{" || line.starts_with("["))) {
      in_signature = false;
      in_body = true;
    } else if (in_signature && line.starts_with("__attribute__")) {
      functions_.back().attributes = line;
    } else if (in_signature) {
      functions_.back().signature = line;
      read_line(line, false);
    } else if (in_body) {
      read_line(line, true);
    }
  }
}

void TreeDump::read_header(Text line) {
  line.remove_prefix(Text(";; Function ").size());
  const std::size_t facts = line.rfind(", funcdef_no=");
  const std::size_t open = facts == Text::npos ? facts : line.rfind(" (", facts);
  DumpedFunction function;
  if (open != Text::npos) {
    function.name = line.substr(0, open);
    function.symbol = line.substr(open + 2, facts - open - 2);
    const std::size_t id = line.find("decl_uid=", facts);
    if (id != Text::npos) function.id = number(line.substr(id + 9));
  }
  by_id_.emplace(function.id, functions_.size());
  by_symbol_.emplace(function.symbol, functions_.size());
  functions_.push_back(function);
  last_ = {};
}

void TreeDump::read_line(Text line, bool in_body) {
  while (!line.empty() && line[0] == ' ') line.remove_prefix(1);
  if (in_body && line.starts_with('[')) {
    const auto place = place_at(line, 0);
    if (!place) return;
    last_ = place->first;
    if (functions_.back().file.empty()) {
      functions_.back().file = last_.file;
      functions_.back().first_line = last_.line;
    }
    if (line.find("D.") == Text::npos) return;
    // the expressions have places, too
    std::string statement;
    bool quoted = false;
    for (std::size_t at = place->second; at < line.size();) {
      if (line[at] == '"' && line[at - 1] != '\\') quoted = !quoted;
      if (line[at] == '[' && !quoted) {
        if (const auto inner = place_at(line, at)) {
          at += inner->second;
          continue;
        }
      }
      if (!quoted) statement += line[at];
      ++at;
    }
    buffer_.push_back(std::move(statement));
    read_statement(buffer_.back(), last_);
    return;
  }
  // A call without a place, or a declaration: `intD.9 xD.123;`, `intD.9 (*<T13cb>) (intD.9) fpD.36893;`
  if (in_body && line.ends_with(");") && line.find(") ") == Text::npos &&
      line.find("(*") == Text::npos) {
    read_statement(line, last_);
    return;
  }
  // `struct stringD.5 sD.6;`, `struct string & sD.6`
  Text type;
  if (const std::size_t key = line.find("struct "); key != Text::npos) {
    type = line.substr(key + 7);
    const std::size_t number = type.find("D.");
    type = type.substr(0, std::min(number, type.find(' ')));
  }
  const bool is_static = line.starts_with("static ");
  const std::size_t value = line.find(" = ");
  std::optional<unsigned> declared;
  for (std::size_t at = 0; (at = line.find("D.", at)) != Text::npos;) {
    if (const auto id = id_at(line, at)) {
      locals_.insert(*id);
      if (is_static) statics_.insert(*id);
      if (at <= value) declared = *id;
      if (!type.empty()) classes_.emplace(*id, type);
    } else {
      at += 2;
    }
  }
  if (is_static && declared) owners_.emplace(*declared, functions_.size() - 1);
}

void TreeDump::read_statement(Text statement, const DumpPlace& place) {
  std::vector<Mention>& mentions = functions_.back().mentions;
  std::size_t begin = 0;
  if (const std::size_t assigned = statement.find(" = "); assigned != Text::npos)
    begin = assigned + 3;
  if (begin > 0 && statement[begin] == '(') {
    const std::size_t end = skip_parentheses(statement, begin);
    const Text type = statement.substr(begin + 1, end - begin - 2);
    const Text operand = statement.substr(std::min(end + 1, statement.size()));
    if (type.find_first_of("*&<(") == Text::npos && operand.ends_with(';'))
      functions_.back().conversions.push_back({statement.substr(0, begin - 3),
                                               type.substr(0, type.find("D.")),
                                               operand.substr(0, operand.size() - 1), place});
  }
  if (begin > 0 && statement.ends_with(';'))
    note_copy(statement.substr(0, begin - 3),
              statement.substr(begin, statement.size() - begin - 1));
  // The callee: up to "D.17 ("
  std::size_t call_end = 0;
  if (begin < statement.size() && statement[begin] != '(') {
    for (std::size_t at = begin; (at = statement.find("D.", at)) != Text::npos;) {
      const std::size_t name_end = at;
      const auto id = id_at(statement, at);
      if (!id) {
        at += 2;
        continue;
      }
      const Text name = statement.substr(begin, name_end - begin);
      if (statement.substr(at).starts_with(" (") && !name.empty() && name[0] != '*' &&
          name[0] != '&' && name.find("->") == Text::npos && !name.starts_with("if ")) {
        Mention call{.name = name, .id = *id, .is_call = true, .place = place};
        const Text arguments = statement.substr(at + 2);
        call.moves_memory =
            (begin > 0 && is_in_memory(statement.substr(0, begin - 3))) ||
            any_argument(statement.substr(at + 1), [this](Text a) { return is_in_memory(a); });
        if (arguments.starts_with("&") || (!arguments.empty() && is_word(arguments[0]))) {
          std::size_t first = arguments.find("D.");
          if (first < arguments.find_first_of(",)"))
            call.argument = id_at(arguments, first).value_or(0);
        }
        while (!call.name.empty() && call.name.back() == ' ') call.name.remove_suffix(1);
        mentions.push_back(call);
        call_end = at;
      }
      break;
    }
  }
  for (std::size_t at = 0; at < statement.size();) {
    if (call_end && at == begin) at = call_end;
    // a type: `x = (T) y`, `MEM[(T *)x]`, `VIEW_CONVERT_EXPR<T>(x)`, `MEM <T> [(U *)x]`
    const Text rest = statement.substr(at);
    if (rest.starts_with("= (") || rest.starts_with("[(")) {
      at = skip_parentheses(statement, statement.find('(', at));
      continue;
    }
    if (rest.starts_with("MEM <") || rest.starts_with("VIEW_CONVERT_EXPR<")) {
      int depth = 0;
      for (at = statement.find('<', at); at < statement.size(); ++at) {
        if (statement[at] == '<') ++depth;
        if (statement[at] == '>' && --depth == 0) break;
      }
      continue;
    }
    if (!rest.starts_with("D.")) {
      ++at;
      continue;
    }
    std::size_t from = at;
    while (from > 0 && is_word(statement[from - 1])) --from;
    const Text name = statement.substr(from, at - from);
    const auto id = id_at(statement, at);
    if (!id) {
      at += 2;
      continue;
    }
    const char before = from > 0 ? statement[from - 1] : ' ';
    if (name.empty() || is_decimal(name[0]) || before == '.' || before == '>' || before == '<')
      continue;
    mentions.push_back({.name = name,
                        .id = *id,
                        .is_address = before == '&',
                        .is_store = from == 0 && begin > 0 && at + 3 == begin &&
                                    is_number(statement.substr(begin)),
                        .place = place});
  }
}

// Is what is assigned surely no object of a class? `3;`, `_5;`, `xD.17 + 1;`
bool TreeDump::is_number(Text value) const {
  if (value.empty()) return false;
  if (is_decimal(value[0]) || value[0] == '-' || value[0] == '_') return true;
  std::size_t at = value.find("D.");
  if (at == Text::npos || !std::all_of(value.begin(), value.begin() + at, is_word)) return false;
  const auto id = id_at(value, at);
  const bool is_whole = value.substr(at) == ";" || value.substr(at).starts_with(" + ") ||
                        value.substr(at).starts_with(" - ") || value.substr(at).starts_with(" * ");
  return id && is_whole && locals_.contains(*id) && !classes_.contains(*id);
}

// `pD.17 = *_3`, `sD.5[iD.6] = pD.17`, `*_3 = *D.18`
void TreeDump::note_copy(Text to, Text from) {
  const auto variable = [](Text operand) -> std::optional<unsigned> {
    while (operand.starts_with(' ')) operand.remove_prefix(1);
    std::size_t at = operand.find("D.");
    if (at == Text::npos || !std::all_of(operand.begin(), operand.begin() + at, is_word)) return {};
    const auto id = id_at(operand, at);
    return at == operand.size() ? id : std::nullopt;
  };
  const auto is_place = [](Text operand) {
    while (operand.starts_with(' ')) operand.remove_prefix(1);
    return operand.starts_with('*') || operand.starts_with("MEM") || operand.ends_with(']');
  };
  if (const auto local = variable(to); local && is_place(from))
    functions_.back().loaded.insert(*local);
  if (!is_place(to)) return;
  if (from.starts_with('*')) from.remove_prefix(1);
  if (const auto local = variable(from)) functions_.back().stored.insert(*local);
}

// Is this operand of a call, or what its result goes to, no variable of the thread's own?  (Numbers and pointers are always in
// a temporary variable, so it is a struct then.)
bool TreeDump::is_in_memory(Text operand) const {
  if (operand.empty() || operand[0] == '&' || operand[0] == '"') return false;
  const bool through_pointer = operand.starts_with('*') || operand.starts_with("(*") ||
                               operand.starts_with("MEM") || operand.find("->") != Text::npos;
  if (through_pointer) {
    // MEM[(struct S &)&x] is x
    const std::size_t of = operand.find(")&");
    if (of == Text::npos || !operand.starts_with("MEM")) return true;
    operand.remove_prefix(of + 2);
  }
  for (std::size_t at = 0; (at = operand.find("D.", at)) != Text::npos;) {
    const std::size_t name = at;
    const auto id = id_at(operand, at);
    if (!id) {
      at += 2;
    } else if (through_pointer || std::all_of(operand.begin(), operand.begin() + name, is_word)) {
      return !is_local(*id) || statics_.contains(*id);
    } else {
      return false;
    }
  }
  return through_pointer;
}

const DumpedFunction* TreeDump::find_symbol(Text symbol) const {
  if (const auto found = by_symbol_.find(symbol); found != by_symbol_.end())
    return &functions_[found->second];
  // A constructor or destructor of a whole object is an alias of that of a base.
  for (std::size_t i = 0; i + 1 < symbol.size(); ++i) {
    const bool one = (symbol[i] == 'C' && symbol[i + 1] == '1') ||
                     (symbol[i] == 'D' && (symbol[i + 1] == '1' || symbol[i + 1] == '0'));
    if (!one) continue;
    std::string base(symbol);
    base[i + 1] = '2';
    if (const auto found = by_symbol_.find(base); found != by_symbol_.end())
      return &functions_[found->second];
  }
  return nullptr;
}

const DumpedFunction* TreeDump::function_around(Text symbol) const {
  if (!symbol.starts_with("_ZZ")) return nullptr;
  for (std::size_t end = symbol.rfind('E'); end != Text::npos && end > 3;
       end = symbol.rfind('E', end - 1)) {
    const std::string inner = "_" + std::string(symbol.substr(2, end - 2));
    if (const DumpedFunction* const found = find_symbol(inner)) return found;
    // of C, and main: _ZZ4mainE1x
    const Text plain = symbol.substr(3, end - 3);
    const std::size_t name = plain.find_first_not_of("0123456789");
    if (name != 0 && name != Text::npos) {
      if (const DumpedFunction* const found = find_symbol(plain.substr(name))) return found;
    }
  }
  return nullptr;
}

const DumpedFunction* TreeDump::owner_of_static(unsigned id) const {
  const auto found = owners_.find(id);
  return found == owners_.end() ? nullptr : &functions_[found->second];
}

Text TreeDump::class_of(unsigned id) const {
  const auto found = classes_.find(id);
  return found == classes_.end() ? Text{} : found->second;
}

const DumpedFunction* TreeDump::find(const Mention& mention) const {
  if (const auto found = by_id_.find(mention.id); found != by_id_.end())
    return &functions_[found->second];
  return mention.name.starts_with("_Z") ? find_symbol(mention.name) : nullptr;
}

}  // namespace simtcc
