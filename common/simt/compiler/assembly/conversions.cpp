#include "assembly/conversions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "assembly/assembly.h"
#include "assembly/integer_types.h"

namespace simtcc {
namespace {

using Text = std::string_view;

// Names of the general registers, 64 and 32 bits wide.
constexpr std::array<std::pair<Text, Text>, 16> kRegisters = {{{"%rax", "%eax"},
                                                               {"%rbx", "%ebx"},
                                                               {"%rcx", "%ecx"},
                                                               {"%rdx", "%edx"},
                                                               {"%rsi", "%esi"},
                                                               {"%rdi", "%edi"},
                                                               {"%rbp", "%ebp"},
                                                               {"%rsp", "%esp"},
                                                               {"%r8", "%r8d"},
                                                               {"%r9", "%r9d"},
                                                               {"%r10", "%r10d"},
                                                               {"%r11", "%r11d"},
                                                               {"%r12", "%r12d"},
                                                               {"%r13", "%r13d"},
                                                               {"%r14", "%r14d"},
                                                               {"%r15", "%r15d"}}};

// `cvttss2siq 8(%rbx), %rax`
struct Instruction {
  Text from, to;
  bool is_double = false, is_packed = false;
  const std::pair<Text, Text>* target = nullptr;  // the general register that it writes
  bool is_long() const { return target && target->first == to; }

  static std::optional<Instruction> read(Text line) {
    constexpr Text kName = "cvtt";
    const std::size_t name = line.starts_with("\tv") ? 2 : 1;
    if (line.size() < name || !line.substr(name).starts_with(kName)) return {};
    const std::size_t tab = line.find('\t', name), comma = line.rfind(", ");
    if (tab == Text::npos || comma == Text::npos || comma < tab) return {};
    Instruction found{line.substr(tab + 1, comma - tab - 1), line.substr(comma + 2)};
    const Text kind = line.substr(name + kName.size());
    found.is_double = kind.starts_with("sd2si") || kind.starts_with("pd2dq");
    found.is_packed = kind.starts_with("ps2dq") || kind.starts_with("pd2dq");
    if (!found.is_double && !found.is_packed && !kind.starts_with("ss2si")) return {};
    for (const auto& names : kRegisters) {
      if (names.first == found.to || names.second == found.to) found.target = &names;
    }
    if (!found.is_packed && !found.target) return {};
    if (found.is_packed && !found.to.starts_with("%xmm")) return {};
    return found.from.starts_with("%ymm") ? std::nullopt : std::optional(found);
  }

  // Is it the instruction by which g++ makes such an integer? By that of 64 bits an unsigned int, too.
  bool makes(const Integer& type) const {
    if (is_packed) return type.bits <= 32;
    return is_long() == (type.bits == 64 || (type.bits == 32 && !type.is_signed));
  }

  // What takes the instruction's place, with vector registers that nobody uses; flags are free behind it, or they are kept.
  std::string saturates(const Integer& type, const std::vector<Text>& spare, bool flags_are_free,
                        const std::string& name) const {
    if (is_packed && spare.size() >= 2) return packed(type, spare[0], spare[1]);
    if (is_packed || !flags_are_free) return calls(type);
    return in_place(type, spare.empty() ? Text{} : spare[0], name);
  }

