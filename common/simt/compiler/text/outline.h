/// \file
/// A program in outline: its functions as wholes, and the tokens that stand outside of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/syntax.h"
#include "text/token.h"

namespace simtcc {

/// The braces of a function, of an initialiser, or of a lambda that says where it runs.
struct Braces {
  std::size_t head, open, close;
  Side side;
  std::vector<Braces> nested;  ///< Those in it that run elsewhere than it does.
};

/// A text with its tokens, which a view of them needs first.
struct LexedText {
  LexedText(const std::string& source, const std::string& file)
      : source(source), tokens(tokenize(source, file)), partner(matched_brackets(tokens.list)) {}

  const std::string& source;
  Tokens tokens;
  std::vector<std::size_t> partner;
};

/// Preprocessed text as a row of elements: a token, or braces as a whole, which are named by the first.
class Outline : public LexedText, private Syntax {
 public:
  /// Elements [begin, end).
  struct Range {
    std::size_t begin, end;
  };

  /// \param source has to outlive this
  /// \param relaxed constexpr functions are for both sides
  Outline(const std::string& source, const std::string& file, bool relaxed);

  std::size_t size() const { return elements_.size(); }
  const Token& token(std::size_t i) const { return list_[i]; }
  /// Does it stand in a file of the program? (A qualifier there is a macro of a system header.)
  bool is_of_program(const Token& token) const { return of_program_[token.file]; }
  std::size_t first_token(std::size_t element) const { return elements_[element].token; }
  std::size_t last_token(std::size_t element) const {
    return braces(element) ? braces(element)->close : first_token(element);
  }
  const Token& at(std::size_t element) const { return list_[elements_[element].token]; }
  /// nullptr of a token
  const Braces* braces(std::size_t element) const {
    const std::size_t i = elements_[element].braces;
    return i == kNone ? nullptr : &braces_[i];
  }

  std::string_view text(std::size_t first_token, std::size_t last_token) const;
  std::string_view text(const Braces& braces) const { return text(braces.open, braces.close); }
  /// Of a token, from 1.
  std::size_t column(std::size_t i) const;
  /// A line marker, and blanks: what follows stands where token i does.
  std::string marker(std::size_t i) const;

  /// Is there code in them, and no values?
  bool is_code(const Braces& braces) const;
  /// The declarations that make up these elements, or nothing if there is more or less.
  std::optional<std::vector<Range>> declarations(Range range) const;
  /// The braces of the function that the declaration defines, or nullptr.
  const Braces* function(Range declaration) const;
  /// What a declaration declares.
  std::string_view name(Range declaration) const;
  /// Is the word in the declaration, ahead of a function's parameters?
  bool says(Range declaration, std::string_view word) const;
  /// A function's tokens up to its braces, without what says where it runs and how it is linked.
  std::vector<std::string_view> signature(const Braces& function) const;

 private:
  struct Element {
    std::size_t token;
    std::size_t braces;  // index into braces_, or kNone
  };

  Side side_of(std::size_t head, std::size_t open, Side side) const;
  void scan(std::size_t begin, std::size_t end, Side side, bool in_code, std::vector<Braces>& out,
            std::vector<Element>* elements);
  bool is_access(std::size_t i) const;
  bool ends_declaration(std::size_t i) const;
  std::size_t end_of_declaration(std::size_t first, std::size_t end) const;

  bool relaxed_;
  std::vector<bool> of_program_;  // by file
  std::vector<Braces> braces_;
  std::vector<Element> elements_;
};

}  // namespace simtcc
