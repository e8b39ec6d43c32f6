/// \file
/// Where functions run, as their marks, their names and the libraries say.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"
#include "trees/tree_dump.h"

namespace simtcc {

/// Where a function is for; the marks stand in execution_spaces.h.
enum class Space {
  host,
  device,
  both,
  kernel,
  implied,   ///< Made by the compiler, and where it is needed.
  anywhere,  ///< Of the simulator, or one that nvcc lets kernels call.
};

/// What a mention of a function means.
struct Target {
  const DumpedFunction* body = nullptr;
  Space space = Space::anywhere;
  std::string name;  ///< As a message has it.
  bool library = false;
};

class FunctionSpaces {
 public:
  /// All of them have to outlive this.
  /// \param relaxed --expt-relaxed-constexpr: constexpr functions are for everybody
  FunctionSpaces(const TreeDump& dump, const Names& names, bool relaxed)
      : dump_(dump), names_(names), relaxed_(relaxed) {}

  /// Is it a function that the reader has not written?
  bool is_of_library(const DumpedFunction& function) const;
  /// Has the source said `constexpr` of it? \param parts of its name, as parts_of() has them
  bool is_constexpr(const std::vector<std::string>& parts) const;
  Space space_of(const DumpedFunction& function);
  /// Finds the function that a statement names, also where its body is not at hand.
  Target resolve(const Mention& mention);

 private:
  Space find_space(const DumpedFunction& function);
  Space library_space(const std::vector<std::string>& parts, bool special) const;
  bool is_constexpr_for_all(const std::vector<std::string>& parts) const;

  const TreeDump& dump_;
  const Names& names_;
  bool relaxed_;
  std::map<const DumpedFunction*, Space> spaces_;
};

}  // namespace simtcc
