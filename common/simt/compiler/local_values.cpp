#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "local_declarations.h"
#include "rules.h"

namespace simtcc {
namespace {

// Variables of a thread's own that are read before they have a value. What is told is certain from the text alone: every way to the
// read comes by no write. Whoever hands the variable on, or takes its address, is believed to fill it.
class LocalValues : private LocalDeclarations {
 public:
  using LocalDeclarations::LocalDeclarations;

  void visit_statement(std::size_t i) {
    if (!in_device_code(i)) return;
    const std::size_t names_at = skip_type(i, false);
    if (names_at == kNone) return;
    const std::string type = flat(i, names_at);
    for (const Declarator& declarator : declarators_at(names_at)) {
      if (declarator.begin != declarator.name) continue;  // a pointer
      if (declarator.rank > 0) check_returns(declarator.name, declarator.end);
      if (declarator.extents_end == declarator.end)
        check_first_read(declarator.name, declarator.rank, declarator.end, type);
      if (declarator.rank > 0 && declarator.extents_end == declarator.end)
        check_shared_by_mistake(declarator, type);
    }
  }

  // A kernel's parameter that is only ever written: the reader expects it to come back.
  void visit_kernel(const FunctionBody& body) {
    const std::size_t open = parameters_of(body.head);
    if (open == kNone || partner_[open] == kNone) return;
    for (const auto& [begin, end] : parts(open + 1, partner_[open])) {
      if (end < begin + 2 || !is_identifier(end - 1)) continue;
      bool plain = true;
      for (std::size_t i = begin; i + 1 < end; ++i)
        plain &= is_identifier(i) && is_builtin_type(list_[i].text) && !is(i, "void");
      if (plain) check_lost(end - 1, flat(begin, end - 1), body);
    }
  }

 private:
  enum class Use { none, read, update, write, unknown };

  bool is_member(std::size_t i) const {
    return is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::");
  }

  static bool takes_values(std::string_view function) {
    static constexpr std::array<std::string_view, 14> kNames = {
        "min",   "max",  "fminf", "fmaxf", "fmin",   "fmax",      "fabsf",
        "sqrtf", "expf", "fmaf",  "abs",   "printf", "__fmaf_rn", "logf"};
    for (const std::string_view name : kNames) {
      if (name == function) return true;
    }
    return false;
  }

  // What the program does with the variable named at i.
  Use use_of(std::size_t i, std::size_t rank) const {
    if (is(i - 1, "&") || is(i - 1, "&&") || is(i - 1, ":")) return Use::unknown;
    // Pair<int> v; in an inner scope
    if (is(i - 1, ">") && (is(i + 1, ";") || is(i + 1, "=") || is(i + 1, "{") || is(i + 1, "(")))
      return Use::unknown;
    std::size_t indices = 0, at = i + 1;
    for (; is(at, "["); at = skip_group(at)) ++indices;
    if (is(i - 1, "(") && (is(i - 2, "sizeof") || is(i - 2, "decltype") || is(i - 2, "void")))
      return Use::none;
    if (indices < rank) return Use::unknown;
    while (is(at, ".") && is_identifier(at + 1)) at += 2;
    if (is(at, "(") || is(at, "[")) return Use::unknown;
    if (is(at, "=")) return Use::write;
    static constexpr std::array<std::string_view, 12> kUpdates = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
    for (const std::string_view update : kUpdates) {
      if (is(at, update)) return Use::update;
    }
    if (is(i - 1, "++") || is(i - 1, "--")) return Use::update;
    // float& r = v;
    if (is(i - 1, "=") && (is(i - 3, "&") || is(i - 3, "&&"))) return Use::unknown;
    // Handed over as it is, perhaps as a reference.
    if ((is(i - 1, "(") || is(i - 1, ",") || is(i - 1, "{")) &&
        (is(at, ")") || is(at, ",") || is(at, "}"))) {
      for (std::size_t j = i; j-- > 0;) {
        if (is_closing(j)) {
          if (partner_[j] == kNone) return Use::unknown;
          j = partner_[j];
        } else if (is(j, "(")) {
          const bool by_value = is_identifier(j - 1) && takes_values(list_[j - 1].text);
          const bool condition = is(j - 1, "if") || is(j - 1, "while");
          return by_value || condition ? Use::read : Use::unknown;
        } else if (is_opening(j) || is(j, ";")) {
          return Use::unknown;
        }
      }
    }
    return Use::read;
  }

