/// \file
/// What differs between a GPU and the simulator. No other header of lab asks which one it is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/counts.h"

namespace lab {

/// What a build can tell about a rung.
struct Backend {
  std::string name;          ///< "gpu" or "simulator"
  bool times = false;        ///< times mean something: the kernels run on a GPU
  bool traces = false;       ///< accesses are counted and mistakes are found
  std::string toolkit = "";  ///< what compiled the kernels
};

/// The backend that this program was built for.
Backend this_backend();

/// Bytes of canary on each side of a buffer where nothing else is asked for.
///
/// On a GPU a block of 1024 threads that each miss the guard by one 16-byte element stays inside.
/// `LAB_GUARD=0` in the environment takes the canaries away, so that compute-sanitizer sees an
/// access past the end as what it is. On the simulator there are none: it reports the access itself,
/// with its source line, and a canary would be memory that the access may legally touch.
std::size_t default_guard();

/// Launches so far; 0 on a GPU.
std::size_t launch_count();

/// The counts of launches `first` to the latest, summed.
Counts counts_since(std::size_t first);

/// The findings since the last call; they no longer fail the process.
std::vector<Finding> take_findings();

/// Whether the simulator prints findings to stderr as it makes them. Nothing on a GPU.
void print_findings(bool on);

/// Has the simulator that many devices, unless `SIMT_DEVICES` says otherwise. Nothing on a GPU.
void simulate_devices(int count);

/// Tells the simulator what its findings shall call the allocation at `base`. Nothing on a GPU.
void name_allocation(const void* base, const std::string& name);

}  // namespace lab
