#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

// `[=] __device__ (int i) { ... }` in host code: nvcc makes a type of it that stands outside of the function around, and refuses
// where that cannot be.
class Lambdas : private Rule {
 public:
  using Rule::Rule;

  void check(std::size_t i, bool host) {
    const std::size_t bracket = bracket_of(i);
    if (bracket != kNone && has_word(bracket, i, "__device__")) return;  // said twice
    check_option(i);
    if (check_lambda_around(i, host)) return;
    const bool on_device = unit_.scopes.back().side == Side::device;
    if (host && !on_device && bracket != kNone && is_generic(bracket + 1))
      report(list_[i], kind(host) + " cannot be generic: write types for 'auto'");
    if (unit_.scopes.back().side != Side::host) return;
    check_access(i, host);
    check_function(i, host);
    check_captures(i, host);
    check_captured_types(i, host);
    check_constexpr(i, host);
    check_packs(i, host);
    check_template(i, host);
    check_constexpr_if(i, host);
    make_not_constexpr(i);
  }

  // Once: the option is for the whole file.
  void check_option(std::size_t i) {
    if (unit_.dialect.extended_lambda || bracket_of(i) == kNone) return;
    unit_.dialect.extended_lambda = true;
    warn(list_[i], "nvcc takes a lambda with " + std::string(list_[i].text) +
                       " only with the option --extended-lambda: compile with it");
  }

 private:
  // The `]` of the program's lambda with a qualifier at i, or kNone.
  std::size_t bracket_of(std::size_t i) const {
    while (i > 0 && is_identifier(i)) --i;
    return is(i, "]") && partner_[i] != kNone && !list_[i].in_system_header ? i : kNone;
  }

  // The brace of the lambda whose `]` stands ahead of i, or kNone.
  std::size_t body_of(std::size_t i) const {
    while (i < list_.size() && !is(i, "{") && !is(i, ";") && !is_closing(i))
      i = is_opening(i) ? skip_group(i) : i + 1;
    return is(i, "{") && partner_[i] != kNone ? i : kNone;
  }

  bool has_word(std::size_t begin, std::size_t end, std::string_view word) const {
    for (; begin < end; ++begin) {
      if (is(begin, word)) return true;
    }
    return false;
  }

  // Is a parameter of the lambda whose `]` stands ahead of i of type auto, or has it a template's?
  bool is_generic(std::size_t i) const {
    if (is(i, "<")) return true;
    while (is_identifier(i)) ++i;
    if (!is(i, "(") || partner_[i] == kNone) return false;
    for (const auto& [from, to] : parts(i + 1, partner_[i])) {
      for (std::size_t j = from; j < to && !is(j, "=") && !is(j, "("); ++j) {
        if (is(j, "auto")) return true;
      }
    }
    return false;
  }

  bool begins_lambda(std::size_t open) const {
    if (!is(open, "[") || partner_[open] == kNone || is(open - 1, ")") || is(open - 1, "]") ||
        (is_identifier(open - 1) && !is_statement_keyword(list_[open - 1].text)))
      return false;
    const std::size_t after = partner_[open] + 1;
    return is_identifier(after) || is(after, "(") || is(after, "{") || is(after, "<");
  }

  // What cannot have the lambda at i in it. \return is it in one?
  bool check_lambda_around(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    if (!body || list_[body->open].in_system_header) return false;
    const bool in_host_code = parameters_of(body->head) != kNone &&
                              !has_word(body->head, body->open, "__device__") &&
                              !has_word(body->head, body->open, "__global__");
    for (std::size_t j = body->open; in_host_code && j < i; ++j) {
      if (!begins_lambda(j)) continue;
      const std::size_t after = partner_[j] + 1, open = body_of(after);
      if (open == kNone || open > i || partner_[open] < i) continue;
      const bool device = has_word(after, open, "__device__");
      if (device && !has_word(after, open, "__host__")) return false;
      if (!device && !is_generic(after)) continue;
      report(list_[i], kind(host) + " cannot stand in a " +
                           (device ? "__host__ __device__ lambda: write a lambda without qualifiers"
                                   : "generic lambda: write the types of that one's parameters"));
      return true;
    }
    return false;
  }