  // Does every way from `begin` to `read` come by, or is there a condition in between?
  bool is_certain(std::size_t begin, std::size_t read) const {
    bool conditional = false;
    for (std::size_t i = begin; i < read;) {
      if (is_opening(i)) {
        const std::size_t close = partner_[i];
        if (close == kNone) return false;
        if (close < read) {
          if (is(i, "{")) conditional = false;
          i = close + 1;
          continue;
        }
        if (conditional) return false;
        // [&] (int i) { ... }: it may be called later, or never
        if (is(i, "{") && is(i - 1, ")") && partner_[i - 1] != kNone &&
            is(partner_[i - 1] - 1, "]"))
          return false;
        ++i;
        continue;
      }
      if (is(i, ";")) conditional = false;
      if (is(i, "if") || is(i, "switch")) {
        const std::size_t open = is(i + 1, "constexpr") ? i + 2 : i + 1;
        if (is(open, "(") && partner_[open] != kNone && partner_[open] > read) {
          i = open;
          continue;
        }
        conditional = true;
      }
      for (const char* word : {"else", "?", "&&", "||", "case", "default", "catch", "return"})
        conditional |= is(i, word) && std::strcmp(word, "return") != 0;
      ++i;
    }
    return !conditional;
  }

  void check_first_read(std::size_t name, std::size_t rank, std::size_t declared,
                        const std::string& type) {
    const FunctionBody* body = body_at(name);
    if (!body) return;
    const std::string_view text = list_[name].text;
    const std::size_t end = scope_end(declared);
    std::size_t first = kNone, update = kNone;
    Use first_use = Use::none;
    bool written = false;
    for (std::size_t i = declared + 1; i < end; ++i) {
      if (is(i, "goto") || is(i, "asm") || is(i, "__asm__") || is(i, "__asm")) return;
      if (is(i, "[") && (is(i + 1, "&") || is(i + 1, "=")) && is(i + 2, "]")) return;
      if (!is(i, text) || is_member(i)) continue;
      // `float sum = 0;` in an inner scope is another one.
      if (is_identifier(i - 1) && !is_statement_keyword(list_[i - 1].text)) return;
      const Use use = use_of(i, rank);
      if (use == Use::unknown) {
        if (first == kNone || !written) {
          if (first == kNone) return;
          // Somebody may fill it later, in a loop around both.
          written = true;
        }
        continue;
      }
      if (use == Use::none) continue;
      if (first == kNone) {
        first = i;
        first_use = use;
      }
      if (use == Use::update && update == kNone) update = i;
      written |= use == Use::write;
    }
    // `x = x + 1;` reads before it writes, `for (...) a[0] = a[0] + b` too: the write stands first in the text.
    if (first_use == Use::write && rank == 0) {
      std::size_t i = first + 1;
      if (is(i, "=")) {
        for (++i; i < end && !is(i, ";") && !is(i, ",") && !is_closing(i); ++i) {
          if (is(i, text) && !is_member(i) && use_of(i, rank) == Use::read &&
              is_certain(first, i)) {
            if (is_certain(declared, first)) tell(i, name, rank, type);
            return;
          }
        }
      }
      return;
    }
    if (first == kNone || first_use == Use::write) return;
    if (!written) {
      if (update == kNone && !is_certain(declared, first)) return;
      tell(update != kNone ? update : first, name, rank, type);
    } else if (is_certain(declared, first)) {
      tell(first, name, rank, type);
    }
  }

  void tell(std::size_t at, std::size_t name, std::size_t rank, const std::string& type) {
    const std::string text(list_[name].text);
    unit_.uninitialized.insert(text);
    std::string extents;
    if (rank > 0) {
      std::size_t end = name + 1;
      for (std::size_t r = 0; r < rank; ++r) end = skip_group(end);
      extents = flat(name + 1, end);
    }
    const bool braces = rank > 0 || !is_builtin_type(type.substr(0, type.find(' ')));
    warn(list_[at], "'" + text + "' is read before it has a value" +
                        (rank > 0 ? ", as no element of it is ever set" : "") + ": write '" + type +
                        " " + text + extents + (braces ? " = {};'" : " = 0;'") +
                        ", or what it shall begin with");
  }

