#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/translator.h"
#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

// An asm statement becomes a call: of a lambda, in place of the literals, and of the operands, which stay where they are, for
// other rules to change.
//
//   asm volatile("add.u32 %0, %1, 1;" : "=r"(x) : "r"(y));
//   ::simt::ptx::run([](auto& o0, auto o1) { ... }, ::simt::ptx::output<'r'>((x)), ::simt::ptx::input<'r'>((y)));
class Ptx : private Rule {
 public:
  using Rule::Rule;

  void visit_asm(std::size_t i) {
    std::size_t open = i + 1;
    bool is_volatile = false;
    for (; is_identifier(open); ++open) {
      is_volatile |= is(open, "volatile") || is(open, "__volatile__") || is(open, "__volatile");
      if (is(open, "goto")) return report(list_[open], "inline PTX: asm goto is not CUDA's");
    }
    if (!is(open, "(") || partner_[open] == kNone) return;
    close_ = partner_[open];
    std::size_t at = open + 1;
    for (; at < close_ && list_[at].kind == TokenKind::string; ++at) decode(at);
    if (at == open + 1)
      return report(list_[i], "inline PTX: the text of an asm is a string literal");
    last_ = at - 1;
    // An empty text is a barrier to the compiler, not an instruction.
    if (text_.find_first_not_of(" \t\n;") == std::string::npos) return leave_empty(at);
    if (!read_operands(at)) return;
    unescape();
    const bool in_kernel = is_in_kernel(i);
    ptx::Translation translation;
    try {
      translation = ptx::translate(text_, slots_, is_volatile, in_kernel);
      check_outer_registers(i, translation);
    } catch (const ptx::Error& error) {
      const bool is_inside = error.offset < places_.size();
      const Place place = is_inside ? places_[error.offset] : Place{last_, 0};
      Token token = list_[place.token];
      token.line += place.line;
      std::string message = "inline PTX: " + error.message;
      if (in_kernel) return report(token, std::move(message));
      // ptxas sees no function that no kernel calls
      unit_.names.absent_ptx.push_back(
          {tokens_.files[token.file], token.line, column_of(token), message});
      translation.pieces.push_back({is_inside ? error.offset : places_.size() - 1,
                                    "::simt::ptx::absent(" + in_quotes(message) + ");"});
    }
    unit_.has_inline_ptx = true;
    if (translation.wide) unit_.accesses_wide = true;
    replace_token(i, "::simt::ptx::run");
    remove_tokens(i + 1, open);
    write_code(translation, open + 1);
    is_wgmma_ = translation.is_wgmma;
    for (const std::size_t k : translation.fragments)
      if (k < operands_.size() && !is_copy(operands_[k].open)) fragments_.insert(k);
    write_operands(at);
    if (translation.atomic) note_address(*translation.atomic);
  }

 private:
  // g++ would take `f`, and the like, for registers of a CPU. Nor may a fence around an accumulator of wgmma touch it.
  void leave_empty(std::size_t at) {
    bool has_operands = false;
    for (std::size_t j = at; j < close_; ++j) {
      static constexpr std::string_view kOfGpu = "fdlh";
      const std::string_view text = list_[j].text;
      has_operands |= list_[j].kind == TokenKind::string && is(j + 1, "(") && text.size() > 2 &&
                      kOfGpu.find(text[text.size() - 2]) != std::string_view::npos;
    }
    if (!has_operands) return;
    replace_token(at, "::: \"memory\"");
    remove_tokens(at + 1, close_);
  }

  struct Place {
    std::size_t token;
    int line;  // within a raw literal
  };
  struct Operand {
    std::size_t constraint;  // its first token
    char letter;
    enum class Use { input, output, both } use;
    std::size_t open;  // the parenthesis
  };

  bool is_in_kernel(std::size_t i) const {
    const FunctionBody* const body = body_at(i);
    for (std::size_t j = body ? body->head : i; body && j < body->open; ++j) {
      if (is(j, "__global__")) return true;
    }
    return false;
  }

  // All inline PTX of a function is one text to ptxas, with that of the functions that are inlined.
  void check_outer_registers(std::size_t i, const ptx::Translation& translation) {
    const FunctionBody* const body = body_at(i);
    if (!body || unit_.scopes.back().templated) return;
    const bool is_copied = is_inlined_twice(*body);
    for (const auto& [offset, name] : translation.outer_registers) {
      const bool is_new = unit_.outer_registers.emplace(body->open, name).second;
      if (is_new && !is_copied) continue;
      throw ptx::Error{offset,
                       "the register '" + std::string(name) + "' is declared twice in " +
                           (is_new ? "a function that inlines this one twice" : "this function") +
                           ": put the PTX in braces, \"{ .reg ... }\""};
    }
  }

