#include "assembly/integer_types.h"

#include <set>
#include <vector>

namespace simtcc {
namespace {

using Text = std::string_view;

bool is_in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::optional<Integer> IntegerTypes::find(Text name) {
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  known_[std::string(name)] = {};  // should it lead to itself
  return known_[std::string(name)] = read(name);
}

std::optional<Integer> IntegerTypes::read(Text name) {
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
std::optional<Integer> IntegerTypes::meant(Text name) {
  static const std::set<Text> no_integers = {"float", "double", "bool", "void", "struct", "union"};
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

}  // namespace simtcc
