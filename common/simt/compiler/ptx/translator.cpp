#include "ptx/translator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace simtcc::ptx {
namespace {

// Instructions of PTX that are not simulated. (Of others it is said that there are no such.)
constexpr std::string_view kNotSimulated =
    " addc alloca applypriority bfe bfi bfind bmsk brx call cnot copysign discard div dp2a "
    "dp4a elect fns getctarank istypep ldu mad24 madc mapa mul24 multimem pmevent "
    "red.async rem sad set shf slct st.async stackrestore stacksave subc suld suq sured "
    "sust szext tcgen05 tensormap testp tex tld4 txq vabsdiff vabsdiff2 vabsdiff4 vadd "
    "vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vset "
    "vset2 vset4 vshl vshr vsub vsub2 vsub4 wmma clusterlaunchcontrol ";

class Translator {
 public:
  Translator(const std::vector<Slot>& slots, bool is_volatile, bool in_kernel)
      : is_volatile_(is_volatile) {
    names_.slots = slots;
    names_.in_kernel = in_kernel;
  }

  Translation run(const std::vector<Statement>& statements) {
    find_labels(statements);
    std::size_t blocks = 0;
    enter(blocks++);
    for (const Statement& statement : statements) {
      switch (statement.kind) {
        case Statement::Kind::open:
          enter(blocks++);
          break;
        case Statement::Kind::close:
          names_.registers.pop_back();
          names_.labels.pop_back();
          break;
        case Statement::Kind::label:
          add(statement, names_.labels.back().at(statement.name) + ": __attribute__((unused));");
          break;
        case Statement::Kind::declaration:
          declare(statement);
          break;
        case Statement::Kind::instruction:
          instruction(statement);
      }
    }
    if (statements.size() == 1) result_.atomic = atomic_operands(statements[0]);
    return std::move(result_);
  }

 private:
  void enter(std::size_t block) {
    names_.registers.emplace_back();
    names_.labels.push_back(labels_[block]);
  }

  // A branch may go forward: all labels are known ahead.
  void find_labels(const std::vector<Statement>& statements) {
    std::vector<std::size_t> open{0};
    labels_.emplace_back();
    unsigned count = 0;
    for (const Statement& statement : statements) {
      if (statement.kind == Statement::Kind::open) {
        open.push_back(labels_.size());
        labels_.emplace_back();
      } else if (statement.kind == Statement::Kind::close) {
        open.pop_back();
      } else if (statement.kind == Statement::Kind::label) {
        auto& labels = labels_[open.back()];
        if (!labels.emplace(statement.name, "l" + std::to_string(count++)).second)
          throw Error{statement.offset,
                      "the label '" + std::string(statement.name) + "' is there twice"};
      }
    }
  }

  void declare(const Statement& statement) {
    for (std::size_t i = 0; i < statement.names.size(); ++i) {
      if (!statement.counts[i]) declare(statement, statement.names[i]);
      for (unsigned k = 0; k < statement.counts[i]; ++k)
        declare(statement,
                *made_.insert(std::string(statement.names[i]) + std::to_string(k)).first);
    }
  }

  void declare(const Statement& statement, std::string_view name) {
    const std::string variable = "r" + std::to_string(registers_++);
    if (!names_.registers.back().emplace(name, Register{statement.type, variable}).second)
      throw Error{statement.offset, "the register '" + std::string(name) + "' is declared twice"};
    if (names_.registers.size() == 1) result_.outer_registers.emplace_back(statement.offset, name);
    const Type bits = statement.type.kind == 'p' ? statement.type : Type{'b', statement.type.bits};
    result_.declarations += "[[maybe_unused]] " + cpp(bits) + " " + variable + " = 0; ";
  }

  void instruction(const Statement& statement) {
    std::string code;
    for (const auto translate : {translate_arithmetic, translate_bits, translate_memory,
                                 translate_control, translate_matrices}) {
      Instruction instruction(statement, names_, is_volatile_);
      code = translate(instruction);
      if (code.empty()) continue;
      const std::string guard = instruction.guard();
      if (!guard.empty()) code = "if (" + guard + ") { " + code + " }";
      break;
    }
    if (code.empty()) refuse(statement);
    result_.wide |= accesses_wide(statement);
    if (statement.opcode.starts_with("wgmma.mma_async")) {
      result_.is_wgmma = true;
      for (const Operand& part : statement.operands[1].parts)
        if (part.kind == Operand::Kind::slot) result_.fragments.insert(part.value);
    }
    add(statement, std::move(code));
  }

  [[noreturn]] static void refuse(const Statement& statement) {
    if (kNotSimulated.find(" " + std::string(statement.name) + " ") != std::string_view::npos)
      throw Error{statement.offset, not_simulated(statement.opcode)};
    throw Error{statement.offset, "'" + std::string(statement.name) + "' is no instruction of PTX"};
  }

  static bool accesses_wide(const Statement& statement) {
    const auto has = [&](std::string_view modifier) {
      return std::find(statement.modifiers.begin(), statement.modifiers.end(), modifier) !=
             statement.modifiers.end();
    };
    return (statement.name == "ld" || statement.name == "st") && (has("v2") || has("v4"));
  }

  static std::optional<AtomicOperands> atomic_operands(const Statement& statement) {
    const bool returns = statement.name == "atom";
    if ((!returns && statement.name != "red") || !statement.guard.empty()) return {};
    const Operand& base = statement.operands[returns].parts[0];
    const Operand& value = statement.operands[returns + 1];
    if (base.kind != Operand::Kind::slot) return {};
    AtomicOperands result{base.value, {}};
    if (value.kind == Operand::Kind::slot) result.value = value.value;
    return result;
  }

  void add(const Statement& statement, std::string code) {
    result_.pieces.push_back({statement.offset, std::move(code)});
  }

  Names names_;
  Translation result_;
  std::vector<std::map<std::string_view, std::string>> labels_;  // of each block
  std::set<std::string> made_;                                   // names of r<4>
  unsigned registers_ = 0;
  const bool is_volatile_;
};

}  // namespace

Translation translate(std::string_view text, const std::vector<Slot>& slots, bool is_volatile,
                      bool in_kernel) {
  return Translator(slots, is_volatile, in_kernel).run(parse(text));
}

}  // namespace simtcc::ptx
