#include "exec/grid_barrier.h"

#include "check/sector_records.h"

namespace simt::engine {

GridBarrier::Outcome GridBarrier::wait() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  if (waiting_ == running_ && !deserted_ && !failed_) {
    waiting_ = 0;
    ++round_;
    if (checks_blocks_) shadow::begin_phase(blocks_);
    moved_.notify_all();
    return Outcome::passed;
  }
  const uint64_t round = round_;
  // A block that has ended cannot come any more. But while others still run, one of those may fail and
  // be the better news.
  moved_.wait(lock,
              [&] { return round_ != round || failed_ || (deserted_ && waiting_ == running_); });
  if (round_ != round) return Outcome::passed;
  if (failed_) return Outcome::abandoned;
  failed_ = true;  // one block tells
  moved_.notify_all();
  return Outcome::deserted;
}

uint64_t GridBarrier::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void GridBarrier::leave(bool failed) {
  const std::lock_guard lock(mutex_);
  --running_;
  if (failed) {
    failed_ = true;
  } else if (waiting_ || running_) {
    deserted_ = true;
  }
  moved_.notify_all();
}

}  // namespace simt::engine
