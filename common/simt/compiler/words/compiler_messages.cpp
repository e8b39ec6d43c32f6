#include "words/compiler_messages.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "text/own_headers.h"
#include "text/pattern.h"
#include "words/launch_messages.h"
#include "words/usual_mistakes.h"

namespace simtcc {
namespace {

struct Message {
  std::string file;
  int line = 0;
  int column = 0;
  std::string kind;  // error, warning, note, ...
  std::string text;
  int shown = 0;  // the column in the reader's file, where it is another one
};

// An error or a warning with all that belongs to it.
struct Group {
  std::vector<std::string> ahead;  // "In function ...", "In file included from ..."
  std::vector<Message> required;   // "required from here", from the inside out
  std::optional<Message> main;
  std::vector<Message> notes;
  std::vector<std::string> rest;  // lines of other kinds
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = text.find('\n');
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  }
  return lines;
}

std::optional<Message> parse(const std::string& line) {
  static const Pattern form(
      R"(^(.+?):(\d+):(?:(\d+):)?( (error|warning|fatal error|note|sorry, unimplemented): (.*)|\s+(required .*|recursively required .*|in 'constexpr' expansion .*))$)");
  Match match;
  if (!form.matches(line, match)) return {};
  Message message{
      match[1], std::stoi(match[2]), match.has(3) ? std::stoi(match[3]) : 0, match[5], match[6], 0};
  if (!match.has(5)) {
    message.kind = "required";
    message.text = match[7];
  }
  return message;
}

std::vector<Group> groups_of(std::string_view said) {
  std::vector<Group> groups(1);
  std::vector<std::string> context;
  for (const std::string& line : lines_of(said)) {
    auto message = parse(line);
    if (!message &&
        (line.starts_with("In file included from") || line.starts_with("                 from ") ||
         line.starts_with("In function ") || line.starts_with("In member function ") ||
         line.starts_with("In static member function ") || line.starts_with("    inlined from ") ||
         line.find(": In ") != std::string::npos || line.ends_with(": At global scope:"))) {
      context.push_back(line);
      continue;
    }
    if (message && message->kind != "note" && groups.back().main) groups.emplace_back();
    Group& group = groups.back();
    if (!group.main) group.ahead.insert(group.ahead.end(), context.begin(), context.end());
    context.clear();  // of a note it says nothing new
    if (!message) {
      (group.main ? group.rest : group.ahead).push_back(line);
    } else if (message->kind == "required") {
      group.required.push_back(*message);
    } else if (message->kind == "note") {
      group.notes.push_back(*message);
    } else {
      group.main = message;
    }
  }
  return groups;
}

class Reader {
 public:
  Reader(Origins& origins, bool in_colour) : origins_(origins), in_colour_(in_colour) {}

