#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

// A virtual function and one that overrides it have the same execution space. (Of a destructor that nobody wrote nvcc says
// nothing.)
class VirtualFunctions : private Rule {
 public:
  using Rule::Rule;

  void note_class(std::string_view name, std::size_t head, std::size_t open) {
    if (name.empty() || partner_[open] == kNone) return;
    std::vector<std::string> path = path_of_scopes();
    ClassDeclaration declared{std::string(name), bases(head, open, path), {}};
    path.emplace_back(name);
    for (const MemberFunction& function : functions(open)) {
      declared.functions.push_back(function);
      check(declared, declared.functions.back());
    }
    const auto [known, is_new] = unit_.classes.try_emplace(path, std::move(declared));
    // Of a template and its specialisations nobody knows here which one is meant.
    if (!is_new) known->second.is_known = false;
  }

 private:
  std::vector<std::string> path_of_scopes() const {
    std::vector<std::string> path;
    for (std::size_t i = 1; i < unit_.scopes.size(); ++i) {
      const Scope& scope = unit_.scopes[i];
      path.push_back(scope.kind == Scope::Kind::block ? std::to_string(scope.outer_head)
                                                      : std::string(scope.name));
    }
    return path;
  }

  // The classes that [head, open) says it derives from; nullptr for one that is not known.
  std::vector<const ClassDeclaration*> bases(std::size_t head, std::size_t open,
                                             const std::vector<std::string>& path) const {
    std::vector<const ClassDeclaration*> found;
    std::size_t colon = head;
    bool has_key = false;
    while (colon < open && !(has_key && is(colon, ":"))) {
      has_key |= is_identifier(colon) && is_class_key(list_[colon].text);
      const std::size_t end = is(colon, "<") ? skip_angles(colon) : kNone;
      colon = end == kNone ? colon + 1 : end;
    }
    if (colon >= open) return found;
    const bool templated = unit_.scopes.back().templated || is(head, "template");
    for (const auto& [from, to] : parts(colon + 1, open))
      found.push_back(base(from, to, path, templated));
    return found;
  }

  const ClassDeclaration* base(std::size_t i, std::size_t end, const std::vector<std::string>& path,
                               bool templated) const {
    while (is(i, "virtual") || is(i, "public") || is(i, "protected") || is(i, "private")) ++i;
    std::vector<std::string> name;
    for (; i < end; ++i) {
      if (is_identifier(i)) {
        name.emplace_back(list_[i].text);
      } else if (is(i, "<")) {
        const std::size_t after = skip_angles(i);
        if (templated || after == kNone) return nullptr;  // which one it is, an instance says
        i = after - 1;
      } else if (!is(i, "::")) {
        return nullptr;
      }
    }
    for (std::size_t length = path.size() + 1; length-- > 0;) {
      std::vector<std::string> full(path.begin(), path.begin() + static_cast<long>(length));
      full.insert(full.end(), name.begin(), name.end());
      const auto known = unit_.classes.find(full);
      if (known != unit_.classes.end()) return known->second.is_known ? &known->second : nullptr;
    }
    return nullptr;
  }

  // Those of a class with a name and a body or none, templates and static ones left out.
  std::vector<MemberFunction> functions(std::size_t open) const {
    std::vector<MemberFunction> found;
    for (std::size_t i = open + 1; i < partner_[open];) {
      const std::size_t parameters = parameters_of(i);
      const bool is_function = parameters != kNone && partner_[parameters] != kNone;
      if (is_function) {
        MemberFunction function{parameters, {}, Side::host, false, false};
        if (read(i, function)) found.push_back(function);
      }
      i = end_of_member(is_function ? skip_group(parameters) : i, is_function);
    }
    return found;
  }

