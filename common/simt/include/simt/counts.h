/// \file
/// The counts, by name.
#pragma once

#include <cstdint>

namespace simt {

/// What is counted, for a launch or for one source line. The names are those of the JSON.
///
/// A request is one warp instruction with at least one active lane. A sector is an aligned 32 bytes
/// of global memory. A wavefront is one pass through the 32 banks of shared memory. `counting.h`
/// has the rules, and which hardware counter each count equals.
struct Counts {
  uint64_t global_load_requests = 0;         ///< warp instructions
  uint64_t global_load_sectors = 0;          ///< 32-byte sectors
  uint64_t global_load_bytes = 0;            ///< bytes asked for by the active lanes
  uint64_t global_load_active_lanes = 0;     ///< sum of active lanes over the requests
  uint64_t global_store_requests = 0;        ///< warp instructions
  uint64_t global_store_sectors = 0;         ///< 32-byte sectors
  uint64_t global_store_bytes = 0;           ///< bytes asked for by the active lanes
  uint64_t global_store_active_lanes = 0;    ///< sum of active lanes over the requests
  uint64_t global_atomic_requests = 0;       ///< warp instructions
  uint64_t global_atomic_sectors = 0;        ///< 32-byte sectors
  uint64_t global_atomic_active_lanes = 0;   ///< sum of active lanes over the requests
  uint64_t shared_load_requests = 0;         ///< warp instructions
  uint64_t shared_load_wavefronts = 0;       ///< passes through the banks
  uint64_t shared_load_bank_conflicts = 0;   ///< wavefronts beyond the ideal
  uint64_t shared_load_active_lanes = 0;     ///< sum of active lanes over the requests
  uint64_t shared_store_requests = 0;        ///< warp instructions
  uint64_t shared_store_wavefronts = 0;      ///< passes through the banks
  uint64_t shared_store_bank_conflicts = 0;  ///< wavefronts beyond the ideal
  uint64_t shared_store_active_lanes = 0;    ///< sum of active lanes over the requests
  uint64_t shared_atomic_requests = 0;       ///< warp instructions
  uint64_t shared_atomic_wavefronts = 0;     ///< passes through the banks
  uint64_t shared_atomic_active_lanes = 0;   ///< sum of active lanes over the requests
  uint64_t shared_wavefronts = 0;            ///< wavefronts of loads, stores and atomics
  uint64_t shared_wavefronts_ideal =
      0;  ///< the wavefronts that the same accesses need without conflicts
  uint64_t divergent_branches = 0;  ///< branches whose lanes went to different targets (a guide)

  Counts& operator+=(const Counts& other);
  friend bool operator==(const Counts&, const Counts&) = default;
};

namespace detail {

// Each count by its name, in the order of the JSON: what sums, shows or writes counts has all of them from here.
struct NamedCount {
  const char* name;
  uint64_t Counts::*member;
};
inline constexpr NamedCount kCounts[] = {
    {"global_load_requests", &Counts::global_load_requests},
    {"global_load_sectors", &Counts::global_load_sectors},
    {"global_load_bytes", &Counts::global_load_bytes},
    {"global_load_active_lanes", &Counts::global_load_active_lanes},
    {"global_store_requests", &Counts::global_store_requests},
    {"global_store_sectors", &Counts::global_store_sectors},
    {"global_store_bytes", &Counts::global_store_bytes},
    {"global_store_active_lanes", &Counts::global_store_active_lanes},
    {"global_atomic_requests", &Counts::global_atomic_requests},
    {"global_atomic_sectors", &Counts::global_atomic_sectors},
    {"global_atomic_active_lanes", &Counts::global_atomic_active_lanes},
    {"shared_load_requests", &Counts::shared_load_requests},
    {"shared_load_wavefronts", &Counts::shared_load_wavefronts},
    {"shared_load_bank_conflicts", &Counts::shared_load_bank_conflicts},
    {"shared_load_active_lanes", &Counts::shared_load_active_lanes},
    {"shared_store_requests", &Counts::shared_store_requests},
    {"shared_store_wavefronts", &Counts::shared_store_wavefronts},
    {"shared_store_bank_conflicts", &Counts::shared_store_bank_conflicts},
    {"shared_store_active_lanes", &Counts::shared_store_active_lanes},
    {"shared_atomic_requests", &Counts::shared_atomic_requests},
    {"shared_atomic_wavefronts", &Counts::shared_atomic_wavefronts},
    {"shared_atomic_active_lanes", &Counts::shared_atomic_active_lanes},
    {"shared_wavefronts", &Counts::shared_wavefronts},
    {"shared_wavefronts_ideal", &Counts::shared_wavefronts_ideal},
    {"divergent_branches", &Counts::divergent_branches},
};
static_assert(sizeof(kCounts) / sizeof(NamedCount) == sizeof(Counts) / sizeof(uint64_t));

}  // namespace detail

/// Calls `f("name", value)` for each count; `counts` may be const or not.
template <class AnyCounts, class F>
void for_each_count(AnyCounts&& counts, F&& f) {
  for (const auto& [name, member] : detail::kCounts) f(name, counts.*member);
}

inline Counts& Counts::operator+=(const Counts& other) {
  for (const auto& [name, member] : detail::kCounts) this->*member += other.*member;
  return *this;
}

}  // namespace simt
