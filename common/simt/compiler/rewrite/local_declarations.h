/// \file
/// Declarations of variables of a thread's own: `int *p, a[8] = {}, b[2][3];`
#pragma once

#include <cstddef>
#include <vector>

#include "rewrite/unit.h"

namespace simtcc {

class LocalDeclarations : protected Rule {
 public:
  using Rule::Rule;

 protected:
  struct Declarator {
    std::size_t begin;  ///< its name, or a `*` ahead of that
    std::size_t name;
    std::size_t rank;         ///< how many extents
    std::size_t extents_end;  ///< one past them
    std::size_t end;          ///< `,` or `;`
  };

  /// One past the type at i, if its objects begin without a call, and without a value; kNone if this is no declaration of
  /// such. \param any also a parameter of the function's template, and what is volatile
  std::size_t skip_type(std::size_t i, bool any) const;
  /// What is declared from i on, behind the type; nothing if this is no such declaration.
  std::vector<Declarator> declarators_at(std::size_t i) const;
  /// Where the innermost scope at i ends.
  std::size_t scope_end(std::size_t i) const;

 private:
  bool is_template_parameter(std::size_t i) const;
};

}  // namespace simtcc
