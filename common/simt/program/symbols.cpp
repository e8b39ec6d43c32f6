#include "program/symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace simt::symbols {
namespace {

std::recursive_mutex mutex;

Dwfl* open_self() {
  static char* debuginfo_path = nullptr;
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_linux_proc_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = &debuginfo_path,
  };
  Dwfl* dwfl = dwfl_begin(&callbacks);
  if (!dwfl) return nullptr;
  if (dwfl_linux_proc_report(dwfl, getpid()) != 0 || dwfl_report_end(dwfl, nullptr, nullptr) != 0) {
    dwfl_end(dwfl);
    return nullptr;
  }
  return dwfl;
}

Dwfl* self() {
  static Dwfl* dwfl = open_self();
  return dwfl;
}

// What holds the address: the program or a library of its. nullptr if that is unknown.
Dwfl_Module* module_of(uint64_t address) {
  Dwfl* dwfl = self();
  return dwfl ? dwfl_addrmodule(dwfl, address) : nullptr;
}

// The symbol of the function that holds the address, or nullptr.
const char* symbol_of(uint64_t address) {
  Dwfl_Module* module = module_of(address);
  return module ? dwfl_module_addrname(module, address) : nullptr;
}

template <class T>
void sort_by_begin(std::vector<T>& all) {
  std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.begin < b.begin; });
}

// A function with code of its own, and where that lies.
struct Code {
  Dwarf_Addr begin, end;
  Dwarf_Die function;
};

// Of a scope's functions, also of those in its namespaces and classes.
void collect_code(Dwarf_Die& scope, std::vector<Code>& found) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) {
      Dwarf_Addr base = 0, begin = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&child, at, &base, &begin, &end)) > 0;)
        found.push_back({begin, end, child});
    } else if (tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
               tag != DW_TAG_structure_type && tag != DW_TAG_union_type &&
               tag != DW_TAG_lexical_block) {
      continue;
    }
    collect_code(child, found);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// The function of a unit whose code holds the address, or nullptr. A unit's tree is walked once: dwarf_getscopes() does that for
// each address, and a chapter's unit has a hundred thousand nodes.
const Dwarf_Die* function_at(Dwarf_Die& unit, Dwarf_Addr address) {
  static auto& known = *new std::unordered_map<const void*, std::vector<Code>>;
  const auto [at, is_new] = known.try_emplace(unit.addr);
  std::vector<Code>& all = at->second;
  if (is_new) {
    collect_code(unit, all);
    sort_by_begin(all);
  }
  const auto above =
      std::upper_bound(all.begin(), all.end(), address,
                       [](Dwarf_Addr a, const Code& code) { return a < code.begin; });
  if (above == all.begin() || address >= std::prev(above)->end) return nullptr;
  return &std::prev(above)->function;
}

// The scopes around an address, from the innermost on to the function that has the code.
class Scopes {
 public:
  Scopes(Dwarf_Die* unit, Dwarf_Addr address) {
    const Dwarf_Die* const function = function_at(*unit, address);
    if (!function) return;
    scopes_.push_back(*function);
    for (Dwarf_Die child; step_into(scopes_.back(), address, child);) scopes_.push_back(child);
  }
  auto begin() { return scopes_.rbegin(); }
  auto end() { return scopes_.rend(); }

 private:
  // The block or inlined call in a scope that holds the address.
  static bool step_into(Dwarf_Die& scope, Dwarf_Addr address, Dwarf_Die& child) {
    for (int more = dwarf_child(&scope, &child); more == 0;
         more = dwarf_siblingof(&child, &child)) {
      const int tag = dwarf_tag(&child);
      if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
          dwarf_haspc(&child, address) > 0)
        return true;
    }
    return false;
  }
  std::vector<Dwarf_Die> scopes_;
};

