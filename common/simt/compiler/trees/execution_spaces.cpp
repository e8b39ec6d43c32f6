#include "trees/execution_spaces.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "text/own_headers.h"
#include "trees/function_names.h"
#include "trees/function_spaces.h"
#include "trees/host_library.h"
#include "trees/tree_dump.h"

namespace simtcc {
namespace {

using Text = std::string_view;

class Check {
 public:
  Check(const TreeDump& dump, const Names& names, Origins& origins, bool relaxed)
      : dump_(dump),
        names_(names),
        origins_(origins),
        relaxed_(relaxed),
        spaces_(dump, names, relaxed) {}

  std::vector<Diagnostic> run() {
    for (const DumpedFunction& function : dump_.functions()) {
      if (function.name.starts_with("__static_init")) check_initialisations(function);
      if (spaces_.is_of_library(function)) continue;
      if (function.signature.find("simt_kernelD.") != Text::npos) {
        check_launched(function, false);
      } else if (function.signature.find("simt_arguments") != Text::npos) {
        check_launched(function, true);
      } else {
        check(function, spaces_.space_of(function), function, nullptr);
      }
    }
    if (!relaxed_) check_constexpr_calls();
    if (!names_.absent_ptx.empty()) check_absent_ptx();
    check_shared_on_both();
    std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return a.file == b.file && a.line < b.line;
    });
    return std::move(found_);
  }

 private:
  // g++ has put the results of these calls in their places.
  void check_constexpr_calls() {
    for (const ConstexprCall& call : names_.constexpr_calls) {
      if (call.on_both ||
          (call.name.starts_with("std::") && is_library_for_both(call.name.substr(5))))
        continue;
      const DumpedFunction* around = nullptr;
      for (const DumpedFunction& function : dump_.functions()) {
        if (function.file != call.file || function.mentions.empty() ||
            function.name.starts_with("_GLOBAL__") || function.name.starts_with("__static_init"))
          continue;
        const int line = function.first_line;
        if (line >= call.first_line && line <= call.last_line) around = &function;
      }
      if (!around && call.templated) continue;
      if (!said_.insert({call.file, call.line}).second) continue;
      const std::string where =
          around ? called_in(*around, spaces_.space_of(*around)) : "device code";
      const bool library = call.name.starts_with("std::");
      const std::string cure = library ? cure_of(call.name) : "write __host__ __device__ before it";
      found_.push_back(
          {call.file, call.line,
           (library ? "'" + call.name + "' is a constexpr function of the host and"
                    : "the constexpr function '" + call.name + "' is one of the host and") +
               " cannot be called in " + where + ": " + cure +
               ", or compile with --expt-relaxed-constexpr",
           origins_.column_of_preprocessed(call.file, call.line, call.column), false});
    }
  }

  void check_shared_on_both() {
    for (const KernelPlace& variable : names_.shared_on_both) {
      if (is_guarded({variable.file, variable.line, 0}) ||
          !said_.insert({variable.file, variable.line}).second)
        continue;
      found_.push_back(
          {variable.file, variable.line,
           "the __shared__ variable '" + variable.name +
               "' cannot stand in a __host__ __device__ function: take __host__ away, or put "
               "#ifdef __CUDA_ARCH__ around what only the device does",
           origins_.column_of_preprocessed(variable.file, variable.line, variable.column), false});
    }
  }

  // PTX that is wrong or not simulated matters in what runs.
  void check_absent_ptx() {
    std::vector<const DumpedFunction*> todo;
    std::set<const DumpedFunction*> seen;
    for (const DumpedFunction& function : dump_.functions()) {
      if (spaces_.is_of_library(function)) continue;
      const Space space = spaces_.space_of(function);
      if (space == Space::kernel || space == Space::host) todo.push_back(&function);
    }
    while (!todo.empty()) {
      const DumpedFunction* const function = todo.back();
      todo.pop_back();
      if (!seen.insert(function).second) continue;
      for (const Mention& mention : function->mentions) {
        if (const DumpedFunction* const called = dump_.find(mention)) todo.push_back(called);
        if (mention.name.find("simt3ptx6absent") == Text::npos) continue;
        for (const AbsentPtx& absent : names_.absent_ptx) {
          if (absent.file != mention.place.file || absent.line != mention.place.line ||
              !said_.insert({absent.file, absent.line}).second)
            continue;
          found_.push_back(
              {absent.file, absent.line, absent.message,
               origins_.column_of_preprocessed(absent.file, absent.line, absent.column), false});
        }
      }
    }
  }

