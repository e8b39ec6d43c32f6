// From the stops of lanes to Requests.
#include <bit>

#include "exec/worker.h"

namespace simt::engine {
namespace {

Request request_of(Warp& warp, uint32_t lanes) {
  const int first = std::countr_zero(lanes);
  Request request;
  request.pc = key_pc(warp.group_key);
  request.kind = static_cast<Access>(warp.stop[first]);
  request.size = warp.size[first];
  request.lanes = lanes;
  request.address = warp.address;
  request.span = span_of(warp.address, lanes);
  if (warp.has_marked) [[unlikely]] {
    request.volatile_lanes = lanes_with(reinterpret_cast<const uint8_t*>(warp.is_volatile), 1);
    request.padded_lanes = lanes_with(reinterpret_cast<const uint8_t*>(warp.is_padded), 1);
  }
  request.unit = warp.atomics.unit;
  request.merged = warp.atomics.merged;
  request.merged_if_full = warp.atomics.merged_if_full;
  if (warp.atomics.within_block && (request.is_atomic() || request.is_volatile())) [[unlikely]] {
    request.within_block = warp.atomics.within_block & lanes;
    warp.atomics.within_block &= ~lanes;
  }
  if (warp.copies.rows & lanes) [[unlikely]] {
    request.is_matrix = true;
    warp.copies.rows &= ~lanes;
  }
  request.warp = &warp.checks;
  return request;
}

}  // namespace

bool Worker::observe(Warp& warp, uint32_t group) {
  const int leader = std::countr_zero(group);
  warp.progress.touched = true;
  warp.progress.polled |= warp.is_volatile[leader] || warp.stop[leader] == StopReason::atomic;
  note_progress(warp.progress, warp.address[leader]);
  if (const uint32_t copies = group & warp.copies.lanes) [[unlikely]] {
    warp.copies.lanes &= ~copies;
    const uint32_t zeros = copies & warp.copies.zeros;
    return monitor.observe_copy(request_of(warp, copies), warp.copies.source, zeros) &&
           (group == copies || observe(warp, group & ~copies));
  }
  if (warp.has_pieces) [[unlikely]] {
    const int first = std::countr_zero(group);
    uint32_t others = 0;
    for (const int lane : lanes_of(group)) {
      if (warp.size[lane] != warp.size[first] || warp.stop[lane] != warp.stop[first]) {
        others |= 1u << lane;
      }
    }
    if (others) {
      return monitor.observe(request_of(warp, group & ~others)) && observe(warp, others);
    }
  }
  return monitor.observe(request_of(warp, group));
}

}  // namespace simt::engine
