#include "host_branches.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "process.h"
#include "text/outline.h"
#include "text/token.h"

namespace simtcc {
namespace {

class Merger {
 public:
  Merger(const std::string& device, const std::string& host, const std::string& file, bool relaxed)
      : device_(device, file, relaxed), host_(host, file, relaxed) {
    for (const std::string& name : host_.tokens.files) {
      const auto& ours = device_.tokens.files;
      files_.push_back(static_cast<int>(std::find(ours.begin(), ours.end(), name) - ours.begin()));
    }
  }

  Merged run() {
    const std::size_t n = device_.size(), m = host_.size();
    for (std::size_t i = 0, j = 0; i < n || j < m;) {
      if (i < n && j < m && same(i, j)) {
        if (device_.braces(i) && host_.braces(j)) compare(*device_.braces(i), *host_.braces(j));
        ++i;
        ++j;
        continue;
      }
      const auto [next_i, next_j] = next_common(i, j);
      take({i, next_i}, {j, next_j});
      i = next_i;
      j = next_j;
    }
    merged_.text = apply();
    return std::move(merged_);
  }

 private:
  bool same(std::size_t i, std::size_t j) const {
    const Token &a = device_.at(i), &b = host_.at(j);
    return a.line == b.line && a.file == files_[b.file] && a.text == b.text &&
           !device_.braces(i) == !host_.braces(j);
  }

  static std::size_t hash(const Token& t, int file) {
    return std::hash<std::string_view>()(t.text) * 31 + static_cast<std::size_t>(t.line) * 1009 +
           static_cast<std::size_t>(file);
  }

  // The nearest elements that both have, from i and j on.
  std::pair<std::size_t, std::size_t> next_common(std::size_t i, std::size_t j) {
    if (places_.empty()) {
      for (std::size_t k = 0; k < host_.size(); ++k)
        places_[hash(host_.at(k), files_[host_.at(k).file])].push_back(k);
    }
    std::pair<std::size_t, std::size_t> best = {device_.size(), host_.size()};
    std::size_t least = kNone;
    for (std::size_t k = i; k < device_.size() && k - i < least; ++k) {
      // (A parenthesis of an attribute is not that of the parameters.)
      if (device_.at(k).is("(") || device_.at(k).is(")")) continue;
      const auto found = places_.find(hash(device_.at(k), device_.at(k).file));
      if (found == places_.end()) continue;
      const auto place = std::lower_bound(found->second.begin(), found->second.end(), j);
      if (place == found->second.end() || !same(k, *place)) continue;
      if (const std::size_t distance = (k - i) + (*place - j); distance < least) {
        least = distance;
        best = {k, *place};
      }
    }
    return best;
  }

  bool equal(const Braces& device, const Braces& host) const {
    if (device.close - device.open != host.close - host.open) return false;
    for (std::size_t i = 0; i <= device.close - device.open; ++i) {
      if (device_.token(device.open + i).text != host_.token(host.open + i).text) return false;
    }
    return true;
  }

  // A body that both have.
  void compare(const Braces& device, const Braces& host) {
    const Token& at = device_.token(device.open);
    if (!device_.is_of_program(at) || device.side == Side::device || equal(device, host)) return;
    if (!device_.is_code(device) || !host_.is_code(host)) return warn(device_, device.open);
    replace(device, device.side == Side::both
                        ? both(device, host, Branch::none)
                        : of_host(device, host, Branch::none) + behind(device));
  }

  void replace(const Braces& device, std::string text) {
    const std::size_t begin = device_.token(device.open).offset;
    edits_.push_back({begin, device_.token(device.close).end() - begin, std::move(text)});
  }

  // What follows the body stands where it stood.
  std::string behind(const Braces& device) const { return device_.marker(device.close) + ' '; }

  static std::string pragma(Branch branch) {
    return std::string("\n#pragma simt branch ") + (branch == Branch::device ? "device"
                                                    : branch == Branch::host ? "host"
                                                                             : "none");
  }

  // Labels that a body jumps to are its own: the other branch has them, too.
  static std::string local_labels(const Outline& outline, const Braces& body) {
    std::set<std::string_view> names;
    for (std::size_t i = body.open; i < body.close; ++i) {
      if (outline.token(i).is("goto") && outline.token(i + 1).is_identifier())
        names.insert(outline.token(i + 1).text);
    }
    std::string out;
    for (const std::string_view name : names) out += " __label__ " + std::string(name) + ';';
    return out;
  }

