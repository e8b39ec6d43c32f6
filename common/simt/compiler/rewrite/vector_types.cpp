#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// Here they have constructors (see vector_types.h), which say no to some of what initialises an aggregate, and yes to
// some of what does not.
class VectorTypes : private Rule {
 public:
  using Rule::Rule;

  void visit_name(std::size_t i) {
    static const std::set<std::string_view> elements = {"char",  "uchar",  "short",    "ushort",
                                                        "int",   "uint",   "long",     "ulong",
                                                        "float", "double", "longlong", "ulonglong"};
    const std::string_view name = list_[i].text;
    const char last = name.back();
    if ((last != '2' && last != '4') || !elements.contains(name.substr(0, name.size() - 1))) return;
    members_ = static_cast<std::size_t>(last - '0');
    std::size_t at = i + 1;
    if (!unit_.dialect.cxx20 && in_function())
      check_parentheses(i, is_identifier(at) ? at + 1 : at);
    bool is_array = false;
    if (is_identifier(at)) {
      for (++at; is(at, "["); at = skip_group(at)) is_array = true;
      if (is(at, "=")) ++at;
    }
    if (!is(at, "{") || partner_[at] == kNone) return;
    if (is(at + 1, ".")) {
      name_members(at);
    } else if (is_array) {
      group_numbers(at);
    }
  }

 private:
  // float4(1, 2, 3, 4) or float4 v(1, 2, 3, 4): the members of a class without constructors stand in parentheses since C++20.
  void check_parentheses(std::size_t i, std::size_t open) {
    if (!is(open, "(") || partner_[open] == kNone || (i > 0 && is(i - 1, "<"))) return;
    const auto values = parts(open + 1, partner_[open]);
    if (values.empty()) return;
    if (values.size() < 2 && list_[values[0].second - 1].kind != TokenKind::number) return;
    const std::string name(list_[i].text);
    report(list_[i], name + " has no constructor before C++20: write make_" + name + "(...) or " +
                         name + "{...}");
  }

  // {.x = 1, .z = 3} becomes {1, {}, 3}
  void name_members(std::size_t open) {
    static constexpr std::array<std::string_view, 4> kMembers = {"x", "y", "z", "w"};
    const auto values = parts(open + 1, partner_[open]);
    std::size_t member = 0;
    for (const auto& [from, to] : values) {  // g++ complains of what is not so
      while (member < members_ && !is(from + 1, kMembers[member])) ++member;
      if (member++ >= members_ || !is(from, ".") || !is(from + 2, "=")) return;
    }
    member = 0;
    for (const auto& [from, to] : values) {
      std::string left_out;
      for (; !is(from + 1, kMembers[member]); ++member) left_out += "{}, ";
      ++member;
      replace_token(from, left_out);
      remove_tokens(from + 1, from + 3);
    }
  }

  // float2 corners[] = {0, 0, 1, 0, 1, 1}: the numbers fill one after the other
  void group_numbers(std::size_t open) {
    const auto values = parts(open + 1, partner_[open]);
    for (const auto& [from, to] : values) {
      const bool has_sign = is(from, "-") || is(from, "+");
      if (to != from + (has_sign ? 2 : 1) || list_[to - 1].kind != TokenKind::number) return;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k % members_ == 0) insert_before(values[k].first, "{");
      if (k % members_ + 1 == members_ || k + 1 == values.size())
        insert_after(values[k].second - 1, "}");
    }
  }

  std::size_t members_ = 0;
};

}  // namespace

void check_vector_type(Unit& unit, std::size_t i) { VectorTypes(unit).visit_name(i); }

}  // namespace simtcc