  void check_constexpr(std::size_t i, bool host) {
    const std::size_t open = body_of(i);
    for (std::size_t j = i; open != kNone && j < open; j = is_opening(j) ? skip_group(j) : j + 1) {
      if (is(j, "constexpr") || is(j, "consteval"))
        return report(list_[j], kind(host) + " cannot be constexpr: take that word away");
    }
  }

  // As under nvcc: g++ puts the results of constexpr lambdas in place, and then nobody sees who calls them.
  void make_not_constexpr(std::size_t i) {
    const std::size_t open = body_of(i);
    if (open != kNone && in_function())
      insert_after(open, " simt_not_constexpr: __attribute__((unused));");
  }

  static std::string kind(bool host) {
    return std::string("a ") + (host ? "__host__ __device__" : "__device__") + " lambda";
  }

  // The function around needs a name and a type of its own.
  void check_function(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    const std::size_t parameters = body ? parameters_of(body->head) : kNone;
    if (parameters == kNone || parameters < 1 || parameters > body->open ||
        partner_[parameters] == kNone || list_[body->open].in_system_header)
      return;
    const std::string_view name = name_before(parameters);
    const bool destructor = is(parameters - 2, "~");
    bool constructor = parameters > 2 && is(parameters - 2, "::") && is(parameters - 3, name);
    bool in_block = false, in_local_class = false;
    std::string_view innermost;
    for (const Scope& scope : unit_.scopes) {
      in_local_class |= in_block && scope.kind == Scope::Kind::type;
      in_block |= scope.kind == Scope::Kind::block;
      if (scope.kind == Scope::Kind::type) innermost = scope.name;
    }
    constructor |= !destructor && !innermost.empty() && innermost == name;
    if (destructor || constructor) {
      return report(list_[i], kind(host) + " cannot stand in a " +
                                  (destructor ? "destructor" : "constructor") +
                                  ": move it into a function that this one calls");
    }
    if (in_local_class) {
      return report(list_[i], kind(host) +
                                  " cannot stand in a class within a function: declare the class "
                                  "outside of functions");
    }
    bool deduced = false;
    for (std::size_t j = body->head; j + 1 < parameters;) {
      const std::size_t end = is(j, "<") ? skip_angles(j) : kNone;
      deduced |= is(j, "auto");
      j = end != kNone && end <= parameters ? end : j + 1;
    }
    for (std::size_t j = partner_[parameters]; j < body->open; ++j) deduced &= !is(j, "->");
    if (deduced) {
      report(list_[i], kind(host) +
                           " cannot stand in a function whose result is 'auto': write the type of "
                           "the result");
    }
  }

  // A lambda that is handed to a kernel holds copies. (Within device code it may refer to what is there.)
  void check_captures(std::size_t i, bool host) {
    const std::size_t bracket = bracket_of(i);
    if (bracket == kNone) return;
    for (const auto& [begin, end] : parts(partner_[bracket] + 1, bracket)) {
      if (begin >= end) continue;
      if (host && is_identifier(begin) && is(begin + 1, "=")) {
        return report(list_[begin],
                      "a __host__ __device__ lambda cannot capture '" +
                          std::string(list_[begin].text) +
                          "' with a value of its own: make it a variable before, and capture that");
      }
      if (!is(begin, "&")) continue;
      return report(list_[begin],
                    kind(host) +
                        " cannot capture by reference, as the variables are the host's: write "
                        "[=], and hand over pointers to device memory for what it shall change");
    }
  }

