#include <string>
#include <string_view>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

class MemberTypes : private Rule {
 public:
  using Rule::Rule;

  // `struct Name {`, `template <class T> class Name;`, `enum class Name : int {`
  void note(std::size_t key) {
    if (list_[key].in_system_header || unit_.parentheses > 0 || is(unit_.head, "friend")) return;
    const std::size_t name = name_behind(key);
    if (!is_identifier(name) ||
        !(is(name + 1, "{") || is(name + 1, ";") || is(name + 1, ":") || is(name + 1, "final")))
      return;
    std::string path;
    for (const Scope& scope : unit_.scopes) {
      if (scope.kind == Scope::Kind::block) return;
      if (!scope.name.empty()) path += std::string(scope.name) + "::";
    }
    path += list_[name].text;
    const std::string_view access = unit_.scopes.back().access;
    const auto [known, is_new] = unit_.names.access_of_types.try_emplace(path, access);
    // Specialisations of a class may differ.
    if (!is_new && known->second != access) known->second = "public";
  }

 private:
  std::size_t name_behind(std::size_t key) const {
    std::size_t i = key + 1;
    if (is(key, "enum") && (is(i, "class") || is(i, "struct"))) ++i;
    while (is_identifier(i) && takes_attribute_parenthesis(list_[i].text) && is(i + 1, "("))
      i = skip_group(i + 1);
    return i;
  }
};

}  // namespace

void note_member_type(Unit& unit, std::size_t i) { MemberTypes(unit).note(i); }

}  // namespace simtcc
