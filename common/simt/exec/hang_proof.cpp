#include <algorithm>
#include <bit>
#include <cstdio>
#include <span>
#include <utility>

#include "base/devices.h"
#include "base/text.h"
#include "base/values.h"
#include "exec/worker.h"
#include "memory/allocations.h"
#include "program/program_image.h"
#include "streams/beside_host.h"

namespace simt::engine {
bool host_may_write(uint64_t address) {
  return is_managed(address) || (!memory::in_device_arena(address) && memory::find(address));
}

bool peers_may_write(uint64_t address) {
  return devices::any_open && memory::in_device_arena(address);
}

namespace {

// A hash of where the lanes stand and what they have in registers and on their stacks. None of them runs.
uint64_t state_of(std::span<Warp* const> warps) {
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t word) {
    hash = (std::rotl(hash, 29) ^ word) * 0x9e3779b97f4a7c15ull;
  };
  for (const Warp* const each : warps) {
    const Warp& warp = *each;
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

}  // namespace

// Calls f(warp, lane, wait, barrier) for each lane of the block that waits at an mbarrier.
template <class F>
void Worker::for_each_wait(F&& f) {
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    for (const int lane : lanes_of(warp.live)) {
      const BulkCopies::Wait& wait = monitor.bulk.wait_of(w * kLanes + static_cast<unsigned>(lane));
      const Mbarrier* const barrier = wait.is_over ? nullptr : monitor.bulk.find(wait.word);
      if (barrier && wait.pc == key_pc(warp.key[lane])) f(warp, lane, wait, *barrier);
    }
  }
}

// The most that each thread of the block can have from the launch on: those of a warp are given out in eights.
unsigned Worker::registers_at_launch() const {
  constexpr unsigned kOfBlock = 65536, kMost = 256, kUnit = 8;
  return std::min(kOfBlock / (warp_count_ * kLanes) / kUnit * kUnit, kMost);
}

// Of each thread of the warp; `wanted`: if it has those that it waits for. Its exit gives back none that setmaxnreg has given out, as PTX has it.
unsigned Worker::registers_of(unsigned warp, bool wanted) {
  constexpr unsigned kWarps = 4;
  const AsyncState::Registers& registers = async.registers();
  if (wanted && registers.wanted[warp]) return registers.wanted[warp];
  if (registers.of[warp]) return registers.of[warp];
  bool is_live = false;
  for (unsigned w = warp / kWarps * kWarps;
       w < std::min(warp / kWarps * kWarps + kWarps, warp_count_); ++w)
    is_live |= warps_[w]->live != 0;
  return is_live ? registers_at_launch() : 0;
}

// Does the block have as many registers as the warp waits for, beside those of the others?
bool Worker::has_registers_for(unsigned warp) {
  unsigned sum = 0;
  for (unsigned w = 0; w < warp_count_; ++w) sum += registers_of(w, w == warp);
  return sum <= registers_at_launch() * warp_count_;
}

void Worker::name_registers(Fault& fault) {
  fault.text = "registers";
  fault.limit = registers_at_launch();
  fault.lanes = warp_count_ * kLanes;
  fault.not_begun = 0;
  for (unsigned w = 0; w < warp_count_; ++w) {
    const unsigned own = registers_of(w, true);
    uint16_t& of_group = fault.registers[w / 4];
    of_group = std::max(of_group, static_cast<uint16_t>(own));
    fault.not_begun += uint64_t{own} * kLanes;
  }
}

// Of the threads that wait the one that says most: for registers, at an mbarrier whose bytes are wrong, or else at a barrier to which some have
// come and others not. Nullptr: there is no such one.
const Warp* Worker::telling_wait(int& found) {
  const Warp* best = nullptr;
  int most = 0;
  for (unsigned w = 0; w < warp_count_ && async.sets_registers(); ++w) {
    if (!async.registers().wanted[w] || !warps_[w]->live) continue;
    found = std::countr_zero(warps_[w]->live);
    return warps_[w];
  }
  for (unsigned w = 0; w < warp_count_; ++w) {
    for (const int lane : lanes_of(warps_[w]->live)) {
      if (most || async.named_at(key_pc(warps_[w]->key[lane])) == AsyncState::kNamed) continue;
      most = 1, best = warps_[w], found = lane;
    }
  }
  for_each_wait([&](const Warp& warp, int lane, const BulkCopies::Wait&, const Mbarrier& barrier) {
    const uint64_t missing = MbarrierWord::pending(barrier.word());
    const int says = !missing ? 2 : missing < MbarrierWord::expected(barrier.word()) ? 1 : 0;
    if (says <= most) return;
    most = says, best = &warp, found = lane;
  });
  return best;
}

// Adds what the threads wait for that wait for other mbarriers than the one that is told, or for the other parity.
void Worker::name_other_waits(Fault& fault, uint64_t told, uint64_t parity) {
  unsigned count = 0;
  for_each_wait(
      [&](const Warp& other, int at, const BulkCopies::Wait& its, const Mbarrier& waited_for) {
        const auto is_same = [&](uint64_t address, uint64_t which) {
          return address == waited_for.address && which == (its.which & 1);
        };
        if (count == std::size(fault.waiting) || is_same(told, parity) ||
            (count && is_same(fault.waiting[0].address, fault.waiting[0].parity)))
          return;
        const uint64_t word = waited_for.word();
        fault.waiting[count++] = {
            its.pc,
            monitor.block.thread(other.checks.first_thread() + static_cast<unsigned>(at)),
            waited_for.address,
            its.which & 1,
            waited_for.phase(),
            static_cast<unsigned>(MbarrierWord::pending(word)),
            static_cast<unsigned>(MbarrierWord::expected(word)),
            waited_for.arrived,
            waited_for.announced};
      });
  for (Fault::Waiting& waiting : fault.waiting) {
    if (waiting.address) waiting.address -= monitor.shared.begin_of(waiting.address);
  }
}

// `steps`: so many did not help; 0: it is certain that none will.
void Worker::report_hang(const Warp& stuck, uint64_t stuck_key, uint64_t steps) {
  int lane = std::countr_zero(lanes_with(stuck.key, stuck_key));
  const Warp* const telling = steps ? nullptr : telling_wait(lane);
  const Warp& warp = telling ? *telling : stuck;
  const uint64_t key = telling ? telling->key[lane] : stuck_key;
  Fault fault = fault_at(Fault::Kind::hang, warp, lane);
  fault.pc = key_pc(key);
  const uint64_t address = warp.address[lane];
  const bool reads = warp.stop[lane] == StopReason::load ||
                     reinterpret_cast<uint64_t>(warp.update[lane].address) == address;
  fault.address = reads && host_may_write(address) ? address : 0;
  fault.host_waits = beside_host::has_let_go(grid_->beside);
  fault.limit = steps;
  const uint64_t blocks = uint64_t{grid_->grid.x} * grid_->grid.y * grid_->grid.z;
  if (reads && !monitor.shared.holds(address))
    fault.not_begun = blocks - grid_->begun(grid_->device);
  if (!steps && hang_watch_.loaded) name_barrier(fault);
  if (!steps && !hang_watch_.loaded) fault.text = hang_watch_.awaits ? "arrivals" : "condition";
  const BulkCopies::Wait& wait =
      monitor.bulk.wait_of(static_cast<unsigned>(warp.checks.index * kLanes + lane));
  const Mbarrier* const barrier = monitor.bulk.find(wait.word);
  if (barrier && !steps && !wait.is_over && wait.pc == fault.pc) {
    monitor.shared_checker.name_place(fault, barrier->address);
    fault.text = "mbarrier";
    fault.lanes = static_cast<unsigned>(MbarrierWord::pending(barrier->word()));
    fault.size = static_cast<unsigned>(MbarrierWord::expected(barrier->word()));
    fault.may_leave = static_cast<unsigned>(barrier->phase());
    fault.other_store = wait.by_parity;
    fault.store = wait.which & 1;
    fault.not_begun = barrier->announced;
    fault.other_block = barrier->arrived;
    fault.arrival_pc = barrier->arrival_pc;
    name_other_waits(fault, wait.word, wait.which & 1);
  }
  if (async.sets_registers()) {
    fault.size = async.registers().wanted[static_cast<unsigned>(warp.checks.index)];
    if (fault.size) name_registers(fault);
  }
  if (const unsigned number = async.named_at(fault.pc); number < AsyncState::kNamed) {
    const AsyncState::Named& named = async.named(number);
    fault.text = "named barrier";
    fault.size = number;
    fault.lanes = named.arrived;
    fault.limit = named.threads;
    name_other_waits(fault, 0, 0);
  }
  monitor.faults.add(fault);
  aborted_ = true;
}

void HangWatch::note_access(const Warp& warp, uint32_t lanes) {
  const int first = std::countr_zero(lanes);
  if (warp.stop[first] != StopReason::store) {
    loaded = true;
    // Who lets the host go may see it ask for a kernel that changes this.
    const bool may_change = peers_may_write(warp.address[first]) && beside_host::is_host_at_work();
    if (host_may_write(warp.address[first]) || may_change) changed = true;
  }
  if (warp.stop[first] == StopReason::load) return;
  settle_stores();
  if (changed) return;
  for (const int lane : lanes_of(lanes)) {
    for (unsigned done = 0; done < warp.size[lane]; done += 8) {
      const uint64_t address = warp.address[lane] + done;
      const unsigned size = std::min(warp.size[lane] - done, 8u);
      stored[stored_count++] = {address, load_up_to_8(address, size), size};
    }
  }
}

void HangWatch::settle_stores() {
  for (unsigned i = 0; i < stored_count && !changed; ++i) {
    const Stored& store = stored[i];
    changed = load_up_to_8(store.address, store.size) != store.before;
  }
  stored_count = 0;
}

// The first warp that waits for its turn, and for nothing else; nullptr if there is none.
const Warp* Worker::running_warp() const {
  for (unsigned w = 0; w < warp_count_; ++w) {
    if (lowest_of(warps_[w]->key) != kNotWaiting) return warps_[w];
  }
  return nullptr;
}

// True if blocks have begun beside this one since it was asked: it may have waited for them, as for those that have not
// come to a barrier which the program makes of atomic operations. A GPU has all of them running, as far as they have room.
bool Worker::has_company() {
  const HangVote& vote = *grid_->hang_vote;
  if (joined_ == vote.joined() && grid_->start_more) {
    for (unsigned w = 0; w < warp_count_; ++w) {
      if (!warps_[w]->progress.polls) continue;
      grid_->start_more(grid_->device);
      break;
    }
  }
  if (joined_ == vote.joined()) return false;
  joined_ = vote.joined();
  slice_ = kShortSlice;
  for (unsigned w = 0; w < warp_count_; ++w) warps_[w]->progress.steps = 0;
  hang_watch_.begin(clock_, true);
  patience_.begin(clock_);
  return true;
}

// True if the launch has come to nothing new for so long that it counts as one that does not end.
bool Worker::takes_too_long() {
  if (std::exchange(gets_on_, false) || beside_host::is_host_at_work()) Patience::move();
  const uint64_t times = patience_of(*grid_);
  if (joined_ != grid_->hang_vote->joined() && has_company()) return false;
  const Patience::Verdict verdict = patience_.look(clock_, times, joined_);
  if (verdict == Patience::Verdict::go_on) return false;
  const Warp* const warp = running_warp();
  if (!warp) return false;
  if (has_company()) return false;
  const uint64_t key = lowest_of(warp->key);
  if (verdict == Patience::Verdict::give_up) {
    report_hang(*warp, key, patience_.kGiveUp * times);
    monitor.faults.last().text = "time";
    return true;
  }
  std::fflush(stdout);
  std::fprintf(
      stderr,
      "simt: still at %s, thread %s of block %s: for %u s no block has ended, and none has "
      "come to new memory\n",
      symbols::locate(key_pc(key)).text().c_str(),
      text(warp->thread[std::countr_zero(lanes_with(warp->key, key))]).c_str(),
      text(monitor.block.index).c_str(), static_cast<unsigned>(Patience::kTell));
  return false;
}

bool HangWatch::look(uint64_t now, HangVote& vote, std::span<Warp* const> warps,
                     GridBarrier* barrier, bool in_cluster) {
  look_at = now + every;
  watching = true;
  settle_stores();
  vote.watch();
  if (changed) {
    vote.move();
    changed = is_kept = voted = false;
    return false;
  }
  const uint64_t now_epoch = vote.epoch(), now_state = state_of(warps);
  if (!is_kept || now_epoch != epoch) {
    is_kept = true;
    voted = loaded = awaits = false;
    epoch = now_epoch;
    state = now_state;
    looks = 0;
    power = 1;
    return false;
  }
  const auto waiting = [&] {
    return in_cluster ? barrier->left() : barrier ? barrier->waiting() : 0;
  };
  if (now_state == state && !voted) {
    voted = true;
    vote.vote(epoch, waiting());
  } else if (!voted && ++looks == power) {
    state = now_state;
    power *= 2;
    looks = 0;
  }
  return voted && vote.hangs(waiting());
}

// Of a hang: threads of the block that wait at a barrier for those that go in circles.
void Worker::name_barrier(Fault& hang) const {
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    if (!warp.at_barrier) continue;
    const int lane = std::countr_zero(warp.at_barrier);
    hang.other_pc = key_pc(warp.parked_key[lane]);
    hang.other_thread = warp.thread[lane];
    return;
  }
}

// True if the launch will never end. Called between two turns of the warps.
bool Worker::proves_hang() {
  const std::span warps(warps_.data(), warp_count_);
  Cluster* const cluster = grid_->cluster;
  if (!hang_watch_.look(clock_, *grid_->hang_vote, warps,
                        cluster ? &*cluster->turns : grid_->barrier, cluster))
    return false;
  if (has_company()) return false;
  if (const Warp* const warp = running_warp()) report_hang(*warp, lowest_of(warp->key), 0);
  return true;
}

}  // namespace simt::engine