 private:
  // The CPU's own integer, and out of the way the library's for a number that is out of range. Needs the flags.
  // \param spare a vector register that nobody uses, or nothing
  // \param name of labels, which are used once
  std::string in_place(const Integer& type, Text spare, const std::string& name) const {
    Instruction one = *this;
    std::string code;
    if (in_memory() && needs_its_target()) {  // so the place is not known afterwards
      if (spare.empty()) return calls(type);
      code += (is_double ? "\tmovsd\t" : "\tmovss\t") + std::string(from) + ", " +
              std::string(spare) + "\n";
      one.from = spare;
    }
    const std::string out = ".LSIMTout" + name, back = ".LSIMTin" + name, to_it = std::string(to);
    const std::string width = is_long() ? "q" : "l";
    code += (is_double ? "\tcvttsd2si" : "\tcvttss2si") + width + "\t" + std::string(one.from) +
            ", " + to_it + "\n";
    if (type.is_signed) {  // 0x80000000 less one overflows, and no other
      code += "\tcmp" + width + "\t$1, " + to_it + "\n\tjo\t";
    } else if (type.bits == 32 && is_long()) {
      code += "\tcmpq\tsimt_unsigned_last(%rip), " + to_it + "\n\tja\t";
    } else {  // of few bits, or up to 2^63, as hooks/conversions.cpp says
      code += "\ttest" + width + "\t" + to_it + ", " + to_it + "\n\tjs\t";
    }
    code += out + "\n" + back + ":\n\t.subsection\t1\n" + out + ":\n" + one.calls(type);
    return code + "\tjmp\t" + back + "\n\t.subsection\t0\n";
  }

  // The functions of the library for several numbers, inline. In minps and its like the operand that comes first stays if one is NaN.
  std::string packed(const Integer& type, Text a, Text b) const {
    std::string code;
    const auto add = [&](const char* name, Text operand, Text with) {
      code +=
          std::string("\t") + name + "\t" + std::string(operand) + ", " + std::string(with) + "\n";
    };
    add("movups", from, a);
    if (!type.is_signed) add("xorps", b, b);
    if (is_double) {
      if (!type.is_signed) add("maxpd", a, b), std::swap(a, b);
      add("movaps", "simt_int_last(%rip)", b);
      add("minpd", a, b);
      add("cvttpd2dq", b, to);
      return code;
    }
    if (!type.is_signed) add("maxps", b, a);
    add("movaps", "simt_int_end(%rip)", b);
    add("cmpleps", a, b);
    add("cvttps2dq", a, to);
    add("pxor", b, to);
    add("cmpordps", a, a);
    add("pand", a, to);
    return code;
  }

  // Hands the number over on the stack, behind what the function may keep there (128 bytes), and takes the integer from there.
  std::string calls(const Integer& type) const {
    const std::string width = type.bits == 64 ? "64" : is_packed && !type.is_signed ? "31" : "32";
    const Text gets = is_packed ? to : is_long() ? target->first : target->second;
    std::string moves = is_double ? "movsd" : "movss", code;
    Text number = from;
    if (is_packed) moves = "movups";
    if (!from.starts_with("%xmm")) {  // in memory, perhaps by the stack pointer
      number = is_packed ? to : is_double ? target->first : target->second;
      if (!is_packed) moves = is_double ? "movq" : "movl";
      code += "\t" + moves + "\t" + std::string(from) + ", " + std::string(number) + "\n";
    }
    code += "\tleaq\t-144(%rsp), %rsp\n";
    code += "\t" + moves + "\t" + std::string(number) + ", (%rsp)\n";
    code += std::string("\tcall\tsimt_") + (is_double ? "f64" : "f32") +
            (!is_packed  ? ""
             : is_double ? "x2"
                         : "x4") +
            "_to_" + (type.is_signed ? "s" : "u") + width + "@PLT\n";
    code += std::string("\t") +
            (is_packed   ? "movups"
             : is_long() ? "movq"
                         : "movl") +
            "\t(%rsp), " + std::string(gets) + "\n";
    return code + "\tleaq\t144(%rsp), %rsp\n";
  }

  bool in_memory() const { return !from.starts_with("%xmm"); }

