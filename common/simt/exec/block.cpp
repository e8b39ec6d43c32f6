#include <sched.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/switching.h"
#include "exec/worker.h"

namespace simt::engine {
namespace {

uint3 block_index(dim3 grid, uint64_t number) {
  if (number < grid.x) return {static_cast<unsigned>(number), 0, 0};
  const uint64_t row = number / grid.x;
  return {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(row % grid.y),
          static_cast<unsigned>(row / grid.y)};
}

}  // namespace

void Worker::begin_launch(const Grid& grid) {
  grid_ = &grid;
  pool_ = &pools_[has_large_stacks];
  is_clean_ = false;
  simt_block_extent = grid.block;
  simt_grid_extent = grid.grid;
  thread_count_ = grid.block.x * grid.block.y * grid.block.z;
  knows_threads_ &=
      grid.block.x == extent_.x && grid.block.y == extent_.y && grid.block.z == extent_.z;
  extent_ = grid.block;
  monitor.shared.cluster = {};
  monitor.cluster.begin_block(nullptr, 0);
  monitor.begin_launch({{},
                        grid.grid,
                        grid.block,
                        grid.dynamic_shared,
                        grid.checks_blocks,
                        grid.device,
                        grid.offset,
                        grid.behind});
}

// A grid may have two thousand million blocks: what is the same for all is set once, and each number is stored as it is
// loaded later, since the CPU waits where a wide load meets narrow stores.
void Worker::begin_block(uint64_t number) {
  const Grid& grid = *grid_;
  const uint3 index = block_index(grid.grid, number);
  aborted_ = false;
  grid_wait_ = false;
  simt_block_index.x = index.x;
  simt_block_index.y = index.y;
  simt_block_index.z = index.z;
  const uint64_t sampled = grid.cluster ? grid.cluster->number() : number;
  traced_ = grid.traced && (grid.stride == 1 || sampled % grid.stride == 0);
  monitor.begin_block(simt_block_index.x, simt_block_index.y, simt_block_index.z,
                      std::exchange(is_clean_, false));
  if (grid.cluster) monitor.cluster.begin_block(&grid.cluster->checks, cluster_rank_);
  monitor.recording.begin(number == 0 && traced_ ? grid.recorded : 0);
  async.begin_block();
  warp_count_ = 0;
  entry_pc_ = 0;
  joined_ = grid.hang_vote->joined();
  slice_ = joined_ ? kShortSlice : kSlice;
  hang_watch_.begin(clock_, joined_);
  patience_.begin(clock_);
}

void Worker::begin_warps() {
  warp_count_ = (thread_count_ + kLanes - 1) / kLanes;
  while (warps_.size() < warp_count_) warps_.push_back(new Warp);
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    const unsigned lanes = std::min(thread_count_ - w * kLanes, unsigned{kLanes});
    warp.reset(w, lanes);
    for (unsigned i = 0; i < lanes && !knows_threads_; ++i) {
      warp.thread[i] = monitor.block.thread(w * kLanes + i);
    }
  }
  knows_threads_ = true;
}

// After a fault: the lanes are dropped where they stand.
void Worker::abandon_block() {
  monitor.global_checker.stores.end();
  for (unsigned w = 0; w < warp_count_; ++w) {
    for (const int lane : lanes_of(warps_[w]->checks.has_wrong_index)) {
      monitor.array_index.report(warps_[w]->checks, lane);
    }
    warps_[w]->deferred.clear();
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!warps_[w]->context[lane]) continue;
      pool_->give_back(*warps_[w]->fiber[lane]);
      warps_[w]->context[lane] = nullptr;
    }
  }
}

bool Worker::run_block(uint64_t number) {
  begin_block(number);
  const bool ended = run_warps();
  if (!ended) abandon_block();
  return ended;
}

bool Worker::run_in_cluster(unsigned rank) {
  Cluster& cluster = *grid_->cluster;
  cluster_rank_ = rank;
  monitor.shared.cluster = cluster.memory();
  const bool ended = cluster.turns->begin(rank) && run_block(cluster.block(cluster.number(), rank));
  if (ended && traced_) monitor.cluster.end_block(monitor.faults);
  cluster.turns->leave(rank, !ended);
  return ended;
}

