// Names that the program keeps for the library: it tells a variable of the device from one of the host by them.
#include <string>
#include <string_view>

#include "rewrite/rewriter.h"

namespace simtcc {

std::string names_for_library(const Names& names) {
  std::string text;
  const auto add = [&text](char kind, std::string_view name) {
    text += kind;
    text += name;
    text += "\\0";
  };
  for (const std::string_view name : names.device_variables) {
    if (!names.host_variables.contains(name)) add('d', name);
  }
  for (const std::string_view name : names.uninitialized_constants) add('c', name);
  for (const std::string_view name : names.device) {
    const bool may_be_another = names.both.contains(name) || names.unmarked.contains(name) ||
                                names.simulator.contains(name);
    if (!may_be_another) add('f', name);
  }
  for (const std::string_view name : names.both) {
    if (!names.unmarked.contains(name) && !names.simulator.contains(name)) add('b', name);
  }
  for (const std::string_view name : names.host_variables) {
    if (names.copies_symbols && !names.variables.contains(name)) add('h', name);
  }
  if (names.takes_times) add('t', "");
  if (text.empty()) return text;
  return "\nnamespace { [[gnu::used, gnu::section(\"simt_variables\"), gnu::aligned(1)]] const "
         "char "
         "simt_variables_of_this_source[] = \"" +
         text + "\"; }\n";
}

}  // namespace simtcc
