#include "trees/function_spaces.h"

#include <array>

#include "text/own_headers.h"
#include "trees/function_names.h"
#include "trees/host_library.h"

namespace simtcc {
namespace {

using Text = std::string_view;

// Mathematics that nvcc has no function for: hypot() of three numbers, and the standard library's templates for integers and for
// arguments of several types, but pow() and those of arguments that have overloads of CUDA's own.
bool is_for_host_alone(const Mention& mention, bool relaxed) {
  Text name = mention.name;
  if (!name.starts_with("_ZSt")) return false;
  name.remove_prefix(4);
  std::size_t length = 0;
  while (!name.empty() && name[0] >= '0' && name[0] <= '9') {
    length = length * 10 + static_cast<std::size_t>(name[0] - '0');
    name.remove_prefix(1);
  }
  if (length == 0 || length >= name.size()) return false;
  const Text function = name.substr(0, length), rest = name.substr(length);
  if (function == "hypot" && rest.size() == 3) return true;
  if (relaxed || rest[0] != 'I' || !is_mathematics(function)) return false;
  return function != "pow" && function != "abs" && function != "remquo" &&
         !(function == "copysign" && rest.starts_with("Ifd"));
}

}  // namespace

bool FunctionSpaces::is_of_library(const DumpedFunction& function) const {
  return function.file.empty() || function.file.starts_with("/usr/") ||
         is_own_header(function.file) || function.name.starts_with("std::") ||
         function.name.starts_with("__gnu_cxx::") || function.name.starts_with("__static_init") ||
         function.name.starts_with("_GLOBAL__");
}

Space FunctionSpaces::space_of(const DumpedFunction& function) {
  const auto [found, is_new] = spaces_.try_emplace(&function, Space::anywhere);
  if (is_new) found->second = find_space(function);
  return found->second;
}

Space FunctionSpaces::find_space(const DumpedFunction& function) {
  const Text marks = function.attributes;
  const bool device = marks.find("no_instrument_function") != Text::npos;
  const bool host = marks.find("no_profile_instrument_function") != Text::npos;
  if (device && marks.find("tainted_args") != Text::npos) return Space::kernel;
  if (device) return host ? Space::both : Space::device;
  if (host) return Space::host;
  const std::vector<std::string> parts = parts_of(function.name);
  const bool lambda = parts.size() > 1 && parts[parts.size() - 2] == "<lambda>";
  if (lambda) {
    const DumpedFunction* const outer = dump_.function_around(function.symbol);
    const Space space = outer ? space_of(*outer) : Space::host;
    return space == Space::kernel ? Space::device : space;
  }
  if (parts[0] == "std" || parts[0] == "__gnu_cxx")
    return library_space(parts, is_special_member(parts));
  if (is_of_cuda(parts)) return Space::anywhere;
  if (is_own_header(function.file)) {
    if (parts.size() == 1 && is_host_runtime(parts[0])) return Space::host;
    return parts.size() == 1 && is_device_builtin(parts[0]) ? Space::device : Space::anywhere;
  }
  if (function.file.starts_with("/usr/")) {
    const bool both = parts.back().starts_with("operator") || is_c_function_for_both(parts.back());
    return both ? Space::anywhere : Space::host;
  }
  if (is_special_member(parts)) return Space::implied;
  if (parts.back() == "operator==" || parts.back() == "operator<=>") return Space::implied;
  return is_constexpr_for_all(parts) ? Space::anywhere : Space::host;
}

// The functions of libraries are known with the class they belong to.
bool FunctionSpaces::is_constexpr(const std::vector<std::string>& parts) const {
  if (parts.back() == "hypot") return false;
  if (parts[0] != "std") {
    Text name = parts.back();
    if (name.starts_with("operator\"\"")) name.remove_prefix(8);  // ""_km
    return names_.constexprs.contains(name) ||
           (name.starts_with("\"\"") && names_.constexprs.contains(name.substr(2)));
  }
  return names_.library_constexprs.contains(parts[parts.size() - 2] + "::" + parts.back());
}
bool FunctionSpaces::is_constexpr_for_all(const std::vector<std::string>& parts) const {
  return relaxed_ && is_constexpr(parts);
}

Space FunctionSpaces::library_space(const std::vector<std::string>& parts, bool special) const {
  const std::string& name = parts.back();
  if (parts.size() == 2 && is_library_for_both(name)) return Space::anywhere;
  if (!names_.cuda_std.empty()) {
    static constexpr std::array<Text, 5> kHelpers = {"get", "tie", "make_tuple", "make_pair",
                                                     "begin"};
    if (names_.cuda_std.contains("") || is_one_of(name, kHelpers)) return Space::anywhere;
    // These functions come with the types.
    const auto named = [&](Text word) { return names_.cuda_std.contains(std::string(word)); };
    const bool pairs = named("pair") || named("make_pair");
    const bool tuples = pairs || named("tuple") || named("tie") || named("make_tuple");
    for (const std::string& part : parts) {
      if (names_.cuda_std.contains(part) || (pairs && part == "pair") ||
          (tuples && part == "tuple"))
        return Space::anywhere;
    }
  }
  if (parts.size() == 2 &&
      (name.starts_with("operator new") || name.starts_with("operator delete")))
    return Space::anywhere;
  if (parts.size() > 2) {
    const std::string& owner = parts[parts.size() - 2];
    // (An allocator comes with what allocates.)
    if (owner == "initializer_list" || owner == "nothrow_t" || owner == "align_val_t" ||
        owner == "allocator" || owner == "__new_allocator")
      return Space::anywhere;
    // aggregates and empty classes, of which the compiler makes all that there is
    if (special && (owner == "array" || owner.starts_with("integral_constant") ||
                    owner.ends_with("_tag") || owner == "plus" || owner == "less"))
      return Space::anywhere;
  }
  if (is_constexpr_for_all(parts)) return Space::anywhere;
  return Space::host;
}

Target FunctionSpaces::resolve(const Mention& mention) {
  Target target;
  target.body = dump_.find(mention);
  if (target.body) {
    target.space = space_of(*target.body);
    target.name = spelled(target.body->name);
    target.library = target.name.starts_with("std::") || target.body->file.starts_with("/usr/");
    if (is_for_host_alone(mention, relaxed_)) target.space = Space::host;
    return target;
  }
  const bool mangled = mention.name.starts_with("_Z");
  const std::string full = mangled ? demangled(mention.name) : std::string(mention.name);
  const std::vector<std::string> parts = parts_of(full);
  const std::string& last = parts.back();
  target.name = spelled(full);
  if (parts[0] == "std" || parts[0] == "__gnu_cxx") {
    target.library = true;
    target.space = is_for_host_alone(mention, relaxed_)
                       ? Space::host
                       : library_space(parts, is_special_member(parts));
  } else if (names_.unmarked.contains(last) &&
             (names_.kernels.contains(last) || names_.both.contains(last) ||
              names_.device.contains(last))) {
    target.space = Space::anywhere;  // one name for two, and only one of them is meant
  } else if (names_.kernels.contains(last)) {
    target.space = Space::kernel;
  } else if (names_.both.contains(last)) {
    target.space = Space::both;
  } else if (names_.device.contains(last)) {
    target.space = Space::device;
  } else if (parts.size() == 1 && is_host_runtime(last)) {
    target.space = Space::host;
  } else if (!mangled && (last.starts_with("operator") || last.starts_with("__ct_") ||
                          last.starts_with("__dt_") || names_.methods.contains(last))) {
    // of a class whose functions stand elsewhere
    const Text owner = dump_.class_of(mention.argument);
    const bool of_library = is_host_class(owner);
    target.library = true;
    target.name = "std::" + std::string(owner.starts_with("basic_") ? owner.substr(6) : owner);
    target.space = of_library ? Space::host : Space::anywhere;
    if (mention.argument == 0 && names_.methods.contains(last)) {  // std::chrono::...::now()
      target.name = last;
      target.space = Space::host;
    }
  } else if (is_c_function_for_both(last) || last.starts_with("cuda") ||
             names_.simulator.contains(last)) {
    target.space = Space::anywhere;
  } else if (!mangled) {
    target.library = names_.library.contains(last);
    target.space = Space::host;
  } else if (is_of_cuda(parts) || last.starts_with("operator") || names_.library.contains(last)) {
    target.space = Space::anywhere;
  } else if (is_special_member(parts)) {
    target.space = Space::implied;
  } else {
    target.space = Space::host;
  }
  return target;
}

}  // namespace simtcc
