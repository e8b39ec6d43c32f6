// simtcc: compiles CUDA C++ for the simulator. Preprocess, rewrite, compile, link.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "assembly/conversions.h"
#include "assembly/layout.h"
#include "assembly/merged_accesses.h"
#include "canary.h"
#include "flags.h"
#include "host_branches.h"
#include "options.h"
#include "process.h"
#include "rewrite/rewriter.h"
#include "rewrite/unsupported.h"
#include "text/origins.h"
#include "text/own_headers.h"
#include "text/pattern.h"
#include "text/token.h"
#include "trees/execution_spaces.h"
#include "trees/shared_memory.h"
#include "trees/struct_calls.h"
#include "trees/tree_dump.h"
#include "trees/whole_structs.h"
#include "words/compiler_messages.h"

namespace simtcc {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

template <class Whole, class List>
void append(Whole& whole, const List& more) {
  whole.insert(whole.end(), std::begin(more), std::end(more));
}

class Driver {
 public:
  explicit Driver(Options options) : options_(std::move(options)) {
    if (options_.compiler.empty()) options_.compiler = SIMTCC_CXX;
  }

  int run() {
    Command objects;
    for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
      const Input& input = options_.inputs[i];
      if (input.kind == InputKind::link) {
        objects.push_back(input.path);
        continue;
      }
      const std::string object = object_of(input, i);
      if (const int status = compile(input, object, i)) return status;
      objects.push_back(object);
    }
    if (options_.compile_only || options_.print_rewritten) return 0;
    if (options_.archive) return archive(objects);
    if (options_.device_link) return link_device();
    return link(objects);
  }

 private:
  std::string object_of(const Input& input, std::size_t i) const {
    if (!options_.compile_only) return temporary(i, ".o");
    if (!options_.output.empty()) return options_.output;
    return fs::path(input.path).stem().string() + ".o";
  }

  std::string temporary(std::size_t i, const std::string& extension) const {
    const std::string stem = fs::path(options_.inputs[i].path).stem().string();
    return (folder_.path() / (std::to_string(i) + "-" + stem + extension)).string();
  }

  int step(const Command& command) const {
    if (options_.verbose || options_.dry_run) std::cerr << shell_quoted(command) << '\n';
    if (options_.dry_run) return 0;
    // g++ has said what is wrong; a status of its own would only tell our callers less
    return run_process(command) == 0 ? 0 : 1;
  }

  Command with_common(const Input& input) const {
    Command command = {options_.compiler};
    if (input.kind != InputKind::c) append(command, flags::kDefaults);
    append(command,
           options_.fast ? Command(flags::kFast.begin(), flags::kFast.end()) : Command{"-O1"});
    if (options_.fast) append(command, options_.optimisation);
    for (const std::string& flag : options_.common) {
      if (input.kind == InputKind::c && flag.starts_with("-std=")) continue;
      command.push_back(flag);
    }
    return command;
  }

  // \param headers of the simulator's own that the source needs on top
  // \param for_device as nvcc compiles the source for the device, or for the host
  void add_preprocessing(Command& command, const Input& input, const std::string& object,
                         const Command& headers = {}, bool for_device = true) const {
    append(command, flags::kMacros);
    if (input.kind == InputKind::cuda) append(command, flags::kCudaMacros);
    if (input.kind == InputKind::cuda && for_device) append(command, flags::kDeviceMacros);
    append(command, options_.preprocess);
    for (const std::string_view folder : kOwnFolders)
      append(command, Command{"-isystem", std::string(folder)});
    append(command, Command{"-isystem", SIMTCC_HEADERS_DIR});
    if (input.kind == InputKind::cuda) {
      append(command, Command{"-include", "simt/prelude.h"});
      for (const std::string& header : headers) append(command, Command{"-include", header});
      append(command, Command{"-include", "simt/keep_qualifiers.h"});
    }
    if (!options_.dependencies || !for_device) return;
    command.push_back(options_.user_dependencies_only ? "-MMD" : "-MD");
    if (options_.phony_dependencies) command.push_back("-MP");
    command.push_back("-MF");
    command.push_back(dependency_file(input, object));
    if (options_.dependency_targets.empty()) {
      append(command, Command{"-MQ", options_.compile_only ? object : program()});
    }
    append(command, options_.dependency_targets);
  }

