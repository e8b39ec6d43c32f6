#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// `[=] __device__ (int i) { ... }` in host code. nvcc refuses more of them: it makes a type of each that stands outside of the function
// around.
class Lambdas : private Rule {
 public:
  using Rule::Rule;

  void check(std::size_t i, bool host) {
    const std::size_t bracket = bracket_of(i);
    if (bracket != kNone && has_word(bracket, i, "__device__")) return;  // said twice
    check_option(i);
    if (unit_.scopes.back().side != Side::host) return;
    check_captures(i, host);
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

  // As under nvcc: g++ puts the results of constexpr lambdas in place, and then nobody sees who calls them.
  void make_not_constexpr(std::size_t i) {
    const std::size_t open = body_of(i);
    if (open != kNone && in_function())
      insert_after(open, " simt_not_constexpr: __attribute__((unused));");
  }

  // A lambda that is handed to a kernel holds copies. (Within device code it may refer to what is there.)
  void check_captures(std::size_t i, bool host) {
    const std::size_t bracket = bracket_of(i);
    if (bracket == kNone) return;
    for (const auto& [begin, end] : parts(partner_[bracket] + 1, bracket)) {
      if (begin >= end) continue;
      if (!is(begin, "&")) continue;
      return report(
          list_[begin],
          std::string("a ") + (host ? "__host__ __device__" : "__device__") +
              " lambda cannot capture by reference, as the variables are the host's: write "
              "[=], and hand over pointers to device memory for what it shall change");
    }
  }
};

}  // namespace

void check_lambda_option(Unit& unit, std::size_t i) { Lambdas(unit).check_option(i); }
void check_lambda(Unit& unit, std::size_t i, bool host) { Lambdas(unit).check(i, host); }

}  // namespace simtcc