  // \param around the branch that it is in
  std::string both(const Braces& device, const Braces& host, Branch around) const {
    return "{ if (::simt::detail::on_device())" + pragma(Branch::device) +
           device_.marker(device.open) + '{' + local_labels(device_, device) +
           std::string(device_.text(device).substr(1)) + " else" + pragma(Branch::host) +
           of_host(device, host, Branch::host) + pragma(around) + device_.marker(device.close) +
           '}';
  }

  // The host's text; in it what lambdas say that they run elsewhere.
  std::string of_host(const Braces& device, const Braces& host, Branch around) const {
    std::string out = host_.marker(host.open) + '{';
    if (around == Branch::host) out += local_labels(host_, host);
    std::size_t from = host_.token(host.open).end();
    for (std::size_t k = 0; device.nested.size() == host.nested.size() && k < host.nested.size();
         ++k) {
      const Braces &ours = device.nested[k], &theirs = host.nested[k];
      if (equal(ours, theirs) || ours.side == Side::host) continue;
      const std::size_t open = host_.token(theirs.open).offset;
      out += host_.source.substr(from, open - from);
      out += ours.side == Side::both ? both(ours, theirs, around)
                                     : device_.marker(ours.open) + std::string(device_.text(ours));
      out += host_.marker(theirs.close) + ' ';
      from = host_.token(theirs.close).end();
    }
    return out + host_.source.substr(from, host_.token(host.close).end() - from);
  }

  // What stands outside of functions, and in one of the texts alone or in each another way.
  void take(Outline::Range device, Outline::Range host) {
    note_headers(host);
    const auto ours = device_.declarations(device), theirs = host_.declarations(host);
    if (!ours || !theirs) {
      if (!only_asks_to_inline(device_, device) || !only_asks_to_inline(host_, host))
        warn_of(device, host);
      return;
    }
    std::string more;
    for (const Outline::Range& declaration : *theirs) {
      const std::size_t first = host_.first_token(declaration.begin);
      if (!host_.is_of_program(host_.token(first))) continue;
      const bool space = host_.token(first).is("namespace") || host_.token(first).is("using") ||
                         host_.token(first).is(";");
      const bool of_device =
          host_.says(declaration, "__global__") || host_.says(declaration, "__shared__") ||
          host_.says(declaration, "__constant__") ||
          (host_.says(declaration, "__device__") && !host_.says(declaration, "__host__"));
      if (of_device) continue;
      const std::string_view name = host_.name(declaration);
      const auto same_name =
          std::find_if(ours->begin(), ours->end(), [&](const Outline::Range& other) {
            return !name.empty() && device_.name(other) == name;
          });
      if (same_name != ours->end()) {
        if (!make_one(*same_name, declaration))
          warn(device_, device_.first_token(same_name->begin));
      } else if (!space && host_.function(declaration) && is_of_library(name)) {
        warn_of({device.end, device.end}, declaration);
      } else {
        const std::size_t last = declaration.end - 1;
        more += host_.marker(first);
        more += host_.text(
            first, host_.braces(last) ? host_.braces(last)->close : host_.first_token(last));
      }
    }
    if (more.empty()) return;
    const bool at_end = device.end == device_.size();
    const std::size_t next = at_end ? 0 : device_.first_token(device.end);
    edits_.push_back({at_end ? device_.source.size() : device_.token(next).offset, 0,
                      more + (at_end ? "\n" : device_.marker(next))});
  }

  static bool only_asks_to_inline(const Outline& outline, Outline::Range range) {
    static const std::set<std::string_view> words = {
        "inline", "__inline__", "__inline",      "static",       "__attribute__",    "(",
        ")",      "noinline",   "always_inline", "__noinline__", "__always_inline__"};
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (!words.contains(outline.at(i).text)) return false;
    }
    return true;
  }

  // One function, declared once for each side: its braces become those of a function for both.
  bool make_one(Outline::Range device, Outline::Range host) {
    const Braces *const ours = device_.function(device), *const theirs = host_.function(host);
    if (!ours || !theirs || device_.signature(*ours) != host_.signature(*theirs)) return false;
    if (ours->side == Side::host) {
      replace(*ours, of_host(*ours, *theirs, Branch::none) + behind(*ours));
      return true;
    }
    for (std::size_t i = ours->head; i < ours->open; ++i) {
      if (ours->side != Side::device || !device_.token(i).is("__device__")) continue;
      edits_.push_back({device_.token(i).offset, 0, "__host__ "});
      break;
    }
    replace(*ours, both(*ours, *theirs, Branch::none));
    return true;
  }

  // Do the libraries' headers have a function of this name?
  bool is_of_library(std::string_view name) {
    if (library_.empty()) {
      for (std::size_t i = 0; i + 1 < device_.size(); ++i) {
        const Token& t = device_.at(i);
        if (!device_.is_of_program(t) && t.is_identifier() && device_.at(i + 1).is("("))
          library_.insert(t.text);
      }
    }
    return library_.contains(name);
  }