  std::string dependency_file(const Input& input, const std::string& object) const {
    if (!options_.dependency_file.empty()) return options_.dependency_file;
    if (options_.compile_only) return fs::path(object).replace_extension(".d").string();
    return fs::path(input.path).stem().string() + ".d";
  }

  void add_code_generation(Command& command) const {
    append(command, flags::kAlways);
    if (!options_.fast) append(command, flags::kTraced);
  }

  int compile(const Input& input, const std::string& object, std::size_t i) const {
    Command command = with_common(input);
    if (input.kind != InputKind::cuda) {
      add_preprocessing(command, input, object);
      add_code_generation(command);
      // libstdc++ and others look at this macro to talk to the real thread sanitizer
      append(command,
             Command{"-U__SANITIZE_THREAD__", "-x", input.kind == InputKind::c ? "c" : "c++", "-c",
                     input.path, "-o", object});
      return step(command);
    }

    Merged both;
    bool has_ptx_header = false;
    if (const int status = read_source(input, object, i, has_ptx_header, both)) return status;

    const std::string rewritten = temporary(i, ".simt.ii");
    std::string& source = both.text;
    Rewritten result;
    if (!options_.dry_run) {
      result = rewrite(source, input.path, !options_.fast, {}, dialect());
      // (In a text that a macro has put together.)
      if (result.has_inline_ptx && !has_ptx_header && result.diagnostics.empty()) {
        has_ptx_header = true;
        if (const int status = read_source(input, object, i, has_ptx_header, both)) return status;
        result = rewrite(source, input.path, !options_.fast, {}, dialect());
      }
      result.text += names_for_library(result.names);
      append(result.warnings, both.warnings);
      if (const int status = write_rewritten(result, source, input.path, rewritten)) return status;
    }
    if (options_.print_rewritten) return 0;

    command = with_common(input);
    add_code_generation(command);
    if (result.names_wide_type && !options_.fast) append(command, flags::kWide);
    append(command, flags::kMessages);
    if (const int status = check_compiler(command)) return status;
    const std::string dump = temporary(i, ".functions");
    const std::string operations = temporary(i, ".operations");
    append(command, Command{flags::kDump + dump, flags::kOperations + operations});
    append(command, Command{"-x", "c++-cpp-output"});
    const std::string assembly = temporary(i, ".s");
    append(command, Command{"-S", rewritten, "-o", assembly});
    if (options_.dry_run) {
      step(command);
      return step({options_.compiler, "-c", assembly, "-o", object});
    }
    Origins origins(source, input.path, result.edits);
    if (const int status = compile_rewritten(command, temporary(i, ".errors"), origins))
      return status;
    std::string code = read_file(assembly);
    std::string functions_text = read_file(dump);
    TreeDump functions(functions_text);
    if (const int status = refuse(functions, code, result, origins)) return status;
    std::set<std::string> to_inline;
    std::vector<std::string> whole;
    if (!options_.fast) {
      StructCalls calls = find_struct_calls(functions, code, origins);
      for (const Diagnostic& warning : calls.uncounted) std::cerr << warning.text() << '\n';
      to_inline = std::move(calls.to_inline);
      whole = functions_that_change_structs(functions, result.aligned_classes);
    }
    const std::vector<std::string> merged =
        functions_with_merged_conversions(code, functions, read_file(operations), result.text);
    if (!merged.empty()) append(command, flags::apart(merged));
    if (!whole.empty()) append(command, flags::whole(whole));
    if (!to_inline.empty()) {
      // The same text but for attributes, of which g++ has said all that there is to say.
      result = rewrite(source, input.path, true, to_inline, dialect());
      result.text += names_for_library(result.names);
      if (!write_file(rewritten, result.text)) return 1;
    }
    if (!to_inline.empty() || !merged.empty() || !whole.empty()) {
      command.push_back("-w");
      // (If it cannot inline another function of such a name, what there is stays.)
      const bool compiled = run_process(command, temporary(i, ".errors")) == 0;
      if (!compiled && !write_file(assembly, code)) return 1;
      if (compiled) {
        code = read_file(assembly);
        functions_text = read_file(dump);
        functions = TreeDump(functions_text);
      }
    }
#ifdef __x86_64__
    if (!options_.fast) code = exits_behind_loops(with_merged_accesses(code, result.array_classes));
    code = with_saturating_conversions(code, functions, result.text);
    if (!write_file(assembly, code)) return 1;
#endif
    return step({options_.compiler, "-c", assembly, "-o", object});
  }

