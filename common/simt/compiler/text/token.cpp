#include "text/token.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace simtcc {
namespace {

// Not those of <cctype>, which are calls: a program has megabytes of text, most of it from headers.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool starts_identifier(char c) {
  // Bytes above 127 belong to identifiers in UTF-8.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}
bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }

// `foo<::bar>`: C++11 reads "<::" as "<" "::".
bool is_global(std::string_view text) {
  return text.starts_with("<::") && !text.starts_with("<:::") && !text.starts_with("<::>");
}

// Longest first. '<' and '>' alone are missing on purpose.
constexpr std::array<std::string_view, 29> kPunctuators = {
    "<=>", "<<=", ">>=", "->*", "...", "::", "->", ".*", "<=", ">=", "==", "!=", "&&", "||", "++",
    "--",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "##", "<:", ":>", "<%", "%>"};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text) {
    file_ = file_index(file);
    out_.list.reserve(text.size() / 4);  // more than headers have; what is not used costs no memory
  }

  Tokens run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  int file_index(std::string_view name) {
    const auto found = std::find(out_.files.begin(), out_.files.end(), name);
    if (found != out_.files.end()) return static_cast<int>(found - out_.files.begin());
    out_.files.emplace_back(name);
    return static_cast<int>(out_.files.size()) - 1;
  }

  Token make(TokenKind kind, std::size_t begin, std::size_t end) const {
    return {
        kind,   text_.substr(begin, end - begin), begin, line_, file_, in_system_header_, include_,
        branch_};
  }

  // Adds the token [at_, end) and counts the lines inside it (raw strings have some).
  void add(TokenKind kind, std::size_t end) {
    out_.list.push_back(make(kind, at_, end));
    if (kind == TokenKind::string || kind == TokenKind::character) {
      advance_to(end);
    } else {
      at_ = end;
    }
    at_line_start_ = false;
  }

  void advance_to(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
    at_ = end;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
      at_line_start_ = true;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '#' && at_line_start_) {
      directive();
    } else if (c == '/' && peek(1) == '/') {
      advance_to(line_end(at_));
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      advance_to(end == std::string_view::npos ? text_.size() : end + 2);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (starts_identifier(c) || is_universal_name(at_)) {
      identifier_or_prefixed_literal();
    } else if (c == '"') {
      add(TokenKind::string, quoted_end(at_));
    } else if (c == '\'') {
      add(TokenKind::character, quoted_end(at_));
    } else {
      punctuator();
    }
  }

  // The end of the logical line that holds `from`: a backslash continues it.
  std::size_t line_end(std::size_t from) const {
    std::size_t end = from;
    while (true) {
      end = text_.find('\n', end);
      if (end == std::string_view::npos) return text_.size();
      if (end == 0 || text_[end - 1] != '\\') return end;
      ++end;
    }
  }

  void number() {
    std::size_t end = at_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      const char before = text_[end - 1];
      const bool exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
      if (continues_identifier(c) || c == '.' || ((c == '+' || c == '-') && exponent)) {
        ++end;
      } else if (c == '\'' && end + 1 < text_.size() && continues_identifier(text_[end + 1])) {
        end += 2;  // 1'000'000
      } else {
        break;
      }
    }
    add(TokenKind::number, end);
  }

  // \u00e4, as the preprocessor prints letters beyond ASCII in some places
  bool is_universal_name(std::size_t at) const {
    return at + 5 < text_.size() && text_[at] == '\\' &&
           (text_[at + 1] == 'u' || text_[at + 1] == 'U') &&
           std::isxdigit(static_cast<unsigned char>(text_[at + 2]));
  }

  void identifier_or_prefixed_literal() {
    std::size_t end = at_;
    while (end < text_.size() && (continues_identifier(text_[end]) || is_universal_name(end)))
      ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const char quote = end < text_.size() ? text_[end] : '\0';
    if (quote == '"' &&
        (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
      add(TokenKind::string, raw_string_end(end));
    } else if ((quote == '"' || quote == '\'') &&
               (word == "L" || word == "u" || word == "U" || word == "u8")) {
      add(quote == '"' ? TokenKind::string : TokenKind::character, quoted_end(end));
    } else {
      add(TokenKind::identifier, end);
    }
  }

  // The end of a literal whose opening quote is at `quote`, with its suffix (1.0_km, "s"sv).
  std::size_t quoted_end(std::size_t quote) const {
    std::size_t end = quote + 1;
    while (end < text_.size() && text_[end] != text_[quote] && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    return suffix_end(std::min(end + 1, text_.size()));
  }

  std::size_t raw_string_end(std::size_t quote) const {
    const std::size_t open = text_.find('(', quote);
    if (open == std::string_view::npos) return text_.size();
    const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : suffix_end(end + close.size());
  }

  std::size_t suffix_end(std::size_t end) const {
    if (end < text_.size() && starts_identifier(text_[end])) {
      while (end < text_.size() && continues_identifier(text_[end])) ++end;
    }
    return end;
  }

  void punctuator() {
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view candidate : kPunctuators) {
      if (candidate[0] != rest[0] || !rest.starts_with(candidate)) continue;
      if (candidate == "<:" || candidate == ":>" || candidate == "<%" || candidate == "%>") {
        if (!is_global(rest)) {
          out_.digraphs.push_back(at_);
          return add(TokenKind::punctuator, at_ + 2);
        }
        break;
      }
      return add(TokenKind::punctuator, at_ + candidate.size());
    }
    add(TokenKind::punctuator, at_ + 1);
  }

  // A line marker (`# 12 "file" 1 3 4`, `#line 12 "file"`), a pragma, or something to leave alone.
  void directive() {
    const std::size_t end = line_end(at_);
    out_.directives.push_back(make(TokenKind::directive, at_, end));
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    at_line_start_ = false;
    const auto skip_blanks = [&rest] {
      while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    };
    skip_blanks();
    if (rest.starts_with("pragma simt branch ")) {
      branch_ = rest.ends_with(" device") ? Branch::device
                : rest.ends_with(" host") ? Branch::host
                                          : Branch::none;
      return advance_to(end);
    }
    if (rest.starts_with("line")) rest.remove_prefix(4);
    skip_blanks();
    int line = 0;
    const auto [number_end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error != std::errc()) return advance_to(end);
    rest.remove_prefix(number_end - rest.data());
    skip_blanks();
    if (rest.starts_with('"')) {
      std::string name;
      rest.remove_prefix(1);
      while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
        name += rest[0];
        rest.remove_prefix(1);
      }
      if (!rest.empty()) rest.remove_prefix(1);
      enter(name, rest);
    }
    at_ = end;
    line_ = line - 1;  // the newline at the end of the marker makes it `line`
  }

  // Flags of a line marker: 1 enters a file, 2 returns to one, 3 marks a system header.
  void enter(const std::string& name, std::string_view flags) {
    const auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    if (has('1')) {
      out_.includes.push_back({file_, line_, include_});
      include_ = static_cast<int>(out_.includes.size()) - 1;
    } else if (has('2') && include_ >= 0) {
      include_ = out_.includes[include_].parent;
    }
    file_ = file_index(name);
    in_system_header_ = has('3');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int file_ = 0;
  int include_ = -1;
  Branch branch_ = Branch::none;
  bool in_system_header_ = false;
  bool at_line_start_ = true;
  Tokens out_;
};

}  // namespace

