#include "trees/whole_structs.h"

#include <algorithm>

namespace simtcc {
namespace {

// What a function and all that it calls do.
struct Copies {
  bool load = false, store = false;
};

class Reached {
 public:
  Reached(const TreeDump& dump, const std::set<std::string>& classes)
      : dump_(dump), classes_(classes) {}

  Copies from(const DumpedFunction& function) {
    if (!seen_.insert(&function).second) return {};
    Copies copies{has_one(function.loaded), has_one(function.stored)};
    for (const Mention& mention : function.mentions) {
      const DumpedFunction* const callee = mention.is_call ? dump_.find(mention) : nullptr;
      if (!callee || !runs_on_device(*callee)) continue;
      const Copies inner = from(*callee);
      copies.load |= inner.load, copies.store |= inner.store;
    }
    return copies;
  }

 private:
  bool has_one(const std::set<unsigned>& variables) const {
    return std::any_of(variables.begin(), variables.end(), [&](unsigned variable) {
      const std::string_view name = dump_.class_of(variable);
      return classes_.contains(std::string(name.substr(0, name.find('<'))));
    });
  }

  const TreeDump& dump_;
  const std::set<std::string>& classes_;
  std::set<const DumpedFunction*> seen_;
};

}  // namespace

std::vector<std::string> functions_that_change_structs(const TreeDump& dump,
                                                       const std::set<std::string>& classes) {
  std::vector<std::string> symbols;
  if (classes.empty()) return symbols;
  for (const DumpedFunction& function : dump.functions()) {
    if (!runs_on_device(function)) continue;
    const Copies copies = Reached(dump, classes).from(function);
    if (copies.load && copies.store) symbols.emplace_back(function.symbol);
  }
  return symbols;
}

}  // namespace simtcc