  // The types of what is captured are in nvcc's text for the host, outside of the function and the class around.
  void check_captured_types(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    const std::size_t bracket = bracket_of(i), open = body_of(i);
    if (!body || bracket == kNone || open == kNone || unit_.scopes.back().templated) return;
    std::set<std::string_view> local = classes_in(body->open, bracket), hidden;
    std::size_t member = declaration_in_class(*body);
    if (member == kNone) member = body->head;
    if (const auto [access, head] = access_of(member); !access.empty()) {
      std::size_t brace = head;
      while (!is(brace, "{")) ++brace;
      for (const std::string_view name : classes_in(brace, partner_[brace])) hidden.insert(name);
    }
    std::set<std::string_view> own;  // of the lambda
    for (std::size_t j = partner_[bracket] + 1; j < partner_[open]; ++j) {
      if (is(j, "sizeof") || is(j, "decltype")) {
        if (is(j + 1, "(")) j = skip_group(j + 1) - 1;
      } else if (j < bracket && is_identifier(j) && is(j + 1, "=")) {
        while (j < bracket && !is(j, ",")) j = is_opening(j) ? skip_group(j) : j + 1;
      } else if (j > bracket && is_identifier(j) && declares(j, *body)) {
        own.insert(list_[j].text);
      } else if (is_identifier(j) && !own.contains(list_[j].text) && !is(j - 1, ".") &&
                 !is(j - 1, "->") && !is(j - 1, "::")) {
        const bool is_local = has_type_of(list_[j].text, *body, bracket, local);
        if (!is_local && !has_type_of(list_[j].text, *body, bracket, hidden)) continue;
        return report(list_[j], kind(host) + " cannot capture '" + std::string(list_[j].text) +
                                    (is_local ? "', whose type is declared in a function: declare "
                                                "the type outside of functions"
                                              : "', whose type is a private or protected member of "
                                                "a class: make the type public"));
      }
    }
  }

  // The classes and enumerations that are defined in braces, those of inner functions left out. In a class, those that are
  // not public.
  std::set<std::string_view> classes_in(std::size_t open, std::size_t end) const {
    std::set<std::string_view> names;
    const bool in_function = end != partner_[open];
    for (std::size_t j = open + 1; j < end; ++j) {
      if (!is_class_key(list_[j].text) || is(j - 1, "<") || is(j - 1, ",")) {
        if (is(j, "{") && !in_function) j = skip_group(j) - 1;
        continue;
      }
      const std::size_t name = is(j, "enum") && is_class_key(list_[j + 1].text) ? j + 2 : j + 1;
      if (!is_identifier(name) || !(is(name + 1, "{") || is(name + 1, ":"))) continue;
      if (in_function || access_of(j).first != "public") names.insert(list_[name].text);
    }
    return names;
  }

  // Does the function around declare a variable of this name, ahead of `end`, with one of these types in its type?
  bool has_type_of(std::string_view name, const FunctionBody& body, std::size_t end,
                   const std::set<std::string_view>& types) const {
    const auto is_type = [&](std::size_t j) {
      return is_identifier(j) && types.contains(list_[j].text);
    };
    for (std::size_t j = body.head; j < end && !types.empty(); ++j) {
      if (is(j, "{") && skip_group(j) < end) j = skip_group(j);
      if (!is(j, name) || !is_identifier(j)) continue;
      if (is(j - 1, "}") && partner_[j - 1] != kNone)  // struct P { int a; } p;
        return is_type(partner_[j - 1] - 1) && is_class_key(list_[partner_[j - 1] - 2].text);
      const bool is_pointer = (is(j - 1, "*") || is(j - 1, "&")) && is_type(j - 2);
      if (!is_pointer && !declares(j, body)) continue;
      if (is(j - 1, "auto")) return is(j + 1, "=") && is_type(j + 2) && !is(j + 3, "::");
      for (std::size_t k = declaration_start(is_pointer ? j - 1 : j); k < j; ++k) {
        if (is(k, "static")) return false;
        if (is_type(k) && !is(k + 1, "::")) return true;
      }
      return false;
    }
    return false;
  }

  void check_packs(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    const std::size_t bracket = bracket_of(i), open = body_of(i);
    const std::size_t parameters = body ? parameters_of(body->head) : kNone;
    if (parameters == kNone || parameters > body->open || bracket == kNone || open == kNone) return;
    std::set<std::string_view> packs;
    for (const auto& [from, to] : parts(parameters + 1, partner_[parameters])) {
      const std::size_t name = declared_name(from, to);
      if (name != kNone && has_pack(from, to)) packs.insert(list_[name].text);
    }
    for (std::size_t j = partner_[bracket] + 1; j < partner_[open]; ++j) {
      const bool of_value = j < bracket && is_identifier(j) && is(j + 1, "=");  // [a = f(xs...)]
      if (of_value && !is(j - 1, "...")) {
        while (j < bracket && !is(j, ",")) j = is_opening(j) ? skip_group(j) : j + 1;
      } else if (is(j, "sizeof") || is(j, "decltype")) {
        while (is(j + 1, "...")) ++j;
        if (is(j + 1, "(")) j = skip_group(j + 1) - 1;
      } else if (is_identifier(j) && declares(j, *body)) {
        packs.erase(list_[j].text);
      } else if (is_identifier(j) && packs.contains(list_[j].text) && !is(j - 1, ".") &&
                 !is(j - 1, "->") && !is(j - 1, "::")) {
        return report(list_[j], kind(host) + " cannot capture the parameter pack '" +
                                    std::string(list_[j].text) +
                                    "': copy what it needs to variables, and capture those");
      }
    }
  }

