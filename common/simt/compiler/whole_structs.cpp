#include "whole_structs.h"

#include <algorithm>

namespace simtcc {

std::vector<std::string> functions_with_objects(const TreeDump& dump,
                                                const std::set<std::string>& classes) {
  std::set<const DumpedFunction*> found;
  for (const DumpedFunction& function : dump.functions()) {
    const bool has_one = std::any_of(classes.begin(), classes.end(), [&](const std::string& name) {
      return function.objects.contains(name);
    });
    if (has_one && runs_on_device(function)) found.insert(&function);
  }
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const DumpedFunction& function : dump.functions()) {
      if (!runs_on_device(function)) continue;
      const auto calls_one = [&](const Mention& mention) {
        return mention.is_call && found.contains(dump.find(mention));
      };
      if (std::any_of(function.mentions.begin(), function.mentions.end(), calls_one))
        found.insert(&function);
    }
  }
  std::vector<std::string> symbols;
  for (const DumpedFunction* function : found) symbols.emplace_back(function->symbol);
  return symbols;
}

}  // namespace simtcc
