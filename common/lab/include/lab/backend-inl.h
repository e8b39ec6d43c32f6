#pragma once

#if defined(__SIMT__)
#include <simt/simt.h>

#include <cstdint>
#else
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "lab/text.h"
#endif

#include "lab/backend.h"
#include "lab/config.h"

namespace lab {

#if defined(__SIMT__)

LAB_INLINE Backend this_backend() {
  return {"simulator", false, simt::tracing(), std::string("g++ ") + __VERSION__};
}

LAB_INLINE std::size_t default_guard() { return 0; }

LAB_INLINE std::size_t launch_count() { return simt::launch_count(); }

LAB_INLINE Counts counts_since(std::size_t first) {
  Counts counts;
  simt::for_each_count(simt::counts_since(first), [&](const char* name, std::uint64_t value) {
    counts.emplace_back(name, value);
  });
  return counts;
}

LAB_INLINE std::vector<Finding> take_findings() {
  std::vector<Finding> findings;
  for (const simt::Finding& f : simt::take_findings()) findings.push_back({f.kind, f.message});
  return findings;
}

LAB_INLINE void name_allocation(const void* base, const std::string& name) {
  simt::name_allocation(base, name);
}

#else

LAB_INLINE Backend this_backend() {
  return {"gpu", true, false,
          format("CUDA %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)};
}

LAB_INLINE std::size_t default_guard() {
  const char* const text = std::getenv("LAB_GUARD");
  return text != nullptr && std::strcmp(text, "0") == 0 ? 0 : std::size_t{16} << 10;
}

LAB_INLINE std::size_t launch_count() { return 0; }
LAB_INLINE Counts counts_since(std::size_t) { return {}; }
LAB_INLINE std::vector<Finding> take_findings() { return {}; }
LAB_INLINE void name_allocation(const void*, const std::string&) {}

#endif

}  // namespace lab
