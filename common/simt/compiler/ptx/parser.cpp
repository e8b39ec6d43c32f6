#include "ptx/parser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace simtcc::ptx {
namespace {

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"pred", {'p', 1}},   {"b8", {'b', 8}},    {"b16", {'b', 16}},   {"b32", {'b', 32}},
    {"b64", {'b', 64}},   {"u8", {'u', 8}},    {"u16", {'u', 16}},   {"u32", {'u', 32}},
    {"u64", {'u', 64}},   {"s8", {'s', 8}},    {"s16", {'s', 16}},   {"s32", {'s', 32}},
    {"s64", {'s', 64}},   {"f16", {'f', 16}},  {"f32", {'f', 32}},   {"f64", {'f', 64}},
    {"f16x2", {'h', 32}}, {"bf16", {'e', 16}}, {"bf16x2", {'g', 32}}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool continues_name(char c) { return (starts_name(c) && c != '%') || is_digit(c); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Statement> run() {
    std::vector<Statement> statements;
    int depth = 0;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      statements.push_back(statement());
      if (statements.back().kind == Statement::Kind::open) ++depth;
      if (statements.back().kind == Statement::Kind::close && --depth < 0)
        fail(statements.back().offset, "'}' closes nothing");
    }
    if (depth > 0) fail(text_.size(), "a '}' is missing");
    return statements;
  }

 private:
  [[noreturn]] static void fail(std::size_t offset, std::string message) {
    throw Error{offset, std::move(message)};
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek()))) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    skip_blanks();
    if (peek() == c) {
      ++at_;
      return;
    }
    const std::string found = at_ < text_.size() ? " in front of '" + word() + "'" : " at the end";
    fail(at_, std::string("a '") + c + "' is missing" + found);
  }

  // What stands here, for a message.
  std::string word() const {
    std::size_t end = at_;
    if (end < text_.size() && starts_name(text_[end])) ++end;
    while (end < text_.size() && (continues_name(text_[end]) || text_[end] == '.')) ++end;
    return std::string(text_.substr(at_, std::max<std::size_t>(end - at_, 1)));
  }

  std::string_view name() {
    skip_blanks();
    const std::size_t begin = at_;
    if (!starts_name(peek())) fail(at_, "a name is missing in front of '" + word() + "'");
    ++at_;
    while (continues_name(peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Statement statement() {
    Statement result;
    result.offset = at_;
    if (take('{')) {
      result.kind = Statement::Kind::open;
    } else if (take('}')) {
      result.kind = Statement::Kind::close;
    } else if (peek() == '.') {
      declaration(result);
    } else {
      if (take('@')) {
        const bool negated = take('!');
        result.guard.push_back(operand());
        result.guard.back().negated = negated;
        skip_blanks();
      } else if (is_label()) {
        result.kind = Statement::Kind::label;
        result.name = name();
        expect(':');
        return result;
      }
      instruction(result);
    }
    return result;
  }

  bool is_label() {
    if (!starts_name(peek())) return false;
    const std::size_t begin = at_;
    name();
    skip_blanks();
    const bool label = peek() == ':' && peek(1) != ':';
    at_ = begin;
    return label;
  }

  void declaration(Statement& result) {
    result.kind = Statement::Kind::declaration;
    const std::size_t begin = at_++;
    const std::string_view what = name();
    if (what != "reg") fail(begin, "." + std::string(what) + " is not simulated");
    skip_blanks();
    if (peek() == '.' && peek(1) == 'v') fail(at_, "registers of vectors are not simulated");
    expect('.');
    const std::size_t at = at_;
    const std::string_view type = name();
    result.type = type_named(type);
    if (!result.type || type == "b128")
      fail(at, "no register has the type '." + std::string(type) + "'");
    do {
      result.names.push_back(name());
      result.counts.push_back(0);
      if (take('<')) {
        const Operand count = number();
        if (count.kind != Operand::Kind::integer || !count.value || count.value > 4096)
          fail(count.offset, "the number of registers in <> is missing");
        result.counts.back() = static_cast<unsigned>(count.value);
        expect('>');
      }
    } while (take(','));
    expect(';');
  }

  void instruction(Statement& result) {
    const std::size_t begin = at_;
    if (!starts_name(peek()) || peek() == '%')
      fail(at_, "an instruction is missing in front of '" + word() + "'");
    while (continues_name(peek()) || peek() == '.' || (peek() == ':' && peek(1) == ':'))
      at_ += peek() == ':' ? 2 : 1;
    result.opcode = text_.substr(begin, at_ - begin);
    std::string_view rest = result.opcode;
    for (bool first = true;; first = false) {
      const std::size_t dot = rest.find('.');
      const std::string_view part = rest.substr(0, dot);
      if (first) {
        result.name = part;
      } else {
        result.modifiers.push_back(part);
      }
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    skip_blanks();
    if (peek() != ';') {
      do {
        result.operands.push_back(operand());
      } while (take(','));
    }
    expect(';');
  }

  Operand operand() {
    skip_blanks();
    Operand result = simple_operand();
    if (take('|')) {
      Operand both;
      both.kind = Operand::Kind::pair;
      both.offset = result.offset;
      both.parts.push_back(std::move(result));
      skip_blanks();
      both.parts.push_back(simple_operand());
      return both;
    }
    return result;
  }

  Operand simple_operand() {
    Operand result;
    result.offset = at_;
    if (take('!')) {
      skip_blanks();
      result = simple_operand();
      result.negated = !result.negated;
    } else if (take('{')) {
      result.kind = Operand::Kind::vector;
      do {
        result.parts.push_back(operand());
      } while (take(','));
      expect('}');
    } else if (take('[')) {
      address(result);
    } else if (is_digit(peek()) || peek() == '-' || peek() == '+') {
      return number();
    } else if (peek() == '%' && is_digit(peek(1))) {
      ++at_;
      result = number();
      result.kind = Operand::Kind::slot;
    } else {
      result.name = name();
      // %tid.x
      if (result.name.front() == '%' && peek() == '.' && starts_name(peek(1))) {
        const std::size_t begin = at_ - result.name.size();
        ++at_;
        name();
        result.name = text_.substr(begin, at_ - begin);
      }
      if (result.name == "_") result.kind = Operand::Kind::sink;
    }
    return result;
  }

  // [register], [register + 16], [register+-4]
  void address(Operand& result) {
    result.kind = Operand::Kind::address;
    skip_blanks();
    result.parts.push_back(simple_operand());
    if (take(',')) {  // [map, {x, y}]
      skip_blanks();
      result.parts.push_back(simple_operand());
      if (result.parts.back().kind != Operand::Kind::vector)
        fail(result.parts.back().offset, "the coordinates of a tensor stand in {...}");
      expect(']');
      return;
    }
    skip_blanks();
    if (peek() == '+' || peek() == '-') {
      const bool minus = peek() == '-';
      ++at_;
      skip_blanks();
      const Operand offset = simple_operand();
      if (offset.kind == Operand::Kind::slot) {  // of an "n"
        result.parts.push_back(offset);
        result.negated = minus;
      } else if (offset.kind != Operand::Kind::integer) {
        fail(offset.offset, "an offset is a number");
      } else {
        result.value = minus ? -offset.value : offset.value;
      }
    }
    expect(']');
  }

  Operand number() {
    skip_blanks();
    Operand result;
    result.offset = at_;
    result.kind = Operand::Kind::integer;
    const bool minus = peek() == '-';
    if (minus || peek() == '+') ++at_;
    skip_blanks();
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') && at_ > begin && is_decimal(begin) &&
            (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
      ++at_;
    std::string_view digits = text_.substr(begin, at_ - begin);
    if (digits.empty() || !is_digit(digits[0]))
      fail(begin, "a number is missing in front of '" + word() + "'");
    const std::string spelled(digits);
    const char second = digits.size() > 1 ? static_cast<char>(std::tolower(digits[1])) : '\0';
    bool good = true;
    if (digits[0] == '0' && (second == 'f' || second == 'd')) {
      result.kind = Operand::Kind::real;
      result.is_single = second == 'f';
      good = digits.size() == (second == 'f' ? 10U : 18U) &&
             parse_digits(digits.substr(2), 16, result.value);
      if (minus) result.value ^= std::uint64_t{1} << (second == 'f' ? 31 : 63);
    } else if (digits.find('.') != std::string_view::npos ||
               (second != 'x' && digits.find_first_of("eE") != std::string_view::npos)) {
      result.kind = Operand::Kind::real;
      char* end = nullptr;
      const double value = std::strtod(spelled.c_str(), &end);
      good = *end == '\0';
      result.value = std::bit_cast<std::uint64_t>(minus ? -value : value);
    } else {
      if (std::tolower(digits.back()) == 'u') digits.remove_suffix(1);
      int base = 10;
      if (digits[0] == '0' && digits.size() > 1) {
        base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
        digits.remove_prefix(base == 8 ? 1 : 2);
      }
      good = parse_digits(digits, base, result.value);
      if (minus) result.value = -result.value;
    }
    if (!good) fail(begin, "'" + spelled + "' is no number");
    return result;
  }

  bool is_decimal(std::size_t begin) const {
    return std::tolower(text_[begin + 1]) != 'x' && std::tolower(text_[begin + 1]) != 'f' &&
           std::tolower(text_[begin + 1]) != 'd';
  }

  static bool parse_digits(std::string_view digits, int base, std::uint64_t& value) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Type type_named(std::string_view name) {
  for (const auto& [spelling, type] : kTypes) {
    if (spelling == name) return type;
  }
  return {};
}

std::string name_of(Type type) {
  for (const auto& [spelling, of] : kTypes) {
    if (of == type) return "." + std::string(spelling);
  }
  return {};
}

std::vector<Statement> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace simtcc::ptx
