/// \file
/// What differs between a GPU and the simulator. No other header of lab asks which one it is.
#pragma once

/// \defgroup lab lab: the host side of a chapter
/// Error checks, buffers, inputs, verification, timing, the ladder table and the results file.
/// The same chapter source compiles for a GPU (nvcc) and for the simulator (simtcc).

#include <cuda_runtime.h>

#if defined(__SIMT__)
#include <simt/simt.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "lab/counts.h"
#include "lab/text.h"

namespace lab {

/// \addtogroup lab
/// @{

/// What a build can tell about a rung.
struct Backend {
  std::string name;          ///< "gpu" or "simulator"
  bool times = false;        ///< times mean something: the kernels run on a GPU
  bool traces = false;       ///< accesses are counted and mistakes are found
  std::size_t guard = 0;     ///< bytes of canary on each side of a buffer, by default
  std::string toolkit = "";  ///< what compiled the kernels
};

/// Bytes of canary on each side of a buffer on a GPU: a block of 1024 threads that each miss the
/// guard by one 16-byte element stays inside. `LAB_GUARD=0` in the environment takes the canaries
/// away, so that compute-sanitizer sees an access past the end as what it is.
inline std::size_t default_guard() {
  const char* text = std::getenv("LAB_GUARD");
  return text != nullptr && std::strcmp(text, "0") == 0 ? 0 : std::size_t{16} << 10;
}

#if defined(__SIMT__)

/// The backend that this program was built for.
///
/// Buffers have no canaries here: the simulator reports the access itself, with its source line,
/// and a canary would be memory that the access may legally touch.
inline Backend this_backend() {
  return {"simulator", false, simt::tracing(), 0, std::string("g++ ") + __VERSION__};
}

/// Launches so far.
inline std::size_t launch_count() { return simt::launch_count(); }

/// The counts of launches `first` to the latest, summed.
inline Counts counts_since(std::size_t first) {
  Counts counts;
  simt::for_each_count(simt::counts_since(first), [&](const char* name, std::uint64_t value) {
    counts.emplace_back(name, value);
  });
  return counts;
}

/// The findings since the last call; they no longer fail the process.
inline std::vector<Finding> take_findings() {
  std::vector<Finding> findings;
  for (const simt::Finding& f : simt::take_findings()) findings.push_back({f.kind, f.message});
  return findings;
}

#else

inline Backend this_backend() {
  return {"gpu", true, false, default_guard(),
          format("CUDA %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)};
}
inline std::size_t launch_count() { return 0; }
inline Counts counts_since(std::size_t) { return {}; }
inline std::vector<Finding> take_findings() { return {}; }

#endif

/// @}

}  // namespace lab