  // An index as text, variables that are set once replaced by what they are set to; "" if it may change.
  std::string fixed(std::size_t begin, std::size_t end, const FunctionBody& body,
                    int depth = 0) const {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_identifier(i) || is_member(i) || is(i, "threadIdx") || is(i, "blockDim") ||
          is_builtin_type(list_[i].text)) {
        text += list_[i].text;
        continue;
      }
      std::size_t set = kNone;
      for (std::size_t j = body.open; j < body.close; ++j) {
        if (!is(j, list_[i].text) || is_member(j)) continue;
        const Use use = use_of(j, 0);
        if (use == Use::update || use == Use::unknown || (use == Use::write && set != kNone))
          return "";
        if (use == Use::write) set = j;
      }
      if (set == kNone) {
        text += list_[i].text;
        continue;
      }
      constexpr int kDeepest = 4;
      std::size_t stop = set + 2;
      while (stop < body.close && !is(stop, ";") && !is(stop, ",") && !is_closing(stop))
        stop = is_opening(stop) ? skip_group(stop) : stop + 1;
      const std::string value = depth < kDeepest ? fixed(set + 2, stop, body, depth + 1) : "";
      if (value.empty()) return "";
      text += stop == set + 3 || stop == set + 5 ? value : '(' + value + ')';
    }
    return text;
  }

  // int tile[256]; tile[threadIdx.x] = ...; __syncthreads(); ... tile[255 - threadIdx.x] ...
  void check_shared_by_mistake(const Declarator& array, const std::string& type) {
    const FunctionBody* body = body_at(array.name);
    if (!body) return;
    const std::string_view name = list_[array.name].text;
    const std::size_t end = scope_end(array.end);
    std::vector<std::string> set;
    std::size_t first_set = kNone, barrier = kNone, read = kNone;
    int others = 0;
    for (std::size_t i = array.end; i < end; ++i) {
      if (is(i, "goto") || is(i, "asm")) return;
      if (is(i, "[") && (is(i + 1, "&") || is(i + 1, "=")) && is(i + 2, "]")) return;
      if (is(i, "__syncthreads") && first_set != kNone) barrier = i;
      if (!is(i, name) || is_member(i)) continue;
      std::size_t at = i + 1;
      for (std::size_t r = 0; r < array.rank; ++r) {
        if (!is(at, "[")) return;
        at = skip_group(at);
      }
      const bool is_atomic =
          is(i - 1, "&") && is(i - 2, "(") && list_[i - 3].text.starts_with("atomic");
      const Use use = is_atomic ? Use::update : use_of(i, array.rank);
      if (use == Use::unknown) return;
      const std::string index = fixed(i + 1, at, *body);
      if (use == Use::write) {
        if (index.empty()) return;
        if (index.find("threadIdx") == index.npos && ++others > 1) return;
        if (first_set == kNone && index.find("threadIdx") == index.npos) return;
        if (first_set == kNone) first_set = i;
        set.push_back(index);
      } else if (use != Use::none && read == kNone && barrier != kNone &&
                 std::find(set.begin(), set.end(), index) == set.end()) {
        read = i;
      }
    }
    if (read == kNone) return;
    std::size_t set_end = first_set + 1, extents_end = array.name + 1;
    for (std::size_t r = 0; r < array.rank; ++r) {
      set_end = skip_group(set_end);
      extents_end = skip_group(extents_end);
    }
    warn(list_[read], "each thread has an array '" + std::string(name) +
                          "' of its own, and has set only " + flat(first_set, set_end) +
                          ": for one that the block shares write '__shared__ " + type + " " +
                          flat(array.name, extents_end) + ";'");
  }

  // return a; of an array that ends with its function
  void check_returns(std::size_t name, std::size_t declared) {
    const FunctionBody* body = body_at(name);
    if (!body || !unit_.traced) return;  // else g++ sees it
    bool pointer = false;
    for (std::size_t i = body->head; i < body->open && !is(i, "("); ++i) pointer |= is(i, "*");
    if (!pointer) return;
    const std::size_t end = scope_end(declared);
    for (std::size_t i = declared + 1; i < end; ++i) {
      if (is(i, "return") && is(i + 1, list_[name].text) && is(i + 2, ";")) {
        warn(list_[i + 1],
             "'" + std::string(list_[name].text) +
                 "' ends with its function, so no pointer to it must be returned: let "
                 "the caller hand over the array that is to be filled");
        return;
      }
    }
  }