// Calls is_enough(place, whether a function of a library is called) for each call that is inlined around the address, from the
// innermost on, until it is.
template <class F>
void for_each_call(Dwfl_Module* module, uint64_t address, F&& is_enough) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  Dwarf_Files* files = nullptr;
  if (!unit || dwarf_getsrcfiles(unit, &files, nullptr) != 0) return;
  for (Dwarf_Die& scope : Scopes(unit, address - bias)) {
    if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    if (dwarf_formudata(dwarf_attr(&scope, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&scope, DW_AT_call_line, &attribute), &line) != 0) {
      continue;
    }
    const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
    if (!name) continue;
    Dwarf_Word column = 0;
    dwarf_formudata(dwarf_attr(&scope, DW_AT_call_column, &attribute), &column);
    const char* const callee = dwarf_decl_file(&scope);
    if (is_enough(Location{name, static_cast<int>(line), static_cast<int>(column)},
                  callee && is_library_file(callee)))
      return;
  }
}

Location locate_in(uint64_t address) {
  Location found;
  Dwfl_Module* module = module_of(address);
  if (!module) return found;
  if (Dwfl_Line* line = dwfl_module_getsrc(module, address)) {
    int number = 0, column = 0;
    if (const char* file = dwfl_lineinfo(line, nullptr, &number, &column, nullptr, nullptr)) {
      found = {file, number, column};
    }
  }
  if (found.line > 0 && !is_library_file(found.file)) return found;

  // Inlined: go outward, from call to call, until a line is the reader's.
  for_each_call(module, address, [&](const Location& call, bool) {
    found = call;
    return !is_library_file(found.file);
  });
  return found;
}

// As C++ spells it, or as it is where it is no name of C++.
std::string demangled(const char* symbol) {
  if (std::strncmp(symbol, "_Z", 2) != 0) return symbol;  // `c` would be the type char
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : symbol;
}

std::string without_anonymous(std::string name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(kAnonymous)) != std::string::npos;)
    name.erase(at, kAnonymous.size());
  return name;
}

// "void ns::reduce<float, 256>(float*, int)" -> "ns::reduce<float, 256>"
std::string strip_signature(std::string name) {
  name = without_anonymous(std::move(name));
  // The parameter list begins with the last parenthesis that opens at nesting depth 0. The return type ends with the
  // last space there before it (templates spell it).
  int depth = 0;
  size_t begin = 0, begin_here = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0) {
      end = i;
      begin = begin_here;
    }
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ' ' && depth == 0) begin_here = i + 1;
  }
  if (end == name.size()) begin = begin_here;
  return name.substr(begin, end - begin);
}

// Calls f(symbol, address, name) for each of the program's symbols of this type that has a size.
template <class F>
void for_each_symbol(int type, F&& f) {
  Dwfl_Module* module = module_of(reinterpret_cast<uint64_t>(&open_self));
  const int count = module ? dwfl_module_getsymtab(module) : 0;
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (name && GELF_ST_TYPE(symbol.st_info) == type && symbol.st_size) f(symbol, address, name);
  }
}

std::vector<Variable> read_variables() {
  std::vector<Variable> found;
  for_each_symbol(STT_OBJECT, [&](const GElf_Sym& symbol, uint64_t address, const char* mangled) {
    found.push_back({address, address + symbol.st_size, without_anonymous(demangled(mangled))});
  });
  sort_by_begin(found);
  return found;
}

struct SharedVariables {
  std::vector<SharedVariable> variables;
  std::vector<Guard> guards;
};

SharedVariables read_shared_variables() {
  SharedVariables result;
  for_each_symbol(STT_TLS, [&](const GElf_Sym& symbol, uint64_t, const char* mangled) {
    const uint64_t begin = symbol.st_value;  // no address, but an offset
    if (std::string_view(mangled).starts_with("_ZGV")) {
      result.guards.push_back({begin, std::string("_Z") + (mangled + 4)});
      return;
    }
    std::string name = demangled(mangled);
    if (name.starts_with("simt::") || name == "threadIdx" || name == "blockIdx" ||
        name == "blockDim" || name == "gridDim") {
      return;
    }
    std::string owner;
    if (const size_t colon = name.rfind("::"); colon != std::string::npos) {
      owner = name.substr(0, colon);
      name.erase(0, colon + 2);
    }
    result.variables.push_back(
        {begin, begin + symbol.st_size, std::move(name), std::move(owner), mangled});
  });
  sort_by_begin(result.variables);
  return result;
}

