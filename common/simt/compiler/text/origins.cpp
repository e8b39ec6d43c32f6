#include "text/origins.h"

#include <algorithm>
#include <fstream>

namespace simtcc {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
// A macro's call may go on over so many lines; the preprocessor joins them.
constexpr int kJoinedLines = 12;

}  // namespace

Origins::Origins(std::string_view source, std::string_view file, const std::vector<Edit>& edits)
    : source_(source), file_(file), edits_(edits) {}

void Origins::read() const {
  if (!tokens_.list.empty()) return;
  tokens_ = tokenize(source_, file_);
  for (std::size_t i = 0; i < tokens_.list.size(); ++i) {
    const Token& token = tokens_.list[i];
    if (token.in_system_header) continue;
    Lines& lines = token.branch == Branch::host ? on_host_line_ : on_line_;
    lines[{tokens_.files[static_cast<std::size_t>(token.file)], token.line}].push_back(i);
  }
}

// What both branches have on the line, they have in common.
const std::vector<std::size_t>* Origins::tokens_on(const std::string& file, int line) const {
  read();
  for (const Lines* const lines : {&on_line_, &on_host_line_}) {
    if (const auto found = lines->find({file, line}); found != lines->end()) return &found->second;
  }
  return nullptr;
}

int Origins::column(const std::string& file, int line, int rewritten_column) {
  const std::size_t at = token_at(file, line, rewritten_column);
  return at == kNowhere ? 0 : in_file(at);
}

int Origins::column_of_call(const std::string& file, int line, int rewritten_column) {
  const std::size_t at = token_at(file, line, rewritten_column);
  return at == kNowhere ? 0 : column_of_token(at);
}

int Origins::column_of_name(const std::string& file, int line, int rewritten_column,
                            std::string_view name) {
  const std::size_t at = token_at(file, line, rewritten_column);
  if (at == kNowhere) return 0;
  const std::vector<std::size_t>& tokens = *tokens_on(file, line);
  const auto is_name = [&](std::size_t i) { return tokens_.list[i].text == name; };
  const auto from = std::find(tokens.begin(), tokens.end(), at);
  auto found = std::find_if(from, tokens.end(), is_name);
  if (found == tokens.end()) found = std::find_if(tokens.begin(), from, is_name);
  return found == tokens.end() || !is_name(*found) ? column_of_token(at) : in_file(*found);
}

bool Origins::names(const std::string& file, int line, std::string_view name) const {
  const std::vector<std::size_t>* const found = tokens_on(file, line);
  return found && std::any_of(found->begin(), found->end(),
                              [&](std::size_t i) { return tokens_.list[i].is(name); });
}

Branch Origins::branch_of(const std::string& file, int line, std::string_view name) const {
  read();
  const auto on = [&](const Lines& lines, auto has) {
    const auto found = lines.find({file, line});
    return found != lines.end() && std::any_of(found->second.begin(), found->second.end(),
                                               [&](std::size_t i) { return has(tokens_.list[i]); });
  };
  const auto any = [](const Token& t) { return t.branch != Branch::none; };
  const auto named = [name](const Token& t) { return t.branch != Branch::none && t.is(name); };
  bool device = on(on_line_, any), host = on(on_host_line_, any);
  if (device && host) {
    device = on(on_line_, named);
    host = on(on_host_line_, named);
  }
  return device == host ? Branch::none : device ? Branch::device : Branch::host;
}

// Where the line of the preprocessed text begins that the token stands in.
std::size_t Origins::line_begin(const Token& token) const {
  return source_.rfind('\n', token.offset) + 1;  // npos + 1 is 0
}

std::size_t Origins::token_at(const std::string& file, int line, int rewritten_column) const {
  const std::vector<std::size_t>* const found = tokens_on(file, line);
  if (!found) return kNowhere;
  for (const std::size_t i : *found) {
    const Token& token = tokens_.list[i];
    const std::size_t begin = line_begin(token);
    // Where the token ends in the rewritten line, with all that was put in its place.
    std::ptrdiff_t end = static_cast<std::ptrdiff_t>(token.end() - begin);
    const auto first =
        std::lower_bound(edits_.begin(), edits_.end(), begin,
                         [](const Edit& edit, std::size_t offset) { return edit.offset < offset; });
    for (auto edit = first; edit != edits_.end() && edit->offset < token.end(); ++edit) {
      end += static_cast<std::ptrdiff_t>(edit->text.size()) -
             static_cast<std::ptrdiff_t>(edit->length);
    }
    if (end >= rewritten_column) return i;
  }
  return found->back();
}