  void check_lost(std::size_t name, const std::string& type, const FunctionBody& body) {
    const std::string_view text = list_[name].text;
    std::size_t first = kNone;
    for (std::size_t i = body.open; i < body.close; ++i) {
      if (!is(i, text) || is_member(i)) continue;
      // (After a parenthesis, if that is no cast.)
      const std::size_t open = is(i - 1, ")") ? partner_[i - 1] : kNone;
      const bool begins = is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, "else") ||
                          (open != kNone && (is(open - 1, "if") || is(open - 1, "for")));
      const Use use = use_of(i, 0);
      if (!begins || (use != Use::write && use != Use::update) || is(i + 1, ".")) return;
      if (first == kNone) first = i;
    }
    if (first == kNone) return;
    warn(list_[first],
         "'" + std::string(text) +
             "' is a copy of what the launch hands over, and nobody reads what the kernel "
             "writes to it: for a result take a pointer to device memory, '" +
             type + "* " + std::string(text) + "'");
  }
};

// Calls of the host, and of the device, that are no mistake to C++.
class Calls : private Rule {
 public:
  using Rule::Rule;

  // `__syncthreads;`
  void visit_barrier(std::size_t i) {
    const bool alone =
        is(i + 1, ";") && (is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, ")"));
    if (!alone) return;
    const std::string name(list_[i].text);
    warn(list_[i], "'" + name + "' is only named here, and not called: write '" + name + "();'");
  }

  // cudaMemset(d, 1, n * sizeof(int)) of an int* d
  void visit_memset(std::size_t i) {
    if (!is(i + 1, "(") || partner_[i + 1] == kNone) return;
    const auto arguments = parts(i + 2, partner_[i + 1]);
    if (arguments.size() < 3) return;
    const auto [begin, end] = arguments[1];
    if (end != begin + 1 || list_[begin].kind != TokenKind::number) return;
    const std::string_view value = list_[begin].text;
    const std::string call(list_[i].text);
    if (!value.starts_with("0x") && value.find('.') != value.npos) {
      if (value.find_first_of("123456789") == value.npos) return;
      warn(list_[begin], call + "() sets bytes, and " + std::string(value) + " becomes the byte " +
                             std::string(value.substr(0, value.find('.'))) +
                             ": let a kernel fill the array, or copy the values to it");
      return;
    }
    // What is to be counted or summed; other bytes may be any data.
    const bool is_small = value.size() <= 2 && value[0] >= '1' && value[0] <= '9' &&
                          (value.size() == 1 || value == "10");
    if (!is_small) return;
    const auto [target, target_end] = arguments[0];
    if (target_end != target + 1 || !is_identifier(target)) return;
    const std::string type = pointed_to(target);
    if (type.empty()) return;
    const bool real = type == "float" || type == "double";
    const long number = value == "10" ? 10 : value[0] - '0';
    warn(list_[begin],
         call + "() sets bytes, so no " + type + " becomes " + std::string(value) + ": " +
             (real             ? "all are nearly 0"
              : type == "long" ? "each is " + std::to_string(72340172838076673 * number)
                               : "each is " + std::to_string(16843009 * number)) +
             ". Let a kernel fill the array, or copy the values to it");
  }

 private:
  // What the pointer named at i points to, by its declaration in this function: a number of more than one byte, or nothing.
  std::string pointed_to(std::size_t i) const {
    const FunctionBody* body = body_at(i);
    if (!body) return {};
    for (std::size_t j = i; j-- > body->head;) {
      if (!is(j, list_[i].text) || !is(j - 1, "*")) continue;
      if (is(j - 2, "*")) return {};
      std::size_t start = j - 1;
      while (start > body->head && !is(start - 1, ";") && !is(start - 1, "{") &&
             !is(start - 1, "}") && !is(start - 1, "("))
        --start;
      for (const char* type : {"int", "unsigned", "float", "double", "long"}) {
        if (is(start, type)) return type;
      }
      return {};
    }
    return {};
  }
};

}  // namespace

void check_values(Unit& unit, std::size_t i) { LocalValues(unit).visit_statement(i); }
void check_results(Unit& unit, const FunctionBody& kernel) {
  LocalValues(unit).visit_kernel(kernel);
}

void check_call(Unit& unit, std::size_t i) {
  const std::string_view name = unit.tokens.list[i].text;
  if (name == "__syncthreads" || name == "__syncwarp" || name == "__threadfence") {
    Calls(unit).visit_barrier(i);
  } else if (name == "cudaMemset" || name == "cudaMemsetAsync") {
    Calls(unit).visit_memset(i);
  }
}

}  // namespace simtcc
