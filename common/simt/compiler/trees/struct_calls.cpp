#include "trees/struct_calls.h"

#include <map>
#include <utility>

#include "text/own_headers.h"
#include "trees/function_names.h"

namespace simtcc {
namespace {

// Does the function come to call itself?
bool is_recursive(const TreeDump& dump, const DumpedFunction& function) {
  std::set<const DumpedFunction*> reached;
  std::vector<const DumpedFunction*> todo = {&function};
  while (!todo.empty()) {
    const DumpedFunction* const at = todo.back();
    todo.pop_back();
    for (const Mention& mention : at->mentions) {
      const DumpedFunction* const callee = mention.is_call ? dump.find(mention) : nullptr;
      if (callee == &function) return true;
      if (callee && reached.insert(callee).second) todo.push_back(callee);
    }
  }
  return false;
}

bool is_lambda(const std::vector<std::string>& parts) {
  return parts.size() > 1 && parts[parts.size() - 2] == kLambda;
}

// The functions that are called, or jumped to, by their symbols.
std::set<std::string_view> called_symbols(std::string_view assembly) {
  std::set<std::string_view> called;
  while (!assembly.empty()) {
    const std::size_t length = assembly.find('\n');
    std::string_view line = assembly.substr(0, length);
    assembly.remove_prefix(length == std::string_view::npos ? assembly.size() : length + 1);
    if (!line.starts_with("\tcall\t") && !line.starts_with("\tjmp\t")) continue;
    line.remove_prefix(line.rfind('\t') + 1);
    called.insert(line.substr(0, line.find_first_of("@.")));  // f@PLT, f.isra.0
  }
  return called;
}

// Without its scopes and template arguments, as the rewriter knows it: "operator" for operator+.
std::string short_name(const DumpedFunction& function) {
  const std::vector<std::string> parts = parts_of(function.name);
  if (is_lambda(parts)) return std::string(kLambda);
  if (parts.back().starts_with("operator")) return "operator";
  return parts.back().substr(0, parts.back().find('<'));
}

}  // namespace

StructCalls find_struct_calls(const TreeDump& dump, std::string_view assembly, Origins& origins) {
  StructCalls found;
  // One name may stand for several functions, and only all of them can be inlined.
  std::map<std::string, std::vector<const DumpedFunction*>> of_name;
  for (const DumpedFunction& function : dump.functions()) {
    if (runs_on_device(function)) of_name[short_name(function)].push_back(&function);
  }
  const std::set<std::string_view> called = called_symbols(assembly);
  const auto cannot_be_inlined = [&](const DumpedFunction* callee) -> std::string {
    if (!callee) return "is defined elsewhere";
    if (!runs_on_device(*callee)) return "is not marked __device__";
    for (const DumpedFunction* one : of_name[short_name(*callee)]) {
      if (one->attributes.find("noinline") != std::string_view::npos) return "is __noinline__";
      if (is_recursive(dump, *one)) return "calls itself";
    }
    return {};
  };
  std::set<std::pair<std::string_view, int>> said;
  for (const DumpedFunction& caller : dump.functions()) {
    if (!runs_on_device(caller) || is_own_header(caller.file)) continue;
    for (const Mention& call : caller.mentions) {
      if (!call.moves_memory || is_own_header(call.place.file) ||
          call.place.file.starts_with("/usr/"))
        continue;
      const DumpedFunction* const callee = dump.find(call);
      if (callee && !called.contains(callee->symbol)) continue;  // inlined as it is
      const std::string why = cannot_be_inlined(callee);
      if (why.empty()) {
        found.to_inline.insert(short_name(*callee));
      } else if (said.insert({call.place.file, call.place.line}).second) {
        const std::string file(call.place.file);
        const std::string name =
            parts_of(callee ? std::string(callee->name) : demangled(call.name)).back();
        found.uncounted.push_back(
            {file, call.place.line,
             "the struct that this call of '" + name +
                 "' loads or stores is neither counted nor checked, because '" + name + "' " + why +
                 ": copy it to or from a local variable in a line of its own",
             origins.column_of_call(file, call.place.line, call.place.column), true});
      }
    }
  }
  return found;
}

}  // namespace simtcc