  // What g++ -E makes of the source; where the program asks whether it is compiled for the device, of both answers.
  // Few programs have inline PTX, and the others need not wait for its header: `has_ptx_header` says whether it is there.
  int read_source(const Input& input, const std::string& object, std::size_t i,
                  bool& has_ptx_header, Merged& merged) const {
    const std::string preprocessed = temporary(i, ".ii");
    const auto run = [&](bool for_device, const Command& ahead) {
      Command command = with_common(input);
      add_preprocessing(command, input, object, ahead, for_device);
      if (!for_device) command.push_back("-w");  // it has been said
      append(command, Command{"-E", "-x", "c++", input.path, "-o", preprocessed});
      return preprocess(command, temporary(i, ".errors"));
    };
    const Command ptx = {"simt/ptx.h"};
    Command ahead = has_ptx_header ? ptx : Command{};
    if (const int status = run(true, ahead)) return status;
    if (options_.dry_run) return 0;
    std::string text = read_file(preprocessed);
    const Asked asked = what_program_asks(text);
    if (asked.for_assembly && !has_ptx_header) {
      has_ptx_header = true;
      ahead = ptx;
      if (!asked.for_device_pass) {
        if (const int status = run(true, ahead)) return status;
        text = read_file(preprocessed);
      }
    }
    if (!asked.for_device_pass) {
      merged = {in_one_spelling(std::move(text)), {}, {}};
      return 0;
    }
    merged.headers = {"simt/on_device.h"};
    for (int attempt = 0; attempt < 2 && !merged.headers.empty(); ++attempt) {
      append(ahead, merged.headers);
      if (const int status = run(true, ahead)) return status;
      const std::string device = in_one_spelling(read_file(preprocessed));
      if (const int status = run(false, ahead)) return status;
      merged = with_host_branches(device, in_one_spelling(read_file(preprocessed)), input.path,
                                  options_.relaxed_constexpr);
    }
    return 0;
  }

  Dialect dialect() const {
    Dialect dialect = {.cxx20 = false,
                       .relocatable = options_.relocatable,
                       .extended_lambda = options_.extended_lambda};
    for (const std::string& flag : options_.common) {
      if (flag.starts_with("-std=")) dialect.cxx20 = flag.find("++2") != std::string::npos;
    }
    return dialect;
  }

  // By a g++ whose output simtcc cannot read nothing is compiled.
  int check_compiler(const Command& command) const {
    if (options_.dry_run) return 0;
    const std::string error =
        why_unreadable(command, options_.common, folder_.path(), dialect(), !options_.fast);
    if (!error.empty()) std::cerr << "simtcc: error: " << error << '\n';
    return error.empty() ? 0 : 1;
  }

  // g++ speaks of a text that the reader has not written.
  int compile_rewritten(const Command& command, const std::string& errors, Origins& origins) const {
    if (options_.verbose) std::cerr << shell_quoted(command) << '\n';
    const int status = run_process(command, errors);
    const std::string said = read_file(errors);
    if (!said.empty()) {
      const char* const no_colour = std::getenv("NO_COLOR");
      const bool in_colour = isatty(STDERR_FILENO) && !(no_colour && *no_colour);
      std::cerr << readable(said, origins, in_colour);
    }
    return status == 0 ? 0 : 1;
  }

