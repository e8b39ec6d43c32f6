#include "trees/function_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "trees/host_library.h"

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

bool is_signature(Text name) {
  return name.ends_with(")") || name.ends_with(") const") || name.ends_with("]");
}

bool is_of_cuda(const std::vector<std::string>& parts) {
  return parts[0] == "simt" || parts[0] == "cuda" || parts[0] == "cooperative_groups" ||
         parts[0] == "thrust" || parts[0] == "cub";
}

}  // namespace simtcc
