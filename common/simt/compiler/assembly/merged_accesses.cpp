#include "assembly/merged_accesses.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "assembly/assembly.h"
#include "assembly/register_values.h"

namespace simtcc {
namespace {

using Line = std::string_view;

constexpr Line kCheck = "__ubsan_handle_type_mismatch_v1";
constexpr unsigned kWidest = 16;

// What a call of -fsanitize=alignment says of a pointer.
struct Pointee {
  std::string type;
  unsigned alignment = 1;
  int64_t begin = 0;  // of the object, counted as the access is
};

struct Access {
  std::size_t line = 0;  // of the call
  bool stores = false;
  unsigned size = 0;
  int value = 0;  // see RegisterValue
  int64_t offset = 0;
  const Pointee* pointee = nullptr;
};

// Accesses that may become one.
struct Chain {
  std::vector<Access> parts;
  std::vector<Access> passed;  // stores since it began
};

bool overlap(int64_t a, unsigned size_a, int64_t b, unsigned size_b) {
  return a < b + size_b && b < a + size_a;
}

// The function that a line calls, without @PLT.
Line called(Line line) {
  if (!is_instruction(line) || word(line) != "call") return {};
  line.remove_prefix(line.rfind('\t') + 1);
  return line.substr(0, line.find('@'));
}

// __tsan_read4 and its like.
std::optional<Access> access_of(Line name) {
  Access access;
  if (name.starts_with("__tsan_write")) {
    access.stores = true;
    name.remove_prefix(12);
  } else if (name.starts_with("__tsan_read")) {
    name.remove_prefix(11);
  } else {
    return {};
  }
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    if (name == std::to_string(size)) access.size = size;
  }
  if (!access.size) return {};
  return access;
}

// `.Lubsan_data3` of leaq .Lubsan_data3(%rip), %rdi
Line data_label(Line line) {
  constexpr Line kStart = "\tleaq\t.Lubsan_data", kEnd = "(%rip), %rdi";
  if (!line.starts_with(kStart) || !line.ends_with(kEnd)) return {};
  return line.substr(6, line.size() - 6 - kEnd.size());
}

// What the checks of a source say of types, by their labels.
class Checks {
 public:
  explicit Checks(const std::vector<Line>& lines) {
    std::map<Line, std::string> types;
    std::map<Line, std::pair<Line, unsigned>> data;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line label = label_of(lines[i]);
      if (label.starts_with(".Lubsan_type")) {
        const Line text = i + 3 < lines.size() ? lines[i + 3] : Line{};
        if (text.starts_with("\t.string\t")) types[label] = plain(text);
      } else if (label.starts_with(".Lubsan_data") && i + 5 < lines.size()) {
        const Line type = lines[i + 4], log = lines[i + 5];
        if (!type.starts_with("\t.quad\t.Lubsan_type") || !log.starts_with("\t.byte\t")) continue;
        // One digit: the alignment's exponent.
        if (log.size() == 8 && log[7] >= '0' && log[7] <= '9')
          data[label] = {type.substr(7), 1u << (log[7] - '0')};
      }
    }
    for (const auto& [label, one] : data) of_label_[label] = {types[one.first], one.second, 0};
  }

  const Pointee* find(Line label) const {
    const auto at = of_label_.find(label);
    return at == of_label_.end() ? nullptr : &at->second;
  }

 private:
  // struct P of "'const struct P'"
  static std::string plain(Line text) {
    text = text.substr(9);
    while (text.starts_with('"') || text.starts_with('\'')) text.remove_prefix(1);
    while (text.ends_with('"') || text.ends_with('\'')) text.remove_suffix(1);
    for (const Line word : {Line("const "), Line("volatile ")}) {
      if (text.starts_with(word)) text.remove_prefix(word.size());
    }
    return std::string(text);
  }

  std::map<Line, Pointee> of_label_;
};

// One function. It collects what is to be written into it, by the line.
class FunctionAccesses {
 public:
  FunctionAccesses(const std::vector<Line>& lines, const Checks& checks,
                   const std::set<std::string>& array_classes)
      : lines_(lines), checks_(checks), array_classes_(array_classes) {
    for (const Line line : lines) {
      if (const Line target = target_of(line); !target.empty()) ++jumps_[target];
    }
  }

