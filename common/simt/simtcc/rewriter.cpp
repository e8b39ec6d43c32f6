#include "rewriter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "token.h"
#include "unsupported.h"

namespace simtcc {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Code that stands between the simulator and the kernel is not traced.
constexpr std::string_view kUntraced =
    "__attribute__((no_sanitize(\"thread\"), no_sanitize_coverage))";

// What CUDA's qualifiers are to g++. A kernel keeps a symbol of its own, by which reports name it.
const std::map<std::string_view, std::string_view> kQualifiers = {
    {"__global__", "__attribute__((noinline, used, no_instrument_function, tainted_args))"},
    {"__device__", ""},
    {"__host__", ""},
    {"__managed__", "__attribute__((section(\"simt_managed\")))"},
    // its section tells it from global memory
    {"__constant__", "__attribute__((section(\"simt_constant\")))"},
};

// Words that can stand before an expression and are no part of it.
bool is_statement_keyword(std::string_view word) {
  static const std::set<std::string_view> words = {
      "return",    "else",     "do",        "case",    "default", "goto",   "throw",
      "co_return", "co_yield", "co_await",  "new",     "delete",  "sizeof", "if",
      "while",     "for",      "switch",    "and",     "or",      "not",    "typename",
      "template",  "catch",    "constexpr", "operator"};
  return words.contains(word);
}

bool is_builtin_type(std::string_view word) {
  static const std::set<std::string_view> words = {
      "void",    "bool",   "char", "char8_t",  "char16_t",  "char32_t",
      "wchar_t", "short",  "int",  "long",     "signed",    "unsigned",
      "float",   "double", "auto", "__int128", "__float128"};
  return words.contains(word);
}

bool is_specifier(std::string_view word) {
  static const std::set<std::string_view> words = {
      "static",   "extern",       "inline",     "thread_local", "__thread",    "const",
      "volatile", "constexpr",    "constinit",  "register",     "mutable",     "__shared__",
      "typename", "__device__",   "__host__",   "__constant__", "__managed__", "__extension__",
      "__const",  "__volatile__", "__restrict", "__restrict__", "__inline"};
  return words.contains(word);
}

bool is_class_key(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

// Words that take a parenthesis and belong to a type or an attribute.
bool takes_attribute_parenthesis(std::string_view word) {
  return word == "__attribute__" || word == "__attribute" || word == "alignas" ||
         word == "_Alignas" || word == "__declspec" || word == "decltype" || word == "__decltype" ||
         word == "typeof" || word == "__typeof__" || word == "__typeof" ||
         word == "__launch_bounds__";
}

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

// Text as a C++ string literal.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// The atomics that a warp can do with one lane's.
bool is_merging_atomic(std::string_view name) {
  static constexpr std::array kNames = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax",
                                        "atomicAnd", "atomicOr",  "atomicXor"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Where a function runs, in attributes of g++ that change nothing here and come out again where it prints what it
// has made of the source: see execution_spaces.h.
constexpr std::string_view kDeviceMark = "__attribute__((no_instrument_function))";
constexpr std::string_view kBothMark =
    "__attribute__((no_instrument_function, no_profile_instrument_function))";
constexpr std::string_view kHostMark = "__attribute__((no_profile_instrument_function)) ";

class Rewriter {
 public:
  Rewriter(std::string_view source, std::string_view file, std::string_view simulator)
      : source_(source), tokens_(tokenize(source, file)), list_(tokens_.list) {
    for (const std::string& name : tokens_.files)
      in_simulator_.push_back(!simulator.empty() && name.starts_with(simulator));
    scopes_.push_back({Scope::Kind::space, Side::host, 0, kNone, {}, false});
  }

  Rewritten run() {
    for (const Token& directive : tokens_.directives) visit_directive(directive);
    match_brackets();
    for (at_ = 0; at_ < list_.size(); ++at_) visit(at_);
    for (const NamespaceShared& shared : namespace_shared_) use_namespace_shared(shared);
    for (const std::size_t atomic : atomics_) mark_same_address(atomic);
    Rewritten result{apply(), std::move(diagnostics_), names_wide_type(), {}, {}};
    result.edits = std::move(edits_);
    result.names = std::move(names_);
    return result;
  }

 private:
  // Where the code between a pair of braces runs.
  enum class Side { host, device, both };

  struct Scope {
    enum class Kind { space, type, block };  // namespace or file; class; everything else
    Kind kind;
    Side side;
    int outer_parentheses;   // of the enclosing scope, kept while this one is open
    std::size_t outer_head;  // likewise
    std::string_view name;   // of a class or a namespace
    bool templated;          // of a template, or in one
  };

  struct FunctionBody {
    std::size_t head;  // first token of the declaration
    std::size_t open;  // its brace
    std::size_t close;
  };

  // extern __shared__ T name[]; outside of functions
  struct NamespaceShared {
    std::string_view name;
    std::string declaration;
    std::size_t after;  // only functions that come later see it
  };

  bool names_wide_type() const {
    static const std::set<std::string_view> names = {
        "float4",    "int4",       "uint4",   "double2",    "long2",      "ulong2",
        "longlong2", "ulonglong2", "double4", "longlong4",  "ulonglong4", "long4",
        "ulong4",    "alignas",    "aligned", "__aligned__"};
    return std::any_of(list_.begin(), list_.end(), [](const Token& t) {
      return t.is_identifier() && !t.in_system_header && names.contains(t.text);
    });
  }

  // ---- the text around a token

  const Token* token(std::size_t i) const { return i < list_.size() ? &list_[i] : nullptr; }
  bool is(std::size_t i, std::string_view text) const {
    return i < list_.size() && list_[i].is(text);
  }
  bool is_identifier(std::size_t i) const { return i < list_.size() && list_[i].is_identifier(); }
  bool adjacent(std::size_t i, std::size_t j) const {
    return i < list_.size() && j < list_.size() && list_[i].end() == list_[j].offset;
  }
  // How many of the same character stand side by side from i on.
  int run_length(std::size_t i) const {
    int length = 1;
    while (is(i + length, list_[i].text) && adjacent(i + length - 1, i + length)) ++length;
    return length;
  }

  // The source of tokens [begin, end) on one line.
  std::string flat(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) {
      if (i > begin && !adjacent(i - 1, i)) out += ' ';
      out += list_[i].text;
    }
    return out;
  }

  // ---- edits and messages

  void replace(std::size_t offset, std::size_t length, std::string text) {
    edits_.push_back({offset, length, std::move(text)});
  }
  void replace_token(std::size_t i, std::string text) {
    replace(list_[i].offset, list_[i].text.size(), std::move(text));
  }
  void insert_before(std::size_t i, std::string text) {
    replace(list_[i].offset, 0, std::move(text));
  }
  void insert_after(std::size_t i, std::string text) {
    replace(list_[i].end(), 0, std::move(text));
  }
  void remove_tokens(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) replace_token(i, "");
  }

  void report(const Token& at, std::string message) {
    Diagnostic diagnostic{tokens_.files[at.file], at.line, std::move(message), column_of(at)};
    const auto same = [&diagnostic](const Diagnostic& other) {
      return other.file == diagnostic.file && other.line == diagnostic.line &&
             other.message == diagnostic.message;
    };
    if (std::none_of(diagnostics_.begin(), diagnostics_.end(), same)) {
      diagnostics_.push_back(std::move(diagnostic));
    }
  }
  int column_of(const Token& at) const {
    const std::size_t line = source_.rfind('\n', at.offset);
    return static_cast<int>(line == std::string_view::npos ? at.offset + 1 : at.offset - line);
  }
  void report_unsupported(const Token& at, const std::string& what) {
    report(at, what + " not simulated");
  }

  std::string apply() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    out.reserve(source_.size() + source_.size() / 8);
    std::size_t from = 0;
    for (const Edit& edit : edits_) {
      if (edit.offset > from) out += source_.substr(from, edit.offset - from);
      out += edit.text;
      from = std::max(from, edit.offset + edit.length);
    }
    out += source_.substr(from);
    return out;
  }

  // ---- directives

  void visit_directive(const Token& directive) {
    std::string_view rest = directive.text.substr(1);
    const auto next_word = [&rest] {
      while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
      std::size_t length = 0;
      while (length < rest.size() &&
             (std::isalnum(static_cast<unsigned char>(rest[length])) || rest[length] == '_')) {
        ++length;
      }
      const std::string_view word = rest.substr(0, length);
      rest.remove_prefix(length);
      return word;
    };
    if (next_word() != "pragma") return;
    const std::string_view kind = next_word();
    if (kind == "hd_warning_disable" || kind == "nv_exec_check_disable") names_.unchecked = true;
    if (kind == "unroll" || kind == "nounroll" || kind.starts_with("nv_") ||
        kind.starts_with("diag_") || kind == "hd_warning_disable") {
      replace(directive.offset, directive.text.size(), "");
    } else if (kind == "simt" && next_word() == "not_simulated") {
      report_include(directive, rest);
    }
  }

  // A header that only says that it is not simulated: the fault is at the line that includes it.
  void report_include(const Token& directive, std::string_view what) {
    const std::size_t open = what.find('"');
    const std::size_t close = what.rfind('"');
    if (open != std::string_view::npos && close > open)
      what = what.substr(open + 1, close - open - 1);
    Token at = directive;
    if (directive.include >= 0) {
      at.file = tokens_.includes[directive.include].file;
      at.line = tokens_.includes[directive.include].line;
    }
    report_unsupported(at, std::string(what));
  }

  // ---- brackets