  // \param role where the function runs, which of one that the compiler made depends on who needs it
  // \param blamed the function of the source, and \param at its call
  void check(const DumpedFunction& function, Space role, const DumpedFunction& blamed,
             const DumpPlace* at) {
    if (role == Space::implied || role == Space::anywhere) return;
    for (const Mention& mention : function.mentions) {
      const DumpPlace& place = at ? *at : mention.place;
      if (!at && (place.file.starts_with("/usr/") || is_own_header(place.file))) continue;
      const bool is_function =
          mention.is_call || dump_.find(mention) ||
          (mention.name.starts_with("_Z") && is_signature(demangled(mention.name)));
      if (is_function && !is_printf(mention)) {
        check_function(mention, role, blamed, place);
      } else if (!is_function) {
        check_variable(mention, role, blamed, place);
      }
    }
  }

  // g++ reads printf("text\n") as puts("text"), and printf("%c", c) as putchar(c).
  bool is_printf(const Mention& mention) const {
    if (mention.name != "puts" && mention.name != "putchar") return false;
    const std::string file(mention.place.file);
    const int line = mention.place.line;
    return origins_.function_called(file, line, mention.place.column) == "printf" ||
           (origins_.names(file, line, "printf") && !origins_.names(file, line, mention.name));
  }

  // Nor does it leave fprintf(file, "text").
  std::string as_written(const std::string& name, const Mention& mention) const {
    if (name != "fputc" && name != "fputs" && name != "fwrite") return name;
    const std::string_view called = origins_.function_called(
        std::string(mention.place.file), mention.place.line, mention.place.column);
    return called == "fprintf" ? std::string(called) : name;
  }

  void check_function(const Mention& mention, Space role, const DumpedFunction& blamed,
                      const DumpPlace& place) {
    const Target target = spaces_.resolve(mention);
    const bool on_device = role == Space::device || role == Space::kernel;
    if (target.space == Space::implied && target.body && on_device) {
      if (implied_.insert(target.body).second) check(*target.body, Space::device, blamed, &place);
    } else if (mention.name == "__cxa_guard_acquire" &&
               (on_device || (role == Space::both && !is_for_one(Branch::host, place, "static")))) {
      say(place,
          "a static variable of device code cannot be initialised with a value that is "
          "known only at run time: assign it in the first thread, or make it no static");
    } else if (on_device && mention.name == "__cxa_throw") {
      say(place, "device code cannot throw: write an error code to memory, or call __trap()");
    } else if (mention.name == "__builtin_alloca_with_align" &&
               (on_device || (role == Space::both && !is_for_one(Branch::host, place, {})))) {
      say(place,
          "an array of device code has a length that is known when it is compiled: make the length "
          "a constant, or the array dynamic shared memory");
    } else if (on_device && target.space == Space::host) {
      const std::vector<std::string> parts = parts_of(target.name);
      say(place, host_call(target, mention, blamed), false,
          mention.is_call ? Text{} : Text{parts.back()});
    } else if (on_device && target.space == Space::kernel && mention.is_call) {
      say(place, "the kernel '" + target.name +
                     "' cannot be called by device code: write __device__ in place of __global__ "
                     "if it is to be a function");
    } else if (role == Space::both && target.space == Space::host && mention.is_call &&
               !names_.unchecked && !is_host_runtime(target.name) &&
               branch_of(place, target.name) != Branch::host) {
      say(place, host_call(target, mention, blamed), true);
    } else if (role == Space::both && target.space == Space::device && mention.is_call &&
               !is_template(blamed) && !is_for_one(Branch::device, place, target.name)) {
      say(place, device_call(target, is_lambda(blamed) ? "a __host__ __device__ lambda"
                                                       : "the __host__ __device__ function '" +
                                                             spelled(blamed.name) + "'"));
    } else if (role == Space::host && target.space == Space::device && mention.is_call) {
      // nvcc takes it in a template, where the lambda does nothing
      const bool warning = target.body && is_lambda(*target.body) && is_template(blamed);
      say(place, device_call(target, "host code"), warning);
    } else if ((role == Space::host || role == Space::both) && target.space == Space::kernel &&
               mention.is_call) {
      say(place, "the kernel '" + target.name + "' is called without a launch: write '" +
                     target.name + "<<<blocks, threads>>>(...)'");
    }
  }

