// Statements that C++ takes and nobody means, names of device code in functions of the host, and a bracket that is missing.
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class Statements : private Rule {
 public:
  using Rule::Rule;

  // `if (i = 0)`, `if (i < n);` and `for (...); {`
  void visit_control(std::size_t i) {
    if (!is(i + 1, "(") || partner_[i + 1] == kNone || list_[i].in_system_header) return;
    const std::size_t close = partner_[i + 1];
    const std::string word(list_[i].text);
    if (word != "for") look_for_assignment(i + 2, close);
    // Where a macro stood that is empty, the preprocessor leaves a blank.
    if (!is(close + 1, ";") || !adjacent(close, close + 1)) return;
    const bool is_followed = is(close + 2, "{");
    if (word == "if" && !is(close + 2, "else")) {
      warn(list_[close + 1],
           "the ';' ends this 'if', so what follows is done in either case: take "
           "the ';' away");
    } else if (word == "for" && is_followed) {
      warn(list_[close + 1],
           "the ';' is all that this 'for' repeats, and what follows is done "
           "once: take the ';' away");
    }
  }

  // `k<<<(2, 2), (16, 16)>>>`: to C++ each is its last number.
  void visit_launch_value(std::size_t begin, std::size_t end) {
    if (!is(begin, "(") || partner_[begin] != end - 1) return;
    const auto inner = parts(begin + 1, end - 1);
    if (inner.size() < 2) return;
    const std::string text = flat(begin, end);
    warn(list_[begin], "'" + text + "' is '" + flat(inner.back().first, inner.back().second) +
                           "' to C++, the last of its values: write 'dim3" + text + "'");
  }

  // threadIdx and its like on the host: nvcc's program has no such variable there, and does not link.
  void visit_index(std::size_t i) {
    if (!is(i + 1, ".") || (i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"))))
      return;
    if (!is_in_host_function(unit_, i) || is_declared_somewhere(list_[i].text)) return;
    report(list_[i], "'" + std::string(list_[i].text) +
                         "' exists in device code only, and this function runs on the host: write "
                         "__global__ or __device__ before the function, or hand the value over");
  }

  // `#pragma unroll n` of a parameter or a variable.
  void visit_loop(std::size_t i) {
    const auto pragma = unit_.unrolls.lower_bound(i > 0 ? list_[i - 1].end() : 0);
    if (pragma == unit_.unrolls.end() || pragma->first > list_[i].offset) return;
    std::string_view name = pragma->second;
    const std::size_t begin = name.find_first_not_of(" \t(");
    if (begin == std::string_view::npos) return;
    name = name.substr(begin, name.find_last_not_of(" \t\r)") + 1 - begin);
    const FunctionBody* const body = body_at(i);
    const std::size_t parameters = body ? parameters_of(body->head) : kNone;
    if (parameters == kNone) return;
    std::size_t j = i;
    while (j > parameters && !(is(j, name) && declares(j, *body))) {
      --j;
      if (is(j, "}") && partner_[j] != kNone) j = partner_[j];
    }
    const bool is_number =
        j > parameters && is_builtin_type(list_[j - 1].text) && !is(j - 1, "auto");
    if (!is_number) return;
    for (std::size_t k = j - 1; k > parameters && is_identifier(k); --k) {
      if (is(k, "const") || is(k, "constexpr")) return;
    }
    report(list_[i], "the number of `#pragma unroll " + std::string(name) +
                         "` is known only at run time: write a constant, or take the number away");
  }

  // The bracket that nothing closes; with a brace, the function that seems to begin within it. False if there is none.
  bool report_open_bracket() {
    std::size_t brace = kNone, other = kNone;
    for (std::size_t open = 0; open < list_.size(); ++open) {
      if (!is_opening(open) || partner_[open] != kNone) continue;
      if (!is(open, "{")) {
        other = open;
      } else if (brace == kNone) {
        brace = open;
      }
    }
    if (other != kNone) {
      const std::string text(list_[other].text);
      report(list_[other], "this '" + text + "' is never closed: a '" + (text == "(" ? ")" : "]") +
                               "' is missing");
    } else if (brace != kNone) {
      const std::size_t next = function_behind(brace);
      report(list_[brace], next == kNone
                               ? "this '{' is never closed: a '}' is missing"
                               : "this '{' is not closed before '" + std::string(list_[next].text) +
                                     "' begins in line " + std::to_string(list_[next].line) +
                                     ": a '}' is missing");
    }
    return other != kNone || brace != kNone;
  }

 private:
  // The condition is an assignment of a number.
  void look_for_assignment(std::size_t begin, std::size_t close) {
    if (close < begin + 3 || list_[close - 1].kind != TokenKind::number || !is(close - 2, "=") ||
        !is_identifier(begin))
      return;
    for (std::size_t i = begin; i < close - 2; ++i) {
      if (is_identifier(i) && is_identifier(i + 1)) return;  // it declares a variable
      if (!is_identifier(i) && !is(i, ".") && !is(i, "->") && !is(i, "[") && !is(i, "]")) return;
    }
    warn(list_[close - 2],
         "'=' sets the variable here, it does not compare: write '==' for 'is equal to'");
  }

  // Only where it is declared, or handed over whole, no member follows.
  bool is_declared_somewhere(std::string_view name) const {
    for (std::size_t j = 0; j < list_.size(); ++j) {
      if (is(j, name) && !is(j + 1, ".") && !list_[j].in_system_header) return true;
    }
    return false;
  }

  // The name of the first function behind `open` that begins in the first column, as functions do.
  std::size_t function_behind(std::size_t open) const {
    for (std::size_t i = open + 1; i + 1 < list_.size(); ++i) {
      if (!is_identifier(i) || !is(i + 1, "(") || partner_[i + 1] == kNone ||
          !is(partner_[i + 1] + 1, "{") || is_statement_keyword(list_[i].text))
        continue;
      std::size_t start = i;
      while (start > open + 1 && list_[start - 1].line == list_[i].line) --start;
      if (start < i && column_of(list_[start]) == 1) return i;
    }
    return kNone;
  }
};

}  // namespace

void check_statement(Unit& unit, std::size_t i) {
  const std::string_view word = unit.tokens.list[i].text;
  if (word == "if" || word == "while" || word == "for") Statements(unit).visit_control(i);
  if (word == "threadIdx" || word == "blockIdx" || word == "blockDim" || word == "gridDim")
    Statements(unit).visit_index(i);
}

void check_unroll(Unit& unit, std::size_t i) {
  if (!unit.scopes.back().templated && !unit.unrolls.empty()) Statements(unit).visit_loop(i);
}

void check_launch_value(Unit& unit, std::size_t begin, std::size_t end) {
  Statements(unit).visit_launch_value(begin, end);
}

bool report_open_bracket(Unit& unit) { return Statements(unit).report_open_bracket(); }

}  // namespace simtcc