  // The headers of libraries among what the host alone has, as the program includes them.
  void note_headers(Outline::Range host) {
    for (std::size_t i = host.begin; i < host.end; ++i) {
      const Token& t = host_.at(i);
      const std::size_t files = device_.tokens.files.size();
      if (host_.is_of_program(t) || static_cast<std::size_t>(files_[t.file]) < files) continue;
      const Include* outermost = nullptr;
      for (int k = t.include; k >= 0;
           k = host_.tokens.includes[static_cast<std::size_t>(k)].parent) {
        const Include& include = host_.tokens.includes[static_cast<std::size_t>(k)];
        outermost = &include;
        if (static_cast<std::size_t>(files_[include.file]) < files) break;
      }
      if (outermost) note_header(host_.tokens.files[outermost->file], outermost->line);
    }
  }

  void note_header(const std::string& file, int line) {
    if (!seen_.insert({file, line}).second) return;
    std::ifstream in(file);
    std::string text;
    for (int k = 0; k < line && std::getline(in, text); ++k) continue;
    const std::size_t open = text.find('<'), close = text.find('>');
    if (text.find("include") != text.npos && close != text.npos && open < close)
      merged_.headers.push_back(text.substr(open + 1, close - open - 1));
  }

  void warn_of(Outline::Range device, Outline::Range host) {
    if (device.begin < device.end) return warn(device_, device_.first_token(device.begin));
    if (host.begin < host.end) warn(host_, host_.first_token(host.begin));
  }

  void warn(const Outline& program, std::size_t i) {
    const Token& t = program.token(i);
    if (!program.is_of_program(t) || !seen_.insert({program.tokens.files[t.file], -t.line}).second)
      return;
    merged_.warnings.push_back(
        {program.tokens.files[t.file], t.line,
         "an '#if' on __CUDA_ARCH__ stands outside of functions here, and the simulator takes the "
         "device's side of it for the host, too: move it into the bodies of functions",
         &program == &device_ ? static_cast<int>(program.column(i)) : 0, true});
  }

  std::string apply() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    std::size_t from = 0;
    for (const Edit& edit : edits_) {
      out.append(device_.source, from, edit.offset - from);
      out += edit.text;
      from = edit.offset + edit.length;
    }
    return out.append(device_.source, from);
  }

  Outline device_, host_;
  std::vector<int> files_;  // of the host's files the device's number
  std::unordered_map<std::size_t, std::vector<std::size_t>> places_;  // of the host's elements
  std::set<std::string_view> library_;
  std::set<std::pair<std::string, int>> seen_;
  std::vector<Edit> edits_;
  Merged merged_;
};

}  // namespace

namespace {

bool has_assembly(std::string_view text) {
  constexpr std::string_view kWord = "asm";
  for (std::size_t at = 0; (at = text.find(kWord, at)) != text.npos; at += kWord.size()) {
    const char before = at ? text[at - 1] : ' ';
    if (before != '_' && std::isalnum(static_cast<unsigned char>(before))) continue;
    std::string_view rest = text.substr(at + kWord.size());
    rest.remove_prefix(std::min(rest.find_first_not_of("_ \t\r\n"), rest.size()));
    if (rest.starts_with('(') || rest.starts_with("volatile") || rest.starts_with("inline") ||
        rest.starts_with("goto"))
      return true;
  }
  return false;
}

}  // namespace

Asked what_program_asks(const std::string& preprocessed) {
  Asked asked;
  std::set<std::string_view> seen;
  const std::string_view text = preprocessed;
  for (std::size_t i = text.starts_with("# ") ? 0 : text.find("\n# "); i != std::string_view::npos;
       i = text.find("\n# ", i + 1)) {
    const std::string_view line = text.substr(i + 1, text.find('\n', i + 1) - i - 1);
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (open == line.npos || close <= open || line.find('3', close) != line.npos) continue;
    const std::string_view name = line.substr(open + 1, close - open - 1);
    if (!seen.insert(name).second || name.starts_with('<')) continue;
    // With -g the preprocessor names the folder in which it runs, too.
    const std::string file = read_file(name);
    asked.for_device_pass |= file.find("__CUDA_ARCH__") != std::string::npos;
    asked.for_assembly |= has_assembly(file);
  }
  return asked;
}

Merged with_host_branches(const std::string& device, const std::string& host,
                          const std::string& file, bool relaxed) {
  return Merger(device, host, file, relaxed).run();
}

}  // namespace simtcc