using Extents = std::vector<uint64_t>;

// Of an array of numbers or pointers.
Extents extents_of_type(Dwarf_Die type) {
  Extents found;
  while (dwarf_peel_type(&type, &type) == 0 && dwarf_tag(&type) == DW_TAG_array_type) {
    Dwarf_Die child;
    Dwarf_Attribute attribute;
    if (dwarf_child(&type, &child) != 0) return {};
    do {
      Dwarf_Word bound = 0;
      if (dwarf_tag(&child) != DW_TAG_subrange_type ||
          dwarf_formudata(dwarf_attr(&child, DW_AT_upper_bound, &attribute), &bound) != 0)
        return {};
      found.push_back(bound + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
    if (!dwarf_formref_die(dwarf_attr(&type, DW_AT_type, &attribute), &type)) return {};
  }
  const int tag = dwarf_tag(&type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type
             ? Extents()
             : found;
}

// Of the variables of this scope and of those in it that lie in the thread-local segment, by their offsets.
void collect_extents(Dwarf_Die& scope, std::map<uint64_t, Extents>& found) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return;
  do {
    if (dwarf_tag(&child) != DW_TAG_variable) {
      collect_extents(child, found);
      continue;
    }
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    Dwarf_Die type;
    if (dwarf_getlocation(dwarf_attr(&child, DW_AT_location, &attribute), &operations, &count) !=
            0 ||
        count != 2 ||
        (operations[1].atom != DW_OP_GNU_push_tls_address &&
         operations[1].atom != DW_OP_form_tls_address) ||
        !dwarf_formref_die(dwarf_attr_integrate(&child, DW_AT_type, &attribute), &type))
      continue;
    found[operations[0].number] = extents_of_type(type);
  } while (dwarf_siblingof(&child, &child) == 0);
}

const SharedVariables& known_shared_variables() {
  static const auto& found = *new auto([] {
    const std::lock_guard lock(mutex);
    return read_shared_variables();
  }());
  return found;
}

// Where a variable lies that is in memory as long as it lives: so far from the canonical frame address.
bool offset_in_frame(Dwarf_Die* variable, int64_t& offset) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_getlocation(dwarf_attr(variable, DW_AT_location, &attribute), &operations, &count) !=
          0 ||
      count != 1 || operations[0].atom != DW_OP_fbreg) {
    return false;
  }
  offset = static_cast<int64_t>(operations[0].number);
  return true;
}

uint64_t size_of_type(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Word bytes = 0;
  if (!dwarf_formref_die(dwarf_attr_integrate(variable, DW_AT_type, &attribute), &type)) return 0;
  return dwarf_aggregate_size(&type, &bytes) == 0 ? bytes : 0;
}

}  // namespace

bool is_library_file(std::string_view file) {
  return file.find("/simt/include/") != std::string_view::npos ||
         file.find("/common/libraries/include/") != std::string_view::npos ||
         file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         file.find("/include/simt/") != std::string_view::npos;
}

std::string Location::text() const {
  if (line <= 0) return "an unknown line";
  // Relative to the working directory where the file is below it, as compilers say it.
  const std::unique_ptr<char, decltype(&std::free)> here(getcwd(nullptr, 0), &std::free);
  const std::string prefix = here ? std::string(here.get()) + "/" : "/";
  const bool below = here && file.starts_with(prefix);
  return (below ? file.substr(prefix.size()) : file) + ":" + std::to_string(line);
}