  static bool is_lambda(const DumpedFunction& function) {
    const std::vector<std::string> parts = parts_of(function.name);
    return parts.size() > 1 && parts[parts.size() - 2] == "<lambda>";
  }

  static bool is_template(const DumpedFunction& function) {
    return function.name.find('<') != Text::npos && !is_lambda(function);
  }

  static std::string called_in(const DumpedFunction& function, Space space) {
    const std::string name = spelled(function.name);
    if (name.find("<lambda>") != std::string::npos) return "device code";
    const char* const kind = space == Space::kernel ? "the kernel"
                             : space == Space::both ? "the __host__ __device__ function"
                                                    : "the __device__ function";
    return std::string(kind) + " '" + name + "'";
  }

  std::string host_call(const Target& target, const Mention& mention,
                        const DumpedFunction& blamed) {
    const std::string where = called_in(blamed, spaces_.space_of(blamed));
    const std::vector<std::string> parts = parts_of(target.name);
    const bool constant = spaces_.is_constexpr(parts);
    const std::string verb = mention.is_call ? "called in " : "used in ";
    if (target.library || is_host_runtime(parts.back())) {
      const std::string name = as_written(target.name, mention), cure = cure_of(name);
      if (constant && !relaxed_) {
        return "'" + name + "' is a constexpr function of the host and cannot be " + verb + where +
               ": " + cure + ", or compile with --expt-relaxed-constexpr";
      }
      return "'" + name + "' is host code and cannot be " + verb + where + ": " + cure;
    }
    if (target.name.find("<lambda>") != std::string::npos) {
      return "a lambda of the host cannot be called in " + where +
             ": write '[=] __device__ (...)', and compile with --extended-lambda";
    }
    if (constant) {
      return "the constexpr function '" + target.name + "' is one of the host and cannot be " +
             verb + where +
             ": write __host__ __device__ before it, or compile with --expt-relaxed-constexpr";
    }
    if (is_special_member(parts)) {
      return "the host function '" + target.name + "' cannot be " + verb + where +
             ": write __host__ __device__ before it, as before all that a class does on both sides";
    }
    return "the host function '" + target.name + "' cannot be " + verb + where +
           ": write __device__ (or __host__ __device__) before it";
  }

  static std::string device_call(const Target& target, const std::string& where) {
    if (!target.body || target.body->file.empty() || is_device_builtin(target.name)) {
      return "'" + target.name + "' exists in device code only and cannot be called by " + where +
             ": call it in a kernel or in a __device__ function";
    }
    if (target.name.find("<lambda>") != std::string::npos) {
      return "a __device__ lambda cannot be called by " + where +
             ": hand it to a kernel that calls it";
    }
    return "the __device__ function '" + target.name + "' cannot be called by " + where +
           ": launch a kernel that calls it, or write __host__ __device__ before it";
  }

  void check_launched(const DumpedFunction& function, bool calls) {
    for (const Mention& mention : function.mentions) {
      if (calls != mention.is_call) continue;
      if (!dump_.find(mention) && !mention.name.starts_with("_Z")) {
        if (!names_.kernels.contains(mention.name) && !is_plain_function(mention)) continue;
      }
      // A variable that holds a kernel's address may hold any.
      if (!dump_.find(mention) && mention.name.starts_with("_Z") &&
          !is_signature(demangled(mention.name)))
        continue;
      const Target target = spaces_.resolve(mention);
      const std::vector<std::string> parts = parts_of(target.name);
      const bool of_simulator = parts[0] == "simt";
      const bool converts_argument = parts.back().starts_with("operator ");
      if (of_simulator || converts_argument || target.space == Space::kernel ||
          target.space == Space::anywhere)
        continue;
      if (target.name.find("<lambda>") != std::string::npos) {
        say(mention.place,
            "a lambda is no kernel and cannot be launched: write a kernel that "
            "takes it as a parameter and calls it");
      } else if (target.name.ends_with("operator()")) {
        say(mention.place,
            "an object is no kernel and cannot be launched: write a kernel that "
            "takes it as a parameter and calls it");
      } else if (target.space == Space::device || target.space == Space::both) {
        say(mention.place, "the __device__ function '" + target.name +
                               "' is no kernel and cannot be launched: write __global__ in place "
                               "of __device__");
      } else if (target.space == Space::host) {
        say(mention.place, "the function '" + target.name +
                               "' is no kernel and cannot be launched: write __global__ before it");
      }
    }
  }

