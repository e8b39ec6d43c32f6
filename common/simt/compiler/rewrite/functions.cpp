#include <algorithm>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// Where a function runs, in attributes of g++ that change nothing here and come out again where it prints what it
// has made of the source: see execution_spaces.h.
constexpr std::string_view kDeviceMark = "__attribute__((no_instrument_function))";
constexpr std::string_view kBothMark =
    "__attribute__((no_instrument_function, no_profile_instrument_function))";
constexpr std::string_view kInlineMark = " __attribute__((always_inline))";
constexpr std::string_view kHostMark = "__attribute__((no_profile_instrument_function)) ";

class Functions : private Rule {
 public:
  using Rule::Rule;

  // `__device__` and `__global__` become marks that g++ keeps with the function.
  void mark_function(std::size_t i) {
    const bool kernel = is(i, "__global__");
    const bool lambda = marks_lambda(i);
    if (!lambda && is_behind_lambda(i)) {
      report(list_[i], "the qualifiers of a lambda stand ahead of its parameters: write '[=] " +
                           std::string(list_[i].text) + " (...)'");
      return replace_token(i, "");
    }
    const std::size_t parameters = parameters_of(i + 1);
    if (parameters == kNone && !lambda) {
      if (!kernel) note_variables(i + 1);
      if (!kernel) check_thread_local(i);
      if (!kernel) check_member(i);
      if (!kernel) check_local(i);
      return replace_token(i, kernel ? std::string(kKernelMark) : "");
    }
    // (The qualifier itself is a macro of a system header.)
    const bool of_program = parameters != kNone && !list_[parameters].in_system_header;
    if (kernel && !lambda && of_program) check_kernel(unit_, i, parameters);
    if (!lambda && of_program) check_letters(parameters - 1);
    bool host = false;
    const std::size_t end = parameters == kNone ? i + 3 : parameters;
    for (std::size_t j = declaration_start(i); j < end && j < list_.size(); ++j) {
      if (is(j, "__host__")) host = true;
    }
    if (!lambda && of_program) {
      (kernel ? unit_.names.kernels
       : host ? unit_.names.both
              : unit_.names.device)
          .insert(name_before(parameters));
    }
    if (lambda) check_lambda(unit_, i, host);
    if (kernel) return replace_token(i, std::string(kKernelMark));
    const bool defaulted = parameters != kNone && is_defaulted(parameters);
    std::string mark(defaulted ? "" : std::string(host ? kBothMark : kDeviceMark));
    const std::string name(lambda ? kLambda : name_before(parameters));
    if (!defaulted && unit_.to_inline.contains(name)) mark += kInlineMark;
    if (lambda && parameters != kNone) {
      // Ahead of the parameters of one that is mutable, g++ loses the mark.
      std::size_t j = skip_group(parameters);
      const bool is_mutable = is(j, "mutable") || (is(j, "constexpr") && is(j + 1, "mutable"));
      if (is_mutable) {
        while (is(j + 1, "constexpr") || is(j + 1, "mutable") || is(j + 1, "noexcept")) ++j;
        if (is(j, "noexcept") && is(j + 1, "(")) j = skip_group(j + 1) - 1;
        insert_after(j, " " + mark + " ");
        return replace_token(i, "");
      }
    }
    replace_token(i, mark);
  }

  // A variable of a class cannot be one of the device.
  void check_member(std::size_t i) {
    if (unit_.scopes.back().kind != Scope::Kind::type) return;
    std::size_t end = declaration_start(i);
    for (; end < list_.size() && !is(end, ";") && !is(end, "=") && !is(end, "{"); ++end) {
      if (is(end, "(") || is(end, "operator")) return;
    }
    // (The qualifier itself is a macro of a system header.)
    if (end == list_.size() || list_[end].in_system_header) return;
    // nvcc does not care about one of each object.
    if (!is_static(i, end)) return;
    report(list_[i], "a member of a class cannot be " + std::string(list_[i].text) +
                         ": declare the variable outside of the class");
  }

  // A variable of the device is there once.
  void check_local(std::size_t i) {
    if (!in_function()) return;
    std::size_t end = i;
    while (end < list_.size() && !is(end, ";") && !is(end, "=") && !is(end, "{") && !is(end, "("))
      ++end;
    if (end == list_.size() || list_[end].in_system_header) return;
    // In device code nvcc takes a static one.
    if (is_static(i, end) && !(says(i, end, "static") && is_in_host_function(i))) return;
    report(list_[i], "a " + std::string(list_[i].text) +
                         " variable stands outside of functions: declare it there, or take the "
                         "qualifier away for a variable of each thread's own");
  }

  // All threads share it.
  void check_thread_local(std::size_t i) {
    for (std::size_t j = declaration_start(i); j < list_.size() && is_identifier(j); ++j) {
      if (!is(j, "thread_local") || list_[j].in_system_header) continue;
      return report(list_[j], "a " + std::string(list_[i].text) +
                                  " variable cannot be thread_local: take that word away, as all "
                                  "threads share the variable");
    }
  }