std::string Location::short_text() const {
  if (line <= 0) return "an unknown line";
  const size_t slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

const Location& locate(uint64_t return_address) {
  static auto& known = *new std::unordered_map<uint64_t, Location>;  // asked again at exit
  const std::lock_guard lock(mutex);
  const auto [it, fresh] = known.try_emplace(return_address);
  if (fresh && return_address) it->second = locate_in(return_address - 1);
  return it->second;
}

Location call_around(uint64_t return_address) {
  const Location at = locate(return_address);
  const std::lock_guard lock(mutex);
  Dwfl_Module* const module = return_address ? module_of(return_address - 1) : nullptr;
  Location outermost;
  if (!module) return outermost;
  for_each_call(module, return_address - 1, [&](const Location& call, bool of_library) {
    if (!of_library && !is_library_file(call.file)) outermost = call;
    return false;
  });
  return outermost.line == at.line && outermost.file == at.file ? Location() : outermost;
}

const std::vector<SharedVariable>& shared_variables() { return known_shared_variables().variables; }

const std::vector<uint64_t>& extents_of(const SharedVariable& variable) {
  static auto& all = *new auto([] {
    const std::lock_guard lock(mutex);
    std::map<uint64_t, Extents> found;
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = nullptr;
    for (Dwfl* dwfl = self(); dwfl && (unit = dwfl_nextcu(dwfl, unit, &bias));)
      collect_extents(*unit, found);
    return found;
  }());
  const std::lock_guard lock(mutex);
  return all[variable.begin];
}
const std::vector<Guard>& guards_of_shared_variables() { return known_shared_variables().guards; }

size_t shared_bytes_of(uint64_t address) {
  std::string function;
  {
    const std::lock_guard lock(mutex);
    const char* symbol = symbol_of(address);
    if (!symbol) return 0;
    function = symbol;
  }
  // The symbol of a variable in a function holds the function's: _ZZ4copyPfE4tile.
  const std::string prefix =
      "_ZZ" +
      (function.starts_with("_Z") ? function.substr(2)
                                  : std::to_string(function.size()) + function) +
      "E";
  size_t bytes = 0;
  for (const SharedVariable& variable : shared_variables()) {
    if (variable.symbol.starts_with(prefix)) bytes += (variable.end - variable.begin + 3) / 4 * 4;
  }
  return bytes;
}

const Variable* find_variable_below(uint64_t address) {
  static const auto& all = *new auto([] {
    const std::lock_guard lock(mutex);
    return read_variables();
  }());
  const auto after = std::upper_bound(all.begin(), all.end(), address,
                                      [](uint64_t a, const Variable& v) { return a < v.begin; });
  return after == all.begin() ? nullptr : &after[-1];
}

const Variable* find_variable(uint64_t address) {
  const Variable* below = find_variable_below(address);
  return below && address < below->end ? below : nullptr;
}

std::string signature(uint64_t address) {
  const std::lock_guard lock(mutex);
  const char* symbol = symbol_of(address);
  return symbol ? demangled(symbol) : std::string();
}

std::string function_name(uint64_t address) { return strip_signature(signature(address)); }

std::vector<Local> locals_at(uint64_t return_address, std::string_view prefix) {
  const std::lock_guard lock(mutex);
  std::vector<Local> found;
  Dwfl* dwfl = self();
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl ? dwfl_addrdie(dwfl, return_address - 1, &bias) : nullptr;
  if (!unit) return found;
  // The line of the scope's function: ahead of its declaration a variable's place may be another's.
  int here = 0;
  if (Dwfl_Line* line = dwfl_getsrc(dwfl, return_address - 1))
    dwfl_lineinfo(line, nullptr, &here, nullptr, nullptr, nullptr);
  for (Dwarf_Die& scope : Scopes(unit, return_address - 1 - bias)) {
    Dwarf_Die child;
    if (dwarf_tag(&scope) == DW_TAG_compile_unit) continue;
    for (int more = dwarf_child(&scope, &child); more == 0;
         more = dwarf_siblingof(&child, &child)) {
      const char* name = dwarf_tag(&child) == DW_TAG_variable ? dwarf_diename(&child) : nullptr;
      int64_t offset = 0;
      int line = 0;
      if (!name || !std::string_view(name).starts_with(prefix) || !offset_in_frame(&child, offset))
        continue;
      if (dwarf_decl_line(&child, &line) == 0 && line > here) continue;
      const auto begin = static_cast<uint64_t>(offset);
      found.push_back({begin, begin + size_of_type(&child), name, line});
    }
    Dwarf_Attribute attribute;
    Dwarf_Word call = 0;
    if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine &&
        dwarf_formudata(dwarf_attr(&scope, DW_AT_call_line, &attribute), &call) == 0)
      here = static_cast<int>(call);
  }
  return found;
}

}  // namespace simt::symbols