  // What nvcc refuses, of the functions as g++ has read them.
  int refuse(const TreeDump& dump, const std::string& assembly, const Rewritten& result,
             Origins& origins) const {
    std::vector<Diagnostic> found =
        check_execution_spaces(dump, result.names, origins, options_.relaxed_constexpr);
    append(found, check_shared_memory(assembly, dump, result.names, origins));
    if (!options_.many_constants)
      append(found, check_constant_memory(assembly, result.names, origins));
    int status = 0;
    for (const Diagnostic& diagnostic : found) {
      std::cerr << diagnostic.text() << '\n';
      if (!diagnostic.warning) status = 1;
    }
    return status;
  }

  // In place of "thrust/sort.h: No such file or directory" says that the library is not simulated.
  int preprocess(const Command& command, const std::string& errors) const {
    if (options_.verbose || options_.dry_run) return step(command);
    const int status = run_process(command, errors);
    const std::string said = read_file(errors);
    static const Pattern missing(R"((.+):(\d+):\d+: fatal error: (.+): No such file or directory)");
    Match match;
    if (status != 0 && missing.is_in(said, match)) {
      if (const auto library = unsupported_library(match[3])) {
        std::cerr << match[1] << ':' << match[2] << ": error: simt: " << *library << " ("
                  << match[3] << ") is not simulated\n";
        return 1;
      }
    }
    if (status == 127) return 1;            // it could not be started, and that has been said
    if (status != 0) return step(command);  // g++ says it itself, in colour if it likes
    std::cerr << said;
    return 0;
  }

  static bool write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) std::cerr << "simtcc: error: cannot write '" << path << "'\n";
    return !!out;
  }

  int write_rewritten(const Rewritten& result, const std::string& source, const std::string& file,
                      const std::string& to) const {
    if (!result.diagnostics.empty()) {
      Origins origins(source, file, result.edits);
      for (Diagnostic diagnostic : result.diagnostics) {
        diagnostic.column =
            origins.column_of_preprocessed(diagnostic.file, diagnostic.line, diagnostic.column);
        std::cerr << diagnostic.text() << '\n';
      }
      return 1;
    }
    Origins origins(source, file, result.edits);
    for (Diagnostic warning : result.warnings) {
      warning.column = origins.column_of_preprocessed(warning.file, warning.line, warning.column);
      std::cerr << warning.text() << '\n';
    }
    if (options_.print_rewritten) {
      std::cout << result.text;
      return 0;
    }
    return write_file(to, result.text) ? 0 : 1;
  }

  std::string program() const { return options_.output.empty() ? "a.out" : options_.output; }

  int archive(const Command& objects) const {
    Command command = {"ar", "rcs", options_.output.empty() ? "a.a" : options_.output};
    append(command, objects);
    return step(command);
  }

  // Separate compilation as nvcc has it: its step between compiling and linking has nothing to do here.
  int link_device() const {
    const std::string object = options_.output.empty() ? "a_dlink.o" : options_.output;
    return step({options_.compiler, "-x", "c++", "-c", "/dev/null", "-o", object});
  }

  int link(const Command& objects) const {
    Command command = {options_.compiler};
    append(command, objects);
    append(command, options_.link);
    command.push_back(SIMTCC_LIBRARY);
    append(command, flags::kLink);
    append(command, Command{"-o", program()});
    return step(command);
  }

  Options options_;
  TemporaryFolder folder_;
};

int run(const std::vector<std::string>& arguments) {
  try {
    Options options = parse_options(arguments);
    if (options.help) {
      std::cout << help_text();
      return 0;
    }
    if (options.version) {
      std::cout << "simtcc of Warp by Warp, calling " << SIMTCC_CXX << '\n';
      return 0;
    }
    for (const std::string& note : options.notes) std::cerr << "simtcc: note: " << note << '\n';
    leave_cuda_headers_out_of_environment();
    return Driver(std::move(options)).run();
  } catch (const UsageError& error) {
    std::cerr << "simtcc: error: " << error.message << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "simtcc: error: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace simtcc

int main(int argc, char** argv) {
  setenv("LC_ALL", "C", 1);  // its messages are read in English
  // On an interrupt g++ ends, run_process() returns, and the temporary files go.
  std::signal(SIGINT, [](int) {});
  std::signal(SIGTERM, [](int) {});
  return simtcc::run({argv + 1, argv + argc});
}