  bool read(std::size_t head, MemberFunction& function) const {
    bool device = false, host = false, is_destructor = false;
    for (std::size_t i = head; i < function.parameters; ++i) {
      if (is(i, "static") || is(i, "template") || is(i, "friend")) return false;
      if (list_[i].branch != Branch::none) return false;
      device |= is(i, "__device__");
      host |= is(i, "__host__");
      is_destructor |= is(i, "~");
      function.is_virtual |= is(i, "virtual");
      if (is(i, "operator")) function.name = flat(i, function.parameters);
    }
    if (device) function.side = host ? Side::both : Side::device;
    if (function.name.empty())
      function.name = is_destructor ? "~" : std::string(name_before(function.parameters));
    for (std::size_t i = skip_group(function.parameters); is_identifier(i) || is(i, "&"); ++i)
      function.overrides |= is(i, "override") || is(i, "final");
    return true;
  }

  // One past the member whose declaration goes on at i.
  std::size_t end_of_member(std::size_t i, bool is_function) const {
    if ((is(i, ":") || is(i + 1, ":")) && !is_function) {
      const bool is_access = is(i, "public") || is(i, "protected") || is(i, "private");
      if (is_access) return i + 2;
    }
    bool has_initialisers = false;  // of a constructor, and those may have braces
    while (i < list_.size() && !is(i, ";")) {
      has_initialisers |= is_function && is(i, ":");
      const bool is_brace = is(i, "{");
      const bool is_body = is_function && is_brace && !(has_initialisers && is_identifier(i - 1));
      if (is_closing(i)) return i + 1;
      i = is_opening(i) ? skip_group(i) : i + 1;
      if (is_body) return i;
    }
    return i + 1;
  }

  void check(const ClassDeclaration& of, MemberFunction& function) {
    bool all_known = true;
    std::vector<std::pair<const ClassDeclaration*, const MemberFunction*>> alike;
    collect(of, function, alike, all_known);
    const bool is_only = function.overrides && alike.size() == 1 && all_known;
    for (const auto& [base, overridden] : alike) {
      if (!is_only &&
          parameter_types(function.parameters) != parameter_types(overridden->parameters))
        continue;
      function.is_virtual = true;
      if (overridden->side == function.side) continue;
      return report(list_[function.parameters - 1],
                    "'" + full_name(of, function) + "' is a " + kind(function.side) +
                        " function and overrides '" + full_name(*base, *overridden) +
                        "', which is a " + kind(overridden->side) +
                        " function: write the same qualifiers before both");
    }
  }

  // The virtual functions of its bases that it may override, the nearest of each.
  void collect(const ClassDeclaration& of, const MemberFunction& function,
               std::vector<std::pair<const ClassDeclaration*, const MemberFunction*>>& alike,
               bool& all_known) const {
    for (const ClassDeclaration* const base : of.bases) {
      if (!base) {
        all_known = false;
        continue;
      }
      const std::size_t before = alike.size();
      for (const MemberFunction& other : base->functions) {
        if (other.is_virtual && other.name == function.name &&
            qualifiers(other) == qualifiers(function) &&
            parameter_types(other.parameters).size() == parameter_types(function.parameters).size())
          alike.emplace_back(base, &other);
      }
      if (alike.size() == before) collect(*base, function, alike, all_known);
    }
  }

  // const, volatile and & behind the parameters
  std::string qualifiers(const MemberFunction& function) const {
    std::string words;
    for (std::size_t i = skip_group(function.parameters);
         is_identifier(i) || is(i, "&") || is(i, "&&"); ++i) {
      if (is(i, "const") || is(i, "volatile") || !is_identifier(i)) words += list_[i].text;
    }
    return words;
  }

  static std::string full_name(const ClassDeclaration& of, const MemberFunction& function) {
    return of.name + "::" + function.name + (function.name == "~" ? of.name : "");
  }
  static std::string kind(Side side) {
    return side == Side::host ? "host" : side == Side::both ? "__host__ __device__" : "__device__";
  }
};

}  // namespace

void check_virtual_functions(Unit& unit, std::string_view name, std::size_t head,
                             std::size_t open) {
  VirtualFunctions(unit).note_class(name, head, open);
}

}  // namespace simtcc