  // nvcc's text for the host names each template parameter around. (Of the class, those without a default.)
  void check_template(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    if (!body) return;
    const auto check_head = [&](std::size_t head, bool of_class) {
      while (is(head, "template") && is(head + 1, "<")) {
        const std::size_t end = skip_angles(head + 1);
        if (end == kNone || end > i) return false;
        for (const auto& [from, to] : parts(head + 2, end - 1)) {
          if (!is_unnamed(from, to)) continue;
          if (of_class && (has_word(from, to, "=") || has_pack(from, to))) continue;
          report(list_[i], kind(host) +
                               " cannot stand in a template whose parameters have no names: write "
                               "a name for each, as in 'typename Enabled = ...'");
          return true;
        }
        head = end;
      }
      return false;
    };
    if (check_head(body->head, false)) return;
    std::size_t class_head = kNone;
    for (const Scope& scope : unit_.scopes) {
      if (scope.kind == Scope::Kind::block) break;
      class_head = scope.kind == Scope::Kind::type ? scope.outer_head : kNone;
    }
    check_head(class_head, true);
  }

  // A parameter of a template without a name; one that is hidden in parentheses has one.
  bool is_unnamed(std::size_t from, std::size_t to) const {
    std::size_t end = from;
    while (end < to && !is(end, "=")) ++end;
    for (std::size_t j = from; j < end; ++j) {
      if (is(j, "(")) return false;
      if (is(j, "<")) j = std::min(skip_angles(j), end) - 1;
    }
    const std::size_t name = declared_name(from, end);
    return name == kNone || is(name - 1, "::");
  }

  // With [=] a variable of the function around is captured where it is named first, and that cannot be in a part of the lambda
  // that an instance may leave out.
  void check_constexpr_if(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    const std::size_t bracket = bracket_of(i), open = body_of(i);
    if (!body || bracket == kNone || open == kNone) return;
    std::set<std::string_view> named;  // ahead of it, or in the list of captures
    for (std::size_t j = partner_[bracket]; j < open; ++j) named.insert(list_[j].text);
    std::size_t left_out_until = 0;
    for (std::size_t j = open + 1; j < partner_[open]; ++j) {
      if (is(j, "if") && is(j + 1, "constexpr") && is(j + 2, "("))
        left_out_until = std::max(left_out_until, end_of_if(skip_group(j + 2)));
      if (!is_identifier(j) || is(j - 1, ".") || is(j - 1, "->") || is(j - 1, "::")) continue;
      const std::string_view name = list_[j].text;
      if (j >= left_out_until || (is_identifier(j - 1) && declares(j, *body))) {
        named.insert(name);
      } else if (!named.contains(name) && is_local(name, *body, bracket)) {
        return report(list_[j], kind(host) + " cannot name '" + std::string(name) +
                                    "' first within an `if constexpr`: name it ahead of that, "
                                    "too, as in `(void)" +
                                    std::string(name) + ";`");
      }
    }
  }

  // One past the branches of an `if` whose condition ends ahead of i.
  std::size_t end_of_if(std::size_t i) const {
    while (i < list_.size()) {
      while (i < list_.size() && !is(i, "{") && !is(i, ";"))
        i = is(i, "(") || is(i, "[") ? skip_group(i) : i + 1;
      i = is(i, "{") ? skip_group(i) : i + 1;
      if (!is(i, "else")) break;
      ++i;
    }
    return i;
  }

  // What is static needs no capture; constants are refused, too.
  bool is_local(std::string_view name, const FunctionBody& body, std::size_t end) const {
    std::size_t i = body.head;
    while (is(i, "template") && is(i + 1, "<")) {
      const std::size_t after = skip_angles(i + 1);
      if (after == kNone) return false;
      i = after;
    }
    for (bool is_static = false; i < end; ++i) {
      if (is(i, ";") || is(i, "{") || is(i, "}")) is_static = false;
      is_static |= is(i, "static");
      if (is(i, name) && is_identifier(i) && declares(i, body)) return !is_static;
    }
    return false;
  }

