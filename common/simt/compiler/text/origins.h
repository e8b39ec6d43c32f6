/// \file
/// From a place in the rewritten text to the place in the reader's file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/diagnostic.h"
#include "text/token.h"

namespace simtcc {

/// The preprocessor and the rewriter keep every line on its line, but not the columns. This finds them again: from the
/// rewritten text to a token by way of the edits, from there to the file, whose lines are compared token by token.
class Origins {
 public:
  /// Nothing is read before something is asked: most programs are compiled without a message.
  /// \param source what was rewritten, which has to outlive this
  Origins(std::string_view source, std::string_view file, const std::vector<Edit>& edits);

  /// The column in the reader's file of what stands at this place in the rewritten text, or 0 if it is not known.
  int column(const std::string& file, int line, int rewritten_column);

  /// The same, and of the function's name for the parentheses of a call.
  int column_of_call(const std::string& file, int line, int rewritten_column);

  /// The same for the first mention of a name on the line from this place on, or before it if there is none behind.
  int column_of_name(const std::string& file, int line, int rewritten_column,
                     std::string_view name);

  /// The same from a column of the preprocessed text.
  int column_of_preprocessed(const std::string& file, int line, int column);

  /// The last part of the name of the function that is called there, as the preprocessed text has it.
  std::string_view function_called(const std::string& file, int line, int rewritten_column);

  /// Does the preprocessed text have this name on the line?
  bool names(const std::string& file, int line, std::string_view name) const;

  /// In which text of a function's body that has two (Branch) the name stands on the line; none where it does in both, or where
  /// there is one.
  Branch branch_of(const std::string& file, int line, std::string_view name) const;

  /// A line of the reader's file, or nothing if there is none.
  std::string_view line_of(const std::string& file, int line);

 private:
  using Line = std::pair<std::string, int>;
  void read() const;
  using Lines = std::map<Line, std::vector<std::size_t>>;
  const std::vector<std::size_t>* tokens_on(const std::string& file, int line) const;
  std::size_t token_at(const std::string& file, int line, int rewritten_column) const;
  std::size_t line_begin(const Token& token) const;
  int column_of_token(std::size_t token);
  std::size_t name_called(std::size_t token) const;
  int in_file(std::size_t token);
  const std::vector<std::string>& lines_of(const std::string& file);

  std::string_view source_;
  std::string file_;
  const std::vector<Edit>& edits_;
  mutable Tokens tokens_;
  mutable Lines on_line_;
  mutable Lines on_host_line_;  ///< Tokens of Branch::host.
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace simtcc
