#include <algorithm>
#include <bit>
#include <functional>

#include "exec/worker.h"

namespace simt::engine {
namespace {

using Op = detail::CollectiveOp;

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

// Those of the members that bring this value.
uint32_t lanes_that_bring(const Warp& warp, uint32_t members, uint64_t value) {
  uint32_t lanes = 0;
  for (const int lane : lanes_of(members)) {
    if (warp.exchange[lane].value == value) lanes |= 1u << lane;
  }
  return lanes;
}

// The members' values, as 32 bits each, combined to one.
template <class T, class F>
uint64_t reduce(const Warp& warp, uint32_t members, F combine) {
  T result = static_cast<T>(warp.exchange[std::countr_zero(members)].value);
  for (const int lane : lanes_of(members & (members - 1))) {
    result = combine(result, static_cast<T>(warp.exchange[lane].value));
  }
  return static_cast<uint32_t>(result);
}

// What a vote, a match of all or a reduction gives to each of its members.
uint64_t common_result(const Warp& warp, uint32_t members, Op op) {
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  const uint32_t ballot = members & ~lanes_that_bring(warp, members, 0);
  switch (op) {
    case Op::vote_all:
      return ballot == members;
    case Op::vote_any:
      return ballot != 0;
    case Op::vote_ballot:
      return ballot;
    case Op::vote_uniform:
      return ballot == 0 || ballot == members;
    case Op::match_all: {
      const uint64_t first = warp.exchange[std::countr_zero(members)].value;
      return lanes_that_bring(warp, members, first) == members ? members : 0;
    }
    case Op::reduce_add:
      return reduce<uint32_t>(warp, members, std::plus());
    case Op::reduce_min_signed:
      return reduce<int32_t>(warp, members, least);
    case Op::reduce_max_signed:
      return reduce<int32_t>(warp, members, most);
    case Op::reduce_min_unsigned:
      return reduce<uint32_t>(warp, members, least);
    case Op::reduce_max_unsigned:
      return reduce<uint32_t>(warp, members, most);
    case Op::reduce_and:
      return reduce<uint32_t>(warp, members, std::bit_and());
    case Op::reduce_or:
      return reduce<uint32_t>(warp, members, std::bit_or());
    case Op::reduce_xor:
      return reduce<uint32_t>(warp, members, std::bit_xor());
    default:
      return 0;
  }
}

bool is_shuffle(Op op) { return op >= Op::shuffle_index && op <= Op::shuffle_xor; }

// The lane whose value a shuffle gives to this one: itself where the other would lie outside of its segment.
int source_of(const Exchange& e, int lane) {
  const int segment = lane & ~(e.width - 1);
  switch (e.op) {
    case Op::shuffle_index:
      return segment + (e.operand & (e.width - 1));
    case Op::shuffle_up:
      return lane - e.operand < segment ? lane : lane - e.operand;
    case Op::shuffle_down: {
      const auto place = static_cast<unsigned>(lane - segment);
      const bool is_inside =
          place + static_cast<unsigned>(e.operand) < static_cast<unsigned>(e.width);
      return is_inside ? lane + e.operand : lane;
    }
    default: {
      const int source = lane ^ e.operand;
      return source >= segment + e.width || source < 0 ? lane : source;
    }
  }
}

// Do all members, of which there are several, ask for the value of one lane?
bool is_broadcast(const Warp& warp, uint32_t members) {
  const Exchange& first = warp.exchange[std::countr_zero(members)];
  if (first.op != Op::shuffle_index || !(members & (members - 1))) return false;
  for (const int lane : lanes_of(members)) {
    const Exchange& e = warp.exchange[lane];
    if (source_of(e, lane) != source_of(first, std::countr_zero(members))) return false;
  }
  return true;
}

// A broadcast by a lane that its mask leaves out. Other shuffles do so where the value is of no use, or 0 suits them.
void check_broadcast(Worker& worker, const Warp& warp, uint32_t members) {
  const int lane = std::countr_zero(members);
  const Exchange& e = warp.exchange[lane];
  const int source = source_of(e, lane);
  if (e.mask >> source & 1 || !is_broadcast(warp, members)) return;
  Fault fault = worker.fault_at(Fault::Kind::absent_lane, warp, lane);
  fault.pc = key_pc(warp.parked_key[lane]);
  fault.address = e.mask;
  fault.limit = static_cast<uint64_t>(source);
  fault.lanes = static_cast<unsigned>(std::popcount(members));
  worker.monitor.faults.add(fault);
}

// A shuffle brings this lane the value of one that takes no part: 0 here. It matters where the lane's own value goes on to the first lane
// of the segment: in the lower half, if each step is half of the last, or at the head of a pair of groups, if it is twice that.
void note_stray(Warp& warp, int lane, int source) {
  const Exchange& e = warp.exchange[lane];
  WarpChecks& checks = warp.checks;
  const uint64_t pc = key_pc(warp.parked_key[lane]);
  const int by = e.operand, place = lane & (e.width - 1);
  if (by <= 0 || (e.op != Op::shuffle_down && e.op != Op::shuffle_xor) ||
      (e.op == Op::shuffle_down && place >= by && place % (2 * by)))
    return;
  // Several values may go through the same step.
  const WarpChecks::Stray& known = checks.stray[lane];
  if ((checks.strayed >> lane & 1) && known.by == by && known.pc != pc) return;
  checks.strayed |= 1u << lane;
  checks.stray[lane] = {e.value, pc, e.mask, by, source};
}

// At the next step of the loop: a lane that brings another value than last time has used the stray one. (A sum has not: adding 0
// changes nothing.)
void settle_stray(Worker& worker, Warp& warp, int lane) {
  const Exchange& e = warp.exchange[lane];
  const WarpChecks::Stray& stray = warp.checks.stray[lane];
  if (!is_shuffle(e.op) || e.operand == stray.by) return;
  warp.checks.strayed &= ~(1u << lane);
  const bool goes_on = e.mask == stray.mask && key_pc(warp.parked_key[lane]) == stray.pc &&
                       (e.operand == 2 * stray.by || 2 * e.operand == stray.by);
  if (!goes_on || e.value == stray.brought) return;
  Fault fault = worker.fault_at(Fault::Kind::absent_lane, warp, lane);
  fault.pc = stray.pc;
  fault.address = stray.mask;
  fault.limit = static_cast<uint64_t>(stray.source);
  fault.text = "stored";
  fault.lanes = 1;
  warp.checks.doubt(lane, worker.monitor.number_of(fault));
}

// The result is why it cannot be done; 0 if it was.
uint64_t run_whole_warp(const Warp& warp, uint32_t members) {
  if (~members) return kTooFewLanes;
  WholeWarp* lanes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = reinterpret_cast<WholeWarp*>(warp.exchange[lane].value);
    if (lanes[lane]->run != lanes[0]->run) return kOtherInstruction;
  }
  lanes[0]->run(lanes);
  return 0;
}

}  // namespace

