#include "text/pattern.h"

#include <regex>

namespace simtcc {

struct Pattern::Compiled {
  std::regex regex;
};

namespace {

std::vector<std::pair<std::string, bool>> groups_of(const std::smatch& match) {
  std::vector<std::pair<std::string, bool>> groups;
  for (const auto& group : match) groups.emplace_back(group.str(), group.matched);
  return groups;
}

}  // namespace

Pattern::Pattern(const std::string& text)
    : compiled_(std::make_shared<Compiled>(Compiled{std::regex(text)})) {}

bool Pattern::matches(const std::string& text, Match& match) const {
  std::smatch found;
  if (!std::regex_match(text, found, compiled_->regex)) return false;
  match.groups_ = groups_of(found);
  return true;
}

bool Pattern::is_in(const std::string& text, Match& match) const {
  std::smatch found;
  if (!std::regex_search(text, found, compiled_->regex)) return false;
  match.groups_ = groups_of(found);
  return true;
}

bool Pattern::matches(const std::string& text) const {
  Match unused;
  return matches(text, unused);
}

bool Pattern::is_in(const std::string& text) const {
  Match unused;
  return is_in(text, unused);
}

std::string Pattern::replaced(const std::string& text, const std::string& replacement) const {
  return std::regex_replace(text, compiled_->regex, replacement);
}

}  // namespace simtcc