// To the barrier of the cluster it is as if they had come. `before`: the lanes of the warp that had not exited.
void Worker::note_exits(unsigned warp, uint32_t before) {
  const uint32_t live = warp_count_ ? warps_[warp]->live : 0;
  if (before & ~live) grid_->cluster->exit(cluster_rank_, warp, before & ~live);
}

// The block waits for another one: leave the core to it. False if the launch is over.
bool Worker::let_others_run() {
  if (grid_->cluster) return grid_->cluster->turns->yield(cluster_rank_);
  if (grid_->barrier) return grid_->barrier->yield(monitor.block.linear());
  sched_yield();
  return true;
}

// Warp after warp, until all lanes have exited; false if a fault stops the block.
bool Worker::run_warps() {
  const Grid& grid = *grid_;
  if (traced_ || waited_ == grid.entry) {
    begin_warps();
  } else {
    run_as_loop();
    if (aborted_) return false;
    for (unsigned first = 0; grid.cluster && first < thread_count_; first += kLanes)
      note_exits(first / kLanes,
                 ~0u >> (kLanes - std::min(thread_count_ - first, unsigned{kLanes})));
  }
  for (unsigned opened = 0;;) {
    bool ran = false;
    uint32_t live = 0;
    bool all_at_barrier = true;
    bool are_passed = traced_;
    for (unsigned w = 0; w < warp_count_; ++w) {
      Warp& warp = *warps_[w];
      if (warp.live & ~(warp.at_barrier | warp.at_collective)) {
        ran = true;
        const uint32_t before = warp.live;
        run_warp(warp);
        if (aborted_) return false;
        if (grid.cluster) [[unlikely]]
          note_exits(w, before);
      }
      live |= warp.live;
      are_passed &= warp.was_passed;
      all_at_barrier &= warp.at_barrier == warp.live;
    }
    if (!live) {
      is_clean_ = are_passed;
      return !async.sets_registers() || set_same_registers();
    }
    if (all_at_barrier) {
      constexpr unsigned kBarriers = 64;
      if (!open_barrier()) return false;
      if (grid.cluster && ++opened % kBarriers == 0 && !let_others_run()) return false;
    } else if (!ran) {
      report_deadlock();
      return false;
    } else if (grid.cluster) {
      if (!let_others_run()) return false;
    } else if (grid.step_budget) {
      // Perhaps waiting for another block: leave the core to it.
      bool spinning = std::exchange(waits_beside_, false);
      for (unsigned w = 0; w < warp_count_; ++w) spinning |= warps_[w]->progress.steps >= slice_;
      if (spinning && !let_others_run()) return false;
    }
    if (clock_ >= hang_watch_.look_at && traced_ && proves_hang()) [[unlikely]]
      return false;
    if (clock_ >= patience_.look_at && takes_too_long()) [[unlikely]]
      return false;
  }
}

// Has each warp of a warpgroup executed each setmaxnreg of the others? All have exited.
bool Worker::set_same_registers() {
  constexpr unsigned kWarps = 4;
  for (unsigned first = 0; first + kWarps <= warp_count_; first += kWarps) {
    const AsyncState::OfWarpgroup& registers = async.registers().of_warpgroup[first / kWarps];
    const unsigned least = *std::min_element(registers.done.begin(), registers.done.end());
    if (least == registers.set.size()) [[likely]]
      continue;
    const AsyncState::SetRegisters& set = registers.set[least];
    Fault fault = fault_at(Fault::Kind::trap, *warps_[set.warp], 0);
    fault.pc = set.pc;
    fault.address = 0;
    fault.text =
        "setmaxnreg that not all four warps of a warpgroup execute, as they have to (take it out "
        "of the condition that lets one warp or one thread through)";
    monitor.faults.add(fault);
    return false;
  }
  return true;
}