  // _global_, __device, global
  static bool is_misspelt_space(std::string_view word) {
    if (word == "__global__" || word == "__device__") return false;
    const std::size_t first = word.find_first_not_of('_'), last = word.find_last_not_of('_');
    if (first == word.npos) return false;
    const std::string_view bare = word.substr(first, last + 1 - first);
    return bare == "global" || bare == "device";
  }

  // [] (int i) __device__ {}
  bool is_behind_lambda(std::size_t i) const {
    while (i > 0 && is_identifier(i)) --i;
    if (!is(i, ")") || partner_[i] == kNone || list_[i].in_system_header) return false;
    const std::size_t bracket = partner_[i] - 1;
    return is(bracket, "]") && partner_[bracket] != kNone && !is(partner_[bracket] - 1, "operator");
  }

  // Is this the body of a function that the host alone runs? (Not known of templates, nor of what is declared elsewhere.)
  bool is_in_host_function(std::size_t i) const {
    if (!in_function() || unit_.scopes.back().side != Side::host || unit_.scopes.back().templated)
      return false;
    const FunctionBody* const body = body_at(i);
    const std::size_t parameters = body ? parameters_of(body->head) : kNone;
    if (parameters == kNone || parameters < 2 || is(parameters - 2, "::")) return false;
    for (std::size_t j = body->head; j < parameters; ++j) {
      if (is_misspelt_space(list_[j].text)) return false;  // which g++ will tell
    }
    const std::string_view name = name_before(parameters);
    const Names& names = unit_.names;
    return !names.device.contains(name) && !names.both.contains(name) &&
           !names.kernels.contains(name);
  }

  // What `__constant__ float a, b[3];` declares: variables that kernels can use.
  void note_variables(std::size_t i) {
    bool managed = false, constant = false;
    std::size_t extern_at = kNone;
    for (std::size_t j = declaration_start(i - 1); j < list_.size() && is_identifier(j); ++j) {
      managed |= is(j, "__managed__");
      constant |= is(j, "__constant__");
      if (is(j, "extern")) extern_at = j;
    }
    const bool is_extern = extern_at != kNone;
    while (i < list_.size() && !is(i, ";") && !is(i, "{") && !is(i, "}")) {
      if (is(i, "<")) {
        const std::size_t end = skip_angles(i);
        i = end == kNone ? i + 1 : end;
      } else if (is(i, "=")) {
        while (i < list_.size() && !is(i, ",") && !is(i, ";"))
          i = is_opening(i) ? skip_group(i) : i + 1;
      } else if (is(i, "[") || (is(i, "(") && !is(i + 1, "*"))) {
        i = skip_group(i);
      } else {
        if (is_identifier(i) &&
            (is(i + 1, ";") || is(i + 1, "=") || is(i + 1, "[") || is(i + 1, "{") ||
             is(i + 1, ",") || is(i + 1, "(") || is(i + 1, ")"))) {
          unit_.names.variables.insert(list_[i].text);
          note_definition(i, extern_at);
          if (constant) note_constant(i);
          if (!managed) unit_.names.device_variables.insert(list_[i].text);
          std::size_t after = i + 1;
          while (is(after, "[")) after = skip_group(after);
          if (constant && !is_extern && (is(after, ";") || is(after, ",")))
            unit_.names.uninitialized_constants.insert(list_[i].text);
        }
        ++i;
      }
    }
  }

  void note_definition(std::size_t i, std::size_t extern_at) {
    if (extern_at == kNone || is(i + 1, "=") || is(i + 1, "{")) {
      unit_.defined_variables.insert(list_[i].text);
    } else if (!in_function() && !list_[i].in_system_header &&
               !(is(i + 1, "[") && is(i + 2, "]"))) {
      unit_.extern_variables.emplace_back(extern_at, i);
    }
  }

  void note_constant(std::size_t i) {
    const Token& t = list_[i];
    unit_.names.constants.insert(t.text);
    unit_.names.constant_places.push_back(
        {std::string(t.text), tokens_.files[t.file], t.line, column_of(t), t.line});
  }