  // Is the place in memory told by the register that the integer goes to?
  bool needs_its_target() const {
    return std::any_of(kRegisters.begin(), kRegisters.end(), [&](const auto& names) {
      if (&names != target) return false;
      const std::size_t at = from.find(names.first);  // not %r8 in %r80, of which there is none
      return at != Text::npos;
    });
  }
};

using Place = std::tuple<Text, int, int>;  // file without its folders, line, column

// Takes a number off the text, and a blank behind it.
int number(Text& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return value;
}

Text without_folders(Text path) { return path.substr(path.rfind('/') + 1); }

bool is_device_code(const TreeDump& dump, const DumpedFunction& function) {
  if (function.attributes.find("no_instrument_function") != Text::npos) return true;
  const DumpedFunction* const around = dump.function_around(function.symbol);
  return around && is_device_code(dump, *around);
}

// What a function converts to integers.
struct Conversions {
  std::map<Place, std::set<Integer>> types;
  std::set<Place> inlined;  // those of other functions, which may be there several times
};

// With those of the functions that it calls, which may have been inlined.
Conversions conversions_from(const DumpedFunction& function, const TreeDump& dump,
                             IntegerTypes& types) {
  Conversions found;
  std::set<const DumpedFunction*> reached = {&function};
  std::vector<const DumpedFunction*> todo = {&function};
  while (!todo.empty()) {
    const DumpedFunction* const at = todo.back();
    todo.pop_back();
    std::set<Text> integers;  // in (unsigned)(int)f the outer one converts none but integers
    for (const Conversion& one : at->conversions) {
      if (integers.contains(one.operand)) continue;
      const std::optional<Integer> type = types.find(one.type);
      const Place place = {without_folders(one.place.file), one.place.line, one.place.column};
      std::set<Integer>& here = found.types[place];
      if (at != &function) found.inlined.insert(place);
      if (!type) continue;
      integers.insert(one.result);
      here.insert(*type);
    }
    for (const Mention& mention : at->mentions) {
      const DumpedFunction* const callee = mention.is_call ? dump.find(mention) : nullptr;
      if (callee && reached.insert(callee).second) todo.push_back(callee);
    }
  }
  return found;
}

// Knows the place of the source that a line of assembly belongs to.
class Places {
 public:
  const Place& of(Text line) {
    constexpr Text kFile = "\t.file ", kPlace = "\t.loc ";
    if (line.starts_with(kFile)) {
      line.remove_prefix(kFile.size());
      const std::size_t open = line.rfind('"', line.size() - 2);
      if (open != Text::npos && line.ends_with('"'))
        files_[number(line)] = without_folders(line.substr(open + 1, line.size() - open - 2));
    } else if (line.starts_with(kPlace)) {
      line.remove_prefix(kPlace.size());
      const int file = number(line), row = number(line);
      place_ = {files_[file], row, number(line)};
    }
    return place_;
  }

