#include <algorithm>
#include <bit>

#include "exec/worker.h"

namespace simt::engine {
namespace {

void report_exited(Worker& worker, const Warp& warp, int lane, int other, const char* text) {
  Fault fault = worker.fault_at(Fault::Kind::exited_lane, warp, lane);
  fault.pc = key_pc(warp.parked_key[lane]);
  fault.address = warp.exchange[lane].mask;
  fault.other_thread = warp.thread[other];
  fault.text = text;
  worker.monitor.faults.add(fault);
}

// Lanes that had not exited when the others came to a collective, and that these have waited for in vain.
void check_exited(Worker& worker, const Warp& warp, uint32_t members, uint32_t mask) {
  for (const int lane : lanes_of(members)) {
    const uint32_t missing = mask & warp.live_then[lane] & ~warp.live;
    if (missing) return report_exited(worker, warp, lane, std::countr_zero(missing), nullptr);
  }
}

}  // namespace

// Completes every collective whose lanes have all come; true if there was one.
bool Worker::resolve_collectives(Warp& warp) {
  using Op = detail::CollectiveOp;
  bool resolved = false;
  for (uint32_t rest = warp.at_collective; rest;) {
    const int first = std::countr_zero(rest);
    const Exchange& leader = warp.exchange[first];
    const uint32_t expected = leader.mask & warp.live;
    uint32_t members = 0;
    for (const int lane : lanes_of(warp.at_collective & leader.mask)) {
      const Exchange& e = warp.exchange[lane];
      if (e.op == leader.op && e.mask == leader.mask) members |= 1u << lane;
    }
    rest &= ~(members | 1u << first);
    if (members != expected) continue;
    if ((leader.mask & warp.born & ~warp.live) && traced_) [[unlikely]]
      check_exited(*this, warp, members, leader.mask);

    const auto count = static_cast<unsigned>(std::popcount(members));
    uint64_t all = ~uint64_t{0}, any = 0, sum = 0;
    uint32_t ballot = 0;
    int32_t low = INT32_MAX, high = INT32_MIN;
    uint32_t ulow = UINT32_MAX, uhigh = 0, exclusive = 0;
    unsigned same = 0;
    for (const int lane : lanes_of(members)) {
      const uint64_t value = warp.exchange[lane].value;
      all &= value;
      any |= value;
      sum += value;
      exclusive ^= static_cast<uint32_t>(value);
      low = std::min(low, static_cast<int32_t>(value));
      high = std::max(high, static_cast<int32_t>(value));
      ulow = std::min(ulow, static_cast<uint32_t>(value));
      uhigh = std::max(uhigh, static_cast<uint32_t>(value));
      if (value) ballot |= 1u << lane;
      same += value == warp.exchange[std::countr_zero(members)].value;
    }
    const uint32_t doubtful = warp.checks.doubtful & members;
    for (const int lane : lanes_of(members)) {
      Exchange& e = warp.exchange[lane];
      const int width = e.width;
      const int segment = lane & ~(width - 1);
      int source = lane;
      switch (e.op) {
        case Op::sync:
          break;
        case Op::shuffle_index:
          source = segment + (e.operand & (width - 1));
          break;
        case Op::shuffle_up:
          source = lane - e.operand < segment ? lane : lane - e.operand;
          break;
        case Op::shuffle_down:
          source = static_cast<unsigned>(lane - segment) + static_cast<unsigned>(e.operand) >=
                           static_cast<unsigned>(width)
                       ? lane
                       : lane + e.operand;
          break;
        case Op::shuffle_xor:
          source = lane ^ e.operand;
          if (source >= segment + width || source < 0) source = lane;
          break;
        case Op::vote_all:
          e.result = static_cast<unsigned>(std::popcount(ballot)) == count;
          break;
        case Op::vote_any:
          e.result = ballot != 0;
          break;
        case Op::vote_ballot:
          e.result = ballot;
          break;
        case Op::vote_uniform:
          e.result = ballot == 0 || ballot == members;
          break;
        case Op::match_any: {
          uint32_t equal = 0;
          for (const int other : lanes_of(members)) {
            if (warp.exchange[other].value == e.value) equal |= 1u << other;
          }
          e.result = equal;
          break;
        }
        case Op::match_all:
          e.result = same == count ? members : 0;
          break;
        case Op::reduce_add:
          e.result = static_cast<uint32_t>(sum);
          break;
        case Op::reduce_min_signed:
          e.result = static_cast<uint32_t>(low);
          break;
        case Op::reduce_max_signed:
          e.result = static_cast<uint32_t>(high);
          break;
        case Op::reduce_min_unsigned:
          e.result = ulow;
          break;
        case Op::reduce_max_unsigned:
          e.result = uhigh;
          break;
        case Op::reduce_and:
          e.result = static_cast<uint32_t>(all);
          break;
        case Op::reduce_or:
          e.result = static_cast<uint32_t>(any);
          break;
        case Op::reduce_xor:
          e.result = exclusive;
          break;
      }
      // A lane that takes no part gives 0. CUDA leaves that open; sums over part of a warp rely on it.
      if (e.op >= Op::shuffle_index && e.op <= Op::shuffle_xor) {
        if ((e.mask & warp.born & ~warp.live) >> source & 1 && traced_) [[unlikely]]
          report_exited(*this, warp, lane, source, "source");
        e.result = (members >> source & 1) ? warp.exchange[source].value : 0;
        if (doubtful >> source & 1) [[unlikely]]
          warp.checks.doubt(lane, warp.checks.doubt_number[source]);
      } else if (doubtful && e.op != Op::sync) [[unlikely]] {
        warp.checks.doubt(lane, warp.checks.doubt_number[std::countr_zero(doubtful)]);
      }
      warp.key[lane] = warp.parked_key[lane];
      warp.stop[lane] = StopReason::resume;
    }
    if (leader.op == Op::sync) warp.checks.order.sync(members, warp.live);
    warp.at_collective &= ~members;
    resolved = true;
  }
  return resolved;
}

}  // namespace simt::engine
