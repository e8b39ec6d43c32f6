#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rules.h"
#include "unit.h"

// What a kernel computes before it touches memory, as a function that the simulator can ask for a whole block at once: for
// each thread, which of the comparisons held on its way to the kernel's end; 0 if it does more than to compare and return. A
// grid that is far too large has millions of blocks in which all return.
namespace simtcc {
namespace {

constexpr std::array kIntegers{"int",    "unsigned", "long",    "short",    "signed",
                               "size_t", "int32_t",  "int64_t", "uint32_t", "uint64_t",
                               "uint",   "auto",     "const",   "constexpr"};

class KernelStart : private Rule {
 public:
  KernelStart(Unit& unit, std::size_t open) : Rule(unit), next_(open + 1), end_(partner_[open]) {}

  // `parameters` as the kernel's head names them. Nothing if no thread returns before it does something else.
  std::optional<std::string> read(const std::set<std::string_view>& parameters) {
    parameters_ = parameters;
    while (read_statement()) continue;
    if (!may_return_) return std::nullopt;
    std::string checks;
    for (const std::string_view name : used_)
      checks += " if (!::simt::detail::is_integer<decltype(" + std::string(name) + ")>) return 0;";
    for (const std::string_view name : constants_)
      checks += " if (!__builtin_constant_p(::simt::detail::number_of(" + std::string(name) +
                "))) return 0;";
    return checks + " unsigned long simt_path = 1;" + code_ + " return 0;";
  }

 private:
  // False behind the last one that counts.
  bool read_statement() {
    if (next_ == end_ || (is(next_, "return") && is(next_ + 1, ";"))) {
      code_ += " return simt_path;";
      may_return_ = true;
      return false;
    }
    if (is(next_, ";")) {
      ++next_;
      return true;
    }
    return is(next_, "if") ? read_if() : read_declaration();
  }

  // const int i = blockIdx.x * blockDim.x + threadIdx.x, j = ...;
  bool read_declaration() {
    std::size_t i = next_;
    std::string type;
    while (is_integer_word(i)) type += std::string(list_[i++].text) + " ";
    std::size_t end = i;
    while (end < end_ && !is(end, ";")) end = is_opening(end) ? skip_group(end) : end + 1;
    if (type.empty() || end >= end_) return false;
    std::string code;
    for (const auto& [from, to] : parts(i, end)) {
      if (!is_identifier(from) || !is(from + 1, "=")) return false;
      const auto value = expression(from + 2, to);
      if (!value) return false;
      locals_.insert(list_[from].text);
      code += " [[maybe_unused]] " + type + renamed(list_[from].text) + " =" + *value + ";";
    }
    code_ += code;
    next_ = end + 1;
    return true;
  }

  // `if (i >= n) return;`, or `if (i < n) { ... }` as the kernel's last statement.
  bool read_if() {
    if (!is(next_ + 1, "(") || partner_[next_ + 1] == kNone) return false;
    const std::size_t close = partner_[next_ + 1];
    const auto holds = condition(next_ + 2, close);
    if (!holds) return false;
    const bool in_braces = is(close + 1, "{");
    const std::size_t body = close + 1 + (in_braces ? 1 : 0);
    if (is(body, "return") && is(body + 1, ";") && (!in_braces || is(body + 2, "}"))) {
      code_ += " if (" + *holds + ") return simt_path;";
      may_return_ = true;
      next_ = body + (in_braces ? 3 : 2);
      return true;
    }
    std::size_t last = in_braces ? skip_group(close + 1) : close + 1;
    if (!in_braces) {
      if (is_statement_keyword(list_[last].text)) return false;
      while (last < end_ && !is(last, ";")) last = is_opening(last) ? skip_group(last) : last + 1;
    }
    while (is(last, ";")) ++last;
    if (last != end_) return false;
    code_ += " if (!(" + *holds + ")) return simt_path;";
    may_return_ = true;
    return false;
  }

  // Comparisons with `&&` between them, or with `||`. Where all threads agree on each, they come the same way through what the
  // compiler makes of it.
  std::optional<std::string> condition(std::size_t begin, std::size_t end) {
    strip(begin, end);
    std::string_view joint;
    std::string all;
    for (std::size_t from = begin; from <= end;) {
      std::size_t to = from;
      while (to < end && !is(to, "&&") && !is(to, "||"))
        to = is_opening(to) ? skip_group(to) : to + 1;
      if (to > end || (to < end && !joint.empty() && joint != list_[to].text)) return std::nullopt;
      const auto one = comparison(from, to);
      if (!one || ++comparisons_ > 30) return std::nullopt;
      const std::string name = "simt_" + std::to_string(comparisons_);
      code_ += " const bool " + name + " =" + *one + "; simt_path = 2 * simt_path + " + name + ";";
      all += name;
      if (to == end) return all;
      joint = list_[to].text;
      all += " " + std::string(joint) + " ";
      from = to + 1;
    }
    return std::nullopt;
  }

