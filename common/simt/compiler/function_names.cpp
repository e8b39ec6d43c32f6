#include "function_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "host_library.h"

namespace simtcc {

using Text = std::string_view;

std::string demangled(Text symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && name ? name.get() : std::string(symbol);
}

std::vector<std::string> parts_of(Text name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const Text rest = name.substr(i);
    if (depth == 0 && rest.starts_with("operator") &&
        (i + 8 >= name.size() ||
         !(std::isalnum(static_cast<unsigned char>(name[i + 8])) || name[i + 8] == '_'))) {
      std::size_t end = i + 8;
      if (rest.substr(8).starts_with("()")) {
        end += 2;
      } else {
        while (end < name.size() && name[end] != '(') ++end;
      }
      parts.back() = name.substr(i, end - i);
      break;
    }
    if (depth == 0 && rest.starts_with("(anonymous namespace)")) {
      parts.back() = "(anonymous namespace)";
      i += Text("(anonymous namespace)").size() - 1;
      continue;
    }
    const char c = name[i];
    if (c == '<' && depth == 0 && rest.starts_with("<lambda")) parts.back() = "<lambda>";
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (depth == 0) {
      if (rest.starts_with("::")) {
        parts.emplace_back();
        ++i;
        continue;
      }
      if (c == ' ') {  // the type of the result stands in front of templates' names
        parts.assign(1, "");
        continue;
      }
      if (c == '[') break;  // [with T = int]
      parts.back() += c;
    }
    if (c == '>' || c == ')' || c == '}') {
      --depth;
      // the parameters end the name, unless it is that of something in the function
      if (c == ')' && depth == 0 && !name.substr(i + 1).starts_with("::") &&
          !name.substr(i + 1).starts_with(" const::"))
        break;
      if (c == ')' && depth == 0 && name.substr(i + 1).starts_with(" const::")) i += 6;
    }
  }
  return parts;
}

std::string spelled(Text name) {
  std::string text;
  for (const std::string& part : parts_of(name)) {
    if (part == "__cxx11" || part == "_V2" || part == "__detail" || part == "_GLIBCXX") continue;
    text += (text.empty() ? "" : "::") + part;
  }
  const auto replace = [&text](Text from, Text to) {
    const std::size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("::basic_string", "::string");
  replace("::basic_string", "::string");
  replace("std::basic_ostream", "std::ostream");
  return text;
}

bool is_special_member(const std::vector<std::string>& parts) {
  if (parts.back() == "operator=") return true;
  if (parts.size() < 2) return false;
  const std::string& owner = parts[parts.size() - 2];
  return !owner.empty() && (parts.back() == owner || parts.back() == "~" + owner);
}

bool is_device_builtin(Text name) {
  if (name.starts_with("atomic")) return name.size() > 6 && std::isupper(name[6]);
  if (name.starts_with("tex") || name.starts_with("surf")) {
    const Text rest = name.substr(name[0] == 't' ? 3 : 4);
    if (rest.starts_with("1D") || rest.starts_with("2D") || rest.starts_with("3D")) return true;
  }
  return name.starts_with("__") && !name.starts_with("__builtin") && !is_for_both(name);
}

HiddenType hidden_type(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return HiddenType::none;
  int local = 0, lambdas = 0;  // entities of functions, and those that are lambdas
  bool unnamed = false;
  for (std::size_t i = 2; i < symbol.size();) {
    const char c = symbol[i];
    const auto end_of_number = [&](std::size_t at) {
      return std::min(symbol.find_first_not_of("0123456789", at), symbol.size());
    };
    if (c >= '0' && c <= '9') {  // a name, behind its length
      const std::size_t end = end_of_number(i);
      unnamed |= symbol.substr(end).starts_with("._anon");
      i = end + static_cast<std::size_t>(std::atoi(std::string(symbol.substr(i, end - i)).c_str()));
    } else if (c == 'A' || c == 'T') {  // A4_i, T0_
      i = end_of_number(i + 1) + 1;
    } else if (c == 'C' || c == 'D') {  // C1, Dv4_f
      i = symbol.substr(i).starts_with("Dv") ? end_of_number(i + 2) + 1 : i + 2;
    } else if (c == 'S' && i + 1 < symbol.size() && (symbol[i + 1] < 'a' || symbol[i + 1] > 'z')) {
      i = std::min(symbol.find('_', i), symbol.size() - 1) + 1;  // S1Z_
    } else if (c == 'L') {                                       // Lin5E, L_Z1fvE
      const bool of_entity = symbol.substr(i).starts_with("L_Z");
      const bool number = i + 2 < symbol.size() && symbol[i + 1] >= 'a' && symbol[i + 1] <= 'z';
      i = of_entity ? i + 3 : number ? std::min(symbol.find('E', i), symbol.size()) : i + 1;
    } else if (c == 'U' && i + 1 < symbol.size()) {
      lambdas += symbol[i + 1] == 'l';
      unnamed |= symbol[i + 1] == 't';
      i += 2;
    } else {
      local += c == 'Z';
      ++i;
    }
  }
  if (lambdas > 0) return local > lambdas ? HiddenType::local_around_lambda : HiddenType::none;
  return local > 0 ? HiddenType::local : unnamed ? HiddenType::unnamed : HiddenType::none;
}

std::vector<std::string> types_in_arguments(Text symbol) {
  const std::string name = demangled(symbol);
  std::vector<std::string> types;
  std::vector<std::string> open;  // names with arguments that have not ended
  std::string current;
  const auto end_name = [&] {
    if (!current.empty()) types.push_back(current);
    current.clear();
  };
  for (std::size_t i = name.find('<'); i < name.size(); ++i) {
    const Text rest = Text(name).substr(i);
    if (rest.starts_with("(anonymous namespace)::")) {
      i += Text("(anonymous namespace)::").size() - 1;
    } else if (name[i] == '<') {
      open.push_back(current);
      end_name();
    } else if (name[i] == '>') {
      end_name();
      current = open.back();
      open.pop_back();
      if (open.empty()) break;
    } else if (name[i] == '(' || name[i] == '{') {  // of a function, or in one
      current += name[i];
      for (int depth = 1; depth > 0 && ++i < name.size();)
        depth += name[i] == '(' || name[i] == '{' ? 1 : name[i] == ')' || name[i] == '}' ? -1 : 0;
    } else if (std::isalnum(static_cast<unsigned char>(name[i])) || name[i] == '_' ||
               name[i] == ':' || name[i] == '&' || (name[i] & 0x80)) {
      // `&f` is a value
      if (name[i] != '&' || current.empty()) current += name[i];
      if (name[i] == '&' && current != "&") end_name();
    } else {
      end_name();
    }
  }
  return types;
}

bool is_signature(Text name) {
  return name.ends_with(")") || name.ends_with(") const") || name.ends_with("]");
}

bool is_of_cuda(const std::vector<std::string>& parts) {
  return parts[0] == "simt" || parts[0] == "cuda" || parts[0] == "cooperative_groups" ||
         parts[0] == "thrust" || parts[0] == "cub";
}

}  // namespace simtcc
