/// \file
/// Tokens of preprocessed C++.
///
/// simtcc works on what `g++ -E` prints: macros are expanded, comments are mostly gone, and lines such
/// as `# 12 "vector_add.cu"` say where the text came from. The lexer cuts that text into tokens that
/// know the reader's file and line, so that a message can name them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

enum class TokenKind {
  identifier,  // keywords too
  number,
  string,  // also raw and prefixed strings
  character,
  punctuator,  // '<' and '>' come one by one, see Tokens
  directive,   // a whole line that starts with '#'
};

/// A function's body that `#if` on __CUDA_ARCH__ gives two texts: see host_branches.h.
enum class Branch { none, device, host };

struct Token {
  TokenKind kind;
  std::string_view text;  ///< Points into the lexed text.
  std::size_t offset;     ///< Of its first byte in the lexed text.
  int line;               ///< In the reader's file.
  int file;               ///< Index into Tokens::files.
  bool in_system_header;
  int include;  ///< Index into Tokens::includes, or -1 in the main file.
  Branch branch;

  std::size_t end() const { return offset + text.size(); }
  bool is(std::string_view spelling) const {
    return text == spelling && kind != TokenKind::string && kind != TokenKind::character;
  }
  bool is_identifier() const { return kind == TokenKind::identifier; }
};

/// An `#include` that was open while a token was read.
struct Include {
  int file;    ///< The file with the directive.
  int line;    ///< The directive's line.
  int parent;  ///< The include that brought that file, or -1.
};

/// A lexed text. Comments are left out: no rule looks at them, and no edit touches them.
///
/// `<` and `>` are always tokens of one character, whether they stand in `<<`, `>>` or `>>>`: what they
/// mean depends on what surrounds them. Only `<=`, `>=`, `<=>`, `<<=` and `>>=` are longer.
struct Tokens {
  std::vector<Token> list;
  std::vector<std::string> files;
  std::vector<Include> includes;
  std::vector<Token> directives;      ///< In order; not part of `list`.
  std::vector<std::size_t> digraphs;  ///< Where `<:`, `:>`, `<%` and `%>` stand.
};

/// Cuts `text` into tokens. Until a line marker says otherwise the text is line 1 of `file`.
Tokens tokenize(std::string_view text, std::string_view file);

/// The text as the rules know it, byte for byte as long: `[`, `]`, `{` and `}` (and a blank) stand in place of the digraphs that mean
/// them, and the blanks in `<< <` and `>> > (` stand behind, as editors write a launch that know CUDA for C++.
std::string in_one_spelling(std::string text);

}  // namespace simtcc
