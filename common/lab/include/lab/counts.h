/// \file
/// What the simulator tells about a launch, in terms that do not need the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lab {

/// What the simulator counted, in the order of its table: name and value. Empty on a GPU.
using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

/// A mistake that the simulator saw while a kernel or the host ran.
struct Finding {
  std::string kind;      ///< "out-of-bounds", "shared-race", ...
  std::string message;   ///< what, where, which thread
  bool warning = false;  ///< no error
};

}  // namespace lab
