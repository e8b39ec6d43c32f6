#include <array>
#include <string_view>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

// Where the text is copied by another rule, or where the value has to be known to the compiler anyway.
constexpr std::array<std::string_view, 10> kElsewhere = {
    "__shared__", "asm",      "__asm__",       "__asm", "constexpr",
    "case",       "template", "static_assert", "enum",  "using"};

class Shifts : private Rule {
 public:
  using Rule::Rule;

  void visit_shift(std::size_t i) {
    if (scopes_.back().side == Side::host || !in_function() || list_[i].in_system_header) return;
    if (!ends_operand(i - 1) || !begins_operand(i + 2) || is_literal(i + 2)) return;
    if (is(i, ">") && angle_start(i) != kNone) return;  // perhaps the end of template arguments
    for (std::size_t j = head_; j < i; ++j) {
      for (const std::string_view word : kElsewhere) {
        if (is(j, word)) return;
      }
    }
    insert_after(i + 1, is(i, "<") ? " ::simt::shift <<" : " ::simt::shift >>");
  }

 private:
  bool ends_operand(std::size_t i) const {
    if (is_identifier(i))
      return !is(i, "operator") && !is_statement_keyword(list_[i].text) &&
             !is_builtin_type(list_[i].text);
    const TokenKind kind = list_[i].kind;
    return kind == TokenKind::number || kind == TokenKind::character || is(i, ")") || is(i, "]") ||
           is(i, "}") || is(i, "++") || is(i, "--");
  }

  bool begins_operand(std::size_t i) const {
    if (is_identifier(i)) return true;
    if (i >= list_.size()) return false;
    const TokenKind kind = list_[i].kind;
    return kind == TokenKind::number || kind == TokenKind::character || is(i, "(") || is(i, "-") ||
           is(i, "+") || is(i, "~") || is(i, "!") || is(i, "*") || is(i, "::") || is(i, "++") ||
           is(i, "--");
  }

  // An amount that is one number: g++ warns of it itself.
  bool is_literal(std::size_t i) const {
    if (list_[i].kind != TokenKind::number) return false;
    return !is(i + 1, "+") && !is(i + 1, "-") && !is(i + 1, "*") && !is(i + 1, "/") &&
           !is(i + 1, "%");
  }
};

}  // namespace

void rewrite_shift(Unit& unit, std::size_t i) { Shifts(unit).visit_shift(i); }

}  // namespace simtcc
