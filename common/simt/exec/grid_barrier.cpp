#include "exec/grid_barrier.h"

#include <sched.h>

#include "races/sector_records.h"

namespace simt::engine {

bool GridBarrier::begin(uint64_t block) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return failed_ || has_turn(block); });
  return !failed_;
}

bool GridBarrier::yield(uint64_t block) {
  if (!in_turns()) {
    sched_yield();
    return true;
  }
  std::unique_lock lock(mutex_);
  pass_turn();
  moved_.wait(lock, [&] { return failed_ || has_turn(block); });
  return !failed_;
}

// The next block that can run has its turn.
void GridBarrier::pass_turn() {
  for (uint64_t step = 1; step <= cannot_run_.size(); ++step) {
    const uint64_t next = (turn_ + step) % blocks_;
    if (cannot_run_[next]) continue;
    turn_ = next;
    break;
  }
  moved_.notify_all();
}

GridBarrier::Outcome GridBarrier::wait(uint64_t block) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  if (waiting_ == running_ && !deserted_ && !failed_) {
    waiting_ = 0;
    ++round_;
    if (checks_blocks_) shadow::begin_phase(blocks_);
    for (const uint64_t each : waiting_blocks_) cannot_run_[each] = false;
    waiting_blocks_.clear();
    moved_.notify_all();
    return Outcome::passed;
  }
  if (in_turns()) {
    waiting_blocks_.push_back(block);
    cannot_run_[block] = true;
    pass_turn();
  }
  const uint64_t round = round_;
  // A block that has ended cannot come any more. But while others still run, one of those may fail and
  // be the better news.
  moved_.wait(lock, [&] {
    return (round_ != round && has_turn(block)) || failed_ || (deserted_ && waiting_ == running_);
  });
  if (round_ != round) return Outcome::passed;
  if (failed_) return Outcome::abandoned;
  failed_ = true;  // one block tells
  moved_.notify_all();
  return Outcome::deserted;
}

uint64_t GridBarrier::left() {
  const std::lock_guard lock(mutex_);
  return blocks_ - running_;
}

uint64_t GridBarrier::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void GridBarrier::leave(uint64_t block, bool failed) {
  const std::lock_guard lock(mutex_);
  if (in_turns()) {
    cannot_run_[block] = true;
    pass_turn();
  }
  --running_;
  if (failed) {
    failed_ = true;
  } else if (waiting_ || running_) {
    deserted_ = true;
  }
  moved_.notify_all();
}

}  // namespace simt::engine
