/// \file
/// The command line of simtcc: what g++ and nvcc users write.
#pragma once

#include <string>
#include <vector>

namespace simtcc {

enum class InputKind { cuda, cpp, c, link };

struct Input {
  std::string path;
  InputKind kind;
};

struct Options {
  std::vector<Input> inputs;  ///< In order; objects and libraries among them, for the linker.
  std::string output;         ///< -o; empty if not given
  bool compile_only = false;  ///< -c, -dc
  bool archive = false;       ///< -lib
  bool device_link = false;   ///< -dlink
  bool fast = false;          ///< --fast
  bool print_rewritten = false;
  bool verbose = false;
  bool dry_run = false;
  bool help = false;
  bool version = false;
  bool relaxed_constexpr = false;  ///< --expt-relaxed-constexpr
  bool extended_lambda = false;    ///< --extended-lambda
  bool relocatable = false;        ///< -rdc=true, -dc
  bool many_constants = false;     ///< --many-constants
  std::string compiler;            ///< -ccbin; empty: the default

  std::vector<std::string> common;        ///< For the preprocessor and the compiler.
  std::vector<std::string> preprocess;    ///< For the preprocessor alone.
  std::vector<std::string> link;          ///< For the linker, after the objects.
  std::vector<std::string> optimisation;  ///< -O...
  std::vector<std::string> notes;         ///< For the user: what is done otherwise than asked.

  bool dependencies = false;                    ///< -MD or -MMD
  bool user_dependencies_only = false;          ///< -MMD
  bool phony_dependencies = false;              ///< -MP
  std::string dependency_file;                  ///< -MF
  std::vector<std::string> dependency_targets;  ///< "-MT name" or "-MQ name", in pairs
};

/// What is wrong with a command line, in one line.
struct UsageError {
  std::string message;
};

/// Reads the arguments after the program's name. \throws UsageError
Options parse_options(const std::vector<std::string>& arguments);

/// Takes the folders of a CUDA Toolkit's headers out of CPATH and its like, which g++ searches ahead of the simulator's.
void leave_cuda_headers_out_of_environment();

/// The text of --help.
std::string help_text();

}  // namespace simtcc
