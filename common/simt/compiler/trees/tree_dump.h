/// \file
/// What g++ prints of the functions it has read (-fdump-tree-lower-lineno-uid-asmname): who calls whom.
///
/// It is printed ahead of all optimisation, so calls that are put in place later are there, with the line and column of
/// each; of templates there are the instances; what `if constexpr` discards is gone.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

/// A place in the text that g++ compiled.
struct DumpPlace {
  std::string_view file;
  int line = 0;
  int column = 0;
};

/// A function or variable that a statement names.
struct Mention {
  std::string_view
      name;  ///< The symbol, or only the last part of the name if g++ has made no symbol yet.
  unsigned id = 0;  ///< g++'s number for it.
  bool is_call = false;
  bool is_address = false;  ///< `&x`
  bool is_store = false;    ///< `x = ...`, a number
  unsigned argument =
      0;  ///< The variable that comes first among a call's arguments, `this` for one.
  bool moves_memory =
      false;  ///< A call that loads an argument, or stores its result, all by itself.
  DumpPlace place;
};

/// `result = (type) operand`
struct Conversion {
  std::string_view result, type, operand;
  DumpPlace place;
};

struct DumpedFunction {
  std::string_view name;  ///< `std::vector<int>::push_back`
  std::string_view symbol;
  unsigned id = 0;
  std::string_view attributes;
  std::string_view signature;
  std::string_view file;  ///< of its first statement
  int first_line = 0;     ///< likewise
  std::vector<Mention> mentions;
  /// Local variables that are copied whole from memory, and to it: by their numbers. (Of a temporary one, that of its address.)
  std::set<unsigned> loaded, stored;
  std::vector<Conversion> conversions;  ///< those of a number to a type with a name, in order
};

inline bool runs_on_device(const DumpedFunction& function) {
  return function.attributes.find("no_instrument_function") != std::string_view::npos;
}

/// The functions of one dump. Everything points into the text, which has to outlive this.
class TreeDump {
 public:
  explicit TreeDump(std::string_view text);

  const std::vector<DumpedFunction>& functions() const { return functions_; }
  /// The function with a body that is mentioned, or nullptr.
  const DumpedFunction* find(const Mention& mention) const;
  const DumpedFunction* find_symbol(std::string_view symbol) const;
  /// The function in which a lambda, a class or a static variable stands: _ZZ1kPiENKUlvE_clEv is in _Z1kPi.
  const DumpedFunction* function_around(std::string_view symbol) const;
  /// Is this a variable of a function, a parameter or a static one?
  bool is_local(unsigned id) const { return locals_.contains(id); }
  /// The function in which a static variable is declared, or nullptr.
  const DumpedFunction* owner_of_static(unsigned id) const;
  /// The class of a local variable, without its scope, or nothing.
  std::string_view class_of(unsigned id) const;

 private:
  void read_header(std::string_view line);
  void read_line(std::string_view line, bool in_body);
  void read_statement(std::string_view statement, const DumpPlace& place);
  bool is_in_memory(std::string_view operand) const;
  bool is_number(std::string_view value) const;
  void note_copy(std::string_view to, std::string_view from);

  std::vector<DumpedFunction> functions_;
  std::map<unsigned, std::size_t> by_id_;
  std::map<std::string_view, std::size_t> by_symbol_;
  std::set<unsigned> locals_;
  std::set<unsigned> statics_;  // those of them that are no thread's own, `__shared__` ones
  std::map<unsigned, std::size_t> owners_;  // of static variables: indices into functions_
  std::map<unsigned, std::string_view> classes_;
  DumpPlace last_;
  std::deque<std::string> buffer_;  // statements without their places
};

}  // namespace simtcc
