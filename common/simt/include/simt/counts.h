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
/// \ingroup simt
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

/// Calls `f("name", value)` for each count; `counts` may be const or not.
/// \ingroup simt
template <class AnyCounts, class F>
void for_each_count(AnyCounts&& counts, F&& f) {
  f("global_load_requests", counts.global_load_requests);
  f("global_load_sectors", counts.global_load_sectors);
  f("global_load_bytes", counts.global_load_bytes);
  f("global_load_active_lanes", counts.global_load_active_lanes);
  f("global_store_requests", counts.global_store_requests);
  f("global_store_sectors", counts.global_store_sectors);
  f("global_store_bytes", counts.global_store_bytes);
  f("global_store_active_lanes", counts.global_store_active_lanes);
  f("global_atomic_requests", counts.global_atomic_requests);
  f("global_atomic_sectors", counts.global_atomic_sectors);
  f("global_atomic_active_lanes", counts.global_atomic_active_lanes);
  f("shared_load_requests", counts.shared_load_requests);
  f("shared_load_wavefronts", counts.shared_load_wavefronts);
  f("shared_load_bank_conflicts", counts.shared_load_bank_conflicts);
  f("shared_load_active_lanes", counts.shared_load_active_lanes);
  f("shared_store_requests", counts.shared_store_requests);
  f("shared_store_wavefronts", counts.shared_store_wavefronts);
  f("shared_store_bank_conflicts", counts.shared_store_bank_conflicts);
  f("shared_store_active_lanes", counts.shared_store_active_lanes);
  f("shared_atomic_requests", counts.shared_atomic_requests);
  f("shared_atomic_wavefronts", counts.shared_atomic_wavefronts);
  f("shared_atomic_active_lanes", counts.shared_atomic_active_lanes);
  f("shared_wavefronts", counts.shared_wavefronts);
  f("shared_wavefronts_ideal", counts.shared_wavefronts_ideal);
  f("divergent_branches", counts.divergent_branches);
}

inline Counts& Counts::operator+=(const Counts& other) {
  global_load_requests += other.global_load_requests;
  global_load_sectors += other.global_load_sectors;
  global_load_bytes += other.global_load_bytes;
  global_load_active_lanes += other.global_load_active_lanes;
  global_store_requests += other.global_store_requests;
  global_store_sectors += other.global_store_sectors;
  global_store_bytes += other.global_store_bytes;
  global_store_active_lanes += other.global_store_active_lanes;
  global_atomic_requests += other.global_atomic_requests;
  global_atomic_sectors += other.global_atomic_sectors;
  global_atomic_active_lanes += other.global_atomic_active_lanes;
  shared_load_requests += other.shared_load_requests;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_load_bank_conflicts += other.shared_load_bank_conflicts;
  shared_load_active_lanes += other.shared_load_active_lanes;
  shared_store_requests += other.shared_store_requests;
  shared_store_wavefronts += other.shared_store_wavefronts;
  shared_store_bank_conflicts += other.shared_store_bank_conflicts;
  shared_store_active_lanes += other.shared_store_active_lanes;
  shared_atomic_requests += other.shared_atomic_requests;
  shared_atomic_wavefronts += other.shared_atomic_wavefronts;
  shared_atomic_active_lanes += other.shared_atomic_active_lanes;
  shared_wavefronts += other.shared_wavefronts;
  shared_wavefronts_ideal += other.shared_wavefronts_ideal;
  divergent_branches += other.divergent_branches;
  return *this;
}

}  // namespace simt
