#include "assembly/register_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <initializer_list>

#include "assembly/assembly.h"

namespace simtcc {
namespace {

using Line = std::string_view;

// "rbx" of %rbx, %ebx, %bx and %bl; "r8" of %r8, %r8d, %r8w and %r8b; nothing of what is no register.
std::string whole_register(Line name) {
  if (name.size() < 3 || name[0] != '%') return {};
  name.remove_prefix(1);
  if (name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("st"))
    return std::string(name);
  if (name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
    while (name.back() == 'd' || name.back() == 'w' || name.back() == 'b') name.remove_suffix(1);
    return std::string(name);
  }
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e')) name.remove_prefix(1);
  static const std::map<Line, Line> kNames = {
      {"ax", "rax"}, {"bx", "rbx"},  {"cx", "rcx"},  {"dx", "rdx"},  {"si", "rsi"},
      {"di", "rdi"}, {"bp", "rbp"},  {"sp", "rsp"},  {"al", "rax"},  {"bl", "rbx"},
      {"cl", "rcx"}, {"dl", "rdx"},  {"ah", "rax"},  {"bh", "rbx"},  {"ch", "rcx"},
      {"dh", "rdx"}, {"sil", "rsi"}, {"dil", "rdi"}, {"bpl", "rbp"}, {"spl", "rsp"}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::string() : std::string(found->second);
}

// What commas part, but for those within parentheses.
std::vector<Line> split_at_commas(Line line) {
  std::vector<Line> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size()) depth += (line[i] == '(') - (line[i] == ')');
    if (i < line.size() && (line[i] != ',' || depth)) continue;
    Line one = line.substr(begin, i - begin);
    one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
    if (!one.empty()) found.push_back(one);
    begin = i + 1;
  }
  return found;
}

constexpr unsigned kMostZeros = 6;

bool number(Line text, int64_t& value) {
  if (text.empty()) return value = 0, true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_one_of(Line name, std::initializer_list<Line> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](Line start) { return name.starts_with(start); });
}

// A place in the frame, where g++ keeps what it has no register for.
bool is_in_frame(Line operand) {
  int64_t offset;
  return operand.ends_with("(%rbp)") && number(operand.substr(0, operand.size() - 6), offset);
}

// What stays the same while a thread runs.
bool is_index(Line operand) {
  return is_one_of(operand, {"%fs:threadIdx@", "%fs:blockIdx@", "%fs:blockDim@", "%fs:gridDim@"});
}

}  // namespace

std::vector<Line> operands_of(Line line) {
  line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  const std::size_t gap = line.find_first_of("\t ");
  return gap == Line::npos ? std::vector<Line>() : split_at_commas(line.substr(gap + 1));
}

RegisterValue RegisterValues::of(Line register_name) {
  const auto [at, is_new] = known_.try_emplace(whole_register(register_name));
  if (is_new) at->second = fresh();
  return at->second;
}

void RegisterValues::set(Line register_name, RegisterValue value) {
  known_[whole_register(register_name)] = value;
}

RegisterValue RegisterValues::computed(const std::string& how) {
  const auto [at, is_new] = computed_.try_emplace(how, last_ + 1);
  if (is_new) ++last_;
  return {at->second, 0};
}

// Of an instruction that leaves the upper half of a register 0.
RegisterValue RegisterValues::computed_narrow(const std::string& how) {
  const RegisterValue value = computed(how);
  narrow_.insert(value.number);
  return value;
}

// Of `8(%rax)`, `8(%rax,%rbx,4)` and `8+tile@tpoff(%rax,%rbx)`, a variable of the thread: shared memory.
RegisterValue RegisterValues::address(Line operand) {
  const std::size_t open = operand.find('(');
  if (open == Line::npos) return fresh();
  Line place = operand.substr(0, open), symbol;
  if (const std::size_t at = place.find("@tpoff"); at != Line::npos) {
    const std::size_t plus = place.find('+');
    symbol = plus < at ? place.substr(plus + 1, at - plus - 1) : place.substr(0, at);
    if (at + 6 != place.size()) return fresh();
    place = plus < at ? place.substr(0, plus) : Line{};
  }
  int64_t offset = 0, scale = 1;
  const Line inside = operand.substr(open + 1, operand.size() - open - 2);
  const std::vector<Line> parts = split_at_commas(inside);
  if (!number(place, offset) || parts.empty() || inside.starts_with(',') || parts.size() > 3 ||
      whole_register(parts[0]).empty() || (parts.size() == 3 && !number(parts[2], scale)))
    return fresh();
  std::string how = "address " + std::string(symbol);
  std::array<RegisterValue, 2> values{};
  unsigned zeros = kMostZeros;
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 2); ++i) {
    const int64_t times = i ? scale : 1;
    values[i] = of(parts[i]);
    offset += values[i].offset * times;
    how += " " + std::to_string(values[i].number);
    zeros =
        std::min(zeros, this->zeros(values[i].number) +
                            static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(times))));
  }
  if (parts.size() == 1 && symbol.empty()) return {values[0].number, offset};
  RegisterValue value = computed(how + " " + std::to_string(scale));
  zeros_[value.number] = zeros;
  if (!symbol.empty()) shared_.insert(value.number);
  value.offset = offset;
  return value;
}

