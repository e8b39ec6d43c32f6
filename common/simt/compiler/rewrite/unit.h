/// \file
/// What the rules of the rewriter share: the source on its way through them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/rewriter.h"
#include "text/syntax.h"
#include "text/token.h"

namespace simtcc {

/// A kernel that is a template.
struct TemplateKernel {
  std::size_t head;  ///< first token of the declaration
  std::map<std::size_t, std::string>
      plain;                           ///< types that do not depend on the template, by parameter
  bool is_alone = true;                ///< No other of this name has been seen.
  std::set<std::size_t> deduced = {};  ///< parameters of the type of their argument, whatever it is
  std::set<std::size_t> named = {};  ///< Parameters whose type has a name of its own for launches.
};

struct FunctionBody {
  std::size_t head;  // first token of the declaration
  std::size_t open;  // its brace
  std::size_t close;
};

/// extern __shared__ T name[]; outside of functions
struct NamespaceShared {
  std::string_view name;
  std::string declaration;
  std::size_t after;  // only functions that come later see it
};

/// An atomic operation: the tokens of its address, and of its value; none of a value that is a literal in PTX.
struct UpdatedAddress {
  std::size_t begin, end, value_begin, value_end;
};

/// One source: its text, what was changed and said, and what has been seen of it so far.
struct Unit {
  Unit(std::string_view source, std::string_view file);

  Tokens tokens;
  std::vector<std::size_t> partner;  ///< of each bracket
  std::string_view source;
  std::vector<Edit> edits;
  std::vector<Diagnostic> diagnostics;
  std::vector<Diagnostic> warnings;
  Names names;
  std::vector<bool> in_simulator;  ///< of each file
  std::vector<Scope> scopes;       ///< those that are open
  int parentheses = 0;             ///< open in the innermost scope
  std::size_t head = 0;            ///< first token of the current declaration or statement
  std::vector<FunctionBody> bodies;
  std::map<std::size_t, std::string_view> unrolls;  ///< `#pragma unroll n`: its offset, and n
  std::set<std::size_t> handled;                    ///< qualifiers that a rule has taken care of
  std::set<std::size_t> local_dynamic;  ///< names that `extern __shared__` declares in functions
  std::vector<NamespaceShared> namespace_shared;
  std::map<std::string, std::pair<std::string, int>>
      dynamic_arrays;  ///< types of `extern __shared__ T s[]` in functions, and where they stood first
  std::multimap<std::string_view, std::size_t>
      shared_names;  ///< where each `__shared__` variable stands
  std::vector<std::pair<std::size_t, std::size_t>>
      extern_variables;  ///< of the device, in namespaces: `extern`, and the name
  std::set<std::string_view> defined_variables;  ///< of the device
  std::set<std::string_view> device_names;       ///< of every `__device__` variable so far
  std::set<std::string> aligned_classes;         ///< of the program
  std::vector<UpdatedAddress> atomics;           ///< that mark_same_address() looks at in the end
  std::set<std::string> array_classes;           ///< of the program
  std::map<std::string_view, std::size_t>
      initialized_classes;  ///< of the program: a member with an initial value
  std::set<std::string_view>
      own_references;  ///< "texture" or "surface": the program has such a class
  std::set<std::pair<std::size_t, std::string>>
      outer_registers;  ///< that inline PTX declares outside of all braces, with the function's brace
  bool has_inline_ptx = false;
  bool accesses_wide = false;       ///< inline PTX with an access of 16 bytes
  bool traced = false;              ///< not --fast
  std::set<std::string> to_inline;  ///< names of functions; see rewrite()
  Dialect dialect;
  std::set<std::string_view> reference_kernels;  ///< those with a parameter that is a reference
  std::map<std::string_view, TemplateKernel> template_kernels;
  std::map<std::string, std::pair<bool, int>>
      functions;  ///< of namespaces, by their type: is it a kernel, and where it stood first
};

/// Text as a C++ string literal.
std::string in_quotes(std::string_view text);

/// What a rule is made of: the syntax to look at, the unit to change.
class Rule : protected Syntax {
 public:
  explicit Rule(Unit& unit) : Syntax(unit.tokens, unit.partner), unit_(unit) {}

 protected:
  void replace(std::size_t offset, std::size_t length, std::string text) {
    unit_.edits.push_back({offset, length, std::move(text)});
  }
  void replace_token(std::size_t i, std::string text) {
    replace(list_[i].offset, list_[i].text.size(), std::move(text));
  }
  void insert_before(std::size_t i, std::string text) {
    replace(list_[i].offset, 0, std::move(text));
  }
  void insert_after(std::size_t i, std::string text) {
    replace(list_[i].end(), 0, std::move(text));
  }
  void remove_tokens(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) replace_token(i, "");
  }
  void report(const Token& at, std::string message);
  void warn(const Token& at, std::string message);
  int column_of(const Token& at) const;
  void report_unsupported(const Token& at, const std::string& what) {
    report(at, what + " not simulated");
  }
  bool in_function() const { return unit_.scopes.back().kind == Scope::Kind::block; }
  /// Does the program's token stand in a function that kernels run?
  bool in_device_code(std::size_t i) const {
    return unit_.scopes.back().side != Side::host && in_function() && !list_[i].in_system_header;
  }
  /// The function whose body the token stands in, or nullptr.
  const FunctionBody* body_at(std::size_t i) const;
  /// Is the name at i declared there, as a parameter or a local variable?
  bool declares(std::size_t i, const FunctionBody& body) const;

  Unit& unit_;
};

}  // namespace simtcc
