#include <set>
#include <string>
#include <string_view>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

// g++ works these out when it compiles. (nvcc does so of abs() and isnan(), too.)
bool is_real_function(std::string_view name) {
  static const std::set<std::string_view> names = {
      "acos",  "acosh", "asin", "asinh", "atan",   "atan2",     "atanh",  "cbrt",      "ceil",
      "cos",   "cosh",  "erf",  "erfc",  "exp",    "exp2",      "expm1",  "fabs",      "fdim",
      "floor", "fma",   "fmax", "fmin",  "fmod",   "hypot",     "ldexp",  "lgamma",    "log",
      "log10", "log1p", "log2", "lrint", "lround", "nearbyint", "pow",    "remainder", "rint",
      "round", "sin",   "sinh", "sqrt",  "tan",    "tanh",      "tgamma", "trunc"};
  if (name.starts_with("__builtin_")) name.remove_prefix(10);
  if (names.contains(name)) return true;
  return name.ends_with('f') && names.contains(name.substr(0, name.size() - 1));
}

class InitialValues : private Rule {
 public:
  using Rule::Rule;

  void check(std::size_t i) {
    const bool is_static = is(i, "static");
    if (unit_.scopes.back().templated || is(unit_.head, "template")) return;
    for (std::size_t j = declaration_start(i); j < i; ++j) {
      if (is(j, "__device__") || is(j, "__constant__")) return;  // where it has been called
    }
    bool has_value = false;
    for (; i < list_.size() && !is(i, ";"); ++i) {
      if (is(i, "sizeof") || is(i, "decltype") || is(i, "alignof") || is(i, "noexcept")) {
        if (is(i + 1, "(")) i = skip_group(i + 1) - 1;
        continue;
      }
      has_value |= is(i, "=") || is(i, "{") || is(i, "(");
      if (!has_value) continue;
      // What is not evaluated, or later: nobody knows here.
      const bool is_lambda =
          is(i, "[") && !is_identifier(i - 1) && !is(i - 1, "]") && !is(i - 1, ")");
      if (is_lambda || is(i, "?") || is(i, "&&") || is(i, "||")) return;
      if (!calls_real_function(i)) continue;
      return report(list_[i],
                    "'" + std::string(list_[i].text) +
                        "' cannot be called for the initial value of " +
                        (is_static ? "a static variable of device code: write the number, or make "
                                     "the variable no static"
                                   : "a variable of the device: write the number, or set the "
                                     "variable with cudaMemcpyToSymbol()"));
    }
  }

 private:
  // Of the library, and not one that the program has itself.
  bool calls_real_function(std::size_t i) const {
    if (!is_identifier(i) || !is(i + 1, "(") || list_[i].in_system_header) return false;
    const std::string_view name = list_[i].text;
    if (!is_real_function(name) || is(i - 1, ".") || is(i - 1, "->")) return false;
    const bool is_qualified = is(i - 1, "::");
    if (is_qualified && is_identifier(i - 2) && (!is(i - 2, "std") || is(i - 3, "::")))
      return false;
    return is_qualified || !is_declared_before(name, i);
  }

  bool is_declared_before(std::string_view name, std::size_t end) const {
    for (std::size_t j = 1; j < end; ++j) {
      if (is(j, name) && is(j + 1, "(") && !list_[j].in_system_header && is_identifier(j - 1) &&
          !is_statement_keyword(list_[j - 1].text))
        return true;
    }
    return false;
  }
};

}  // namespace

void check_initial_value(Unit& unit, std::size_t i) { InitialValues(unit).check(i); }

}  // namespace simtcc
