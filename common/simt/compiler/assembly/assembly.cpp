#include "assembly/assembly.h"

#include <array>

namespace simtcc {
namespace {

using Line = std::string_view;

constexpr Line kType = "\t.type\t", kFunction = ", @function", kSize = "\t.size\t";

// What reads flags: jumps, setcc, cmovcc, and sums with a carry.
bool reads_flags(Line name) {
  for (const Line start :
       {"set", "cmov", "adc", "sbb", "rcl", "rcr", "lahf", "pushf", "cmc", "fcmov"}) {
    if (name.starts_with(start)) return true;
  }
  return name.starts_with('j') && name != "jmp";
}

// What sets all of them, or behind which a function of C++ expects none: a call. (Shifts by a variable may leave them, inc and dec
// leave the carry.)
bool sets_flags(Line name) {
  for (const Line start : {"add", "sub", "cmp", "test", "and", "or", "xor", "neg", "imul", "call",
                           "ret", "comis", "ucomis", "vcomis", "vucomis", "ud2"}) {
    if (name.starts_with(start)) {
      const Line rest = name.substr(start.size());  // addss, cmpps, andpd, orps set none
      if (start == "call" || start == "ret" || start == "ud2" || start.ends_with("comis"))
        return true;
      return rest.empty() || rest == "b" || rest == "w" || rest == "l" || rest == "q";
    }
  }
  return false;
}

}  // namespace

std::optional<Line> function_begun(Line line) {
  if (!line.starts_with(kType) || !line.ends_with(kFunction)) return {};
  return line.substr(kType.size(), line.size() - kType.size() - kFunction.size());
}

bool ends_function(Line line, Line symbol) {
  if (!line.starts_with(kSize)) return false;
  line.remove_prefix(kSize.size());
  return line.starts_with(symbol) && line.substr(symbol.size()).starts_with(',');
}

bool flags_are_free_behind(const std::vector<Line>& function, std::size_t at) {
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps && ++at < function.size(); ++step) {
    const Line line = function[at];
    if (line.starts_with("#APP")) return false;  // somebody's own assembly
    if (!is_instruction(line)) continue;
    const Line name = word(line);
    if (reads_flags(name)) return false;
    if (sets_flags(name)) return true;
    if (name != "jmp") continue;
    const Line target = target_of(line);
    const auto label = std::find_if(function.begin(), function.end(), [&](Line other) {
      return !target.empty() && label_of(other) == target;
    });
    if (label == function.end()) return false;
    at = static_cast<std::size_t>(label - function.begin());
  }
  return false;
}

std::vector<Line> unnamed_vector_registers(const std::vector<Line>& function, std::size_t most) {
  static constexpr std::array<Line, 8> kNames = {"%xmm15", "%xmm14", "%xmm13", "%xmm12",
                                                 "%xmm11", "%xmm10", "%xmm9",  "%xmm8"};
  const auto is_named = [&](Line name) {
    return std::any_of(function.begin(), function.end(),
                       [&](Line line) { return line.find(name) != Line::npos; });
  };
  std::vector<Line> found;
  if (is_named("%ymm") || is_named("%zmm")) return found;  // which have them in them
  for (const Line name : kNames) {
    if (found.size() < most && !is_named(name)) found.push_back(name);
  }
  return found;
}

}  // namespace simtcc