  // The kernel's instance has the lambda's type in its name, and with it the function around and its classes.
  void check_access(std::size_t i, bool host) {
    const FunctionBody* const body = body_at(i);
    if (!body || list_[body->open].in_system_header) return;
    const std::size_t inside = declaration_in_class(*body);
    std::size_t member = inside == kNone ? body->head : inside;
    for (bool is_function = true;; is_function = false) {
      const auto [access, head] = access_of(member);
      if (access.empty()) return;
      if (access != "public")
        return report(list_[i],
                      kind(host) + " cannot stand in a " + std::string(access) +
                          (is_function ? " function of a class: make the function public"
                                       : " class within another class: make the class public"));
      member = head;
    }
  }

  // The access of the member whose declaration begins at i, and where that of its class begins; no access of what is no member.
  std::pair<std::string_view, std::size_t> access_of(std::size_t i) const {
    std::string_view access;
    std::size_t j = i + 1;  // which may say `private:`
    while (j-- > 0) {
      if (is_closing(j) && partner_[j] != kNone && partner_[j] < j) {
        j = partner_[j];
      } else if (is(j, "{")) {
        break;
      } else if (access.empty() && is(j + 1, ":") &&
                 (is(j, "public") || is(j, "protected") || is(j, "private"))) {
        access = list_[j].text;
      }
    }
    if (j >= list_.size()) return {};
    std::size_t head = j;  // of what the brace opens
    while (head > 0 && !is(head - 1, ";") && !is(head - 1, "{") && !is(head - 1, "}")) --head;
    bool is_class = false, is_struct = false;
    for (std::size_t k = head; k < j; ++k) {
      if (is(k, "template") && is(k + 1, "<")) k = std::min(skip_angles(k + 1), j) - 1;
      if (is(k, "(") || is(k, "namespace") || is(k, "enum")) return {};
      is_class |= is(k, "class");
      is_struct |= is(k, "struct");
    }
    if (!is_class && !is_struct) return {};
    if (access.empty()) access = is_class ? "private" : "public";
    return {access, head};
  }

  // `void A::f() {}`: where the class declares f, or kNone if that is not known.
  std::size_t declaration_in_class(const FunctionBody& body) const {
    const std::size_t parameters = parameters_of(body.head);
    if (parameters == kNone || parameters < 4 || parameters > body.open ||
        !is(parameters - 2, "::") || partner_[parameters] == kNone)
      return kNone;
    std::size_t owner = parameters - 3;
    if (is(owner, ">")) {
      owner = angle_start(owner);
      if (owner == kNone || owner == 0) return kNone;
      --owner;
    }
    const std::size_t open = class_named(list_[owner].text, body.head);
    if (open == kNone) return kNone;
    std::size_t found = kNone;
    for (std::size_t j = open + 1; j < partner_[open]; ++j) {
      if (is_opening(j) && !(is(j, "(") && is(j - 1, list_[parameters - 1].text))) {
        j = skip_group(j) - 1;
      } else if (is(j, "(")) {
        if (parameter_types(j) == parameter_types(parameters))
          found = found == kNone ? j - 1 : kNone;
        j = skip_group(j) - 1;
      }
    }
    return found;
  }

  // The brace of the only class of this name ahead of `end`, or kNone.
  std::size_t class_named(std::string_view name, std::size_t end) const {
    std::size_t found = kNone;
    for (std::size_t j = 1; j < end; ++j) {
      if (!is(j, name) || !(is(j - 1, "class") || is(j - 1, "struct"))) continue;
      std::size_t open = j + 1;
      while (open < end && !is(open, "{") && !is(open, ";") && !is(open, "(") && !is_closing(open))
        ++open;
      if (!is(open, "{") || partner_[open] == kNone) continue;
      if (found != kNone) return kNone;
      found = open;
    }
    return found;
  }
};

}  // namespace

void check_lambda_option(Unit& unit, std::size_t i) { Lambdas(unit).check_option(i); }
void check_lambda(Unit& unit, std::size_t i, bool host) { Lambdas(unit).check(i, host); }

}  // namespace simtcc
