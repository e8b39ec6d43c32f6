#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/local_declarations.h"
#include "rewrite/rules.h"

namespace simtcc {
namespace {

// Variables of a thread's own that were meant to be the block's or the launch's. Whoever hands one on, or takes its address, is
// believed to fill it.
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
          return is(j - 1, "if") || is(j - 1, "while") ? Use::read : Use::unknown;
        } else if (is_opening(j) || is(j, ";")) {
          return Use::unknown;
        }
      }
    }
    return Use::read;
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
