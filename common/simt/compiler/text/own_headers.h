/// \file
/// The folders of the simulator's headers: its own, and those of the libraries.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace simtcc {

inline constexpr std::array<std::string_view, 2> kOwnFolders = {SIMTCC_INCLUDE_DIR,
                                                                SIMTCC_LIBRARIES_DIR};

/// Is the file one of these headers? Their functions are for everybody, and messages about them are for nobody.
inline bool is_own_header(std::string_view file) {
  return std::any_of(kOwnFolders.begin(), kOwnFolders.end(),
                     [file](std::string_view folder) { return file.starts_with(folder); });
}

}  // namespace simtcc