  struct Part {
    unsigned width = 0, before = 0;  // see count/merged_accesses.h
  };

  void read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      const Line line = lines_[at_];
      if (line.starts_with("#APP")) return;  // somebody's own assembly
      if (const Line label = label_of(line); !label.empty()) {
        const auto jumps = jumps_.find(label);
        if (jumps == jumps_.end() || (jumps->second == 1 && label == skip_)) continue;
        end_stretch();
        values_.forget();
        continue;
      }
      if (const Line target = target_of(line); !target.empty()) {
        if (is_check(target)) {
          skip_ = target;
        } else {
          end_stretch();
        }
        continue;
      }
      if (const Line label = data_label(line); !label.empty()) data_ = label;
      if (const Line name = called(line); !name.empty()) note_call(name);
      values_.step(line);
    }
    end_stretch();
  }

  std::map<std::size_t, Part> parts;           // of accesses, by the line of the call
  std::map<std::size_t, unsigned> alignments;  // of copies
  std::set<std::size_t> needless;              // calls

 private:
  // Is all that the jump leaves out the call of a check?
  bool is_check(Line target) const {
    bool calls = false;
    for (std::size_t i = at_ + 1; i < lines_.size(); ++i) {
      if (label_of(lines_[i]) == target) return calls;
      if (!label_of(lines_[i]).empty() && jumps_.contains(label_of(lines_[i]))) return false;
      if (!is_instruction(lines_[i])) continue;
      const Line name = word(lines_[i]), function = called(lines_[i]);
      if (function.starts_with("__ubsan_handle_")) {
        calls = true;
      } else if (calls || !(name.starts_with("mov") || name.starts_with("lea"))) {
        return false;
      }
    }
    return false;
  }

  void note_call(Line name) {
    if (name == kCheck) {
      note_pointee();
    } else if (name.starts_with("__ubsan_handle_")) {
      return;
    } else if (name == "__tsan_read_range" || name == "__tsan_write_range") {
      end_stretch();
      const RegisterValue pointer = values_.of("%rdi");
      const Pointee* const pointee = pointee_at(pointer);
      if (pointee && pointee->alignment > 4 && pointee->begin == pointer.offset)
        alignments[at_] = std::min(pointee->alignment, kWidest);
    } else if (std::optional<Access> access = access_of(name)) {
      if (is_extent()) {
        needless.insert(at_);
        return;
      }
      const RegisterValue pointer = values_.of("%rdi");
      access->line = at_;
      access->value = pointer.number;
      access->offset = pointer.offset;
      access->pointee = pointee_at(pointer);
      note(*access);
    } else {
      end_stretch();
    }
  }

  // leaq blockDim@tpoff(%rax), %rdi
  bool is_extent() const {
    std::size_t i = at_;
    while (i > 0 && !is_instruction(lines_[--i])) {
    }
    const Line line = lines_[i];
    const auto names = [&](Line variable) {
      const std::size_t begin = line.find(variable);
      return begin != Line::npos && line.find("@tpoff(", begin) != Line::npos;
    };
    return line.ends_with(", %rdi") &&
           (names("\tblockDim") || names("\tgridDim") || names("\t4+blockDim") ||
            names("\t8+blockDim") || names("\t4+gridDim") || names("\t8+gridDim"));
  }

  void note_pointee() {
    const Pointee* const of_label = checks_.find(data_);
    if (!of_label) return;
    const RegisterValue pointer = values_.of("%rsi");
    Pointee pointee = *of_label;
    pointee.begin = pointer.offset;
    pointees_[pointer.number].insert_or_assign(pointer.offset, pointee);
  }

  // The object nearest below. nvcc aligns shared variables itself, as it likes, and sees what is added to their addresses.
  const Pointee* pointee_at(RegisterValue pointer) {
    if (values_.is_shared(pointer.number)) {
      Pointee& own = shared_[pointer.number];
      own.alignment = 1u << values_.zeros(pointer.number);
      return &own;
    }
    const auto of_value = pointees_.find(pointer.number);
    if (of_value == pointees_.end()) return nullptr;
    const auto above = of_value->second.upper_bound(pointer.offset);
    return above == of_value->second.begin() ? nullptr : &std::prev(above)->second;
  }

  bool has_arrays(std::string type) const {
    type = type.substr(0, type.find('<'));
    const std::size_t scope = type.find_last_of(": ");
    return array_classes_.contains(scope == std::string::npos ? type : type.substr(scope + 1));
  }

  // May the two be about the same bytes, as far as nvcc knows?
  bool clash(const Access& a, const Access& b) const {
    if (a.value == b.value) return overlap(a.offset, a.size, b.offset, b.size);
    if (values_.is_shared(a.value) != values_.is_shared(b.value)) return !a.pointee || !b.pointee;
    if (!a.pointee || !b.pointee || a.pointee->type != b.pointee->type) return true;
    if (a.pointee->type.empty()) return true;
    return has_arrays(a.pointee->type) ||
           overlap(a.offset - a.pointee->begin, a.size, b.offset - b.pointee->begin, b.size);
  }

  void note(const Access& access) {
    const auto clashes = [&](const Access& other) { return clash(access, other); };
    const auto any = [&](const std::vector<Access>& some) {
      return std::any_of(some.begin(), some.end(), clashes);
    };
    Chain* own = nullptr;
    for (std::size_t c = 0; c < chains_.size();) {
      Chain& chain = chains_[c];
      const Access& first = chain.parts[0];
      const bool joins = first.stores == access.stores && first.size == access.size &&
                         first.value == access.value && access.pointee &&
                         first.pointee->begin == access.pointee->begin;
      // Loads are made where the first of them stands, stores where the last does.
      const bool ends =
          first.stores ? any(chain.parts) : joins && (any(chain.passed) || any(chain.parts));
      if (ends) {
        end(chain);
        chains_.erase(chains_.begin() + static_cast<std::ptrdiff_t>(c));
        continue;
      }
      if (joins) own = &chain;
      if (access.stores && !first.stores) chain.passed.push_back(access);
      ++c;
    }
    if (own) {
      own->parts.push_back(access);
    } else if (access.pointee && access.pointee->alignment > access.size) {
      chains_.push_back({{access}, {}});
    }
  }

  void end_stretch() {
    for (Chain& chain : chains_) end(chain);
    chains_.clear();
  }

  // All of a chain are known: which of them become one?
  void end(Chain& chain) {
    std::vector<Access>& all = chain.parts;
    std::sort(all.begin(), all.end(),
              [](const Access& a, const Access& b) { return a.offset < b.offset; });
    const unsigned size = all[0].size, alignment = all[0].pointee->alignment;
    const bool stores = all[0].stores;
    for (std::size_t begin = 0; begin < all.size();) {
      if (const std::size_t count = four_with_a_gap(all, begin)) {
        merge(all, begin, count, kWidest);
        begin += count;
        continue;
      }
      std::size_t end = begin + 1;
      while (end < all.size() && all[end].offset == all[end - 1].offset + size) ++end;
      const int64_t first = all[begin].offset - all[begin].pointee->begin;
      if (first < 0 || first % size) {
        begin = end;
        continue;
      }
      for (const unsigned width :
           widths_of_pieces(stores, size, alignment, static_cast<unsigned>(first),
                            static_cast<unsigned>(end - begin))) {
        const std::size_t count = std::min<std::size_t>(end - begin, width / size);
        if (count > 1) merge(all, begin, count, width);
        begin += count;
      }
    }
  }

  // Of loads of 4 bytes: the first and the last of an aligned four with one in between. The other one is loaded, too.
  static std::size_t four_with_a_gap(const std::vector<Access>& all, std::size_t begin) {
    const Access& first = all[begin];
    const Pointee& pointee = *first.pointee;
    const bool may_be = !first.stores && first.size == 4 && pointee.alignment >= kWidest &&
                        (first.offset - pointee.begin) % kWidest == 0 && begin + 2 < all.size();
    return may_be && all[begin + 2].offset == first.offset + 12 ? 3 : 0;
  }

  void merge(const std::vector<Access>& all, std::size_t begin, std::size_t count, unsigned width) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto leader =
        std::min_element(from, from + static_cast<std::ptrdiff_t>(count),
                         [](const Access& a, const Access& b) { return a.line < b.line; });
    for (std::size_t i = 0; i < count; ++i) parts[from[static_cast<std::ptrdiff_t>(i)].line] = {};
    parts[leader->line] = {width, static_cast<unsigned>(leader->offset - from->offset)};
  }

  const std::vector<Line>& lines_;
  const Checks& checks_;
  const std::set<std::string>& array_classes_;
  std::map<Line, int> jumps_;  // to each label
  std::size_t at_ = 0;
  Line skip_, data_;
  RegisterValues values_;
  std::map<int, std::map<int64_t, Pointee>> pointees_;  // by value and offset
  std::map<int, Pointee> shared_;                       // by value; of no type
  std::vector<Chain> chains_;
};

