#include <algorithm>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// Code that stands between the simulator and the kernel is not traced.
constexpr std::string_view kUntraced =
    "__attribute__((no_sanitize(\"thread\"), no_sanitize_coverage))";

class Launches : private Rule {
 public:
  using Rule::Rule;

  void visit_launch(std::size_t open) {
    const Token& t = list_[open];
    const std::size_t close = launch_close(open + 3);
    if (close == kNone) {
      report(t, "'<<<' starts a kernel launch, but no '>>>(' follows it");
      return;
    }
    const std::size_t start = kernel_start(open);
    if (start == kNone) {
      report(t, "'<<<' starts a kernel launch, but no kernel's name stands before it");
      return;
    }
    const Side side = unit_.scopes.back().side;
    if (side == Side::device) {
      report(
          t,
          "launches by kernels (dynamic parallelism) are not simulated: launch the kernel from the "
          "host, after this one");
      return;
    }
    const std::string kernel = flat(start, open);
    const auto values = parts(open + 3, close);
    if (!has_pack(open, close) && (values.size() < 2 || values.size() > 4)) {
      report(t, values.size() < 2
                    ? "a launch takes the number of blocks and the number of threads of a block: "
                      "write '" +
                          kernel + "<<<blocks, threads>>>(...)'"
                    : "a launch takes at most four values: " + kernel +
                          "<<<blocks, threads, bytes of shared memory, stream>>>");
      return;
    }
    for (std::size_t value = 0; value < std::min<std::size_t>(values.size(), 2); ++value)
      check_launch_value(unit_, values[value].first, values[value].second);
    name_types_of_braces(start, open, close + 3);
    if (side == Side::host && !unit_.scopes.back().templated) check_lambdas(open, close + 3);
    const std::string capture = in_function() ? "[&]" : "[]";
    const std::string launcher =
        (kernel.ends_with('>') ? "template_launcher" : "launcher") +
        (unit_.reference_kernels.empty() || side != Side::host ? ""
                                                               : variables_of_host(close + 3)) +
        "(";
    insert_before(start, "::simt::" + launcher + in_quotes(kernel) + ", " + capture +
                             "(auto simt_kernel) -> decltype(simt_kernel(" + kernel +
                             ")) { return simt_kernel(" + kernel + "); }, " + capture +
                             "(auto&... simt_arguments) " + std::string(kUntraced) + " { ");
    replace(list_[open].offset, 3, std::string("(simt_arguments...); }, ::simt::") + "config(");
    replace(list_[close].offset, 3, "))");
    // nullptr keeps being a null pointer when it is copied; NULL becomes a number.
    const std::size_t end = skip_group(close + 3);
    for (std::size_t i = close + 4; i + 1 < end; ++i) {
      if (is_opening(i)) i = skip_group(i) - 1;
      if (is(i, "__null") && (is(i - 1, "(") || is(i - 1, ",")) &&
          (is(i + 1, ")") || is(i + 1, ","))) {
        replace_token(i, "nullptr");
      }
    }
  }

 private:
  // A template whose arguments are deduced takes no braces by way of the launcher: they get the type of the parameter, by a name
  // that stands beside the kernel.
  void name_types_of_braces(std::size_t start, std::size_t open, std::size_t parenthesis) {
    if (partner_[parenthesis] == kNone || !is_identifier(open - 1)) return;
    const std::string_view name = list_[open - 1].text;
    const auto found = unit_.template_kernels.find(name);
    if (found == unit_.template_kernels.end() || !found->second.is_alone) return;
    TemplateKernel& kernel = found->second;
    const auto arguments = parts(parenthesis + 1, partner_[parenthesis]);
    for (std::size_t position = 0; position < arguments.size(); ++position) {
      const std::size_t brace = arguments[position].first;
      if (!is(brace, "{")) continue;
      const auto type = kernel.plain.find(position);
      if (type == kernel.plain.end()) {
        report(list_[brace], "what stands in braces has a type that the template '" +
                                 std::string(name) +
                                 "' leaves open: write the type before the brace");
        return;
      }
      const std::string alias =
          "simt_type_" + std::to_string(position) + "_of_" + std::string(name);
      if (kernel.named.insert(position).second)
        insert_before(kernel.head, "using " + alias + " = " + type->second + "; ");
      insert_before(brace, flat(start, open - 1) + alias);
    }
  }

  // The type of a lambda of the host cannot be an argument of a kernel template, even if nobody calls it.
  void check_lambdas(std::size_t open, std::size_t parenthesis) {
    const auto kernel = unit_.template_kernels.find(list_[open - 1].text);
    if (kernel == unit_.template_kernels.end() || !kernel->second.is_alone ||
        partner_[parenthesis] == kNone)
      return;
    const auto arguments = parts(parenthesis + 1, partner_[parenthesis]);
    for (std::size_t position = 0; position < arguments.size(); ++position) {
      const auto [from, to] = arguments[position];
      if (!kernel->second.deduced.contains(position)) continue;
      if (is_lambda_of_host(from, to) || (to == from + 1 && holds_lambda_of_host(from))) {
        report(list_[from], "a lambda of the host cannot be an argument of the kernel template '" +
                                std::string(kernel->first) +
                                "': write '[=] __device__ (...)', and compile with "
                                "--extended-lambda");
      }
    }
  }

  // Are tokens [begin, end) `[...] (...) { ... }`?
  bool is_lambda_of_host(std::size_t begin, std::size_t end) const {
    if (!is(begin, "[") || is(begin + 1, "[")) return false;
    std::size_t i = skip_group(begin);
    for (; i < end && !is(i, "{"); i = is_opening(i) ? skip_group(i) : i + 1) {
      if (is(i, "__device__")) return false;
    }
    return i < end && skip_group(i) == end;
  }

