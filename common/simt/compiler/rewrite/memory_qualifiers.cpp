#include <set>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class MemoryQualifiers : private Rule {
 public:
  using Rule::Rule;

  bool drop_stray(std::size_t i) {
    if (!is_stray(i)) return false;
    warn(list_[i],
         "nvcc takes no notice of " + std::string(list_[i].text) + " here, as this declares no " +
             (is(i, "__global__") ? "function" : "variable of its own") + ": take it away");
    replace_token(i, "");
    unit_.handled.insert(i);
    return true;
  }

  // Without -rdc=true a variable of the device that is only declared is one of this file.
  void define_extern_variables() {
    if (unit_.names.relocatable) return;
    std::set<std::string_view> defined;
    std::set<std::size_t> stays;  // `extern` of what is defined, too, or cannot be
    for (const auto& [word, name] : unit_.extern_variables) {
      const bool is_block = list_[word + 1].kind == TokenKind::string;  // extern "C"
      if (is_block || unit_.defined_variables.contains(list_[name].text) || declares_const(word))
        stays.insert(word);
    }
    for (const auto& [word, name] : unit_.extern_variables) {
      if (stays.contains(word)) continue;
      const std::string_view text = list_[name].text;
      warn(list_[name], "without -rdc=true nvcc makes '" + std::string(text) +
                            "' a variable of this file alone: take extern away if it is one, or "
                            "compile all files with -rdc=true");
      if (defined.insert(text).second && unit_.handled.insert(word).second)
        replace_token(word, "static __attribute__((unused))");
    }
  }

 private:
  bool is_stray(std::size_t i) const {
    if (list_[i].in_system_header && i + 1 < list_.size() && list_[i + 1].in_system_header)
      return false;
    const bool of_type = unit_.scopes.back().kind == Scope::Kind::type;
    const std::size_t start = declaration_start(i);
    if (is(start, "typedef") || is(i - 1, "<") || is(i - 1, "=")) return true;
    if (is(i, "__global__")) return !in_function() && !of_type && declares_variable(i + 1);
    if (unit_.parentheses > 0) return true;
    if (in_function()) return false;
    if (parameters_of(i + 1) != kNone) return true;
    if (!of_type) return false;
    for (std::size_t j = start; j < list_.size() && is_identifier(j); ++j) {
      if (is(j, "static") || is(j, "extern") || is(j, "inline")) return false;
    }
    return true;
  }

  // int a, *b = 0;
  bool declares_variable(std::size_t i) const {
    while (is_identifier(i) || is(i, "*")) ++i;
    return is(i, ";") || is(i, "=") || is(i, ",");
  }
};

}  // namespace

bool drop_stray_qualifier(Unit& unit, std::size_t i) {
  return MemoryQualifiers(unit).drop_stray(i);
}
void define_extern_variables(Unit& unit) { MemoryQualifiers(unit).define_extern_variables(); }

}  // namespace simtcc