int Origins::column_of_preprocessed(const std::string& file, int line, int column) {
  const std::vector<std::size_t>* const found = tokens_on(file, line);
  if (!found || column <= 0) return 0;
  for (const std::size_t i : *found) {
    const Token& token = tokens_.list[i];
    if (token.end() - line_begin(token) >= static_cast<std::size_t>(column)) return in_file(i);
  }
  return 0;
}

std::string_view Origins::function_called(const std::string& file, int line, int rewritten_column) {
  const std::size_t at = token_at(file, line, rewritten_column);
  return at == kNowhere ? std::string_view{} : tokens_.list[name_called(at)].text;
}

int Origins::column_of_token(std::size_t at) {
  const auto& list = tokens_.list;
  std::size_t i = name_called(at);
  if (i == at || !list[i].is_identifier()) return in_file(i);
  while (i >= 2 && list[i - 1].is("::") && list[i - 2].is_identifier()) i -= 2;
  return in_file(i);
}

// From the parenthesis of a call, where g++ often has its place, to the name: f(x), f<T>(x), a::f(x).
std::size_t Origins::name_called(std::size_t at) const {
  const auto& list = tokens_.list;
  // S s(3): g++ has the constructor at the end
  if (list[at].is(")") || list[at].is("]")) {
    std::size_t i = at;
    for (int depth = 0; i > 0; --i) {
      if (list[i].is(")") || list[i].is("]")) ++depth;
      if ((list[i].is("(") || list[i].is("[")) && --depth == 0) break;
      if (list[i].is(";") || list[i].is("{")) break;
    }
    if (list[i].is("(")) at = i;
    if (list[i].is("[") && i > 0 && list[i - 1].is_identifier()) return i - 1;
  }
  if (!list[at].is("(") || at == 0) return at;
  std::size_t i = at - 1;
  if (list[i].is(">")) {
    for (int depth = 0; i > 0; --i) {
      if (list[i].is(">")) ++depth;
      if (list[i].is("<") && --depth == 0) break;
      if (list[i].is(";") || list[i].is("{")) break;
    }
    if (list[i].is("<") && i > 0) --i;
  }
  return list[i].is_identifier() ? i : at;
}

// The token's column in its file: the two are compared word for word, and a word that comes from a macro stands where the
// macro's name does.
int Origins::in_file(std::size_t at) {
  const Token& token = tokens_.list[at];
  const std::string& file = tokens_.files[static_cast<std::size_t>(token.file)];
  const std::vector<std::string>& lines = lines_of(file);
  if (token.line < 1 || static_cast<std::size_t>(token.line) > lines.size()) return 0;
  Lines& tokens = token.branch == Branch::host ? on_host_line_ : on_line_;
  const std::vector<std::size_t>& ours = tokens[{file, token.line}];
  const std::size_t target =
      static_cast<std::size_t>(std::find(ours.begin(), ours.end(), at) - ours.begin());

  std::string text = lines[static_cast<std::size_t>(token.line) - 1];
  const std::size_t first_line = text.size();
  for (int more = 1; more < kJoinedLines; ++more) {
    const std::size_t next = static_cast<std::size_t>(token.line - 1 + more);
    if (next >= lines.size()) break;
    text += '\n' + lines[next];
  }
  const Tokens theirs = tokenize(text, file);
  const std::size_t n = ours.size(), m = theirs.list.size();
  if (n == 0 || m == 0 || n * m > 4'000'000) return 0;

  // the longest common subsequence
  std::vector<unsigned> length((n + 1) * (m + 1), 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> unsigned& {
    return length[i * (m + 1) + j];
  };
  const auto equal = [&](std::size_t i, std::size_t j) {
    return tokens_.list[ours[i]].text == theirs.list[j].text;
  };
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      cell(i, j) = equal(i, j) ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  std::size_t place = kNowhere, behind = 0;
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (equal(i, j)) {
      if (i == target) {
        place = j;
        break;
      }
      if (i > target) break;
      behind = j + 1;
      ++i;
      ++j;
    } else if (cell(i + 1, j) >= cell(i, j + 1)) {
      if (i == target) break;
      ++i;
    } else {
      ++j;
    }
  }
  if (place == kNowhere) place = std::min(behind, m - 1);
  const std::size_t offset = theirs.list[place].offset;
  if (offset < first_line || first_line == 0) return static_cast<int>(offset) + 1;
  return 0;
}

const std::vector<std::string>& Origins::lines_of(const std::string& file) {
  const auto [found, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      found->second.push_back(line);
    }
  }
  return found->second;
}

std::string_view Origins::line_of(const std::string& file, int line) {
  const std::vector<std::string>& lines = lines_of(file);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return {};
  return lines[static_cast<std::size_t>(line) - 1];
}

}  // namespace simtcc