Tokens tokenize(std::string_view text, std::string_view file) { return Lexer(text, file).run(); }

namespace {

// Whether there is a reason to look for them among the tokens.
bool may_have_digraphs(std::string_view text) {
  // (The preprocessor leaves `{` as it is where `%>` closes it.)
  static constexpr std::string_view kDigraphs[] = {"<:", ":>", "<%", "%>"};
  for (const std::string_view digraph : kDigraphs) {
    for (std::size_t at = 0; (at = text.find(digraph, at)) != text.npos; ++at) {
      if (!is_global(text.substr(at))) return true;
    }
  }
  return false;
}

// The first blank in `<< <` or `>> >`, whatever these are part of.
std::size_t spaced_angles(std::string_view text) {
  for (std::size_t i = 0; (i = text.find_first_of(" \t", i)) != text.npos;) {
    const std::size_t next = text.find_first_not_of(" \t", i);
    if (next == text.npos) break;
    const char c = text[next];
    if ((c == '<' || c == '>') && i >= 2 && text[i - 1] == c && text[i - 2] == c) return i;
    i = next;
  }
  return text.npos;
}

// `<< <` becomes `<<< `: nothing else in C++ is written so. `>> > (` becomes `>>>  (`, which closes as many templates.
void join_launches(std::string& text, const std::vector<Token>& list) {
  const auto follows = [&list](std::size_t i) {
    return i > 0 && list[i].text == list[i - 1].text && list[i - 1].end() == list[i].offset;
  };
  for (std::size_t i = 0; i + 3 < list.size(); ++i) {
    const Token &a = list[i], &b = list[i + 1], &c = list[i + 2];
    if (!a.is("<") && !(a.is(">") && list[i + 3].is("("))) continue;
    if (!c.is(a.text) || !follows(i + 1) || follows(i) || follows(i + 3)) continue;
    if (spaced_angles(text.substr(a.offset, c.end() - a.offset)) == 2)
      std::swap(text[b.end()], text[c.offset]);
  }
}

}  // namespace

std::string in_one_spelling(std::string text) {
  if (!may_have_digraphs(text) && spaced_angles(text) == text.npos) return text;
  const std::string original = text;
  const Tokens tokens = tokenize(original, "");
  for (const std::size_t at : tokens.digraphs) {
    const char* const plain =
        text[at] == '<' ? (text[at + 1] == ':' ? "[ " : "{ ") : (text[at] == ':' ? "] " : "} ");
    text.replace(at, 2, plain);
  }
  join_launches(text, tokens.list);
  return text;
}

}  // namespace simtcc
