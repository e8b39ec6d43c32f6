#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/program_image.h"
#include "base/values.h"
#include "exec/worker.h"
#include "memory/allocations.h"

namespace simt::engine {

// `steps`: so many did not help; 0: it is certain that none will.
void Worker::report_hang(const Warp& warp, uint64_t key, uint64_t steps) {
  const uint32_t lanes = lanes_with(warp.key, key);
  Fault fault = fault_at(Fault::Kind::hang, warp, std::countr_zero(lanes));
  fault.pc = key_pc(key);
  fault.limit = steps;
  monitor.faults.add(fault);
  aborted_ = true;
}

// These lanes are about to load or store.
void Worker::watch_access(Warp& warp, uint32_t lanes) {
  const int first = std::countr_zero(lanes);
  if (warp.stop[first] == StopReason::load) {
    const uint64_t address = warp.address[first];
    // Pinned memory and the like, which the host may write.
    if (is_managed(address) || (!memory::in_device_arena(address) && memory::find(address)))
      hang_watch_.changed = true;
    return;
  }
  settle_stores();
  for (uint32_t rest = lanes; rest && !hang_watch_.changed; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (unsigned done = 0; done < warp.size[lane]; done += 8) {
      const uint64_t address = warp.address[lane] + done;
      const unsigned size = std::min(warp.size[lane] - done, 8u);
      hang_watch_.stored[hang_watch_.stored_count++] = {address, load_up_to_8(address, size), size};
    }
  }
}

// They have stored: is it what was there before?
void Worker::settle_stores() {
  for (unsigned i = 0; i < hang_watch_.stored_count && !hang_watch_.changed; ++i) {
    const HangWatch::Stored& store = hang_watch_.stored[i];
    hang_watch_.changed = load_up_to_8(store.address, store.size) != store.before;
  }
  hang_watch_.stored_count = 0;
}

// A hash of where the lanes stand and what they have in registers and on their stacks. None of them runs.
uint64_t Worker::state_of_lanes() const {
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t word) {
    hash = (std::rotl(hash, 29) ^ word) * 0x9e3779b97f4a7c15ull;
  };
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    mix(warp.live);
    mix(uint64_t{warp.at_barrier} << 32 | warp.at_collective);
    mix(uint64_t{warp.ahead} << 1 | warp.progress.last_first);
    mix(uint64_t{warp.entering} << 32 | warp.updating);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!warp.context[lane]) continue;
      mix(warp.key[lane]);
      if (warp.updating >> lane & 1) {
        mix(warp.update[lane].value);
        mix(warp.update[lane].compare);
      }
      const char* const top = warp.fiber[lane]->stack + stacks.bytes;
      const char* at = static_cast<const char*>(warp.context[lane]);
      for (; at + 8 <= top; at += 8) mix(load_up_to_8(reinterpret_cast<uint64_t>(at), 8));
    }
  }
  return hash;
}

// True if the launch has come to nothing new for so long that it counts as one that does not end.
bool Worker::takes_too_long() {
  constexpr uint64_t kUsualBudget = uint64_t{1} << 24;
  const uint64_t times = std::max<uint64_t>(grid_->step_budget / kUsualBudget, 1);
  const Patience::Verdict verdict = patience_.look(clock_, times);
  if (verdict == Patience::Verdict::go_on) return false;
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    const uint64_t key = lowest_of(warp.key);
    if (key == kNotWaiting) continue;
    if (verdict == Patience::Verdict::give_up) {
      report_hang(warp, key, patience_.kGiveUp * times);
      monitor.faults.last().text = "time";
      return true;
    }
    const uint3 thread = warp.thread[std::countr_zero(lanes_with(warp.key, key))];
    std::fflush(stdout);
    std::fprintf(stderr,
                 "simt: still at %s, thread (%u,%u,%u) of block (%u,%u,%u): for %u s no block has "
                 "ended, and none has come to new memory\n",
                 symbols::locate(key_pc(key)).text().c_str(), thread.x, thread.y, thread.z,
                 monitor.block.index.x, monitor.block.index.y, monitor.block.index.z,
                 static_cast<unsigned>(Patience::kTell));
    break;
  }
  return false;
}

// True if the launch will never end. Called between two turns of the warps.
bool Worker::proves_hang() {
  HangWatch& circle = hang_watch_;
  circle.look_at = clock_ + HangWatch::kEvery;
  circle.watching = true;
  settle_stores();
  HangVote& hang_vote = *grid_->hang_vote;
  hang_vote.watch();
  if (circle.changed) {
    hang_vote.move();
    circle.changed = circle.is_kept = circle.voted = false;
    return false;
  }
  const uint64_t epoch = hang_vote.epoch(), state = state_of_lanes();
  if (!circle.is_kept || epoch != circle.epoch) {
    circle.is_kept = true;
    circle.voted = false;
    circle.epoch = epoch;
    circle.state = state;
    circle.looks = 0;
    circle.power = 1;
    return false;
  }
  const auto waiting = [this] { return grid_->barrier ? grid_->barrier->waiting() : 0; };
  if (state == circle.state && !circle.voted) {
    circle.voted = true;
    hang_vote.vote(epoch, waiting());
  } else if (!circle.voted && ++circle.looks == circle.power) {
    circle.state = state;
    circle.power *= 2;
    circle.looks = 0;
  }
  if (!circle.voted || !hang_vote.hangs(waiting())) return false;
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    const uint64_t key = lowest_of(warp.key);
    if (key == kNotWaiting) continue;
    report_hang(warp, key, 0);
    break;
  }
  return true;
}

}  // namespace simt::engine
