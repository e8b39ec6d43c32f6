#include "conversions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace simtcc {
namespace {

using Text = std::string_view;

struct Integer {
  bool is_signed;
  unsigned bits;  // 16 for all that have fewer than 32
  auto operator<=>(const Integer&) const = default;
};

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
};

bool is_in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Knows the integer types by their names, those of typedefs too.
class Types {
 public:
  explicit Types(Text source) : source_(source) {}

  std::optional<Integer> find(Text name) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    known_[std::string(name)] = {};  // should it lead to itself
    return known_[std::string(name)] = read(name);
  }

 private:
  // `unsigned char`, `long long unsigned int`, `uint8_t`
  std::optional<Integer> read(Text name) {
    static const std::set<Text> builtin = {"int",      "char",     "short",    "long",    "signed",
                                           "unsigned", "char16_t", "char32_t", "char8_t", "wchar_t",
                                           "const",    "volatile", "typename", "std"};
    Integer type{true, 32};
    std::vector<Text> others;
    while (!name.empty()) {
      std::size_t length = 0;
      while (length < name.size() && is_in_word(name[length])) ++length;
      if (length == 0) {
        if (name[0] != ' ' && name[0] != ':') return {};  // a pointer, a template
        name.remove_prefix(1);
        continue;
      }
      const Text word = name.substr(0, length);
      name.remove_prefix(length);
      if (!builtin.contains(word)) others.push_back(word);
      if (word == "unsigned" || (word.starts_with("char") && word.ends_with("_t")))
        type.is_signed = false;
      if (word == "long") type.bits = 64;
      if (word == "char" || word == "short" || word == "char8_t" || word == "char16_t")
        type.bits = 16;
    }
    if (others.empty()) return type;
    return others.size() == 1 ? meant(others[0]) : std::nullopt;
  }

  // What the source's `typedef unsigned char name;` and `using name = unsigned char;` say, if they agree.
  std::optional<Integer> meant(Text name) {
    static const std::set<Text> no_integers = {"float", "double", "bool",
                                               "void",  "struct", "union"};
    std::set<std::optional<Integer>> found;
    if (no_integers.contains(name)) return {};
    for (std::size_t at = 0; (at = source_.find(name, at)) != Text::npos; at += name.size()) {
      const Text behind = source_.substr(at + name.size());
      if (at == 0 || is_in_word(source_[at - 1])) continue;
      if (behind.starts_with(";") || behind.starts_with(" ;")) {
        constexpr Text kTypedef = "typedef ";
        const std::size_t begin = source_.find_last_of(";{}", at) + 1;
        const Text declared = source_.substr(begin, at - begin);
        if (const std::size_t key = declared.find(kTypedef); key != Text::npos)
          found.insert(find(declared.substr(key + kTypedef.size())));
      } else if (behind.starts_with(" = ") && source_.substr(0, at).ends_with("using ")) {
        found.insert(find(behind.substr(3, behind.find(';') - 3)));
      }
    }
    return found.size() == 1 ? *found.begin() : std::nullopt;
  }

  Text source_;
  std::map<std::string, std::optional<Integer>, std::less<>> known_;
};

using Place = std::tuple<Text, int, int>;  // file without its folders, line, column
using Conversions = std::map<Place, std::set<Integer>>;

Text without_folders(Text path) { return path.substr(path.rfind('/') + 1); }

bool is_device_code(const TreeDump& dump, const DumpedFunction& function) {
  if (function.attributes.find("no_instrument_function") != Text::npos) return true;
  const DumpedFunction* const around = dump.function_around(function.symbol);
  return around && is_device_code(dump, *around);
}

// What is converted to an integer in the function, and in those that it calls, which may have been inlined.
Conversions conversions_from(const DumpedFunction& function, const TreeDump& dump, Types& types) {
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
      std::set<Integer>& here =
          found[{without_folders(one.place.file), one.place.line, one.place.column}];
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

// Reads the assembly line by line, and knows which function and which place of the source a line belongs to.
class AssemblyReader {
 public:
  AssemblyReader(const TreeDump& dump, Text source) : dump_(dump), types_(source) {}

  // What takes the line's place, or nothing if it stays.
  std::optional<std::string> read(Text line) {
    constexpr Text kType = "\t.type\t", kFunction = ", @function", kFile = "\t.file ",
                   kPlace = "\t.loc ";
    if (line.starts_with(kType) && line.ends_with(kFunction)) {
      line.remove_prefix(kType.size());
      const Text symbol = line.substr(0, line.size() - kFunction.size());
      function_ = dump_.find_symbol(symbol.substr(0, symbol.find('.')));  // f.isra.0
      if (function_ && !is_device_code(dump_, *function_)) function_ = nullptr;
      conversions_.reset();
    } else if (line.starts_with(kFile)) {
      line.remove_prefix(kFile.size());
      const std::size_t open = line.rfind('"', line.size() - 2);
      if (open != Text::npos && line.ends_with('"'))
        files_[number(line)] = without_folders(line.substr(open + 1, line.size() - open - 2));
    } else if (line.starts_with(kPlace)) {
      line.remove_prefix(kPlace.size());
      const int file = number(line), row = number(line);
      place_ = {files_[file], row, number(line)};
    } else if (function_) {
      const std::optional<Instruction> instruction = Instruction::read(line);
      const std::optional<Integer> type = instruction ? type_of(*instruction) : std::nullopt;
      if (type) return instruction->calls(*type);
    }
    return {};
  }

 private:
  std::optional<Integer> type_of(const Instruction& instruction) {
    if (!conversions_) conversions_ = conversions_from(*function_, dump_, types_);
    std::set<Integer> possible;
    const auto found = conversions_->find(place_);
    if (found == conversions_->end()) return {};
    for (Integer type : found->second) {
      if (!instruction.makes(type)) continue;
      type.bits = std::max(32u, type.bits);  // of the narrow ones it is the low bits
      possible.insert(type);
    }
    if (possible.size() == 1) return *possible.begin();
    // Several types, or one of whose name nothing is known: with 32 bits most are signed.
    return instruction.is_long() ? std::nullopt : std::optional(Integer{true, 32});
  }

  static int number(Text& line) {
    int value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    return value;
  }

  const TreeDump& dump_;
  Types types_;
  const DumpedFunction* function_ = nullptr;  // of the device, or none
  std::optional<Conversions> conversions_;
  std::map<int, Text> files_;
  Place place_;
};

}  // namespace

std::string with_saturating_conversions(Text assembly, const TreeDump& dump, Text source) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 16);
  AssemblyReader reader(dump, source);
  while (!assembly.empty()) {
    const std::size_t length = assembly.find('\n');
    const Text line = assembly.substr(0, length);
    assembly.remove_prefix(length == Text::npos ? assembly.size() : length + 1);
    if (const auto calls = reader.read(line)) {
      result += *calls;
    } else {
      result.append(line).push_back('\n');
    }
  }
  return result;
}

}  // namespace simtcc
