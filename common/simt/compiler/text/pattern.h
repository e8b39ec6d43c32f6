/// \file
/// Regular expressions of ECMAScript. They are std::regex, whose templates take g++ seconds in each file that names them: here
/// it does so once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simtcc {

/// What a pattern has matched: all of it, then its groups in order. A group that took no part is empty.
class Match {
 public:
  const std::string& operator[](std::size_t group) const { return groups_[group].first; }
  bool has(std::size_t group) const { return groups_[group].second; }

 private:
  friend class Pattern;
  std::vector<std::pair<std::string, bool>> groups_;
};

class Pattern {
 public:
  explicit Pattern(const std::string& text);

  /// Is it the whole text? `match` is set only where it is.
  bool matches(const std::string& text) const;
  bool matches(const std::string& text, Match& match) const;
  /// Does it stand in the text? Likewise, of the first place.
  bool is_in(const std::string& text) const;
  bool is_in(const std::string& text, Match& match) const;
  /// \param replacement for each place; $1 in it is the first group
  std::string replaced(const std::string& text, const std::string& replacement) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace simtcc