unsigned RegisterValues::zeros(int value) const {
  const auto found = zeros_.find(value);
  return found == zeros_.end() ? 0 : found->second;
}

void RegisterValues::step(Line line) {
  if (!is_instruction(line)) return;
  const Line name = word(line);
  if (name == "call") {
    for (const Line lost : {"%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11"})
      set(lost, fresh());
    return;
  }
  if (is_one_of(name, {"cmp", "test", "comi", "ucomi", "push", "j", "ret", "nop"})) return;
  // The rest stands in the last operand, but for what has results that are not named.
  const std::vector<Line> operands = operands_of(line);
  const bool has_hidden_results =
      operands.empty() || is_one_of(name, {"div", "idiv", "xchg", "xadd", "cmpx", "rep", "bt"}) ||
      (operands.size() == 1 && is_one_of(name, {"mul", "imul"}));
  if (has_hidden_results) return forget();
  const Line to = operands.back();
  if (whole_register(to).empty()) {
    if (is_in_frame(to)) {
      const bool is_copy = name == "movq" && !whole_register(operands[0]).empty();
      known_[std::string(to)] = is_copy ? of(operands[0]) : fresh();
    }
    return;
  }
  int64_t constant;
  if (name == "leaq") return set(to, address(operands[0]));
  if (name == "leal") {
    const RegisterValue sum = address(operands[0]);
    return set(to, computed_narrow("leal " + std::to_string(sum.number) + "+" +
                                   std::to_string(sum.offset)));
  }
  if (name == "movq" && !whole_register(operands[0]).empty()) return set(to, of(operands[0]));
  if (name == "movl" && !whole_register(operands[0]).empty()) {
    const RegisterValue from = of(operands[0]);
    if (!from.offset && narrow_.contains(from.number)) return set(to, from);
  }
  if (name == "movq" && is_in_frame(operands[0])) {
    const auto [at, is_new] = known_.try_emplace(std::string(operands[0]));
    if (is_new) at->second = fresh();
    return set(to, at->second);
  }
  if (name == "movq" && operands[0] == "%fs:0") {  // where the variables of the thread are
    const RegisterValue begin = computed("%fs:0");
    zeros_[begin.number] = kMostZeros;
    return set(to, begin);
  }
  if (name == "salq" && operands[0].starts_with('$') && number(operands[0].substr(1), constant)) {
    const RegisterValue before = of(to);
    const RegisterValue after =
        computed("salq " + std::string(operands[0]) + " " + std::to_string(before.number));
    zeros_[after.number] =
        std::min(kMostZeros, zeros(before.number) + static_cast<unsigned>(constant & 63));
    return set(to, {after.number, before.offset * (int64_t{1} << (constant & 63))});
  }
  if (name == "addq" && operands[0].starts_with('$') && number(operands[0].substr(1), constant)) {
    const RegisterValue before = of(to);
    return set(to, {before.number, before.offset + constant});
  }
  if (is_one_of(name, {"set", "cmov", "adc", "sbb", "pop"})) return set(to, fresh());
  std::string how(name);
  const bool moves = name.starts_with("mov") && operands.size() == 2;
  for (std::size_t i = 0; i + (moves ? 1 : 0) < operands.size(); ++i) {
    if (!whole_register(operands[i]).empty()) {
      const RegisterValue value = of(operands[i]);
      how += " " + std::to_string(value.number) + "+" + std::to_string(value.offset);
    } else if (operands[i].starts_with('$') || is_index(operands[i])) {
      how += " " + std::string(operands[i]);
    } else {
      return set(to, fresh());
    }
  }
  set(to, name.ends_with('l') ? computed_narrow(how) : computed(how));
}

}  // namespace simtcc