  // Is the name at i that of a variable, declared ahead of it as `auto name = [...] (...) { ... };`?
  bool holds_lambda_of_host(std::size_t i) const {
    const FunctionBody* const body = body_at(i);
    for (std::size_t j = i; body && j-- > body->head + 1;) {
      if (!is(j, list_[i].text) || !is_identifier(j)) continue;
      if (is(j - 1, "auto") && is(j + 1, "=")) {
        std::size_t end = j + 2;
        while (end < i && !is(end, ";")) end = is_opening(end) ? skip_group(end) : end + 1;
        return is_lambda_of_host(j + 2, end);
      }
      if (declares(j, *body)) return false;
    }
    return false;
  }

  // Which arguments of the launch are variables of the host, by name: no kernel can take these by reference. As template
  // arguments of the launcher, or nothing.
  std::string variables_of_host(std::size_t open) const {
    if (partner_[open] == kNone || !in_function()) return "";
    unsigned long long mask = 0;
    const auto arguments = parts(open + 1, partner_[open]);
    for (std::size_t k = 0; k < arguments.size() && k < 64; ++k) {
      const auto [from, to] = arguments[k];
      if (to == from + 1 && is_identifier(from) &&
          !unit_.names.variables.contains(list_[from].text) &&
          !is_reference(list_[from].text, from)) {
        mask |= 1ull << k;
      }
    }
    return mask ? "<" + std::to_string(mask) + "ull>" : "";
  }

  // Does anything ahead of `end` in its function declare this name as a reference?
  bool is_reference(std::string_view name, std::size_t end) const {
    const FunctionBody* const body = body_at(end);
    for (std::size_t j = end; body && j-- > body->head + 1;) {
      if (is(j, name) && (is(j - 1, "&") || is(j - 1, "&&") || is(j - 1, "["))) return true;
    }
    return false;
  }

  // The first token of the `>>>` that ends the configuration which starts at `from`.
  //
  // `>>>` can also close three templates, and `>>` can close two or shift. The end is the first `>>>(`
  // before which all templates are closed; failing that, the first `>>>(` at all, since a `<` that seemed
  // to open a template was then a comparison.
  std::size_t launch_close(std::size_t from) const {
    std::size_t fallback = kNone;
    int open = 0;
    for (std::size_t i = from; i < list_.size();) {
      if (is_opening(i)) {
        i = skip_group(i);
        continue;
      }
      if (is_closing(i) || is(i, ";")) break;
      if (is(i, "<")) {
        if (is_launch_open(i)) break;
        const int length = run_length(i);
        if (length == 1 && may_open_angle(i)) ++open;
        i += length;
        continue;
      }
      if (is(i, ">")) {
        const int length = run_length(i);
        if (length >= 3 && is(i + length, "(")) {
          if (open == length - 3) return i + length - 3;
          if (fallback == kNone || open == 0) fallback = i + length - 3;
        }
        open = std::max(0, open - length);
        i += length;
        continue;
      }
      ++i;
    }
    return fallback;
  }

  // The first token of the postfix expression that ends before `open`: foo, ns::foo<T>, (foo), a.b[i].
  std::size_t kernel_start(std::size_t open) const {
    std::size_t i = open;
    while (true) {
      if (i == 0) return kNone;
      --i;
      // i: the last token of a primary expression or of a group that follows one
      if (is(i, ">")) {
        i = angle_start(i);
        if (i == kNone || i == 0 || !is_identifier(i - 1)) return kNone;
        continue;
      }
      if (is(i, ")") || is(i, "]")) {
        i = partner_[i];
        if (i == kNone) return kNone;
        // A call or a subscript goes on to the left; a parenthesis after `if (...)` does not.
        if (i > 0 && continues_left(i)) continue;
        return i;
      }
      if (!is_identifier(i) || (is_statement_keyword(list_[i].text))) return kNone;
      // a name: qualified, a member, or the start
      while (i > 0 && is(i - 1, "template")) --i;
      if (i > 0 && is(i - 1, "::")) {
        --i;
        if (i > 0 && (is(i - 1, ">") ||
                      (is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text)))) {
          continue;
        }
        return i;
      }
      if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) {
        --i;
        continue;
      }
      // a<N<4><<<...: `N<4>` looked like a template, but nothing is less than a launch
      if (i > 0 && is(i - 1, "<") && run_length(i - 1) == 1 && may_open_angle(i - 1)) {
        --i;
        continue;
      }
      return i;
    }
  }

  // Does the group that opens at i belong to what stands before it? f(x), a[i], f<T>(x), f(x)(y)
  bool continues_left(std::size_t i) const {
    const std::size_t before = i - 1;
    if (is_identifier(before)) return !is_statement_keyword(list_[before].text);
    if (is(before, "]")) return true;
    if (is(before, ")")) {
      const std::size_t start = partner_[before];
      if (start == kNone || start == 0) return false;
      // if (x) (k)<<<...  and a cast (void)(k)<<<... end here
      return is_identifier(start - 1) && !is_statement_keyword(list_[start - 1].text);
    }
    if (is(before, ">")) {
      const std::size_t start = angle_start(before);
      return start != kNone && start > 0 && is_identifier(start - 1);
    }
    return false;
  }
};

}  // namespace

void rewrite_launch(Unit& unit, std::size_t open) { Launches(unit).visit_launch(open); }

}  // namespace simtcc