  // What runs before main() cannot run on the device. (Of an array whose elements have a constructor that does nothing g++
  // takes the address.)
  void check_initialisations(const DumpedFunction& function) {
    std::set<unsigned> constructed;
    for (const Mention& mention : function.mentions) {
      if (mention.is_call) constructed.insert(mention.argument);
    }
    for (const Mention& mention : function.mentions) {
      if (mention.is_address && !constructed.contains(mention.id)) continue;
      if (mention.is_call || mention.place.file.starts_with("/usr/") ||
          is_own_header(mention.place.file))
        continue;
      const std::string full =
          mention.name.starts_with("_Z") ? demangled(mention.name) : std::string(mention.name);
      const std::string last = parts_of(full).back();
      if (!names_.variables.contains(last) || names_.host_variables.contains(last)) continue;
      say(mention.place,
          "the variable '" + spelled(full) +
              "' of the device cannot be initialised with what is computed at run time, by a "
              "function or a "
              "constructor: give it a constant, or set it with cudaMemcpyToSymbol()",
          false, last);
    }
  }

  bool is_plain_function(const Mention& mention) const {
    return mention.is_call && names_.device.contains(mention.name);
  }

  void check_variable(const Mention& mention, Space role, const DumpedFunction& blamed,
                      const DumpPlace& place) {
    if (dump_.owner_of_static(mention.id)) return check_static(mention, role, blamed, place);
    if (dump_.is_local(mention.id) || mention.name.starts_with("_ZZ") ||
        mention.name.starts_with("_ZT") || mention.name.starts_with("_ZG") ||
        mention.name.starts_with("__") || !is_variable_name(mention.name)) {
      return;
    }
    const std::string full =
        mention.name.starts_with("_Z") ? demangled(mention.name) : std::string(mention.name);
    const std::vector<std::string> parts = parts_of(full);
    if (is_of_cuda(parts) || is_variable_for_both(parts.back())) return;
    const bool on_device = runs_on_device(role, blamed, place, full);
    const bool is_device = names_.variables.contains(parts.back());
    const bool is_host = names_.host_variables.contains(parts.back());
    if (role == Space::host && !mention.is_address && !is_host &&
        names_.device_variables.contains(parts.back())) {
      say(place,
          "host code has a variable '" + spelled(full) +
              "' of its own, not that of the device: copy from that with cudaMemcpyFromSymbol(), "
              "to it "
              "with cudaMemcpyToSymbol(), or declare it __managed__",
          true, parts.back());
    }
    if (on_device && mention.is_store && names_.constants.contains(parts.back()) && !is_host) {
      say(place,
          "the __constant__ variable '" + spelled(full) +
              "' cannot be changed in device code: set it on the host with cudaMemcpyToSymbol(), "
              "or declare it __device__",
          false, parts.back());
    }
    const bool is_stream = is_c_stream(full) || (is_cpp_stream(full) && !is_host);
    const std::string name = is_cpp_stream(full) && !is_host ? "std::" + full : spelled(full);
    if (on_device && !is_device && (is_host || parts[0] == "std" || is_stream)) {
      if (parts[0] == "std" || is_stream) {
        say(place,
            "'" + name + "' is host code and cannot be used in " +
                called_in(blamed, spaces_.space_of(blamed)) + ": " + cure_of(name),
            false, parts.back());
      } else {
        say(place,
            "the host's variable '" + name + "' cannot be used in " +
                called_in(blamed, spaces_.space_of(blamed)) +
                ": pass its value as an argument, or declare it __device__ or __constant__",
            false, parts.back());
      }
    }
  }

