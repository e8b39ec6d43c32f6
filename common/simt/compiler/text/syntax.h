/// \file
/// C++ as the rules of the rewriter read it: brackets, templates, declarations, without knowing what a name stands for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/token.h"

namespace simtcc {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Where the code between a pair of braces runs.
enum class Side { host, device, both };

struct Scope {
  enum class Kind { space, type, block };  // namespace or file; class; everything else
  Kind kind;
  Side side;
  int outer_parentheses;   // of the enclosing scope, kept while this one is open
  std::size_t outer_head;  // likewise
  std::string_view name;   // of a class or a namespace
  bool templated;          // of a template, or in one
};

/// Words that can stand before an expression and are no part of it.
bool is_statement_keyword(std::string_view word);
bool is_builtin_type(std::string_view word);
bool is_specifier(std::string_view word);
/// struct, class, union, enum
bool is_class_key(std::string_view word);
/// Words that take a parenthesis and belong to a type or an attribute.
bool takes_attribute_parenthesis(std::string_view word);

/// The partner of each ( [ { and ) ] }, or kNone. `<` and `>` are matched where they are needed.
std::vector<std::size_t> matched_brackets(const std::vector<Token>& list);

/// A view of tokens, which are named by their index, and their brackets. What does not exist is no token of any kind.
class Syntax {
 public:
  Syntax(const Tokens& tokens, const std::vector<std::size_t>& partner)
      : tokens_(tokens), list_(tokens.list), partner_(partner) {}

  bool is(std::size_t i, std::string_view text) const {
    return i < list_.size() && list_[i].is(text);
  }
  bool is_identifier(std::size_t i) const { return i < list_.size() && list_[i].is_identifier(); }
  bool adjacent(std::size_t i, std::size_t j) const {
    return i < list_.size() && j < list_.size() && list_[i].end() == list_[j].offset;
  }
  /// How many of the same character stand side by side from i on.
  int run_length(std::size_t i) const;
  /// The source of tokens [begin, end) on one line.
  std::string flat(std::size_t begin, std::size_t end) const;
  bool is_opening(std::size_t i) const { return is(i, "(") || is(i, "[") || is(i, "{"); }
  bool is_closing(std::size_t i) const { return is(i, ")") || is(i, "]") || is(i, "}"); }
  /// One past the bracketed group that opens at i.
  std::size_t skip_group(std::size_t i) const {
    return partner_[i] == kNone ? list_.size() : partner_[i] + 1;
  }
  bool is_launch_open(std::size_t i) const;
  /// Could the `<` at i open template arguments? After a name it might; after a number it compares.
  bool may_open_angle(std::size_t i) const;
  /// One past the template arguments that open at i, or kNone if they do not close.
  std::size_t skip_angles(std::size_t i) const;
  /// The `<` that the `>` at i closes, or kNone. Backwards a comparison looks like a bracket, but inside
  /// template arguments it is either in parentheses or, as in a<N<4>, leaves a `<` before the name.
  std::size_t angle_start(std::size_t i) const;
  /// Seen from a specifier of a declaration at i: the parenthesis of the parameters if it declares a function, or kNone.
  std::size_t parameters_of(std::size_t i) const;
  /// The last part of the name in front of the parenthesis of the parameters.
  std::string_view name_before(std::size_t parenthesis) const;
  /// One past the specifiers among which token i stands may be a lambda's `{`: [] __device__ { ... }
  bool marks_lambda(std::size_t i) const;
  bool is_defaulted(std::size_t parameters) const;
  /// The name that the tokens [begin, end) declare, a parameter of a function or a template; kNone if it has
  /// none, or if it is hidden in parentheses.
  std::size_t declared_name(std::size_t begin, std::size_t end) const;
  /// The parts of [begin, end) between commas.
  std::vector<std::pair<std::size_t, std::size_t>> parts(std::size_t begin, std::size_t end) const;
  bool has_pack(std::size_t begin, std::size_t end) const;
  /// The first token of the declaration in whose specifiers token i stands.
  std::size_t declaration_start(std::size_t i) const;
  /// Is the variable whose qualifier stands at i const as well? Then the compiler keeps it in read-only
  /// memory, which cannot share a section with what may be written; and its accesses are not traced.
  bool declares_const(std::size_t i) const;
  /// What the brace at `open` opens, seen from the declaration that starts at `head` in code of this side.
  std::pair<Scope::Kind, Side> scope_opened(std::size_t head, std::size_t open, Side outer) const;
  /// [::] name [<...>] [:: [template] name [<...>]]...
  std::size_t skip_name(std::size_t i) const;

 protected:
  const Tokens& tokens_;
  const std::vector<Token>& list_;
  const std::vector<std::size_t>& partner_;
};

}  // namespace simtcc
