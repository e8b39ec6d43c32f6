#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <system_error>

extern char** environ;

namespace simtcc {

int run_process(const std::vector<std::string>& command, const std::string& errors) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!errors.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) {
    std::cerr << "simtcc: error: cannot run '" << command[0] << "': " << std::strerror(error)
              << '\n';
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string shell_quoted(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& argument : command) {
    if (!out.empty()) out += ' ';
    const bool plain = !argument.empty() &&
                       argument.find_first_of(" \t\n'\"\\$`*?[](){}<>|&;#~!") == std::string::npos;
    if (plain) {
      out += argument;
      continue;
    }
    out += '\'';
    for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  std::string text(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

TemporaryFolder::TemporaryFolder() {
  const char* root = std::getenv("TMPDIR");
  std::string name = (root && *root ? std::string(root) : std::string("/tmp")) + "/simtcc-XXXXXX";
  if (!mkdtemp(name.data())) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make a temporary folder '" + name + "'");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace simtcc
