#include <set>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class Declarations : private Rule {
 public:
  using Rule::Rule;

  // One function cannot be a kernel in one declaration and none in another. Two are one if all is the same but for qualifiers
  // and the names of the parameters.
  void note_function(std::size_t i) {
    const std::size_t close = partner_[i + 1];
    if (unit_.scopes.back().kind != Scope::Kind::space || close == kNone || i == unit_.head ||
        list_[i + 1].in_system_header)
      return;
    if (is(unit_.head, "template") && !is(unit_.head + 1, "<")) return;  // an instantiation
    bool is_kernel = false;
    std::string type;
    for (const Scope& scope : unit_.scopes) type += std::string(scope.name) + "::";
    for (std::size_t j = unit_.head; j < i; ++j) {
      is_kernel |= is(j, "__global__");
      if (is(j, "requires") || is(j, "=") || is(j, "operator")) return;
      if (takes_attribute_parenthesis(list_[j].text) && is(j + 1, "(")) {
        j = skip_group(j + 1) - 1;
      } else if (!is_qualifier(j)) {
        type += std::string(list_[j].text) + " ";
      }
    }
    type += std::string(list_[i].text) + "(";
    for (const auto& [from, to] : parts(i + 2, close)) type += type_of(from, to) + ",";
    const Token& t = list_[i];
    const auto [known, is_new] = unit_.functions.try_emplace(type, is_kernel, t.line);
    if (is_new || known->second.first == is_kernel) return;
    const std::string name = "'" + std::string(t.text) + "'";
    const std::string line = " (line " + std::to_string(known->second.second) + ")";
    report(t, is_kernel ? name + " was declared without __global__ before" + line +
                              ": write it there as well, or give the kernel another name"
                        : name + " was declared as a kernel before" + line +
                              ": write __global__ here as well, or give the function another name");
  }

  void check_launch_bounds(std::size_t i) {
    if (!is(i + 1, "(") || list_[i + 1].in_system_header || in_function()) return;
    const std::string word(list_[i].text);
    bool is_kernel = false;
    std::size_t other = kNone;
    for (std::size_t j = unit_.head; j < list_.size() && !is(j, ";") && !is(j, "{"); ++j) {
      is_kernel |= is(j, "__global__");
      if (is(j, "__launch_bounds__") || is(j, "__maxnreg__")) other = is(j, word) ? other : j;
    }
    if (!is_kernel)
      return report(list_[i], word +
                                  " is for kernels: take it away, or write __global__ before the "
                                  "function");
    if (is(i - 1, ")") && is(skip_group(i + 1), "{") && !is(unit_.head, "template"))
      return report(list_[i], word + " stands ahead of the kernel's name: write '__global__ void " +
                                  word + "(...) kernel(...) {'");
    if (other != kNone && other < i)
      return report(list_[i],
                    "a kernel has __launch_bounds__ or __maxnreg__, and not both: take one away");
    const std::size_t values = parts(i + 2, partner_[i + 1]).size();
    const bool is_string = list_[i + 2].kind == TokenKind::string;
    if (is_string || (list_[i + 2].kind == TokenKind::number &&
                      list_[i + 2].text.find('.') != std::string_view::npos))
      return report(list_[i + 2], word + " takes whole numbers: write " + word + "(256)");
    if (word == "__maxnreg__") {
      const std::string_view value = values ? list_[i + 2].text : std::string_view{};
      if (values != 1 || value == "-" || value == "0" || i + 2 == partner_[i + 1])
        report(list_[i],
               "__maxnreg__ takes the most registers of a thread, one number above 0: write "
               "__maxnreg__(64)");
      return;
    }
    if (values < 1 || values > 3)
      report(list_[i],
             "__launch_bounds__ takes the most threads of a block, and if need be the fewest "
             "blocks of a multiprocessor and the most of a cluster: write __launch_bounds__(256)");
  }

  void check_grid_constant(std::size_t i) {
    std::size_t open = i;
    while (open > unit_.head && !is(open, "("))
      open = is(open, ")") ? partner_[open] - 1 : open - 1;
    if (in_function() || !is(open, "(") || list_[open].in_system_header) return;
    bool is_kernel = false;
    for (std::size_t j = unit_.head; j < open; ++j) is_kernel |= is(j, "__global__");
    if (!is_kernel)
      return report(list_[i],
                    "__grid_constant__ is for parameters of kernels: take it away from this "
                    "function's");
    for (const auto& [from, to] : parts(open + 1, partner_[open])) {
      if (i < from || i >= to) continue;
      bool is_const = false;
      for (std::size_t j = from; j < to && !is(j, "="); ++j) {
        if (is(j, "const")) is_const = true;
        if (is(j, "*") || is(j, "&") || is(j, "&&")) is_const = false;
      }
      if (!is_const)
        report(list_[i],
               "a parameter with __grid_constant__ is const, and no reference: write 'const "
               "__grid_constant__' and the type");
    }
  }

  void check_address(std::size_t i) {
    static const std::set<std::string_view> builtins = {"threadIdx", "blockIdx", "blockDim",
                                                        "gridDim", "warpSize"};
    std::size_t name = i + 1;
    while (is(name, "(")) ++name;
    if (!is_identifier(name) || !builtins.contains(list_[name].text)) return;
    const FunctionBody* const body = body_at(i);
    if (is_binary(i) || (body && declares(name, *body))) return;
    const std::string variable(list_[name].text);
    report(list_[i], "'" + variable +
                         "' has no address, as it stands in registers: copy it to a variable of "
                         "your own, 'auto copy = " +
                         variable + ";'");
  }

 private:
  bool is_qualifier(std::size_t j) const {
    static const std::set<std::string_view> words = {"__global__", "__device__", "__host__",
                                                     "static",     "inline",     "extern"};
    return list_[j].kind == TokenKind::string || words.contains(list_[j].text);
  }

  // A parameter without its name and its default.
  std::string type_of(std::size_t from, std::size_t to) const {
    const std::size_t name = declared_name(from, to);
    std::string type;
    for (std::size_t j = from; j < to && !is(j, "="); ++j) {
      if (j != name && !is(j, "__restrict__") && !is(j, "__restrict") &&
          !is(j, "__grid_constant__"))
        type += std::string(list_[j].text) + " ";
    }
    return type == "void " ? std::string() : type;
  }

  // a & b, f(x) & b, a[0] & b; but not (int*)&b
  bool is_binary(std::size_t i) const {
    if (is(i - 1, "]") || list_[i - 1].kind == TokenKind::number) return true;
    if (is(i - 1, ")")) return !is(i - 2, "*");
    return is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text);
  }
};

}  // namespace

void note_function(Unit& unit, std::size_t i) { Declarations(unit).note_function(i); }
void check_launch_bounds(Unit& unit, std::size_t i) { Declarations(unit).check_launch_bounds(i); }
void check_grid_constant(Unit& unit, std::size_t i) { Declarations(unit).check_grid_constant(i); }
void check_address(Unit& unit, std::size_t i) { Declarations(unit).check_address(i); }

}  // namespace simtcc