  std::string run(std::string_view said) {
    std::vector<Group> groups = groups_of(said);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i + 1 < groups.size() && is_explained(groups[i], groups[i + 1])) continue;
      show(groups[i]);
    }
    if (deferred_) print(*deferred_);
    return std::move(out_);
  }

 private:
  static bool is_ours(const std::string& text) {
    return text.find("simt::") != std::string::npos || text.find("simt_") != std::string::npos ||
           text.find("<lambda(auto") != std::string::npos;
  }

  // Does what comes next say why no function fits?
  static bool is_explained(const Group& group, const Group& next) {
    return group.main && next.main && group.main->line == next.main->line &&
           group.main->text.starts_with("no matching function for call to") &&
           next.main->text.ends_with("is not usable in a constant expression");
  }

  void show(Group& group) {
    if (!group.main) {
      for (const std::string& line : group.ahead) out_ += line + '\n';
      for (const Message& note : group.notes) print(note);
      return;
    }
    Message& main = *group.main;
    // A fault in one of the simulator's templates is the reader's who uses it.
    if (is_own_header(main.file)) {
      const auto user =
          std::find_if(group.required.begin(), group.required.end(),
                       [&](const Message& message) { return !is_own_header(message.file); });
      if (user != group.required.end()) {
        main.file = user->file;
        main.line = user->line;
        main.column = user->column;
      }
    }
    if (is_own_header(main.file)) move_to_caller(group);
    move_to_line_before(main);
    const bool one_sentence = reword(group);
    // What follows from an error that has been told, in terms of what simtcc has made of the launch.
    const bool follows = is_ours(main.text) ||
                         main.text.find("check_references") != std::string::npos ||
                         main.text.find("std::enable_if<false") != std::string::npos ||
                         (main.text == "simt: a kernel returns void" && dropped_line_);
    if (main.text.empty() || (follows && !said_.empty())) return;
    if (is_told(main)) return;
    // What a library lacks makes errors of all that is declared with it.
    if (has_absent_ && !one_sentence) return;
    has_absent_ |= main.text.ends_with("run the program on a GPU");
    if (!said_.insert({main.file, main.line, main.text}).second) return;
    if (one_sentence) {
      print(main);
      return;
    }
    for (const std::string& line : group.ahead) {
      const bool about_us = is_ours(line) ||
                            std::any_of(kOwnFolders.begin(), kOwnFolders.end(),
                                        [&line](std::string_view folder) {
                                          return line.find(folder) != std::string::npos;
                                        }) ||
                            line.find("<command-line>") != std::string::npos;
      if (!about_us) out_ += line + '\n';
    }
    for (const Message& message : group.required) {
      const bool same = message.file == main.file && message.line == main.line;
      if (!same && !is_own_header(message.file) && !is_ours(message.text)) print(message);
    }
    print(main);
    for (const Message& note : group.notes) {
      if (!is_own_header(note.file) && !is_ours(note.text)) print(note);
    }
    for (const std::string& line : group.rest) out_ += line + '\n';
  }

  // Has it been said before, in other words, or is it no more than a guess of g++'s?
  bool is_told(const Message& main) {
    static const Pattern uninitialized(R"('(.*)' may be used uninitialized.*)");
    Match match;
    if (uninitialized.matches(main.text, match) && is_perhaps_set(match[1], main)) return true;
    static const Pattern later(R"('(\w+)' was not declared in this scope, and no declarations.*)");
    if (later.matches(main.text, match)) return !undeclared_.insert(match[1]).second;
    static const Pattern undeclared(R"('(\w+)' was not declared in this scope.*)");
    if (undeclared.matches(main.text, match)) {
      undeclared_.insert(match[1]);
      if (is_in_wrong_line(match[1], main)) return true;
    }
    // What g++ makes of a line whose first fault has been explained.
    if (main.line == explained_ &&
        (main.text.starts_with("expected ") || main.text.starts_with("no return statement") ||
         main.text.starts_with("simt: a kernel returns void: write '__global__ void' in")))
      return true;
    if (main.text.starts_with("template argument ") && main.line == runtime_size_) return true;
    if (main.text.starts_with("simt: the size of a __shared__ array")) runtime_size_ = main.line;
    return false;
  }

  // Does a line above it set the variable, if only in a branch? Then g++ asks whether that is always taken where it counts, and
  // mostly it is: `if (i < n) value = in[i];`, and so is the use of the value.
  bool is_perhaps_set(const std::string& name, const Message& main) {
    if (is_own_header(main.file)) return true;
    static const Pattern plain("\\w+");
    if (!plain.matches(name)) return false;  // '(*p).x'
    const Pattern set("(^|[^\\w.>])" + name + "\\s*=[^=]");
    const Pattern declared("\\w[ *&]+" + name + "\\s*[;,{(]");
    for (int line = main.line - 1; line > 0; --line) {
      const std::string text(origins_.line_of(main.file, line));
      if (set.is_in(text)) return true;
      if (declared.is_in(text) && text.find("return") == text.npos) return false;
    }
    return false;
  }

  // A function of the simulator's that stands in one of the reader's.
  void move_to_caller(Group& group) const {
    static const Pattern form(R"(\s*inlined from '.*' at (.+?):(\d+):(\d+)[:,]?)");
    Match match;
    for (const std::string& line : group.ahead) {
      if (!form.matches(line, match) || is_own_header(match[1])) continue;
      group.main->file = match[1];
      group.main->line = std::stoi(match[2]);
      group.main->column = std::stoi(match[3]);
      std::erase_if(group.ahead, [](const std::string& l) { return form.matches(l); });
      return;
    }
  }

  // Does a line above that has an error seem to declare the name?
  bool is_in_wrong_line(const std::string& name, const Message& main) {
    const Pattern word("\\w[ *&]+" + name + "\\s*[=;({\\[,)]");
    return std::any_of(said_.begin(), said_.end(), [&](const auto& told) {
      const auto& [file, line, text] = told;
      const std::string source(origins_.line_of(file, line));
      return file == main.file && line < main.line && word.is_in(source);
    });
  }

  // What is missing at the end of a line g++ misses at the first word of the next.
  void move_to_line_before(Message& main) {
    static const Pattern form(R"(expected (',' or )?';' before .*)");
    if (!form.matches(main.text) || is_own_header(main.file)) return;
    const std::string text(origins_.line_of(main.file, main.line));
    const int column = origins_.column(main.file, main.line, main.column);
    if (column < 1 || static_cast<std::size_t>(column) > text.size() ||
        text.find_first_not_of(" \t") != static_cast<std::size_t>(column) - 1)
      return;
    for (int above = main.line - 1; above > 0; --above) {
      std::string before(origins_.line_of(main.file, above));
      before.resize(std::min(before.size(), before.find("//")));
      const std::size_t last = before.find_last_not_of(" \t\r");
      if (last == std::string::npos) continue;
      if (before[0] == '#' || before.find("*/") != std::string::npos) return;
      main.line = above;
      main.column = 0;
      main.shown = static_cast<int>(last) + 2;
      return;
    }
  }

  // Puts what simtcc brought about into the reader's words. True if that says all.
  bool reword(Group& group) {
    Message& main = *group.main;
    Match match;
    static const Pattern assertion(R"(static assertion failed: (simt: .*))");
    if (assertion.matches(main.text, match)) {
      main.text = match[1];
      return true;
    }
    static const Pattern launch(
        R"(no match for call to '\(simt::detail::\w*Launcher<.*\) \((.*)\)')");
    if (launch.matches(main.text, match)) {
      const std::string kernel = kernel_launched(main);
      main.text = misfit(notes_of(group), kernel);
      if (main.text.empty()) {  // the next error has the types
        deferred_ = main;
        deferred_->text = "simt: the arguments of the launch do not fit the kernel" + kernel;
      }
      return true;
    }
    static const Pattern conversion(R"(invalid conversion from '(.*)' to '(.*)' \[-fpermissive\])");
    if (deferred_ && conversion.matches(main.text, match)) {
      main.text = "simt: this argument of the launch is '" + plain_type(match[1]) +
                  "', and the kernel" + kernel_launched(*deferred_) + " takes '" +
                  plain_type(match[2]) + "'";
      deferred_.reset();
      return true;
    }
    if (is_launch(main.line, main.file)) {
      Message at_name = main;
      const std::string kernel = kernel_launched(at_name);
      if (const auto count = miscount(main.text, notes_of(group), kernel, launch_at(at_name))) {
        main = at_name;
        main.text = *count;
        return true;
      }
    }
    static const Pattern result(
        R"(invalid 'static_cast' from type '(.*) \(\*\)\(.*\)'(?: \{aka .*\})? to type 'void \(\*\)\(.*)");
    if (result.matches(main.text, match)) {
      if (match[1].empty() || match[1] == "void") {  // another fault of its parameters
        if (!said_.empty()) main.text.clear();
        return !said_.empty();
      }
      main.text = "simt: a kernel returns void: write '__global__ void' in place of '__global__ " +
                  match[1] + "', and hand results over through memory";
      dropped_line_ = main.line;
      return true;
    }
    if (main.text.starts_with("template argument 1 is invalid") && main.line == dropped_line_) {
      main.text.clear();
      return true;
    }
    static const Pattern brackets(
        R"(invalid operands of types '(void ?\(.*|<unresolved overloaded function type>)' and '.*' to binary 'operator<<')");
    if (brackets.matches(main.text)) {
      const std::string name = name_before(main, "<<");
      main.text = "simt: a launch is written with three brackets: " +
                  (name.empty() ? std::string("kernel") : name) + "<<<blocks, threads>>>(...)";
      two_brackets_ = main.line;
      return true;
    }
    if (main.line == two_brackets_ && (main.text.starts_with("invalid operands of types") ||
                                       main.text.find("shift count") != std::string::npos)) {
      main.text.clear();
      return true;
    }
    static const Pattern undeclared(R"('(\w+)' was not declared in this scope.*)");
    if (undeclared.matches(main.text, match) && match[1] == "CUDA_CHECK") {
      main.text =
          "simt: 'CUDA_CHECK' is not declared: write #include \"lab/lab.h\" at the top, or a "
          "macro of your own that looks at the returned cudaError_t";
      return true;
    }
    if (reword_call(group)) return true;
    if (main.text == "void value not ignored as it ought to be" &&
        is_launch(main.line, main.file)) {
      kernel_launched(main);
      main.text = "simt: a launch has no value: hand results over through memory";
      return true;
    }
    return false;
  }

  // Usual mistakes in calls and declarations of CUDA's.
  bool reword_call(Group& group) {
    Message& main = *group.main;
    const std::string line(origins_.line_of(main.file, main.line));
    std::optional<std::string> said = beginners_mistake(main.text, notes_of(group), line);
    if (!said) said = declared_below(main);
    if (!said) return false;
    main.text = *said;
    explained_ = main.line;
    return true;
  }

  // A kernel or another function of CUDA's that is defined behind its use.
  std::optional<std::string> declared_below(const Message& main) {
    static const Pattern undeclared(R"('(\w+)' was not declared in this scope.*)");
    Match match;
    if (!undeclared.matches(main.text, match)) return {};
    const std::string name = match[1];
    const Pattern function("__(global|device)__.*\\b" + name + "\\s*\\(.*");
    constexpr int kFar = 2000;
    for (int line = main.line + 1; line < main.line + kFar; ++line) {
      const std::string text(origins_.line_of(main.file, line));
      if (function.is_in(text))
        return "simt: '" + name + "' is declared in line " + std::to_string(line) +
               ", below its use: move it above";
    }
    return {};
  }

  static std::vector<std::string> notes_of(const Group& group) {
    std::vector<std::string> notes;
    for (const Message& note : group.notes) notes.push_back(note.text);
    return notes;
  }

  // The launches of a line, as the text that g++ saw has them.
  bool is_launch(int line, const std::string& file) {
    return joined_line(file, line).find("<<<") != std::string::npos ||
           joined_line(file, line - 1).find("<<<") != std::string::npos;
  }

  // The source from a launch on whose name the message shows, as far as its arguments may go.
  std::string launch_at(const Message& message) {
    constexpr int kMostLines = 12;
    std::string text = joined_line(message.file, message.line);
    text.erase(0, message.shown > 0 ? static_cast<std::size_t>(message.shown) - 1 : 0);
    for (int line = 1; line < kMostLines; ++line)
      text += '\n' + std::string(origins_.line_of(message.file, message.line + line));
    return text;
  }

  // A line of the reader's, with `<<<` where that has `<< <`.
  std::string joined_line(const std::string& file, int line) {
    static const Pattern spaced("<<([ \t]+)<");
    return spaced.replaced(std::string(origins_.line_of(file, line)), "<<<$1");
  }

  // The name that stands before these brackets, from where the message points on.
  std::string name_before(const Message& message, const std::string& brackets) {
    const std::string text(origins_.line_of(message.file, message.line));
    const int column = origins_.column(message.file, message.line, message.column);
    const std::size_t end =
        text.find(brackets, column > 0 ? static_cast<std::size_t>(column) - 1 : 0);
    std::size_t begin = end == std::string::npos ? 0 : end;
    while (begin > 0 &&
           (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
      --begin;
    return end == std::string::npos ? std::string() : text.substr(begin, end - begin);
  }

  // " 'name'" of the launch that a message is about, or nothing. The message moves to the name.
  std::string kernel_launched(Message& message) {
    const std::string text = joined_line(message.file, message.line);
    const int column = origins_.column(message.file, message.line, message.column);
    const std::size_t from = column > 0 ? static_cast<std::size_t>(column) - 1 : 0;
    std::size_t begin = text.rfind("<<<", from);
    if (begin == std::string::npos) begin = text.find("<<<", from);
    if (begin == std::string::npos) return "";
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || (c & 0x80);
    };
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    if (begin > 0 && text[begin - 1] == '>') begin = text.rfind('<', begin - 1);
    if (begin == std::string::npos) return "";
    const std::size_t end = begin;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    if (begin == end) return "";
    message.shown = static_cast<int>(begin) + 1;
    return " '" + text.substr(begin, end - begin) + "'";
  }

  void print(const Message& message) {
    Message shown = message;
    const int column =
        message.column ? origins_.column(message.file, message.line, message.column) : 0;
    if (column) shown.column = column;
    if (message.shown) shown.column = message.shown;
    const auto colour = [this](const char* code) {
      return in_colour_ ? std::string("\033[") + code + "m" : std::string();
    };
    const std::string place = shown.file + ":" + std::to_string(shown.line) + ":" +
                              (shown.column ? std::to_string(shown.column) + ":" : "");
    out_ += colour("1") + place + colour("0") + " ";
    if (shown.kind == "required") {
      out_ += "  " + shown.text + '\n';
      return;
    }
    const char* const code = shown.kind == "note"      ? "1;36"
                             : shown.kind == "warning" ? "1;35"
                                                       : "1;31";
    out_ += colour(code) + shown.kind + ":" + colour("0") + " " + shown.text + '\n';
    const std::string_view source = origins_.line_of(shown.file, shown.line);
    if (source.empty() || shown.column < 1 || is_own_header(shown.file) ||
        static_cast<std::size_t>(shown.column) > source.size() + 1)
      return;
    std::string number = std::to_string(shown.line);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
    out_ += number + " | " + std::string(source) + '\n';
    std::string caret(source.substr(0, static_cast<std::size_t>(shown.column) - 1));
    std::replace_if(
        caret.begin(), caret.end(), [](char c) { return c != '\t'; }, ' ');
    out_ +=
        std::string(number.size(), ' ') + " | " + caret + colour(code) + "^" + colour("0") + '\n';
  }

  Origins& origins_;
  bool in_colour_;
  std::set<std::string> undeclared_;
  int runtime_size_ = 0;  // the line of an array
  int dropped_line_ = 0;
  int explained_ = 0;                // the line of a usual mistake
  bool has_absent_ = false;          // a name of CUB or Thrust that is not simulated
  int two_brackets_ = 0;             // the line of a launch
  std::optional<Message> deferred_;  // said at the end if nothing says more
  std::set<std::tuple<std::string, int, std::string>> said_;
  std::string out_;
};

}  // namespace

std::string readable(std::string_view said, Origins& origins, bool in_colour) {
  return Reader(origins, in_colour).run(said);
}

}  // namespace simtcc
