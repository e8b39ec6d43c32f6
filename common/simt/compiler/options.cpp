#include "options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/settings_table.h"

namespace simtcc {
namespace {

// Options of nvcc that only concern the GPU or nvcc itself. They may start with one dash or two.
constexpr std::array<std::string_view, 24> kIgnoredFlags = {"lineinfo",
                                                            "generate-line-info",
                                                            "G",
                                                            "device-debug",
                                                            "use_fast_math",
                                                            "res-usage",
                                                            "resource-usage",
                                                            "forward-unknown-to-host-compiler",
                                                            "forward-unknown-opts",
                                                            "restrict",
                                                            "extra-device-vectorization",
                                                            "dlto",
                                                            "dlink-time-opt",
                                                            "allow-unsupported-compiler",
                                                            "Wno-deprecated-gpu-targets",
                                                            "Wdefault-stream-launch",
                                                            "Wmissing-launch-bounds",
                                                            "Wext-lambda-captures-this",
                                                            "source-in-ptx",
                                                            "disable-warnings-for-device",
                                                            "no-compress",
                                                            "src-in-ptx",
                                                            "keep",
                                                            "save-temps"};

// The same, with a value: -name value or -name=value.
constexpr std::array<std::string_view, 29> kIgnoredWithValue = {
    "arch",          "gpu-architecture",
    "code",          "gpu-code",
    "gencode",       "generate-code",
    "maxrregcount",  "ftz",
    "prec-div",      "prec-sqrt",
    "fmad",          "default-stream",
    "cudart",        "cudadevrt",
    "Xptxas",        "ptxas-options",
    "Xcudafe",       "cudafe-options",
    "Xnvlink",       "nvlink-options",
    "diag-suppress", "diag-warn",
    "diag-error",    "threads",
    "split-compile", "device-entity-has-hidden-visibility",
    "compress-mode", "static-global-template-stub",
    "minimal"};

// nvcc's long names of what g++ spells short.
struct Alias {
  std::string_view name;
  std::string_view option;
};
constexpr std::array<Alias, 14> kAliases = {{{"--compile", "-c"},
                                             {"--device-c", "-c"},
                                             {"-dc", "-c"},
                                             {"--output-file", "-o"},
                                             {"--include-path", "-I"},
                                             {"--define-macro", "-D"},
                                             {"--undefine-macro", "-U"},
                                             {"--library", "-l"},
                                             {"--library-path", "-L"},
                                             {"--debug", "-g"},
                                             {"--std", "-std"},
                                             {"--optimize", "-O"},
                                             {"--compiler-options", "-Xcompiler"},
                                             {"--linker-options", "-Xlinker"}}};

// Outputs that only nvcc can make.
constexpr std::array<std::string_view, 8> kNoSuchOutput = {
    "-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "-optix-ir", "--optix-ir"};

// Libraries of the CUDA toolkit that libsimt.a stands for.
constexpr std::array<std::string_view, 10> kRuntimeLibraries = {
    "cudart", "cudart_static", "nvToolsExt",    "cudadevrt", "cuda",
    "cublas", "cublasLt",      "cublas_static",  // the routines that are not there are refused by name
    "curand", "nvidia-ml"};
// Those that nothing stands for.
constexpr std::array<std::string_view, 9> kVendorLibraries = {
    "cufft", "cusparse", "cusolver", "cudnn", "nvrtc", "nccl", "nvjpeg", "npps", "cupti"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view without_dashes(std::string_view option) {
  option.remove_prefix(option.starts_with("--") ? 2 : 1);
  return option;
}

// nvcc hands lists on: -Xcompiler -Wall,-Wextra
std::vector<std::string> split_commas(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

// Does a folder hold the CUDA toolkit's headers? They would hide the simulator's.
bool holds_cuda_headers(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(folder) / "crt" / "host_config.h", ignored);
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Options run() {
    while (at_ < arguments_.size()) option(arguments_[at_++]);
    check();
    return std::move(options_);
  }

 private:
  [[noreturn]] static void fail(std::string message) { throw UsageError{std::move(message)}; }

  // The value that follows `option`.
  std::string next(std::string_view option) {
    if (at_ == arguments_.size()) fail("option " + std::string(option) + " needs a value");
    return arguments_[at_++];
  }

  // The value of -Ifoo, -I foo, -std=c++20 or -std c++20, or nothing if `argument` is another option.
  std::optional<std::string> value(std::string_view argument, std::string_view name) {
    if (argument == name) return next(name);
    if (!argument.starts_with(name)) return std::nullopt;
    argument.remove_prefix(name.size());
    if (argument.starts_with('=')) argument.remove_prefix(1);
    return std::string(argument);
  }
  // The same where the value must be apart or behind a '='.
  std::optional<std::string> long_value(std::string_view argument, std::string_view name) {
    if (argument.size() > name.size() && argument[name.size()] != '=') return std::nullopt;
    return value(argument, name);
  }

  void option(std::string argument) {
    for (const Alias& alias : kAliases) {
      if (argument == alias.name) {
        if (argument == "-dc" || argument == "--device-c") options_.relocatable = true;
        argument = alias.option;
      } else if (argument.starts_with(alias.name) && argument[alias.name.size()] == '=') {
        const bool keeps_equals = alias.option == "-std" || alias.option.starts_with("-X");
        argument =
            std::string(alias.option) + argument.substr(alias.name.size() + (keeps_equals ? 0 : 1));
      }
    }
    if (argument == "-" || !argument.starts_with('-')) return input(argument);
    if (nvcc(argument) || own(argument) || dependency(argument) || host(argument)) return;
    fail("unknown option '" + argument + "' (simtcc --help lists the options)");
  }

  void input(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) fail("no such file: '" + path + "'");
    if (std::filesystem::is_directory(path, ignored))
      fail("'" + path + "' is a folder, not a file");
    const std::string extension = std::filesystem::path(path).extension().string();
    InputKind kind;
    if (!language_.empty()) {
      kind = language_ == "cu" ? InputKind::cuda : language_ == "c" ? InputKind::c : InputKind::cpp;
    } else if (extension == ".cu") {
      kind = InputKind::cuda;
    } else if (extension == ".cpp" || extension == ".cc" || extension == ".cxx" ||
               extension == ".C" || extension == ".c++") {
      kind = InputKind::cpp;
    } else if (extension == ".c") {
      kind = InputKind::c;
    } else if (extension == ".o" || extension == ".obj" || extension == ".a" ||
               extension == ".so" || path.find(".so.") != std::string::npos) {
      kind = InputKind::link;
    } else {
      fail("'" + path +
           "': simtcc takes .cu, .cpp, .cc, .cxx, .c, .o, .a and .so files (or -x cu ahead)");
    }
    options_.inputs.push_back({path, kind});
  }

  // simtcc's own options.
  bool own(const std::string& argument) {
    if (argument == "--fast") {
      options_.fast = true;
    } else if (argument == "--many-constants") {
      options_.many_constants = true;
    } else if (argument == "--print-rewritten") {
      options_.print_rewritten = true;
    } else if (argument == "-c") {
      options_.compile_only = true;
    } else if (argument == "-lib" || argument == "--lib") {
      options_.archive = true;
    } else if (argument == "-dlink" || argument == "--device-link") {
      options_.device_link = true;
    } else if (argument == "-v" || argument == "--verbose") {
      options_.verbose = true;
    } else if (argument == "--dryrun" || argument == "-dryrun" || argument == "-###") {
      options_.dry_run = true;
    } else if (argument == "--help" || argument == "-h") {
      options_.help = true;
    } else if (argument == "--version" || argument == "-V") {
      options_.version = true;
    } else if (const auto output = value(argument, "-o")) {
      options_.output = *output;
    } else if (const auto language = value(argument, "-x")) {
      if (*language != "cu" && *language != "c++" && *language != "c" && *language != "none") {
        fail("-x " + *language + ": the language is cu, c++, c or none");
      }
      language_ = *language == "none" ? "" : *language;
    } else {
      return false;
    }
    return true;
  }

  bool nvcc(const std::string& argument) {
    const std::string_view name = without_dashes(argument);
    const std::string_view bare = name.substr(0, name.find('='));
    if (name == "expt-relaxed-constexpr" || name == "relaxed-constexpr") {
      options_.relaxed_constexpr = true;
      return true;
    }
    if (name == "extended-lambda" || name == "expt-extended-lambda") {
      options_.extended_lambda = true;
      return true;
    }
    if (bare == "rdc" || bare == "relocatable-device-code") {
      options_.relocatable = (bare == name ? next(argument) : argument).ends_with("true");
      return true;
    }
    if (contains(kIgnoredFlags, name)) return true;
    if (contains(kIgnoredWithValue, bare)) {
      if (bare == name) next(argument);
      return true;
    }
    if (argument == "-t") return next(argument), true;
    if (contains(kNoSuchOutput, argument)) {
      fail(argument + ": simtcc makes programs and objects for the CPU, no GPU code");
    }
    if (bare == "ccbin" || bare == "compiler-bindir") {
      options_.compiler = bare == name ? next(argument) : std::string(name.substr(bare.size() + 1));
      return true;
    }
    if (const auto passed = long_value(argument, "-Xcompiler")) {
      for (const std::string& part : split_commas(*passed)) {
        if (!host(part)) fail("-Xcompiler " + part + ": unknown option");
      }
      return true;
    }
    if (const auto passed = long_value(argument, "-Xlinker")) {
      for (const std::string& part : split_commas(*passed)) {
        options_.link.push_back("-Xlinker");
        options_.link.push_back(part);
      }
      return true;
    }
    // nvcc's -Werror takes a list of its own kinds of warning; all that g++ shares is "all-warnings".
    if (argument == "-Werror" && at_ < arguments_.size() && arguments_[at_] == "all-warnings") {
      ++at_;
      options_.common.push_back("-Werror");
      return true;
    }
    return false;
  }

  bool dependency(const std::string& argument) {
    if (argument == "-MD" || argument == "-MMD") {
      options_.dependencies = true;
      options_.user_dependencies_only = argument == "-MMD";
    } else if (argument == "-MP") {
      options_.phony_dependencies = true;
    } else if (const auto file = value(argument, "-MF")) {
      options_.dependency_file = *file;
    } else if (argument.starts_with("-MT") || argument.starts_with("-MQ")) {
      const std::string name = argument.substr(0, 3);
      options_.dependency_targets.push_back(name);
      options_.dependency_targets.push_back(argument.size() > 3 ? argument.substr(3) : next(name));
    } else {
      return false;
    }
    return true;
  }

  // Options of g++.
  bool host(const std::string& argument) {
    if (argument.starts_with("-fsanitize")) {
      fail(argument + ": simtcc finds faults by instrumentation of its own; leave -fsanitize out");
    }
    for (const std::string_view name : {"-isystem", "-iquote", "-idirafter", "-include"}) {
      if (const auto path = value(argument, name)) {
        if (holds_cuda_headers(*path)) return true;
        options_.preprocess.push_back(std::string(name));
        options_.preprocess.push_back(*path);
        return true;
      }
    }
    if (const auto folder = value(argument, "-I")) {
      if (!holds_cuda_headers(*folder)) options_.preprocess.push_back("-I" + *folder);
      return true;
    }
    for (const std::string_view name : {"-D", "-U"}) {
      if (const auto macro = value(argument, name)) {
        options_.preprocess.push_back(std::string(name) + *macro);
        return true;
      }
    }
    if (const auto standard = long_value(argument, "-std")) {
      options_.common.push_back("-std=" + supported(*standard));
      return true;
    }
    if (const auto library = value(argument, "-l")) {
      if (contains(kVendorLibraries, *library))
        fail("-l" + *library + ": this library is not simulated");
      if (!contains(kRuntimeLibraries, *library)) options_.link.push_back("-l" + *library);
      return true;
    }
    if (const auto folder = value(argument, "-L")) {
      options_.link.push_back("-L" + *folder);
      return true;
    }
    if (argument.starts_with("-Wl,") || argument == "-rdynamic" || argument == "-static" ||
        argument == "-s" || argument == "-no-pie" || argument == "-pie") {
      options_.link.push_back(argument);
      return true;
    }
    if (argument == "-O" && at_ < arguments_.size() && arguments_[at_].size() == 1 &&
        arguments_[at_][0] >= '0' && arguments_[at_][0] <= '3') {
      options_.optimisation = {"-O" + arguments_[at_++]};  // nvcc's -O 3
      return true;
    }
    if (argument.starts_with("-O")) {
      options_.optimisation = {argument};
      return true;
    }
    if (argument == "-pthread" || argument.starts_with("-fopenmp")) {
      options_.common.push_back(argument);
      options_.link.push_back(argument);
      return true;
    }
    if (argument == "-pipe" || argument == "-ansi") return argument == "-pipe";
    if (argument.starts_with("-W") || argument == "-w" || argument.starts_with("-pedantic") ||
        argument.starts_with("-f") || argument.starts_with("-m") ||
        (argument.starts_with("-g") && argument.substr(0, 3) != "-gp")) {
      options_.common.push_back(argument);
      return true;
    }
    return false;
  }

  // The standard itself, or C++17 where the source asks for one that the simulator's headers do not know. That
  // goes without saying for the standards that nvcc still takes.
  std::string supported(const std::string& standard) {
    for (const std::string_view old : {"98", "03", "11", "0x", "14", "1y"}) {
      if (standard != "c++" + std::string(old) && standard != "gnu++" + std::string(old)) continue;
      const std::string instead = standard.substr(0, standard.size() - 2) + "17";
      if (old == "98" || old == "03") {
        options_.notes.push_back("-std=" + standard + ": compiled as " + instead +
                                 ", the oldest that the simulator's headers know");
      }
      return instead;
    }
    if (!standard.starts_with("c++") && !standard.starts_with("gnu++")) {
      fail("-std=" + standard + ": the standard is c++17, c++20, c++23 or gnu++...");
    }
    return standard;
  }

  void check() const {
    if (options_.help || options_.version) return;
    if (options_.inputs.empty()) fail("no input file (usage: simtcc [options] FILE.cu...)");
    const auto compiled = std::count_if(options_.inputs.begin(), options_.inputs.end(),
                                        [](const Input& i) { return i.kind != InputKind::link; });
    if (options_.compile_only && compiled == 0) fail("-c: nothing to compile");
    if (options_.compile_only && !options_.output.empty() && compiled > 1) {
      fail("-c with -o takes one source file, not " + std::to_string(compiled));
    }
    if (!options_.dependency_file.empty() && compiled > 1) {
      fail("-MF takes one source file, not " + std::to_string(compiled));
    }
    for (const Input& input : options_.inputs) {
      if (!options_.output.empty() && std::filesystem::exists(options_.output) &&
          std::filesystem::equivalent(input.path, options_.output)) {
        fail("-o " + options_.output + " would overwrite an input file");
      }
    }
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  std::string language_;
  Options options_;
};

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) { return Parser(arguments).run(); }

void leave_cuda_headers_out_of_environment() {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) {
    const char* const folders = std::getenv(name);
    if (!folders) continue;
    std::istringstream in(folders);
    std::string kept;
    for (std::string folder; std::getline(in, folder, ':');) {
      if (folder.empty() || holds_cuda_headers(folder)) continue;
      kept += (kept.empty() ? "" : ":") + folder;
    }
    kept.empty() ? unsetenv(name) : setenv(name, kept.c_str(), 1);
  }
}

namespace {

// `text` from column `indent` on, in lines of at most 100 characters, and without Markdown's marks of code.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string lines, word;
  std::size_t column = indent;
  const auto put = [&] {
    if (column > indent) {
      const bool fits = column + 1 + word.size() <= 100;
      lines += fits ? " " : "\n" + std::string(indent, ' ');
      column = fits ? column + 1 : indent;
    }
    lines += word;
    column += word.size();
    word.clear();
  };
  for (const char c : text) {
    if (c == ' ') put();
    if (c != ' ' && c != '`') word += c;
  }
  put();
  return lines + '\n';
}

std::string settings_text() {
  constexpr std::size_t kIndent = 19;
  std::string text;
  for (const auto& [variable, value, effect] : simt::settings::kTable) {
    std::string name = "  " + std::string(variable) + '=' + std::string(value);
    name.resize(kIndent, ' ');
    text += name + "  " + wrapped(effect, kIndent + 2);
  }
  return text;
}

}  // namespace

std::string help_text() {
  return R"(simtcc [options] FILE.cu|FILE.cpp|FILE.o...

Compiles CUDA C++ into a program that runs on the CPU, in the SIMT simulator: it counts memory requests,
sectors and bank conflicts, and finds races and accesses out of bounds.

  -o FILE            write the program (default a.out) or, with -c, the object
  -c                 compile to an object, do not link (also -dc)
  -lib               put the objects into a library (default a.a)
  -dlink             write an empty object (default a_dlink.o): there is no device code to link
  --fast             no counting and no checking: kernels run at the speed of plain code
  --many-constants   __constant__ variables may take more than 64 KiB, as where one file holds many programs
  -x cu|c++|c|none   the language of the files that follow, whatever their names
  -I -D -U -isystem -include -std -g -O -W -f -m -l -L -Wl, -pthread
                     as for g++ (without --fast, the optimisation is -O1 whatever -O says)
  -MD -MMD -MP -MF FILE -MT NAME -MQ NAME
                     write a dependency file, as g++ does
  -Xcompiler LIST, -Xlinker LIST
                     hand options to g++, as nvcc does
  -ccbin PROGRAM     the g++ to call
  --print-rewritten  print what the compiler proper gets to see
  -v, --dryrun       print the commands; with --dryrun do not run them
  --help, --version

  --expt-relaxed-constexpr
                     kernels may call constexpr functions of the host, as with nvcc
  --extended-lambda  lambdas may be __device__; without it they are warned of, where nvcc refuses them
  -rdc=true, -dc     files may have variables of the device in common, as with nvcc

Options of nvcc that concern the GPU alone (-arch, -lineinfo, -Xptxas, ...) have no effect.

.cpp, .cc and .cxx files are host code: they are compiled as they are, instrumented like the rest.
Exit status: 0, 1 if the source has an error, 2 if the command line has one.

The programs that it makes read:
)" + settings_text();
}

}  // namespace simtcc