// The group of a `.section` line, which the linker keeps once; nothing for a section of its own.
Line group_of(Line line) {
  if (!line.ends_with(",comdat")) return {};
  line.remove_suffix(7);
  return line.substr(line.rfind(',') + 1);
}

}  // namespace

// What nvcc 13.0 makes of each choice of members of aligned structs, for sm_90: tests/simulator/simtcc/merged_accesses_test.cpp has the
// patterns.
std::vector<unsigned> widths_of_pieces(bool stores, unsigned size, unsigned alignment,
                                       unsigned first, unsigned count) {
  if (stores && count == 3 && first / size % 2) return {size, size, size};
  std::vector<unsigned> widths;
  while (count) {
    const unsigned most =
        std::min({kWidest, alignment, first ? 1u << std::countr_zero(first) : alignment});
    unsigned width = size;
    while (2 * width <= most && 2 * width <= count * size) width *= 2;
    // Of loads one that is missing is loaded on top, and of eight three.
    if (!stores && width < count * size && count % 2 && 2 * width <= most) width *= 2;
    widths.push_back(width);
    first += width;
    count -= std::min(count, width / size);
  }
  return widths;
}

std::string with_merged_accesses(Line assembly, const std::set<std::string>& array_classes) {
  std::vector<Line> lines;
  while (!assembly.empty()) lines.push_back(next_line(assembly));
  const Checks checks(lines);
  std::string text, tables;
  unsigned labels = 0;
  Line group;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("\t.section\t.text")) group = group_of(lines[i]);
    if (lines[i] == "\t.text") group = {};
    text += lines[i];
    text += '\n';
    const std::optional<Line> symbol = function_begun(lines[i]);
    if (!symbol) continue;
    std::vector<Line> body;
    while (i + 1 < lines.size() && !ends_function(lines[i + 1], *symbol))
      body.push_back(lines[++i]);
    FunctionAccesses function(body, checks, array_classes);
    function.read();
    if (!function.parts.empty()) {
      tables += "\t.section\tsimt_merged,\"a" + std::string(group.empty() ? "" : "G") +
                "\",@progbits" +
                (group.empty() ? std::string() : "," + std::string(group) + ",comdat") +
                "\n\t.p2align 2\n";
    }
    for (std::size_t j = 0; j < body.size(); ++j) {
      if (function.needless.contains(j)) continue;
      if (const auto copy = function.alignments.find(j); copy != function.alignments.end()) {
        text += "\tmovl\t$" + std::to_string(copy->second) + ", %edx\n\tcall\t";
        text += called(body[j]) == "__tsan_read_range" ? "simt_read_pieces" : "simt_write_pieces";
        text += "@PLT\n";
        continue;
      }
      text += body[j];
      text += '\n';
      const auto part = function.parts.find(j);
      if (part == function.parts.end()) continue;
      const std::string label = ".Lsimt_part" + std::to_string(labels++);
      text += label + ":\n";
      tables += "\t.long\t" + label + " - .\n\t.byte\t" + std::to_string(part->second.width) +
                ", " + std::to_string(part->second.before) + ", 0, 0\n";
    }
  }
  return text + tables;
}

}  // namespace simtcc