  // A lambda names a static variable of the function around it without a capture.
  void check_static(const Mention& mention, Space role, const DumpedFunction& blamed,
                    const DumpPlace& place) {
    const DumpedFunction& owner = *dump_.owner_of_static(mention.id);
    const std::string name = mention.name.starts_with("_Z")
                                 ? parts_of(demangled(mention.name)).back()
                                 : std::string(mention.name);
    if (spaces_.space_of(owner) != Space::host || !runs_on_device(role, blamed, place, name))
      return;
    say(place,
        "the static variable '" + name +
            "' of the host cannot be used in device code: copy it into a variable that the lambda "
            "captures",
        false, name);
  }

  bool runs_on_device(Space role, const DumpedFunction& function, const DumpPlace& place,
                      const std::string& name) {
    return role == Space::device || role == Space::kernel ||
           (role == Space::both && is_reached(function) && !is_for_one(Branch::host, place, name));
  }

  // Does device code call this function, which is for both sides?
  bool is_reached(const DumpedFunction& function) {
    if (!has_reached_) {
      has_reached_ = true;
      std::vector<const DumpedFunction*> todo;
      for (const DumpedFunction& candidate : dump_.functions()) {
        const Space space = spaces_.space_of(candidate);
        if (space == Space::device || space == Space::kernel) todo.push_back(&candidate);
      }
      while (!todo.empty()) {
        const DumpedFunction* const from = todo.back();
        todo.pop_back();
        for (const Mention& mention : from->mentions) {
          const DumpedFunction* const to = dump_.find(mention);
          if (!to) continue;
          const Space space = spaces_.space_of(*to);
          if ((space == Space::both || space == Space::implied) && reached_.insert(to).second)
            todo.push_back(to);
        }
      }
    }
    return reached_.contains(&function);
  }

  static bool is_variable_name(Text name) {
    return !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_' ||
                             (name[0] & 0x80));
  }

  // Does an #if of __CUDA_ARCH__ stand around the line, and the function? Then nvcc sees it in one of its two runs only.
  bool is_guarded(const DumpPlace& place) {
    const std::string file(place.file);
    std::vector<bool> open;
    for (int line = 1; line < place.line; ++line) {
      Text text = origins_.line_of(file, line);
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      if (!text.starts_with('#')) continue;
      text.remove_prefix(1);
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      const bool names_it = text.find("__CUDA_ARCH__") != Text::npos;
      if (text.starts_with("if")) open.push_back(names_it);
      if (text.starts_with("elif") && !open.empty()) open.back() = open.back() || names_it;
      if (text.starts_with("endif") && !open.empty()) open.pop_back();
    }
    return std::find(open.begin(), open.end(), true) != open.end();
  }

  // Of a function for both sides: is what the name is about there for this one alone?
  bool is_for_one(Branch side, const DumpPlace& place, const std::string& name) {
    const Branch branch = branch_of(place, name);
    return branch == Branch::none ? is_guarded(place) : branch == side;
  }

  Branch branch_of(const DumpPlace& place, const std::string& name) const {
    return origins_.branch_of(std::string(place.file), place.line, parts_of(name).back());
  }

  // Once for each line: what follows from it has the same cure.
  void say(const DumpPlace& place, std::string message, bool warning = false, Text name = {}) {
    if (place.line == 0) return;
    Diagnostic diagnostic{std::string(place.file), place.line, std::move(message), 0, warning};
    if (!said_.insert({diagnostic.file, diagnostic.line}).second) return;
    diagnostic.column =
        name.empty() ? origins_.column_of_call(diagnostic.file, place.line, place.column)
                     : origins_.column_of_name(diagnostic.file, place.line, place.column, name);
    found_.push_back(std::move(diagnostic));
  }

  const TreeDump& dump_;
  const Names& names_;
  Origins& origins_;
  bool relaxed_;
  FunctionSpaces spaces_;
  std::set<const DumpedFunction*> implied_;
  bool has_reached_ = false;
  std::set<const DumpedFunction*> reached_;  // of those for both sides
  std::set<std::pair<std::string, int>> said_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> check_execution_spaces(const TreeDump& dump, const Names& names,
                                               Origins& origins, bool relaxed) {
  return Check(dump, names, origins, relaxed).run();
}

}  // namespace simtcc
