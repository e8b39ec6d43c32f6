#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class Atomics : private Rule {
 public:
  using Rule::Rule;

  // Atomics of which the compiler or the hardware makes fewer, if it sees one of two things: that nobody
  // looks at the old value, or that all lanes name one address.
  void visit_atomic(std::size_t i) {
    if (!in_function() || !is(i + 1, "(")) return;
    const std::size_t end = skip_group(i + 1);
    // An atomic among the arguments would take the remarks for itself.
    for (std::size_t j = i + 2; j < end; ++j) {
      if (list_[j].text.starts_with("atomic")) return;
    }
    if (!is(i, "atomicExch")) note_address(i);
    if (unit_.parentheses > 0 || !is(end, ";")) return;
    std::size_t start = i;
    if (start >= 3 && is(start - 1, ")") && is(start - 2, "void") && is(start - 3, "(")) start -= 3;
    if (start == 0 || !follows_a_statement(start)) return;
    insert_before(start, "::simt::detail::result_unused(), ");
  }

  // What `__device__ int count, sums[8];` declares, for mark_same_address(). Of pointers, references and
  // functions nothing is noted.
  void note_device_variables(std::size_t i) {
    while (is_identifier(i) || is(i, "::")) ++i;
    while (is(i, ";") || is(i, "=") || is(i, "[") || is(i, "{") || is(i, ",")) {
      if (is_identifier(i - 1)) unit_.device_names.insert(list_[i - 1].text);
      while (i < list_.size() && !is(i, ",") && !is(i, ";"))
        i = is_opening(i) ? skip_group(i) : i + 1;
      if (!is(i, ",") || !is_identifier(i + 1)) return;
      i += 2;
    }
  }

  // `atomicAdd(count, 1)`: the address is made of what no thread of a warp can see differently.
  void mark_same_address(const UpdatedAddress& atomic) {
    const FunctionBody* const body = body_at(atomic.begin);
    if (!body || !is(body->open - 1, ")")) return;
    if (!is_uniform(*body, atomic.begin, atomic.end, true)) return;
    const bool value = atomic.value_begin == atomic.value_end ||
                       is_uniform(*body, atomic.value_begin, atomic.value_end, false);
    insert_before(atomic.begin,
                  std::string("::simt::detail::same_address<") + (value ? "true" : "false") + ">(");
    insert_before(atomic.end, ")");
  }

 private:
  // Of the call at i.
  void note_address(std::size_t i) {
    const std::size_t end = skip_group(i + 1);
    std::size_t comma = i + 2;
    while (comma < end && !is(comma, ","))
      comma = is_opening(comma) ? skip_group(comma) : comma + 1;
    if (comma < end) unit_.atomics.push_back({i + 2, comma, comma + 1, end - 1});
  }

  bool head_names(const FunctionBody& body, std::string_view word) const {
    for (std::size_t j = body.head; j < body.open; ++j) {
      if (is(j, word)) return true;
    }
    return false;
  }

  // Are tokens [begin, end) an expression that no thread of the block can see differently? It is made of
  // parameters, blockIdx, literals and variables that are made of such. An address may also be that of a variable of the
  // device or the block. Values that would have to be loaded do not count, nor what is called.
  static constexpr unsigned kMostSteps = 8;  // from variable to variable, from function to function

  bool is_uniform(const FunctionBody& body, std::size_t begin, std::size_t end, bool address,
                  unsigned steps = 0) const {
    if (steps > kMostSteps) return false;
    for (std::size_t j = begin; j < end; ++j) {
      const Token& t = list_[j];
      if (t.kind == TokenKind::number || is(j - 1, ".")) continue;
      if (t.kind == TokenKind::punctuator) {
        if (std::string_view("&*+-/%()[].").find(t.text) == std::string_view::npos) return false;
        if (t.is("*") && (j == begin || list_[j - 1].kind == TokenKind::punctuator)) return false;
        if (t.is("&") && !(address && j == begin)) return false;
        continue;
      }
      if (!t.is_identifier()) return false;
      const bool base = address && (j == begin || (j == begin + 1 && is(begin, "&")));
      if (is(j + 1, "[") && !base) return false;
      if (t.is("blockIdx") || t.is("gridDim") || t.is("blockDim")) continue;
      if (base && is_shared(body, t.text)) continue;
      if (base && unit_.device_names.contains(t.text) && !is_declared(body, t.text)) continue;
      if (!is_parameter(body, t.text, steps) && !is_uniform_variable(body, t.text, steps))
        return false;
    }
    return begin < end;
  }

  // A __shared__ variable of this function, or of none?
  bool is_shared(const FunctionBody& body, std::string_view name) const {
    const auto [first, last] = unit_.shared_names.equal_range(name);
    return std::any_of(first, last, [&](const auto& shared) {
      return body_at(shared.second) == &body ||
             (!body_at(shared.second) && !is_declared(body, name));
    });
  }

  // Does the function declare the name anew, as a parameter or a local variable?
  bool is_declared(const FunctionBody& body, std::string_view name) const {
    for (std::size_t j = body.head; j < body.close; ++j) {
      if (!is(j, name)) continue;
      // A product of another variable with this one looks the same, and is taken for a declaration.
      const bool pointer = is(j - 1, "*") || is(j - 1, "&") || is(j - 1, "&&");
      if (declares(j, body) || (pointer && is_identifier(j - 2))) return true;
    }
    return false;
  }

  // Is `name` a parameter that nothing in the function's body assigns or declares anew, and of which all threads
  // have the same? Those of a kernel are. Those of another function are if every call says so: nvcc
  // puts its body in place of the call.
  bool is_parameter(const FunctionBody& body, std::string_view name, unsigned steps) const {
    const std::size_t open = partner_[body.open - 1];
    const auto parameters = parts(open + 1, body.open - 1);
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& part) {
      return (is(part.second, ",") || is(part.second, ")")) && is(part.second - 1, name);
    });
    if (found == parameters.end() || !keeps_its_value(body, name, kNone)) return false;
    if (head_names(body, "__global__")) return true;
    return is_same_in_calls(body, static_cast<std::size_t>(found - parameters.begin()), steps + 1);
  }

  // Does nothing in the body assign the variable? One that it declares elsewhere than at `declaration` is another
  // variable.
  bool keeps_its_value(const FunctionBody& body, std::string_view name,
                       std::size_t declaration) const {
    for (std::size_t j = body.open; j < body.close; ++j) {
      if (!is(j, name) || is(j - 1, ".") || is(j - 1, "->")) continue;
      if (j != declaration) {
        if (is_identifier(j - 1) && !is_statement_keyword(list_[j - 1].text)) return false;
        static constexpr std::array kAssignments = {
            "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
        for (const std::string_view sign : kAssignments) {
          if (is(j + 1, sign)) return false;
        }
      }
      for (const std::string_view sign : {"++", "--"}) {
        if (is(j - 1, sign) || is(j + 1, sign)) return false;
      }
    }
    return true;
  }

  // Is `name` a variable of the function that has one value, and all threads the same?
  bool is_uniform_variable(const FunctionBody& body, std::string_view name, unsigned steps) const {
    std::size_t declaration = kNone;
    for (std::size_t j = body.open; j < body.close; ++j) {
      if (!is(j, name)) continue;
      // Who has its address, or takes it as a whole, perhaps by reference, may assign it.
      if (is(j - 1, "&") && !is_identifier(j - 2) && !is(j - 2, ")") && !is(j - 2, "]"))
        return false;
      if (is_argument(j)) return false;
      const bool pointer = is(j - 1, "*") && is_identifier(j - 2) && is(j + 1, "=");
      if (declaration == kNone && is(j + 1, "=") && (pointer || declares(j, body))) declaration = j;
    }
    if (declaration == kNone || !keeps_its_value(body, name, declaration)) return false;
    const std::size_t begin = declaration + 2;
    std::size_t end = begin;
    while (end < body.close && !is(end, ",") && !is(end, ";") && !is_closing(end))
      end = is_opening(end) ? skip_group(end) : end + 1;
    return is_uniform(body, begin, end, is(begin, "&"), steps + 1);
  }

  // Is the name at i all of an argument, of what is no atomic operation?
  bool is_argument(std::size_t i) const {
    if (!is(i + 1, ",") && !is(i + 1, ")")) return false;
    if (!is(i - 1, ",") && !is(i - 1, "(")) return false;
    std::size_t open = i - 1;
    while (!is_opening(open)) open = is_closing(open) ? partner_[open] - 1 : open - 1;
    return is(open, "(") && is_identifier(open - 1) &&
           !is_statement_keyword(list_[open - 1].text) &&
           !list_[open - 1].text.starts_with("atomic");
  }

  // Do all calls of the function pass the same to every thread, as the parameter with this index? A function
  // whose name has other uses may be called from anywhere.
  bool is_same_in_calls(const FunctionBody& body, std::size_t index, unsigned steps) const {
    const std::size_t name = partner_[body.open - 1] - 1;
    if (steps > kMostSteps || name >= body.open || !is_identifier(name) || is(name - 1, "::"))
      return false;
    if (!head_names(body, "__device__") || head_names(body, "__noinline__") ||
        head_names(body, "noinline")) {
      return false;
    }
    bool called = false;
    for (std::size_t j = 0; j < list_.size(); ++j) {
      if (j == name || !is_identifier(j) || list_[j].text != list_[name].text) continue;
      const FunctionBody* const caller = body_at(j);
      std::size_t open = j + 1;
      if (is(open, "<")) open = skip_angles(open);
      if (open == kNone || !is(open, "(") || partner_[open] == kNone) return false;
      if (!caller) {
        if (!is(partner_[open] + 1, ";")) return false;  // one more of this name
        continue;
      }
      if (caller == &body || is(j - 1, ".") || is(j - 1, "->") || is(j - 1, "::")) return false;
      const auto arguments = parts(open + 1, partner_[open]);
      if (index >= arguments.size()) return false;
      const auto [begin, end] = arguments[index];
      if (!is(caller->open - 1, ")") || !is_uniform(*caller, begin, end, true, steps)) return false;
      called = true;
    }
    return called;
  }

  // May a statement begin at i, seen from what stands in front of it?
  bool follows_a_statement(std::size_t i) const {
    const std::size_t before = i - 1;
    if (is(before, ")")) {
      std::size_t head = partner_[before];
      if (head == kNone || head == 0) return false;
      if (is(head - 1, "constexpr")) --head;
      return head > 0 && (is(head - 1, "if") || is(head - 1, "for") || is(head - 1, "while"));
    }
    return is(before, ";") || is(before, "{") || is(before, "}") || is(before, "else") ||
           is(before, "do");
  }
};

}  // namespace

// The atomics that a warp can do with one lane's.
bool is_merging_atomic(std::string_view name) {
  static constexpr std::array kNames = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax",
                                        "atomicAnd", "atomicOr",  "atomicXor", "atomicExch"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

void rewrite_atomic(Unit& unit, std::size_t i) { Atomics(unit).visit_atomic(i); }
void note_device_variables(Unit& unit, std::size_t i) { Atomics(unit).note_device_variables(i); }
void mark_same_address(Unit& unit, const UpdatedAddress& atomic) {
  Atomics(unit).mark_same_address(atomic);
}

}  // namespace simtcc