// Completes every collective whose lanes have all come; true if there was one.
bool Worker::resolve_collectives(Warp& warp) {
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

    const uint64_t common = leader.op == Op::whole_warp ? run_whole_warp(warp, members)
                                                        : common_result(warp, members, leader.op);
    for (const int lane : lanes_of(warp.checks.strayed & members)) settle_stray(*this, warp, lane);
    const uint32_t doubtful = warp.checks.doubtful & members;
    if (~members && leader.op == Op::shuffle_index && traced_) [[unlikely]]
      check_broadcast(*this, warp, members);
    for (const int lane : lanes_of(members)) {
      Exchange& e = warp.exchange[lane];
      if (is_shuffle(e.op)) {
        const int source = source_of(e, lane);
        if ((e.mask & warp.born & ~warp.live) >> source & 1 && traced_) [[unlikely]]
          report_exited(*this, warp, lane, source, "source");
        else if (!(members >> source & 1) && traced_) [[unlikely]]
          note_stray(warp, lane, source);
        // A lane that takes no part gives 0. CUDA leaves that open; sums over part of a warp rely on it.
        e.result = (members >> source & 1) ? warp.exchange[source].value : 0;
        if (doubtful >> source & 1) [[unlikely]]
          warp.checks.doubt(lane, warp.checks.doubt_number[source]);
      } else {
        e.result = e.op == Op::match_any ? lanes_that_bring(warp, members, e.value) : common;
        if (doubtful && e.op != Op::sync) [[unlikely]]
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