  // The partner of each ( [ { and ) ] }. `<` and `>` are matched where they are needed.
  void match_brackets() {
    partner_.assign(list_.size(), kNone);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].text.size() != 1 || list_[i].kind != TokenKind::punctuator) continue;
      const char c = list_[i].text[0];
      if (c == '(' || c == '[' || c == '{') {
        open.push_back(i);
      } else if (c == ')' || c == ']' || c == '}') {
        const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (open.empty() || list_[open.back()].text[0] != opening) continue;  // g++ will complain
        partner_[i] = open.back();
        partner_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  bool is_opening(std::size_t i) const { return is(i, "(") || is(i, "[") || is(i, "{"); }
  bool is_closing(std::size_t i) const { return is(i, ")") || is(i, "]") || is(i, "}"); }

  // One past the bracketed group that opens at i.
  std::size_t skip_group(std::size_t i) const {
    return partner_[i] == kNone ? list_.size() : partner_[i] + 1;
  }

  bool is_launch_open(std::size_t i) const {
    return is(i, "<") && run_length(i) == 3 && !(i > 0 && is(i - 1, "<") && adjacent(i - 1, i)) &&
           !(i > 0 && is(i - 1, "operator"));
  }

  // Could the `<` at i open template arguments? After a name it might; after a number it compares.
  bool may_open_angle(std::size_t i) const {
    if (i == 0 || run_length(i) > 1 || (is(i - 1, "<") && adjacent(i - 1, i))) return false;
    return (is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text)) ||
           is(i - 1, "template");
  }

  // One past the template arguments that open at i, or kNone if they do not close.
  std::size_t skip_angles(std::size_t i) const {
    int depth = 0;
    while (i < list_.size()) {
      if (is_opening(i)) {
        i = skip_group(i);
        continue;
      }
      if (is(i, ";") || is_closing(i)) return kNone;
      if (is(i, "<") && (depth == 0 || may_open_angle(i))) ++depth;
      if (is(i, ">") && --depth == 0) return i + 1;
      ++i;
    }
    return kNone;
  }

  // The `<` that the `>` at i closes, or kNone. Backwards a comparison looks like a bracket, but inside
  // template arguments it is either in parentheses or, as in a<N<4>, leaves a `<` before the name.
  std::size_t angle_start(std::size_t i) const {
    int depth = 0;
    while (true) {
      if (is_closing(i)) {
        if (partner_[i] == kNone) return kNone;
        i = partner_[i];
      } else if (is(i, ";") || is_opening(i)) {
        return kNone;
      } else if (is(i, ">")) {
        ++depth;
      } else if (is(i, "<")) {
        const bool shift = (i > 0 && is(i - 1, "<") && adjacent(i - 1, i)) || run_length(i) > 1;
        if (!shift && --depth == 0) return i;
      }
      if (i == 0) return kNone;
      --i;
    }
  }

  // ---- scopes

  void visit(std::size_t i) {
    const Token& t = list_[i];
    if (t.kind == TokenKind::punctuator) {
      if (t.is("{")) return open_scope(i);
      if (t.is("}")) return close_scope(i);
      if (t.is("(") || t.is("[")) ++parentheses_;
      if (t.is(")") || t.is("]")) parentheses_ = std::max(0, parentheses_ - 1);
      if (t.is(";") && parentheses_ == 0) {
        if (!in_function()) note_host_variables(head_, i);
        head_ = i + 1;
      }
      if (is_launch_open(i)) visit_launch(i);
    } else if (t.kind == TokenKind::identifier) {
      visit_identifier(i);
    }
  }

  void open_scope(std::size_t i) {
    const auto [kind, side] = classify(head_, i);
    if (!in_function() && kind == Scope::Kind::block) note_host_variables(head_, i);
    if (kind == Scope::Kind::block && scopes_.back().kind != Scope::Kind::block &&
        partner_[i] != kNone) {
      bodies_.push_back({head_, i, partner_[i]});
      register_kernel(head_, i);
    }
    scopes_.push_back({kind, side, parentheses_, head_,
                       kind == Scope::Kind::block ? std::string_view{} : scope_name(head_, i),
                       scopes_.back().templated || is(head_, "template")});
    parentheses_ = 0;
    head_ = i + 1;
  }

  void close_scope(std::size_t i) {
    if (scopes_.size() == 1) return;
    const Scope closed = scopes_.back();
    scopes_.pop_back();
    parentheses_ = closed.outer_parentheses;
    // Foo() : a{1}, b{2} { ... } is still one declaration after the brace of a{1}.
    const bool goes_on = scopes_.back().kind != Scope::Kind::block &&
                         (parentheses_ > 0 || is(i + 1, ",") || is(i + 1, "{") || is(i + 1, ")"));
    head_ = goes_on ? closed.outer_head : i + 1;
  }

  // What the brace at `open` opens, seen from the declaration that starts at `head`.
  std::pair<Scope::Kind, Side> classify(std::size_t head, std::size_t open) const {
    const Scope& outer = scopes_.back();
    bool device = false, host = false, parenthesis = false, type = false, space = false;
    for (std::size_t i = head; i < open && i < list_.size();) {
      const Token& t = list_[i];
      if (t.is("(") || t.is("[")) {
        // `run([] __device__ (int i) {`: the outer parenthesis is still open
        if (skip_group(i) > open) {
          ++i;
          continue;
        }
        if (t.is("(")) parenthesis = true;
        i = skip_group(i);
        continue;
      }
      if (t.is("template") && is(i + 1, "<")) {
        const std::size_t end = skip_angles(i + 1);
        i = end == kNone ? i + 1 : std::min(end, open);
        continue;
      }
      if (t.is("<") && may_open_angle(i)) {
        const std::size_t end = skip_angles(i);
        if (end != kNone && end <= open) {
          i = end;
          continue;
        }
      }
      if (t.is_identifier()) {
        if (takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
          i = std::min(skip_group(i + 1), open);
          continue;
        }
        if (t.text == "__device__" || t.text == "__global__") device = true;
        if (t.text == "__host__") host = true;
        if (is_class_key(t.text)) type = true;
        if (t.text == "namespace") space = true;
        if (t.text == "extern" && i + 1 < list_.size() && list_[i + 1].kind == TokenKind::string &&
            i + 2 == open) {
          space = true;
        }
      }
      ++i;
    }
    Side side = outer.side;
    if (device) side = host ? Side::both : Side::device;
    if (space) return {Scope::Kind::space, side};
    if (type && !parenthesis) return {Scope::Kind::type, side};
    return {Scope::Kind::block, side};
  }

  bool in_function() const { return scopes_.back().kind == Scope::Kind::block; }

  // ---- where functions run

  // What the tokens [head, open) of a class or a namespace name it; of namespace a::b that is a.
  std::string_view scope_name(std::size_t head, std::size_t open) const {
    std::string_view name;
    bool key = false;
    for (std::size_t i = head; i < open; ++i) {
      if (is(i, "template") && is(i + 1, "<")) {
        const std::size_t end = skip_angles(i + 1);
        if (end == kNone || end > open) return {};
        i = end - 1;
      } else if (is_identifier(i) && takes_attribute_parenthesis(list_[i].text)) {
        i = skip_group(i + 1) - 1;
      } else if (is_identifier(i) && is_class_key(list_[i].text)) {
        key = true;
      } else if (is(i, "namespace")) {
        return is_identifier(i + 1) ? list_[i + 1].text : std::string_view{};
      } else if (key && (is(i, "<") || is(i, ":"))) {
        break;
      } else if (key && is_identifier(i) && !is(i, "final")) {
        name = list_[i].text;
      }
    }
    return name;
  }

  // Seen from a specifier of a declaration at i: the parenthesis of the parameters if it declares a function, or kNone.
  std::size_t parameters_of(std::size_t i) const {
    while (i < list_.size()) {
      const Token& t = list_[i];
      if (t.is("operator")) {
        if (is(i + 1, "(")) return is(i + 3, "(") ? i + 3 : kNone;
        while (++i < list_.size() && !is(i, "(")) {
          if (is(i, ";") || is(i, "{")) return kNone;
        }
        return i;
      }
      if (t.is("(")) {
        const bool wrapped = is(i + 1, "*") || is(i + 1, "&") || is(i + 1, "&&");
        if (wrapped) {  // (*pointer)(int) or (&function())[3]
          const std::size_t end = skip_group(i);
          while (++i < end && !is_identifier(i)) continue;
          return is(i + 1, "(") ? i + 1 : kNone;
        }
        if (i + 1 < list_.size() && list_[i + 1].kind == TokenKind::number) return kNone;
        return i > 0 && (is_identifier(i - 1) || is(i - 1, ">") || is(i - 1, "]")) ? i : kNone;
      }
      if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
        i = skip_group(i + 1);
      } else if (t.is("[") && is(i + 1, "[")) {
        i = skip_group(i);
      } else if (t.is("<")) {
        i = skip_angles(i);
        if (i == kNone) return kNone;
      } else if (t.is_identifier() || t.is("::") || t.is("*") || t.is("&") || t.is("&&") ||
                 t.is("~") || t.kind == TokenKind::string) {
        ++i;
      } else {
        return kNone;
      }
    }
    return kNone;
  }

  // The last part of the name in front of the parenthesis of the parameters.
  std::string_view name_before(std::size_t parenthesis) const {
    std::size_t i = parenthesis;
    if (i > 0 && is(i - 1, ">")) {
      i = angle_start(i - 1);
      if (i == kNone) return {};
    }
    if (i == 0 || !is_identifier(i - 1)) return "operator";
    return list_[i - 1].text;
  }

  // One past the specifiers among which token i stands may be a lambda's `{`: [] __device__ { ... }
  bool marks_lambda(std::size_t i) const {
    while (i > 0 && (is(i - 1, "__host__") || is(i - 1, "__device__") || is(i - 1, "mutable"))) --i;
    return i > 0 && is(i - 1, "]");
  }

  bool is_defaulted(std::size_t parameters) const {
    std::size_t i = skip_group(parameters);
    while (is_identifier(i) || is(i, "&")) i = is(i + 1, "(") ? skip_group(i + 1) : i + 1;
    return is(i, "=") && (is(i + 1, "default") || is(i + 1, "delete"));
  }

  // `__device__` and `__global__` become marks that g++ keeps with the function.
  void mark_function(std::size_t i) {
    const bool kernel = is(i, "__global__");
    const bool lambda = marks_lambda(i);
    const std::size_t parameters = parameters_of(i + 1);
    if (parameters == kNone && !lambda) {
      if (!kernel) note_variables(i + 1);
      return replace_token(i, kernel ? std::string(kQualifiers.find("__global__")->second) : "");
    }
    // (The qualifier itself is a macro of a system header.)
    const bool of_program = parameters != kNone && !list_[parameters].in_system_header;
    if (kernel && !lambda && of_program) check_kernel(i, parameters);
    if (!lambda && of_program) check_letters(parameters - 1);
    bool host = false;
    const std::size_t end = parameters == kNone ? i + 3 : parameters;
    for (std::size_t j = declaration_start(i); j < end && j < list_.size(); ++j) {
      if (is(j, "__host__")) host = true;
    }
    if (!lambda && of_program) {
      (kernel ? names_.kernels
       : host ? names_.both
              : names_.device)
          .insert(name_before(parameters));
    }
    if (kernel) return replace_token(i, std::string(kQualifiers.find("__global__")->second));
    const bool defaulted = parameters != kNone && is_defaulted(parameters);
    const std::string mark(defaulted ? "" : std::string(host ? kBothMark : kDeviceMark));
    if (lambda && parameters != kNone) {
      // Ahead of the parameters of one that is mutable, g++ loses the mark.
      std::size_t j = skip_group(parameters);
      const bool is_mutable = is(j, "mutable") || (is(j, "constexpr") && is(j + 1, "mutable"));
      if (is_mutable) {
        while (is(j + 1, "constexpr") || is(j + 1, "mutable") || is(j + 1, "noexcept")) ++j;
        if (is(j, "noexcept") && is(j + 1, "(")) j = skip_group(j + 1) - 1;
        insert_after(j, " " + mark + " ");
        return replace_token(i, "");
      }
    }
    replace_token(i, mark);
  }

  // nvcc takes no others in what it gives a name in device code.
  void check_letters(std::size_t i) {
    const std::string_view name = list_[i].text;
    if (name.find('\\') == std::string_view::npos &&
        std::all_of(name.begin(), name.end(), [](char c) { return !(c & 0x80); }))
      return;
    report(list_[i],
           "the name of a function of the device cannot have letters beyond ASCII: rename it");
  }

  // What nvcc refuses of a kernel's declaration. \param parameters the parenthesis
  void check_kernel(std::size_t i, std::size_t parameters) {
    const std::string_view name = name_before(parameters);
    const std::string kernel = "the kernel '" + std::string(name) + "'";
    const std::size_t start = declaration_start(i);
    bool is_friend = false, is_void = false, is_auto = false, has_template = false;
    for (std::size_t j = start; j < parameters; ++j) {
      if (is(j, "friend")) is_friend = true;
      if (is(j, "auto")) is_auto = true;
      if (is(j, "void") && !is(j + 1, "*")) is_void = true;
      if (is(j, "__host__") || is(j, "__device__")) {
        return report(list_[j], kernel + " cannot be " + std::string(list_[j].text) +
                                    " as well: take that qualifier away");
      }
      if (is(j, "constexpr") || is(j, "consteval"))
        return report(list_[j], kernel + " cannot be constexpr: take that word away");
    }
    for (std::size_t j = start; j-- > 0 && !is(j, ";") && !is(j, "}") && !is(j, "{");) {
      if (is(j, "template")) has_template = true;
    }
    if (scopes_.back().kind == Scope::Kind::type && !is_friend) {
      return report(list_[i], kernel +
                                  " cannot be a member of a class: move it out of the class, "
                                  "and hand it the object as a parameter");
    }
    const std::size_t close = partner_[parameters];
    if (close == kNone) return;
    if (!is_void && !is_auto) {
      for (std::size_t j = start; j < parameters; ++j) {
        if (is(j, "<") || is(j, "decltype") || is(j, "__attribute__")) break;
        if (!is_identifier(j) || !is_builtin_type(list_[j].text)) continue;
        return report(list_[j], kernel + " returns void: write 'void' in place of '" +
                                    std::string(list_[j].text) +
                                    "', and hand results over through memory");
      }
    }
    if (is_auto && !is_void && !is(close + 1, "->"))
      return report(list_[i], kernel + " returns void: write void in place of auto");
    for (const auto& [from, to] : parts(parameters + 1, close)) {
      if (to == from + 1 && is(from, "...")) {
        return report(list_[from],
                      kernel + " cannot take a variable number of arguments: name its parameters");
      }
      for (std::size_t j = from; j < to; ++j) {
        if (is(j, "&")) reference_kernels_.insert(name);
      }
      if (has_template || has_pack(from, to)) continue;
      for (std::size_t j = from; j < to; ++j) {
        if (is_opening(j)) j = skip_group(j) - 1;
        if (is(j, "<")) {
          const std::size_t after = skip_angles(j);
          if (after != kNone && after <= to) j = after - 1;
        }
        if (is(j, "&&")) {
          report(list_[j], kernel +
                               " cannot take a reference to a temporary of the host: pass the "
                               "value");
        }
      }
    }
  }

  // What `__constant__ float a, b[3];` declares: variables that kernels can use.
  void note_variables(std::size_t i) {
    while (i < list_.size() && !is(i, ";") && !is(i, "{") && !is(i, "}")) {
      if (is(i, "<")) {
        const std::size_t end = skip_angles(i);
        i = end == kNone ? i + 1 : end;
      } else if (is(i, "=")) {
        while (i < list_.size() && !is(i, ",") && !is(i, ";"))
          i = is_opening(i) ? skip_group(i) : i + 1;
      } else if (is(i, "[") || (is(i, "(") && !is(i + 1, "*"))) {
        i = skip_group(i);
      } else {
        if (is_identifier(i) && (is(i + 1, ";") || is(i + 1, "=") || is(i + 1, "[") ||
                                 is(i + 1, "{") || is(i + 1, ",") || is(i + 1, ")"))) {
          names_.variables.insert(list_[i].text);
        }
        ++i;
      }
    }
  }

  // The same for variables of the host: what a declaration of a namespace or a class may name, the one or other member or
  // function among them.
  void note_host_variables(std::size_t head, std::size_t end) {
    if (head >= end || list_[head].in_system_header) return;
    for (std::size_t i = head; i < end; ++i) {
      if (is(i, "__device__") || is(i, "__constant__") || is(i, "__managed__") ||
          is(i, "__global__") || is(i, "using") || is(i, "typedef"))
        return;
      if (is(i, "=")) break;
    }
    for (std::size_t i = head; i < end; ++i) {
      if (is(i, "=") || is(i, "{")) {
        while (i < end && !is(i, ",")) i = is_opening(i) ? skip_group(i) : i + 1;
        continue;
      }
      if (is(i, "[")) i = skip_group(i) - 1;
      if (is_identifier(i) && (i + 1 == end || is(i + 1, "=") || is(i + 1, "[") || is(i + 1, "{") ||
                               is(i + 1, ",") || is(i + 1, ")")))
        names_.host_variables.insert(list_[i].text);
    }
  }

  // A constexpr function without `__device__` is one of the host's, unless simtcc is told otherwise.
  void note_constexpr(std::size_t i) {
    if (i > 0 && (is(i - 1, "if") || is(i - 1, ")"))) return;
    const std::size_t start = declaration_start(i);
    const std::size_t parameters = parameters_of(start);
    if (parameters == kNone || parameters < i || in_function()) return;
    for (std::size_t j = start; j < parameters; ++j) {
      if (is(j, "__device__") || is(j, "=")) return;
    }
    const std::string_view name = name_before(parameters);
    if (!list_[i].in_system_header) {
      const bool literal = list_[parameters - 1].kind == TokenKind::string;  // operator""_km
      names_.constexprs.insert(literal ? list_[parameters - 1].text : name);
      return;
    }
    const std::string_view owner =
        scopes_.back().kind == Scope::Kind::type ? scopes_.back().name : "std";
    std::string full = std::string(owner) + "::" + std::string(name);
    for (std::size_t j = parameters; name == "operator" && j > start && !is(j - 1, name); --j)
      full.insert(owner.size() + 10, list_[j - 1].text);
    names_.library_constexprs.insert(std::move(full));
  }

  // A constructor, destructor or assignment that somebody wrote is the host's if it does not say otherwise. One that the
  // compiler makes is where it is needed.
  void mark_special_member(std::size_t i) {
    const Token& t = list_[i];
    if (t.in_system_header || scopes_.back().name.empty()) return;
    const bool named = t.text == scopes_.back().name && is(i + 1, "(");
    const bool assigns = t.text == "operator" && is(i + 1, "=") && is(i + 2, "(");
    if (!named && !assigns) return;
    const std::size_t parameters = assigns ? i + 2 : i + 1;
    if (is_defaulted(parameters)) return;
    std::size_t start = head_;
    while (start < i && !is(start, "friend")) {
      if (is(start, "template") && is(start + 1, "<")) {
        const std::size_t end = skip_angles(start + 1);
        if (end == kNone || end > i) return;
        start = end;
      } else if (is(start, ":") || is(start + 1, ":")) {
        ++start;  // public:
      } else {
        break;
      }
    }
    for (std::size_t j = start; j < i; ++j) {
      if (is(j, "__device__") || is(j, "friend") || is(j, "=") || is(j, "return")) return;
    }
    insert_before(start, std::string(kHostMark));
  }

  // ---- kernels

  // The name that the tokens [begin, end) declare, a parameter of a function or a template; kNone if it has
  // none, or if it is hidden in parentheses.
  std::size_t declared_name(std::size_t begin, std::size_t end) const {
    std::size_t name = kNone;
    bool has_type = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (is(i, "=") || is(i, "[")) break;
      if (is(i, "(")) return kNone;
      if (is(i, "<")) {
        const std::size_t after = skip_angles(i);
        if (after == kNone || after > end) return kNone;
        i = after - 1;
        name = kNone;
        has_type = true;
      } else if (is(i, "::")) {
        name = kNone;
      } else if (!is_identifier(i)) {
        name = kNone;
        has_type = true;
      } else if (takes_attribute_parenthesis(list_[i].text)) {
        i = skip_group(i + 1) - 1;
        has_type = true;
      } else if (is_builtin_type(list_[i].text) || is(i, "typename") ||
                 is_class_key(list_[i].text)) {
        has_type = true;
      } else if (!is_specifier(list_[i].text)) {
        if (name != kNone) has_type = true;
        name = i;
      }
    }
    return has_type ? name : kNone;
  }

  // The parts of [begin, end) between commas.
  std::vector<std::pair<std::size_t, std::size_t>> parts(std::size_t begin, std::size_t end) const {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_opening(i)) {
        i = skip_group(i) - 1;
      } else if (is(i, "<") && may_open_angle(i)) {
        const std::size_t after = skip_angles(i);
        if (after != kNone && after <= end) i = after - 1;
      } else if (is(i, ",")) {
        out.emplace_back(from, i);
        from = i + 1;
      }
    }
    if (from < end) out.emplace_back(from, end);
    return out;
  }

  bool has_pack(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (is(i, "...")) return true;
    }
    return false;
  }

  // A kernel makes itself known, for those who launch it by its address alone: see simt::detail::KernelEntry.
  // One with parameters or template parameters that have no name stays unknown.
  void register_kernel(std::size_t head, std::size_t open) {
    bool kernel = false;
    std::size_t parameters = kNone;
    std::string arguments;  // of the template
    std::string bound;      // of the launch: the most threads of a block
    for (std::size_t i = head; i < open; ++i) {
      if (is(i, "__global__")) kernel = true;
      if (is(i, "requires")) return;
      if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
        const auto bounds = parts(i + 2, partner_[i + 1]);
        if (!bounds.empty()) bound = flat(bounds[0].first, bounds[0].second);
      }
      if (is(i, "template") && is(i + 1, "<")) {
        const std::size_t end = skip_angles(i + 1);
        if (end == kNone || end > open) return;
        arguments.clear();
        for (const auto& [from, to] : parts(i + 2, end - 1)) {
          const std::size_t name = declared_name(from, to);
          if (name == kNone) return;  // cannot be named
          arguments += (arguments.empty() ? "" : ", ") + std::string(list_[name].text) +
                       (has_pack(from, to) ? "..." : "");
        }
        i = end - 1;
      } else if (is(i, "(")) {
        const bool attribute =
            i > head && is_identifier(i - 1) && takes_attribute_parenthesis(list_[i - 1].text);
        if (!attribute && parameters == kNone) parameters = i;
        i = skip_group(i) - 1;
      }
    }
    if (!kernel || parameters == kNone || parameters == head) return;

    std::size_t name = parameters - 1;
    if (is(name, ">")) {  // a specialisation
      const std::size_t angle = angle_start(name);
      if (angle == kNone || angle == 0) return;
      name = angle - 1;
    }
    if (!is_identifier(name)) return;
    names_.kernel_places.push_back(
        {std::string(list_[name].text), tokens_.files[static_cast<std::size_t>(list_[name].file)],
         list_[name].line, column_of(list_[name]), list_[partner_[open]].line});
    std::string kernel_name = flat(name, parameters);
    if (!arguments.empty() && name + 1 == parameters) kernel_name += "<" + arguments + ">";

    std::string types;
    const std::size_t close = partner_[parameters];
    const bool is_void = close == parameters + 2 && is(parameters + 1, "void");
    for (const auto& [from, to] : parts(parameters + 1, is_void ? parameters + 1 : close)) {
      const std::size_t parameter = declared_name(from, to);
      if (parameter == kNone || list_[parameter].text == list_[name].text) return;
      types += (types.empty() ? "" : ", ") +
               ("::simt::detail::Parameter<decltype(" + std::string(list_[parameter].text) + ")>") +
               (has_pack(from, to) ? "..." : "");
    }
    insert_after(open, " (void)&::simt::detail::KernelEntry<static_cast<void (*)(" + types +
                           ")>(&" + kernel_name + ")" +
                           (bound.empty() ? "" : ", static_cast<unsigned>(" + bound + ")") +
                           ">::registered;");
  }

  // ---- launches

  void visit_launch(std::size_t open) {
    const Token& t = list_[open];
    const std::size_t close = launch_close(open + 3);
    if (close == kNone) {
      report(t, "'<<<' starts a kernel launch, but no '>>>(' follows it");
      return;
    }
    const std::size_t start = kernel_start(open);
    if (start == kNone) {
      report(t, "'<<<' starts a kernel launch, but no kernel's name stands before it");
      return;
    }
    if (scopes_.back().side == Side::device) {
      report_unsupported(t, "a kernel launch from device code (dynamic parallelism) is");
      return;
    }
    const std::string kernel = flat(start, open);
    const auto values = parts(open + 3, close);
    if (!has_pack(open, close) && (values.size() < 2 || values.size() > 4)) {
      report(t, values.size() < 2
                    ? "a launch takes the number of blocks and the number of threads of a block: "
                      "write '" +
                          kernel + "<<<blocks, threads>>>(...)'"
                    : "a launch takes at most four values: " + kernel +
                          "<<<blocks, threads, bytes of shared memory, stream>>>");
      return;
    }
    const std::string capture = in_function() ? "[&]" : "[]";
    const std::string launcher = (kernel.ends_with('>') ? "template_launcher" : "launcher") +
                                 (reference_kernels_.empty() ? "" : variables_of_host(close + 3)) +
                                 "(";
    insert_before(start, "::simt::" + launcher + in_quotes(kernel) + ", " + capture +
                             "(auto simt_kernel) -> decltype(simt_kernel(" + kernel +
                             ")) { return simt_kernel(" + kernel + "); }, " + capture +
                             "(auto&... simt_arguments) " + std::string(kUntraced) + " { ");
    replace(list_[open].offset, 3, "(simt_arguments...); }, ::simt::config(");
    replace(list_[close].offset, 3, "))");
    // nullptr keeps being a null pointer when it is copied; NULL becomes a number.
    const std::size_t end = skip_group(close + 3);
    for (std::size_t i = close + 4; i + 1 < end; ++i) {
      if (is_opening(i)) i = skip_group(i) - 1;
      if (is(i, "__null") && (is(i - 1, "(") || is(i - 1, ",")) &&
          (is(i + 1, ")") || is(i + 1, ","))) {
        replace_token(i, "nullptr");
      }
    }
  }

  // Which arguments of the launch are variables of the host, by name: no kernel can take these by reference. As template
  // arguments of the launcher, or nothing.
  std::string variables_of_host(std::size_t open) const {
    if (partner_[open] == kNone || !in_function()) return "";
    unsigned long long mask = 0;
    const auto arguments = parts(open + 1, partner_[open]);
    for (std::size_t k = 0; k < arguments.size() && k < 64; ++k) {
      const auto [from, to] = arguments[k];
      if (to == from + 1 && is_identifier(from) && !names_.variables.contains(list_[from].text) &&
          !is_reference(list_[from].text, from)) {
        mask |= 1ull << k;
      }
    }
    return mask ? "<" + std::to_string(mask) + "ull>" : "";
  }

  // Does anything ahead of `end` in its function declare this name as a reference?
  bool is_reference(std::string_view name, std::size_t end) const {
    const FunctionBody* const body = body_at(end);
    for (std::size_t j = end; body && j-- > body->head + 1;) {
      if (is(j, name) && (is(j - 1, "&") || is(j - 1, "&&") || is(j - 1, "["))) return true;
    }
    return false;
  }

  // The first token of the `>>>` that ends the configuration which starts at `from`.
  //
  // `>>>` can also close three templates, and `>>` can close two or shift. The end is the first `>>>(`
  // before which all templates are closed; failing that, the first `>>>(` at all, since a `<` that seemed
  // to open a template was then a comparison.
  std::size_t launch_close(std::size_t from) const {
    std::size_t fallback = kNone;
    int open = 0;
    for (std::size_t i = from; i < list_.size();) {
      if (is_opening(i)) {
        i = skip_group(i);
        continue;
      }
      if (is_closing(i) || is(i, ";")) break;
      if (is(i, "<")) {
        if (is_launch_open(i)) break;
        const int length = run_length(i);
        if (length == 1 && may_open_angle(i)) ++open;
        i += length;
        continue;
      }
      if (is(i, ">")) {
        const int length = run_length(i);
        if (length >= 3 && is(i + length, "(")) {
          if (open == length - 3) return i + length - 3;
          if (fallback == kNone || open == 0) fallback = i + length - 3;
        }
        open = std::max(0, open - length);
        i += length;
        continue;
      }
      ++i;
    }
    return fallback;
  }

  // The first token of the postfix expression that ends before `open`: foo, ns::foo<T>, (foo), a.b[i].
  std::size_t kernel_start(std::size_t open) const {
    std::size_t i = open;
    while (true) {
      if (i == 0) return kNone;
      --i;
      // i: the last token of a primary expression or of a group that follows one
      if (is(i, ">")) {
        i = angle_start(i);
        if (i == kNone || i == 0 || !is_identifier(i - 1)) return kNone;
        continue;
      }
      if (is(i, ")") || is(i, "]")) {
        i = partner_[i];
        if (i == kNone) return kNone;
        // A call or a subscript goes on to the left; a parenthesis after `if (...)` does not.
        if (i > 0 && continues_left(i)) continue;
        return i;
      }
      if (!is_identifier(i) || (is_statement_keyword(list_[i].text))) return kNone;
      // a name: qualified, a member, or the start
      while (i > 0 && is(i - 1, "template")) --i;
      if (i > 0 && is(i - 1, "::")) {
        --i;
        if (i > 0 && (is(i - 1, ">") ||
                      (is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text)))) {
          continue;
        }
        return i;
      }
      if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) {
        --i;
        continue;
      }
      // a<N<4><<<...: `N<4>` looked like a template, but nothing is less than a launch
      if (i > 0 && is(i - 1, "<") && run_length(i - 1) == 1 && may_open_angle(i - 1)) {
        --i;
        continue;
      }
      return i;
    }
  }

  // Does the group that opens at i belong to what stands before it? f(x), a[i], f<T>(x), f(x)(y)
  bool continues_left(std::size_t i) const {
    const std::size_t before = i - 1;
    if (is_identifier(before)) return !is_statement_keyword(list_[before].text);
    if (is(before, "]")) return true;
    if (is(before, ")")) {
      const std::size_t start = partner_[before];
      if (start == kNone || start == 0) return false;
      // if (x) (k)<<<...  and a cast (void)(k)<<<... end here
      return is_identifier(start - 1) && !is_statement_keyword(list_[start - 1].text);
    }
    if (is(before, ">")) {
      const std::size_t start = angle_start(before);
      return start != kNone && start > 0 && is_identifier(start - 1);
    }
    return false;
  }

  // ---- identifiers

  void visit_identifier(std::size_t i) {
    const Token& t = list_[i];
    if (const auto qualifier = kQualifiers.find(t.text); qualifier != kQualifiers.end()) {
      if (handled_.contains(i)) return;
      if (t.text == "__device__" && !in_function()) note_device_variables(i + 1);
      if (t.text == "__device__" || t.text == "__global__") return mark_function(i);
      if (t.text != "__host__") note_variables(i + 1);
      const bool is_variable = t.text == "__constant__" || t.text == "__managed__";
      const bool no_section = is_variable && declares_const(i);
      replace_token(i, no_section ? "" : std::string(qualifier->second));
      return;
    }
    if (t.text == "constexpr" || t.text == "consteval") note_constexpr(i);
    if (t.text == "cuda" && !t.in_system_header && is(i + 1, "::") && is(i + 2, "std"))
      names_.cuda_std.insert(is(i + 3, "::") && is_identifier(i + 4) ? list_[i + 4].text : "");
    if (!t.in_system_header && is(i + 1, "(") && !in_function() && parentheses_ == 0) {
      bool marked = false;
      for (std::size_t j = head_; j < i; ++j) marked |= is(j, "__device__") || is(j, "__global__");
      if (!marked) names_.unmarked.insert(t.text);
    }
    if (t.in_system_header && is(i + 1, "(") && !in_function() && parentheses_ == 0) {
      (in_simulator_[static_cast<std::size_t>(t.file)] ? names_.simulator
       : scopes_.back().kind == Scope::Kind::type      ? names_.methods
                                                       : names_.library)
          .insert(t.text);
    }
    if (scopes_.back().kind == Scope::Kind::type && parentheses_ == 0) mark_special_member(i);
    if (t.text == "__launch_bounds__") {  // see register_kernel()
      remove_tokens(i, is(i + 1, "(") ? skip_group(i + 1) : i + 1);
      return;
    }
    if (t.text == "__noinline__") {
      // Also g++'s own spelling, inside __attribute__((...)).
      if (i > 0 && (is(i - 1, "(") || is(i - 1, ","))) return;
      return replace_token(i, "__attribute__((noinline))");
    }
    if (t.text == "__shared__") return visit_shared(i);
    if (scopes_.back().side != Side::host && in_function() && !t.in_system_header) {
      if (!scopes_.back().templated) check_device_word(i);
      note_constexpr_call(i);
    }
    if (is_merging_atomic(t.text)) return visit_atomic(i);
    if (t.in_system_header && t.text.starts_with("__builtin_")) return;
    if (visit_library_function(i)) return;
    if (t.in_system_header) return;
    if (is_asm(t.text) && scopes_.back().side == Side::device) return visit_asm(i);
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) return;
    if (const auto feature = unsupported_feature(t.text)) {
      report_unsupported(t, std::string(*feature) + " (" + std::string(t.text) + ") are");
    }
  }

  // A call of a constexpr function that g++ works out and nvcc refuses all the same: f(3), std::max(1, 2),
  // std::numeric_limits<float>::max().
  void note_constexpr_call(std::size_t i) {
    std::size_t open = i + 1;
    if (is(open, "<")) open = skip_angles(open);
    if (open == kNone || !is(open, "(") || is(i - 1, ".") || is(i - 1, "->")) return;
    const std::string_view name = list_[i].text;
    std::string called;
    if (is(i - 1, "::") && is(i - 2, "std")) {
      called = "std::" + std::string(name);
      if (!names_.library_constexprs.contains(called)) return;
    } else if (is(i - 1, "::") && is(i - 2, ">")) {
      const std::size_t angle = angle_start(i - 2);
      if (angle == kNone || angle == 0 || !is(angle - 1, "numeric_limits")) return;
      called = "std::numeric_limits::" + std::string(name);
    } else if (names_.constexprs.contains(name) && !names_.device.contains(name) &&
               !names_.both.contains(name) && !(is(i - 1, "::") && is(i - 2, "simt"))) {
      called = std::string(name);
    } else {
      return;
    }
    // not evaluated, or perhaps discarded
    for (std::size_t j = i; j-- > head_;) {
      if (is(j, "(") && j > 0 && skip_group(j) > i &&
          (is(j - 1, "sizeof") || is(j - 1, "decltype") || is(j - 1, "noexcept") ||
           is(j - 1, "alignof")))
        return;
    }
    if (is_discardable(i)) return;
    const FunctionBody* const body = body_at(i);
    if (!body) return;
    names_.constexpr_calls.push_back({tokens_.files[static_cast<std::size_t>(list_[i].file)],
                                      list_[i].line, column_of(list_[i]), std::move(called),
                                      list_[body->open].line, list_[body->close].line,
                                      scopes_.back().templated, scopes_.back().side == Side::both});
  }

  // Does the token stand in what an `if constexpr` selects?
  bool is_discardable(std::size_t i) const {
    const FunctionBody* const body = body_at(i);
    for (std::size_t j = body ? body->open : i; j < i; ++j) {
      if (!is(j, "constexpr") || !is(j - 1, "if") || !is(j + 1, "(")) continue;
      if (skip_group(j + 1) <= i) return true;
    }
    return false;
  }

  // Words of C++ that nvcc does not take in device code.
  void check_device_word(std::size_t i) {
    const Token& t = list_[i];
    if (t.text == "throw") {
      report(t, "device code cannot throw: write an error code to memory, or call __trap()");
    } else if (t.text == "try") {
      report(t, "device code has no exceptions: take the try block away");
    } else if (t.text == "typeid" || t.text == "dynamic_cast") {
      report(t,
             "device code has no type information at run time: write a virtual function or a tag "
             "in place of " +
                 std::string(t.text));
    }
  }

  // Functions of C's library that are another one in a kernel.
  bool visit_library_function(std::size_t i) {
    static const std::map<std::string_view, std::string_view> names = {
        {"clock", "::simt::detail::device_clock"},
        {"malloc", "::simt::detail::device_malloc"},
        {"free", "::simt::detail::device_free"},
        {"__builtin_memcpy", "::memcpy"},  // those of simt/bytes.h
        {"__builtin_memmove", "::memmove"},
        {"__builtin_memset", "::memset"},
    };
    if (scopes_.back().side == Side::host || !in_function() || !is(i + 1, "(")) return false;
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is_identifier(i - 1))) {
      if (!is_identifier(i - 1) || !is_statement_keyword(list_[i - 1].text)) return false;
    }
    const auto found = names.find(list_[i].text);
    if (found == names.end()) return false;
    if (i > 0 && is(i - 1, "::")) {  // ::malloc and std::malloc
      const bool standard = i > 1 && is(i - 2, "std");
      if (!standard && i > 1 && is_identifier(i - 2)) return false;
      remove_tokens(standard ? i - 2 : i - 1, i);
    }
    replace_token(i, std::string(found->second));
    return true;
  }

  // Atomics of which the compiler or the hardware makes fewer, if it sees one of two things: that nobody
  // looks at the old value, or that all lanes name one address.
  void visit_atomic(std::size_t i) {
    if (!in_function() || !is(i + 1, "(")) return;
    const std::size_t end = skip_group(i + 1);
    // An atomic among the arguments would take the remarks for itself.
    for (std::size_t j = i + 2; j < end; ++j) {
      if (list_[j].text.starts_with("atomic")) return;
    }
    atomics_.push_back(i);
    if (parentheses_ > 0 || !is(end, ";")) return;
    std::size_t start = i;
    if (start >= 3 && is(start - 1, ")") && is(start - 2, "void") && is(start - 3, "(")) start -= 3;
    if (start == 0 || !follows_a_statement(start)) return;
    insert_before(start, "::simt::detail::result_unused(), ");
  }

  // What `__device__ int count, sums[8];` declares, for mark_same_address(). Of pointers, references and
  // functions nothing is noted.
  void note_device_variables(std::size_t i) {
    while (is_identifier(i) || is(i, "::")) ++i;
    while (is(i, ";") || is(i, "=") || is(i, "[") || is(i, "{") || is(i, ",")) {
      if (is_identifier(i - 1)) device_names_.insert(list_[i - 1].text);
      while (i < list_.size() && !is(i, ",") && !is(i, ";"))
        i = is_opening(i) ? skip_group(i) : i + 1;
      if (!is(i, ",") || !is_identifier(i + 1)) return;
      i += 2;
    }
  }

  // `atomicAdd(count, 1)`: the address is made of what no thread of a warp can see differently.
  void mark_same_address(std::size_t i) {
    const FunctionBody* const body = body_at(i);
    if (!body || !is(body->open - 1, ")")) return;
    const std::size_t end = skip_group(i + 1);
    std::size_t comma = i + 2;
    while (comma < end && !is(comma, ","))
      comma = is_opening(comma) ? skip_group(comma) : comma + 1;
    if (comma >= end || !is_uniform(*body, i + 2, comma, true)) return;
    const bool value = is_uniform(*body, comma + 1, end - 1, false);
    insert_before(i + 2,
                  std::string("::simt::detail::same_address<") + (value ? "true" : "false") + ">(");
    insert_before(comma, ")");
  }

  // The function whose body the token stands in, or nullptr.
  const FunctionBody* body_at(std::size_t i) const {
    const auto after =
        std::upper_bound(bodies_.begin(), bodies_.end(), i,
                         [](std::size_t at, const FunctionBody& body) { return at < body.open; });
    if (after == bodies_.begin() || i > std::prev(after)->close) return nullptr;
    return &*std::prev(after);
  }

  bool head_names(const FunctionBody& body, std::string_view word) const {
    for (std::size_t j = body.head; j < body.open; ++j) {
      if (is(j, word)) return true;
    }
    return false;
  }

  // Are tokens [begin, end) an expression that no thread of the block can see differently? It is made of
  // parameters, blockIdx, literals and variables that are made of such. An address may also be that of a variable of the
  // device or the block. Values that would have to be loaded do not count, nor what is called.
  static constexpr unsigned kMostSteps = 8;  // from variable to variable, from function to function
  bool is_uniform(const FunctionBody& body, std::size_t begin, std::size_t end, bool address,
                  unsigned steps = 0) const {
    if (steps > kMostSteps) return false;
    for (std::size_t j = begin; j < end; ++j) {
      const Token& t = list_[j];
      if (t.kind == TokenKind::number || is(j - 1, ".")) continue;
      if (t.kind == TokenKind::punctuator) {
        if (std::string_view("&*+-/%()[].").find(t.text) == std::string_view::npos) return false;
        if (t.is("*") && (j == begin || list_[j - 1].kind == TokenKind::punctuator)) return false;
        if (t.is("&") && !(address && j == begin)) return false;
        continue;
      }
      if (!t.is_identifier()) return false;
      const bool base = address && (j == begin || (j == begin + 1 && is(begin, "&")));
      if (is(j + 1, "[") && !base) return false;
      if (t.is("blockIdx") || t.is("gridDim") || t.is("blockDim")) continue;
      if (base && is_shared(body, t.text)) continue;
      if (base && device_names_.contains(t.text) && !is_declared(body, t.text)) continue;
      if (!is_parameter(body, t.text, steps) && !is_uniform_variable(body, t.text, steps))
        return false;
    }
    return begin < end;
  }

  // A __shared__ variable of this function, or of none?
  bool is_shared(const FunctionBody& body, std::string_view name) const {
    const auto [first, last] = shared_names_.equal_range(name);
    return std::any_of(first, last, [&](const auto& shared) {
      return body_at(shared.second) == &body ||
             (!body_at(shared.second) && !is_declared(body, name));
    });
  }

  // Does the function declare the name anew, as a parameter or a local variable?
  bool is_declared(const FunctionBody& body, std::string_view name) const {
    for (std::size_t j = body.head; j < body.close; ++j) {
      if (!is(j, name)) continue;
      // A product of another variable with this one looks the same, and is taken for a declaration.
      const bool pointer = is(j - 1, "*") || is(j - 1, "&") || is(j - 1, "&&");
      if (declares(j, body) || (pointer && is_identifier(j - 2))) return true;
    }
    return false;
  }

  // Is `name` a parameter that nothing in the function's body assigns or declares anew, and of which all threads
  // have the same? Those of a kernel are. Those of another function are if every call says so: nvcc
  // puts its body in place of the call.
  bool is_parameter(const FunctionBody& body, std::string_view name, unsigned steps) const {
    const std::size_t open = partner_[body.open - 1];
    const auto parameters = parts(open + 1, body.open - 1);
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& part) {
      return (is(part.second, ",") || is(part.second, ")")) && is(part.second - 1, name);
    });
    if (found == parameters.end() || !keeps_its_value(body, name, kNone)) return false;
    if (head_names(body, "__global__")) return true;
    return is_same_in_calls(body, static_cast<std::size_t>(found - parameters.begin()), steps + 1);
  }

  // Does nothing in the body assign the variable? One that it declares elsewhere than at `declaration` is another
  // variable.
  bool keeps_its_value(const FunctionBody& body, std::string_view name,
                       std::size_t declaration) const {
    for (std::size_t j = body.open; j < body.close; ++j) {
      if (!is(j, name) || is(j - 1, ".") || is(j - 1, "->")) continue;
      if (j != declaration) {
        if (is_identifier(j - 1) && !is_statement_keyword(list_[j - 1].text)) return false;
        static constexpr std::array kAssignments = {
            "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
        for (const std::string_view sign : kAssignments) {
          if (is(j + 1, sign)) return false;
        }
      }
      for (const std::string_view sign : {"++", "--"}) {
        if (is(j - 1, sign) || is(j + 1, sign)) return false;
      }
    }
    return true;
  }

  // Is `name` a variable of the function that has one value, and all threads the same?
  bool is_uniform_variable(const FunctionBody& body, std::string_view name, unsigned steps) const {
    std::size_t declaration = kNone;
    for (std::size_t j = body.open; j < body.close; ++j) {
      if (!is(j, name)) continue;
      // Who has its address, or takes it as a whole, perhaps by reference, may assign it.
      if (is(j - 1, "&") && !is_identifier(j - 2) && !is(j - 2, ")") && !is(j - 2, "]"))
        return false;
      if (is_argument(j)) return false;
      const bool pointer = is(j - 1, "*") && is_identifier(j - 2) && is(j + 1, "=");
      if (declaration == kNone && is(j + 1, "=") && (pointer || declares(j, body))) declaration = j;
    }
    if (declaration == kNone || !keeps_its_value(body, name, declaration)) return false;
    const std::size_t begin = declaration + 2;
    std::size_t end = begin;
    while (end < body.close && !is(end, ",") && !is(end, ";") && !is_closing(end))
      end = is_opening(end) ? skip_group(end) : end + 1;
    return is_uniform(body, begin, end, is(begin, "&"), steps + 1);
  }

  // Is the name at i all of an argument, of what is no atomic operation?
  bool is_argument(std::size_t i) const {
    if (!is(i + 1, ",") && !is(i + 1, ")")) return false;
    if (!is(i - 1, ",") && !is(i - 1, "(")) return false;
    std::size_t open = i - 1;
    while (!is_opening(open)) open = is_closing(open) ? partner_[open] - 1 : open - 1;
    return is(open, "(") && is_identifier(open - 1) &&
           !is_statement_keyword(list_[open - 1].text) &&
           !list_[open - 1].text.starts_with("atomic");
  }

  // Do all calls of the function pass the same to every thread, as the parameter with this index? A function
  // whose name has other uses may be called from anywhere.
  bool is_same_in_calls(const FunctionBody& body, std::size_t index, unsigned steps) const {
    const std::size_t name = partner_[body.open - 1] - 1;
    if (steps > kMostSteps || name >= body.open || !is_identifier(name) || is(name - 1, "::"))
      return false;
    if (!head_names(body, "__device__") || head_names(body, "__noinline__") ||
        head_names(body, "noinline")) {
      return false;
    }
    bool called = false;
    for (std::size_t j = 0; j < list_.size(); ++j) {
      if (j == name || !is_identifier(j) || list_[j].text != list_[name].text) continue;
      const FunctionBody* const caller = body_at(j);
      std::size_t open = j + 1;
      if (is(open, "<")) open = skip_angles(open);
      if (open == kNone || !is(open, "(") || partner_[open] == kNone) return false;
      if (!caller) {
        if (!is(partner_[open] + 1, ";")) return false;  // one more of this name
        continue;
      }
      if (caller == &body || is(j - 1, ".") || is(j - 1, "->") || is(j - 1, "::")) return false;
      const auto arguments = parts(open + 1, partner_[open]);
      if (index >= arguments.size()) return false;
      const auto [begin, end] = arguments[index];
      if (!is(caller->open - 1, ")") || !is_uniform(*caller, begin, end, true, steps)) return false;
      called = true;
    }
    return called;
  }

  // May a statement begin at i, seen from what stands in front of it?
  bool follows_a_statement(std::size_t i) const {
    const std::size_t before = i - 1;
    if (is(before, ")")) {
      std::size_t head = partner_[before];
      if (head == kNone || head == 0) return false;
      if (is(head - 1, "constexpr")) --head;
      return head > 0 && (is(head - 1, "if") || is(head - 1, "for") || is(head - 1, "while"));
    }
    return is(before, ";") || is(before, "{") || is(before, "}") || is(before, "else") ||
           is(before, "do");
  }

  // Is the variable whose qualifier stands at i const as well? Then the compiler keeps it in read-only
  // memory, which cannot share a section with what may be written; and its accesses are not traced.
  bool declares_const(std::size_t i) const {
    bool is_const = false;
    for (std::size_t j = declaration_start(i); j < list_.size(); ++j) {
      if (is(j, "const") || is(j, "constexpr")) is_const = true;
      if (is(j, "*")) is_const = false;  // const float* p: p itself can be written
      if (is(j, "<")) {
        const std::size_t end = skip_angles(j);
        if (end != kNone) j = end - 1;
      }
      if (is(j, ";") || is(j, "=") || is(j, "{") || is(j, "[")) break;
    }
    return is_const;
  }

  void visit_asm(std::size_t i) {
    std::size_t open = i + 1;
    while (is_identifier(open)) ++open;  // volatile, inline, goto
    if (!is(open, "(")) return;
    if (rewrite_ptx(i, open)) return;
    // An empty text is a barrier to the compiler, not an instruction.
    for (std::size_t j = open + 1; j < list_.size() && list_[j].kind == TokenKind::string; ++j) {
      const std::string_view text = list_[j].text;
      const std::size_t quote = text.find('"');
      const std::string_view body = text.substr(quote + 1, text.rfind('"') - quote - 1);
      if (body.find_first_not_of(" ()") != std::string_view::npos) {
        report_unsupported(list_[i], "inline PTX (asm) is");
        return;
      }
    }
  }

  // Reading a special register, `mov.u32 %0, %laneid;`, and instructions that are one of the functions of
  // simt/ptx.h. `i` is the asm, `open` its parenthesis.
  bool rewrite_ptx(std::size_t i, std::size_t open) {
    std::string text;
    std::size_t at = open + 1;
    for (; at < list_.size() && list_[at].kind == TokenKind::string; ++at) {
      const std::string_view literal = list_[at].text;
      const std::size_t quote = literal.find('"');
      text += literal.substr(quote + 1, literal.rfind('"') - quote - 1);
    }
    // one blank between words, none at the ends
    std::string words;
    for (std::size_t k = 0; k < text.size(); ++k) {
      const bool escape = text[k] == '\\' && k + 1 < text.size();
      if (escape) ++k;
      const char c = text[k];
      const bool blank =
          escape ? c == 'n' || c == 't' : std::isspace(static_cast<unsigned char>(c));
      if (blank || c == ',' || c == '{' || c == '}') {
        if (!words.empty() && words.back() != ' ') words += ' ';
      } else if (c != ';') {
        words += c;
      }
    }
    while (!words.empty() && words.back() == ' ') words.pop_back();

    static const std::map<std::string_view, std::string_view> instructions = {
        {"membar.cta", "__threadfence_block()"},
        {"membar.gl", "__threadfence()"},
        {"membar.sys", "__threadfence_system()"},
        {"bar.sync 0", "__syncthreads()"},
        {"bar.sync 0x0", "__syncthreads()"},
        {"barrier.sync 0", "__syncthreads()"},
        {"trap", "__trap()"},
    };
    const std::size_t end = skip_group(open);
    if (const auto found = instructions.find(words); found != instructions.end()) {
      replace_asm(i, end, std::string(found->second));
      return true;
    }

    const std::size_t first = words.find(' ');
    const std::size_t second = first == std::string::npos ? first : words.find(' ', first + 1);
    if (second == std::string::npos) return false;
    const std::string name = words.substr(0, first),
                      target = words.substr(first + 1, second - first - 1);
    std::string_view source = std::string_view(words).substr(second + 1);
    if (!name.starts_with("mov.") || target != "%0" || !source.starts_with("%")) return false;
    source.remove_prefix(source.starts_with("%%") ? 2 : 1);
    static const std::set<std::string_view> registers = {
        "laneid",           "warpid",         "nwarpid",     "smid",        "nsmid",
        "gridid",           "clock",          "clock_hi",    "clock64",     "globaltimer",
        "globaltimer_lo",   "globaltimer_hi", "lanemask_eq", "lanemask_lt", "lanemask_le",
        "lanemask_gt",      "lanemask_ge",    "tid.x",       "tid.y",       "tid.z",
        "ntid.x",           "ntid.y",         "ntid.z",      "ctaid.x",     "ctaid.y",
        "ctaid.z",          "nctaid.x",       "nctaid.y",    "nctaid.z",    "total_smem_size",
        "dynamic_smem_size"};
    // : "=r"(x) and nothing else but clobbers
    if (!registers.contains(source) || !is(at, ":") || at + 2 >= list_.size() ||
        list_[at + 1].kind != TokenKind::string || !is(at + 2, "(")) {
      return false;
    }
    const std::size_t after = skip_group(at + 2);
    for (std::size_t k = after; k + 1 < end; ++k) {
      if (!is(k, ":") && !is(k, "::") && !is(k, ",") && list_[k].kind != TokenKind::string)
        return false;
    }
    std::string function(source);
    std::replace(function.begin(), function.end(), '.', '_');
    replace_asm(i, end, flat(at + 2, after) + " = ::simt::ptx::" + function + "()");
    return true;
  }

  // In place of the tokens [begin, end) of an asm, whose line breaks stay.
  void replace_asm(std::size_t begin, std::size_t end, std::string text) {
    replace_token(begin, std::move(text));
    remove_tokens(begin + 1, end);
  }

  // ---- shared memory

  struct Declarator {
    std::size_t name;
    std::size_t end;  // one past it: `,` or `;`
    bool unknown_bound;
  };

  void visit_shared(std::size_t i) {
    if (handled_.contains(i)) return;
    const std::size_t start = declaration_start(i);
    std::vector<std::size_t> attributes;  // first tokens of alignas(...) and [[...]]
    bool is_extern = false;
    const std::size_t declarators_at = parse_specifiers(start, attributes, is_extern);
    std::vector<Declarator> declarators;
    std::size_t end = kNone;
    if (declarators_at != kNone) end = parse_declarators(declarators_at, declarators);
    if (end == kNone) {
      report(list_[i],
             "cannot read this __shared__ declaration; write it as `__shared__ T name[N];`");
      return;
    }
    const bool dynamic =
        is_extern && std::any_of(declarators.begin(), declarators.end(),
                                 [](const Declarator& d) { return d.unknown_bound; });
    if (dynamic) {
      declare_dynamic(start, declarators_at, declarators, end);
    } else {
      declare_static(start, declarators_at, attributes, declarators, end);
    }
  }

  // The first token of the declaration in whose specifiers token i stands.
  std::size_t declaration_start(std::size_t i) const {
    while (i > 0) {
      const std::size_t before = i - 1;
      if (is(before, "]") && partner_[before] != kNone && is(partner_[before] + 1, "[")) {
        i = partner_[before];  // [[...]]
      } else if (is(before, ")") && partner_[before] != kNone && partner_[before] > 0 &&
                 is_identifier(partner_[before] - 1) &&
                 takes_attribute_parenthesis(list_[partner_[before] - 1].text)) {
        i = partner_[before] - 1;
      } else if (is(before, ">")) {
        const std::size_t open = angle_start(before);
        if (open == kNone || open == 0 || !is_identifier(open - 1) || is(open - 1, "template"))
          return i;
        i = open - 1;
      } else if (is(before, "::") ||
                 (is_identifier(before) &&
                  (!is_statement_keyword(list_[before].text) || is(before, "typename")))) {
        i = before;
      } else {
        return i;
      }
    }
    return i;
  }

  // Reads decl-specifiers from i on. Returns the first token of the declarators, or kNone.
  std::size_t parse_specifiers(std::size_t i, std::vector<std::size_t>& attributes,
                               bool& is_extern) {
    bool type = false;
    while (i < list_.size()) {
      const Token& t = list_[i];
      if (is(i, "[") && is(i + 1, "[")) {
        attributes.push_back(i);
        i = skip_group(i);
      } else if (t.is("alignas") && is(i + 1, "(")) {
        attributes.push_back(i);
        i = skip_group(i + 1);
      } else if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
        if (!t.is("__attribute__") && !t.is("__attribute")) type = true;
        i = skip_group(i + 1);
        if (type && is(i, "::")) i = skip_name(i);
      } else if (t.is_identifier() && is_specifier(t.text)) {
        if (t.text == "extern") is_extern = true;
        ++i;
      } else if (t.is_identifier() && is_builtin_type(t.text)) {
        type = true;
        ++i;
      } else if (t.is_identifier() && is_class_key(t.text)) {
        type = true;
        i = skip_class(i + 1);
      } else if (!type && (t.is("::") || t.is_identifier())) {
        type = true;
        i = skip_name(i);
      } else {
        return type ? i : kNone;
      }
      if (i == kNone) return kNone;
    }
    return kNone;
  }

  // [::] name [<...>] [:: [template] name [<...>]]...
  std::size_t skip_name(std::size_t i) const {
    if (is(i, "::")) ++i;
    while (true) {
      if (is(i, "template")) ++i;
      if (!is_identifier(i)) return kNone;
      ++i;
      if (is(i, "<")) {
        i = skip_angles(i);
        if (i == kNone) return kNone;
      }
      if (!is(i, "::")) return i;
      ++i;
    }
  }

  // After struct, class, union or enum: attributes, a name, bases, a body.
  std::size_t skip_class(std::size_t i) const {
    while (i < list_.size()) {
      if (is_identifier(i) && takes_attribute_parenthesis(list_[i].text) && is(i + 1, "(")) {
        i = skip_group(i + 1);
      } else if (is(i, "[") && is(i + 1, "[")) {
        i = skip_group(i);
      } else {
        break;
      }
    }
    if (is_identifier(i) || is(i, "::")) i = skip_name(i);
    if (i == kNone) return kNone;
    if (is(i, ":")) {
      while (i < list_.size() && !is(i, "{") && !is(i, ";")) ++i;
    }
    return is(i, "{") ? skip_group(i) : i;
  }

  // Reads the declarators from i on. Returns the `;` that ends the declaration, or kNone.
  std::size_t parse_declarators(std::size_t i, std::vector<Declarator>& out) {
    while (true) {
      Declarator declarator{kNone, kNone, false};
      int parentheses = 0;
      while (i < list_.size() && declarator.name == kNone) {
        const Token& t = list_[i];
        if (t.is("(")) {
          ++parentheses;
          ++i;
        } else if (t.is("*") || t.is("&") || t.is("&&")) {
          ++i;
        } else if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
          i = skip_group(i + 1);
        } else if (t.is_identifier() && is_specifier(t.text)) {
          ++i;
        } else if (t.is_identifier()) {
          declarator.name = i++;
        } else {
          return kNone;
        }
      }
      for (; parentheses > 0 && is(i, ")"); --parentheses) ++i;
      declarator.unknown_bound = is(i, "[") && is(i + 1, "]");
      while (i < list_.size() && !is(i, ",") && !is(i, ";")) {
        if (is(i, "=") || is(i, "{")) {
          report(list_[declarator.name],
                 "a __shared__ variable cannot have an initialiser: each block finds its shared "
                 "memory "
                 "uninitialised");
          return list_.size();
        }
        if (is_opening(i)) {
          i = skip_group(i);
        } else if (is_closing(i)) {
          return kNone;
        } else {
          ++i;
        }
      }
      if (i >= list_.size() || declarator.name == kNone) return kNone;
      declarator.end = i;
      out.push_back(declarator);
      if (is(i, ";")) return i;
      ++i;
    }
  }

  void declare_static(std::size_t start, std::size_t declarators_at,
                      const std::vector<std::size_t>& attributes,
                      const std::vector<Declarator>& declarators, std::size_t end) {
    // g++ takes standard attributes only ahead of the specifiers.
    std::string ahead;
    for (const std::size_t attribute : attributes) {
      const std::size_t attribute_end =
          is(attribute, "[") ? skip_group(attribute) : skip_group(attribute + 1);
      ahead += flat(attribute, attribute_end) + ' ';
      remove_tokens(attribute, attribute_end);
    }
    insert_before(start, ahead + "static thread_local ");
    drop_specifiers(start, declarators_at);
    if (end >= list_.size()) return;
    std::string checks;
    for (const Declarator& declarator : declarators) {
      shared_names_.emplace(list_[declarator.name].text, declarator.name);
      // Else g++ guards the initialisation of types with a constructor, float4 for one, at each use.
      insert_before(declarator.end, "{}");
      const std::string name(list_[declarator.name].text);
      checks +=
          " static_assert(::simt::detail::fits_shared_memory<decltype(" + name +
          ")>, \"simt: a block's static __shared__ memory holds at most 48 KiB (49152 bytes)\"); "
          "static_assert(::simt::detail::can_be_shared<decltype(" +
          name +
          ")>, \"simt: a __shared__ variable must be of a type without a destructor, and with a "
          "constructor that does nothing: shared memory is never initialised\");";
    }
    insert_after(end, checks);
  }

  void declare_dynamic(std::size_t start, std::size_t declarators_at,
                       const std::vector<Declarator>& declarators, std::size_t end) {
    if (!in_function()) {
      declare_namespace_dynamic(start, declarators_at, declarators, end);
      return;
    }
    insert_before(start, "[[maybe_unused]] ");
    drop_specifiers(start, declarators_at);
    drop_alignment(start, end);
    for (const Declarator& declarator : declarators) {
      const std::string name(list_[declarator.name].text);
      replace_token(declarator.name, "(&" + name + ")");
      insert_before(declarator.end, " = ::simt::detail::DynamicShared()");
      local_dynamic_.insert(declarator.name);
    }
  }

  // Takes out what says where the variable lives.
  void drop_specifiers(std::size_t start, std::size_t end) {
    for (std::size_t i = start; i < end; ++i) {
      if (is(i, "{")) i = skip_group(i) - 1;
      if (is(i, "__shared__") || is(i, "static") || is(i, "extern") || is(i, "inline") ||
          is(i, "__device__")) {
        replace_token(i, "");
        handled_.insert(i);
      }
    }
  }

  // Takes out alignas(...) and __attribute__((...)): dynamic shared memory is aligned for everything.
  void drop_alignment(std::size_t start, std::size_t end) {
    for (std::size_t i = start; i < end; ++i) {
      std::size_t group_end = kNone;
      if (is(i, "{")) i = skip_group(i) - 1;
      if (is(i, "[") && is(i + 1, "[")) group_end = skip_group(i);
      if ((is(i, "alignas") || is(i, "__attribute__") || is(i, "__attribute")) && is(i + 1, "(")) {
        group_end = skip_group(i + 1);
      }
      if (group_end == kNone) continue;
      remove_tokens(i, group_end);
      i = group_end - 1;
    }
  }

  // At namespace scope the declaration goes; functions that use the name get one of their own.
  void declare_namespace_dynamic(std::size_t start, std::size_t declarators_at,
                                 const std::vector<Declarator>& declarators, std::size_t end) {
    std::string specifiers;
    for (std::size_t i = start; i < declarators_at; ++i) append_kept(i, specifiers);
    std::size_t from = declarators_at;
    for (const Declarator& declarator : declarators) {
      std::string text = "[[maybe_unused]] " + specifiers;
      for (std::size_t i = from; i < declarator.end; ++i) {
        if (i == declarator.name) {
          text += "(&" + std::string(list_[i].text) + ")";
        } else {
          append_kept(i, text);
        }
      }
      text += " = ::simt::detail::DynamicShared();";
      namespace_shared_.push_back({list_[declarator.name].text, text, end});
      from = declarator.end + 1;
    }
    remove_tokens(start, end + 1);
    for (std::size_t i = start; i < end; ++i) handled_.insert(i);
  }

  // Appends token i to a declaration, unless it is a storage class or (then i moves on) an alignment.
  void append_kept(std::size_t& i, std::string& text) const {
    if (is(i, "__shared__") || is(i, "static") || is(i, "extern") || is(i, "inline") ||
        is(i, "__device__")) {
      return;
    }
    if ((is(i, "alignas") || is(i, "__attribute__") || is(i, "__attribute")) && is(i + 1, "(")) {
      i = skip_group(i + 1) - 1;
      return;
    }
    text += std::string(list_[i].text) + ' ';
  }

  void use_namespace_shared(const NamespaceShared& shared) {
    for (const FunctionBody& body : bodies_) {
      if (body.open < shared.after) continue;
      bool used = false, declared = false;
      for (std::size_t i = body.head; i < body.close; ++i) {
        if (!is(i, shared.name) || !is_identifier(i)) continue;
        if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) continue;
        if (declares(i, body)) declared = true;
        if (i > body.open) used = true;
      }
      if (used && !declared) insert_after(body.open, " " + shared.declaration);
    }
  }

  // Is the name at i declared there, as a parameter or a local variable?
  bool declares(std::size_t i, const FunctionBody& body) const {
    if (local_dynamic_.contains(i)) return true;
    if (i == 0) return false;
    if (is_identifier(i - 1)) return !is_statement_keyword(list_[i - 1].text);
    if (is(i - 1, ">")) return is(i + 1, ";") || is(i + 1, "[") || is(i + 1, ",") || is(i + 1, ")");
    return i < body.open && (is(i - 1, "*") || is(i - 1, "&"));
  }

  std::string_view source_;
  Tokens tokens_;
  const std::vector<Token>& list_;
  std::vector<std::size_t> partner_;
  std::vector<Edit> edits_;
  std::vector<Diagnostic> diagnostics_;

  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  int parentheses_ = 0;   // open in the innermost scope
  std::size_t head_ = 0;  // first token of the current declaration or statement

  std::set<std::size_t> handled_;        // qualifiers that a rule has taken care of
  std::set<std::size_t> local_dynamic_;  // names that `extern __shared__` declares in functions
  std::vector<FunctionBody> bodies_;
  std::vector<std::size_t> atomics_;  // calls that mark_same_address() looks at in the end
  std::multimap<std::string_view, std::size_t> shared_names_;  // where each __shared__ one stands
  std::set<std::string_view> device_names_;  // of every __device__ variable so far
  std::vector<NamespaceShared> namespace_shared_;
  std::set<std::string_view> reference_kernels_;  // those with a parameter that is a reference
  Names names_;
  std::vector<bool> in_simulator_;  // of each file
};

}  // namespace

std::string Diagnostic::text() const {
  const std::string place = file + ":" + std::to_string(line) + ":";
  const std::string in_line = column ? std::to_string(column) + ":" : "";
  return place + in_line + (warning ? " warning: simt: " : " error: simt: ") + message;
}

Rewritten rewrite(std::string_view source, std::string_view file, std::string_view simulator) {
  return Rewriter(source, file, simulator).run();
}

}  // namespace simtcc