  // Does a function call this one, which is `__forceinline__`, more than once?
  bool is_inlined_twice(const FunctionBody& body) const {
    const std::size_t parameters = parameters_of(body.head);
    bool is_inlined = false;
    for (std::size_t j = body.head; j < body.open; ++j) is_inlined |= is(j, "always_inline");
    if (!is_inlined || parameters == kNone) return false;
    const auto is_call = [&](std::size_t j) {
      return list_[j].text == list_[parameters - 1].text && is(j + 1, "(");
    };
    for (std::size_t j = body.close + 1; j < list_.size(); ++j) {
      if (!is(j, "{") || !is(j - 1, ")") || partner_[j] == kNone) continue;  // no function's body
      std::size_t calls = 0;
      for (const std::size_t end = partner_[j]; j < end; ++j) calls += is_call(j);
      if (calls > 1) return true;
    }
    return false;
  }

  // Is an operand a parameter that is handed over by value? To ptxas that is the caller's register, of which nothing is known here.
  bool is_copy(std::size_t open) const {
    const FunctionBody* const body = body_at(open);
    const std::size_t parameters = body ? parameters_of(body->head) : kNone;
    if (parameters == kNone) return false;
    std::set<std::string_view> copies;
    std::string_view name;
    bool is_value = true;
    for (std::size_t j = parameters + 1; j <= partner_[parameters]; ++j) {
      if (is(j, ",") || j == partner_[parameters]) {
        if (is_value) copies.insert(name);
        is_value = true;
      }
      for (const std::string_view other : {"&", "&&", "*", "["}) is_value &= !is(j, other);
      if (is_identifier(j)) name = list_[j].text;
    }
    bool names_one = false;
    for (std::size_t j = open + 1; j < partner_[open]; j = is(j, "[") ? skip_group(j) : j + 1)
      names_one |= is_identifier(j) && copies.contains(list_[j].text);
    return names_one;
  }

  void put(char c, Place place) {
    text_ += c;
    places_.push_back(place);
  }

  // Adds what a literal stands for.
  void decode(std::size_t token) {
    const std::string_view literal = list_[token].text;
    std::size_t begin = literal.find('"') + 1;
    std::size_t end = literal.rfind('"');
    Place place{token, 0};
    if (literal.substr(0, begin).find('R') != std::string_view::npos) {
      const std::size_t delimiter = literal.find('(') - begin;
      begin += delimiter + 1;
      end -= delimiter + 1;
      for (std::size_t k = begin; k < end; ++k) {
        put(literal[k], place);
        if (literal[k] == '\n') ++place.line;
      }
      return;
    }
    for (std::size_t k = begin; k < end; ++k) {
      if (literal[k] != '\\' || k + 1 == end) {
        put(literal[k], place);
        continue;
      }
      const char c = literal[++k];
      put(c == 'n' || c == 'r' ? '\n' : c == 't' ? '\t' : c, place);
    }
  }

  // In a text with operands %% is a percent sign, and %= a number of its own for each asm.
  void unescape() {
    std::string text;
    std::vector<Place> places;
    for (std::size_t k = 0; k < text_.size(); ++k) {
      const char next = text_[k] == '%' && k + 1 < text_.size() ? text_[k + 1] : '\0';
      if (next == '%' || next == '=') ++k;
      text += next == '=' ? '0' : text_[k];
      places.push_back(places_[k]);
    }
    text_ = std::move(text);
    places_ = std::move(places);
  }

  // : outputs : inputs : clobbers
  bool read_operands(std::size_t at) {
    int part = 0;
    while (at < close_) {
      if (is(at, ":")) ++part;
      if (is(at, "::")) part += 2;
      if (is(at, ":") || is(at, "::") || is(at, ",")) {
        ++at;
        continue;
      }
      if (list_[at].kind != TokenKind::string || part == 0 || part > 3)
        return refuse(at, "an asm has texts, outputs, inputs and clobbers; '" +
                              std::string(list_[at].text) + "' is none of these");
      const std::size_t first = at;
      std::string constraint;  // "=" "r" is one
      for (; at < close_ && list_[at].kind == TokenKind::string; ++at)
        constraint += list_[at].text.substr(1, list_[at].text.size() - 2);
      if (part == 3) {
        if (constraint != "memory")
          return refuse(first, "the clobber \"" + constraint + "\" is not \"memory\"");
        clobbers_memory_ = true;
        continue;
      }
      if (!is(at, "(")) return refuse(first, "an operand is missing");
      if (!read_operand(first, constraint, part == 1)) return false;
      operands_.back().open = at;
      at = skip_group(at);
    }
    return true;
  }