  // The same for variables of the host: what a declaration of a namespace or a class may name, the one or other member or
  // function among them.
  void note_host_variables(std::size_t head, std::size_t end) {
    if (head >= end || list_[head].in_system_header) return;
    for (std::size_t i = head; i < end; ++i) {
      if (is(i, "__device__") || is(i, "__constant__") || is(i, "__managed__") ||
          is(i, "__shared__") || is(i, "__global__") || is(i, "using") || is(i, "typedef"))
        return;
      if (is(i, "=")) break;
    }
    for (std::size_t i = head; i < end; ++i) {
      if (is(i, "=") || is(i, "{")) {
        while (i < end && !is(i, ",")) i = is_opening(i) ? skip_group(i) : i + 1;
        continue;
      }
      // A parameter may have the name of a variable of the device.
      if (is(i, "[") || (is(i, "(") && !is(i + 1, "*"))) {
        i = skip_group(i) - 1;
        continue;
      }
      if (is_identifier(i) && (i + 1 == end || is(i + 1, "=") || is(i + 1, "[") || is(i + 1, "{") ||
                               is(i + 1, ",") || is(i + 1, ")")))
        unit_.names.host_variables.insert(list_[i].text);
    }
  }

  // A constexpr function without `__device__` is one of the host's, unless simtcc is told otherwise.
  void note_constexpr(std::size_t i) {
    if (i > 0 && (is(i - 1, "if") || is(i - 1, ")"))) return;
    const std::size_t start = declaration_start(i);
    const std::size_t parameters = parameters_of(start);
    if (parameters == kNone || parameters < i || in_function()) return;
    for (std::size_t j = start; j < parameters; ++j) {
      if (is(j, "__device__") || is(j, "=")) return;
    }
    const std::string_view name = name_before(parameters);
    if (!list_[i].in_system_header) {
      unit_.names.constexprs.insert(name);
      return;
    }
    const std::string_view owner =
        unit_.scopes.back().kind == Scope::Kind::type ? unit_.scopes.back().name : "std";
    std::string full = std::string(owner) + "::" + std::string(name);
    for (std::size_t j = parameters; name == "operator" && j > start && !is(j - 1, name); --j)
      full.insert(owner.size() + 10, list_[j - 1].text);
    unit_.names.library_constexprs.insert(std::move(full));
  }

  // A constructor, destructor or assignment that somebody wrote is the host's if it does not say otherwise. One that the
  // compiler makes is where it is needed.
  void mark_special_member(std::size_t i) {
    const Token& t = list_[i];
    if (t.in_system_header || unit_.scopes.back().name.empty()) return;
    const bool named = t.text == unit_.scopes.back().name && is(i + 1, "(");
    const bool assigns = t.text == "operator" && is(i + 1, "=") && is(i + 2, "(");
    if (!named && !assigns) return;
    const std::size_t parameters = assigns ? i + 2 : i + 1;
    if (is_defaulted(parameters)) return;
    std::size_t start = unit_.head;
    while (start < i && !is(start, "friend")) {
      if (is(start, "template") && is(start + 1, "<")) {
        const std::size_t end = skip_angles(start + 1);
        if (end == kNone || end > i) return;
        start = end;
      } else if (is(start, ":") || is(start + 1, ":")) {
        ++start;  // public:
      } else {
        break;
      }
    }
    for (std::size_t j = start; j < i; ++j) {
      if (is(j, "__device__") || is(j, "friend") || is(j, "=") || is(j, "return")) return;
    }
    insert_before(start, std::string(kHostMark));
  }

 private:
  bool says(std::size_t i, std::size_t end, std::string_view word) const {
    for (std::size_t j = declaration_start(i); j < end; ++j) {
      if (is(j, word)) return true;
    }
    return false;
  }

  // Does the declaration with the qualifier at i say so? (What is __shared__ is static.)
  bool is_static(std::size_t i, std::size_t end) const {
    return says(i, end, "static") || says(i, end, "extern") || says(i, end, "inline") ||
           says(i, end, "__shared__");
  }

  // nvcc takes no others in what it gives a name in device code.
  void check_letters(std::size_t i) {
    const std::string_view name = list_[i].text;
    if (name.find('\\') == std::string_view::npos &&
        std::all_of(name.begin(), name.end(), [](char c) { return !(c & 0x80); }))
      return;
    report(list_[i],
           "the name of a function of the device cannot have letters beyond ASCII: rename it");
  }
};

}  // namespace

void mark_function(Unit& unit, std::size_t i) { Functions(unit).mark_function(i); }
void note_variables(Unit& unit, std::size_t i) { Functions(unit).note_variables(i); }
void check_member(Unit& unit, std::size_t i) { Functions(unit).check_member(i); }
void check_local(Unit& unit, std::size_t i) { Functions(unit).check_local(i); }
bool is_in_host_function(Unit& unit, std::size_t i) {
  return Functions(unit).is_in_host_function(i);
}
void check_thread_local(Unit& unit, std::size_t i) { Functions(unit).check_thread_local(i); }
void note_host_variables(Unit& unit, std::size_t head, std::size_t end) {
  Functions(unit).note_host_variables(head, end);
}
void note_constexpr(Unit& unit, std::size_t i) { Functions(unit).note_constexpr(i); }
void mark_special_member(Unit& unit, std::size_t i) { Functions(unit).mark_special_member(i); }

}  // namespace simtcc
