#include "words/launch_messages.h"

#include <algorithm>

#include "text/pattern.h"

namespace simtcc {
namespace {

std::string arguments(int n) { return std::to_string(n) + (n == 1 ? " argument" : " arguments"); }

std::string counts(int has, const std::string& kernel, int takes) {
  return "simt: the launch has " + arguments(has) + ", and the kernel" + kernel + " takes " +
         std::to_string(takes);
}

// How many stand between the parenthesis with which the text begins and its partner; -1 if that is not there.
int count_arguments(std::string_view text) {
  int depth = 0, commas = 0;
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      any = true;
      for (++i; i < text.size() && text[i] != c; ++i) i += text[i] == '\\';
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '(' || c == '[' || c == '{') {
      any |= depth > 0;
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return any ? commas + 1 : 0;
    } else if (c == ',') {
      commas += depth == 1;
    } else {
      any |= c != ' ' && c != '\t' && c != '\n';
    }
  }
  return -1;
}

int count_arguments_of(std::string_view launch) {
  const std::size_t close = launch.find(">>>");
  const std::size_t open = close == launch.npos ? close : launch.find('(', close);
  return open == launch.npos ? -1 : count_arguments(launch.substr(open));
}

}  // namespace

std::string plain_type(std::string type) {
  if (const std::size_t aka = type.find("' {aka '"); aka != std::string::npos)
    type = type.substr(aka + 8);
  while (!type.empty() && (type.back() == '&' || type.back() == '}' || type.back() == '\''))
    type.pop_back();
  return type;
}

std::string misfit(const std::vector<std::string>& notes, const std::string& kernel) {
  static const Pattern conversion(
      R"(\s*no known conversion for argument (\d+) from '(.*?)'(?: \{aka '(.*)'\})? to '(.*)')");
  static const Pattern count(R"(\s*candidate expects (\d+) arguments?, (\d+) provided)");
  Match match;
  int takes = 0, has = -1;
  for (const std::string& note : notes) {
    if (conversion.matches(note, match)) {
      const std::string type = plain_type(match[match.has(3) ? 3 : 2]);
      const bool is_wrapped = type.starts_with("thrust::device_ptr<");
      const bool is_vector = type.starts_with("thrust::device_vector<");
      return "simt: argument " + match[1] + " of the launch is '" + type + "', and the kernel" +
             kernel + " takes '" + plain_type(match[4]) + "'" +
             (is_wrapped  ? ": write thrust::raw_pointer_cast(...) around it"
              : is_vector ? ": write thrust::raw_pointer_cast(v.data()) for a vector v"
                          : "");
    }
    if (count.matches(note, match)) {
      takes = std::max(takes, std::stoi(match[1]));
      has = std::stoi(match[2]);
    }
  }
  return has < 0 ? "" : counts(has, kernel, takes);
}

std::optional<std::string> miscount(const std::string& said, const std::vector<std::string>& notes,
                                    const std::string& kernel, std::string_view launch) {
  static const Pattern few(R"(too few arguments to function(?: 'void (.*)\((.*)\)')?)");
  Match match;
  if (few.matches(said, match)) {
    const int has = count_arguments_of(launch);
    if (!match.has(1)) {  // by a pointer
      return "simt: the launch has " + (has < 0 ? "too few arguments" : arguments(has)) +
             ", and the kernel" + kernel + " takes more";
    }
    const std::string parameters = "(" + match[2] + ")";
    const std::string signature = match[1] + parameters;
    if (has < 0) return "simt: the launch has too few arguments: the kernel is '" + signature + "'";
    return counts(has, kernel, count_arguments(parameters)) + ": " + signature;
  }
  // A template has one candidate.
  static const Pattern none(R"(no matching function for call to '([\w:]+)[<(].*)");
  if (!none.matches(said, match) || kernel != " '" + match[1] + "'") return {};
  const auto candidates = std::count_if(notes.begin(), notes.end(), [](const std::string& note) {
    return note.starts_with("candidate: ");
  });
  const std::string sentence = candidates == 1 ? misfit(notes, kernel) : "";
  return sentence.empty() ? std::nullopt : std::optional(sentence);
}

}  // namespace simtcc