// All threads that have not exited are at a barrier: let them go on.
bool Worker::open_barrier() {
  int count = 0, waiting = 0;
  uint64_t first_pc = 0;
  const symbols::Location* first_call = nullptr;
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    for (const int lane : lanes_of(warp.at_barrier)) {
      const uint64_t pc = key_pc(warp.parked_key[lane]);
      ++waiting;
      count += warp.predicate[lane] != 0;
      if (!first_pc) first_pc = pc;
      if (pc != first_pc) {
        // Two calls may still be one in the source, which the compiler has copied.
        if (!first_call) first_call = &symbols::locate(first_pc);
        const symbols::Location& call = symbols::locate(pc);
        if (call.line != first_call->line || call.column != first_call->column ||
            call.file != first_call->file) {
          Fault fault = fault_at(Fault::Kind::barrier_divergence, warp, lane);
          fault.pc = pc;
          fault.other_pc = first_pc;
          for (unsigned v = 0; v < warp_count_; ++v) {
            if (!warps_[v]->at_barrier) continue;
            fault.other_thread = warps_[v]->thread[std::countr_zero(warps_[v]->at_barrier)];
            break;
          }
          monitor.faults.add(fault);
          return false;
        }
      }
    }
  }
  if (traced_) report_exited_threads(first_pc);
  if (grid_wait_ && !pass_grid_barrier()) return false;
  monitor.next_interval();
  if (monitor.recording.is_on()) [[unlikely]]
    monitor.recording.add({.what = RecordedStep::What::meet, .pc = first_pc});
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    for (const int lane : lanes_of(warp.at_barrier)) {
      warp.key[lane] = warp.parked_key[lane];
      warp.stop[lane] = StopReason::resume;
      warp.exchange[lane].result = static_cast<uint64_t>(count);
      warp.exchange[lane].value = static_cast<uint64_t>(waiting);
    }
    warp.at_barrier = 0;
    warp.progress.steps = 0;
    warp.progress.touched = warp.progress.last_first = false;
  }
  return true;
}

// The barrier opens without the threads that have exited: the hardware lets it, the language does not.
void Worker::report_exited_threads(uint64_t barrier_pc) {
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    const uint32_t exited = warp.born & ~warp.live;
    if (!exited) [[likely]]
      continue;
    const FirstExit& exit = warp.first_exit;
    Fault fault = fault_at(Fault::Kind::exited_thread, warp, exit.lane);
    fault.pc = barrier_pc;
    fault.other_pc = exit.pc;
    fault.address = exit.before;
    monitor.faults.add(fault);
    return;
  }
}

// The whole block has come to the grid's barrier: waits for the other blocks.
bool Worker::pass_grid_barrier() {
  grid_wait_ = false;
  if (hang_watch_.voted) grid_->hang_vote->move();  // takes the vote back: it waits now
  hang_watch_.changed = true;
  const GridBarrier::Outcome outcome = grid_->barrier->wait(monitor.block.linear());
  if (outcome == GridBarrier::Outcome::passed) {
    if (grid_->checks_blocks) monitor.global_checker.begin_block_again();
    return true;
  }
  if (outcome == GridBarrier::Outcome::deserted) {
    for (unsigned w = 0; w < warp_count_; ++w) {
      if (!warps_[w]->at_barrier) continue;
      monitor.faults.add(
          fault_at(Fault::Kind::grid_barrier, *warps_[w], std::countr_zero(warps_[w]->at_barrier)));
      break;
    }
  }
  return false;
}

// Nobody can run, and not everybody is at the barrier: lanes wait at a collective for others.
void Worker::report_deadlock() {
  const Warp* stuck = nullptr;
  const Warp* waiting = nullptr;
  for (unsigned w = 0; w < warp_count_; ++w) {
    if (warps_[w]->at_collective) stuck = warps_[w];
    if (warps_[w]->at_barrier && !waiting) waiting = warps_[w];
  }
  if (!stuck) return;
  const int lane = std::countr_zero(stuck->at_collective);
  Fault fault =
      fault_at(waiting ? Fault::Kind::barrier_divergence : Fault::Kind::invalid_mask, *stuck, lane);
  fault.pc = key_pc(stuck->parked_key[lane]);
  fault.lanes = static_cast<unsigned>(std::popcount(stuck->at_collective));
  fault.address = stuck->exchange[lane].mask;
  if (waiting) {
    fault.text = "collective";
    const int other = std::countr_zero(waiting->at_barrier);
    fault.other_pc = key_pc(waiting->parked_key[other]);
    fault.other_thread = waiting->thread[other];
  }
  monitor.faults.add(fault);
}

}  // namespace simt::engine
