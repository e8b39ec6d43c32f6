#include "trees/shared_memory.h"

#include <charconv>
#include <map>
#include <set>
#include <string>

namespace simtcc {
namespace {

constexpr std::size_t kMostSharedBytes = 48 * 1024;

constexpr std::size_t kMostConstantBytes = 64 * 1024;

// Calls f(symbol, bytes) for each variable in a section whose name begins with one of these.
template <class F>
void for_each_variable(std::string_view assembly, std::string_view section,
                       std::string_view other_section, F f) {
  constexpr std::string_view kSection = "\t.section\t", kSize = "\t.size\t";
  bool is_in = false;
  while (!assembly.empty()) {
    const std::size_t length = assembly.find('\n');
    std::string_view line = assembly.substr(0, length);
    assembly.remove_prefix(length == std::string_view::npos ? assembly.size() : length + 1);
    if (line.starts_with(kSection)) {
      line.remove_prefix(kSection.size());
      is_in = line.starts_with(section) || line.starts_with(other_section);
    } else if (line == "\t.text" || line == "\t.data" || line == "\t.bss") {
      is_in = false;
    } else if (is_in && line.starts_with(kSize)) {
      line.remove_prefix(kSize.size());
      const std::size_t comma = line.find(", ");
      if (comma == std::string_view::npos) continue;
      std::size_t bytes = 0;
      std::from_chars(line.data() + comma + 2, line.data() + line.size(), bytes);
      f(line.substr(0, comma), bytes);
    }
  }
}

// Sizes of the thread-local variables that belong to functions, by symbol.
std::map<std::string_view, std::size_t> thread_local_sizes(std::string_view assembly) {
  std::map<std::string_view, std::size_t> sizes;
  for_each_variable(assembly, ".tbss", ".tdata", [&](std::string_view symbol, std::size_t bytes) {
    if (symbol.starts_with("_ZZ")) sizes[symbol] = bytes;
  });
  return sizes;
}

}  // namespace

std::vector<Diagnostic> check_shared_memory(std::string_view assembly, const TreeDump& dump,
                                            const Names& names, Origins& origins) {
  std::vector<Diagnostic> found;
  const auto sizes = thread_local_sizes(assembly);
  std::size_t sum = 0;
  for (const auto& [symbol, bytes] : sizes) sum += bytes;
  if (sum <= kMostSharedBytes) return found;

  std::map<const DumpedFunction*, std::size_t> bytes_of;
  for (const auto& [symbol, bytes] : sizes) {
    if (const DumpedFunction* const owner = dump.function_around(symbol)) bytes_of[owner] += bytes;
  }
  for (const DumpedFunction& kernel : dump.functions()) {
    if (kernel.attributes.find("tainted_args") == std::string_view::npos) continue;
    std::set<const DumpedFunction*> reached = {&kernel};
    std::vector<const DumpedFunction*> todo = {&kernel};
    std::size_t bytes = 0;
    while (!todo.empty()) {
      const DumpedFunction* const function = todo.back();
      todo.pop_back();
      if (const auto own = bytes_of.find(function); own != bytes_of.end()) bytes += own->second;
      for (const Mention& mention : function->mentions) {
        const DumpedFunction* const callee = dump.find(mention);
        if (callee && reached.insert(callee).second) todo.push_back(callee);
      }
    }
    if (bytes <= kMostSharedBytes) continue;
    for (const KernelPlace& place : names.kernel_places) {
      if (place.file != kernel.file || kernel.first_line < place.line ||
          kernel.first_line > place.last_line)
        continue;
      found.push_back(
          {place.file, place.line,
           "the static __shared__ variables of the kernel '" + place.name + "' take " +
               std::to_string(bytes) + " bytes, and a block has " +
               std::to_string(kMostSharedBytes) + ": use less, or dynamic shared memory",
           origins.column_of_preprocessed(place.file, place.line, place.column), false});
      break;
    }
  }
  return found;
}

std::vector<Diagnostic> check_constant_memory(std::string_view assembly, const Names& names,
                                              Origins& origins) {
  std::size_t sum = 0;
  for_each_variable(assembly, "simt_constant", "simt_constant",
                    [&](std::string_view, std::size_t bytes) { sum += bytes; });
  if (sum <= kMostConstantBytes || names.constant_places.empty()) return {};
  const KernelPlace& last = names.constant_places.back();
  return {{last.file, last.line,
           "with '" + last.name + "' the __constant__ variables take " + std::to_string(sum) +
               " bytes, and a GPU has " + std::to_string(kMostConstantBytes) +
               ": let kernels read large tables from memory of cudaMalloc()",
           origins.column_of_preprocessed(last.file, last.line, last.column), false}};
}

}  // namespace simtcc