 private:
  std::map<int, Text> files_;
  Place place_;
};

// A function of the device in g++'s assembly.
struct Code {
  Text symbol;
  const std::vector<Text>& lines;
  Conversions conversions;
};

// Hands each line to `other`, but those of the device's functions, which `device` gets.
template <class Device, class Other>
void read_functions(Text assembly, const TreeDump& dump, Text source, Device device, Other other) {
  IntegerTypes types(source);
  std::vector<Text> lines;
  while (!assembly.empty()) {
    const Text line = next_line(assembly);
    other(line);
    const std::optional<Text> symbol = function_begun(line);
    if (!symbol) continue;
    const DumpedFunction* const function =
        dump.find_symbol(symbol->substr(0, symbol->find('.')));  // f.isra.0
    if (!function || !is_device_code(dump, *function)) continue;
    lines.clear();
    for (Text rest = assembly; !rest.empty();) {
      const Text one = next_line(rest);
      if (ends_function(one, *symbol)) break;
      lines.push_back(one);
      assembly = rest;
    }
    const bool converts = std::any_of(lines.begin(), lines.end(),
                                      [](Text one) { return Instruction::read(one).has_value(); });
    device(
        Code{*symbol, lines, converts ? conversions_from(*function, dump, types) : Conversions{}});
  }
}

// The integers that the instruction makes.
std::optional<Integer> type_of(const Instruction& instruction, const Place& place,
                               const Conversions& conversions) {
  std::set<Integer> possible;
  const auto found = conversions.types.find(place);
  if (found == conversions.types.end()) return {};
  for (Integer type : found->second) {
    if (!instruction.makes(type)) continue;
    type.bits = std::max(32u, type.bits);  // of the narrow ones it is the low bits
    possible.insert(type);
  }
  if (possible.size() == 1) return *possible.begin();
  // Several types, or one of whose name nothing is known: with 32 bits most are signed.
  return instruction.is_long() ? std::nullopt : std::optional(Integer{true, 32});
}

// Where numbers become integers: `[f.cu:4:7] gimple_assign <fix_trunc_expr, _2, _1, NULL, NULL>`
std::set<Place> places_of_conversions(Text operations) {
  std::set<Place> found;
  while (!operations.empty()) {
    Text line = next_line(operations);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t end = line.find("] gimple_assign <fix_trunc_expr,");
    if (!line.starts_with('[') || end == Text::npos) continue;
    Text place = line.substr(1, end - 1);
    place = place.substr(0, place.find(" discrim "));
    const std::size_t column = place.rfind(':'), row = place.rfind(':', column - 1);
    if (column == Text::npos || column == 0 || row == Text::npos) continue;
    Text numbers = place.substr(row + 1, column - row - 1), columns = place.substr(column + 1);
    found.insert({without_folders(place.substr(0, row)), number(numbers), number(columns)});
  }
  return found;
}

// Can one of the instructions have come to serve two conversions, of different types?
bool may_have_merged(const Code& code, const std::set<Place>& conversions, Places places) {
  std::map<Place, std::vector<Instruction>> here;
  for (const Text line : code.lines) {
    const Place& place = places.of(line);
    if (const auto instruction = Instruction::read(line)) here[place].push_back(*instruction);
  }
  const auto is_gone = [&](const Place& place) {
    return code.conversions.inlined.contains(place) || !here.contains(place);
  };
  for (const auto& [place, instructions] : here) {
    for (const Instruction& instruction : instructions) {
      const std::optional<Integer> type = type_of(instruction, place, code.conversions);
      if (!type) continue;
      for (const auto& [other, others] : code.conversions.types) {
        if (!conversions.contains(other) || (!is_gone(place) && !is_gone(other))) continue;
        for (Integer of_other : others) {
          if (!instruction.makes(of_other)) continue;
          of_other.bits = std::max(32u, of_other.bits);
          if (of_other != *type) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

std::string with_saturating_conversions(Text assembly, const TreeDump& dump, Text source) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 16);
  Places places;
  int numbers = 0;
  const auto keep = [&](Text line) {
    places.of(line);
    result.append(line).push_back('\n');
  };
  const auto rewrite = [&](const Code& code) {
    const std::vector<Text> spare = unnamed_vector_registers(code.lines, 2);
    for (std::size_t i = 0; i < code.lines.size(); ++i) {
      const auto instruction = Instruction::read(code.lines[i]);
      const auto type = instruction
                            ? type_of(*instruction, places.of(code.lines[i]), code.conversions)
                            : std::nullopt;
      if (type) {
        result += instruction->saturates(*type, spare, flags_are_free_behind(code.lines, i),
                                         std::to_string(numbers++));
      } else {
        keep(code.lines[i]);
      }
    }
  };
  read_functions(assembly, dump, source, rewrite, keep);
  return result;
}

std::vector<std::string> functions_with_merged_conversions(Text assembly, const TreeDump& dump,
                                                           Text operations, Text source) {
  std::vector<std::string> found;
  const std::set<Place> conversions = places_of_conversions(operations);
  if (conversions.empty()) return found;
  Places places;
  const auto look = [&](const Code& code) {
    if (may_have_merged(code, conversions, places)) found.emplace_back(code.symbol);
    for (const Text line : code.lines) places.of(line);
  };
  read_functions(assembly, dump, source, look, [&](Text line) { places.of(line); });
  return found;
}

}  // namespace simtcc
