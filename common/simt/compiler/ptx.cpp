#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

class Ptx : private Rule {
 public:
  using Rule::Rule;

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

 private:
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
};

}  // namespace

void rewrite_asm(Unit& unit, std::size_t i) { Ptx(unit).visit_asm(i); }

}  // namespace simtcc