  std::optional<std::string> comparison(std::size_t begin, std::size_t end) {
    strip(begin, end);
    std::size_t at = kNone;
    for (std::size_t i = begin; i < end;) {
      if (is(i, "static_cast")) ++i, i = skip_angles(i);
      if (i == kNone || i >= end) return std::nullopt;
      if (is(i, "<") || is(i, ">") || is(i, "<=") || is(i, ">=") || is(i, "==") || is(i, "!=")) {
        if (at != kNone) return std::nullopt;
        at = i;
      }
      i = is_opening(i) ? skip_group(i) : i + 1;
    }
    if (at == kNone) return std::nullopt;
    const auto left = expression(begin, at), right = expression(at + 1, end);
    if (!left || !right) return std::nullopt;
    const std::string_view sign = list_[at].text;
    const bool negated = sign == "!=" || sign == ">=" || sign == "<=";
    const bool swapped = sign == ">" || sign == "<=";
    return std::string(negated ? " !" : " ") +
           "::simt::detail::" + (sign == "==" || sign == "!=" ? "is_same_number(" : "is_less(") +
           (swapped ? *right + "," + *left : *left + "," + *right) + ")";
  }

  // Of integers, without calls, loads, and anything that could trap. Names as the function has them.
  std::optional<std::string> expression(std::size_t begin, std::size_t end) {
    std::string code;
    bool wants_operand = true;
    for (std::size_t i = begin; i < end; ++i) {
      const Token& token = list_[i];
      if (is(i, "(")) {
        std::size_t j = i + 1;
        while (is_integer_word(j)) ++j;
        const bool casts = j > i + 1 && is(j, ")");
        // (T)(x), where nobody knows T
        if (!wants_operand || (!casts && j == i + 1 && is_identifier(j) && is(j + 1, ")")))
          return std::nullopt;
        code += " " + (casts ? flat(i, j + 1) : std::string("("));
        if (casts) i = j;
      } else if (is(i, ")")) {
        if (wants_operand) return std::nullopt;
        code += ")";
      } else if (is(i, "static_cast") && is(i + 1, "<")) {
        std::size_t j = i + 2;
        while (is_integer_word(j)) ++j;
        if (!wants_operand || j == i + 2 || !is(j, ">") || !is(j + 1, "(")) return std::nullopt;
        code += " " + flat(i, j + 1);
        i = j;
      } else if (token.is_identifier()) {
        if (!wants_operand) return std::nullopt;
        const auto operand = name(i);
        if (!operand) return std::nullopt;
        code += " " + *operand;
        wants_operand = false;
      } else if (token.kind == TokenKind::number) {
        if (!wants_operand || !is_integer_literal(token.text)) return std::nullopt;
        code += " " + std::string(token.text);
        wants_operand = false;
      } else if (wants_operand) {
        if (!is(i, "-") && !is(i, "+") && !is(i, "~")) return std::nullopt;
        code += " " + std::string(token.text);
      } else {
        const bool divides = is(i, "/") || is(i, "%");
        if (divides && (!is_integer_literal(list_[i + 1].text) || list_[i + 1].text[0] == '0'))
          return std::nullopt;
        if (!divides && !is(i, "+") && !is(i, "-") && !is(i, "*") && !is(i, "&") && !is(i, "|") &&
            !is(i, "^")) {
          return std::nullopt;
        }
        code += " " + std::string(token.text);
        wants_operand = true;
      }
    }
    if (wants_operand) return std::nullopt;
    return code;
  }

  // The operand at i; i becomes its last token.
  std::optional<std::string> name(std::size_t& i) {
    const std::string_view text = list_[i].text;
    for (const std::string_view built_in : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
      if (text != built_in || locals_.contains(text) || parameters_.contains(text)) continue;
      if (!is(i + 1, ".") || (!is(i + 2, "x") && !is(i + 2, "y") && !is(i + 2, "z")))
        return std::nullopt;
      i += 2;
      return renamed(text) + "." + std::string(list_[i].text);
    }
    for (const std::string_view behind : {"(", "[", "{", ".", "->", "::"}) {
      if (is(i + 1, behind)) return std::nullopt;
    }
    if (is(i - 1, "::") || is(i - 1, ".") || is_statement_keyword(text) || is_builtin_type(text) ||
        is_specifier(text) || unit_.names.variables.contains(text)) {
      return std::nullopt;
    }
    if (locals_.contains(text)) return renamed(text);
    if (parameters_.contains(text)) {
      used_.insert(text);
      return renamed(text);
    }
    constants_.insert(text);
    return std::string(text);
  }

  bool is_integer_word(std::size_t i) const {
    return is_identifier(i) &&
           std::find(kIntegers.begin(), kIntegers.end(), list_[i].text) != kIntegers.end();
  }
  static bool is_integer_literal(std::string_view text) {
    return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
           text.find_first_not_of("0123456789uUlL") == std::string_view::npos;
  }
  // Takes away the parentheses around all of it.
  void strip(std::size_t& begin, std::size_t& end) const {
    while (begin + 1 < end && is(begin, "(") && partner_[begin] == end - 1) ++begin, --end;
  }
  static std::string renamed(std::string_view name) { return "simt_" + std::string(name); }

  std::size_t next_;
  const std::size_t end_;
  std::string code_;
  bool may_return_ = false;
  int comparisons_ = 0;
  std::set<std::string_view> parameters_, locals_;
  std::set<std::string_view> used_;       // of the parameters
  std::set<std::string_view> constants_;  // if they are any: that g++ finds out
};

}  // namespace

std::optional<std::string> kernel_start(Unit& unit, std::size_t open,
                                        const std::set<std::string_view>& parameters) {
  return KernelStart(unit, open).read(parameters);
}

}  // namespace simtcc