  bool read_operand(std::size_t at, std::string_view constraint, bool is_output) {
    std::string_view letters = constraint;
    Operand operand{at, '\0', Operand::Use::input, kNone};
    if (is_output) {
      if (!letters.starts_with('=') && !letters.starts_with('+'))
        return refuse(at, "the constraint of an output begins with = or +: \"" +
                              std::string(constraint) + "\"");
      operand.use = letters[0] == '=' ? Operand::Use::output : Operand::Use::both;
      letters.remove_prefix(1);
      if (letters.starts_with('&')) letters.remove_prefix(1);
    }
    static constexpr std::pair<char, ptx::Type> kTypes[] = {
        {'h', {'b', 16}}, {'r', {'b', 32}}, {'l', {'b', 64}}, {'f', {'f', 32}}, {'d', {'f', 64}}};
    for (const auto& [letter, type] : kTypes) {
      if (letters != std::string_view(&letter, 1)) continue;
      operand.letter = letter;
      slots_.push_back({type, false});
    }
    if (!is_output && letters == "n") {
      operand.letter = 'n';
      slots_.push_back({{'s', 64}, true});
    }
    if (!operand.letter)
      return refuse(at, "the constraint \"" + std::string(constraint) +
                            "\" is none of h, r, l, f, d" + (is_output ? "" : ", n"));
    operands_.push_back(operand);
    return true;
  }

  bool refuse(std::size_t at, std::string message) {
    report(list_[at], "inline PTX: " + std::move(message));
    return false;
  }

  // In place of the literals: each instruction on its own line.
  void write_code(const ptx::Translation& translation, std::size_t first) {
    std::vector<std::string> code(last_ + 1 - first);
    std::vector<int> lines(code.size());
    std::string head = "[](";
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      head += std::string(k ? ", " : "") + "[[maybe_unused]] auto" +
              (operands_[k].use == Operand::Use::input ? " o" : "& o") + std::to_string(k);
    }
    static const std::string kOrder = "asm volatile(\"\" ::: \"memory\"); ";
    code.front() = head + ") __attribute__((always_inline)) { " + translation.declarations +
                   (clobbers_memory_ ? kOrder : "");
    for (const ptx::Piece& piece : translation.pieces) {
      const Place place = places_[piece.offset];
      std::string& text = code[place.token - first];
      int& line = lines[place.token - first];
      for (; line < place.line; ++line) text += '\n';
      text += piece.code + " ";
    }
    for (std::size_t k = 0; k < code.size(); ++k) {
      int breaks = 0;
      for (const char c : list_[first + k].text) breaks += c == '\n';
      for (; lines[k] < breaks; ++lines[k]) code[k] += '\n';
    }
    code.back() += (clobbers_memory_ ? kOrder : "") + "}";
    for (std::size_t k = 0; k < code.size(); ++k) replace_token(first + k, std::move(code[k]));
  }

  // Of an atomic operation: lanes that all name one address may be merged.
  void note_address(const ptx::AtomicOperands& atomic) {
    const std::size_t open = operands_[atomic.address].open;
    UpdatedAddress address{open + 1, partner_[open], 0, 0};
    if (atomic.value) {
      const std::size_t value = operands_[*atomic.value].open;
      address.value_begin = value + 1;
      address.value_end = partner_[value];
    }
    unit_.atomics.push_back(address);
  }

  void write_operands(std::size_t at) {
    std::size_t next = 0;
    while (at < close_) {
      if (next == operands_.size() || at != operands_[next].constraint) {
        replace_token(at++, "");  // a colon, a comma, a clobber
        continue;
      }
      const bool is_fragment = fragments_.contains(next);
      const Operand& operand = operands_[next++];
      const std::size_t end = skip_group(operand.open);
      remove_tokens(at + 1, operand.open);
      if (operand.letter == 'n') {
        replace_token(at, ", ::simt::ptx::Constant<(::simt::ptx::s64)");
        insert_after(end - 1, ">()");
      } else {
        static constexpr std::string_view kFunctions[] = {"input", "output", "in_out"};
        const bool is_later = is_wgmma_ && operand.use != Operand::Use::input;
        const std::string_view function = is_later      ? "accumulator"
                                          : is_fragment ? "fragment"
                                                        : kFunctions[static_cast<int>(operand.use)];
        replace_token(at,
                      ", ::simt::ptx::" + std::string(function) + "<'" + operand.letter + "'>(");
        insert_after(end - 1, ")");
      }
      at = end;
    }
  }

  std::string text_;
  std::vector<Place> places_;  // of each character of the text
  std::size_t last_ = 0;       // literal of the text
  std::size_t close_ = 0;
  std::vector<Operand> operands_;
  std::vector<ptx::Slot> slots_;
  bool clobbers_memory_ = false;
  bool is_wgmma_ = false;
  std::set<std::size_t> fragments_;  // operands that wgmma reads later
};

}  // namespace

void rewrite_asm(Unit& unit, std::size_t i) { Ptx(unit).visit_asm(i); }

}  // namespace simtcc
