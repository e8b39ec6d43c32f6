#include <array>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// Where the text is copied by another rule, or where the value has to be known to the compiler anyway.
constexpr std::array<std::string_view, 7> kElsewhere = {
    "__shared__", "constexpr", "case", "template", "static_assert", "enum", "using"};

class Shifts : private Rule {
 public:
  using Rule::Rule;

  void visit_shift(std::size_t i) {
    if (!in_device_code(i)) return;
    const bool assigns = is(i, "<<=") || is(i, ">>=");
    const std::size_t amount = i + (assigns ? 1 : 2);
    if (!ends_operand(i - 1) || !begins_operand(amount) || is_literal(amount)) return;
    // Perhaps the end of template arguments. One list alone, as in a < b >> c, does not end so.
    if (is(i, ">") && angle_start(i) != kNone &&
        (angle_start(i + 1) != kNone || is_template(angle_start(i) - 1)))
      return;
    if (assigns && has_no_reference(i - 1)) return;
    for (std::size_t j = unit_.head; j < i; ++j) {
      for (const std::string_view word : kElsewhere) {
        if (is(j, word)) return;
      }
    }
    const std::string_view shift = assigns ? list_[i].text : is(i, "<") ? "<<" : ">>";
    insert_before(amount, "::simt::shift " + std::string(shift) + " ");
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

  // A name that is declared as a template's, or that somebody else declares.
  bool is_template(std::size_t name) const {
    if (!is_identifier(name) || is(name - 1, "::") || is(name - 1, "template")) return true;
    for (std::size_t j = 0; j + 1 < list_.size(); ++j) {
      if (!is(j, "template") || !is(j + 1, "<")) continue;
      const std::size_t head = skip_angles(j + 1);
      if (head == kNone) continue;
      for (std::size_t k = head; k < list_.size() && !is(k, ";") && !is(k, "{"); ++k) {
        if (is(k, list_[name].text)) return true;
      }
    }
    return false;
  }

  // Perhaps a bit-field or a member of a packed struct: there can be no reference to it.
  bool has_no_reference(std::size_t name) const {
    if (!is_identifier(name)) return false;
    for (std::size_t j = 1; j < list_.size(); ++j) {
      if (list_[j].in_system_header) continue;
      if (is(j, "packed") || is(j, "__packed__")) return true;
      if (is(j, list_[name].text) && is(j + 1, ":") && (is_identifier(j - 1) || is(j - 1, ",")))
        return true;
    }
    return false;
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
