/// \file
/// Child processes, and the files that they leave.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtcc {

/// Runs `command` and waits for it. Its output goes where ours goes, or what it has to
/// complain of to the file `errors`.
/// \returns its exit status; 128 + n if signal n ended it; 127 if it could not be started (and says so).
int run_process(const std::vector<std::string>& command, const std::string& errors = {});

/// A command as one would type it.
std::string shell_quoted(const std::vector<std::string>& command);

/// What a file holds; nothing where there is none, or a folder.
std::string read_file(const std::filesystem::path& path);

/// A folder of our own under $TMPDIR or /tmp, gone at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();  ///< \throws std::system_error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace simtcc
