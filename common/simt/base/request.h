// One warp instruction that accesses memory: what exec hands to the monitor. Loads that lanes ran ahead of, and the two
// halves of an asynchronous copy, are Requests like any other.
#pragma once

#include <bit>
#include <cstdint>

#include "base/lane_simd.h"

namespace simt::engine {

struct WarpChecks;

enum class Access : uint8_t { load = 1, store, atomic };

// Which way shared memory takes for an atomic operation; see SharedAccess.
enum class SharedUnit : uint8_t { native, compare_exchange, increment, spin };

struct Request {
  uint64_t pc = 0;
  Access kind = Access::load;
  unsigned size = 0;                  // bytes of each lane
  uint32_t lanes = 0;                 // those that take part
  const uint64_t* address = nullptr;  // of all 32
  Span span;                          // of the addresses of `lanes`
  uint32_t volatile_lanes = 0;
  bool is_copy = false;     // the store of an asynchronous copy
  bool is_bulk = false;     // by the copy engine or a matrix unit, past the threads' own way
  bool is_matrix = false;   // rows of ldmatrix or stmatrix
  bool is_barrier = false;  // of the state of a barrier
  // Part of a larger access, of which only some bytes have been written; or an atomic exchange whose old value nobody
  // looks at.
  uint32_t padded_lanes = 0;

  // Of atomic operations: how shared memory would do them, and which lanes leave theirs to one lane of the warp,
  // always or if all 32 take part.
  const SharedUnit* unit = nullptr;
  uint32_t merged = 0, merged_if_full = 0;

  uint32_t within_block = 0;  // lanes whose atomic access has the scope of the block

  WarpChecks* warp = nullptr;  // what the checks keep for the warp

  int first() const { return std::countr_zero(lanes); }
  bool writes() const { return kind != Access::load; }
  bool is_atomic() const { return kind == Access::atomic; }
  bool is_volatile() const { return volatile_lanes >> first() & 1; }
  bool is_padded(int lane) const { return padded_lanes >> lane & 1; }

  // The same of some of its lanes.
  Request of(uint32_t some) const {
    Request part = *this;
    part.lanes = some;
    if (some != lanes) part.span = span_of(address, some);
    return part;
  }
};

// The lanes that carry an atomic operation out: all, or the last for all.
inline uint32_t atomic_lanes(const Request& request) {
  const uint32_t lanes = request.lanes;
  const bool merged = !(lanes & ~request.merged) || !(~lanes | ~request.merged_if_full);
  return merged ? std::bit_floor(lanes) : lanes;
}

}  // namespace simt::engine
